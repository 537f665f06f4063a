/* Packing: copies made before a tile, of what is the same for all rows or for all columns.
 *
 *   of columns, once a block:  [panel][points][columns of a panel]   a panel is as wide as the tile
 *   of rows, once a chunk:     [group][points][rows of a group]      a group is as high as the tile
 * Inputs that are read along the columns with a stride; and computed values (|y|^2, y / |y|, 2 x),
 * which would be computed anew for each tile of the other side. Points: the axes inside of the
 * tile, in the order of the value's dimensions, so that two readers with axes of their own share a
 * copy. An input whose points lie next to each other in memory goes through registers, a square of
 * lanes x lanes elements at a time, transposed by loads of parts of registers and shuffles inside
 * of these (as Eklundh 1972).
 */
#include "tile/pack.h"

#include "tile/cost.h"
#include "tile/elementwise.h"

static bool has_axis(const tile_axes *axes, int32_t axis) {
  for (int32_t i = 0; i < axes->rank; i++)
    if (axes->of[i] == axis) return true;
  return false;
}

/* ---- what is packed ---- */
static bool is_moved(ir_kind kind) {
  return kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_TRANSPOSE || kind == IR_OP_RESHAPE;
}

static tile_packing packing_of(const tile_nest *n, const tile_node *x) {
  bool row = x->mask >> n->row & 1, column = x->mask >> n->column & 1;
  bool known = x->level == 0 && !x->depth && !x->after && x->index < 0 && x->late < 0;
  bool is_free = x->kind == IR_OP_CONSTANT || x->kind == IR_OP_IOTA;
  if (!known || is_free || row == column || is_moved(x->kind)) return TILE_NOT_PACKED;
  if (tile_extent_of(n, tile_point_axes(n, x->mask)) > COST_MOST_PACKED) return TILE_NOT_PACKED;
  return row ? TILE_PACKED_ROWS : x->is_rowless ? TILE_PACKED_COLUMNS : TILE_NOT_PACKED;
}

static void mark(tile_nest *n, ir_value v) {
  const tile_node *x = tile_node_of(n, v);
  while (x && is_moved(x->kind) && (x->mask >> n->row ^ x->mask >> n->column) & 1) {
    v = ir_operand(n->m, x->op, 0);
    x = tile_node_of(n, v);
  }
  if (x) n->nodes[x - n->nodes].packed = packing_of(n, x);
}

void tile_mark_packed(tile_nest *n) {
  uint32_t tile = 1u << n->row | 1u << n->column;
  for (uint32_t k = 0; k < n->n_nodes; k++) n->nodes[k].packed = TILE_NOT_PACKED;
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const tile_node *x = &n->nodes[k];
    if (((x->mask | x->reduces) & tile) != tile) continue;
    for (uint32_t i = 0; i < x->n_operands; i++) mark(n, ir_operand(n->m, x->op, i));
  }
}

static int64_t point_count(const tile_nest *n, const tile_axes *axes) {
  int64_t count = 1;
  for (int32_t d = 0; d < axes->rank; d++)
    if (axes->of[d] >= 0 && n->role[axes->of[d]] < TILE_OUTER) count *= n->extent[axes->of[d]];
  return count;
}

/* Inputs once, however often they are read. */
static int64_t input_bytes(const tile_nest *n, int32_t axis) {
  int64_t *most = ARENA_ARRAY(n->a, int64_t, n->n_inputs + 1), sum = 0;
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    bool in_blocks = !n->nodes[k].after || n->nodes[k].late >= 0;
    for (uint32_t i = 0; in_blocks && i < n->nodes[k].n_operands; i++) {
      ir_value v = ir_operand(n->m, n->nodes[k].op, i);
      const tile_axes *axes = &n->nodes[k].operands[i];
      int32_t input = tile_node_of(n, v) ? -1 : tile_input_of(n, v);
      bool is_table = tile_is_gather(&n->nodes[k]) && i == 0; /* read here and there */
      if (input < 0 || is_table || !has_axis(axes, axis)) continue;
      int64_t bytes = point_count(n, axes) * ir_dtype_bytes(ir_type_at(n->m, v)->dtype);
      if (bytes > most[input]) most[input] = bytes;
    }
  }
  for (uint32_t i = 0; i < n->n_inputs; i++) sum += most[i];
  return sum;
}

int64_t tile_packed_bytes(const tile_nest *n, int32_t axis) {
  tile_packing which = axis == n->row ? TILE_PACKED_ROWS : TILE_PACKED_COLUMNS;
  int64_t bytes = input_bytes(n, axis);
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if (n->nodes[k].packed == which)
      bytes += point_count(n, &n->nodes[k].result) *
               ir_dtype_bytes(ir_type_at(n->m, n->nodes[k].value)->dtype);
  return bytes;
}

/* ---- addresses ---- */
static const char *point_of(tile_emitter *e, const tile_axes *axes) {
  const char *at = "0";
  for (int32_t d = 0; d < axes->rank; d++) {
    int32_t a = axes->of[d];
    if (a < 0 || e->n->role[a] >= TILE_OUTER) continue;
    at = tile_index(e, tile_index(e, "0", at, e->n->extent[a]), e->bound[a], 1);
  }
  return at;
}

static int64_t width_of(const tile_emitter *e) {
  return (int64_t)e->n->sizes.vectors * e->n->lanes;
}

/* first: of the panel or group; at: in it. */
static const char *packed_at(tile_emitter *e, const tile_pack *p, const tile_axes *axes,
                             const char *first, const char *at, int64_t width) {
  const char *panel = tile_index(e, "0", first, point_count(e->n, axes));
  const char *base = tile_settled(e, p->dtype, p->base, panel);
  base = tile_after(e, p->dtype, base, tile_index(e, "0", point_of(e, axes), width));
  return tile_after(e, p->dtype, base, at);
}

static const char *column_address(tile_emitter *e, const tile_pack *p, const tile_axes *axes,
                                  int32_t c) {
  const char *first = e->mask ? e->block_main : e->column_local;
  const char *at = e->mask ? tile_line(e, "sub i64 %s, %s", e->column_local, e->block_main)
                           : tile_int(e, (int64_t)c * e->n->lanes);
  return packed_at(e, p, axes, first, at, width_of(e));
}

static const char *row_address(tile_emitter *e, const tile_pack *p, const tile_axes *axes,
                               int32_t r) {
  const char *first = e->group ? e->group : e->row_local[0];
  const char *at =
      e->group ? tile_line(e, "sub i64 %s, %s", e->row_local[r], e->group) : tile_int(e, r);
  return packed_at(e, p, axes, first, at, e->n->sizes.rows);
}

/* ---- squares through registers ---- */
enum { MOST_PARTS = 16, PART_BYTES = 16, MOST_IN_PART = 16 };

/* Elements of the parts of a register that most shuffles stay in. */
static int32_t part_of(const tile_emitter *e, ir_dtype dtype) {
  int32_t part = PART_BYTES / (int32_t)ir_dtype_bytes(dtype);
  return part < e->n->lanes ? part : e->n->lanes;
}

static const char *shuffled(tile_emitter *e, ir_dtype dtype, int32_t width, const char *x,
                            const char *y, const char *mask, int32_t count) {
  const char *type = arena_printf(e->a, "<%d x %s>", width, tile_dtype_text(dtype));
  return tile_line(e, "shufflevector %s %s, %s %s, <%d x i32> <%s>", type, x, type, y, count, mask);
}

/* Vectors of `width`, a power of two of them, as one. */
static const char *joined(tile_emitter *e, ir_dtype dtype, int32_t width, const char **x,
                          int32_t count) {
  if (count == 1) return x[0];
  const char *low = joined(e, dtype, width, x, count / 2),
             *high = joined(e, dtype, width, x + count / 2, count / 2);
  strbuf b = strbuf_make(e->a);
  for (int32_t l = 0; l < width * count; l++) strbuf_printf(&b, "%si32 %d", l ? ", " : "", l);
  return shuffled(e, dtype, width * count / 2, low, high, b.text, width * count);
}

/* In each part the low (or high) halves of both, lane by lane. */
static const char *interleaved(tile_emitter *e, ir_dtype dtype, const char *x, const char *y,
                               bool high) {
  int32_t part = part_of(e, dtype);
  strbuf b = strbuf_make(e->a);
  for (int32_t l = 0; l < e->n->lanes; l++) {
    int32_t from = l - l % part + (high ? part / 2 : 0) + l % part / 2;
    strbuf_printf(&b, "%si32 %d", l ? ", " : "", l & 1 ? from + e->n->lanes : from);
  }
  return shuffled(e, dtype, e->n->lanes, x, y, b.text, e->n->lanes);
}

/* In each part of `part` vectors element i of vector j becomes element j of vector i. */
static void transpose_parts(tile_emitter *e, ir_dtype dtype, const char **x) {
  int32_t part = part_of(e, dtype);
  const char *next[MOST_IN_PART];
  for (int32_t stage = 1; stage < part; stage *= 2) {
    for (int32_t i = 0; i < part; i++)
      next[i] = interleaved(e, dtype, x[i / 2], x[i / 2 + part / 2], i & 1);
    memcpy(x, next, (size_t)part * sizeof *next);
  }
}

/* The parts at `first` of a square's columns, `part` vectors of them, the columns of a vector
 * `part` apart; what is as far on in the next panel is sent for: what lies a stride apart is not
 * foreseen by the machine. */
static void load_parts(tile_emitter *e, ir_dtype dtype, const char *first, const char *sent,
                       const char **out) {
  int32_t part = part_of(e, dtype), parts = e->n->lanes / part;
  const char *pieces[MOST_IN_PART][MOST_PARTS];
  for (int32_t i = 0; i < e->n->lanes; i++) {
    if (i) first = tile_after(e, dtype, first, "%stride");
    pieces[i % part][i / part] =
        tile_line(e, "load <%d x %s>, ptr %s, align %lld", part, tile_dtype_text(dtype), first,
                  (long long)ir_dtype_bytes(dtype));
  }
  tile_declare(e, "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
  for (int32_t j = 0; j < part; j++) {
    if (j) sent = tile_after(e, dtype, sent, "%stride");
    tile_put(e, "call void @llvm.prefetch.p0(ptr %s, i32 0, i32 2, i32 1)", sent);
    out[j] = joined(e, dtype, part, pieces[j], parts);
  }
}

/* lanes columns at `from`, `stride` elements apart, as many points of each. */
static void transpose_square(tile_emitter *e, ir_dtype dtype) {
  int32_t part = part_of(e, dtype);
  const char *x[MOST_IN_PART];
  const char *panel = tile_line(e, "mul i64 %%stride, %lld", (long long)width_of(e));
  tile_loop l = tile_loop_begin(e, "0", tile_int(e, e->n->lanes), tile_int(e, part));
  const char *row = tile_line(e, "mul i64 %%stride, %s", l.index);
  load_parts(e, dtype, tile_settled(e, dtype, "%from", l.index),
             tile_settled(e, dtype, "%from", tile_index(e, panel, row, 1)), x);
  transpose_parts(e, dtype, x);
  const char *to = tile_line(e, "mul i64 %%apart, %s", l.index);
  to = tile_settled(e, dtype, "%to", to);
  for (int32_t j = 0; j < part; j++) {
    if (j) to = tile_after(e, dtype, to, "%apart");
    tile_store_at(e, dtype, true, x[j], to);
  }
  tile_loop_end(e, &l);
}

static const char *transposer(tile_emitter *e, ir_dtype dtype) {
  const char *name = arena_printf(e->a, "@%s_transpose_%s", e->name, tile_dtype_text(dtype));
  if (!tile_function_is_new(e, name)) return name;
  tile_function f;
  tile_function_begin(e, &f);
  transpose_square(e, dtype);
  tile_function_share(
      e, &f,
      arena_printf(e->a, "void %s(ptr noalias %%from, i64 %%stride, ptr noalias %%to, i64 %%apart)",
                   name));
  return name;
}

/* ---- making a copy ---- */
typedef void element_fn(tile_emitter *e, const tile_pack *p);

static int32_t next_point(const tile_emitter *e, const tile_axes *axes, int32_t d, int32_t but) {
  while (d < axes->rank &&
         (axes->of[d] < 0 || e->n->role[axes->of[d]] >= TILE_OUTER || axes->of[d] == but))
    d++;
  return d;
}

static void for_each_point(tile_emitter *e, const tile_pack *p, int32_t d, int32_t but,
                           element_fn *fn) {
  d = next_point(e, &p->axes, d, but);
  if (d == p->axes.rank) {
    fn(e, p);
    return;
  }
  int32_t axis = p->axes.of[d];
  const tile_node *x = tile_node_of(e->n, p->value);
  if (x) tile_hoist(e, x, axis);
  tile_loop l = tile_loop_begin(e, "0", tile_int(e, e->n->extent[axis]), "1");
  e->bound[axis] = l.index;
  e->is_constant[axis] = false;
  for_each_point(e, p, d + 1, but, fn);
  e->bound[axis] = NULL;
  tile_loop_end(e, &l);
}

static void copy_columns(tile_emitter *e, const tile_pack *p) {
  tile_grid g = tile_value(e, p->value, &p->axes);
  for (int32_t c = 0; c < e->vectors; c++) {
    const char *x = tile_at(&g, 0, c);
    if (!g.is_vector) x = tile_splat(e, g.dtype, x);
    tile_store_at(e, g.dtype, true, x, column_address(e, p, &p->axes, c));
  }
}

static void copy_row(tile_emitter *e, const tile_pack *p) {
  tile_grid g = tile_value(e, p->value, &p->axes);
  tile_store_at(e, g.dtype, false, tile_at(&g, 0, 0), row_address(e, p, &p->axes, 0));
}

static const int64_t *dims_of(const tile_emitter *e, ir_value v) {
  return ir_type_at(e->n->m, ir_operand(e->n->m, e->n->loop, (uint32_t)tile_input_of(e->n, v)))
      ->dims;
}

/* The axis of points that lie next to each other, if squares of them can be read. */
static int32_t square_axis(const tile_emitter *e, const tile_pack *p) {
  int32_t last = p->axes.rank - 1;
  if (tile_node_of(e->n, p->value) || p->dtype == IR_I1 || last < 0) return -1;
  while (last > 0 && p->axes.of[last] < 0) last--;
  int32_t axis = p->axes.of[last];
  bool fits = axis >= 0 && e->n->role[axis] < TILE_OUTER && e->n->extent[axis] >= e->n->lanes &&
              tile_stride(dims_of(e, p->value), &p->axes, axis) == 1;
  return fits ? axis : -1;
}

/* The last square overlaps the one before. */
static void copy_squares(tile_emitter *e, const tile_pack *p) {
  int32_t axis = square_axis(e, p), lanes = e->n->lanes;
  int64_t extent = e->n->extent[axis];
  const int64_t *dims = dims_of(e, p->value);
  const char *name = transposer(e, p->dtype);
  tile_loop l = tile_loop_begin(e, "0", tile_int(e, extent), tile_int(e, lanes));
  const char *over = tile_line(e, "icmp sgt i64 %s, %lld", l.index, (long long)(extent - lanes));
  e->bound[axis] =
      tile_line(e, "select i1 %s, i64 %lld, i64 %s", over, (long long)(extent - lanes), l.index);
  for (int32_t c = 0; c < e->vectors; c++) {
    const char *from =
        tile_address(e, p->dtype, tile_input_base(e, p->value), dims, &p->axes, 0, c);
    tile_put(e, "call void %s(ptr %s, i64 %lld, ptr %s, i64 %lld)", name, from,
             (long long)tile_stride(dims, &p->axes, e->n->column),
             column_address(e, p, &p->axes, c), (long long)width_of(e));
  }
  e->bound[axis] = NULL;
  tile_loop_end(e, &l);
}

static void fill_columns(tile_emitter *e, const tile_pack *p) {
  int32_t axis = square_axis(e, p);
  e->vectors = e->n->sizes.vectors;
  e->mask = NULL;
  tile_loop l = tile_loop_begin(e, "0", e->block_main, tile_int(e, width_of(e)));
  tile_set_columns(e, &l);
  for_each_point(e, p, 0, axis, axis < 0 ? copy_columns : copy_squares);
  tile_loop_end(e, &l);
  if (!tile_has_odd_columns(e)) return;
  e->vectors = 1;
  l = tile_loop_begin(e, e->block_main, e->block_columns, tile_int(e, e->n->lanes));
  tile_set_columns(e, &l);
  e->mask = tile_tail_mask(e, l.index);
  for_each_point(e, p, 0, -1, copy_columns);
  tile_loop_end(e, &l);
}

static void fill_rows(tile_emitter *e, const tile_pack *p) {
  tile_loop l = tile_loop_begin(e, "0", "%row_count", "1");
  tile_set_rows(e, l.index, 1);
  e->group = tile_group_of(e, l.index);
  for_each_point(e, p, 0, -1, copy_row);
  tile_loop_end(e, &l);
}

/* Back to where e was; what was added to the function stays. */
static void return_to(tile_emitter *e, const tile_emitter *before) {
  tile_emitter now = *e;
  *e = *before;
  e->places = now.places;
  e->entry = now.entry;
  e->helpers = now.helpers;
  e->names = now.names;
  e->sweeps = now.sweeps;
  e->functions = now.functions;
  e->declared = now.declared;
  e->shared = now.shared;
  e->packs = now.packs;
  e->scratch_bytes = now.scratch_bytes;
  memcpy(e->small_ints, now.small_ints, sizeof e->small_ints);
}

static void make_copy(tile_emitter *e, uint32_t number) {
  tile_emitter before = *e;
  tile_pack p = e->packs.at[number];
  tile_function f;
  tile_function_begin(e, &f);
  e->row = e->body = e->out;
  e->depth[0] = e->depth[1] = 0;
  memset(&e->memos, 0, sizeof e->memos);
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (e->n->role[a] < TILE_OUTER) e->bound[a] = NULL, e->is_constant[a] = false;
  e->in_tile = false;
  e->in_copy = tile_node_of(e->n, p.value) != NULL;
  if (p.of_rows) fill_rows(e, &p);
  else fill_columns(e, &p);
  tile_function_end(
      e, &f, p.of_rows ? TILE_CHUNK : TILE_BLOCK,
      p.of_rows ? e->chunk_pack : e->pack); /* copies that it reads are there by now */
  return_to(e, &before);
}

/* ---- reading ---- */
static bool same_shape(const tile_emitter *e, const tile_axes *a, const tile_axes *b) {
  if (a->rank != b->rank) return false;
  for (int32_t d = 0; d < a->rank; d++) {
    bool points = a->of[d] >= 0 && b->of[d] >= 0 && e->n->role[a->of[d]] < TILE_OUTER &&
                  e->n->role[b->of[d]] < TILE_OUTER;
    if (a->of[d] != b->of[d] && !points) return false;
  }
  return true;
}

static uint32_t find_copy(tile_emitter *e, ir_value v, const tile_axes *axes, bool of_rows) {
  for (uint32_t i = 0; i < e->packs.count; i++)
    if (e->packs.at[i].value == v && same_shape(e, &e->packs.at[i].axes, axes)) return i;
  ir_dtype dtype = ir_type_at(e->n->m, v)->dtype;
  const tile_sizes *s = &e->n->sizes;
  int64_t bytes = point_count(e->n, axes) * (of_rows ? s->chunk : s->block) * ir_dtype_bytes(dtype);
  tile_pack p = {.value = v,
                 .axes = *axes,
                 .dtype = dtype,
                 .of_rows = of_rows,
                 .pass = -1,
                 .base = tile_scratch(e, bytes)};
  VEC_PUSH(e->a, &e->packs, p);
  return e->packs.count - 1;
}

tile_grid tile_read_packed(tile_emitter *e, ir_value v, const tile_axes *axes) {
  bool of_rows = has_axis(axes, e->n->row);
  uint32_t number = find_copy(e, v, axes, of_rows);
  if (e->packs.at[number].pass < 0 || (!of_rows && e->packs.at[number].pass != e->pass)) {
    e->packs.at[number].pass = e->pass;
    make_copy(e, number);
  }
  const tile_pack *p = &e->packs.at[number];
  tile_grid g = {.dtype = p->dtype, .is_vector = !of_rows, .rows = 1, .columns = 1};
  if (of_rows) g.rows = e->rows;
  else g.columns = e->vectors;
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] =
          tile_load_at(e, p->dtype, g.is_vector,
                       of_rows ? row_address(e, p, axes, r) : column_address(e, p, axes, c));
  return g;
}
