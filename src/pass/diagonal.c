/* diagonal: where only the diagonal of a matrix is looked at, nothing but the diagonal is computed.
 *
 * Requires: a verified module, calls inlined, constant branches taken (simplify). Breaks: nothing;
 * what lost its uses stays for dce. A diagonal is looked at by
 *   a gather of the elements (i + a, i + b)                          (jnp.diagonal, jnp.diag)
 *   a sum over i or j or both of select(i + a == j + b, x, 0)        (jnp.trace, einsum 'ii->i')
 * in any two dimensions of a larger tensor. It is made of what the tensor is made of (elements.h),
 * down to tensors that are there anyway, of which it is gathered. Exact but for the
 * product, whose sum goes in another order, in f32 where it was f16 or bf16. Left alone: x * eye
 * (off the diagonal infinities and NaN make NaN), what is compared with x (compared.h), other
 * reducers, indices that are not iotas, tensors that are small against the limit or below the
 * threshold. Cost: what is built is linear in the elements of the diagonal. Source: design by the
 * identities of elements.h.
 */
#include "pass/band.h"
#include "pass/compared.h"
#include "pass/elements.h"

/* Where dimension d of x is in the band. */
static int32_t moved(int32_t d, const band *s) {
  if (d == s->drop) d = s->keep;
  return d - (d > s->drop);
}

/* ---- gathers ---- */
static ir_value of_gather(pass_rewrite *r, ir_op op) {
  pass_entries v;
  pass_place where;
  pass_picker f = pass_picker_at(r, op);
  if (!pass_find_entries(r->p->scratch, r->m, op, &v) || !pass_is_large(r, v.x) ||
      !pass_is_made(r->m, v.x, false) || !pass_counts_entries(&v) ||
      !pass_find_place_of_gather(&f, op, &v, &where) || !pass_is_diagonal(&f, v.x, &where))
    return IR_NONE;
  return pass_elements(&f, v.x, &where);
}

/* ---- sums of what a mask lets through ---- */
static bool find_masked(const pass_rewrite *r, ir_value v, band *out) {
  ir_op op = ir_maker(r->m, v, IR_OP_SELECT);
  if (!op || ir_type_at(r->m, ir_operand(r->m, op, 0))->rank == 0) return false;
  ir_value pred = ir_operand(r->m, op, 0);
  for (uint32_t i = 0; i < 2; i++) {
    ir_value x = ir_operand(r->m, op, 1 + i), other = ir_operand(r->m, op, 2 - i);
    if (!ir_is_zero(r->m, other) || !pass_is_large(r, x) || !pass_is_made(r->m, x, false) ||
        !band_of_mask(r->m, pred, i ? IR_NE : IR_EQ, out))
      continue;
    out->x = x;
    return true;
  }
  return false;
}

static ir_value elements_of(pass_picker *f, const band *s) {
  const ir_type_data t = *ir_type_at(f->m, s->x);
  pass_place where;
  f->rank = t.rank - 1;
  for (int32_t d = 0; d < t.rank; d++) {
    where.at[d] = (pass_coordinate){IR_NONE, moved(d, s), 1, 0};
    if (d != s->drop) f->dims[moved(d, s)] = d == s->keep ? s->length : t.dims[d];
  }
  where.at[s->keep].offset = s->at_keep;
  where.at[s->drop].offset = s->at_drop;
  return pass_elements(f, s->x, &where);
}

/* The rows that have no element of the diagonal: nothing but the initial value. */
static ir_value padded(ir_builder *b, ir_value x, int32_t dim, int64_t before, int64_t length,
                       ir_value init) {
  int64_t low[IR_MAX_RANK] = {0}, high[IR_MAX_RANK] = {0};
  low[dim] = before;
  high[dim] = length - before - ir_type_at(b->m, x)->dims[dim];
  return low[dim] || high[dim] ? ir_build_pad(b, x, init, low, high) : x;
}

static ir_value of_sum(pass_rewrite *r, ir_op op) {
  const ir_op_data *d = ir_op_get(r->m, op);
  if (d->n_operands != 2 || ir_reducer_kind(r->m, d->regions[0]) != IR_OP_ADD) return IR_NONE;
  ir_value v = d->operands[0], init = d->operands[1];
  ir_op convert = ir_maker(r->m, v, IR_OP_CONVERT);
  band s;
  if (!find_masked(r, convert ? ir_operand(r->m, convert, 0) : v, &s)) return IR_NONE;
  ir_ints over = ir_op_list(r->m, op, "dimensions");
  bool keep = ir_ints_have(over, s.keep), drop = ir_ints_have(over, s.drop);
  if (!keep && !drop) return IR_NONE;
  if (!drop) s = (band){s.x, s.drop, s.keep, s.at_drop, s.at_keep, s.length};
  pass_picker f = pass_picker_at(r, op);
  ir_value x = ir_build_convert(&f.b, elements_of(&f, &s), ir_type_at(r->m, v)->dtype);
  int64_t summed[IR_MAX_RANK];
  int32_t count = 0, at = moved(s.keep, &s);
  for (int32_t i = 0; i < over.count; i++)
    if (over.at[i] != s.drop) summed[count++] = moved((int32_t)over.at[i], &s);
  if (count) x = ir_build_reduce(&f.b, IR_OP_ADD, x, init, summed, count);
  else x = ir_build_add(&f.b, ir_build_broadcast(&f.b, init, ir_type_of(r->m, x), NULL), x);
  if (keep && drop) return x;
  for (int32_t i = 0; i < count; i++) at -= summed[i] < moved(s.keep, &s);
  return padded(&f.b, x, at, s.at_keep, ir_type_at(r->m, s.x)->dims[s.keep], init);
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_kind kind = ir_kind_of(r->m, op);
  if ((kind != IR_OP_REDUCE && kind != IR_OP_GATHER) || pass_is_compared(r, op)) return false;
  return pass_stand_in(r->m, r->map, op, kind == IR_OP_REDUCE ? of_sum(r, op) : of_gather(r, op));
}

const pass pass_diagonal = {"diagonal", .replace = replace, .begin = pass_find_compared};
