#include "ir/lapack.h"

#include "ir/attrs.h"

const ir_lapack_row ir_lapack_rows[IR_LAPACK_ROWS] = {
#define LAPACK(name, types, operands, results, eval) {name, types, operands, results},
#include "ir/lapack.def"
#undef LAPACK
};

/* lapack_?NAME_ffi, ? among the types; NAME itself where there are none. */
static bool is_target(const ir_lapack_row *row, const char *target) {
  static const char prefix[] = "lapack_";
  if (!row->types[0]) return !strcmp(target, row->name);
  if (strncmp(target, prefix, strlen(prefix))) return false;
  target += strlen(prefix);
  size_t n = strlen(row->name);
  return target[0] && strchr(row->types, target[0]) && !strncmp(target + 1, row->name, n) &&
         !strcmp(target + 1 + n, "_ffi");
}

int ir_lapack_find(const char *target) {
  for (int i = 0; target && i < IR_LAPACK_ROWS; i++)
    if (is_target(&ir_lapack_rows[i], target)) return i;
  return -1;
}

/* Whether values from `first` on are batches, as long as those of `like`, of what the digits say.
 */
static bool are_batches(const ir_module *m, const ir_value *values, ir_value first, uint32_t n,
                        const char *digits, const ir_type_data *like, int32_t batch) {
  if (n != strlen(digits)) return false;
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = values ? values[i] : first + i;
    const ir_type_data *t = ir_type_at(m, v);
    if (t->kind != IR_TYPE_TENSOR || !t->dtype || t->rank != batch + (digits[i] - '0') ||
        (batch && memcmp(t->dims, like->dims, (size_t)batch * sizeof *t->dims)))
      return false;
  }
  return true;
}

/* The length of the operand's dimension so many before the end. */
static int64_t length_of(const ir_module *m, ir_op op, uint32_t operand, int32_t from_end) {
  const ir_type_data *t = ir_type_at(m, ir_operand(m, op, operand));
  return t->dims[t->rank - from_end];
}

/* What is solved for has as many equations as the matrix, and comes out as what went in. */
static bool are_systems(const ir_module *m, ir_op op) {
  if (ir_is_lapack(m, op, "trsm")) {
    int32_t equations = ir_ffi_config_int(m, op, "side", 'L') == 'L' ? 2 : 1;
    int64_t n = length_of(m, op, 0, 1);
    return n == length_of(m, op, 0, 2) && n == length_of(m, op, 1, equations) &&
           ir_type_of(m, ir_operand(m, op, 1)) == ir_type_of(m, ir_result(m, op, 0));
  }
  int64_t n = ir_is_lapack(m, op, "gtsv") ? length_of(m, op, 3, 2) : 0;
  for (uint32_t i = 0; n && i < 3; i++)
    if (length_of(m, op, i, 1) != n) return false;
  return true;
}

int32_t ir_lapack_batch_rank(const ir_module *m, ir_op op) {
  const char *target = ir_op_string(m, op, "call_target_name");
  int i = ir_lapack_find(target);
  const ir_op_data *d = ir_op_get(m, op);
  if (i < 0 || d->n_operands == 0) return -1;
  const ir_lapack_row *row = &ir_lapack_rows[i];
  const ir_type_data *first = ir_type_at(m, d->operands[0]);
  int32_t batch = first->rank - (row->operands[0] - '0');
  if (first->kind != IR_TYPE_TENSOR || batch < 0) return -1;
  bool fits = are_batches(m, d->operands, IR_NONE, d->n_operands, row->operands, first, batch) &&
              are_batches(m, NULL, d->first_result, d->n_results, row->results, first, batch);
  return fits && are_systems(m, op) ? batch : -1;
}

bool ir_lapack_is_by_rows(const ir_module *m, ir_op op) {
  return ir_op_attr(m, op, "operand_layouts") && ir_type_at(m, ir_operand(m, op, 0))->rank >= 2 &&
         !ir_is_by_columns(m, op, "operand_layouts", 0);
}
