/* The handler of weir_tile: what XLA calls when the program runs.
 *
 * In: XLA's call frame. The attribute `body` (tiles.c) is the key of the process's kernels: the
 * first call with a text reads it, emits it and has LLVM compile it, the others find it. Kernels
 * stay as long as the process. Errors are XLA's, by weir's status.
 */
#include "call/tile.h"

#include "base/hash.h"
#include "weir/weir.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "in/in.h"
#include "call/interrupt.h"
#include "call/progress.h"
#include "tile/cost.h"
#include "tile/emit.h"
#include "tile/llvm.h"
#include "tile/run.h"
#include "call/xla_ffi.h"

enum { MOST_BUFFERS = 64, BUCKETS = 256 };

typedef struct kernel {
  struct kernel *next;
  char *body;
  size_t length;
  tile_kernel *run, *finish;
  void **functions;
  int64_t items, finishing, scratch_bytes, shared_bytes;
  uint32_t n_buffers;
} kernel;

static struct {
  pthread_mutex_t lock;
  kernel *buckets[BUCKETS];
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- body -> kernel ---- */
typedef struct making {
  ctx c;
  const char *body;
  size_t length;
  kernel *out;
} making;

static const char *read_stamp(const making *w, tile_sizes *s, int *out_version) {
  long long block = 0, chunk = 0, spans = 0, column_spans = 0;
  const char *end = memchr(w->body, '\n', w->length);
  char line[160];
  *out_version = 0;
  if (!end || (size_t)(end - w->body) >= sizeof line) return NULL;
  memcpy(line, w->body, (size_t)(end - w->body));
  line[end - w->body] = '\0';
  int n = sscanf(line, TILE_CALL_STAMP_FORMAT, out_version, &s->vector_bytes, &s->rows, &s->vectors,
                 &block, &chunk, &spans, &column_spans);
  s->block = block;
  s->chunk = chunk;
  s->spans = spans;
  s->column_spans = column_spans;
  return n == 8 ? end + 1 : NULL;
}

static bool are_sane(const tile_sizes *s, const tile_nest *n) {
  bool registers = s->vector_bytes >= 16 && s->vector_bytes <= 64 && s->rows >= 1 &&
                   s->rows <= TILE_MOST_ROWS && s->vectors >= 1 && s->vectors <= TILE_MOST_VECTORS;
  bool merges = s->column_spans == 1 || (s->column_spans > 1 && cost_may_span_columns(n));
  return registers && merges && s->spans >= 1 && s->chunk >= 1 && s->chunk % s->rows == 0 &&
         s->block >= 1 && s->block % ((int64_t)s->vectors * n->lanes) == 0;
}

static ir_op find_loop(const ir_module *m) {
  ir_op f = ir_main_function(m);
  ir_op first = f ? ir_block_get(m, ir_op_get(m, f)->regions[0])->ops.at[0] : IR_NONE;
  return first && ir_kind_of(m, first) == IR_OP_LOOP ? first : IR_NONE;
}

static void *function_named(const char *name) {
  static const char *const libraries[] = {"libmvec.so.1", "libm.so.6"};
  void *found = NULL;
  for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
    void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (handle) found = dlsym(handle, name);
  }
  return found;
}

static weir_status find_functions(making *w, const tile_code *code) {
  w->out->functions = calloc(code->n_functions + 1, sizeof(void *));
  if (!w->out->functions) return ctx_error(&w->c, WEIR_RESOURCE_EXHAUSTED, "out of memory");
  for (uint32_t i = 0; i < code->n_functions; i++) {
    w->out->functions[i] = function_named(code->functions[i]);
    if (!w->out->functions[i])
      return ctx_error(&w->c, WEIR_NOT_FOUND, "the C library has no %s", code->functions[i]);
  }
  return WEIR_OK;
}

static void dump_code(const char *name, const tile_code *code) {
  const char *folder = getenv("WEIR_DUMP_TO");
  if (!folder || !*folder) return;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.ll", folder, name);
  FILE *f = fopen(path, "w");
  if (!f) return;
  fwrite(code->text, 1, code->length, f);
  fclose(f);
}

static weir_status make_nest(making *w, arena *a, tile_nest *out_nest) {
  tile_sizes sizes = {0};
  int version;
  const char *text = read_stamp(w, &sizes, &version), *why;
  if (!text || version != TILE_CALL_VERSION)
    return ctx_error(&w->c, WEIR_INVALID_ARGUMENT,
                     "a tile of format %d; this weir (%s) reads format %d", version, WEIR_VERSION,
                     TILE_CALL_VERSION);
  ir_module *m;
  WEIR_TRY(in_stablehlo_text(&w->c, text, w->length - (size_t)(text - w->body), &m));
  WEIR_TRY(ir_verify(m));
  ir_op loop = find_loop(m);
  if (!loop) return ctx_error(&w->c, WEIR_INVALID_ARGUMENT, "a tile without a loop");
  if (!tile_nest_of(a, m, loop, sizes.vector_bytes, out_nest, &why))
    return ctx_error(&w->c, WEIR_UNIMPLEMENTED, "tiles don't cover this loop: %s", why);
  if (!are_sane(&sizes, out_nest))
    return ctx_error(&w->c, WEIR_INVALID_ARGUMENT, "a tile of impossible sizes");
  out_nest->sizes = sizes;
  return WEIR_OK;
}

static weir_status make_kernel(void *user) {
  making *w = user;
  arena *a = arena_create(&w->c);
  tile_nest nest;
  WEIR_TRY(make_nest(w, a, &nest));
  const char *name =
      arena_printf(a, "weir_tile_%016" PRIx64,
                   hash_wide(HASH_WIDE_BEGIN, w->body, w->length)); /* as in other runs */
  tile_code code = tile_emit(a, &nest, name);
  dump_code(name, &code);
  void *function = NULL;
  WEIR_TRY(find_functions(w, &code));
  WEIR_TRY(tile_llvm_compile(a, code.text, code.length, name, &function));
  *(void **)&w->out->run = function;
  if (code.finishing)
    WEIR_TRY(tile_llvm_find(&w->c, arena_printf(a, "%s_finish", name), (void **)&w->out->finish));
  w->out->finishing = code.finishing;
  w->out->shared_bytes = code.shared_bytes;
  w->out->items = code.items;
  w->out->scratch_bytes = code.scratch_bytes;
  w->out->n_buffers = nest.n_inputs + nest.n_outputs;
  return WEIR_OK;
}

static kernel *new_kernel(const char *body, size_t length) {
  kernel *k = calloc(1, sizeof *k);
  char *copy = malloc(length + 1);
  if (!k || !copy) {
    free(k);
    free(copy);
    return NULL;
  }
  memcpy(copy, body, length);
  copy[length] = '\0';
  k->body = copy;
  k->length = length;
  return k;
}

static void free_kernel(kernel *k) {
  free(k->functions);
  free(k->body);
  free(k);
}

/* ---- kernels by body ---- */
static kernel *find_kernel(kernel *first, const char *body, size_t length) {
  for (kernel *k = first; k; k = k->next)
    if (k->length == length && !memcmp(k->body, body, length)) return k;
  return NULL;
}

static weir_status add_kernel(kernel **bucket, const char *body, size_t length, char *message,
                              size_t room) {
  kernel *k = new_kernel(body, length);
  if (!k) return WEIR_RESOURCE_EXHAUSTED;
  making w = {.body = body, .length = length, .out = k};
  ctx_init(&w.c);
  weir_status status = ctx_try(&w.c, make_kernel, &w);
  snprintf(message, room, "weir: %s", w.c.message);
  ctx_deinit(&w.c);
  if (status != WEIR_OK) {
    free_kernel(k);
    return status;
  }
  k->next = *bucket;
  *bucket = k;
  return WEIR_OK;
}

static weir_status get_kernel(const char *body, size_t length, char *message, size_t room,
                              const kernel **out_kernel) {
  kernel **bucket = &kernels.buckets[hash_wide(HASH_WIDE_BEGIN, body, length) % BUCKETS];
  weir_status status = WEIR_OK;
  pthread_mutex_lock(&kernels.lock);
  *out_kernel = find_kernel(*bucket, body, length);
  if (!*out_kernel) status = add_kernel(bucket, body, length, message, room);
  if (status == WEIR_OK && !*out_kernel) *out_kernel = *bucket;
  pthread_mutex_unlock(&kernels.lock);
  return status;
}

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
  const char *wanted = getenv("WEIR_NUM_THREADS");
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

static ffi_error *run_watched(const ffi_call *call, tile_work *work, int32_t threads) {
  const ffi_span *label = ffi_string(call, "label");
  watched w = {interrupt_watch(), PROGRESS_NONE};
  if (label) w.progress = progress_begin(label->at, label->length, 0, work->items);
  work->goes_on = goes_on;
  work->user = &w;
  bool done = tile_run(work, threads, schedule, (void *)call);
  progress_end(w.progress);
  return done ? NULL : ffi_fail(call, FFI_CANCELLED, "weir: interrupted");
}

static ffi_error *run_kernel(const ffi_call *call, const kernel *k) {
  void *buffers[MOST_BUFFERS];
  int64_t n_in = call->arguments.count, n_out = call->results.count - 1;
  if (n_in + n_out != k->n_buffers || k->n_buffers > MOST_BUFFERS)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT,
                    "weir: a tile called with other buffers than it has");
  for (int64_t i = 0; i < n_in; i++) buffers[i] = ((ffi_buffer *)call->arguments.at[i])->data;
  for (int64_t j = 0; j < n_out; j++) buffers[n_in + j] = ((ffi_buffer *)call->results.at[j])->data;
  const ffi_buffer *last = call->results.at[n_out];
  uintptr_t begin = (uintptr_t)last->data, aligned = (begin + 63) & ~(uintptr_t)63;
  int64_t room = last->rank == 1 ? last->dims[0] - (int64_t)(aligned - begin) - k->shared_bytes : 0;
  int64_t threads = threads_of(call), fit = room < 0           ? 0
                                            : k->scratch_bytes ? room / k->scratch_bytes
                                                               : threads;
  if (fit < 1) return ffi_fail(call, WEIR_INVALID_ARGUMENT, "weir: a tile's scratch is too small");
  tile_work work = {.kernel = k->run,
                    .buffers = buffers,
                    .functions = k->functions,
                    .shared = (char *)aligned,
                    .scratch = (char *)aligned + k->shared_bytes,
                    .scratch_bytes = k->scratch_bytes,
                    .items = k->items,
                    .finish = k->finish,
                    .finishing = k->finishing};
  return run_watched(call, &work, (int32_t)(threads < fit ? threads : fit));
}

void *weir_tile_handler(void *call_frame) {
  const ffi_call *call = call_frame;
  if (ffi_answer_metadata(call)) return NULL;
  if (call->stage != FFI_STAGE_EXECUTE) return NULL;
  const ffi_span *body = ffi_string(call, "body");
  const kernel *k = NULL;
  char message[2200] = "weir: out of memory";
  if (!body || call->results.count < 1)
    return ffi_fail(call, WEIR_INVALID_ARGUMENT, "weir: a tile without a body");
  weir_status status = get_kernel(body->at, body->length, message, sizeof message, &k);
  return status == WEIR_OK ? run_kernel(call, k) : ffi_fail(call, status, message);
}
