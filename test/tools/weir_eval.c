/* weir_eval: runs a StableHLO program with the reference evaluator.
 *
 *   weir_eval [--function NAME] PROGRAM.mlir IN.npy... OUTDIR
 *
 * Result i goes to OUTDIR/i.npy (the folder must exist); tokens are neither read nor written. A
 * call of Python is a line of the output: its number, whether it is ordered, and what it is given,
 * which is what it gives. Tiles run as the kernels they are, on two threads; where this program is
 * built with AddressSanitizer, each of their loads and stores is checked. Exit status: 0, 1 for bad
 * input, 2 for wrong usage, 3 for an op without an evaluator. */
#include <pthread.h>
#include <stdlib.h>

#include "call/loaded.h"
#include "call/kernel.h"
#include "in/in.h"
#include "ref/eval.h"
#include "ref/npy.h"
#include "tool.h"

typedef struct job {
  ctx *c;
  const char *function, *program, *folder;
  char **inputs;
  uint32_t n_inputs;
} job;

static weir_status read_inputs(const job *j, arena *a, ir_module *m, ref_tensor **out_inputs,
                               uint32_t *out_count) {
  ir_op f = j->function ? ir_find_function(m, j->function) : ir_main_function(m);
  if (!f || ir_op_get(m, f)->n_regions != 1 || !ir_op_get(m, f)->regions[0])
    return ctx_error(j->c, WEIR_INVALID_ARGUMENT, "%s: no function @%s", j->program,
                     j->function ? j->function : "main");
  ir_block body = ir_op_get(m, f)->regions[0];
  uint32_t n = 0, i = 0, count = ir_block_get(m, body)->args.count;
  ref_tensor *out = *out_inputs = ARENA_ARRAY(a, ref_tensor, count);
  for (ir_value v; (v = ir_argument_at(m, body, i)); i++) {
    const ir_type_data *t = ir_type_at(m, v);
    if (t->kind != IR_TYPE_TOKEN && n++ < j->n_inputs)
      WEIR_TRY(ref_npy_read(a, j->inputs[n - 1], t, &out[i]));
  }
  *out_count = count;
  if (n == j->n_inputs) return WEIR_OK;
  return ctx_error(j->c, WEIR_INVALID_ARGUMENT, "%s: %u input files for %u arguments", j->program,
                   j->n_inputs, n);
}

/* ---- tiles ---- */
enum { MOST_BUFFERS = 64, THREADS = 2 };

typedef struct task {
  void (*run)(void *data);
  void *data;
} task;

static void *run_task(void *user) {
  task t = *(task *)user;
  free(user);
  t.run(t.data);
  return NULL;
}

static bool schedule(void *user, void (*run)(void *data), void *data) {
  (void)user;
  pthread_t thread;
  task *t = malloc(sizeof *t);
  if (!t) return false;
  *t = (task){run, data};
  if (!pthread_create(&thread, NULL, run_task, t)) return !pthread_detach(thread);
  free(t);
  return false;
}

static const char *body_of(const ir_module *m, ir_op call) {
  const ir_attr_data *config = ir_attr_get(m, ir_op_attr(m, call, "backend_config"));
  for (int32_t i = 0; i < config->count; i++)
    if (!strcmp(ir_text(m, config->entries[i].name), "body"))
      return ir_text(m, ir_attr_get(m, config->entries[i].value)->text);
  return "";
}

/* Each buffer by itself, so that what reads or writes beside it is seen. */
static void *buffer_of(const ref_tensor *t, bool is_input) {
  size_t bytes = (size_t)ref_element_count(t) * (size_t)ir_dtype_bytes(t->dtype);
  void *copy = malloc(bytes ? bytes : 1);
  if (copy && is_input && bytes) memcpy(copy, t->data, bytes);
  return copy;
}

static void take_result(ref_tensor *t, const void *buffer) {
  memcpy(t->data, buffer, (size_t)ref_element_count(t) * (size_t)ir_dtype_bytes(t->dtype));
}

static weir_status run_kernels(ctx *c, const ir_module *m, ir_op call, const ref_tensor *operands,
                               ref_tensor *results) {
  uint32_t n_in = ir_op_get(m, call)->n_operands, n_out = ir_op_get(m, call)->n_results - 1;
  const char *body = body_of(m, call);
  const loaded_kernel *k;
  char message[2200] = "";
  void *buffers[MOST_BUFFERS + 1];
  weir_status status = loaded_get(body, strlen(body), message, sizeof message, &k);
  if (status != WEIR_OK || loaded_buffers(k) != n_in + n_out || n_in + n_out > MOST_BUFFERS)
    return ctx_error(c, status ? status : WEIR_INVALID_ARGUMENT, "a kernel: %s", message);
  for (uint32_t i = 0; i < n_in; i++) buffers[i] = buffer_of(&operands[i], true);
  for (uint32_t j = 0; j <= n_out; j++) buffers[n_in + j] = buffer_of(&results[j], false);
  kernel_work work;
  int32_t threads = loaded_work(k, buffers, buffers[n_in + n_out],
                                ref_element_count(&results[n_out]), THREADS, &work);
  bool done = threads > 0 && kernel_run(&work, threads, schedule, NULL);
  for (uint32_t j = 0; j < n_out && done; j++) take_result(&results[j], buffers[n_in + j]);
  for (uint32_t i = 0; i <= n_in + n_out; i++) free(buffers[i]);
  return done ? WEIR_OK : ctx_error(c, WEIR_INVALID_ARGUMENT, "a kernel's scratch is too small");
}

/* ---- calls of Python ---- */
static int64_t number_of(const ir_module *m, ir_op call) {
  ir_attr a = ir_dict_get(m, ir_op_attr(m, call, "mhlo.backend_config"), "index");
  return a ? ir_attr_get(m, a)->integer : -1;
}

static void say(const ref_tensor *t) {
  for (int64_t i = 0, n = ref_element_count(t); i < n; i++) {
    ref_scalar s = ref_load(t, i);
    switch (ir_dtype_class_of(t->dtype)) {
      case IR_CLASS_FLOAT: printf(" %.17g", s.f); break;
      case IR_CLASS_COMPLEX: printf(" %.17g %.17g", creal(s.z), cimag(s.z)); break;
      default: printf(" %lld", (long long)s.i);
    }
  }
}

static weir_status run_call(ctx *c, const ir_module *m, ir_op call, const ref_tensor *operands,
                            ref_tensor *results) {
  const ir_op_data *d = ir_op_get(m, call);
  bool is_ordered = d->n_operands && !operands[0].dtype;
  printf("call %lld %d", (long long)number_of(m, call), is_ordered);
  for (uint32_t i = is_ordered; i < d->n_operands; i++) say(&operands[i]);
  printf("\n");
  for (uint32_t i = is_ordered; i < d->n_results; i++) {
    if (i >= d->n_operands || operands[i].dtype != results[i].dtype)
      return ctx_error(c, WEIR_UNIMPLEMENTED, "a call that gives other than it is given");
    take_result(&results[i], operands[i].data);
  }
  return WEIR_OK;
}

static const ref_handler handlers[] = {
    {KERNEL_CALL_TARGET, run_kernels}, {"xla_ffi_python_cpu_callback", run_call}, {NULL, NULL}};

/* ---- the program ---- */
static weir_status run(void *user) {
  const job *j = user;
  arena *a = arena_create(j->c);
  char *text = NULL;
  size_t length = 0;
  ir_module *m = NULL;
  WEIR_TRY(tool_read_file(a, j->program, &text, &length));
  WEIR_TRY(in_program(j->c, text, length, &m));
  ref_tensor *inputs = NULL, *results;
  uint32_t n_inputs = 0, n_results, n = 0;
  WEIR_TRY(ir_verify(m));
  WEIR_TRY(read_inputs(j, a, m, &inputs, &n_inputs));
  WEIR_TRY(ref_run_with(a, m, j->function, inputs, n_inputs, handlers, &results, &n_results));
  for (uint32_t i = 0; i < n_results; i++) {
    if (results[i].members) return ctx_error(j->c, WEIR_UNIMPLEMENTED, "result %u is a tuple", i);
    if (results[i].dtype)
      WEIR_TRY(ref_npy_write(j->c, arena_printf(a, "%s/%u.npy", j->folder, n++), &results[i]));
  }
  return WEIR_OK;
}

int main(int argc, char **argv) {
  ctx c;
  job j = {.c = &c};
  if (argc > 2 && !strcmp(argv[1], "--function")) j.function = argv[2], argc -= 2, argv += 2;
  if (argc < 3 || argv[1][0] == '-') {
    fputs("usage: weir_eval [--function NAME] PROGRAM.mlir IN.npy... OUTDIR\n", stderr);
    return 2;
  }
  j.program = argv[1], j.inputs = argv + 2, j.n_inputs = (uint32_t)argc - 3,
  j.folder = argv[argc - 1];
  ctx_init(&c);
  weir_status status = ctx_try(&c, run, &j);
  if (status != WEIR_OK)
    fprintf(stderr, "weir_eval: %s: %s\n", weir_status_name(status), c.message);
  ctx_deinit(&c);
  return status == WEIR_OK ? 0 : status == WEIR_UNIMPLEMENTED ? 3 : 1;
}
