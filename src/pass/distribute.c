/* distribute: A . X + B . X -> (A + B) . X, one large product in place of two.
 *
 * Requires: a verified module, transposes folded into products. Breaks: nothing; what lost its uses
 * stays for dce. The terms may stand anywhere in a sum of sums; A and B may have their dimensions
 * in different orders (the gradient of a . a^T is G . a + G^T . a), X is the same value on the same
 * side. Not exact: A + B is rounded before the product, not after it. Left alone: products that
 * others read, too; where A is larger than X or the result, so that A + B would be the large tensor
 * (a kernel matrix times a vector); element types whose sums are done wider than they are kept;
 * sides of different precision; results that are small against the limit or below the threshold.
 * Cost: terms squared per sum, at most MOST_TERMS. Source: the distributive law; XLA's
 * AlgebraicSimplifier does the same for elementwise products.
 */
#include "ir/maps.h"
#include "pass/build.h"

enum { MOST_TERMS = 32 };

typedef struct terms {
  ir_value at[MOST_TERMS];
  bool made[MOST_TERMS]; /* by merging others of the sum */
  uint32_t count, adds;
} terms;

static bool is_in(const pass_rewrite *f, ir_op op, ir_kind kind, ir_block block) {
  return op && ir_kind_of(f->m, op) == kind && ir_op_get(f->m, op)->block == block;
}

static bool is_read_once(const pass_rewrite *f, ir_value v) {
  return v < f->n_values && f->uses[v] == 1;
}

/* ---- the terms of a sum ---- */
/* False: more than MOST_TERMS; no deeper than that either. */
static bool add_terms(const pass_rewrite *f, ir_op add, ir_block block, terms *out) {
  if (++out->adds == MOST_TERMS) return false;
  for (uint32_t i = 0; i < 2; i++) {
    ir_value v = ir_operand(f->m, add, i);
    ir_op op = ir_value_get(f->m, v)->op;
    if (is_read_once(f, v) && is_in(f, op, IR_OP_ADD, block)) {
      if (!add_terms(f, op, block, out)) return false;
    } else {
      if (out->count == MOST_TERMS) return false;
      out->at[out->count++] = v;
    }
  }
  return true;
}

/* IR_NONE: the term is none, or others read it. */
static ir_op find_product(const pass_rewrite *f, const terms *t, uint32_t i) {
  bool own = t->made[i] || is_read_once(f, t->at[i]);
  return own ? ir_maker(f->m, t->at[i], IR_OP_DOT_GENERAL) : IR_NONE;
}

/* ---- two products with a common side ---- */
/* permutation[d]: which dimension of b's other side is dimension d of a's: they meet the same
 * dimension of the common side, or make the same one of the result. */
static bool match_dims(const pass_rewrite *f, ir_op a, ir_op b, uint32_t common,
                       int64_t *permutation) {
  ir_op of[2] = {a, b};
  uint32_t side = 1 - common;
  int32_t own[2][IR_MAX_RANK], met[2][IR_MAX_RANK];
  int32_t rank = ir_type_at(f->m, ir_operand(f->m, a, side))->rank,
          n_met = ir_type_at(f->m, ir_operand(f->m, a, common))->rank,
          n_made = ir_type_at(f->m, ir_result(f->m, a, 0))->rank;
  for (int i = 0; i < 2; i++)
    if (!ir_operand_indices(f->p->scratch, f->m, of[i], side, own[i]) ||
        !ir_operand_indices(f->p->scratch, f->m, of[i], common, met[i]))
      return false;
  for (int32_t d = 0; d < rank; d++) {
    int32_t index = own[0][d], c = 0, e = 0;
    while (c < n_met && met[0][c] != own[0][d]) c++;
    if (c < n_met) index = met[1][c];
    while (e < rank && own[1][e] != index) e++;
    bool is_summed = index >= n_made && own[0][d] >= n_made;
    if (e == rank || (!is_summed && index != own[0][d])) return false;
    permutation[d] = e;
  }
  return true;
}

static bool is_worth_it(const pass_rewrite *f, ir_op a, uint32_t common) {
  const ir_module *m = f->m;
  ir_value x = ir_operand(m, a, common), own = ir_operand(m, a, 1 - common),
           result = ir_result(m, a, 0);
  ir_dtype d = ir_type_at(m, result)->dtype;
  bool wide = d == IR_F32 || d == IR_F64 || d == IR_C64 || d == IR_C128;
  int64_t bytes = ir_value_bytes(m, own), made = ir_value_bytes(m, result);
  return wide && ir_type_at(m, x)->dtype == d && ir_type_at(m, own)->dtype == d &&
         ir_is_static_tensor(m, ir_type_of(m, x)) && bytes <= ir_value_bytes(m, x) &&
         bytes <= made && made > f->small_bytes;
}

static ir_value merged(pass_rewrite *f, ir_builder *b, ir_op x, ir_op y, uint32_t common) {
  ir_module *m = f->m;
  uint32_t side = 1 - common;
  int64_t permutation[IR_MAX_RANK];
  ir_value own = ir_operand(m, x, side), other = ir_operand(m, y, side);
  if (ir_operand(m, x, common) != ir_operand(m, y, common) ||
      ir_type_at(m, own)->rank != ir_type_at(m, other)->rank ||
      ir_op_get(m, x)->n_attrs != ir_op_get(m, y)->n_attrs || !pass_same_accuracy(m, x, y) ||
      !is_worth_it(f, x, common) || !is_worth_it(f, y, common) ||
      !match_dims(f, x, y, common, permutation))
    return IR_NONE;
  ir_value operands[2];
  operands[common] = ir_operand(m, x, common);
  operands[side] = ir_build_add(b, own, ir_build_transpose(b, other, permutation));
  return pass_build_like(b, x, operands, ir_type_of(m, ir_result(m, x, 0)));
}

/* ---- sums ---- */
/* Terms i and j are one from now on, which may be merged with others. */
static bool merge_terms(pass_rewrite *f, ir_builder *b, terms *t, uint32_t i, uint32_t j) {
  ir_op x = find_product(f, t, i), y = find_product(f, t, j);
  if (!x || !y) return false;
  ir_value made = merged(f, b, x, y, 0);
  if (!made) made = merged(f, b, x, y, 1);
  if (!made) return false;
  t->at[i] = made;
  t->made[i] = true;
  t->count--;
  memmove(&t->at[j], &t->at[j + 1], (t->count - j) * sizeof *t->at);
  memmove(&t->made[j], &t->made[j + 1], (t->count - j) * sizeof *t->made);
  return true;
}

static ir_value sum_of(ir_builder *b, const terms *t) {
  ir_value sum = t->at[0];
  for (uint32_t i = 1; i < t->count; i++) sum = ir_build_add(b, sum, t->at[i]);
  return sum;
}

static bool replace_sum(pass_rewrite *f, ir_op add) {
  terms t = {.count = 0};
  if (!add_terms(f, add, f->b.block, &t)) return false;
  bool any = false;
  for (uint32_t i = 0; i < t.count; i++)
    for (uint32_t j = i + 1; j < t.count;)
      if (merge_terms(f, &f->b, &t, i, j)) any = true;
      else j++;
  if (any) ir_map_set(f->map, ir_result(f->m, add, 0), sum_of(&f->b, &t));
  return any;
}

static void mark_inner_sums(const pass_rewrite *f, ir_op add) {
  bool *inner = f->own;
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, add, i)); i++)
    if (ir_is_made_in(f->m, v, ir_op_get(f->m, add)->block)) inner[v] = is_read_once(f, v);
}

/* By value: added to something and read by nothing else, a part of that sum. */
static bool begin(pass_rewrite *f) {
  f->own = ARENA_ARRAY(f->p->scratch, bool, f->n_values);
  for (ir_walk w = ir_walk_block(f->m, ir_top(f->m)); ir_next(&w);)
    if (ir_kind_of(f->m, w.op) == IR_OP_ADD) mark_inner_sums(f, w.op);
  return true;
}

static bool replace(pass_rewrite *f, ir_op op) {
  const bool *inner = f->own;
  bool whole = ir_kind_of(f->m, op) == IR_OP_ADD && !inner[ir_result(f->m, op, 0)];
  return whole && replace_sum(f, op);
}

const pass pass_distribute = {"distribute", .replace = replace, .begin = begin};
