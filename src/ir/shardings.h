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
/* Of a value, from '<' on. NULL: none is said, it is whole on every device. */
const char *ir_value_sharding(const ir_module *m, ir_value v);
/* The axes of dimension `dim`: "{...}", perhaps with a priority, to *out_end. */
const char *ir_sharding_dim(const char *sharding, int32_t dim, const char **out_end);

/* The text of the mesh that a sharding names: <["x"=2, "y"=4]>, perhaps with an order of devices;
 * NULL: none, or an inlined one. */
const char *ir_sharding_mesh(const ir_module *m, const char *sharding);

/* Axes, or parts of them, of a mesh whose devices are numbered row by row. */
enum { IR_MOST_AXES = 8 };
typedef struct ir_axis {
  const char *text; /* as the sharding names it: "x", "x":(2)4 */
  int32_t length;
  int64_t size, stride; /* of the numbers of devices along it */
} ir_axis;
typedef struct ir_axes {
  int32_t n;
  ir_axis at[IR_MOST_AXES]; /* the first is the outermost */
} ir_axes;
/* All of a mesh; those between `from` and `end`, of such a mesh. False: they do not read. */
bool ir_axes_of_mesh(const char *mesh, ir_axes *out);
bool ir_axes_named(const ir_axes *mesh, const char *from, const char *end, ir_axes *out);
int64_t ir_axes_devices(const ir_axes *axes); /* their sizes' product; saturates */
bool ir_axes_equal(const ir_axes *a, const ir_axes *b);

/* x under that sharding ("#sdy.sharding<...>"), at the end of the block. */
ir_value ir_build_sharding_constraint(ir_module *m, ir_block block, ir_value x,
                                      const char *sharding);

#endif
