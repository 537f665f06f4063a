/* terms: a vector times the terms of a sum of matrices, not times the sum.
 *
 *   (A + B^T) x = A x + B^T x          s A x = s (A x)         (P Q) x = P (Q x)
 *   (1 r^T) x = 1 (r . x)              (r 1^T) x = r (1 . x)
 *
 * so that the sum, which is a matrix more, is never made: (a + a^T) / 2 in steps of Lanczos, a Gram
 * matrix that is centred by its means. Rows and columns that matrices are scaled with scale x or
 * the result. x may be a few vectors, the matrix on either side; what whiles hand on is looked at
 * where it is made.
 *
 * Requires: a verified module, transposes folded into products. Breaks: nothing; what lost its uses
 * stays for dce. Not exact: off by what A x and B x are rounded by, which is more than (A + B) x is
 * where A and B nearly cancel, no more than if A and B had been rounded once; terms may overflow
 * where their sum does not, and 0 . inf of a mean is done for all at once. Left alone: products
 * whose elements are compared (compared.h); means that are taken from data, and data from data, as
 * far as signs are known, which would lose what is gained by that (products are rounded already);
 * sums of which a term would have to be made (of a function of each element); a vector for each
 * row; more than TUNED_THIN_ROWS vectors, for which each term is a product as dear as the sum's;
 * element types other than f32 and f64; matrices that are small against the limit or below the
 * threshold. Reading each term takes longer than reading a sum that there is room for: so both ways
 * are tried (passes.def). Cost: MOST_STEPS ops a product. Source: the distributive law.
 */
#include <assert.h>

#include "machine/tuned.h"
#include "pass/compared.h"
#include "pass/vary.h"

enum { MOST_STEPS = 48 }; /* ops of the matrix that are looked at */
/* The space: the matrix's rows, what is summed, x's rest. */
enum { ROW = 1, INNER = 2, COLUMN = 4 };

/* A matrix, of which this dimension is summed over. */
typedef struct matrix {
  ir_value value;
  int64_t dim;
} matrix;

typedef struct finder {
  pass_rewrite *r;
  pass_vary *vary;
  ir_value *began; /* by value: of what a while hands on what it begins with */
  ir_op dot;       /* in hand */
  int steps, sums;
  bool is_less;     /* what is looked at is taken away */
  bool has_data[2]; /* terms at hand as a whole: added, taken away */
  bool has_thin;    /* terms that are the same along a dimension */
} finder;

/* ---- what a matrix is made of ---- */
/* What a while hands on is what it began with. */
static ir_value origin(const finder *f, ir_value v) {
  while (v < f->r->n_values && f->began[v]) v = ir_map_get(f->r->map, f->began[v]);
  return v;
}

static pass_dims dims_of(const finder *f, matrix x) {
  pass_dims dims = pass_varies(f->vary, x.value);
  return (dims >> x.dim & 1 ? INNER : 0) | (dims >> (1 - x.dim) & 1 ? ROW : 0);
}

static bool is_whole(const finder *f, matrix x) { return dims_of(f, x) == (ROW | INNER); }

static matrix operand(const finder *f, ir_op op, uint32_t i, int64_t dim) {
  return (matrix){origin(f, ir_operand(f->r->m, op, i)), dim};
}

/* The two matrices of a product: what meets the vector, which leaves what the other one sums. */
static bool find_factors(const finder *f, ir_op dot, int64_t dim, matrix *out_near,
                         matrix *out_far) {
  const ir_module *m = f->r->m;
  ir_dot_numbers n;
  if (ir_kind_of(m, dot) != IR_OP_DOT_GENERAL || !pass_is_plain_product(m, dot) ||
      !pass_same_accuracy(m, dot, f->dot) || !ir_dot_dims(m, dot, &n) ||
      n.lhs_contract.count != 1 || ir_type_at(m, ir_operand(m, dot, 0))->rank != 2 ||
      ir_type_at(m, ir_operand(m, dot, 1))->rank != 2)
    return false;
  uint32_t near = dim == 0 ? 0 : 1;
  *out_near = operand(f, dot, near, 1 - ir_dot_contract(&n, near).at[0]);
  *out_far = operand(f, dot, 1 - near, ir_dot_contract(&n, 1 - near).at[0]);
  return true;
}

/* Nobody makes it element by element. */
static bool is_at_hand(const ir_module *m, ir_op op) {
  if (!op) return true;
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_CONSTANT || kind == IR_OP_CHOLESKY || kind == IR_OP_TRIANGULAR_SOLVE ||
         kind == IR_OP_CUSTOM_CALL;
}

/* One that scales is operand 1; of what is divided no other. */
static bool find_scaled(const finder *f, ir_op op, int64_t dim, matrix *out_x, matrix *out_by) {
  ir_kind kind = ir_kind_of(f->r->m, op);
  if (kind != IR_OP_MULTIPLY && kind != IR_OP_DIVIDE) return false;
  *out_x = operand(f, op, 0, dim);
  *out_by = operand(f, op, 1, dim);
  if (kind == IR_OP_MULTIPLY && is_whole(f, *out_by)) {
    *out_by = operand(f, op, 0, dim);
    *out_x = operand(f, op, 1, dim);
  }
  return !is_whole(f, *out_by);
}

static bool has_terms(finder *f, matrix x);

/* The factors of a product are no terms, and no sums. */
static bool has_factors(finder *f, ir_op dot, int64_t dim) {
  finder inner = {.r = f->r, .vary = f->vary, .began = f->began, .dot = f->dot, .steps = f->steps};
  matrix near, far;
  bool ok = find_factors(f, dot, dim, &near, &far) && has_terms(&inner, near) &&
            has_terms(&inner, far) && !inner.sums;
  f->steps = inner.steps;
  return ok;
}

static bool has_signed(finder *f, matrix x, bool is_negated) {
  f->is_less ^= is_negated;
  bool ok = has_terms(f, x);
  f->is_less ^= is_negated;
  return ok;
}

static bool is_negative(const ir_module *m, ir_value v) {
  double number;
  return ir_splat_real(m, v, &number) && number < 0;
}

/* Whether x can be multiplied with its terms: notes which there are. */
static bool has_terms(finder *f, matrix x) {
  const ir_module *m = f->r->m;
  ir_op op = ir_value_get(m, x.value)->op;
  matrix a, by;
  bool is_thin = !is_whole(f, x);
  if (f->steps-- <= 0) return false;
  f->has_thin |= is_thin;
  f->has_data[f->is_less] |= !is_thin && is_at_hand(m, op);
  if (is_thin || is_at_hand(m, op)) return true;
  if (pass_has_foreign_attrs(m, op)) return false;
  ir_kind kind = ir_kind_of(m, op);
  switch (kind) {
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
      f->sums++;
      return has_terms(f, operand(f, op, 0, x.dim)) &&
             has_signed(f, operand(f, op, 1, x.dim), kind == IR_OP_SUBTRACT);
    case IR_OP_NEGATE: return has_signed(f, operand(f, op, 0, x.dim), true);
    case IR_OP_TRANSPOSE: return has_terms(f, operand(f, op, 0, 1 - x.dim));
    case IR_OP_DOT_GENERAL: return has_factors(f, op, x.dim);
    default:
      return find_scaled(f, op, x.dim, &a, &by) && has_signed(f, a, is_negative(m, by.value));
  }
}

/* ---- times the vectors ---- */
static pass_nd times(finder *f, ir_builder *b, matrix x, pass_nd vectors);

static pass_space space_of(const finder *f, ir_builder *b, matrix x, pass_nd vectors,
                           int64_t extents[3]) {
  const ir_module *m = b->m;
  extents[0] = ir_dim_of(m, x.value, 1 - x.dim);
  extents[1] = ir_dim_of(m, x.value, x.dim);
  extents[2] = vectors.dims & COLUMN ? ir_dim_of(m, vectors.value, 1) : 1;
  return (pass_space){*b, f->vary, extents};
}

static pass_nd thin(const finder *f, pass_space *s, matrix x) {
  return (pass_nd){pass_compact(f->vary, &s->b, x.value), dims_of(f, x)};
}

/* By a row, which scales the vectors, or a column or a number, which scale the result. */
static pass_nd times_scaled(finder *f, pass_space *s, ir_op op, matrix x, matrix by,
                            pass_nd vectors) {
  ir_kind kind = ir_kind_of(s->b.m, op);
  pass_nd scale = thin(f, s, by);
  if (scale.dims & INNER) return times(f, &s->b, x, pass_nd_binary(s, kind, vectors, scale));
  return pass_nd_binary(s, kind, times(f, &s->b, x, vectors), scale);
}

static pass_nd times_whole(finder *f, pass_space *s, matrix x, pass_nd vectors) {
  ir_dot_numbers n = {.lhs_contract = {1, &x.dim}, .rhs_contract = {1, (int64_t[]){0}}};
  ir_dtype dtype = ir_type_at(s->b.m, x.value)->dtype;
  ir_value made = pass_build_dot(&s->b, x.value, vectors.value, &n, dtype);
  pass_set_accuracy(s->b.m, ir_value_get(s->b.m, made)->op, f->dot);
  return (pass_nd){made, ROW | (vectors.dims & COLUMN)};
}

static pass_nd times_thin(const finder *f, pass_space *s, matrix x, pass_nd vectors) {
  pass_nd made = pass_nd_dot(s, thin(f, s, x), vectors, INNER);
  ir_op dot = ir_maker(s->b.m, made.value, IR_OP_DOT_GENERAL);
  if (dot) pass_set_accuracy(s->b.m, dot, f->dot);
  return made;
}

/* For each row, though all may be the same. */
static pass_nd times_all(finder *f, ir_builder *b, matrix x, pass_nd vectors) {
  int64_t extents[3];
  pass_space s = space_of(f, b, x, vectors, extents);
  return pass_nd_spread(&s, times(f, b, x, vectors), ROW);
}

static pass_nd times_factors(finder *f, pass_space *s, matrix near, matrix far, pass_nd vectors) {
  pass_nd inner = times_all(f, &s->b, near, vectors);
  return times(f, &s->b, far, (pass_nd){inner.value, INNER | (inner.dims & COLUMN)});
}

/* Of a matrix that has terms; along rows, unless all are the same. */
static pass_nd times_terms(finder *f, pass_space *s, matrix x, pass_nd vectors) {
  ir_module *m = s->b.m;
  ir_op op = ir_value_get(m, x.value)->op;
  ir_kind kind = ir_kind_of(m, op);
  matrix a, b;
  if (find_factors(f, op, x.dim, &a, &b)) return times_factors(f, s, a, b, vectors);
  if (find_scaled(f, op, x.dim, &a, &b)) return times_scaled(f, s, op, a, b, vectors);
  if (kind == IR_OP_TRANSPOSE) return times(f, &s->b, operand(f, op, 0, 1 - x.dim), vectors);
  pass_nd made = times(f, &s->b, operand(f, op, 0, x.dim), vectors);
  if (kind == IR_OP_NEGATE)
    return (pass_nd){ir_build_unary(&s->b, IR_OP_NEGATE, made.value), made.dims};
  CTX_CHECK(m->ctx, kind == IR_OP_ADD || kind == IR_OP_SUBTRACT);
  return pass_nd_binary(s, kind, made, times(f, &s->b, operand(f, op, 1, x.dim), vectors));
}

static pass_nd times(finder *f, ir_builder *b, matrix x, pass_nd vectors) {
  int64_t extents[3];
  pass_space s = space_of(f, b, x, vectors, extents);
  assert(vectors.dims & INNER);
  if (!is_whole(f, x)) return times_thin(f, &s, x, vectors);
  if (is_at_hand(b->m, ir_value_get(b->m, x.value)->op)) return times_whole(f, &s, x, vectors);
  return times_terms(f, &s, x, vectors);
}

/* ---- the walk ---- */
/* The vectors are operand 1 - side. */
static bool find_sum(finder *f, uint32_t side, const ir_dot_numbers *n, matrix *out) {
  const ir_module *m = f->r->m;
  ir_value v = ir_operand(m, f->dot, side), vectors = ir_operand(m, f->dot, 1 - side);
  const ir_type_data *t = ir_type_at(m, vectors);
  if (ir_type_at(m, v)->rank != 2 || n->lhs_batch.count || n->lhs_contract.count != 1 ||
      t->rank < 1 || t->rank > 2 || !pass_is_large(f->r, v))
    return false;
  *out = (matrix){origin(f, v), ir_dot_contract(n, side).at[0]};
  int64_t inner = ir_dim_of(m, v, out->dim), count = ir_elements(m, vectors);
  f->steps = MOST_STEPS;
  f->sums = 0;
  f->has_data[0] = f->has_data[1] = f->has_thin = false;
  assert(!f->is_less);
  return inner > 1 && ir_dim_of(m, v, 1 - out->dim) > 1 && count <= inner * TUNED_THIN_ROWS &&
         has_terms(f, *out) && f->sums > 0 && f->has_data[0] + f->has_data[1] + f->has_thin <= 1;
}

/* The matrix first, as the space has it; then as the product has it. */
static ir_value made_of(finder *f, uint32_t side, const ir_dot_numbers *n, matrix sum) {
  ir_builder *b = &f->r->b;
  ir_value x = ir_operand(b->m, f->dot, 1 - side);
  bool has_columns = ir_type_at(b->m, x)->rank == 2;
  pass_nd vectors = {pass_build_moved(b, x, ir_dot_contract(n, 1 - side).at[0], 0),
                     INNER | (has_columns ? COLUMN : 0)};
  ir_value made = times_all(f, b, sum, vectors).value;
  return side && has_columns ? pass_build_moved(b, made, 0, 1) : made;
}

static bool replace(pass_rewrite *r, ir_op op) {
  finder *f = r->own;
  ir_dot_numbers n;
  pass_vary_op(f->vary, op);
  if (ir_kind_of(r->m, op) != IR_OP_DOT_GENERAL || !pass_is_plain_product(r->m, op) ||
      pass_is_compared(r, op) || !ir_dot_dims(r->m, op, &n))
    return false;
  f->dot = op;
  for (uint32_t side = 0; side < 2; side++) {
    matrix sum;
    if (find_sum(f, side, &n, &sum))
      return pass_stand_in(r->m, r->map, op, made_of(f, side, &n, sum));
  }
  return false;
}

static void note_handed_on(finder *f, ir_op loop) {
  ir_block body = ir_while_body(f->r->m, loop);
  for (ir_value v, i = 0; (v = ir_operand_at(f->r->m, loop, i)); i++)
    if (ir_is_handed_on(f->r->m, body, i)) f->began[ir_argument(f->r->m, body, i)] = v;
}

static bool begin(pass_rewrite *r) {
  arena *a = r->p->scratch;
  finder *f = r->own = ARENA_NEW(a, finder);
  *f = (finder){
      .r = r, .vary = pass_vary_new(a, r->m), .began = ARENA_ARRAY(a, ir_value, r->n_values)};
  for (ir_walk w = ir_walk_block(r->m, ir_top(r->m)); ir_next(&w);)
    if (ir_kind_of(r->m, w.op) == IR_OP_WHILE) note_handed_on(f, w.op);
  return pass_find_compared(r);
}

const pass pass_terms = {"terms", .replace = replace, .begin = begin};
