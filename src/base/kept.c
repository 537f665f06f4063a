#define _GNU_SOURCE /* mkstemp, futimens, dladdr */
#include "base/kept.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"

const char *kept_folder(arena *a) {
  const char *named = environment_get(ENVIRONMENT_CACHE_DIR),
             *cache = environment_get(ENVIRONMENT_XDG_CACHE_HOME),
             *home = environment_get(ENVIRONMENT_HOME);
  if (named) return *named && strcmp(named, "off") ? named : NULL;
  if (cache && *cache == '/') return arena_printf(a, "%s/weir", cache);
  return home && *home == '/' ? arena_printf(a, "%s/.cache/weir", home) : NULL;
}

void kept_stamp(const void *function, char out_stamp[KEPT_STAMP_ROOM]) {
  Dl_info found;
  struct stat s;
  *out_stamp = '\0';
  if (!dladdr(function, &found) || stat(found.dli_fname, &s)) return;
  snprintf(out_stamp, KEPT_STAMP_ROOM, "%s %lld %lld", found.dli_fname, (long long)s.st_size,
           (long long)s.st_mtime);
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

static bool is_ours(const struct stat *s, size_t most_bytes) {
  return S_ISREG(s->st_mode) && s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH)) &&
         s->st_size >= 0 && (uint64_t)s->st_size <= most_bytes;
}

static char *read_file(arena *a, int file, size_t most_bytes, size_t *out_length) {
  struct stat s;
  if (fstat(file, &s) || !is_ours(&s, most_bytes)) return NULL;
  size_t length = *out_length = (size_t)s.st_size;
  char *data = arena_alloc(a, length + 1);
  data[length] = '\0';
  if (!read_all(file, data, length)) return NULL;
  (void)futimens(file, NULL);
  return data;
}

char *kept_read(arena *a, const char *name, size_t most_bytes, size_t *out_length) {
  const char *in = kept_folder(a);
  int file = in ? open(arena_printf(a, "%s/%s", in, name), HOW_TO_OPEN) : -1;
  if (file < 0) return NULL;
  char *data = read_file(a, file, most_bytes, out_length);
  close(file);
  return data;
}

/* ---- writing ---- */
static bool write_all(int file, const void *from, size_t length) {
  for (size_t put = 0; put < length;) {
    ssize_t n = write(file, (const char *)from + put, length - put);
    if (n <= 0) return false;
    put += (size_t)n;
  }
  return true;
}

typedef int (*placing)(const char *from, const char *to); /* 0: it is there */

static bool write_by(arena *a, const char *name, const kept_part *parts, int32_t n_parts,
                     placing place) {
  const char *in = kept_folder(a);
  if (!in) return false;
  make_folder(a, in);
  char *temporary = arena_printf(a, "%s/" KEPT_TEMPORARY "XXXXXX", in);
  int file = mkstemp(temporary);
  if (file < 0) return false;
  bool written = true;
  for (int32_t i = 0; i < n_parts; i++) written &= write_all(file, parts[i].data, parts[i].length);
  written &= !close(file);
  bool is_there = written && !place(temporary, arena_printf(a, "%s/%s", in, name));
  if (!is_there || place != rename) (void)unlink(temporary);
  return is_there;
}

bool kept_write(arena *a, const char *name, const kept_part *parts, int32_t n_parts) {
  return write_by(a, name, parts, n_parts, rename);
}

bool kept_write_new(arena *a, const char *name, const kept_part *parts, int32_t n_parts) {
  return write_by(a, name, parts, n_parts, link);
}
