/* implicit: chlo.broadcast_OP(x, y), which stretches its operands, -> broadcasts and OP.
 *
 * Requires: a verified module. Breaks: nothing. Exact. Operands are aligned at the last dimension,
 * as in NumPy; one of lower rank goes where `broadcast_dimensions` says; extents of 1 are
 * stretched. Left alone: dynamic shapes, operands and results that do not fit each other, ops that
 * the plain op's rule would not take (of these the verifier knows nothing).
 * Source: CHLO, broadcasting ops; XLA and StableHLO, chlo-legalize-to-stablehlo.
 */
#include "pass/build.h"

enum { MOST_OPERANDS = 3 };

typedef struct places {
  int64_t at[MOST_OPERANDS][IR_MAX_RANK]; /* of an operand's dimensions in the result */
} places;

/* Where the operand's dimensions lie; false: they do not fit. */
static bool find_places(pass_rewrite *f, ir_op op, ir_value x, int64_t *out_at) {
  const ir_type_data *t = ir_type_at(f->m, x), *r = ir_type_at(f->m, ir_result(f->m, op, 0));
  int32_t n;
  const int64_t *given = ir_op_ints(f->m, op, "broadcast_dimensions", &n);
  bool is_given = t->rank < r->rank && n >= 0;
  if (t->rank > r->rank || (is_given && n != t->rank)) return false;
  for (int32_t d = 0; d < t->rank; d++) {
    int64_t at = is_given ? given[d] : r->rank - t->rank + d;
    if (at < 0 || at >= r->rank || (d && at <= out_at[d - 1])) return false;
    if (t->dims[d] != r->dims[at] && t->dims[d] != 1) return false;
    out_at[d] = at;
  }
  return true;
}

/* No extent of the result comes from nowhere. */
static bool covers(const ir_module *m, ir_op op, const places *p) {
  const ir_type_data *r = ir_type_at(m, ir_result(m, op, 0));
  bool has[IR_MAX_RANK] = {false};
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++) {
    const ir_type_data *t = ir_type_at(m, ir_operand(m, op, i));
    for (int32_t d = 0; d < t->rank; d++) has[p->at[i][d]] |= t->dims[d] == r->dims[p->at[i][d]];
  }
  for (int32_t d = 0; d < r->rank; d++)
    if (!has[d]) return false;
  return true;
}

/* `#chlo<comparison_direction LT>` as StableHLO spells it. */
static void respell(ir_module *m, ir_op op, const char *name) {
  static const char ours[] = "#chlo<";
  const char *text = ir_op_string(m, op, name);
  if (!text || strncmp(text, ours, sizeof ours - 1)) return;
  text = arena_printf(m->arena, "#stablehlo<%s", text + sizeof ours - 1);
  ir_op_set_attr(m, op, name, ir_attr_other(m, text), true);
}

/* In no block yet. */
static ir_op build(ir_module *m, ir_op op, ir_kind kind, const ir_value *operands) {
  ir_op_desc desc = ir_op_desc_of(m, op);
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  desc.kind = kind;
  desc.operands = operands;
  desc.result_types = &type;
  ir_op made = ir_op_new(m, IR_NONE, &desc);
  ir_op_drop_attr(m, made, "broadcast_dimensions");
  respell(m, made, "comparison_direction");
  respell(m, made, "compare_type");
  return made;
}

/* The operand in the result's shape, in no block yet. */
static ir_value spread(ir_module *m, ir_op op, ir_value x, const int64_t *at) {
  ir_type type =
      ir_tensor_with_dtype(m, ir_type_of(m, ir_result(m, op, 0)), ir_type_at(m, x)->dtype);
  ir_builder b = {m, IR_NONE, ir_op_get(m, op)->location};
  return ir_type_of(m, x) == type ? x : ir_build_broadcast(&b, x, type, at);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  places p;
  ir_value xs[MOST_OPERANDS];
  ir_kind kind = ir_explicit_kind(ir_kind_of(m, op));
  uint32_t n = ir_op_get(m, op)->n_operands;
  if (!kind || n > MOST_OPERANDS || ir_op_get(m, op)->n_results != 1 || !pass_is_static(m, op))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!find_places(f, op, ir_operand(m, op, i), p.at[i])) return false;
  if (!covers(m, op, &p)) return false;
  for (uint32_t i = 0; i < n; i++) xs[i] = spread(m, op, ir_operand(m, op, i), p.at[i]);
  ir_op made = build(m, op, kind, xs);
  if (!ir_obeys_rule(m, made)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (xs[i] != ir_operand(m, op, i)) ir_block_append(m, f->b.block, ir_value_get(m, xs[i])->op);
  ir_block_append(m, f->b.block, made);
  return pass_stand_in(m, f->map, op, ir_result(m, made, 0));
}

const pass pass_implicit = {"implicit", .replace = replace};
