/* Diagonals in two dimensions of a tensor: which one a mask lets through. */
#ifndef WEIR_PASS_BAND_H
#define WEIR_PASS_BAND_H
#include "pass/build.h"

/* The elements x(.., keep: t + at_keep, .., drop: t + at_drop, ..) for t < length: a tensor without
 * dimension drop, t being dimension keep. */
typedef struct band {
  ir_value x;
  int32_t keep, drop;
  int64_t at_keep, at_drop, length;
} band;

/* Whether the mask is i + a == j + b (wanted IR_EQ; IR_NE: its opposite) on two dimensions,
 * repeated along others. *out: without x. */
bool band_of_mask(ir_module *m, ir_value pred, ir_direction wanted, band *out);

#endif
