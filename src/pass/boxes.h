/* Parts of values that are boxes, and which part of an op's operands makes a part of its result.
 * The one place where passes that push reads through ops ask that. */
#ifndef WEIR_PASS_BOXES_H
#define WEIR_PASS_BOXES_H
#include "ir/ir.h"

/* Of every dimension the indices lo <= i < hi; lo is NULL: all of them. */
typedef struct pass_box {
  int64_t *lo, *hi;
} pass_box;

static const pass_box PASS_WHOLE = {NULL, NULL};

typedef struct pass_boxes {
  arena *a;
  ir_module *m;
  ir_type *type;    /* by value: as it was before; NULL: as it is */
  int32_t ***index; /* by op and operand: its dimensions' indices (ir/maps.h), as they were before;
                       NULL: as they are */
} pass_boxes;

/* Of values as they are now, whatever becomes of them. */
pass_boxes pass_boxes_new(arena *a, ir_module *m);

static inline const ir_type_data *pass_box_type(const pass_boxes *f, ir_value v) {
  return ir_type_get(f->m, f->type ? f->type[v] : ir_type_of(f->m, v));
}

/* Of a value of this type: all of it, with bounds. */
pass_box pass_box_of_all(const pass_boxes *f, const ir_type_data *t);
void pass_box_set(pass_box *b, int32_t dim, int64_t lo, int64_t hi);
bool pass_box_is_all(const ir_type_data *t, pass_box b, int32_t d);
bool pass_box_is_cut(const ir_type_data *t, pass_box b);
bool pass_box_is_empty(const ir_type_data *t, pass_box b);
bool pass_box_is_same(const ir_type_data *t, pass_box a, pass_box b);
ir_type pass_type_of_box(const pass_boxes *f, ir_value v, pass_box b);

/* What of operand i makes a box of the op's result; it may be nothing. False: nothing that is a
 * box, or not known. */
bool pass_box_of_operand(const pass_boxes *f, ir_op op, uint32_t i, pass_box of, pass_box *out);

#endif
