/* Choices between kernels and XLA's way: which predictions are in doubt, what a timer's answer
 * means, and what is kept of it. */
#define _GNU_SOURCE /* mkdtemp, utimensat */
#include "limit/timed.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment_testing.h"
#include "folder_testing.h"
#include "in/in.h"
#include "limit/result.h"
#include "machine/tuned.h"

static void test_band(void) {
  assert(timed_is_unsure(1e6, 2e6) && timed_is_unsure(1e6, 1e6));
  assert(timed_is_unsure(1e6, TUNED_TIMED_GAIN * 1e6));
  assert(!timed_is_unsure(1e6, TUNED_TIMED_GAIN * 0.99e6));
  assert(timed_is_unsure(1e6, TUNED_SURE_GAIN * 0.99e6));
  assert(!timed_is_unsure(1e6, TUNED_SURE_GAIN * 1e6));
  assert(timed_is_unsure(0.3 * TIMED_MOST_NS, 0.4 * TIMED_MOST_NS)); /* together */
  assert(!timed_is_unsure(0.3 * TIMED_MOST_NS, 0.41 * TIMED_MOST_NS));
}

static timed_choice choice(int64_t kernels, int64_t kernels_cpu, int64_t xla, int64_t xla_cpu) {
  return timed_choice_of((weir_took[]){{kernels, kernels_cpu}, {xla, xla_cpu}});
}

static void test_choice(void) {
  assert(choice(100, 200, 200, 400) == TIMED_GAINS);
  assert(choice(200, 400, 100, 200) == TIMED_LOSES);
  assert(choice(100, 100, 111, 100) == TIMED_GAINS);
  assert(choice(100, 100, 110, 100) == TIMED_LOSES); /* too little */
  assert(choice(100, 100, 106, 106) == TIMED_GAINS);
  assert(choice(100, 105, 200, 100) == TIMED_GAINS);
  assert(choice(100, 106, 200, 100) == TIMED_LOSES); /* on more threads */
  assert(choice(100, 104, 114, 100) == TIMED_LOSES); /* others made it wait */
  assert(choice(104, 100, 100, 140) == TIMED_GAINS);
  assert(choice(107, 100, 100, 140) == TIMED_LOSES); /* on fewer */
  assert(choice(1, 0, 2, 0) == TIMED_GAINS);         /* less than a tick */
  assert(choice(2, 1, 1, 0) == TIMED_LOSES);
}

/* ---- what is kept ---- */
/* With an op more. */
#define PROGRAM                                                                                    \
  "func.func public @main(%%x: tensor<3xf32>) -> tensor<3xf32> {\n%s  return %%x : "               \
  "tensor<3xf32>\n}\n"

static int asked, answer;
static weir_took says[2];
static weir_took of_another[2]; /* process, that is done while this one is timing */

static int timer(void *user, const weir_way ways[2], weir_took out_took[2]);

/* One program of one process. */
typedef struct process {
  job job;
  const char *op, *about;
  int64_t limit_bytes;
  weir_options options;
  timed_choice known;
  timed_choice chosen;
} process;

static weir_status choose(void *user) {
  process *p = user;
  job *j = &p->job;
  arena *a = arena_create(&j->c);
  const char *text = arena_printf(a, PROGRAM, p->op);
  j->options = p->options;
  WEIR_TRY(machine_parse(&j->c, j->options.machine, &j->machine));
  WEIR_TRY(in_stablehlo_text(&j->c, text, strlen(text), &j->m));
  timed t = timed_look_up(j, (timed_ways){p->about, .limit_bytes = p->limit_bytes});
  p->known = t.choice;
  candidate same = {.is_stock = true};
  p->chosen = timed_choose(j, &t, &same, &same);
  return WEIR_OK;
}

static void run(process *p) {
  p->job.result = result_create();
  ctx_init(&p->job.c);
  weir_status status = ctx_try(&p->job.c, choose, p);
  ctx_deinit(&p->job.c);
  assert(status == WEIR_OK);
  assert((p->job.result->summary.tried_took_ns > 0) == (p->chosen != TIMED_NEVER));
  weir_result_destroy(p->job.result);
}

static process ready(void) {
  weir_options o = {.platform = "cpu",
                    .tile = WEIR_TILE_AUTO,
                    .timer = timer,
                    .timer_user = says,
                    .timed_by = "a test"};
  return (process){.options = o, .op = "", .about = "a"};
}

static int timer(void *user, const weir_way ways[2], weir_took out_took[2]) {
  assert(user == says && !ways[0].text && !ways[1].text && !ways[0].options[0]);
  asked++;
  memcpy(out_took, says, sizeof says);
  if (of_another[0].ns) {
    memcpy(says, of_another, sizeof says);
    of_another[0].ns = 0;
    process other = ready();
    run(&other);
  }
  return answer;
}

static timed_choice chosen(process p) { return run(&p), p.chosen; }
static timed_choice known(process p) { return run(&p), p.known; }

static void say(int64_t kernels, int64_t xla) {
  says[0] = (weir_took){kernels, kernels};
  says[1] = (weir_took){xla, xla};
  asked = 0;
}

static char folder[] = "/tmp/weir-timed-XXXXXX";

static int files(char *out_path, size_t room) { return files_in(folder, out_path, room); }

static void test_kept(void) {
  char path[400];
  process p = ready(), b = ready();
  b.about = "b";
  say(100, 200);
  assert(chosen(p) == TIMED_GAINS && asked == 1 && files(path, sizeof path) == 1);
  say(200, 100);
  assert(known(p) == TIMED_GAINS && !asked);
  p.options.timer = NULL; /* who asks only what was kept */
  assert(known(p) == TIMED_GAINS && known(b) == TIMED_OPEN && chosen(b) == TIMED_LOSES);
  b.options.timer = NULL;
  assert(known(b) == TIMED_LOSES && files(path, sizeof path) == 2);
  process c = b, limited = b;
  c.about = "c";
  limited.limit_bytes = 1;
  assert(known(c) == TIMED_NEVER && known(limited) == TIMED_NEVER);
}

/* This program holds the library: as if it had been built at another time. */
static void date_program(const struct stat *as, time_t seconds_later) {
  struct timespec times[] = {as->st_atim, as->st_mtim};
  times[1].tv_sec += seconds_later;
  int failed = utimensat(AT_FDCWD, "/proc/self/exe", times, 0);
  assert(!failed);
}

static void test_another_build_asks_again(void) {
  struct stat now;
  process p = ready();
  p.options.timer = NULL;
  assert(!stat("/proc/self/exe", &now) && known(p) == TIMED_GAINS);
  date_program(&now, 1);
  assert(known(p) == TIMED_NEVER);
  date_program(&now, 0);
  assert(known(p) == TIMED_GAINS);
}

/* Of two processes that time at once both do what the first has kept. */
static void test_first_decides(void) {
  char path[400];
  assert(files(path, sizeof path) == 2 && !unlink(path));
  assert(files(path, sizeof path) == 1 && !unlink(path));
  say(100, 200);
  of_another[0] = (weir_took){300, 300};
  of_another[1] = (weir_took){100, 100};
  assert(chosen(ready()) == TIMED_LOSES && asked == 2 && files(path, sizeof path) == 1);
  assert(known(ready()) == TIMED_LOSES);
}

static void test_damage(void) {
  char path[400];
  assert(files(path, sizeof path) == 1);
  for (int length = 60; length >= 0; length -= 20) {
    say(100, 200);
    assert(!truncate(path, length) && chosen(ready()) == TIMED_GAINS && asked == 1);
    assert(known(ready()) == TIMED_GAINS && files(path, sizeof path) == 1);
  }
  FILE *f = fopen(path, "r+");
  assert(f && !fseek(f, -30, SEEK_END) && fputc('7', f) == '7' && !fclose(f)); /* a number */
  say(200, 100);
  assert(chosen(ready()) == TIMED_LOSES && asked == 1);
  assert(!unlink(path) && !mkdir(path, 0700)); /* nothing can be written there */
  say(200, 100);
  assert(chosen(ready()) == TIMED_NEVER && asked == 1);
  assert(files(path, sizeof path) == 1 && !rmdir(path));
}

static void test_failures(void) {
  char path[400];
  say(100, 200);
  answer = 1;
  assert(chosen(ready()) == TIMED_NEVER && asked == 1 && files(path, sizeof path) == 0);
  answer = 0;
  say(0, 100); /* which is no measurement */
  assert(chosen(ready()) == TIMED_NEVER && asked == 1 && files(path, sizeof path) == 0);
  say(100, 200);
  answer = 2;
  assert(chosen(ready()) == TIMED_NEVER && asked == 1 && files(path, sizeof path) == 1);
  assert(known(ready()) == TIMED_NEVER && asked == 1); /* kept */
  process limited = ready();                           /* but for that limit alone */
  limited.options.memory_limit_bytes = 7;
  assert(known(limited) == TIMED_OPEN && known(limited) == TIMED_NEVER && asked == 2 &&
         files(path, sizeof path) == 2);
  answer = 0;
  limited.options.memory_limit_bytes = 8;
  assert(chosen(limited) == TIMED_GAINS && known(ready()) == TIMED_GAINS && asked == 3);
  while (files(path, sizeof path)) assert(!unlink(path));
  answer = 2;
  assert(chosen(ready()) == TIMED_NEVER && files(path, sizeof path) == 1);
  answer = 0;
  assert(!unlink(path));
  set_variable("WEIR_CACHE_DIR", "off");
  say(100, 200);
  assert(chosen(ready()) == TIMED_NEVER && !asked);
  set_variable("WEIR_CACHE_DIR", folder);
}

/* ---- what is never timed ---- */
static bool may(const char *op, weir_options options) {
  process p = ready();
  p.op = op;
  p.options = options;
  p.about = op;
  return say(100, 200), known(p) != TIMED_NEVER;
}

#define LOOP(step)                                                                                 \
  "%i = stablehlo.constant dense<0> : tensor<i32>\n"                                               \
  "%c = stablehlo.constant dense<9> : tensor<i32>\n"                                               \
  "%r = stablehlo.while(%j = %i) : tensor<i32>\n"                                                  \
  "cond { %t = stablehlo.compare LT, %j, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"          \
  "  stablehlo.return %t : tensor<i1> }\n"                                                         \
  "do { %k = stablehlo." step                                                                      \
  " %j, %j : tensor<i32>\n"                                                                        \
  "  %o = stablehlo.constant dense<1> : tensor<i32>\n"                                             \
  "  %n = stablehlo.add %j, %o : tensor<i32>\n"
#define CALL(target, more)                                                                         \
  "%r = stablehlo.custom_call @" target "(%x) {api_version = 4 : i32" more                         \
  "} : (tensor<3xf32>) -> tensor<3xf32>\n"

static void test_programs(void) {
  weir_options o = ready().options;
  assert(may("%y = stablehlo.add %x, %x : tensor<3xf32>\n", o));
  assert(may(LOOP("add") "  stablehlo.return %n : tensor<i32> }\n", o));
  assert(!may(LOOP("add") "  stablehlo.return %k : tensor<i32> }\n", o)); /* for ever */
  assert(!may(CALL("any", ""), o) &&
         !may(CALL("lapack_sgetrf_ffi", ", has_side_effect = true"), o));
  assert(may(CALL("lapack_sgetrf_ffi", ""), o));
  assert(!may("%r = \"stablehlo.custom_call\"(%x) : (tensor<3xf32>) -> tensor<3xf32>\n", o));
  assert(!may("%y = \"odd.op\"(%x) : (tensor<3xf32>) -> tensor<3xf32>\n", o));
  assert(
      !may("%t = stablehlo.after_all : !stablehlo.token\n"
           "%u = \"stablehlo.outfeed\"(%x, %t) : (tensor<3xf32>, !stablehlo.token) -> "
           "!stablehlo.token\n",
           o));
  assert(
      !may("%y = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({"
           "^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = stablehlo.add %a, %b : tensor<f32>\n"
           "stablehlo.return %c : tensor<f32>}) : (tensor<3xf32>) -> tensor<3xf32>\n",
           o));
}

static void test_options(void) {
  weir_options good = ready().options, o = good;
  assert(may("", good));
  o.tile = WEIR_TILE_ON;
  assert(!may("", o));
  o = good, o.machine = "host";
  assert(!may("", o));
  o = good, o.platform = "cuda";
  assert(!may("", o));
  o = good, o.timed_by = NULL;
  assert(!may("", o));
}

int main(void) {
  test_band();
  test_choice();
  assert(mkdtemp(folder));
  set_variable("WEIR_CACHE_DIR", folder);
  test_kept();
  test_another_build_asks_again();
  test_first_decides();
  test_damage();
  test_failures();
  test_programs();
  test_options();
  char path[400];
  while (files(path, sizeof path)) assert(!unlink(path));
  assert(!rmdir(folder));
  return 0;
}
