/* Reading whole files and writing them all or nothing. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

const char *cli_display_name(const char *path) { return strcmp(path, "-") ? path : "<stdin>"; }

static bool complain(const char *path) {
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return false;
}

/* ---- reading ---- */
static const size_t MOST_BYTES = (size_t)1 << 31; /* of a program: /dev/zero never ends */

static char *read_all(FILE *from, size_t *out_length) {
  size_t room = 1 << 16, n = 0;
  char *text = malloc(room);
  while (text) {
    assert(n < room); /* a zero byte fits behind what is read */
    n += fread(text + n, 1, room - n - 1, from);
    if (ferror(from)) break;
    if (feof(from)) return text[n] = 0, *out_length = n, text;
    if (room >= MOST_BYTES) errno = EFBIG;
    char *bigger = room < MOST_BYTES ? realloc(text, room *= 2) : NULL;
    if (!bigger) break;
    text = bigger;
  }
  free(text);
  return NULL;
}

char *cli_read(const char *path, size_t *out_length) {
  bool is_stdin = !strcmp(path, "-");
  FILE *from = is_stdin ? stdin : fopen(path, "rb");
  if (!from) return complain(path), NULL;
  char *text = read_all(from, out_length);
  if (!text) complain(cli_display_name(path));
  if (!is_stdin) fclose(from);
  return text;
}

/* ---- writing ---- */
static bool write_to(FILE *to, const char *path, const char *text, size_t length) {
  bool written = fwrite(text, 1, length, to) == length;
  bool flushed = fflush(to) == 0;
  return (written && flushed) || complain(path);
}

/* A device or a pipe: there is nothing to keep and nothing to rename. */
static bool write_through(const char *path, const char *text, size_t length) {
  FILE *to = fopen(path, "wb");
  if (!to) return complain(path);
  bool ok = write_to(to, path, text, length);
  return (fclose(to) == 0 || complain(path)) && ok;
}

/* What a new file would get; mkstemp gives less. */
static mode_t new_file_mode(void) {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static bool write_and_rename(const char *path, mode_t mode, const char *text, size_t length) {
  size_t n = strlen(path) + sizeof ".XXXXXX";
  char *temporary = malloc(n);
  if (!temporary) return complain(path);
  snprintf(temporary, n, "%s.XXXXXX", path);
  int fd = mkstemp(temporary);
  FILE *to = fd >= 0 ? fdopen(fd, "wb") : NULL;
  bool ok = to ? write_to(to, path, text, length) : complain(path);
  if (to && fclose(to) != 0 && ok) ok = complain(path);
  if (ok && (chmod(temporary, mode) != 0 || rename(temporary, path) != 0)) ok = complain(path);
  if (!ok && fd >= 0) unlink(temporary);
  free(temporary);
  return ok;
}

bool cli_write(const char *path, const char *text, size_t length) {
  struct stat old;
  if (!strcmp(path, "-")) return write_to(stdout, "<stdout>", text, length);
  if (stat(path, &old) != 0) return write_and_rename(path, new_file_mode(), text, length);
  if (!S_ISREG(old.st_mode)) return write_through(path, text, length);
  char *target = realpath(path, NULL); /* through a symbolic link, which stays */
  if (!target) return complain(path);
  bool ok = write_and_rename(target, old.st_mode & 07777, text, length);
  free(target);
  return ok;
}
