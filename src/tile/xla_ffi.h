/* The part of XLA's FFI C API that a handler needs: layouts of its structures, major version 0.
 * Fields are only ever appended; struct_size says how many there are. Source: xla/ffi/api/c_api.h,
 * which jaxlib ships; here so that weir builds without jaxlib.
 */
#ifndef WEIR_TILE_XLA_FFI_H
#define WEIR_TILE_XLA_FFI_H
#include <stddef.h>
#include <stdint.h>

enum { FFI_MAJOR = 0, FFI_MINOR = 1 };
enum { FFI_EXTENSION_METADATA = 1 };
enum { FFI_ATTR_STRING = 4 };
enum { FFI_STAGE_EXECUTE = 3 };

typedef struct ffi_extension {
  size_t struct_size;
  int type;
  struct ffi_extension *next;
} ffi_extension;

typedef struct ffi_version {
  size_t struct_size;
  ffi_extension *extensions;
  int major, minor;
} ffi_version;

typedef struct ffi_metadata {
  size_t struct_size;
  ffi_version api_version;
  uint32_t traits;
} ffi_metadata;

typedef struct ffi_metadata_extension {
  ffi_extension base;
  ffi_metadata *metadata;
} ffi_metadata_extension;

typedef struct ffi_buffer {
  size_t struct_size;
  ffi_extension *extensions;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} ffi_buffer;

typedef struct ffi_span {
  const char *at;
  size_t length;
} ffi_span;

typedef struct ffi_list { /* of arguments or results */
  size_t struct_size;
  ffi_extension *extensions;
  int64_t count;
  int *types;
  void **at;
} ffi_list;

typedef struct ffi_attributes {
  size_t struct_size;
  ffi_extension *extensions;
  int64_t count;
  int *types;
  ffi_span **names;
  void **at;
} ffi_attributes;

typedef struct ffi_error ffi_error;

typedef struct ffi_error_create {
  size_t struct_size;
  ffi_extension *extensions;
  const char *message;
  int code; /* as weir_status */
} ffi_error_create;

typedef struct ffi_error_destroy {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_error *error;
} ffi_error_destroy;

typedef struct ffi_schedule {
  size_t struct_size;
  ffi_extension *extensions;
  void *context;
  void (*task)(void *data);
  void *data;
} ffi_schedule;

typedef struct ffi_threads {
  size_t struct_size;
  ffi_extension *extensions;
  void *context;
  int64_t *count;
} ffi_threads;

typedef void ffi_unused(void);

typedef struct ffi_api {
  size_t struct_size;
  ffi_extension *extensions;
  ffi_version version;
  const void *internal;
  ffi_error *(*error_create)(ffi_error_create *args);
  ffi_unused *error_message;
  void (*error_destroy)(ffi_error_destroy *args);
  ffi_unused *handler_register, *stream_get, *type_register, *context_get, *state_set, *state_get,
      *memory_allocate, *memory_free;
  ffi_error *(*schedule)(ffi_schedule *args);
  ffi_error *(*thread_count)(ffi_threads *args);
} ffi_api;

typedef struct ffi_call {
  size_t struct_size;
  ffi_extension *extensions;
  const ffi_api *api;
  void *context;
  int stage;
  ffi_list arguments, results;
  ffi_attributes attributes;
} ffi_call;

#endif
