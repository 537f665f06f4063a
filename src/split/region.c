#include "split/region.h"

#include "base/ints.h"
#include "machine/tuned.h"
#include "split/apart.h"
#include "split/closure.h"
#include "split/cuts.h"
#include "split/held.h"
#include "split/instances.h"
#include "split/kept.h"
#include "split/range.h"
#include "split/repeats.h"
#include "split/shards.h"
#include "split/spans.h"
#include "split/stages.h"

enum {
  MOST_CROWDS =
      4, /* values that a region reads from outside since it needs them at many positions */
  MOST_COPIES = 16, /* of a member on average, in the loops of a region */
  MOST_MADE = 4096, /* of fewer members together loops may make any number of copies */
  MADE_FREELY = 256 /* of fewer, cuts are not looked for either */
};

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
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances); at++) {
    CTX_CHECK(c, at->emitted_in < 0); /* nothing is built while it grows */
    CTX_CHECK(c, at->pos.core >= 0 && at->pos.core <= max64(0, at->pos.more));
    CTX_CHECK(c, !at->traced || at->factor.role == SPLIT_PARALLEL);
  }
}

/* What loops are made of has parts that they put together; doing those by parts again would make as
 * many anew. */
static bool is_within_loop(const ir_module *m, ir_block block) {
  return ir_is_within(m, block, IR_OP_LOOP);
}

typedef enum grow_how {
  IN_PLACE, /* nothing is shifted */
  SHIFTED,
  MERGED /* and of windows that are near each other one is made */
} grow_how;

static void note_places(split_region *r) {
  r->place = ARENA_ARRAY(r->scratch, uint32_t, r->m->ops.count);
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++) r->place[op] = i;
}

static split_region *region_new(const split_growth *g, grow_how how) {
  arena *scratch = g->scratch;
  const ir_module *m = g->m;
  split_region *r = ARENA_NEW(scratch, split_region);
  *r = (split_region){.m = g->m,
                      .block = g->block,
                      .scratch = scratch,
                      .state = g->state,
                      .goal = *g->goal,
                      .large = g->state->large,
                      .n_values = g->state->n_values,
                      .seed = g->seed,
                      .seed_pos = g->pos,
                      .may_shift = how != IN_PLACE,
                      .may_overlap = how != IN_PLACE && !g->no_overlaps,
                      .merges = how == MERGED};
  r->goal.may_sort &= !is_within_loop(m, g->block);
  r->extent = split_extent(m, g->seed, g->pos);
  r->first_instance = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  r->first_stream = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  r->member_of = ARENA_ARRAY(scratch, uint32_t, m->ops.count);
  r->outside_stage = ARENA_ARRAY(scratch, int32_t, m->values.count);
  r->needed_outside = ARENA_ARRAY(scratch, bool, m->values.count);
  r->is_read = ARENA_ARRAY(scratch, bool, m->values.count);
  r->is_passed_on = ARENA_ARRAY(scratch, bool, m->values.count);
  r->is_kept = ARENA_ARRAY(scratch, bool, m->values.count);
  r->again = ARENA_ARRAY(scratch, uint8_t, m->values.count);
  memset(r->outside_stage, 0xff, m->values.count * sizeof *r->outside_stage);
  if (r->may_shift) note_places(r);
  return r;
}

/* ---- the loops ---- */
static void find_outputs(split_region *r) {
  if (!r->failed) split_find_held(r);
  if (!r->failed && r->may_shift) split_find_range(r);
}

/* Of known outputs. Where each of many steps ends in a stage of its own, the loops are the square
 * of the steps. */
static void count_loops(split_region *r) {
  if (!r->failed) split_find_groups(r);
  if (!r->failed) split_count_loops(r);
  if (!r->failed) r->failed = r->repeats = split_repeats(r, MOST_COPIES, MOST_MADE);
}

static void find_loops(split_region *r) {
  find_outputs(r);
  count_loops(r);
}

static void forget_loops(split_region *r) {
  memset(r->needed_outside, 0, r->m->values.count * sizeof *r->needed_outside);
  for (uint32_t i = 0; i < r->members.count; i++) r->members.at[i].group = 0;
  r->held_bytes = 0;
  r->n_held = r->n_loops = 0;
  r->failed = r->repeats = false;
}

/* In segments of so many stages; whether their cuts have room. Where they have none, which loops
 * belong together is not asked: that takes longest. */
static bool cut_in(split_region *r, int32_t segment, int64_t room_bytes) {
  split_cut_stages(r, segment);
  forget_loops(r);
  find_outputs(r);
  r->m->ctx->looked_at += r->members.count;
  int64_t bytes = r->failed ? INT64_MAX : split_cut_bytes(r);
  ctx_log(r->m->ctx, 5, "%d stages in segments of %d: cuts of %lld bytes", r->n_stages, segment,
          (long long)bytes);
  if (bytes > room_bytes) return false;
  count_loops(r);
  return !r->failed;
}

/* In the shortest segments whose cuts have room; false: there are none. */
static bool cut_in_segments(split_region *r, int64_t room_bytes) {
  for (int32_t segment = 1; segment < r->n_stages; segment += (segment + 1) / 2)
    if (cut_in(r, segment, room_bytes)) return true;
  return false;
}

/* In segments or by a schedule of spans, whichever makes less; where none has room, not at all. */
static void cut(split_region *r, int64_t room_bytes) {
  uint32_t n = r->m->values.count;
  r->failed = false; /* for repeats alone */
  r->plan = split_plan_spans(r);
  r->is_held = ARENA_COPY(r->scratch, bool, r->needed_outside, n);
  r->is_cut = ARENA_ARRAY(r->scratch, bool, n);
  bool in_segments = cut_in_segments(r, room_bytes);
  if (!in_segments) split_clear_spans(r);
  bool in_spans = r->plan && split_choose_spans(r->plan, room_bytes, !in_segments, false);
  if (!in_segments && !in_spans) r->is_cut = NULL;
  if (in_segments && !in_spans) return;
  forget_loops(r);
  find_loops(r);
}

void split_refine_cuts(split_region *r, int64_t room_bytes) {
  if (!r->plan || r->failed) return;
  bool is_cut = r->is_cut;
  if (!is_cut) r->is_cut = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  bool is_better = split_choose_spans(r->plan, room_bytes, !is_cut, true);
  if (!is_cut && !is_better) r->is_cut = NULL;
  if (!is_better) return;
  forget_loops(r);
  find_loops(r);
  CTX_CHECK(r->m->ctx, !r->failed);
}

static void cut_or_refuse(split_region *r, int64_t room_bytes) {
  bool may_cut = room_bytes > 0 && !r->may_shift && !r->keeps_any && (!r->failed || r->repeats);
  r->may_be_cut = may_cut && (r->repeats || split_repeats(r, TUNED_CUT_COPIES, MADE_FREELY));
  if (r->may_be_cut) cut(r, room_bytes);
  if (r->repeats)
    ctx_log(r->m->ctx, 4, "a region of %u members in %d loops repeats too much", r->members.count,
            r->n_loops);
}

/* Whether it is to be compared with another whose windows merge, of which has fewer loops. */
static bool may_merge(const split_region *r) {
  return r->may_shift && (r->merges || r->is_crowded || r->makes_twice || r->overlaps);
}

/* The loops of many stages, and cuts between them, take long to find: not where they would be for
 * nothing. */
static bool is_unwanted(split_region *r, const split_growth *g) {
  bool is_long =
      r->n_stages > TUNED_CUT_COPIES && (int64_t)r->n_stages * r->members.count > MADE_FREELY;
  if (r->failed || !is_long || !g->wants || may_merge(r)) return false;
  r->n_groups = 1; /* at least */
  split_count_loops(r);
  if (!g->wants(r, g->user)) {
    ctx_log(r->m->ctx, 5,
            "%d stages of %u members: whatever their loops and cuts, they are not wanted",
            r->n_stages, r->members.count);
    return true;
  }
  r->n_groups = r->n_loops = 0;
  return false;
}

static split_region *grow_once(const split_growth *g, grow_how how, bool may_keep,
                               split_outside outside) {
  split_region *r = region_new(g, how);
  r->outside = outside;
  split_close(r);
  if (!r->failed && may_keep) split_find_kept(r);
  if (!r->failed) split_find_stages(r);
  if (!r->failed && r->keeps_any) split_find_idle(r);
  find_outputs(r);
  r->is_unwanted = is_unwanted(r, g);
  if (!r->is_unwanted) count_loops(r);
  if (!r->is_unwanted) cut_or_refuse(r, g->goal->room_bytes);
  if (!r->failed) check_region(r);
  r->is_grown = true;
  g->m->ctx->looked_at += r->instances.count + ir_block_get(g->m, g->block)->ops.count;
  return r;
}

/* What is asked for at too many positions to be made at each is read from outside. */
static split_region *grow_without_crowds(const split_growth *g, grow_how how) {
  const ir_module *m = g->m;
  split_outside none = {0};
  split_region *r = grow_once(g, how, false, none);
  if (!r->crowd) return r;
  bool *is = ARENA_ARRAY(g->scratch, bool, m->ops.count);
  split_outside outside = {is, ARENA_ARRAY(g->scratch, bool, m->values.count)};
  for (int i = 0; i < MOST_CROWDS && r->crowd; i++) {
    is[ir_value_get(m, r->crowd)->op] = true;
    ctx_log(m->ctx, 4, "%s is read at too many places: from outside",
            ir_op_name(m, ir_value_get(m, r->crowd)->op));
    r = grow_once(g, how, false, outside);
    r->may_differ = true;
  }
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
static split_region *grow(const split_growth *g, grow_how how) {
  split_region *r = grow_without_crowds(g, how);
  if (r->failed || !r->held_bytes) return r;
  split_outside outside;
  if (split_find_outside(r, &outside)) {
    split_region *s = grow_once(g, how, false, outside);
    s->may_differ |= r->may_differ;
    if (!s->failed && s->held_bytes < r->held_bytes) r = s;
  }
  if (!would_keep(r)) return r;
  split_region *kept = grow_once(g, how, true, r->outside);
  kept->may_differ |= r->may_differ;
  /* as much: what it is made of is there for less long, and loops may write over it */
  int64_t most = r->goal.leaves_masks ? r->held_bytes : r->held_bytes - 1;
  return !kept->failed && kept->held_bytes <= most ? kept : r;
}

/* Where windows lie across each other, or beside each other and something is held, the value is
 * made once, if that leaves no more in memory; elsewhere if besides less is made, in no more loops.
 */
static split_region *grow_shifted(const split_growth *g) {
  split_region *r = grow(g, SHIFTED);
  bool for_room = r->is_crowded || (r->overlaps && r->has_many && split_stuck_bytes(r));
  if (!for_room && (!r->makes_twice || r->failed)) return r;
  split_region *s = grow(g, MERGED);
  bool is_less =
           for_room || (s->n_loops <= r->n_loops && split_made_bytes(s) < split_made_bytes(r)),
       is_taken = !s->failed && split_stuck_bytes(s) <= split_stuck_bytes(r) && is_less;
  ctx_log(g->m->ctx, 5, "windows that lie across each other, or near: made as one%s",
          is_taken ? "" : " would leave more, or make as much");
  return is_taken ? s : r;
}

split_region *split_region_grow(const split_growth *g) {
  bool may_shift =
      !g->goal->covers && !is_within_loop(g->m, g->block) && !split_is_spread(g->m, g->block);
  split_region *r = g->is_ragged ? grow_shifted(g) : grow(g, IN_PLACE);
  int64_t stuck = split_stuck_bytes(r);
  split_growth shifted = *g;
  r->failed |= g->is_ragged && !may_shift;
  if (stuck == 0 || !may_shift || !r->may_differ || g->is_ragged) return r;
  if (!r->is_unwanted) shifted.wants = NULL; /* the one that holds less is taken, wanted or not */
  split_region *s = grow_shifted(&shifted);
  ctx_log(g->m->ctx, 5, "held and read as wholes: %lld bytes in slices, %lld shifted",
          (long long)stuck, (long long)split_stuck_bytes(s));
  return split_stuck_bytes(s) < stuck ? s : r;
}
