#include "split/region.h"

#include "base/ints.h"
#include "split/agreement.h"
#include "base/saturate.h"
#include "split/apart.h"
#include "split/kept.h"
#include "split/monoid.h"
#include "split/parts.h"
#include "split/shards.h"
#include "split/sorts.h"
#include "split/stream.h"

enum {
  MOST_INSTANCES = 100000,
  MOST_POSITIONS = 128, /* of one value: a bound of time, which no program of the corpus meets */
  MOST_SHIFTED = 8,     /* positions of one value, each computed anew */
  MOST_COPIES = 16, /* of a member on average, in loops that have more than MOST_MADE together */
  MOST_MADE = 4096
};

static bool is_large(const ir_module *m, ir_value v, int64_t threshold_bytes) {
  ir_op op = ir_value_get(m, v)->op;
  return op && ir_kind_of(m, op) != IR_OP_CONSTANT && ir_value_bytes(m, v) > threshold_bytes;
}

bool split_is_large(const split_region *r, ir_value v) {
  return v < r->n_values ? r->large[v] : is_large(r->m, v, r->threshold_bytes);
}

/* ---- members: closure over the large values ---- */
static void visit(split_region *r, ir_value v, split_pos pos);

static bool same_factor(const split_region *r, const split_member *a, const split_factor *f) {
  const ir_op_data *d = ir_op_get(r->m, a->op);
  if (a->factor.role != f->role) return false;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!split_pos_equal(a->factor.operands[i], f->operands[i])) return false;
  for (uint32_t i = 0; i < d->n_results; i++)
    if (!split_pos_equal(a->factor.results[i], f->results[i])) return false;
  return true;
}

static bool is_member(const split_region *r, ir_op op, const split_factor *f) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (same_factor(r, k, f)) return true;
  return false;
}

static void add_member(split_region *r, ir_op op, const split_factor *f) {
  if (is_member(r, op, f)) return;
  r->overlaps |= f->stencil;
  VEC_PUSH(r->scratch, &r->members,
           (split_member){.op = op, .factor = *f, .stage = -1, .next = r->member_of[op]});
  r->member_of[op] = r->members.count;
  const ir_op_data d = *ir_op_get(r->m, op);
  for (uint32_t i = 0; i < d.n_operands; i++)
    if (f->operands[i].dim >= 0 && split_is_large(r, d.operands[i]) &&
        ir_is_made_in(r->m, d.operands[i], r->block))
      visit(r, d.operands[i], f->operands[i]);
  for (uint32_t i = 0; i < d.n_results; i++)
    if (f->results[i].dim >= 0 && split_is_large(r, d.first_result + i))
      visit(r, d.first_result + i, f->results[i]);
}

/* Once a while has a factor, every carry that it is on answers the same. */
static const split_asked *answered(const split_region *r, ir_op op, uint32_t carry, split_pos pos) {
  for (uint32_t i = 0; i < r->asked.count; i++) {
    const split_asked *a = &r->asked.at[i];
    if (a->op != op) continue;
    bool same = a->traced ? split_pos_equal(a->factor.operands[carry], pos)
                          : a->carry == carry && split_pos_equal(a->pos, pos);
    if (same) return a;
  }
  return NULL;
}

static split_traced **answers_of(const split_region *r, ir_op op, bool of_result, uint32_t index) {
  split_state *s = r->state;
  const ir_op_data *d = ir_op_get(r->m, op);
  CTX_CHECK(r->m->ctx, index < (of_result ? d->n_results : d->n_operands));
  if (!s->traced[op])
    s->traced[op] = ARENA_ARRAY(s->a, split_traced *, d->n_results + d->n_operands);
  return &s->traced[op][of_result ? index : d->n_results + index];
}

/* Moves to the front: regions ask for the same few one after the other. */
static split_traced *find_traced(split_traced **first, split_pos pos) {
  for (split_traced **link = first, *k; (k = *link); link = &k->next) {
    if (!split_pos_equal(k->pos, pos)) continue;
    *link = k->next;
    k->next = *first;
    return *first = k;
  }
  return NULL;
}

static bool trace_once(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
                       split_factor *out) {
  split_traced **first = answers_of(r, op, of_result, index), *k = find_traced(first, pos);
  if (!k) {
    k = ARENA_NEW(r->state->a, split_traced);
    k->pos = pos;
    k->traced = split_trace_in_order(r->state->a, r->m, op, of_result, index, pos, &k->factor);
    k->next = *first;
    *first = k;
  }
  *out = k->factor;
  return k->traced;
}

static bool trace_while(split_region *r, ir_op op, uint32_t carry, split_pos pos,
                        split_factor *out) {
  const split_asked *known = pos.dim >= 0 ? answered(r, op, carry, pos) : NULL;
  if (known) {
    CTX_CHECK(r->m->ctx, !known->traced || split_pos_equal(known->factor.operands[carry], pos));
    *out = known->factor;
    return known->traced;
  }
  bool traced = trace_once(r, op, false, carry, pos, out) && !out->carried;
  VEC_PUSH(r->scratch, &r->asked, ((split_asked){op, carry, pos, traced, *out}));
  return traced;
}

static bool trace_any(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
                      split_factor *out) {
  return ir_kind_of(r->m, op) == IR_OP_WHILE ? trace_while(r, op, index, pos, out)
                                             : trace_once(r, op, of_result, index, pos, out);
}

static bool may_compare(split_region *r, ir_op op, const split_factor *f) {
  ir_op loop;
  split_sameness enough = r->no_kernels ? SPLIT_SAME_IN_XLA : SPLIT_SAME_ALWAYS;
  split_selected of =
      split_compares_selected(r->scratch, r->m, op, f, enough, r->is_reselected, &loop);
  if (of == SPLIT_NOT_SELECTED) return true;
  if (r->no_kernels && (of == SPLIT_SELECTED_OF_ALL || loop)) return false;
  r->must_agree = true;
  if (loop) VEC_PUSH(r->scratch, &r->selecting, loop);
  return true;
}

/* A factor of an op counts only if the op can be done by it: parallel, or merged. */
static bool trace(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
                  split_factor *out) {
  if (r->covers && !r->covers(r->m, op, r->threshold_bytes)) return false;
  if (r->outside.is && r->outside.is[op]) return false;
  if (!trace_any(r, op, of_result, index, pos, out)) {
    if (out->coarsen && !r->coarsen) r->coarsen = out->coarsen;
    r->backwards |= out->backwards;
    return false;
  }
  if (r->may_shift ? out->by_rows : out->shifts) return false;
  if (out->stencil && !r->may_overlap) return false;
  if (!r->may_sort && split_is_sorted(r->m, op, out)) return false;
  if (ir_kind_of(r->m, op) == IR_OP_COMPARE && !may_compare(r, op, out)) return false;
  return out->role == SPLIT_PARALLEL || split_can_merge(r->scratch, r->m, op, out);
}

/* A member reads the value along the same dimension, if at other indices: it asks for them itself.
 */
static bool is_read_shifted(const split_region *r, ir_op user, uint32_t operand, split_pos pos) {
  for (uint32_t i = r->member_of[user]; i && r->may_shift; i = r->members.at[i - 1].next) {
    split_pos at = r->members.at[i - 1].factor.operands[operand];
    if (at.dim == pos.dim && at.unit == pos.unit) return true;
  }
  return false;
}

/* What windows have beside their slices is for those that asked for it. */
static void visit_user(split_region *r, ir_op user, ir_value v, split_pos at) {
  split_pos pos = split_core(at);
  for (uint32_t i = 0; i < ir_op_get(r->m, user)->n_operands; i++) {
    split_factor f;
    if (ir_operand(r->m, user, i) != v || is_read_shifted(r, user, i, pos)) continue;
    if (trace(r, user, false, i, pos, &f)) add_member(r, user, &f);
  }
}

static bool is_nested(split_pos a, split_pos b) {
  return split_contains(a, b) || split_contains(b, a);
}

/* One window with both costs no more than their margins. */
static bool is_near(split_pos a, split_pos b) {
  if (a.dim != b.dim || a.dim < 0 || a.unit != b.unit || a.mirrored || b.mirrored) return false;
  int64_t gap =
      max64(a.offset, b.offset) - min64(a.offset + max64(0, a.more), b.offset + max64(0, b.more));
  return gap <= max64(a.unit, max64(a.more, b.more));
}

/* Another window has it as its part. */
static bool is_merged(const split_region *r, const split_instance *at) {
  return r->merges && at->traced &&
         !split_pos_equal(at->factor.results[ir_value_get(r->m, at->value)->index], at->pos);
}

/* Of those that this one is no part of, nor they of it. Of a value whose windows merge those that
 * are near will, and those in other units are few. out_all: of all. */
static int positions_of(const split_region *r, ir_value v, split_pos pos, int *out_all) {
  bool merges = r->merges && split_is_large(r, v);
  int n = 0;
  *out_all = 0;
  for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next) {
    const split_instance *at = &r->instances.at[i - 1];
    ++*out_all;
    if (is_merged(r, at) || is_nested(pos, at->pos)) continue;
    n += !merges || (at->pos.unit == pos.unit && !is_near(pos, at->pos));
  }
  return n;
}

/* What has grown stays as it is: loops that are being made may ask for a position more. Where
 * windows merge and no more members come, what has many is read from outside. */
static void refuse_many(split_region *r, ir_value v, split_instance *instance) {
  int all = 0, positions = r->may_shift ? positions_of(r, v, instance->pos, &all) : 0;
  if (r->instances.count >= MOST_INSTANCES || all >= MOST_POSITIONS)
    r->failed = r->too_large = true;
  r->has_many |= positions > 0;
  if (positions < MOST_SHIFTED) return;
  if (r->merges && r->is_closed) instance->traced = false;
  else r->failed = true;
}

static bool has_users_outside(const split_region *r, ir_value v) {
  for (uint32_t i = r->state->users.first[v]; i < r->state->users.first[v + 1]; i++)
    if (!r->member_of[r->state->users.ops[i]]) return true;
  return false;
}

/* A window that small values ask for when all hulls are known is a part of one; else the value is
 * read, if it is put out anyhow. */
static void settle_late(const split_region *r, ir_value v, split_instance *late) {
  if (!late->traced || late->factor.carried || !split_is_large(r, v)) return;
  for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next) {
    const split_instance *at = &r->instances.at[i - 1];
    if (!at->traced || at->factor.carried || !split_contains(at->pos, late->pos)) continue;
    late->factor = at->factor;
    return;
  }
  late->traced = !has_users_outside(r, v);
}

static split_instance *new_instance(split_region *r, ir_value v, split_pos pos) {
  split_instance instance = {
      .value = v, .pos = pos, .body_stage = -1, .emitted_in = -1, .next = r->first_instance[v]};
  ir_op op = ir_value_get(r->m, v)->op;
  if (op && ir_is_made_in(r->m, v, r->block) && pos.dim >= 0)
    instance.traced = trace(r, op, true, ir_value_get(r->m, v)->index, pos, &instance.factor) &&
                      instance.factor.role == SPLIT_PARALLEL;
  if (!r->is_grown) refuse_many(r, v, &instance);
  if (r->merges && r->is_closed) settle_late(r, v, &instance);
  VEC_PUSH(r->scratch, &r->instances, instance);
  r->first_instance[v] = r->instances.count;
  return &r->instances.at[r->instances.count - 1];
}

static split_instance *find_instance(split_region *r, ir_value v, split_pos pos) {
  for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next)
    if (split_pos_equal(r->instances.at[i - 1].pos, pos)) return &r->instances.at[i - 1];
  return NULL;
}

split_instance *split_instance_get(split_region *r, ir_value v, split_pos pos) {
  split_instance *found = find_instance(r, v, pos);
  return found ? found : new_instance(r, v, pos);
}

/* ---- windows of a value that are near each other ---- */
static bool is_margin(const split_instance *at) { return at->traced && !at->factor.carried; }

static split_pos hull_of(split_pos a, split_pos b) {
  split_pos hull = a;
  hull.offset = min64(a.offset, b.offset);
  hull.more = max64(a.offset + a.more, b.offset + b.more) - hull.offset;
  return split_with_core(hull, a.offset + a.core);
}

/* Of the window and all that are near what it comes to. */
static split_pos hull_around(const split_region *r, ir_value v, split_pos pos) {
  split_pos hull = pos;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next) {
      const split_instance *at = &r->instances.at[i - 1];
      if (!is_margin(at) || split_contains(hull, at->pos) || !is_near(hull, at->pos)) continue;
      hull = hull_of(hull, at->pos);
      again = true;
    }
  }
  return hull;
}

static void push_pending(split_region *r, uint32_t index);

/* The value with the hull; NULL: its op can't make it so. */
static const split_instance *find_whole(split_region *r, ir_value v, split_pos hull) {
  const ir_value_data *d = ir_value_get(r->m, v);
  const split_instance *whole = find_instance(r, v, hull);
  split_factor f;
  if (whole) return whole->traced ? whole : NULL;
  if (!trace(r, d->op, true, d->index, hull, &f) || f.role != SPLIT_PARALLEL) return NULL;
  whole = new_instance(r, v, hull);
  push_pending(r, r->instances.count - 1);
  return whole;
}

/* The value is made once, with the hull, of which the others are parts; if it can be made so. */
static void merge_windows(split_region *r, ir_value v, split_pos pos) {
  split_pos hull = hull_around(r, v, pos);
  const split_instance *whole = find_whole(r, v, hull);
  if (!whole) return;
  CTX_CHECK(r->m->ctx, whole->traced && (pos.mirrored || split_contains(hull, pos)));
  split_factor f = whole->factor;
  for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next) {
    split_instance *at = &r->instances.at[i - 1];
    if (at->factor.carried || !split_contains(hull, at->pos)) continue;
    at->traced = true;
    at->factor = f;
  }
}

/* What one growth can't do with and another could: windows with margins that lie across each other,
 * or many. Or what it makes twice. */
static void note_crowd(split_region *r, ir_value v, split_pos pos) {
  int across = 0, n = 0;
  for (uint32_t i = r->first_instance[v]; i; i = r->instances.at[i - 1].next) {
    const split_instance *at = &r->instances.at[i - 1];
    if (split_pos_equal(at->pos, pos) || !is_margin(at) || !is_near(at->pos, pos)) continue;
    across += !is_nested(at->pos, pos) && at->pos.more + pos.more > 0;
    r->makes_twice |= !is_nested(at->pos, pos);
    n++;
  }
  r->is_crowded |= across || n >= MOST_SHIFTED;
  r->failed |= n >= MOST_SHIFTED;
}

static void visit(split_region *r, ir_value v, split_pos pos) {
  if (r->failed || find_instance(r, v, pos)) return;
  new_instance(r, v, pos);
  push_pending(r, r->instances.count - 1);
  if (r->merges) merge_windows(r, v, pos);
  else if (r->may_overlap) note_crowd(r, v, pos);
}

/* ---- what is still to be looked at ---- */
/* If anything may be shifted a heap, the last of the program on top: so users have asked for what
 * they need of a value before it asks for what it is made of. */
static uint32_t place_of(const split_region *r, uint32_t i) {
  return r->place[ir_value_get(r->m, r->instances.at[r->pending.at[i]].value)->op];
}

static void swap_pending(split_region *r, uint32_t i, uint32_t k) {
  uint32_t index = r->pending.at[i];
  r->pending.at[i] = r->pending.at[k];
  r->pending.at[k] = index;
}

static void push_pending(split_region *r, uint32_t index) {
  VEC_PUSH(r->scratch, &r->pending, index);
  for (uint32_t i = r->pending.count - 1; r->place && i; i = (i - 1) / 2) {
    if (place_of(r, i) <= place_of(r, (i - 1) / 2)) return;
    swap_pending(r, i, (i - 1) / 2);
  }
}

static uint32_t pop_pending(split_region *r) {
  uint32_t n = r->pending.count - 1, top = r->pending.at[r->place ? 0 : n];
  if (r->place) swap_pending(r, 0, n);
  r->pending.count = n;
  for (uint32_t i = 0, k; r->place && (k = 2 * i + 1) < n; i = k) {
    k += k + 1 < n && place_of(r, k + 1) > place_of(r, k);
    if (place_of(r, i) >= place_of(r, k)) break;
    swap_pending(r, i, k);
  }
  return top;
}

/* Users are followed from a value's first position only: a second one (K + K^T) is made for the
 * member that asked, not for everyone. */
static void close_over(split_region *r, uint32_t index) {
  split_instance instance = r->instances.at[index];
  if (instance.traced) add_member(r, ir_value_get(r->m, instance.value)->op, &instance.factor);
  if (instance.next) return;
  for (uint32_t i = r->state->users.first[instance.value];
       i < r->state->users.first[instance.value + 1]; i++)
    visit_user(r, r->state->users.ops[i], instance.value, instance.pos);
}

/* ---- members whose windows lack elements of their slices ---- */
bool split_is_partial(const split_region *r, const split_member *member) {
  for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_results; j++)
    if (member->factor.results[j].dim >= 0 && member->factor.results[j].more < 0) return true;
  return false;
}

static bool has_whole_member(const split_region *r, ir_op op) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (!split_is_partial(r, k)) return true;
  return false;
}

/* The op on its whole slices, if somebody outside reads one of its results. */
static void add_whole(split_region *r, ir_op op, const split_factor *partial) {
  const ir_op_data d = *ir_op_get(r->m, op);
  split_factor f;
  for (uint32_t j = 0; j < d.n_results; j++) {
    split_pos pos = partial->results[j];
    if (pos.dim < 0 || !has_users_outside(r, d.first_result + j)) continue;
    if (trace(r, op, true, j, split_core(pos), &f) && f.role == SPLIT_PARALLEL)
      add_member(r, op, &f);
    return;
  }
}

const split_member *split_reduced_member(const split_region *r, ir_op op, int32_t stage) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (k->factor.role == SPLIT_REDUCED && k->stage == stage) return k;
  return NULL;
}

/* What a stride passes over is not read: a window may end before its slice does. Slices that are
 * put out one behind the other have all elements. */
static void add_whole_ones(split_region *r) {
  for (uint32_t i = 0; i < r->members.count && !r->failed; i++) {
    split_member member = r->members.at[i];
    if (!split_is_partial(r, &member) || has_whole_member(r, member.op)) continue;
    add_whole(r, member.op, &member.factor);
    while (r->pending.count && !r->failed) close_over(r, pop_pending(r));
  }
}

/* ---- stages ---- */
typedef struct used_values { /* by an op and all below it, from outside it */
  split_region *r;
  int32_t stage;
} used_values;

static void note_stage(const ir_module *m, ir_op op, void *user) {
  used_values *u = user;
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_value v = d->operands[i];
    if (!ir_is_made_in(u->r->m, v, u->r->block)) continue;
    int32_t s = split_outside_stage(u->r, v);
    if (s > u->stage) u->stage = s;
  }
}

static int32_t stage_after_operands(split_region *r, ir_op op) {
  used_values u = {r, 0};
  if (ir_kind_of(r->m, op) == IR_OP_LOOP) note_stage(r->m, op, &u); /* reads its operands alone */
  else ir_walk_op(r->m, op, note_stage, &u);
  return u.stage;
}

static int32_t member_stage(split_region *r, uint32_t index) {
  split_member *member = &r->members.at[index];
  if (member->stage >= 0) return member->stage;
  ir_op op = member->op;
  split_factor f = member->factor;
  int32_t stage = 0;
  for (uint32_t i = 0; i < ir_op_get(r->m, op)->n_operands; i++) {
    int32_t s = split_instance_stage(r, ir_operand(r->m, op, i), f.operands[i]);
    if (s > stage) stage = s;
  }
  /* What it waits for was put out by the loops just before its own. */
  online_terms terms;
  if (r->may_stream && stage > 0 && stage < SPLIT_NEVER &&
      stream_member(r, &r->members.at[index], stage - 1, &terms)) {
    r->members.at[index].streams = ARENA_COPY(r->scratch, online_terms, &terms, 1);
    stage--;
  }
  return r->members.at[index].stage = stage;
}

/* The earliest stage after which one of the value's members has put it out. */
static int32_t stage_put_out(split_region *r, ir_op op) {
  int32_t best = SPLIT_NEVER;
  for (uint32_t i = r->member_of[op]; i; i = r->members.at[i - 1].next) {
    if (split_is_partial(r, &r->members.at[i - 1])) continue;
    int32_t s = member_stage(r, i - 1);
    if (s < SPLIT_NEVER && s + 1 < best) best = s + 1;
  }
  return best;
}

int32_t split_outside_stage(split_region *r, ir_value v) {
  if (!ir_is_made_in(r->m, v, r->block)) return 0;
  CTX_CHECK(r->m->ctx, r->outside_stage[v] >= 0);
  return r->outside_stage[v];
}

static int32_t body_stage(split_region *r, ir_value v, split_pos pos) {
  split_instance instance = *split_instance_get(r, v, pos);
  if (!instance.traced || r->failed) return SPLIT_NEVER;
  if (instance.body_stage >= 0) return instance.body_stage;
  ir_op op = ir_value_get(r->m, v)->op;
  int32_t stage = 0;
  for (uint32_t i = 0; i < ir_op_get(r->m, op)->n_operands; i++) {
    int32_t s = split_instance_stage(r, ir_operand(r->m, op, i), instance.factor.operands[i]);
    if (s > stage) stage = s;
  }
  return split_instance_get(r, v, pos)->body_stage = stage;
}

/* A large value of the region is read from outside only if there is no other way: that holds it in
 * memory. Or if it is there anyway, and making it anew would hold another one in its place. */
static bool is_dissolved(split_region *r, ir_value v) {
  return split_is_large(r, v) && ir_is_made_in(r->m, v, r->block) &&
         r->member_of[ir_value_get(r->m, v)->op] && !r->is_kept[v];
}

int32_t split_instance_stage(split_region *r, ir_value v, split_pos pos) {
  if (!ir_is_made_in(r->m, v, r->block)) return 0;
  if (pos.dim < 0) return split_outside_stage(r, v);
  if (is_dissolved(r, v)) {
    int32_t inside = body_stage(r, v, pos);
    return inside < SPLIT_NEVER ? inside : split_outside_stage(r, v);
  }
  int32_t outside = split_outside_stage(r, v);
  if (outside == 0 || r->is_kept[v]) return outside;
  int32_t inside = body_stage(r, v, pos);
  return inside < outside ? inside : outside;
}

bool split_is_inside(split_region *r, ir_value v, split_pos pos, int32_t stage) {
  if (!ir_is_made_in(r->m, v, r->block) || pos.dim < 0) return false;
  if (is_dissolved(r, v) || (r->is_reselected && r->is_reselected[v]))
    return body_stage(r, v, pos) <= stage;
  return split_outside_stage(r, v) > stage;
}

/* In program order, so that what an op reads has its stage already. Effects keep their order: what
 * follows an effect that waits for a stage waits with it. */
static void assign_stages(split_region *r) {
  int32_t last_effect = 0;
  const ir_block_data *b = ir_block_get(r->m, r->block);
  for (uint32_t i = 0; i < b->ops.count && !r->failed; i++) {
    ir_op op = b->ops.at[i];
    for (uint32_t k = r->member_of[op]; k; k = r->members.at[k - 1].next) {
      int32_t stage = member_stage(r, k - 1);
      if (stage >= SPLIT_NEVER) r->failed = true;
      else if (stage + 1 > r->n_stages) r->n_stages = stage + 1;
    }
    bool effects = r->state->effects[op];
    int32_t stage = r->member_of[op] ? stage_put_out(r, op) : stage_after_operands(r, op);
    if (effects && stage < last_effect) stage = last_effect;
    if (effects) last_effect = stage;
    for (uint32_t j = 0; j < ir_op_get(r->m, op)->n_results; j++)
      r->outside_stage[ir_result(r->m, op, j)] = stage;
  }
}

static void sort_by_stage(split_region *r) {
  uint32_t n = r->members.count, *at = ARENA_ARRAY(r->scratch, uint32_t, (size_t)r->n_stages + 2);
  r->by_stage = ARENA_ARRAY(r->scratch, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) at[r->members.at[i].stage + 2]++;
  for (int32_t stage = 0; stage < r->n_stages; stage++) at[stage + 1] += at[stage];
  for (uint32_t i = 0; i < n; i++) r->by_stage[at[r->members.at[i].stage + 1]++] = i;
  CTX_CHECK(r->m->ctx, at[r->n_stages] == n);
  r->stage_from = at;
}

/* ---- which large values have to be put out nevertheless ---- */
static bool member_needs_whole(split_region *r, ir_op user, ir_value v) {
  for (split_member *member = split_first_member(r, user); member;
       member = split_next_member(r, member)) {
    if (member->is_idle || split_n_streams(member)) continue; /* makes what it reads itself */
    for (uint32_t j = 0; j < ir_op_get(r->m, user)->n_operands; j++)
      if (ir_operand(r->m, user, j) == v &&
          (member->factor.operands[j].dim < 0 ||
           !split_is_inside(r, v, member->factor.operands[j], member->stage)))
        return true;
  }
  return false;
}

static bool is_needed_outside(split_region *r, ir_value v) {
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++) {
    if (r->outside.is && r->outside.is[user] && r->outside.is_plain[v]) continue;
    if (!r->member_of[user] || split_uses_below(r, user, v) || member_needs_whole(r, user, v))
      return true;
  }
  return false;
}

static bool is_returned(const split_region *r, ir_value v) {
  ir_op end = ir_terminator(r->m, r->block);
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++)
    if (user == end) return true;
  return false;
}

static void hold(split_region *r, ir_value v) {
  int64_t bytes = ir_value_bytes(r->m, v);
  r->held_bytes = saturated_sum(r->held_bytes, bytes);
  if (is_returned(r, v)) r->returned_bytes = saturated_sum(r->returned_bytes, bytes);
}

static void find_held(split_region *r) {
  for (uint32_t i = 0; i < r->members.count; i++) {
    ir_op op = r->members.at[i].op;
    for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) {
      r->is_read[v] = r->state->users.first[v] < r->state->users.first[v + 1];
      if (r->needed_outside[v]) continue;
      r->needed_outside[v] = is_needed_outside(r, v);
      if (r->needed_outside[v] && split_is_large(r, v)) hold(r, v);
      if (r->needed_outside[v] && !has_whole_member(r, op)) r->failed = true;
    }
  }
}

/* ---- the indices to go over: all that results put out and reductions need, wherever they lie on
 * them ---- */
typedef struct index_range {
  int64_t begin, end;
} index_range;

/* Indices that have some element of the value are between these. */
static index_range indices_on(const ir_module *m, ir_value v, split_pos pos) {
  int64_t last = ir_type_at(m, v)->dims[pos.dim] - 1, unit = pos.unit;
  if (pos.mirrored)
    return (index_range){-floor_div(last - pos.offset, unit),
                         floor_div(pos.offset + unit - 1, unit) + 1};
  return (index_range){floor_div(-pos.offset, unit), floor_div(last - pos.offset, unit) + 1};
}

static void include(index_range *all, const ir_module *m, ir_value v, split_pos pos) {
  if (pos.dim < 0) return;
  index_range here = indices_on(m, v, pos);
  if (all->begin > here.begin) all->begin = here.begin;
  if (all->end < here.end) all->end = here.end;
}

bool split_is_put_out(const split_region *r, ir_value v) {
  bool later = r->is_read[v] && !split_is_large(r, v) && (r->n_stages > 1 || !r->may_shift);
  return later || r->needed_outside[v];
}

static bool is_summed(const split_factor *f, uint32_t result) {
  return f->role == SPLIT_REDUCED || (f->sums && f->sums[result]);
}

/* In the order in which split/loops.c meets them: what one member puts out, no other does. A sum
 * that nobody puts out is a statistic of this loop: at its end it has to be of all, too. */
static void include_member(split_region *r, const split_member *member, bool *done,
                           index_range *all) {
  const ir_op_data *d = ir_op_get(r->m, member->op);
  bool sums = false;
  if (split_is_partial(r, member)) return;
  for (uint32_t j = 0; j < d->n_results; j++) {
    ir_value v = d->first_result + j;
    bool is_sum = is_summed(&member->factor, j), put_out = split_is_put_out(r, v);
    if (put_out ? done[v] : !is_sum) continue;
    if (!is_sum && member->factor.results[j].dim < 0) continue;
    done[v] = put_out;
    sums |= is_sum;
    include(all, r->m, v, split_core(member->factor.results[j]));
  }
  if (!sums) return;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!member->factor.operands[i].more) /* else another operand says what is counted */
      include(all, r->m, d->operands[i], member->factor.operands[i]);
}

/* What is carried has no middle to begin in. */
static void include_starts(const split_region *r, index_range *all) {
  for (uint32_t i = 0; i < r->instances.count; i++) {
    const split_instance *at = &r->instances.at[i];
    if (!at->traced || !at->factor.carried) continue;
    int64_t begin = indices_on(r->m, at->value, at->pos).begin;
    if (all->begin > begin) all->begin = begin;
  }
}

static bool is_complete(const split_region *r, const split_member *member) {
  split_pos pos = member->factor.operands[0];
  return !pos.mirrored && pos.offset + r->begin * pos.unit == 0 &&
         split_extent(r->m, ir_operand(r->m, member->op, 0), pos) == r->extent;
}

static void find_range(split_region *r) {
  bool *done = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  index_range all = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < r->members.count; i++)
    include_member(r, &r->members.at[r->by_stage[i]], done, &all);
  if (all.begin >= all.end) return;
  include_starts(r, &all);
  r->begin = all.begin;
  r->extent = all.end - all.begin;
  for (uint32_t i = 0; i < r->members.count; i++)
    if (r->members.at[i].factor.role == SPLIT_REDUCED &&
        split_monoid_needs_all(r->m, r->members.at[i].op) && !is_complete(r, &r->members.at[i]))
      r->failed = true;
}

bool split_puts_out(const split_region *r, const split_member *member) {
  if (split_is_partial(r, member)) return false;
  for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_results; j++) {
    if (!member->is_idle && split_is_put_out(r, ir_result(r->m, member->op, j))) return true;
  }
  return false;
}

static void count_loops(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, (size_t)(r->n_stages * r->n_groups) + 1);
  for (uint32_t i = 0; i < r->members.count; i++) {
    const split_member *member = &r->members.at[i];
    int32_t loop = member->stage * r->n_groups + member->group;
    if (counted[loop] || !split_puts_out(r, member)) continue;
    counted[loop] = true;
    r->n_loops++;
  }
}

/* ---- how often the loops make their members ---- */
typedef struct making { /* by one loop after the other */
  split_region *r;
  int32_t stage;
  int32_t *last_made; /* by member: the last stage whose loop makes it, + 1 */
  int64_t made;
  VEC(uint32_t) pending; /* members whose operands are still to be looked at */
} making;

static void make_member(making *k, uint32_t index) {
  if (k->last_made[index] == k->stage + 1) return;
  k->last_made[index] = k->stage + 1;
  k->made++;
  VEC_PUSH(k->r->scratch, &k->pending, index);
}

static void make_operands(making *k, uint32_t index) {
  const split_region *r = k->r;
  const split_member *member = &r->members.at[index];
  const ir_op_data *d = ir_op_get(r->m, member->op);
  for (uint32_t j = 0; j < d->n_operands; j++) {
    ir_value v = d->operands[j];
    if (!split_is_inside(k->r, v, member->factor.operands[j], k->stage)) continue;
    for (uint32_t i = r->member_of[ir_value_get(r->m, v)->op]; i; i = r->members.at[i - 1].next)
      make_member(k, i - 1);
  }
}

/* What the loop of a stage puts out, and all that it has to make for it. */
static void make_stage(making *k) {
  const split_region *r = k->r;
  for (uint32_t i = r->stage_from[k->stage]; i < r->stage_from[k->stage + 1]; i++)
    if (split_puts_out(r, &r->members.at[r->by_stage[i]])) make_member(k, r->by_stage[i]);
  while (k->pending.count) make_operands(k, k->pending.at[--k->pending.count]);
}

/* Where each of many steps ends in a stage of its own, the loops are the square of the steps. */
static void refuse_repetition(split_region *r) {
  if ((int64_t)r->n_loops * r->members.count <= MOST_MADE || r->n_loops <= MOST_COPIES) return;
  int64_t most = (int64_t)MOST_COPIES * r->members.count;
  making k = {.r = r, .last_made = ARENA_ARRAY(r->scratch, int32_t, r->members.count)};
  for (; k.stage < r->n_stages && k.made <= most; k.stage++) make_stage(&k);
  r->failed = r->repeats = k.made > most && k.made > MOST_MADE;
  if (r->failed)
    ctx_log(r->m->ctx, 4, "a region of %u members in %d loops repeats too much", r->members.count,
            r->n_loops);
}

/* ---- what holds of every region that has grown ---- */
static void check_member(const split_region *r, const split_member *member) {
  const split_factor *f = &member->factor;
  const ir_op_data *d = ir_op_get(r->m, member->op);
  ctx *c = r->m->ctx;
  CTX_CHECK(c, d->block == r->block);
  CTX_CHECK(c, member->stage >= 0 && member->stage < r->n_stages);
  CTX_CHECK(c, split_n_streams(member) >= 0 && split_n_streams(member) <= ONLINE_MOST);
  for (uint32_t j = 0; f->role == SPLIT_REDUCED && j < d->n_results; j++)
    CTX_CHECK(c, f->results[j].dim < 0);
  for (uint32_t j = 0; f->sums && j < d->n_results; j++)
    CTX_CHECK(c, !f->sums[j] || f->results[j].dim < 0);
}

static void check_region(const split_region *r) {
  ctx *c = r->m->ctx;
  CTX_CHECK(c, r->pending.count == 0);
  CTX_CHECK(c, r->extent >= 0 && r->held_bytes >= 0);
  CTX_CHECK(c, r->n_loops >= 0 && r->n_loops <= r->n_stages * r->n_groups);
  CTX_CHECK(c, r->may_shift || r->begin == 0);
  for (uint32_t i = 0; i < r->members.count; i++) check_member(r, &r->members.at[i]);
  for (uint32_t i = 0; i < r->instances.count; i++) {
    const split_instance *at = &r->instances.at[i];
    CTX_CHECK(c, at->emitted_in < 0); /* nothing is built while it grows */
    CTX_CHECK(c, at->pos.core >= 0 && at->pos.core <= max64(0, at->pos.more));
    CTX_CHECK(c, !at->traced || at->factor.role == SPLIT_PARALLEL);
  }
}

split_state split_state_of(arena *a, const ir_module *m, int64_t threshold_bytes) {
  uint32_t n = m->values.count;
  bool *large = ARENA_ARRAY(a, bool, n);
  for (ir_value v = 1; v < n; v++) large[v] = is_large(m, v, threshold_bytes);
  return (split_state){.a = a,
                       .n_values = n,
                       .large = large,
                       .traced = ARENA_ARRAY(a, split_traced **, m->ops.count)};
}

void split_state_enter(split_state *s, const ir_module *m, ir_block block) {
  if (s->block == block) return;
  bool *effects = ARENA_ARRAY(s->a, bool, m->ops.count);
  const ir_block_data *b = ir_block_get(m, block);
  for (uint32_t i = 0; i < b->ops.count; i++)
    effects[b->ops.at[i]] = ir_has_effects(m, b->ops.at[i]);
  s->users = ir_users_of_block(s->a, m, block);
  s->effects = effects;
  s->block = block;
}

typedef enum grow_how {
  IN_PLACE, /* nothing is shifted */
  SHIFTED,
  MERGED /* and of windows that are near each other one is made */
} grow_how;

static void note_places(split_region *r) {
  const ir_block_data *b = ir_block_get(r->m, r->block);
  r->place = ARENA_ARRAY(r->scratch, uint32_t, r->m->ops.count);
  for (uint32_t i = 0; i < b->ops.count; i++) r->place[b->ops.at[i]] = i;
}

static split_region *region_new(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                                split_pos pos, const split_growth *g, grow_how how) {
  split_region *r = ARENA_NEW(scratch, split_region);
  *r = (split_region){.m = m,
                      .block = block,
                      .scratch = scratch,
                      .state = g->state,
                      .threshold_bytes = g->threshold_bytes,
                      .large = g->state->large,
                      .n_values = g->state->n_values,
                      .seed = seed,
                      .seed_pos = pos,
                      .may_stream = g->may_stream,
                      .may_sort = g->may_sort,
                      .no_kernels = g->no_kernels,
                      .covers = g->covers,
                      .may_shift = how != IN_PLACE,
                      .may_overlap = how != IN_PLACE && !g->no_overlaps,
                      .merges = how == MERGED};
  r->extent = split_extent(m, seed, pos);
  r->first_instance = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  r->first_stream = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  r->member_of = ARENA_ARRAY(scratch, uint32_t, m->ops.count);
  r->outside_stage = ARENA_ARRAY(scratch, int32_t, m->values.count);
  r->needed_outside = ARENA_ARRAY(scratch, bool, m->values.count);
  r->is_read = ARENA_ARRAY(scratch, bool, m->values.count);
  r->is_kept = ARENA_ARRAY(scratch, bool, m->values.count);
  if (g->no_kernels) r->is_reselected = ARENA_ARRAY(scratch, bool, m->values.count);
  memset(r->outside_stage, 0xff, m->values.count * sizeof *r->outside_stage);
  if (r->may_shift) note_places(r);
  return r;
}

static split_region *grow_once(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                               split_pos pos, const split_growth *g, grow_how how, bool may_keep,
                               split_outside outside) {
  split_region *r = region_new(scratch, m, block, seed, pos, g, how);
  r->outside = outside;
  visit(r, seed, pos);
  while (r->pending.count && !r->failed) close_over(r, pop_pending(r));
  add_whole_ones(r);
  r->is_closed = true;
  if (r->members.count == 0) r->failed = true;
  if (!r->failed && may_keep) split_find_kept(r);
  if (!r->failed) assign_stages(r);
  if (!r->failed) sort_by_stage(r);
  if (!r->failed && r->keeps_any) split_find_idle(r);
  if (!r->failed) find_held(r);
  if (!r->failed && r->may_shift) find_range(r);
  if (!r->failed) split_find_groups(r);
  if (!r->failed) count_loops(r);
  if (!r->failed) refuse_repetition(r);
  if (!r->failed) check_region(r);
  r->is_grown = true;
  m->ctx->looked_at += r->instances.count + ir_block_get(m, block)->ops.count;
  return r;
}

/* Of a region without kept values: whether some would be. */
static bool would_keep(split_region *r) {
  split_find_kept(r);
  bool any = r->keeps_any;
  memset(r->is_kept, 0, r->m->values.count * sizeof *r->is_kept);
  r->keeps_any = false;
  return any;
}

/* What stays outside is an input of the region. What is kept costs a loop more: only where less is
 * held for it. A region that can't be without it would keep a value for each of its many members:
 * smaller ones hold less. */
static split_region *grow(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                          split_pos pos, const split_growth *g, grow_how how) {
  split_region *r = grow_once(scratch, m, block, seed, pos, g, how, false, (split_outside){0});
  if (r->failed || !r->held_bytes) return r;
  split_outside outside;
  if (split_find_outside(r, &outside)) {
    split_region *s = grow_once(scratch, m, block, seed, pos, g, how, false, outside);
    if (!s->failed && s->held_bytes < r->held_bytes) r = s;
  }
  if (!would_keep(r)) return r;
  split_region *kept = grow_once(scratch, m, block, seed, pos, g, how, true, r->outside);
  return !kept->failed && kept->held_bytes < r->held_bytes ? kept : r;
}

static bool is_part_of_argument(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  for (; op; op = ir_value_get(r->m, v)->op) {
    ir_kind kind = ir_kind_of(r->m, op);
    if (kind != IR_OP_RESHAPE && kind != IR_OP_SLICE) return false;
    v = ir_operand(r->m, op, 0);
  }
  return true;
}

/* Counts a large value of the block once. A part of an argument that is read whole, or that not
 * even shifted slices can be read of, is there in any case. */
static void count_stuck(const split_region *r, ir_value v, bool is_whole, bool *counted,
                        int64_t *in_out_bytes) {
  if (counted[v] || r->needed_outside[v] || !ir_is_made_in(r->m, v, r->block) ||
      !split_is_large(r, v))
    return;
  if (is_whole && is_part_of_argument(r, v)) return;
  counted[v] = true;
  if (__builtin_add_overflow(*in_out_bytes, ir_value_bytes(r->m, v), in_out_bytes))
    *in_out_bytes = INT64_MAX;
}

/* What is sorted is read slice by slice, each made anew. */
static bool is_read_in_parts(const split_region *r, const split_member *member, uint32_t operand) {
  const split_factor *f = &member->factor;
  return split_is_sorted(r->m, member->op, f) &&
         split_can_make_part(r->m, r->block, ir_operand(r->m, member->op, operand),
                             f->results[0].dim, r->threshold_bytes);
}

/* Large values that stay in memory: put out, made outside and read whole, or read at a position
 * where nobody in the region makes them. */
static int64_t stuck_bytes(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  int64_t total = r->held_bytes;
  if (r->failed) return INT64_MAX;
  for (uint32_t i = 0; i < r->instances.count; i++) {
    const split_instance *at = &r->instances.at[i];
    if (!at->traced) count_stuck(r, at->value, r->may_shift || at->pos.dim < 0, counted, &total);
  }
  for (uint32_t i = 0; i < r->members.count; i++) {
    const split_member *member = &r->members.at[i];
    for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_operands; j++)
      if (member->factor.operands[j].dim < 0 && !member->is_idle && !is_read_in_parts(r, member, j))
        count_stuck(r, ir_operand(r->m, member->op, j), true, counted, &total);
  }
  return total;
}

/* What loops are made of has parts that they put together; doing those by parts again would make as
 * many anew. */
static bool is_within_loop(const ir_module *m, ir_block block) {
  for (ir_op op = ir_block_get(m, block)->parent; op;) {
    if (ir_kind_of(m, op) == IR_OP_LOOP) return true;
    ir_block outer = ir_op_get(m, op)->block;
    op = outer ? ir_block_get(m, outer)->parent : IR_NONE;
  }
  return false;
}

/* Some other window that loops make has all of it. */
static bool is_part_of_another(const split_region *r, const split_instance *at) {
  for (uint32_t i = r->first_instance[at->value]; i; i = r->instances.at[i - 1].next) {
    const split_instance *k = &r->instances.at[i - 1];
    if (k != at && is_margin(k) && split_contains(k->pos, at->pos)) return true;
  }
  return is_merged(r, at);
}

/* Of large values, each as often as loops make a window of its own of it. */
static double made_bytes(const split_region *r) {
  double bytes = 0;
  for (uint32_t i = 0; i < r->instances.count; i++) {
    const split_instance *at = &r->instances.at[i];
    if (at->traced && split_is_large(r, at->value) && !is_part_of_another(r, at))
      bytes += (double)ir_value_bytes(r->m, at->value);
  }
  return bytes;
}

/* Where windows lie across each other, or beside each other and something is held, the value is
 * made once, if that leaves no more in memory; elsewhere if besides less is made, in no more loops.
 */
static split_region *grow_shifted(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                                  split_pos pos, const split_growth *g) {
  split_region *r = grow(scratch, m, block, seed, pos, g, SHIFTED);
  bool for_room = r->is_crowded || (r->overlaps && r->has_many && stuck_bytes(r));
  if (!for_room && (!r->makes_twice || r->failed)) return r;
  split_region *s = grow(scratch, m, block, seed, pos, g, MERGED);
  bool is_less = for_room || (s->n_loops <= r->n_loops && made_bytes(s) < made_bytes(r)),
       is_taken = !s->failed && stuck_bytes(s) <= stuck_bytes(r) && is_less;
  ctx_log(m->ctx, 5, "windows that lie across each other, or near: made as one%s",
          is_taken ? "" : " would leave more, or make as much");
  return is_taken ? s : r;
}

split_region *split_region_grow(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                                split_pos pos, const split_growth *g) {
  bool may_shift = !g->covers && !is_within_loop(m, block) && !split_is_spread(m, block);
  split_region *r = g->is_ragged ? grow_shifted(scratch, m, block, seed, pos, g)
                                 : grow(scratch, m, block, seed, pos, g, IN_PLACE);
  int64_t stuck = stuck_bytes(r);
  r->failed |= g->is_ragged && !may_shift;
  if (stuck == 0 || !may_shift || g->is_ragged) return r;
  split_region *s = grow_shifted(scratch, m, block, seed, pos, g);
  ctx_log(m->ctx, 5, "held and read as wholes: %lld bytes in slices, %lld shifted",
          (long long)stuck, (long long)stuck_bytes(s));
  return stuck_bytes(s) < stuck ? s : r;
}
