/* A state written over: what a while carries, over which a loop in its body writes what the while
 * carries next in its place, slice by slice. The state's rows may see those beside them:
 *
 *   before a trip     new | old              in the state
 *                     old                    carried: as many rows as later slices need of those
 *                                            that are new
 *   the trip reads    old ~~~~~~~ ~~~~~      both put together: its halo, behind, and ahead
 *   and writes            new
 *
 * So what a trip reads is the state as it was before the loop, whichever way XLA lays it out: the
 * loop is right without being in place. In place it is because all is read before anything is
 * written.
 *
 * The last slice may begin before the others end. What lies between is carried, too.
 */
#ifndef WEIR_SPLIT_HALO_H
#define WEIR_SPLIT_HALO_H
#include "split/region.h"
#include "split/window.h"

typedef struct split_halo {
  ir_value state, next; /* an argument of a while's body, and what that yields in its place, but
                           for updates that come later */
  split_pos written;    /* on the state: a trip's window of what is next */
  split_pos read;       /* on the state: a window that has all of which a trip reads any */
  bool is_written, is_read;
  bool fails;             /* somebody wants other windows of it than a trip's */
  ir_value carry, window; /* in a loop's body: the state, and what a trip reads of it; IR_NONE: not
                             asked for yet */
  uint32_t result;        /* which one of the loop's next is */
} split_halo;

typedef VEC(split_halo) split_halos;

/* States of the while whose body the region is in, of which nothing is known yet. None where loops
 * may become kernels, which write to buffers of their own, or are spread over devices. */
split_halos split_halos_of(split_region *r);

/* Whiles below the block that carry on one state in another's place (leapfrog: u, v = f(u, v), u)
 * do so by an op, which says nothing to XLA: where a loop writes what is next of the one state, it
 * writes the other, too. How many: of those larger than the threshold. */
int32_t split_move_states(ir_module *m, ir_block top, int64_t threshold_bytes);

/* Whose state this is, or whose next one, NULL: nobody's. */
split_halo *split_halo_of_state(split_halos *all, ir_value state);
split_halo *split_halo_of_next(const ir_module *m, split_halos *all, ir_value next);
/* The loop reads the state at this position, or writes what is next there. */
void split_halo_reads(split_halo *h, split_pos pos);
void split_halo_writes(split_halo *h, ir_value next, split_pos pos);
/* The op updates a part of a state, by slices of the update: *out_written is where on the state.
 */
bool split_halo_updates(const ir_module *m, ir_value state, ir_op op, const split_factor *f,
                        split_pos *out_written);

/* Of a state of which all is known: the loop is to write over it by rows that are carried. Its own
 * slices alone are written over without: ir/in_place.h. Makes h->read one window of all. */
bool split_halo_settle(const ir_module *m, split_halo *h, const split_trip *trip);

/* The rows that are carried, as the first trip has them; IR_NONE: none are. state: outside. */
ir_value split_halo_begin(ir_builder *before, const split_halo *h, const split_trip *trip,
                          ir_value state);
/* Of h->carry the window h->read as it was before the loop; *in_out_old: the rows that are carried,
 * as this trip has them and as the next one will. */
ir_value split_halo_step(ir_builder *b, const split_halo *h, const split_trip *trip,
                         ir_value *in_out_old);

#endif
