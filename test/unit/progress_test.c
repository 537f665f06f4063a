/* The line that shows how far a loop is. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "call/progress.h"
#include "weir/weir.h"

static void check(int64_t done, int64_t total, double seconds, const char *expected) {
  char line[200];
  int n = progress_line(line, sizeof line, "f, a.py:3", done, total, seconds);
  assert(n == (int)strlen(line));
  assert(!strcmp(line, expected));
}

static void test_lines(void) {
  check(0, 10, 0, "weir: f, a.py:3  [--------------------]  0 %, 0 slices/s, ETA ?");
  check(5, 10, 2, "weir: f, a.py:3  [##########----------]  50 %, 2.5 slices/s, ETA 2 s");
  check(1, 1001, 1, "weir: f, a.py:3  [--------------------]  0 %, 1 slices/s, ETA 17 min");
  check(1, 36001, 1, "weir: f, a.py:3  [--------------------]  0 %, 1 slices/s, ETA 10.0 h");
  check(10, 10, 1, "weir: f, a.py:3  [####################]  100 %, 10 slices/s, ETA 0 s");
  char line[8];
  assert(progress_line(line, sizeof line, "f", 1, 2, 1) > 8 && strlen(line) == 7);
}

static void test_loops(void) {
  char name[100];
  assert(progress_begin("f", 1, 1, 10) == PROGRESS_NONE); /* nobody wants to know */
  weir_show_progress(true);
  int32_t f = progress_begin("f", 1, 1, 10), g = progress_begin("f", 1, 2, 10);
  assert(f != g && progress_find("f", 1, 1) == f && progress_find("f", 1, 2) == g);
  assert(progress_find("g", 1, 1) == PROGRESS_NONE && !progress_interrupted(f));
  progress_at(f, 3);
  progress_end(f);
  assert(progress_find("f", 1, 1) == PROGRESS_NONE);
  memset(name, 'x', sizeof name);
  int32_t x = progress_begin(name, sizeof name, 3, 1);
  assert(progress_find(name, PROGRESS_LABEL - 1, 3) == x);
  for (int i = 0; i < 100; i++) assert(progress_begin("h", 1, 100 + i, 1) >= 0); /* never full */
  progress_at(PROGRESS_NONE, 1);
  progress_end(PROGRESS_NONE);
  weir_show_progress(false);
  assert(progress_begin("f", 1, 1, 10) == PROGRESS_NONE);
}

static void test_watching(void) {
  weir_loop_progress now = {.struct_size = sizeof now, .done = -1};
  assert(!weir_running_loop(&now) && now.done == -1);
  weir_watch_progress(true);
  assert(!weir_running_loop(&now));
  int32_t f = progress_begin("f, a.py:3", 9, 1, 10), g = progress_begin("g", 1, 1, 5);
  assert(f != PROGRESS_NONE && g != PROGRESS_NONE);
  progress_at(f, 4);
  progress_at(g, 1);
  assert(weir_running_loop(&now) && !strcmp(now.label, "f, a.py:3"));
  assert(now.done == 4 && now.total == 10 && now.seconds >= 0 && now.seconds < 60);
  progress_end(f);
  assert(weir_running_loop(&now) && !strcmp(now.label, "g") && now.done == 1 && now.total == 5);
  progress_end(g);
  assert(!weir_running_loop(&now));
  weir_loop_progress old = {.struct_size = offsetof(weir_loop_progress, total), .total = 77};
  f = progress_begin("f", 1, 2, 10);
  progress_at(f, 2);
  assert(weir_running_loop(&old) && old.done == 2 &&
         old.total == 77); /* no byte more than it has */
  progress_end(f);
  weir_watch_progress(false);
  assert(progress_begin("f", 1, 3, 10) == PROGRESS_NONE);
}

int main(void) {
  test_watching();
  test_lines();
  test_loops();
  return 0;
}
