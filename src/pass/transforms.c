/* transforms: a Fourier transform of several dimensions is one of each in turn.
 *
 *   fft2(x)   = fft along 0 of (fft along 1 of x)        ifft2(x) = ifft along 1 of (ifft along 0
 * of x) rfft2(x)  = fft along 0 of (rfft along 1 of x)       irfft2(x) = irfft along 1 of (ifft
 * along 0 of x)
 *
 * A transform of an array's every dimension has no factor; along one it has all the others. What
 * stands between a transform and its inverse is beside the same dimension of both. XLA transforms
 * the last dimension alone: others come there by a transpose.
 *
 * Requires: a module of whiles. Breaks nothing. Exact up to rounding: XLA's library does the same,
 * in an order of its own. Left alone: transforms of batches, which have a factor, small ones,
 * dynamic shapes, several devices. Cost: two transposes for each dimension but the last. Source:
 * the row-column algorithm (Oppenheim & Schafer, Discrete-Time Signal Processing, 8).
 */
#include "ir/attrs.h"
#include "pass/build.h"

/* The first dimension that is transformed, if it and the last are all that an index goes over. */
static int32_t first_transformed(ir_module *m, ir_op op) {
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, 0));
  int32_t n = ir_op_list(m, op, "fft_length").count, first = x->rank - n;
  if (n < 2) return -1;
  for (int32_t d = 0; d < first; d++)
    if (x->dims[d] != 1) return -1;
  return first;
}

static const char *type_of(const ir_module *m, ir_op op) {
  const char *text = ir_op_string(m, op, "fft_type"), *word;
  if (!text || !ir_enum_word(text, "fft_type", &word)) return NULL;
  return word;
}

/* Along the last dimension. */
static ir_value build_last(ir_builder *b, ir_op like, ir_value x, const char *type, int64_t length,
                           ir_type result) {
  ir_value made = pass_build_like(b, like, &x, result);
  ir_op op = ir_value_get(b->m, made)->op;
  const char *text = arena_printf(b->m->arena, "#stablehlo<fft_type %s>", type);
  ir_op_set_attr(b->m, op, "fft_type", ir_attr_other(b->m, text), true);
  ir_op_set_attr(b->m, op, "fft_length", ir_attr_i64s(b->m, &length, 1), true);
  return made;
}

static ir_value build_along(ir_builder *b, ir_op like, ir_value x, const char *type, int32_t dim) {
  int32_t last = ir_type_at(b->m, x)->rank - 1;
  int64_t turned[IR_MAX_RANK], length = ir_type_at(b->m, x)->dims[dim];
  for (int32_t d = 0; d <= last; d++) turned[d] = d == dim ? last : d == last ? dim : d;
  if (dim == last) return build_last(b, like, x, type, length, ir_type_of(b->m, x));
  ir_value y = ir_build_transpose(b, x, turned);
  return ir_build_transpose(b, build_last(b, like, y, type, length, ir_type_of(b->m, y)), turned);
}

/* The last dimension of `to` from the last one of x. */
static ir_value build_real(ir_builder *b, ir_op op, ir_value x, const char *type, ir_dtype dtype) {
  ir_ints lengths = ir_op_list(b->m, op, "fft_length");
  const ir_type_data *y = ir_type_at(b->m, ir_result(b->m, op, 0));
  ir_type to = ir_tensor_with_dim(b->m, ir_type_of(b->m, x), y->rank - 1, y->dims[y->rank - 1]);
  const ir_type_data *t = ir_type_get(b->m, to);
  return build_last(b, op, x, type, lengths.at[lengths.count - 1],
                    ir_tensor(b->m, dtype, t->rank, t->dims));
}

static ir_value build_each(ir_builder *b, ir_op op, const char *type, int32_t first) {
  ir_value x = ir_operand(b->m, op, 0);
  int32_t last = ir_type_at(b->m, x)->rank - 1;
  bool from_real = *type == 'R', to_real = !strncmp(type, "IR", 2), is_inverse = *type == 'I';
  ir_dtype dtype = ir_type_at(b->m, ir_result(b->m, op, 0))->dtype;
  if (from_real) x = build_real(b, op, x, "RFFT", dtype);
  int32_t n = last - first + (from_real || to_real ? 0 : 1);
  for (int32_t i = 0; i < n; i++)
    x = build_along(b, op, x, is_inverse ? "IFFT" : "FFT",
                    is_inverse ? first + i : first + n - 1 - i);
  return to_real ? build_real(b, op, x, "IRFFT", dtype) : x;
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_module *m = r->m;
  if (ir_kind_of(m, op) != IR_OP_FFT || !pass_is_static(m, op)) return false;
  if (!pass_is_large(r, ir_operand(m, op, 0)) && !pass_is_large(r, ir_result(m, op, 0)))
    return false;
  int32_t first = first_transformed(m, op);
  const char *type = type_of(m, op);
  if (first < 0 || !type) return false;
  return pass_stand_in(r->m, r->map, op, build_each(&r->b, op, type, first));
}

static bool begin(pass_rewrite *r) {
  return ir_op_int(r->m, r->m->root, "mhlo.num_partitions", 1) == 1;
}

const pass pass_transforms = {"transforms", .replace = replace, .begin = begin};
