/* The ladder where the n-th allocation fails: splitting along dimensions that indices
 * name, the search for the smallest limit, a refusal, slices of what fits. RESOURCE_EXHAUSTED for
 * want of memory, and nothing is lost; what the result holds is malloc'ed apart and fails in its
 * own turn. */
#define _GNU_SOURCE /* mkdtemp */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the result's allocations ---- */
static int64_t result_fails = -1; /* the n-th from now; -1: none */
static bool fails_now(void) { return result_fails >= 0 && result_fails-- == 0; }
static void *test_malloc(size_t n) { return fails_now() ? NULL : malloc(n); }
static void *test_calloc(size_t n, size_t bytes) { return fails_now() ? NULL : calloc(n, bytes); }
static void *test_realloc(void *p, size_t n) { return fails_now() ? NULL : realloc(p, n); }
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
#include "../../src/limit/result.c"
#undef malloc
#undef calloc
#undef realloc

#include <unistd.h>

#include "environment_testing.h"
#include "folder_testing.h"
#include "in/in.h"
#include "pipeline/pipeline.h"
#include "limit/ladder.h"
#include "limit/report.h"
#include "limit/result.h"

/* A gather from what is computed and a scatter into it, both along the dimension that their indices
 * name. */
static const char *const indexed =
    "func.func public @main(%i: tensor<3x1xi32>, %u: tensor<3xf32>) -> (tensor<3xf32>, "
    "tensor<f32>) {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %x = stablehlo.iota dim = 0 : tensor<20000xf32>\n"
    "  %e = stablehlo.exponential %x : tensor<20000xf32>\n"
    "  %g = \"stablehlo.gather\"(%e, %i) <{dimension_numbers = "
    "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
    "slice_sizes = array<i64: 1>}> : (tensor<20000xf32>, tensor<3x1xi32>) -> tensor<3xf32>\n"
    "  %s = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
    "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "    %c = stablehlo.add %a, %b : tensor<f32>\n"
    "    stablehlo.return %c : tensor<f32>\n"
    "  }) : (tensor<20000xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<20000xf32>\n"
    "  %m = stablehlo.reduce(%s init: %z) applies stablehlo.maximum across dimensions = [0] : "
    "(tensor<20000xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %g, %m : tensor<3xf32>, tensor<f32>\n"
    "}\n";

/* Sums over all pairs, along rows and along columns. */
static const char *const pairs =
    "func.func public @main(%x: tensor<2000xf32>) -> (tensor<2000xf32>, tensor<2000xf32>) {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2000xf32>) -> "
    "tensor<2000x2000xf32>\n"
    "  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2000xf32>) -> "
    "tensor<2000x2000xf32>\n"
    "  %d = stablehlo.subtract %a, %b : tensor<2000x2000xf32>\n"
    "  %e = stablehlo.exponential %d : tensor<2000x2000xf32>\n"
    "  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>\n"
    "  %c = stablehlo.reduce(%e init: %z) applies stablehlo.maximum across dimensions = [1] : "
    "(tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>\n"
    "  return %r, %c : tensor<2000xf32>, tensor<2000xf32>\n"
    "}\n";

static weir_status climb_and_tell(void *user) {
  job *j = user;
  WEIR_TRY(machine_parse(&j->c, j->options.machine, &j->machine));
  WEIR_TRY(machine_settle(&j->c, &j->machine, &j->options.platform));
  WEIR_TRY(in_stablehlo_text(&j->c, j->text, j->length, &j->m));
  WEIR_TRY(ir_verify(j->m));
  climb c;
  weir_status status = ladder_climb(j, &c);
  if (status == WEIR_OK || c.is_refused) WEIR_TRY(report_explain(j, &c));
  return status;
}

typedef struct outcome {
  weir_status status;
  bool out_of_memory;
  weir_summary summary;
} outcome;

static char folder[] = "/tmp/weir-memory-XXXXXX";

static void forget_choices(void) {
  char path[400];
  while (files_in(folder, path, sizeof path)) assert(!unlink(path));
}

/* One call, where the n-th allocation of the arenas and the k-th of the result fail. */
static outcome run(const char *text, weir_options o, int64_t n, int64_t k) {
  weir_result *result = result_create();
  job j = {.options = o, .result = result, .text = text, .length = strlen(text)};
  ctx_init(&j.c);
  j.driver = (pass_driver){
      .c = &j.c, .options = &j.options, .table = pipeline_passes, .machine = &j.machine};
  j.c.fail_after = n;
  result_fails = k;
  forget_choices();
  outcome out = {.status = ctx_try(&j.c, climb_and_tell, &j)};
  result_fails = -1;
  out.out_of_memory = strstr(j.c.message, "out of memory") != NULL;
  out.summary.struct_size = sizeof out.summary;
  weir_result_summary(result, &out.summary);
  ctx_deinit(&j.c);
  assert(j.c.live_bytes == 0);
  weir_result_destroy(result);
  return out;
}

/* About how many there are: each of the first 300 has failed once, of later ones, which a search
 * repeats, fewer and fewer; `end`: what the call says when none does. */
static int64_t fail_each_of(const char *text, weir_options o, bool of_result, outcome *end) {
  for (int64_t n = 0;; n += 1 + n / 300) {
    *end = run(text, o, of_result ? -1 : n, of_result ? n : -1);
    if (!end->out_of_memory) return n;
    assert(end->status == WEIR_RESOURCE_EXHAUSTED);
  }
}

static int64_t fail_each(int64_t limit, weir_minimum minimum, bool of_result, outcome *end) {
  weir_options o = WEIR_OPTIONS_INIT;
  o.memory_limit_bytes = limit;
  o.minimum = minimum;
  o.machine = "x86-64-v3", o.platform = "cpu";
  return fail_each_of(indexed, o, of_result, end);
}

/* ---- what fits ---- */
static int timer(void *user, const weir_way ways[2], weir_took out_took[2]) {
  assert(!user && ways[0].text);
  out_took[0] = (weir_took){1000, 1000};
  out_took[1] = (weir_took){2000, 2000};
  return 0;
}

/* Whether slices are found is decided by this computer's speed. */
static void fail_where_slices_gain(bool of_result) {
  outcome end;
  weir_options o = WEIR_OPTIONS_INIT;
  o.platform = "cpu", o.tile = WEIR_TILE_AUTO, o.skip_passes = "fit";
  o.timer = timer, o.timed_by = "a test";
  assert(fail_each_of(pairs, o, of_result, &end) > 0);
  assert(end.status == WEIR_OK);
}

/* What XLA would make again is written for a limit, which that holds or not. */
static weir_status fail_where_it_is_written(const char *name, int64_t limit) {
  static char text[1 << 16];
  snprintf(text, sizeof text, WEIR_TEST_DIR "/lit/pass/%s.mlir", name);
  FILE *f = fopen(text, "rb");
  assert(f);
  size_t length = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[length] = 0;
  outcome end;
  weir_options o = WEIR_OPTIONS_INIT;
  o.memory_limit_bytes = limit, o.minimum = WEIR_MINIMUM_NEVER, o.skip_passes = "split";
  o.machine = "x86-64-v3", o.platform = "cpu";
  assert(fail_each_of(text, o, false, &end) > 20);
  return end.status;
}

int main(void) {
  outcome end;
  assert(mkdtemp(folder));
  set_variable("WEIR_CACHE_DIR", folder);
  assert(fail_each(30000, WEIR_MINIMUM_NEVER, false, &end) > 100);
  assert(end.status == WEIR_OK && end.summary.loops > 0 && end.summary.minimum_bytes == 0);
  assert(fail_each(30000, WEIR_MINIMUM_NEVER, true, &end) >=
         3); /* a loop and its name, the explanation */
  assert(end.status == WEIR_OK);
  assert(fail_each(0, WEIR_MINIMUM_ALWAYS, false, &end) > 100);
  assert(end.status == WEIR_OK && end.summary.loops == 0 && end.summary.minimum_bytes < 30000);
  assert(fail_each(100, WEIR_MINIMUM_IF_REFUSED, false, &end) > 100);
  assert(end.status == WEIR_RESOURCE_EXHAUSTED && end.summary.minimum_bytes < 30000);
  assert(fail_where_it_is_written("materialise", 45000) == WEIR_RESOURCE_EXHAUSTED);
  assert(fail_where_it_is_written("materialise-quotient", 20000000) == WEIR_OK);
  fail_where_slices_gain(true);
  fail_where_slices_gain(false);
  forget_choices();
  assert(!rmdir(folder));
  return 0;
}
