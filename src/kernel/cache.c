#include "kernel/cache.h"

#include "base/hash.h"
#include "base/kept.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, KEPT_BYTES = 48 << 20 /* after a sweep */ };

#define SUFFIX ".weir.o"

typedef struct header {
  char magic[8];
  kernel_cache_key key;
  uint64_t length, check;
} header;

static const char MAGIC[8] = "weir-o1";

/* ---- keys ---- */
static uint64_t mixed(uint64_t hash, const char *data, size_t length) {
  return hash_wide(hash, data, length) ^ length;
}

void kernel_cache_add(kernel_cache_key *key, const char *data, size_t length) {
  key->words[0] = mixed(key->words[0] + HASH_WIDE_BEGIN, data, length);
  key->words[1] = mixed(key->words[1] ^ 0x9e3779b97f4a7c15u, data, length);
}

static const char *name_of(arena *a, const kernel_cache_key *key) {
  return arena_printf(a, "%016" PRIx64 "%016" PRIx64 SUFFIX, key->words[0], key->words[1]);
}

/* ---- reading ---- */
const char *kernel_cache_get(arena *a, const kernel_cache_key *key, size_t *out_length) {
  size_t length;
  header h;
  const char *file = kept_read(a, name_of(a, key), MOST_BYTES, &length);
  if (!file || length <= sizeof h) return NULL;
  memcpy(&h, file, sizeof h);
  if (memcmp(h.magic, MAGIC, sizeof MAGIC) || memcmp(&h.key, key, sizeof *key) ||
      h.length != length - sizeof h || mixed(0, file + sizeof h, h.length) != h.check)
    return NULL;
  *out_length = h.length;
  return file + sizeof h;
}

/* ---- writing ---- */
typedef struct entry {
  const char *path;
  int64_t bytes;
  struct timespec used;
} entry;

static int by_use(const void *x, const void *y) {
  const struct timespec *a = &((const entry *)x)->used, *b = &((const entry *)y)->used;
  if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
  return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static bool ends_with(const char *name, const char *suffix) {
  size_t n = strlen(name), length = strlen(suffix);
  return n > length && !strcmp(name + n - length, suffix);
}

/* An object, a choice of limit/timed.c, or what was to become one: a process that is killed leaves
 * such. */
static bool is_entry(const char *name) {
  return ends_with(name, SUFFIX) || ends_with(name, KEPT_CHOICE) ||
         !strncmp(name, KEPT_TEMPORARY, sizeof KEPT_TEMPORARY - 1);
}

static void sweep(arena *a, const char *in) {
  DIR *d = opendir(in);
  VEC(entry) all = {0};
  int64_t total = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    struct stat s;
    const char *path = arena_printf(a, "%s/%s", in, e->d_name);
    if (!is_entry(e->d_name) || lstat(path, &s) || !S_ISREG(s.st_mode)) continue;
    VEC_PUSH(a, &all, (entry){path, s.st_size, s.st_mtim});
    total += s.st_size;
  }
  if (d) closedir(d);
  if (total <= MOST_BYTES) return;
  qsort(all.at, all.count, sizeof *all.at, by_use);
  for (uint32_t i = 0; i < all.count && total > KEPT_BYTES; i++)
    if (!unlink(all.at[i].path)) total -= all.at[i].bytes;
}

void kernel_cache_put(arena *a, const kernel_cache_key *key, const char *data, size_t length) {
  header h = {.key = *key, .length = length, .check = mixed(0, data, length)};
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  if (kept_write(a, name_of(a, key), (kept_part[]){{&h, sizeof h}, {data, length}}, 2))
    sweep(a, kept_folder(a));
}
