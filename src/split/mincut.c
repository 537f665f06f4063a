#include "split/mincut.h"

#include "base/ints.h"

enum { SOURCE, SINK, FIRST };

typedef struct arc {
  uint32_t to;
  uint32_t next; /* of the same tail; index + 1, 0: none */
  int64_t room;
} arc; /* arc i ^ 1 leads back */

struct mincut {
  arena *a;
  uint32_t n;      /* nodes: source, sink, and an entry and an exit of each vertex */
  uint32_t *first; /* by node: index + 1 of an arc */
  VEC(arc) arcs;
};

static uint32_t entry(uint32_t vertex) { return FIRST + 2 * vertex; }
static uint32_t exit_of(uint32_t vertex) { return FIRST + 2 * vertex + 1; }

mincut *mincut_new(arena *a, uint32_t n) {
  mincut *k = ARENA_NEW(a, mincut);
  *k = (mincut){.a = a, .n = entry(n)};
  k->first = ARENA_ARRAY(a, uint32_t, k->n);
  return k;
}

static void add_arc(mincut *k, uint32_t from, uint32_t to, int64_t room) {
  VEC_PUSH(k->a, &k->arcs, ((arc){to, k->first[from], room}));
  k->first[from] = k->arcs.count;
  VEC_PUSH(k->a, &k->arcs, ((arc){from, k->first[to], 0}));
  k->first[to] = k->arcs.count;
}

void mincut_vertex(mincut *k, uint32_t vertex, int64_t weight, bool is_source, bool is_sink) {
  add_arc(k, entry(vertex), exit_of(vertex), weight);
  if (is_source) add_arc(k, SOURCE, entry(vertex), INT64_MAX);
  if (is_sink) add_arc(k, exit_of(vertex), SINK, INT64_MAX);
}

void mincut_edge(mincut *k, uint32_t from, uint32_t to) {
  add_arc(k, exit_of(from), entry(to), INT64_MAX);
}

/* The shortest way that has room: by node, the arc by which it is reached, + 1. */
static bool find_way(const mincut *k, uint32_t *reached_by, uint32_t *queue) {
  uint32_t n = 0;
  memset(reached_by, 0, k->n * sizeof *reached_by);
  queue[n++] = SOURCE;
  for (uint32_t i = 0; i < n && !reached_by[SINK]; i++)
    for (uint32_t at = k->first[queue[i]]; at; at = k->arcs.at[at - 1].next) {
      const arc *x = &k->arcs.at[at - 1];
      if (x->to == SOURCE || reached_by[x->to] || !x->room) continue;
      reached_by[x->to] = at;
      queue[n++] = x->to;
    }
  return reached_by[SINK] > 0;
}

/* Rooms without end stay so: what they could lose is no more than all weights. */
static void fill(mincut *k, const uint32_t *reached_by) {
  int64_t most = INT64_MAX;
  for (uint32_t at = SINK; at != SOURCE; at = k->arcs.at[(reached_by[at] - 1) ^ 1].to)
    most = min64(most, k->arcs.at[reached_by[at] - 1].room);
  for (uint32_t at = SINK; at != SOURCE; at = k->arcs.at[(reached_by[at] - 1) ^ 1].to) {
    arc *x = &k->arcs.at[reached_by[at] - 1], *back = &k->arcs.at[(reached_by[at] - 1) ^ 1];
    if (x->room < INT64_MAX) x->room -= most;
    if (back->room < INT64_MAX) back->room += most;
  }
}

/* From which the sink can be reached. */
static void mark_before_sink(const mincut *k, bool *is_before, uint32_t *queue) {
  uint32_t n = 0;
  queue[n++] = SINK;
  is_before[SINK] = true;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t at = k->first[queue[i]]; at; at = k->arcs.at[at - 1].next) {
      uint32_t from = k->arcs.at[at - 1].to;
      if (is_before[from] || !k->arcs.at[(at - 1) ^ 1].room) continue;
      is_before[from] = true;
      queue[n++] = from;
    }
}

int64_t mincut_find(mincut *k, bool *out_is_cut) {
  uint32_t *reached_by = ARENA_ARRAY(k->a, uint32_t, k->n),
           *queue = ARENA_ARRAY(k->a, uint32_t, k->n);
  bool *is_before = ARENA_ARRAY(k->a, bool, k->n);
  int64_t looks = k->arcs.count;
  for (; find_way(k, reached_by, queue); looks += k->arcs.count) fill(k, reached_by);
  mark_before_sink(k, is_before, queue);
  for (uint32_t i = 0; entry(i) < k->n; i++)
    out_is_cut[i] = !is_before[entry(i)] && is_before[exit_of(i)];
  return looks;
}
