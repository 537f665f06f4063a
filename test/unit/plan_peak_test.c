/* The peak estimate on programs whose buffers can be counted by hand; numbers marked XLA are
 * what jaxlib 0.10.2 reports for the same text (YNN fusions off). */
#include <stdlib.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "plan/explain.h"
#include "plan/peak.h"
#include "split/loops.h"
#include "program_testing.h"

typedef struct run {
  const char *text;
  plan_order order;
  plan_peak peak;      /* out; holders: not after the run */
  int64_t upper_bound; /* out */
  void (*check)(ir_module *m, const plan_peak *p, arena *a);
} run;

static weir_status go(ir_module *m, arena *a, void *user) {
  run *r = user;
  r->peak = plan_peak_of(a, m, r->order, NULL);
  r->upper_bound = plan_upper_bound(m, NULL);
  if (r->check) r->check(m, &r->peak, a);
  return WEIR_OK;
}

/* The n-th allocation fails; -1: none. */
static weir_status run_failing(run *r, int64_t n) {
  return program_ask((program_asked){.text = r->text, .fail_after = n + 1, .ask = go, .user = r});
}

static plan_peak peak_in(const char *text, plan_order order) {
  run r = {.text = text, .order = order};
  assert(run_failing(&r, -1) == WEIR_OK);
  assert(r.upper_bound >= r.peak.total_bytes);
  assert(r.peak.total_bytes ==
         r.peak.argument_bytes + r.peak.output_bytes - r.peak.alias_bytes + r.peak.temp_bytes);
  return r.peak;
}

static plan_peak peak_of(const char *text) { return peak_in(text, PLAN_ORDER_PROGRAM); }

#define F32 4

/* ---- fusion ---- */
static const char kernel_matvec[] =
    "module @m {\n"
    "  func.func public @main(%x: tensor<1024x8xf32>, %v: tensor<1024xf32>) -> tensor<1024xf32> {\n"
    "    %0 = stablehlo.multiply %x, %x : tensor<1024x8xf32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : "
    "(tensor<1024x8xf32>, tensor<f32>) -> tensor<1024xf32>\n"
    "    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1024xf32>) -> "
    "tensor<1024x1024xf32>\n"
    "    %3 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, "
    "tensor<1024x8xf32>) -> tensor<1024x1024xf32>\n"
    "    %4 = stablehlo.subtract %2, %3 : tensor<1024x1024xf32>\n"
    "    %5 = stablehlo.exponential %4 : tensor<1024x1024xf32>\n"
    "    %6 = stablehlo.dot_general %5, %v, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, "
    "tensor<1024xf32>) -> tensor<1024xf32>\n"
    "    return %6 : tensor<1024xf32>\n"
    "  }\n"
    "}\n";

static void names_the_matrix(ir_module *m, const plan_peak *p, arena *a) {
  assert(p->n_holders == 1 && p->holders[0].bytes == 1024 * 1024 * F32);
  const ir_value_data *v = ir_value_get(m, p->holders[0].value);
  assert(ir_kind_of(m, v->op) == IR_OP_DOT_GENERAL || ir_kind_of(m, v->op) == IR_OP_EXPONENTIAL);
  assert(p->holders[0].block == ir_op_get(m, v->op)->block);
  strbuf b = strbuf_make(a);
  plan_explain_peak(m, p, &b, 5);
  assert(strstr(b.text, "f32[1024,1024]") && strstr(b.text, "4.19 MB"));
}

static void matvec_needs_one_matrix(void) {
  run r = {.text = kernel_matvec, .check = names_the_matrix};
  assert(run_failing(&r, -1) == WEIR_OK);
  assert(r.peak.argument_bytes == 1024 * 9 * F32 && r.peak.output_bytes == 1024 * F32 &&
         r.peak.alias_bytes == 0);
  assert(r.peak.temp_bytes == 1024 * 1024 * F32); /* XLA: the norms lie in the result's buffer */
}

static void every_failing_allocation(void) {
  run r = {.text = kernel_matvec};
  int64_t n = 0;
  while (run_failing(&r, n) == WEIR_RESOURCE_EXHAUSTED) n++;
  assert(n > 5);
  assert(run_failing(&r, -1) == WEIR_OK);
}

/* A reduction of more than 32 elements reads its operand from memory, one of fewer takes it in. */
static plan_peak reduced(int columns) {
  char text[2000];
  snprintf(text, sizeof text,
           "module @m {\n  func.func public @main(%%x: tensor<512x%dxf32>) -> tensor<512xf32> {\n"
           "    %%0 = stablehlo.multiply %%x, %%x : tensor<512x%dxf32>\n    %%z = "
           "stablehlo.constant dense<0.0> : tensor<f32>\n"
           "    %%1 = stablehlo.reduce(%%0 init: %%z) applies stablehlo.add across dimensions = "
           "[1] : (tensor<512x%dxf32>, tensor<f32>) -> tensor<512xf32>\n"
           "    return %%1 : tensor<512xf32>\n  }\n}\n",
           columns, columns, columns);
  return peak_of(text);
}

static void reductions(void) {
  assert(reduced(32).temp_bytes == 0);
  assert(reduced(64).temp_bytes == 512 * 64 * F32 + 512 * 2 * F32);
}

/* ---- orders ---- */
static const char two_branches[] =
    "module @m {\n  func.func public @main(%x: tensor<100000xf32>, %y: tensor<100000xf32>) -> "
    "(tensor<f32>, tensor<f32>) {\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %0 = stablehlo.sine %x : tensor<100000xf32>\n    %1 = stablehlo.cosine %y : "
    "tensor<100000xf32>\n"
    "    %2 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<100000xf32>, tensor<f32>) -> tensor<f32>\n"
    "    %3 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<100000xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %2, %3 : tensor<f32>, tensor<f32>\n  }\n}\n";

static void depth_first_needs_one_branch_at_a_time(void) {
  int64_t wide = peak_of(two_branches).temp_bytes,
          narrow = peak_in(two_branches, PLAN_ORDER_MEMORY).temp_bytes;
  assert(wide == 2 * 400000 + 12500); /* XLA: both arrays and the first sums of one */
  assert(narrow == 400000 + 12500);   /* XLA */
}

/* ---- what XLA simplifies first ---- */
static const char row_sums_and_total[] =
    "module @m {\n"
    "  func.func public @main(%x: tensor<512x16xf32>) -> (tensor<512xf32>, tensor<f32>) {\n"
    "    %0 = stablehlo.multiply %x, %x : tensor<512x16xf32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] "
    ": (tensor<512x16xf32>, tensor<f32>) -> tensor<512xf32>\n"
    "    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] "
    ": (tensor<512xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %1, %2 : tensor<512xf32>, tensor<f32>\n"
    "  }\n"
    "}\n";

/* The total is not taken from the row sums: one reduction over both dimensions, by its own tree. */
static void sums_of_sums(void) {
  assert(peak_of(row_sums_and_total).temp_bytes == 512 * 16 * F32 + 16 * F32); /* XLA */
}

static const char scaled_scores[] =
    "module @m {\n"
    "  func.func public @main(%q: tensor<1x256x16xf32>, %k: tensor<1x256x16xf32>) -> "
    "tensor<1x256xf32> {\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %c = stablehlo.constant dense<16.0> : tensor<f32>\n"
    "    %r = stablehlo.sqrt %c : tensor<f32>\n"
    "    %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> "
    "tensor<1x256x256xf32>\n"
    "    %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = "
    "[2] x [2] : (tensor<1x256x16xf32>, tensor<1x256x16xf32>) -> tensor<1x256x256xf32>\n"
    "    %1 = stablehlo.divide %0, %b : tensor<1x256x256xf32>\n"
    "    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = "
    "[2] : (tensor<1x256x256xf32>, tensor<f32>) -> tensor<1x256xf32>\n"
    "    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x256xf32>) -> "
    "tensor<1x256x256xf32>\n"
    "    %4 = stablehlo.subtract %1, %3 : tensor<1x256x256xf32>\n"
    "    %5 = stablehlo.exponential %4 : tensor<1x256x256xf32>\n"
    "    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [2] "
    ": (tensor<1x256x256xf32>, tensor<f32>) -> tensor<1x256xf32>\n"
    "    return %6 : tensor<1x256xf32>\n"
    "  }\n"
    "}\n";

/* The scale is a number, so it is applied twice; the batch of one is no dimension of the dot, so
 * the scaled scores can't be where the dot's are: two matrices, and the first sums. XLA: the
 * same. */
static void batches_of_one(void) {
  assert(peak_of(scaled_scores).temp_bytes == 2 * 256 * 256 * F32 + 256 * 8 * F32);
}

static const char view_into_loop[] =
    "module @m {\n"
    "  func.func public @main(%x: tensor<1024x16xf32>) -> tensor<16xf32> {\n"
    "    %i = stablehlo.constant dense<0> : tensor<i32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %init = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> "
    "tensor<16xf32>\n"
    "    %y = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<1024x16xf32>) -> "
    "tensor<1024x1x16xf32>\n"
    "    %r:2 = stablehlo.while(%t = %i, %acc = %init) : tensor<i32>, tensor<16xf32>\n"
    "    cond {\n"
    "      %n = stablehlo.constant dense<1024> : tensor<i32>\n"
    "      %p = stablehlo.compare LT, %t, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "      stablehlo.return %p : tensor<i1>\n"
    "    } do {\n"
    "      %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "      %row = stablehlo.dynamic_slice %y, %t, %zero, %zero, sizes = [1, 1, 16] : "
    "(tensor<1024x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x16xf32>\n"
    "      %flat = stablehlo.reshape %row : (tensor<1x1x16xf32>) -> tensor<16xf32>\n"
    "      %a = stablehlo.add %acc, %flat : tensor<16xf32>\n"
    "      %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "      %t1 = stablehlo.add %t, %one : tensor<i32>\n"
    "      stablehlo.return %t1, %a : tensor<i32>, tensor<16xf32>\n"
    "    }\n"
    "    return %r#1 : tensor<16xf32>\n"
    "  }\n"
    "}\n";

/* A loop's state is row by row: [1024, 1, 16] is no view of the argument there. */
static void views_in_state(void) {
  int64_t temp = peak_of(view_into_loop).temp_bytes;
  assert(temp >= 65668 && temp < 65668 + 128); /* XLA: 65668 */
}

static const char inner_loop_reads_outer[] =
    "module @m {\n"
    "  func.func public @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
    "    %i = stablehlo.constant dense<0> : tensor<i32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %o:2 = stablehlo.while(%t = %i, %a = %x) : tensor<i32>, tensor<1000xf32>\n"
    "    cond {\n"
    "      %n = stablehlo.constant dense<40> : tensor<i32>\n"
    "      %p = stablehlo.compare LT, %t, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "      stablehlo.return %p : tensor<i1>\n"
    "    } do {\n"
    "      %init = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> "
    "tensor<1000xf32>\n"
    "      %r:2 = stablehlo.while(%u = %i, %b = %init) : tensor<i32>, tensor<1000xf32>\n"
    "      cond {\n"
    "        %n = stablehlo.constant dense<30> : tensor<i32>\n"
    "        %p = stablehlo.compare LT, %u, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "        stablehlo.return %p : tensor<i1>\n"
    "      } do {\n"
    "        %s = stablehlo.sine %b : tensor<1000xf32>\n"
    "        %c = stablehlo.add %s, %a : tensor<1000xf32>\n"
    "        %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "        %u1 = stablehlo.add %u, %one : tensor<i32>\n"
    "        stablehlo.return %u1, %c : tensor<i32>, tensor<1000xf32>\n"
    "      }\n"
    "      %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "      %t1 = stablehlo.add %t, %one : tensor<i32>\n"
    "      stablehlo.return %t1, %r#1 : tensor<i32>, tensor<1000xf32>\n"
    "    }\n"
    "    return %o#1 : tensor<1000xf32>\n"
    "  }\n"
    "}\n";

/* The inner loop makes the outer one's next value while it reads the old one: two arrays. */
static void nested_loops(void) {
  int64_t temp = peak_of(inner_loop_reads_outer).temp_bytes;
  assert(temp >= 4289 && temp < 4289 + 128); /* XLA: 4289; the other array is the result */
}

/* bf16 matrices are multiplied in f32. */
static void narrow_dots(void) {
  plan_peak p = peak_of(
      "module @m {\n"
      "  func.func public @main(%x: tensor<100x200xbf16>, %y: tensor<200x50xbf16>) -> "
      "tensor<100x50xbf16> {\n"
      "    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
      "(tensor<100x200xbf16>, tensor<200x50xbf16>) -> tensor<100x50xbf16>\n"
      "    return %0 : tensor<100x50xbf16>\n"
      "  }\n"
      "}\n");
  assert(p.temp_bytes == (100 * 200 + 200 * 50 + 100 * 50) * F32); /* XLA */
}

/* ---- donated arguments ---- */
static plan_peak donated_by(const char *module, const char *attribute) {
  char text[1000];
  snprintf(text, sizeof text,
           "module @m attributes {%s} {\n  func.func public @main(%%s: tensor<1000xf32>%s, %%g: "
           "tensor<1000xf32>) "
           "-> tensor<1000xf32> {\n"
           "    %%0 = stablehlo.add %%s, %%g : tensor<1000xf32>\n    return %%0 : "
           "tensor<1000xf32>\n  }\n}\n",
           module, attribute);
  return peak_of(text);
}

static plan_peak donated(const char *attribute) { return donated_by("", attribute); }

/* The module says so: `alias` and `place` as TensorFlow writes them, or broken. */
static plan_peak aliased(const char *alias, const char *place) {
  char entry[300];
  snprintf(entry, sizeof entry, "mhlo.input_output_alias = [{alias = {%s}, output_index = %s}]",
           alias, place);
  return donated_by(entry, "");
}

/* Two results, of 4000 and of 32 bytes. */
static int64_t aliased_pair(const char *entries) {
  char text[1000];
  snprintf(text, sizeof text,
           "module @m attributes {mhlo.input_output_alias = [%s]} {\n"
           "  func.func public @main(%%s: tensor<1000xf32>, %%g: tensor<1000xf32>) -> "
           "(tensor<1000xf32>, tensor<8xf32>) {\n"
           "    %%0 = stablehlo.add %%s, %%g : tensor<1000xf32>\n"
           "    %%1 = stablehlo.slice %%0 [0:8] : (tensor<1000xf32>) -> tensor<8xf32>\n"
           "    return %%0, %%1 : tensor<1000xf32>, tensor<8xf32>\n  }\n}\n",
           entries);
  return peak_of(text).alias_bytes;
}
#define ENTRY(param, place)                                                                        \
  "{alias = {must_alias = true, parameter_index = array<i64>, parameter_number = " #param          \
  " : i64}, output_index = array<i64" place ">}"

static void donations(void) {
  assert(donated("").alias_bytes == 0);
  assert(donated(" {tf.aliasing_output = 0 : i32}").alias_bytes == 4000);
  assert(donated(" {jax.buffer_donor = true}").alias_bytes == 4000);
  assert(donated(" {jax.buffer_donor = true}").temp_bytes == 0);
  assert(donated(" {tf.aliasing_output = \"0\"}").alias_bytes == 0);
}

static void donations_of_the_module(void) {
  const char *first = "must_alias = true, parameter_index = array<i64>, parameter_number = 0 : i64";
  assert(aliased(first, "array<i64>").alias_bytes == 4000);
  assert(aliased(first, "array<i64: 0>").alias_bytes == 4000);
  assert(aliased("kind = \"may_alias\", parameter_number = 1 : i64", "array<i64>").alias_bytes ==
         4000);
  const char *wrong[][2] = {
      {first, "array<i64: 1>"},
      {first, "array<i64: -1>"},
      {first, "array<i64: 0, 0>"},
      {first, "0 : i64"},
      {first, "[]"},
      {"must_alias = true", "array<i64>"},
      {"parameter_number = 2 : i64", "array<i64>"},
      {"parameter_number = -1 : i64", "array<i64>"},
      {"parameter_number = \"0\"", "array<i64>"},
      {"parameter_number = 0 : i64, parameter_index = array<i64: 0>", "array<i64>"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert(aliased(wrong[i][0], wrong[i][1]).alias_bytes == 0);
  assert(donated_by("mhlo.input_output_alias = 0 : i64", "").alias_bytes == 0);
  assert(donated_by("mhlo.input_output_alias = [0, {}, {alias = 0}]", "").alias_bytes == 0);
}

/* One argument and one result each, of one size; an empty place is no place among several. */
static void donations_of_the_module_meet(void) {
  assert(aliased_pair(ENTRY(1, ": 0")) == 4000);
  assert(aliased_pair(ENTRY(1, "")) == 0);
  assert(aliased_pair(ENTRY(0, ": 1")) == 0);
  assert(aliased_pair(ENTRY(0, ": 0") ", " ENTRY(1, ": 0")) == 4000);
  assert(aliased_pair(ENTRY(0, ": 1") ", " ENTRY(0, ": 0")) == 4000);
}

/* An argument that is returned is copied into the result. */
static void returned_arguments(void) {
  plan_peak p = peak_of(
      "module @m {\n  func.func public @main(%x: tensor<100xf32>) -> (tensor<100xf32>, "
      "tensor<100xf32>) {\n"
      "    return %x, %x : tensor<100xf32>, tensor<100xf32>\n  }\n}\n");
  assert(p.argument_bytes == 400 && p.output_bytes == 800 + 16 && p.temp_bytes == 0);
}

/* ---- loops ---- */
static const char gram_by_rows[] =
    "module @m {\n  func.func public @main(%x: tensor<4000x10xf64>, %w: tensor<10x10xf64>) -> "
    "tensor<4000x10xf64> {\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f64>\n    %i = stablehlo.constant dense<0> : "
    "tensor<i64>\n"
    "    %init = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f64>) -> tensor<4000x10xf64>\n"
    "    %r:2 = stablehlo.while(%t = %i, %acc = %init) : tensor<i64>, tensor<4000x10xf64>\n"
    "    cond {\n      %n = stablehlo.constant dense<40> : tensor<i64>\n"
    "      %p = stablehlo.compare LT, %t, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>\n  "
    "    stablehlo.return %p : tensor<i1>\n"
    "    } do {\n      %c = stablehlo.constant dense<100> : tensor<i64>\n      %lo = "
    "stablehlo.multiply %t, %c : tensor<i64>\n"
    "      %zero = stablehlo.constant dense<0> : tensor<i64>\n"
    "      %xs = stablehlo.dynamic_slice %x, %lo, %zero, sizes = [100, 10] : (tensor<4000x10xf64>, "
    "tensor<i64>, tensor<i64>) -> tensor<100x10xf64>\n"
    "      %y = stablehlo.dot_general %xs, %w, contracting_dims = [1] x [0] : (tensor<100x10xf64>, "
    "tensor<10x10xf64>) -> tensor<100x10xf64>\n"
    "      %next = stablehlo.dynamic_update_slice %acc, %y, %lo, %zero : (tensor<4000x10xf64>, "
    "tensor<100x10xf64>, tensor<i64>, tensor<i64>) -> "
    "tensor<4000x10xf64>\n"
    "      %one = stablehlo.constant dense<1> : tensor<i64>\n      %t1 = stablehlo.add %t, %one : "
    "tensor<i64>\n"
    "      stablehlo.return %t1, %next : tensor<i64>, tensor<4000x10xf64>\n    }\n    return %r#1 "
    ": tensor<4000x10xf64>\n  }\n}\n";

/* The result is filled in place, the argument is read in place: only a slice and its product are
 * temporary. */
static void loops_work_in_place(void) {
  plan_peak p = peak_of(gram_by_rows);
  assert(p.temp_bytes >= 2 * 100 * 10 * 8 && p.temp_bytes < 2 * 100 * 10 * 8 + 512);
}

static const char invariant_body[] =
    "module @m {\n  func.func public @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
    "    %i = stablehlo.constant dense<0> : tensor<i32>\n"
    "    %r:2 = stablehlo.while(%t = %i, %acc = %x) : tensor<i32>, tensor<1000xf32>\n"
    "    cond {\n      %n = stablehlo.constant dense<40> : tensor<i32>\n"
    "      %p = stablehlo.compare LT, %t, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  "
    "    stablehlo.return %p : tensor<i1>\n"
    "    } do {\n      %e = stablehlo.exponential %x : tensor<1000xf32>\n      %one = "
    "stablehlo.constant dense<1> : tensor<i32>\n"
    "      %a = stablehlo.add %acc, %e : tensor<1000xf32>\n      %t1 = stablehlo.add %t, %one : "
    "tensor<i32>\n"
    "      stablehlo.return %t1, %a : tensor<i32>, tensor<1000xf32>\n    }\n    return %r#1 : "
    "tensor<1000xf32>\n  }\n}\n";

static void hoisting_keeps_the_value(void) {
  int64_t hoisted = peak_in(invariant_body, PLAN_ORDER_MEMORY).temp_bytes,
          not_hoisted = peak_in(invariant_body, PLAN_ORDER_MEMORY_UNHOISTED).temp_bytes;
  assert(hoisted >= 4000 && not_hoisted < 4000); /* else it fuses into the addition */
}

/* weir.loop is estimated as what it is lowered to. */
static const char weir_loop[] =
    "\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
    "  \"func.func\"() <{function_type = (tensor<4000x10xf64>, tensor<10x10xf64>) -> "
    "(tensor<4000x10xf64>, tensor<10x10xf64>), sym_name = \"main\", "
    "sym_visibility = \"public\"}> ({\n"
    "  ^bb0(%x: tensor<4000x10xf64>, %w: tensor<10x10xf64>):\n"
    "    %r:2 = \"weir.loop\"(%x, %w, %w) ({\n"
    "    ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %xs: tensor<96x10xf64>, %whole: "
    "tensor<10x10xf64>, %acc: tensor<10x10xf64>):\n"
    "      %y = \"stablehlo.dot_general\"(%xs, %whole) <{dot_dimension_numbers = "
    "#stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>}> : (tensor<96x10xf64>, tensor<10x10xf64>) -> "
    "tensor<96x10xf64>\n"
    "      %g = \"stablehlo.dot_general\"(%xs, %xs) <{dot_dimension_numbers = "
    "#stablehlo.dot<lhs_contracting_dimensions = [0], "
    "rhs_contracting_dimensions = [0]>}> : (tensor<96x10xf64>, tensor<96x10xf64>) -> "
    "tensor<10x10xf64>\n"
    "      %a = \"stablehlo.add\"(%acc, %g) : (tensor<10x10xf64>, tensor<10x10xf64>) -> "
    "tensor<10x10xf64>\n"
    "      \"weir.yield\"(%y, %a) : (tensor<96x10xf64>, tensor<10x10xf64>) -> ()\n"
    "    }) {extent = 4000 : i64, slice = 96 : i64, in_dims = array<i64: 0, -1>, in_units = "
    "array<i64: 1, 1>, out_dims = array<i64: 0, -1>, "
    "out_units = array<i64: 1, 1>} : (tensor<4000x10xf64>, tensor<10x10xf64>, tensor<10x10xf64>) "
    "-> (tensor<4000x10xf64>, tensor<10x10xf64>)\n"
    "    \"func.return\"(%r#0, %r#1) : (tensor<4000x10xf64>, tensor<10x10xf64>) -> ()\n"
    "  }) : () -> ()\n}) : () -> ()\n";

static void lowered_loop_has_the_same_peak(ir_module *m, const plan_peak *p, arena *a) {
  split_lower_loops(m, SPLIT_KEEPS_BY_CALL);
  plan_peak lowered = plan_peak_of(a, m, PLAN_ORDER_MEMORY_UNHOISTED, NULL);
  int64_t difference = lowered.temp_bytes - p->temp_bytes;
  assert(lowered.argument_bytes == p->argument_bytes && lowered.output_bytes == p->output_bytes);
  assert(difference >= -256 && difference <= 256); /* scalars */
}

static void loops_of_ours(void) {
  run r = {.text = weir_loop, .order = PLAN_ORDER_MEMORY, .check = lowered_loop_has_the_same_peak};
  assert(run_failing(&r, -1) == WEIR_OK);
  assert(r.peak.temp_bytes >= 2 * 96 * 10 * 8 && r.peak.temp_bytes < 4 * 96 * 10 * 8);
}

/* ---- sizes beyond any machine ---- */
static void huge_sizes(void) {
  plan_peak p = peak_of(
      "module @m {\n  func.func public @main(%x: tensor<1000000xf64>) -> tensor<1000000xf64> {\n"
      "    %0 = stablehlo.dot_general %x, %x, contracting_dims = [] x [] : (tensor<1000000xf64>, "
      "tensor<1000000xf64>) -> "
      "tensor<1000000x1000000xf64>\n    %1 = stablehlo.exponential %0 : "
      "tensor<1000000x1000000xf64>\n"
      "    %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : "
      "(tensor<1000000x1000000xf64>, tensor<1000000xf64>) -> "
      "tensor<1000000xf64>\n    return %2 : tensor<1000000xf64>\n  }\n}\n");
  assert(p.temp_bytes == 8000000000000);
  run r = {.text =
               "module @m {\n  func.func public @main(%x: tensor<9000000000x9000000000xf64>) -> "
               "tensor<9000000000x9000000000xf64> {\n"
               "    %0 = stablehlo.sine %x : tensor<9000000000x9000000000xf64>\n    %1 = "
               "stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : "
               "(tensor<9000000000x9000000000xf64>, tensor<9000000000x9000000000xf64>) -> "
               "tensor<9000000000x9000000000xf64>\n"
               "    return %1 : tensor<9000000000x9000000000xf64>\n  }\n}\n"};
  assert(run_failing(&r, -1) == WEIR_OK);
  assert(r.peak.total_bytes == INT64_MAX && r.upper_bound == INT64_MAX);
}

/* ---- single ops ---- */
static void materialised(ir_module *m, const plan_peak *p, arena *a) {
  (void)p;
  ir_block body = ir_op_get(m, ir_main_function(m))->regions[0];
  ir_users users = ir_users_of_block(a, m, body);
  for (uint32_t i = 0; i + 1 < ir_block_get(m, body)->ops.count; i++) {
    ir_op op = ir_block_get(m, body)->ops.at[i];
    switch (ir_kind_of(m, op)) {
      case IR_OP_BROADCAST_IN_DIM:
      case IR_OP_SUBTRACT:
      case IR_OP_MULTIPLY: assert(!plan_is_materialised(m, op, &users)); break;
      case IR_OP_DOT_GENERAL:
      case IR_OP_EXPONENTIAL: assert(plan_is_materialised(m, op, &users)); break;
      default: break;
    }
  }
}

static void single_ops(void) {
  run r = {.text = kernel_matvec, .check = materialised};
  assert(run_failing(&r, -1) == WEIR_OK);
}

/* ---- large programs ---- */
/* %s goes into both of its readers. Behind it stand values that one reader takes in and a product,
 * far behind, does not: that each of these stays is known without what lies between. */
static char *many_that_stay(int n) {
  static const char matrix[] = "tensor<1024x1024xf32>", bits[] = "tensor<1024x1024xi1>",
                    small[] = "tensor<8x8xf32>";
  size_t room = 2000 + (size_t)n * 200;
  char *text = malloc(room), *s = text;
  assert(text);
  s += sprintf(s, "func.func public @main(%%x: %s, %%y: %s, %%v0: %s) -> (%s, %s, %s) {\n", matrix,
               matrix, small, bits, bits, small);
  s += sprintf(s, "%%s = stablehlo.add %%x, %%y : %s\n", matrix);
  for (const char *r = "xy"; *r; r++)
    s += sprintf(s, "%%above_%c = stablehlo.compare GT, %%s, %%%c : (%s, %s) -> %s\n", *r, *r,
                 matrix, matrix, bits);
  for (int i = 1; i <= n; i++)
    s += sprintf(s, "%%v%d = stablehlo.add %%v%d, %%v0 : %s\n", i, i - 1, small);
  s += sprintf(s, "%%h%d = stablehlo.add %%v0, %%v%d : %s\n", n, n, small);
  for (int i = n - 1; i > 0; i--)
    s += sprintf(s, "%%h%d = stablehlo.dot %%v%d, %%h%d : (%s, %s) -> %s\n", i, i, i + 1, small,
                 small, small);
  s += sprintf(s, "return %%above_x, %%above_y, %%h1 : %s, %s, %s\n}\n", bits, bits, small);
  assert(s < text + room);
  return text;
}

static void what_stays_takes_no_look_at_what_lies_between(void) {
  char *text = many_that_stay(1000);
  assert(peak_of(text).temp_bytes < 1024 * 1024 * F32);
  free(text);
}

/* ---- equal nodes ---- */
static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The tables of nodes take an equal hash for equality, and what they hash are small numbers:
 * scopes, kinds, nodes. (With a weaker mix two of 2000 scopes shared their constants.) */
static void hashes_of_small_numbers_differ(void) {
  enum { SCOPES = 1 << 16, NODES = 16 };
  uint64_t *hashes = malloc(SCOPES * NODES * sizeof *hashes), *h = hashes;
  assert(hashes);
  for (uint64_t scope = 0; scope < SCOPES; scope++)
    for (uint64_t node = 0; node < NODES; node++) *h++ = hash_mix_wide(scope, node);
  qsort(hashes, SCOPES * NODES, sizeof *hashes, by_value);
  for (size_t i = 1; i < SCOPES * NODES; i++) assert(hashes[i - 1] != hashes[i]);
  free(hashes);
}

int main(void) {
  matvec_needs_one_matrix();
  every_failing_allocation();
  reductions();
  depth_first_needs_one_branch_at_a_time();
  sums_of_sums();
  batches_of_one();
  views_in_state();
  nested_loops();
  narrow_dots();
  donations();
  donations_of_the_module();
  donations_of_the_module_meet();
  returned_arguments();
  loops_work_in_place();
  hoisting_keeps_the_value();
  loops_of_ours();
  huge_sizes();
  single_ops();
  what_stays_takes_no_look_at_what_lies_between();
  hashes_of_small_numbers_differ();
  return 0;
}
