#include "pass/order.h"

#include "ir/attrs.h"
#include "pass/pass.h"

enum { MOST_STEPS = 64 };

bool pass_orders_integer(ir_dtype d) {
  switch (d) {
    case IR_I8:
    case IR_I16:
    case IR_I32:
    case IR_I64:
    case IR_UI8:
    case IR_UI16:
    case IR_UI32:
    case IR_UI64: return true;
    default: return false;
  }
}

const ir_attr_data *pass_scalar_constant(const ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_CONSTANT);
  if (!op || ir_type_at(m, v)->rank) return NULL;
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, op, "value"));
  return d->kind == IR_ATTR_DENSE ? d : NULL;
}

typedef struct sides {
  ir_value left, right; /* arguments */
  int steps;            /* left to take */
} sides;

/* x is an exact function of the left argument and y the same function of the right one. */
static bool mirrors(const ir_module *m, sides *s, ir_value x, ir_value y) {
  if (s->steps-- <= 0) return false;
  if (x == s->left) return y == s->right;
  ir_op a = ir_value_get(m, x)->op, b = ir_value_get(m, y)->op;
  if (!a || !b || ir_kind_of(m, a) != ir_kind_of(m, b) || !ir_attrs_equal(m, a, b)) return false;
  if (pass_scalar_constant(m, x)) return pass_scalar_constant(m, y) != NULL;
  if (!ir_is_bitwise(ir_kind_of(m, a)) || ir_type_at(m, x)->rank) return false;
  const ir_op_data *d = ir_op_get(m, a);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!mirrors(m, s, ir_operand(m, a, i), ir_operand(m, b, i))) return false;
  return true;
}

static bool is_zero(const ir_module *m, ir_value v, bool also_negative) {
  const ir_attr_data *c = pass_scalar_constant(m, v);
  size_t bytes = (size_t)ir_dtype_bytes(ir_type_at(m, v)->dtype);
  uint64_t bits = 0;
  if (!c || bytes > sizeof bits) return false;
  memcpy(&bits, c->data, bytes);
  uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
  return bits == 0 || (also_negative && bits == sign);
}

static bool compares(const ir_module *m, ir_value v, ir_direction wanted, ir_value *out_x,
                     ir_value *out_y) {
  ir_op op = ir_value_get(m, v)->op;
  ir_direction direction;
  ir_compare_type type;
  if (!op || ir_kind_of(m, op) != IR_OP_COMPARE) return false;
  if (!ir_compare_kind(m, op, &direction, &type) || direction != wanted) return false;
  *out_x = ir_operand(m, op, 0);
  *out_y = ir_operand(m, op, 1);
  return type == IR_COMPARE_DEFAULT || type == IR_COMPARE_FLOAT;
}

static bool is_positive(const ir_module *m, ir_value constant) {
  size_t bytes = (size_t)ir_dtype_bytes(ir_type_at(m, constant)->dtype);
  return !(((const unsigned char *)pass_scalar_constant(m, constant)->data)[bytes - 1] & 0x80);
}

/* v is x, but that all NaNs are one and all zeros +0, or either: select(x == 0, +0, ..), select(x
 * != x, constant, ..) around x. *out_last: the NaN comes after all numbers. */
static bool makes_one(const ir_module *m, ir_value v, ir_value x, bool *out_last) {
  *out_last = false;
  for (int steps = 0; v != x; steps++) {
    ir_op op = ir_value_get(m, v)->op;
    ir_value a, b;
    if (!op || ir_kind_of(m, op) != IR_OP_SELECT || steps > 4) return false;
    ir_value pred = ir_operand(m, op, 0), constant = ir_operand(m, op, 1);
    bool zeros = compares(m, pred, IR_EQ, &a, &b) && a == x && is_zero(m, b, true) &&
                 is_zero(m, constant, false);
    bool nans =
        compares(m, pred, IR_NE, &a, &b) && a == x && b == x && pass_scalar_constant(m, constant);
    if (!zeros && !nans) return false;
    *out_last |= nans && is_positive(m, constant);
    v = ir_operand(m, op, 2);
  }
  return true;
}

/* The order that a compare of the comparator makes, x before y. */
static bool read_compare(const ir_module *m, const pass_sorted *s, ir_op compare, pass_order *out) {
  ir_direction direction;
  ir_compare_type type;
  if (ir_kind_of(m, compare) != IR_OP_COMPARE || !ir_compare_kind(m, compare, &direction, &type) ||
      (direction != IR_LT && direction != IR_GT))
    return false;
  ir_value x = ir_operand(m, compare, 0), y = ir_operand(m, compare, 1);
  ir_dtype dtype = ir_type_at(m, x)->dtype;
  bool as_floats = ir_is_common_float(dtype) && type != IR_COMPARE_TOTALORDER;
  if (!(pass_orders_integer(dtype) || ir_is_common_float(dtype)) || (as_floats && !s->approximate))
    return false;
  const ir_block_data *body = ir_block_get(m, s->comparator);
  for (uint32_t key = 0; key < s->n; key++) {
    ir_value left = body->args.at[2 * key], right = body->args.at[2 * key + 1];
    sides forth = {left, right, MOST_STEPS}, back = {right, left, MOST_STEPS};
    bool is_mirrored = mirrors(m, &forth, x, y);
    if (!is_mirrored && !mirrors(m, &back, x, y)) continue;
    *out = (pass_order){.key = key,
                        .by = is_mirrored ? x : y,
                        .descending = (direction == IR_GT) == is_mirrored,
                        .as_floats = as_floats};
    out->is_identity = out->by == left;
    out->keeps_value = makes_one(m, out->by, left, &out->nans_last);
    return true;
  }
  return false;
}

bool pass_read_order(const ir_module *m, const pass_sorted *s, pass_order *out) {
  const ir_block_data *body = ir_block_get(m, s->comparator);
  if (body->args.count != 2 * s->n || !body->ops.count) return false;
  const ir_op_data *last = ir_op_get(m, ir_terminator(m, s->comparator));
  if (last->n_operands != 1) return false;
  ir_op compare = ir_value_get(m, last->operands[0])->op;
  return compare && read_compare(m, s, compare, out);
}
