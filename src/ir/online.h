/* The algebra of running statistics: how a value depends on statistics of which only a running
 * value is known while a loop or a kernel goes through its elements.
 *
 *   additive        u + sum degree * statistic
 *   multiplicative  u * prod (exp(statistic) or statistic) ** degree          u depends on none
 *
 * A sum of multiplicative terms is so itself: brought to another value of the statistic it is a
 * multiple of what it was. Nothing here knows softmax: x - m is additive, exp makes it
 * multiplicative, products, quotients and sums over other dimensions keep it. Loops (split/stream)
 * and kernels (kernel/stream) read their terms off the ops by the same rules.
 * Source: the break-dependency-and-correct algebra of Neptune; Rabe & Staats 2021; Milakov &
 * Gimelshein 2018.
 */
#ifndef WEIR_IR_ONLINE_H
#define WEIR_IR_ONLINE_H
#include "ir/ir.h"

enum { ONLINE_MOST = 4 };

typedef struct online_term { /* one running statistic that a value depends on */
  uint32_t statistic;        /* whatever its owner names it by */
  bool exponential;          /* the value ~ exp(degree * statistic), else statistic ** degree */
  bool guarded;              /* exponential: the program, too, takes 0 for an infinite statistic */
  int32_t degree;
  int8_t dims[IR_MAX_RANK]; /* by dimension of the statistic: where it is in the value; -1: it has
                               length 1, or there is none. Owners that don't ask leave them 0 */
} online_term;

typedef struct online_terms {
  int32_t count;
  online_term at[ONLINE_MOST];
} online_terms;

typedef enum online_kind {
  ONLINE_INDEPENDENT,
  ONLINE_ADDITIVE,
  ONLINE_MULTIPLICATIVE,
  ONLINE_OTHERWISE
} online_kind;

typedef struct online_form {
  online_kind kind;
  online_terms terms; /* none if independent or otherwise */
} online_form;

extern const online_form ONLINE_NONE, ONLINE_UNKNOWN; /* independent; otherwise */

/* The form of an operand, in the dimensions of the op's result. */
typedef online_form online_reader(void *reader, ir_op op, uint32_t operand);

/* What the op makes of its operands' forms. Sums must be of floats; a reduction by anything but a
 * sum from 0 is otherwise. Cost: one question per operand. */
online_form online_of_op(const ir_module *m, ir_op op, online_reader *of, void *reader);

/* The reducer's op of a reduction of one operand, add of a product; IR_OP_UNKNOWN of another. */
ir_kind online_reducer(const ir_module *m, ir_op op);

#endif
