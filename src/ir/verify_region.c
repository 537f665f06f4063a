/* Shape rules of functions, calls, ops with regions, and weir's loop. Sources: MLIR func dialect;
 * StableHLO specification, "Constraints" of each op; split/loops.h for weir.loop. */
#include "ir/verify.h"

static ir_type *operand_types(verifier *v, ir_op op) {
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  ir_type *types = ARENA_ARRAY(v->scratch, ir_type, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) types[i] = operand_type_id(v, op, i);
  return types;
}

static ir_type *result_types(verifier *v, ir_op op) {
  uint32_t n = ir_op_get(v->m, op)->n_results;
  ir_type *types = ARENA_ARRAY(v->scratch, ir_type, (size_t)n + 1);
  for (uint32_t i = 0; i < n; i++) types[i] = result_type_id(v, op, i);
  return types;
}

static const char *named(verifier *v, const char *what, uint32_t i) {
  return arena_printf(v->scratch, "%s %u", what, i);
}

/* ---- functions and calls ---- */
/* The function's type; NULL if it has none that we can read. */
static const ir_type_data *function_type(verifier *v, ir_op function) {
  const ir_attr_data *d = ir_op_attr_of(v->m, function, "function_type", IR_ATTR_TYPE);
  return d && ir_type_get(v->m, d->type)->kind == IR_TYPE_FUNCTION ? ir_type_get(v->m, d->type)
                                                                   : NULL;
}

weir_status ir_verify_func(verifier *v, ir_op op) {
  const ir_type_data *type = function_type(v, op);
  const ir_op_data *data = ir_op_get(v->m, op);
  WEIR_TRY(ir_verify_count(v, op, 0, 0));
  if (!ir_op_attr(v->m, op, "function_type")) return ir_verify_absent(v, op, "function_type");
  if (!type || !data->n_regions || !data->regions[0]) return WEIR_OK;
  return ir_verify_args(v, op, 0, 0, type->types, (uint32_t)type->n_types);
}

weir_status ir_verify_func_return(verifier *v, ir_op op) {
  const ir_type_data *type = v->function ? function_type(v, v->function) : NULL;
  if (!type) return WEIR_OK;
  WEIR_TRY(ir_verify_count(v, op, type->n_results, 0));
  for (int32_t i = 0; i < type->n_results; i++)
    WEIR_TRY(ir_verify_same(v, op, 0, named(v, "operand", (uint32_t)i),
                            operand_type_id(v, op, (uint32_t)i), type->types[type->n_types + i]));
  return WEIR_OK;
}

/* Operands and results fit the function that the symbol attribute `name` refers to. Symbols inside
 * of a nested module are not ours to resolve. */
static weir_status check_callee(verifier *v, ir_op op, const char *name, int missing, int inputs,
                                int results) {
  ir_attr attr = ir_op_attr(v->m, op, name);
  if (!attr) return ir_verify_absent(v, op, name);
  if (ir_attr_get(v->m, attr)->kind != IR_ATTR_SYMBOL || v->modules > 1) return WEIR_OK;
  ir_str symbol = ir_attr_get(v->m, attr)->text;
  ir_op callee = symbol < v->n_names ? v->functions[symbol] : IR_NONE;
  if (!callee)
    return ir_violation(v, op, missing, "there is no function @%s", ir_text(v->m, symbol));
  const ir_type_data *type = function_type(v, callee);
  if (!type) return WEIR_OK;
  const ir_op_data *data = ir_op_get(v->m, op);
  if (data->n_operands != (uint32_t)type->n_types)
    return ir_violation(v, op, inputs, "%u operands for @%s, wanted %d", data->n_operands,
                        ir_text(v->m, symbol), type->n_types);
  if (data->n_results != (uint32_t)type->n_results)
    return ir_violation(v, op, results, "%u results of @%s, wanted %d", data->n_results,
                        ir_text(v->m, symbol), type->n_results);
  for (uint32_t i = 0; i < data->n_operands; i++)
    WEIR_TRY(ir_verify_same(v, op, inputs, named(v, "operand", i), operand_type_id(v, op, i),
                            type->types[i]));
  for (uint32_t i = 0; i < data->n_results; i++)
    WEIR_TRY(ir_verify_same(v, op, results, named(v, "result", i), result_type_id(v, op, i),
                            type->types[(uint32_t)type->n_types + i]));
  return WEIR_OK;
}

weir_status ir_verify_call(verifier *v, ir_op op) { return check_callee(v, op, "callee", 0, 0, 0); }
weir_status ir_verify_composite(verifier *v, ir_op op) {
  return check_callee(v, op, "decomposition", 2, 3, 4);
}

/* ---- control flow ---- */
weir_status ir_verify_branches(verifier *v, ir_op op) {
  bool is_if = ir_kind_of(v->m, op) == IR_OP_IF;
  WEIR_TRY(ir_verify_count(v, op, 1, -1));
  WEIR_TRY(ir_verify_scalar_operand(v, op, 0, 0, is_if ? IR_I1 : IR_I32));
  uint32_t n = ir_op_get(v->m, op)->n_regions;
  if (!is_if && !n) return ir_violation(v, op, 1, "no branches, wanted at least one");
  WEIR_TRY(ir_verify_n_regions(v, op, is_if ? 2 : n));
  ir_type *types = result_types(v, op);
  for (uint32_t r = 0; r < n; r++) {
    WEIR_TRY(ir_verify_args(v, op, is_if ? 1 : 2, r, NULL, 0));
    WEIR_TRY(ir_verify_returns(v, op, is_if ? 3 : 4, r, types, ir_op_get(v->m, op)->n_results));
  }
  return WEIR_OK;
}

weir_status ir_verify_while(verifier *v, ir_op op) {
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  WEIR_TRY(ir_verify_n_regions(v, op, 2));
  if (ir_op_get(v->m, op)->n_results != n)
    return ir_violation(v, op, 3, "%u results, wanted %u", ir_op_get(v->m, op)->n_results, n);
  ir_type *types = operand_types(v, op);
  WEIR_TRY(ir_verify_args(v, op, 1, 0, types, n));
  WEIR_TRY(ir_verify_predicate(v, op, 1, 0));
  WEIR_TRY(ir_verify_args(v, op, 2, 1, types, n));
  WEIR_TRY(ir_verify_returns(v, op, 2, 1, types, n));
  for (uint32_t i = 0; i < n; i++)
    if (result_type_id(v, op, i) != types[i])
      WEIR_TRY(ir_verify_type(v, op, 3, named(v, "result", i), result_type_id(v, op, i), types[i]));
  return WEIR_OK;
}

weir_status ir_verify_barrier(verifier *v, ir_op op) {
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  WEIR_TRY(ir_verify_count(v, op, -1, n));
  for (uint32_t i = 0; i < n; i++)
    if (result_type_id(v, op, i) != operand_type_id(v, op, i))
      WEIR_TRY(ir_verify_type(v, op, 1, named(v, "result", i), result_type_id(v, op, i),
                              operand_type_id(v, op, i)));
  return WEIR_OK;
}

weir_status ir_verify_tuple(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_count(v, op, -1, 1));
  const ir_type_data *t = result_type(v, op, 0);
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  if (t->kind != IR_TYPE_TUPLE || (uint32_t)t->n_types != n)
    return ir_violation(v, op, 1, "the result is %s, wanted a tuple of %u",
                        ir_verify_type_text(v, result_type_id(v, op, 0)), n);
  for (uint32_t i = 0; i < n; i++)
    WEIR_TRY(
        ir_verify_type(v, op, 1, named(v, "operand", i), operand_type_id(v, op, i), t->types[i]));
  return WEIR_OK;
}

weir_status ir_verify_get_tuple_element(verifier *v, ir_op op) {
  int64_t index;
  WEIR_TRY(ir_verify_count(v, op, 1, 1));
  WEIR_TRY(ir_verify_int(v, op, "index", &index));
  const ir_type_data *t = operand_type(v, op, 0);
  if (t->kind != IR_TYPE_TUPLE)
    return ir_violation(v, op, 0, "the operand is %s, wanted a tuple",
                        ir_verify_type_text(v, operand_type_id(v, op, 0)));
  WEIR_TRY(ir_verify_number(v, op, 1, "index", index, 0, t->n_types - 1));
  return ir_verify_type(v, op, 2, "the result", result_type_id(v, op, 0), t->types[index]);
}

/* ---- ops that apply a region to elements ---- */
weir_status ir_verify_map(verifier *v, ir_op op) {
  ir_ints dims;
  WEIR_TRY(ir_verify_tensors(v, op, -1, 1));
  WEIR_TRY(ir_verify_n_regions(v, op, 1));
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  if (!n) return ir_violation(v, op, 2, "no operands, wanted at least one");
  WEIR_TRY(ir_verify_ints(v, op, "dimensions", &dims));
  const ir_type_data *r = result_type(v, op, 0);
  ir_type type = result_type_id(v, op, 0);
  for (uint32_t i = 0; i < n; i++) WEIR_TRY(ir_verify_shape(v, op, 1, i, r->dims, r->rank));
  WEIR_TRY(ir_verify_length(v, op, 3, "`dimensions`", dims, r->rank));
  for (int32_t d = 0; d < r->rank; d++)
    if (dims.at[d] != d)
      return ir_violation(v, op, 3, "element %d of `dimensions` is %lld, wanted %d", d,
                          (long long)dims.at[d], d);
  WEIR_TRY(ir_verify_scalar_args(v, op, 4, 0, operand_types(v, op), n));
  return ir_verify_scalar_returns(v, op, 4, 0, &type, 1);
}

weir_status ir_verify_reduce(verifier *v, ir_op op) {
  ir_ints dims;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_halves(v, op, 3));
  WEIR_TRY(ir_verify_ints(v, op, "dimensions", &dims));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_range(v, op, 4, "`dimensions`", dims, 0, x->rank - 1));
  WEIR_TRY(ir_verify_unique(v, op, 5, "`dimensions`", dims));
  int32_t rank = 0;
  uint64_t reduced = 0;
  for (int32_t i = 0; i < dims.count; i++) reduced |= (uint64_t)1 << dims.at[i];
  for (int32_t d = 0; d < x->rank; d++)
    if (!(reduced >> d & 1)) want[rank++] = x->dims[d];
  return ir_verify_reduction(v, op, &(ir_reduction_tags){1, 2, 7, 6}, want, rank);
}

weir_status ir_verify_sort(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, -1, -1));
  uint32_t n = ir_op_get(v->m, op)->n_operands;
  if (!n) return ir_violation(v, op, 1, "no operands, wanted at least one");
  WEIR_TRY(ir_verify_n_regions(v, op, 1));
  if (ir_op_get(v->m, op)->n_results != n)
    return ir_violation(v, op, 2, "%u results, wanted %u", ir_op_get(v->m, op)->n_results, n);
  const ir_type_data *x = operand_type(v, op, 0);
  ir_type *like = ARENA_ARRAY(v->scratch, ir_type, 2 * (size_t)n);
  for (uint32_t i = 0; i < n; i++) {
    like[2 * i] = like[2 * i + 1] = operand_type_id(v, op, i);
    WEIR_TRY(
        ir_verify_type(v, op, 2, "a result", result_type_id(v, op, i), operand_type_id(v, op, i)));
    WEIR_TRY(ir_verify_dims(v, op, 3, "an operand", operand_type_id(v, op, i), x->dims, x->rank));
  }
  int64_t dim = ir_op_int(v->m, op, "dimension", -1);
  WEIR_TRY(ir_verify_number(v, op, 4, "dimension", dim, -x->rank, x->rank - 1));
  WEIR_TRY(ir_verify_scalar_args(v, op, 5, 0, like, 2 * n));
  return ir_verify_predicate(v, op, 5, 0);
}

/* ---- weir.carry, weir.repeat (kernel/flatten.h) ---- */
weir_status ir_verify_carry(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  return ir_verify_same(v, op, 0, "the result", result_type_id(v, op, 0),
                        operand_type_id(v, op, 0));
}

weir_status ir_verify_repeat(verifier *v, ir_op op) {
  uint32_t n = ir_op_get(v->m, op)->n_results;
  WEIR_TRY(ir_verify_tensors(v, op, 2 * (int64_t)n + 1, n));
  for (uint32_t i = 0; i < 2 * n; i++)
    WEIR_TRY(ir_verify_same(v, op, 0, named(v, "operand", i), operand_type_id(v, op, i),
                            result_type_id(v, op, i % n)));
  for (uint32_t i = 0; i < n; i++) {
    ir_op made = ir_maker(v->m, ir_operand(v->m, op, i), IR_OP_CARRY);
    if (!made) return ir_violation(v, op, 0, "operand %u, wanted a weir.carry", i);
  }
  return ir_verify_type(v, op, 0, named(v, "operand", 2 * n), operand_type_id(v, op, 2 * n),
                        ir_scalar(v->m, IR_I1));
}

/* ---- weir.round (kernel/promote.h) ---- */
weir_status ir_verify_round(verifier *v, ir_op op) {
  const ir_attr_data *format = ir_op_attr_of(v->m, op, "format", IR_ATTR_TYPE);
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(
      ir_verify_same(v, op, 0, "the result", result_type_id(v, op, 0), operand_type_id(v, op, 0)));
  if (ir_type_at(v->m, ir_operand(v->m, op, 0))->dtype != IR_F32)
    return ir_violation(v, op, 0, "the operand, wanted f32");
  ir_dtype to = format ? ir_type_get(v->m, format->type)->dtype : IR_DTYPE_NONE;
  if (to != IR_BF16 && to != IR_F16) return ir_violation(v, op, 0, "`format`, wanted bf16 or f16");
  return WEIR_OK;
}

/* ---- weir.loop ---- */
typedef struct loop_attrs {
  int64_t extent, slice;
  ir_ints in_dims, in_units, out_dims, out_units;
  uint32_t n_carries;
} loop_attrs;

static weir_status read_loop(verifier *v, ir_op op, loop_attrs *out) {
  WEIR_TRY(ir_verify_int(v, op, "extent", &out->extent));
  WEIR_TRY(ir_verify_int(v, op, "slice", &out->slice));
  WEIR_TRY(ir_verify_ints(v, op, "in_dims", &out->in_dims));
  WEIR_TRY(ir_verify_ints(v, op, "in_units", &out->in_units));
  WEIR_TRY(ir_verify_ints(v, op, "out_dims", &out->out_dims));
  WEIR_TRY(ir_verify_ints(v, op, "out_units", &out->out_units));
  const ir_op_data *data = ir_op_get(v->m, op);
  if (out->extent < 1 || out->slice < 1 || out->slice > out->extent)
    return ir_violation(v, op, 0, "slice %lld of extent %lld, wanted 1 <= slice <= extent",
                        (long long)out->slice, (long long)out->extent);
  WEIR_TRY(ir_verify_length(v, op, 0, "`in_units`", out->in_units, out->in_dims.count));
  WEIR_TRY(ir_verify_length(v, op, 0, "`out_dims`", out->out_dims, data->n_results));
  WEIR_TRY(ir_verify_length(v, op, 0, "`out_units`", out->out_units, data->n_results));
  WEIR_TRY(ir_verify_range(v, op, 0, "`in_units`", out->in_units, 1, INT64_MAX));
  WEIR_TRY(ir_verify_range(v, op, 0, "`out_units`", out->out_units, 1, INT64_MAX));
  for (int32_t i = 0; i < out->out_dims.count; i++) out->n_carries += out->out_dims.at[i] < 0;
  int64_t want = (int64_t)out->in_dims.count + out->n_carries;
  if (data->n_operands == want) return WEIR_OK;
  return ir_violation(v, op, 0, "%u operands for %d inputs and %u carries", data->n_operands,
                      out->in_dims.count, out->n_carries);
}

/* `part` is `whole` itself (dim -1) or its slice: whole, of known sizes, has extent * unit elements
 * along dim, part has slice * unit of them. */
static weir_status check_slice(verifier *v, ir_op op, const loop_attrs *a, const char *what,
                               ir_type whole, ir_type part, int64_t dim, int64_t unit) {
  if (dim == -1) return ir_verify_type(v, op, 0, what, part, whole);
  const ir_type_data *w = ir_type_get(v->m, whole), *p = ir_type_get(v->m, part);
  if (w->kind != IR_TYPE_TENSOR || dim < 0 || dim >= w->rank)
    return ir_violation(v, op, 0, "%s: dimension %lld of %s", what, (long long)dim,
                        ir_verify_type_text(v, whole));
  if (!ir_is_static_tensor(v->m, whole))
    return ir_violation(v, op, 0, "%s: slices of %s, wanted known sizes", what,
                        ir_verify_type_text(v, whole));
  int64_t total, length;
  if (__builtin_mul_overflow(a->extent, unit, &total) || w->dims[dim] != total)
    return ir_violation(v, op, 0, "%s: dimension %lld of %s, wanted length %lld times %lld", what,
                        (long long)dim, ir_verify_type_text(v, whole), (long long)a->extent,
                        (long long)unit);
  if (__builtin_mul_overflow(a->slice, unit, &length) || p->kind != IR_TYPE_TENSOR ||
      p->rank != w->rank || p->dims[dim] != length)
    return ir_violation(v, op, 0, "%s: the slice is %s, wanted length %lld along dimension %lld",
                        what, ir_verify_type_text(v, part), (long long)length, (long long)dim);
  int64_t want[IR_MAX_RANK];
  memcpy(want, w->dims, (size_t)w->rank * sizeof *want);
  want[dim] = length;
  WEIR_TRY(ir_verify_dtype(v, op, 0, what, part, whole));
  return ir_verify_dims(v, op, 0, what, part, want, w->rank);
}

static weir_status check_loop_args(verifier *v, ir_op op, const loop_attrs *a) {
  const ir_op_data *data = ir_op_get(v->m, op);
  const ir_block_data *body = ir_block_get(v->m, data->regions[0]);
  if (body->args.count != data->n_operands + 2)
    return ir_violation(v, op, 0, "the body has %u arguments, wanted %u", body->args.count,
                        data->n_operands + 2);
  for (uint32_t i = 0; i < 2; i++) {
    const ir_type_data *t = ir_type_at(v->m, body->args.at[i]);
    if (t->kind != IR_TYPE_TENSOR || t->rank || t->dtype != IR_I64)
      return ir_violation(v, op, 0, "argument %u of the body is %s, wanted tensor<i64>", i,
                          ir_verify_type_text(v, ir_type_of(v->m, body->args.at[i])));
  }
  for (uint32_t i = 0; i < data->n_operands; i++) {
    bool carry = i >= (uint32_t)a->in_dims.count;
    WEIR_TRY(check_slice(
        v, op, a, named(v, carry ? "the argument of carry operand" : "the argument of operand", i),
        operand_type_id(v, op, i), ir_type_of(v->m, body->args.at[i + 2]),
        carry ? -1 : a->in_dims.at[i], carry ? 1 : a->in_units.at[i]));
  }
  return WEIR_OK;
}

weir_status ir_verify_loop(verifier *v, ir_op op) {
  loop_attrs a = {0};
  WEIR_TRY(ir_verify_n_regions(v, op, 1));
  WEIR_TRY(read_loop(v, op, &a));
  WEIR_TRY(check_loop_args(v, op, &a));
  const ir_op_data *data = ir_op_get(v->m, op),
                   *yield = ir_op_get(v->m, ir_terminator(v->m, data->regions[0]));
  if (yield->n_operands != data->n_results)
    return ir_violation(v, op, 0, "the body yields %u values, wanted %u", yield->n_operands,
                        data->n_results);
  uint32_t carry = (uint32_t)a.in_dims.count;
  for (uint32_t i = 0; i < data->n_results; i++) {
    WEIR_TRY(check_slice(v, op, &a, named(v, "yielded value", i), result_type_id(v, op, i),
                         ir_type_of(v->m, yield->operands[i]), a.out_dims.at[i],
                         a.out_units.at[i]));
    if (a.out_dims.at[i] == -1)
      WEIR_TRY(ir_verify_type(v, op, 0, named(v, "carry result", i), result_type_id(v, op, i),
                              operand_type_id(v, op, carry++)));
  }
  return WEIR_OK;
}
