#include "split/narrow.h"

#include "ir/attrs.h"
#include "split/body.h"
#include "split/indices.h"

ir_type split_narrow_type(ir_module *m, ir_type t, split_pos pos, int64_t slice) {
  return pos.dim < 0 ? t : ir_tensor_with_dim(m, t, pos.dim, slice * pos.unit);
}

/* Replaces entry `dim` of an integer-array attribute, keeping its spelling. */
static void set_entry(ir_module *m, ir_op op, const char *name, int32_t dim, int64_t value) {
  int32_t n;
  const int64_t *old = ir_op_ints(m, op, name, &n);
  if (!old || dim >= n) return;
  int64_t *ints = ARENA_COPY(m->arena, int64_t, old, (size_t)n);
  ints[dim] = value;
  ir_attr_data d = *ir_attr_get(m, ir_op_attr(m, op, name));
  if (d.kind == IR_ATTR_DENSE) d.data = ints, d.splat = false; /* i64 elements */
  d.ints = d.kind == IR_ATTR_I64S ? ints : NULL;
  ir_op_set_attr(m, op, name, ir_attr_new(m, &d), true);
}

static void drop_attr(ir_module *m, ir_op op, const char *name) {
  ir_op_data *d = ir_op_get(m, op);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (strcmp(ir_text(m, d->attrs[i].name), name)) d->attrs[kept++] = d->attrs[i];
  d->n_attrs = kept;
}

static void fix_constant(ir_module *m, ir_op op) {
  ir_attr_data d = *ir_attr_get(m, ir_op_attr(m, op, "value"));
  d.type = ir_type_of(m, ir_result(m, op, 0));
  ir_op_set_attr(m, op, "value", ir_attr_new(m, &d), true);
}

/* Sizes that stand in attributes. */
static void fix_attributes(ir_module *m, ir_op op, const split_factor *f, int64_t slice) {
  split_pos operand = ir_op_get(m, op)->n_operands ? f->operands[0] : SPLIT_ABSENT;
  switch (ir_kind_of(m, op)) {
    case IR_OP_CONSTANT: fix_constant(m, op); return;
    case IR_OP_SLICE: set_entry(m, op, "limit_indices", operand.dim, slice * operand.unit); return;
    case IR_OP_DYNAMIC_SLICE:
      set_entry(m, op, "slice_sizes", operand.dim, slice * operand.unit);
      return;
    case IR_OP_GATHER:
      if (operand.dim >= 0 && f->operands[1].dim < 0)
        set_entry(m, op, "slice_sizes", operand.dim, slice * operand.unit);
      return;
    case IR_OP_BROADCAST: /* new dimensions stand in front */
      set_entry(m, op, "broadcast_sizes", f->results[0].dim, slice * f->results[0].unit);
      return;
    case IR_OP_CUSTOM_CALL:
      drop_attr(m, op, "sdy.sharding_rule");
      return; /* names sizes; says nothing on one device */
    default: return;
  }
}

/* iota along the factor: counted from the slice's start, in integers so that nothing is rounded on
 * the way. */
static ir_value narrow_iota(ir_builder *b, ir_op op, ir_type type, int64_t unit,
                            const split_trip *trip) {
  ir_module *m = b->m;
  ir_type_data wide = *ir_type_get(m, type);
  ir_dtype dtype = wide.dtype;
  wide.dtype = trip->extent <= INT32_MAX / unit ? IR_I32 : IR_I64;
  ir_type t = ir_type_intern(m, &wide);
  ir_value local = ir_build_iota(b, t, ir_op_int(m, op, "iota_dimension", 0));
  ir_value first = trip->start;
  if (unit != 1)
    first = ir_build_binary(b, IR_OP_MULTIPLY, first,
                            ir_build_splat_int(b, ir_scalar(m, IR_I64), unit));
  first = ir_build_convert(b, first, wide.dtype);
  ir_value global = ir_build_binary(b, IR_OP_ADD, local, ir_build_broadcast(b, first, t, NULL));
  return ir_build_convert(b, global, dtype);
}

static bool is_identity(ir_kind kind) {
  return kind == IR_OP_OPTIMIZATION_BARRIER || kind == IR_OP_SDY_SHARDING_CONSTRAINT;
}

static bool has_position(const split_pos *positions, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (positions[i].dim >= 0) return true;
  return false;
}

void split_narrow_op(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                     const ir_value *operands, ir_value *out_results) {
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_type *types = ARENA_ARRAY(m->arena, ir_type, d.n_results);
  for (uint32_t j = 0; j < d.n_results; j++)
    types[j] = split_narrow_type(m, ir_type_of(m, d.first_result + j), f->results[j], trip->slice);
  if (is_identity((ir_kind)d.kind)) {
    for (uint32_t j = 0; j < d.n_results; j++) out_results[j] = operands[j];
    return;
  }
  if (d.kind == IR_OP_WHILE && has_position(f->results, d.n_results)) {
    split_body_narrow(b, op, f, trip, operands, out_results);
    return;
  }
  if (d.kind == IR_OP_IOTA && f->results[0].dim == ir_op_int(m, op, "iota_dimension", -1)) {
    out_results[0] = narrow_iota(b, op, types[0], f->results[0].unit, trip);
    return;
  }
  const ir_value *global = operands;
  bool is_indexed = d.kind == IR_OP_SCATTER && f->operands[0].dim >= 0 && f->operands[2].dim < 0;
  if (is_indexed) {
    ir_value *local = ARENA_COPY(m->arena, ir_value, operands, d.n_operands);
    local[1] = split_scatter_indices(b, op, f->operands[0].dim, trip, operands[1]);
    operands = local;
  }
  ir_op copy = ir_op_new(m, b->block,
                         &(ir_op_desc){.kind = (ir_kind)d.kind,
                                       .name = ir_text(m, d.name),
                                       .n_operands = d.n_operands,
                                       .operands = operands,
                                       .n_results = d.n_results,
                                       .result_types = types,
                                       .n_attrs = d.n_attrs,
                                       .attrs = d.attrs,
                                       .n_regions = d.n_regions,
                                       .location = d.location});
  ir_copy_regions(m, op, copy);
  fix_attributes(m, copy, f, trip->slice);
  for (uint32_t j = 0; j < d.n_results; j++) out_results[j] = ir_result(m, copy, j);
  if (is_indexed) split_scatter_undo(b, op, f->operands[0].dim, trip, global, out_results);
}
