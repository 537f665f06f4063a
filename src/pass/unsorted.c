/* unsorted: what is made of sorted rows, and put back in their places, is made of them as they
 * came.
 *
 *   s, p = sort(x, iota)              q, the inverse of p:   s[q] = x, p[q] = iota
 *   y[p] = f(d[p], s)                 (zeros.at[order].set(f(d[order])): experts, buckets, groups)
 *        = f(d, x)
 *
 * and likewise of reductions and products over the rows, and scatters that add up (multiply, take
 * extremes ..) their entries, at places that are made of p, and of rows that are read at q,
 * `f(d[p])[argsort(p)]`: `out.at[order // k].add(..)`. A slice of y is then made of a slice of d.
 * What f has of its own for each row (an iota; an argument) is read at q, which is made where it is
 * asked for.
 *
 * What is between the sort and its readers is made anew in the other order (`turn.h`). Places
 * become an iota, which `counted` makes moves of.
 *
 * Requires: a verified module; behind `inverse`, which goes the other way for lines. Breaks:
 * nothing; what lost its uses stays for dce. Sums of floats are rounded in another order. Left
 * alone: sorts of which nothing large is put or read back; large values that are wanted in the
 * order of the sort, too, or would be read out of order. Cost: linear, for each sort with an iota.
 */
#include "pass/build.h"
#include "pass/line.h"
#include "pass/order.h"
#include "pass/turn.h"

/* The permutation that a sort of one line has made of an iota; IR_NONE. */
static ir_value permutation_of(ir_module *m, ir_op op, int64_t n) {
  ir_value places;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (pass_line_sort(m, ir_result(m, op, i), n, &places) == op) return places;
  return IR_NONE;
}

static int64_t sorted_length(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_SORT || !pass_is_static(m, op)) return 0;
  const ir_type_data *t = ir_type_at(m, ir_result(m, op, 0));
  return t->rank == 1 ? t->dims[0] : 0;
}

/* q[p] = iota */
static ir_value inverse_of(pass_turn *t) {
  ir_value p = *(ir_value *)t->own;
  ir_type type = ir_type_of(t->m, p);
  return pass_build_put_rows(&t->b, ir_build_zeros(&t->b, type), 0, p,
                             ir_build_iota(&t->b, type, 0));
}

/* These indices are another sort's, of p over an iota, in ascending order. */
static bool are_places(const pass_turn *t, ir_value indices) {
  ir_value q, p;
  ir_op sort = pass_line_sort(t->m, indices, t->length, &q);
  if (!sort || ir_op_get(t->m, sort)->n_regions != 1) return false;
  pass_sorted s = {.op = sort,
                   .n = ir_op_get(t->m, sort)->n_operands,
                   .length = t->length,
                   .comparator = ir_body(t->m, sort)};
  pass_order order;
  return pass_read_order(t->m, &s, &order) && !order.descending && order.is_identity &&
         pass_line_sort(t->m, ir_operand(t->m, sort, order.key), t->length, &p) &&
         p == *(ir_value *)t->own;
}

/* Something large is put at the rows' own places, or read at them. */
static bool has_way_back(const pass_turn *t, int64_t small_bytes) {
  const ir_ops *ops = &ir_block_get(t->m, t->block)->ops;
  for (uint32_t i = 0; i < ops->count; i++) {
    ir_op op = ops->at[i];
    if (pass_turn_is_turned(t, op) && ir_value_bytes(t->m, ir_result(t->m, op, 0)) > small_bytes)
      return true;
    if (ir_kind_of(t->m, op) == IR_OP_SCATTER && ir_op_get(t->m, op)->n_operands == 3 &&
        pass_turn_is_member(t, ir_operand(t->m, op, 1)) &&
        pass_turn_is_member(t, ir_operand(t->m, op, 2)) && pass_turn_is_reader(t, op) &&
        ir_value_bytes(t->m, ir_result(t->m, op, 0)) > small_bytes)
      return true;
  }
  return false;
}

/* Of what is large. */
static bool is_made_twice(const pass_turn *t, ir_op sort, int64_t small_bytes) {
  for (ir_value v = 1; v < t->members.n_values; v++)
    if (t->stays[v] && ir_value_get(t->m, v)->op != sort && ir_value_bytes(t->m, v) > small_bytes)
      return true;
  return false;
}

static bool turn(pass_ctx *p, ir_module *m, ir_block block, ir_op op) {
  pass_turn t;
  int64_t n = sorted_length(m, op), small_bytes = pass_small_bytes(p->options);
  ir_value places = n > 1 ? permutation_of(m, op, n) : IR_NONE;
  if (!places) return false;
  pass_turn_begin(&t, p, m, block, n);
  t.places = inverse_of;
  t.are_places = are_places;
  t.own = &places;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    pass_turn_start(&t, ir_result(m, op, i), ir_operand(m, op, i));
  pass_turn_mark(&t);
  if (t.leaf_bytes > small_bytes || !has_way_back(&t, small_bytes) ||
      is_made_twice(&t, op, small_bytes))
    return false;
  pass_turn_rewrite(&t, op);
  return true;
}

static weir_status run(pass_ctx *p, ir_module *m) { return pass_turn_each(p, m, turn); }

const pass pass_unsorted = {"unsorted", run};
