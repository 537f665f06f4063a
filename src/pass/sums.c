/* sums: a sum over a dimension of a product, without the product.
 *
 *   sum_j (A . B)_ij = A . (sum_j B_.j)       over a free dimension: of its own side first
 *   sum_b (A_b . B_b) = one product           over a batch dimension: a contracted one
 *
 * so that A . B, which may be the largest tensor there is, is never made, and a cube of
 * multiply-adds becomes a square. Requires: a verified module, dead code gone (users are counted).
 * Breaks: nothing; what lost its uses stays for dce. Not exact: sums are rounded in another order,
 * and an infinite element of A meets the sum of what it would have met one by one: NaN from inf * 0
 * may come out infinite, inf - inf finite.
 * Left alone: products that others than sums read; sums that don't begin with zero; element types
 * other than f32 and f64; products that are small against the limit or below the threshold. Cost:
 * linear. Source: the distributive law; XLA's AlgebraicSimplifier does the second.
 */
#include "ir/maps.h"
#include "pass/build.h"

typedef struct sum { /* a reduce of a product */
  ir_op reduce, dot;
  ir_dot_numbers n;
  ir_ints dims;   /* of the product, ascending */
  ir_ints own[2]; /* of the sides: free ones to sum over */
  ir_ints batch;  /* places in n.lhs_batch of those that become contracted */
} sum;

static bool is_sum(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  return d->kind == IR_OP_REDUCE && ir_adds_up(m, op) &&
         ir_value_block(m, d->operands[0]) == d->block;
}

/* By value: uses that are sums in its own block. */
static bool begin(pass_rewrite *f) {
  uint32_t *sums = f->own = ARENA_ARRAY(f->p->scratch, uint32_t, f->n_values);
  for (ir_walk w = ir_walk_block(f->m, ir_top(f->m)); ir_next(&w);)
    if (is_sum(f->m, w.op)) sums[ir_operand(f->m, w.op, 0)]++;
  return true;
}

/* The product, if all who read it are sums and it is worth not being there. */
static ir_op product_of(const pass_rewrite *f, ir_value v) {
  const ir_module *m = f->m;
  const uint32_t *sums = f->own;
  ir_op op = v < f->n_values && f->uses[v] == sums[v] ? ir_value_get(m, v)->op : IR_NONE;
  bool plain = op && ir_kind_of(m, op) == IR_OP_DOT_GENERAL && pass_is_plain_product(m, op);
  return plain && ir_value_bytes(m, v) > f->small_bytes ? op : IR_NONE;
}

/* Sorts the dimensions that are summed over by where they come from. */
static void sort_dims(const pass_rewrite *f, sum *s) {
  int64_t *batch = ARENA_ARRAY(f->p->scratch, int64_t, s->dims.count + 1);
  int32_t n_batch = s->n.lhs_batch.count, index[IR_MAX_RANK];
  s->batch = (ir_ints){0, batch};
  for (int32_t i = 0; i < n_batch; i++)
    if (ir_ints_have(s->dims, i)) batch[s->batch.count++] = i;
  for (uint32_t side = 0; side < 2; side++) {
    int64_t *own = ARENA_ARRAY(f->p->scratch, int64_t, s->dims.count + 1);
    s->own[side] = (ir_ints){0, own};
    CTX_CHECK(f->m->ctx, ir_operand_indices(f->p->scratch, f->m, s->dot, side, index));
    for (int32_t d = 0; d < ir_type_at(f->m, ir_operand(f->m, s->dot, side))->rank; d++)
      if (index[d] >= n_batch && ir_ints_have(s->dims, index[d])) own[s->own[side].count++] = d;
  }
}

static bool find_sum(const pass_rewrite *f, ir_op op, sum *s) {
  if (!is_sum(f->m, op)) return false;
  s->reduce = op;
  s->dot = product_of(f, ir_operand(f->m, op, 0));
  if (!s->dot || !ir_dot_dims(f->m, s->dot, &s->n)) return false;
  s->dims = ir_op_list(f->m, op, "dimensions");
  sort_dims(f, s);
  return true;
}

/* The side's dimensions after its own are summed away. */
static ir_ints renumbered(const pass_rewrite *f, const sum *s, uint32_t side, ir_ints dims) {
  int64_t *at = ARENA_ARRAY(f->p->scratch, int64_t, dims.count + s->n.lhs_batch.count + 1);
  for (int32_t i = 0; i < dims.count; i++) {
    at[i] = dims.at[i];
    for (int32_t k = 0; k < s->own[side].count; k++) at[i] -= s->own[side].at[k] < dims.at[i];
  }
  return (ir_ints){dims.count, at};
}

/* Batch dimensions that are summed over become contracted. */
static void contract_batch(const sum *s, ir_ints *batch, ir_ints *contract) {
  int64_t *from = (int64_t *)batch->at, *to = (int64_t *)contract->at;
  int32_t kept = 0;
  for (int32_t i = 0; i < batch->count; i++)
    if (ir_ints_have(s->batch, i)) to[contract->count++] = from[i];
    else from[kept++] = from[i];
  batch->count = kept;
}

static ir_value build(const pass_rewrite *f, ir_builder *b, const sum *s) {
  ir_value sides[2];
  for (uint32_t i = 0; i < 2; i++)
    sides[i] = ir_build_sum(b, ir_operand(f->m, s->dot, i), s->own[i].at, s->own[i].count);
  ir_dot_numbers n = {renumbered(f, s, 0, s->n.lhs_batch), renumbered(f, s, 1, s->n.rhs_batch),
                      renumbered(f, s, 0, s->n.lhs_contract),
                      renumbered(f, s, 1, s->n.rhs_contract)};
  contract_batch(s, &n.lhs_batch, &n.lhs_contract);
  contract_batch(s, &n.rhs_batch, &n.rhs_contract);
  ir_type type = ir_type_of(f->m, ir_result(f->m, s->reduce, 0));
  ir_value made = pass_build_like(b, s->dot, sides, type);
  ir_set_dot_dims(f->m, ir_value_get(f->m, made)->op, &n);
  return made;
}

static bool replace(pass_rewrite *f, ir_op op) {
  sum s;
  if (!find_sum(f, op, &s)) return false;
  return pass_stand_in(f->m, f->map, op, build(f, &f->b, &s));
}

const pass pass_sums = {"sums", .replace = replace, .begin = begin};
