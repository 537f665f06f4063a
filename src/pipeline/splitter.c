/* Which values become seeds, in which order: the largest above a threshold, or the holders of the
 * peak until it is under the limit. */
#include "base/ints.h"
#include "base/saturate.h"
#include "pipeline/kernels.h"
#include "pipeline/pipeline.h"
#include "pipeline/seeds.h"
#include "split/accumulator.h"
#include "split/axes.h"
#include "split/branches.h"
#include "split/chunks.h"
#include "split/halo.h"
#include "split/held.h"
#include "split/loops.h"
#include "split/parts.h"
#include "split/restart.h"
#include "split/shards.h"
#include "split/sink.h"
#include "split/state.h"

enum {
  MOST_ROUNDS = 200,
  MOST_GROWTH = 3 /* by copies of values for each of their uses, which have copies in turn */
};

/* Values that could not be dissolved, and what is known of their regions. */
typedef struct tried {
  seeds_tried values, states; /* states: what whiles carry on, for split_states() */
  split_memo known;
  bool has_shorter;                 /* of some choice: split/choose.h */
  int64_t added_bytes, moved_bytes; /* most parts_bytes and moved_bytes of a choice: likewise */
  bool has_cuts;                    /* of some region, or it might have: split/cuts.h */
  bool lacks_room;                  /* likewise, for more of them */
  bool makes_parts;                 /* trips of whiles do: pipeline.h */
  uint32_t most_ops; /* that a program has of which more values get copies for each use */
} tried;

static tried tried_begin(const ir_module *m) {
  arena *a = arena_create(m->ctx);
  return (tried){.values.a = a, .states.a = a, .most_ops = MOST_GROWTH * m->ops.count};
}

static void tried_end(tried *t) {
  split_forget(&t->known);
  arena_destroy(t->values.a);
}

static bool was_tried(const tried *t, ir_value v) { return seeds_was_tried(&t->values, v); }
static void mark_tried(tried *t, ir_value v) { seeds_mark_tried(&t->values, v); }
static void unmark_tried(tried *t, ir_value v) { seeds_unmark_tried(&t->values, v); }

static bool can_be_seed(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op || !ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  ir_kind kind = ir_kind_of(m, op);
  return kind != IR_OP_CONSTANT && kind != IR_OP_LOOP && kind != IR_OP_CASE && kind != IR_OP_IF;
}

/* A large value that is both sliced and put out for who reads it whole: a copy for each. */
static bool detach_held(ir_module *m, ir_block block, const split_region *r,
                        const split_goal *goal) {
  uint32_t n = m->values.count;
  for (ir_value v = 1; v < n; v++) {
    if (!r->needed_outside[v] || !split_is_large(r, v) || split_is_only_cut(r, v) ||
        !split_may_detach(r->state, m, v))
      continue;
    split_detach(m, block, &r->state->users, v, goal->threshold_bytes);
    ctx_log(m->ctx, 3, "compute %s for each of its uses", ir_op_name(m, ir_value_get(m, v)->op));
    return true;
  }
  return false;
}

/* A part of an argument that loops read whole is cut in each trip, not put together before. */
static bool sink_part(ir_module *m, ir_block block, const split_region *r, const split_goal *goal) {
  bool parts, sunk = false;
  for (ir_value v = 1; v < r->n_values && !sunk; v++)
    sunk = r->needed_outside[v] && split_is_large(r, v) && split_is_part_of_argument(m, v) &&
           split_sink(m, block, v, goal->threshold_bytes, true, &parts);
  if (sunk) ctx_log(m->ctx, 3, "sink a part of an argument into the loops that read it");
  return sunk;
}

typedef enum progress { STUCK, PREPARED, SPLIT } progress;

/* What a trip adds in blocks would be made anew for each block. */
static bool is_added_in_blocks(const ir_module *m, ir_block block, const split_goal *goal) {
  ir_op parent = ir_block_get(m, block)->parent;
  return goal->part_bytes && parent && ir_kind_of(m, parent) == IR_OP_LOOP;
}

/* The search's work is done, or the program has grown beyond use: what is not split by now stays.
 */
static bool is_at_end(const ir_module *m, const split_order *order) {
  bool is_large = order->most_ops && m->ops.count > order->most_ops;
  return is_large || (order->search_end && m->ctx->looked_at >= order->search_end);
}

/* Of loops in loops: a value that the region would put out as a whole, and that its own region,
 * along another factor, need not. Others of the region are then made anew in its loop. */
static ir_value held_for_nothing(ir_module *m, ir_block block, const split_choice *c,
                                 const split_goal *goal, tried *t) {
  const split_region *r = c->region;
  ir_value found = IR_NONE;
  if (!goal->nest) return IR_NONE;
  for (ir_value v = 1; v < r->n_values && !found; v++) {
    split_choice other;
    if (!r->needed_outside[v] || !split_is_large(r, v) || split_is_only_cut(r, v) ||
        !can_be_seed(m, v) || was_tried(t, v))
      continue;
    arena *scratch = arena_create(m->ctx); /* of each: there may be hundreds */
    bool dissolves = split_find_choice(scratch, m, block, v, goal, &t->known, &other);
    bool splits = dissolves && other.slice < other.extent;
    if (splits && other.held_bytes < c->held_bytes) found = v;
    arena_destroy(scratch);
  }
  return found;
}

/* Splits the region of one seed, or moves it to where it can be split. */
static progress split_seed(ir_module *m, ir_block block, ir_value seed, const split_goal *goal,
                           tried *t) {
  arena *scratch = arena_create(m->ctx);
  split_choice choice;
  bool found = split_choose(scratch, m, block, seed, goal, &t->known, &choice) && choice.region &&
               choice.slice < split_extent(m, seed, choice.region->seed_pos);
  bool may_copy = goal->nest && m->ops.count < t->most_ops;
  if (found && ((may_copy && detach_held(m, block, choice.region, goal)) ||
                (goal->nest && sink_part(m, block, choice.region, goal)))) {
    arena_destroy(scratch);
    return PREPARED;
  }
  ir_value first = found ? held_for_nothing(m, block, &choice, goal, t) : IR_NONE;
  if (first) {
    arena_destroy(scratch);
    mark_tried(t, first);
    progress p = split_seed(m, block, first, goal, t);
    unmark_tried(t, seed);
    return p;
  }
  if (found) {
    CTX_CHECK(m->ctx, choice.slice > 0 && choice.region->n_stages > 0);
    CTX_CHECK(m->ctx, choice.region->members.count > 0);
    ctx_log(m->ctx, 3,
            "split %s: extent %lld, slice %lld, %d stages, %u members, %d reductions, held %lld",
            ir_op_name(m, ir_value_get(m, seed)->op), (long long)choice.region->extent,
            (long long)choice.slice, choice.region->n_stages, choice.region->members.count,
            choice.reductions, (long long)choice.region->held_bytes);
    t->has_shorter |= choice.has_shorter;
    t->added_bytes = max64(t->added_bytes, choice.parts_bytes);
    t->moved_bytes = max64(t->moved_bytes, choice.moved_bytes);
    t->has_cuts |= choice.region->may_be_cut;
    t->lacks_room |= choice.region->lacks_room;
    split_build_loops(choice.region, choice.slice);
  } else if (!goal->from_states && !goal->cuts_steps && !is_added_in_blocks(m, block, goal)) {
    bool parts;
    found = split_sink(m, block, seed, goal->threshold_bytes, goal->nest, &parts);
    t->makes_parts |= found && parts;
    if (found)
      ctx_log(m->ctx, 3, "sink %s into the regions that read it",
              ir_op_name(m, ir_value_get(m, seed)->op));
  }
  arena_destroy(scratch);
  return found ? SPLIT : STUCK;
}

/* ---- what loops keep of every step ---- */
typedef struct holding { /* a value, and all that a checkpoint of its loop is told */
  ir_module *m;
  ir_value value;
  split_room room;
  split_order *order;
  split_memo *known;
} holding;

static bool checkpoint_loop(const holding *h, ir_op loop) {
  split_checkpoints made;
  if (!loop || ir_kind_of(h->m, loop) != IR_OP_WHILE) return false;
  bool done = split_checkpoint(h->m, loop, &h->room, &made);
  h->order->keeps_trips |= made.trips > 0;
  if (!done) return false;
  CTX_CHECK(h->m->ctx, 0 < made.segment && made.segment <= made.trips);
  ctx_log(h->m->ctx, 3,
          "checkpoint a while: %lld trips, %lld a segment%s, %u levels, %lld bytes less",
          (long long)made.trips, (long long)made.segment, made.is_stored ? "" : " anew",
          made.levels, (long long)made.saved_bytes);
  h->order->kept_bytes = max64(h->order->kept_bytes, made.kept_bytes);
  if (h->order->n_checkpoints < MOST_CHECKPOINTS)
    h->order->checkpoints[h->order->n_checkpoints++] = made;
  return true;
}

/* The loop that stacks the value, by any of the names that a stack has: what the loop begins with,
 * what its body has or yields, its result, what a reader's body has. */
static bool checkpoint_holder(const holding *h) {
  const ir_module *m = h->m;
  ir_block block = ir_value_block(m, h->value);
  ir_op parent = ir_block_get(m, block)->parent;
  if (checkpoint_loop(h, ir_value_get(m, h->value)->op) || checkpoint_loop(h, parent)) return true;
  uint32_t index = ir_value_get(m, h->value)->index;
  bool is_state = !ir_value_get(m, h->value)->op && parent && ir_kind_of(m, parent) == IR_OP_WHILE;
  if (is_state && checkpoint_loop(h, ir_value_get(m, ir_operand(m, parent, index))->op))
    return true;
  const ir_users *users = split_known_users(h->known, m, block, &h->order->goal);
  for (uint32_t i = users->first[h->value]; i < users->first[h->value + 1]; i++)
    if (ir_kind_of(m, users->ops[i]) == IR_OP_WHILE) return checkpoint_loop(h, users->ops[i]);
  return false;
}

static ir_block main_block(const ir_module *m) {
  ir_op f = ir_main_function(m);
  return f ? ir_body(m, f) : IR_NONE;
}

/* ---- lists of seeds, largest first, ties in program order ---- */
typedef struct seeds {
  arena *a;
  tried *tried;
  int64_t above_bytes;
  VEC(seed) list;
} seeds;

static void add_seed(seeds *s, const ir_module *m, ir_value v) {
  int64_t bytes = ir_value_bytes(m, v);
  if (bytes <= s->above_bytes || !can_be_seed(m, v) || was_tried(s->tried, v)) return;
  VEC_PUSH(s->a, &s->list,
           (seed){v, ir_op_get(m, ir_value_get(m, v)->op)->block, bytes, s->list.count});
}

static void add_results(seeds *s, const ir_module *m, ir_op op) {
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) add_seed(s, m, v);
}

/* What a while is given, and what any op reads from outside its own block. */
static void add_read_inside(seeds *s, const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_op def = ir_value_get(m, d->operands[i])->op;
    if (def && (d->kind == IR_OP_WHILE || ir_op_get(m, def)->block != d->block))
      add_seed(s, m, d->operands[i]);
  }
}

static seeds list_seeds(arena *a, const ir_module *m, ir_block top, tried *t, int64_t above_bytes,
                        void (*add)(seeds *, const ir_module *, ir_op)) {
  seeds s = {.a = a, .tried = t, .above_bytes = above_bytes};
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) add(&s, m, w.op);
  seeds_sort(s.list.at, s.list.count, false);
  return s;
}

/* ---- first: what could never be held but crosses the border of a while or a branch that can't be
 * sliced with it ---- */
static bool sink_into(ir_module *m, ir_op branching, const split_goal *goal) {
  int64_t bytes = split_branching_bytes(m, branching, goal->threshold_bytes);
  if (!bytes || !split_sink_users(m, branching, goal->threshold_bytes)) return false;
  ctx_log(m->ctx, 3, "move the readers of a %s's results, %lld bytes, into its branches",
          ir_op_name(m, branching), (long long)bytes);
  return true;
}

static bool sink_into_branches(ir_module *m, ir_block top, const split_goal *goal) {
  arena *a = arena_create(m->ctx);
  ir_ops found = {0};
  bool done = false;
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);)
    if (split_branching_bytes(m, w.op, goal->threshold_bytes) > goal->hold_bytes)
      VEC_PUSH(a, &found, w.op);
  for (uint32_t i = 0; i < found.count && !done; i++) done = sink_into(m, found.at[i], goal);
  arena_destroy(a);
  return done;
}

/* Whether its region holds less than it is; what is returned is held whatever is done. */
static bool can_dissolve(ir_module *m, const seed *x, const split_goal *goal, tried *t) {
  arena *scratch = arena_create(m->ctx);
  split_choice choice;
  bool found = split_find_choice(scratch, m, x->block, x->value, goal, &t->known, &choice) &&
               choice.held_bytes - choice.returned_bytes < x->bytes;
  arena_destroy(scratch);
  return found;
}

static bool takes_whole(const split_member *member, const ir_module *m, ir_value v) {
  for (ir_value x, i = 0; (x = ir_operand_at(m, member->op, i)); i++)
    if (x == v && member->factor.operands[i].dim < 0 && !member->is_idle) return true;
  return false;
}

/* Whether loops of its block that dissolve what v is read for hold v, as they take it whole. */
static bool is_held_for(ir_module *m, ir_block block, ir_op reader, ir_value v,
                        const split_goal *goal, tried *t) {
  bool is = false;
  for (ir_value y, i = 0; (y = ir_result_at(m, reader, i)) && !is; i++) {
    if (ir_value_bytes(m, y) <= goal->threshold_bytes || !can_be_seed(m, y)) continue;
    arena *scratch = arena_create(m->ctx);
    split_choice c;
    bool found = split_choose(scratch, m, block, y, goal, &t->known, &c) && c.region;
    for (uint32_t k = 0; found && !is && k < c.region->members.count; k++)
      is = takes_whole(&c.region->members.at[k], m, v);
    arena_destroy(scratch);
  }
  return is;
}

/* So whiles that read it, too, may: to make it anew in them would not lower the peak. */
static bool is_held_for_loops(ir_module *m, const seed *x, const split_goal *goal, tried *t) {
  const ir_users *users = split_known_users(&t->known, m, x->block, goal);
  bool is = false;
  for (ir_op reader, i = 0; !is && (reader = ir_user_at(users, x->value, i)); i++)
    is =
        ir_kind_of(m, reader) != IR_OP_WHILE && is_held_for(m, x->block, reader, x->value, goal, t);
  return is;
}

static void add_totals(seeds *s, const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) == IR_OP_WHILE) add_results(s, m, op);
}

typedef bool (*seed_trial)(ir_module *m, const seed *x, split_order *order, tried *t);

/* One after the other, each once, until one comes to something. */
static bool try_seeds(ir_module *m, ir_block top, split_order *order, tried *t, int64_t above_bytes,
                      void (*add)(seeds *, const ir_module *, ir_op), seed_trial one) {
  arena *a = arena_create(m->ctx);
  seeds s = list_seeds(a, m, top, t, above_bytes, add);
  bool done = false;
  for (uint32_t i = 0; i < s.list.count && !done && !is_at_end(m, order); i++) {
    const seed *x = &s.list.at[i];
    if (was_tried(t, x->value)) continue;
    mark_tried(t, x->value);
    done = one(m, x, order, t);
  }
  arena_destroy(a);
  return done;
}

static bool total_at(ir_module *m, const seed *x, const split_goal *goal, tried *t) {
  const ir_value_data d = *ir_value_get(m, x->value);
  if (goal->no_accumulators || !split_can_sink_accumulator(m, d.op, d.index) ||
      can_dissolve(m, x, goal, t))
    return false;
  split_sink_accumulator(m, d.op, d.index);
  ctx_log(m->ctx, 3, "readers of a while's total, %lld bytes, move to what it adds up",
          (long long)x->bytes);
  return true;
}

static bool sink_total(ir_module *m, const seed *x, split_order *order, tried *t) {
  return total_at(m, x, &order->goal, t);
}

static bool sink_seed(ir_module *m, const seed *x, split_order *order, tried *t) {
  bool parts = false,
       sunk = !can_dissolve(m, x, &order->goal, t) && !is_held_for_loops(m, x, &order->goal, t) &&
              split_sink(m, x->block, x->value, order->goal.threshold_bytes, false, &parts);
  if (sunk)
    ctx_log(m->ctx, 3, "sink %s into the regions that read it",
            ir_op_name(m, ir_value_get(m, x->value)->op));
  order->loops += parts; /* worth having even if nothing is split */
  order->makes_parts |= sunk && parts;
  return sunk;
}

static void sink_unholdable(ir_module *m, ir_block top, split_order *order) {
  for (int i = 0; i < MOST_ROUNDS && sink_into_branches(m, top, &order->goal); i++) continue;
  tried t = tried_begin(m);
  while (try_seeds(m, top, order, &t, order->goal.hold_bytes, add_totals, sink_total))
    split_forget(&t.known);
  tried_end(&t);
  t = tried_begin(m);
  while (try_seeds(m, top, order, &t, order->goal.hold_bytes, add_read_inside, sink_seed))
    split_forget(&t.known);
  tried_end(&t);
}

/* In two passes those that both directions need. */
static void restart_scans(ir_module *m, ir_block top, split_order *order) {
  const split_goal *goal = &order->goal;
  if (!goal->cuts_steps) return;
  uint32_t phases = split_restart_scans(m, top, goal);
  order->lacks_phases = phases > goal->most_phases;
}

static void make_edges(ir_module *m, ir_block top, const split_goal *goal) {
  if (split_is_spread(m, top)) return;
  int32_t n = split_make_edges(m, top, goal->threshold_bytes);
  if (n) ctx_log(m->ctx, 3, "made %d edges of large values on their own", n);
}

static void move_states(ir_module *m, ir_block top, const split_goal *goal) {
  if (!goal->carries_rows || !goal->no_kernels) return;
  int32_t n = split_move_states(m, top, goal->threshold_bytes);
  if (n) ctx_log(m->ctx, 3, "%d states are next what others are now", n);
}

static void part_axes(ir_module *m, ir_block top, const split_goal *goal) {
  if (!goal->carries_rows || !goal->no_kernels || split_is_spread(m, top)) return;
  int32_t n = split_part_axes(m, top, goal->threshold_bytes);
  if (n) ctx_log(m->ctx, 3, "%d legs of steps along several axes", n);
}

/* ---- by threshold ---- */
static bool split_one(ir_module *m, const seed *x, split_order *order, tried *t) {
  const split_goal *goal = &order->goal;
  holding h = {m, x->value, {INT64_MAX, goal->slice_bytes, -1}, order, &t->known};
  return split_seed(m, x->block, x->value, goal, t) != STUCK ||
         (!goal->no_checkpoints && checkpoint_holder(&h));
}

/* What slices are made by: as if nothing stayed on the chip and products fused with nothing, so
 * that there is something to split where XLA does not do what the estimate expects. Whole
 * arrays that are copied for loops stay there: no slice makes them smaller. */
static const device_memory *memory_of(const split_order *order, device_memory *cautious) {
  const device_memory *m = order->machine ? machine_memory(order->machine) : NULL;
  if (!m) return NULL;
  *cautious = *m;
  cautious->near_bytes = 0;
  cautious->fuses_products = false;
  cautious->near_copy_bytes = m->near_bytes;
  return cautious;
}

static int64_t estimated_bytes(arena *scratch, const ir_module *m, const split_order *order) {
  device_memory cautious;
  const device_memory *memory = memory_of(order, &cautious);
  return plan_peak_of(scratch, m, order->order, memory).total_bytes;
}

void splitter_judge(const ir_module *m, split_order *order) {
  arena *scratch = arena_create(m->ctx);
  order->peak_bytes = estimated_bytes(scratch, m, order);
  order->fits = order->peak_bytes <= order->limit_bytes;
  arena_destroy(scratch);
}

static void mark_kernels(ir_module *m, split_order *order) {
  if (order->no_kernels) return;
  order->only_kernels =
      kernels_mark_loops(m, order->machine, order->least_gain, &order->spurns_kernels);
}

void splitter_above_threshold(ir_module *m, split_order *order) {
  tried t = tried_begin(m);
  ir_block top = main_block(m);
  if (top) restart_scans(m, top, order);
  if (top) sink_unholdable(m, top, order);
  if (top) make_edges(m, top, &order->goal);
  if (top) move_states(m, top, &order->goal);
  if (top) part_axes(m, top, &order->goal);
  while (top && try_seeds(m, top, order, &t, order->goal.threshold_bytes, add_results, split_one)) {
    order->loops++;
    split_forget(&t.known);
  }
  mark_kernels(m, order);
  tried_end(&t);
  if (order->limit_bytes) splitter_judge(m, order);
}

/* ---- until it fits ---- */
/* What a while has as a result, seen from inside: the result, of the outermost such loop; else
 * IR_NONE. */
static ir_value result_around(const ir_module *m, ir_value v) {
  ir_value found = IR_NONE;
  for (;; v = found) {
    ir_block block = ir_value_block(m, v);
    ir_op loop = ir_block_get(m, block)->parent;
    if (!loop || ir_kind_of(m, loop) != IR_OP_WHILE || ir_while_body(m, loop) != block)
      return found;
    ir_op end = ir_terminator(m, block);
    uint32_t i = 0, n = ir_op_get(m, end)->n_operands;
    while (i < n && ir_operand(m, end, i) != v && ir_argument(m, block, i) != v) i++;
    if (i == n) return found;
    found = ir_result(m, loop, i);
  }
}

static progress try_seed(ir_module *m, ir_value v, const split_goal *goal, tried *t) {
  if (!v || !can_be_seed(m, v) || was_tried(t, v)) return STUCK;
  if (ir_value_bytes(m, v) <= goal->threshold_bytes) return STUCK; /* in the buffer of a larger */
  mark_tried(t, v);
  progress p = split_seed(m, ir_value_block(m, v), v, goal, t);
  if (p == PREPARED) unmark_tried(t, v);
  return p;
}

/* The results of one while, largest first. */
static progress try_results(ir_module *m, ir_op loop, const split_goal *goal, tried *t) {
  arena *a = arena_create(m->ctx);
  seeds s = {.a = a, .tried = t, .above_bytes = goal->threshold_bytes};
  add_results(&s, m, loop);
  seeds_sort(s.list.at, s.list.count, false);
  progress p = STUCK;
  for (uint32_t i = 0; i < s.list.count && p == STUCK; i++)
    p = try_seed(m, s.list.at[i].value, goal, t);
  arena_destroy(a);
  return p;
}

/* The whiles that the value is made in, the outermost first: what a trip has and does not carry may
 * have the factor of what it carries. */
static progress try_whiles_around(ir_module *m, ir_value v, const split_goal *goal, tried *t) {
  ir_op loop = ir_block_get(m, ir_value_block(m, v))->parent;
  if (!loop || ir_kind_of(m, loop) != IR_OP_WHILE) return STUCK;
  progress p = try_whiles_around(m, ir_result(m, loop, 0), goal, t);
  return p == STUCK ? try_results(m, loop, goal, t) : p;
}

/* Before anything is split: loops would put together what crosses the border. */
static bool sink_holders(ir_module *m, const plan_peak *peak, const split_goal *goal) {
  for (uint32_t i = 0; i < peak->n_holders; i++)
    if (sink_into(m, split_branching_of(m, peak->holders[i].value), goal)) return true;
  return false;
}

/* Likewise. Of loops in loops the outermost comes first: the inner ones add to what it carries. */
static bool sink_accumulator_of_holder(ir_module *m, const plan_holder *h, const split_goal *goal,
                                       tried *t) {
  ir_value around = result_around(m, h->value), v = around ? around : h->value;
  ir_op op = ir_maker(m, v, IR_OP_WHILE);
  if (!op || h->bytes <= goal->threshold_bytes) return false;
  return total_at(m, &(seed){v, ir_op_get(m, op)->block, h->bytes, 0}, goal, t);
}

/* What is sorted is read whole, and can be made anew once the sort itself goes slice by slice. */
static progress try_sorts_of(ir_module *m, ir_value v, const split_goal *goal, tried *t) {
  if (!goal->may_sort) return STUCK;
  const ir_users *users = split_known_users(&t->known, m, ir_value_block(m, v), goal);
  progress p = STUCK;
  for (uint32_t i = users->first[v]; i < users->first[v + 1] && p == STUCK; i++) {
    ir_op op = users->ops[i];
    for (uint32_t j = 0; j < ir_op_get(m, op)->n_results && p == STUCK; j++)
      if (ir_kind_of(m, op) == IR_OP_SORT) p = try_seed(m, ir_result(m, op, j), goal, t);
  }
  return p;
}

/* One holder of the peak, by its own region or that of a loop around it. */
static progress slice_holder(ir_module *m, const plan_holder *h, const split_goal *goal, tried *t) {
  progress p = goal->outside_first ? try_whiles_around(m, h->value, goal, t) : STUCK;
  if (p == STUCK) p = try_seed(m, h->value, goal, t);
  if (p == STUCK) p = try_seed(m, result_around(m, h->value), goal, t);
  if (p == STUCK) p = try_sorts_of(m, h->value, goal, t);
  if (p != STUCK && goal->may_sort) unmark_tried(t, h->value); /* others read it, too */
  return p;
}

static bool segment_holder(ir_module *m, const plan_holder *h, const split_room *room,
                           split_order *order, tried *t) {
  holding held = {m, h->value, *room, order, &t->known};
  return !order->goal.no_checkpoints && checkpoint_holder(&held);
}

/* In slices, else the loop that keeps it in segments. */
static progress split_holder(ir_module *m, const plan_holder *h, int64_t room_bytes,
                             split_order *order, tried *t) {
  const split_goal *goal = &order->goal;
  if (h->bytes <= goal->threshold_bytes || was_tried(t, h->value)) return STUCK;
  progress p = slice_holder(m, h, goal, t);
  if (p != STUCK) return p;
  mark_tried(t, h->value);
  split_room room = {room_bytes, INT64_MAX, goal->may_be_deep ? order->deep_bytes : -1};
  return segment_holder(m, h, &room, order, t) ? SPLIT : STUCK;
}

/* ---- what is left of a peak ---- */
/* Of the peak as it was estimated, what was not dissolved since. Holders that are gone become
 * those of no bytes. */
static int64_t left_bytes(const ir_module *m, int64_t peak_bytes, plan_holder *holders,
                          uint32_t n) {
  arena *scratch = arena_create(m->ctx);
  bool *is_there = ARENA_ARRAY(scratch, bool, m->ops.count); /* by op: in the program */
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) is_there[w.op] = true;
  for (uint32_t i = 0; i < n; i++) {
    ir_op op = ir_value_get(m, holders[i].value)->op;
    if (!op) op = ir_block_get(m, ir_value_block(m, holders[i].value))->parent;
    if (is_there[op]) continue;
    peak_bytes -= holders[i].bytes;
    holders[i].bytes = 0;
  }
  arena_destroy(scratch);
  return peak_bytes;
}

/* Loops change what else is live at a time; but not by half. */
static bool is_far_over(int64_t left_bytes, const plan_peak *peak, int64_t limit_bytes) {
  int64_t held = plan_held_bytes(peak), room = limit_bytes > held ? limit_bytes - held : 0;
  return (left_bytes - held) / 2 > room;
}

/* What else is at the peak may be sliced later, so that the room there is no measure. */
static progress segment_holders(ir_module *m, const plan_peak *peak, split_order *order, tried *t) {
  split_room room = {0, order->goal.slice_bytes, -1};
  for (const plan_holder *h = peak->holders; h < peak->holders + peak->n_holders; h++) {
    if (h->bytes <= order->goal.threshold_bytes || !segment_holder(m, h, &room, order, t)) continue;
    order->loops++;
    return SPLIT;
  }
  return STUCK;
}

/* What whiles read trip by trip is made so. */
static progress sink_rows_of_holders(ir_module *m, const plan_peak *peak, split_order *order) {
  for (const plan_holder *h = peak->holders; h < peak->holders + peak->n_holders; h++) {
    if (!split_sink_parts(m, h->value, order->goal.threshold_bytes)) continue;
    ctx_log(m->ctx, 3, "parts of %lld bytes are made in the trips that read them",
            (long long)h->bytes);
    order->loops++;
    return SPLIT;
  }
  return STUCK;
}

/* Holders, the largest first, until one is split; and further ones as long as what is left at the
 * same time is far over the limit, which saves an estimate for each. */
static progress split_holders(ir_module *m, const plan_peak *peak, split_order *order, tried *t) {
  const split_goal *goal = &order->goal;
  int64_t left = peak->total_bytes;
  bool goes_on = true;
  arena *a = arena_create(m->ctx);
  plan_holder *holders = ARENA_COPY(a, plan_holder, peak->holders, peak->n_holders);
  progress last = STUCK;
  if (sink_holders(m, peak, goal)) last = PREPARED;
  for (uint32_t i = 0; i < peak->n_holders && last == STUCK; i++)
    if (sink_accumulator_of_holder(m, &peak->holders[i], goal, t)) last = PREPARED;
  for (uint32_t i = 0; i < peak->n_holders && last != PREPARED && goes_on; i++) {
    if (is_at_end(m, order)) break;
    progress p = split_holder(m, &holders[i], order->limit_bytes - left, order, t);
    if (p == STUCK) continue;
    last = p;
    order->loops += p == SPLIT;
    split_forget(&t->known);
    left = left_bytes(m, left, holders, peak->n_holders);
    goes_on = is_far_over(left, peak, order->limit_bytes);
  }
  arena_destroy(a);
  return last;
}

/* ---- states of whiles that nothing large but their next ones is made of ---- */
/* What a while carries next in the place of this one; the value itself if that is none of its. */
static ir_value next_of_state(const ir_module *m, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  ir_block block = ir_value_block(m, v);
  ir_op around = ir_block_get(m, block)->parent;
  if (d->op && ir_kind_of(m, d->op) == IR_OP_WHILE)
    return ir_yielded(m, ir_while_body(m, d->op), d->index);
  bool is_state =
      !d->op && around && ir_kind_of(m, around) == IR_OP_WHILE && ir_while_body(m, around) == block;
  return is_state ? ir_yielded(m, block, d->index) : v;
}

/* Where nothing else of the peak can be split. */
static progress split_states(ir_module *m, const plan_peak *peak, split_order *order, tried *t) {
  split_goal goal = order->goal;
  progress p = STUCK;
  if (!goal.carries_rows || !goal.no_kernels) return p;
  goal.from_states = true;
  split_forget(&t->known);
  for (uint32_t i = 0; i < peak->n_holders && p == STUCK && !is_at_end(m, order); i++) {
    ir_value v = next_of_state(m, peak->holders[i].value);
    if (!can_be_seed(m, v) || ir_value_bytes(m, v) <= goal.threshold_bytes) continue;
    if (seeds_was_tried(&t->states, v)) continue;
    seeds_mark_tried(&t->states, v);
    p = split_seed(m, ir_value_block(m, v), v, &goal, t);
  }
  order->loops += p == SPLIT;
  return p;
}

/* ---- what bounds a candidate from below ---- */
/* Held outside of loops: the same however short the slices. */
static int64_t whole_bytes(const ir_module *m, const plan_peak *peak) {
  int64_t total = plan_held_bytes(peak);
  for (uint32_t i = 0; i < peak->n_holders; i++)
    if (peak->holders[i].block == main_block(m))
      total = saturated_sum(total, peak->holders[i].bytes);
  return total;
}

/* Whatever else is split: it is too small for a seed, loops put it out, or it was tried in vain.
 * But what whiles carry is tried once more, as a state. Rarely a value that was tried in vain goes
 * with another that is not tried yet. */
static bool stays(const ir_module *m, const plan_holder *h, const split_order *order,
                  const tried *t) {
  ir_op op = ir_value_get(m, h->value)->op;
  if (h->bytes <= order->goal.threshold_bytes) return true;
  if (!op || order->goal.may_be_deep) return false;
  ir_kind kind = ir_kind_of(m, op);
  bool is_carried = kind == IR_OP_WHILE || ir_is_within(m, h->block, IR_OP_WHILE);
  return kind == IR_OP_LOOP || (!is_carried && was_tried(t, h->value));
}

static bool is_hopeless(const ir_module *m, const plan_peak *peak, const split_order *order,
                        const tried *t) {
  int64_t total = plan_held_bytes(peak);
  for (uint32_t i = 0; i < peak->n_holders; i++)
    if (stays(m, &peak->holders[i], order, t)) total = saturated_sum(total, peak->holders[i].bytes);
  return total > order->most_bytes;
}

/* Slices and what they are made of need some, too. */
static int64_t room_of_cuts(const plan_peak *peak, const split_order *order) {
  return max64(0, order->limit_bytes - plan_held_bytes(peak)) / 16 * order->cut_sixteenths;
}

static progress split_once(ir_module *m, split_order *order, tried *t) {
  arena *scratch = arena_create(m->ctx);
  device_memory cautious;
  const device_memory *memory = memory_of(order, &cautious);
  plan_peak peak = plan_peak_under(scratch, m, order->order, memory, order->limit_bytes);
  order->fits = peak.total_bytes <= order->limit_bytes;
  bool over = order->fits || is_at_end(m, order);
  order->is_given_up = !over && is_hopeless(m, &peak, order, t);
  over |= order->is_given_up;
  order->deep_bytes = max64(0, order->limit_bytes - order->spare_bytes - plan_held_bytes(&peak));
  order->goal.room_bytes = room_of_cuts(&peak, order);
  progress p = STUCK;
  if (!over && order->goal.segments_first) p = sink_rows_of_holders(m, &peak, order);
  if (!over && order->goal.segments_first && p == STUCK) p = segment_holders(m, &peak, order, t);
  if (!over && p == STUCK) p = split_holders(m, &peak, order, t);
  if (!over && p == STUCK) p = split_states(m, &peak, order, t);
  order->peak_bytes = peak.total_bytes;
  order->whole_bytes = order->fits ? 0 : whole_bytes(m, &peak);
  bool is_judged_later = t->has_cuts && order->peak_bytes > order->asked_bytes; /* pipeline.c */
  if (p == STUCK && !order->fits && !is_judged_later)
    order->peak_bytes = estimated_bytes(scratch, m, order);
  arena_destroy(scratch);
  return p;
}

static void add_restarted(seeds *s, const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) == IR_OP_WHILE && split_begins_anew(m, op)) add_results(s, m, op);
}

static bool split_restarted(ir_module *m, const seed *x, split_order *order, tried *t) {
  return split_seed(m, x->block, x->value, &order->goal, t) == SPLIT;
}

/* Before larger values what is split in units of steps or not at all: a region that reads it in
 * others would leave it whole. */
static void split_units(ir_module *m, ir_block top, split_order *order, tried *t) {
  if (!order->goal.cuts_steps) return;
  while (try_seeds(m, top, order, t, order->goal.threshold_bytes, add_restarted, split_restarted)) {
    order->loops++;
    split_forget(&t->known);
  }
  mark_kernels(m, order);
}

void splitter_to_fit(ir_module *m, split_order *order) {
  tried t = tried_begin(m);
  order->fits = false;
  if (main_block(m)) restart_scans(m, main_block(m), order);
  if (main_block(m)) sink_unholdable(m, main_block(m), order);
  if (main_block(m)) make_edges(m, main_block(m), &order->goal);
  if (main_block(m)) move_states(m, main_block(m), &order->goal);
  if (main_block(m)) part_axes(m, main_block(m), &order->goal);
  if (main_block(m)) split_units(m, main_block(m), order, &t);
  progress p = PREPARED;
  for (int round = 0; round < MOST_ROUNDS && p != STUCK; round++) {
    p = split_once(m, order, &t);
    split_forget(&t.known);
    if (p != STUCK) mark_kernels(m, order);
  }
  order->has_shorter = t.has_shorter;
  order->makes_parts |= t.makes_parts;
  order->added_bytes = t.added_bytes;
  order->moved_bytes = t.moved_bytes;
  order->has_cuts = t.has_cuts;
  order->lacks_room = t.lacks_room;
  CTX_CHECK(m->ctx, order->fits == (order->peak_bytes <= order->limit_bytes));
  tried_end(&t);
}

/* ---- a program as it is ---- */
unsplit splitter_unsplit(const ir_module *m, const split_order *order) {
  arena *scratch = arena_create(m->ctx);
  device_memory cautious;
  const device_memory *memory = memory_of(order, &cautious);
  plan_peak packed = plan_peak_of(scratch, m, order->order, memory),
            live = plan_peak_under(scratch, m, order->order, memory, 0);
  unsplit u = {.of = m,
               .order = order->order,
               .peak_bytes = packed.total_bytes,
               .live_bytes = live.total_bytes,
               .whole_bytes = whole_bytes(m, &packed),
               .live_whole_bytes = whole_bytes(m, &live)};
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);)
    u.largest_bytes = max64(u.largest_bytes, ir_largest_bytes(m, w.op));
  if (packed.n_holders && packed.holders[0].bytes > u.largest_bytes)
    u.largest_bytes = packed.holders[0].bytes;
  CTX_CHECK(m->ctx, u.live_bytes <= u.peak_bytes);
  arena_destroy(scratch);
  return u;
}

bool splitter_leaves_alone(const unsplit *u, const split_order *order) {
  const split_goal *goal = &order->goal;
  return u->largest_bytes <= goal->threshold_bytes && u->largest_bytes <= goal->hold_bytes;
}
