/* Shardy's attributes, which the IR keeps as text. A sharding is <@mesh, [{"x", "y"}, {}, {?}],
 * ...>: axes by dimension; the mesh may be inlined, <mesh<["x"=2]>, ...>. What has several values
 * has a list of them, #sdy.sharding_per_value<[<...>, <...>]>. Pointers into texts of the module;
 * NULL: no such thing, or it does not read. */
#ifndef WEIR_IR_SHARDINGS_H
#define WEIR_IR_SHARDINGS_H
#include "ir/ir.h"

/* The n-th `c` that stands inside of `depth` angle brackets, and outside of quotes. */
const char *ir_sharding_find(const char *text, int depth, char c, uint32_t n);
/* The attribute's text, if it is kept as text. */
const char *ir_sharding_text(const ir_module *m, ir_attr attr);
/* Sharding `index` of the op's attribute `name`, from its '<' on, to its '>'. */
const char *ir_sharding_of(const ir_module *m, ir_op op, const char *name, uint32_t index);
/* With both brackets; 0 for NULL. */
size_t ir_sharding_length(const char *sharding);

/* x under that sharding ("#sdy.sharding<...>"), at the end of the block. */
ir_value ir_build_sharding_constraint(ir_module *m, ir_block block, ir_value x,
                                      const char *sharding);

#endif
