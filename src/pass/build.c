/* Builders and questions that the rewriting passes share. See build.h. */
#include "pass/build.h"

#include "ir/maps.h"
#include "machine/tuned.h"

ir_value pass_build_dot(ir_builder *b, ir_value lhs, ir_value rhs, const ir_dot_numbers *n,
                        ir_dtype dtype) {
  ir_module *m = b->m;
  const ir_type_data *l = ir_type_at(m, lhs), *r = ir_type_at(m, rhs);
  int64_t dims[2 * IR_MAX_RANK];
  int32_t rank = ir_dot_result_dims(l, r, n, dims);
  CTX_CHECK(m->ctx, n->lhs_batch.count == n->rhs_batch.count);
  CTX_CHECK(m->ctx, rank == l->rank + r->rank - n->lhs_batch.count - 2 * n->lhs_contract.count);
  ir_type type = ir_tensor(m, dtype, rank, dims);
  ir_named_attr attr = ir_property(m, "dot_dimension_numbers", ir_dot_dims_attr(m, n));
  return ir_build(b, IR_OP_DOT_GENERAL, 2, (ir_value[]){lhs, rhs}, type, 1, &attr);
}

ir_value pass_build_triangular_solve(ir_builder *b, ir_value a, ir_value rhs, bool lower,
                                     bool transposed, bool unit_diagonal) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, rhs);
  CTX_CHECK(m->ctx, ir_type_at(m, a)->rank == ir_type_at(m, rhs)->rank);
  ir_attr transpose = ir_attr_other(
      m, transposed ? "#stablehlo<transpose TRANSPOSE>" : "#stablehlo<transpose NO_TRANSPOSE>");
  ir_named_attr attrs[] = {ir_property(m, "left_side", ir_attr_bool(m, true)),
                           ir_property(m, "lower", ir_attr_bool(m, lower)),
                           ir_property(m, "transpose_a", transpose),
                           ir_property(m, "unit_diagonal", ir_attr_bool(m, unit_diagonal))};
  return ir_build(b, IR_OP_TRIANGULAR_SOLVE, 2, (ir_value[]){a, rhs}, type, 4, attrs);
}

ir_value pass_build_column(ir_builder *b, ir_value x) {
  int64_t dims[IR_MAX_RANK];
  ir_type_data t = *ir_type_at(b->m, x);
  CTX_CHECK(b->m->ctx, t.rank < IR_MAX_RANK);
  memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
  dims[t.rank] = 1;
  return ir_build_reshape(b, x, ir_tensor(b->m, t.dtype, t.rank + 1, dims));
}

bool pass_find_entries(arena *scratch, ir_module *m, ir_op op, pass_entries *out) {
  const ir_op_data *d = ir_op_get(m, op);
  bool gathers = d->kind == IR_OP_GATHER;
  if ((!gathers && (d->kind != IR_OP_SCATTER || d->n_operands != 3)) || !pass_is_static(m, op))
    return false;
  *out = (pass_entries){.m = m,
                        .x = d->operands[0],
                        .indices = d->operands[1],
                        .part = gathers ? d->first_result : d->operands[2]};
  out->puts = !gathers && ir_is_putting(m, d->regions[0]);
  if (!gathers) out->kind = ir_reducer_kind(m, d->regions[0]);
  return ir_gather_dims(scratch, m, op, &out->n);
}

ir_value pass_build_put_rows(ir_builder *b, ir_value x, int64_t dim, ir_value at, ir_value rows) {
  ir_module *m = b->m;
  CTX_CHECK(m->ctx, ir_type_at(m, at)->rank == 1);
  int64_t others[IR_MAX_RANK];
  ir_type scalar = ir_scalar(m, ir_type_at(m, x)->dtype);
  ir_gather_numbers n = ir_numbers_of_rows(ir_type_at(m, x)->rank, &dim, others);
  ir_op op = ir_build_scatter(b, x, pass_build_column(b, at), rows, &n);
  ir_block body = ir_region_block(m, op, 0);
  ir_block_arg(m, body, scalar);
  ir_value last = ir_block_arg(m, body, scalar);
  ir_build_return(&(ir_builder){m, body, b->location}, IR_OP_RETURN, &last, 1);
  return ir_result(m, op, 0);
}

/* An op that moves x, as its one attribute, a list of dimensions, says. */
static ir_value build_move(ir_builder *b, ir_kind kind, ir_value x, ir_type type, const char *name,
                           ir_ints dims) {
  ir_named_attr attr = ir_property(b->m, name, ir_attr_i64s(b->m, dims.at, dims.count));
  return ir_build(b, kind, 1, &x, type, 1, &attr);
}

ir_value pass_build_moved(ir_builder *b, ir_value x, int64_t from, int64_t to) {
  int64_t permutation[IR_MAX_RANK];
  int32_t rank = ir_type_at(b->m, x)->rank;
  CTX_CHECK(b->m->ctx, from < rank && to < rank);
  for (int32_t i = 0, old = 0; i < rank; i++) {
    if (old == from) old++;
    permutation[i] = i == to ? from : old++;
  }
  return ir_build_transpose(b, x, permutation);
}

ir_value pass_build_reverse(ir_builder *b, ir_value x, ir_ints dims) {
  CTX_CHECK(b->m->ctx, dims.count <= ir_type_at(b->m, x)->rank);
  return build_move(b, IR_OP_REVERSE, x, ir_type_of(b->m, x), "dimensions", dims);
}

ir_value pass_build_like(ir_builder *b, ir_op op, const ir_value *operands, ir_type type) {
  CTX_CHECK(b->m->ctx, ir_op_get(b->m, op)->n_results == 1);
  ir_op_desc desc = ir_op_desc_of(b->m, op);
  desc.operands = operands;
  desc.n_results = 1;
  desc.result_types = &type;
  desc.n_regions = 0;
  ir_op made = ir_op_new(b->m, b->block, &desc);
  return ir_result(b->m, made, 0);
}

/* ---- what was flattened ---- */
enum { DEEPEST_CHAIN = 24 };

/* Done element by element: what isn't as large as the result is a scalar. */
static bool is_elementwise(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  bool is = ir_is_elementwise(d->kind) && d->n_results == 1;
  for (uint32_t i = 0; is && i < d->n_operands; i++)
    is = ir_same_dims(ir_type_at(m, d->operands[i]), ir_type_at(m, d->first_result)) ||
         !ir_type_at(m, d->operands[i])->rank;
  return is;
}

/* What v was flattened from; IR_NONE: it wasn't. */
static ir_value flattened_from(const ir_module *m, ir_value v, int steps) {
  ir_op op = steps ? ir_value_get(m, v)->op : IR_NONE;
  ir_value found = IR_NONE;
  if (!op) return IR_NONE;
  if (ir_kind_of(m, op) == IR_OP_RESHAPE) {
    ir_value x = ir_operand(m, op, 0);
    return ir_type_at(m, x)->rank > ir_type_at(m, v)->rank ? x : IR_NONE;
  }
  if (!is_elementwise(m, op)) return IR_NONE;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands && !found; i++)
    if (ir_type_at(m, ir_operand(m, op, i))->rank)
      found = flattened_from(m, ir_operand(m, op, i), steps - 1);
  return found;
}

/* One element, everywhere. */
static bool is_splat(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_BROADCAST_IN_DIM &&
         ir_element_count(m, ir_type_of(m, ir_operand(m, op, 0))) == 1;
}

static ir_value with_shape(ir_builder *b, ir_value v, ir_value shape, ir_map *made, int steps);

static ir_value chain_with_shape(ir_builder *b, ir_op op, ir_type type, ir_value shape,
                                 ir_map *made, int steps) {
  ir_module *m = b->m;
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_value operands[4];
  CTX_CHECK(m->ctx, n <= sizeof operands / sizeof *operands);
  for (uint32_t i = 0; i < n; i++) {
    operands[i] = ir_operand(m, op, i);
    if (ir_type_at(m, operands[i])->rank)
      operands[i] = with_shape(b, operands[i], shape, made, steps - 1);
  }
  return pass_build_like(b, op, operands, type);
}

/* v in the dimensions of `shape`. */
static ir_value with_shape(ir_builder *b, ir_value v, ir_value shape, ir_map *made, int steps) {
  ir_module *m = b->m;
  if (ir_map_has(made, v)) return ir_map_get(made, v);
  ir_dtype dtype = ir_type_at(m, v)->dtype;
  ir_type type = ir_tensor_with_dtype(m, ir_type_of(m, shape), dtype);
  ir_op op = ir_value_get(m, v)->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
  ir_value x = op && ir_op_get(m, op)->n_operands ? ir_operand(m, op, 0) : IR_NONE, out;
  if (kind == IR_OP_RESHAPE && ir_same_dims(ir_type_at(m, x), ir_type_at(m, shape))) out = x;
  else if (op && is_splat(m, op))
    out = ir_build_broadcast(b, ir_build_reshape(b, x, ir_scalar(m, dtype)), type, NULL);
  else if (op && steps && ir_op_get(m, op)->n_operands <= 4 && is_elementwise(m, op))
    out = chain_with_shape(b, op, type, shape, made, steps);
  else out = ir_build_reshape(b, v, type);
  CTX_CHECK(m->ctx, ir_same_dims(ir_type_at(m, out), ir_type_at(m, shape)));
  ir_map_set(made, v, out);
  return out;
}

ir_value pass_build_unflattened(ir_builder *b, ir_value v) {
  ir_value shape = flattened_from(b->m, v, DEEPEST_CHAIN);
  if (!shape) return v;
  arena *a = arena_create(b->m->ctx);
  ir_value made = with_shape(b, v, shape, ir_map_new(a, b->m), DEEPEST_CHAIN);
  arena_destroy(a);
  return made;
}

/* The sort that everything comes from but scalars; IR_NONE: there are others, or none. */
static ir_value sorted_in(const ir_module *m, ir_value v, int *steps) {
  ir_op op = ir_value_get(m, v)->op;
  ir_value found = IR_NONE;
  if (!op || (*steps)-- <= 0) return IR_NONE;
  if (ir_kind_of(m, op) == IR_OP_SORT) {
    bool whole = ir_op_get(m, op)->n_operands == 1 && ir_type_at(m, v)->rank == 1;
    return whole ? v : IR_NONE;
  }
  if (!is_elementwise(m, op)) return IR_NONE;
  for (ir_value x, i = 0; (x = ir_operand_at(m, op, i)); i++) {
    ir_value sorted;
    ir_op def = ir_value_get(m, x)->op;
    if (!ir_type_at(m, x)->rank || (def && is_splat(m, def))) continue;
    sorted = sorted_in(m, x, steps);
    if (!sorted || (found && sorted != found)) return IR_NONE;
    found = sorted;
  }
  return found;
}

ir_value pass_build_unsorted(ir_builder *b, ir_value v) {
  int steps = DEEPEST_CHAIN;
  ir_value sorted = sorted_in(b->m, v, &steps);
  if (!sorted) return v;
  arena *a = arena_create(b->m->ctx);
  ir_map *made = ir_map_new(a, b->m);
  ir_value x = ir_operand(b->m, ir_value_get(b->m, sorted)->op, 0);
  ir_map_set(made, sorted, x);
  ir_value out = with_shape(b, v, x, made, DEEPEST_CHAIN);
  arena_destroy(a);
  return out;
}

/* ---- counts ---- */
enum { STEPS = 16 }; /* ops that are looked through */

/* Counts in v do not wrap around; narrow ones are not looked at. */
static bool fits(const ir_module *m, ir_value v, pass_affine a) {
  ir_dtype dtype = ir_type_at(m, v)->dtype;
  return ir_is_integer(dtype) && ir_dtype_bytes(dtype) >= 4 && a.last <= ir_highest(dtype) &&
         a.offset >= ir_lowest(dtype);
}

static bool find_digit(ir_module *m, ir_value v, int steps, pass_affine *out);

static bool affine_moved(ir_module *m, ir_op op, int steps, pass_affine *out) {
  int32_t to[IR_MAX_RANK];
  if (!find_digit(m, ir_operand(m, op, 0), steps, out)) return false;
  if (out->dim < 0) return true;
  if (!ir_moved_dims(m, op, to)) return false;
  out->dim = to[out->dim];
  return out->dim != IR_ALONE;
}

static bool affine_sum(ir_module *m, ir_op op, int steps, pass_affine *out) {
  pass_affine y;
  if (!find_digit(m, ir_operand(m, op, 0), steps, out) ||
      !find_digit(m, ir_operand(m, op, 1), steps, &y) || (out->dim >= 0 && y.dim >= 0))
    return false;
  if (ir_kind_of(m, op) == IR_OP_SUBTRACT) {
    if (y.dim >= 0) return false;
    if (__builtin_sub_overflow(0, y.offset, &y.offset)) return false;
    y.last = y.offset;
  }
  int64_t offset = out->offset, last = out->last;
  if (y.dim >= 0) *out = y;
  return !__builtin_add_overflow(offset, y.offset, &out->offset) &&
         !__builtin_add_overflow(last, y.last, &out->last);
}

/* By a number above 0. */
static bool affine_product(ir_module *m, ir_op op, int steps, pass_affine *out) {
  pass_affine y;
  if (!find_digit(m, ir_operand(m, op, 0), steps, out) ||
      !find_digit(m, ir_operand(m, op, 1), steps, &y))
    return false;
  if (out->dim < 0) {
    pass_affine x = *out;
    *out = y, y = x;
  }
  return y.dim < 0 && y.offset > 0 && !__builtin_mul_overflow(out->step, y.offset, &out->step) &&
         !__builtin_mul_overflow(out->offset, y.offset, &out->offset) &&
         !__builtin_mul_overflow(out->last, y.offset, &out->last);
}

/* By a number above 0. What is counted by the outermost digit can be counted on in any base. */
static bool digit_of(ir_module *m, ir_op op, int steps, pass_affine *out) {
  int64_t by, end;
  if (!find_digit(m, ir_operand(m, op, 0), steps, out) || out->step != 1 || out->offset ||
      !ir_splat_int(m, ir_operand(m, op, 1), &by) || by <= 0 ||
      __builtin_mul_overflow(out->unit, out->base, &end) || (end < out->extent && out->base % by))
    return false;
  if (ir_kind_of(m, op) == IR_OP_DIVIDE) {
    out->base = (out->base - 1) / by + 1;
    if (__builtin_mul_overflow(out->unit, by, &out->unit)) return false;
  } else if (by < out->base) {
    out->base = by;
  }
  out->last = out->base - 1;
  return true;
}

static bool affine_of_op(ir_module *m, ir_op op, int steps, pass_affine *out) {
  switch (ir_kind_of(m, op)) {
    case IR_OP_IOTA: {
      int64_t dim = ir_op_int(m, op, "iota_dimension", 0);
      int64_t extent = ir_type_at(m, ir_result(m, op, 0))->dims[dim];
      *out = (pass_affine){(int32_t)dim, 1, 0, extent - 1, 1, extent, extent};
      return true;
    }
    case IR_OP_RESHAPE:
    case IR_OP_BROADCAST_IN_DIM: return affine_moved(m, op, steps, out);
    case IR_OP_CONVERT: return find_digit(m, ir_operand(m, op, 0), steps, out);
    case IR_OP_ADD:
    case IR_OP_SUBTRACT: return affine_sum(m, op, steps, out);
    case IR_OP_MULTIPLY: return affine_product(m, op, steps, out);
    case IR_OP_DIVIDE:
    case IR_OP_REMAINDER: return digit_of(m, op, steps, out);
    default: return false;
  }
}

static bool find_digit(ir_module *m, ir_value v, int steps, pass_affine *out) {
  int64_t number;
  if (!steps || !ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  if (ir_splat_int(m, v, &number)) {
    *out = (pass_affine){-1, 1, number, number, 1, 1, 1};
    return true;
  }
  ir_op op = ir_value_get(m, v)->op;
  return op && affine_of_op(m, op, steps - 1, out) && fits(m, v, *out);
}

bool pass_find_digit(ir_module *m, ir_value v, pass_affine *out) {
  return find_digit(m, v, STEPS, out);
}

bool pass_find_affine(ir_module *m, ir_value v, pass_affine *out) {
  return pass_find_digit(m, v, out) && out->unit == 1 && out->base == out->extent;
}

ir_value pass_index_component(const ir_module *m, ir_value indices, const ir_gather_numbers *n,
                              int32_t i) {
  ir_op op = ir_maker(m, indices, IR_OP_CONCATENATE);
  if (n->start_index_map.count == 1) return indices;
  bool joined = op && ir_op_int(m, op, "dimension", -1) == n->index_vector_dim &&
                ir_op_get(m, op)->n_operands == (uint32_t)n->start_index_map.count;
  return joined ? ir_operand(m, op, (uint32_t)i) : IR_NONE;
}

int64_t pass_counted_dim(ir_module *m, ir_value v) {
  pass_affine a;
  return pass_find_affine(m, v, &a) && !a.offset && a.step == 1 ? a.dim : -1;
}

bool pass_find_scaling(const ir_module *m, ir_op op, ir_value *out_x, pass_scale *out) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->n_results != 1 || d->n_attrs) return false;
  bool real = ir_is_float(ir_type_at(m, d->first_result)->dtype);
  *out = (pass_scale){(ir_kind)d->kind, IR_NONE};
  *out_x = d->operands[0];
  switch ((ir_kind)d->kind) {
    case IR_OP_NEGATE: return true;
    case IR_OP_MULTIPLY:
      if (ir_is_one_number(m, d->operands[0])) {
        *out_x = d->operands[1];
        out->by = d->operands[0];
        return true;
      }
      break;
    case IR_OP_DIVIDE:
      if (!real) return false;
      break;
    default: return false;
  }
  out->by = d->operands[1];
  return ir_is_one_number(m, out->by);
}

ir_value pass_build_scaled(ir_builder *b, ir_value x, const pass_scale *s) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, x);
  if (s->kind == IR_OP_NEGATE) return ir_build_unary(b, IR_OP_NEGATE, x);
  ir_op op = ir_value_get(m, s->by)->op;
  ir_value by;
  if (ir_kind_of(m, op) == IR_OP_CONSTANT)
    by = ir_build_constant(b, type, ir_attr_get(m, ir_op_attr(m, op, "value"))->data);
  else if (!ir_type_get(m, type)->rank) by = ir_operand(m, op, 0);
  else by = ir_build_broadcast(b, ir_operand(m, op, 0), type, (int64_t[]){0});
  return ir_build_binary(b, s->kind, x, by);
}

bool pass_multiplies_whole(const weir_options *o, ir_dtype dtype) {
  bool is_cpu = !o->platform || !strcmp(o->platform, "cpu");
  return dtype == IR_F64 || (dtype == IR_F32 && is_cpu);
}

bool pass_is_plain_product(const ir_module *m, ir_op dot) {
  ir_dtype d = ir_type_at(m, ir_result(m, dot, 0))->dtype;
  return ir_is_real(d) && ir_type_at(m, ir_operand(m, dot, 0))->dtype == d &&
         ir_type_at(m, ir_operand(m, dot, 1))->dtype == d &&
         ir_is_static_tensor(m, ir_type_of(m, ir_result(m, dot, 0)));
}

int64_t pass_small_bytes(const weir_options *o) {
  return o->memory_limit_bytes ? o->memory_limit_bytes / TUNED_SMALL_SHARE
                               : o->tensor_size_threshold_bytes;
}

bool pass_is_large(const pass_rewrite *r, ir_value v) {
  return ir_value_bytes(r->m, v) > r->small_bytes;
}

/* ---- branches ---- */
/* Whether this branch is the one, of an if or of a case with another behind it. */
static ir_value is_asked_for(ir_builder *b, ir_op op, uint32_t branch) {
  ir_value index = ir_operand(b->m, op, 0);
  if (ir_kind_of(b->m, op) == IR_OP_IF) return index;
  return ir_build_compare(b, "EQ", index, ir_build_int_like(b, index, branch));
}

static ir_value select_by(ir_builder *b, ir_value is, ir_value on_true, ir_value on_false) {
  if (on_true == on_false) return on_true;
  ir_type flags = ir_tensor_with_dtype(b->m, ir_type_of(b->m, on_true), IR_I1);
  if (ir_type_get(b->m, flags)->rank) is = ir_build_broadcast(b, is, flags, NULL);
  return ir_build_select(b, is, on_true, on_false);
}

ir_value pass_build_choice(ir_builder *b, ir_op op, const ir_value *of) {
  uint32_t r = ir_op_get(b->m, op)->n_regions - 1;
  ir_value chosen = of[r];
  while (r-- > 0) chosen = select_by(b, is_asked_for(b, op, r), of[r], chosen);
  return chosen;
}
