/* Rules for cholesky and triangular_solve where they are ops: XLA CPU expands them into loops
 * over columns, in blocks of 128, and dots. (For matrices on CPU JAX calls LAPACK; batches of
 * small ones and other platforms' programs come here.) Sources: XLA's cholesky_expander,
 * triangular_solve_expander. */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_rules.h"

enum {
  BLOCK = 128,
  /* values in XLA's expansion beyond those of our nodes: loop, condition, scalars, tables */
  HIDDEN_IN_INVERSION = 16,
  HIDDEN_IN_FACTOR = 24
};

/* ---- matrices in batches: the last two dimensions ---- */
static int64_t rows_of(const plan_shape *s) { return s->dims[s->rank - 2]; }
static int64_t columns_of(const plan_shape *s) { return s->dims[s->rank - 1]; }

static plan_shape matrices(const plan_rule *r, const plan_shape *like, int64_t rows,
                           int64_t columns) {
  int64_t dims[IR_MAX_RANK];
  memcpy(dims, like->dims, (size_t)like->rank * sizeof *dims);
  dims[like->rank - 2] = rows;
  dims[like->rank - 1] = columns;
  return plan_shape_make(r->g->arena, like->dtype, like->rank, dims);
}

static uint32_t block_of(const plan_rule *r, uint32_t x, int64_t row, int64_t column, int64_t rows,
                         int64_t columns) {
  plan_shape s = node_of(r, x)->shape;
  CTX_CHECK(r->m->ctx, row + rows <= rows_of(&s) && column + columns <= columns_of(&s));
  if (rows == rows_of(&s) && columns == columns_of(&s)) return x;
  return plan_rule_node(r, IR_OP_SLICE, matrices(r, &s, rows, columns), &x, 1,
                        hash_mix_wide((uint64_t)row, (uint64_t)column));
}

static uint32_t put_block(const plan_rule *r, uint32_t into, uint32_t block, int64_t row,
                          int64_t column) {
  return plan_rule_node(r, IR_OP_DYNAMIC_UPDATE_SLICE, node_of(r, into)->shape,
                        (uint32_t[]){into, block}, 2,
                        hash_mix_wide((uint64_t)row, (uint64_t)column));
}

static uint32_t product(const plan_rule *r, uint32_t x, uint32_t y, plan_shape shape,
                        uint64_t signature) {
  ir_dtype inside = plan_multiplied_in(r, shape.dtype);
  uint32_t operands[2] = {plan_rule_convert(r, x, inside), plan_rule_convert(r, y, inside)};
  uint32_t made = plan_rule_node(r, IR_OP_DOT_GENERAL, with_dtype(shape, inside), operands, 2,
                                 hash_mix_wide(signature, 3));
  return plan_rule_convert(r, made, shape.dtype);
}

static uint32_t minus(const plan_rule *r, uint32_t x, uint32_t y) {
  return plan_rule_elementwise(r, IR_OP_SUBTRACT, node_of(r, x)->shape, (uint32_t[]){x, y}, 2, 0);
}

/* An array that depends on nothing: zeros with a diagonal, a mask. */
static uint32_t fresh(const plan_rule *r, plan_shape shape, uint64_t signature) {
  return plan_rule_node(r, IR_OP_IOTA, shape, NULL, 0, hash_mix_wide(signature, r->op));
}

/* A loop that fills operand 0 in place. */
static uint32_t fill_in_place(const plan_rule *r, const uint32_t *operands, uint32_t count,
                              int64_t scratch_bytes, uint32_t n_hidden, uint64_t signature) {
  plan_shape members[2] = {node_of(r, operands[0])->shape,
                           plan_shape_make(r->g->arena, IR_UI8, 1, &scratch_bytes)};
  uint32_t made = plan_rule_make(r, (plan_node){.kind = PLAN_OPAQUE,
                                                .shape = plan_shape_tuple(r->g->arena, members, 2),
                                                .n_operands = count,
                                                .operands = (uint32_t *)operands,
                                                .in_place = 1,
                                                .n_hidden = n_hidden,
                                                .signature = hash_mix_wide(signature, r->op)});
  return plan_element(r->l, r->s, made, 0);
}

/* ---- what is expanded once for all ops like it ---- */
/* XLA's expanders make a computation per shape and attributes; it is inlined if it has one caller.
 */
static bool has_likes(const plan_rule *r) {
  uint64_t attrs = plan_attrs_hash(r->m, r->op);
  for (ir_op op = 1; op < r->m->ops.count; op++) {
    if (op == r->op || r->m->ops.at[op].kind != r->m->ops.at[r->op].kind) continue;
    bool same = plan_attrs_hash(r->m, op) == attrs;
    for (uint32_t i = 0; i < r->m->ops.at[op].n_operands && same; i++)
      same =
          ir_type_of(r->m, ir_operand(r->m, op, i)) == ir_type_of(r->m, ir_operand(r->m, r->op, i));
    if (same) return true;
  }
  return false;
}

/* expand: from operands to the result. */
static void bind_expanded(const plan_rule *r, const uint32_t *operands, uint32_t count,
                          uint32_t (*expand)(const plan_rule *, const uint32_t *)) {
  if (!has_likes(r)) {
    plan_bind(r->l, r->op, 0, expand(r, operands));
    return;
  }
  plan_rule inner = *r;
  inner.s = plan_open_call(r->l, r->s);
  uint32_t inside[2];
  CTX_CHECK(r->m->ctx, count <= 2);
  for (uint32_t i = 0; i < count; i++) inside[i] = plan_import(r->l, inner.s, operands[i]);
  uint32_t made = expand(&inner, inside);
  plan_bind(r->l, r->op, 0, plan_close_call(r->l, r->s, inner.s, r->op, made));
}

/* ---- triangular solve ---- */
static uint32_t opaque(const plan_rule *r, plan_shape shape, const uint32_t *operands,
                       uint32_t count, uint64_t signature) {
  return plan_rule_node(r, PLAN_OPAQUE, shape, operands, count, hash_mix_wide(r->op, signature));
}

/* The largest of each column, reduced in windows of 32 rows. */
static uint32_t largest_of(const plan_rule *r, uint32_t blocks) {
  enum { WINDOW = 32 };
  plan_shape s = node_of(r, blocks)->shape;
  int64_t dims[IR_MAX_RANK + 1];
  memcpy(dims, s.dims, (size_t)s.rank * sizeof *dims);
  dims[s.rank - 2] = (dims[s.rank - 2] + WINDOW - 1) / WINDOW;
  plan_shape windows = plan_shape_make(r->g->arena, s.dtype, s.rank, dims);
  dims[s.rank - 2] = dims[s.rank - 1];
  uint32_t reduced = opaque(r, windows, &blocks, 1, 3);
  return opaque(r, plan_shape_make(r->g->arena, s.dtype, s.rank - 1, dims), &reduced, 1, 4);
}

/* The diagonal blocks of a, inverted: one array [batch..., blocks, b, b]. As XLA's
 * triangular_solve_expander does: gathered, scaled by their diagonals, inverted row by row in a
 * loop. */
static uint32_t inverted_diagonal(const plan_rule *r, uint32_t a, int64_t blocks, int64_t b) {
  plan_shape s = node_of(r, a)->shape;
  int64_t dims[IR_MAX_RANK + 1];
  memcpy(dims, s.dims, (size_t)(s.rank - 2) * sizeof *dims);
  dims[s.rank - 2] = blocks;
  dims[s.rank - 1] = dims[s.rank] = b;
  plan_shape shape = plan_shape_make(r->g->arena, s.dtype, s.rank + 1, dims);
  uint32_t gathered = blocks > 1 ? opaque(r, shape, &a, 1, 1) : a,
           selected = opaque(r, shape, &gathered, 1, 2), diagonal = largest_of(r, selected),
           scaled = opaque(r, shape, (uint32_t[]){gathered, diagonal}, 2, 5),
           inverse = fill_in_place(r, (uint32_t[]){fresh(r, shape, 5), scaled}, 2, 0,
                                   HIDDEN_IN_INVERSION, 6);
  int64_t spread[IR_MAX_RANK];
  for (int32_t i = 0; i < s.rank; i++) spread[i] = i;
  return plan_rule_elementwise(
      r, IR_OP_MULTIPLY, shape,
      (uint32_t[]){inverse, plan_rule_broadcast(r, diagonal, shape, spread)}, 2, 0);
}

/* So many equations of so many others: rows and columns where what is solved for stands on the
 * right, else columns and rows. */
static plan_shape equations(const plan_rule *r, const plan_shape *like, bool left, int64_t count,
                            int64_t others) {
  return left ? matrices(r, like, count, others) : matrices(r, like, others, count);
}

static uint32_t equations_of(const plan_rule *r, uint32_t x, bool left, int64_t at, int64_t other,
                             int64_t count, int64_t others) {
  return left ? block_of(r, x, at, other, count, others) : block_of(r, x, other, at, others, count);
}

/* x with a x = b (left) or x a = b: block by block, each by the inverse of its diagonal block
 * after what is known was subtracted. Backward: the last block first. */
static uint32_t solve(const plan_rule *r, uint32_t a, uint32_t b, bool left, bool backward) {
  plan_shape s = node_of(r, a)->shape, rhs = node_of(r, b)->shape;
  int64_t n = rows_of(&s), width = n < BLOCK ? n : BLOCK, count = n ? (n + width - 1) / width : 1,
          others = left ? columns_of(&rhs) : rows_of(&rhs), done = 0,
          dim = left ? rhs.rank - 2 : rhs.rank - 1;
  uint32_t inverse = inverted_diagonal(r, a, count, width),
           *solved = ARENA_ARRAY(r->g->arena, uint32_t, (size_t)count), *first = solved;
  if (backward) first += count;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = (backward ? count - 1 - i : i) * width, size = n - at < width ? n - at : width,
            from = backward ? n - done : 0;
    plan_shape shape = equations(r, &rhs, left, size, others), square = matrices(r, &s, size, size);
    uint32_t x = equations_of(r, b, left, at, 0, size, others);
    if (i > 0) {
      plan_shape known = equations(r, &rhs, left, done, others);
      uint32_t before = i == 1 ? *first : plan_rule_concatenate(r, known, first, (uint32_t)i, dim),
               row = equations_of(r, a, left, at, from, size, done);
      x = minus(r, x, product(r, row, before, shape, (uint64_t)i + 100));
    }
    uint32_t inverted = count == 1
                            ? plan_rule_bitcast(r, inverse, square)
                            : plan_rule_node(r, IR_OP_SLICE, square, &inverse, 1, (uint64_t)i + 1);
    uint32_t made = product(r, inverted, x, shape, (uint64_t)i + 200);
    if (backward) *--first = made;
    else first[i] = made;
    done += size;
  }
  return count == 1 ? *first : plan_rule_concatenate(r, rhs, first, (uint32_t)count, dim);
}

static uint32_t expand_solve(const plan_rule *r, const uint32_t *operands) {
  bool left = ir_op_bool(r->m, r->op, "left_side", true),
       lower = ir_op_bool(r->m, r->op, "lower", true);
  const char *text = ir_op_string(r->m, r->op, "transpose_a"), *word = "";
  size_t length = text ? ir_enum_word(text, "transpose", &word) : 0;
  bool transposed = length && word[0] != 'N';
  return solve(r, operands[0], operands[1], left, left ^ lower ^ transposed);
}

/* GPUs' libraries do it whole: into an array of its own, beside more of that size, in other
 * layouts, and a workspace. */
static void call_library(const plan_rule *r, const uint32_t *operands, uint32_t count,
                         int64_t more) {
  plan_shape result = result_shape(r, 0);
  int64_t scratch =
      saturated_sum(saturated_product(result.bytes, more), r->g->memory->library_bytes);
  uint32_t made = plan_rule_opaque(r, operands, count, &result, 1, scratch);
  plan_bind(r->l, r->op, 0, plan_element(r->l, r->s, made, 0));
}

void plan_lower_triangular_solve(const plan_rule *r) {
  uint32_t operands[2] = {operand(r, 0), operand(r, 1)};
  if (plan_has_libraries(r->g)) {
    call_library(r, operands, 2, 1);
    return;
  }
  if (node_of(r, operands[0])->shape.rank < 2 || node_of(r, operands[1])->shape.rank < 2)
    plan_rule_bind(r, plan_rule_generic(r, PLAN_OPAQUE));
  else bind_expanded(r, operands, 2, expand_solve);
}

/* ---- cholesky ---- */
/* Column by column: the factor in place, beside it a product of the size of the matrix and a
 * mask. */
static uint32_t factor_block(const plan_rule *r, uint32_t x, int64_t at) {
  plan_shape s = node_of(r, x)->shape;
  uint32_t zero = plan_rule_number(r, s.dtype, 0),
           into = plan_rule_make1(r, PLAN_COPY, s, plan_rule_splat(r, zero, s));
  uint32_t operands[3] = {into, x, fresh(r, with_dtype(s, IR_I1), 9)};
  return fill_in_place(r, operands, 3, s.bytes, HIDDEN_IN_FACTOR, (uint64_t)at + 300);
}

static uint32_t expand_cholesky(const plan_rule *r, const uint32_t *operands) {
  uint32_t a = operands[0];
  plan_shape s = node_of(r, a)->shape;
  int64_t n = rows_of(&s);
  if (n <= BLOCK) return factor_block(r, a, 0);
  uint32_t l = plan_rule_splat(r, plan_rule_number(r, s.dtype, 0), s);
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t k = n - i < BLOCK ? n - i : BLOCK;
    if (i > 0) {
      uint32_t left = block_of(r, l, i, 0, n - i, i), right = block_of(r, l, i, 0, k, i);
      uint32_t delta = product(r, left, right, matrices(r, &s, n - i, k), (uint64_t)i + 400);
      a = put_block(r, a, minus(r, block_of(r, a, i, i, n - i, k), delta), i, i);
    }
    uint32_t factor = factor_block(r, block_of(r, a, i, i, k, k), i);
    l = put_block(r, l, factor, i, i);
    if (i + k < n)
      l = put_block(r, l, solve(r, factor, block_of(r, a, i + k, i, n - i - k, k), false, false),
                    i + k, i);
  }
  return l;
}

void plan_lower_cholesky(const plan_rule *r) {
  uint32_t a = operand(r, 0);
  if (plan_has_libraries(r->g)) call_library(r, &a, 1, 2);
  else if (node_of(r, a)->shape.rank < 2) plan_rule_bind(r, plan_rule_generic(r, PLAN_OPAQUE));
  else bind_expanded(r, &a, 1, expand_cholesky);
}
