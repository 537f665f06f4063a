/* Cuts of a region of many stages: large values that its loops put out after all, so that those
 * behind need not make them anew.
 *
 * The loop of a stage makes what it needs from what the region reads. Where each layer of a network
 * waits for a sum over the batch (batch norm), that is all layers before it: together the loops
 * make the square of the layers. So stages that follow each other are a *segment*. What was made
 * just before a segment and is read in it crosses the cut between the two: it is put out once, and
 * the loops behind read it in slices. What is read much later (a layer's activations, in the
 * backward pass) is made again from the cut before it, which takes a segment. What an elementwise
 * op makes of other values that cross is made again, too.
 *
 *     stages   0  1  2 | 3  4  5 | 6  7  8
 *     put out        h2        h5
 *     stage 7 makes h6 and h7 of h5; and h4, if it reads that, of h2
 */
#ifndef WEIR_SPLIT_CUTS_H
#define WEIR_SPLIT_CUTS_H
#include "split/region.h"

/* Sets is_cut: no segment has more stages. Cost: a look at each reader of each value, for each
 * stage of a segment. */
void split_cut_stages(split_region *r, int32_t segment);

/* Of what only the cuts put out, the most that is there at one time. Cost as of split_repeats. */
int64_t split_cut_bytes(split_region *r);

#endif
