/* See linalg.h. Sources: Golub and Van Loan, Matrix Computations; LAPACK's unblocked routines for
 * signs and pivots. */
#include "ref/linalg.h"

#include <math.h>

/* ---- matrices ---- */
ref_matrix ref_matrix_new(arena *a, int64_t rows, int64_t columns) {
  return (ref_matrix){rows, columns, ARENA_ARRAY(a, double complex, (size_t)(rows * columns))};
}

static ref_matrix adjoint(arena *a, const ref_matrix *x) {
  ref_matrix y = ref_matrix_new(a, x->columns, x->rows);
  for (int64_t i = 0; i < x->rows; i++)
    for (int64_t j = 0; j < x->columns; j++) *ref_at(&y, j, i) = conj(*ref_at(x, i, j));
  return y;
}

ref_matrix ref_matrix_load(arena *a, const ref_tensor *t, int64_t batch, bool vector) {
  int64_t rows = vector ? t->dims[t->rank - 1] : t->dims[t->rank - 2],
          columns = vector ? 1 : t->dims[t->rank - 1];
  ref_matrix x = ref_matrix_new(a, rows, columns);
  bool is_complex = ir_dtype_class_of(t->dtype) == IR_CLASS_COMPLEX;
  for (int64_t i = 0, n = rows * columns; i < n; i++) {
    ref_scalar s = ref_load(t, batch * n + i);
    x.at[i] = is_complex ? s.z : s.f;
  }
  return x;
}

void ref_matrix_store(ref_tensor *t, int64_t batch, const ref_matrix *x) {
  bool is_complex = ir_dtype_class_of(t->dtype) == IR_CLASS_COMPLEX;
  for (int64_t i = 0, n = x->rows * x->columns; i < n; i++)
    ref_store(t, batch * n + i,
              is_complex ? (ref_scalar){.z = x->at[i]} : (ref_scalar){.f = creal(x->at[i])});
}

int64_t ref_matrix_batches(const ref_tensor *t, int32_t trailing) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->rank - trailing; d++) n *= t->dims[d];
  return n;
}

/* ---- triangular systems ---- */
static double complex op_at(const ref_matrix *a, ref_transpose_kind op, int64_t i, int64_t j) {
  double complex x = op == REF_NO_TRANSPOSE ? *ref_at(a, i, j) : *ref_at(a, j, i);
  return op == REF_ADJOINT ? conj(x) : x;
}

/* x[k] of one system t x = b (columns of t are combined) or x t = b (rows), in order of
 * substitution. stride: between the elements of x. */
static void substitute(const ref_matrix *a, ref_transpose_kind op, bool left, bool lower, bool unit,
                       double complex *x, int64_t stride) {
  int64_t n = a->rows;
  bool forward = left == lower;
  for (int64_t step = 0; step < n; step++) {
    int64_t i = forward ? step : n - 1 - step;
    double complex sum = x[i * stride];
    for (int64_t done = 0; done < step; done++) {
      int64_t j = forward ? done : n - 1 - done;
      sum -= ref_complex_mul(left ? op_at(a, op, i, j) : op_at(a, op, j, i), x[j * stride]);
    }
    x[i * stride] = unit ? sum : ref_complex_div(sum, op_at(a, op, i, i));
  }
}

void ref_trsm(const ref_matrix *a, ref_matrix *b, bool left, bool lower, ref_transpose_kind op,
              bool unit) {
  bool op_lower = op == REF_NO_TRANSPOSE ? lower : !lower;
  int64_t systems = left ? b->columns : b->rows;
  for (int64_t k = 0; k < systems; k++)
    substitute(a, op, left, op_lower, unit, left ? ref_at(b, 0, k) : ref_at(b, k, 0),
               left ? b->columns : 1);
}

/* ---- factorisations ---- */
int64_t ref_potrf(ref_matrix *a, bool lower) {
  for (int64_t j = 0; j < a->rows; j++) {
    double pivot = creal(*ref_at(a, j, j));
    for (int64_t k = 0; k < j; k++) {
      double complex x = lower ? *ref_at(a, j, k) : *ref_at(a, k, j);
      pivot -= creal(x) * creal(x) + cimag(x) * cimag(x);
    }
    *ref_at(a, j, j) = pivot;
    if (!(pivot > 0)) return j + 1;
    *ref_at(a, j, j) = pivot = sqrt(pivot);
    for (int64_t i = j + 1; i < a->rows; i++) {
      double complex *x = lower ? ref_at(a, i, j) : ref_at(a, j, i), sum = *x;
      for (int64_t k = 0; k < j; k++)
        sum -= lower ? ref_complex_mul(*ref_at(a, i, k), conj(*ref_at(a, j, k)))
                     : ref_complex_mul(conj(*ref_at(a, k, j)), *ref_at(a, k, i));
      *x = sum / pivot;
    }
  }
  return 0;
}

static double magnitude1(double complex z) { return fabs(creal(z)) + fabs(cimag(z)); }

int64_t ref_getrf(ref_matrix *a, int64_t *pivots) {
  int64_t n = a->rows < a->columns ? a->rows : a->columns, info = 0;
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a->rows; i++)
      if (magnitude1(*ref_at(a, i, k)) > magnitude1(*ref_at(a, best, k))) best = i;
    pivots[k] = best;
    for (int64_t j = 0; j < a->columns && best != k; j++) {
      double complex x = *ref_at(a, k, j);
      *ref_at(a, k, j) = *ref_at(a, best, j), *ref_at(a, best, j) = x;
    }
    if (*ref_at(a, k, k) == 0 && !info) info = k + 1;
    if (*ref_at(a, k, k) == 0) continue;
    for (int64_t i = k + 1; i < a->rows; i++) {
      double complex factor = *ref_at(a, i, k) =
          ref_complex_div(*ref_at(a, i, k), *ref_at(a, k, k));
      for (int64_t j = k + 1; j < a->columns; j++)
        *ref_at(a, i, j) -= ref_complex_mul(factor, *ref_at(a, k, j));
    }
  }
  return info;
}

/* x := (I - tau v v^H) x on rows [k, rows) and columns [first, columns); v is column `from` of
 * `vectors` below row k, with 1 on top. */
static void reflect(ref_matrix *x, int64_t k, int64_t first, const ref_matrix *vectors,
                    int64_t from, double complex tau) {
  for (int64_t j = first; j < x->columns; j++) {
    double complex dot = *ref_at(x, k, j);
    for (int64_t i = k + 1; i < x->rows; i++)
      dot += ref_complex_mul(conj(*ref_at(vectors, i, from)), *ref_at(x, i, j));
    dot = ref_complex_mul(tau, dot);
    *ref_at(x, k, j) -= dot;
    for (int64_t i = k + 1; i < x->rows; i++)
      *ref_at(x, i, j) -= ref_complex_mul(dot, *ref_at(vectors, i, from));
  }
}

/* LAPACK's larfg on column k from row k on: the vector below the diagonal, beta on it; returns tau.
 */
static double complex householder(ref_matrix *a, int64_t k) {
  double complex alpha = *ref_at(a, k, k);
  double below = 0;
  for (int64_t i = k + 1; i < a->rows; i++) below = hypot(below, cabs(*ref_at(a, i, k)));
  if (below == 0 && cimag(alpha) == 0) return 0;
  double beta = -copysign(hypot(cabs(alpha), below), creal(alpha));
  for (int64_t i = k + 1; i < a->rows; i++)
    *ref_at(a, i, k) = ref_complex_div(*ref_at(a, i, k), alpha - beta);
  *ref_at(a, k, k) = beta;
  return (beta - alpha) / beta;
}

void ref_geqrf(ref_matrix *a, double complex *taus) {
  int64_t n = a->rows < a->columns ? a->rows : a->columns;
  for (int64_t k = 0; k < n; k++) {
    taus[k] = householder(a, k);
    reflect(a, k, k + 1, a, k, conj(taus[k]));
  }
}

void ref_orgqr(arena *scratch, ref_matrix *a, const double complex *taus, int64_t n_taus) {
  ref_matrix q = ref_matrix_new(scratch, a->rows, a->columns);
  for (int64_t i = 0; i < a->rows && i < a->columns; i++) *ref_at(&q, i, i) = 1;
  for (int64_t k = n_taus - 1; k >= 0; k--) reflect(&q, k, 0, a, k, taus[k]);
  memcpy(a->at, q.at, (size_t)(a->rows * a->columns) * sizeof *a->at);
}

/* low[i] couples row i + 1 to column i; fill-in above `up` goes to low, as LAPACK leaves it. */
int64_t ref_gtsv(double complex *low, double complex *diagonal, double complex *up, int64_t n,
                 ref_matrix *b) {
  for (int64_t k = 0; k + 1 < n; k++) {
    bool swap = magnitude1(diagonal[k]) < magnitude1(low[k]);
    if (!swap && diagonal[k] == 0) return k + 1;
    double complex factor = swap ? ref_complex_div(diagonal[k], low[k])
                                 : ref_complex_div(low[k], diagonal[k]),
                   fill = 0;
    if (swap) {
      double complex below = diagonal[k + 1];
      diagonal[k] = low[k];
      diagonal[k + 1] = up[k] - ref_complex_mul(factor, below);
      if (k + 2 < n) fill = up[k + 1], up[k + 1] = -ref_complex_mul(factor, up[k + 1]);
      up[k] = below;
    } else {
      diagonal[k + 1] -= ref_complex_mul(factor, up[k]);
    }
    low[k] = fill;
    for (int64_t j = 0; j < b->columns; j++) {
      double complex *x = ref_at(b, k, j), *y = ref_at(b, k + 1, j), was = *x;
      if (swap) *x = *y, *y = was - ref_complex_mul(factor, *x);
      else *y -= ref_complex_mul(factor, *x);
    }
  }
  if (n && diagonal[n - 1] == 0) return n;
  for (int64_t j = 0; j < b->columns; j++)
    for (int64_t k = n - 1; k >= 0; k--) {
      double complex sum = *ref_at(b, k, j);
      if (k + 1 < n) sum -= ref_complex_mul(up[k], *ref_at(b, k + 1, j));
      if (k + 2 < n) sum -= ref_complex_mul(low[k], *ref_at(b, k + 2, j));
      *ref_at(b, k, j) = ref_complex_div(sum, diagonal[k]);
    }
  return 0;
}

/* ---- Jacobi ---- */
enum { MOST_SWEEPS = 60 };

/* The rotation [[c, s], [-s e, c e]] that makes [[p, pq], [conj pq, q]] diagonal; e is a phase. */
typedef struct rotation {
  double c, s;
  double complex phase;
} rotation;

static rotation rotation_of(double p, double q, double complex pq) {
  double size = cabs(pq), theta = (q - p) / (2 * size);
  double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1)), c = 1 / hypot(t, 1);
  return (rotation){c, t * c, conj(pq) / size};
}

static void rotate_columns(ref_matrix *a, int64_t p, int64_t q, rotation r) {
  for (int64_t i = 0; i < a->rows; i++) {
    double complex x = *ref_at(a, i, p), y = ref_complex_mul(*ref_at(a, i, q), r.phase);
    *ref_at(a, i, p) = r.c * x - r.s * y;
    *ref_at(a, i, q) = r.s * x + r.c * y;
  }
}

static void rotate_rows(ref_matrix *a, int64_t p, int64_t q, rotation r) {
  for (int64_t j = 0; j < a->columns; j++) {
    double complex x = *ref_at(a, p, j), y = ref_complex_mul(*ref_at(a, q, j), conj(r.phase));
    *ref_at(a, p, j) = r.c * x - r.s * y;
    *ref_at(a, q, j) = r.s * x + r.c * y;
  }
}

static void identity(ref_matrix *a) {
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < a->columns; j++) *ref_at(a, i, j) = i == j;
}

/* Columns of v (and of u, if any) into the order of ascending (descending) values: selection sort.
 */
static void sort_columns(double *values, int64_t n, bool descending, ref_matrix *v, ref_matrix *u) {
  for (int64_t i = 0; i < n; i++) {
    int64_t best = i;
    for (int64_t j = i + 1; j < n; j++)
      if (descending ? values[j] > values[best] : values[j] < values[best]) best = j;
    double value = values[i];
    values[i] = values[best], values[best] = value;
    ref_matrix *both[] = {v, u};
    for (int k = 0; k < 2; k++)
      for (int64_t r = 0; both[k] && best != i && r < both[k]->rows; r++) {
        double complex x = *ref_at(both[k], r, i);
        *ref_at(both[k], r, i) = *ref_at(both[k], r, best), *ref_at(both[k], r, best) = x;
      }
  }
}

void ref_syevd(arena *scratch, const ref_matrix *a, bool lower, double *values, ref_matrix *v) {
  int64_t n = a->rows;
  ref_matrix work = ref_matrix_new(scratch, n, n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      bool stored = i == j || (i > j) == lower;
      *ref_at(&work, i, j) = i == j   ? creal(*ref_at(a, i, i))
                             : stored ? *ref_at(a, i, j)
                                      : conj(*ref_at(a, j, i));
    }
  identity(v);
  for (int sweep = 0, rotated = 1; rotated && sweep < MOST_SWEEPS; sweep++) {
    rotated = 0;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        double complex pq = *ref_at(&work, p, q);
        double x = creal(*ref_at(&work, p, p)), y = creal(*ref_at(&work, q, q));
        if (!(cabs(pq) > 1e-17 * (fabs(x) + fabs(y)))) continue;
        rotation r = rotation_of(x, y, pq);
        rotate_columns(&work, p, q, r), rotate_rows(&work, p, q, r), rotate_columns(v, p, q, r);
        rotated = 1;
      }
  }
  for (int64_t i = 0; i < n; i++) values[i] = creal(*ref_at(&work, i, i));
  sort_columns(values, n, false, v, NULL);
}

/* Fills the columns from `have` on with unit vectors made orthogonal to all before (Gram-Schmidt,
 * twice). */
static void complete_basis(ref_matrix *u, int64_t have) {
  for (int64_t j = have, candidate = 0; j < u->columns && candidate < u->rows; candidate++) {
    for (int64_t i = 0; i < u->rows; i++) *ref_at(u, i, j) = i == candidate;
    double norm = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int64_t k = 0; k < j; k++) {
        double complex dot = 0;
        for (int64_t i = 0; i < u->rows; i++)
          dot += ref_complex_mul(conj(*ref_at(u, i, k)), *ref_at(u, i, j));
        for (int64_t i = 0; i < u->rows; i++)
          *ref_at(u, i, j) -= ref_complex_mul(dot, *ref_at(u, i, k));
      }
    for (int64_t i = 0; i < u->rows; i++) norm = hypot(norm, cabs(*ref_at(u, i, j)));
    if (norm < 0.5 / sqrt((double)u->rows)) continue;
    for (int64_t i = 0; i < u->rows; i++) *ref_at(u, i, j) /= norm;
    j++;
  }
}

/* a = w diag(s) v^H for rows >= columns: columns of w = a v are made orthogonal. u's first columns
 * are w's. */
static void tall_svd(arena *scratch, const ref_matrix *a, double *s, ref_matrix *u, ref_matrix *v) {
  int64_t n = a->columns, rank = 0;
  ref_matrix w = ref_matrix_new(scratch, a->rows, n);
  memcpy(w.at, a->at, (size_t)(a->rows * n) * sizeof *w.at);
  identity(v);
  for (int sweep = 0, rotated = 1; rotated && sweep < MOST_SWEEPS; sweep++) {
    rotated = 0;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        double pp = 0, qq = 0;
        double complex pq = 0;
        for (int64_t i = 0; i < a->rows; i++) {
          double complex x = *ref_at(&w, i, p), y = *ref_at(&w, i, q);
          pp += creal(ref_complex_mul(conj(x), x)), qq += creal(ref_complex_mul(conj(y), y)),
              pq += ref_complex_mul(conj(x), y);
        }
        if (!(cabs(pq) > 1e-15 * sqrt(pp * qq)) || cabs(pq) < 1e-300) continue;
        rotation r = rotation_of(pp, qq, pq);
        rotate_columns(&w, p, q, r), rotate_columns(v, p, q, r);
        rotated = 1;
      }
  }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = s[j] = 0; i < a->rows; i++) s[j] = hypot(s[j], cabs(*ref_at(&w, i, j)));
  sort_columns(s, n, true, v, &w);
  while (rank < n && s[rank] > 1e-300) rank++;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < rank; j++) *ref_at(u, i, j) = *ref_at(&w, i, j) / s[j];
  complete_basis(u, rank);
}

void ref_svd(arena *scratch, const ref_matrix *a, double *s, ref_matrix *u, ref_matrix *vt) {
  bool tall = a->rows >= a->columns;
  ref_matrix x = tall ? *a : adjoint(scratch, a);
  int64_t right_columns = tall ? vt->rows : u->columns;
  ref_matrix left = ref_matrix_new(scratch, x.rows, tall ? u->columns : vt->rows),
             square = ref_matrix_new(scratch, x.columns, x.columns);
  tall_svd(scratch, &x, s, &left, &square);
  CTX_CHECK(arena_ctx(scratch), right_columns == x.columns);
  ref_matrix other = adjoint(scratch, tall ? &square : &left);
  memcpy(u->at, tall ? left.at : square.at, (size_t)(u->rows * u->columns) * sizeof *u->at);
  memcpy(vt->at, other.at, (size_t)(vt->rows * vt->columns) * sizeof *vt->at);
}
