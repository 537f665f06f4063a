/* The handler of weir_progress: what XLA calls at the begin of each trip of a loop that shows
 * progress (src/progress_calls.c). */
#include "call/progress.h"
#include "call/xla_ffi.h"
#include "weir/weir.h"

static int64_t number_at(const ffi_call *call, int64_t i) {
  return *(const int64_t *)((const ffi_buffer *)call->arguments.at[i])->data;
}

void *weir_progress_handler(void *call_frame) {
  const ffi_call *call = call_frame;
  if (ffi_answer_metadata(call) || call->stage != FFI_STAGE_EXECUTE) return NULL;
  const ffi_span *label = ffi_string(call, "label");
  if (!label || call->arguments.count != 3)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT,
                    "weir: a call that shows progress, of other arguments");
  int64_t at = number_at(call, 0), slice = number_at(call, 1), extent = number_at(call, 2);
  if (slice < 1) return ffi_fail(call, WEIR_INVALID_ARGUMENT, "weir: progress by no steps");
  int64_t run = ffi_run_id_of(call), done = at / slice, total = (extent + slice - 1) / slice;
  int32_t loop = done ? progress_find(label->at, label->length, run)
                      : progress_begin(label->at, label->length, run, total);
  if (progress_interrupted(loop)) {
    progress_end(loop);
    return ffi_fail(call, FFI_CANCELLED, "weir: interrupted");
  }
  progress_at(loop, done);
  if (done + 1 >= total) progress_end(loop);
  return NULL;
}
