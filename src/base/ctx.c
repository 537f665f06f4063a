#include "base/ctx.h"

#include <assert.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void ctx_init(ctx *c) {
  memset(c, 0, sizeof *c);
  c->fail_after = -1;
  c->most_bytes = INT64_MAX;
}

void ctx_deinit(ctx *c) {
  while (c->arenas) arena_destroy(c->arenas);
  arena_free_spare(c);
  assert(c->live_bytes == 0);
}

void ctx_give_back(ctx *c) {
  arena_free_spare(c);
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

weir_status ctx_error(ctx *c, weir_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->message, sizeof c->message, format, args);
  va_end(args);
  return status;
}

_Noreturn void ctx_fail(ctx *c, weir_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->message, sizeof c->message, format, args);
  va_end(args);
  c->failed = status;
  if (!c->way_out) {
    fprintf(stderr, "weir: %s: %s\n", weir_status_name(status), c->message);
    abort();
  }
  longjmp(*c->way_out, 1);
}

weir_status ctx_try(ctx *c, weir_status (*fn)(void *), void *user) {
  jmp_buf *outer = c->way_out;
  jmp_buf here;
  weir_status status;
  c->way_out = &here;
  if (setjmp(here) == 0) status = fn(user);
  else status = c->failed;
  c->way_out = outer;
  return status;
}

void ctx_log(const ctx *c, int level, const char *format, ...) {
  if (c->debug < level) return;
  va_list args;
  va_start(args, format);
  fputs("weir: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}
