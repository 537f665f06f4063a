/* Factors that a sum does not see, taken out of it: sum_j (a_ij / l_i) b_j = (sum_j a_ij b_j) /
 * l_i.
 *
 * In: the body of a loop. Out: the same body with such sums, where the factor is made by a sum
 * itself, so that it would cost a pass, and where the sum is no larger than what it sums. It is
 * rounded elsewhere, and overflows elsewhere. And sum_j (sum_e a_ie v_je) p_ij = sum_e a_ie (sum_j
 * p_ij v_je) where the sum over j is there anyway. Left alone: a loop that has to agree with
 * another one, which may read the factor. Near linear time.
 */
#ifndef WEIR_KERNEL_FACTOR_OUT_H
#define WEIR_KERNEL_FACTOR_OUT_H
#include "ir/ir.h"

void kernel_take_out_factors(ir_module *m, ir_op loop);

#endif
