/* Long programs, rewritten on a small stack: no pass descends as deep as a program is long. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "weir/weir.h"

enum { OPS = 18000, STACK_BYTES = 1 << 20 };

/* x, then OPS times `line` of the value before; what is left is summed up. */
static char *program(const char *line) {
  size_t room = 1000 + (size_t)OPS * 120;
  char *text = malloc(room), *s = text;
  assert(text);
  s += sprintf(s,
               "func.func public @main(%%a: tensor<1000xf32>) -> tensor<1000xf32> {\n"
               "  %%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
               "  %%x = stablehlo.broadcast_in_dim %%a, dims = [0] : (tensor<1000xf32>) -> "
               "tensor<1000x1000xf32>\n"
               "  %%v0 = stablehlo.tanh %%x : tensor<1000x1000xf32>\n");
  for (int i = 0; i < OPS; i++) {
    s += sprintf(s, "  %%v%d = ", i + 1);
    s += sprintf(s, line, i);
    s += sprintf(s, " : tensor<1000x1000xf32>\n");
  }
  sprintf(s,
          "  %%s = stablehlo.reduce(%%v%d init: %%z) applies stablehlo.add across dimensions = [1] "
          ": (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>\n"
          "  return %%s : tensor<1000xf32>\n}\n",
          OPS);
  return text;
}

static void *rewrite(void *user) {
  const char *text = user;
  weir_options options = WEIR_OPTIONS_INIT;
  weir_result *result = NULL;
  for (int i = 0; i < 2; i++) {
    *(i ? &options.memory_limit_bytes : &options.tensor_size_threshold_bytes) = 1000000;
    weir_status status = weir_rewrite(text, strlen(text), &options, &result);
    if (status != WEIR_OK) fprintf(stderr, "%s\n", weir_result_message(result));
    assert(status == WEIR_OK);
    weir_result_destroy(result);
    options = (weir_options)WEIR_OPTIONS_INIT;
  }
  return NULL;
}

int main(void) {
  static const char *const lines[] = {"stablehlo.add %%v%d, %%x", "stablehlo.add %%x, %%v%d",
                                      "stablehlo.multiply %%v%d, %%x",
                                      "stablehlo.maximum %%v%d, %%x", "stablehlo.negate %%v%d"};
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char *text = program(lines[i]);
    pthread_t thread;
    assert(!pthread_create(&thread, &small, rewrite, text));
    pthread_join(thread, NULL);
    free(text);
  }
  pthread_attr_destroy(&small);
  return 0;
}
