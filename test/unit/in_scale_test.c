/* A program of 100,000 ops: reads, verifies, prints. The times go to stderr; nothing is asserted of
 * them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"

enum { ROUNDS = 12500, OPS_PER_ROUND = 8 };

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each round: constant, broadcast, add, reduce (with its two ops), broadcast, multiply. */
static char *program(size_t *out_length) {
  char *text = malloc(1024 + (size_t)ROUNDS * 800), *s = text;
  assert(text);
  s += sprintf(s,
               "module @big {\n  func.func public @main(%%v0: tensor<64x128xf32>) -> "
               "tensor<64x128xf32> {\n");
  for (int i = 0; i < ROUNDS; i++) {
    s +=
        sprintf(s, "    %%c%d = stablehlo.constant dense<%d.500000e+00> : tensor<f32>\n", i, i % 7);
    s += sprintf(s,
                 "    %%b%d = stablehlo.broadcast_in_dim %%c%d, dims = [] : (tensor<f32>) -> "
                 "tensor<64x128xf32>\n",
                 i, i);
    s += sprintf(s, "    %%a%d = stablehlo.add %%v%d, %%b%d : tensor<64x128xf32>\n", i, i, i);
    s += sprintf(s,
                 "    %%r%d = stablehlo.reduce(%%a%d init: %%c%d) applies stablehlo.add across "
                 "dimensions = [0] : ",
                 i, i, i);
    s += sprintf(s, "(tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>\n");
    s += sprintf(s,
                 "    %%w%d = stablehlo.broadcast_in_dim %%r%d, dims = [1] : (tensor<128xf32>) -> "
                 "tensor<64x128xf32>\n",
                 i, i);
    s += sprintf(s, "    %%v%d = stablehlo.multiply %%w%d, %%a%d : tensor<64x128xf32>\n", i + 1, i,
                 i);
  }
  s += sprintf(s, "    return %%v%d : tensor<64x128xf32>\n  }\n}\n", ROUNDS);
  *out_length = (size_t)(s - text);
  return text;
}

static ir_module *time_one(ctx *c, const char *form, const char *text, size_t length, strbuf *out) {
  ir_module *m;
  double start = now();
  if (in_stablehlo_text(c, text, length, &m) != WEIR_OK)
    fprintf(stderr, "%s\n", c->message), abort();
  double parsed = now();
  if (ir_verify(m) != WEIR_OK) fprintf(stderr, "%s\n", c->message), abort();
  double verified = now();
  *out = strbuf_make(m->arena);
  out_stablehlo_text(m, out);
  double printed = now();
  fprintf(stderr, "%s, %.1f MB: parse %.3f s, verify %.3f s, print %.3f s\n", form,
          (double)length / 1e6, parsed - start, verified - parsed, printed - verified);
  return m;
}

int main(void) {
  ctx c;
  ctx_init(&c);
  size_t length;
  char *text = program(&length);
  strbuf once, twice;
  ir_module *m = time_one(&c, "pretty", text, length, &once);
  assert(m->ops.count > ROUNDS * OPS_PER_ROUND);
  time_one(&c, "generic", once.text, once.length, &twice);
  assert(once.length == twice.length && !memcmp(once.text, twice.text, once.length));
  free(text);
  ctx_deinit(&c);
  return 0;
}
