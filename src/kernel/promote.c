/* 16-bit floats: read and stored as such, f32 in registers.
 *
 * In: a loop's body. Out: the same body with a convert behind each argument of bf16 or f16 and in
 * front of each such result, f32 where it had these, and a weir.round behind each op whose result
 * f32 has and they don't. So every value is what the program says: sums, products and quotients of
 * two such numbers and roots of one, made in f32 and rounded, are the nearest of the exact ones
 * (f32 has more than twice their digits and two). Sums of many are f32 and rounded at the end, as
 * those of test/ref are. XLA on CPUs rounds f16 likewise, bf16 less often
 * (xla_allow_excess_precision). Left alone, so that kernels don't cover the loop: counting in 16
 * bits, and reductions of several operands that compute with such elements.
 */
#include "kernel/promote.h"

#include "ir/attrs.h"
#include "ir/floats.h"
#include "kernel/elementwise.h"

typedef struct promoter {
  ir_module *m;
  ir_map *map;
} promoter;

static bool is_narrow(const ir_module *m, ir_value v) {
  return kernel_is_narrow(ir_type_at(m, v)->dtype);
}

/* Whether a result made in f32 of 16-bit floats is one, too: nothing to round. */
static bool is_exact(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  if (ir_kind_flags((ir_kind)d->kind) & (IR_FLAG_M | IR_FLAG_N)) return true;
  if (d->kind == IR_OP_CONVERT) {
    ir_dtype from = ir_type_at(m, d->operands[0])->dtype;
    return from == IR_I1 || from == IR_I8 || from == IR_UI8;
  }
  if (d->kind != IR_OP_REDUCE || d->n_results > 1)
    return d->kind == IR_OP_REDUCE; /* may_promote: chosen */
  return ir_kind_flags(ir_reducer_kind(m, d->regions[0])) & IR_FLAG_N;
}

/* What reduces several operands may only choose among its elements. */
static bool chooses(const ir_module *m, ir_block body) {
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_results; k++)
      if (is_narrow(m, ir_result(m, op, k)) && !is_exact(m, op)) return false;
  }
  return true;
}

static bool may_promote(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind == IR_OP_IOTA) return !is_narrow(m, d->first_result);
  return d->kind != IR_OP_REDUCE || d->n_results == 1 || chooses(m, d->regions[0]);
}

static ir_type promoted(ir_module *m, ir_value v) {
  return ir_tensor_with_dtype(m, ir_type_of(m, v), IR_F32);
}

static void promote_value(ir_module *m, ir_value v) {
  if (!is_narrow(m, v)) return;
  ir_type type = promoted(m, v);
  ir_value_get(m, v)->type = type;
}

/* What is not a splat has no place in a tile. */
static void promote_constant(ir_module *m, ir_op op) {
  ir_value v = ir_result(m, op, 0);
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, op, "value"));
  uint16_t bits;
  if (!is_narrow(m, v) || !d->splat) return;
  memcpy(&bits, d->data, sizeof bits);
  float x = (float)ir_float_value(ir_type_at(m, v)->dtype, bits);
  ir_op_set_attr(m, op, "value", ir_attr_dense(m, promoted(m, v), &x, true), true);
}

static void promote_op(ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) == IR_OP_CONSTANT) promote_constant(m, op);
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++) promote_value(m, ir_result(m, op, i));
  for (uint32_t r = 0; r < ir_op_get(m, op)->n_regions; r++) {
    ir_block block = ir_op_get(m, op)->regions[r];
    for (uint32_t i = 0; block && i < ir_block_get(m, block)->args.count; i++)
      promote_value(m, ir_argument(m, block, i));
    for (ir_op below, i = 0; block && (below = ir_op_at(m, block, i)); i++) promote_op(m, below);
  }
}

static void promote_arguments(promoter *w, ir_block body) {
  ir_builder b = {w->m, body, IR_NONE};
  for (ir_value v, i = 0; (v = ir_argument_at(w->m, body, i)); i++) {
    if (is_narrow(w->m, v)) ir_map_set(w->map, v, ir_build_convert(&b, v, IR_F32));
  }
}

static ir_value build_round(ir_module *m, ir_block block, ir_value x, ir_dtype dtype) {
  ir_type format = ir_attr_scalar(m, dtype);
  ir_attr attr = ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = format});
  ir_named_attr named = ir_property(m, "format", attr);
  return ir_build(&(ir_builder){m, block, IR_NONE}, IR_OP_ROUND, 1, &x, ir_type_of(m, x), 1,
                  &named);
}

/* The convert that a result ends in rounds by itself. */
static ir_value without_round(const ir_module *m, ir_value v, ir_dtype dtype) {
  ir_op op = ir_maker(m, v, IR_OP_ROUND);
  return op && kernel_round_format(m, op) == dtype ? ir_operand(m, op, 0) : v;
}

static void narrow_results(promoter *w, ir_block body, ir_op loop, ir_op end) {
  ir_builder b = {w->m, body, IR_NONE};
  for (uint32_t j = 0; j < ir_op_get(w->m, end)->n_operands; j++) {
    if (!is_narrow(w->m, ir_result(w->m, loop, j))) continue;
    ir_dtype dtype = ir_type_at(w->m, ir_result(w->m, loop, j))->dtype;
    ir_value v = without_round(w->m, ir_operand(w->m, end, j), dtype);
    v = ir_build_convert(&b, v, dtype);
    ir_op_get(w->m, end)->operands[j] = v;
  }
}

/* A conversion that became one of f32 to f32. */
static bool is_nothing(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_CONVERT &&
         ir_type_of(m, ir_operand(m, op, 0)) == ir_type_of(m, ir_result(m, op, 0));
}

/* An extreme of many bf16, which XLA finds element by element, in bf16 (cost.c). */
static bool is_slow_in_xla(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_REDUCE && ir_op_get(m, op)->n_results == 1 &&
         ir_type_at(m, ir_result(m, op, 0))->dtype == IR_BF16 && is_exact(m, op);
}

static void promote_whole(promoter *w, ir_block body, ir_op op) {
  ir_module *m = w->m;
  bool is_slow = is_slow_in_xla(m, op);
  bool has_result = ir_op_get(m, op)->n_results > 0;
  ir_value v = has_result ? ir_result(m, op, 0) : IR_NONE;
  bool rounds = has_result && is_narrow(m, v) && !is_exact(m, op);
  ir_dtype dtype = has_result ? ir_type_at(m, v)->dtype : IR_DTYPE_NONE;
  promote_op(m, op);
  if (is_slow) ir_op_set_attr(m, op, KERNEL_WAS_BF16, ir_attr_bool(m, true), true);
  ir_value made = has_result && is_nothing(m, op) ? ir_operand(m, op, 0) : v;
  if (made == v) ir_block_append(m, body, op);
  if (rounds) made = build_round(m, body, made, dtype);
  if (made != v) ir_map_set(w->map, v, made);
}

static void rewrite(promoter *w, ir_block body, ir_op loop) {
  ir_module *m = w->m;
  ir_ops old = ir_take_ops(m, body);
  promote_arguments(w, body);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    ir_rename_operands(m, op, w->map);
    if (i + 1 == old.count) narrow_results(w, body, loop, op);
    promote_whole(w, body, op);
  }
}

void kernel_promote(ir_module *m, ir_op loop) {
  ir_block body = ir_body(m, loop);
  bool any = false;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++) any |= is_narrow(m, arg);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    if (!may_promote(m, op)) return;
    any |= is_narrow(m, ir_result(m, op, 0));
  }
  if (!any) return;
  arena *a = arena_create(m->ctx);
  promoter w = {m, ir_map_new(a, m)};
  rewrite(&w, body, loop);
  arena_destroy(a);
}
