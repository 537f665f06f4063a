/* Lightest vertices between sources and sinks, against all sets of vertices of small graphs. */
#include "split/mincut.h"

#include <assert.h>

enum { MOST = 9 };

typedef struct graph {
  uint32_t n;
  int64_t weight[MOST];
  bool is_source[MOST], is_sink[MOST], edge[MOST][MOST];
} graph;

static uint32_t dice(uint32_t *state, uint32_t below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 16) % below;
}

static graph random_graph(uint32_t seed) {
  uint32_t s = seed;
  graph g = {.n = 1 + dice(&s, MOST)};
  for (uint32_t i = 0; i < g.n; i++) {
    g.weight[i] = dice(&s, 6);
    g.is_source[i] = dice(&s, 3) == 0;
    g.is_sink[i] = dice(&s, 3) == 0;
    for (uint32_t j = 0; j < i; j++) g.edge[j][i] = dice(&s, 3) == 0;
  }
  return g;
}

/* Vertices in topological order. */
static bool separates(const graph *g, const bool *is_cut) {
  bool is_reached[MOST] = {0};
  for (uint32_t i = 0; i < g->n; i++) {
    is_reached[i] = g->is_source[i];
    for (uint32_t j = 0; j < i; j++) is_reached[i] |= is_reached[j] && g->edge[j][i];
    is_reached[i] &= !is_cut[i];
    if (is_reached[i] && g->is_sink[i]) return false;
  }
  return true;
}

static int64_t weight_of(const graph *g, const bool *is_cut) {
  int64_t weight = 0;
  for (uint32_t i = 0; i < g->n; i++) weight += is_cut[i] ? g->weight[i] : 0;
  return weight;
}

static int64_t least_weight(const graph *g) {
  int64_t least = INT64_MAX;
  for (uint32_t set = 0; set < 1u << g->n; set++) {
    bool is_cut[MOST];
    for (uint32_t i = 0; i < g->n; i++) is_cut[i] = set >> i & 1;
    int64_t weight = weight_of(g, is_cut);
    if (weight < least && separates(g, is_cut)) least = weight;
  }
  return least;
}

static void find(ctx *c, const graph *g, bool *is_cut) {
  arena *a = arena_create(c);
  mincut *k = mincut_new(a, g->n);
  for (uint32_t i = 0; i < g->n; i++)
    mincut_vertex(k, i, g->weight[i], g->is_source[i], g->is_sink[i]);
  for (uint32_t i = 0; i < g->n; i++)
    for (uint32_t j = 0; j < i; j++)
      if (g->edge[j][i]) mincut_edge(k, j, i);
  assert(mincut_find(k, is_cut) > 0 || !g->n);
  arena_destroy(a);
}

static void test_random(ctx *c) {
  for (uint32_t seed = 1; seed < 2000; seed++) {
    graph g = random_graph(seed);
    bool is_cut[MOST] = {0};
    find(c, &g, is_cut);
    assert(separates(&g, is_cut));
    assert(weight_of(&g, is_cut) == least_weight(&g));
  }
}

/* 0 -> 1 -> 2, all as heavy. */
static void test_nearest_to_the_sink(ctx *c) {
  graph g = {.n = 3, .weight = {5, 5, 5}, .is_source = {true}, .is_sink = {0, 0, true}};
  bool is_cut[MOST] = {0};
  g.edge[0][1] = g.edge[1][2] = true;
  find(c, &g, is_cut);
  assert(!is_cut[0] && !is_cut[1] && is_cut[2]);
}

int main(void) {
  ctx c;
  ctx_init(&c);
  test_random(&c);
  test_nearest_to_the_sink(&c);
  ctx_deinit(&c);
  return 0;
}
