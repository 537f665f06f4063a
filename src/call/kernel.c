/* The handler of weir_tile: what XLA calls when it has compiled the program around it, and when
 * that runs. In: XLA's call frame. Errors are XLA's, by weir's status.
 */
#include "call/kernel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/environment.h"
#include "call/interrupt.h"
#include "call/loaded.h"
#include "call/progress.h"
#include "call/xla_ffi.h"

/* ---- XLA ---- */
static bool schedule(void *user, void (*task)(void *data), void *data) {
  const ffi_call *call = user;
  ffi_schedule args = {
      .struct_size = sizeof args, .context = call->context, .task = task, .data = data};
  ffi_error *error = call->api->schedule(&args);
  if (error) ffi_drop_error(call, error);
  return !error;
}

static int64_t threads_of(const ffi_call *call) {
  int64_t count = 1;
  const char *wanted = environment_get(ENVIRONMENT_NUM_THREADS);
  ffi_threads args = {.struct_size = sizeof args, .context = call->context, .count = &count};
  ffi_error *error = call->api->thread_count(&args);
  if (error) {
    ffi_drop_error(call, error);
    return 1;
  }
  int64_t most = wanted ? atoll(wanted) : 0;
  return most > 0 && most < count ? most : count;
}

/* ---- a call ---- */
typedef struct watched {
  uint32_t interrupts;
  int32_t progress;
} watched;

static bool goes_on(void *user, int64_t item) {
  const watched *w = user;
  if (interrupt_came(w->interrupts)) return false;
  progress_at(w->progress, item);
  return true;
}

static ffi_error *run_watched(const ffi_call *call, kernel_work *work, int32_t threads) {
  const ffi_span *label = ffi_string(call, "label");
  watched w = {interrupt_watch(), PROGRESS_NONE};
  if (label) w.progress = progress_begin(label->at, label->length, 0, work->items);
  work->goes_on = goes_on;
  work->user = &w;
  bool done = kernel_run(work, threads, schedule, (void *)call);
  progress_end(w.progress);
  return done ? NULL : ffi_fail(call, FFI_CANCELLED, "weir: interrupted");
}

static ffi_error *run_kernel(const ffi_call *call, const loaded_kernel *k) {
  void *buffers[KERNEL_MOST_BUFFERS];
  int64_t n_in = call->arguments.count, n_out = call->results.count - 1;
  assert(n_in >= 0 && n_out >= 0); /* the last result is scratch */
  if (n_in + n_out != loaded_buffers(k) || n_in + n_out > KERNEL_MOST_BUFFERS)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT,
                    "weir: a kernel called with other buffers than it has");
  for (int64_t i = 0; i < n_in; i++) buffers[i] = ((ffi_buffer *)call->arguments.at[i])->data;
  for (int64_t j = 0; j < n_out; j++) buffers[n_in + j] = ((ffi_buffer *)call->results.at[j])->data;
  const ffi_buffer *last = call->results.at[n_out];
  kernel_work work;
  int32_t threads = loaded_work(k, buffers, last->data, last->rank == 1 ? last->dims[0] : 0,
                                threads_of(call), &work);
  if (threads < 1)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT, "weir: a kernel's scratch is too small");
  return run_watched(call, &work, threads);
}

void *weir_tile_handler(void *call_frame) {
  const ffi_call *call = call_frame;
  if (ffi_answer_metadata(call)) return NULL;
  const ffi_span *body = ffi_string(call, "body");
  if (call->stage == FFI_STAGE_INSTANTIATE && body) loaded_prepare(body->at, body->length);
  if (call->stage != FFI_STAGE_EXECUTE) return NULL;
  const loaded_kernel *k = NULL;
  char message[LOADED_MESSAGE] = "weir: out of memory";
  if (!body || call->results.count < 1)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT, "weir: a kernel without a body");
  weir_status status = loaded_get(body->at, body->length, message, sizeof message, &k);
  return status == WEIR_OK ? run_kernel(call, k) : ffi_fail(call, status, message);
}
