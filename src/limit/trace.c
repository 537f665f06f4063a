/* Chrome's trace event format, JSON object form, which Perfetto reads, too
 * ("Trace Event Format", Google, 2016): a process for the program before, one for after; a slice of
 * 1 us per step of the schedule; counters of what is live; an async slice from the first to the
 * last step of each temporary. Steps have no times of their own. */
#include "limit/data.h"

#include "base/json.h"
#include "base/saturate.h"
#include "limit/result.h"
#include "plan/explain.h"

typedef struct tracer {
  strbuf out;
  const ir_module *m;
  const device_memory *memory; /* NULL: a CPU's */
  int process;
  int64_t tensors; /* ids of all so far */
} tracer;

static void begin(tracer *t, const char *kind, const char *name, int64_t at) {
  json_open(&t->out, NULL, '{');
  json_text(&t->out, "ph", kind);
  json_text(&t->out, "name", name);
  json_int(&t->out, "pid", t->process);
  json_int(&t->out, "tid", 1);
  json_int(&t->out, "ts", at);
}

static void put_name(tracer *t, const char *of, const char *name) {
  begin(t, "M", of, 0);
  json_open(&t->out, "args", '{');
  json_text(&t->out, "name", name);
  strbuf_puts(&t->out, "}}");
}

static void put_line(tracer *t, ir_str location) {
  const char *line = location ? plan_source_line(t->out.arena, t->m, location) : NULL;
  if (line) json_text(&t->out, "line", line);
}

static void put_step(tracer *t, const plan_step *s, int64_t at) {
  begin(t, "X", s->word, at);
  json_int(&t->out, "dur", 1);
  json_open(&t->out, "args", '{');
  put_line(t, s->op ? ir_op_get(t->m, s->op)->location : IR_NONE);
  json_int(&t->out, "loops around", s->depth);
  strbuf_puts(&t->out, "}}");
}

/* By step, the bytes that spans of a kind hold; saturated, so that sums stay sums. */
static void add_span(const plan_span *s, int64_t *begins, int64_t *ends) {
  begins[s->from] = saturated_sum(begins[s->from], s->bytes);
  ends[s->to + 1] = saturated_sum(ends[s->to + 1], s->bytes);
}

static void put_counters(tracer *t, const plan_timeline *line) {
  arena *a = t->out.arena;
  int64_t *begins = ARENA_ARRAY(a, int64_t, line->n_steps + 1),
          *ends = ARENA_ARRAY(a, int64_t, line->n_steps + 1), live = 0;
  for (uint32_t i = 0; i < line->n_spans; i++)
    if (line->spans[i].hold == PLAN_TEMPORARY) add_span(&line->spans[i], begins, ends);
  for (uint32_t i = 0; i < line->n_steps; i++) {
    live = saturated_sum(live > ends[i] ? live - ends[i] : 0, begins[i]);
    if (i && !begins[i] && !ends[i]) continue;
    begin(t, "C", "bytes", i);
    json_open(&t->out, "args", '{');
    json_int(&t->out, "arguments", line->peak.argument_bytes);
    json_int(&t->out, "results", line->peak.output_bytes - line->peak.alias_bytes);
    json_int(&t->out, "temporaries", live);
    strbuf_puts(&t->out, "}}");
  }
}

static void put_tensor(tracer *t, const plan_span *s) {
  ir_op op = s->value ? ir_value_get(t->m, s->value)->op : IR_NONE;
  arena *a = t->out.arena;
  const char *shape = s->value ? plan_shape_text(a, t->m, ir_type_of(t->m, s->value)) : "";
  const char *name = arena_printf(a, "%s %s", op ? ir_op_name(t->m, op) : "loop state", shape);
  int64_t id = ++t->tensors;
  for (int is_end = 0; is_end < 2; is_end++) {
    begin(t, is_end ? "e" : "b", name, is_end ? s->to + 1 : s->from);
    json_text(&t->out, "cat", "tensor");
    json_int(&t->out, "id", id);
    json_open(&t->out, "args", '{');
    json_int(&t->out, "bytes", s->bytes);
    put_line(t, op ? ir_op_get(t->m, op)->location : IR_NONE);
    strbuf_puts(&t->out, "}}");
  }
}

static void put_program(tracer *t, const char *when, const ir_module *m, plan_order order) {
  plan_timeline line = plan_timeline_of(t->out.arena, m, order, t->memory);
  t->m = m;
  t->process++;
  put_name(t, "process_name", when);
  put_name(t, "thread_name", "schedule: 1 us is a step");
  for (uint32_t i = 0; i < line.n_steps; i++) put_step(t, &line.steps[i], i);
  put_counters(t, &line);
  for (uint32_t i = 0; i < line.n_spans; i++)
    if (line.spans[i].hold == PLAN_TEMPORARY) put_tensor(t, &line.spans[i]);
}

weir_status data_of_trace(job *j, const climb *c, const ir_module *m) {
  arena *a = arena_create(&j->c);
  tracer t = {.out = strbuf_make(a), .memory = machine_memory(&j->machine)};
  strbuf_puts(&t.out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  put_program(&t, "before", m, PLAN_ORDER_PROGRAM);
  if (c->outcome != WEIR_UNTOUCHED && !c->is_refused)
    put_program(&t, "after", c->taken.m ? c->taken.m : m, c->taken.order);
  strbuf_puts(&t.out, "]}\n");
  weir_status status = result_set_trace(&j->c, j->result, t.out.text);
  arena_destroy(a);
  return status;
}
