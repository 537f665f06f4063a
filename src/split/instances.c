#include "split/instances.h"

#include "base/ints.h"
#include "split/state.h"

enum {
  MOST_INSTANCES = 100000,
  MOST_POSITIONS = 128, /* of one value: a bound of time, which no program of the corpus meets */
  MOST_SHIFTED = 8      /* positions of one value, each computed anew */
};

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

void split_visit_again(split_region *r, uint32_t index) { push_pending(r, index); }

uint32_t split_next_pending(split_region *r) {
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

/* ---- positions of one value ---- */
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

static bool is_margin(const split_instance *at) { return at->traced && !at->factor.carried; }

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
  if (positions < MOST_SHIFTED || !instance->traced) return;
  r->is_crowded |= r->may_overlap && !r->merges;
  if (r->merges && r->is_closed) instance->traced = false;
  else r->failed = true, r->crowd = v != r->seed ? v : IR_NONE;
}

bool split_has_users_outside(const split_region *r, ir_value v) {
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
  late->traced = !split_has_users_outside(r, v);
}

static split_instance *new_instance(split_region *r, ir_value v, split_pos pos) {
  split_instance instance = {
      .value = v, .pos = pos, .body_stage = -1, .emitted_in = -1, .next = r->first_instance[v]};
  ir_op op = ir_value_get(r->m, v)->op;
  if (op && ir_is_made_in(r->m, v, r->block) && pos.dim >= 0)
    instance.traced = split_ask(r, op, true, ir_value_get(r->m, v)->index, pos, &instance.factor) &&
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

/* The value with the hull; NULL: its op can't make it so. */
static const split_instance *find_whole(split_region *r, ir_value v, split_pos hull) {
  const ir_value_data *d = ir_value_get(r->m, v);
  const split_instance *whole = find_instance(r, v, hull);
  split_factor f;
  if (whole) return whole->traced ? whole : NULL;
  if (!split_ask(r, d->op, true, d->index, hull, &f) || f.role != SPLIT_PARALLEL) return NULL;
  whole = new_instance(r, v, hull);
  push_pending(r, r->instances.count - 1);
  return whole;
}

/* The value is made once, with the hull, of which the others are parts; if it can be made so. */
static void merge_windows(split_region *r, ir_value v, split_pos pos) {
  split_pos hull = hull_around(r, v, pos);
  const split_instance *whole = find_whole(r, v, hull);
  if (!whole) return;
  CTX_CHECK(r->m->ctx, whole->traced && split_contains(hull, pos));
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

bool split_leads_on(const split_region *r, ir_value v) {
  ir_op end = ir_terminator(r->m, r->block);
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++)
    if (user != end) return true;
  return false;
}

void split_visit(split_region *r, ir_value v, split_pos pos) {
  if (r->failed || find_instance(r, v, pos)) return;
  r->may_differ |= r->first_instance[v] && split_leads_on(r, v);
  new_instance(r, v, pos);
  push_pending(r, r->instances.count - 1);
  if (r->merges) merge_windows(r, v, pos);
  else if (r->may_overlap) note_crowd(r, v, pos);
}

/* Some other window that loops make has all of it. */
static bool is_part_of_another(const split_region *r, const split_instance *at) {
  for (uint32_t i = r->first_instance[at->value]; i; i = r->instances.at[i - 1].next) {
    const split_instance *k = &r->instances.at[i - 1];
    if (k != at && is_margin(k) && split_contains(k->pos, at->pos)) return true;
  }
  return is_merged(r, at);
}

double split_made_bytes(const split_region *r) {
  double bytes = 0;
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances); at++)
    if (at->traced && split_is_large(r, at->value) && !is_part_of_another(r, at))
      bytes += (double)ir_value_bytes(r->m, at->value);
  return bytes;
}
