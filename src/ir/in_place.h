/* Loops in place: a result of a weir.loop that is written over an input which dies with the loop.
 *
 *   y[i] = f(x[i])        x = f(x), slice by slice
 *
 * The result's slices lie where the input's did: the while carries one buffer, which begins as the
 * input. It may, if
 *
 * - the input and the result have one type, and one dimension is cut into the same slices;
 * - it is read there and nowhere else: once among the loop's operands;
 * - nobody reads it after the loop, and who read it before comes before the loop in any order that
 *   XLA may choose: the loop depends on them;
 * - it has a buffer of its own: the result of an op of the block that is no view of its operand; or
 *   it is an argument donated to the result, which the program returns as it is; or the state of a
 *   while, whose next state the result is;
 * - it has several elements for each index: a number for each is small beside what loops are for.
 *
 * What is made of other values than the slice is written once the slice was read: split/lower.c.
 * Were one of the first four wrong, XLA would copy the input: no worse than a buffer for the
 * result.
 */
#ifndef WEIR_IR_IN_PLACE_H
#define WEIR_IR_IN_PLACE_H
#include "ir/ir.h"

/* What is known of a module's blocks while none of them changes. */
typedef struct ir_in_place {
  arena *scratch;
  ir_module *m;
  ir_users **users; /* by block; NULL: not asked for yet */
} ir_in_place;
ir_in_place ir_in_place_of(arena *scratch, const ir_module *m);

/* Of a tensor: it has several elements for each index along the dimension. */
bool ir_is_cut_in_lines(const ir_module *m, ir_type type, int64_t dim);

/* v, but for what it waits for, is a donated argument in whose place XLA wants result j of the
 * loop, which the program returns. */
bool ir_is_donated_to(const ir_module *m, ir_op loop, uint32_t j, ir_value v);

/* out_over[j], for each result of the weir.loop: the input, by its number among the operands, that
 * it is written over; IR_NOT_IN_PLACE. Cost: inputs times results; once for a block, its ops; where
 * others have read an input, the ops before the loop, too. */
enum { IR_NOT_IN_PLACE = -1 };
void ir_loop_in_place(ir_in_place *known, ir_op loop, int32_t *out_over);

#endif
