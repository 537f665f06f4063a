/* Packing: copies made before a tile, of what is the same for all rows or for all columns.
 *
 *   of columns, once a block:  [panel][points][columns of a panel]   a panel is as wide as the tile
 *   of rows, once a chunk:     [group][points][rows of a group]      a group is as high as the tile
 * Inputs that are read along the columns with a stride, or of which a long sum reads points that
 * are far apart; and computed values (|y|^2, y / |y|, 2 x), which would be computed anew for each
 * tile of the other side. Points: the axes inside of the tile, in the order of the value's
 * dimensions, so that two readers with axes of their own share a copy. An input whose points lie
 * next to each other in memory goes through registers, a square of lanes x lanes elements at a
 * time, transposed by loads of parts of registers and shuffles inside of these (as Eklundh 1972).
 */
#include "kernel/pack.h"

#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "machine/tuned.h"

/* ---- what is packed ---- */
/* Read here and there, in place. */
static bool is_table(const kernel_node *x, uint32_t operand) {
  return kernel_is_gather(x) && operand == 0;
}

static const int64_t *dims_of(const kernel_emitter *e, ir_value v) {
  return ir_type_at(e->n->m, ir_operand(e->n->m, e->n->loop, (uint32_t)kernel_input_of(e->n, v)))
      ->dims;
}

static kernel_packing packing_of(const kernel_nest *n, const kernel_node *x) {
  uint32_t row = x->mask & 1u << n->row, column = x->mask & 1u << n->column;
  bool known = x->level == 0 && !x->depth && !x->after && x->index < 0 && x->late < 0;
  bool is_free = x->kind == IR_OP_CONSTANT || x->kind == IR_OP_IOTA;
  if (!known || is_free || !row == !column || ir_is_move(x->kind)) return KERNEL_NOT_PACKED;
  if (kernel_extent_of(n, kernel_point_axes(n, x->mask)) > COST_MOST_PACKED)
    return KERNEL_NOT_PACKED;
  return row ? KERNEL_PACKED_ROWS : x->is_rowless ? KERNEL_PACKED_COLUMNS : KERNEL_NOT_PACKED;
}

static void mark(kernel_nest *n, ir_value v) {
  const kernel_node *x = kernel_node_of(n, v);
  while (x && ir_is_move(x->kind) && (x->mask >> n->row ^ x->mask >> n->column) & 1) {
    v = ir_operand(n->m, x->op, 0);
    x = kernel_node_of(n, v);
  }
  if (x) n->nodes[x - n->nodes].packed = packing_of(n, x);
}

void kernel_mark_packed(kernel_nest *n) {
  uint32_t tile = kernel_tile_axes(n);
  for (kernel_node *node = n->nodes; node < n->nodes + n->n_nodes; node++)
    node->packed = KERNEL_NOT_PACKED;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (((x->mask | x->reduces) & tile) != tile) continue;
    for (uint32_t i = 0; i < x->n_operands; i++)
      if (!is_table(x, i)) mark(n, ir_operand(n->m, x->op, i));
  }
}

/* Columns next to each other of which a long sum reads points that are far apart, each in a page of
 * its own and in few sets of the cache. Copying pays from some tiles on. */
static bool has_points_apart(const kernel_nest *n, const kernel_axes *axes, const int64_t *dims,
                             ir_dtype dtype) {
  uint32_t points = kernel_point_axes(n, kernel_axes_mask(axes));
  bool is_apart = false;
  for (int32_t a = 0; a < n->n_axes; a++)
    is_apart |= points >> a & 1 && n->extent[a] > COST_UNROLL &&
                kernel_stride(dims, axes, a) * ir_dtype_bytes(dtype) >= TUNED_APART_BYTES;
  return is_apart && n->extent[n->row] >= TUNED_APART_TILES * n->sizes.rows;
}

bool kernel_packs_input(const kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  const int64_t *dims = dims_of(e, v);
  if (kernel_stride(dims, axes, e->n->column) != 1) return e->tile.in_tile || e->tile.in_copy;
  return e->tile.in_tile && has_points_apart(e->n, axes, dims, ir_type_at(e->n->m, v)->dtype);
}

static int64_t point_count(const kernel_nest *n, const kernel_axes *axes) {
  int64_t count = 1;
  for (int32_t d = 0; d < axes->rank; d++)
    if (axes->of[d] >= 0 && n->role[axes->of[d]] < KERNEL_OUTER) count *= n->extent[axes->of[d]];
  return count;
}

/* Inputs once, however often they are read. */
static int64_t input_bytes(const kernel_nest *n, int32_t axis) {
  int64_t *most = ARENA_ARRAY(n->a, int64_t, n->n_inputs + 1), sum = 0;
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    bool in_blocks = !x->after || x->late >= 0;
    for (ir_value v, i = 0; in_blocks && (v = ir_operand_at(n->m, x->op, i)); i++) {
      const kernel_axes *axes = &x->operands[i];
      int32_t input = kernel_node_of(n, v) ? -1 : kernel_input_of(n, v);
      if (input < 0 || is_table(x, i) || !kernel_has_axis(axes, axis)) continue;
      int64_t bytes = point_count(n, axes) * ir_dtype_bytes(ir_type_at(n->m, v)->dtype);
      if (bytes > most[input]) most[input] = bytes;
    }
  }
  for (uint32_t i = 0; i < n->n_inputs; i++) sum += most[i];
  return sum;
}

int64_t kernel_packed_bytes(const kernel_nest *n, int32_t axis) {
  kernel_packing which = axis == n->row ? KERNEL_PACKED_ROWS : KERNEL_PACKED_COLUMNS;
  int64_t bytes = input_bytes(n, axis);
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->packed == which)
      bytes += point_count(n, &x->result) * ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
  return bytes;
}

/* Of an input that a tile reads, or what makes a copy for one. */
static double copied_input_bytes(const kernel_nest *n, const kernel_node *x, uint32_t operand,
                                 bool in_tile) {
  ir_value v = ir_operand(n->m, x->op, operand);
  const kernel_axes *axes = &x->operands[operand];
  if (kernel_node_of(n, v) || kernel_input_of(n, v) < 0 || !kernel_has_axis(axes, n->column) ||
      kernel_has_axis(axes, n->row) || is_table(x, operand))
    return 0;
  const ir_type_data *t =
      ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, v)));
  bool is_apart = in_tile && has_points_apart(n, axes, t->dims, t->dtype);
  if (kernel_stride(t->dims, axes, n->column) == 1 && !is_apart) return 0;
  return (double)(point_count(n, axes) * ir_dtype_bytes(t->dtype));
}

/* Of the inputs of what makes a copy. seen: by node. */
static double bytes_below(const kernel_nest *n, const kernel_node *x, bool *seen) {
  double bytes = 0;
  if (seen[x - n->nodes]) return 0;
  seen[x - n->nodes] = true;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    bytes += from ? bytes_below(n, from, seen) : copied_input_bytes(n, x, i, false);
  }
  return bytes;
}

double kernel_copied_bytes(const kernel_nest *n) {
  uint32_t tile = kernel_tile_axes(n);
  bool *seen = ARENA_ARRAY(n->a, bool, n->n_nodes + 1);
  double bytes = 0;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (x->packed == KERNEL_PACKED_COLUMNS)
      bytes +=
          bytes_below(n, x, seen) +
          (double)(point_count(n, &x->result) * ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype));
    bool is_in_tile = ((x->mask | x->reduces) & tile) == tile && !x->is_product;
    for (uint32_t i = 0; is_in_tile && i < x->n_operands; i++)
      bytes += copied_input_bytes(n, x, i, true);
  }
  return bytes;
}

/* ---- addresses ---- */
static const char *point_of(kernel_emitter *e, const kernel_axes *axes) {
  const char *at = "0";
  for (int32_t d = 0; d < axes->rank; d++) {
    int32_t a = axes->of[d];
    if (a < 0 || e->n->role[a] >= KERNEL_OUTER) continue;
    at = kernel_index(e, kernel_index(e, "0", at, e->n->extent[a]), e->tile.bound[a], 1);
  }
  return at;
}

static int64_t width_of(const kernel_emitter *e) {
  return (int64_t)e->n->sizes.vectors * e->n->lanes;
}

/* first: of the panel or group; at: in it. */
static const char *packed_at(kernel_emitter *e, const kernel_pack *p, const kernel_axes *axes,
                             const char *first, const char *at, int64_t width) {
  const char *panel = kernel_index(e, "0", first, point_count(e->n, axes));
  const char *base = kernel_settled(e, p->dtype, p->base, panel);
  base = kernel_after(e, p->dtype, base, kernel_index(e, "0", point_of(e, axes), width));
  return kernel_after(e, p->dtype, base, at);
}

static const char *column_address(kernel_emitter *e, const kernel_pack *p, const kernel_axes *axes,
                                  int32_t c) {
  const char *first = e->tile.mask ? e->block_main : e->tile.column_local;
  const char *at = e->tile.mask
                       ? kernel_line(e, "sub i64 %s, %s", e->tile.column_local, e->block_main)
                       : kernel_int(e, (int64_t)c * e->n->lanes);
  return packed_at(e, p, axes, first, at, width_of(e));
}

static const char *row_address(kernel_emitter *e, const kernel_pack *p, const kernel_axes *axes,
                               int32_t r) {
  const char *first = e->tile.group ? e->tile.group : e->tile.row_local[0];
  CTX_CHECK(e->n->m->ctx,
            e->tile.rows > 0 && e->n->sizes.rows % e->tile.rows == 0); /* all in one group */
  const char *at = e->tile.group
                       ? kernel_line(e, "sub i64 %s, %s", e->tile.row_local[r], e->tile.group)
                       : kernel_int(e, r);
  return packed_at(e, p, axes, first, at, e->n->sizes.rows);
}

/* ---- squares through registers ---- */
enum { MOST_PARTS = 16, MOST_IN_PART = 16 };

/* Elements of a part of a register. */
static int32_t part_of(const kernel_emitter *e, ir_dtype dtype) {
  int32_t part = MACHINE_PART_BYTES / (int32_t)ir_dtype_bytes(dtype);
  return part < e->n->lanes ? part : e->n->lanes;
}

static const char *shuffled(kernel_emitter *e, ir_dtype dtype, int32_t width, const char *x,
                            const char *y, const char *mask, int32_t count) {
  const char *type = arena_printf(e->a, "<%d x %s>", width, kernel_dtype_text(dtype));
  return kernel_line(e, "shufflevector %s %s, %s %s, <%d x i32> <%s>", type, x, type, y, count,
                     mask);
}

/* Vectors of `width`, a power of two of them, as one. */
static const char *joined(kernel_emitter *e, ir_dtype dtype, int32_t width, const char **x,
                          int32_t count) {
  if (count == 1) return x[0];
  const char *low = joined(e, dtype, width, x, count / 2),
             *high = joined(e, dtype, width, x + count / 2, count / 2);
  strbuf b = strbuf_make(e->a);
  for (int32_t l = 0; l < width * count; l++) strbuf_printf(&b, "%si32 %d", l ? ", " : "", l);
  return shuffled(e, dtype, width * count / 2, low, high, b.text, width * count);
}

/* In each part the low (or high) halves of both, lane by lane. */
static const char *interleaved(kernel_emitter *e, ir_dtype dtype, const char *x, const char *y,
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
static void transpose_parts(kernel_emitter *e, ir_dtype dtype, const char **x) {
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
static void load_parts(kernel_emitter *e, ir_dtype dtype, const char *first, const char *sent,
                       const char **out) {
  int32_t part = part_of(e, dtype), parts = e->n->lanes / part;
  const char *pieces[MOST_IN_PART][MOST_PARTS];
  for (int32_t i = 0; i < e->n->lanes; i++) {
    if (i) first = kernel_after(e, dtype, first, "%stride");
    pieces[i % part][i / part] =
        kernel_line(e, "load <%d x %s>, ptr %s, align %lld", part, kernel_dtype_text(dtype), first,
                    (long long)ir_dtype_bytes(dtype));
  }
  kernel_declare(e, "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
  for (int32_t j = 0; j < part; j++) {
    if (j) sent = kernel_after(e, dtype, sent, "%stride");
    kernel_put(e, "call void @llvm.prefetch.p0(ptr %s, i32 0, i32 2, i32 1)", sent);
    out[j] = joined(e, dtype, part, pieces[j], parts);
  }
}

/* lanes columns at `from`, `stride` elements apart, as many points of each. */
static void transpose_square(kernel_emitter *e, ir_dtype dtype) {
  int32_t part = part_of(e, dtype);
  const char *x[MOST_IN_PART];
  const char *panel = kernel_line(e, "mul i64 %%stride, %lld", (long long)width_of(e));
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, e->n->lanes), kernel_int(e, part));
  const char *row = kernel_line(e, "mul i64 %%stride, %s", l.index);
  load_parts(e, dtype, kernel_settled(e, dtype, "%from", l.index),
             kernel_settled(e, dtype, "%from", kernel_index(e, panel, row, 1)), x);
  transpose_parts(e, dtype, x);
  const char *to = kernel_line(e, "mul i64 %%apart, %s", l.index);
  to = kernel_settled(e, dtype, "%to", to);
  for (int32_t j = 0; j < part; j++) {
    if (j) to = kernel_after(e, dtype, to, "%apart");
    kernel_store_at(e, dtype, true, x[j], to);
  }
  kernel_loop_end(e, &l);
}

static const char *transposer(kernel_emitter *e, ir_dtype dtype) {
  const char *name = arena_printf(e->a, "@%s_transpose_%s", e->name, kernel_dtype_text(dtype));
  if (!kernel_function_is_new(e, name)) return name;
  kernel_function f;
  kernel_function_begin(e, &f);
  transpose_square(e, dtype);
  kernel_function_share(
      e, &f,
      arena_printf(e->a, "void %s(ptr noalias %%from, i64 %%stride, ptr noalias %%to, i64 %%apart)",
                   name));
  return name;
}

/* ---- making a copy ---- */
typedef void element_fn(kernel_emitter *e, const kernel_pack *p);

static int32_t next_point(const kernel_emitter *e, const kernel_axes *axes, int32_t d,
                          int32_t but) {
  while (d < axes->rank &&
         (axes->of[d] < 0 || e->n->role[axes->of[d]] >= KERNEL_OUTER || axes->of[d] == but))
    d++;
  return d;
}

static void for_each_point(kernel_emitter *e, const kernel_pack *p, int32_t d, int32_t but,
                           element_fn *fn) {
  d = next_point(e, &p->axes, d, but);
  if (d == p->axes.rank) {
    fn(e, p);
    return;
  }
  int32_t axis = p->axes.of[d];
  const kernel_node *x = kernel_node_of(e->n, p->value);
  if (x) kernel_hoist(e, x, axis);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, e->n->extent[axis]), "1");
  e->tile.bound[axis] = l.index;
  e->tile.is_constant[axis] = false;
  for_each_point(e, p, d + 1, but, fn);
  e->tile.bound[axis] = NULL;
  kernel_loop_end(e, &l);
}

static void copy_columns(kernel_emitter *e, const kernel_pack *p) {
  kernel_grid g = kernel_value(e, p->value, &p->axes);
  for (int32_t c = 0; c < e->tile.vectors; c++) {
    const char *x = kernel_widened(e, &g, 0, c, true);
    kernel_store_at(e, g.dtype, true, x, column_address(e, p, &p->axes, c));
  }
}

static void copy_row(kernel_emitter *e, const kernel_pack *p) {
  kernel_grid g = kernel_value(e, p->value, &p->axes);
  kernel_store_at(e, g.dtype, false, kernel_at(&g, 0, 0), row_address(e, p, &p->axes, 0));
}

/* The axis of points that lie next to each other, if squares of them can be read. */
static int32_t square_axis(const kernel_emitter *e, const kernel_pack *p) {
  int32_t last = p->axes.rank - 1;
  if (kernel_node_of(e->n, p->value) || p->dtype == IR_I1 || last < 0) return -1;
  while (last > 0 && p->axes.of[last] < 0) last--;
  int32_t axis = p->axes.of[last];
  bool fits = axis >= 0 && e->n->role[axis] < KERNEL_OUTER && e->n->extent[axis] >= e->n->lanes &&
              kernel_stride(dims_of(e, p->value), &p->axes, axis) == 1;
  return fits ? axis : -1;
}

/* The last square overlaps the one before. */
static void copy_squares(kernel_emitter *e, const kernel_pack *p) {
  int32_t axis = square_axis(e, p), lanes = e->n->lanes;
  int64_t extent = e->n->extent[axis];
  const int64_t *dims = dims_of(e, p->value);
  const char *name = transposer(e, p->dtype);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, extent), kernel_int(e, lanes));
  const char *over = kernel_line(e, "icmp sgt i64 %s, %lld", l.index, (long long)(extent - lanes));
  e->tile.bound[axis] =
      kernel_line(e, "select i1 %s, i64 %lld, i64 %s", over, (long long)(extent - lanes), l.index);
  for (int32_t c = 0; c < e->tile.vectors; c++) {
    const char *from =
        kernel_address(e, p->dtype, kernel_input_base(e, p->value), dims, &p->axes, 0, c);
    kernel_put(e, "call void %s(ptr %s, i64 %lld, ptr %s, i64 %lld)", name, from,
               (long long)kernel_stride(dims, &p->axes, e->n->column),
               column_address(e, p, &p->axes, c), (long long)width_of(e));
  }
  e->tile.bound[axis] = NULL;
  kernel_loop_end(e, &l);
}

static void fill_columns(kernel_emitter *e, void *user) {
  const kernel_pack *p = user;
  int32_t axis = e->tile.mask ? -1 : square_axis(e, p);
  for_each_point(e, p, 0, axis, axis < 0 ? copy_columns : copy_squares);
}

static void fill_rows(kernel_emitter *e, const kernel_pack *p) {
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  e->tile.group = kernel_group_of(e, l.index);
  for_each_point(e, p, 0, -1, copy_row);
  kernel_loop_end(e, &l);
}

static void make_copy(kernel_emitter *e, uint32_t number) {
  kernel_tile before = e->tile;
  kernel_pack p = e->packs.at[number];
  kernel_function f;
  kernel_function_begin(e, &f);
  e->tile.row = e->tile.body = e->out;
  e->tile.depth[0] = e->tile.depth[1] = 0;
  memset(&e->tile.memos, 0, sizeof e->tile.memos);
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (e->n->role[a] < KERNEL_OUTER) e->tile.bound[a] = NULL, e->tile.is_constant[a] = false;
  e->tile.in_tile = false;
  e->tile.in_copy = kernel_node_of(e->n, p.value) != NULL;
  if (p.of_rows) fill_rows(e, &p);
  else kernel_for_columns(e, fill_columns, &p);
  kernel_function_end(
      e, &f, p.of_rows ? KERNEL_CHUNK : KERNEL_BLOCK,
      p.of_rows ? e->chunk_pack : e->pack); /* copies that it reads are there by now */
  e->tile = before;
}

/* ---- reading ---- */
static bool same_shape(const kernel_emitter *e, const kernel_axes *a, const kernel_axes *b) {
  if (a->rank != b->rank) return false;
  for (int32_t d = 0; d < a->rank; d++) {
    bool points = a->of[d] >= 0 && b->of[d] >= 0 && e->n->role[a->of[d]] < KERNEL_OUTER &&
                  e->n->role[b->of[d]] < KERNEL_OUTER;
    if (a->of[d] != b->of[d] && !points) return false;
  }
  return true;
}

static uint32_t find_copy(kernel_emitter *e, ir_value v, const kernel_axes *axes, bool of_rows) {
  for (uint32_t i = 0; i < e->packs.count; i++)
    if (e->packs.at[i].value == v && same_shape(e, &e->packs.at[i].axes, axes)) return i;
  ir_dtype dtype = ir_type_at(e->n->m, v)->dtype;
  const kernel_sizes *s = &e->n->sizes;
  int64_t bytes = point_count(e->n, axes) * (of_rows ? s->chunk : s->block) * ir_dtype_bytes(dtype);
  kernel_pack p = {.value = v,
                   .axes = *axes,
                   .dtype = dtype,
                   .of_rows = of_rows,
                   .pass = -1,
                   .base = kernel_scratch(e, bytes)};
  VEC_PUSH(e->a, &e->packs, p);
  return e->packs.count - 1;
}

kernel_grid kernel_read_packed(kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  bool of_rows = kernel_has_axis(axes, e->n->row);
  uint32_t number = find_copy(e, v, axes, of_rows);
  if (e->packs.at[number].pass < 0 || (!of_rows && e->packs.at[number].pass != e->pass)) {
    e->packs.at[number].pass = e->pass;
    make_copy(e, number);
  }
  const kernel_pack *p = &e->packs.at[number];
  kernel_grid g = {.dtype = p->dtype, .is_vector = !of_rows, .rows = 1, .columns = 1};
  if (of_rows) g.rows = e->tile.rows;
  else g.columns = e->tile.vectors;
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] =
          kernel_load_at(e, p->dtype, g.is_vector,
                         of_rows ? row_address(e, p, axes, r) : column_address(e, p, axes, c));
  return g;
}
