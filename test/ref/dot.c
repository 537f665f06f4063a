/* Contractions. Products are summed in double (integers modulo 2^64) and rounded once to the
 * result's type, whatever `precision` and `algorithm` ask for: at least as exact as every backend.
 */
#include "ref/eval.h"

/* A contraction as three nested index spaces, each an array of offsets into each operand. */
typedef struct space {
  int64_t count;
  int64_t *lhs, *rhs; /* NULL: the operand does not depend on it */
} space;

static int64_t stride_of(const ref_tensor *t, int64_t dim) {
  int64_t stride = 1;
  for (int32_t d = (int32_t)dim + 1; d < t->rank; d++) stride *= t->dims[d];
  return stride;
}

/* Offsets of all multi-indices over the dimensions `dims` of t, in row-major order. */
static int64_t *offsets_of(arena *a, const ref_tensor *t, ir_ints dims, int64_t *out_count) {
  int64_t sizes[IR_MAX_RANK], index[IR_MAX_RANK] = {0}, count = 1;
  for (int32_t d = 0; d < dims.count; d++) count *= sizes[d] = t->dims[dims.at[d]];
  int64_t *offsets = ARENA_ARRAY(a, int64_t, (size_t)count);
  for (int64_t i = 0; i < count; i++, ref_next(dims.count, sizes, index))
    for (int32_t d = 0; d < dims.count; d++) offsets[i] += index[d] * stride_of(t, dims.at[d]);
  *out_count = count;
  return offsets;
}

static ir_ints free_dims(arena *a, const ref_tensor *t, ir_ints batch, ir_ints contract) {
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)t->rank);
  int32_t n = 0;
  for (int32_t d = 0; d < t->rank; d++)
    if (!ir_ints_have(batch, d) && !ir_ints_have(contract, d)) at[n++] = d;
  return (ir_ints){n, at};
}

typedef struct operand {
  ir_dtype_class cls;
  const ref_scalar *at;
} operand;

/* sum over k of x[x0 + k.lhs] * y[y0 + k.rhs] */
static ref_scalar inner_product(operand x, int64_t x0, operand y, int64_t y0, const space *k) {
  ref_scalar sum = {0};
  for (int64_t i = 0; i < k->count; i++) {
    ref_scalar a = x.at[x0 + k->lhs[i]], b = y.at[y0 + k->rhs[i]];
    switch (x.cls) {
      case IR_CLASS_FLOAT: sum.f += a.f * b.f; break;
      case IR_CLASS_COMPLEX: sum.z += ref_complex_mul(a.z, b.z); break;
      case IR_CLASS_BOOL: sum.u |= a.u & b.u; break;
      default: sum.u += a.u * b.u;
    }
  }
  return sum;
}

static weir_status contract(ref_frame *f, ir_op op, const ir_dot_numbers *dims) {
  const ref_tensor *lhs = ref_operand(f, op, 0), *rhs = ref_operand(f, op, 1);
  ir_dtype_class cls = ir_dtype_class_of(lhs->dtype);
  ref_tensor *out = ref_result(f, op, 0);
  ir_dtype wide = cls == IR_CLASS_FLOAT ? IR_F64 : cls == IR_CLASS_COMPLEX ? IR_C128 : lhs->dtype;
  space batch, k;
  int64_t n_rows, n_columns;
  batch.lhs = offsets_of(f->arena, lhs, dims->lhs_batch, &batch.count);
  batch.rhs = offsets_of(f->arena, rhs, dims->rhs_batch, &batch.count);
  k.lhs = offsets_of(f->arena, lhs, dims->lhs_contract, &k.count);
  k.rhs = offsets_of(f->arena, rhs, dims->rhs_contract, &k.count);
  int64_t *rows = offsets_of(
      f->arena, lhs, free_dims(f->arena, lhs, dims->lhs_batch, dims->lhs_contract), &n_rows);
  int64_t *columns = offsets_of(
      f->arena, rhs, free_dims(f->arena, rhs, dims->rhs_batch, dims->rhs_contract), &n_columns);
  CTX_CHECK(f->ctx, batch.count * n_rows * n_columns == ref_element_count(out));
  operand x = {cls, ref_unpack(f->arena, lhs)}, y = {cls, ref_unpack(f->arena, rhs)};
  bool same = ir_dtype_class_of(out->dtype) ==
              cls; /* wrapping and rounding do; else i8 x i8 -> f32 and the like */
  for (int64_t b = 0, i = 0; b < batch.count; b++)
    for (int64_t r = 0; r < n_rows; r++)
      for (int64_t c = 0; c < n_columns; c++, i++) {
        ref_scalar sum = inner_product(x, batch.lhs[b] + rows[r], y, batch.rhs[b] + columns[c], &k);
        ref_store(out, i, same ? sum : ref_convert_scalar(wide, out->dtype, sum));
      }
  return WEIR_OK;
}

weir_status ref_dot_general(ref_frame *f, ir_op op) {
  ir_dot_numbers dims;
  if (!ir_dot_dims(f->m, op, &dims))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dot_dimension_numbers does not read");
  return contract(f, op, &dims);
}

weir_status ref_dot(ref_frame *f, ir_op op) {
  static const int64_t zero = 0;
  int64_t last = ref_operand(f, op, 0)->rank - 1;
  if (last < 0) return ref_error(f, op, WEIR_INVALID_ARGUMENT, "of a scalar");
  return contract(f, op, &(ir_dot_numbers){{0, &zero}, {0, &zero}, {1, &last}, {1, &zero}});
}

/* ---- einsum: "ij,jk->ik", labels of one letter, no ellipsis ---- */
typedef struct einsum {
  char labels[IR_MAX_RANK]; /* of the index space: the result's, then the summed ones */
  int64_t sizes[IR_MAX_RANK];
  int32_t count, n_out;
} einsum;

static int32_t label_position(const einsum *e, char label) {
  for (int32_t i = 0; i < e->count; i++)
    if (e->labels[i] == label) return i;
  return -1;
}

static bool add_labels(einsum *e, const char *text, size_t n, const ref_tensor *t) {
  if ((int32_t)n != t->rank) return false;
  for (size_t i = 0; i < n; i++) {
    int32_t at = label_position(e, text[i]);
    if (at < 0 && e->count == IR_MAX_RANK) return false;
    if (at < 0) e->labels[at = e->count++] = text[i], e->sizes[at] = t->dims[i];
    if (e->sizes[at] != t->dims[i]) return false;
  }
  return true;
}

static int64_t einsum_offset(const einsum *e, const char *labels, const ref_tensor *t,
                             const int64_t *index) {
  int64_t offset = 0;
  for (int32_t d = 0; d < t->rank; d++)
    offset = offset * t->dims[d] + index[label_position(e, labels[d])];
  return offset;
}

weir_status ref_einsum(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *y = ref_operand(f, op, 1);
  const char *left = ir_op_string(f->m, op, "einsum_config");
  const char *right = left ? strchr(left, ',') : NULL, *arrow = right ? strstr(right, "->") : NULL;
  ref_tensor *out = ref_result(f, op, 0);
  einsum e = {.count = 0};
  if (!arrow || !add_labels(&e, arrow + 2, strlen(arrow + 2), out) ||
      !add_labels(&e, left, (size_t)(right - left), x) ||
      !add_labels(&e, right + 1, (size_t)(arrow - right - 1), y))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "einsum_config does not read or does not fit the operands");
  ref_scalar *sums = ARENA_ARRAY(f->arena, ref_scalar, (size_t)ref_element_count(out));
  int64_t index[IR_MAX_RANK] = {0}, count = 1;
  for (int32_t d = 0; d < e.count; d++) count *= e.sizes[d];
  ir_dtype wide = ir_dtype_class_of(x->dtype) == IR_CLASS_FLOAT ? IR_F64 : x->dtype;
  for (int64_t i = 0; i < count; i++, ref_next(e.count, e.sizes, index)) {
    ref_scalar a = ref_load(x, einsum_offset(&e, left, x, index)),
               b = ref_load(y, einsum_offset(&e, right + 1, y, index));
    ref_scalar *sum = &sums[einsum_offset(&e, arrow + 2, out, index)];
    *sum = ref_binary_scalar(IR_OP_ADD, wide, *sum, ref_binary_scalar(IR_OP_MULTIPLY, wide, a, b));
  }
  ref_pack(out, sums);
  return WEIR_OK;
}
