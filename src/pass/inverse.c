/* inverse: what reads an inverse permutation in any order reads it in the order of the sort.
 *
 *   y[p] = u, p from a sort of places       (zeros.at[argsort(x)].set(u))
 *   sum_i f(y_i, d_i)   =  sum_k f(u_k, d[p_k])
 *
 * and so of any reduction over i and any scatter that adds up (or multiplies, takes extremes, ..)
 * its entries. y is not made: u is there in the order of the sort, in which sorts are made slice by
 * slice, and so is what is gathered of d by p.
 *
 * What is between y and its readers is made anew in the other order (`turn.h`). Requires: a
 * verified module. Breaks: nothing; what lost its uses stays for dce. Sums of floats are rounded in
 * another order. Left alone: what has any other reader; permutations that are small against the
 * limit. Cost: linear, for each such scatter.
 */
#include "pass/build.h"
#include "pass/line.h"
#include "pass/turn.h"

static ir_value places_of(pass_turn *t) { return *(ir_value *)t->own; }

static bool are_places(const pass_turn *t, ir_value indices) {
  ir_value p;
  return pass_line_sort(t->m, indices, t->length, &p) && p == *(ir_value *)t->own;
}

/* Puts an element at each place of a line, in the order of a sort in this block: *out_places. */
static bool is_inverse(pass_ctx *p, ir_module *m, ir_block block, ir_op op, ir_value *out_places) {
  pass_entries v;
  if (!pass_find_entries(p->scratch, m, op, &v) || !v.puts) return false;
  ir_value y = ir_result(m, op, 0);
  if (ir_type_at(m, y)->rank != 1 || ir_type_of(m, y) != ir_type_of(m, v.part) ||
      v.n.collapsed_slice_dims.count != 1 || v.n.start_index_map.count != 1 ||
      ir_value_bytes(m, y) <= pass_small_bytes(p->options))
    return false;
  ir_op sort = pass_line_sort(m, v.indices, ir_type_at(m, y)->dims[0], out_places);
  return sort && ir_op_get(m, sort)->block == block;
}

static bool turn(pass_ctx *p, ir_module *m, ir_block block, ir_op op) {
  pass_turn t;
  ir_value places;
  if (!is_inverse(p, m, block, op, &places)) return false;
  ir_value y = ir_result(m, op, 0);
  pass_turn_begin(&t, p, m, block, ir_type_at(m, y)->dims[0]);
  t.places = places_of;
  t.are_places = are_places;
  t.own = &places;
  pass_turn_start(&t, y, ir_operand(m, op, 2));
  pass_turn_mark(&t);
  if (t.stays[y]) return false;
  pass_turn_rewrite(&t, op);
  return true;
}

static weir_status run(pass_ctx *p, ir_module *m) { return pass_turn_each(p, m, turn); }

const pass pass_inverse = {"inverse", run};
