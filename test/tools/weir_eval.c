/* weir_eval: runs a StableHLO program with the reference evaluator.
 *
 *   weir_eval [--function NAME] PROGRAM.mlir IN.npy... OUTDIR
 *
 * Result i goes to OUTDIR/i.npy (the folder must exist). Exit status: 0, 1 for bad input, 2 for
 * wrong usage, 3 for an op without an evaluator. */
#include <stdlib.h>

#include "in/in.h"
#include "ref/npy.h"
#include "tool.h"

typedef struct job {
  ctx *c;
  const char *function, *program, *folder;
  char **inputs;
  uint32_t n_inputs;
} job;

static weir_status read_inputs(const job *j, arena *a, ir_module *m, ref_tensor *out) {
  ir_op f = j->function ? ir_find_function(m, j->function) : ir_main_function(m);
  if (!f || ir_op_get(m, f)->n_regions != 1 || !ir_op_get(m, f)->regions[0])
    return ctx_error(j->c, WEIR_INVALID_ARGUMENT, "%s: no function @%s", j->program,
                     j->function ? j->function : "main");
  const ir_block_data *body = ir_block_get(m, ir_op_get(m, f)->regions[0]);
  if (body->args.count != j->n_inputs)
    return ctx_error(j->c, WEIR_INVALID_ARGUMENT, "%s: %u input files for %u arguments", j->program,
                     j->n_inputs, body->args.count);
  for (uint32_t i = 0; i < j->n_inputs; i++)
    WEIR_TRY(ref_npy_read(a, j->inputs[i], ir_type_at(m, body->args.at[i]), &out[i]));
  return WEIR_OK;
}

static weir_status run(void *user) {
  const job *j = user;
  arena *a = arena_create(j->c);
  char *text = NULL;
  size_t length = 0;
  ir_module *m = NULL;
  WEIR_TRY(tool_read_file(a, j->program, &text, &length));
  WEIR_TRY(in_stablehlo_text(j->c, text, length, &m));
  ref_tensor *inputs = ARENA_ARRAY(a, ref_tensor, j->n_inputs), *results;
  uint32_t n_results;
  WEIR_TRY(ir_verify(m));
  WEIR_TRY(read_inputs(j, a, m, inputs));
  WEIR_TRY(ref_run(a, m, j->function, inputs, j->n_inputs, &results, &n_results));
  for (uint32_t i = 0; i < n_results; i++) {
    if (!results[i].dtype) return ctx_error(j->c, WEIR_UNIMPLEMENTED, "result %u is no tensor", i);
    WEIR_TRY(ref_npy_write(j->c, arena_printf(a, "%s/%u.npy", j->folder, i), &results[i]));
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
