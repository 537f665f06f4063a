/* whole-sums: sums over the parts of a concatenation that is in memory, over what is there.
 *
 *   y = concatenate(x1, .., xn);  s = reduce(y, add)    becomes    s = reduce(barrier(y), add)
 *
 * XLA makes x1 + .. + xn of the sum, as many ops as there are parts, and puts them into each fusion
 * that reads s: where s is spread over y again (patches that are normalised, softmax over shifts)
 * all parts are added up anew for each element, n^2 in place of n. Without its library fusions,
 * which hide memory and are off in whatever is split, nothing keeps it from that but a barrier.
 *
 * Requires: lowered loops. Breaks nothing; exact. Left alone: concatenations that the sum alone
 * reads (they need not be made), of fewer than TUNED_SUMMED_PARTS parts, and GPUs and TPUs. Cost:
 * linear.
 */
#include "ir/attrs.h"
#include "machine/tuned.h"
#include "pass/pass.h"

/* Of a value that is put together along the dimension, perhaps of what was before. */
static int64_t parts_along(const ir_module *m, ir_value v, int64_t dim) {
  ir_op op = ir_maker(m, v, IR_OP_CONCATENATE);
  if (!op || ir_op_int(m, op, "dimension", -1) != dim) return 1;
  int64_t parts = 0;
  for (ir_value x, i = 0; (x = ir_operand_at(m, op, i)); i++) parts += parts_along(m, x, dim);
  return parts;
}

static bool replace(pass_rewrite *r, ir_op op) {
  if (ir_kind_of(r->m, op) != IR_OP_REDUCE || ir_op_get(r->m, op)->n_operands != 2) return false;
  ir_value v = ir_operand(r->m, op, 0);
  ir_op whole = ir_maker(r->m, v, IR_OP_CONCATENATE);
  if (!whole || v >= r->n_values || r->uses[v] < 2) return false;
  int64_t dim = ir_op_int(r->m, whole, "dimension", -1);
  if (ir_ints_find(ir_op_list(r->m, op, "dimensions"), dim) < 0 ||
      parts_along(r->m, v, dim) < TUNED_SUMMED_PARTS)
    return false;
  ir_value kept = ir_build(&r->b, IR_OP_OPTIMIZATION_BARRIER, 1, &v, ir_type_of(r->m, v), 0, NULL);
  ir_op_get(r->m, op)->operands[0] = kept;
  r->p->changed = true;
  return false;
}

static bool begin(pass_rewrite *r) { return !strcmp(r->p->options->platform, "cpu"); }

const pass pass_whole_sums = {"whole-sums", .replace = replace, .begin = begin};
