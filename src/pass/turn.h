/* Values along a dimension, made in another order of that dimension.
 *
 *   f(x)[q] = f(x[q])     f by elements, by rows, a product by rows, a gather at places, ..
 *   sum_i f(x_i)  =  sum_k f(x[q]_k)      and so of any scatter that adds up its entries
 *
 * A pass says of some values what they are in the other order (pass_turn_start), asks what would
 * follow (pass_turn_mark), and has it done (pass_turn_rewrite). Members are what is made of these
 * values along the dimension; readers take members in any order: reductions and products over the
 * dimension, scatters of its entries that combine them, or put them at distinct places in windows
 * that don't meet, gathers at q; no batches of scatters along the dimension, which have the order
 * in them. What else a member is computed with (leaves) is read at the places, row by row. What is
 * made of nothing but an iota along the dimension (masks, positions) is made of the places instead
 * (counts).
 *
 * Cost: linear in the block, for each mark and each rewrite.
 */
#ifndef WEIR_PASS_TURN_H
#define WEIR_PASS_TURN_H
#include "pass/along.h"
#include "pass/pass.h"

typedef struct pass_turn {
  pass_ctx *p;
  ir_module *m;
  ir_block block;
  ir_builder b;
  int64_t length; /* of the dimension */
  /* q: element k of the new order is element q[k] of the old one. Called once, where it is first
   * asked for while the block is written anew. */
  ir_value (*places)(struct pass_turn *t);
  /* These indices of a gather are q; it may be asked at any time. */
  bool (*are_places)(const struct pass_turn *t, ir_value indices);
  void *own; /* the pass's */
  ir_value found_places;
  pass_along members, counts;
  ir_value *turned;   /* by value: in the new order, once it is made */
  bool *stays;        /* likewise: a member that is wanted in the old order, too */
  int64_t leaf_bytes; /* the largest computed leaf, which has to be there whole */
} pass_turn;

void pass_turn_begin(pass_turn *t, pass_ctx *p, ir_module *m, ir_block block, int64_t length);
/* v, along dimension 0, is `turned` in the new order. */
void pass_turn_start(pass_turn *t, ir_value v, ir_value turned);
/* Finds members, what stays of them, and leaf_bytes; changes nothing. */
void pass_turn_mark(pass_turn *t);
static inline bool pass_turn_is_member(const pass_turn *t, ir_value v) {
  return pass_dim_along(&t->members, v) >= 0;
}
/* The op takes all members that it reads in any order. */
bool pass_turn_is_reader(const pass_turn *t, ir_op op);
/* That is a gather of a member at q: all of it, in the new order. */
bool pass_turn_is_turned(const pass_turn *t, ir_op op);
/* Makes members in the new order, and readers read these. Members as they were remain, for what
 * else reads them. The places can be made behind `from`, an op of the block. */
void pass_turn_rewrite(pass_turn *t, ir_op from);

typedef bool pass_turn_try(pass_ctx *p, ir_module *m, ir_block block, ir_op op);
/* Asks it of every op that functions came with, in their bodies alone: what loops and branches sort
 * stays as it is. */
weir_status pass_turn_each(pass_ctx *p, ir_module *m, pass_turn_try *turn);

#endif
