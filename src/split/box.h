/* Parts of tensors: where a value lies in what it becomes a part of.
 *
 *   add(pad(A) at 1, pad(B) at 2), concatenate(A, B), reshape(A)
 */
#ifndef WEIR_SPLIT_BOX_H
#define WEIR_SPLIT_BOX_H
#include "ir/ir.h"

/* Which part of a tensor, as large as another one that may have another shape. */
typedef struct split_box {
  bool is_all;
  int64_t at[IR_MAX_RANK], dims[IR_MAX_RANK];
} split_box;

/* An addition of two values, of which nothing else is asked. */
bool split_is_addition(const ir_module *m, ir_op op);

/* By op of the block, of an addition: the last of those in a row that it goes into, and nothing
 * else reads on the way; itself, if it goes into none. Cost: linear. */
ir_op *split_runs_of_additions(arena *a, ir_module *m, const ir_users *users, ir_block block);

/* The last of the ops that v goes through, where nothing else reads it on the way: it is padded by
 * zeros, put beside others, added to them, or in another shape. out: where it lies in what that op
 * makes. IR_NONE: it goes through none. runs: of additions, each of which is one step then; NULL:
 * not known. Cost: linear in these steps. */
ir_op split_last_through(ir_module *m, const ir_users *users, const ir_op *runs, ir_value v,
                         split_box *out);

#endif
