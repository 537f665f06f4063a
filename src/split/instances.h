/* The instances of a region: values at positions, found or made, and which of them are still to be
 * looked at. Windows of a value that are near each other become one where the region merges. */
#ifndef WEIR_SPLIT_INSTANCES_H
#define WEIR_SPLIT_INSTANCES_H
#include "split/region.h"

split_instance *split_instance_get(split_region *r, ir_value v, split_pos pos);
/* What is new is pending. */
void split_visit(split_region *r, ir_value v, split_pos pos);
/* After all that is pending now, if anything may be shifted. */
void split_visit_again(split_region *r, uint32_t index);
uint32_t split_next_pending(split_region *r); /* its index */
/* Some op other than the end of the block reads it: where a value is at two positions, it counts
 * from which one its readers are asked. */
bool split_leads_on(const split_region *r, ir_value v);
/* Somebody who is no member reads it. */
bool split_has_users_outside(const split_region *r, ir_value v);
/* Of large values, each as often as loops make a window of its own of it. */
double split_made_bytes(const split_region *r);

#endif
