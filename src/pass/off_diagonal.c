/* off-diagonal: x - select(i == j, diag(x), 0) is select(i == j, x - x, x), the diagonal being read
 * by a gather of the elements (i, i): x - jnp.diag(jnp.diag(x)).
 *
 * To the bit: off the diagonal 0 is subtracted. A diagonal that is computed apart may be rounded
 * elsewhere, and leave a difference where the program has none; a sum over the rest of the row may
 * be as small. Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses
 * stays for dce. Cost: linear in the ops. Source: the identity above. */
#include "ir/maps.h"
#include "pass/band.h"
#include "pass/elements.h"

/* A value on its way back from a tensor as large as x: the dimension of x that each of its own runs
 * along; -1: none. */
typedef struct spread {
  ir_value v;
  int32_t along[IR_MAX_RANK];
} spread;

static bool go_back(ir_module *m, spread *s) {
  ir_op op = ir_maker(m, s->v, IR_OP_BROADCAST_IN_DIM);
  if (!op) op = ir_maker(m, s->v, IR_OP_RESHAPE);
  int32_t to[IR_MAX_RANK];
  if (!op || !ir_moved_dims(m, op, to)) return false;
  spread from = {.v = ir_operand(m, op, 0)};
  for (int32_t d = 0; d < ir_type_at(m, from.v)->rank; d++)
    from.along[d] = to[d] == IR_ALONE ? -1 : s->along[to[d]];
  *s = from;
  return true;
}

static bool is_main(ir_module *m, const band *s, ir_value x) {
  const int64_t *dims = ir_type_at(m, x)->dims;
  return dims[s->keep] == s->length && dims[s->drop] == s->length && !s->at_keep && !s->at_drop;
}

/* Whether the gather's result has the diagonal's elements where x has them. */
static bool is_own_diagonal(pass_rewrite *r, const spread *s, const band *mask, ir_value x) {
  ir_op gather = ir_maker(r->m, s->v, IR_OP_GATHER);
  pass_entries v;
  pass_place where;
  if (!gather || ir_operand(r->m, gather, 0) != x ||
      !pass_find_entries(r->p->scratch, r->m, gather, &v) || !pass_counts_entries(&v))
    return false;
  pass_picker f = pass_picker_at(r, gather);
  if (!pass_find_place_of_gather(&f, gather, &v, &where)) return false;
  for (int32_t d = 0; d < ir_type_at(r->m, x)->rank; d++) {
    const pass_coordinate *c = &where.at[d];
    bool on = d == mask->keep || d == mask->drop;
    if (ir_type_at(r->m, x)->dims[d] == 1 && !on) continue;
    if (!pass_is_line(&f, c, ir_type_at(r->m, x)->dims[d])) return false;
    int32_t of = s->along[c->along];
    if (on ? of != mask->keep && of != mask->drop : of != d) return false;
  }
  return true;
}

static ir_value without_diagonal(pass_rewrite *r, ir_op op) {
  ir_module *m = r->m;
  const ir_op_data *d = ir_op_get(m, op);
  ir_value x = d->operands[0];
  ir_op masked = ir_maker(m, d->operands[1], IR_OP_SELECT);
  band mask;
  if (!masked || !ir_is_zero(m, ir_operand(m, masked, 2))) return IR_NONE;
  ir_value pred = ir_operand(m, masked, 0);
  if (!band_of_mask(m, pred, IR_EQ, &mask) || !is_main(m, &mask, x)) return IR_NONE;
  spread s = {.v = ir_operand(m, masked, 1)};
  for (int32_t k = 0; k < ir_type_at(m, x)->rank; k++) s.along[k] = k;
  while (!is_own_diagonal(r, &s, &mask, x))
    if (!go_back(m, &s)) return IR_NONE;
  ir_builder b = {m, d->block, d->location};
  ir_value none = ir_build_subtract(&b, x, x);
  return ir_build_select(&b, pred, none, x);
}

static bool replace(pass_rewrite *r, ir_op op) {
  if (ir_kind_of(r->m, op) != IR_OP_SUBTRACT) return false;
  return pass_stand_in(r->m, r->map, op, without_diagonal(r, op));
}

const pass pass_off_diagonal = {"off-diagonal", .replace = replace};
