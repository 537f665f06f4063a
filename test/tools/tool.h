/* What the test tools share. */
#ifndef WEIR_TEST_TOOLS_TOOL_H
#define WEIR_TEST_TOOLS_TOOL_H
#include <errno.h>
#include <stdio.h>

#include "base/ctx.h"

/* The whole file, NUL-terminated, in the arena; NOT_FOUND with a message if it can't be read. */
static inline weir_status tool_read_file(arena *a, const char *path, char **out_text,
                                         size_t *out_length) {
  ctx *c = arena_ctx(a);
  FILE *file = fopen(path, "rb");
  if (!file) return ctx_error(c, WEIR_NOT_FOUND, "%s: %s", path, strerror(errno));
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  *out_length = length < 0 ? 0 : (size_t)length;
  *out_text = arena_alloc(a, *out_length + 1);
  bool whole = length >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
               fread(*out_text, 1, *out_length, file) == *out_length;
  fclose(file);
  return whole ? WEIR_OK : ctx_error(c, WEIR_NOT_FOUND, "%s: can't be read", path);
}

#endif
