/* The loops around a tile: work item, passes, blocks of columns, rows, columns.
 * docs/design/emitter.md.
 *
 *   for each pass            numbers of its reductions in the scratch: neutral
 *     for each block         pack
 *       for each panel       all rows, or few where grids are kept (kept.c)
 *         for each phase     sums brought to the running statistics of the phases before
 *           for rows, `rows` at a time, then one at a time
 *             accumulators neutral; row-only values
 *             for columns, `vectors` vectors at a time, then one masked: the tile
 *             accumulators folded into the scratch
 *           products of kept grids
 *   for each row             results without columns
 *
 * What a panel runs for a phase, a product, a copy: each is a function (function.c).
 */
#include "kernel/emit.h"

#include "kernel/elementwise.h"
#include "kernel/items.h"
#include "kernel/llvm.h"
#include "kernel/reductions.h"

/* ---- results ---- */
static void store_vector(kernel_emitter *e, ir_dtype dtype, const char *p, int64_t stride,
                         const char *x) {
  const char *one = kernel_memory_type(dtype),
             *type = arena_printf(e->a, "<%d x %s>", e->n->lanes, one);
  const char *suffix = dtype == IR_I1 ? arena_printf(e->a, "v%di8", e->n->lanes)
                                      : kernel_suffix(e, dtype, e->n->lanes);
  long long align = (long long)ir_dtype_bytes(dtype);
  int32_t lanes = e->n->lanes;
  if (dtype == IR_I1) x = kernel_line(e, "zext <%d x i1> %s to %s", lanes, x, type);
  if (stride == 1 && !e->tile.mask) {
    kernel_put(e, "store %s %s, ptr %s, align %lld", type, x, p, align);
    return;
  }
  const char *mask = e->tile.mask ? e->tile.mask : kernel_number(e, IR_I1, lanes, -1);
  bool scatters = stride != 1;
  const char *name = scatters ? arena_printf(e->a, "@llvm.masked.scatter.%s.v%dp0", suffix, lanes)
                              : arena_printf(e->a, "@llvm.masked.store.%s.p0", suffix);
  const char *pointer = scatters ? arena_printf(e->a, "<%d x ptr>", lanes) : "ptr";
  if (scatters) p = kernel_lane_pointers(e, dtype, p, stride);
  kernel_declare(
      e, arena_printf(e->a, "declare void %s(%s, %s, i32, <%d x i1>)", name, type, pointer, lanes));
  kernel_put(e, "call void %s(%s %s, %s %s, i32 %lld, <%d x i1> %s)", name, type, x, pointer, p,
             align, lanes, mask);
}

static void store_point(kernel_emitter *e, const kernel_node *x, void *user) {
  const kernel_output *o = user;
  const char *out = arena_printf(e->a, "%%out%lld", (long long)(o - e->n->outputs));
  kernel_grid g = kernel_value(e, o->value, &o->axes);
  bool has_row = x->mask >> e->n->row & 1, has_column = x->mask >> e->n->column & 1;
  for (int32_t r = 0; r < (has_row ? e->tile.rows : 1); r++)
    for (int32_t c = 0; c < (has_column ? e->tile.vectors : 1); c++) {
      const char *p = kernel_address(e, g.dtype, out, o->dims, &o->axes, r, c),
                 *y = kernel_widened(e, &g, r, c, has_column);
      if (has_column)
        store_vector(e, g.dtype, p, kernel_stride(o->dims, &o->axes, e->n->column), y);
      else kernel_store_at(e, g.dtype, false, y, p);
    }
}

static void store_outputs(kernel_emitter *e, bool with_columns) {
  for (kernel_output *o = e->n->outputs; o < e->n->outputs + e->n->n_outputs; o++) {
    const kernel_node *x = &e->n->nodes[o->node];
    bool has_column = x->mask >> e->n->column & 1;
    if (o->after != e->finishes || has_column != with_columns) continue;
    if (has_column && !o->after && (o->level != e->pass || o->phase != e->phase)) continue;
    kernel_for_points(e, x, x->index < 0 && x->late < 0, store_point, o);
  }
}

/* ---- the tile ---- */
static void set_columns(kernel_emitter *e, const kernel_loop *l) {
  e->tile.column_local = l->index;
  e->tile.column = kernel_line(e, "add i64 %s, %s", e->block_begin, l->index);
}

static void emit_tile(kernel_emitter *e, void *user) {
  kernel_pass *p = user;
  kernel_reductions_add(e, p);
  if (!e->finishes) kernel_add_late(e, true);
  store_outputs(e, true);
  if (!e->finishes) kernel_store_kept(e);
}

const char *kernel_tail_mask(kernel_emitter *e, const char *column_local) {
  const char *left = kernel_line(e, "sub i64 %s, %s", e->block_columns, column_local);
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++) strbuf_printf(&b, "%si64 %d", i ? ", " : "<", i);
  strbuf_putc(&b, '>');
  return kernel_line(e, "icmp ugt %s %s, %s", kernel_type(e, IR_I64, true),
                     kernel_splat(e, IR_I64, left), b.text);
}

/* Whether there may be rows of a chunk or panel beside groups of so many; if not, nothing is
 * emitted for them. */
static bool has_odd_rows(const kernel_emitter *e, int32_t rows) {
  const kernel_nest *n = e->n;
  return n->extent[n->row] % rows || n->sizes.chunk % rows || e->panel % rows;
}

/* Whether there may be columns beside whole tiles. Blocks are whole tiles. */
static bool has_odd_columns(const kernel_emitter *e) {
  const kernel_nest *n = e->n;
  return n->extent[n->column] % ((int64_t)n->sizes.vectors * n->lanes);
}

void kernel_for_columns(kernel_emitter *e, void (*emit)(kernel_emitter *, void *), void *user) {
  e->tile.vectors = e->n->sizes.vectors;
  e->tile.mask = NULL;
  kernel_loop l = kernel_loop_begin(e, "0", e->block_main,
                                    kernel_int(e, (int64_t)e->tile.vectors * e->n->lanes));
  set_columns(e, &l);
  emit(e, user);
  kernel_loop_end(e, &l);
  if (!has_odd_columns(e)) return;
  e->tile.vectors = 1;
  l = kernel_loop_begin(e, e->block_main, e->block_columns, kernel_int(e, e->n->lanes));
  set_columns(e, &l);
  e->tile.mask = kernel_tail_mask(e, l.index);
  emit(e, user);
  e->tile.mask = NULL;
  kernel_loop_end(e, &l);
}

void kernel_set_rows(kernel_emitter *e, const char *local, int32_t rows) {
  e->tile.rows = rows;
  e->tile.memos.count = 0;
  for (int32_t r = 0; r < rows; r++) {
    e->tile.row_local[r] = kernel_index(e, local, kernel_int(e, r), 1);
    e->tile.row_index[r] = kernel_line(e, "add i64 %%row_begin, %s", e->tile.row_local[r]);
  }
}

kernel_loop kernel_each_row_begin(kernel_emitter *e, const char *from, const char *to) {
  kernel_loop l = kernel_loop_begin(e, from, to, "1");
  e->tile.row = e->tile.body = e->out;
  e->tile.depth[1] = e->tile.depth[0];
  e->tile.vectors = 1;
  kernel_set_rows(e, l.index, 1);
  return l;
}

void kernel_each_row_end(kernel_emitter *e, const kernel_loop *l) {
  e->tile.row = e->tile.body = NULL;
  kernel_loop_end(e, l);
}

const char *kernel_group_of(kernel_emitter *e, const char *local) {
  const char *in = kernel_line(e, "urem i64 %s, %d", local, e->n->sizes.rows);
  return kernel_line(e, "sub i64 %s, %s", local, in);
}

/* What was written apart: the first may be empty. */
static void put_both(strbuf *out, const strbuf *first, const strbuf *second) {
  strbuf_add(out, first->text ? first->text : "", first->length);
  strbuf_add(out, second->text, second->length);
}

/* The tiles of a group of rows: what holds for the row, then the loops. */
static void emit_columns(kernel_emitter *e, kernel_pass *p, bool in_tile) {
  strbuf row = strbuf_make(e->a), body = strbuf_make(e->a), *outer = e->out;
  e->tile.row = &row;
  e->tile.body = e->out = &body;
  e->tile.in_tile = in_tile;
  kernel_for_columns(e, emit_tile, p);
  e->tile.in_tile = false;
  e->out = outer;
  e->tile.row = e->tile.body = NULL;
  put_both(outer, &row, &body);
}

static void emit_rows(kernel_emitter *e, kernel_pass *p, int32_t rows, const char *from,
                      const char *to) {
  kernel_loop l = kernel_loop_begin(e, from, to, kernel_int(e, rows));
  kernel_set_rows(e, l.index, rows);
  e->tile.group = rows < e->n->sizes.rows ? kernel_group_of(e, l.index) : NULL;
  kernel_reductions_begin(e, p);
  emit_columns(e, p, true);
  kernel_reductions_fold(e, p);
  kernel_loop_end(e, &l);
}

/* Results with columns that were waiting for all rows. */
static void emit_finishing_columns(kernel_emitter *e) {
  kernel_pass none = {0, NULL};
  e->tile.rows = 1;
  e->tile.memos.count = 0;
  emit_columns(e, &none, false);
}

/* ---- passes ---- */
/* The panel's rows: `rows` at a time, as far as these go, then one at a time. */
static void emit_rows_of_panel(kernel_emitter *e, kernel_pass *p, int32_t rows) {
  kernel_function f;
  kernel_function_begin(e, &f);
  const char *end = kernel_index(e, e->panel_begin, e->panel_rows, 1);
  const char *odd = kernel_line(e, "urem i64 %s, %d", e->panel_rows, rows);
  const char *main_end = kernel_line(e, "sub i64 %s, %s", end, odd);
  emit_rows(e, p, rows, e->panel_begin, main_end);
  if (has_odd_rows(e, rows)) emit_rows(e, p, 1, main_end, end);
  kernel_function_end(e, &f, KERNEL_PANEL, f.caller);
}

/* The phases of a pass, for some rows of the chunk and a block of columns. */
static void emit_panel(kernel_emitter *e) {
  e->is_running = true;
  for (e->phase = 0; e->phase < kernel_phases_of(e->n, e->pass); e->phase++) {
    kernel_pass p = kernel_pass_of(e);
    if (e->phase > 0) kernel_rescale(e);
    emit_rows_of_panel(e, &p, kernel_rows_of_phase(e));
    kernel_emit_products(e);
  }
  e->phase = 0;
  e->is_running = false;
}

static void emit_panels(kernel_emitter *e) {
  if (e->panel >= e->n->sizes.chunk) {
    e->panel_begin = "0";
    e->panel_rows = "%row_count";
    emit_panel(e);
  } else {
    kernel_loop l = kernel_loop_begin(e, "0", "%row_count", kernel_int(e, e->panel));
    const char *left = kernel_line(e, "sub i64 %%row_count, %s", l.index);
    const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)e->panel);
    e->panel_begin = l.index;
    e->panel_rows =
        kernel_line(e, "select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)e->panel);
    emit_panel(e);
    kernel_loop_end(e, &l);
  }
  e->panel_begin = e->panel_rows = NULL;
}

static void emit_block(kernel_emitter *e, const kernel_loop *block) {
  const kernel_sizes *s = &e->n->sizes;
  e->block_begin = block->index;
  const char *left = kernel_line(e, "sub i64 %%column_end, %s", block->index);
  const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)s->block);
  e->block_columns =
      kernel_line(e, "select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)s->block);
  const char *rest = kernel_line(e, "urem i64 %s, %d", e->block_columns, s->vectors * e->n->lanes);
  e->block_main = kernel_line(e, "sub i64 %s, %s", e->block_columns, rest);
  strbuf pack = strbuf_make(e->a), rows = strbuf_make(e->a), *outer = e->out;
  e->pack = &pack;
  e->out = &rows;
  if (e->finishes) emit_finishing_columns(e);
  else emit_panels(e);
  e->out = outer;
  e->pack = NULL;
  put_both(outer, &pack, &rows);
}

static void emit_pass(kernel_emitter *e, int32_t pass) {
  strbuf before = strbuf_make(e->a), blocks = strbuf_make(e->a), *outer = e->out;
  e->pass = pass;
  kernel_plan_kept(e);
  if (!e->finishes) kernel_clear_numbers(e);
  e->before = &before;
  e->out = &blocks;
  kernel_loop block =
      kernel_loop_begin(e, "%column_begin", "%column_end", kernel_int(e, e->n->sizes.block));
  emit_block(e, &block);
  kernel_loop_end(e, &block);
  if (!e->finishes && e->n->sizes.column_spans == 1) kernel_sort_lists(e);
  e->out = outer;
  e->before = NULL;
  put_both(outer, &before, &blocks);
}

static void emit_row_results(kernel_emitter *e) {
  kernel_function f;
  kernel_function_begin(e, &f);
  kernel_loop l = kernel_each_row_begin(e, "0", "%row_count");
  kernel_add_late(e, false);
  store_outputs(e, false);
  kernel_each_row_end(e, &l);
  kernel_function_end(e, &f, KERNEL_CHUNK, f.caller);
}

/* ---- the function ---- */
const char *kernel_scratch(kernel_emitter *e, int64_t bytes) {
  const char *base = kernel_name(e);
  strbuf_printf(&e->places, "  %s = getelementptr i8, ptr %%scratch, i64 %lld\n", base,
                (long long)kernel_take(&e->scratch_bytes, bytes));
  return base;
}

static void load_buffers(kernel_emitter *e) {
  e->out = &e->buffers;
  uint32_t inputs = e->n->n_inputs;
  for (uint32_t i = 0; i < inputs + e->n->n_outputs; i++) {
    const char *p = kernel_line(e, "getelementptr ptr, ptr %%buffers, i64 %u", i);
    kernel_put(e, "%%%s%u = load ptr, ptr %s", i < inputs ? "in" : "out",
               i < inputs ? i : i - inputs, p);
  }
  for (uint32_t i = 0; i < e->n->n_views; i++) {
    ir_value v = e->n->views[i];
    kernel_put(e, "%s = getelementptr %s, ptr %%in%d, i64 %lld", kernel_input_base(e, v),
               kernel_memory_type(ir_type_at(e->n->m, v)->dtype), kernel_input_of(e->n, v),
               (long long)kernel_view_offset(e->n, v));
  }
}

static void emit_work(kernel_emitter *e, strbuf *all) {
  kernel_function f;
  kernel_function_begin(e, &f);
  e->out = &e->entry;
  kernel_decode_item(e, e->n->sizes.column_spans);
  e->slot = "%item";
  e->out = &f.code;
  kernel_clear_slots(e);
  kernel_loop chunk = kernel_begin_chunk(e);
  strbuf copies = strbuf_make(e->a), passes = strbuf_make(e->a);
  e->chunk_pack = &copies;
  e->out = &passes;
  for (int32_t pass = 0; pass < e->n->n_passes; pass++) emit_pass(e, pass);
  e->out = &f.code;
  put_both(&f.code, &copies, &passes);
  if (e->n->sizes.column_spans > 1)
    kernel_copy_numbers(e, kernel_numbers_of(e, "%item"), "%scratch");
  else emit_row_results(e);
  kernel_loop_end(e, &chunk);
  kernel_function_export(e, &f, "", all);
}

/* One item per chunk of rows: what the spans of columns found, in their order, then the results. */
static void emit_merging(kernel_emitter *e, strbuf *all) {
  const kernel_sizes *s = &e->n->sizes;
  kernel_function f;
  kernel_function_begin(e, &f);
  e->pass = e->phase = 0;
  kernel_pass p = kernel_pass_of(e);
  e->tile.memos.count = 0;
  e->out = &e->entry;
  kernel_decode_item(e, 1);
  const char *chunk;
  const char *first = kernel_divided(e, "%item", s->spans, &chunk);
  first = kernel_index(e, chunk, first, s->spans * s->column_spans);
  e->out = &f.code;
  kernel_loop l = kernel_begin_chunk(e);
  kernel_copy_numbers(e, "%scratch", kernel_numbers_of(e, first));
  for (int64_t k = 1; k < s->column_spans; k++)
    kernel_merge_numbers(e, &p,
                         kernel_numbers_of(e, kernel_index(e, first, kernel_int(e, k), s->spans)));
  kernel_sort_lists(e);
  emit_row_results(e);
  kernel_loop_end(e, &l);
  kernel_function_export(e, &f, "_finish", all);
}

static bool has_late_results(const kernel_nest *n) {
  bool any = false;
  for (uint32_t j = 0; j < n->n_outputs; j++) any |= n->outputs[j].after;
  return any;
}

/* One item per outer index: partial results merged, then the results that wait for them. */
static void emit_finish(kernel_emitter *e, strbuf *all) {
  kernel_function f;
  kernel_function_begin(e, &f);
  e->packs.count = e->tile.memos.count = e->tables.count = 0;
  e->finishes = true;
  e->pass = e->n->n_passes;
  e->out = &e->entry;
  kernel_decode_finishing_item(e);
  e->slot = kernel_index(e, "0", "%item", e->n->sizes.spans);
  e->out = &f.code;
  kernel_merge_slots(e);
  emit_pass(e, e->pass);
  e->tile.row = e->tile.body = e->out;
  e->tile.rows = e->tile.vectors = 1;
  e->tile.memos.count = 0;
  store_outputs(e, false);
  e->tile.row = e->tile.body = NULL;
  kernel_function_export(e, &f, "_finish", all);
}

static strbuf assemble(kernel_emitter *e, const strbuf *functions) {
  strbuf all = strbuf_make(e->a);
  for (uint32_t i = 0; i < e->declared.count; i++) strbuf_printf(&all, "%s\n", e->declared.at[i]);
  put_both(&all, &e->helpers, functions);
  strbuf_puts(&all,
              "\nattributes #0 = { nounwind \"prefer-vector-width\"=\"512\" "
              "\"min-legal-vector-width\"=\"512\"" KERNEL_CHECKED
              " }\n"
              "attributes #1 = { alwaysinline" KERNEL_CHECKED
              " }\n"
              "!0 = !{}\n"
              "!1 = !{!\"branch_weights\", i32 2000, i32 1}\n");
  return all;
}

kernel_code kernel_emit(arena *a, kernel_nest *n, const char *name) {
  kernel_emitter e = {.n = n, .a = a, .name = name, .numbers = "%scratch"};
  e.buffers = e.places = e.helpers = strbuf_make(a);
  strbuf functions = strbuf_make(a);
  int64_t outer = kernel_outer_extent(n), items = outer * n->sizes.spans * n->sizes.column_spans;
  bool finishes = has_late_results(n), merges = n->sizes.column_spans > 1;
  e.known = ARENA_ARRAY(a, kernel_known, KERNEL_KNOWN_LINES);
  load_buffers(&e);
  e.seen = ARENA_ARRAY(a, uint32_t, n->n_nodes + 1);
  e.visited = ARENA_ARRAY(a, uint64_t, n->n_nodes + 1);
  e.has_helpers = ARENA_ARRAY(a, bool, n->n_nodes + 1);
  kernel_place_reductions(&e);
  kernel_place_terms(&e);
  kernel_place_late(&e, items);
  emit_work(&e, &functions);
  if (finishes) emit_finish(&e, &functions);
  if (merges) {
    emit_merging(&e, &functions);
    e.shared_bytes += items * e.reduction_bytes;
  }
  strbuf all = assemble(&e, &functions);
  return (kernel_code){.is_too_long = kernel_is_too_long(&e),
                       .text = all.text,
                       .length = all.length,
                       .functions = e.functions.at,
                       .n_functions = e.functions.count,
                       .items = items,
                       .finishing = merges     ? outer * n->sizes.spans
                                    : finishes ? outer
                                               : 0,
                       .scratch_bytes = e.scratch_bytes,
                       .shared_bytes = e.shared_bytes};
}
