#include "ir/fold.h"

#include <math.h>

#include "ir/attrs.h"
#include "ir/floats.h"

bool ir_is_splat_constant(const ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_CONSTANT);
  const ir_attr_data *d = op ? ir_op_attr_of(m, op, "value", IR_ATTR_DENSE) : NULL;
  return d && d->splat;
}

bool ir_is_one_number(const ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_BROADCAST_IN_DIM);
  return op ? ir_type_at(m, ir_operand(m, op, 0))->rank == 0 : ir_is_splat_constant(m, v);
}

enum { STEPS = 16 }; /* ops that are looked through */

/* The one element of a constant; NULL if it has several different ones. */
static const ir_attr_data *element_of(const ir_module *m, ir_op op) {
  const ir_attr_data *d = ir_op_attr_of(m, op, "value", IR_ATTR_DENSE);
  if (!d || !ir_is_static_tensor(m, d->type)) return NULL;
  return d->splat || ir_element_count(m, d->type) == 1 ? d : NULL;
}

const ir_attr_data *ir_splat_element(const ir_module *m, ir_value v, int steps) {
  for (int i = 0; i < steps; i++) {
    ir_op op = ir_value_get(m, v)->op;
    switch (op ? ir_kind_of(m, op) : IR_OP_UNKNOWN) {
      case IR_OP_CONSTANT: return element_of(m, op);
      case IR_OP_BROADCAST_IN_DIM:
      case IR_OP_BROADCAST:
      case IR_OP_RESHAPE:
      case IR_OP_TRANSPOSE: v = ir_operand(m, op, 0); continue;
      default: return NULL;
    }
  }
  return NULL;
}

bool ir_is_zero(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  for (int i = 0; op && i < STEPS; op = ir_value_get(m, v)->op, i++) {
    if (ir_kind_of(m, op) != IR_OP_CONVERT && ir_kind_of(m, op) != IR_OP_BROADCAST_IN_DIM) break;
    v = ir_operand(m, op, 0);
  }
  const ir_attr_data *d = ir_splat_element(m, v, STEPS);
  if (!d) return false;
  const char *bytes = d->data;
  int64_t n = ir_dtype_bytes(ir_type_get(m, d->type)->dtype);
  for (int64_t i = 0; i < n; i++)
    if (bytes[i]) return false;
  return true;
}

bool ir_load_int(ir_dtype dtype, const void *data, int64_t *out_number) {
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  size_t n = (size_t)ir_dtype_bytes(dtype);
  bool is_int = cls == IR_CLASS_INT || cls == IR_CLASS_UINT || cls == IR_CLASS_BOOL;
  if (!is_int || n > sizeof *out_number) return false;
  uint64_t x = 0;
  memcpy(&x, data, n);
  bool negative = cls == IR_CLASS_INT && x >> (8 * n - 1) & 1;
  if (negative && n < sizeof x) x |= UINT64_MAX << 8 * n;
  *out_number = (int64_t)x;
  return cls == IR_CLASS_INT || x <= INT64_MAX;
}

bool ir_splat_int(const ir_module *m, ir_value v, int64_t *out_number) {
  const ir_attr_data *d = ir_splat_element(m, v, STEPS);
  ir_dtype dtype = d ? ir_type_get(m, d->type)->dtype : IR_I1;
  return d && ir_dtype_class_of(dtype) != IR_CLASS_BOOL && ir_load_int(dtype, d->data, out_number);
}

double ir_load_number(ir_dtype dtype, const void *data) {
  uint64_t bits = 0;
  int64_t i;
  if (!ir_is_float(dtype)) return ir_load_int(dtype, data, &i) ? (double)i : NAN;
  memcpy(&bits, data, (size_t)ir_dtype_bytes(dtype));
  return ir_float_value(dtype, bits);
}

static bool constant_real(const ir_module *m, ir_op op, double *out_number) {
  const ir_attr_data *d = element_of(m, op);
  ir_dtype dtype = d ? ir_type_get(m, d->type)->dtype : IR_I1;
  bool is_real = dtype == IR_F32 || dtype == IR_F64;
  if (is_real) *out_number = ir_load_number(dtype, d->data);
  return is_real;
}

bool ir_adds_up(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return (kind == IR_OP_REDUCE || kind == IR_OP_REDUCE_WINDOW) &&
         ir_op_get(m, op)->n_operands == 2 && ir_is_zero(m, ir_operand(m, op, 1)) &&
         ir_reducer_kind(m, ir_body(m, op)) == IR_OP_ADD;
}

double ir_folded(ir_kind kind, double x, double y) {
  switch (kind) {
    case IR_OP_NEGATE: return -x;
    case IR_OP_ABS: return fabs(x);
    case IR_OP_SQRT: return sqrt(x);
    case IR_OP_RSQRT: return 1 / sqrt(x);
    case IR_OP_EXPONENTIAL: return exp(x);
    case IR_OP_LOG: return log(x);
    case IR_OP_ADD: return x + y;
    case IR_OP_SUBTRACT: return x - y;
    case IR_OP_MULTIPLY: return x * y;
    case IR_OP_DIVIDE: return x / y;
    case IR_OP_POWER: return pow(x, y);
    case IR_OP_MAXIMUM: return isnan(x) || isnan(y) ? NAN : fmax(x, y);
    case IR_OP_MINIMUM: return isnan(x) || isnan(y) ? NAN : fmin(x, y);
    default: return NAN;
  }
}

static bool splat_real(const ir_module *m, ir_value v, int steps, double *out_number) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op || !steps) return false;
  double x, y;
  switch (ir_kind_of(m, op)) {
    case IR_OP_CONSTANT: return constant_real(m, op, out_number);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_BROADCAST:
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE: return splat_real(m, ir_operand(m, op, 0), steps - 1, out_number);
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY:
    case IR_OP_DIVIDE:
      if (!splat_real(m, ir_operand(m, op, 0), steps - 1, &x) ||
          !splat_real(m, ir_operand(m, op, 1), steps - 1, &y))
        return false;
      *out_number = ir_folded(ir_kind_of(m, op), x, y);
      if (ir_type_at(m, v)->dtype == IR_F32) *out_number = (double)(float)*out_number;
      return isfinite(*out_number);
    default: return false;
  }
}

bool ir_splat_real(const ir_module *m, ir_value v, double *out_number) {
  enum { DEEPEST = 6 };
  return splat_real(m, v, DEEPEST, out_number);
}

bool ir_is_splat_real(const ir_module *m, ir_value v, double x) {
  double y;
  return ir_splat_real(m, v, &y) && y == x;
}

static bool is_positive_constant(const ir_module *m, ir_op op) {
  const ir_attr_data *d = element_of(m, op);
  int64_t bytes = d ? ir_dtype_bytes(ir_type_get(m, d->type)->dtype) : 0;
  return d && !(((const unsigned char *)d->data)[bytes - 1] & 0x80);
}

static bool keeps_signs(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  ir_kind kind = d->n_operands == 2 ? ir_reducer_kind(m, d->regions[0]) : IR_OP_UNKNOWN;
  return kind == IR_OP_ADD || kind == IR_OP_MINIMUM || kind == IR_OP_MAXIMUM;
}

static bool is_never_negative(const ir_module *m, ir_value v, int *steps) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op || (*steps)-- <= 0 || !ir_is_common_float(ir_type_at(m, v)->dtype)) return false;
  const ir_op_data *d = ir_op_get(m, op);
  uint32_t first = 0;
  switch ((ir_kind)d->kind) {
    case IR_OP_CONSTANT: return is_positive_constant(m, op);
    case IR_OP_ABS:
    case IR_OP_CHLO_SQUARE:
    case IR_OP_EXPONENTIAL: return true;
    case IR_OP_MULTIPLY:
      if (d->operands[0] == d->operands[1]) return true;
      break;
    case IR_OP_REDUCE:
      if (!keeps_signs(m, op)) return false;
      break;
    case IR_OP_SELECT: first = 1; break;
    case IR_OP_ADD:
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_CONCATENATE:
    case IR_OP_CONVERT:
    case IR_OP_DIVIDE:
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_RESHAPE:
    case IR_OP_REVERSE:
    case IR_OP_SLICE:
    case IR_OP_SQRT:
    case IR_OP_TRANSPOSE: break;
    default: return false;
  }
  for (uint32_t i = first; i < d->n_operands; i++)
    if (!is_never_negative(m, d->operands[i], steps)) return false;
  return true;
}

bool ir_is_never_negative(const ir_module *m, ir_value v) {
  int steps = 64;
  return is_never_negative(m, v, &steps);
}
