#include "pass/band.h"

#include "ir/maps.h"

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
