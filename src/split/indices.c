#include "split/indices.h"

#include "split/window.h"

bool split_is_indexed_dim(const ir_module *m, ir_op op, const ir_gather_numbers *n, int64_t dim) {
  return ir_ints_find(n->collapsed_slice_dims, dim) >= 0 &&
         ir_ints_find(n->start_index_map, dim) >= 0 &&
         ir_fits_i64(ir_type_at(m, ir_operand(m, op, 1))->dtype);
}

/* The index vectors in i64, and which component of them names the dimension. */
typedef struct index_vectors {
  ir_builder *b;
  ir_value at;
  int64_t along; /* the dimension of `at` that they lie along; its rank: each is one number */
  int32_t component, n_components;
} index_vectors;

static index_vectors vectors_of(ir_builder *b, const ir_gather_numbers *n, int64_t dim,
                                ir_value indices) {
  return (index_vectors){.b = b,
                         .at = ir_build_convert(b, indices, IR_I64),
                         .along = n->index_vector_dim,
                         .component = ir_ints_find(n->start_index_map, dim),
                         .n_components = n->start_index_map.count};
}

/* x where the component stands, `at` elsewhere. */
static ir_value in_component(const index_vectors *v, ir_value x) {
  if (v->n_components == 1) return x;
  ir_value positions = ir_build_iota(v->b, ir_type_of(v->b->m, v->at), v->along);
  ir_value is_it =
      ir_build_compare(v->b, "EQ", positions, ir_build_int_like(v->b, v->at, v->component));
  return ir_build_select(v->b, is_it, x, v->at);
}

static ir_value clamped(const index_vectors *v, int64_t highest) {
  return in_component(v, ir_build_clamped(v->b, v->at, 0, highest));
}

static ir_value counted_from(const index_vectors *v, ir_value start) {
  ir_value origin = ir_build_broadcast(v->b, start, ir_type_of(v->b->m, v->at), NULL);
  return in_component(v, ir_build_subtract(v->b, v->at, origin));
}

/* The component alone, without the dimension that vectors lie along. */
static ir_value component_of(const index_vectors *v) {
  ir_module *m = v->b->m;
  const ir_type_data *t = ir_type_at(m, v->at);
  if (v->along == t->rank) return v->at;
  ir_value x = ir_build_slice_dim(v->b, v->at, v->along, v->component, 1);
  return ir_build_reshape(v->b, x, ir_tensor_without_dim(m, ir_type_of(m, x), v->along));
}

/* The trip's indices as the value at this position counts them. What was read before is read again
 * if the value is shifted: it is the same. */
static split_trip counted_on(ir_builder *b, const split_trip *trip, split_pos pos) {
  split_trip t = *trip;
  if (t.begin + pos.offset || pos.mirrored) t.lo = t.start = split_window_start(b, trip, pos);
  return t;
}

/* One window: XLA makes a read and a write of it, and takes the read for one of what the slice is a
 * slice of, at the sum of both positions: from beyond its end, if the index is out of bounds. */
static bool is_one_window(const index_vectors *v) {
  const ir_type_data *t = ir_type_at(v->b->m, v->at);
  for (int32_t i = 0; i < t->rank; i++)
    if (i != v->along && t->dims[i] != 1) return false;
  return true;
}

static index_vectors scatter_vectors(ir_builder *b, ir_op op, split_pos pos, ir_value indices) {
  ir_gather_numbers n;
  CTX_CHECK(b->m->ctx, ir_gather_dims(b->m->arena, b->m, op, &n));
  return vectors_of(b, &n, pos.dim, indices);
}

ir_value split_scatter_indices(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                               ir_value indices) {
  index_vectors v = scatter_vectors(b, op, pos, indices);
  v.at = counted_from(&v, counted_on(b, trip, pos).start);
  return is_one_window(&v) ? clamped(&v, trip->slice - 1) : v.at;
}

/* i1: whether the one index is in the slice. */
static ir_value is_in_slice(const index_vectors *v, const split_trip *trip) {
  ir_module *m = v->b->m;
  ir_type index = ir_scalar(m, IR_I64);
  ir_value at = ir_build_reshape(v->b, component_of(v), index), origin = trip->start;
  ir_value end = ir_build_add(v->b, origin, ir_build_splat_int(v->b, index, trip->slice));
  return ir_build_binary(v->b, IR_OP_AND, ir_build_compare(v->b, "GE", at, origin),
                         ir_build_compare(v->b, "LT", at, end));
}

void split_scatter_undo(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                        const ir_value *operands, ir_value *in_out_results) {
  int32_t n = ir_op_get(b->m, op)->n_results;
  index_vectors v = scatter_vectors(b, op, pos, operands[n]);
  if (!is_one_window(&v)) return;
  split_trip here = counted_on(b, trip, pos);
  ir_value inside = is_in_slice(&v, &here);
  for (int32_t i = 0; i < n; i++) {
    ir_type flags = ir_tensor_with_dtype(b->m, ir_type_of(b->m, in_out_results[i]), IR_I1);
    ir_value mask = ir_build_broadcast(b, inside, flags, NULL);
    in_out_results[i] = ir_build_select(b, mask, in_out_results[i], operands[i]);
  }
}

/* i1 of gather's result: whether its element is read from what this trip counts. */
static ir_value reads_slice(ir_builder *b, const ir_gather_numbers *n, const split_trip *trip,
                            ir_value indices, ir_type result) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, indices), index = ir_scalar(m, IR_I64);
  ir_value end = ir_build_add(b, trip->start, ir_build_splat_int(b, index, trip->slice));
  ir_value above = ir_build_compare(b, "GE", indices, ir_build_broadcast(b, trip->lo, type, NULL));
  ir_value below = ir_build_compare(b, "LT", indices, ir_build_broadcast(b, end, type, NULL));
  int64_t to[IR_MAX_RANK];
  int32_t count = 0;
  for (int32_t i = 0; i < ir_type_get(m, result)->rank; i++)
    if (ir_ints_find(n->offset_dims, i) < 0) to[count++] = i;
  return ir_build_broadcast(b, ir_build_binary(b, IR_OP_AND, above, below),
                            ir_tensor_with_dtype(m, result, IR_I1), to);
}

ir_value split_gather_step(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           ir_value x, ir_value indices, ir_value carry) {
  ir_gather_numbers n;
  CTX_CHECK(b->m->ctx, ir_gather_dims(b->m->arena, b->m, op, &n));
  int64_t extent = ir_type_at(b->m, ir_operand(b->m, op, 0))->dims[pos.dim];
  index_vectors v = vectors_of(b, &n, pos.dim, indices);
  split_trip here = counted_on(b, trip, pos);
  v.at = clamped(&v, extent - 1);
  ir_value mine = reads_slice(b, &n, &here, component_of(&v), ir_type_of(b->m, carry));
  ir_value own = counted_from(&v, here.start);
  ir_type type = ir_type_of(b->m, ir_result(b->m, op, 0));
  ir_op read = ir_build_again(b, op, (ir_value[]){x, own}, &type);
  return ir_build_select(b, mine, ir_result(b->m, read, 0), carry);
}
