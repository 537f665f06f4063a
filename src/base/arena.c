#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { MOST_SPARE_BYTES = 0 }; /* so that it sees what is read after it was freed */
#else
enum { MOST_SPARE_BYTES = 16 << 20 };
#endif
enum {
  FIRST_CHUNK_BYTES = 16 << 10, /* then powers of two */
  LARGEST_CHUNK_BYTES = FIRST_CHUNK_BYTES << (CTX_SPARE_SIZES - 1),
  ALIGNMENT = alignof(max_align_t)
};

typedef struct arena_chunk {
  struct arena_chunk *next;
  size_t bytes; /* of data */
  _Alignas(max_align_t) char data[];
} chunk;

struct arena {
  ctx *ctx;
  arena *next, **link; /* in ctx->arenas; link is who points at us */
  chunk *chunks;       /* newest first */
  size_t used;         /* of the newest */
};

/* ---- chunks that no arena has ---- */
/* Which of the spare sizes; CTX_SPARE_SIZES: none. */
static uint32_t spare_size(size_t bytes) {
  uint32_t i = 0;
  while (i < CTX_SPARE_SIZES && bytes != (size_t)FIRST_CHUNK_BYTES << i) i++;
  return i;
}

static bool keep_spare(ctx *c, chunk *k) {
  uint32_t i = spare_size(k->bytes);
  if (i == CTX_SPARE_SIZES || c->spare_bytes + (int64_t)k->bytes > MOST_SPARE_BYTES) return false;
  k->next = c->spare[i];
  c->spare[i] = k;
  c->spare_bytes += (int64_t)k->bytes;
  return true;
}

static chunk *take_spare(ctx *c, size_t bytes) {
  uint32_t i = spare_size(bytes);
  chunk *k = i < CTX_SPARE_SIZES ? c->spare[i] : NULL;
  if (!k) return NULL;
  c->spare[i] = k->next;
  c->spare_bytes -= (int64_t)bytes;
  return k;
}

void arena_free_spare(ctx *c) {
  for (uint32_t i = 0; i < CTX_SPARE_SIZES; i++)
    for (chunk *k; (k = take_spare(c, (size_t)FIRST_CHUNK_BYTES << i));) free(k);
  assert(c->spare_bytes == 0);
}

/* ---- what is had from malloc ---- */
static bool may_have(ctx *c, size_t bytes) {
  if ((int64_t)bytes > c->most_bytes - c->live_bytes)
    ctx_fail(c, WEIR_RESOURCE_EXHAUSTED, "the compiler would take more than %lld bytes of memory",
             (long long)c->most_bytes);
  if (c->fail_after < 0 || c->fail_after-- > 0) return true;
  c->fail_after = -1;
  return false;
}

/* p: that is had; NULL: there was none. */
static void *counted(ctx *c, void *p, size_t bytes) {
  if (!p)
    ctx_fail(c, WEIR_RESOURCE_EXHAUSTED, "out of memory allocating %zu bytes in the compiler",
             bytes);
  c->live_bytes += (int64_t)bytes;
  return p;
}

static chunk *chunk_new(ctx *c, size_t bytes) {
  size_t all = sizeof(chunk) + bytes;
  bool may = may_have(c, all);
  chunk *k = may ? take_spare(c, bytes) : NULL;
  if (may && !k) k = malloc(all);
  return counted(c, k, all);
}

arena *arena_create(ctx *c) {
  arena *a = counted(c, may_have(c, sizeof(arena)) ? malloc(sizeof *a) : NULL, sizeof(arena));
  *a = (arena){.ctx = c, .next = c->arenas, .link = &c->arenas};
  if (a->next) a->next->link = &a->next;
  c->arenas = a;
  return a;
}

void arena_destroy(arena *a) {
  if (!a) return;
  for (chunk *k = a->chunks, *next; k; k = next) {
    next = k->next;
    a->ctx->live_bytes -= (int64_t)(sizeof *k + k->bytes);
    if (!keep_spare(a->ctx, k)) free(k);
  }
  *a->link = a->next;
  if (a->next) a->next->link = a->link;
  a->ctx->live_bytes -= (int64_t)sizeof *a;
  free(a);
}

ctx *arena_ctx(const arena *a) { return a->ctx; }

static void add_chunk(arena *a, size_t at_least) {
  size_t bytes = a->chunks ? a->chunks->bytes * 2 : FIRST_CHUNK_BYTES;
  while (bytes < at_least && bytes < LARGEST_CHUNK_BYTES) bytes *= 2;
  if (bytes > LARGEST_CHUNK_BYTES) bytes = LARGEST_CHUNK_BYTES;
  if (bytes < at_least) bytes = at_least;
  chunk *k = chunk_new(a->ctx, bytes);
  k->bytes = bytes;
  k->next = a->chunks;
  a->chunks = k;
  a->used = 0;
}

/* As it lies there. */
static void *take(arena *a, size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    ctx_fail(a->ctx, WEIR_RESOURCE_EXHAUSTED, "allocation of %zu bytes", bytes);
  bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (!a->chunks || a->chunks->bytes - a->used < bytes) add_chunk(a, bytes);
  void *p = a->chunks->data + a->used;
  a->used += bytes;
  return p;
}

void *arena_alloc(arena *a, size_t bytes) { return memset(take(a, bytes), 0, bytes); }

void *arena_array(arena *a, size_t count, size_t element_bytes) {
  size_t bytes;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) bytes = SIZE_MAX;
  return arena_alloc(a, bytes);
}

void *arena_copy(arena *a, const void *data, size_t bytes) {
  void *p = take(a, bytes);
  if (bytes) memcpy(p, data, bytes);
  return p;
}

char *arena_strdup(arena *a, const char *s, size_t length) {
  char *p = take(a, length + 1);
  memcpy(p, s, length);
  p[length] = 0;
  return p;
}

char *arena_printf(arena *a, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  CTX_CHECK(a->ctx, n >= 0);
  char *p = arena_alloc(a, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, format, again);
  va_end(again);
  return p;
}

/* The newest that the arena gave, with as much behind it that is free. */
static bool can_extend(const arena *a, const char *old, size_t old_bytes, size_t bytes) {
  if (!a->chunks || old + old_bytes != a->chunks->data + a->used) return false;
  return a->chunks->bytes - a->used >= bytes - old_bytes;
}

void *arena_grow(arena *a, void *old, uint32_t count, uint32_t *room, size_t element_bytes) {
  if (*room > UINT32_MAX / 2)
    ctx_fail(a->ctx, WEIR_RESOURCE_EXHAUSTED, "more than %u elements", *room);
  size_t old_bytes = *room * element_bytes;
  *room = *room ? *room * 2 : 8;
  if (old && can_extend(a, old, old_bytes, *room * element_bytes)) {
    arena_alloc(a, *room * element_bytes - old_bytes);
    return old;
  }
  size_t used_bytes = count * element_bytes, bytes = *room * element_bytes;
  char *p = take(a, bytes);
  if (count) memcpy(p, old, used_bytes);
  memset(p + used_bytes, 0, bytes - used_bytes);
  return p;
}
