/* Edge values of elementwise ops and of every element type. */
#include "ref_testing.h"

#define TWO(op, type, a, b)                                                                        \
  "%x = stablehlo.constant dense<" a "> : " type "\n%y = stablehlo.constant dense<" b "> : " type  \
  "\n%r = stablehlo." op " %x, %y : " type
#define ONE(op, type, a)                                                                           \
  "%x = stablehlo.constant dense<" a "> : " type "\n%r = stablehlo." op " %x : " type
#define CONVERT(from, to, a)                                                                       \
  "%x = stablehlo.constant dense<" a "> : " from "\n%r = stablehlo.convert %x : (" from ") -> " to
#define NAN32 "0x7FC00000"
#define INF32 "0x7F800000"
#define I8 "tensor<4xi8>"
#define F32 "tensor<4xf32>"

static void integers(void) {
  EXPECT(I8, TWO("divide", I8, "[7, -7, -128, 0]", "[0, 0, -1, 5]"), -1, -1, -128, 0);
  EXPECT(I8, TWO("remainder", I8, "[7, -7, -128, -5]", "[0, 3, -1, -3]"), 7, -1, 0, -2);
  EXPECT("tensor<2xui8>", TWO("divide", "tensor<2xui8>", "[7, 250]", "[0, 7]"), 255, 35);
  EXPECT(I8, TWO("shift_left", I8, "[1, 1, 1, -1]", "[7, 8, -1, 1]"), -128, 0, 0, -2);
  EXPECT(I8, TWO("shift_right_arithmetic", I8, "[-128, -128, 127, 64]", "[7, 8, 9, -1]"), -1, -1, 0,
         0);
  EXPECT(I8, TWO("shift_right_logical", I8, "[-128, -128, -1, 64]", "[7, 8, 1, 6]"), 1, 0, 127, 1);
  EXPECT(I8, TWO("power", I8, "[-1, 2, 3, 0]", "[-3, -1, 5, 0]"), -1, 0, -13, 1);
  EXPECT(I8, TWO("add", I8, "[127, -128, 1, 0]", "[1, -1, 1, 0]"), -128, 127, 2, 0);
  EXPECT(I8, ONE("abs", I8, "[-128, -1, 0, 5]"), -128, 1, 0, 5);
  EXPECT(I8, ONE("count_leading_zeros", I8, "[0, 1, -1, 64]"), 8, 7, 0, 1);
  EXPECT("tensor<3xi4>", TWO("add", "tensor<3xi4>", "[7, -8, 3]", "[1, -1, 3]"), -8, 7, 6);
  EXPECT("tensor<3xui4>", TWO("multiply", "tensor<3xui4>", "[15, 4, 3]", "[15, 4, 3]"), 1, 0, 9);
  EXPECT("tensor<2xi2>", TWO("add", "tensor<2xi2>", "[1, -2]", "[1, -1]"), -2, 1);
  EXPECT("tensor<2xui64>", TWO("maximum", "tensor<2xui64>", "[18446744073709551615, 0]", "[1, 2]"),
         18446744073709551615.0, 2);
  EXPECT("tensor<4xi1>",
         TWO("add", "tensor<4xi1>", "[true, true, false, false]", "[true, false, true, false]"), 1,
         1, 1, 0);
  EXPECT(
      "tensor<4xi1>",
      TWO("multiply", "tensor<4xi1>", "[true, true, false, false]", "[true, false, true, false]"),
      1, 0, 0, 0);
  EXPECT("tensor<2xi1>", ONE("not", "tensor<2xi1>", "[true, false]"), 0, 1);
}

static void floats(void) {
  EXPECT(F32, TWO("maximum", F32, "[0.0, -0.0, " NAN32 ", 1.0]", "[-0.0, 0.0, 1.0, " NAN32 "]"), 0,
         0, NAN, NAN);
  EXPECT(F32, TWO("minimum", F32, "[0.0, -0.0, " NAN32 ", " INF32 "]", "[-0.0, 0.0, 1.0, 1.0]"),
         -0.0, -0.0, NAN, 1);
  EXPECT(F32, ONE("sign", F32, "[-0.0, 0.0, " NAN32 ", -3.0]"), -0.0, 0, NAN, -1);
  EXPECT(F32, ONE("round_nearest_even", F32, "[0.5, -0.5, 2.5, 1.5]"), 0, -0.0, 2, 2);
  EXPECT(F32, ONE("round_nearest_afz", F32, "[0.5, -0.5, 2.5, 0.49999997]"), 1, -1, 3, 0);
  EXPECT(F32, TWO("remainder", F32, "[5.0, -5.0, 1.0, 1.0]", "[3.0, 3.0, 0.0, " INF32 "]"), 2, -2,
         NAN, 1);
  EXPECT(F32, TWO("power", F32, "[0.0, 1.0, -8.0, " NAN32 "]", "[0.0, " NAN32 ", 0.5, 0.0]"), 1, 1,
         NAN, 1);
  EXPECT(F32, TWO("divide", F32, "[1.0, -1.0, 0.0, 16777217.0]", "[0.0, 0.0, 0.0, 1.0]"), INFINITY,
         -INFINITY, NAN, 16777216);
  EXPECT(F32, ONE("rsqrt", F32, "[0.0, -0.0, 4.0, -1.0]"), INFINITY, -INFINITY, 0.5, NAN);
  EXPECT("tensor<4xi1>",
         "%x = stablehlo.constant dense<[0.0, " INF32 ", " NAN32 ", 1.0]> : " F32
         "\n%r = stablehlo.is_finite %x : (" F32 ") -> tensor<4xi1>",
         1, 0, 0, 1);
  /* one rounding: 1 + 2^-24 + 2^-50 in f32 */
  EXPECT("tensor<f32>", CONVERT("tensor<f64>", "tensor<f32>", "1.0000000596046456696"),
         1.00000011920928955);
  EXPECT("tensor<2xbf16>", TWO("add", "tensor<2xbf16>", "[256.0, 1.0]", "[1.0, 0.00390625]"), 256,
         1);
}

static void comparisons(void) {
  static const char order[] =
      "%%x = stablehlo.constant dense<[0xFFC00000, 0xFF800000, -0.0, 0.0, " NAN32
      "]> : tensor<5xf32>\n"
      "%%y = stablehlo.constant dense<[0xFF800000, -1.0, 0.0, 0.0, " INF32
      "]> : tensor<5xf32>\n"
      "%%r = stablehlo.compare %s, %%x, %%y, %s : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>";
  char body[1024];
  snprintf(body, sizeof body, order, "LT", "TOTALORDER");
  EXPECT("tensor<5xi1>", body, 1, 1, 1, 0, 0);
  snprintf(body, sizeof body, order, "GE", "TOTALORDER");
  EXPECT("tensor<5xi1>", body, 0, 0, 0, 1, 1);
  snprintf(body, sizeof body, order, "EQ", "FLOAT");
  EXPECT("tensor<5xi1>", body, 0, 0, 1, 1, 0);
  snprintf(body, sizeof body, order, "NE", "FLOAT");
  EXPECT("tensor<5xi1>", body, 1, 1, 0, 0, 1);
  EXPECT("tensor<2xi1>",
         "%x = stablehlo.constant dense<[255, 1]> : tensor<2xui8>\n%y = stablehlo.constant "
         "dense<[1, 255]> : tensor<2xui8>\n"
         "%r = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> "
         "tensor<2xi1>",
         1, 0);
}

static void clamps(void) {
  EXPECT(F32,
         "%l = stablehlo.constant dense<1.0> : tensor<f32>\n%h = stablehlo.constant dense<" NAN32
         "> : tensor<f32>\n"
         "%x = stablehlo.constant dense<[0.0, 1.0, 2.0, " NAN32 "]> : " F32
         "\n"
         "%r = \"stablehlo.clamp\"(%l, %x, %h) : (tensor<f32>, " F32 ", tensor<f32>) -> " F32,
         NAN, NAN, NAN, NAN);
  EXPECT("tensor<3xi32>",
         "%l = stablehlo.constant dense<3> : tensor<3xi32>\n%h = stablehlo.constant dense<1> : "
         "tensor<i32>\n"
         "%x = stablehlo.constant dense<[0, 2, 9]> : tensor<3xi32>\n"
         "%r = \"stablehlo.clamp\"(%l, %x, %h) : (tensor<3xi32>, tensor<3xi32>, tensor<i32>) -> "
         "tensor<3xi32>",
         1, 1, 1);
}

static void conversions(void) {
  EXPECT(I8, CONVERT(F32, I8, "[300.0, -300.0, " NAN32 ", -1.9]"), 127, -128, 0, -1);
  EXPECT("tensor<4xui8>", CONVERT(F32, "tensor<4xui8>", "[300.0, -300.0, -0.5, 254.9]"), 255, 0, 0,
         254);
  EXPECT("tensor<2xi64>", CONVERT("tensor<2xf64>", "tensor<2xi64>", "[1.0e19, -1.0e19]"),
         9223372036854775807.0, -9223372036854775808.0);
  EXPECT("tensor<2xi4>", CONVERT("tensor<2xf32>", "tensor<2xi4>", "[9.0, -9.0]"), 7, -8);
  EXPECT("tensor<4xi1>", CONVERT(F32, "tensor<4xi1>", "[0.0, -0.0, " NAN32 ", 0.25]"), 0, 0, 1, 1);
  EXPECT("tensor<2xf32>",
         CONVERT("tensor<2xi64>", "tensor<2xf32>", "[1152921573326323713, 16777217]"),
         1152921642045800448.0, 16777216);
  EXPECT("tensor<f32>", CONVERT("tensor<ui64>", "tensor<f32>", "18446744073709551615"),
         18446744073709551616.0);
  EXPECT("tensor<3xf8E4M3FN>",
         CONVERT("tensor<3xf32>", "tensor<3xf8E4M3FN>", "[464.0, 465.0, 1.0625]"), 448, NAN, 1);
  EXPECT("tensor<3xf8E5M2>",
         CONVERT("tensor<3xf32>", "tensor<3xf8E5M2>", "[61439.0, 61440.0, 1.125]"), 57344, INFINITY,
         1);
  EXPECT("tensor<3xf8E5M2FNUZ>",
         CONVERT("tensor<3xf32>", "tensor<3xf8E5M2FNUZ>", "[-0.0, " INF32 ", 1.0]"), 0, NAN, 1);
  EXPECT("tensor<4xf4E2M1FN>", CONVERT(F32, "tensor<4xf4E2M1FN>", "[100.0, -0.2, 5.0, " NAN32 "]"),
         6, -0.0, 4, -0.0);
  EXPECT("tensor<2xf6E2M3FN>", CONVERT("tensor<2xf32>", "tensor<2xf6E2M3FN>", "[100.0, 0.3]"), 7.5,
         0.25);
  EXPECT("tensor<4xf8E8M0FNU>", CONVERT(F32, "tensor<4xf8E8M0FNU>", "[0.0, -1.0, 3.0, 0.25]"), NAN,
         NAN, 4, 0.25);
  EXPECT("tensor<2xcomplex<f32>>", CONVERT("tensor<2xi32>", "tensor<2xcomplex<f32>>", "[3, -4]"), 3,
         -4);
  EXPECT("tensor<2xf32>",
         CONVERT("tensor<2xcomplex<f32>>", "tensor<2xf32>", "[(1.0, 2.0), (-0.5, 0.0)]"), 1, -0.5);
}

static void bits(void) {
  EXPECT("tensor<2xi16>",
         "%x = stablehlo.constant dense<[[1, 2], [-1, 127]]> : tensor<2x2xi8>\n"
         "%r = stablehlo.bitcast_convert %x : (tensor<2x2xi8>) -> tensor<2xi16>",
         513, 32767);
  EXPECT("tensor<2x2xui8>",
         "%x = stablehlo.constant dense<[513, 32767]> : tensor<2xi16>\n"
         "%r = stablehlo.bitcast_convert %x : (tensor<2xi16>) -> tensor<2x2xui8>",
         1, 2, 255, 127);
  EXPECT("tensor<1x2xi4>",
         "%x = stablehlo.constant dense<[-31]> : tensor<1xi8>\n"
         "%r = stablehlo.bitcast_convert %x : (tensor<1xi8>) -> tensor<1x2xi4>",
         1, -2);
  EXPECT("tensor<f32>",
         "%x = stablehlo.constant dense<65504.0> : tensor<f32>\n"
         "%r = stablehlo.reduce_precision %x, format = e4m3 : tensor<f32>",
         INFINITY);
  EXPECT("tensor<2xf32>",
         "%x = stablehlo.constant dense<[1.0625, 0.001]> : tensor<2xf32>\n"
         "%r = stablehlo.reduce_precision %x, format = e4m3 : tensor<2xf32>",
         1, 0);
}

int main(void) {
  integers();
  floats();
  comparisons();
  clamps();
  conversions();
  bits();
  return failures != 0;
}
