/* The part of XLA's FFI C API that a handler needs: layouts of its structures, major version 0.
 * Fields are only ever appended; struct_size says how many there are. Source: xla/ffi/api/c_api.h,
 * which jaxlib ships; here so that weir builds without jaxlib.
 */
#ifndef WEIR_CALL_XLA_FFI_H
#define WEIR_CALL_XLA_FFI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FFI_MAJOR = 0, FFI_MINOR = 1 };
enum { FFI_EXTENSION_METADATA = 1 };
enum { FFI_ATTR_STRING = 4 };
enum { FFI_STAGE_INSTANTIATE = 0, FFI_STAGE_EXECUTE = 3 };
enum { FFI_CANCELLED = 1 }; /* of the codes of errors; others are as weir_status */

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

typedef struct ffi_run_id {
  size_t struct_size;
  ffi_extension *extensions;
  void *context;
  int64_t id;
} ffi_run_id;

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
  ffi_unused *future_create, *future_set_available, *future_set_error;
  ffi_error *(*run_id)(ffi_run_id *args);
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

/* ---- what handlers share ---- */
/* XLA asks once which version a handler was made for. True: that was all. */
bool ffi_answer_metadata(const ffi_call *call);
ffi_error *ffi_fail(const ffi_call *call, int code, const char *message);
void ffi_drop_error(const ffi_call *call, ffi_error *error);
/* The string attribute; NULL: there is none. */
const ffi_span *ffi_string(const ffi_call *call, const char *name);
/* Which execution this is; 0 where XLA doesn't say. */
int64_t ffi_run_id_of(const ffi_call *call);

#endif
