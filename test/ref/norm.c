/* Batch normalisation. Statistics are over all dimensions but feature_index; the variance is the
 * biased one. Source: StableHLO specification. */
#include <math.h>

#include "ref/eval.h"

typedef struct norm {
  const ref_tensor *x;
  int64_t feature, n_features, count; /* count: elements of one feature */
  double epsilon;
} norm;

static weir_status read_norm(ref_frame *f, ir_op op, norm *n) {
  n->x = ref_operand(f, op, 0);
  n->feature = ir_op_int(f->m, op, "feature_index", -1);
  n->epsilon = ref_real(f, op, "epsilon", 0);
  if (n->feature < 0 || n->feature >= n->x->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "feature_index out of range");
  n->n_features = n->x->dims[n->feature];
  n->count = n->n_features ? ref_element_count(n->x) / n->n_features : 0;
  return WEIR_OK;
}

static int64_t feature_of(const norm *n, int64_t i) {
  for (int32_t d = n->x->rank - 1; d > n->feature; d--) i /= n->x->dims[d];
  return i % n->n_features;
}

static double *real_elements(ref_frame *f, const ref_tensor *t) {
  int64_t n = ref_element_count(t);
  double *at = ARENA_ARRAY(f->arena, double, (size_t)n);
  for (int64_t i = 0; i < n; i++) at[i] = ref_load(t, i).f;
  return at;
}

static void store_reals(ref_tensor *t, const double *at) {
  for (int64_t i = 0, n = ref_element_count(t); i < n; i++)
    ref_store(t, i, (ref_scalar){.f = at[i]});
}

/* The sum of x[i] * y[i] over each feature; y NULL: of x[i]. */
static double *feature_sums(ref_frame *f, const norm *n, const double *x, const double *y) {
  double *sums = ARENA_ARRAY(f->arena, double, (size_t)n->n_features);
  for (int64_t i = 0, total = ref_element_count(n->x); i < total; i++)
    sums[feature_of(n, i)] += x[i] * (y ? y[i] : 1);
  return sums;
}

static void normalise(ref_tensor *out, const norm *n, const double *x, const double *scale,
                      const double *offset, const double *mean, const double *variance) {
  for (int64_t i = 0, total = ref_element_count(n->x); i < total; i++) {
    int64_t c = feature_of(n, i);
    ref_store(out, i,
              (ref_scalar){.f = (x[i] - mean[c]) / sqrt(variance[c] + n->epsilon) * scale[c] +
                                offset[c]});
  }
}

weir_status ref_batch_norm_inference(ref_frame *f, ir_op op) {
  norm n;
  WEIR_TRY(read_norm(f, op, &n));
  double *in[5];
  for (uint32_t i = 0; i < 5; i++) in[i] = real_elements(f, ref_operand(f, op, i));
  normalise(ref_result(f, op, 0), &n, in[0], in[1], in[2], in[3], in[4]);
  return WEIR_OK;
}

weir_status ref_batch_norm_training(ref_frame *f, ir_op op) {
  norm n;
  WEIR_TRY(read_norm(f, op, &n));
  double *in[3];
  for (uint32_t i = 0; i < 3; i++) in[i] = real_elements(f, ref_operand(f, op, i));
  double *mean = feature_sums(f, &n, in[0], NULL), *centred = real_elements(f, n.x);
  for (int64_t c = 0; c < n.n_features; c++) mean[c] /= (double)n.count;
  for (int64_t i = 0, total = ref_element_count(n.x); i < total; i++)
    centred[i] -= mean[feature_of(&n, i)];
  double *variance = feature_sums(f, &n, centred, centred);
  for (int64_t c = 0; c < n.n_features; c++) variance[c] /= (double)n.count;
  normalise(ref_result(f, op, 0), &n, in[0], in[1], in[2], mean, variance);
  store_reals(ref_result(f, op, 1), mean);
  store_reals(ref_result(f, op, 2), variance);
  return WEIR_OK;
}

/* Operands: x, scale, mean, variance, grad_output; results: grad_x, grad_scale, grad_offset. With c
 * = x - mean and s = sqrt(variance + epsilon): grad_offset = sum g, grad_scale = sum(g c) / s,
 * grad_x = scale / (s n) (n g - sum g - c sum(g c) / s^2). */
weir_status ref_batch_norm_grad(ref_frame *f, ir_op op) {
  norm n;
  WEIR_TRY(read_norm(f, op, &n));
  double *in[5];
  for (uint32_t i = 0; i < 5; i++) in[i] = real_elements(f, ref_operand(f, op, i));
  double *centred = in[0], *scale = in[1], *mean = in[2], *variance = in[3], *g = in[4];
  int64_t total = ref_element_count(n.x);
  for (int64_t i = 0; i < total; i++) centred[i] -= mean[feature_of(&n, i)];
  double *sum_g = feature_sums(f, &n, g, NULL), *sum_gc = feature_sums(f, &n, g, centred);
  ref_tensor *grad_x = ref_result(f, op, 0), *grad_scale = ref_result(f, op, 1);
  for (int64_t i = 0; i < total; i++) {
    int64_t c = feature_of(&n, i);
    double s = sqrt(variance[c] + n.epsilon), count = (double)n.count;
    double value =
        scale[c] / (s * count) * (count * g[i] - sum_g[c] - centred[i] * sum_gc[c] / (s * s));
    ref_store(grad_x, i, (ref_scalar){.f = value});
  }
  for (int64_t c = 0; c < n.n_features; c++)
    ref_store(grad_scale, c, (ref_scalar){.f = sum_gc[c] / sqrt(variance[c] + n.epsilon)});
  store_reals(ref_result(f, op, 2), sum_g);
  return WEIR_OK;
}
