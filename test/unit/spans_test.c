/* Schedules of spans: which regions are too large to be looked at. */
#include "split/spans.h"

#include <assert.h>

enum { MOST = 4 << 20 }; /* members times stages */

typedef struct run {
  ctx c;
  arena *scratch;
  ir_module *m;
} run;

static split_plan *plan_of(run *r, uint32_t members, int32_t stages) {
  split_region region = {
      .m = r->m, .block = ir_top(r->m), .scratch = r->scratch, .n_stages = stages};
  region.members.count = members;
  return split_plan_spans(&region);
}

/* No op is a member: only the numbers count. */
static weir_status look(void *user) {
  run *r = user;
  r->m = ir_module_create(&r->c);
  r->scratch = arena_create(&r->c);
  assert(plan_of(r, 1, 1) && plan_of(r, MOST / 64, 64) && plan_of(r, 64, MOST / 64));
  assert(!plan_of(r, MOST / 64 + 1, 64) && !plan_of(r, 64, MOST / 64 + 1));
  assert(!plan_of(r, UINT32_MAX, 1 << 30)); /* 2^62 */
  arena_destroy(r->scratch);
  return WEIR_OK;
}

int main(void) {
  run r = {.m = NULL};
  ctx_init(&r.c);
  assert(ctx_try(&r.c, look, &r) == WEIR_OK);
  ctx_deinit(&r.c);
  return 0;
}
