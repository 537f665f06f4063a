#include "call/loaded.h"

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/hash.h"
#include "call/kernel.h"
#include "in/in.h"
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"
#include "kernel/llvm.h"

enum { BUCKETS = 256, MOST_STAMP = MACHINE_TEXT_ROOM + 128 };

struct loaded_kernel {
  struct loaded_kernel *next;
  char *body;
  size_t length;
  kernel_compiled *run, *finish;
  void **functions;
  int64_t items, finishing, scratch_bytes, shared_bytes;
  uint32_t n_buffers;
};

static struct {
  pthread_once_t once;
  pthread_mutex_t lock; /* held while a kernel is made */
  bool is_ending;       /* none is made ahead any more */
  loaded_kernel *buckets[BUCKETS];
} kernels = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- body -> kernel ---- */
typedef struct making {
  ctx c;
  const char *body;
  size_t length;
  loaded_kernel *out;
} making;

/* The first line: what the rest is for; NULL: it is none of this format. name: room for a line. */
static const char *read_stamp(const making *w, char name[MOST_STAMP], kernel_sizes *s,
                              int *out_version) {
  long long block = 0, chunk = 0, spans = 0, column_spans = 0;
  const char *end = memchr(w->body, '\n', w->length);
  char line[MOST_STAMP];
  *out_version = 0;
  if (!end || (size_t)(end - w->body) >= sizeof line) return NULL;
  memcpy(line, w->body, (size_t)(end - w->body));
  line[end - w->body] = '\0';
  int n = sscanf(line, KERNEL_CALL_STAMP_FORMAT, out_version, name, &s->rows, &s->vectors, &block,
                 &chunk, &spans, &column_spans);
  s->block = block;
  s->chunk = chunk;
  s->spans = spans;
  s->column_spans = column_spans;
  return n == 8 ? end + 1 : NULL;
}

static bool are_sane(const kernel_sizes *s, const kernel_nest *n) {
  bool registers = s->rows >= 1 && s->rows <= KERNEL_MOST_ROWS && s->vectors >= 1 &&
                   s->vectors <= KERNEL_MOST_VECTORS;
  bool merges = s->column_spans == 1 || (s->column_spans > 1 && cost_may_span_columns(n));
  return registers && merges && s->spans >= 1 && s->chunk >= 1 && s->chunk % s->rows == 0 &&
         s->block >= 1 && s->block % ((int64_t)s->vectors * n->lanes) == 0;
}

static ir_op find_loop(const ir_module *m) {
  ir_op f = ir_main_function(m);
  ir_op first = f ? ir_block_get(m, ir_body(m, f))->ops.at[0] : IR_NONE;
  return first && ir_kind_of(m, first) == IR_OP_LOOP ? first : IR_NONE;
}

static weir_status find_functions(making *w, const kernel_code *code) {
  w->out->functions = calloc(code->n_functions + 1, sizeof(void *));
  if (!w->out->functions) return ctx_error(&w->c, WEIR_RESOURCE_EXHAUSTED, "out of memory");
  for (uint32_t i = 0; i < code->n_functions; i++) {
    w->out->functions[i] = kernel_library_function(code->functions[i]);
    if (!w->out->functions[i])
      return ctx_error(&w->c, WEIR_NOT_FOUND, "the C library has no %s", code->functions[i]);
  }
  return WEIR_OK;
}

/* NULL: can't be written, or is no regular file; opening a pipe would wait for its reader. */
static FILE *open_dump(const char *path) {
  struct stat s;
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return NULL;
  bool is_file = !fstat(file, &s) && S_ISREG(s.st_mode) && !ftruncate(file, 0);
  FILE *f = is_file ? fdopen(file, "w") : NULL;
  if (!f) close(file);
  return f;
}

static void dump_code(const char *name, const kernel_code *code) {
  const char *folder = environment_get(ENVIRONMENT_DUMP_TO);
  if (!folder || !*folder) return;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.ll", folder, name);
  FILE *f = open_dump(path);
  if (!f) return;
  fwrite(code->text, 1, code->length, f);
  fclose(f);
}

/* Code made for more than this processor has would end the process. */
static weir_status check_machine(making *w, const machine *code_for) {
  machine_level here = machine_host().level;
  if (machine_runs(here, code_for->level)) return WEIR_OK;
  return ctx_error(&w->c, WEIR_UNIMPLEMENTED,
                   "a kernel made for %s, which this processor, %s, does not run",
                   machine_level_name(code_for->level), machine_level_name(here));
}

static weir_status make_nest(making *w, arena *a, kernel_nest *out_nest) {
  kernel_sizes sizes = {0};
  machine code_for;
  int version;
  char name[MOST_STAMP];
  const char *text = read_stamp(w, name, &sizes, &version), *why;
  if (!text || version != KERNEL_CALL_VERSION)
    return ctx_error(&w->c, WEIR_INVALID_ARGUMENT,
                     "a kernel of format %d; this weir (%s) reads format %d", version, WEIR_VERSION,
                     KERNEL_CALL_VERSION);
  WEIR_TRY(machine_parse(&w->c, name, &code_for));
  WEIR_TRY(check_machine(w, &code_for));
  ir_module *m;
  WEIR_TRY(in_stablehlo_text(&w->c, text, w->length - (size_t)(text - w->body), &m));
  WEIR_TRY(ir_verify(m));
  ir_op loop = find_loop(m);
  if (!loop) return ctx_error(&w->c, WEIR_INVALID_ARGUMENT, "a kernel without a loop");
  if (!kernel_nest_of(a, m, loop, &code_for, out_nest, &why))
    return ctx_error(&w->c, WEIR_UNIMPLEMENTED, "kernels don't cover this loop: %s", why);
  if (!are_sane(&sizes, out_nest))
    return ctx_error(&w->c, WEIR_INVALID_ARGUMENT, "a kernel of impossible sizes");
  out_nest->sizes = sizes;
  return WEIR_OK;
}

static weir_status make_kernel(void *user) {
  making *w = user;
  arena *a = arena_create(&w->c);
  kernel_nest nest;
  WEIR_TRY(make_nest(w, a, &nest));
  const char *name =
      arena_printf(a, "weir_tile_%016" PRIx64,
                   hash_wide(HASH_WIDE_BEGIN, w->body, w->length)); /* as in other runs */
  kernel_code code = kernel_emit(a, &nest, name);
  if (code.is_too_long) return ctx_error(&w->c, WEIR_UNIMPLEMENTED, "a kernel of too much code");
  dump_code(name, &code);
  void *function = NULL;
  WEIR_TRY(find_functions(w, &code));
  WEIR_TRY(kernel_llvm_compile(a, nest.machine.level, code.text, code.length, name, &function));
  *(void **)&w->out->run = function;
  if (code.finishing)
    WEIR_TRY(kernel_llvm_find(&w->c, arena_printf(a, "%s_finish", name), (void **)&w->out->finish));
  CTX_CHECK(&w->c, code.items >= 0 && code.scratch_bytes >= 0 && code.shared_bytes >= 0);
  CTX_CHECK(&w->c, w->out->run && !code.finishing == !w->out->finish);
  w->out->finishing = code.finishing;
  w->out->shared_bytes = code.shared_bytes;
  w->out->items = code.items;
  w->out->scratch_bytes = code.scratch_bytes;
  w->out->n_buffers = nest.n_inputs + nest.n_outputs;
  return WEIR_OK;
}

static loaded_kernel *new_kernel(const char *body, size_t length) {
  loaded_kernel *k = calloc(1, sizeof *k);
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

static void free_kernel(loaded_kernel *k) {
  free(k->functions);
  free(k->body);
  free(k);
}

/* ---- kernels by body ---- */
static loaded_kernel *find_kernel(loaded_kernel *first, const char *body, size_t length) {
  for (loaded_kernel *k = first; k; k = k->next)
    if (k->length == length && !memcmp(k->body, body, length)) return k;
  return NULL;
}

static weir_status add_kernel(loaded_kernel **bucket, const char *body, size_t length,
                              char *message, size_t room) {
  loaded_kernel *k = new_kernel(body, length);
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

static void lock_kernels(void) { pthread_mutex_lock(&kernels.lock); }
static void unlock_kernels(void) { pthread_mutex_unlock(&kernels.lock); }

/* A fork waits until no kernel is being made. Whoever makes one takes LLVM's lock within ours, a
 * fork takes both in the order opposite to this one: LLVM's has to be known first. */
static void start(void) {
  (void)kernel_llvm_missing();
  (void)pthread_atfork(lock_kernels, unlock_kernels, unlock_kernels);
}

static weir_status get_locked(const char *body, size_t length, char *message, size_t room,
                              const loaded_kernel **out_kernel) {
  loaded_kernel **bucket = &kernels.buckets[hash_wide(HASH_WIDE_BEGIN, body, length) % BUCKETS];
  *out_kernel = find_kernel(*bucket, body, length);
  if (*out_kernel) return WEIR_OK;
  weir_status status = add_kernel(bucket, body, length, message, room);
  if (status == WEIR_OK) *out_kernel = *bucket;
  return status;
}

weir_status loaded_get(const char *body, size_t length, char *message, size_t room,
                       const loaded_kernel **out_kernel) {
  pthread_once(&kernels.once, start);
  lock_kernels();
  weir_status status = get_locked(body, length, message, room, out_kernel);
  unlock_kernels();
  return status;
}

/* ---- ahead of the first call ---- */
typedef struct request {
  size_t length;
  char body[];
} request;

static void *make_requested(void *user) {
  request *r = user;
  char message[LOADED_MESSAGE]; /* the call tells it */
  const loaded_kernel *k;
  lock_kernels();
  if (!kernels.is_ending) (void)get_locked(r->body, r->length, message, sizeof message, &k);
  unlock_kernels();
  free(r);
  return NULL;
}

/* Signals are for the program's own threads, but for those that what runs here raises. */
static sigset_t signals_of_others(void) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigset_t set;
  sigfillset(&set);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&set, own[i]);
  return set;
}

static bool start_thread(request *r) {
  pthread_t thread;
  sigset_t blocked = signals_of_others(), before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  bool started = !pthread_create(&thread, NULL, make_requested, r);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) pthread_detach(thread);
  return started;
}

void loaded_prepare(const char *body, size_t length) {
  pthread_once(&kernels.once, start);
  request *r = malloc(sizeof *r + length);
  if (!r) return;
  r->length = length;
  memcpy(r->body, body, length);
  if (!start_thread(r)) free(r);
}

void weir_end_kernels(void) {
  lock_kernels();
  kernels.is_ending = true;
  unlock_kernels();
}

uint32_t loaded_buffers(const loaded_kernel *k) { return k->n_buffers; }

int32_t loaded_work(const loaded_kernel *k, void *const *buffers, void *scratch,
                    int64_t scratch_bytes, int64_t threads, kernel_work *out_work) {
  assert(k->run && threads > 0 && scratch_bytes >= 0);
  uintptr_t begin = (uintptr_t)scratch;
  uintptr_t aligned = (begin + KERNEL_CALL_ALIGNMENT - 1) & ~(uintptr_t)(KERNEL_CALL_ALIGNMENT - 1);
  int64_t room = scratch_bytes - (int64_t)(aligned - begin) - k->shared_bytes;
  int64_t fit = room < 0 ? 0 : k->scratch_bytes ? room / k->scratch_bytes : threads;
  *out_work = (kernel_work){.kernel = k->run,
                            .buffers = buffers,
                            .functions = k->functions,
                            .shared = (char *)aligned,
                            .scratch = (char *)aligned + k->shared_bytes,
                            .scratch_bytes = k->scratch_bytes,
                            .items = k->items,
                            .finish = k->finish,
                            .finishing = k->finishing};
  return (int32_t)(threads < fit ? threads : fit);
}
