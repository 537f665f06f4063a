#include "call/xla_ffi.h"

#include <string.h>

bool ffi_answer_metadata(const ffi_call *call) {
  ffi_extension *x = call->extensions;
  if (!x || x->type != FFI_EXTENSION_METADATA) return false;
  ffi_metadata *metadata = ((ffi_metadata_extension *)x)->metadata;
  metadata->api_version.major = FFI_MAJOR;
  metadata->api_version.minor = FFI_MINOR;
  return true;
}

ffi_error *ffi_fail(const ffi_call *call, int code, const char *message) {
  ffi_error_create args = {.struct_size = sizeof args, .message = message, .code = code};
  return call->api->error_create(&args);
}

void ffi_drop_error(const ffi_call *call, ffi_error *error) {
  ffi_error_destroy args = {.struct_size = sizeof args, .error = error};
  call->api->error_destroy(&args);
}

const ffi_span *ffi_string(const ffi_call *call, const char *name) {
  const ffi_attributes *a = &call->attributes;
  for (int64_t i = 0; i < a->count; i++)
    if (a->types[i] == FFI_ATTR_STRING && a->names[i]->length == strlen(name) &&
        !memcmp(a->names[i]->at, name, a->names[i]->length))
      return a->at[i];
  return NULL;
}

int64_t ffi_run_id_of(const ffi_call *call) {
  ffi_run_id args = {.struct_size = sizeof args, .context = call->context};
  if (call->api->struct_size < offsetof(ffi_api, run_id) + sizeof call->api->run_id) return 0;
  ffi_error *error = call->api->run_id(&args);
  if (error) ffi_drop_error(call, error);
  return error ? 0 : args.id;
}
