/* weir_spread(): what is sharded, what stays, what is an error. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/weir.h"

/* exp of an outer product, its rows summed: 1 MB in between. */
#define PROGRAM(partitions)                                                                        \
  "module @m attributes {mhlo.num_partitions = " partitions                                        \
  " : i32} {\n"                                                                                    \
  "  func.func public @main(%x: tensor<512xf32>) -> tensor<512xf32> {\n"                           \
  "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"                                      \
  "    %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<512xf32>) -> "                     \
  "tensor<512x512xf32>\n"                                                                          \
  "    %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<512xf32>) -> "                     \
  "tensor<512x512xf32>\n"                                                                          \
  "    %p = stablehlo.multiply %a, %b : tensor<512x512xf32>\n"                                     \
  "    %e = stablehlo.exponential %p : tensor<512x512xf32>\n"                                      \
  "    %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : "     \
  "(tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>\n"                                        \
  "    return %r : tensor<512xf32>\n  }\n}\n"

static weir_result *spread(const char *text, int64_t limit, weir_status wanted) {
  weir_options o = WEIR_OPTIONS_INIT;
  o.memory_limit_bytes = limit;
  o.machine = "x86-64-v3";
  weir_result *result;
  weir_status status = weir_spread(text, strlen(text), &o, &result);
  if (status != wanted) fprintf(stderr, "%s\n", weir_result_message(result));
  assert(status == wanted);
  return result;
}

static void expect_untouched(const char *text, int64_t limit) {
  weir_result *result = spread(text, limit, WEIR_OK);
  size_t length;
  assert(weir_result_outcome(result) == WEIR_UNTOUCHED);
  assert(!weir_result_text(result, &length));
  weir_result_destroy(result);
}

/* What is made is sharded along one dimension, once each; arguments and results are whole. */
static void sharded(void) {
  weir_result *result = spread(PROGRAM("4"), 100000, WEIR_OK);
  size_t length;
  const char *text = weir_result_text(result, &length);
  assert(weir_result_outcome(result) == WEIR_REWRITTEN && text);
  assert(strstr(text,
                "\"sdy.sharding_constraint\"(%arg0) <{sharding = "
                "#sdy.sharding<mesh<[\"weir\"=4]>, [{}]>}>"));
  assert(strstr(text, "[{\"weir\"}, {}]>}> : (tensor<512x512xf32>)"));
  assert(!strstr(text, "[{}, {\"weir\"}]"));
  assert(strstr(text, "[{\"weir\"}]>}> : (tensor<512xf32>)"));
  char *again = strdup(text);
  weir_result_destroy(result);
  expect_untouched(again, 100000); /* it says already how it is sharded */
  free(again);
}

int main(void) {
  sharded();
  expect_untouched(PROGRAM("1"), 100000);
  expect_untouched(PROGRAM("4"), 100000000);
  expect_untouched(PROGRAM("1000"), 100000); /* fewer rows than devices */
  weir_result_destroy(spread("no program", 100000, WEIR_INVALID_ARGUMENT));
  return 0;
}
