/* The ladder with a referee: one that says a share more than weir's estimate, refuses what was
 * split, or nothing at all. What is asked, how often, and what comes of it; and what callers with
 * structures of another size than the library's get. */
#define _GNU_SOURCE /* memmem */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "plan/peak.h"
#include "program_testing.h"
#include "weir/weir.h"
#include "environment_testing.h"

/* y of x, by 4 MB of pairs. */
#define OF_PAIRS                                                                                   \
  "  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf32>) -> "                      \
  "tensor<1000x1000xf32>\n"                                                                        \
  "  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1000xf32>) -> "                      \
  "tensor<1000x1000xf32>\n"                                                                        \
  "  %c = stablehlo.multiply %a, %b : tensor<1000x1000xf32>\n"                                     \
  "  %e = stablehlo.exponential %c : tensor<1000x1000xf32>\n"                                      \
  "  %y = stablehlo.dot_general %e, %x, contracting_dims = [1] x [0] : "                           \
  "(tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>\n"

static const char *const pairs =
    "func.func public @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n" OF_PAIRS
    "  return %y : tensor<1000xf32>\n"
    "}\n";

/* Likewise, beside an argument of 4 MB. */
static const char *const weighted_pairs =
    "func.func public @main(%x: tensor<1000xf32>, %w: tensor<1000x1000xf32>) -> tensor<1000xf32> "
    "{\n"
    "  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf32>) -> "
    "tensor<1000x1000xf32>\n"
    "  %e = stablehlo.exponential %a : tensor<1000x1000xf32>\n"
    "  %c = stablehlo.multiply %e, %w : tensor<1000x1000xf32>\n"
    "  %y = stablehlo.dot_general %c, %x, contracting_dims = [1] x [0] : "
    "(tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>\n"
    "  return %y : tensor<1000xf32>\n"
    "}\n";

/* What a while of 50 trips does not change: 80 kB that it may make before. */
static const char *const invariant =
    "func.func public @main(%x: tensor<1000xf32>, %w: tensor<20000xf32>) -> "
    "(tensor<1000xf32>, tensor<20000xf32>) {\n" OF_PAIRS
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:2 = stablehlo.while(%i = %zero, %s = %w) : tensor<i32>, tensor<20000xf32>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<50> : tensor<i32>\n"
    "    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %t : tensor<i1>\n"
    "  } do {\n"
    "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %j = stablehlo.add %i, %one : tensor<i32>\n"
    "    %f = stablehlo.sine %w : tensor<20000xf32>\n"
    "    %g = stablehlo.multiply %s, %f : tensor<20000xf32>\n"
    "    stablehlo.return %j, %g : tensor<i32>, tensor<20000xf32>\n"
    "  }\n"
    "  return %y, %r#1 : tensor<1000xf32>, tensor<20000xf32>\n"
    "}\n";

/* The pairs, which a kernel makes, beside convolutions of 16 signals, which no kernel does. */
#define SIGNALS "tensor<16x4096x8xf32>"
#define CONVOLUTION(from, to)                                                                      \
  "  %" #to " = stablehlo.convolution(%" #from                                                     \
  ", %w) dim_numbers = [b, 0, f]x[0, i, o]->"                                                      \
  "[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = "      \
  "1 : i64} : (" SIGNALS ", tensor<3x8x8xf32>) -> " SIGNALS "\n"
static const char *const pairs_and_signals =
    "func.func public @main(%x: tensor<1000xf32>, %s: " SIGNALS
    ", %w: tensor<3x8x8xf32>) -> "
    "(tensor<1000xf32>, tensor<f32>) {\n" OF_PAIRS CONVOLUTION(
        s, p) "  %t = stablehlo.tanh %p : " SIGNALS
              "\n" CONVOLUTION(t, q) "  %u = stablehlo.multiply %q, %t : " SIGNALS
                                     "\n"
                                     "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                                     "  %z = stablehlo.reduce(%u init: %zero) applies "
                                     "stablehlo.add across dimensions = [0, 1, 2] : "
                                     "(" SIGNALS
                                     ", tensor<f32>) -> tensor<f32>\n"
                                     "  return %y, %z : tensor<1000xf32>, tensor<f32>\n"
                                     "}\n";

/* y of x, whose rows two devices share, by 4 MB of pairs, which they share likewise. */
#define ROWS "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"d\"}]>]>}"
#define ROWS_OF_PAIRS "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"d\"}, {}]>]>}"
static const char *const shared =
    "module attributes {mhlo.num_partitions = 2 : i32} {\n"
    "  sdy.mesh @mesh = <[\"d\"=2]>\n"
    "  func.func public @main(%x: tensor<1000xf32> {sdy.sharding = #sdy.sharding<@mesh, "
    "[{\"d\"}]>}, %v: tensor<1000xf32>) -> (tensor<1000xf32> {sdy.sharding = "
    "#sdy.sharding<@mesh, [{\"d\"}]>}) {\n"
    "    %a = stablehlo.broadcast_in_dim %x, dims = [0] " ROWS_OF_PAIRS
    " : (tensor<1000xf32>) -> tensor<1000x1000xf32>\n"
    "    %b = stablehlo.broadcast_in_dim %v, dims = [1] " ROWS_OF_PAIRS
    " : (tensor<1000xf32>) -> tensor<1000x1000xf32>\n"
    "    %c = stablehlo.multiply %a, %b " ROWS_OF_PAIRS
    " : tensor<1000x1000xf32>\n"
    "    %e = stablehlo.exponential %c " ROWS_OF_PAIRS
    " : tensor<1000x1000xf32>\n"
    "    %y = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] " ROWS
    " : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>\n"
    "    return %y : tensor<1000xf32>\n"
    "  }\n"
    "}\n";

typedef struct judge {
  const char *program;    /* NULL: pairs */
  double factor;          /* of the temporaries that weir estimates */
  double own;             /* likewise, of the program as it came in its own order; 0: the same */
  int64_t whole;          /* temporaries from which it is twenty times that; 0: none */
  int64_t large;          /* temporaries from which what was rewritten has an eighth; 0: none */
  int64_t seen;           /* the least that was said of what was rewritten; 0: nothing */
  bool never;             /* refuses what was rewritten */
  const char *never_with; /* and has this in its text; NULL: all of it */
  const char *more_with;  /* what has this in its text needs 3 MB more; NULL: nothing does */
  bool silent;            /* is not asked */
  int asked, least, most; /* how often; options in one question */
  int reports;            /* questions for no more than a report */
  bool is_report;         /* the last one was */
  uint64_t answered[64];  /* questions, of one call */
  int answers;
} judge;

typedef struct question {
  plan_order order;
  plan_peak peak;
} question;

static weir_status estimate(ir_module *m, arena *a, void *user) {
  question *q = user;
  q->peak = plan_peak_of(a, m, q->order, NULL);
  return WEIR_OK;
}

/* XLA says the same again, after minutes on a TPU, also that it does not compile it. */
static void note_answer(judge *by, const char *text, size_t length, const char *const *options) {
  uint64_t key = text ? hash_wide(HASH_WIDE_BEGIN, text, length) : 0;
  for (int i = 0; options[i]; i++) key = hash_wide(key, options[i], strlen(options[i]) + 1);
  for (int i = 0; i < by->answers; i++) assert(by->answered[i] != key);
  assert(by->answers < 64);
  by->answered[by->answers++] = key;
}

static bool has(const char *text, size_t length, const char *what) {
  return memmem(text, length, what, strlen(what));
}

static int report(void *user, const char *text, size_t length, const char *const *options,
                  weir_memory *out) {
  judge *by = user;
  const char *program = by->program ? by->program : pairs;
  question q = {0};
  program_asked p = {
      .text = text ? text : program, .length = text ? length : 0, .ask = estimate, .user = &q};
  int n = 0;
  bool is_own = !text && by->own > 0;
  for (; options[n]; n++) {
    assert(strchr(options[n], '='));
    is_own &= !strstr(options[n], "scheduler");
    if (strstr(options[n], "invariant-code-motion")) q.order = PLAN_ORDER_PROGRAM_UNHOISTED;
  }
  by->is_report = n && !strcmp(options[n - 1], "xla_backend_optimization_level=0");
  by->reports += by->is_report;
  if (by->most < n) by->most = n;
  if (!by->asked || by->least > n) by->least = n;
  by->asked++;
  note_answer(by, text, length, options);
  if (text && by->never && (!by->never_with || has(text, length, by->never_with))) return 1;
  weir_status status = program_ask(p);
  assert(status == WEIR_OK);
  out->output_bytes = 4000;
  out->argument_bytes = q.peak.total_bytes - q.peak.temp_bytes - out->output_bytes;
  out->alias_bytes = 0;
  bool is_less = text && by->large && q.peak.temp_bytes >= by->large,
       is_more = by->whole && q.peak.temp_bytes >= by->whole;
  double factor = is_own ? by->own : is_less ? 0.125 : is_more ? 20 * by->factor : by->factor;
  out->temp_bytes = (int64_t)((double)q.peak.temp_bytes * factor);
  if (text && by->more_with && has(text, length, by->more_with)) out->temp_bytes += 3000000;
  int64_t total = out->argument_bytes + out->output_bytes + out->temp_bytes;
  if (text && (!by->seen || total < by->seen)) by->seen = total;
  return 0;
}

typedef struct outcome {
  weir_status status;
  weir_summary summary;
  weir_result *result;
} outcome;

static outcome rewrite_with(judge *by, weir_options o) {
  o.shardings_known = true;
  if (by && !by->silent) o.referee = report, o.referee_user = by, by->answers = 0;
  outcome out = {.summary.struct_size = sizeof out.summary};
  const char *program = by && by->program ? by->program : pairs;
  out.status = weir_rewrite(program, strlen(program), &o, &out.result);
  weir_result_summary(out.result, &out.summary);
  return out;
}

static outcome rewrite_within(judge *by, int64_t limit, weir_minimum minimum, const char *on,
                              int64_t search_ops) {
  weir_options o = WEIR_OPTIONS_INIT;
  o.search_ops = search_ops;
  o.memory_limit_bytes = limit;
  o.minimum = minimum;
  o.machine = on;
  return rewrite_with(by, o);
}

static outcome rewrite(judge *by, int64_t limit, weir_minimum minimum, const char *on) {
  return rewrite_within(by, limit, minimum, on, 0);
}

static void test_held(void) {
  judge honest = {.factor = 1.0}, more = {.factor = 1.5};
  outcome a = rewrite(&honest, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(a.status == WEIR_OK && a.summary.loops == 1 && !a.summary.after_is_estimate);
  assert(a.summary.peak_after_bytes <= 200000 && a.summary.referee_compiles == honest.asked);
  assert(honest.asked >= 1 && honest.asked <= 8 && honest.most >= 2);
  assert(!a.summary.minimum_bytes);
  outcome b = rewrite(&more, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(b.status == WEIR_OK && b.summary.peak_after_bytes <= 200000);
  assert(more.asked <= 8);
  judge first = {.factor = 1.0}; /* asked of the program as it came, too */
  outcome c = rewrite(&first, 3000000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(c.status == WEIR_OK && !c.summary.before_is_estimate);
  assert(first.least >= 1 && first.most > first.least);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
  weir_result_destroy(c.result);
}

static outcome rewrite_by_xla(judge *by, int64_t limit) {
  weir_options o = WEIR_OPTIONS_INIT;
  o.memory_limit_bytes = limit;
  o.minimum = WEIR_MINIMUM_NEVER;
  o.machine = "x86-64-v3";
  o.tile = WEIR_TILE_OFF;
  return rewrite_with(by, o);
}

/* Of a recurrent net slices become longer, for fewer trips, once something holds. The referee is
 * asked about the longer ones alone, but where these are too much: then about each, and about what
 * fits before all. */
static void test_asked_about_the_last(void) {
  enum { LIMIT = 9132738 };
  static char recurrent[20000];
  FILE *f = fopen(WEIR_TEST_DIR "/corpus/m_bptt_long/program.mlir", "rb");
  assert(f);
  size_t length = fread(recurrent, 1, sizeof recurrent - 1, f);
  assert(length < sizeof recurrent - 1);
  fclose(f);
  judge honest = {.factor = 1.0, .program = recurrent};
  outcome a = rewrite_by_xla(&honest, LIMIT);
  assert(a.status == WEIR_OK && honest.asked == 1 && !a.summary.after_is_estimate);
  judge strict = {.factor = 1.0, .program = recurrent, .whole = 3300000};
  outcome b = rewrite_by_xla(&strict, LIMIT);
  assert(b.status == WEIR_OK && strict.asked == 3 && !b.summary.after_is_estimate);
  assert(b.summary.peak_after_bytes < a.summary.peak_after_bytes);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* What the estimate has just below the limit may be refused: another that is as fast is taken.
 * Where there is none it is asked about. */
static void test_near_the_limit(void) {
  enum { LIMIT = 409417, NEAR = 408600, OTHER = 108673, SLOWER = 108312 };
  judge more = {.factor = 1.01}, honest = {.factor = 1.0};
  outcome a = rewrite_by_xla(&more, LIMIT), b = rewrite_by_xla(&honest, OTHER);
  assert(a.status == WEIR_OK && more.asked == 1 && a.summary.peak_after_bytes < NEAR / 2);
  assert(b.status == WEIR_OK && honest.asked == 1 && b.summary.peak_after_bytes == SLOWER);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* Of the program as it came XLA needs more than the estimate, which is under the limit, and the
 * limit. It is compiled in its own order alone: of the other one a report is enough, and of the
 * candidate in which nothing is split that says it all. */
static void test_more_as_it_came(void) {
  judge more = {.factor = 1.5};
  outcome a = rewrite_by_xla(&more, 5000000);
  assert(a.status == WEIR_OK && a.summary.loops == 1 && !a.summary.after_is_estimate);
  assert(more.asked == 3 && more.reports == 1);
  weir_result_destroy(a.result);
}

/* What is made before a while is made in it again where XLA says that it is too much by no more
 * than that. */
static void test_kept_in_whiles(void) {
  enum { LIMIT = 250000, HELD = 2 * 84000 + 16 };
  judge honest = {.program = invariant, .factor = 1};
  outcome a = rewrite(&honest, LIMIT, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(a.status == WEIR_OK && a.summary.peak_after_bytes <= LIMIT && honest.asked == 1);
  double just = (double)(LIMIT - HELD) / (double)(a.summary.peak_after_bytes - HELD);
  judge strict = {.program = invariant, .factor = 1.01 * just};
  outcome b = rewrite(&strict, LIMIT, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(b.status == WEIR_OK && strict.asked == 2 && b.summary.peak_after_bytes <= LIMIT);
  judge harsh = {.program = invariant, .factor = 4 * just};
  outcome c = rewrite(&harsh, LIMIT, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(c.status == WEIR_OK && harsh.asked == 2 && c.summary.peak_after_bytes <= LIMIT);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
  weir_result_destroy(c.result);
}

/* Of the program as it came the estimate is far too low, or of all that there is: a limit that
 * holds is none the less held with more room. */
static void test_any_larger_limit_holds(void) {
  for (int64_t limit = 4200000; limit < 90000000; limit += limit / 8) {
    judge of_whole = {.program = weighted_pairs, .factor = 1, .whole = 3000000},
          of_all = {.program = weighted_pairs, .factor = 4};
    outcome a = rewrite(&of_whole, limit, WEIR_MINIMUM_NEVER, "x86-64-v3"),
            b = rewrite(&of_all, limit, WEIR_MINIMUM_NEVER, "x86-64-v3");
    assert(a.status == WEIR_OK && a.summary.peak_after_bytes <= limit);
    assert(b.status == WEIR_OK && b.summary.peak_after_bytes <= limit);
    weir_result_destroy(a.result);
    weir_result_destroy(b.result);
  }
}

/* The smallest limit is one that the referee confirms: more of it where he says more. */
static void test_minimum(void) {
  judge honest = {.factor = 1.0}, more = {.factor = 1.5};
  outcome a = rewrite(&honest, 200000, WEIR_MINIMUM_ALWAYS, "x86-64-v3");
  outcome b = rewrite(&more, 200000, WEIR_MINIMUM_ALWAYS, "x86-64-v3");
  assert(a.summary.minimum_bytes > 8000 && a.summary.minimum_bytes < 30000);
  assert(b.summary.minimum_bytes >= a.summary.minimum_bytes);
  outcome refused = rewrite(&more, 8100, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3");
  assert(refused.status == WEIR_RESOURCE_EXHAUSTED && refused.summary.minimum_bytes > 8100);
  outcome held = rewrite(&more, refused.summary.minimum_bytes, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(held.status == WEIR_OK);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
  weir_result_destroy(refused.result);
  weir_result_destroy(held.result);
}

/* What a little less than the estimate holds is not said to need more than that, nor is a number of
 * the referee's beside another one of the estimate's, without a word. */
static void test_no_limit_below_what_it_needs(void) {
  judge low = {.factor = 0.9}, honest = {.factor = 1}, high = {.factor = 1.5};
  outcome less = rewrite(&low, 8100, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3"),
          same = rewrite(&honest, 8100, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3"),
          more = rewrite(&high, 8100, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3");
  assert(less.status == WEIR_RESOURCE_EXHAUSTED && same.status == WEIR_RESOURCE_EXHAUSTED);
  assert(strstr(weir_result_message(less.result), "XLA needs less than weir estimates: peak"));
  assert(strstr(weir_result_message(more.result), "XLA may need more than weir estimates: peak"));
  assert(strstr(weir_result_message(same.result), "where it needs: peak"));
  weir_result_destroy(less.result);
  weir_result_destroy(more.result);
  weir_result_destroy(same.result);
}

/* Slices need more than the program as it came in its own order, which looked hopeless beside the
 * limit: that is the number none the less, and it holds. */
static void test_own_order_is_named(void) {
  judge of_slices = {.factor = 4000, .own = 1}, again = of_slices;
  outcome a = rewrite(&of_slices, 2000000, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3");
  int64_t named = a.summary.minimum_bytes;
  assert(a.status == WEIR_RESOURCE_EXHAUSTED && named < 4100000 && of_slices.seen > named);
  outcome b = rewrite(&again, named, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(b.status == WEIR_OK && b.summary.peak_after_bytes == named);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* What a refusal's number is confirmed by is not going to run, and what the estimate has over the
 * limit is likely to be refused: the referee is asked for its report. What is taken it was asked to
 * compile as it runs. */
static void test_asked_for_reports(void) {
  judge of_number = {.factor = 1.5}, of_estimate = {.factor = 1};
  outcome a = rewrite(&of_number, 8100, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3");
  assert(a.status == WEIR_RESOURCE_EXHAUSTED && of_number.reports);
  outcome b = rewrite(&of_estimate, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(b.status == WEIR_OK && of_estimate.asked && !of_estimate.reports);
  int doubted = 0;
  for (int64_t limit = 8300; limit < 16000; limit += 300) {
    judge low = {.factor = 0.8};
    outcome c = rewrite(&low, limit, WEIR_MINIMUM_NEVER, "x86-64-v3");
    assert(c.status != WEIR_OK || !low.is_report);
    doubted += c.status == WEIR_OK && low.reports;
    weir_result_destroy(c.result);
  }
  assert(doubted);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* Small slices take more than estimated, larger ones less: the search for the number of a refusal
 * comes to what holds the limit that was given. That is taken, with loops and time. */
static void test_held_after_all(void) {
  int held = 0;
  for (int64_t limit = 8500; limit < 16000; limit += 500) {
    judge of_both = {.factor = 16, .large = 8000}, of_climb = of_both;
    outcome a = rewrite(&of_both, limit, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3");
    outcome b = rewrite(&of_climb, limit, WEIR_MINIMUM_NEVER, "x86-64-v3");
    assert(a.status == WEIR_OK || !of_both.seen || of_both.seen > limit);
    assert(a.status != WEIR_OK || a.summary.peak_after_bytes <= limit);
    assert(a.status != WEIR_OK || (a.summary.loops && a.summary.time_after_ns > 0));
    held += a.status == WEIR_OK && b.status != WEIR_OK;
    weir_result_destroy(a.result);
    weir_result_destroy(b.result);
  }
  assert(held);
}

/* The estimate is high, and a search for the number that is as short as a share ends before it
 * comes to what the referee has said of a candidate: that is the number none the less, and it
 * holds. */
static void test_seen_is_named(void) {
  enum { OPS = 30000 };
  for (int64_t limit = 8300; limit <= 8900; limit += 200) {
    judge low = {.factor = 0.8}, of_climb = low, of_number = low;
    outcome a = rewrite_within(&of_climb, limit, WEIR_MINIMUM_NEVER, "x86-64-v3", OPS);
    outcome b = rewrite_within(&low, limit, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3", OPS);
    int64_t named = b.summary.minimum_bytes;
    assert(a.status == WEIR_RESOURCE_EXHAUSTED && of_climb.seen > limit);
    assert(b.status == WEIR_RESOURCE_EXHAUSTED && named == of_climb.seen);
    outcome c = rewrite_within(&of_number, named, WEIR_MINIMUM_NEVER, "x86-64-v3", OPS);
    assert(c.status == WEIR_OK && c.summary.peak_after_bytes <= named);
    weir_result_destroy(a.result);
    weir_result_destroy(b.result);
    weir_result_destroy(c.result);
  }
}

/* The budget of the number, a share, ends before a whole search comes to the candidate by which the
 * estimate holds it: the referee is asked about that one. */
static void test_named_by_what_was_found(void) {
  for (int64_t ops = 4000; ops < 16000; ops += ops / 2) {
    judge honest = {.factor = 1}, of_number = honest;
    outcome a = rewrite_within(&honest, 8500, WEIR_MINIMUM_IF_REFUSED, "x86-64-v3", ops);
    int64_t named = a.summary.minimum_bytes;
    assert(a.status == WEIR_RESOURCE_EXHAUSTED && named > 8500 && named < 12000);
    outcome b = rewrite_within(&of_number, named, WEIR_MINIMUM_NEVER, "x86-64-v3", ops);
    assert(b.status == WEIR_OK && b.summary.peak_after_bytes <= named);
    weir_result_destroy(a.result);
    weir_result_destroy(b.result);
  }
}

/* The referee says more than the estimate of a candidate whose peak no kernel has, so that not even
 * what is made for a smaller limit holds: that is made smaller, and the kernel stays. */
static void test_kernels_stay(void) {
  weir_options o = WEIR_OPTIONS_INIT;
  o.tile = WEIR_TILE_ON, o.machine = "x86-64-v3", o.memory_limit_bytes = 4000000;
  for (double factor = 9; factor < 15; factor += 1) {
    judge more = {.program = pairs_and_signals, .factor = factor};
    outcome a = rewrite_with(&more, o);
    size_t length;
    const char *text = weir_result_text(a.result, &length);
    assert(a.status == WEIR_OK && a.summary.peak_after_bytes <= o.memory_limit_bytes);
    assert(more.asked == 3 && strstr(text, "weir_tile"));
    weir_result_destroy(a.result);
  }
}

/* It says more of what has kernels, however small: they go, and slices are as long as the limit has
 * room for. */
static void test_kernels_go(void) {
  weir_options o = WEIR_OPTIONS_INIT, without = o;
  o.tile = WEIR_TILE_ON, o.machine = without.machine = "x86-64-v3";
  o.memory_limit_bytes = without.memory_limit_bytes = 4000000;
  judge of_kernels = {.program = pairs_and_signals, .factor = 1, .more_with = "weir_tile"},
        plain = {.program = pairs_and_signals, .factor = 1};
  outcome a = rewrite_with(&of_kernels, o), b = rewrite_with(&plain, without);
  size_t length;
  assert(a.status == WEIR_OK && !strstr(weir_result_text(a.result, &length), "weir_tile"));
  assert(of_kernels.asked == 3); /* two had kernels */
  assert(a.summary.peak_after_bytes > o.memory_limit_bytes / 2);
  assert(b.status == WEIR_OK && a.summary.peak_after_bytes >= b.summary.peak_after_bytes);
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* Who compiles nothing that was split does not confirm that it holds the limit. */
static void test_refusals(void) {
  judge never = {.factor = 1.0, .never = true};
  outcome a = rewrite(&never, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(never.asked >= 2 && never.asked <= 8);
  assert(a.status != WEIR_OK || a.summary.is_unconfirmed);
  weir_result_destroy(a.result);
  outcome b = rewrite(&never, 8100, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(b.status == WEIR_RESOURCE_EXHAUSTED);
  assert(strstr(weir_result_message(b.result), "4.0"));
  weir_result_destroy(b.result);
}

/* Each device's part is split, or, where no such candidate holds, the global shapes are. */
static void test_sharded(void) {
  static const char manual[] = "sdy.manual_computation";
  judge any = {.program = shared, .factor = 1}, other = any;
  other.never = true, other.never_with = manual;
  outcome a = rewrite(&any, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3"),
          b = rewrite(&other, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  assert(a.status == WEIR_OK && a.summary.loops == 1 && a.summary.peak_after_bytes <= 200000);
  assert(b.status == WEIR_OK && b.summary.loops == 1 && b.summary.peak_after_bytes <= 200000);
  size_t length;
  assert(strstr(weir_result_text(a.result, &length), manual));
  assert(!strstr(weir_result_text(b.result, &length), manual));
  weir_result_destroy(a.result);
  weir_result_destroy(b.result);
}

/* A GPU's XLA is asked in two ways for each candidate. */
static void test_device(void) {
  judge honest = {.factor = 1.0};
  outcome a = rewrite(&honest, 200000, WEIR_MINIMUM_NEVER, "h100");
  assert(a.status == WEIR_OK && a.summary.loops >= 1);
  assert(honest.asked >= 2 && honest.asked % 2 == 0);
  assert(honest.most == honest.least + 1);
  weir_result_destroy(a.result);
  judge more = {.factor = 1.5}; /* arguments and results are over it */
  outcome b = rewrite(&more, 7000, WEIR_MINIMUM_IF_REFUSED, "v5e");
  assert(b.status == WEIR_RESOURCE_EXHAUSTED && more.asked == more.answers);
  weir_result_destroy(b.result);
}

/* Times eight columns: a library's, with a workspace of 4 MB. */
static const char *const pairs_times_columns =
    "func.func public @main(%x: tensor<1000xf32>, %w: tensor<1000x8xf32>) -> tensor<1000x8xf32> {\n"
    "  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf32>) -> "
    "tensor<1000x1000xf32>\n"
    "  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1000xf32>) -> "
    "tensor<1000x1000xf32>\n"
    "  %c = stablehlo.multiply %a, %b : tensor<1000x1000xf32>\n"
    "  %e = stablehlo.exponential %c : tensor<1000x1000xf32>\n"
    "  %y = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0] : "
    "(tensor<1000x1000xf32>, tensor<1000x8xf32>) -> tensor<1000x8xf32>\n"
    "  return %y : tensor<1000x8xf32>\n"
    "}\n";

static int64_t trips_of(judge *by, const char *machine) {
  by->program = pairs_times_columns;
  outcome o = rewrite(by, 4350000, WEIR_MINIMUM_NEVER, machine);
  weir_loop_info loop = {.struct_size = sizeof loop};
  assert(o.status == WEIR_OK && o.summary.loops == 1 && o.summary.peak_after_bytes <= 4350000);
  assert(weir_result_loop(o.result, 0, &loop));
  weir_result_destroy(o.result);
  return loop.trips;
}

/* Where a device's XLA may need less than the estimate says it is asked about slices that are
 * longer than fit by that: here it has no workspace of 4 MB. */
static void test_longer_than_estimated(void) {
  judge less = {.factor = 1.0, .whole = 4000000}, more = {.factor = 2.0, .whole = 100000};
  judge none = {.factor = 1.0, .silent = true};
  int64_t estimated = trips_of(&none, "h100");
  assert(trips_of(&less, "h100") < estimated && less.asked == 2);
  assert(trips_of(&more, "h100") == estimated && more.asked == 4); /* the longer one is refused */
}

/* Of older and of newer callers: nothing beyond what they have, and beyond what we have, is
 * written. */
static void test_sizes(void) {
  outcome a = rewrite(NULL, 200000, WEIR_MINIMUM_NEVER, "x86-64-v3");
  weir_loop_info old = {.struct_size = offsetof(weir_loop_info, trips), .trips = -7};
  assert(weir_result_loop(a.result, 0, &old) && old.trips == -7 && old.extent == 1000);
  struct {
    weir_loop_info known;
    int64_t more[64];
  } newer = {.known.struct_size = sizeof newer, .more = {5}};
  assert(weir_result_loop(a.result, 0, &newer.known) && newer.more[0] == 5);
  assert(newer.known.struct_size == sizeof newer.known && newer.known.trips > 1);
  assert(!weir_result_loop(a.result, 1, &newer.known) && !weir_result_loop(a.result, -1, &old));
  weir_summary cut = {.struct_size = offsetof(weir_summary, loops), .loops = -7};
  weir_result_summary(a.result, &cut);
  assert(cut.loops == -7 && cut.limit_bytes == 200000);
  weir_result_destroy(a.result);
}

/* Once kept, rates are not wanted again. */
static void test_kept_rates(void) {
  char folder[] = "/tmp/weir-rates-XXXXXX", command[100] = "rm -rf ";
  assert(mkdtemp(folder));
  set_variable("WEIR_CACHE_DIR", folder);
  struct {
    weir_machine_rates known;
    double more[512];
  } newer = {.known = {sizeof newer, 900, 4, 30}};
  assert(weir_machine_wants_rates());
  assert(weir_machine_keep(&newer.known) == WEIR_OK);
  assert(!weir_machine_wants_rates());
  set_variable("WEIR_CACHE_DIR", "off");
  assert(!weir_machine_wants_rates());
  assert(!system(strcat(command, folder)));
}

int main(void) {
  set_variable("WEIR_CACHE_DIR", "off");
  test_held();
  test_asked_about_the_last();
  test_near_the_limit();
  test_more_as_it_came();
  test_kept_in_whiles();
  test_any_larger_limit_holds();
  test_minimum();
  test_no_limit_below_what_it_needs();
  test_own_order_is_named();
  test_asked_for_reports();
  test_held_after_all();
  test_seen_is_named();
  test_named_by_what_was_found();
  test_kernels_stay();
  test_kernels_go();
  test_refusals();
  test_sharded();
  test_device();
  test_longer_than_estimated();
  test_sizes();
  test_kept_rates();
  return 0;
}
