/* In: a module. Out: its main function as nodes, edges and boxes, into a sink.
 *
 * A node is an op, an argument, a loop's carried value or the function's results; a value knows the
 * node that stands for it. A value that a loop only reads keeps the node that it has outside, and a
 * loop's result is the node inside that makes it, so that edges cross the box of the loop.
 * Source: figures 4 and 5 of the paper.
 */
#include "out/graph.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/fold.h"

enum { HIDDEN = 0 };

typedef struct drawing {
  const ir_module *m;
  const out_graph_style *style;
  const out_graph_sink *sink;
  arena *arena;
  uint32_t *node_of; /* by value; HIDDEN: none */
} drawing;

/* ---- nodes ---- */
static uint32_t op_node(ir_op op) { return 2 * op + 1; }
static uint32_t value_node(ir_value v) { return 2 * v + 2; }

static void put_shape(const drawing *g, ir_type type, strbuf *out) {
  const ir_type_data *t = ir_type_get(g->m, type);
  if (t->kind != IR_TYPE_TENSOR) return;
  if (out->length) strbuf_putc(out, '\n');
  strbuf_puts(out, t->dtype ? ir_dtype_name(t->dtype) : ir_text(g->m, t->element_text));
  for (int32_t d = 0; d < t->rank; d++) {
    strbuf_putc(out, d ? ',' : '[');
    strbuf_int(out, t->dims[d]);
  }
  if (t->rank) strbuf_putc(out, ']');
}

static int64_t bytes_of(const drawing *g, ir_value v) {
  return ir_is_static_tensor(g->m, ir_type_of(g->m, v)) ? ir_value_bytes(g->m, v) : 0;
}

static const char *line_of(const drawing *g, ir_str location) {
  return location ? g->style->line_text(g->arena, g->m, location) : NULL;
}

/* values: `count` consecutive ones that the node stands for. */
static void put_node(drawing *g, out_graph_node node, ir_value values, uint32_t count) {
  strbuf shape = strbuf_make(g->arena);
  CTX_CHECK(g->m->ctx, values + count <= g->m->values.count);
  strbuf_puts(&shape, "");
  for (uint32_t i = 0; i < count; i++) {
    put_shape(g, ir_type_of(g->m, values + i), &shape);
    node.bytes = saturated_sum(node.bytes, bytes_of(g, values + i));
    g->node_of[values + i] = node.id;
  }
  node.shape = shape.text;
  g->sink->node(g->sink->user, &node);
}

/* ---- edges ---- */
static void put_edge(drawing *g, ir_value from, uint32_t to, bool is_next_trip) {
  uint32_t node = g->node_of[from];
  if (node != HIDDEN) g->sink->edge(g->sink->user, node, to, is_next_trip);
}

static bool is_repeated(const ir_op_data *d, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (d->operands[k] == d->operands[i]) return true;
  return false;
}

static void put_operand_edges(drawing *g, ir_op op, uint32_t to) {
  const ir_op_data *d = ir_op_get(g->m, op);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!is_repeated(d, i)) put_edge(g, d->operands[i], to, false);
}

/* ---- ops ---- */
static void draw_block(drawing *g, ir_block block);

static bool is_from_constants(const drawing *g, ir_op op) {
  const ir_op_data *d = ir_op_get(g->m, op);
  if (d->n_results == 0 || d->n_regions) return false;
  if (d->kind == IR_OP_CONSTANT) return ir_is_splat_constant(g->m, ir_result(g->m, op, 0));
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (g->node_of[d->operands[i]] != HIDDEN) return false;
  return d->n_operands > 0;
}

static void put_op(drawing *g, ir_op op, int kind) {
  const ir_op_data *d = ir_op_get(g->m, op);
  out_graph_node node = {.id = op_node(op),
                         .name = ir_mnemonic(ir_op_name(g->m, op)),
                         .line = line_of(g, d->location),
                         .kind = kind};
  put_node(g, node, d->first_result, d->n_results);
}

static void draw_plain(drawing *g, ir_op op) {
  if (is_from_constants(g, op)) return;
  put_op(g, op, OUT_GRAPH_OP);
  put_operand_edges(g, op, op_node(op));
}

static void open_box(drawing *g, ir_op op, uint32_t region, const char *label) {
  g->sink->open(g->sink->user, arena_printf(g->arena, "%u_%u", op, region), label,
                line_of(g, ir_op_get(g->m, op)->location));
}

static void close_box(drawing *g) { g->sink->close(g->sink->user); }

/* ---- loops ---- */

/* "while i < 16" where the condition compares a carried value with an integer constant. */
static const char *while_label(const drawing *g, ir_op op) {
  const ir_module *m = g->m;
  ir_block cond = ir_body(m, op);
  ir_op compare = ir_maker(m, ir_yielded(m, cond, 0), IR_OP_COMPARE);
  if (!compare) return "while";
  const char *direction = ir_op_string(m, compare, "comparison_direction");
  int64_t n;
  if (!direction || !strstr(direction, " LT>") || ir_value_get(m, ir_operand(m, compare, 0))->op ||
      !ir_splat_int(m, ir_operand(m, compare, 1), &n))
    return "while";
  return arena_printf(g->arena, "while i < %lld", (long long)n);
}

/* A body's argument: what the loop only reads keeps its node, what it carries gets one. */
static void draw_argument(drawing *g, ir_value initial, ir_value arg, ir_value next) {
  const ir_type_data *t = ir_type_at(g->m, arg);
  bool is_counter = g->node_of[initial] == HIDDEN && t->kind == IR_TYPE_TENSOR && t->rank == 0;
  if (next == arg) g->node_of[arg] = g->node_of[initial];
  if (next == arg || is_counter) return;
  out_graph_node node = {.id = value_node(arg), .name = "carried", .kind = OUT_GRAPH_CARRIED};
  put_node(g, node, arg, 1);
  put_edge(g, initial, value_node(arg), false);
}

static void close_cycle(drawing *g, ir_value initial, ir_value arg, ir_value next,
                        ir_value result) {
  bool is_read_only = next == arg;
  if (!is_read_only && g->node_of[arg] == value_node(arg)) put_edge(g, next, value_node(arg), true);
  g->node_of[result] = g->node_of[is_read_only ? initial : next];
}

static void draw_while(drawing *g, ir_op op) {
  const ir_op_data *d = ir_op_get(g->m, op);
  const ir_block_data *body = ir_block_get(g->m, d->regions[1]);
  const ir_value *next = ir_op_get(g->m, ir_terminator(g->m, d->regions[1]))->operands;
  CTX_CHECK(g->m->ctx, body->args.count == d->n_operands && d->n_results == d->n_operands);
  open_box(g, op, 1, while_label(g, op));
  for (uint32_t i = 0; i < d->n_operands; i++)
    draw_argument(g, d->operands[i], body->args.at[i], next[i]);
  draw_block(g, d->regions[1]);
  close_box(g);
  for (uint32_t i = 0; i < d->n_operands; i++)
    close_cycle(g, d->operands[i], body->args.at[i], next[i], d->first_result + i);
}

static void draw_branches(drawing *g, ir_op op) {
  const ir_op_data *d = ir_op_get(g->m, op);
  put_op(g, op, OUT_GRAPH_BRANCH);
  put_operand_edges(g, op, op_node(op));
  for (uint32_t r = 0; r < d->n_regions; r++) {
    open_box(g, op, r,
             arena_printf(g->arena, "%s, branch %u", ir_mnemonic(ir_op_name(g->m, op)), r));
    draw_block(g, d->regions[r]);
    close_box(g);
    put_operand_edges(g, ir_terminator(g->m, d->regions[r]), op_node(op));
  }
}

static void draw_block(drawing *g, ir_block block) {
  for (ir_op op, i = 0; (op = ir_body_op_at(g->m, block, i)); i++) {
    ir_kind kind = ir_kind_of(g->m, op);
    if (kind == IR_OP_WHILE) draw_while(g, op);
    else if (kind == IR_OP_CASE || kind == IR_OP_IF) draw_branches(g, op);
    else draw_plain(g, op);
  }
}

/* ---- the program ---- */
static void draw_arguments(drawing *g, ir_block block) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(g->m, block, i)); i++) {
    out_graph_node node = {.id = value_node(arg),
                           .name = arena_printf(g->arena, "argument %u", i),
                           .kind = OUT_GRAPH_ARGUMENT};
    put_node(g, node, arg, 1);
  }
}

static void draw_results(drawing *g, ir_op terminator) {
  out_graph_node node = {.id = op_node(terminator), .name = "results", .kind = OUT_GRAPH_RESULTS};
  put_node(g, node, 0, 0);
  put_operand_edges(g, terminator, op_node(terminator));
}

void out_graph_walk(arena *a, const ir_module *m, const out_graph_style *style,
                    const out_graph_sink *sink) {
  drawing g = {.m = m, .style = style, .sink = sink, .arena = a};
  g.node_of = ARENA_ARRAY(a, uint32_t, m->values.count);
  ir_op f = ir_main_function(m);
  ir_block body = f ? ir_body(m, f) : IR_NONE;
  if (!body) return;
  draw_arguments(&g, body);
  draw_block(&g, body);
  draw_results(&g, ir_terminator(m, body));
}

int64_t out_graph_largest_bytes(const ir_module *m) {
  int64_t largest = 1;
  ir_op f = ir_main_function(m);
  if (!f || !ir_body(m, f)) return largest;
  for (ir_walk w = ir_walk_block(m, ir_body(m, f)); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_result_at(m, w.op, i)); i++)
      if (ir_is_static_tensor(m, ir_type_of(m, v))) largest = max64(largest, ir_value_bytes(m, v));
  return largest;
}
