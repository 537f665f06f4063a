/* Slices, pads and concatenations inside of a tile. In: such a node, at the indices that are bound
 * now. Out: its grid. The dimensions that it cuts are two axes (nest.c): the operand's is bound to
 * what the result's index means there, while the operand is emitted. Of literals (unrolled axes)
 * that is a literal; else a part that the index is not in is read at its first element, and the
 * value selected.
 */
#include <stdlib.h>

#include "ir/attrs.h"
#include "kernel/emit.h"

typedef struct place { /* of the result's index in an operand */
  const char *index;
  const char *inside; /* "true", "false" or a name */
} place;

typedef struct part { /* an operand, and how its indices lie in the result's */
  uint32_t operand;
  const int64_t *low, *gap; /* by dimension; gap NULL: none */
} part;

static const char *bound_index(const kernel_emitter *e, int32_t axis) {
  return axis < 0 ? "0" : e->tile.bound[axis];
}

/* The operand at these indices of its axes; NULL: as bound. */
static kernel_grid operand_at(kernel_emitter *e, const kernel_node *x, uint32_t operand,
                              const char *const *index) {
  const kernel_axes *axes = &x->operands[operand];
  kernel_binding before[KERNEL_MOST_RANK];
  for (int32_t d = 0; d < axes->rank; d++)
    before[d] = kernel_bind(e, index[d] ? axes->of[d] : KERNEL_NO_AXIS, index[d]);
  kernel_grid g = kernel_operand(e, x, operand);
  for (int32_t d = axes->rank - 1; d >= 0; d--) kernel_unbind(e, &before[d]);
  return g;
}

static kernel_grid slice(kernel_emitter *e, const kernel_node *x) {
  const int64_t *start = ir_op_list(e->n->m, x->op, "start_indices").at,
                *stride = ir_op_list(e->n->m, x->op, "strides").at;
  const char *index[KERNEL_MOST_RANK] = {NULL};
  for (int32_t d = 0; d < x->result.rank; d++)
    if (!kernel_keeps_index(e->n->m, x->op, 0, d))
      index[d] =
          kernel_index(e, kernel_int(e, start[d]), bound_index(e, x->result.of[d]), stride[d]);
  return operand_at(e, x, 0, index);
}

/* Index `low + i (1 + gap)` of the result is index i of the operand, which has `length`. */
static place place_of(kernel_emitter *e, const char *at, int64_t low, int64_t gap, int64_t length) {
  if (!length) return (place){"0", "false"};
  const char *from = kernel_index(e, kernel_int(e, -low), at, 1);
  int64_t step = gap + 1, end = (length - 1) * step + 1;
  if (from[0] != '%') {
    int64_t i = atoll(from);
    bool inside = i >= 0 && i < end && i % step == 0;
    return (place){kernel_int(e, inside ? i / step : 0), inside ? "true" : "false"};
  }
  const char *inside = kernel_line(e, "icmp ult i64 %s, %lld", from, (long long)end);
  if (step > 1) {
    const char *rest = kernel_line(e, "urem i64 %s, %lld", from, (long long)step);
    const char *even = kernel_line(e, "icmp eq i64 %s, 0", rest);
    inside = kernel_line(e, "and i1 %s, %s", inside, even);
    from = kernel_line(e, "udiv i64 %s, %lld", from, (long long)step);
  }
  return (place){kernel_line(e, "select i1 %s, i64 %s, i64 0", inside, from), inside};
}

static const char *both(kernel_emitter *e, const char *a, const char *b) {
  if (!strcmp(a, "true") || !strcmp(b, "false")) return b;
  if (!strcmp(b, "true") || !strcmp(a, "false")) return a;
  return kernel_line(e, "and i1 %s, %s", a, b);
}

static kernel_grid chosen(kernel_emitter *e, const char *test, const kernel_grid *yes,
                          const kernel_grid *no) {
  kernel_grid g = {.dtype = yes->dtype, .is_vector = yes->is_vector || no->is_vector};
  g.rows = yes->rows > no->rows ? yes->rows : no->rows;
  g.columns = yes->columns > no->columns ? yes->columns : no->columns;
  const char *type = kernel_type(e, g.dtype, g.is_vector);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] = kernel_line(e, "select i1 %s, %s %s, %s %s", test, type,
                               kernel_widened(e, yes, r, c, g.is_vector), type,
                               kernel_widened(e, no, r, c, g.is_vector));
  return g;
}

/* The part at the bound indices, where they are in it: else what g has, if it has something. False:
 * the indices never are, and g stays. */
static bool add_part(kernel_emitter *e, const kernel_node *x, const part *p, bool has,
                     kernel_grid *g) {
  const ir_type_data *type = ir_type_at(e->n->m, ir_operand(e->n->m, x->op, p->operand));
  const char *index[KERNEL_MOST_RANK] = {NULL}, *inside = "true";
  for (int32_t d = 0; d < x->result.rank; d++) {
    if (kernel_keeps_index(e->n->m, x->op, p->operand, d)) continue;
    place at = place_of(e, bound_index(e, x->result.of[d]), p->low[d], p->gap ? p->gap[d] : 0,
                        type->dims[d]);
    index[d] = at.index;
    inside = both(e, inside, at.inside);
  }
  if (!strcmp(inside, "false")) return has;
  kernel_grid part = operand_at(e, x, p->operand, index);
  *g = has && strcmp(inside, "true") ? chosen(e, inside, &part, g) : part;
  return true;
}

static kernel_grid pad(kernel_emitter *e, const kernel_node *x) {
  part p = {0, ir_op_list(e->n->m, x->op, "edge_padding_low").at,
            ir_op_list(e->n->m, x->op, "interior_padding").at};
  kernel_grid g = kernel_operand(e, x, 1);
  add_part(e, x, &p, true, &g);
  return g;
}

static kernel_grid concatenate(kernel_emitter *e, const kernel_node *x) {
  int64_t low[KERNEL_MOST_RANK] = {0}, dim = ir_op_int(e->n->m, x->op, "dimension", 0);
  part p = {0, low, NULL};
  kernel_grid g = {0};
  bool has = false;
  for (; p.operand < x->n_operands; p.operand++) {
    has = add_part(e, x, &p, has, &g);
    low[dim] += ir_type_at(e->n->m, ir_operand(e->n->m, x->op, p.operand))->dims[dim];
  }
  return g;
}

kernel_grid kernel_emit_strided(kernel_emitter *e, const kernel_node *x) {
  return x->kind == IR_OP_SLICE ? slice(e, x)
         : x->kind == IR_OP_PAD ? pad(e, x)
                                : concatenate(e, x);
}
