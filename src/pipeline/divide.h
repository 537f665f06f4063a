/* Ops of a program that is divided over devices: each on the devices' parts, as a sum of these, or
 * whole, whichever sends and makes least. */
#ifndef WEIR_PIPELINE_DIVIDE_H
#define WEIR_PIPELINE_DIVIDE_H
#include "pipeline/division.h"

/* All ops of d->from into d->to. dims: which part of each result is returned; DIVISION_WHOLE: all.
 */
void divide_ops(division *d, const int32_t *dims);

#endif
