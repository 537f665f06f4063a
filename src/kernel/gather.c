/* Gathers inside of a tile: elements of an input at places that other values name. A dynamic slice
 * is one of a single place.
 *
 * In: such a node, at the indices that are bound now. Out: its grid. The operand's dimensions that
 * are named have axes of their own, which nothing else has (nest.c). Where the places have no
 * columns, such an axis is bound to the place, row by row, while the operand is emitted: the row of
 * a table is read in vectors. Where they have, each lane is loaded by itself. Places are clamped to
 * what there is, so that no load leaves the operand (StableHLO specification, gather).
 */
#include "ir/attrs.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"

typedef struct gathering {
  const kernel_node *x;
  const int64_t *dims;                /* of the operand */
  int32_t place_of[KERNEL_MOST_RANK]; /* by dimension of the operand: -1, not named */
  bool is_cut[KERNEL_MOST_RANK];      /* read at one place, named or the only one */
  int32_t n_places;
  kernel_grid places[KERNEL_MOST_RANK]; /* clamped */
  ir_dtype integer;                     /* theirs */
} gathering;

/* ---- the operand ---- */
ir_value kernel_gathered_input(const kernel_nest *n, const kernel_node *x) {
  ir_value v = ir_operand(n->m, x->op, 0);
  const kernel_node *from = kernel_node_of(n, v);
  while (from && (from->kind == IR_OP_CONVERT || from->kind == IR_OP_ROUND)) {
    v = ir_operand(n->m, from->op, 0);
    from = kernel_node_of(n, v);
  }
  return from || kernel_input_of(n, v) < 0 ? IR_NONE : v;
}

static const int64_t *dims_in_memory(const kernel_nest *n, ir_value input) {
  return ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, input)))->dims;
}

bool kernel_gathers_lanes(const kernel_nest *n, const kernel_node *x) {
  return kernel_axes_mask(&x->operands[1]) >> n->column & 1;
}

/* Of columns, where the operand has some of its own. */
static bool is_strided(const kernel_nest *n, const kernel_node *x) {
  const int64_t *dims = dims_in_memory(n, kernel_gathered_input(n, x));
  return kernel_stride(dims, &x->operands[0], n->column) > 1;
}

bool kernel_gather_is_legal(const kernel_nest *n, const kernel_node *x) {
  return !is_strided(n, x) || kernel_gathers_lanes(n, x);
}

/* ---- places ---- */
static bool is_unsigned(ir_dtype dtype) { return ir_dtype_class_of(dtype) == IR_CLASS_UINT; }

static const char *call_of_two(kernel_emitter *e, const char *name, const char *type,
                               const char *suffix, const char *x, const char *y) {
  kernel_declare(
      e, arena_printf(e->a, "declare %s @llvm.%s.%s(%s, %s)", type, name, suffix, type, type));
  return kernel_line(e, "call %s @llvm.%s.%s(%s %s, %s %s)", type, name, suffix, type, x, type, y);
}

/* In 0 .. last. */
static const char *clamped(kernel_emitter *e, const gathering *g, ir_dtype from, int32_t lanes,
                           const char *x, int64_t last) {
  ir_dtype to = g->integer;
  bool is_vector = lanes > 1;
  const char *type = kernel_type(e, to, is_vector), *suffix = kernel_suffix(e, to, lanes);
  if (ir_dtype_bytes(from) < ir_dtype_bytes(to))
    x = kernel_line(e, "%s %s %s to %s", is_unsigned(from) ? "zext" : "sext",
                    kernel_type(e, from, is_vector), x, type);
  if (!is_unsigned(from))
    x = call_of_two(e, "smax", type, suffix, x, kernel_number(e, to, lanes, 0));
  return call_of_two(e, is_unsigned(from) ? "umin" : "smin", type, suffix, x,
                     kernel_number(e, to, lanes, last));
}

static void clamp_places(kernel_emitter *e, gathering *g, int32_t c, int32_t dim) {
  kernel_grid *p = &g->places[c];
  for (int32_t r = 0; r < p->rows; r++)
    for (int32_t k = 0; k < p->columns; k++)
      p->at[r][k] =
          clamped(e, g, p->dtype, p->is_vector ? e->n->lanes : 1, p->at[r][k], g->dims[dim] - 1);
  p->dtype = g->integer;
  g->place_of[dim] = c;
  g->is_cut[dim] = true;
}

/* The index vectors' component `c`. */
static kernel_grid component(kernel_emitter *e, const kernel_node *x, int64_t along, int32_t c) {
  const kernel_axes *axes = &x->operands[1];
  int32_t axis = along < axes->rank ? axes->of[along] : KERNEL_NO_AXIS;
  kernel_binding before = kernel_bind(e, axis, kernel_int(e, c));
  kernel_grid places = kernel_operand(e, x, 1);
  kernel_unbind(e, &before);
  return places;
}

static void read_gather(kernel_emitter *e, gathering *g) {
  ir_gather_numbers numbers;
  CTX_CHECK(e->n->m->ctx, ir_gather_dims(e->a, e->n->m, g->x->op, &numbers));
  for (int32_t i = 0; i < numbers.collapsed_slice_dims.count; i++)
    g->is_cut[numbers.collapsed_slice_dims.at[i]] = true;
  for (int32_t c = 0; c < numbers.start_index_map.count; c++) {
    g->places[g->n_places++] = component(e, g->x, numbers.index_vector_dim, c);
    clamp_places(e, g, c, (int32_t)numbers.start_index_map.at[c]);
  }
}

/* Where the slice is the whole dimension it begins at 0. */
static void read_dynamic_slice(kernel_emitter *e, gathering *g) {
  const int64_t *slice = ir_type_at(e->n->m, g->x->value)->dims;
  for (int32_t d = 0; d < g->x->operands[0].rank; d++) {
    if (slice[d] == g->dims[d]) continue;
    g->places[g->n_places] = kernel_operand(e, g->x, 1 + (uint32_t)d);
    clamp_places(e, g, g->n_places++, d);
  }
}

/* A place as an i64. */
static const char *scalar_place(kernel_emitter *e, const gathering *g, const kernel_grid *places,
                                int32_t r) {
  const char *x = kernel_at(places, r, 0);
  return g->integer == IR_I64 ? x : kernel_line(e, "zext i32 %s to i64", x);
}

/* ---- rows of the operand ---- */
/* Where it is: a copy would be of all rows, and few are read. */
static kernel_grid operand_in_place(kernel_emitter *e, const kernel_node *x) {
  bool in_tile = e->tile.in_tile, in_copy = e->tile.in_copy;
  e->tile.in_tile = e->tile.in_copy = false;
  kernel_grid part = kernel_operand(e, x, 0);
  e->tile.in_tile = in_tile, e->tile.in_copy = in_copy;
  return part;
}

static kernel_grid operand_at(kernel_emitter *e, const gathering *g, int32_t r) {
  const kernel_axes *axes = &g->x->operands[0];
  kernel_binding before[KERNEL_MOST_RANK];
  for (int32_t d = 0; d < axes->rank; d++) {
    int32_t c = g->place_of[d];
    const char *place = c >= 0 ? scalar_place(e, g, &g->places[c], r) : "0";
    before[d] = kernel_bind(e, g->is_cut[d] ? axes->of[d] : KERNEL_NO_AXIS, place);
  }
  kernel_grid part = operand_in_place(e, g->x);
  for (int32_t d = axes->rank - 1; d >= 0; d--) kernel_unbind(e, &before[d]);
  return part;
}

static kernel_grid read_rows(kernel_emitter *e, const gathering *g) {
  int32_t rows = 1;
  for (int32_t c = 0; c < g->n_places; c++)
    if (g->places[c].rows > rows) rows = g->places[c].rows;
  kernel_grid all = operand_at(e, g, 0);
  if (rows > all.rows) all.rows = rows;
  for (int32_t r = 1; r < rows; r++) {
    kernel_grid part = operand_at(e, g, r);
    for (int32_t c = 0; c < all.columns; c++) all.at[r][c] = kernel_at(&part, r, c);
  }
  return all;
}

/* ---- lanes ---- */
/* The operand's axes without those that are named. */
static kernel_axes fixed_axes(const gathering *g) {
  kernel_axes axes = g->x->operands[0];
  for (int32_t d = 0; d < axes.rank; d++)
    if (g->is_cut[d]) axes.of[d] = KERNEL_NO_AXIS;
  return axes;
}

/* Elements from the operand's fixed address to each lane's. */
static const char *lane_offsets(kernel_emitter *e, const gathering *g, const int64_t *in_memory,
                                int64_t apart, int32_t r, int32_t c) {
  const char *type = kernel_type(e, g->integer, true), *sum = NULL;
  int64_t stride = 1;
  if (apart) sum = kernel_lane_numbers(e, g->integer, apart);
  for (int32_t d = g->x->operands[0].rank - 1; d >= 0; stride *= in_memory[d--]) {
    int32_t k = g->place_of[d];
    if (k < 0) continue;
    const char *x = kernel_widened(e, &g->places[k], r, c, true);
    if (stride > 1)
      x = kernel_line(e, "mul %s %s, %s", type, x,
                      kernel_number(e, g->integer, e->n->lanes, stride));
    sum = sum ? kernel_line(e, "add %s %s, %s", type, sum, x) : x;
  }
  return sum;
}

/* From memory, and through the conversions between. */
static const char *element(kernel_emitter *e, const gathering *g, ir_value v,
                           const char *pointers) {
  const kernel_node *x = kernel_node_of(e->n, v);
  if (!x) return kernel_load_lanes(e, ir_type_at(e->n->m, v)->dtype, pointers);
  const char *from = element(e, g, ir_operand(e->n->m, x->op, 0), pointers);
  return kernel_emit_elementwise(e, x->op, e->n->lanes, &from);
}

static kernel_grid read_lanes(kernel_emitter *e, const gathering *g) {
  ir_value input = kernel_gathered_input(e->n, g->x);
  ir_dtype dtype = ir_type_at(e->n->m, input)->dtype;
  const int64_t *in_memory = dims_in_memory(e->n, input);
  kernel_axes fixed = fixed_axes(g);
  int64_t apart = kernel_stride(in_memory, &fixed, e->n->column);
  kernel_grid all = {.dtype = ir_type_at(e->n->m, g->x->value)->dtype, .is_vector = true};
  all.rows = g->x->mask >> e->n->row & 1 ? e->tile.rows : 1;
  all.columns = e->tile.vectors;
  for (int32_t r = 0; r < all.rows; r++)
    for (int32_t c = 0; c < all.columns; c++) {
      const char *p =
          kernel_address(e, dtype, kernel_input_base(e, input), in_memory, &fixed, r, c);
      const char *pointers =
          kernel_line(e, "getelementptr %s, ptr %s, %s %s", kernel_memory_type(dtype), p,
                      kernel_type(e, g->integer, true), lane_offsets(e, g, in_memory, apart, r, c));
      all.at[r][c] = element(e, g, ir_operand(e->n->m, g->x->op, 0), pointers);
    }
  return all;
}

/* ---- the whole ---- */
/* 32 bits where they hold all indices and places: twice as many to a register. */
static ir_dtype integer_of(const kernel_nest *n, const kernel_node *x) {
  ir_value input = kernel_gathered_input(n, x);
  const int64_t *dims = dims_in_memory(n, input);
  int64_t elements = 1;
  for (int32_t d = 0; d < ir_type_at(n->m, input)->rank; d++)
    if (__builtin_mul_overflow(elements, dims[d], &elements)) return IR_I64;
  bool is_wide = ir_dtype_bytes(ir_type_at(n->m, ir_operand(n->m, x->op, 1))->dtype) > 4;
  return is_wide || elements > INT32_MAX ? IR_I64 : IR_I32;
}

kernel_grid kernel_emit_gather(kernel_emitter *e, const kernel_node *x) {
  gathering g = {.x = x, .integer = integer_of(e->n, x)};
  bool lanes = is_strided(e->n, x);
  g.dims = ir_type_at(e->n->m, ir_operand(e->n->m, x->op, 0))->dims;
  for (int32_t d = 0; d < KERNEL_MOST_RANK; d++) g.place_of[d] = -1;
  if (x->kind == IR_OP_GATHER) read_gather(e, &g);
  else read_dynamic_slice(e, &g);
  for (int32_t c = 0; c < g.n_places; c++) lanes |= g.places[c].is_vector;
  return lanes ? read_lanes(e, &g) : read_rows(e, &g);
}
