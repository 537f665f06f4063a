/* Along which dimensions a value varies, and the value without the others.
 *
 * x of [n, d] broadcast to [n, m, d], times 2, varies along dimensions 0 and 2: it is a tensor of
 * [n, d] that is read many times. pass_vary_op() finds the dimensions for op after op, in program
 * order; pass_compact() builds the small tensor, from the small tensors of its operands.
 * Looks through elementwise ops, broadcasts, transposes, iotas, splat constants and reshapes that
 * add or remove dimensions of length 1; anything else varies along all its dimensions but those of
 * length 1. Sets of dimensions are bit masks.
 *
 * pass_nd: a small tensor with the dimensions of a large space that it has, in their order, and
 * arithmetic on such. Linear in the program; what is built, linear in what it replaces.
 */
#ifndef WEIR_PASS_VARY_H
#define WEIR_PASS_VARY_H
#include "pass/build.h"

typedef uint64_t pass_dims; /* bit d: dimension d */

typedef struct pass_vary pass_vary;
pass_vary *pass_vary_new(arena *scratch, ir_module *m);
/* After all ops before it, with its operands as they are going to stay. */
void pass_vary_op(pass_vary *t, ir_op op);
/* Of a value made since pass_vary_new() that no pass_vary_op() saw: all but those of length 1. */
pass_dims pass_varies(const pass_vary *t, ir_value v);
/* The dimensions of the tensor that are longer than 1. */
pass_dims pass_long_dims(const ir_module *m, ir_value v);
/* A tensor of the dimensions that v varies along, in order, visible in b->block. */
ir_value pass_compact(pass_vary *t, ir_builder *b, ir_value v);

typedef struct pass_nd {
  ir_value value;
  pass_dims dims;
} pass_nd;

typedef struct pass_space {
  ir_builder b;
  pass_vary *vary;
  const int64_t *extents; /* of the large space */
} pass_space;

/* v, a tensor of the whole space, without the dimensions that it doesn't vary along. */
pass_nd pass_nd_of(pass_space *s, ir_value v);
/* Broadcast to more dimensions. */
pass_nd pass_nd_spread(pass_space *s, pass_nd x, pass_dims dims);
pass_nd pass_nd_convert(pass_space *s, pass_nd x, ir_dtype dtype);
/* Elementwise, on the dimensions of both. */
pass_nd pass_nd_binary(pass_space *s, ir_kind kind, pass_nd x, pass_nd y);
pass_nd pass_nd_scaled(pass_space *s, pass_nd x, double by);
/* Sums over those of the dimensions that x has. */
pass_nd pass_nd_sum(pass_space *s, pass_nd x, pass_dims dims);
/* The sum over `dims` of x * y without the product: x and y are summed alone over what only they
 * have, the rest is a dot_general. */
pass_nd pass_nd_dot(pass_space *s, pass_nd x, pass_nd y, pass_dims dims);
int64_t pass_nd_count(const pass_space *s, pass_dims dims); /* of elements; saturates */
ir_type pass_nd_type(pass_space *s, ir_dtype dtype, pass_dims dims);

#endif
