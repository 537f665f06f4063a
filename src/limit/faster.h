/* Of a search that has found a candidate: others, tried in its place, and taken if they hold and
 * are predicted to be faster. In this order:
 *
 *   more cuts       slices as they are, but more is kept between loops where they leave room
 *                   (split/cuts.h)
 *   shorter slices  which may leave room for what is made anew, where the found way takes twice the
 *                   time, and work, that the program took as it came
 *   segments        of what whiles keep, before slices, where whiles run once for each slice
 *   longer slices   by how the peak grows with them
 *   fewer passes    sums are added in blocks
 *   safety          as fast, but farther from the limit, where XLA is asked later
 *
 * Cost: each candidate takes as long as one of the search. So programs of many ops, or over several
 * devices, are left as they are. */
#ifndef WEIR_LIMIT_FASTER_H
#define WEIR_LIMIT_FASTER_H
#include "limit/search.h"

/* s may have found nothing: then nothing is tried. */
WEIR_MUST_USE weir_status faster_instead(job *j, search *s);

#endif
