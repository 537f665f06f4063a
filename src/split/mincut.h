/* The lightest vertices of a directed graph that separate its sources from its sinks (Ford and
 * Fulkerson; Edmonds and Karp's order): a source or a sink may be one of them. Of several such sets
 * the one that is nearest to the sinks.
 */
#ifndef WEIR_SPLIT_MINCUT_H
#define WEIR_SPLIT_MINCUT_H
#include "base/arena.h"

typedef struct mincut mincut;

/* n vertices without edges, in memory of the arena. */
mincut *mincut_new(arena *a, uint32_t n);
/* Each vertex once. weight >= 0. */
void mincut_vertex(mincut *k, uint32_t vertex, int64_t weight, bool is_source, bool is_sink);
void mincut_edge(mincut *k, uint32_t from, uint32_t to);
/* By vertex. Once. Cost: looks at edges, at each at most as often as vertices become saturated;
 * what is returned. */
int64_t mincut_find(mincut *k, bool *out_is_cut);

#endif
