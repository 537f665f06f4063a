/* Values as tables of points, made once for a chunk of rows or a block of columns: see product.c.
 */
#include "kernel/product.h"

#include "kernel/cost.h"
#include "kernel/elementwise.h"

typedef struct context { /* of the emitter, to make a table from anywhere */
  kernel_tile tile;
  kernel_function function;
} context;

static void enter(kernel_emitter *e, context *c) {
  c->tile = e->tile;
  kernel_function_begin(e, &c->function);
  e->tile.row = e->tile.body = e->out;
  memset(&e->tile.memos, 0, sizeof e->tile.memos);
  memset(e->tile.bound, 0, sizeof e->tile.bound);
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (e->n->role[a] == KERNEL_OUTER) e->tile.bound[a] = c->tile.bound[a];
  memset(e->tile.is_constant, 0, sizeof e->tile.is_constant);
  e->tile.mask = NULL;
  e->tile.in_tile = false;
  e->tile.filling = true;
}

static void leave(kernel_emitter *e, context *c, kernel_level level, strbuf *caller) {
  kernel_function_end(e, &c->function, level, caller);
  e->tile = c->tile;
}

static kernel_table *find_table(kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  for (kernel_table *t = e->tables.at; t < VEC_END(e->tables); t++)
    if (t->value == v && t->axes.rank == axes->rank &&
        !memcmp(t->axes.of, axes->of, (size_t)axes->rank))
      return t;
  return NULL;
}

static kernel_table *new_table(kernel_emitter *e, ir_value v, const kernel_axes *axes, int32_t axis,
                               int64_t entries) {
  ir_dtype dtype = ir_type_at(e->n->m, v)->dtype;
  CTX_CHECK(e->n->m->ctx, entries > 0 && kernel_has_axis(axes, axis) && !find_table(e, v, axes));
  kernel_table t = {.value = v, .axes = *axes, .axis = axis, .pass = -1};
  t.points = e->n->extent[axis];
  t.padded = kernel_padded_to_lanes(e->n, t.points);
  t.base = kernel_scratch(e, entries * t.padded * ir_dtype_bytes(dtype));
  VEC_PUSH(e->a, &e->tables, t);
  return &e->tables.at[e->tables.count - 1];
}

const char *kernel_table_at(kernel_emitter *e, const kernel_table *t, const char *entry,
                            const char *point) {
  ir_dtype dtype = ir_type_at(e->n->m, t->value)->dtype;
  const char *first = kernel_settled(e, dtype, t->base, kernel_index(e, "0", entry, t->padded));
  return kernel_after(e, dtype, first, point);
}

static void clear_padding(kernel_emitter *e, const kernel_table *t, const char *entry) {
  ir_dtype dtype = ir_type_at(e->n->m, t->value)->dtype;
  for (int64_t i = t->points; i < t->padded; i++)
    kernel_store_at(e, dtype, false, kernel_number(e, dtype, 1, 0),
                    kernel_table_at(e, t, entry, kernel_int(e, i)));
}

/* ---- points as lanes ---- */
/* Whether lanes may go along the axis in all that v is made of, which has no rows. What is summed
 * over it inside the tile needs it there; of what is the same along it a function would be computed
 * number by number. */
static bool may_turn(const kernel_nest *n, ir_value v, int32_t axis) {
  const kernel_node *x = kernel_node_of(n, v);
  if (!x) return true;
  bool is_function = ir_kind_flags(x->kind) & IR_FLAG_H, has_axis = x->mask >> axis & 1;
  if (x->depth || x->index >= 0 || x->late >= 0 || kernel_is_gather(x) || kernel_is_variadic(x))
    return false;
  if (x->reduces >> axis & 1 || (is_function && !has_axis)) return false;
  for (uint32_t i = 0; i < x->n_operands; i++)
    if (!may_turn(n, ir_operand(n->m, x->op, i), axis)) return false;
  return true;
}

/* Whether an input of it is read along the axis, as it lies. */
static bool lies_along(const kernel_nest *n, ir_value v, const kernel_axes *axes, int32_t axis) {
  const kernel_node *x = kernel_node_of(n, v);
  int32_t input = x ? -1 : kernel_input_of(n, v);
  if (input >= 0)
    return kernel_has_axis(axes, n->column) &&
           kernel_stride(ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)input))->dims, axes,
                         axis) == 1;
  for (uint32_t i = 0; x && i < x->n_operands; i++)
    if (lies_along(n, ir_operand(n->m, x->op, i), &x->operands[i], axis)) return true;
  return false;
}

bool kernel_table_is_turned(const kernel_nest *n, ir_value v, const kernel_axes *axes,
                            int32_t axis) {
  return kernel_node_of(n, v) && !((n->strided | n->positions) >> axis & 1) &&
         may_turn(n, v, axis) && lies_along(n, v, axes, axis);
}

/* Makes `axis` the one of the lanes; the columns are points then. Returns the one that it was. */
static int32_t turn(kernel_nest *n, int32_t axis) {
  int32_t before = n->column;
  CTX_CHECK(n->m->ctx, axis != n->row && n->role[axis] != KERNEL_OUTER);
  n->role[before] = KERNEL_POINT;
  n->role[axis] = KERNEL_COLUMN;
  n->column = axis;
  return before;
}

/* A loop over the points of a table; what its value needs and they do not change is made before. */
static kernel_loop begin_points(kernel_emitter *e, const kernel_table *t) {
  const kernel_node *x = kernel_node_of(e->n, t->value);
  if (x && x->index < 0 && x->late < 0) kernel_hoist(e, x, t->axis);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, t->points), "1");
  e->tile.bound[t->axis] = l.index;
  return l;
}

static void fill_rows(kernel_emitter *e, const kernel_table *t) {
  context c;
  enter(e, &c);
  e->tile.vectors = 1;
  kernel_loop row = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, row.index, 1);
  kernel_loop point = begin_points(e, t);
  kernel_grid g = kernel_value(e, t->value, &t->axes);
  kernel_store_at(e, g.dtype, false, kernel_at(&g, 0, 0),
                  kernel_table_at(e, t, row.index, point.index));
  kernel_loop_end(e, &point);
  clear_padding(e, t, row.index);
  kernel_loop_end(e, &row);
  leave(e, &c, KERNEL_CHUNK, e->before);
}

static void store_lanes(kernel_emitter *e, const kernel_table *t, const kernel_grid *g,
                        const char *point) {
  int32_t lanes = e->n->lanes;
  const char *p = kernel_table_at(e, t, e->tile.column_local, point),
             *y = kernel_widened(e, g, 0, 0, true);
  for (int32_t i = 0; i < lanes; i++) {
    const char *one =
        kernel_line(e, "extractelement %s %s, i64 %d", kernel_type(e, g->dtype, true), y, i);
    kernel_store_at(e, g->dtype, false, one,
                    kernel_line(e, "getelementptr %s, ptr %s, i64 %lld",
                                kernel_memory_type(g->dtype), p, (long long)(i * t->padded)));
  }
}

/* A vector of points; in the padding what the value is of zeros, which nobody reads. */
static void store_points(kernel_emitter *e, const kernel_table *t, const char *column,
                         const char *point) {
  e->tile.column = e->tile.column_local = point;
  kernel_grid g = kernel_value(e, t->value, &t->axes);
  kernel_store_at(e, g.dtype, true, kernel_widened(e, &g, 0, 0, true),
                  kernel_table_at(e, t, column, point));
}

static void fill_points(kernel_emitter *e, const kernel_table *t, const char *column) {
  int32_t lanes = e->n->lanes;
  int64_t whole = t->points / lanes * lanes;
  if (whole) {
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, whole), kernel_int(e, lanes));
    store_points(e, t, column, l.index);
    kernel_loop_end(e, &l);
  }
  if (whole == t->points) return;
  e->tile.mask = kernel_first_lanes(e, t->points - whole);
  store_points(e, t, column, kernel_int(e, whole));
  e->tile.mask = NULL;
}

/* Column by column. */
static void fill_turned(kernel_emitter *e, const kernel_table *t) {
  context c;
  enter(e, &c);
  e->tile.vectors = e->tile.rows = 1;
  int32_t columns = turn(e->n, t->axis);
  kernel_loop l = kernel_loop_begin(e, "0", e->block_columns, "1");
  e->tile.bound[columns] = kernel_line(e, "add i64 %s, %s", e->block_begin, l.index);
  kernel_hoist(e, kernel_node_of(e->n, t->value), t->axis);
  fill_points(e, t, l.index);
  kernel_loop_end(e, &l);
  turn(e->n, columns);
  leave(e, &c, KERNEL_BLOCK, e->pack);
}

/* The lanes after the block's last column go to entries that nobody reads. */
static void fill_columns(kernel_emitter *e, const kernel_table *t) {
  context c;
  enter(e, &c);
  e->tile.vectors = e->tile.rows = 1;
  kernel_loop column = kernel_loop_begin(e, "0", e->block_columns, kernel_int(e, e->n->lanes));
  e->tile.column_local = column.index;
  e->tile.column = kernel_line(e, "add i64 %s, %s", e->block_begin, column.index);
  e->tile.mask = kernel_tail_mask(e, column.index);
  kernel_loop point = begin_points(e, t);
  kernel_grid g = kernel_value(e, t->value, &t->axes);
  store_lanes(e, t, &g, point.index);
  kernel_loop_end(e, &point);
  kernel_loop_end(e, &column);
  if (t->points < t->padded) {
    kernel_loop l = kernel_loop_begin(e, "0", e->block_columns, "1");
    clear_padding(e, t, l.index);
    kernel_loop_end(e, &l);
  }
  leave(e, &c, KERNEL_BLOCK, e->pack);
}

/* A table of this pass, or of this pass's blocks. */
const kernel_table *kernel_get_table(kernel_emitter *e, ir_value v, const kernel_axes *axes,
                                     int32_t axis, bool of_rows) {
  kernel_table *t = find_table(e, v, axes);
  if (!t) t = new_table(e, v, axes, axis, of_rows ? e->n->sizes.chunk : e->n->sizes.block);
  if (t->pass == e->pass) return t;
  t->pass = e->pass;
  kernel_table copy = *t; /* the values that fill it may need tables, too */
  if (of_rows) fill_rows(e, &copy);
  else if (kernel_table_is_turned(e->n, v, axes, axis)) fill_turned(e, &copy);
  else fill_columns(e, &copy);
  return find_table(e, v, axes);
}

bool kernel_has_table(const kernel_nest *n, const kernel_node *x) {
  uint32_t points = kernel_point_axes(n, x->mask);
  if (x->depth || !points || points & (points - 1)) return false;
  bool costs = cost_weight(n, x) > 0 || x->reduces;
  return x->mask >> n->row & 1 && !(x->mask >> n->column & 1) && costs &&
         (x->index < 0 || x->n_terms) && kernel_extent_of(n, points) > COST_UNROLL;
}

static bool wants_table(const kernel_emitter *e, const kernel_node *x) {
  if (e->tile.filling || !e->before || e->out == e->tile.row || x->level > e->pass) return false;
  if (!kernel_has_table(e->n, x)) return false;
  int32_t axis = 31 - __builtin_clz(kernel_point_axes(e->n, x->mask));
  return e->tile.bound[axis] && !e->tile.is_constant[axis];
}

bool kernel_read_table(kernel_emitter *e, const kernel_node *x, kernel_grid *g) {
  if (!wants_table(e, x)) return false;
  int32_t axis = 31 - __builtin_clz(kernel_point_axes(e->n, x->mask));
  const kernel_table *t = kernel_get_table(e, x->value, &x->result, axis, true);
  for (int32_t r = 0; r < g->rows; r++) {
    const char *p = kernel_table_at(e, t, e->tile.row_local[0], e->tile.bound[axis]);
    g->at[r][0] = kernel_load_at(e, g->dtype, false,
                                 kernel_after(e, g->dtype, p, kernel_int(e, r * t->padded)));
  }
  return true;
}
