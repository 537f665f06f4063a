/* Chunks of arenas that are gone serve those to come, zeroed, and are never many. */
#include <assert.h>

#include "base/arena.h"

#ifdef __SANITIZE_ADDRESS__ /* keeps none */
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

static void fill(ctx *c, int64_t bytes) {
  arena *a = arena_create(c);
  for (int64_t done = 0; done < bytes; done += 10000) memset(arena_alloc(a, 10000), 0xff, 10000);
  arena_destroy(a);
}

static void serve_again(ctx *c) {
  fill(c, 1 << 20);
  int64_t kept = c->spare_bytes;
  assert((kept > 0) == KEEPS);
  arena *a = arena_create(c);
  char *p = arena_alloc(a, 10000);
  for (int i = 0; i < 10000; i++) assert(p[i] == 0);
  assert((c->spare_bytes < kept) == KEEPS);
  assert(c->live_bytes > 10000);
  arena_destroy(a);
  assert(c->spare_bytes == kept && c->live_bytes == 0);
}

static void never_many(ctx *c) {
  fill(c, 100 << 20);
  assert(c->spare_bytes <= 16 << 20 && c->live_bytes == 0);
  arena_free_spare(c);
  assert(c->spare_bytes == 0);
}

int main(void) {
  ctx c;
  ctx_init(&c);
  serve_again(&c);
  never_many(&c);
  fill(&c, 1 << 20);
  ctx_deinit(&c);
  assert(c.spare_bytes == 0);
  return 0;
}
