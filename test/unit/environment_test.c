/* The environment's copies: what they say, and that other threads may read them while it changes.
 */
#include "base/environment.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/kept.h"
#include "environment_testing.h"

enum { READERS = 3, CHANGES = 20000 };

static bool is(environment_variable v, const char *text) {
  const char *found = environment_get(v);
  return found && text ? !strcmp(found, text) : found == text;
}

static void test_copies_change_when_they_are_read_again(void) {
  set_variable("WEIR_LLVM", "one");
  const char *before = environment_get(ENVIRONMENT_LLVM);
  assert(is(ENVIRONMENT_LLVM, "one"));
  assert(!setenv("WEIR_LLVM", "two", 1) && is(ENVIRONMENT_LLVM, "one"));
  environment_read();
  assert(is(ENVIRONMENT_LLVM, "two") && !strcmp(before, "one"));
  assert(!unsetenv("WEIR_LLVM") && is(ENVIRONMENT_LLVM, "two"));
  weir_read_environment();
  assert(is(ENVIRONMENT_LLVM, NULL) && !strcmp(before, "one"));
  set_variable("WEIR_LLVM", "");
  assert(is(ENVIRONMENT_LLVM, ""));
}

static void test_each_variable_is_its_own(void) {
  set_variable("WEIR_CACHE_DIR", "a");
  set_variable("WEIR_DUMP_TO", "b");
  set_variable("WEIR_LLVM", "c");
  set_variable("WEIR_NUM_THREADS", "d");
  set_variable("XDG_CACHE_HOME", "e");
  set_variable("HOME", "a");
  assert(is(ENVIRONMENT_CACHE_DIR, "a") && is(ENVIRONMENT_DUMP_TO, "b"));
  assert(is(ENVIRONMENT_LLVM, "c") && is(ENVIRONMENT_NUM_THREADS, "d"));
  assert(is(ENVIRONMENT_XDG_CACHE_HOME, "e") && is(ENVIRONMENT_HOME, "a"));
}

static atomic_bool is_over;

static void *look(void *unused) {
  ctx c;
  ctx_init(&c);
  while (!atomic_load(&is_over)) {
    arena *a = arena_create(&c);
    const char *folder = kept_folder(a);
    assert(folder && (!strcmp(folder, "/tmp/a") || !strcmp(folder, "/tmp/b")));
    arena_destroy(a);
  }
  ctx_deinit(&c);
  return unused;
}

/* New variables move the whole environment: a reader of the C library's meets freed memory. */
static void test_threads_read_while_others_set(void) {
  pthread_t readers[READERS];
  set_variable("WEIR_CACHE_DIR", "/tmp/a");
  for (int i = 0; i < READERS; i++) assert(!pthread_create(&readers[i], NULL, look, NULL));
  for (int i = 0; i < CHANGES; i++) {
    char name[32];
    snprintf(name, sizeof name, "WEIR_TEST_%d", i);
    assert(!setenv(name, "", 1));
    if (i % 100 == 0) set_variable("WEIR_CACHE_DIR", i % 200 ? "/tmp/a" : "/tmp/b");
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < READERS; i++) assert(!pthread_join(readers[i], NULL));
}

int main(void) {
  test_copies_change_when_they_are_read_again();
  test_each_variable_is_its_own();
  test_threads_read_while_others_set();
  return 0;
}
