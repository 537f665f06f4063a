/* Object code on disk: comes back as it was, or not at all. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment_testing.h"
#include "folder_testing.h"
#include "kernel/cache.h"

enum { LARGE = 9 << 20 };

static char folder[] = "/tmp/weir-cache-XXXXXX";

static kernel_cache_key key_of(const char *text) {
  kernel_cache_key key = {{0, 0}};
  kernel_cache_add(&key, text, strlen(text));
  return key;
}

static bool has(arena *a, const char *text, const char *data, size_t length) {
  kernel_cache_key key = key_of(text);
  size_t got;
  const char *found = kernel_cache_get(a, &key, &got);
  return found && got == length && !memcmp(found, data, length);
}

static void put(arena *a, const char *text, const char *data, size_t length) {
  kernel_cache_key key = key_of(text);
  kernel_cache_put(a, &key, data, length);
}

static int files(char *out_path, size_t room) { return files_in(folder, out_path, room); }

static void test_damage(arena *a) {
  char path[400], data[] = "object code of some length";
  put(a, "k", data, sizeof data);
  assert(has(a, "k", data, sizeof data) && !has(a, "l", data, sizeof data));
  assert(files(path, sizeof path) == 1);
  assert(!chmod(path, 0666) && !has(a, "k", data, sizeof data) && !chmod(path, 0600));
  assert(has(a, "k", data, sizeof data));
  FILE *f = fopen(path, "r+");
  assert(f && !fseek(f, -3, SEEK_END) && fputc('x', f) == 'x' && !fclose(f));
  assert(!has(a, "k", data, sizeof data));
  put(a, "k", data, sizeof data);
  assert(has(a, "k", data, sizeof data));
  for (int length = 60; length >= 0; length -= 20) {
    assert(!truncate(path, length));
    assert(!has(a, "k", data, sizeof data));
  }
  assert(!unlink(path) && !mkfifo(path, 0600) && !has(a, "k", data, sizeof data)); /* at once */
  assert(!unlink(path) && !mkdir(path, 0700) && !has(a, "k", data, sizeof data));
  assert(!rmdir(path) && !symlink("/dev/zero", path) && !has(a, "k", data, sizeof data));
  put(a, "k", data, sizeof data);
  assert(has(a, "k", data, sizeof data));
  assert(!unlink(path));
}

static void test_bound(arena *a) {
  char *data = calloc(1, LARGE), path[400], name[2] = "0";
  for (int i = 0; i < 9; i++) {
    data[7] = (char)i;
    name[0] = (char)('0' + i);
    put(a, name, data, LARGE);
    assert(has(a, name, data, LARGE));
  }
  int n = files(path, sizeof path);
  assert(n >= 4 && n <= 7);
  data[7] = 8;
  assert(has(a, "8", data, LARGE) && !has(a, "0", data, LARGE));
  while (files(path, sizeof path)) assert(!unlink(path));
  free(data);
}

static void test_nowhere(arena *a) {
  set_variable("WEIR_CACHE_DIR", "off");
  put(a, "k", "x", 1);
  assert(!has(a, "k", "x", 1));
  set_variable("WEIR_CACHE_DIR", "/dev/null/none");
  put(a, "k", "x", 1);
  assert(!has(a, "k", "x", 1));
}

int main(void) {
  ctx c;
  ctx_init(&c);
  arena *a = arena_create(&c);
  assert(mkdtemp(folder));
  set_variable("WEIR_CACHE_DIR", folder);
  test_damage(a);
  test_bound(a);
  test_nowhere(a);
  assert(!rmdir(folder));
  ctx_deinit(&c);
  return 0;
}
