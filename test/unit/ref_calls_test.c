/* Custom calls that JAX itself does not print for CPU today but that programs hold: annotations,
 * top-k, CHLO in disguise, LAPACK in batches. */
#include "ref_testing.h"

#define X4 "%x = stablehlo.constant dense<[3.0, 1.0, 4.0, 1.5]> : tensor<4xf32>\n"

static void annotations(void) {
  EXPECT("tensor<4xf32>",
         X4
         "%r = stablehlo.custom_call @Sharding(%x) {backend_config = \"\"} : (tensor<4xf32>) -> "
         "tensor<4xf32>",
         3, 1, 4, 1.5);
  EXPECT("tensor<4xf32>", X4 "%r = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>", 3, 1,
         4, 1.5);
  EXPECT("tensor<4xf32>", X4 "%r = stablehlo.optimization_barrier %x : tensor<4xf32>", 3, 1, 4,
         1.5);
  char *text =
      program("tensor<2xf32>",
              X4 "%r = stablehlo.custom_call @Sharding(%x) : (tensor<4xf32>) -> tensor<2xf32>");
  EXPECT_ERROR(text, WEIR_UNIMPLEMENTED, "changes types");
  free(text);
}

static void top_k(void) {
  EXPECT("tensor<2xi32>",
         X4
         "%v, %r = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = "
         "true}} : "
         "(tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
         2, 0);
  EXPECT("tensor<2xi32>",
         X4
         "%v, %r = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = "
         "false}} : "
         "(tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)",
         1, 3);
}

static void chlo(void) {
  EXPECT("tensor<2xf32>",
         "%x = stablehlo.constant dense<[0.0, 40.0]> : tensor<2xf32>\n"
         "%r = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} "
         ": (tensor<2xf32>) -> tensor<2xf32>",
         0, 1);
}

#define CONFIG(text) "{mhlo.backend_config = {" text "}}"

static void lapack(void) {
  /* two systems: [[2, 0], [1, 4]] x = (2, 9) and the identity */
  EXPECT("tensor<2x2x1xf64>",
         "%a = stablehlo.constant dense<[[[2.0, 7.0], [1.0, 4.0]], [[1.0, 7.0], [0.0, 1.0]]]> : tensor<2x2x2xf64>\n"
         "%b = stablehlo.constant dense<[[[2.0], [9.0]], [[5.0], [6.0]]]> : tensor<2x2x1xf64>\n"
         "%r = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) " CONFIG("diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8")
         " : (tensor<2x2x2xf64>, tensor<2x2x1xf64>) -> tensor<2x2x1xf64>", 1, 2, 5, 6);
  /* not positive definite: info is the minor's order */
  EXPECT("tensor<2xi32>",
         "%a = stablehlo.constant dense<[[[4.0, 0.0], [2.0, 5.0]], [[1.0, 0.0], [2.0, 1.0]]]> : "
         "tensor<2x2x2xf64>\n"
         "%l, %r = stablehlo.custom_call @lapack_dpotrf_ffi(%a) " CONFIG(
             "uplo = 76 : ui8") " : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xi32>)",
         0, 2);
  /* singular: the first zero pivot; pivots count from 1 */
  EXPECT("tensor<i32>",
         "%a = stablehlo.constant dense<[[1.0, 2.0], [2.0, 4.0]]> : tensor<2x2xf64>\n"
         "%l, %p, %r = stablehlo.custom_call @lapack_dgetrf_ffi(%a) " CONFIG(
             "") " : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)",
         2);
  EXPECT("tensor<2xi32>",
         "%a = stablehlo.constant dense<[[1.0, 2.0], [2.0, 4.0]]> : tensor<2x2xf64>\n"
         "%l, %r, %i = stablehlo.custom_call @lapack_dgetrf_ffi(%a) " CONFIG(
             "") " : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)",
         2, 2);
  EXPECT("tensor<3xf64>", "%a = stablehlo.constant dense<[[3.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<3x3xf64>\n"
         "%v, %r, %i = stablehlo.custom_call @lapack_dsyevd_ffi(%a) " CONFIG("mode = 86 : ui8, uplo = 76 : ui8")
         " : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<i32>)", -1, 2, 3);
  EXPECT("tensor<2xf64>", "%a = stablehlo.constant dense<[[0.0, 3.0], [0.0, 0.0], [-4.0, 0.0]]> : tensor<3x2xf64>\n"
         "%o, %r, %u, %v, %i = stablehlo.custom_call @lapack_dgesdd_ffi(%a) " CONFIG("mode = 65 : ui8")
         " : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<i32>)", 4, 3);
  /* a row swap: 1 x1 = 2, 5 x0 + 3 x1 = 11 */
  EXPECT("tensor<2x1xf64>", "%l = stablehlo.constant dense<[0.0, 5.0]> : tensor<2xf64>\n%d = stablehlo.constant dense<[0.0, 3.0]> : tensor<2xf64>\n"
         "%u = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf64>\n%b = stablehlo.constant dense<[[2.0], [11.0]]> : tensor<2x1xf64>\n"
         "%a0, %a1, %a2, %r, %i = stablehlo.custom_call @lapack_dgtsv_ffi(%l, %d, %u, %b) " CONFIG("") " : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, "
         "tensor<2x1xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x1xf64>, tensor<i32>)", 1, 2);
}

int main(void) {
  annotations();
  top_k();
  chlo();
  lapack();
  return failures != 0;
}
