/* Flops by hand, and that predicted times order the variants of a program the right way. */
#include "machine/cpu.h"
#include "machine/device.h"
#include "plan/cost.h"
#include "program_testing.h"

typedef struct run {
  int64_t flops;
  double ns, stock_ns;
  double came_ns; /* as it came */
  double card_ns; /* stock's, on a device */
} run;

static weir_status go(ir_module *m, arena *a, void *user) {
  run *r = user;
  (void)a;
  r->flops = plan_flops(m);
  machine on = machine_of_level(MACHINE_X86_64_V4);
  r->ns = plan_time_ns(m, &on);
  r->came_ns = plan_time_as_it_came_ns(m, &on);
  r->stock_ns = plan_stock_time_ns(m, &on);
  assert(plan_is_shared(m, &on) ? r->ns == r->came_ns : r->ns <= r->came_ns);
  machine card = {.device = device_find("v5e")};
  r->card_ns = plan_stock_time_ns(m, &card);
  return WEIR_OK;
}

static run cost_of(const char *text) {
  run r;
  weir_status status = program_ask((program_asked){.text = text, .ask = go, .user = &r});
  assert(status == WEIR_OK);
  return r;
}

static run body_of(const char *arguments, const char *body, const char *result) {
  char text[4000];
  snprintf(text, sizeof text,
           "module @m {\n  func.func public @main(%s) -> %s {\n%s    return %%r : %s\n  }\n}\n",
           arguments, result, body, result);
  return cost_of(text);
}

static void flops(void) {
  assert(body_of("%x: tensor<7x5xf32>, %y: tensor<5x3xf32>",
                 "    %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                 "(tensor<7x5xf32>, tensor<5x3xf32>) -> tensor<7x3xf32>\n",
                 "tensor<7x3xf32>")
             .flops == 2 * 7 * 5 * 3);
  assert(body_of("%x: tensor<2x7x5xf32>, %y: tensor<2x5x3xf32>",
                 "    %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], "
                 "contracting_dims = [2] x [1] : (tensor<2x7x5xf32>, tensor<2x5x3xf32>) -> "
                 "tensor<2x7x3xf32>\n",
                 "tensor<2x7x3xf32>")
             .flops == 2 * 2 * 7 * 5 * 3);
  assert(body_of("%x: tensor<10xf32>",
                 "    %a = stablehlo.add %x, %x : tensor<10xf32>\n    %r = stablehlo.sine %a : "
                 "tensor<10xf32>\n",
                 "tensor<10xf32>")
             .flops == 20);
  assert(body_of("%x: tensor<10x4xf32>",
                 "    %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<10x4xf32>) -> "
                 "tensor<4x10xf32>\n",
                 "tensor<4x10xf32>")
             .flops == 0);
  assert(body_of("%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x5xf32>",
                 "    %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, "
                 "o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} "
                 "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                 "(tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x8x8x5xf32>\n",
                 "tensor<1x8x8x5xf32>")
             .flops == 2 * (3 * 3 * 3) * (8 * 8 * 5));
  const char *trsm =
      "    %r = stablehlo.custom_call @lapack_strsm_ffi(%x, %y) {mhlo.backend_config = {diag = 78 "
      ": "
      "ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x4x4xf32>, "
      "tensor<2x4x30xf32>) -> tensor<2x4x30xf32>\n";
  assert(
      body_of("%x: tensor<2x4x4xf32>, %y: tensor<2x4x30xf32>", trsm, "tensor<2x4x30xf32>").flops ==
      2 * 4 * 4 * 30);
  assert(body_of("%x: tensor<3000000000x3000000000xf32>",
                 "    %r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
                 "(tensor<3000000000x3000000000xf32>, tensor<3000000000x3000000000xf32>) -> "
                 "tensor<3000000000x3000000000xf32>\n",
                 "tensor<3000000000x3000000000xf32>")
             .flops == INT64_MAX);
}

/* A loop over rows in slices: each trip pays for its ops. */
static run rows_in_slices(int slice) {
  char text[4000];
  snprintf(
      text, sizeof text,
      "\"builtin.module\"() ({\n  \"func.func\"() <{function_type = (tensor<8192x64xf32>) -> "
      "tensor<8192x64xf32>, sym_name = \"main\"}> ({\n"
      "  ^bb0(%%x: tensor<8192x64xf32>):\n    %%r = \"weir.loop\"(%%x, %%x) ({\n"
      "    ^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%xs: tensor<%dx64xf32>, %%w: "
      "tensor<8192x64xf32>):\n"
      "      %%k = \"stablehlo.dot_general\"(%%xs, %%w) <{dot_dimension_numbers = "
      "#stablehlo.dot<lhs_contracting_dimensions = [1], "
      "rhs_contracting_dimensions = [1]>}> : (tensor<%dx64xf32>, tensor<8192x64xf32>) -> "
      "tensor<%dx8192xf32>\n"
      "      %%y = \"stablehlo.dot_general\"(%%k, %%w) <{dot_dimension_numbers = "
      "#stablehlo.dot<lhs_contracting_dimensions = [1], "
      "rhs_contracting_dimensions = [0]>}> : (tensor<%dx8192xf32>, tensor<8192x64xf32>) -> "
      "tensor<%dx64xf32>\n"
      "      \"weir.yield\"(%%y) : (tensor<%dx64xf32>) -> ()\n"
      "    }) {extent = 8192 : i64, slice = %d : i64, in_dims = array<i64: 0, -1>, in_units = "
      "array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = "
      "array<i64: 1>} : (tensor<8192x64xf32>, tensor<8192x64xf32>) -> tensor<8192x64xf32>\n"
      "    \"func.return\"(%%r) : (tensor<8192x64xf32>) -> ()\n  }) : () -> ()\n}) : () -> ()\n",
      slice, slice, slice, slice, slice, slice, slice);
  return cost_of(text);
}

static void slices(void) {
  assert(rows_in_slices(1024).flops == rows_in_slices(8).flops);
  assert(rows_in_slices(1024).flops == 2ll * 2 * 8192 * 8192 * 64);
  assert(rows_in_slices(1).ns > 4 * rows_in_slices(256).ns); /* one row at a time is no GEMM */
  assert(rows_in_slices(8).ns > rows_in_slices(1024).ns);
}

static void times_order_variants(void) {
  const char *vector = "tensor<4096xf32>";
  run late = body_of("%a: tensor<4096x4096xf32>, %v: tensor<4096xf32>",
                     "    %w = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : "
                     "(tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>\n"
                     "    %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : "
                     "(tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>\n",
                     vector);
  run early = body_of("%a: tensor<4096x4096xf32>, %v: tensor<4096xf32>",
                      "    %w = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "
                      "(tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>\n"
                      "    %r = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : "
                      "(tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>\n",
                      vector);
  assert(early.ns > 20 * late.ns); /* measured: 132 times in f64 */
  run cheap =
      body_of("%x: tensor<4096x4096xf32>",
              "    %r = stablehlo.add %x, %x : tensor<4096x4096xf32>\n", "tensor<4096x4096xf32>");
  run dear =
      body_of("%x: tensor<4096x4096xf32>", "    %r = stablehlo.sine %x : tensor<4096x4096xf32>\n",
              "tensor<4096x4096xf32>");
  assert(dear.ns > cheap.ns && cheap.ns > 0);
}

/* A while that adds 10 numbers in each trip, its counter as given. */
static int64_t while_flops(const char *first, const char *bound, const char *compared,
                           const char *step) {
  char body[2000];
  snprintf(body, sizeof body,
           "    %%first = stablehlo.constant dense<%s> : tensor<i32>\n"
           "    %%w:2 = stablehlo.while(%%i = %%first, %%s = %%x) : tensor<i32>, tensor<10xf32>\n"
           "    cond {\n"
           "      %%bound = stablehlo.constant dense<%s> : tensor<i32>\n"
           "      %%more = stablehlo.compare %s : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "      stablehlo.return %%more : tensor<i1>\n"
           "    } do {\n"
           "      %%by = stablehlo.constant dense<%s> : tensor<i32>\n"
           "      %%next = stablehlo.add %%i, %%by : tensor<i32>\n"
           "      %%t = stablehlo.add %%s, %%s : tensor<10xf32>\n"
           "      stablehlo.return %%next, %%t : tensor<i32>, tensor<10xf32>\n"
           "    }\n"
           "    %%r = stablehlo.slice %%w#1 [0:10] : (tensor<10xf32>) -> tensor<10xf32>\n",
           first, bound, compared, step);
  return body_of("%x: tensor<10xf32>", body, "tensor<10xf32>").flops;
}

/* A kernel's gradient, its dimensions in this order, in a while of 100 trips. */
static double convolution_ns(const char *order, const char *x, const char *g, const char *k) {
  char body[2000], inputs[200];
  snprintf(inputs, sizeof inputs, "%%x: %s, %%g: %s", x, g);
  snprintf(body, sizeof body,
           "    %%zero = stablehlo.constant dense<0> : tensor<i32>\n"
           "    %%k = stablehlo.constant dense<0.0> : %s\n"
           "    %%w:2 = stablehlo.while(%%i = %%zero, %%s = %%k) : tensor<i32>, %s\n"
           "    cond {\n"
           "      %%bound = stablehlo.constant dense<100> : tensor<i32>\n"
           "      %%more = stablehlo.compare LT, %%i, %%bound : (tensor<i32>, tensor<i32>) -> "
           "tensor<i1>\n"
           "      stablehlo.return %%more : tensor<i1>\n"
           "    } do {\n"
           "      %%by = stablehlo.constant dense<1> : tensor<i32>\n"
           "      %%next = stablehlo.add %%i, %%by : tensor<i32>\n"
           "      %%c = stablehlo.convolution(%%x, %%g) dim_numbers = %s, window = {pad = [[1, 1], "
           "[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (%s, %s) -> "
           "%s\n"
           "      stablehlo.return %%next, %%c : tensor<i32>, %s\n"
           "    }\n"
           "    %%r = stablehlo.add %%w#1, %%w#1 : %s\n",
           k, k, order, x, g, k, k, k);
  return body_of(inputs, body, k).ns;
}

static void convolutions_in_loops(void) {
  double jax = convolution_ns("[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]", "tensor<8x32x32x16xf32>",
                              "tensor<8x32x32x16xf32>", "tensor<3x3x16x16xf32>");
  double last = convolution_ns("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "tensor<16x32x32x8xf32>",
                               "tensor<32x32x8x16xf32>", "tensor<16x3x3x16xf32>");
  assert(jax > 5 * last && last > 0); /* measured: 40 times */
}

/* 12 flops a trip: the sum, the counter, the comparison. */
static void test_trips(void) {
  assert(while_flops("0", "100", "LT, %i, %bound, SIGNED", "1") == 100 * 12);
  assert(while_flops("3", "100", "LT, %i, %bound, SIGNED", "4") == 25 * 12);
  assert(while_flops("0", "100", "GE, %bound, %i, SIGNED", "1") == 101 * 12);
  assert(while_flops("99", "0", "GE, %i, %bound, SIGNED", "-1") == 100 * 12);
  assert(while_flops("9", "9", "LT, %i, %bound, SIGNED", "1") == 0);
  assert(while_flops("0", "100", "NE, %i, %bound, SIGNED", "1") == 12); /* not known: one */
  assert(while_flops("0", "100", "LT, %i, %bound, SIGNED", "-1") == 12);
}

/* In a while of 10 trips, i, another that begins at %lo and ends at %hi, made by `bounds`: its
 * trips, all together. */
static int64_t nested_trips(const char *bounds) {
  char body[3000];
  snprintf(
      body, sizeof body,
      "    %%0 = stablehlo.constant dense<0> : tensor<i32>\n"
      "    %%1 = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %%10 = stablehlo.constant dense<10> : tensor<i32>\n"
      "    %%4 = stablehlo.constant dense<4> : tensor<i32>\n"
      "    %%n = stablehlo.constant dense<38> : tensor<i32>\n"
      "    %%w:2 = stablehlo.while(%%i = %%0, %%s = %%x) : tensor<i32>, tensor<1000xf32>\n"
      "    cond {\n"
      "      %%more = stablehlo.compare LT, %%i, %%10 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %%more : tensor<i1>\n"
      "    } do {\n%s"
      "      %%v:3 = stablehlo.while(%%j = %%lo, %%end = %%hi, %%t = %%s) : tensor<i32>, "
      "tensor<i32>, tensor<1000xf32>\n"
      "      cond {\n"
      "        %%less = stablehlo.compare LT, %%j, %%end : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "        stablehlo.return %%less : tensor<i1>\n"
      "      } do {\n"
      "        %%next = stablehlo.add %%j, %%1 : tensor<i32>\n"
      "        %%u = stablehlo.add %%t, %%t : tensor<1000xf32>\n"
      "        stablehlo.return %%next, %%end, %%u : tensor<i32>, tensor<i32>, tensor<1000xf32>\n"
      "      }\n"
      "      %%after = stablehlo.add %%i, %%1 : tensor<i32>\n"
      "      stablehlo.return %%after, %%v#2 : tensor<i32>, tensor<1000xf32>\n"
      "    }\n"
      "    %%r = stablehlo.slice %%w#1 [0:1000] : (tensor<1000xf32>) -> tensor<1000xf32>\n",
      bounds);
  return body_of("%x: tensor<1000xf32>, %y: tensor<i32>", body, "tensor<1000xf32>").flops / 1000;
}

/* What begins or ends at the counters around: on the average. */
static void test_mean_trips(void) {
#define INT(name, op, x, y) "      %" name " = stablehlo." op " %" x ", %" y " : tensor<i32>\n"
  assert(nested_trips(INT("lo", "add", "0", "0") INT("hi", "add", "4", "0")) == 40);
  assert(nested_trips(INT("lo", "add", "0", "0") INT("hi", "add", "i", "1")) == 10 * 6); /* 5.5 */
  assert(nested_trips(INT("lo", "multiply", "i", "4") INT("past", "add", "lo", "4")
                          INT("hi", "minimum", "past", "n")) == 40); /* segments */
  assert(nested_trips(INT("left", "subtract", "10", "i") INT("lo", "add", "0", "0")
                          INT("hi", "multiply", "left", "4")) == 10 * 22);
  assert(nested_trips(INT("lo", "add", "n", "0") INT("hi", "add", "i", "0")) == 0);
  assert(nested_trips(INT("lo", "add", "0", "0") INT("hi", "add", "y", "0")) == 10); /* not known */
  assert(nested_trips(INT("lo", "add", "0", "0") INT("hi", "remainder", "i", "4")) == 10);
#undef INT
}

/* Unsplit: a fused value costs its arithmetic, and so does a product that one sum reads; one that
 * two read costs a way to memory and back; someone else's call costs nothing, because it is not
 * known. */
static void stock(void) {
  const char *x = "%x: tensor<2000x2000xf32>, %y: tensor<2000x3xf32>", *f32 = "tensor<2000xf32>";
#define SUM(of)                                                                                    \
  "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"                                      \
  "    %r = stablehlo.reduce(" of                                                                  \
  " init: %zero) applies stablehlo.add across dimensions = [1] : "                                 \
  "(tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>\n"
  run sum = body_of(x, SUM("%x"), f32);
  run fused =
      body_of(x, "    %e = stablehlo.exponential %x : tensor<2000x2000xf32>\n" SUM("%e"), f32);
#define PRODUCT                                                                                    \
  "    %e = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : "                         \
  "(tensor<2000x3xf32>, tensor<2000x3xf32>) -> tensor<2000x2000xf32>\n"
  run summed = body_of(
      x, PRODUCT "    %t = stablehlo.multiply %e, %e : tensor<2000x2000xf32>\n" SUM("%t"), f32);
  run kept = body_of(
      x,
      PRODUCT
      "    %low = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "    %t = stablehlo.reduce(%e init: %low) applies stablehlo.maximum across "
      "dimensions = [1] : (tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>\n" SUM("%e"),
      f32);
#undef PRODUCT
  run called = body_of(x,
                       "    %e = stablehlo.custom_call @f(%y) : (tensor<2000x3xf32>) -> "
                       "tensor<2000x2000xf32>\n" SUM("%e"),
                       f32);
  double bytes = 4.0 * 2000 * 2000;
  assert(sum.stock_ns > bytes / 40 && sum.stock_ns < bytes / 10);
  assert(fused.stock_ns > 1.5 * sum.stock_ns);
  assert(fused.stock_ns < sum.stock_ns + bytes / 10); /* no way to memory and back */
  assert(kept.stock_ns > sum.stock_ns + bytes / 20 && summed.stock_ns < sum.stock_ns);
  assert(called.stock_ns == sum.stock_ns);
#undef SUM
  const char *matrix = "%x: tensor<2000x2000xf32>", *same = "tensor<2000x2000xf32>";
  run alone = body_of(matrix, "    %r = stablehlo.exponential %x : tensor<2000x2000xf32>\n", same);
  run twice = body_of(matrix,
                      "    %e = stablehlo.exponential %x : tensor<2000x2000xf32>\n"
                      "    %r = stablehlo.multiply %e, %e : tensor<2000x2000xf32>\n",
                      same);
  assert(twice.stock_ns < 1.3 * alone.stock_ns); /* what is read twice is computed once */
}

/* `body` makes %p; of what is read and written beside it. */
static double product_ns(const char *body) {
  char text[2000];
  snprintf(text, sizeof text, "%s    %%r = stablehlo.add %%p, %%s : tensor<20000x4x60xf32>\n",
           body);
  return body_of(
             "%x: tensor<20000x4xf32>, %y: tensor<20000x60xf32>, %u: tensor<20000x4x2xf32>, %v: "
             "tensor<20000x60x2xf32>, %s: tensor<20000x4x60xf32>",
             text, "tensor<20000x4x60xf32>")
      .stock_ns;
}

/* A product that sums nothing up is none of the library's. */
static void outer_products(void) {
  double spread = product_ns(
      "    %a = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<20000x4xf32>) -> "
      "tensor<20000x4x60xf32>\n    %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : "
      "(tensor<20000x60xf32>) -> tensor<20000x4x60xf32>\n    %p = stablehlo.multiply %a, %b : "
      "tensor<20000x4x60xf32>\n");
  double outer = product_ns(
      "    %p = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x "
      "[] "
      ": (tensor<20000x4xf32>, tensor<20000x60xf32>) -> tensor<20000x4x60xf32>\n");
  double of_two = product_ns(
      "    %p = stablehlo.dot_general %u, %v, batching_dims = [0] x [0], contracting_dims = [2] x "
      "[2] : (tensor<20000x4x2xf32>, tensor<20000x60x2xf32>) -> tensor<20000x4x60xf32>\n");
  assert(outer == spread);
  assert(of_two > 2 * spread);
}

/* Of few terms: as long as writing the result, not much more. */
static void few_terms(void) {
#define PRODUCT(k)                                                                                 \
  body_of("%x: tensor<2048x" #k "xf32>, %y: tensor<" #k "x2048xf32>",                              \
          "    %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "                 \
          "(tensor<2048x" #k "xf32>, tensor<" #k "x2048xf32>) -> tensor<2048x2048xf32>\n",         \
          "tensor<2048x2048xf32>")                                                                 \
      .stock_ns
  double three = PRODUCT(3), thirty = PRODUCT(30);
  assert(three > 2048 * 2048 * 4 / 18.0 && three < 1.3 * 2048 * 2048 * 4 / 18.0);
  assert(thirty > 1.5 * three && thirty < 3 * three); /* measured: 1.3 to 2.6 */
}

static run run_of(const char *op, const char *type) {
  char arguments[100], body[300];
  snprintf(arguments, sizeof arguments, "%%x: %s", type);
  snprintf(body, sizeof body, "    %%r = stablehlo.%s %%x : %s\n", op, type);
  return body_of(arguments, body, type);
}

static double ns_of(const char *op, const char *type) { return run_of(op, type).stock_ns; }

/* A reshape of what is in memory costs nothing. */
static void views(void) {
#define OUTER                                                                                      \
  "    %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4000x20xf32>, "   \
  "tensor<20x4000xf32>) -> tensor<4000x4000xf32>\n"
#define ARGUMENTS "%x: tensor<4000x20xf32>, %y: tensor<20x4000xf32>"
  double alone = body_of(ARGUMENTS, OUTER "    %r = stablehlo.add %a, %a : tensor<4000x4000xf32>\n",
                         "tensor<4000x4000xf32>")
                     .stock_ns;
  double viewed = body_of(ARGUMENTS,
                          OUTER
                          "    %b = stablehlo.reshape %a : (tensor<4000x4000xf32>) -> "
                          "tensor<2000x8000xf32>\n"
                          "    %r = stablehlo.add %b, %b : tensor<2000x8000xf32>\n",
                          "tensor<2000x8000xf32>")
                      .stock_ns;
  double returned = body_of(ARGUMENTS,
                            OUTER
                            "    %r = stablehlo.reshape %a : (tensor<4000x4000xf32>) -> "
                            "tensor<2000x8000xf32>\n",
                            "tensor<2000x8000xf32>")
                        .stock_ns;
#undef ARGUMENTS
#undef OUTER
  assert(viewed < 1.1 * alone && returned < alone);
}

/* Vectors, a series, a call for each. */
static void functions(void) {
  const char *f32 = "tensor<1000x100xf32>", *f64 = "tensor<1000x100xf64>";
  assert(ns_of("sine", f32) > 3 * ns_of("exponential", f32));
  assert(ns_of("tan", f32) > 1.5 * ns_of("sine", f32));
  assert(ns_of("log", f64) > 3 * ns_of("log", f32)); /* twice as many vectors, and more in each */
  assert(ns_of("tanh", f64) <= 2 * ns_of("exponential", f64));
}

/* What was measured of CPUs' functions and sorts says nothing of devices. */
static void functions_on_devices(void) {
  const char *f32 = "tensor<4000x1000xf32>";
  double exponential = run_of("exponential", f32).card_ns;
  assert(run_of("tan", f32).card_ns == exponential && run_of("tanh", f32).card_ns == exponential);
  assert(run_of("sqrt", f32).card_ns == run_of("abs", f32).card_ns);
  assert(run_of("abs", f32).card_ns < exponential);
}

static run sorted(const char *type, const char *element) {
  char arguments[100], body[600];
  snprintf(arguments, sizeof arguments, "%%x: %s", type);
  snprintf(body, sizeof body,
           "    %%r = \"stablehlo.sort\"(%%x) ({\n    ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n"
           "      %%c = stablehlo.compare LT, %%a, %%b : (tensor<%s>, tensor<%s>) -> tensor<i1>\n"
           "      stablehlo.return %%c : tensor<i1>\n    }) {dimension = 1 : i64} : (%s) -> %s\n",
           element, element, element, element, type, type);
  return body_of(arguments, body, type);
}

static void sorts(void) {
  run floats = sorted("tensor<300x1000xf32>", "f32"),
      integers = sorted("tensor<300x1000xi32>", "i32");
  assert(floats.stock_ns > 300 * 1000 * 9 * 8.0 && floats.stock_ns < 300 * 1000 * 11 * 16.0);
  assert(integers.stock_ns < floats.stock_ns / 4 && integers.card_ns == floats.card_ns);
}

/* What a device of four computes costs as much as where nobody else computes. */
static void manual(void) {
#define EXP "%e = stablehlo.exponential %z : tensor<1000000xf32>\n"
  run alone = cost_of("func.func @main(%z: tensor<1000000xf32>) -> tensor<1000000xf32> {\n" EXP
                      "return %e : tensor<1000000xf32>\n}\n");
  run device = cost_of(
      "module attributes {mhlo.num_partitions = 4 : i32} {\n"
      "sdy.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<4000000xf32>) -> tensor<4000000xf32> {\n"
      "%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"x\"}]>] "
      "out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} (%z: tensor<1000000xf32>) {\n" EXP
      "sdy.return %e : tensor<1000000xf32>\n"
      "} : (tensor<4000000xf32>) -> tensor<4000000xf32>\n"
      "return %r : tensor<4000000xf32>\n}\n}\n");
#undef EXP
  assert(alone.ns > 0 && device.ns == alone.ns && device.flops == alone.flops);
}

/* XLA gives an op to several threads from some size on, which depends on how much it does with what
 * it reads. */
static run step_of(int64_t length, int32_t depth) {
  char type[40], arguments[100], body[3000];
  size_t used = 0;
  snprintf(type, sizeof type, "tensor<%lldxf32>", (long long)length);
  snprintf(arguments, sizeof arguments, "%%x0: %s, %%y: %s", type, type);
  for (int32_t i = 0; i < depth; i++)
    used += (size_t)snprintf(body + used, sizeof body - used,
                             "    %%x%d = stablehlo.add %%x%d, %%y : %s\n", i + 1, i, type);
  snprintf(body + used, sizeof body - used, "    %%r = stablehlo.multiply %%x%d, %%y : %s\n", depth,
           type);
  return body_of(arguments, body, type);
}

static double step_ns(int64_t length, int32_t depth) { return step_of(length, depth).came_ns; }

/* A step that costs little is faster without a second thread, and is predicted to go without. */
static void threads(void) {
  const double shared = CPU_SHARED_NS / 2;
  assert(step_ns(1000, 30) + shared > step_ns(1040, 30)); /* 30 operations an element, alone */
  assert(step_ns(1310, 30) + shared < step_ns(1340, 30)); /* beside those, threads are started */
  assert(step_ns(20000, 1) + shared > step_ns(20400, 1)); /* reads all it needs, and does little */
  assert(step_ns(43600, 1) + shared < step_ns(43800, 1));
  run small = step_of(1310, 30), little = step_of(1340, 30), much = step_of(134000, 30);
  assert(small.ns == small.came_ns && little.ns < small.ns + shared && much.ns == much.came_ns);
}

/* places windows of a table in a row of it; summed: by what reads them. */
static double gathered_ns(int64_t rows, int64_t places, int64_t window, bool summed) {
  char arguments[100], body[1000], type[40];
  int used = 0;
  snprintf(type, sizeof type, "tensor<%lldx%lldxf32>", (long long)places, (long long)window);
  snprintf(arguments, sizeof arguments, "%%x: tensor<%lldx%lldxf32>, %%i: tensor<%lldx1xi32>",
           (long long)rows, (long long)window, (long long)places);
  used =
      snprintf(body, sizeof body,
               "    %%%s = \"stablehlo.gather\"(%%x, %%i) <{dimension_numbers = "
               "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map "
               "= [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = "
               "array<i64: 1, %lld>}> : (tensor<%lldx%lldxf32>, tensor<%lldx1xi32>) -> %s\n",
               summed ? "g" : "r", (long long)window, (long long)rows, (long long)window,
               (long long)places, type);
  if (summed)
    snprintf(body + used, sizeof body - (size_t)used, "    %%r = stablehlo.add %%g, %%g : %s\n",
             type);
  return body_of(arguments, body, type).ns;
}

static void gathers(void) {
  double singles = gathered_ns(4096, 4096, 1, false), windows = gathered_ns(64, 64, 64, false);
  assert(singles > 2 * windows);                                /* places cost more than elements */
  assert(gathered_ns(4096, 4096, 1, true) > 0.9 * singles);     /* also where they are fused */
  assert(gathered_ns(100000000, 100, 1, false) < 0.1 * 1e6);    /* none reads the whole table */
  assert(gathered_ns(100000000, 4096, 1, false) > 2 * singles); /* but a line of it each */
}

/* A while of 100 trips that writes a row of eight a trip into a stack of so many. */
static double stacked_ns(int64_t rows) {
  char body[2000], type[60];
  snprintf(type, sizeof type, "tensor<%lldx8xf32>", (long long)rows);
  snprintf(body, sizeof body,
           "    %%z = stablehlo.constant dense<0> : tensor<i32>\n"
           "    %%w:2 = stablehlo.while(%%i = %%z, %%s = %%x) : tensor<i32>, %s\n"
           "    cond {\n"
           "      %%n = stablehlo.constant dense<100> : tensor<i32>\n"
           "      %%p = stablehlo.compare LT, %%i, %%n, SIGNED : (tensor<i32>, tensor<i32>) -> "
           "tensor<i1>\n"
           "      stablehlo.return %%p : tensor<i1>\n"
           "    } do {\n"
           "      %%one = stablehlo.constant dense<1> : tensor<i32>\n"
           "      %%j = stablehlo.add %%i, %%one : tensor<i32>\n"
           "      %%u = stablehlo.dynamic_update_slice %%s, %%row, %%i, %%z : (%s, "
           "tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> %s\n"
           "      stablehlo.return %%j, %%u : tensor<i32>, %s\n"
           "    }\n"
           "    %%r = stablehlo.negate %%w#1 : %s\n",
           type, type, type, type, type);
  char arguments[120];
  snprintf(arguments, sizeof arguments, "%%x: %s, %%row: tensor<1x8xf32>", type);
  return body_of(arguments, body, type).ns;
}

/* XLA writes them where they are. */
static void stacks(void) {
  double once =
      body_of("%x: tensor<100000x8xf32>", "    %r = stablehlo.negate %x : tensor<100000x8xf32>\n",
              "tensor<100000x8xf32>")
          .ns;
  assert(stacked_ns(100000) < 2 * once);
}

static double solved_ns(int rows, int columns) {
  char arguments[100], body[600], result[40];
  snprintf(result, sizeof result, "tensor<%dx%dxf32>", rows, columns);
  snprintf(arguments, sizeof arguments, "%%a: tensor<%dx%dxf32>, %%b: %s", columns, columns,
           result);
  snprintf(body, sizeof body,
           "    %%r = stablehlo.custom_call @lapack_strsm_ffi(%%a, %%b) "
           "{mhlo.backend_config = {side = 82 : ui8}} : (tensor<%dx%dxf32>, %s) -> %s\n",
           columns, columns, result, result);
  return body_of(arguments, body, result).ns;
}

/* The matrix takes as long as many rows on the right side: 50 slices of 19 are not one of 950.
 * Elements of small systems take as long as those of larger ones. */
static void solutions(void) {
  assert(50 * solved_ns(19, 950) > 3 * solved_ns(950, 950));
  assert(19 * solved_ns(50, 950) < 0.7 * 50 * solved_ns(19, 950));
  assert(4 * solved_ns(100000, 8) > 3 * solved_ns(25000, 32));
}

/* x + y^T of so many rows and columns, or x + y of y as it lies. */
static run turned(int64_t rows, int64_t columns, bool turns) {
  char arguments[200], body[600], result[64];
  snprintf(result, sizeof result, "tensor<%lldx%lldxf32>", (long long)rows, (long long)columns);
  snprintf(arguments, sizeof arguments, "%%x: %s, %%y: tensor<%lldx%lldxf32>", result,
           (long long)(turns ? columns : rows), (long long)(turns ? rows : columns));
  snprintf(body, sizeof body,
           "    %%t = stablehlo.transpose %%y, dims = [1, 0] : (tensor<%lldx%lldxf32>) -> %s\n"
           "    %%r = stablehlo.add %%x, %%t : %s\n",
           (long long)columns, (long long)rows, result, result);
  if (!turns) snprintf(body, sizeof body, "    %%r = stablehlo.add %%x, %%y : %s\n", result);
  return body_of(arguments, body, result);
}

/* 20 trips that add what was turned before the while, which they carry, or read from outside. */
static run turned_before(bool carries) {
  const char *type = "tensor<512x512xf32>";
  char body[1500];
  snprintf(body, sizeof body,
           "    %%t = stablehlo.transpose %%y, dims = [1, 0] : (%s) -> %s\n"
           "    %%from = stablehlo.constant dense<0> : tensor<i32>\n"
           "    %%0:3 = stablehlo.while(%%i = %%from, %%s = %%x, %%c = %%t) : tensor<i32>, %s, %s\n"
           "    cond {\n"
           "      %%n = stablehlo.constant dense<20> : tensor<i32>\n"
           "      %%p = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "      stablehlo.return %%p : tensor<i1>\n"
           "    } do {\n"
           "      %%one = stablehlo.constant dense<1> : tensor<i32>\n"
           "      %%j = stablehlo.add %%i, %%one : tensor<i32>\n"
           "      %%u = stablehlo.add %%s, %s : %s\n"
           "      stablehlo.return %%j, %%u, %%c : tensor<i32>, %s, %s\n"
           "    }\n"
           "    %%r = stablehlo.negate %%0#1 : %s\n",
           type, type, type, type, carries ? "%c" : "%t", type, type, type, type);
  return body_of("%x: tensor<512x512xf32>, %y: tensor<512x512xf32>", body, type);
}

/* Elements a line apart take as long as the cache that has the lines until they are looked at
 * again; in runs that stay as they lie, and on devices, nothing. */
static void turns(void) {
  double near = turned(512, 256, true).ns - turned(512, 256, false).ns,
         far = turned(128, 1024, true).ns - turned(128, 1024, false).ns,
         farther = turned(16, 40960, true).ns - turned(16, 40960, false).ns;
  assert(near > 0 && far > 1.5 * near && farther > 5 * 1.5 * far); /* of five times as many */
  assert(turned(1024, 1024, true).stock_ns > turned(1024, 1024, false).stock_ns);
  assert(turned(1024, 1024, true).card_ns == turned(1024, 1024, false).card_ns);
  run heads = body_of("%x: tensor<8x128x64xf32>, %y: tensor<128x8x64xf32>",
                      "    %t = stablehlo.transpose %y, dims = [1, 0, 2] : "
                      "(tensor<128x8x64xf32>) -> tensor<8x128x64xf32>\n"
                      "    %r = stablehlo.add %x, %t : tensor<8x128x64xf32>\n",
                      "tensor<8x128x64xf32>"),
      plain =
          body_of("%x: tensor<8x128x64xf32>, %y: tensor<8x128x64xf32>",
                  "    %r = stablehlo.add %x, %y : tensor<8x128x64xf32>\n", "tensor<8x128x64xf32>");
  assert(heads.ns == plain.ns);
  run unknown =
      body_of("%x: tensor<512x256xf32>, %y: tensor<256x?xf32>",
              "    %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<256x?xf32>) -> "
              "tensor<512x256xf32>\n    %r = stablehlo.add %x, %t : tensor<512x256xf32>\n",
              "tensor<512x256xf32>");
  assert(unknown.ns >= turned(512, 256, false).ns);
  assert(turned_before(false).ns == turned_before(true).ns);
}

/* One of both is run. */
static void branches(void) {
  const char *both =
      "    %s = stablehlo.sine %x : tensor<1000000xf32>\n"
      "    %r = stablehlo.cosine %s : tensor<1000000xf32>\n";
  run all = body_of("%x: tensor<1000000xf32>", both, "tensor<1000000xf32>");
  const char *either =
      "    %r = \"stablehlo.if\"(%p) ({\n"
      "      %s = stablehlo.sine %x : tensor<1000000xf32>\n"
      "      stablehlo.return %s : tensor<1000000xf32>\n"
      "    }, {\n"
      "      %c = stablehlo.cosine %x : tensor<1000000xf32>\n"
      "      stablehlo.return %c : tensor<1000000xf32>\n"
      "    }) : (tensor<i1>) -> tensor<1000000xf32>\n";
  run one = body_of("%x: tensor<1000000xf32>, %p: tensor<i1>", either, "tensor<1000000xf32>");
  assert(one.ns < .8 * all.ns && one.ns > .3 * all.ns);
  assert(one.stock_ns < .8 * all.stock_ns && one.stock_ns > .3 * all.stock_ns);
}

/* In each of 100 trips one element is written to what is carried, or to what is selected of it. */
static run written(bool is_selected) {
  char body[3000];
  const char *selects =
      "      %t = stablehlo.select %p, %zeros, %s : tensor<i1>, tensor<1000000xf32>\n";
  snprintf(body, sizeof body,
           "    %%0 = stablehlo.constant dense<0> : tensor<i32>\n"
           "    %%1 = stablehlo.constant dense<1> : tensor<i32>\n"
           "    %%n = stablehlo.constant dense<100> : tensor<i32>\n"
           "    %%v = stablehlo.constant dense<1.0> : tensor<1xf32>\n"
           "    %%zeros = stablehlo.constant dense<0.0> : tensor<1000000xf32>\n"
           "    %%w:2 = stablehlo.while(%%i = %%0, %%s = %%x) : tensor<i32>, tensor<1000000xf32>\n"
           "    cond {\n"
           "      %%more = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> "
           "tensor<i1>\n"
           "      stablehlo.return %%more : tensor<i1>\n"
           "    } do {\n"
           "%s      %%u = stablehlo.dynamic_update_slice %s, %%v, %%i : (tensor<1000000xf32>, "
           "tensor<1xf32>, tensor<i32>) -> tensor<1000000xf32>\n"
           "      %%next = stablehlo.add %%i, %%1 : tensor<i32>\n"
           "      stablehlo.return %%next, %%u : tensor<i32>, tensor<1000000xf32>\n"
           "    }\n"
           "    %%r = stablehlo.negate %%w#1 : tensor<1000000xf32>\n",
           is_selected ? selects : "", is_selected ? "%t" : "%s");
  return body_of("%x: tensor<1000000xf32>, %p: tensor<i1>", body, "tensor<1000000xf32>");
}

static void parts(void) {
  assert(written(true).ns > 10 * written(false).ns); /* all of it is moved */
}

int main(void) {
  branches();
  parts();
  turns();
  solutions();
  gathers();
  stacks();
  threads();
  stock();
  outer_products();
  few_terms();
  views();
  functions();
  functions_on_devices();
  sorts();
  manual();
  flops();
  slices();
  times_order_variants();
  convolutions_in_loops();
  test_trips();
  test_mean_trips();
  return 0;
}
