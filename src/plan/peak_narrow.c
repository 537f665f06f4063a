/* Sums that keep few of a GPU's cores busy, and what XLA:GPU therefore makes before them.
 *
 * A sum runs in blocks, a core each: of columns, 32 or 64 to a block; of rows, one to eight. What
 * is summed is computed in the same kernel, as long as XLA counts that this takes no longer than a
 * kernel of its own, which keeps all cores busy, and writing and reading what it makes. A matrix
 * of 4,000 x 1,000 exponentials, summed by columns in 16 blocks, is written for that. Source: XLA's
 * priority_fusion.cc, gpu_performance_model_base.cc, emitters/reduction.cc. */
#include "base/ints.h"
#include "base/saturate.h"
#include "plan/peak_kept.h"

enum {
  VECTOR = 2,                 /* columns of a thread, if they are an even number */
  THREADS_OF_BLOCK = 256,     /* at least, in a sum of rows */
  SHORT_ROW = 96,             /* is summed at once, as reports say: what it sums is not written */
  ELEMENTS_OF_THREAD = 16,    /* of a row */
  ELEMENTS_OF_BLOCK = 128,    /* of what is computed element by element */
  LAUNCH_CYCLES = 384 * 1000, /* of a core: what XLA counts for a kernel, a microsecond */
  NEAR_CYCLES = 24,           /* to read 4 bytes from the caches, where a core has one block */
  FAR_CYCLES = 64,            /* to read or write them in memory */
  SUM_CYCLES = 7,             /* of an addition */
};
/* What takes no longer is made by its reader before anything else is decided. */
#define SHARE_OF_LAUNCH 0.5
#define CACHE_SPEEDUP 2.5 /* of reading what fits there */

/* ---- in how many blocks ---- */
/* Of what is kept: extents behind all that is summed, or the others. */
static int64_t kept_extent(const plan_shape *s, ir_ints dims, bool behind) {
  int64_t extent = 1;
  for (int32_t d = 0; d < s->rank; d++) {
    bool is_behind = true;
    for (int32_t i = 0; i < dims.count; i++) is_behind &= dims.at[i] < d;
    bool is_kept = !ir_ints_have(dims, d);
    if (is_kept && is_behind == behind) extent = saturated_product(extent, s->dims[d]);
  }
  return extent;
}

int64_t plan_sum_blocks(const plan_shape *from, ir_ints dims, int64_t parts) {
  int64_t minor = kept_extent(from, dims, true),
          major = saturated_product(kept_extent(from, dims, false), parts);
  if (from->elements < 1 || major < 1) return 0;
  if (minor > 1) {
    int64_t wide = minor % VECTOR == 0 && minor >= VECTOR * DEVICE_WARP ? VECTOR : 1;
    return saturated_product(major, ceil_div(minor, DEVICE_WARP * wide));
  }
  int64_t row = max64(from->elements / major, 1),
          warps = ceil_div(row, ELEMENTS_OF_THREAD * DEVICE_WARP);
  if (row <= SHORT_ROW) return 0;
  return ceil_div(major, max64(1, THREADS_OF_BLOCK / (DEVICE_WARP * warps)));
}

static double max_of(double x, double y) { return x > y ? x : y; }

static double busy_share(const plan_graph *g, int64_t blocks) {
  int64_t cores = g->memory->cores;
  return blocks > 0 && blocks < cores ? (double)blocks / (double)cores : 1;
}

/* ---- how long ---- */
bool plan_is_short(const plan_graph *g, int64_t cycles, int64_t elements) {
  double share = busy_share(g, ceil_div(max64(elements, 1), ELEMENTS_OF_BLOCK));
  return (double)cycles * (double)elements / share <
         SHARE_OF_LAUNCH * LAUNCH_CYCLES * (double)g->memory->cores;
}

typedef struct work { /* of a kernel, for an element */
  int64_t cycles;
  double reads, writes; /* of arrays, in words of 32 bits */
  double spread;        /* of smaller ones, read again and again */
  bool reads_narrow;    /* numbers of 16 bits or fewer */
} work;

static double words_of(const plan_node *n) {
  return (double)n->shape.bytes / (double)n->shape.elements / 4;
}

/* What is spread is computed for each element, too, if nobody else reads it. */
static void add_read(const plan_graph *g, uint32_t node, int64_t elements, int32_t depth,
                     work *out) {
  const plan_node *n = plan_node_get(g, node);
  while (n->kind == PLAN_BITCAST || n->kind == IR_OP_BROADCAST_IN_DIM)
    n = plan_node_get(g, n->operands[0]);
  if (n->kind == IR_OP_CONSTANT || n->kind == IR_OP_IOTA || n->shape.elements == 1) return;
  out->reads_narrow |= words_of(n) < 1;
  bool is_computed = depth > 0 && n->n_users == 1 && n->shape.elements < elements &&
                     !(n->flags & PLAN_FLAG_HELD) && plan_is_elementwise(n);
  if (is_computed) {
    out->cycles = saturated_sum(out->cycles, plan_cycles(n));
    for (uint32_t i = 0; i < n->n_operands; i++)
      add_read(g, n->operands[i], elements, depth - 1, out);
  } else if (n->shape.elements < elements) out->spread += words_of(n);
  else out->reads += words_of(n);
}

/* Of the node, with all that is computed for it. */
static void add_work(const plan_graph *g, uint32_t node, int32_t depth, work *out) {
  const plan_node *n = plan_node_get(g, node);
  out->cycles = saturated_sum(out->cycles, plan_cycles(n));
  for (uint32_t i = 0; i < n->n_operands; i++) {
    const plan_node *x = plan_node_get(g, n->operands[i]);
    bool is_computed = depth > 0 && !(x->flags & PLAN_FLAG_HELD) && plan_is_elementwise(x) &&
                       x->shape.elements == n->shape.elements;
    if (is_computed) add_work(g, n->operands[i], depth - 1, out);
    else add_read(g, n->operands[i], n->shape.elements, depth, out);
  }
}

/* Of a reader, without reading the node itself. */
static work work_of_reader(const plan_graph *g, const plan_node *reader, uint32_t node) {
  int64_t elements = plan_node_get(g, node)->shape.elements;
  work w = {.cycles = plan_cycles(reader),
            .writes = reader->shape.elements == elements ? words_of(reader) : 0};
  if (reader->blocks && !reader->shape.is_tuple) w.cycles = saturated_sum(w.cycles, SUM_CYCLES);
  for (uint32_t i = 0; i < reader->n_operands; i++)
    if (reader->operands[i] != node) add_read(g, reader->operands[i], elements, 0, &w);
  return w;
}

/* In cycles of all cores, for an element. is_cached: arrays of these fit into the cache that all
 * cores share. */
static double time_moved(const work *w, double share, bool is_cached) {
  double near = share < 1 ? NEAR_CYCLES / share : 0,
         read = is_cached ? FAR_CYCLES / CACHE_SPEEDUP : FAR_CYCLES;
  return w->reads * max_of(near, read) + w->writes * max_of(near, FAR_CYCLES) + w->spread * near;
}

static double time_of(const work *w, double share, bool is_cached) {
  return max_of((double)w->cycles / share, time_moved(w, share, is_cached));
}

/* Of numbers of 16 bits a thread has twice as many columns. */
static double share_of(const plan_graph *g, const plan_node *reader, const plan_node *n,
                       bool is_narrow) {
  int64_t columns = plan_innermost(&n->shape), wide = 2 * VECTOR;
  bool are_more =
      is_narrow && reader->of_columns && columns % wide == 0 && columns >= wide * DEVICE_WARP;
  if (reader->summed != n->shape.elements) return 1;
  return busy_share(g, are_more ? ceil_div(reader->blocks, 2) : reader->blocks);
}

static bool is_cached(const plan_graph *g, const plan_node *n) {
  return n->shape.bytes <= g->memory->cache_bytes;
}

/* What a node takes in a kernel of its own: its work, written, and a launch. */
static double time_apart(const plan_graph *g, const plan_node *n, work own) {
  own.writes += words_of(n);
  return time_of(&own, 1, is_cached(g, n)) +
         LAUNCH_CYCLES * (double)g->memory->cores / (double)n->shape.elements;
}

/* How much longer a reader takes that makes the node, too, than one that reads it. */
static double longer_with(const plan_graph *g, const plan_node *reader, uint32_t node,
                          const work *own) {
  const plan_node *n = plan_node_get(g, node);
  work with = work_of_reader(g, reader, node), read = with;
  read.reads += words_of(n);
  with.cycles = saturated_sum(with.cycles, own->cycles);
  with.reads += own->reads;
  with.spread += own->spread;
  return time_of(&with, share_of(g, reader, n, own->reads_narrow), is_cached(g, n)) -
         time_of(&read, share_of(g, reader, n, words_of(n) < 1), is_cached(g, n));
}

static bool has_times(const plan_graph *g, const plan_node *n) {
  return g->memory->cores && n->n_users && n->shape.elements > 0;
}

/* XLA adds to a sum the longer of two times: to compute what it reads, and to read what that is
 * made of, by the cores of the sum. Smaller arrays are read again and again, so that these take
 * long; one as large takes little more than the array that is not read then. That all cores compute
 * is what reports say (tanh, summed by 32 blocks). */
bool plan_is_slower_in_sum(const plan_graph *g, const plan_node *reader, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  if (!has_times(g, n) || share_of(g, reader, n, false) >= 1) return false;
  work own = {0};
  add_work(g, node, PLAN_SEEN_OF_OPERANDS, &own);
  double share = share_of(g, reader, n, own.reads_narrow),
         read = time_moved(&own, share, is_cached(g, n));
  return max_of((double)own.cycles, read) > time_apart(g, n, own);
}

bool plan_is_made_before_sums(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  if (!has_times(g, n)) return false;
  double longer = 0;
  bool is_narrow = false;
  work own = {0};
  add_work(g, node, PLAN_SEEN_OF_OPERANDS, &own);
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *u = plan_node_get(g, n->users[i]);
    longer += longer_with(g, u, node, &own);
    is_narrow |= share_of(g, u, n, own.reads_narrow) < 1;
  }
  return is_narrow && longer > time_apart(g, n, own);
}
