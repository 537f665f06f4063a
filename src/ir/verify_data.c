/* Shape rules of leaves, elementwise ops and data movement. Source: StableHLO specification,
 * "Constraints" of each op; the numbers in the messages are its own. */
#include "ir/verify.h"

/* ---- element types ---- */
static weir_status check_class(verifier *v, ir_op op, int allowed) {
  static const char *const names[] = {[IR_CLASS_BOOL] = "boolean",
                                      [IR_CLASS_INT] = "signed integer",
                                      [IR_CLASS_UINT] = "unsigned integer",
                                      [IR_CLASS_FLOAT] = "floating-point",
                                      [IR_CLASS_COMPLEX] = "complex"};
  ir_dtype dtype = operand_type(v, op, 0)->dtype;
  if (!dtype || allowed & (1 << ir_dtype_class_of(dtype))) return WEIR_OK;
  strbuf b = strbuf_make(v->scratch);
  for (int k = IR_CLASS_BOOL; k <= IR_CLASS_COMPLEX; k++)
    if (allowed & (1 << k)) strbuf_printf(&b, "%s%s", b.length ? " or " : "", names[k]);
  return ir_verify_wanted(v, op, 0, 0, arena_printf(v->scratch, "elements of a %s type", b.text));
}

/* ---- elementwise ---- */
/* So many tensors to one, the first of a class that the op takes. */
static weir_status operands_of_class(verifier *v, ir_op op, int64_t count) {
  WEIR_TRY(ir_verify_tensors(v, op, count, 1));
  return check_class(v, op, ir_kind_types(ir_kind_of(v->m, op)));
}

weir_status ir_verify_unary(verifier *v, ir_op op) {
  WEIR_TRY(operands_of_class(v, op, 1));
  return ir_verify_fits(v, op, 1, RESULT, 0);
}

weir_status ir_verify_binary(verifier *v, ir_op op) {
  WEIR_TRY(operands_of_class(v, op, 2));
  WEIR_TRY(ir_verify_fits(v, op, 1, 1, 0));
  return ir_verify_fits(v, op, 1, RESULT, 0);
}

static weir_status same_shape(verifier *v, ir_op op, int constraint) {
  const ir_type_data *x = operand_type(v, op, 0);
  return ir_verify_shape(v, op, constraint, RESULT, x->dims, x->rank);
}

static weir_status check_result_dtype(verifier *v, ir_op op, int constraint, ir_dtype want) {
  const ir_type_data *r = result_type(v, op, 0);
  if (r->dtype == want || !r->dtype || !want) return WEIR_OK;
  return ir_violation(v, op, constraint, "the result is %s, wanted elements of %s",
                      ir_verify_type_text(v, result_type_id(v, op, 0)), ir_dtype_name(want));
}

weir_status ir_verify_real_part(verifier *v, ir_op op) {
  WEIR_TRY(operands_of_class(v, op, 1));
  WEIR_TRY(same_shape(v, op, 1));
  return check_result_dtype(v, op, 2, ir_real_dtype(operand_type(v, op, 0)->dtype));
}

weir_status ir_verify_to_i1(verifier *v, ir_op op) {
  WEIR_TRY(operands_of_class(v, op, 1));
  WEIR_TRY(same_shape(v, op, 1));
  return check_result_dtype(v, op, 0, IR_I1);
}

weir_status ir_verify_same_shape(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  return same_shape(v, op, 1);
}

weir_status ir_verify_reduce_precision(verifier *v, ir_op op) {
  int64_t exponent, mantissa;
  WEIR_TRY(ir_verify_unary(v, op));
  WEIR_TRY(ir_verify_int(v, op, "exponent_bits", &exponent));
  WEIR_TRY(ir_verify_int(v, op, "mantissa_bits", &mantissa));
  if (exponent < 1)
    return ir_violation(v, op, 2, "%lld exponent bits, wanted at least 1", (long long)exponent);
  if (mantissa < 0)
    return ir_violation(v, op, 3, "%lld mantissa bits, wanted at least 0", (long long)mantissa);
  return WEIR_OK;
}

static bool compare_type_fits(ir_compare_type type, ir_dtype_class cls) {
  switch (type) {
    case IR_COMPARE_DEFAULT: return true;
    case IR_COMPARE_FLOAT: return cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX;
    case IR_COMPARE_TOTALORDER: return cls == IR_CLASS_FLOAT;
    case IR_COMPARE_SIGNED: return cls == IR_CLASS_INT;
    case IR_COMPARE_UNSIGNED: return cls == IR_CLASS_UINT || cls == IR_CLASS_BOOL;
  }
  return false;
}

weir_status ir_verify_compare(verifier *v, ir_op op) {
  ir_direction direction;
  ir_compare_type type;
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  const ir_type_data *lhs = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_elements(v, op, 1, 1, 0));
  WEIR_TRY(ir_verify_shape(v, op, 2, 1, lhs->dims, lhs->rank));
  WEIR_TRY(ir_verify_shape(v, op, 2, RESULT, lhs->dims, lhs->rank));
  WEIR_TRY(check_result_dtype(v, op, 0, IR_I1));
  if (!ir_op_attr(v->m, op, "comparison_direction"))
    return ir_verify_absent(v, op, "comparison_direction");
  if (!ir_compare_kind(v->m, op, &direction, &type))
    return ir_violation(v, op, 0, "`comparison_direction` is none of EQ, NE, GE, GT, LE, LT");
  if (lhs->dtype && !compare_type_fits(type, ir_dtype_class_of(lhs->dtype)))
    return ir_violation(v, op, 3, "`compare_type` is %s, which does not fit elements of %s",
                        ir_op_string(v->m, op, "compare_type"), ir_dtype_name(lhs->dtype));
  return WEIR_OK;
}

weir_status ir_verify_complex(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  WEIR_TRY(ir_verify_fits(v, op, 1, 1, 0));
  WEIR_TRY(same_shape(v, op, 2));
  ir_dtype part = operand_type(v, op, 0)->dtype;
  if (part && part != IR_F32 && part != IR_F64)
    return ir_verify_wanted(v, op, 0, 0, "elements of f32 or f64");
  return check_result_dtype(v, op, 3,
                            part == IR_F32   ? IR_C64
                            : part == IR_F64 ? IR_C128
                                             : IR_DTYPE_NONE);
}

/* Operand `i` is a scalar or has the shape of operand `like`. */
static weir_status scalar_or_shape(verifier *v, ir_op op, int constraint, uint32_t i,
                                   uint32_t like) {
  const ir_type_data *want = operand_type(v, op, like);
  if (operand_type(v, op, i)->rank == 0) return WEIR_OK;
  return ir_verify_shape(v, op, constraint, i, want->dims, want->rank);
}

weir_status ir_verify_select(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 3, 1));
  WEIR_TRY(check_class(v, op, 1 << IR_CLASS_BOOL));
  WEIR_TRY(scalar_or_shape(v, op, 1, 0, 1));
  WEIR_TRY(ir_verify_fits(v, op, 2, 2, 1));
  return ir_verify_fits(v, op, 2, RESULT, 1);
}

weir_status ir_verify_clamp(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 3, 1));
  WEIR_TRY(scalar_or_shape(v, op, 1, 0, 1));
  WEIR_TRY(scalar_or_shape(v, op, 2, 2, 1));
  WEIR_TRY(ir_verify_elements(v, op, 3, 0, 1));
  WEIR_TRY(ir_verify_elements(v, op, 3, 2, 1));
  return ir_verify_fits(v, op, 4, RESULT, 1);
}

/* ---- leaves ---- */
weir_status ir_verify_constant(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_count(v, op, 0, 1));
  ir_attr value = ir_op_attr(v->m, op, "value");
  if (!value) return ir_verify_absent(v, op, "value");
  const ir_attr_data *data = ir_attr_get(v->m, value);
  return data->kind == IR_ATTR_DENSE
             ? ir_verify_type(v, op, 1, "the result", result_type_id(v, op, 0), data->type)
             : WEIR_OK;
}

weir_status ir_verify_iota(verifier *v, ir_op op) {
  int64_t dim;
  WEIR_TRY(ir_verify_tensors(v, op, 0, 1));
  WEIR_TRY(ir_verify_int(v, op, "iota_dimension", &dim));
  int32_t rank = result_type(v, op, 0)->rank;
  WEIR_TRY(ir_verify_number(v, op, 1, "iota_dimension", dim, 0, rank - 1));
  ir_dtype dtype = result_type(v, op, 0)->dtype;
  if (dtype == IR_I1) return ir_verify_wanted(v, op, 0, RESULT, "elements of a number type");
  return WEIR_OK;
}

/* ---- data movement ---- */
/* Bits as the specification counts them; 0 where that is not a power of two or not defined. */
static int64_t bits_of(ir_dtype d) {
  switch (d) {
    case IR_DTYPE_NONE:
    case IR_I1:
    case IR_F6E2M3FN:
    case IR_F6E3M2FN: return 0;
    default: return ir_dtype_bits(d);
  }
}

weir_status ir_verify_bitcast_convert(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  const ir_type_data *x = operand_type(v, op, 0), *r = result_type(v, op, 0);
  int64_t from = bits_of(x->dtype), to = bits_of(r->dtype), want[IR_MAX_RANK + 1];
  if (!from || !to) return WEIR_OK;
  if (ir_is_complex(x->dtype) != ir_is_complex(r->dtype))
    return ir_violation(v, op, 2, "%s to %s: complex numbers only become complex numbers",
                        ir_dtype_name(x->dtype), ir_dtype_name(r->dtype));
  for (int32_t d = 0; d < x->rank; d++) want[d] = x->dims[d];
  if (from == to) return ir_verify_shape(v, op, 1, RESULT, want, x->rank);
  if (from > to) {
    want[x->rank] = from / to;
    return ir_verify_shape(v, op, 1, RESULT, want, x->rank + 1);
  }
  if (!x->rank || !dim_fits(x->dims[x->rank - 1], to / from))
    return ir_violation(v, op, 1, "operand 0 is %s, wanted a last dimension of %lld to make %s",
                        ir_verify_type_text(v, operand_type_id(v, op, 0)), (long long)(to / from),
                        ir_dtype_name(r->dtype));
  return ir_verify_shape(v, op, 1, RESULT, want, x->rank - 1);
}

weir_status ir_verify_broadcast(verifier *v, ir_op op) {
  ir_ints sizes;
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_ints(v, op, "broadcast_sizes", &sizes));
  const ir_type_data *x = operand_type(v, op, 0);
  int64_t want[2 * IR_MAX_RANK];
  if (sizes.count + x->rank > IR_MAX_RANK)
    return ir_violation(v, op, 0, "the result would have more than %d dimensions", IR_MAX_RANK);
  WEIR_TRY(ir_verify_range(v, op, 0, "`broadcast_sizes`", sizes, 0, INT64_MAX));
  for (int32_t i = 0; i < sizes.count; i++) want[i] = sizes.at[i];
  for (int32_t i = 0; i < x->rank; i++) want[sizes.count + i] = x->dims[i];
  WEIR_TRY(ir_verify_elements(v, op, 0, RESULT, 0));
  return ir_verify_shape(v, op, 0, RESULT, want, sizes.count + x->rank);
}

weir_status ir_verify_broadcast_in_dim(verifier *v, ir_op op) {
  ir_ints dims;
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_ints(v, op, "broadcast_dimensions", &dims));
  const ir_type_data *x = operand_type(v, op, 0), *r = result_type(v, op, 0);
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_length(v, op, 2, "`broadcast_dimensions`", dims, x->rank));
  WEIR_TRY(ir_verify_range(v, op, 3, "`broadcast_dimensions`", dims, 0, r->rank - 1));
  WEIR_TRY(ir_verify_unique(v, op, 4, "`broadcast_dimensions`", dims));
  for (int32_t d = 0; d < x->rank; d++)
    if (x->dims[d] != 1 && !dim_fits(x->dims[d], r->dims[dims.at[d]]))
      return ir_violation(
          v, op, 5, "operand dimension %d is %lld, wanted 1 or %lld as in result dimension %lld", d,
          (long long)x->dims[d], (long long)r->dims[dims.at[d]], (long long)dims.at[d]);
  return WEIR_OK;
}

weir_status ir_verify_concatenate(verifier *v, ir_op op) {
  int64_t dim, want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, -1, 1));
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  if (!n) return ir_violation(v, op, 3, "no operands, wanted at least one");
  WEIR_TRY(ir_verify_int(v, op, "dimension", &dim));
  const ir_type_data *first = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_number(v, op, 4, "dimension", dim, 0, first->rank - 1));
  for (int32_t d = 0; d < first->rank; d++) want[d] = first->dims[d];
  int64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    WEIR_TRY(ir_verify_elements(v, op, 1, i, 0));
    want[dim] = -1;
    WEIR_TRY(ir_verify_shape(v, op, 2, i, want, first->rank));
    int64_t size = operand_type(v, op, i)->dims[dim];
    if (size < 0 || total < 0 || __builtin_add_overflow(total, size, &total)) total = -1;
  }
  want[dim] = total;
  WEIR_TRY(ir_verify_elements(v, op, 5, RESULT, 0));
  return ir_verify_shape(v, op, 6, RESULT, want, first->rank);
}

/* The start indices: operands from `first` on, `rank` scalars of one integer type. */
static weir_status start_indices(verifier *v, ir_op op, uint32_t first, int32_t rank,
                                 int count_constraint, int type_constraint) {
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  if (n != first + (uint32_t)rank)
    return ir_violation(v, op, count_constraint, "%u start indices, wanted %d", n - first, rank);
  for (uint32_t i = first; i < n; i++) {
    WEIR_TRY(ir_verify_scalar_operand(v, op, 0, i, IR_DTYPE_NONE));
    WEIR_TRY(ir_verify_type(v, op, type_constraint, "a start index", operand_type_id(v, op, i),
                            operand_type_id(v, op, first)));
  }
  return WEIR_OK;
}

weir_status ir_verify_dynamic_slice(verifier *v, ir_op op) {
  ir_ints sizes;
  WEIR_TRY(ir_verify_tensors(v, op, -1, 1));
  if (!ir_op_get(v->m, op)->n_operands) return ir_violation(v, op, 0, "no operands");
  WEIR_TRY(ir_verify_ints(v, op, "slice_sizes", &sizes));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_length(v, op, 2, "`slice_sizes`", sizes, x->rank));
  WEIR_TRY(start_indices(v, op, 1, x->rank, 2, 3));
  for (int32_t d = 0; d < x->rank; d++)
    if (sizes.at[d] < 0 || (x->dims[d] >= 0 && sizes.at[d] > x->dims[d]))
      return ir_violation(v, op, 4, "slice size %lld of dimension %d, wanted 0 to %lld",
                          (long long)sizes.at[d], d, (long long)x->dims[d]);
  return ir_verify_shape(v, op, 5, RESULT, sizes.at, sizes.count);
}

weir_status ir_verify_dynamic_update_slice(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, -1, 1));
  if (ir_op_get(v->m, op)->n_operands < 2)
    return ir_violation(v, op, 0, "%u operands, wanted at least 2",
                        ir_op_get(v->m, op)->n_operands);
  const ir_type_data *x = operand_type(v, op, 0), *u = operand_type(v, op, 1);
  WEIR_TRY(ir_verify_fits(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_elements(v, op, 2, 1, 0));
  if (u->rank != x->rank)
    return ir_violation(v, op, 3, "the update has rank %d, wanted %d", u->rank, x->rank);
  WEIR_TRY(start_indices(v, op, 2, x->rank, 4, 5));
  for (int32_t d = 0; d < x->rank; d++)
    if (u->dims[d] >= 0 && x->dims[d] >= 0 && u->dims[d] > x->dims[d])
      return ir_violation(v, op, 6, "the update's dimension %d is %lld, wanted at most %lld", d,
                          (long long)u->dims[d], (long long)x->dims[d]);
  return WEIR_OK;
}

weir_status ir_verify_get_dimension_size(verifier *v, ir_op op) {
  int64_t dim;
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_int(v, op, "dimension", &dim));
  int32_t rank = operand_type(v, op, 0)->rank;
  WEIR_TRY(ir_verify_number(v, op, 1, "dimension", dim, 0, rank - 1));
  if (result_type(v, op, 0)->rank) return ir_verify_wanted(v, op, 0, RESULT, "tensor<i32>");
  return check_result_dtype(v, op, 0, IR_I32);
}

/* low + size + (size - 1) * interior + high, -1 if unknown; false if it is negative or too large.
 */
static bool padded_size(int64_t size, int64_t low, int64_t high, int64_t interior,
                        int64_t *out_size) {
  __int128 padded = (__int128)low + high + size + (size > 0 ? (__int128)(size - 1) * interior : 0);
  *out_size = size < 0 ? -1 : (int64_t)padded;
  return size < 0 || (padded >= 0 && padded <= INT64_MAX);
}

weir_status ir_verify_pad(verifier *v, ir_op op) {
  ir_ints low, high, interior;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  WEIR_TRY(ir_verify_ints(v, op, "edge_padding_low", &low));
  WEIR_TRY(ir_verify_ints(v, op, "edge_padding_high", &high));
  WEIR_TRY(ir_verify_ints(v, op, "interior_padding", &interior));
  const ir_type_data *x = operand_type(v, op, 0);
  if (operand_type(v, op, 1)->rank) return ir_verify_wanted(v, op, 0, 1, "a scalar");
  WEIR_TRY(ir_verify_elements(v, op, 1, 1, 0));
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_length(v, op, 2, "`edge_padding_low`", low, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 2, "`edge_padding_high`", high, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 2, "`interior_padding`", interior, x->rank));
  WEIR_TRY(ir_verify_range(v, op, 3, "`interior_padding`", interior, 0, INT64_MAX));
  for (int32_t d = 0; d < x->rank; d++)
    if (!padded_size(x->dims[d], low.at[d], high.at[d], interior.at[d], &want[d]))
      return ir_violation(
          v, op, 4, "dimension %d of length %lld can't be padded by %lld, %lld and %lld between", d,
          (long long)x->dims[d], (long long)low.at[d], (long long)high.at[d],
          (long long)interior.at[d]);
  return ir_verify_shape(v, op, 4, RESULT, want, x->rank);
}

weir_status ir_verify_reshape(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  ir_type x = operand_type_id(v, op, 0), r = result_type_id(v, op, 0);
  for (int32_t d = 0; d < ir_type_get(v->m, x)->rank; d++)
    if (ir_type_get(v->m, x)->dims[d] < 0) return WEIR_OK;
  for (int32_t d = 0; d < ir_type_get(v->m, r)->rank; d++)
    if (ir_type_get(v->m, r)->dims[d] < 0) return WEIR_OK;
  if (ir_element_count(v->m, x) == ir_element_count(v->m, r)) return WEIR_OK;
  return ir_violation(v, op, 2,
                      "the result is %s, which has not as many elements as the operand, %s",
                      ir_verify_type_text(v, r), ir_verify_type_text(v, x));
}

weir_status ir_verify_reverse(verifier *v, ir_op op) {
  ir_ints dims;
  WEIR_TRY(ir_verify_unary(v, op));
  WEIR_TRY(ir_verify_ints(v, op, "dimensions", &dims));
  WEIR_TRY(ir_verify_range(v, op, 3, "`dimensions`", dims, 0, operand_type(v, op, 0)->rank - 1));
  return ir_verify_unique(v, op, 2, "`dimensions`", dims);
}

weir_status ir_verify_slice(verifier *v, ir_op op) {
  ir_ints start, limit, strides;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_ints(v, op, "start_indices", &start));
  WEIR_TRY(ir_verify_ints(v, op, "limit_indices", &limit));
  WEIR_TRY(ir_verify_ints(v, op, "strides", &strides));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_length(v, op, 2, "`start_indices`", start, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 2, "`limit_indices`", limit, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 2, "`strides`", strides, x->rank));
  WEIR_TRY(ir_verify_range(v, op, 4, "`strides`", strides, 1, INT64_MAX));
  for (int32_t d = 0; d < x->rank; d++) {
    bool fits = 0 <= start.at[d] && start.at[d] <= limit.at[d] &&
                (x->dims[d] < 0 || limit.at[d] <= x->dims[d]);
    if (!fits)
      return ir_violation(v, op, 3, "[%lld, %lld) of dimension %d of length %lld",
                          (long long)start.at[d], (long long)limit.at[d], d, (long long)x->dims[d]);
    int64_t length = limit.at[d] - start.at[d];
    want[d] = length / strides.at[d] + (length % strides.at[d] != 0);
  }
  return ir_verify_shape(v, op, 5, RESULT, want, x->rank);
}

weir_status ir_verify_transpose(verifier *v, ir_op op) {
  ir_ints permutation;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_ints(v, op, "permutation", &permutation));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_elements(v, op, 1, RESULT, 0));
  WEIR_TRY(ir_verify_length(v, op, 2, "`permutation`", permutation, x->rank));
  WEIR_TRY(ir_verify_range(v, op, 2, "`permutation`", permutation, 0, x->rank - 1));
  WEIR_TRY(ir_verify_unique(v, op, 2, "`permutation`", permutation));
  for (int32_t d = 0; d < x->rank; d++) want[d] = x->dims[permutation.at[d]];
  return ir_verify_shape(v, op, 3, RESULT, want, x->rank);
}
