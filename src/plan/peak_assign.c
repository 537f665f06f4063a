/* Where XLA would put buffers.
 *
 *   1. results of the program have allocations of their own; smaller classes that are dead by then
 *      may live there before (largest class first);
 *   2. a result written over an operand that dies there becomes one class with it
 *      (peak_buffers.c);
 *   3. the rest goes into one heap, the largest or the longest-lived first, each where it fits
 *      best, and the better of the two orders counts. Of equally large ones that goes first whose
 *      first value (before the loop, before what is written over it) lives longest.
 *
 * Source: XLA's buffer_assignment.cc, heap_simulator.cc. */
#include <stdlib.h>

#include "plan/peak_assign.h"

enum {
  MOST_PLACED = 2000, /* the heap is quadratic in them; smaller ones are only summed */
  SMALL_SHARE = 64,   /* of a chip's memory: what is smaller */
  LOOPS_SHARE = 4,    /* of it: what is larger does not go there while a loop runs */
  MOST_TRIED_NEAR = 256
};

static _Thread_local plan_assigner
    *sorting; /* qsort has no argument for it; set and used in one call */

/* ---- on the chip ---- */
static int largest_first(const void *x, const void *y) {
  uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
  int64_t a = sorting->buffers[i].bytes, b = sorting->buffers[k].bytes;
  if (a != b) return a > b ? -1 : 1;
  return i < k ? -1 : i > k;
}

/* Made and read in the same trip of a loop: none of its state. */
static bool is_of_a_trip(const plan_assigner *a, const plan_buffer *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const plan_node *n = plan_node_get(a->g, a->values[a->by_class[b->first + i]].node);
    uint32_t caller = plan_comp_get(a->g, n->comp)->caller;
    bool is_inside = caller && plan_node_get(a->g, caller)->kind == IR_OP_WHILE;
    if (!is_inside || n->kind == PLAN_PARAMETER || n->kind == IR_OP_WHILE) return false;
  }
  return b->count > 0;
}

/* Whether no loop runs while it lives. */
static bool is_beside_loops(const plan_assigner *a, const plan_buffer *b) {
  for (uint32_t c = 1; c < a->g->comps.count; c++) {
    uint32_t caller = plan_comp_get(a->g, c)->caller;
    bool is_loops = caller && plan_node_get(a->g, caller)->kind == IR_OP_WHILE;
    for (uint32_t i = 0; i < b->n_live && is_loops; i++)
      if (b->live[i].from <= a->span[c].to && b->live[i].to >= a->span[c].from) return false;
  }
  return true;
}

static bool is_far(const plan_assigner *a, const plan_buffer *b) {
  for (uint32_t i = 0; i < b->count; i++)
    if (plan_node_get(a->g, a->values[a->by_class[b->first + i]].node)->is_far) return true;
  return false;
}

static bool is_unread(const plan_assigner *a, const plan_buffer *b) {
  const plan_value *v = &a->values[a->by_class[b->first]];
  return b->count == 1 && !v->is_table && plan_is_left_unread(a->g, v->node, v->member);
}

/* Loops have copies there of what they read: while one runs, what a trip makes for itself goes
 * there, if it takes a quarter at most. */
static bool may_be_near(const plan_assigner *a, const plan_buffer *b) {
  int64_t near = a->g->memory->near_bytes;
  if (!plan_is_temporary(b) || b->bytes > near || b->bytes <= near / SMALL_SHARE) return false;
  if (is_far(a, b) || is_unread(a, b)) return false;
  return is_beside_loops(a, b) || (b->bytes <= near / LOOPS_SHARE && is_of_a_trip(a, b));
}

/* Whether all temporaries do, of which `most` bytes live at once. */
static bool fits_near(const plan_assigner *a, int64_t most) {
  bool is = a->g->memory && most <= a->g->memory->near_bytes;
  for (uint32_t i = 0; i < a->n_buffers && is; i++)
    is = !plan_is_temporary(&a->buffers[i]) || !is_far(a, &a->buffers[i]);
  return is;
}

/* Of more than fits on the chip, what fits: the largest buffers first, each for all of its life.
 * Small ones make no difference. The most bytes of the rest that live at once, and when. */
static int64_t put_near(plan_assigner *a, int64_t most, int64_t *in_out_at) {
  int64_t near = a->g->memory ? a->g->memory->near_bytes : 0, at;
  if (near == 0 || fits_near(a, most)) return most;
  uint32_t *list = ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers), n = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if (may_be_near(a, &a->buffers[i])) list[n++] = i;
  sorting = a;
  qsort(list, n, sizeof *list, largest_first);
  for (uint32_t i = 0; i < n && i < MOST_TRIED_NEAR; i++) {
    plan_buffer *b = &a->buffers[list[i]];
    b->is_near = true;
    b->is_near = plan_most_live(a, true, &at) <= near;
  }
  return plan_most_live(a, false, in_out_at);
}

/* ---- step 1: inside the results ---- */
typedef struct allocation {
  int64_t bytes;
  uint64_t sketch; /* of all that is in it */
  VEC(uint32_t) buffers;
} allocation;

static int by_size(const void *x, const void *y) {
  const plan_buffer *a = &sorting->buffers[*(const uint32_t *)x],
                    *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  if (a->is_output != b->is_output) return a->is_output ? -1 : 1;
  if (a->live[0].from != b->live[0].from) return a->live[0].from < b->live[0].from ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* The time at which `second` is made in place of `first`; -1: never. */
static int64_t handover(plan_assigner *a, const plan_buffer *first, const plan_buffer *second) {
  const plan_value *v = &a->values[a->by_class[second->first]];
  const plan_node *n = plan_node_get(a->g, v->node);
  if (n->n_comps || n->kind == PLAN_PARAMETER || v->is_table) return -1;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t u =
        plan_shares_buffer(a->g, v->node, v->member, i) ? plan_value_of(a, n->operands[i]) : 0;
    if (u && &a->buffers[a->buffer_of[u]] == first) return a->time[v->node];
  }
  return -1;
}

static bool can_be_beside(plan_assigner *a, const plan_buffer *other, const plan_buffer *b) {
  int64_t common;
  int n = plan_common_times(other, b, &common);
  if (n != 1) return n == 0;
  int64_t at = handover(a, other, b);
  if (at < 0) at = handover(a, b, other);
  return at == common;
}

/* Who is in the way goes to the front: it will be in the way of others. */
static bool fits(plan_assigner *a, allocation *where, const plan_buffer *b) {
  if (b->bytes > where->bytes) return false;
  if (!(where->sketch & b->sketch)) return true;
  uint32_t *in = where->buffers.at;
  for (uint32_t i = 0; i < where->buffers.count; i++) {
    if (can_be_beside(a, &a->buffers[in[i]], b)) continue;
    uint32_t first = in[0];
    in[0] = in[i];
    in[i] = first;
    return false;
  }
  return true;
}

/* Which allocations are taken throughout each cell of the time line. Thousands of results are not
 * looked at one by one for each buffer. */
enum { MOST_CELLS = 128, LEAST_CELL = 2 };

typedef struct occupancy {
  int64_t cell;      /* points in time, LEAST_CELL at least */
  uint32_t n_words;  /* of a bit for each allocation */
  uint64_t *taken;   /* by cell */
  uint64_t *refused; /* of the buffer at hand */
} occupancy;

static occupancy occupancy_of(const plan_assigner *a, uint32_t n_allocations) {
  arena *s = a->g->arena;
  occupancy o = {.cell = a->now / MOST_CELLS + LEAST_CELL, .n_words = n_allocations / 64 + 1};
  o.taken = ARENA_ARRAY(s, uint64_t, (size_t)(a->now / o.cell + 1) * o.n_words);
  o.refused = ARENA_ARRAY(s, uint64_t, o.n_words);
  CTX_CHECK(a->g->m->ctx, o.cell >= LEAST_CELL && a->now / o.cell <= MOST_CELLS);
  return o;
}

static void note_taken(occupancy *o, const plan_buffer *b, uint32_t k) {
  for (uint32_t i = 0; i < b->n_live; i++)
    for (int64_t c = (b->live[i].from + o->cell - 1) / o->cell;
         (c + 1) * o->cell - 1 <= b->live[i].to; c++)
      o->taken[c * o->n_words + k / 64] |= UINT64_C(1) << k % 64;
}

/* Of the first n those that are taken at two points in time, or more, at which the buffer is live.
 */
static void find_refused(occupancy *o, const plan_buffer *b, uint32_t n) {
  uint32_t n_words = n / 64 + (n % 64 > 0);
  memset(o->refused, 0, n_words * sizeof *o->refused);
  for (uint32_t i = 0; i < b->n_live; i++)
    for (int64_t c = b->live[i].from / o->cell; c * o->cell < b->live[i].to; c++) {
      if ((c + 1) * o->cell - 1 == b->live[i].from) continue; /* one point in time */
      for (uint32_t w = 0; w < n_words; w++) o->refused[w] |= o->taken[c * o->n_words + w];
    }
}

static void put_into(plan_assigner *a, allocation *allocations, uint32_t k, uint32_t index,
                     occupancy *o) {
  VEC_PUSH(a->g->arena, &allocations[k].buffers, index);
  allocations[k].sketch |= a->buffers[index].sketch;
  a->buffers[index].placed = true;
  note_taken(o, &a->buffers[index], k);
}

/* The last result that fits. */
static void put_into_some(plan_assigner *a, allocation *allocations, uint32_t n, uint32_t index,
                          occupancy *o) {
  find_refused(o, &a->buffers[index], n);
  for (uint32_t k = n; k-- > 0;) {
    uint64_t left = ~o->refused[k / 64] & (UINT64_MAX >> (63 - k % 64));
    k = k / 64 * 64;
    if (!left) continue;
    k += 63 - (uint32_t)__builtin_clzll(left);
    CTX_CHECK(a->g->m->ctx, k < n);
    if (fits(a, &allocations[k], &a->buffers[index])) {
      put_into(a, allocations, k, index, o);
      return;
    }
  }
}

static void place_in_outputs(plan_assigner *a) {
  arena *s = a->g->arena;
  uint32_t *order = ARENA_ARRAY(s, uint32_t, a->n_buffers), n = 0, n_allocations = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if ((!a->buffers[i].fixed || a->buffers[i].is_output) && !a->buffers[i].is_table)
      order[n++] = i;
  allocation *allocations = ARENA_ARRAY(s, allocation, a->g->n_outputs + 1);
  occupancy o = occupancy_of(a, a->g->n_outputs + 1);
  sorting = a;
  qsort(order, n, sizeof *order, by_size);
  for (uint32_t i = 0; i < n; i++) {
    const plan_buffer *b = &a->buffers[order[i]];
    if (b->is_output) {
      allocations[n_allocations].bytes = b->bytes;
      put_into(a, allocations, n_allocations++, order[i], &o);
    } else {
      put_into_some(a, allocations, n_allocations, order[i], &o);
    }
  }
}

/* ---- step 3: the heap ---- */
/* XLA's heap measures time in what happens to it: at each point of the time line values are taken,
 * then others given back, the oldest first. Values of one buffer count each. */
static bool is_in_heap(plan_assigner *a, uint32_t v) {
  const plan_buffer *b = &a->buffers[plan_merged(a, a->buffer_of[v])];
  return !a->values[v].passed_on && !b->fixed && !b->placed && b->bytes;
}

/* When each value is given back: a class holds one at a time. (HloLiveRange's
 * NormalizeAliasedBuffers) */
static int64_t *ends_of(plan_assigner *a) {
  int64_t *end = ARENA_ARRAY(a->g->arena, int64_t, a->n_values);
  uint32_t last = 0;
  for (uint32_t i = 0; i + 1 < a->n_values; i++) {
    uint32_t v = a->by_class[i];
    if (a->values[v].passed_on) continue;
    end[v] = a->values[v].live.to;
    bool follows = last && a->buffer_of[last] == a->buffer_of[v];
    int64_t from = a->values[v].live.from;
    if (follows && a->values[last].live.from == from) end[last] = from;
    else if (follows && end[last] >= from) {
      if (end[last] > end[v]) end[v] = end[last];
      end[last] = from - 1;
      CTX_CHECK(a->g->m->ctx, end[last] >= a->values[last].live.from);
    }
    last = v;
  }
  return end;
}

/* The heap's values by the time they are taken. */
static uint32_t *in_order_of_start(plan_assigner *a, uint32_t *out_n) {
  uint32_t *at = ARENA_ARRAY(a->g->arena, uint32_t, a->now + 2), n = 0;
  for (uint32_t v = 1; v < a->n_values; v++)
    if (is_in_heap(a, v)) at[a->values[v].live.from + 1]++, n++;
  for (int64_t t = 0; t <= a->now; t++) at[t + 1] += at[t];
  uint32_t *order = ARENA_ARRAY(a->g->arena, uint32_t, n + 1);
  for (uint32_t v = 1; v < a->n_values; v++)
    if (is_in_heap(a, v)) order[at[a->values[v].live.from]++] = v;
  *out_n = n;
  return order;
}

/* How much happens from taking to giving back: of each buffer's first value, of all. */
static void count_events(plan_assigner *a) {
  arena *s = a->g->arena;
  int64_t *end = ends_of(a), *taken = ARENA_ARRAY(s, int64_t, a->now + 2),
          *given = ARENA_ARRAY(s, int64_t, a->now + 2), before = 0;
  uint32_t n, *order = in_order_of_start(a, &n);
  for (uint32_t i = 0; i < n; i++) taken[a->values[order[i]].live.from]++, given[end[order[i]]]++;
  for (uint32_t id = 1; id < a->g->nodes.count; id++) /* at the end of its time */
    if (plan_node_get(a->g, id)->flags & PLAN_FLAG_LIVE)
      given[a->time[id]] += 2 * plan_node_get(a->g, id)->n_hidden;
  for (int64_t t = 0; t <= a->now + 1; t++) {
    int64_t here[] = {taken[t], given[t]};
    taken[t] = before;
    given[t] = before + here[0];
    before += here[0] + here[1];
  }
  int64_t *begin = ARENA_ARRAY(s, int64_t, a->n_buffers);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t of = plan_merged(a, a->buffer_of[order[i]]);
    plan_buffer *b = &a->buffers[of];
    int64_t from = taken[a->values[order[i]].live.from]++, to = given[end[order[i]]]++;
    CTX_CHECK(a->g->m->ctx, from < to); /* taken before it is given back */
    if (!b->own_events) begin[of] = from, b->own_events = to - from;
    if (to - begin[of] > b->events) b->events = to - begin[of];
  }
}

static int by_space(const void *x, const void *y) {
  const plan_buffer *a = &sorting->buffers[*(const uint32_t *)x],
                    *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  if (a->own_events != b->own_events) return a->own_events > b->own_events ? -1 : 1;
  return a->live[0].from != b->live[0].from ? (a->live[0].from < b->live[0].from ? -1 : 1)
                                            : (a < b ? -1 : 1);
}

static int by_duration(const void *x, const void *y) {
  const plan_buffer *a = &sorting->buffers[*(const uint32_t *)x],
                    *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->events != b->events) return a->events > b->events ? -1 : 1;
  return by_space(x, y);
}

typedef struct spot { /* of a buffer in the heap: what others ask of it */
  const plan_buffer *b;
  plan_interval live;  /* from its first time to its last */
  int64_t offset, end; /* aligned */
} spot;

static spot spot_of(const plan_assigner *a, const plan_buffer *b) {
  plan_interval live = {b->live[0].from, b->live[b->n_live - 1].to};
  return (spot){b, live, b->offset, plan_aligned(a, saturated_sum(b->offset, b->bytes))};
}

/* The smallest gap that holds the buffer among those live with it. placed: n of them by offset. */
static int64_t best_fit(const spot *placed, uint32_t n, const spot *own) {
  int64_t end = 0, best = -1, best_size = INT64_MAX;
  for (const spot *other = placed; other < placed + n; other++) {
    if (other->live.from > own->live.to || other->live.to < own->live.from ||
        !plan_overlap(other->b, own->b, -1))
      continue;
    int64_t gap = other->offset - end;
    if (gap >= own->b->bytes && gap < best_size) best = end, best_size = gap;
    if (other->end > end) end = other->end;
  }
  return best >= 0 ? best : end;
}

static void insert_by_offset(spot *placed, uint32_t n, spot new) {
  uint32_t at = 0, end = n;
  while (at < end) {
    uint32_t middle = (at + end) / 2;
    if (placed[middle].offset <= new.offset) at = middle + 1;
    else end = middle;
  }
  memmove(placed + at + 1, placed + at, (n - at) * sizeof *placed);
  placed[at] = new;
}

/* What is live together lies apart, up to where numbers end. The first n of `placed`, by offset. */
static inline bool is_apart(const spot *placed, uint32_t n, const plan_buffer *b) {
  enum { LARGEST_ALIGNMENT = 1 << 16 };
  bool is_beyond = b->offset > INT64_MAX - LARGEST_ALIGNMENT;
  for (uint32_t i = 0; i < n && !is_beyond; i++) {
    const plan_buffer *other = placed[i].b;
    bool meet = other->offset < saturated_sum(b->offset, b->bytes) &&
                b->offset < saturated_sum(other->offset, other->bytes);
    if (meet && plan_overlap(other, b, -1)) return false;
  }
  return true;
}

static int64_t heap_size(plan_assigner *a, uint32_t *order, uint32_t n,
                         int (*compare)(const void *, const void *)) {
  spot *placed = ARENA_ARRAY(a->g->arena, spot, n + 1);
  int64_t size = 0;
  sorting = a;
  qsort(order, n, sizeof *order, compare);
  for (uint32_t i = 0; i < n; i++) {
    plan_buffer *b = &a->buffers[order[i]];
    spot own = spot_of(a, b);
    b->offset = best_fit(placed, i, &own);
    CTX_CHECK(a->g->m->ctx, b->offset >= 0 && b->offset == plan_aligned(a, b->offset));
    assert(is_apart(placed, i, b));
    insert_by_offset(placed, i, spot_of(a, b));
    if (saturated_sum(b->offset, b->bytes) > size) size = saturated_sum(b->offset, b->bytes);
  }
  return size;
}

static int by_start(const void *x, const void *y) {
  const plan_buffer *a = &sorting->buffers[*(const uint32_t *)x],
                    *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->live[0].from != b->live[0].from) return a->live[0].from < b->live[0].from ? -1 : 1;
  return by_space(x, y);
}

/* XLA:TPU places buffers as the program takes them, and its report has what lies idle between
 * them twice. */
static int64_t size_as_taken(plan_assigner *a, uint32_t *order, uint32_t n, int64_t live) {
  int64_t size = heap_size(a, order, n, by_start);
  return size > live ? saturated_sum(size, size - live) : live;
}

static int64_t place_in_heap(plan_assigner *a, int64_t live) {
  uint32_t *order = ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers), n = 0;
  count_events(a);
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if (plan_counts(&a->buffers[i]) && a->buffers[i].bytes) order[n++] = i;
  sorting = a;
  qsort(order, n, sizeof *order, by_space);
  if (n > MOST_PLACED) n = MOST_PLACED;
  if (a->g->memory && a->g->memory->spacing_bytes) return size_as_taken(a, order, n, live);
  int64_t size = heap_size(a, order, n, by_space);
  if (size > live) {
    int64_t other = heap_size(a, order, n, by_duration);
    if (other < size) size = other;
  }
  return size > live ? size : live;
}

/* On a GPU: a node of which the program has all results, in their order. 0: there is none. */
static uint32_t maker_of_results(const plan_graph *g) {
  const plan_node *root = plan_node_get(g, plan_comp_get(g, g->entry)->root);
  uint32_t made = 0;
  if (!g->memory || !g->memory->joins_results || root->kind != IR_OP_TUPLE) return 0;
  for (uint32_t i = 0; i < root->n_operands; i++) {
    const plan_node *x = plan_node_get(g, root->operands[i]);
    bool is = x->kind == IR_OP_GET_TUPLE_ELEMENT && x->index == i && (!i || x->operands[0] == made);
    if (!is) return 0;
    made = x->operands[0];
  }
  return made && plan_node_get(g, made)->shape.n_members == root->n_operands ? made : 0;
}

typedef struct tables { /* of tuples that are no results */
  int64_t aligned_bytes, least, most;
} tables;

static void add_table(const plan_assigner *a, tables *t, int64_t bytes) {
  if (bytes == 0) return;
  if (t->most == 0 || bytes < t->least) t->least = bytes;
  if (bytes > t->most) t->most = bytes;
  t->aligned_bytes = saturated_sum(t->aligned_bytes, plan_aligned(a, bytes));
}

static int64_t behind(const plan_assigner *a, int64_t bytes) {
  return plan_aligned(a, bytes) - bytes;
}

/* Ops with a computation of their own for two elements, of which XLA has allocations, too. */
static bool has_reducers(const ir_module *m) {
  for (ir_op op = 1; op < m->ops.count; op++) switch (m->ops.at[op].kind) {
      case IR_OP_REDUCE:
      case IR_OP_REDUCE_WINDOW:
      case IR_OP_SCATTER:
      case IR_OP_SELECT_AND_SCATTER:
      case IR_OP_SORT:
      case IR_OP_CHLO_TOP_K: return true;
      default: break;
    }
  return false;
}

/* XLA:GPU has allocations one after the other, all but the last aligned: the tables, the largest
 * first, then the heap, or the other way round if other allocations, which it sorts out, come
 * behind. (CombineTempAllocations) */
static int64_t beside_tables(const plan_assigner *a, int64_t heap, const tables *t) {
  int64_t all = saturated_sum(plan_aligned(a, heap), t->aligned_bytes);
  if (t->most == 0) return heap;
  if (has_reducers(a->g->m)) return all - behind(a, t->most);
  CTX_CHECK(a->g->m->ctx, t->least <= t->most && all >= heap);
  return all - (heap ? behind(a, heap) : behind(a, t->least));
}

/* Tables of tuples lie behind the heap, each on its own; that of the results is a result. */
static int64_t add_tables(plan_assigner *a, int64_t heap) {
  uint32_t maker = maker_of_results(a->g), root = plan_comp_get(a->g, a->g->entry)->root,
           own = plan_table_of(a->g, a->base, root),
           results = maker ? plan_table_of(a->g, a->base, maker) : own;
  tables t = {0};
  int64_t at = heap;
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const plan_buffer *b = &a->buffers[i];
    bool is_result = (own && a->buffer_of[own] == i) || (results && a->buffer_of[results] == i);
    if (!b->is_table || b->bytes == 0 || is_result) continue;
    at = saturated_sum(plan_aligned(a, at), b->bytes);
    add_table(a, &t, b->bytes);
  }
  for (uint32_t i = 0; i < a->g->tables.count; i++) add_table(a, &t, a->g->tables.at[i]);
  bool is_gpu = a->g->memory && a->g->memory->joins_results;
  return is_gpu ? beside_tables(a, heap, &t) : at;
}

/* ---- on a device ---- */
/* Whether a result of the program has room for it: nothing else has to be there but what nobody
 * reads. */
static bool fits_in_a_result(const plan_assigner *a, const plan_buffer *b) {
  for (const plan_buffer *to = a->buffers; to < a->buffers + a->n_buffers; to++)
    if (to->is_output && to->bytes >= b->bytes && !plan_overlap(to, b, -1)) return true;
  return false;
}

/* Results that nobody reads and that are in no result of the program. XLA:TPU does not put them on
 * the chip; what counts among the temporaries, too, is left out. */
static int64_t unread_bytes(const plan_assigner *a, bool is_near) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < a->n_buffers && a->g->memory->spacing_bytes; i++) {
    const plan_buffer *b = &a->buffers[i];
    bool is_placed = is_near ? fits_in_a_result(a, b) : b->placed;
    if (b->fixed || b->merged_into || !is_unread(a, b) || is_placed) continue;
    int64_t apart = plan_apart_bytes(a->g->memory, b->bytes);
    bytes = saturated_sum(bytes, is_near ? apart : apart - b->bytes);
  }
  return bytes;
}

/* What of the temporaries is in memory: nothing where all fit on the chip, but small arrays. */
static int64_t in_memory(const plan_assigner *a, bool is_near, int64_t temp_bytes) {
  const device_memory *m = a->g->memory;
  if (!m) return temp_bytes;
  is_near = is_near && temp_bytes <= m->near_bytes;
  int64_t small = m->spacing_bytes ? plan_small_bytes(a->g, is_near, unread_bytes(a, is_near)) : 0;
  return saturated_sum(is_near ? 0 : temp_bytes, small);
}

int64_t plan_place(plan_assigner *a, int64_t enough_bytes, int64_t *out_at) {
  place_in_outputs(a);
  plan_share_buffers(a, a->g->entry);
  int64_t most = plan_most_live(a, false, out_at);
  bool is_near = fits_near(a, most);
  int64_t bytes = put_near(a, most, out_at);
  if (bytes <= enough_bytes) bytes = add_tables(a, place_in_heap(a, bytes));
  bytes = in_memory(a, is_near, bytes);
  CTX_CHECK(a->g->m->ctx, bytes >= 0);
  return bytes;
}

void plan_assign(plan_graph *g, int64_t enough_bytes, plan_peak *out) {
  plan_assigner *a = plan_buffers_of(g);
  int64_t at;
  out->temp_bytes = plan_place(a, enough_bytes, &at);
  plan_report_holders(a, at, out);
}
