/* What the rewriting passes build and look at, beyond ir_build_*(): products, transposes, the
 * same op on other shapes, what was flattened, constants, and which tensors are worth a rewrite.
 *
 * All builders append to b->block and derive the result's type.
 */
#ifndef WEIR_PASS_BUILD_H
#define WEIR_PASS_BUILD_H
#include "ir/fold.h"
#include "ir/attrs.h"
#include "pass/pass.h"

/* dot_general: batch dimensions, free ones of lhs, free ones of rhs, in this element
 * type. */
ir_value pass_build_dot(ir_builder *b, ir_value lhs, ir_value rhs, const ir_dot_numbers *n,
                        ir_dtype dtype);
/* op(a) x = b for x, a triangular: two matrices, or batches of them. */
ir_value pass_build_triangular_solve(ir_builder *b, ir_value a, ir_value rhs, bool lower,
                                     bool transposed, bool unit_diagonal);
/* Dimension `from` goes to place `to`; the others keep their order. */
ir_value pass_build_moved(ir_builder *b, ir_value x, int64_t from, int64_t to);
/* x in reverse along these dimensions. */
ir_value pass_build_reverse(ir_builder *b, ir_value x, ir_ints dims);
/* Of one value for each branch of a case or an if that of the branch it takes: the last one's for
 * an index out of range. */
ir_value pass_build_choice(ir_builder *b, ir_op op, const ir_value *of);
/* Numbers as index vectors of one, along a further dimension, the last. */
ir_value pass_build_column(ir_builder *b, ir_value x);
/* x[.., at, ..] = rows, at a line of indices along one dimension; out of bounds: nowhere. */
ir_value pass_build_put_rows(ir_builder *b, ir_value x, int64_t dim, ir_value at, ir_value rows);
/* The op once more, without its regions, on other operands and with another result type. */
ir_value pass_build_like(ir_builder *b, ir_op op, const ir_value *operands, ir_type type);

/* v's elements in row-major order in a tensor of more dimensions, where v is made from such by
 * flattening and elementwise ops; else v. Cost: the ops in between, once more. */
ir_value pass_build_unflattened(ir_builder *b, ir_value v);
/* v's elements in any order, where v is made of one sorted array by elementwise ops: what it would
 * be of the array unsorted; else v. */
ir_value pass_build_unsorted(ir_builder *b, ir_value v);

/* What integers are: i_dim * step + offset, step > 0, `last` the largest of them; dim -1: one
 * number. False: neither, or not known; so of i < 0 ? i + n : i, which `ranges` makes i. */
typedef struct pass_affine {
  int32_t dim;
  int64_t step, offset, last;
  int64_t unit, base, extent; /* a digit of i_dim < extent: i_dim / unit % base in its place */
} pass_affine;
bool pass_find_digit(ir_module *m, ir_value v, pass_affine *out);
/* The same of all that dim counts, no digit. */
bool pass_find_affine(ir_module *m, ir_value v, pass_affine *out);
/* Component i of a gather's or scatter's indices: they are it, or joined of such along the index
 * vector. IR_NONE: they are made otherwise. */
ir_value pass_index_component(const ir_module *m, ir_value indices, const ir_gather_numbers *n,
                              int32_t i);
/* A gather, or a scatter of one array, of known shapes. */
typedef struct pass_entries {
  ir_module *m;
  ir_value x, indices, part; /* part: what is taken, or put, or combined with what is there */
  ir_gather_numbers n;
  bool puts;    /* a scatter that puts; else .. */
  ir_kind kind; /* .. by which op it combines, IR_OP_UNKNOWN: by another function, or a gather */
} pass_entries;
bool pass_find_entries(arena *scratch, ir_module *m, ir_op op, pass_entries *out);
/* The dimension that integers count, v[i] = i_dim: iotas, moved and broadcast. -1: none, or not
 * known. */
int64_t pass_counted_dim(ir_module *m, ir_value v);

typedef struct pass_scale { /* multiply or divide by a number; negate */
  ir_kind kind;
  ir_value by; /* broadcast of a scalar, or a splat constant */
} pass_scale;
/* The op does that to its operand *out_x, and nothing else. */
bool pass_find_scaling(const ir_module *m, ir_op op, ir_value *out_x, pass_scale *out);
/* The same done to x, of any shape. */
ir_value pass_build_scaled(ir_builder *b, ir_value x, const pass_scale *s);

/* A product all of f32 or all of f64, of known shape: what is done in its place rounds no less. */
bool pass_is_plain_product(const ir_module *m, ir_op dot);

/* Products of f64, and on CPUs of f32, multiply all bits of their operands, whatever `precision`
 * says. */
bool pass_multiplies_whole(const weir_options *o, ir_dtype dtype);

/* Tensors up to this size are not worth a rewrite that changes roundings: what the splitter leaves
 * alone, 0 where passes are run by name without a limit or a threshold. */
int64_t pass_small_bytes(const weir_options *o);
bool pass_is_large(const pass_rewrite *r, ir_value v); /* above that */

#endif
