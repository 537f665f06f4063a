/* weir_peak: the estimated peak of StableHLO programs.
 *
 *   weir_peak [--memory | --unhoisted] [--device NAME [--library]] [--bound] [--explain] [--graph]
 *             [--repeat N] PROGRAM.mlir...
 *
 * One line a program: path, argument, output, alias, temp and total bytes. --memory: with the
 * memory-optimised schedule; --unhoisted: that, and without loop-invariant code motion (what weir
 * asks XLA for). --device: for it ("h100"), not a CPU; --library: its products by a library, none
 * in parts. --bound: the upper bound instead. --explain: the table of who holds it. --graph: the
 * graph behind the estimate.
 * --repeat: estimates N times, for timing. Exit status: 0, 1 if a program can't be read, 2 for
 * wrong usage. */
#include <stdlib.h>

#include "in/in.h"
#include "pass/pass.h"
#include "plan/explain.h"
#include "plan/peak_graph.h"
#include "tool.h"

typedef struct job {
  ctx *c;
  const char *path;
  plan_order order;
  const char *device;          /* NULL: a CPU */
  const device_memory *memory; /* likewise */
  bool bound, explain, graph;
  int repeat;
} job;

/* ---- the graph: one line a node, in schedule order where there is one ---- */
static void print_shape(const plan_shape *s, strbuf *out) {
  strbuf_puts(out, s->is_tuple ? "(" : ir_dtype_name(s->dtype));
  for (uint32_t i = 0; i < s->n_members; i++) {
    if (i) strbuf_puts(out, ", ");
    print_shape(&s->members[i], out);
  }
  if (!s->is_tuple) strbuf_putc(out, '[');
  for (int32_t d = 0; d < s->rank; d++)
    strbuf_printf(out, d ? ",%lld" : "%lld", (long long)s->dims[d]);
  strbuf_putc(out, s->is_tuple ? ')' : ']');
}

static void print_node(const plan_graph *g, uint32_t id, strbuf *out) {
  const plan_node *n = plan_node_get(g, id);
  strbuf_printf(out, "  %%%u = ", id);
  print_shape(&n->shape, out);
  strbuf_printf(out, " %s", plan_kind_name(n->kind));
  if (n->kind == PLAN_FUSION && n->op)
    strbuf_printf(out, "<%s>", plan_kind_name((uint16_t)ir_kind_of(g->m, n->op)));
  if (n->kind == IR_OP_GET_TUPLE_ELEMENT || n->kind == PLAN_PARAMETER)
    strbuf_printf(out, "#%u", n->index);
  for (uint32_t i = 0; i < n->n_operands; i++)
    strbuf_printf(out, i ? ", %%%u" : " %%%u", n->operands[i]);
  for (uint32_t i = 0; i < n->n_comps; i++) strbuf_printf(out, " @%u", n->comps[i]);
  strbuf_printf(out, "%s%s\n", n->in_place ? " in place" : "",
                n->flags & PLAN_FLAG_KEPT ? " kept" : "");
}

static void print_graph(const plan_graph *g, strbuf *out) {
  for (uint32_t c = 1; c < g->comps.count; c++) {
    const plan_comp *comp = plan_comp_get(g, c);
    if (comp->nodes.count == 0) continue;
    strbuf_printf(out, "computation %u%s, root %%%u\n", c, c == g->entry ? " (entry)" : "",
                  comp->root);
    for (uint32_t i = 0; i < comp->nodes.count; i++)
      print_node(g, comp->order ? comp->order[i] : comp->nodes.at[i], out);
  }
}

/* ---- the command ---- */
/* What weir hands the estimate. */
static weir_status make_groups(const job *j, ir_module *m) {
  machine machine;
  weir_options options = WEIR_OPTIONS_INIT;
  WEIR_TRY(machine_parse(j->c, j->device, &machine));
  pass_driver driver = {.c = j->c, .options = &options, .machine = &machine};
  return pass_run(&driver, &pass_groups, m, NULL);
}

static weir_status run(void *user) {
  const job *j = user;
  arena *a = arena_create(j->c);
  char *text = NULL;
  size_t length = 0;
  ir_module *m = NULL;
  WEIR_TRY(tool_read_file(a, j->path, &text, &length));
  WEIR_TRY(in_program(j->c, text, length, &m));
  if (j->device) WEIR_TRY(make_groups(j, m));
  for (int i = 1; i < j->repeat; i++) {
    arena *scratch = arena_create(j->c);
    plan_peak_of(scratch, m, j->order, j->memory);
    arena_destroy(scratch);
  }
  if (j->bound) {
    printf("%s %lld\n", j->path, (long long)plan_upper_bound(m, j->memory));
    return WEIR_OK;
  }
  plan_peak p = plan_peak_of(a, m, j->order, j->memory);
  printf("%s %lld %lld %lld %lld %lld\n", j->path, (long long)p.argument_bytes,
         (long long)p.output_bytes, (long long)p.alias_bytes, (long long)p.temp_bytes,
         (long long)p.total_bytes);
  if (j->explain) {
    strbuf b = strbuf_make(a);
    plan_explain_peak(m, &p, &b, 20);
    fputs(b.text, stdout);
  }
  if (j->graph) {
    strbuf b = strbuf_make(a);
    print_graph(plan_planned(a, m, j->order, j->memory), &b);
    fputs(b.text, stdout);
  }
  return WEIR_OK;
}

static const device_memory *of_library(device_memory *out, const device_memory *memory) {
  *out = *memory;
  out->product_byte_cost = 0;
  return out;
}

int main(int argc, char **argv) {
  job j = {.repeat = 1};
  device_memory whole;
  int failed = 0, i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "--memory")) j.order = PLAN_ORDER_MEMORY;
    else if (!strcmp(argv[i], "--unhoisted")) j.order = PLAN_ORDER_MEMORY_UNHOISTED;
    else if (!strcmp(argv[i], "--bound")) j.bound = true;
    else if (!strcmp(argv[i], "--device") && i + 1 < argc && device_find(argv[i + 1]))
      j.device = argv[++i], j.memory = device_find(j.device)->memory;
    else if (!strcmp(argv[i], "--library") && j.memory) j.memory = of_library(&whole, j.memory);
    else if (!strcmp(argv[i], "--explain")) j.explain = true;
    else if (!strcmp(argv[i], "--graph")) j.graph = true;
    else if (!strcmp(argv[i], "--repeat") && i + 1 < argc) j.repeat = atoi(argv[++i]);
    else return fprintf(stderr, "weir_peak: unknown option %s\n", argv[i]), 2;
  }
  if (i == argc)
    return fputs(
               "usage: weir_peak [--memory | --unhoisted] [--device NAME [--library]] [--bound] "
               "[--explain] [--graph] [--repeat N] PROGRAM.mlir...\n",
               stderr),
           2;
  for (; i < argc; i++) {
    ctx c;
    ctx_init(&c);
    j.c = &c;
    j.path = argv[i];
    if (ctx_try(&c, run, &j) != WEIR_OK)
      fprintf(stderr, "weir_peak: %s: %s\n", j.path, c.message), failed = 1;
    ctx_deinit(&c);
  }
  return failed;
}
