/* What the evaluator refuses, with which words; and that running out of memory is an error, not a
 * crash or a leak. */
#include "ref_testing.h"

#define MAIN(body)                                                                                 \
  "func.func public @main() -> tensor<f32> {\n%x = stablehlo.constant dense<1.0> : "               \
  "tensor<f32>\n" body "\nreturn %r : tensor<f32>\n}\n"

static void refusals(void) {
  EXPECT_ERROR(MAIN("%r = \"far.away\"(%x) : (tensor<f32>) -> tensor<f32> loc(\"model.py\":7:3)"),
               WEIR_UNIMPLEMENTED, "far.away at \"model.py\":7:3");
  EXPECT_ERROR(
      MAIN(
          "%r = stablehlo.custom_call @xla_python_cpu_callback(%x) : (tensor<f32>) -> tensor<f32>"),
      WEIR_UNIMPLEMENTED, "@xla_python_cpu_callback");
  EXPECT_ERROR(
      MAIN("%r = stablehlo.custom_call @lapack_sgetrf_ffi(%x) : (tensor<f32>) -> tensor<f32>"),
      WEIR_INVALID_ARGUMENT, "lapack_sgetrf_ffi");
  EXPECT_ERROR(MAIN("%y = \"far.away\"(%x) : (tensor<f32>) -> tensor<?xf32>\n%r = stablehlo.negate "
                    "%x : tensor<f32>"),
               WEIR_UNIMPLEMENTED, "static shape");
  EXPECT_ERROR(
      "func.func public @main(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n",
      WEIR_INVALID_ARGUMENT, "0 arguments and 1 results, wanted 1 and 1");
  EXPECT_ERROR(
      "func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n%r = func.call @f(%x) : "
      "(tensor<f32>) -> tensor<f32>\nreturn %r : tensor<f32>\n}\n" MAIN(
          "%r = func.call @f(%x) : (tensor<f32>) -> tensor<f32>"),
      WEIR_INVALID_ARGUMENT, "recursive");
}

static const char busy[] = MAIN(
    "%i = stablehlo.iota dim = 0 : tensor<40xf32>\n"
    "%s = \"stablehlo.sort\"(%i) <{dimension = 0 : i64}> ({\n^bb0(%a: tensor<f32>, %b: "
    "tensor<f32>):\n"
    "  %c = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  "
    "stablehlo.return %c : tensor<i1>\n}) : (tensor<40xf32>) -> tensor<40xf32>\n"
    "%w = \"stablehlo.while\"(%s) ({\n^bb0(%a: tensor<40xf32>):\n  %f = stablehlo.slice %a [0:1] : "
    "(tensor<40xf32>) -> tensor<1xf32>\n"
    "  %g = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>\n  %h = stablehlo.constant "
    "dense<0.0> : tensor<f32>\n"
    "  %c = stablehlo.compare GT, %g, %h : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  "
    "stablehlo.return %c : tensor<i1>\n}, {\n"
    "^bb0(%a: tensor<40xf32>):\n  %f = stablehlo.negate %a : tensor<40xf32>\n  stablehlo.return %f "
    ": tensor<40xf32>\n}) : (tensor<40xf32>) -> tensor<40xf32>\n"
    "%r = stablehlo.reduce(%w init: %x) applies stablehlo.add across dimensions = [0] : "
    "(tensor<40xf32>, tensor<f32>) -> tensor<f32>");

/* Each allocation fails in turn; ctx_deinit() asserts that nothing stays behind. */
static void allocation_failures(void) {
  weir_status status = WEIR_RESOURCE_EXHAUSTED;
  int64_t n = 0;
  for (; status != WEIR_OK && n < 10000; n++) {
    ctx c;
    ctx_init(&c);
    c.fail_after = n;
    run_state r = {.c = &c, .text = busy};
    status = ctx_try(&c, run_text, &r);
    if (status != WEIR_OK && status != WEIR_RESOURCE_EXHAUSTED) {
      fprintf(stderr, "allocation %lld: %s %s\n", (long long)n, weir_status_name(status),
              c.message);
      failures++;
    }
    ctx_deinit(&c);
  }
  if (status != WEIR_OK || n < 20) {
    fprintf(stderr, "%lld allocations, then %s\n", (long long)n, weir_status_name(status));
    failures++;
  }
}

int main(void) {
  refusals();
  allocation_failures();
  return failures != 0;
}
