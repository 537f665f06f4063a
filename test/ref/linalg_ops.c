/* cholesky, triangular_solve, and JAX's custom calls for LAPACK and QR. Matrices are the last two
 * dimensions, everything before is batch. A custom call's layouts (column-major) are how XLA passes
 * memory: they matter only where potrf and trsm are told that a matrix lies row by row, as LAPACK
 * finds its transpose there. Calls of jaxlib 0.4.35 to 0.10 ("lapack_sgetrf_ffi"). */
#include <math.h>

#include "ir/lapack.h"
#include "ref/linalg.h"

/* ---- StableHLO ---- */
static void clear_other_triangle(ref_matrix *a, bool lower) {
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < a->columns; j++)
      if (i != j && (i > j) != lower) *ref_at(a, i, j) = 0;
}

/* All NaN where the matrix is not positive definite. */
weir_status ref_cholesky(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  bool lower = ir_op_bool(f->m, op, "lower", false);
  ref_tensor *y = ref_result(f, op, 0);
  if (x->rank < 2) return ref_error(f, op, WEIR_INVALID_ARGUMENT, "of rank %d", x->rank);
  for (int64_t b = 0, n = ref_matrix_batches(x, 2); b < n; b++) {
    ref_matrix a = ref_matrix_load(f->arena, x, b, false);
    clear_other_triangle(&a, lower);
    if (ref_potrf(&a, lower))
      for (int64_t i = 0; i < a.rows * a.columns; i++) a.at[i] = NAN;
    ref_matrix_store(y, b, &a);
  }
  return WEIR_OK;
}

weir_status ref_triangular_solve(ref_frame *f, ir_op op) {
  const ref_tensor *a = ref_operand(f, op, 0), *b = ref_operand(f, op, 1);
  const char *text = ir_op_string(f->m, op, "transpose_a"), *word = "";
  size_t n_word = text ? ir_enum_word(text, "transpose", &word) : 0;
  ref_transpose_kind transpose = n_word && word[0] == 'T'   ? REF_TRANSPOSE
                                 : n_word && word[0] == 'A' ? REF_ADJOINT
                                                            : REF_NO_TRANSPOSE;
  if (a->rank < 2 || b->rank != a->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "of ranks %d and %d", a->rank, b->rank);
  bool left = ir_op_bool(f->m, op, "left_side", true), lower = ir_op_bool(f->m, op, "lower", true),
       unit = ir_op_bool(f->m, op, "unit_diagonal", false);
  ref_tensor *x = ref_result(f, op, 0);
  for (int64_t k = 0, n = ref_matrix_batches(a, 2); k < n; k++) {
    ref_matrix t = ref_matrix_load(f->arena, a, k, false),
               solution = ref_matrix_load(f->arena, b, k, false);
    ref_trsm(&t, &solution, left, lower, transpose, unit);
    ref_matrix_store(x, k, &solution);
  }
  return WEIR_OK;
}

/* ---- custom calls: one function each, for one matrix of the batch; named in ir/lapack.def ---- */
typedef struct lapack {
  ref_frame *f;
  ir_op op;
  int64_t batch;
} lapack;

#define call_none NULL /* of routines without one */

static int64_t config(const lapack *l, const char *name, int64_t otherwise) {
  return ir_ffi_config_int(l->f->m, l->op, name, otherwise);
}

static ref_matrix input(const lapack *l, uint32_t i) {
  return ref_matrix_load(l->f->arena, ref_operand(l->f, l->op, i), l->batch, false);
}
static ref_matrix input_vector(const lapack *l, uint32_t i) {
  return ref_matrix_load(l->f->arena, ref_operand(l->f, l->op, i), l->batch, true);
}
static ref_tensor *result(const lapack *l, uint32_t i) {
  return &l->f->values[ir_result(l->f->m, l->op, i)];
}
static ref_matrix result_matrix(const lapack *l, uint32_t i) {
  const ref_tensor *t = result(l, i);
  return ref_matrix_new(l->f->arena, t->dims[t->rank - 2], t->dims[t->rank - 1]);
}
static void store_info(const lapack *l, uint32_t i, int64_t info) {
  ref_store(result(l, i), l->batch, (ref_scalar){.i = info});
}
static void store_reals(const lapack *l, uint32_t i, const double *at, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    ref_store(result(l, i), l->batch * n + k, (ref_scalar){.f = at[k]});
}

static ref_matrix transposed(const lapack *l, const ref_matrix *a) {
  ref_matrix t = ref_matrix_new(l->f->arena, a->columns, a->rows);
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < a->columns; j++) *ref_at(&t, j, i) = *ref_at(a, i, j);
  return t;
}

/* As the routine finds it. */
static ref_matrix triangle(const lapack *l) {
  ref_matrix a = input(l, 0);
  return ir_lapack_is_by_rows(l->f->m, l->op) ? transposed(l, &a) : a;
}

/* (a, b) -> x */
static void call_trsm(const lapack *l) {
  ref_matrix a = triangle(l), b = input(l, 1);
  int64_t transpose = config(l, "trans_x", 'N');
  ref_trsm(&a, &b, config(l, "side", 'L') == 'L', config(l, "uplo", 'L') == 'L',
           transpose == 'T'   ? REF_TRANSPOSE
           : transpose == 'C' ? REF_ADJOINT
                              : REF_NO_TRANSPOSE,
           config(l, "diag", 'N') == 'U');
  ref_matrix_store(result(l, 0), l->batch, &b);
}

/* a -> (a, info) */
static void call_potrf(const lapack *l) {
  ref_matrix a = triangle(l);
  store_info(l, 1, ref_potrf(&a, config(l, "uplo", 'L') == 'L'));
  if (ir_lapack_is_by_rows(l->f->m, l->op)) a = transposed(l, &a);
  ref_matrix_store(result(l, 0), l->batch, &a);
}

/* a -> (lu, pivots counted from 1, info) */
static void call_getrf(const lapack *l) {
  ref_matrix a = input(l, 0);
  int64_t n = a.rows < a.columns ? a.rows : a.columns,
          *pivots = ARENA_ARRAY(l->f->arena, int64_t, (size_t)n);
  store_info(l, 2, ref_getrf(&a, pivots));
  for (int64_t k = 0; k < n; k++)
    ref_store(result(l, 1), l->batch * n + k, (ref_scalar){.i = pivots[k] + 1});
  ref_matrix_store(result(l, 0), l->batch, &a);
}

/* a -> (a, taus) */
static void call_geqrf(const lapack *l) {
  ref_matrix a = input(l, 0);
  int64_t n = a.rows < a.columns ? a.rows : a.columns;
  ref_matrix taus = ref_matrix_new(l->f->arena, n, 1);
  ref_geqrf(&a, taus.at);
  ref_matrix_store(result(l, 0), l->batch, &a);
  ref_matrix_store(result(l, 1), l->batch, &taus);
}

/* (a, taus) -> q */
static void call_orgqr(const lapack *l) {
  ref_matrix a = input(l, 0), taus = input_vector(l, 1);
  ref_orgqr(l->f->arena, &a, taus.at, taus.rows);
  ref_matrix_store(result(l, 0), l->batch, &a);
}

/* a -> (v, w, info) */
static void call_syevd(const lapack *l) {
  ref_matrix a = input(l, 0), v = ref_matrix_new(l->f->arena, a.rows, a.rows);
  double *values = ARENA_ARRAY(l->f->arena, double, (size_t)a.rows);
  ref_syevd(l->f->arena, &a, config(l, "uplo", 'L') == 'L', values, &v);
  ref_matrix_store(result(l, 0), l->batch, &v);
  store_reals(l, 1, values, a.rows);
  store_info(l, 2, 0);
}

/* a -> (overwritten a, s, u, vt, info) */
static void call_svd(const lapack *l) {
  ref_matrix a = input(l, 0);
  int64_t n = a.rows < a.columns ? a.rows : a.columns;
  bool wanted =
      config(l, "mode", 'S') != 'N'; /* u and vt are left zero otherwise, and may have any shape */
  double *s = ARENA_ARRAY(l->f->arena, double, (size_t)n);
  ref_matrix u = wanted ? result_matrix(l, 2) : ref_matrix_new(l->f->arena, a.rows, n);
  ref_matrix vt = wanted ? result_matrix(l, 3) : ref_matrix_new(l->f->arena, n, a.columns);
  ref_svd(l->f->arena, &a, s, &u, &vt);
  store_reals(l, 1, s, n);
  if (wanted)
    ref_matrix_store(result(l, 2), l->batch, &u), ref_matrix_store(result(l, 3), l->batch, &vt);
  store_info(l, 4, 0);
}

/* (low, diagonal, up, b) -> (the same overwritten, info). JAX hands over low[0] = up[n - 1] = 0 as
 * padding: low starts at its second element. */
static void call_gtsv(const lapack *l) {
  ref_matrix d[3], b = input(l, 3);
  int64_t n = b.rows;
  for (uint32_t i = 0; i < 3; i++) d[i] = input_vector(l, i);
  store_info(l, 4, ref_gtsv(d[0].at + 1, d[1].at, d[2].at, n, &b));
  for (uint32_t i = 0; i < 3; i++) ref_matrix_store(result(l, i), l->batch, &d[i]);
  ref_matrix_store(result(l, 3), l->batch, &b);
}

static void (*const evaluators[])(const lapack *l) = {
#define LAPACK(name, types, operands, results, eval) call_##eval,
#include "ir/lapack.def"
#undef LAPACK
};

weir_status ref_lapack_call(ref_frame *f, ir_op op, const char *target) {
  int row = ir_lapack_find(target);
  int32_t batch = ir_lapack_batch_rank(f->m, op);
  if (row < 0 || !evaluators[row])
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "of @%s has no reference evaluator", target);
  if (batch < 0)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "of @%s: operands or results of the wrong number or shape", target);
  for (uint32_t j = 0; j < ref_n_results(f, op); j++) ref_result(f, op, j);
  lapack l = {f, op, 0};
  int32_t core = ref_operand(f, op, 0)->rank - batch;
  for (int64_t n = ref_matrix_batches(ref_operand(f, op, 0), core); l.batch < n; l.batch++)
    evaluators[row](&l);
  return WEIR_OK;
}
