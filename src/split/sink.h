/* Computing anew what can't be held: inside the while, case, if or loop that reads it, so that it
 * can be split there, or for each of its uses. */
#ifndef WEIR_SPLIT_SINK_H
#define WEIR_SPLIT_SINK_H
#include "ir/ir.h"

/* Moves copies of the large ops behind `seed` (a value of the block) into every region that reads
 * it, captured or as a loop-invariant carry; small values, arguments and constants are captured.
 * into_loops: also into each weir.loop that reads it whole, where it will be split along a second
 * factor. Dynamic slices of it become slices of what it is made of (split/parts.h); *out_parts:
 * there were some. False if no region reads it or an op on the way must not be repeated. Costs its
 * computation, or that of the part that is read, once a trip: for when it can't be held. */
bool split_sink(ir_module *m, ir_block block, ir_value seed, int64_t threshold_bytes,
                bool into_loops, bool *out_parts);

/* Whether only whiles read the value, and of it only slices that can be made of slices of what it
 * is made of. */
bool split_is_read_in_parts(ir_module *m, ir_value v, int64_t threshold_bytes);
/* Such a value is made in the whiles, part by part, and all of it once if the parts are all of it.
 * False: it is no such. */
bool split_sink_parts(ir_module *m, ir_value v, int64_t threshold_bytes);

/* Whether each use of v may have its own copy of v and of the large ops behind it. False if v has
 * one use or too many, can't be copied, if the copies for more than a few uses took more flops
 * together than all of the block, or if a comparison would see that they differ. users: of the
 * block; compares_selected: split_meets_selected() of all its values. */
bool split_can_detach(ir_module *m, ir_block block, const ir_users *users, ir_value v,
                      int64_t threshold_bytes, bool compares_selected);
/* Gives each use of such a value but the first its copy, so that one may be sliced while another is
 * read whole. */
void split_detach(ir_module *m, ir_block block, const ir_users *users, ir_value v,
                  int64_t threshold_bytes);

#endif
