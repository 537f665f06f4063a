/* Schedules of spans: which regions are too large to be looked at, and which of those that were
 * made before serve again. */
#include "split/spans.h"
#include "split/schedules.h"

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

static weir_status keep(void *user) {
  run *r = user;
  split_schedules *all = split_schedules_new(arena_create(&r->c));
  split_schedule_key one = {{1, 2}}, other = {{1, 3}};
  split_scheduled spans[] = {{7, 1, 4}, {9, 0, 2}};
  assert(!split_schedules_find(all, one, 100));
  split_schedules_keep(all, one, (split_schedule){spans, 2, 5, 100, 200});
  split_schedules_keep(all, one, (split_schedule){spans, 1, 6, 200, 300});
  spans[0].op = 8; /* a copy is kept */
  const split_schedule *found = split_schedules_find(all, one, 100);
  assert(found && found->n == 2 && found->work == 5);
  assert(found->spans[0].op == 7 && found->spans[1].to == 2);
  assert(split_schedules_find(all, one, 199.5) == found);
  assert(split_schedules_find(all, one, 200)->n == 1);
  assert(!split_schedules_find(all, one, 99) && !split_schedules_find(all, one, 300));
  assert(!split_schedules_find(all, other, 100));
  return WEIR_OK;
}

int main(void) {
  run r = {.m = NULL};
  ctx_init(&r.c);
  assert(ctx_try(&r.c, look, &r) == WEIR_OK);
  assert(ctx_try(&r.c, keep, &r) == WEIR_OK);
  ctx_deinit(&r.c);
  return 0;
}
