/* The JSON of a plan. Texts that come again and again (op names, shapes, source lines) stand once,
 * in "texts", and are named by their place; a program of 1,000 ops takes about 200 kB.
 *
 *   {"outcome", "answer", "device", "device_bytes", "message", "limit", "minimum", ...,
 *    "time_before", "time_after",
 *    "loops": [{"seed", "extent", "slice", "trips", "depth", "ops", "largest", "kernel", "time"}],
 *    "curve": [{"limit", "peak", "time", "flops", "loops", "trips"}],
 *    "programs": [{"when", "peak": {...}, "steps": [[op, line, depth]...],
 *                  "spans": [[hold, op, shape, line, bytes, from, to]...],
 *                  "graph": {"nodes": [[kind, op, shape, line, bytes, box]...],
 *                            "boxes": [[label, line, box]...], "edges": [[from, to, next
 * trip]...]}}], "texts": [...]}
 *
 * Sizes in bytes, times in ns; hold: as plan_hold; a box is 1 + its place, 0 for none; device: ""
 * is a CPU. */
#include "limit/data.h"

#include "base/hash.h"
#include "base/json.h"
#include "limit/curve.h"
#include "limit/result.h"
#include "out/graph.h"
#include "plan/explain.h"

/* ---- texts, each once ---- */
typedef struct texts {
  arena *arena;
  VEC(const char *) list;
  uint32_t *table, room; /* 1 + place in the list; 0: free */
} texts;

static uint32_t *slot_of(texts *t, const char *text) {
  uint32_t at = hash_bytes(HASH_BEGIN, text, strlen(text)) & (t->room - 1);
  while (t->table[at] && strcmp(t->list.at[t->table[at] - 1], text)) at = (at + 1) & (t->room - 1);
  return &t->table[at];
}

static void make_room(texts *t) {
  t->room = t->room ? 2 * t->room : 256;
  t->table = ARENA_ARRAY(t->arena, uint32_t, t->room);
  for (uint32_t i = 0; i < t->list.count; i++) *slot_of(t, t->list.at[i]) = i + 1;
}

static uint32_t place_of(texts *t, const char *text) {
  if (2 * t->list.count >= t->room) make_room(t);
  uint32_t *slot = slot_of(t, text);
  if (*slot) return *slot - 1;
  VEC_PUSH(t->arena, &t->list, text);
  return *slot = t->list.count, t->list.count - 1;
}

/* ---- lists of numbers ---- */
typedef struct writer {
  const job *j;
  strbuf out;
  texts texts;
} writer;

static void put_row(strbuf *out, const int64_t *numbers, int count) {
  json_next(out);
  for (int i = 0; i < count; i++) {
    strbuf_putc(out, i ? ',' : '[');
    strbuf_int(out, numbers[i]);
  }
  strbuf_putc(out, ']');
}
#define PUT_ROW(out, ...)                                                                          \
  put_row(out, (int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static int64_t text_place(writer *w, const char *text) {
  return place_of(&w->texts, text ? text : "");
}

static int64_t line_place(writer *w, const ir_module *m, ir_str location) {
  return text_place(w, location ? plan_source_line(w->out.arena, m, location) : NULL);
}

/* ---- the schedule and who is live ---- */
static void put_steps(writer *w, const ir_module *m, const plan_timeline *line) {
  json_open(&w->out, "steps", '[');
  for (const plan_step *s = line->steps; s < line->steps + line->n_steps; s++) {
    ir_str location = s->op ? ir_op_get(m, s->op)->location : IR_NONE;
    PUT_ROW(&w->out, text_place(w, s->word), line_place(w, m, location), s->depth);
  }
  strbuf_putc(&w->out, ']');
}

static const char *maker_of(const ir_module *m, const plan_span *s) {
  if (s->hold == PLAN_ARGUMENT) return "argument";
  if (!s->value) return "loop state";
  ir_op op = ir_value_get(m, s->value)->op;
  return op ? ir_mnemonic(ir_op_name(m, op)) : "loop state";
}

static ir_str location_of(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  return op ? ir_op_get(m, op)->location : ir_value_get(m, v)->location;
}

/* Of what fills the buffer; a fusion that makes less of it is called after it all the same. */
static const char *shape_of(arena *a, const ir_module *m, const plan_span *s) {
  ir_type type = s->value ? ir_type_of(m, s->value) : IR_NONE;
  bool is_known = type && ir_is_static_tensor(m, type) && ir_value_bytes(m, s->value) == s->bytes;
  return is_known ? plan_shape_text(a, m, type) : NULL;
}

static void put_spans(writer *w, const ir_module *m, const plan_timeline *line) {
  json_open(&w->out, "spans", '[');
  for (const plan_span *s = line->spans; s < line->spans + line->n_spans; s++) {
    ir_str location = s->value ? location_of(m, s->value) : IR_NONE;
    PUT_ROW(&w->out, s->hold, text_place(w, maker_of(m, s)),
            text_place(w, shape_of(w->out.arena, m, s)), line_place(w, m, location), s->bytes,
            s->from, s->to);
  }
  strbuf_putc(&w->out, ']');
}

static void put_peak(writer *w, const ir_module *m, const plan_peak *peak) {
  strbuf *out = &w->out;
  json_open(out, "peak", '{');
  json_int(out, "total", peak->total_bytes);
  json_int(out, "arguments", peak->argument_bytes);
  json_int(out, "results", peak->output_bytes);
  json_int(out, "donated", peak->alias_bytes);
  json_int(out, "temporaries", peak->temp_bytes);
  json_int(out, "op", text_place(w, peak->at ? ir_op_name(m, peak->at) : NULL));
  json_int(out, "line", line_place(w, m, peak->at ? ir_op_get(m, peak->at)->location : IR_NONE));
  strbuf_putc(out, '}');
}

/* ---- the graph ---- */
typedef struct graph_writer {
  writer *w;
  strbuf nodes, edges, boxes;
  int64_t n_nodes, n_boxes, box;
  VEC(int64_t) around;  /* boxes that are open */
  VEC(uint32_t) places; /* 1 + a node's place, by id */
} graph_writer;

static uint32_t *place_at(graph_writer *g, uint32_t id) {
  while (g->places.count <= id) VEC_PUSH(g->w->out.arena, &g->places, 0);
  return &g->places.at[id];
}

static void put_node(void *user, const out_graph_node *n) {
  graph_writer *g = user;
  *place_at(g, n->id) = (uint32_t)++g->n_nodes;
  PUT_ROW(&g->nodes, n->kind, text_place(g->w, n->name), text_place(g->w, n->shape),
          text_place(g->w, n->line), n->bytes, g->box);
}

/* A result may be drawn before what makes it: nodes get their places when they come, and an edge
 * that names one that never comes is left out. */
static void put_edge(void *user, uint32_t from, uint32_t to, bool is_next_trip) {
  graph_writer *g = user;
  uint32_t a = *place_at(g, from), b = *place_at(g, to);
  if (a && b) PUT_ROW(&g->edges, a - 1, b - 1, is_next_trip);
}

static void open_box(void *user, const char *id, const char *label, const char *line) {
  graph_writer *g = user;
  (void)id;
  PUT_ROW(&g->boxes, text_place(g->w, label), text_place(g->w, line), g->box);
  VEC_PUSH(g->w->out.arena, &g->around, g->box);
  g->box = ++g->n_boxes;
}

static void close_box(void *user) {
  graph_writer *g = user;
  g->box = g->around.at[--g->around.count];
}

static void put_list(strbuf *out, const char *name, const strbuf *rows) {
  json_open(out, name, '[');
  if (rows->length) strbuf_add(out, rows->text, rows->length);
  strbuf_putc(out, ']');
}

static void put_graph(writer *w, const ir_module *m) {
  arena *a = w->out.arena;
  graph_writer g = {w, strbuf_make(a), strbuf_make(a), strbuf_make(a)};
  out_graph_sink sink = {&g, put_node, put_edge, open_box, close_box};
  out_graph_style style = {.line_text = plan_source_line};
  out_graph_walk(a, m, &style, &sink);
  json_open(&w->out, "graph", '{');
  put_list(&w->out, "nodes", &g.nodes);
  put_list(&w->out, "boxes", &g.boxes);
  put_list(&w->out, "edges", &g.edges);
  strbuf_putc(&w->out, '}');
}

/* ---- the whole ---- */
static void put_program(writer *w, const char *when, const ir_module *m, plan_order order) {
  plan_timeline line = plan_timeline_of(w->out.arena, m, order, machine_memory(&w->j->machine));
  json_open(&w->out, NULL, '{');
  json_text(&w->out, "when", when);
  put_peak(w, m, &line.peak);
  put_steps(w, m, &line);
  put_spans(w, m, &line);
  put_graph(w, m);
  strbuf_putc(&w->out, '}');
}

static void put_programs(writer *w, const climb *c, const ir_module *m) {
  json_open(&w->out, "programs", '[');
  put_program(w, "before", m, PLAN_ORDER_PROGRAM);
  if (c->outcome != WEIR_UNTOUCHED && !c->is_refused)
    put_program(w, "after", c->taken.m ? c->taken.m : m, c->taken.order);
  strbuf_putc(&w->out, ']');
}

static void put_loops(writer *w) {
  const weir_result *r = w->j->result;
  json_open(&w->out, "loops", '[');
  for (int32_t i = 0; i < r->summary.loops; i++) {
    const weir_loop_info *l = &r->loops[i];
    json_open(&w->out, NULL, '{');
    json_text(&w->out, "seed", l->seed);
    json_int(&w->out, "extent", l->extent);
    json_int(&w->out, "slice", l->slice);
    json_int(&w->out, "trips", l->trips);
    json_int(&w->out, "depth", l->depth);
    json_int(&w->out, "ops", l->ops);
    json_int(&w->out, "largest", l->body_peak_bytes);
    json_bool(&w->out, "kernel", l->is_kernel);
    json_int(&w->out, "time", l->time_ns);
    strbuf_putc(&w->out, '}');
  }
  strbuf_putc(&w->out, ']');
}

static void put_curve(writer *w, const curve *points) {
  json_open(&w->out, "curve", '[');
  for (const curve_point *p = points->at; p < points->at + points->count; p++) {
    json_open(&w->out, NULL, '{');
    json_int(&w->out, "limit", p->limit);
    json_int(&w->out, "peak", p->peak);
    json_int(&w->out, "time", p->time_ns);
    json_int(&w->out, "flops", p->flops);
    json_int(&w->out, "loops", p->loops);
    json_int(&w->out, "trips", p->trips);
    strbuf_putc(&w->out, '}');
  }
  strbuf_putc(&w->out, ']');
}

static const char *outcome_text(const climb *c) {
  static const char *const texts[] = {"untouched", "options", "rewritten"};
  return c->is_refused ? "refused" : texts[c->outcome];
}

/* Of who asks: does it fit? As it came, held by what weir makes of it, or not at all. */
static const char *answer_text(const climb *c, const weir_summary *s) {
  if (c->is_refused) return "refused";
  if (c->outcome == WEIR_UNTOUCHED || s->only_faster) return "fits";
  bool is_as_it_came = c->outcome == WEIR_OPTIONS_ONLY && s->peak_before_bytes <= s->limit_bytes;
  return is_as_it_came ? "fits" : "held";
}

static void put_device(strbuf *out, const device *d) {
  json_text(out, "device", d ? d->name : "");
  json_int(out, "device_bytes", d ? d->memory_bytes : 0);
}

static void put_summary(writer *w, const climb *c, const char *message) {
  const weir_summary *s = &w->j->result->summary;
  strbuf *out = &w->out;
  json_text(out, "version", WEIR_VERSION);
  json_text(out, "outcome", outcome_text(c));
  json_text(out, "answer", answer_text(c, s));
  put_device(out, w->j->machine.device);
  json_text(out, "message", c->is_refused ? message : "");
  json_int(out, "limit", s->limit_bytes);
  json_int(out, "minimum", s->minimum_bytes);
  json_int(out, "faster_limit", s->faster_limit_bytes);
  json_int(out, "peak_before", s->peak_before_bytes);
  json_int(out, "peak_after", s->peak_after_bytes);
  json_bool(out, "before_is_estimate", s->before_is_estimate);
  json_bool(out, "after_is_estimate", s->after_is_estimate);
  json_int(out, "flops_before", s->flops_before);
  json_int(out, "flops_after", s->flops_after);
  json_int(out, "time_before", s->time_before_ns);
  json_int(out, "time_after", s->time_after_ns);
  json_bool(out, "only_faster", s->only_faster);
  json_bool(out, "is_unconfirmed", s->is_unconfirmed);
}

weir_status data_of_plan(job *j, const climb *c, const ir_module *m) {
  arena *a = arena_create(&j->c);
  writer w = {.j = j, .out = strbuf_make(a), .texts = {.arena = a}};
  const char *message = arena_printf(a, "%s", j->c.message);
  curve points;
  WEIR_TRY(curve_find(j, a, c, &points));
  strbuf_putc(&w.out, '{');
  put_summary(&w, c, message);
  put_loops(&w);
  put_curve(&w, &points);
  put_programs(&w, c, m);
  json_open(&w.out, "texts", '[');
  for (uint32_t i = 0; i < w.texts.list.count; i++) {
    json_next(&w.out);
    json_puts(&w.out, w.texts.list.at[i]);
  }
  strbuf_puts(&w.out, "]}");
  weir_status status = result_set_data(&j->c, j->result, w.out.text);
  arena_destroy(a);
  return status;
}
