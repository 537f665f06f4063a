/* The context of one weir_rewrite(): its memory, its diagnostic, and the way out where there is no
 * going on.
 *
 * Memory: everything lives in arenas that belong to the context. An allocation never returns NULL:
 * where malloc fails, control goes to the ctx_try() at the API boundary with
 * WEIR_RESOURCE_EXHAUSTED, and ctx_deinit() frees all arenas; so no code between has to check or to
 * clean up. The same way out serves broken invariants of ours (CTX_CHECK -> WEIR_INTERNAL): we
 * never abort inside someone's process. Expected errors (bad input, impossible limit) are plain
 * statuses with ctx_error().
 */
#ifndef WEIR_BASE_CTX_H
#define WEIR_BASE_CTX_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "weir/weir.h"

typedef struct arena arena;

enum { CTX_SPARE_SIZES = 9 }; /* of chunks of arenas */

typedef struct ctx {
  arena *arenas;      /* every live arena, newest first */
  jmp_buf *way_out;   /* set by ctx_try(); NULL: failing aborts (tests only) */
  weir_status failed; /* what went to the way out */
  int debug;          /* weir_options.debug */
  int64_t fail_after; /* test hook: the n-th allocation from now fails; -1: never */
  int64_t live_bytes; /* malloc'ed by the arenas */
  int64_t most_bytes; /* that these may be */
  struct arena_chunk
      *spare[CTX_SPARE_SIZES]; /* which no arena has, by size: pages that are there */
  int64_t spare_bytes;
  int64_t looked_at;  /* ops, each time that an estimate or a region comes to one: what a search
                         costs, the same on every machine */
  char message[2048]; /* the diagnostic; "" if none */
} ctx;

void ctx_init(ctx *c);
void ctx_deinit(ctx *c);
/* What is free goes back to the system, before others take much. */
void ctx_give_back(ctx *c);

/* Sets the message and returns `status`, so that `return ctx_error(c, ...)` reads well. */
WEIR_MUST_USE weir_status ctx_error(ctx *c, weir_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Goes to the way out with `status` and the message. */
_Noreturn void ctx_fail(ctx *c, weir_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Runs fn(user); returns its status, or the status that went to the way out. Nests. */
WEIR_MUST_USE weir_status ctx_try(ctx *c, weir_status (*fn)(void *user), void *user);
/* One line on stderr if c->debug >= level. */
void ctx_log(const ctx *c, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define CTX_CHECK(c, cond)                                                                         \
  do {                                                                                             \
    if (!(cond))                                                                                   \
      ctx_fail((c), WEIR_INTERNAL, "%s:%d: broken invariant: %s", __FILE__, __LINE__, #cond);      \
  } while (0)

/* Leaves the calling function with the status of `expr` unless it is WEIR_OK. */
#define WEIR_TRY(expr)                                                                             \
  do {                                                                                             \
    weir_status status_ = (expr);                                                                  \
    if (status_ != WEIR_OK) return status_;                                                        \
  } while (0)

#endif
