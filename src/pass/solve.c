/* solve: a triangular matrix with many right-hand sides -> products.
 *
 * Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * Identity, A being lower triangular and cut in halves:
 *   [A1  0] [X1]   [B1]              X1 = A1^-1 B1
 *   [A2 A3] [X2] = [B2]   becomes    X2 = A3^-1 (B2 - A2 X1)
 * down to blocks whose inverses are computed, by a solve for the identity: they are small and do
 * not depend on the right-hand sides, so a loop over these finds them made. A Gaussian process
 * whose loop has three solves takes half the time with it (docs/performance.md; the solve alone:
 * bench/experiments/solves.py), and the loop splits B as before. An upper triangle goes the other
 * way round, a transposed one has its blocks transposed. Triangles of some rows, one for each
 * normal of a mixture, are the other case: LAPACK divides each call over its threads, which wait
 * for each other in each trip of a loop. Not exact: errors grow with the condition
 * of a diagonal block in place of that of a row, and what is infinite or NaN in a column of B
 * reaches all rows of its block, also those above it. A batch of triangles has a batch of blocks.
 * Left alone: matrices from the right, complex numbers, f32 beyond CPU, whose products round it
 * first; in programs that hold their limit as they came, where errors are LAPACK's, all but batches
 * of triangles of few rows; few right-hand sides (TUNED_SOLVE_SIDES), batches of triangles that are
 * not small against the limit, right-hand sides that are small against the limit or below the
 * threshold. Cost: some ten ops a block, MOST_BLOCKS at most. Right-hand sides that are products of
 * small matrices with what is long are not solved for: A^-1 (M X + c y^T) = (A^-1 M) X + (A^-1 c)
 * y^T where no one else reads them: sums of scaled products, whose M and c together are no wider
 * than A. Errors: those of the solves for M and c, times |X| and |y|. Source: XLA's
 * TriangularSolveExpander (which inverts the blocks in each trip of a loop) and MAGMA's trsm do the
 * same.
 */
#include "ir/lapack.h"
#include "machine/tuned.h"
#include "pass/build.h"

enum {
  MOST_BLOCKS = 16,
  MOST_STEPS = 16,
  SPARE_COLUMNS = 4,
  MOST_OF_WHAT_FITS = 16 /* rows of a triangle, one of a batch, in a program that holds its limit */
};

typedef struct triangle { /* op(A) */
  ir_builder b;
  ir_value a;
  bool lower, transposed, unit; /* lower: A itself */
  int32_t batch;                /* dimensions in front of rows and columns: a triangle for each */
  int64_t most_rows;            /* of a block */
} triangle;

/* ---- what is solved ---- */
static bool read_op(const ir_module *m, ir_op op, triangle *out) {
  const char *word, *text = ir_op_string(m, op, "transpose_a");
  out->lower = ir_op_bool(m, op, "lower", true);
  out->unit = ir_op_bool(m, op, "unit_diagonal", false);
  out->transposed = text && ir_enum_word(text, "transpose", &word) && word[0] != 'N';
  return ir_op_bool(m, op, "left_side", true);
}

static bool read_call(const ir_module *m, ir_op op, triangle *out) {
  if (!ir_is_lapack(m, op, "trsm") || ir_lapack_batch_rank(m, op) < 0) return false;
  int64_t side = ir_ffi_config_int(m, op, "side", -1), uplo = ir_ffi_config_int(m, op, "uplo", -1),
          trans = ir_ffi_config_int(m, op, "trans_x", -1),
          diag = ir_ffi_config_int(m, op, "diag", -1);
  out->lower = uplo == 'L';
  out->unit = diag == 'U';
  out->transposed = trans != 'N';
  if (ir_lapack_is_by_rows(m, op)) out->lower = !out->lower, out->transposed = !out->transposed;
  return side == 'L' && uplo >= 0 && trans >= 0 && diag >= 0;
}

static bool read_triangle(const ir_module *m, ir_op op, triangle *out) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_TRIANGULAR_SOLVE ? read_op(m, op, out)
         : kind == IR_OP_CUSTOM_CALL    ? read_call(m, op, out)
                                        : false;
}

/* Of batches: there are all inverses of blocks at the same time, what is solved for them, and its
 * copy. */
static bool is_small(const pass_rewrite *f, ir_value a) {
  return ir_type_at(f->m, a)->rank == 2 || !f->small_bytes ||
         ir_value_bytes(f->m, a) <= f->small_bytes / 3;
}

static bool is_worth_it(const pass_rewrite *f, ir_value a, ir_value b) {
  const ir_type_data *t = ir_type_at(f->m, b);
  int64_t rows = t->dims[t->rank - 2], sides = t->dims[t->rank - 1];
  CTX_CHECK(f->m->ctx, rows == ir_type_at(f->m, a)->dims[t->rank - 1]);
  return ir_is_real(t->dtype) && rows >= TUNED_SOLVE_ROWS && sides / TUNED_SOLVE_SIDES >= rows &&
         is_small(f, a) && ir_value_bytes(f->m, b) > f->small_bytes;
}

/* ---- its parts ---- */
static ir_value rows_of(triangle *t, ir_value x, int64_t from, int64_t count) {
  return ir_build_slice_dim(&t->b, x, t->batch, from, count);
}

/* This part of op(A), as it lies in A. */
static ir_value part_of(triangle *t, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const ir_type_data *a = ir_type_at(t->b.m, t->a);
  int64_t start[IR_MAX_RANK] = {0}, limit[IR_MAX_RANK], stride[IR_MAX_RANK];
  int32_t down = t->batch + t->transposed, across = t->batch + !t->transposed;
  memcpy(limit, a->dims, sizeof *limit * (size_t)a->rank);
  for (int32_t i = 0; i < a->rank; i++) stride[i] = 1;
  start[down] = row, limit[down] = row + rows;
  start[across] = column, limit[across] = column + columns;
  CTX_CHECK(t->b.m->ctx, limit[down] <= a->dims[down] && limit[across] <= a->dims[across]);
  return ir_build_slice(&t->b, t->a, start, limit, stride);
}

static ir_value product(triangle *t, ir_value left, bool transposed, ir_value right) {
  const int64_t rows = t->batch, contracted = t->batch + !transposed;
  int64_t batch[IR_MAX_RANK];
  for (int32_t i = 0; i < t->batch; i++) batch[i] = i;
  ir_dot_numbers n = {.lhs_batch = {t->batch, batch}, .rhs_batch = {t->batch, batch}};
  n.lhs_contract.count = n.rhs_contract.count = 1;
  n.lhs_contract.at = &contracted, n.rhs_contract.at = &rows;
  return pass_build_dot(&t->b, left, right, &n, ir_type_at(t->b.m, right)->dtype);
}

/* Of the size of this block. */
static ir_value identity(triangle *t, ir_value block) {
  ir_type type = ir_type_of(t->b.m, block);
  ir_value is_one = ir_build_is_diagonal(&t->b, type, t->batch, t->batch + 1);
  return ir_build_convert(&t->b, is_one, ir_type_at(t->b.m, block)->dtype);
}

/* Of the rows and columns of op(A). */
static ir_value inverse(triangle *t, int64_t from, int64_t rows) {
  ir_value block = part_of(t, from, rows, from, rows), one = identity(t, block);
  return pass_build_triangular_solve(&t->b, block, one, t->lower, t->transposed, t->unit);
}

/* X in the rows of op(A) from `from`. */
static ir_value solve(triangle *t, int64_t from, ir_value b) {
  int64_t rows = ir_type_at(t->b.m, b)->dims[t->batch], half = (rows / 2 + 7) / 8 * 8;
  if (rows <= t->most_rows) return product(t, inverse(t, from, rows), false, b);
  CTX_CHECK(t->b.m->ctx, 0 < half && half < rows);
  bool down = t->lower != t->transposed;
  int64_t at[2] = {0, half}, count[2] = {half, rows - half};
  ir_value x[2];
  for (int i = 0; i < 2; i++) {
    int k = down ? i : 1 - i;
    ir_value part = rows_of(t, b, at[k], count[k]);
    if (i == 1) {
      ir_value beside = part_of(t, from + at[k], count[k], from + at[1 - k], count[1 - k]);
      part = ir_build_subtract(&t->b, part, product(t, beside, t->transposed, x[1 - k]));
    }
    x[k] = solve(t, from + at[k], part);
  }
  return ir_build_concatenate(&t->b, x, 2, t->batch);
}

/* ---- products as right-hand sides ---- */
typedef struct factored {
  pass_rewrite *f;
  ir_op op;      /* the solve */
  ir_builder *b; /* NULL: nothing is built */
  int64_t width; /* of all small factors */
  int steps;
} factored;

static ir_value as_matrix(ir_builder *b, ir_value c) {
  const ir_type_data *t = ir_type_at(b->m, c);
  return ir_build_reshape(b, c, ir_tensor(b->m, t->dtype, 2, (int64_t[]){t->dims[0], 1}));
}

/* m or its transpose, or a vector, in front of the long factor: solved for. */
static ir_value solved(factored *t, ir_value m, bool turned) {
  ir_value a = ir_operand(t->f->m, t->op, 0);
  bool vector = ir_type_at(t->f->m, m)->rank == 1;
  if (turned) m = ir_build_transpose(t->b, m, (int64_t[]){1, 0});
  ir_value columns = vector ? as_matrix(t->b, m) : m, operands[] = {a, columns};
  ir_value x = pass_build_like(t->b, t->op, operands, ir_type_of(t->f->m, columns));
  return vector ? ir_build_reshape(t->b, x, ir_type_of(t->f->m, m)) : x;
}

static bool factor_product(factored *t, ir_op dot, ir_value *out) {
  ir_module *m = t->f->m;
  ir_dot_numbers n;
  ir_value small = ir_operand(m, dot, 0), large = ir_operand(m, dot, 1);
  if (!pass_is_plain_product(m, dot) || !ir_dot_dims(m, dot, &n) || n.lhs_batch.count ||
      n.lhs_contract.count > 1)
    return false;
  int32_t rank = 1 + n.lhs_contract.count;
  const ir_type_data *s = ir_type_at(m, small);
  if (s->rank != rank || ir_type_at(m, large)->rank != rank) return false;
  bool turned = rank == 2 && n.lhs_contract.at[0] == 0;
  t->width += rank == 2 ? s->dims[n.lhs_contract.at[0]] : 1;
  if (!t->b) return true;
  const int64_t last = 1;
  if (turned) n.lhs_contract.at = &last;
  *out = pass_build_like(t->b, dot, (ir_value[]){solved(t, small, turned), large},
                         ir_type_of(m, ir_result(m, dot, 0)));
  ir_set_dot_dims(m, ir_value_get(m, *out)->op, &n);
  return true;
}

/* What solves for v: long products of which this is the only reader, scaled and added. */
static bool factor(factored *t, ir_value v, ir_value *out) {
  ir_module *m = t->f->m;
  ir_op op = ir_value_get(m, v)->op;
  if (!op || v >= t->f->n_values || t->f->uses[v] != 1 || ++t->steps > MOST_STEPS) return false;
  ir_kind kind = ir_kind_of(m, op);
  ir_value x, of[2] = {IR_NONE, IR_NONE};
  pass_scale by;
  if (kind == IR_OP_DOT_GENERAL) return factor_product(t, op, out);
  if (pass_find_scaling(m, op, &x, &by)) {
    if (!factor(t, x, out)) return false;
    if (t->b) *out = pass_build_scaled(t->b, *out, &by);
    return true;
  }
  if (kind != IR_OP_ADD && kind != IR_OP_SUBTRACT) return false;
  for (uint32_t i = 0; i < 2; i++)
    if (!factor(t, ir_operand(m, op, i), &of[i])) return false;
  if (t->b) *out = ir_build_binary(t->b, kind, of[0], of[1]);
  return true;
}

static bool replace_factored(pass_rewrite *f, ir_builder *b, ir_op op) {
  ir_value rhs = ir_operand(f->m, op, 1), made = IR_NONE;
  factored dry = {.f = f, .op = op}, t = {.f = f, .op = op, .b = b};
  if (!factor(&dry, rhs, &made) || dry.width > ir_type_at(f->m, rhs)->dims[0] + SPARE_COLUMNS)
    return false;
  CTX_CHECK(f->m->ctx, factor(&t, rhs, &made));
  return pass_stand_in(f->m, f->map, op, made);
}

static bool replace(pass_rewrite *f, ir_op op) {
  triangle t;
  if (!read_triangle(f->m, op, &t)) return false;
  ir_value a = ir_operand(f->m, op, 0), b = ir_operand(f->m, op, 1);
  if (!is_worth_it(f, a, b)) return false;
  t.b = (ir_builder){f->m, f->b.block, ir_op_get(f->m, op)->location};
  t.a = a;
  t.batch = ir_type_at(f->m, a)->rank - 2;
  int64_t rows = ir_type_at(f->m, a)->dims[t.batch];
  if (f->p->is_for_speed && (!t.batch || rows > MOST_OF_WHAT_FITS)) return false;
  if (!t.batch && replace_factored(f, &t.b, op)) return true;
  if (!pass_multiplies_whole(f->p->options, ir_type_at(f->m, b)->dtype)) return false;
  t.most_rows = (rows + MOST_BLOCKS - 1) / MOST_BLOCKS;
  if (t.most_rows < TUNED_SOLVE_BLOCK) t.most_rows = TUNED_SOLVE_BLOCK;
  return pass_stand_in(f->m, f->map, op, solve(&t, 0, b));
}

const pass pass_solve = {"solve", .replace = replace};
