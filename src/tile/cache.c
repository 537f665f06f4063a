#include "tile/cache.h"

#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, KEPT_BYTES = 48 << 20 /* after a sweep */ };

#define SUFFIX ".weir.o"
#define TEMPORARY "new-"

typedef struct header {
  char magic[8];
  tile_cache_key key;
  uint64_t length, check;
} header;

static const char MAGIC[8] = "weir-o1";

/* ---- keys ---- */
static uint64_t mixed(uint64_t hash, const char *data, size_t length) {
  return hash_wide(hash, data, length) ^ length;
}

void tile_cache_add(tile_cache_key *key, const char *data, size_t length) {
  key->words[0] = mixed(key->words[0] + HASH_WIDE_BEGIN, data, length);
  key->words[1] = mixed(key->words[1] ^ 0x9e3779b97f4a7c15u, data, length);
}

/* ---- the folder ---- */
static const char *folder(arena *a) {
  const char *named = getenv("WEIR_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  if (named) return *named && strcmp(named, "off") ? named : NULL;
  if (cache && *cache == '/') return arena_printf(a, "%s/weir", cache);
  return home && *home == '/' ? arena_printf(a, "%s/.cache/weir", home) : NULL;
}

static void make_folder(arena *a, const char *path) {
  char *copy = arena_strdup(a, path, strlen(path));
  for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
    *p = '\0';
    (void)mkdir(copy, 0700);
    *p = '/';
  }
  (void)mkdir(copy, 0700);
}

static const char *path_of(arena *a, const char *in, const tile_cache_key *key) {
  return arena_printf(a, "%s/%016" PRIx64 "%016" PRIx64 SUFFIX, in, key->words[0], key->words[1]);
}

/* ---- reading ---- */
/* Whatever lies there: without O_NONBLOCK opening a pipe would wait for a writer. */
enum { HOW_TO_OPEN = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };

static bool read_all(int file, void *to, size_t length) {
  for (size_t got = 0; got < length;) {
    ssize_t n = read(file, (char *)to + got, length - got);
    if (n <= 0) return false;
    got += (size_t)n;
  }
  return true;
}

static bool is_ours(const struct stat *s) {
  return S_ISREG(s->st_mode) && s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH)) &&
         s->st_size > (off_t)sizeof(header) && s->st_size <= MOST_BYTES;
}

static const char *read_object(arena *a, int file, const tile_cache_key *key, size_t *out_length) {
  struct stat s;
  header h;
  if (fstat(file, &s) || !is_ours(&s) || !read_all(file, &h, sizeof h)) return NULL;
  if (memcmp(h.magic, MAGIC, sizeof MAGIC) || memcmp(&h.key, key, sizeof *key) ||
      h.length != (uint64_t)s.st_size - sizeof h)
    return NULL;
  char *data = arena_alloc(a, h.length);
  if (!read_all(file, data, h.length) || mixed(0, data, h.length) != h.check) return NULL;
  (void)futimens(file, NULL);
  *out_length = h.length;
  return data;
}

const char *tile_cache_get(arena *a, const tile_cache_key *key, size_t *out_length) {
  const char *in = folder(a);
  int file = in ? open(path_of(a, in, key), HOW_TO_OPEN) : -1;
  if (file < 0) return NULL;
  const char *found = read_object(a, file, key, out_length);
  close(file);
  return found;
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

/* An object, or what was to become one: a process that is killed leaves such. */
static bool is_entry(const char *name) {
  size_t n = strlen(name), suffix = sizeof SUFFIX - 1;
  return (n > suffix && !strcmp(name + n - suffix, SUFFIX)) ||
         !strncmp(name, TEMPORARY, sizeof TEMPORARY - 1);
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

static bool write_all(int file, const void *from, size_t length) {
  for (size_t put = 0; put < length;) {
    ssize_t n = write(file, (const char *)from + put, length - put);
    if (n <= 0) return false;
    put += (size_t)n;
  }
  return true;
}

void tile_cache_put(arena *a, const tile_cache_key *key, const char *data, size_t length) {
  const char *in = folder(a);
  if (!in) return;
  make_folder(a, in);
  char *temporary = arena_printf(a, "%s/" TEMPORARY "XXXXXX", in);
  int file = mkstemp(temporary);
  if (file < 0) return;
  header h = {.key = *key, .length = length, .check = mixed(0, data, length)};
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  bool written = write_all(file, &h, sizeof h) && write_all(file, data, length);
  written &= !close(file);
  if (!written || rename(temporary, path_of(a, in, key))) (void)unlink(temporary);
  else sweep(a, in);
}
