/* Which axes of a nest are rows and columns, which are outside of the tile and inside; in which
 * pass and phase each value is made: the cheapest that is legal. */
#ifndef WEIR_KERNEL_ROLES_H
#define WEIR_KERNEL_ROLES_H
#include "kernel/nest.h"

/* Fills roles, levels and sizes. False: no pair of axes can be rows and columns. */
bool kernel_choose_roles(kernel_nest *n);
/* What holds of every nest that is covered. check.c */
void kernel_check_nest(const kernel_nest *n);

#endif
