/* Unblocked dense linear algebra in complex double; real matrices have zero imaginary parts.
 * Row-major, leading dimension = columns. */
#ifndef WEIR_REF_LINALG_H
#define WEIR_REF_LINALG_H
#include "ref/eval.h"

typedef struct ref_matrix {
  int64_t rows, columns;
  double complex *at;
} ref_matrix;

static inline double complex *ref_at(const ref_matrix *a, int64_t i, int64_t j) {
  return &a->at[i * a->columns + j];
}
ref_matrix ref_matrix_new(arena *a, int64_t rows, int64_t columns);
/* Matrix `batch` of a tensor's last two dimensions (of its last one as a column: `vector`), and
 * back. */
ref_matrix ref_matrix_load(arena *a, const ref_tensor *t, int64_t batch, bool vector);
void ref_matrix_store(ref_tensor *t, int64_t batch, const ref_matrix *x);
int64_t ref_matrix_batches(
    const ref_tensor *t, int32_t trailing); /* product of all but the last `trailing` dimensions */

typedef enum ref_transpose_kind { REF_NO_TRANSPOSE, REF_TRANSPOSE, REF_ADJOINT } ref_transpose_kind;
/* b := op(a)^-1 b, or b op(a)^-1 where !left; only a's triangle is read, and no diagonal where
 * unit. */
void ref_trsm(const ref_matrix *a, ref_matrix *b, bool left, bool lower, ref_transpose_kind op,
              bool unit);
/* a's triangle becomes l (or u) with a = l l^H (u^H u). Returns 0, or the order of the first minor
 * that is not positive definite. */
int64_t ref_potrf(ref_matrix *a, bool lower);
/* a becomes l and u with rows swapped; pivots[k]: the row that k was swapped with. Returns 0, or 1
 * + the first zero pivot's place. */
int64_t ref_getrf(ref_matrix *a, int64_t *pivots);
/* a becomes r above the Householder vectors; taus: min(rows, columns). */
void ref_geqrf(ref_matrix *a, double complex *taus);
/* a's Householder vectors become the first columns of the product of the n_taus reflectors. */
void ref_orgqr(arena *scratch, ref_matrix *a, const double complex *taus, int64_t n_taus);
/* Solves a tridiagonal system by Gaussian elimination with partial pivoting; all arguments are
 * overwritten as LAPACK's gtsv does. */
int64_t ref_gtsv(double complex *low, double complex *diagonal, double complex *up, int64_t n,
                 ref_matrix *b);
/* Hermitian a (its named triangle is read): eigenvalues ascending, eigenvectors in v's columns.
 * Cyclic Jacobi. */
void ref_syevd(arena *scratch, const ref_matrix *a, bool lower, double *values, ref_matrix *v);
/* a = u diag(s) vt: s descending; the longer of u and vt may have more than
 * min(rows, columns) vectors: any number up to all. One-sided Jacobi. */
void ref_svd(arena *scratch, const ref_matrix *a, double *s, ref_matrix *u, ref_matrix *vt);

#endif
