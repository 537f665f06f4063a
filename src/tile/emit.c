/* The loops around a tile: work item, passes, blocks of columns, rows, columns.
 * docs/design/tile.md.
 *
 *   for each pass            numbers of its reductions in the scratch: neutral
 *     for each block         pack
 *       for rows, `rows` at a time, then one at a time
 *         accumulators neutral; row-only values
 *         for columns, `vectors` vectors at a time, then one masked: the tile
 *         accumulators folded into the scratch
 *   for each row             results without columns
 */
#include "tile/emit.h"

#include "tile/cost.h"
#include "tile/elementwise.h"

typedef struct accumulator { /* of one tile reduction while a block runs: [point][row] vectors */
  const tile_node *node;
  const char *base;
} accumulator;

typedef struct tile_pass {
  uint32_t n;
  accumulator *at;
} tile_pass;

static ir_dtype dtype_of(const tile_emitter *e, const tile_node *x) {
  return ir_type_at(e->n->m, ir_result(e->n->m, x->op, 0))->dtype;
}

/* ---- points ---- */
typedef void point_fn(tile_emitter *e, const tile_node *x, void *user);

static void for_points(tile_emitter *e, const tile_node *x, uint32_t axes, bool hoists,
                       point_fn *fn, void *user) {
  if (!axes) {
    fn(e, x, user);
    return;
  }
  int32_t axis = 31 - __builtin_clz(axes);
  uint32_t rest = axes & ~(1u << axis);
  int64_t extent = e->n->extent[axis];
  if (tile_extent_of(e->n, tile_point_axes(e->n, x->mask)) <= COST_UNROLL) {
    e->is_constant[axis] = true;
    for (int64_t i = 0; i < extent; i++) {
      e->bound[axis] = tile_int(e, i);
      for_points(e, x, rest, hoists, fn, user);
    }
  } else {
    if (hoists) tile_hoist(e, x, axis);
    tile_loop l = tile_loop_begin(e, "0", tile_int(e, extent), "1");
    e->bound[axis] = l.index;
    for_points(e, x, rest, hoists, fn, user);
    tile_loop_end(e, &l);
  }
  e->bound[axis] = NULL;
  e->is_constant[axis] = false;
}

static void for_all_points(tile_emitter *e, const tile_node *x, bool hoists, point_fn *fn,
                           void *user) {
  for_points(e, x, tile_point_axes(e->n, x->mask), hoists, fn, user);
}

/* ---- accumulators ---- */
static const char *accumulator_at(tile_emitter *e, const accumulator *acc, int32_t r) {
  const char *at = "0";
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (tile_point_axes(e->n, acc->node->mask) >> a & 1)
      at = tile_index(e, tile_index(e, "0", at, e->n->extent[a]), e->bound[a], 1);
  at = tile_index(e, tile_index(e, "0", at, e->rows), tile_int(e, r), 1);
  return tile_line(e, "getelementptr %s, ptr %s, i64 %s",
                   tile_type(e, dtype_of(e, acc->node), true), acc->base, at);
}

static void clear_point(tile_emitter *e, const tile_node *x, void *user) {
  ir_dtype dtype = dtype_of(e, x);
  const char *neutral = tile_splat(e, dtype, tile_neutral(e, x->monoid, dtype));
  for (int32_t r = 0; r < e->rows; r++)
    tile_put(e, "store %s %s, ptr %s", tile_type(e, dtype, true), neutral,
             accumulator_at(e, user, r));
}

static void make_accumulators(tile_emitter *e, tile_pass *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const tile_node *x = p->at[i].node;
    p->at[i].base = tile_name(e);
    strbuf_printf(&e->entry, "  %s = alloca [%lld x %s], align 64\n", p->at[i].base,
                  (long long)(tile_extent_of(e->n, tile_point_axes(e->n, x->mask)) * e->rows),
                  tile_type(e, dtype_of(e, x), true));
    for_all_points(e, x, false, clear_point, &p->at[i]);
  }
}

static const char *masked_term(tile_emitter *e, const tile_node *x, const char *type,
                               const char *term) {
  if (!e->mask) return term;
  ir_dtype dtype = dtype_of(e, x);
  const char *neutral = tile_splat(e, dtype, tile_neutral(e, x->monoid, dtype));
  return tile_line(e, "select <%d x i1> %s, %s %s, %s %s", e->n->lanes, e->mask, type, term, type,
                   neutral);
}

static void accumulate_point(tile_emitter *e, const tile_node *x, void *user) {
  tile_grid g = tile_contribution(e, x);
  const char *type = tile_type(e, g.dtype, true);
  for (int32_t r = 0; r < e->rows; r++) {
    const char *slot = accumulator_at(e, user, r),
               *sum = tile_line(e, "load %s, ptr %s", type, slot);
    for (int32_t c = 0; c < e->vectors; c++) {
      const char *term = tile_at(&g, r, c);
      if (!g.is_vector) term = tile_splat(e, g.dtype, term);
      sum = tile_combine(e, x->monoid, g.dtype, type, e->n->lanes, sum,
                         masked_term(e, x, type, term));
    }
    tile_put(e, "store %s %s, ptr %s", type, sum, slot);
  }
}

static const char *across_lanes(tile_emitter *e, const tile_node *x, const char *vector) {
  ir_dtype dtype = dtype_of(e, x);
  const char *one = tile_dtype_text(dtype);
  for (int32_t lanes = e->n->lanes; lanes > 2; lanes /= 2) {
    const char *type = arena_printf(e->a, "<%d x %s>", lanes, one), *half[2];
    for (int32_t side = 0; side < 2; side++) {
      strbuf b = strbuf_make(e->a);
      for (int32_t i = 0; i < lanes / 2; i++)
        strbuf_printf(&b, "%si32 %d", i ? ", " : "", side * (lanes / 2) + i);
      half[side] = tile_line(e, "shufflevector %s %s, %s poison, <%d x i32> <%s>", type, vector,
                             type, lanes / 2, b.text);
    }
    vector = tile_combine(e, x->monoid, dtype, arena_printf(e->a, "<%d x %s>", lanes / 2, one),
                          lanes / 2, half[0], half[1]);
  }
  const char *pair = arena_printf(e->a, "<2 x %s>", one);
  const char *x0 = tile_line(e, "extractelement %s %s, i64 0", pair, vector),
             *x1 = tile_line(e, "extractelement %s %s, i64 1", pair, vector);
  return tile_combine(e, x->monoid, dtype, one, 1, x0, x1);
}

static const char *to_memory(tile_emitter *e, ir_dtype dtype, const char *x) {
  return dtype == IR_I1 ? tile_line(e, "zext i1 %s to i8", x) : x;
}

static void store_number(tile_emitter *e, const tile_node *x, int32_t r, const char *number) {
  ir_dtype dtype = dtype_of(e, x);
  number = to_memory(e, dtype, number);
  tile_put(e, "store %s %s, ptr %s", tile_memory_type(dtype), number, tile_reduction_at(e, x, r));
}

static void fold_point(tile_emitter *e, const tile_node *x, void *user) {
  ir_dtype dtype = dtype_of(e, x);
  for (int32_t r = 0; r < e->rows; r++) {
    const char *sum =
        tile_line(e, "load %s, ptr %s", tile_type(e, dtype, true), accumulator_at(e, user, r));
    const char *old =
        tile_line(e, "load %s, ptr %s", tile_memory_type(dtype), tile_reduction_at(e, x, r));
    if (dtype == IR_I1) old = tile_line(e, "trunc i8 %s to i1", old);
    store_number(
        e, x, r,
        tile_combine(e, x->monoid, dtype, tile_dtype_text(dtype), 1, old, across_lanes(e, x, sum)));
  }
}

static void neutral_point(tile_emitter *e, const tile_node *x, void *user) {
  (void)user;
  store_number(e, x, 0, tile_neutral(e, x->monoid, dtype_of(e, x)));
}

/* ---- results ---- */
static void store_vector(tile_emitter *e, ir_dtype dtype, const char *out, const char *at,
                         int64_t stride, const char *x) {
  const char *one = tile_memory_type(dtype),
             *type = arena_printf(e->a, "<%d x %s>", e->n->lanes, one);
  const char *suffix = dtype == IR_I1 ? arena_printf(e->a, "v%di8", e->n->lanes)
                                      : tile_suffix(e, dtype, e->n->lanes);
  long long align = (long long)ir_dtype_bytes(dtype);
  int32_t lanes = e->n->lanes;
  if (dtype == IR_I1) x = tile_line(e, "zext <%d x i1> %s to %s", lanes, x, type);
  if (stride == 1 && !e->mask) {
    const char *p = tile_line(e, "getelementptr %s, ptr %s, i64 %s", one, out, at);
    tile_put(e, "store %s %s, ptr %s, align %lld", type, x, p, align);
    return;
  }
  const char *mask = e->mask ? e->mask : tile_number(e, IR_I1, lanes, -1);
  bool scatters = stride != 1;
  const char *name = scatters ? arena_printf(e->a, "@llvm.masked.scatter.%s.v%dp0", suffix, lanes)
                              : arena_printf(e->a, "@llvm.masked.store.%s.p0", suffix);
  const char *pointer = scatters ? arena_printf(e->a, "<%d x ptr>", lanes) : "ptr";
  const char *p = scatters ? tile_lane_pointers(e, dtype, out, at, stride)
                           : tile_line(e, "getelementptr %s, ptr %s, i64 %s", one, out, at);
  tile_declare(
      e, arena_printf(e->a, "declare void %s(%s, %s, i32, <%d x i1>)", name, type, pointer, lanes));
  tile_put(e, "call void %s(%s %s, %s %s, i32 %lld, <%d x i1> %s)", name, type, x, pointer, p,
           align, lanes, mask);
}

static void store_point(tile_emitter *e, const tile_node *x, void *user) {
  const tile_output *o = user;
  const char *out = arena_printf(e->a, "%%out%lld", (long long)(o - e->n->outputs));
  tile_grid g = tile_value(e, o->value, &o->axes);
  bool has_row = x->mask >> e->n->row & 1, has_column = x->mask >> e->n->column & 1;
  for (int32_t r = 0; r < (has_row ? e->rows : 1); r++)
    for (int32_t c = 0; c < (has_column ? e->vectors : 1); c++) {
      const char *at = tile_offset(e, o->dims, &o->axes, r, c), *y = tile_at(&g, r, c);
      if (has_column) {
        if (!g.is_vector) y = tile_splat(e, g.dtype, y);
        store_vector(e, g.dtype, out, at, tile_stride(o->dims, &o->axes, e->n->column), y);
        continue;
      }
      const char *p =
          tile_line(e, "getelementptr %s, ptr %s, i64 %s", tile_memory_type(g.dtype), out, at);
      tile_put(e, "store %s %s, ptr %s", tile_memory_type(g.dtype), to_memory(e, g.dtype, y), p);
    }
}

static void store_outputs(tile_emitter *e, bool with_columns) {
  for (uint32_t j = 0; j < e->n->n_outputs; j++) {
    tile_output *o = &e->n->outputs[j];
    const tile_node *x = &e->n->nodes[o->node];
    bool has_column = x->mask >> e->n->column & 1;
    if (has_column != with_columns || (has_column && o->level != e->pass)) continue;
    for_all_points(e, x, x->index < 0, store_point, o);
  }
}

/* ---- the tile ---- */
static void set_columns(tile_emitter *e, const tile_loop *l) {
  e->column_local = l->index;
  e->column = tile_line(e, "add i64 %s, %s", e->block_begin, l->index);
}

static void emit_tile(tile_emitter *e, tile_pass *p) {
  for (uint32_t i = 0; i < p->n; i++)
    for_all_points(e, p->at[i].node, true, accumulate_point, &p->at[i]);
  store_outputs(e, true);
}

static const char *tail_mask(tile_emitter *e, const tile_loop *l) {
  const char *left = tile_line(e, "sub i64 %s, %s", e->block_columns, l->index);
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++) strbuf_printf(&b, "%si64 %d", i ? ", " : "<", i);
  strbuf_putc(&b, '>');
  return tile_line(e, "icmp ugt %s %s, %s", tile_type(e, IR_I64, true), tile_splat(e, IR_I64, left),
                   b.text);
}

static void emit_columns(tile_emitter *e, tile_pass *p, const char *main_columns) {
  e->vectors = e->n->sizes.vectors;
  tile_loop l =
      tile_loop_begin(e, "0", main_columns, tile_int(e, (int64_t)e->vectors * e->n->lanes));
  set_columns(e, &l);
  emit_tile(e, p);
  tile_loop_end(e, &l);
  e->vectors = 1;
  l = tile_loop_begin(e, main_columns, e->block_columns, tile_int(e, e->n->lanes));
  set_columns(e, &l);
  e->mask = tail_mask(e, &l);
  emit_tile(e, p);
  e->mask = NULL;
  tile_loop_end(e, &l);
}

static void set_rows(tile_emitter *e, const char *local, int32_t rows) {
  e->rows = rows;
  e->memos.count = 0;
  for (int32_t r = 0; r < rows; r++) {
    e->row_local[r] = tile_index(e, local, tile_int(e, r), 1);
    e->row_index[r] = tile_line(e, "add i64 %%row_begin, %s", e->row_local[r]);
  }
}

static void emit_rows(tile_emitter *e, tile_pass *p, int32_t rows, const char *from, const char *to,
                      const char *main_columns) {
  strbuf row = strbuf_make(e->a), body = strbuf_make(e->a), *outer = e->out;
  tile_loop l = tile_loop_begin(e, from, to, tile_int(e, rows));
  set_rows(e, l.index, rows);
  make_accumulators(e, p);
  e->row = &row;
  e->body = e->out = &body;
  emit_columns(e, p, main_columns);
  e->out = outer;
  e->row = e->body = NULL;
  strbuf_add(outer, row.text ? row.text : "", row.length);
  strbuf_add(outer, body.text, body.length);
  for (uint32_t i = 0; i < p->n; i++)
    for_all_points(e, p->at[i].node, false, fold_point, &p->at[i]);
  tile_loop_end(e, &l);
}

/* ---- passes ---- */
static tile_pass pass_of(tile_emitter *e, int32_t pass) {
  const tile_nest *n = e->n;
  tile_pass p = {.at = ARENA_ARRAY(e->a, accumulator, n->n_nodes + 1)};
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if (n->nodes[k].index >= 0 && n->nodes[k].level == pass + 1) p.at[p.n++].node = &n->nodes[k];
  return p;
}

static void clear_numbers(tile_emitter *e, const tile_pass *p) {
  tile_loop l = tile_loop_begin(e, "0", "%row_count", "1");
  set_rows(e, l.index, 1);
  for (uint32_t i = 0; i < p->n; i++) for_all_points(e, p->at[i].node, false, neutral_point, NULL);
  tile_loop_end(e, &l);
}

static void emit_block(tile_emitter *e, tile_pass *p, const tile_loop *block) {
  const tile_sizes *s = &e->n->sizes;
  const char *extent = tile_int(e, e->n->extent[e->n->column]);
  e->block_begin = block->index;
  const char *left = tile_line(e, "sub i64 %s, %s", extent, block->index);
  const char *is_last = tile_line(e, "icmp slt i64 %s, %lld", left, (long long)s->block);
  e->block_columns =
      tile_line(e, "select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)s->block);
  const char *rest = tile_line(e, "urem i64 %s, %d", e->block_columns, s->vectors * e->n->lanes);
  const char *main_columns = tile_line(e, "sub i64 %s, %s", e->block_columns, rest);
  strbuf pack = strbuf_make(e->a), rows = strbuf_make(e->a), *outer = e->out;
  e->pack = &pack;
  e->out = &rows;
  emit_rows(e, p, s->rows, "0", "%row_main", main_columns);
  if (s->rows > 1) emit_rows(e, p, 1, "%row_main", "%row_count", main_columns);
  e->out = outer;
  strbuf_add(outer, pack.text ? pack.text : "", pack.length);
  strbuf_add(outer, rows.text, rows.length);
}

static void emit_pass(tile_emitter *e, int32_t pass) {
  tile_pass p = pass_of(e, pass);
  e->pass = pass;
  clear_numbers(e, &p);
  tile_loop block = tile_loop_begin(e, "0", tile_int(e, e->n->extent[e->n->column]),
                                    tile_int(e, e->n->sizes.block));
  emit_block(e, &p, &block);
  tile_loop_end(e, &block);
}

static void emit_row_results(tile_emitter *e) {
  tile_loop l = tile_loop_begin(e, "0", "%row_count", "1");
  e->row = e->body = e->out;
  e->depth[1] = e->depth[0];
  e->vectors = 1;
  set_rows(e, l.index, 1);
  store_outputs(e, false);
  e->row = e->body = NULL;
  tile_loop_end(e, &l);
}

/* ---- the function ---- */
static void place_reductions(tile_emitter *e) {
  const tile_nest *n = e->n;
  e->reduction_offset = ARENA_ARRAY(e->a, int64_t, (size_t)n->n_reductions + 1);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const tile_node *x = &n->nodes[k];
    if (x->index < 0) continue;
    int64_t bytes = tile_extent_of(n, tile_point_axes(n, x->mask)) * n->sizes.chunk *
                    ir_dtype_bytes(dtype_of(e, x));
    e->reduction_offset[x->index] = e->scratch_bytes;
    e->scratch_bytes += (bytes + 63) / 64 * 64;
  }
}

static void load_buffers(tile_emitter *e) {
  uint32_t inputs = e->n->n_inputs;
  for (uint32_t i = 0; i < inputs + e->n->n_outputs; i++) {
    const char *p = tile_line(e, "getelementptr ptr, ptr %%buffers, i64 %u", i);
    tile_put(e, "%%%s%u = load ptr, ptr %s", i < inputs ? "in" : "out", i < inputs ? i : i - inputs,
             p);
  }
}

/* item -> outer indices, rows. Returns the number of items. */
static int64_t decode_item(tile_emitter *e) {
  const tile_nest *n = e->n;
  int64_t rows = n->extent[n->row], chunks = (rows + n->sizes.chunk - 1) / n->sizes.chunk;
  int64_t items = chunks;
  tile_put(e, "%%chunk = urem i64 %%item, %lld", (long long)chunks);
  const char *rest = tile_line(e, "udiv i64 %%item, %lld", (long long)chunks);
  for (int32_t a = 0; a < n->n_axes; a++) {
    if (n->role[a] != TILE_OUTER) continue;
    items *= n->extent[a];
    e->bound[a] = tile_line(e, "urem i64 %s, %lld", rest, (long long)n->extent[a]);
    rest = tile_line(e, "udiv i64 %s, %lld", rest, (long long)n->extent[a]);
  }
  tile_put(e, "%%row_begin = mul i64 %%chunk, %lld", (long long)n->sizes.chunk);
  const char *left = tile_line(e, "sub i64 %lld, %%row_begin", (long long)rows);
  const char *is_last = tile_line(e, "icmp slt i64 %s, %lld", left, (long long)n->sizes.chunk);
  tile_put(e, "%%row_count = select i1 %s, i64 %s, i64 %lld", is_last, left,
           (long long)n->sizes.chunk);
  const char *odd = tile_line(e, "urem i64 %%row_count, %d", n->sizes.rows);
  tile_put(e, "%%row_main = sub i64 %%row_count, %s", odd);
  return items;
}

static strbuf assemble(tile_emitter *e, const char *name, const strbuf *code) {
  strbuf all = strbuf_make(e->a);
  for (uint32_t i = 0; i < e->declared.count; i++) strbuf_printf(&all, "%s\n", e->declared.at[i]);
  strbuf_printf(&all,
                "\ndefine void @%s(ptr noalias %%buffers, ptr noalias %%functions, ptr noalias "
                "%%scratch, i64 %%item) #0 {\n"
                "entry:\n",
                name);
  strbuf_add(&all, e->entry.text, e->entry.length);
  strbuf_puts(&all, "  br label %start\nstart:\n");
  strbuf_add(&all, code->text, code->length);
  strbuf_puts(&all,
              "  ret void\n}\n\n"
              "attributes #0 = { nounwind \"prefer-vector-width\"=\"512\" "
              "\"min-legal-vector-width\"=\"512\" }\n"
              "!0 = !{}\n");
  return all;
}

tile_code tile_emit(arena *a, tile_nest *n, const char *name) {
  tile_emitter e = {.n = n, .a = a, .entry = strbuf_make(a)};
  strbuf code = strbuf_make(a);
  e.seen = ARENA_ARRAY(a, uint32_t, n->n_nodes + 1);
  e.out = &e.entry;
  load_buffers(&e);
  int64_t items = decode_item(&e);
  place_reductions(&e);
  e.out = &code;
  for (int32_t pass = 0; pass < n->n_passes; pass++) emit_pass(&e, pass);
  emit_row_results(&e);
  strbuf all = assemble(&e, name, &code);
  return (tile_code){.text = all.text,
                     .length = all.length,
                     .functions = e.functions.at,
                     .n_functions = e.functions.count,
                     .items = items,
                     .scratch_bytes = e.scratch_bytes};
}
