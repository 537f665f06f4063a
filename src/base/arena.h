/* Memory that is freed all at once. One arena per compilation, a scratch arena per pass. Never
 * returns NULL (see ctx.h). */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H
#include <string.h>

#include "base/ctx.h"

arena *arena_create(ctx *c);
void arena_destroy(arena *a);
ctx *arena_ctx(const arena *a);
/* What is kept of destroyed arenas for those to come. */
void arena_free_spare(ctx *c);

/* `bytes` of zeroed memory, aligned for anything. */
void *arena_alloc(arena *a, size_t bytes);
/* The same for count elements, with the product checked. */
void *arena_array(arena *a, size_t count, size_t element_bytes);
void *arena_copy(arena *a, const void *data, size_t bytes);
char *arena_strdup(arena *a, const char *s, size_t length);
char *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_array((a), (count), sizeof(type)))
#define ARENA_COPY(a, type, data, count) ((type *)arena_copy((a), (data), (count) * sizeof(type)))

/* A growing array in an arena: `VEC(int) v = {0}; VEC_PUSH(a, &v, 7);`. The old storage stays in
 * the arena until the arena goes. */
#define VEC(type)                                                                                  \
  struct {                                                                                         \
    type *at;                                                                                      \
    uint32_t count;                                                                                \
    uint32_t room;                                                                                 \
  }
/* Behind the last element: for (T *x = v.at; x < VEC_END(v); x++), where nothing is pushed. C has
 * no sum with NULL, which an empty one has. */
#define VEC_END(v) ((v).count ? (v).at + (v).count : (v).at)
#define VEC_PUSH(a, v, ...)                                                                        \
  do {                                                                                             \
    if ((v)->count == (v)->room)                                                                   \
      (v)->at = arena_grow((a), (v)->at, (v)->count, &(v)->room, sizeof *(v)->at);                 \
    (v)->at[(v)->count++] = (__VA_ARGS__);                                                         \
  } while (0)

/* VEC_PUSH's slow path: doubles *room (at least 8) and returns the moved storage. */
void *arena_grow(arena *a, void *old, uint32_t count, uint32_t *room, size_t element_bytes);

#endif
