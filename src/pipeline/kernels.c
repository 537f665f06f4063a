/* The rewrite: weir.loop -> stablehlo.custom_call @weir_tile.
 *
 * The call has the loop's operands and results, and one more result: scratch, which is so counted
 * in XLA's report. Its attribute `body` is a line with the format's version and the sizes of
 * its tiles, then a module of one function that holds the loop. call/kernel.c is the other side.
 */
#include "pipeline/kernels.h"

#include <math.h>

#include "base/saturate.h"
#include "out/out.h"
#include "pipeline/progress_calls.h"
#include "machine/tuned.h"
#include "split/loops.h"
#include "ir/masks.h"
#include "kernel/cost.h"
#include "kernel/emit.h"
#include "kernel/llvm.h"
#include "kernel/fission.h"
#include "kernel/factor_out.h"
#include "kernel/flatten.h"
#include "kernel/promote.h"
#include "kernel/reciprocal.h"
#include "call/kernel.h"

#define LONGEST_NS 1e18 /* an attribute holds it */

typedef struct replacing {
  ir_module *m;
  arena *scratch;
  const machine *machine;
  int32_t count;
  double time_ns;    /* predicted, of the calls */
  double least_gain; /* predicted: the XLA loop's time over the kernel's */
  bool *spurns;      /* becomes true where that is too little */
  ir_map *renamed;
} replacing;

/* ---- the region as a module ---- */
/* A copy of the loop, as one trip where its body is known as one. */
static ir_op copy_loop(const ir_module *whole, ir_module *m, ir_block block, ir_op loop,
                       ir_map *map) {
  ir_block one_trip = ir_op_get(whole, loop)->whole;
  ir_op copy = ir_copy_op_from(whole, m, block, loop, map);
  if (!one_trip) return copy;
  ir_region_set(m, copy, 0, ir_op_get(m, copy)->whole);
  ir_op_get(m, copy)->whole = IR_NONE;
  int64_t extent = ir_op_int(m, copy, "extent", 0);
  CTX_CHECK(m->ctx, extent > 0);
  ir_op_set_attr(m, copy, "slice", ir_attr_int(m, extent, IR_I64), false);
  return copy;
}

/* A module of one function with a copy of the loop. */
static ir_module *module_of(const ir_module *whole, ir_op loop) {
  ir_module *m = ir_module_borrow(whole);
  const ir_op_data *d = ir_op_get(whole, loop);
  ir_type *types = ARENA_ARRAY(m->arena, ir_type, d->n_operands + d->n_results);
  for (uint32_t i = 0; i < d->n_operands; i++) types[i] = ir_type_of(whole, d->operands[i]);
  for (uint32_t j = 0; j < d->n_results; j++)
    types[d->n_operands + j] = ir_type_of(whole, d->first_result + j);
  ir_op f = ir_build_function(m, "main", types, d->n_operands, d->n_results);
  ir_block block = ir_body(m, f);
  ir_map *map = ir_map_new(m->arena, whole);
  for (uint32_t i = 0; i < d->n_operands; i++)
    ir_map_set(map, d->operands[i], ir_argument(m, block, i));
  ir_op copy = copy_loop(whole, m, block, loop, map);
  ir_op_drop_attr(m, copy, "scratch");
  ir_op_drop_attr(m, copy, "kernel_ns");
  ir_value *results = ARENA_ARRAY(m->arena, ir_value, ir_op_get(m, copy)->n_results);
  for (uint32_t j = 0; j < ir_op_get(m, copy)->n_results; j++) results[j] = ir_result(m, copy, j);
  ir_builder b = {m, block, IR_NONE};
  ir_build_return(&b, IR_OP_FUNC_RETURN, results, ir_op_get(m, copy)->n_results);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) {
    ir_op_get(m, w.op)->location = IR_NONE;
    ir_op_drop_attr(m, w.op, "keep");
  }
  CTX_CHECK(m->ctx, ir_verify(m) == WEIR_OK);
  return m;
}

static const char *body_text(replacing *w, const ir_module *region, const kernel_sizes *s) {
  strbuf b = strbuf_make(w->scratch);
  strbuf_printf(&b, KERNEL_CALL_STAMP_FORMAT, KERNEL_CALL_VERSION,
                machine_text(w->scratch, w->machine), s->rows, s->vectors, (long long)s->block,
                (long long)s->chunk, (long long)s->spans, (long long)s->column_spans);
  out_stablehlo_text(region, &b);
  return b.text;
}

/* ---- the call ---- */
static ir_attr layout_of(ir_module *m, ir_type type) {
  int64_t order[IR_MAX_RANK + 1] = {0}, rank = ir_type_get(m, type)->rank;
  for (int64_t i = 0; i < rank; i++) order[i] = rank - 1 - i;
  return ir_attr_dense(m, ir_tensor(m, IR_INDEX, 1, &rank), order, false);
}

static ir_attr layouts_of(ir_module *m, const ir_type *types, uint32_t n) {
  ir_attr *items = ARENA_ARRAY(m->arena, ir_attr, n);
  for (uint32_t i = 0; i < n; i++) items[i] = layout_of(m, types[i]);
  return ir_attr_new(m,
                     &(ir_attr_data){.kind = IR_ATTR_ARRAY, .items = items, .count = (int32_t)n});
}

static ir_op build_call(replacing *w, ir_block block, ir_op loop, const char *body,
                        int64_t scratch_bytes) {
  ir_module *m = w->m;
  CTX_CHECK(m->ctx, scratch_bytes >= 0);
  uint32_t n_in = ir_op_get(m, loop)->n_operands, n_out = ir_op_get(m, loop)->n_results;
  ir_value *operands = ir_map_all(w->scratch, w->renamed, ir_op_get(m, loop)->operands, n_in);
  ir_type *in = ir_types_of(w->scratch, m, operands, n_in),
          *out = ARENA_ARRAY(w->scratch, ir_type, n_out + 1);
  for (uint32_t j = 0; j < n_out; j++) out[j] = ir_type_of(m, ir_result(m, loop, j));
  out[n_out] = ir_tensor(m, IR_UI8, 1, &scratch_bytes);
  ir_text_entry entries[] = {{"body", body}, {"label", progress_label(w->scratch, m, loop)}};
  ir_builder b = {m, block, ir_op_get(m, loop)->location};
  ir_op call =
      ir_build_ffi_call(&b, KERNEL_CALL_TARGET, operands, n_in, out, n_out + 1, entries, 2);
  ir_op_set_attr(m, call, "operand_layouts", layouts_of(m, in, n_in), true);
  ir_op_set_attr(m, call, "result_layouts", layouts_of(m, out, n_out + 1), true);
  for (uint32_t j = 0; j < n_out; j++)
    ir_map_set(w->renamed, ir_result(m, loop, j), ir_result(m, call, j));
  return call;
}

static void log_nest(const kernel_nest *n, double gain) {
  static const char *const names[] = {"inner", "point", "outer", "row", "column"};
  strbuf b = strbuf_make(n->a);
  for (int32_t a = 0; a < n->n_axes; a++)
    strbuf_printf(&b, " %s %lld", names[n->role[a]], (long long)n->extent[a]);
  ctx_log(n->m->ctx, 3,
          "kernel:%s; %d passes, %d + %d reductions; %d rows x %d vectors of %d, blocks of %lld "
          "columns, %lld rows an item, %lld spans of columns; predicted gain %.2f",
          b.text, n->n_passes, n->n_reductions, n->n_late, n->sizes.rows, n->sizes.vectors,
          n->lanes, (long long)n->sizes.block, (long long)n->sizes.chunk,
          (long long)n->sizes.column_spans, gain);
}

/* Beside its results; -1: its code would be too long. */
static int64_t scratch_bytes_of(const replacing *w, arena *a, kernel_nest *n,
                                const char **out_why) {
  kernel_code code = kernel_emit(a, n, "trial");
  if (code.is_too_long) {
    *out_why = "its code would be too long";
    return -1;
  }
  return KERNEL_CALL_ALIGNMENT + code.shared_bytes + code.scratch_bytes * w->machine->cores;
}

static ir_op only_loop(const ir_module *region) {
  ir_op f = ir_main_function(region);
  return ir_block_get(region, ir_body(region, f))->ops.at[0];
}

/* Opened where a loop may gain, and not before: it takes 46 MB. Says at debug level 1 why there is
 * none. */
static bool has_llvm(const ir_module *m, const char **out_why) {
  *out_why = kernel_llvm_missing();
  if (*out_why) ctx_log(m->ctx, 1, "no kernels: %s", *out_why);
  return !*out_why;
}

/* By the converts that the body has. */
static uint32_t side_of_mask(const void *user, const ir_module *m, ir_op op) {
  (void)user;
  return ir_mask_side(m, op);
}

/* region: a loop alone, which is rewritten for it. */
static bool reads_as_kernel(const replacing *w, arena *a, ir_module *region, kernel_nest *out_nest,
                            const char **out_why) {
  ir_op whole = only_loop(region);
  kernel_flatten_whiles(region, whole);
  kernel_multiply_by_reciprocals(region, whole);
  ir_select_masked(region, ir_body(region, whole), side_of_mask, NULL);
  kernel_promote(region, whole);
  ir_drop_unused(region, ir_body(region, whole));
  if (!kernel_nest_of(a, region, whole, w->machine, out_nest, out_why)) return false;
  double xla = cost_of_xla(out_nest);
  kernel_take_out_factors(region, whole);
  if (!kernel_nest_of(a, region, whole, w->machine, out_nest, out_why)) return false;
  double gain = cost_gain_over(out_nest, xla);
  log_nest(out_nest, gain);
  *out_why = "predicted to gain too little";
  *w->spurns |= gain < w->least_gain;
  return gain >= w->least_gain && has_llvm(region, out_why);
}

static void note_time(ir_module *m, ir_op loop, double ns) {
  ns = fmin(ns, LONGEST_NS);
  ir_op_set_attr(m, loop, "kernel_ns", ir_attr_int(m, saturated_int(ns), IR_I64), true);
}

static bool replace_by_kernel(replacing *w, ir_block block, ir_op loop, const char **out_why) {
  arena *a = arena_create(w->m->ctx);
  ir_module *region = module_of(w->m, loop);
  kernel_nest nest;
  bool reads = reads_as_kernel(w, a, region, &nest, out_why);
  int64_t scratch_bytes = reads ? scratch_bytes_of(w, a, &nest, out_why) : -1;
  if (scratch_bytes >= 0) {
    build_call(w, block, loop, body_text(w, region, &nest.sizes), scratch_bytes);
    note_time(w->m, loop, cost_time_ns(&nest));
  }
  ir_module_destroy(region);
  arena_destroy(a);
  return scratch_bytes >= 0;
}

/* What a loop of some module would need as a kernel: bytes beside its results, and time. */
typedef struct needs {
  int64_t scratch_bytes; /* -1: it would not become one */
  double ns;
} needs;

static needs needs_of(const replacing *w, const ir_module *m, ir_op loop, const char **out_why) {
  arena *a = arena_create(w->m->ctx);
  ir_module *region = module_of(m, loop);
  kernel_nest nest;
  needs found = {-1, 0};
  if (reads_as_kernel(w, a, region, &nest, out_why))
    found = (needs){scratch_bytes_of(w, a, &nest, out_why), cost_time_ns(&nest)};
  ir_module_destroy(region);
  arena_destroy(a);
  return found;
}

/* The same of the two that a loop can be parted into. */
static needs needs_of_parts(const replacing *whole, ir_op loop) {
  const char *why;
  ir_op parts[2];
  replacing part = *whole, *w = &part;
  part.least_gain = fmax(part.least_gain, TUNED_PARTS_GAIN);
  ir_module *region = module_of(w->m, loop);
  ir_value *results = ARENA_ARRAY(w->scratch, ir_value, ir_op_get(w->m, loop)->n_results + 1);
  needs first = {-1, 0}, second = {-1, 0};
  if (kernel_fission(region, only_loop(region), parts, results)) {
    first = needs_of(w, region, parts[0], &why);
    if (first.scratch_bytes >= 0) second = needs_of(w, region, parts[1], &why);
  }
  ir_module_destroy(region);
  if (second.scratch_bytes < 0) return second;
  return (needs){first.scratch_bytes + second.scratch_bytes, first.ns + second.ns};
}

static bool replace_by_parts(replacing *w, ir_block block, ir_op loop) {
  const char *why;
  ir_op parts[2];
  uint32_t n = ir_op_get(w->m, loop)->n_results;
  ir_value *results = ARENA_ARRAY(w->scratch, ir_value, n + 1);
  needs both = needs_of_parts(w, loop);
  if (both.scratch_bytes < 0) return false;
  ir_op one_trip = copy_loop(w->m, w->m, ir_block_new(w->m), loop, ir_map_new(w->scratch, w->m));
  if (!kernel_fission(w->m, one_trip, parts, results)) return false;
  for (int32_t i = 0; i < 2; i++)
    if (!replace_by_kernel(w, block, parts[i], &why)) ir_block_append(w->m, block, parts[i]);
  for (uint32_t j = 0; j < n; j++)
    ir_map_set(w->renamed, ir_result(w->m, loop, j), ir_map_get(w->renamed, results[j]));
  note_time(w->m, loop, both.ns);
  return true;
}

static bool replace_loop(replacing *w, ir_block block, ir_op loop) {
  const char *why;
  if (ir_op_int(w->m, loop, "scratch", 0) < 0) return false;
  if (replace_by_kernel(w, block, loop, &why) || replace_by_parts(w, block, loop)) return true;
  ctx_log(w->m->ctx, 3, "no kernel: %s", why);
  return false;
}

static void replace_in_block(replacing *w, ir_block block) {
  ir_module *m = w->m;
  ir_ops old = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    if (ir_kind_of(m, op) == IR_OP_LOOP && replace_loop(w, block, op)) {
      w->count++;
      w->time_ns += (double)ir_op_int(m, op, "kernel_ns", 0);
      continue;
    }
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) replace_in_block(w, below);
    ir_block_append(m, block, op);
  }
}

bool kernels_cover_op(const ir_module *m, ir_op op) { return kernel_has_rule(m, op); }

static replacing start(ir_module *m, const machine *on, double least_gain, bool *spurns) {
  return (replacing){.m = m,
                     .scratch = arena_create(m->ctx),
                     .machine = on,
                     .least_gain = least_gain,
                     .spurns = spurns};
}

kernels_made kernels_replace_loops(ir_module *m, const machine *on, double least_gain) {
  bool spurns = false;
  replacing w = start(m, on, least_gain, &spurns);
  w.renamed = ir_map_new(w.scratch, m);
  ir_block top = ir_top(m);
  replace_in_block(&w, top);
  ir_replace_uses(m, top, w.renamed);
  arena_destroy(w.scratch);
  return (kernels_made){w.count, w.time_ns};
}

static void mark(replacing *w, ir_op op) {
  ir_module *m = w->m;
  const char *why;
  if (ir_kind_of(m, op) != IR_OP_LOOP || split_is_in_kernel(m, op)) return;
  w->count += ir_op_int(m, op, "scratch", 0) < 0;
  if (ir_op_attr(m, op, "scratch")) return;
  needs found = needs_of(w, m, op, &why);
  if (found.scratch_bytes < 0) found = needs_of_parts(w, op);
  if (found.scratch_bytes < 0) ctx_log(m->ctx, 3, "no kernel: %s", why);
  else note_time(m, op, found.ns);
  ir_op_set_attr(m, op, "scratch", ir_attr_int(m, found.scratch_bytes, IR_I64), true);
  w->count += found.scratch_bytes < 0;
}

static bool is_torn(const ir_module *m, ir_op op) {
  bool must = ir_kind_of(m, op) == IR_OP_LOOP && ir_op_bool(m, op, "agree", false);
  return must && ir_op_int(m, op, "scratch", -1) < 0 && !split_is_in_kernel(m, op);
}

bool kernels_agree(const ir_module *m) { return !ir_any(ir_walk_block(m, ir_top(m)), is_torn); }

bool kernels_mark_loops(ir_module *m, const machine *on, double least_gain, bool *in_out_spurns) {
  replacing r = start(m, on, least_gain, in_out_spurns);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) mark(&r, w.op);
  arena_destroy(r.scratch);
  return r.count == 0;
}
