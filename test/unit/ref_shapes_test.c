/* Empty tensors, dimensions of length zero and rank 0, in every family of structural ops. */
#include "ref_testing.h"

#define ADD_F32                                                                                    \
  "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %s = stablehlo.add %a, %b : tensor<f32>\n  "     \
  "stablehlo.return %s : tensor<f32>\n})"
#define EMPTY "%x = stablehlo.constant dense<> : tensor<0xf32>\n"
#define NONE_BY_3 "%x = stablehlo.constant dense<> : tensor<0x3xf32>\n"

static void reductions(void) {
  EXPECT("tensor<f32>",
         EMPTY
         "%i = stablehlo.constant dense<2.5> : tensor<f32>\n"
         "%r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0>}> " ADD_F32
         " : (tensor<0xf32>, tensor<f32>) -> tensor<f32>",
         2.5);
  EXPECT("tensor<3xf32>",
         NONE_BY_3
         "%i = stablehlo.constant dense<2.5> : tensor<f32>\n"
         "%r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0>}> " ADD_F32
         " : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>",
         2.5, 2.5, 2.5);
  EXPECT_EMPTY("tensor<0xf32>", NONE_BY_3
               "%i = stablehlo.constant dense<2.5> : tensor<f32>\n"
               "%r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 1>}> " ADD_F32
               " : (tensor<0x3xf32>, tensor<f32>) -> tensor<0xf32>");
  /* the initial value is folded once; a scalar reduced over nothing */
  EXPECT("tensor<f32>",
         "%x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n%i = stablehlo.constant "
         "dense<10.0> : tensor<f32>\n"
         "%r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0>}> " ADD_F32
         " : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
         13);
  EXPECT("tensor<f32>",
         "%x = stablehlo.constant dense<1.0> : tensor<f32>\n%i = stablehlo.constant dense<10.0> : "
         "tensor<f32>\n"
         "%r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64>}> " ADD_F32
         " : (tensor<f32>, tensor<f32>) -> tensor<f32>",
         11);
  /* windows that lie in the padding only give the initial value */
  EXPECT("tensor<4xf32>",
         "%x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n%i = stablehlo.constant "
         "dense<0.5> : tensor<f32>\n"
         "%r = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 1>, padding = "
         "dense<1> : tensor<1x2xi64>}> " ADD_F32 " : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>",
         0.5, 1.5, 2.5, 0.5);
  /* low precision: 512 halves sum to 256 exactly, not to where bf16 gets stuck */
  EXPECT("tensor<bf16>",
         "%x = stablehlo.constant dense<0.5> : tensor<1024xbf16>\n%i = stablehlo.constant "
         "dense<0.0> : tensor<bf16>\n"
         "%r = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : "
         "(tensor<1024xbf16>, tensor<bf16>) -> tensor<bf16>",
         512);
}

static void contractions(void) {
  EXPECT("tensor<2x2xf32>",
         "%x = stablehlo.constant dense<> : tensor<2x0xf32>\n%y = stablehlo.constant dense<> : "
         "tensor<0x2xf32>\n"
         "%r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x0xf32>, "
         "tensor<0x2xf32>) -> tensor<2x2xf32>",
         0, 0, 0, 0);
  EXPECT_EMPTY("tensor<0x2xf32>", NONE_BY_3
               "%y = stablehlo.constant dense<1.0> : tensor<3x2xf32>\n"
               "%r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
               "(tensor<0x3xf32>, tensor<3x2xf32>) -> tensor<0x2xf32>");
  EXPECT("tensor<f32>",
         "%x = stablehlo.constant dense<3.0> : tensor<f32>\n"
         "%r = stablehlo.dot_general %x, %x, contracting_dims = [] x [] : (tensor<f32>, "
         "tensor<f32>) -> tensor<f32>",
         9);
  EXPECT("tensor<i8>",
         "%x = stablehlo.constant dense<[100, 100]> : tensor<2xi8>\n"
         "%r = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2xi8>, "
         "tensor<2xi8>) -> tensor<i8>",
         32);
  EXPECT_EMPTY("tensor<0x0xf32>",
               "%x = stablehlo.constant dense<> : tensor<0x0xf32>\n%r = stablehlo.cholesky %x, "
               "lower = true : tensor<0x0xf32>");
  EXPECT_EMPTY("tensor<0x2x2xf32>",
               "%x = stablehlo.constant dense<> : tensor<0x2x2xf32>\n%r = stablehlo.cholesky %x : "
               "tensor<0x2x2xf32>");
}

static void movement(void) {
  EXPECT("tensor<2xf32>",
         EMPTY
         "%y = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
         "%r = stablehlo.concatenate %x, %y, %x, dim = 0 : (tensor<0xf32>, tensor<2xf32>, "
         "tensor<0xf32>) -> tensor<2xf32>",
         1, 2);
  EXPECT("tensor<3xf32>",
         EMPTY
         "%y = stablehlo.constant dense<7.0> : tensor<f32>\n"
         "%r = stablehlo.pad %x, %y, low = [2], high = [1], interior = [0] : (tensor<0xf32>, "
         "tensor<f32>) -> tensor<3xf32>",
         7, 7, 7);
  EXPECT("tensor<2xf32>",
         "%x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%y = stablehlo.constant "
         "dense<7.0> : tensor<f32>\n"
         "%r = stablehlo.pad %x, %y, low = [-2], high = [-1], interior = [1] : (tensor<3xf32>, "
         "tensor<f32>) -> tensor<2xf32>",
         2, 7);
  EXPECT_EMPTY("tensor<0x3xf32>",
               "%x = stablehlo.constant dense<> : tensor<3x0xf32>\n%r = stablehlo.transpose %x, "
               "dims = [1, 0] : (tensor<3x0xf32>) -> tensor<0x3xf32>");
  EXPECT_EMPTY("tensor<0xf32>",
               "%x = stablehlo.constant dense<1.0> : tensor<f32>\n%r = stablehlo.broadcast_in_dim "
               "%x, dims = [] : (tensor<f32>) -> tensor<0xf32>");
  EXPECT_EMPTY("tensor<0xf32>", EMPTY
               "%r = \"stablehlo.sort\"(%x) <{dimension = 0 : i64}> ({\n^bb0(%a: tensor<f32>, %b: "
               "tensor<f32>):\n"
               "  %s = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  "
               "stablehlo.return %s : tensor<i1>\n}) : (tensor<0xf32>) -> tensor<0xf32>");
  /* start indices are clamped, unsigned ones beyond 2^63 too */
  EXPECT("tensor<2xi32>",
         "%x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n%s = stablehlo.constant "
         "dense<18446744073709551615> : tensor<ui64>\n"
         "%r = stablehlo.dynamic_slice %x, %s, sizes = [2] : (tensor<3xi32>, tensor<ui64>) -> "
         "tensor<2xi32>",
         2, 3);
  EXPECT("tensor<3xi32>",
         "%x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n%u = stablehlo.constant "
         "dense<[8, 9]> : tensor<2xi32>\n"
         "%s = stablehlo.constant dense<-5> : tensor<i32>\n"
         "%r = stablehlo.dynamic_update_slice %x, %u, %s : (tensor<3xi32>, tensor<2xi32>, "
         "tensor<i32>) -> tensor<3xi32>",
         8, 9, 3);
  EXPECT_EMPTY(
      "tensor<0x2xi32>",
      "%x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n%i = stablehlo.constant dense<> : "
      "tensor<0x1xi32>\n"
      "%r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
      "[1], start_index_map = [0], index_vector_dim = 1>, "
      "slice_sizes = array<i64: 2>}> : (tensor<3xi32>, tensor<0x1xi32>) -> tensor<0x2xi32>");
  EXPECT("tensor<5xui32>", "%r = stablehlo.iota dim = 0 : tensor<5xui32>", 0, 1, 2, 3, 4);
}

#define SCATTER(index)                                                                             \
  "%x = stablehlo.constant dense<0.0> : tensor<4xf32>\n%i = stablehlo.constant dense<[" index      \
  "]> : tensor<1xi32>\n"                                                                           \
  "%u = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"                                    \
  "%r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "                          \
  "#stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> " ADD_F32    \
  " : (tensor<4xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<4xf32>"

static void scatters(void) {
  EXPECT("tensor<4xf32>", SCATTER("2"), 0, 0, 1, 2);
  EXPECT("tensor<4xf32>", SCATTER("3"), 0, 0, 0, 0); /* sticks out: dropped whole */
  EXPECT("tensor<4xf32>", SCATTER("-1"), 0, 0, 0, 0);
}

static void sorting(void) {
  /* total order, first come first: NaN, 0, 0, -0 */
  EXPECT("tensor<3xi32>",
         "%x = stablehlo.constant dense<[0.0, -0.0, 0.0, 0x7FC00000, 0xFFC00000]> : tensor<5xf32>\n"
         "%v, %r = chlo.top_k(%x, k = 3) : tensor<5xf32> -> (tensor<3xf32>, tensor<3xi32>)",
         3, 0, 2);
  EXPECT("tensor<4xi32>",
         "%x = stablehlo.constant dense<[2, 1, 2, 1]> : tensor<4xi32>\n%i = stablehlo.iota dim = 0 "
         ": tensor<4xi32>\n"
         "%v, %r = \"stablehlo.sort\"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({\n"
         "^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):\n  %s = "
         "stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "  stablehlo.return %s : tensor<i1>\n}) : (tensor<4xi32>, tensor<4xi32>) -> "
         "(tensor<4xi32>, tensor<4xi32>)",
         0, 2, 1, 3);
}

static void branches(void) {
  static const char format[] =
      "%%i = stablehlo.constant dense<%d> : tensor<i32>\n%%a = stablehlo.constant dense<1> : "
      "tensor<i32>\n"
      "%%b = stablehlo.constant dense<2> : tensor<i32>\n"
      "%%r = \"stablehlo.case\"(%%i) ({\n stablehlo.return %%a : tensor<i32>\n}, {\n "
      "stablehlo.return %%b : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>";
  static const double want[] = {2, 1, 2, 2}; /* out of range: the last branch */
  for (int i = 0; i < 4; i++) {
    char body[512];
    snprintf(body, sizeof body, format, i - 1);
    EXPECT("tensor<i32>", body, want[i]);
  }
}

int main(void) {
  reductions();
  contractions();
  movement();
  scatters();
  sorting();
  branches();
  return failures != 0;
}
