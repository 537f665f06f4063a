/* An op of thousands of operands that has no factors: asked about each of them, its answers take no
 * memory. */
#include <stdlib.h>

#include "program_testing.h"
#include "split/factors.h"

enum { RESULTS = 2000 };

static char *program(void) {
  char *text = malloc(1000 + (size_t)RESULTS * 100), *s = text;
  assert(text);
  s += sprintf(s, "func.func public @main(%%a: tensor<8xf32>) -> (tensor<8xf32>");
  for (int i = 1; i < RESULTS; i++) s += sprintf(s, ", tensor<8xf32>");
  s += sprintf(s, ") {\n");
  for (int i = 0; i < RESULTS; i++)
    s += sprintf(s, "%%v%d = stablehlo.sine %%a : tensor<8xf32>\n", i);
  s += sprintf(s, "return %%v0");
  for (int i = 1; i < RESULTS; i++) s += sprintf(s, ", %%v%d", i);
  s += sprintf(s, " : tensor<8xf32>");
  for (int i = 1; i < RESULTS; i++) s += sprintf(s, ", tensor<8xf32>");
  sprintf(s, "\n}\n");
  return text;
}

static weir_status ask(ir_module *m, arena *a, void *user) {
  (void)user;
  ir_op end = ir_terminator(m, ir_body(m, ir_main_function(m)));
  int64_t before = m->ctx->live_bytes;
  split_factor f;
  for (uint32_t i = 0; i < RESULTS; i++)
    assert(!split_trace(a, m, end, false, i, (split_pos){.dim = 0, .unit = 1}, &f));
  assert(m->ctx->live_bytes == before);
  return WEIR_OK;
}

int main(void) {
  char *text = program();
  assert(program_ask((program_asked){.text = text, .ask = ask}) == WEIR_OK);
  free(text);
  return 0;
}
