#include "kernel/factor_out.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/maps.h"

enum { MOST_FACTORS = 8, DEEPEST = 24 };

typedef struct factor { /* sum * broadcast(value), or sum / broadcast(value) */
  ir_value value;
  bool divides;
  int32_t rank;
  int64_t dims[IR_MAX_RANK]; /* of the operand, by dimension of the value; -1: of length 1 */
} factor;

typedef struct extractor {
  ir_module *m;
  arena *a;
  ir_block block;
  ir_map *map;
  uint32_t n_factors;
  factor factors[MOST_FACTORS];
} extractor;

static ir_op maker(const extractor *w, ir_value v) { return ir_value_get(w->m, v)->op; }

/* ---- factors ---- */
/* Made by a sum, a product or an extreme in the body. */
static bool is_statistic(const extractor *w, ir_value v, int depth) {
  ir_op op = maker(w, v);
  if (!op || depth == 0) return false;
  ir_kind kind = ir_kind_of(w->m, op);
  if (kind == IR_OP_REDUCE || kind == IR_OP_DOT_GENERAL) return true;
  for (uint32_t i = 0; i < ir_op_get(w->m, op)->n_operands; i++)
    if (is_statistic(w, ir_operand(w->m, op, i), depth - 1)) return true;
  return false;
}

/* v does not depend on the summed dimensions: it becomes a factor. */
static bool take_factor(extractor *w, ir_value v, const bool *summed, bool divides) {
  int32_t to[IR_MAX_RANK];
  ir_op op = ir_maker(w->m, v, IR_OP_BROADCAST_IN_DIM);
  if (!op || w->n_factors == MOST_FACTORS) return false;
  ir_value from = ir_operand(w->m, op, 0);
  factor f = {.value = from, .divides = divides, .rank = ir_type_at(w->m, from)->rank};
  if (!ir_moved_dims(w->m, op, to)) return false;
  for (int32_t i = 0; i < f.rank; i++) {
    bool one = ir_type_at(w->m, from)->dims[i] == 1;
    if (!one && summed[to[i]]) return false;
    f.dims[i] = one ? -1 : to[i];
  }
  if (!is_statistic(w, from, DEEPEST)) return false;
  w->factors[w->n_factors++] = f;
  return true;
}

/* v without its factors. */
static ir_value stripped(extractor *w, ir_value v, const bool *summed, bool divides, int depth) {
  ir_op op = maker(w, v);
  ir_kind kind = op ? ir_kind_of(w->m, op) : IR_OP_UNKNOWN;
  if (depth == 0 || (kind != IR_OP_MULTIPLY && kind != IR_OP_DIVIDE)) return v;
  bool inverts = kind == IR_OP_DIVIDE ? !divides : divides;
  ir_value x = ir_operand(w->m, op, 0), y = ir_operand(w->m, op, 1);
  if (take_factor(w, y, summed, inverts)) return stripped(w, x, summed, divides, depth - 1);
  if (kind == IR_OP_MULTIPLY && take_factor(w, x, summed, divides))
    return stripped(w, y, summed, divides, depth - 1);
  ir_value left = stripped(w, x, summed, divides, depth - 1), right = y;
  if (kind == IR_OP_MULTIPLY) right = stripped(w, y, summed, divides, depth - 1);
  if (left == x && right == y) return v;
  ir_builder b = {w->m, w->block, IR_NONE};
  return ir_build_binary(&b, kind, left, right);
}

/* place: the sum's dimension by the operand's; not read where it is summed. */
static ir_value with_factor(extractor *w, ir_value sum, const factor *f, const int64_t *place) {
  ir_builder b = {w->m, w->block, IR_NONE};
  ir_type_data t = *ir_type_at(w->m, f->value), whole = *ir_type_at(w->m, sum);
  int64_t sizes[IR_MAX_RANK], dims[IR_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < f->rank; i++)
    if (f->dims[i] >= 0) sizes[rank] = t.dims[i], dims[rank++] = place[f->dims[i]];
  ir_value x = ir_build_reshape(&b, f->value, ir_tensor(w->m, t.dtype, rank, sizes));
  x = ir_build_broadcast(&b, x, ir_tensor(w->m, t.dtype, whole.rank, whole.dims), dims);
  return ir_build_binary(&b, f->divides ? IR_OP_DIVIDE : IR_OP_MULTIPLY, sum, x);
}

/* The op on another operand. */
static ir_value op_on(extractor *w, ir_op op, uint32_t operand, ir_value v) {
  ir_value operands[] = {ir_operand(w->m, op, 0), ir_operand(w->m, op, 1)};
  ir_type type = ir_type_of(w->m, ir_result(w->m, op, 0));
  ir_builder b = {w->m, w->block, IR_NONE};
  operands[operand] = v;
  return ir_result(w->m, ir_build_again(&b, op, operands, &type), 0);
}

static ir_value exchanged_sum(extractor *w, ir_op reduce);

/* The op's result, made from its operand without factors; IR_NONE: it has none. */
static ir_value take_out(extractor *w, ir_op op, uint32_t operand, const bool *summed,
                         const int64_t *place) {
  ir_value from = ir_operand(w->m, op, operand);
  if (ir_element_count(w->m, ir_type_of(w->m, from)) <
      ir_element_count(w->m, ir_type_of(w->m, ir_result(w->m, op, 0))))
    return IR_NONE; /* more to multiply after the sum than before */
  w->n_factors = 0;
  ir_value x = stripped(w, from, summed, false, DEEPEST);
  if (!w->n_factors) return IR_NONE;
  ir_value sum = op_on(w, op, operand, x);
  ir_op made = maker(w, sum);
  ir_value other = ir_kind_of(w->m, made) == IR_OP_REDUCE ? exchanged_sum(w, made) : IR_NONE;
  if (other) sum = other;
  for (uint32_t i = 0; i < w->n_factors; i++) sum = with_factor(w, sum, &w->factors[i], place);
  return sum;
}

/* A sum from +0. */
static bool is_sum(const extractor *w, ir_op op) {
  return ir_op_get(w->m, op)->n_operands == 2 &&
         ir_is_real(ir_type_at(w->m, ir_operand(w->m, op, 0))->dtype) &&
         ir_reducer_kind(w->m, ir_body(w->m, op)) == IR_OP_ADD &&
         ir_is_zero(w->m, ir_operand(w->m, op, 1));
}

/* Of a sum, or of a product's operand; ir/maps.h says over which dimensions, and where the others
 * are. */
static ir_value factors_of(extractor *w, ir_op op, uint32_t operand) {
  int32_t index[IR_MAX_RANK], rank = ir_type_at(w->m, ir_result(w->m, op, 0))->rank;
  const ir_type_data *t = ir_type_at(w->m, ir_operand(w->m, op, operand));
  bool summed[IR_MAX_RANK];
  int64_t place[IR_MAX_RANK];
  if ((ir_kind_of(w->m, op) == IR_OP_REDUCE ? !is_sum(w, op) : !ir_is_real(t->dtype)) ||
      !ir_operand_indices(w->a, w->m, op, operand, index))
    return IR_NONE;
  for (int32_t d = 0; d < t->rank; d++) {
    summed[d] = index[d] >= rank;
    place[d] = index[d];
  }
  return take_out(w, op, operand, summed, place);
}

/* ---- sums of products with products ---- */
/* An earlier product of grid with v, over grid's last dimension, which is v's free one in `inner`,
 * the product of something with v. */
static ir_value product_with(extractor *w, ir_value grid, ir_value v, const ir_dot_numbers *inner) {
  int32_t last = ir_type_at(w->m, grid)->rank - 1;
  for (ir_op op, i = 0; (op = ir_op_at(w->m, w->block, i)); i++) {
    ir_dot_numbers d;
    if (ir_kind_of(w->m, op) != IR_OP_DOT_GENERAL || ir_operand(w->m, op, 0) != grid ||
        ir_operand(w->m, op, 1) != v || !ir_dot_dims(w->m, op, &d))
      continue;
    if (ir_ints_same(d.rhs_batch, inner->rhs_batch) &&
        ir_ints_same(d.lhs_batch, inner->lhs_batch) && d.lhs_contract.count == 1 &&
        d.lhs_contract.at[0] == last && d.rhs_contract.count == 1 &&
        d.rhs_contract.at[0] != inner->rhs_contract.at[0])
      return ir_result(w->m, op, 0);
  }
  return IR_NONE;
}

/* sum_j (sum_e a_ie v_je) p_ij = sum_e a_ie (sum_j p_ij v_je), where the sum over j is there
 * already: one pass less in the gradient of softmax. */
static ir_value exchanged(extractor *w, ir_op reduce, ir_value x, ir_value grid) {
  ir_ints dims = ir_op_list(w->m, reduce, "dimensions");
  ir_dot_numbers d;
  if (!ir_maker(w->m, x, IR_OP_DOT_GENERAL) || !ir_dot_dims(w->m, maker(w, x), &d)) return IR_NONE;
  ir_value a = ir_operand(w->m, maker(w, x), 0), v = ir_operand(w->m, maker(w, x), 1);
  int32_t last = ir_type_at(w->m, x)->rank - 1, point = ir_type_at(w->m, a)->rank - 1;
  if (dims.count != 1 || dims.at[0] != last || d.lhs_contract.count != 1 ||
      d.lhs_contract.at[0] != point || point != last || !ir_ints_count_up(d.lhs_batch) ||
      d.lhs_batch.count != last - 1)
    return IR_NONE;
  ir_value sum = product_with(w, grid, v, &d);
  if (!sum || ir_type_of(w->m, sum) != ir_type_of(w->m, a)) return IR_NONE;
  ir_builder b = {w->m, w->block, IR_NONE};
  return op_on(w, reduce, 0, ir_build_multiply(&b, a, sum));
}

static ir_value exchanged_sum(extractor *w, ir_op reduce) {
  ir_value x = ir_operand(w->m, reduce, 0);
  if (!is_sum(w, reduce) || !ir_maker(w->m, x, IR_OP_MULTIPLY)) return IR_NONE;
  ir_value left = ir_operand(w->m, maker(w, x), 0), right = ir_operand(w->m, maker(w, x), 1);
  ir_value v = exchanged(w, reduce, left, right);
  return v ? v : exchanged(w, reduce, right, left);
}

static ir_value replaced(extractor *w, ir_op op) {
  ir_value v = IR_NONE;
  switch (ir_kind_of(w->m, op)) {
    case IR_OP_REDUCE: v = factors_of(w, op, 0); return v ? v : exchanged_sum(w, op);
    case IR_OP_DOT_GENERAL: v = factors_of(w, op, 0); return v ? v : factors_of(w, op, 1);
    default: return v;
  }
}

/* ---- the body ---- */
void kernel_take_out_factors(ir_module *m, ir_op loop) {
  if (ir_op_bool(m, loop, "agree", false)) return;
  ir_block body = ir_body(m, loop);
  extractor w = {.m = m, .a = arena_create(m->ctx), .block = body};
  w.map = ir_map_new(w.a, m);
  ir_ops old = ir_take_ops(m, body);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    ir_rename_operands(m, op, w.map);
    ir_value v = i + 1 < old.count ? replaced(&w, op) : IR_NONE;
    if (v) ir_map_set(w.map, ir_result(m, op, 0), v);
    else ir_block_append(m, body, op);
  }
  ir_drop_unused(m, body);
  arena_destroy(w.a);
}
