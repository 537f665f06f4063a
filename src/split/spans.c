#include "split/spans.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/ints.h"
#include "ir/flops.h"
#include "ir/in_place.h"
#include "machine/tuned.h"
#include "split/closure.h"
#include "split/held.h"
#include "split/schedules.h"
#include "split/stages.h"
#include "split/state.h"

enum {
  MOST_LOOKS = 4 << 20, /* members times stages; of more no schedule is made */
  LOOKS = 64,           /* at members in order take as long as one at an op */
  MOST_ROUNDS = 64,
  MOST_WINDOW_LOOKS = 4 << 20, /* members times stages times windows that are chosen anew */
  EXACT_TO = 1 << 30           /* a part: sums of gains are rounded */
};

/* ---- those of a region ---- */
void split_add_span(split_region *r, ir_value v, int32_t from, int32_t to) {
  CTX_CHECK(r->m->ctx, from + 1 >= r->outside_stage[v] && from <= to);
  VEC_PUSH(r->scratch, &r->spans, (split_span){v, from, to, r->first_span[v]});
  r->first_span[v] = r->spans.count;
  r->is_cut[v] = true;
}

void split_clear_spans(split_region *r) {
  uint32_t n = r->m->values.count;
  if (!r->first_span) r->first_span = ARENA_ARRAY(r->scratch, uint32_t, n);
  memset(r->first_span, 0, n * sizeof *r->first_span);
  memset(r->is_cut, 0, n * sizeof *r->is_cut);
  r->spans.count = 0;
}

static split_span *span_from(const split_region *r, ir_value v, int32_t stage) {
  for (uint32_t i = r->first_span[v]; i; i = r->spans.at[i - 1].next)
    if (r->spans.at[i - 1].from == stage) return &r->spans.at[i - 1];
  return NULL;
}

bool split_begins_span(const split_region *r, ir_value v, int32_t stage) {
  return r->is_cut && span_from(r, v, stage);
}

bool split_is_put_out_again(const split_region *r, const split_span *s) {
  return s->from + 1 > r->outside_stage[s->value];
}

bool split_puts_out_again(const split_region *r, int32_t stage) {
  for (uint32_t i = 0; r->is_cut && i < r->spans.count; i++) {
    const split_span *s = &r->spans.at[i];
    if (s->from == stage && split_is_put_out_again(r, s)) return true;
  }
  return false;
}

/* ---- what loops make, of what ---- */
typedef struct reading { /* in a loop of a stage before `until` of what it makes itself */
  uint32_t node;
  int32_t until;
} reading;

typedef struct node { /* an op with members, in program order */
  ir_value value;     /* that may be kept; IR_NONE: its results may not */
  int32_t first;      /* the stage that makes that first */
  uint32_t kind;      /* of what it is written over, or is written over it */
  uint32_t row;       /* in `saved`, of what may be kept */
  uint32_t readings, end;
  double work, bytes;
} node;

typedef struct root {
  int32_t stage;
  uint32_t node;
} root;

typedef struct kind { /* values of one type, cut alike */
  ir_type type;
  split_pos pos;
  bool writes_over;     /* one may be written over another */
  int32_t *begin, *end; /* by stage: spans of the kind that begin, or end, there */
} kind;

struct split_plan {
  split_region *r;
  uint32_t n; /* nodes */
  int32_t n_stages;
  node *nodes;
  VEC(reading) readings;
  VEC(root) roots;
  VEC(kind) kinds;
  uint32_t *node_of; /* by op: + 1 */
  uint32_t rows;     /* nodes that may be kept */
  float *saved;      /* by row and stage: what its loop need not make where the node is there; 0: it
                        does not make it */
  double *work;      /* by stage */
  double *used;      /* by stage: bytes of spans */
  bool *is_stale;    /* by stage: what is known of it was before the last spans */
  bool *is_touched;  /* by stage: was stale since the window was left */
  double least_room, over_room; /* what was asked for that there was, or was not, room for */
  /* of one stage */
  bool *is_made;
  uint32_t *dominator, *depth; /* n: the loop itself */
  double *total;
  /* of one node, by the stage that it is put out in: at most, of all later stages */
  double *most, *sum;
};

/* As long as nothing is cut: until which stage loops make the operand; 0: none does. */
static int32_t made_until(split_region *r, ir_value v, split_pos pos) {
  if (r->is_passed_on[v]) return SPLIT_NEVER;
  if (!ir_is_made_in(r->m, v, r->block) || pos.dim < 0) return 0;
  if (split_is_inside(r, v, pos, SPLIT_NEVER - 1)) return SPLIT_NEVER;
  return split_outside_stage(r, v);
}

static void add_readings(split_plan *p, const split_member *member) {
  split_region *r = p->r;
  for (ir_value v, j = 0; (v = ir_operand_at(r->m, member->op, j)); j++) {
    int32_t until = made_until(r, v, member->factor.operands[j]);
    ir_op op = ir_value_get(r->m, v)->op;
    if (until && p->node_of[op])
      VEC_PUSH(r->scratch, &p->readings, (reading){p->node_of[op] - 1, until});
  }
}

static bool may_be_kept(const split_region *r, ir_op op) {
  ir_value v = ir_result(r->m, op, 0);
  const split_member *member = split_first_member(r, op);
  if (r->outside.is && r->outside.is_plain[v]) return false; /* read before all loops, too */
  return ir_op_get(r->m, op)->n_results == 1 && split_is_large(r, v) && !r->needed_outside[v] &&
         member->factor.role == SPLIT_PARALLEL && !member->next && !split_is_partial(r, member);
}

static double bytes_of(const split_region *r, ir_op op) {
  double bytes = 0;
  for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++)
    if (split_is_large(r, v)) bytes += (double)ir_value_bytes(r->m, v);
  return bytes;
}

static bool may_be_in_place(const split_region *r, ir_type type, split_pos pos) {
  return r->goal.writes_over && ir_is_cut_in_lines(r->m, type, pos.dim);
}

static uint32_t kind_of(split_plan *p, ir_op op) {
  split_region *r = p->r;
  ir_type type = ir_type_of(r->m, ir_result(r->m, op, 0));
  split_pos pos = split_first_member(r, op)->factor.results[0];
  for (uint32_t i = 0; i < p->kinds.count; i++)
    if (p->kinds.at[i].type == type && split_pos_equal(p->kinds.at[i].pos, pos)) return i;
  size_t n = (size_t)p->n_stages;
  kind k = {.type = type, .pos = pos, .writes_over = may_be_in_place(r, type, pos)};
  k.begin = ARENA_ARRAY(r->scratch, int32_t, n);
  k.end = ARENA_ARRAY(r->scratch, int32_t, n);
  VEC_PUSH(r->scratch, &p->kinds, k);
  return p->kinds.count - 1;
}

static void add_node(split_plan *p, ir_op op) {
  split_region *r = p->r;
  node *x = &p->nodes[p->n];
  x->bytes = bytes_of(r, op);
  x->work = (double)ir_op_flops(r->scratch, r->m, op) + TUNED_CUT_BYTE * x->bytes;
  x->readings = p->readings.count;
  if (may_be_kept(r, op)) {
    x->value = ir_result(r->m, op, 0);
    x->first = split_outside_stage(r, x->value) - 1;
    x->kind = kind_of(p, op);
    x->row = p->rows++;
  }
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k)) {
    if (split_puts_out(r, k)) VEC_PUSH(r->scratch, &p->roots, (root){k->stage, p->n});
    add_readings(p, k);
  }
  x->end = p->readings.count;
  p->node_of[op] = ++p->n;
}

split_plan *split_plan_spans(split_region *r) {
  uint32_t n = r->members.count;
  CTX_CHECK(r->m->ctx, !r->failed && !r->is_cut);
  if ((int64_t)n * r->n_stages > MOST_LOOKS) return NULL;
  split_plan *p = ARENA_NEW(r->scratch, split_plan);
  *p = (split_plan){.r = r,
                    .n_stages = r->n_stages,
                    .nodes = ARENA_ARRAY(r->scratch, node, n),
                    .node_of = ARENA_ARRAY(r->scratch, uint32_t, r->m->ops.count),
                    .work = ARENA_ARRAY(r->scratch, double, (size_t)r->n_stages),
                    .used = ARENA_ARRAY(r->scratch, double, (size_t)r->n_stages),
                    .is_stale = ARENA_ARRAY(r->scratch, bool, (size_t)r->n_stages),
                    .is_touched = ARENA_ARRAY(r->scratch, bool, (size_t)r->n_stages),
                    .is_made = ARENA_ARRAY(r->scratch, bool, n + 1),
                    .dominator = ARENA_ARRAY(r->scratch, uint32_t, n + 1),
                    .depth = ARENA_ARRAY(r->scratch, uint32_t, n + 1),
                    .total = ARENA_ARRAY(r->scratch, double, n + 1),
                    .most = ARENA_ARRAY(r->scratch, double, (size_t)r->n_stages),
                    .sum = ARENA_ARRAY(r->scratch, double, (size_t)r->n_stages)};
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++)
    if (r->member_of[op]) add_node(p, op);
  p->saved = ARENA_ARRAY(r->scratch, float, (size_t)p->rows *(size_t)p->n_stages);
  return p;
}

/* By stage. */
static float *saved_by(const split_plan *p, const node *d) {
  return p->saved + (size_t)d->row * (size_t)p->n_stages;
}

/* ---- one stage: what its loop makes, and what each of that stands for ---- */
static uint32_t common(const split_plan *p, uint32_t a, uint32_t b) {
  while (a != b)
    if (p->depth[a] >= p->depth[b]) a = p->dominator[a];
    else b = p->dominator[b];
  return a;
}

static void need(split_plan *p, uint32_t x, uint32_t by) {
  p->dominator[x] = p->is_made[x] ? common(p, p->dominator[x], by) : by;
  p->is_made[x] = true;
}

static bool is_there(const split_plan *p, uint32_t x, int32_t stage) {
  return p->nodes[x].value && split_is_cut_before(p->r, p->nodes[x].value, stage);
}

static void begin_stage(split_plan *p, int32_t stage) {
  const split_region *r = p->r;
  memset(p->is_made, 0, p->n);
  p->depth[p->n] = 0;
  for (uint32_t i = 0; i < p->roots.count; i++)
    if (p->roots.at[i].stage == stage) need(p, p->roots.at[i].node, p->n);
  for (uint32_t i = 0; i < r->spans.count; i++)
    if (r->spans.at[i].from == stage)
      need(p, p->node_of[ir_value_get(r->m, r->spans.at[i].value)->op] - 1, p->n);
}

/* From the last node to the first: who reads it was looked at. */
static void find_made(split_plan *p, int32_t stage) {
  begin_stage(p, stage);
  for (uint32_t x = p->n; x-- > 0;) {
    if (!p->is_made[x]) continue;
    p->depth[x] = p->depth[p->dominator[x]] + 1;
    for (uint32_t i = p->nodes[x].readings; i < p->nodes[x].end; i++) {
      reading by = p->readings.at[i];
      if (stage < by.until && !is_there(p, by.node, stage)) need(p, by.node, x);
    }
  }
}

static void look_at_stage(split_plan *p, int32_t stage) {
  find_made(p, stage);
  for (uint32_t x = 0; x <= p->n; x++) p->total[x] = 0;
  for (uint32_t x = 0; x < p->n; x++) {
    if (p->is_made[x]) p->total[x] += p->nodes[x].work;
    if (p->is_made[x]) p->total[p->dominator[x]] += p->total[x];
    if (p->nodes[x].value)
      saved_by(p, &p->nodes[x])[stage] = p->is_made[x] ? (float)p->total[x] : 0;
  }
  p->work[stage] = p->total[p->n];
  p->is_stale[stage] = false;
  p->r->m->ctx->looked_at += p->n / LOOKS;
}

static double look_at_stages(split_plan *p) {
  double work = 0;
  for (int32_t stage = 0; stage < p->n_stages; stage++) {
    if (p->is_stale[stage]) look_at_stage(p, stage);
    work += p->work[stage];
  }
  return work;
}

/* ---- which spans ---- */
typedef struct offer {
  uint32_t node;
  int32_t from, to;
  double gain, score;
} offer;

/* The loop that reads the last of a span writes the first of another of the kind over it
 * (ir/in_place.h): in that stage both take the bytes of one. */
static void count_ends(split_plan *p, const node *d, int32_t stage, int32_t begin, int32_t end) {
  kind *k = &p->kinds.at[d->kind];
  int32_t before = min32(k->begin[stage], k->end[stage]);
  k->begin[stage] += begin;
  k->end[stage] += end;
  if (k->writes_over) p->used[stage] -= d->bytes * (min32(k->begin[stage], k->end[stage]) - before);
}

/* What a span, or one that is there already up to `own`, takes of a stage. */
static double added_bytes(const split_plan *p, const node *d, const split_span *own, int32_t stage,
                          bool is_first, bool is_last) {
  const kind *k = &p->kinds.at[d->kind];
  int32_t begin = k->begin[stage], end = k->end[stage];
  if (!k->writes_over) return own && stage <= own->to ? 0 : d->bytes;
  if (own && stage <= own->to) return stage == own->to && !is_last && begin >= end ? d->bytes : 0;
  return (is_first && end > begin) || (is_last && begin > end) ? 0 : d->bytes;
}

static bool has_room(split_plan *p, const node *d, const split_span *own, int32_t stage,
                     bool is_first, bool is_last, double room) {
  double added = added_bytes(p, d, own, stage, is_first, is_last), all = p->used[stage] + added;
  if (added <= 0) return true;
  if (all <= room && all > p->least_room) p->least_room = all;
  if (all > room && all < p->over_room) p->over_room = all;
  return all <= room;
}

/* Each loop that reads it reads as much as a move would. */
static void extend_offers(split_plan *p, uint32_t x, int32_t from, double room, offer *best) {
  const node *d = &p->nodes[x];
  const float *saved = saved_by(p, d);
  const split_span *own = span_from(p->r, d->value, from);
  double move = TUNED_CUT_BYTE * d->bytes, gain = -move;
  for (int32_t to = from + 1; to < p->n_stages; to++) {
    if (!has_room(p, d, own, to - 1, to - 1 == from, false, room)) return;
    if (saved[to] <= 0) continue;
    if (span_from(p->r, d->value, to)) return; /* it is there from here on */
    gain += saved[to] - move;
    double score = gain > 0 ? gain * gain / ((to - from + 1) * d->bytes) : 0;
    if (score > best->score && has_room(p, d, own, to, false, true, room))
      *best = (offer){x, from, to, gain, score};
  }
}

/* What later stages save at most, each and together. */
static void bound_gains(split_plan *p, const node *d) {
  const float *saved = saved_by(p, d);
  double move = TUNED_CUT_BYTE * d->bytes, most = 0, sum = 0;
  for (int32_t stage = p->n_stages - 1; stage >= d->first; stage--) {
    p->most[stage] = most;
    p->sum[stage] = sum;
    double more = saved[stage] - move;
    if (more > most) most = more;
    if (more > 0) sum += more;
  }
}

/* A span over n stages gains at most the sum, and n times the most: its score is no more than their
 * product for each byte. */
static bool may_be_better(const split_plan *p, const node *d, int32_t from, const offer *best) {
  return p->most[from] * p->sum[from] * (1 + 1.0 / EXACT_TO) > best->score * d->bytes;
}

static offer best_of(split_plan *p, uint32_t x, double room) {
  offer best = {x, 0, 0, 0, 0};
  const node *d = &p->nodes[x];
  const float *saved = saved_by(p, d);
  bound_gains(p, d);
  for (int32_t from = d->first; from < p->n_stages; from++)
    if (saved[from] > 0 && may_be_better(p, d, from, &best)) extend_offers(p, x, from, room, &best);
  return best;
}

static int by_score(const void *a, const void *b) {
  const offer *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static void make_stale(split_plan *p, int32_t stage) {
  p->is_stale[stage] = p->is_touched[stage] = true;
}

static void count_span(split_plan *p, const node *d, int32_t from, int32_t to) {
  for (int32_t stage = from; stage <= to; stage++) p->used[stage] += d->bytes;
  count_ends(p, d, from, 1, 0);
  count_ends(p, d, to, 0, 1);
}

static void extend_span(split_plan *p, const node *d, split_span *s, int32_t to) {
  for (int32_t stage = s->to + 1; stage <= to; stage++) p->used[stage] += d->bytes;
  count_ends(p, d, s->to, 0, -1);
  count_ends(p, d, to, 0, 1);
  s->to = to;
}

static void take(split_plan *p, const offer *o) {
  const node *d = &p->nodes[o->node];
  split_span *old = span_from(p->r, d->value, o->from);
  for (int32_t stage = o->from; stage <= o->to; stage++) make_stale(p, stage);
  if (old && old->to < o->to) extend_span(p, d, old, o->to);
  if (old) return;
  split_add_span(p->r, d->value, o->from, o->to);
  count_span(p, d, o->from, o->to);
}

static bool is_disjoint(const split_plan *p, const offer *o) {
  for (int32_t stage = o->from; stage <= o->to; stage++)
    if (p->is_stale[stage]) return false;
  return true;
}

/* What spans elsewhere gain does not change by one. */
static bool take_round(split_plan *p, double room, double least) {
  offer *all = ARENA_ARRAY(p->r->scratch, offer, p->n);
  uint32_t n = 0;
  for (uint32_t x = 0; x < p->n; x++) {
    if (!p->nodes[x].value) continue;
    offer o = best_of(p, x, room);
    if (o.gain > least) all[n++] = o;
  }
  qsort(all, n, sizeof *all, by_score);
  for (uint32_t i = 0; i < n; i++)
    if (is_disjoint(p, &all[i])) take(p, &all[i]);
  p->r->m->ctx->looked_at += p->n / 4;
  return n > 0;
}

static void make_all_stale(split_plan *p) {
  for (int32_t stage = 0; stage < p->n_stages; stage++) make_stale(p, stage);
}

static const node *node_of_span(const split_plan *p, const split_span *s) {
  return &p->nodes[p->node_of[ir_value_get(p->r->m, s->value)->op] - 1];
}

/* Those of the list that lie outside of a window of stages; of an empty window, all. */
static void set_spans(split_plan *p, const split_span *list, uint32_t n, int32_t from, int32_t to) {
  split_clear_spans(p->r);
  memset(p->used, 0, (size_t)p->n_stages * sizeof *p->used);
  for (uint32_t i = 0; i < p->kinds.count; i++) {
    memset(p->kinds.at[i].begin, 0, (size_t)p->n_stages * sizeof *p->kinds.at[i].begin);
    memset(p->kinds.at[i].end, 0, (size_t)p->n_stages * sizeof *p->kinds.at[i].end);
  }
  for (uint32_t i = 0; i < n; i++) {
    bool is_within = list[i].from < to && list[i].to >= from;
    for (int32_t stage = list[i].from; is_within && stage <= list[i].to; stage++)
      make_stale(p, stage);
    if (is_within) continue;
    split_add_span(p->r, list[i].value, list[i].from, list[i].to);
    count_span(p, node_of_span(p, &list[i]), list[i].from, list[i].to);
  }
}

typedef struct schedule {
  split_span *spans;
  uint32_t n;
} schedule;

static schedule schedule_of(const split_region *r) {
  uint32_t n = r->spans.count;
  return (schedule){n ? ARENA_COPY(r->scratch, split_span, r->spans.at, n) : NULL, n};
}

static double once(const split_plan *p) {
  double work = 0;
  for (uint32_t x = 0; x < p->n; x++) work += p->nodes[x].work;
  return work;
}

/* Beside the spans that are there. */
static double add_spans(split_plan *p, double room) {
  double least = TUNED_CUT_GAIN * once(p);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double work = look_at_stages(p);
    if (!take_round(p, room, least)) return work;
  }
  return look_at_stages(p);
}

static double choose(split_plan *p, double room) {
  set_spans(p, NULL, 0, 0, 0);
  make_all_stale(p);
  return add_spans(p, room);
}

/* The spans in a window of stages once more, beside the others; if more is made by it, not. */
static double choose_again(split_plan *p, double room, int32_t from, int32_t to, double work) {
  schedule old = schedule_of(p->r);
  memset(p->is_touched, 0, (size_t)p->n_stages);
  set_spans(p, old.spans, old.n, from, to);
  if (p->r->spans.count == old.n) return work;
  double now = add_spans(p, room);
  if (now < work) return now;
  set_spans(p, old.spans, old.n, 0, 0);
  memcpy(p->is_stale, p->is_touched, (size_t)p->n_stages);
  look_at_stages(p);
  return work;
}

/* What was taken first stands in the way of what goes together better: windows of half the stages,
 * a third and so on, each half across the next. */
static double improve(split_plan *p, double room, double work) {
  static const int32_t parts[] = {2, 3, 4, 6, 10};
  int64_t windows = MOST_WINDOW_LOOKS / ((int64_t)p->n * p->n_stages);
  for (size_t i = 0; i <= sizeof parts / sizeof *parts; i++) {
    int32_t size = i < sizeof parts / sizeof *parts ? p->n_stages / parts[i] : 2;
    if (size < 2) continue;
    for (int32_t from = 0; from < p->n_stages && windows > 0; from += size / 2, windows--)
      work = choose_again(p, room, from, from + size, work);
  }
  return work;
}

/* ---- what was made before ---- */
static void mix(split_schedule_key *k, uint64_t x) {
  k->h[0] = hash_mix_wide(k->h[0], x);
  k->h[1] = hash_mix_wide(k->h[1], ~x);
}

static void mix_number(split_schedule_key *k, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  mix(k, bits);
}

/* Values are what they are among the nodes, so that equal regions of other modules count, too. */
static split_schedule_key key_of(const split_plan *p, bool thoroughly) {
  split_schedule_key k = {{HASH_WIDE_BEGIN, p->n}};
  mix(&k, (uint64_t)p->n_stages << 1 | thoroughly);
  for (uint32_t i = 0; i < p->kinds.count; i++) mix(&k, p->kinds.at[i].writes_over);
  for (const node *d = p->nodes; d < p->nodes + p->n; d++) {
    mix(&k, (uint64_t)(uint32_t)d->first << 32 | d->kind << 1 | !!d->value);
    mix(&k, (uint64_t)d->readings << 32 | d->end);
    mix_number(&k, d->work);
    mix_number(&k, d->bytes);
  }
  for (uint32_t i = 0; i < p->readings.count; i++)
    mix(&k, (uint64_t)(uint32_t)p->readings.at[i].until << 32 | p->readings.at[i].node);
  for (uint32_t i = 0; i < p->roots.count; i++)
    mix(&k, (uint64_t)(uint32_t)p->roots.at[i].stage << 32 | p->roots.at[i].node);
  return k;
}

static void keep_schedule(const split_plan *p, split_schedule_key key, double work) {
  const split_region *r = p->r;
  split_scheduled *spans = ARENA_ARRAY(r->scratch, split_scheduled, r->spans.count + 1);
  for (uint32_t i = 0; i < r->spans.count; i++) {
    const split_span *s = &r->spans.at[i];
    spans[i] = (split_scheduled){(uint32_t)(node_of_span(p, s) - p->nodes), s->from, s->to};
  }
  split_schedule one = {spans, r->spans.count, work, p->least_room, p->over_room};
  split_schedules_keep(r->goal.schedules, key, one);
}

static double take_schedule(split_plan *p, const split_schedule *known) {
  set_spans(p, NULL, 0, 0, 0);
  for (const split_scheduled *s = known->spans; s < known->spans + known->n; s++) {
    CTX_CHECK(p->r->m->ctx, s->op < p->n && s->to < p->n_stages);
    split_add_span(p->r, p->nodes[s->op].value, s->from, s->to);
    count_span(p, &p->nodes[s->op], s->from, s->to);
  }
  return known->work;
}

static double make_schedule(split_plan *p, double room, bool thoroughly) {
  p->least_room = 0;
  p->over_room = INFINITY;
  double work = choose(p, room);
  return thoroughly && work > TUNED_CUT_AGAIN * once(p) ? improve(p, room, work) : work;
}

#ifndef NDEBUG
static bool is_made_anew(split_plan *p, const split_schedule *known, double room, bool thoroughly) {
  int64_t looked_at = p->r->m->ctx->looked_at;
  double work = make_schedule(p, room, thoroughly);
  bool same = work == known->work && p->r->spans.count == known->n;
  for (uint32_t i = 0; same && i < known->n; i++) {
    const split_span *s = &p->r->spans.at[i];
    same = node_of_span(p, s) == &p->nodes[known->spans[i].op] && s->from == known->spans[i].from &&
           s->to == known->spans[i].to;
  }
  p->r->m->ctx->looked_at = looked_at;
  return same;
}
#endif

/* The work of all loops. */
static double schedule_spans(split_plan *p, double room, bool thoroughly) {
  split_schedules *all = p->r->goal.schedules;
  if (!all) return make_schedule(p, room, thoroughly);
  split_schedule_key key = key_of(p, thoroughly);
  const split_schedule *known = split_schedules_find(all, key, room);
  assert(!known || is_made_anew(p, known, room, thoroughly));
  if (known) return take_schedule(p, known);
  double work = make_schedule(p, room, thoroughly);
  keep_schedule(p, key, work);
  return work;
}

static double work_with(split_plan *p) {
  make_all_stale(p);
  return look_at_stages(p);
}

static uint32_t values_with_spans(const split_region *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->spans.count; i++) n += !r->spans.at[i].next;
  return n;
}

/* With more room for any value there might be more spans. */
static bool lacks_room(const split_plan *p, int64_t room_bytes) {
  double used = 0, largest = 0;
  for (int32_t stage = 0; stage < p->n_stages; stage++)
    if (p->used[stage] > used) used = p->used[stage];
  for (uint32_t x = 0; x < p->n; x++)
    if (p->nodes[x].value && p->nodes[x].bytes > largest) largest = p->nodes[x].bytes;
  return used + largest > (double)room_bytes;
}

bool split_choose_spans(split_plan *p, int64_t room_bytes, bool must, bool thoroughly) {
  split_region *r = p->r;
  schedule old = schedule_of(r);
  double before = must ? 0 : work_with(p), work = schedule_spans(p, (double)room_bytes, thoroughly);
  ctx_log(r->m->ctx, 5, "%u spans of %u values: %.2f times the work of all members, %.2f without",
          r->spans.count, values_with_spans(r), work / once(p), before / once(p));
  r->lacks_room = lacks_room(p, room_bytes);
  if (r->spans.count && (must || work < before)) return true;
  split_clear_spans(r);
  for (uint32_t i = 0; i < old.n; i++)
    split_add_span(r, old.spans[i].value, old.spans[i].from, old.spans[i].to);
  return false;
}
