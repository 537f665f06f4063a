#include "pass/network.h"

pass_labels pass_labels_at(const uint8_t *at, int32_t rank) {
  pass_labels s = 0;
  for (int32_t i = 0; i < rank; i++) s |= (pass_labels)1 << at[i];
  return s;
}

double pass_volume(const pass_network *net, pass_labels s) {
  double v = 1;
  for (; s; s &= s - 1) v *= net->extents[__builtin_ctzll(s)];
  return v;
}

/* ---- the best order ---- */
pass_labels pass_labels_of(const pass_network *net, pass_leaves leaves) {
  pass_labels inside = 0, outside = net->out;
  for (int i = 0; i < net->n; i++)
    if (leaves >> i & 1) inside |= net->leaves[i].labels;
    else outside |= net->leaves[i].labels;
  return inside & outside;
}

typedef struct table {          /* of the dynamic program, by subset or interval */
  double *flops, *moved, *peak; /* least operations; elements of all, of the largest intermediate */
  pass_labels *labels;
  pass_leaves *first;
} table;

static table new_table(arena *a, size_t n) {
  return (table){ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n), ARENA_ARRAY(a, double, n),
                 ARENA_ARRAY(a, pass_labels, n), ARENA_ARRAY(a, pass_leaves, n)};
}

/* Entry `to` may be made of entries x and y: takes it if that is better than what is there. */
static void consider(const pass_network *net, table *t, size_t to, size_t x, size_t y,
                     pass_leaves first, double cap, bool is_whole) {
  double size = is_whole ? 0 : pass_volume(net, t->labels[to]);
  double flops = t->flops[x] + t->flops[y] + 2 * pass_volume(net, t->labels[x] | t->labels[y]);
  double moved = t->moved[x] + t->moved[y] + size;
  if (t->flops[x] < 0 || t->flops[y] < 0 || size > cap) return;
  if (t->flops[to] >= 0 &&
      (flops > t->flops[to] || (flops == t->flops[to] && moved >= t->moved[to])))
    return;
  double peak = t->peak[x] > t->peak[y] ? t->peak[x] : t->peak[y];
  t->flops[to] = flops;
  t->moved[to] = moved;
  t->peak[to] = size > peak ? size : peak;
  t->first[to] = first;
}

static void begin(const pass_network *net, table *t, size_t at, pass_leaves leaves) {
  bool single = !(leaves & (leaves - 1));
  t->flops[at] = single ? 0 : -1; /* -1: no way known */
  t->moved[at] = t->peak[at] = 0;
  t->labels[at] = pass_labels_of(net, leaves);
  t->first[at] = 0;
}

static pass_plan plan_subsets(arena *a, const pass_network *net, double cap) {
  pass_leaves all = ((pass_leaves)1 << net->n) - 1;
  table t = new_table(a, (size_t)all + 1);
  for (pass_leaves s = 1; s <= all; s++) {
    begin(net, &t, s, s);
    pass_leaves low = s & -s, rest = s ^ low;
    for (pass_leaves part = (rest - 1) & rest; rest; part = (part - 1) & rest) {
      consider(net, &t, s, low | part, rest ^ part, low | part, cap, s == all);
      if (!part) break;
    }
  }
  return (pass_plan){net, t.flops[all], t.peak[all], t.first, (size_t)all + 1, false};
}

static pass_leaves interval(int from, int to) {
  return (((pass_leaves)1 << (to - from)) - 1) << from;
}

static pass_plan plan_intervals(arena *a, const pass_network *net, double cap) {
  size_t n = (size_t)net->n + 1;
  table t = new_table(a, n * n);
  for (int length = 1; length <= net->n; length++)
    for (int from = 0; from + length <= net->n; from++) {
      int to = from + length;
      size_t at = (size_t)from * n + (size_t)to;
      begin(net, &t, at, interval(from, to));
      for (int k = from + 1; k < to; k++)
        consider(net, &t, at, (size_t)from * n + (size_t)k, (size_t)k * n + (size_t)to,
                 interval(from, k), cap, length == net->n);
    }
  return (pass_plan){net, t.flops[n - 1], t.peak[n - 1], t.first, n * n, true};
}

pass_plan pass_best_plan(arena *a, const pass_network *net) {
  double cap = net->largest; /* of everything that is there as written */
  return net->n <= PASS_MOST_SUBSET_LEAVES ? plan_subsets(a, net, cap)
                                           : plan_intervals(a, net, cap);
}

/* ---- where scalars go ---- */
pass_leaves pass_first_part(const pass_plan *p, pass_leaves s) {
  if (!p->by_intervals) return p->first[s];
  int from = __builtin_ctzll(s), to = from + __builtin_popcountll(s);
  return p->first[(size_t)from * (size_t)(p->net->n + 1) + (size_t)to];
}

/* By leaf: the leaves of its first product. */
static void find_products(const pass_plan *p, pass_leaves s, pass_leaves *out) {
  if (pass_is_single(s)) return;
  pass_leaves first = pass_first_part(p, s), parts[] = {first, s ^ first};
  CTX_CHECK(p->net->ctx, first && first != s && !(first & ~s)); /* two parts, neither empty */
  for (int i = 0; i < 2; i++) {
    if (pass_is_single(parts[i])) out[__builtin_ctzll(parts[i])] = s;
    find_products(p, parts[i], out);
  }
}

/* Of its leaves one with the fewest scales; of several one whose first product is small. */
static uint8_t leaf_of_scale(const pass_network *net, int scale, const pass_leaves *products,
                             const int *n_scales) {
  int found = -1;
  double least = 0;
  for (int i = 0; i < net->n; i++) {
    if (!(net->leaves[i].scaled >> scale & 1)) continue;
    double size = pass_volume(net, pass_labels_of(net, products[i]));
    bool worse = found >= 0 && n_scales[i] >= n_scales[found] &&
                 (n_scales[i] > n_scales[found] || size >= least);
    if (worse) continue;
    found = i, least = size;
  }
  CTX_CHECK(net->ctx, found >= 0);
  return (uint8_t)found;
}

static bool scale_the_same(const pass_network *net, int i, int j) {
  for (int k = 0; k < net->n; k++)
    if ((net->leaves[k].scaled >> i ^ net->leaves[k].scaled >> j) & 1) return false;
  return true;
}

/* The innermost first: a product of n tensors has n - 1 places for scales, so each finds a leaf of
 * its own. What follows each other stays together. */
void pass_place_scales(const pass_network *net, pass_plan *p) {
  pass_leaves products[PASS_MOST_LEAVES];
  int n_scales[PASS_MOST_LEAVES] = {0};
  find_products(p, pass_all_leaves(net), products);
  for (int i = net->n_scales; i-- > 0;) {
    bool follows = i + 1 < net->n_scales && scale_the_same(net, i, i + 1);
    p->scaled[i] = follows ? p->scaled[i + 1] : leaf_of_scale(net, i, products, n_scales);
    n_scales[p->scaled[i]] += !follows;
  }
}
