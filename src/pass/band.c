#include "pass/band.h"

#include "ir/maps.h"

/* ---- masks ---- */
/* i + a == j + b on dimensions i and j. */
static bool find_mask(ir_module *m, ir_value pred, ir_direction wanted, band *out) {
  ir_direction direction;
  ir_op op = ir_comparison(m, pred, &direction);
  pass_affine i, j;
  if (!op || direction != wanted || !pass_find_affine(m, ir_operand(m, op, 0), &i) ||
      !pass_find_affine(m, ir_operand(m, op, 1), &j) || i.dim < 0 || j.dim < 0 || i.dim == j.dim ||
      i.step != 1 || j.step != 1)
    return false;
  const int64_t *dims = ir_type_at(m, pred)->dims;
  int64_t shift = j.offset - i.offset;
  *out = (band){.keep = i.dim,
                .drop = j.dim,
                .at_keep = shift > 0 ? shift : 0,
                .at_drop = shift < 0 ? -shift : 0};
  int64_t rows = dims[i.dim] - out->at_keep, columns = dims[j.dim] - out->at_drop;
  out->length = rows < columns ? rows : columns;
  return out->length > 0;
}

bool band_of_mask(ir_module *m, ir_value pred, ir_direction wanted, band *out) {
  ir_op op = ir_maker(m, pred, IR_OP_BROADCAST_IN_DIM);
  if (!op) return find_mask(m, pred, wanted, out);
  int32_t to[IR_MAX_RANK];
  if (!find_mask(m, ir_operand(m, op, 0), wanted, out) || !ir_moved_dims(m, op, to)) return false;
  out->keep = to[out->keep];
  out->drop = to[out->drop];
  if (out->keep == IR_ALONE || out->drop == IR_ALONE) return false;
  const int64_t *wide =
      ir_type_at(m, pred)->dims; /* a mask of length 1 may be repeated along itself */
  return wide[out->keep] >= out->at_keep + out->length &&
         wide[out->drop] >= out->at_drop + out->length;
}

/* ---- gathers ---- */
static bool column_of(ir_module *m, ir_value column, int64_t length, int64_t *out_at) {
  pass_affine a;
  const ir_type_data *t = ir_type_at(m, column);
  if (t->rank != 2 || t->dims[0] != length || t->dims[1] != 1) return false;
  if (!pass_find_affine(m, column, &a) || a.step != 1 || (length > 1 && a.dim != 0)) return false;
  *out_at = a.offset;
  return true;
}

static bool is_plain_gather(ir_module *m, ir_op op, const ir_gather_numbers *n) {
  int32_t rank = ir_type_at(m, ir_operand(m, op, 0))->rank, count;
  const int64_t *sizes = ir_op_ints(m, op, "slice_sizes", &count);
  if (n->collapsed_slice_dims.count != 2 || n->start_index_map.count != 2 ||
      n->operand_batching_dims.count)
    return false;
  if (count != rank || n->index_vector_dim != 1 || n->offset_dims.count != rank - 2) return false;
  for (int32_t i = 0; i < n->offset_dims.count; i++)
    if (i && n->offset_dims.at[i] < n->offset_dims.at[i - 1]) return false;
  for (int32_t d = 0; d < rank; d++) {
    bool point = ir_ints_have(n->collapsed_slice_dims, d);
    if (point != ir_ints_have(n->start_index_map, d) ||
        (!point && sizes[d] != ir_type_at(m, ir_operand(m, op, 0))->dims[d]))
      return false;
  }
  return true;
}

/* Where the gather's result has t. */
static int32_t batch_place(const ir_gather_numbers *n, int32_t rank) {
  for (int32_t d = 0; d < rank; d++)
    if (!ir_ints_have(n->offset_dims, d)) return d;
  return -1;
}

bool band_of_gather(arena *a, ir_module *m, ir_op gather, band *out, int32_t *out_place) {
  ir_gather_numbers n;
  ir_value x = ir_operand(m, gather, 0), indices = ir_operand(m, gather, 1);
  ir_op columns = ir_maker(m, indices, IR_OP_CONCATENATE);
  if (!columns || !ir_gather_dims(a, m, gather, &n) || !is_plain_gather(m, gather, &n))
    return false;
  if (ir_op_get(m, columns)->n_operands != 2 || ir_type_at(m, indices)->rank != 2) return false;
  band s = {.x = x,
            .keep = (int32_t)n.start_index_map.at[0],
            .drop = (int32_t)n.start_index_map.at[1],
            .length = ir_type_at(m, indices)->dims[0]};
  if (!column_of(m, ir_operand(m, columns, 0), s.length, &s.at_keep) ||
      !column_of(m, ir_operand(m, columns, 1), s.length, &s.at_drop))
    return false;
  const int64_t *dims = ir_type_at(m, x)->dims;
  if (s.at_keep < 0 || s.at_drop < 0 || s.length < 1 || s.at_keep + s.length > dims[s.keep] ||
      s.at_drop + s.length > dims[s.drop])
    return false;
  *out = s;
  *out_place = batch_place(&n, ir_type_at(m, ir_result(m, gather, 0))->rank);
  return true;
}
