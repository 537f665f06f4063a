/* weir_graph(): programs as one picture. Reads each, inlines its calls, draws it. */
#include "in/in.h"
#include "ir/calls.h"
#include "out/graph.h"
#include "pass/pass.h"
#include "pipeline/pipeline.h"
#include "plan/explain.h"
#include "limit/result.h"

typedef struct picture {
  ctx c;
  const weir_program *programs;
  size_t count;
  int64_t large_bytes;
  weir_result *result;
} picture;

static weir_status read_program(picture *p, const weir_program *program, ir_module **out_m) {
  weir_options options = WEIR_OPTIONS_INIT;
  pass_driver driver = {.c = &p->c, .options = &options, .table = pipeline_passes};
  WEIR_TRY(in_program(&p->c, program->text, program->length, out_m));
  WEIR_TRY(ir_verify(*out_m));
  WEIR_TRY(ir_check_main(*out_m));
  return pass_run(&driver, &pass_inline, *out_m, NULL);
}

static weir_status draw(void *user) {
  picture *p = user;
  arena *a = arena_create(&p->c);
  strbuf out = strbuf_make(a);
  ir_module **modules = ARENA_ARRAY(a, ir_module *, p->count);
  out_graph_style style = {p->large_bytes, plan_bytes_text, plan_source_line};
  for (size_t i = 0; i < p->count; i++) {
    WEIR_TRY(read_program(p, &p->programs[i], &modules[i]));
    int64_t largest = out_graph_largest_bytes(modules[i]);
    if (!p->large_bytes && largest > style.large_bytes) style.large_bytes = largest;
  }
  out_graph_begin(&out);
  for (size_t i = 0; i < p->count; i++)
    out_graph_program(modules[i], p->programs[i].title, (uint32_t)i, &style, &out);
  out_graph_end(&out);
  return result_set_text(&p->c, p->result, out.text, out.length);
}

weir_status weir_graph(const weir_program *programs, size_t count, int64_t large_bytes,
                       weir_result **out_result) {
  picture p = {.programs = programs, .count = count, .large_bytes = large_bytes};
  return result_make(&p.c, draw, &p, &p.result, out_result);
}
