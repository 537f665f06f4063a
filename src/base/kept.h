/* Files that are kept from process to process, in one folder of the user's: WEIR_CACHE_DIR, else
 * $XDG_CACHE_HOME/weir, else ~/.cache/weir. Whatever goes wrong, nothing is kept or found. Others
 * may put anything there, pipes too; only regular files that nobody else may write are read. */
#ifndef WEIR_BASE_KEPT_H
#define WEIR_BASE_KEPT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* NULL: nothing is kept ("off", or no home). */
const char *kept_folder(arena *a);
/* The whole file, of up to most_bytes, NUL-terminated; NULL: there is none. Marks it as used. */
char *kept_read(arena *a, const char *name, size_t most_bytes, size_t *out_length);

typedef struct kept_part {
  const void *data;
  size_t length;
} kept_part;
#define KEPT_TEMPORARY "new-"     /* how files begin that are being written */
#define KEPT_CHOICE ".weir.timed" /* how files of limit/timed.c end; swept with the kernels */
enum { KEPT_STAMP_ROOM = 512 };
/* Which library or program that address of a function lies in, for the keys of what it made: its
 * file, how large it is and when it was put there; "" if nobody knows. */
void kept_stamp(const void *function, char out_stamp[KEPT_STAMP_ROOM]);
/* The parts one behind the other, in place of the file of that name at once, or not at all. */
bool kept_write(arena *a, const char *name, const kept_part *parts, int32_t n_parts);
/* Likewise, and not at all where there is such a file: of several processes the first one's stays.
 */
bool kept_write_new(arena *a, const char *name, const kept_part *parts, int32_t n_parts);

#endif
