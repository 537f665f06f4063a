#include "split/schedules.h"

enum { BUCKETS = 256, MOST_KEPT = 4096 };

typedef struct kept {
  struct kept *next;
  split_schedule_key key;
  split_schedule one;
} kept;

struct split_schedules {
  arena *a;
  int32_t n;
  kept *buckets[BUCKETS];
};

split_schedules *split_schedules_new(arena *a) {
  split_schedules *all = ARENA_NEW(a, split_schedules);
  *all = (split_schedules){.a = a};
  return all;
}

static bool is_it(const kept *k, split_schedule_key key, double room) {
  bool has_room = k->one.least_room <= room && room < k->one.over_room;
  return k->key.h[0] == key.h[0] && k->key.h[1] == key.h[1] && has_room;
}

const split_schedule *split_schedules_find(const split_schedules *all, split_schedule_key key,
                                           double room) {
  for (const kept *k = all->buckets[key.h[0] % BUCKETS]; k; k = k->next)
    if (is_it(k, key, room)) return &k->one;
  return NULL;
}

void split_schedules_keep(split_schedules *all, split_schedule_key key, split_schedule one) {
  if (all->n == MOST_KEPT) return;
  kept *k = ARENA_NEW(all->a, kept), **first = &all->buckets[key.h[0] % BUCKETS];
  *k = (kept){.next = *first, .key = key, .one = one};
  k->one.spans = one.n ? ARENA_COPY(all->a, split_scheduled, one.spans, one.n) : NULL;
  *first = k;
  all->n++;
}
