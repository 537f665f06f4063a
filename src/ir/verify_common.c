/* What the shape rules are made of: counts, types that may stand for each other, lists of
 * dimensions, regions. See verify.h. */
#include "ir/verify.h"

weir_status ir_verify_count(verifier *v, ir_op op, int64_t operands, int64_t results) {
  const ir_op_data *data = ir_op_get(v->m, op);
  if (operands >= 0 && data->n_operands != operands)
    return ir_violation(v, op, 0, "%u operands, wanted %lld", data->n_operands,
                        (long long)operands);
  if (results >= 0 && data->n_results != results)
    return ir_violation(v, op, 0, "%u results, wanted %lld", data->n_results, (long long)results);
  return WEIR_OK;
}

weir_status ir_verify_tensors(verifier *v, ir_op op, int64_t operands, int64_t results) {
  WEIR_TRY(ir_verify_count(v, op, operands, results));
  const ir_op_data *data = ir_op_get(v->m, op);
  for (uint32_t i = 0; i < data->n_operands; i++)
    if (operand_type(v, op, i)->kind != IR_TYPE_TENSOR)
      return ir_violation(v, op, 0, "operand %u is %s, wanted a tensor", i,
                          ir_verify_type_text(v, operand_type_id(v, op, i)));
  for (uint32_t i = 0; i < data->n_results; i++)
    if (result_type(v, op, i)->kind != IR_TYPE_TENSOR)
      return ir_violation(v, op, 0, "result %u is %s, wanted a tensor", i,
                          ir_verify_type_text(v, result_type_id(v, op, i)));
  return WEIR_OK;
}

/* ---- types ---- */
static bool dims_fit(const ir_type_data *t, const int64_t *dims, int32_t rank) {
  if (t->rank != rank) return false;
  for (int32_t d = 0; d < rank; d++)
    if (!dim_fits(t->dims[d], dims[d])) return false;
  return true;
}

static bool dtypes_fit(const ir_type_data *a, const ir_type_data *b) {
  return a->dtype == b->dtype || !a->dtype || !b->dtype;
}

/* Encodings (bounds, shardings) are not ours to judge. */
static bool types_fit(const ir_module *m, ir_type have, ir_type want) {
  if (have == want) return true;
  const ir_type_data *a = ir_type_get(m, have), *b = ir_type_get(m, want);
  if (a->kind == IR_TYPE_OTHER || b->kind == IR_TYPE_OTHER) return true;
  if (a->kind != b->kind) return false;
  if (a->kind == IR_TYPE_TENSOR) return dims_fit(a, b->dims, b->rank) && dtypes_fit(a, b);
  if (a->kind != IR_TYPE_TUPLE || a->n_types != b->n_types) return false;
  for (int32_t i = 0; i < a->n_types; i++)
    if (!types_fit(m, a->types[i], b->types[i])) return false;
  return true;
}

weir_status ir_verify_type(verifier *v, ir_op op, int constraint, const char *what, ir_type have,
                           ir_type want) {
  if (types_fit(v->m, have, want)) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s is %s, wanted %s", what, ir_verify_type_text(v, have),
                      ir_verify_type_text(v, want));
}

weir_status ir_verify_dims(verifier *v, ir_op op, int constraint, const char *what, ir_type have,
                           const int64_t *want, int32_t rank) {
  const ir_type_data *t = ir_type_get(v->m, have);
  if (t->kind != IR_TYPE_TENSOR || dims_fit(t, want, rank)) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s is %s, wanted its shape to be %s", what,
                      ir_verify_type_text(v, have), ir_verify_dims_text(v, want, rank));
}

weir_status ir_verify_dtype(verifier *v, ir_op op, int constraint, const char *what, ir_type have,
                            ir_type want) {
  const ir_type_data *a = ir_type_get(v->m, have), *b = ir_type_get(v->m, want);
  if (a->kind != IR_TYPE_TENSOR || b->kind != IR_TYPE_TENSOR || dtypes_fit(a, b)) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s is %s, wanted elements of %s", what,
                      ir_verify_type_text(v, have), ir_dtype_name(b->dtype));
}

/* ---- the same, by place ---- */
static ir_type type_at(const verifier *v, ir_op op, int64_t place) {
  return place < 0 ? result_type_id(v, op, 0) : operand_type_id(v, op, (uint32_t)place);
}

static const char *name_of(verifier *v, int64_t place) {
  return place < 0 ? "the result" : arena_printf(v->scratch, "operand %lld", (long long)place);
}

weir_status ir_verify_wanted(verifier *v, ir_op op, int constraint, int64_t place,
                             const char *wanted) {
  return ir_violation(v, op, constraint, "%s is %s, wanted %s", name_of(v, place),
                      ir_verify_type_text(v, type_at(v, op, place)), wanted);
}

weir_status ir_verify_fits(verifier *v, ir_op op, int constraint, int64_t place, uint32_t like) {
  ir_type have = type_at(v, op, place), want = operand_type_id(v, op, like);
  if (types_fit(v->m, have, want)) return WEIR_OK;
  return ir_verify_wanted(v, op, constraint, place, ir_verify_type_text(v, want));
}

weir_status ir_verify_elements(verifier *v, ir_op op, int constraint, int64_t place,
                               uint32_t like) {
  ir_type have = type_at(v, op, place), want = operand_type_id(v, op, like);
  if (dtypes_fit(ir_type_get(v->m, have), ir_type_get(v->m, want))) return WEIR_OK;
  return ir_verify_dtype(v, op, constraint, name_of(v, place), have, want);
}

weir_status ir_verify_shape(verifier *v, ir_op op, int constraint, int64_t place,
                            const int64_t *want, int32_t rank) {
  ir_type have = type_at(v, op, place);
  if (dims_fit(ir_type_get(v->m, have), want, rank)) return WEIR_OK;
  return ir_verify_dims(v, op, constraint, name_of(v, place), have, want, rank);
}

/* Of functions MLIR demands the same type, not one that fits. Encodings may be spelled in several
 * ways. */
static bool types_same(const ir_module *m, ir_type have, ir_type want) {
  const ir_type_data *a = ir_type_get(m, have), *b = ir_type_get(m, want);
  if (have == want || a->kind != IR_TYPE_TENSOR || b->kind != IR_TYPE_TENSOR)
    return types_fit(m, have, want);
  return a->dtype == b->dtype && a->element_text == b->element_text && ir_same_dims(a, b);
}

weir_status ir_verify_same(verifier *v, ir_op op, int constraint, const char *what, ir_type have,
                           ir_type want) {
  if (types_same(v->m, have, want)) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s is %s, wanted %s", what, ir_verify_type_text(v, have),
                      ir_verify_type_text(v, want));
}

/* ---- regions ---- */
weir_status ir_verify_n_regions(verifier *v, ir_op op, uint32_t count) {
  const ir_op_data *data = ir_op_get(v->m, op);
  if (data->n_regions != count)
    return ir_violation(v, op, 0, "%u regions, wanted %u", data->n_regions, count);
  for (uint32_t r = 0; r < count; r++)
    if (!data->regions[r]) return ir_violation(v, op, 0, "region %u is empty", r);
  return WEIR_OK;
}

static bool is_scalar_of(const ir_type_data *t, const ir_type_data *like) {
  return t->kind == IR_TYPE_OTHER || (t->kind == IR_TYPE_TENSOR && !t->rank && dtypes_fit(t, like));
}

static const char *scalar_text(verifier *v, const ir_type_data *like) {
  return arena_printf(v->scratch, "tensor<%s>",
                      like->dtype ? ir_dtype_name(like->dtype) : ir_text(v->m, like->element_text));
}

/* What the region is given or returns. */
static weir_status check_values(verifier *v, ir_op op, int constraint, uint32_t region,
                                bool is_returned, bool is_scalar, const ir_type *want, uint32_t n) {
  ir_block body = ir_op_get(v->m, op)->regions[region];
  const ir_op_data *last = is_returned ? ir_op_get(v->m, ir_terminator(v->m, body)) : NULL;
  const ir_value *have = last ? last->operands : ir_block_get(v->m, body)->args.at;
  uint32_t n_have = last ? last->n_operands : ir_block_get(v->m, body)->args.count;
  const char *what = last ? "returned value" : "argument";
  if (n_have != n)
    return ir_violation(v, op, constraint, "region %u has %u %ss, wanted %u", region, n_have, what,
                        n);
  for (uint32_t i = 0; i < n; i++) {
    ir_type type = ir_type_of(v->m, have[i]);
    const ir_type_data *like = ir_type_get(v->m, want[i]);
    if (is_scalar ? is_scalar_of(ir_type_get(v->m, type), like) : types_fit(v->m, type, want[i]))
      continue;
    return ir_violation(v, op, constraint, "%s %u of region %u is %s, wanted %s", what, i, region,
                        ir_verify_type_text(v, type),
                        is_scalar ? scalar_text(v, like) : ir_verify_type_text(v, want[i]));
  }
  return WEIR_OK;
}

weir_status ir_verify_args(verifier *v, ir_op op, int constraint, uint32_t region,
                           const ir_type *want, uint32_t n) {
  return check_values(v, op, constraint, region, false, false, want, n);
}

weir_status ir_verify_returns(verifier *v, ir_op op, int constraint, uint32_t region,
                              const ir_type *want, uint32_t n) {
  return check_values(v, op, constraint, region, true, false, want, n);
}

weir_status ir_verify_scalar_args(verifier *v, ir_op op, int constraint, uint32_t region,
                                  const ir_type *like, uint32_t n) {
  return check_values(v, op, constraint, region, false, true, like, n);
}

weir_status ir_verify_scalar_returns(verifier *v, ir_op op, int constraint, uint32_t region,
                                     const ir_type *like, uint32_t n) {
  return check_values(v, op, constraint, region, true, true, like, n);
}

weir_status ir_verify_predicate(verifier *v, ir_op op, int constraint, uint32_t region) {
  ir_block body = ir_op_get(v->m, op)->regions[region];
  const ir_op_data *last = ir_op_get(v->m, ir_terminator(v->m, body));
  if (last->n_operands != 1)
    return ir_violation(v, op, constraint, "region %u returns %u values, wanted 1", region,
                        last->n_operands);
  const ir_type_data *t = ir_type_at(v->m, last->operands[0]);
  if (t->kind == IR_TYPE_OTHER || (t->kind == IR_TYPE_TENSOR && !t->rank && t->dtype == IR_I1))
    return WEIR_OK;
  return ir_violation(v, op, constraint, "region %u returns %s, wanted tensor<i1>", region,
                      ir_verify_type_text(v, ir_type_of(v->m, last->operands[0])));
}

weir_status ir_verify_reducer(verifier *v, ir_op op, int constraint, uint32_t region) {
  uint32_t n = ir_op_get(v->m, op)->n_results;
  ir_type *like = ARENA_ARRAY(v->scratch, ir_type, 2 * (size_t)n);
  for (uint32_t i = 0; i < n; i++) like[i] = like[n + i] = result_type_id(v, op, i);
  WEIR_TRY(ir_verify_scalar_args(v, op, constraint, region, like, 2 * n));
  return ir_verify_scalar_returns(v, op, constraint, region, like, n);
}

weir_status ir_verify_halves(verifier *v, ir_op op, int constraint) {
  WEIR_TRY(ir_verify_tensors(v, op, -1, -1));
  const ir_op_data *data = ir_op_get(v->m, op);
  if (!data->n_results || data->n_operands != 2 * data->n_results)
    return ir_violation(v, op, constraint, "%u operands for %u results, wanted twice as many",
                        data->n_operands, data->n_results);
  return ir_verify_n_regions(v, op, 1);
}

weir_status ir_verify_reduction(verifier *v, ir_op op, const ir_reduction_tags *tags,
                                const int64_t *want, int32_t rank) {
  const ir_type_data *x = operand_type(v, op, 0);
  uint32_t n = ir_op_get(v->m, op)->n_results;
  for (uint32_t i = 0; i < n; i++) {
    ir_type in = operand_type_id(v, op, i), init = operand_type_id(v, op, n + i);
    WEIR_TRY(ir_verify_dims(v, op, tags->inputs, "an input", in, x->dims, x->rank));
    WEIR_TRY(ir_verify_dtype(v, op, tags->initials, "an initial value", init, in));
    WEIR_TRY(ir_verify_dims(v, op, 0, "an initial value", init, NULL, 0));
    WEIR_TRY(
        ir_verify_dims(v, op, tags->results, "a result", result_type_id(v, op, i), want, rank));
  }
  return ir_verify_reducer(v, op, tags->body, 0);
}

weir_status ir_verify_scalar_operand(verifier *v, ir_op op, int constraint, uint32_t i,
                                     ir_dtype dtype) {
  const ir_type_data *t = operand_type(v, op, i);
  bool fits = dtype ? t->dtype == dtype : ir_is_integer(t->dtype);
  if (t->kind == IR_TYPE_TENSOR && !t->rank && (fits || !t->dtype)) return WEIR_OK;
  return ir_violation(v, op, constraint, "operand %u is %s, wanted a scalar of %s", i,
                      ir_verify_type_text(v, operand_type_id(v, op, i)),
                      dtype ? ir_dtype_name(dtype) : "an integer type");
}

/* ---- numbers, and lists of them ---- */
weir_status ir_verify_absent(verifier *v, ir_op op, const char *name) {
  return ir_violation(v, op, 0, "the attribute `%s` is missing", name);
}

weir_status ir_verify_unreadable(verifier *v, ir_op op, const char *name) {
  return ir_violation(v, op, 0, "`%s` does not read", name);
}

weir_status ir_verify_ints(verifier *v, ir_op op, const char *name, ir_ints *out_list) {
  static const int64_t nothing[1];
  if (!ir_op_attr(v->m, op, name)) return ir_verify_absent(v, op, name);
  int32_t count;
  const int64_t *at = ir_op_ints(v->m, op, name, &count);
  if (count < 0) return ir_verify_unreadable(v, op, name);
  *out_list = (ir_ints){count, count ? at : nothing};
  return WEIR_OK;
}

weir_status ir_verify_int(verifier *v, ir_op op, const char *name, int64_t *out_number) {
  ir_attr attr = ir_op_attr(v->m, op, name);
  if (!attr) return ir_verify_absent(v, op, name);
  if (ir_attr_get(v->m, attr)->kind != IR_ATTR_INT) return ir_verify_unreadable(v, op, name);
  *out_number = ir_attr_get(v->m, attr)->integer;
  return WEIR_OK;
}

weir_status ir_verify_length(verifier *v, ir_op op, int constraint, const char *what, ir_ints list,
                             int64_t want) {
  if (list.count == want) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s has %d elements, wanted %lld", what, list.count,
                      (long long)want);
}

weir_status ir_verify_number(verifier *v, ir_op op, int constraint, const char *name,
                             int64_t number, int64_t low, int64_t high) {
  if (number >= low && number <= high) return WEIR_OK;
  if (high == INT64_MAX)
    return ir_violation(v, op, constraint, "`%s` is %lld, wanted at least %lld", name,
                        (long long)number, (long long)low);
  return ir_violation(v, op, constraint, "`%s` is %lld, wanted %lld to %lld", name,
                      (long long)number, (long long)low, (long long)high);
}

weir_status ir_verify_range(verifier *v, ir_op op, int constraint, const char *what, ir_ints list,
                            int64_t low, int64_t high) {
  for (int32_t i = 0; i < list.count; i++) {
    if (list.at[i] >= low && list.at[i] <= high) continue;
    if (high == INT64_MAX)
      return ir_violation(v, op, constraint, "element %d of %s is %lld, wanted at least %lld", i,
                          what, (long long)list.at[i], (long long)low);
    return ir_violation(v, op, constraint, "element %d of %s is %lld, wanted %lld to %lld", i, what,
                        (long long)list.at[i], (long long)low, (long long)high);
  }
  return WEIR_OK;
}

weir_status ir_verify_unique(verifier *v, ir_op op, int constraint, const char *what,
                             ir_ints list) {
  for (int32_t i = 0; i < list.count && i <= IR_MAX_RANK; i++)
    for (int32_t k = 0; k < i; k++)
      if (list.at[i] == list.at[k])
        return ir_violation(v, op, constraint, "%s has %lld twice", what, (long long)list.at[i]);
  return WEIR_OK;
}

weir_status ir_verify_sorted(verifier *v, ir_op op, int constraint, const char *what,
                             ir_ints list) {
  for (int32_t i = 1; i < list.count; i++)
    if (list.at[i] < list.at[i - 1])
      return ir_violation(v, op, constraint, "%s is not sorted: %lld after %lld", what,
                          (long long)list.at[i], (long long)list.at[i - 1]);
  return WEIR_OK;
}
