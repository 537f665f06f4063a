/* weir.loop: slices, units, overlap of the last trip, carries; and that a loop's trips leave no
 * memory behind. */
#include <sys/resource.h>

#include "ref_testing.h"

#define LOOP(attributes) "\"weir.loop\"(%x, %w, %z) <{" attributes "}>"
#define START "^bb0(%start: tensor<i64>, %lo: tensor<i64>, "

/* y[i] = x[i] + w[0] in slices, sum of all x that are new in the trip. 5 elements by 2: the last
 * trip starts at 3. */
static void slices_and_carry(void) {
  static const char setup[] =
      "%x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>\n%w = "
      "stablehlo.constant dense<[10.0]> : tensor<1xf32>\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%y, %t = " LOOP(
          "extent = 5 : i64, slice = 2 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: "
          "1, 1>, "
          "out_dims = array<i64: 0, -1>, out_units = array<i64: 1, 1>") " ({\n" START
                                                                        "%a: tensor<2xf32>, %b: "
                                                                        "tensor<1xf32>, %c: "
                                                                        "tensor<f32>):\n"
                                                                        "  %w2 = "
                                                                        "stablehlo.broadcast_in_"
                                                                        "dim %b, dims = [0] : "
                                                                        "(tensor<1xf32>) -> "
                                                                        "tensor<2xf32>\n"
                                                                        "  %sum = stablehlo.add "
                                                                        "%a, %w2 : tensor<2xf32>\n"
                                                                        "  %i = stablehlo.iota dim "
                                                                        "= 0 : tensor<2xi64>\n"
                                                                        "  %s2 = "
                                                                        "stablehlo.broadcast_in_"
                                                                        "dim %start, dims = [] : "
                                                                        "(tensor<i64>) -> "
                                                                        "tensor<2xi64>\n"
                                                                        "  %l2 = "
                                                                        "stablehlo.broadcast_in_"
                                                                        "dim %lo, dims = [] : "
                                                                        "(tensor<i64>) -> "
                                                                        "tensor<2xi64>\n"
                                                                        "  %at = stablehlo.add %i, "
                                                                        "%s2 : tensor<2xi64>\n"
                                                                        "  %new = "
                                                                        "stablehlo.compare GE, "
                                                                        "%at, %l2 : "
                                                                        "(tensor<2xi64>, "
                                                                        "tensor<2xi64>) -> "
                                                                        "tensor<2xi1>\n"
                                                                        "  %zero = "
                                                                        "stablehlo.constant "
                                                                        "dense<0.0> : "
                                                                        "tensor<2xf32>\n"
                                                                        "  %masked = "
                                                                        "stablehlo.select %new, "
                                                                        "%a, %zero : tensor<2xi1>, "
                                                                        "tensor<2xf32>\n"
                                                                        "  %next = "
                                                                        "stablehlo.reduce(%masked "
                                                                        "init: %c) applies "
                                                                        "stablehlo.add across "
                                                                        "dimensions = [0] : "
                                                                        "(tensor<2xf32>, "
                                                                        "tensor<f32>) -> "
                                                                        "tensor<f32>\n"
                                                                        "  \"weir.yield\"(%sum, "
                                                                        "%next) : (tensor<2xf32>, "
                                                                        "tensor<f32>) -> ()\n"
                                                                        "}) : (tensor<5xf32>, "
                                                                        "tensor<1xf32>, "
                                                                        "tensor<f32>) -> "
                                                                        "(tensor<5xf32>, "
                                                                        "tensor<f32>)\n";
  char body[4096];
  snprintf(body, sizeof body, "%s%%r = stablehlo.reshape %%y : (tensor<5xf32>) -> tensor<5xf32>",
           setup);
  EXPECT("tensor<5xf32>", body, 11, 12, 13, 14, 15);
  snprintf(body, sizeof body, "%s%%r = stablehlo.reshape %%t : (tensor<f32>) -> tensor<f32>",
           setup);
  EXPECT("tensor<f32>", body, 15);
}

/* Units: an index of the factor is two columns of x and one row of y; 3 indices by 2. Every trip
 * adds its lo to what it yields: the overlap is overwritten by the later trip. */
static void units_and_overlap(void) {
  EXPECT("tensor<3x2xi64>",
         "%x = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>\n"
         "%r = \"weir.loop\"(%x) <{extent = 3 : i64, slice = 2 : i64, in_dims = array<i64: 1>, "
         "in_units = array<i64: 2>, out_dims = array<i64: 0>, "
         "out_units = array<i64: 1>}> ({\n" START
         "%a: tensor<1x4xi64>):\n"
         "  %b = stablehlo.reshape %a : (tensor<1x4xi64>) -> tensor<2x2xi64>\n"
         "  %h = stablehlo.constant dense<100> : tensor<i64>\n  %m = stablehlo.multiply %lo, %h : "
         "tensor<i64>\n"
         "  %n = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<i64>) -> tensor<2x2xi64>\n"
         "  %s = stablehlo.add %b, %n : tensor<2x2xi64>\n  \"weir.yield\"(%s) : (tensor<2x2xi64>) "
         "-> ()\n"
         "}) : (tensor<1x6xi64>) -> tensor<3x2xi64>",
         0, 1, 202, 203, 204, 205);
}

#define COUNTING(extent, slice)                                                                    \
  "%c = stablehlo.constant dense<7> : tensor<i64>\n"                                               \
  "%r = \"weir.loop\"(%c) <{extent = " extent " : i64, slice = " slice                             \
  " : i64, in_dims = array<i64>, in_units = array<i64>, out_dims = array<i64: -1>, "               \
  "out_units = array<i64: 1>}> ({\n" START                                                         \
  "%a: tensor<i64>):\n  %t = stablehlo.constant dense<10> : tensor<i64>\n  %u = "                  \
  "stablehlo.multiply %a, %t : tensor<i64>\n"                                                      \
  "  %v = stablehlo.add %u, %start : tensor<i64>\n  \"weir.yield\"(%v) : (tensor<i64>) -> ()\n}) " \
  ": (tensor<i64>) -> tensor<i64>"

static void trips(void) {
  EXPECT("tensor<i64>", COUNTING("6", "3"), 703);  /* starts 0, 3 */
  EXPECT("tensor<i64>", COUNTING("7", "3"), 7034); /* 0, 3, 4 */
  EXPECT("tensor<i64>", COUNTING("3", "3"), 70);
  char *text = program("tensor<i64>", COUNTING("2", "3"));
  EXPECT_ERROR(text, WEIR_INVALID_ARGUMENT, "weir.loop");
  free(text);
}

#define WHILE(trips)                                                                               \
  "%z = stablehlo.constant dense<0> : tensor<i64>\n%n = stablehlo.constant dense<" trips           \
  "> : tensor<i64>\n"                                                                              \
  "%one = stablehlo.constant dense<1> : tensor<i64>\n%x = stablehlo.constant dense<0.0> : "        \
  "tensor<16384xf32>\n"                                                                            \
  "%k:2 = \"stablehlo.while\"(%z, %x) ({\n^bb0(%i: tensor<i64>, %a: tensor<16384xf32>):\n"         \
  "  %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n  "             \
  "stablehlo.return %p : tensor<i1>\n}, {\n"                                                       \
  "^bb0(%i: tensor<i64>, %a: tensor<16384xf32>):\n  %j = stablehlo.add %i, %one : tensor<i64>\n  " \
  "%b = stablehlo.negate %a : tensor<16384xf32>\n"                                                 \
  "  stablehlo.return %j, %b : tensor<i64>, tensor<16384xf32>\n}) : (tensor<i64>, "                \
  "tensor<16384xf32>) -> (tensor<i64>, tensor<16384xf32>)\n"                                       \
  "%r = stablehlo.negate %k#0 : tensor<i64>"

/* 1000 trips of 128 KB: would be 128 MB if a trip kept what it made. */
static void memory(void) {
  struct rusage before, after;
  EXPECT("tensor<i64>", WHILE("20"), -20);
  getrusage(RUSAGE_SELF, &before);
  EXPECT("tensor<i64>", WHILE("1000"), -1000);
  getrusage(RUSAGE_SELF, &after);
  long grown_kb = after.ru_maxrss - before.ru_maxrss;
#if defined(__SANITIZE_ADDRESS__)
  grown_kb = 0; /* its quarantine holds freed memory back */
#endif
  if (grown_kb > 40000) {
    fprintf(stderr, "the loop kept %ld kB\n", grown_kb);
    failures++;
  }
}

int main(void) {
  slices_and_carry();
  units_and_overlap();
  trips();
  memory();
  return failures != 0;
}
