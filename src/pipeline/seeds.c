#include "pipeline/seeds.h"

#include <stdlib.h>

bool seeds_was_tried(const seeds_tried *t, ir_value v) { return v < t->room && t->is[v]; }

void seeds_mark_tried(seeds_tried *t, ir_value v) {
  if (v >= t->room) {
    uint32_t room = v * 2 + 64;
    bool *is = ARENA_ARRAY(t->a, bool, room);
    if (t->room) memcpy(is, t->is, t->room);
    t->is = is;
    t->room = room;
  }
  t->is[v] = true;
}

void seeds_unmark_tried(seeds_tried *t, ir_value v) {
  if (seeds_was_tried(t, v)) t->is[v] = false;
}

static int largest_first(const void *x, const void *y) {
  const seed *a = x, *b = y;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static int smallest_first(const void *x, const void *y) {
  const seed *a = x, *b = y;
  return a->bytes == b->bytes ? largest_first(x, y) : -largest_first(x, y);
}

void seeds_sort(seed *list, uint32_t n, bool by_smallest) {
  if (n) qsort(list, n, sizeof *list, by_smallest ? smallest_first : largest_first);
}
