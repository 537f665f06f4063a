/* Discrete Fourier transforms by their definition, O(n^2) a line, in double. Forward is unscaled,
 * inverse divides by the lengths. */
#include <math.h>

#include "ref/eval.h"

typedef struct field { /* complex numbers in row-major order, one dimension of which is transformed
                          at a time */
  double complex *at;
  int32_t rank;
  int64_t dims[IR_MAX_RANK];
} field;

static int64_t field_count(const field *x) {
  int64_t n = 1;
  for (int32_t d = 0; d < x->rank; d++) n *= x->dims[d];
  return n;
}

/* exp(sign 2 pi i k / n) for k in [0, n). */
static double complex *roots(arena *a, int64_t n, int sign) {
  double complex *w = ARENA_ARRAY(a, double complex, (size_t)n);
  for (int64_t k = 0; k < n; k++) {
    double angle = 2 * REF_PI * (double)k / (double)n;
    w[k] = CMPLX(cos(angle), sign * sin(angle));
  }
  return w;
}

static void transform(arena *a, field *x, int32_t dim, int sign) {
  int64_t n = x->dims[dim], stride = 1, count = field_count(x);
  for (int32_t d = dim + 1; d < x->rank; d++) stride *= x->dims[d];
  double complex *w = roots(a, n, sign), *line = ARENA_ARRAY(a, double complex, (size_t)n);
  for (int64_t i = 0; n && i < count / n; i++) {
    double complex *start = x->at + i / stride * stride * n + i % stride;
    for (int64_t k = 0; k < n; k++) line[k] = start[k * stride];
    for (int64_t k = 0; k < n; k++) {
      double complex sum = 0;
      for (int64_t j = 0, jk = 0; j < n; j++, jk = (jk + k) % n)
        sum += ref_complex_mul(line[j], w[jk]);
      start[k * stride] = sign > 0 ? sum / (double)n : sum;
    }
  }
}

/* The last dimension, cut to `length` or filled up from its first length / 2 + 1 numbers: number n
 * - k is the conjugate of number k. */
static field with_last(arena *a, const field *x, int64_t length) {
  field y = *x;
  int64_t have = x->dims[x->rank - 1], rows = have ? field_count(x) / have : 0;
  y.dims[x->rank - 1] = length;
  y.at = ARENA_ARRAY(a, double complex, (size_t)(rows * length));
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < length; k++)
      y.at[r * length + k] = k < have ? x->at[r * have + k] : conj(x->at[r * have + length - k]);
  return y;
}

static field load_field(arena *a, const ref_tensor *t) {
  field x = {.rank = t->rank};
  int64_t n = ref_element_count(t);
  for (int32_t d = 0; d < t->rank; d++) x.dims[d] = t->dims[d];
  x.at = ARENA_ARRAY(a, double complex, (size_t)n);
  bool is_complex = ir_dtype_class_of(t->dtype) == IR_CLASS_COMPLEX;
  for (int64_t i = 0; i < n; i++) x.at[i] = is_complex ? ref_load(t, i).z : ref_load(t, i).f;
  return x;
}

static void store_field(ref_tensor *t, const field *x) {
  bool is_complex = ir_dtype_class_of(t->dtype) == IR_CLASS_COMPLEX;
  for (int64_t i = 0, n = ref_element_count(t); i < n; i++)
    ref_store(t, i, is_complex ? (ref_scalar){.z = x->at[i]} : (ref_scalar){.f = creal(x->at[i])});
}

weir_status ref_fft(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  const char *text = ir_op_string(f->m, op, "fft_type"), *word = NULL;
  size_t n_word = text ? ir_enum_word(text, "fft_type", &word) : 0;
  ir_ints length;
  bool is_real = n_word && (word[0] == 'R' || (n_word > 1 && word[1] == 'R')),
       inverse = n_word && word[0] == 'I';
  if (!n_word || !ref_ints_any(f, op, "fft_length", &length) || length.count < 1 ||
      length.count > x->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "fft_type or fft_length does not read");
  ref_tensor *y = ref_result(f, op, 0);
  field work = load_field(f->arena, x);
  int32_t last = x->rank - 1;
  int64_t n = length.at[length.count - 1];
  if (ref_element_count(y) == 0) return WEIR_OK;
  if (!inverse) transform(f->arena, &work, last, -1);
  if (!inverse && is_real) work = with_last(f->arena, &work, n / 2 + 1);
  for (int32_t d = last - length.count + 1; d < last; d++)
    transform(f->arena, &work, d, inverse ? 1 : -1);
  if (inverse && is_real) work = with_last(f->arena, &work, n);
  if (inverse) transform(f->arena, &work, last, 1);
  store_field(y, &work);
  return WEIR_OK;
}
