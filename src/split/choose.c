#include "split/choose.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "machine/tuned.h"
#include "split/held.h"
#include "split/instances.h"
#include "split/linear.h"
#include "split/monoid.h"
#include "split/shards.h"
#include "split/sorts.h"
#include "split/stages.h"
#include "split/state.h"

enum { MOST_COARSENINGS = 8 };

/* Bytes per index of the largest value that the loops hold slice by slice. */
static int64_t largest_index_bytes(split_region *r, const split_goal *goal) {
  int64_t largest = 1;
  for (const split_instance *inst = r->instances.at; inst < VEC_END(r->instances); inst++) {
    if (!inst->traced || inst->pos.dim < 0 || !split_is_large(r, inst->value)) continue;
    if (goal->is_materialised &&
        !goal->is_materialised(r->m, ir_value_get(r->m, inst->value)->op, &r->state->users))
      continue;
    int64_t bytes = ir_value_bytes(r->m, inst->value) / split_extent(r->m, inst->value, inst->pos);
    largest = max64(largest, bytes);
  }
  return largest;
}

static bool is_product(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_DOT_GENERAL || kind == IR_OP_DOT || kind == IR_OP_CONVOLUTION;
}

/* What slices should be like. Most ops are fastest where they stay in cache; matrix products, also
 * in a while's body, are slow in few rows. */
typedef struct wishes {
  /* of the thinnest product, per index of the factor; 0: there are none */
  int64_t rows;
  /* a product sums over the factor, or a while runs all of its trips for each slice */
  bool be_long;
  /* what is put out is written along its innermost dimension */
  bool innermost;
  /* per index of the factor: slices of what is made outside and read more than once. They should be
   * in cache together, for each reader of one has read others in between. */
  int64_t again_bytes;
  /* elements per index of the prefix sums that are carried along the factor; 0: there are none;
     INT64_MAX: one is read at several places, which lie in one carry only if slices are long */
  int64_t scanned;
  bool by_steps; /* slices that overlap the one before take a while more for the last of them */
} wishes;

/* Per index of the factor; INT64_MAX where both operands have it, in which a slice has fewer
 * matrices, each as it was. */
static int64_t rows_an_index(const split_region *r, const split_member *member) {
  ir_gemm g;
  const split_pos *at = member->factor.operands;
  if (ir_kind_of(r->m, member->op) == IR_OP_CONVOLUTION || !ir_dot_gemm(r->m, member->op, &g))
    return 1;
  uint32_t side = at[0].dim < 0;
  if (at[1 - side].dim >= 0 || at[side].dim < 0) return INT64_MAX;
  int64_t extent = split_extent(r->m, ir_operand(r->m, member->op, side), at[side]);
  return max64(1, (side ? g.columns : g.rows) / max64(1, extent));
}

/* Elements of an index that a product sums over. */
static int64_t rows_of_sum(const split_factor *f) {
  return f->operands[0].dim < 0 ? 1 : f->operands[0].unit;
}

/* Whether windows that overlap are of what the loops make: of what is there already, trips read
 * what others read. */
static bool makes_again(const split_region *r) {
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    for (ir_value v, k = 0; (v = ir_operand_at(r->m, member->op, k)); k++) {
      ir_op made_by = ir_value_get(r->m, v)->op;
      bool is_made = made_by && r->member_of[made_by] && member->factor.operands[k].dim >= 0;
      if (member->factor.stencil && is_made) return true;
    }
  }
  return false;
}

static int64_t again_bytes(const split_region *r) {
  uint32_t *readers = ARENA_ARRAY(r->scratch, uint32_t, r->m->values.count);
  int64_t total = 0;
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    for (ir_value v, k = 0; (v = ir_operand_at(r->m, member->op, k)); k++) {
      ir_op made_by = ir_value_get(r->m, v)->op;
      split_pos at = member->factor.operands[k];
      bool is_outside = !made_by || !r->member_of[made_by];
      if (is_outside && at.dim >= 0 && ++readers[v] == 2)
        total = saturated_sum(total, ir_value_bytes(r->m, v) / max64(1, split_extent(r->m, v, at)));
    }
  }
  return total;
}

/* Whether what is put out, a matrix or larger, is written slice by slice along the dimension that
 * is innermost. */
static bool writes_innermost(const split_region *r, const split_member *member) {
  const ir_op_data *d = ir_op_get(r->m, member->op);
  for (uint32_t j = 0; j < d->n_results; j++) {
    int32_t last = ir_type_at(r->m, d->first_result + j)->rank - 1;
    bool is_cut = last > 0 && member->factor.results[j].dim == last;
    ir_value v = d->first_result + j;
    if (is_cut && r->needed_outside[v] && split_is_large(r, v)) return true;
  }
  return false;
}

static wishes wishes_of(const split_region *r) {
  wishes w = {.again_bytes = again_bytes(r)};
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    bool repeats = ir_kind_of(r->m, member->op) == IR_OP_WHILE && !member->factor.chunks,
         sums = is_product(r->m, member->op) && member->factor.role == SPLIT_REDUCED;
    int64_t rows = sums ? rows_of_sum(&member->factor) : 0;
    if (repeats) rows = ir_any(ir_walk_block(r->m, ir_while_body(r->m, member->op)), is_product);
    else if (is_product(r->m, member->op) && !sums) rows = rows_an_index(r, member);
    if (member->factor.stencil) rows = 0; /* rows of images: as many as an image is wide */
    if (member->factor.carried && ir_kind_of(r->m, member->op) == IR_OP_REDUCE_WINDOW)
      w.scanned = member->next ? INT64_MAX : max64(w.scanned, member->factor.operands[0].unit);
    w.by_steps |= member->factor.chunks != NULL;
    w.innermost |= writes_innermost(r, member);
    if (rows && (!w.rows || rows < w.rows)) w.rows = rows;
    w.be_long |= repeats || sums;
  }
  return w;
}

/* So few indices that some product is slow. */
static int64_t thin_slice(const wishes *w) { return w->rows ? (TUNED_THIN_ROWS - 1) / w->rows : 0; }

/* Indices of which XLA makes prefix sums in one pass: a tile, or half of one where that is enough
 * work for a trip. INT64_MAX: as many as may be, for products' sake, too. */
static int64_t scanned_indices(const wishes *w, int64_t index_bytes, const split_goal *goal) {
  if (!w->scanned || w->scanned > goal->scan_tile) return INT64_MAX;
  int64_t most = goal->scan_tile / w->scanned, least = max64(1, most / 2);
  if (saturated_product(most, index_bytes) < goal->scanned_bytes) return INT64_MAX;
  if (w->be_long || (w->rows && saturated_product(w->rows, least) < TUNED_PRODUCT_ROWS))
    return INT64_MAX;
  return saturated_product(least, index_bytes) < goal->scanned_bytes ? most : least;
}

/* Indices that the bytes allow, and products ask for. */
static int64_t wanted_indices(const wishes *w, int64_t index_bytes, const split_goal *goal) {
  int64_t longest = goal->slice_bytes / index_bytes,
          cached = goal->cached_bytes / max64(index_bytes, w->again_bytes);
  int64_t enough = w->be_long ? longest : w->rows ? max64(1, TUNED_ENOUGH_ROWS / w->rows) : 1;
  int64_t least = w->rows ? max64(1, TUNED_PRODUCT_ROWS / w->rows) : 1;
  return max64(min64(longest, max64(cached, enough)),
               min64(least, goal->generous_bytes / index_bytes));
}

static int64_t in_tiles(const wishes *w, int64_t indices, const split_goal *goal) {
  bool is_any = !w->innermost || !goal->tile || indices < TUNED_LONG_SLICE * goal->tile;
  return is_any ? indices : indices - indices % goal->tile;
}

/* As many indices as the bytes allow, spread evenly over the trips: a divisor of the extent if one
 * is within a fifth, so that nothing has to be masked, or within half, so that a scan's steps are
 * one while. Whole tiles of what is written. */
static int64_t slice_length(const split_region *r, const wishes *w, int64_t index_bytes,
                            int64_t least, const split_goal *goal) {
  int64_t extent = r->extent,
          wanted =
              min64(wanted_indices(w, index_bytes, goal), scanned_indices(w, index_bytes, goal)),
          most = min64(extent, max64(least, wanted)),
          shortest = max64(least, most - max64(1, most / (w->by_steps ? 2 : 5)) + 1);
  for (int64_t c = most; c >= shortest && (c = largest_divisor(extent, shortest, c)); c--)
    if (in_tiles(w, c, goal) == c) return c;
  return max64(least, in_tiles(w, ceil_div(extent, ceil_div(extent, most)), goal));
}

/* Large values made outside that the loops read whole, or slice by slice: they stay in memory all
 * the while. Arguments do so anyway; of what is read in slices they are left out, and what XLA may
 * fuse into the reader counts, for it reads something itself. */
static bool is_read_from_outside(const split_region *r, const split_member *member, uint32_t k,
                                 const split_goal *goal, bool in_slices) {
  ir_value v = ir_operand(r->m, member->op, k);
  ir_op made_by = ir_value_get(r->m, v)->op;
  if ((member->factor.operands[k].dim >= 0) != in_slices || !split_is_large(r, v) ||
      r->is_passed_on[v])
    return false;
  if (in_slices) return made_by && !r->member_of[made_by];
  return !goal->is_materialised || goal->is_materialised(r->m, made_by, &r->state->users);
}

static int64_t outside_bytes(split_region *r, const split_goal *goal, bool in_slices) {
  int64_t total = 0;
  bool *counted = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    for (ir_value v, k = 0; !member->is_idle && (v = ir_operand_at(r->m, member->op, k)); k++) {
      if (counted[v] || !is_read_from_outside(r, member, k, goal, in_slices)) continue;
      counted[v] = true;
      total = saturated_sum(total, ir_value_bytes(r->m, v));
    }
  }
  return total;
}

/* A product over one slice is a value of its own beside the sum that it goes into. */
static int64_t partial_bytes(const split_region *r, ir_op op) {
  ir_value v = ir_result(r->m, op, 0);
  return is_product(r->m, op) && split_is_large(r, v) ? ir_value_bytes(r->m, v) : 0;
}

/* A sum that a loop carries in its place in a larger tensor, which is there in any case:
 * split/joined.h. */
static bool is_carried_in_place(const split_region *r, ir_value v) {
  const split_member *member = split_first_member(r, ir_value_get(r->m, v)->op);
  return member && member->factor.role == SPLIT_REDUCED && split_may_add_parts(r->m, v) &&
         split_becomes_part(r->state, r->m, v);
}

static void add_partial(const split_region *r, ir_op op, const split_goal *goal,
                        split_choice *out) {
  int64_t bytes = partial_bytes(r, op);
  bool in_blocks = bytes && split_adds_in_blocks(r->m, op);
  if (in_blocks && goal->part_bytes) return;
  out->held_bytes = saturated_sum(out->held_bytes, bytes);
  if (in_blocks) out->parts_bytes = saturated_sum(out->parts_bytes, bytes);
}

/* What is not there once the sum is carried in place, block by block: itself, and a trip's part
 * where that is not counted yet. */
static void add_moved(const split_region *r, ir_op op, split_choice *out) {
  ir_value v = ir_result(r->m, op, 0);
  if (!is_product(r->m, op) || !split_adds_in_blocks(r->m, op) || !is_carried_in_place(r, v))
    return;
  for (int32_t n = split_is_large(r, v) ? 1 : 2; n-- > 0;)
    out->moved_bytes = saturated_sum(out->moved_bytes, ir_value_bytes(r->m, v));
}

/* By value: of what the region holds for others, what these may compute for themselves. */
static bool *copied(const split_region *r) {
  bool *is_copied = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  for (ir_value v = 1; v < r->m->values.count; v++)
    is_copied[v] = r->needed_outside[v] && split_is_large(r, v) && !split_is_only_cut(r, v) &&
                   split_may_detach(r->state, r->m, v);
  return is_copied;
}

/* The same of the loops among the members: the sums that begin with zeros in each slice. */
static int64_t new_sums_bytes(const split_region *r, const split_member *member) {
  int64_t total = 0;
  const ir_op_data *d = ir_op_get(r->m, member->op);
  for (uint32_t j = 0; j < d->n_results; j++)
    if (member->factor.sums[j] == SPLIT_SUM_NEW && split_is_large(r, d->first_result + j))
      total += ir_value_bytes(r->m, d->first_result + j);
  return total;
}

/* By value: of what the region puts out, what does not count. */
static const bool *uncounted(const split_region *r, const split_goal *goal) {
  if (!goal->nest && !goal->part_bytes) return NULL;
  bool *is = goal->nest ? copied(r) : ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  for (ir_value v = 1; goal->part_bytes && v < r->n_values; v++)
    is[v] |= r->needed_outside[v] && split_is_large(r, v) && is_carried_in_place(r, v);
  return is;
}

static split_held held_by(split_region *r, const split_goal *goal) {
  const bool *without = uncounted(r, goal);
  return r->is_unwanted ? split_least_held(r, without) : split_most_held(r, without);
}

/* Of a region that is unwanted so far: no more than it will be, whatever its cuts. */
static void assess(split_region *r, const split_goal *goal, split_choice *out) {
  wishes w = wishes_of(r);
  *out = (split_choice){.region = r,
                        .extent = r->extent,
                        .n_loops = r->n_loops,
                        .thin_slice = thin_slice(&w),
                        .index_bytes = largest_index_bytes(r, goal),
                        .read_bytes = goal->nest ? outside_bytes(r, goal, true) : 0,
                        .has_stencils = r->overlaps,
                        .overlaps = r->overlaps && makes_again(r)};
  split_held held = held_by(r, goal);
  int64_t outside = goal->nest ? 0 : outside_bytes(r, goal, false);
  out->held_bytes = saturated_sum(held.bytes, outside);
  out->returned_bytes = held.returned_bytes;
  out->put_out_bytes = r->held_bytes;
  int64_t least = 1;
  for (uint32_t i = 0; i < r->members.count; i++) {
    if (r->members.at[i].factor.sums) {
      out->reductions++;
      out->held_bytes = saturated_sum(out->held_bytes, new_sums_bytes(r, &r->members.at[i]));
    }
    if (split_is_sorted(r->m, r->members.at[i].op, &r->members.at[i].factor)) {
      out->sorts++;
      least = max64(least, r->extent / SPLIT_MOST_SORTED_SLICES);
    }
    if (r->members.at[i].factor.role != SPLIT_REDUCED) continue;
    out->reductions++;
    add_partial(r, r->members.at[i].op, goal, out);
    add_moved(r, r->members.at[i].op, out);
    least =
        max64(least, split_monoid_least_slice(r->m, r->members.at[i].op, &r->members.at[i].factor));
  }
  out->slice = slice_length(r, &w, out->index_bytes, least, goal);
  CTX_CHECK(r->m->ctx, out->index_bytes >= 1 && out->thin_slice >= 0);
  CTX_CHECK(r->m->ctx, out->held_bytes >= 0);
  CTX_CHECK(r->m->ctx, out->slice >= least);
}

static bool is_thin(const split_choice *c) {
  return c->slice <= c->thin_slice && c->slice < c->extent;
}

/* Nothing is made twice, for that at most twice as much stays in memory, and no product, whose time
 * a few rows take, is made in many. */
static bool is_worth_holding(const split_choice *plain, const split_choice *overlapping,
                             const split_goal *goal) {
  if (is_thin(plain) && !is_thin(overlapping)) return false;
  return plain->index_bytes <= goal->generous_bytes &&
         plain->held_bytes / 2 <= overlapping->held_bytes;
}

/* In order: nothing made twice; what stays in memory; slices that fit; passes over the region; no
 * windows; of loops in loops, what is made outside; products of more than a few rows; results
 * bitwise as unsplit; the longer factor. */
static bool is_better(const split_choice *a, const split_choice *b, const split_goal *goal) {
  bool fits_a = a->index_bytes <= goal->generous_bytes,
       fits_b = b->index_bytes <= goal->generous_bytes;
  if (goal->fits_first && fits_a != fits_b) return fits_a;
  if (a->overlaps != b->overlaps &&
      is_worth_holding(a->overlaps ? b : a, a->overlaps ? a : b, goal))
    return b->overlaps;
  if (a->held_bytes != b->held_bytes) return a->held_bytes < b->held_bytes;
  if (a->sorts != b->sorts) return a->sorts < b->sorts;
  if (fits_a != fits_b) return fits_a;
  if (!fits_a && a->index_bytes != b->index_bytes) return a->index_bytes < b->index_bytes;
  if (a->overlaps != b->overlaps) return b->overlaps;
  if (a->put_out_bytes != b->put_out_bytes) return a->put_out_bytes < b->put_out_bytes;
  if (a->n_loops != b->n_loops) return a->n_loops < b->n_loops;
  if (a->has_stencils != b->has_stencils) return b->has_stencils;
  if (a->read_bytes != b->read_bytes) return a->read_bytes < b->read_bytes;
  if (is_thin(a) != is_thin(b)) return is_thin(b);
  if ((a->reductions == 0) != (b->reductions == 0)) return a->reductions == 0;
  return a->extent > b->extent;
}

/* Results of a sort that nobody reads (the keys of an argsort) stand for those beside them. */
static bool saves_any(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  const ir_op_data *d = ir_op_get(r->m, op);
  if (d->kind != IR_OP_SORT) return true;
  for (uint32_t j = 0; j < d->n_results; j++)
    if (r->is_read[d->first_result + j] && !r->needed_outside[d->first_result + j]) return true;
  return false;
}

static bool is_dissolved(split_region *r, ir_value v, split_pos pos) {
  return split_instance_get(r, v, pos)->traced && split_instance_stage(r, v, pos) < SPLIT_NEVER &&
         (!r->needed_outside[v] || split_is_only_cut(r, v)) && saves_any(r, v);
}

/* The seed is read whole as well, by those who may make it for themselves: it is split once they
 * do. */
static bool may_be_detached(const split_region *r, const split_goal *goal) {
  return goal->detaches && r->needed_outside[r->seed];
}

static bool may_write_over_state(const split_region *r, const split_goal *goal) {
  return goal->from_states && r->has_states && !r->state_bytes && r->state->carried[r->seed];
}

static bool dissolves_seed(split_region *r, const split_goal *goal) {
  return is_dissolved(r, r->seed, r->seed_pos) || may_be_detached(r, goal) ||
         may_write_over_state(r, goal);
}

/* ---- what is known already ---- */
void split_forget(split_memo *memo) {
  arena_destroy(memo->a);
  *memo = (split_memo){0};
}

static const split_known *find_known(const split_memo *memo, ir_value v, int32_t dim) {
  for (uint32_t i = v < memo->state.n_values ? memo->first[v] : 0; i; i = memo->list.at[i - 1].next)
    if (memo->list.at[i - 1].dim == dim) return &memo->list.at[i - 1];
  return NULL;
}

/* What would go on in other units depends on where it began. */
static bool is_like_from_all(const split_region *r) {
  return !r->coarsen && !r->backwards && !r->may_shift && r->seed_pos.unit == 1 && !r->has_states;
}

/* Values that are there in two ways do not show each of them to everybody who reads them. */
static bool is_same_from_all(const split_region *r) {
  bool plain = is_like_from_all(r);
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances) && plain; at++)
    plain = !at->next || !split_leads_on(r, at->value);
  return plain;
}

/* Or almost so. What it is refused for, or does not dissolve, it is from all of its values. */
static bool is_alike_from_all(const split_region *r) {
  bool alike = is_like_from_all(r);
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances) && alike; at++)
    alike = !at->next || !r->state->leads_on[at->value];
  return alike;
}

static void begin_memo(split_memo *memo, const ir_module *m, const split_goal *goal) {
  if (memo->state.n_values == m->values.count) return;
  split_forget(memo);
  memo->a = arena_create(m->ctx);
  memo->state = split_state_of(memo->a, m, goal->threshold_bytes);
  memo->first = ARENA_ARRAY(memo->a, uint32_t, m->values.count);
}

const ir_users *split_known_users(split_memo *memo, const ir_module *m, ir_block block,
                                  const split_goal *goal) {
  begin_memo(memo, m, goal);
  split_state_enter(&memo->state, m, block);
  return &memo->state.users;
}

/* Whether it says more than another: that the value is not dissolved is sure of what is bound, too,
 * and of what is like another one only the dissolved count unless they may be detached. */
static int weight_of(const split_known *k) {
  if (k->knowledge == SPLIT_KNOWN_SAME) return 3;
  if (k->knowledge == SPLIT_KNOWN_BOUND && !k->dissolves) return 2;
  return k->dissolves;
}

static void remember_at(split_memo *memo, split_region *r, const split_instance *at,
                        split_knowledge knowledge, const split_choice *choice) {
  split_pos start = {.dim = at->pos.dim, .unit = 1};
  ir_value v = at->value;
  if (at->pos.dim < 0 || !split_pos_equal(at->pos, start) || !split_is_large(r, v)) return;
  split_known known = {.dim = at->pos.dim,
                       .knowledge = knowledge,
                       .dissolves = !r->failed && is_dissolved(r, v, start),
                       .is_needed = !r->failed && r->needed_outside[v],
                       .choice = *choice,
                       .next = memo->first[v]};
  const split_known *old = find_known(memo, v, at->pos.dim);
  if (knowledge == SPLIT_KNOWN_LIKE && !known.dissolves && !known.is_needed) return;
  if (old && weight_of(&known) <= weight_of(old)) return;
  known.choice.region = NULL;
  CTX_CHECK(r->m->ctx, v < memo->state.n_values);
  VEC_PUSH(memo->a, &memo->list, known);
  memo->first[v] = memo->list.count;
}

static void remember_all(split_memo *memo, split_region *r, split_knowledge knowledge,
                         const split_choice *choice) {
  for (uint32_t i = 0; i < r->instances.count; i++) {
    split_instance at = r->instances.at[i]; /* looking may add some */
    remember_at(memo, r, &at, knowledge, choice);
  }
}

static void remember(split_memo *memo, split_region *r, const split_choice *choice) {
  if (r->failed || !is_like_from_all(r)) return;
  remember_all(memo, r, is_same_from_all(r) ? SPLIT_KNOWN_SAME : SPLIT_KNOWN_LIKE, choice);
}

/* Nor would it be wanted from those of its values that it does not dissolve; from the others where
 * something is as good. */
static void remember_unwanted(split_memo *memo, split_region *r, const split_goal *goal) {
  bool is_alike = is_alike_from_all(r);
  split_choice least;
  if (!is_like_from_all(r) || !split_may_split(r)) return;
  if (!is_alike && !dissolves_seed(r, goal)) return;
  assess(r, goal, &least);
  remember_all(memo, r, is_alike ? SPLIT_KNOWN_BOUND : SPLIT_KNOWN_LIKE, &least);
}

/* It would be refused from all its values. */
static void remember_refused(split_memo *memo, split_region *r) {
  CTX_CHECK(r->m->ctx, r->failed);
  remember_all(memo, r, SPLIT_KNOWN_SAME, &(split_choice){0});
}

/* The region does not dissolve its seed; from the others it would be the same. */
static void remember_others(split_memo *memo, split_region *r, const split_goal *goal) {
  split_choice choice;
  if (r->failed || !is_same_from_all(r) || !split_may_split(r)) return;
  assess(r, goal, &choice);
  remember(memo, r, &choice);
}

/* What a region may grow from instead of the position that was tried. */
typedef struct other_way {
  int64_t coarsen; /* as in split_factor; 0: no other units */
  bool backwards;  /* from the last index to the first */
} other_way;

/* The op that makes the seed can't do it along this position. */
static bool is_hopeless(arena *scratch, ir_module *m, ir_value seed, split_pos pos,
                        other_way *out) {
  const ir_value_data *d = ir_value_get(m, seed);
  split_factor f;
  if (!d->op || ir_kind_of(m, d->op) == IR_OP_WHILE || /* takes long, and is asked again */
      split_trace_in_order(scratch, m, d->op, true, d->index, pos, &f))
    return false;
  *out = (other_way){f.coarsen, f.backwards};
  return true;
}

/* Whether loops that make the region in fewer passes are passed over for their parts of sums. */
static bool is_shorter(const split_choice *a, const split_choice *taken, const split_goal *goal) {
  return a->parts_bytes && a->n_loops < taken->n_loops && a->index_bytes <= goal->generous_bytes &&
         a->held_bytes - a->parts_bytes <= taken->held_bytes;
}

/* What a choice is to be better than. */
typedef struct rivals {
  const split_goal *goal;
  const split_choice *best; /* so far; NULL: there is none */
  bool no_overlaps;         /* stencils would be no better */
} rivals;

/* Or of use beside the best. */
static bool is_better_than(const split_choice *c, const rivals *than) {
  return !than->best || is_better(c, than->best, than->goal) ||
         is_shorter(c, than->best, than->goal);
}

static bool is_wanted(split_region *r, const void *user) {
  const rivals *than = user;
  split_choice least;
  bool dissolves = dissolves_seed(r, than->goal);
  if (!than->best || !dissolves) return dissolves;
  r->is_unwanted = true;
  assess(r, than->goal, &least);
  r->is_unwanted = false;
  return is_better_than(&least, than);
}

#ifndef NDEBUG
/* With its loops and cuts, too. */
static bool is_unwanted_as_a_whole(const split_region *r, const split_growth *g,
                                   const rivals *than) {
  ctx *c = r->m->ctx;
  int64_t looked_at = c->looked_at;
  int debug = c->debug;
  split_growth whole = *g;
  split_choice choice;
  whole.wants = NULL;
  c->debug = 0; /* what is logged is the same in all builds */
  split_region *s = split_region_grow(&whole);
  bool dissolves = !s->failed && dissolves_seed(s, than->goal);
  if (dissolves) assess(s, than->goal, &choice);
  c->looked_at = looked_at;
  c->debug = debug;
  return !dissolves || !is_better_than(&choice, than);
}
#endif

/* The region where it dissolves the seed, else NULL; or where it is known to be no better. */
static split_region *grow_from(const split_growth *seed, split_pos pos, split_memo *memo,
                               const rivals *than, other_way *out) {
  const split_goal *goal = seed->goal;
  split_growth g = *seed;
  *out = (other_way){0};
  if (is_hopeless(g.scratch, g.m, g.seed, pos, out)) return NULL;
  split_known_users(memo, g.m, g.block, goal);
  g.pos = pos;
  g.is_ragged = ir_type_at(g.m, g.seed)->dims[pos.dim] % pos.unit != 0;
  g.no_overlaps = than->no_overlaps;
  g.wants = is_wanted;
  g.user = than;
  split_region *r = split_region_grow(&g);
  assert(!r->is_unwanted || is_unwanted_as_a_whole(r, &g, than));
  bool good = !r->failed && !r->is_unwanted && dissolves_seed(r, goal) && split_may_split(r);
  *out = (other_way){r->coarsen, r->backwards};
  if (r->is_unwanted) remember_unwanted(memo, r, goal);
  else if (!good && (r->too_large || (r->repeats && is_alike_from_all(r))))
    remember_refused(memo, r);
  else if (!good) remember_others(memo, r, goal);
  return good ? r : NULL;
}

/* The same, also with the factor mirrored where a prefix sum begins at the other end. */
static split_region *grow_either_way(const split_growth *g, split_pos pos, split_memo *memo,
                                     const rivals *than, int64_t *out_coarsen) {
  other_way other, none;
  split_region *r = grow_from(g, pos, memo, than, &other);
  *out_coarsen = other.coarsen;
  if (!other.backwards || (r && r->held_bytes == 0)) return r;
  pos.offset = (split_extent(g->m, g->seed, pos) - 1) * pos.unit;
  pos.mirrored = true;
  split_region *s = grow_from(g, pos, memo, than, &none);
  return s && (!r || s->held_bytes < r->held_bytes) ? s : r;
}

/* In units that are larger and larger, until nothing asks for more, or no large value is left.
 * Where that has no end (levels of halves, the last of which are small), those that leave the
 * least. */
static split_region *grow(const split_growth *g, int32_t dim, split_memo *memo,
                          const rivals *than) {
  split_pos pos = {.dim = dim, .unit = 1};
  split_region *least = NULL;
  int64_t least_left = INT64_MAX;
  for (int tries = 0; tries < MOST_COARSENINGS; tries++) {
    int64_t coarsen;
    bool is_ragged = ir_type_at(g->m, g->seed)->dims[dim] % pos.unit != 0;
    if (split_extent(g->m, g->seed, pos) <= 1 || (is_ragged && than->no_overlaps)) break;
    split_region *r = grow_either_way(g, pos, memo, than, &coarsen);
    if (r && !coarsen) return r;
    int64_t left = r ? saturated_sum(r->held_bytes, outside_bytes(r, g->goal, true)) : INT64_MAX;
    if (r && (r->merges || r->held_bytes == 0) && left < least_left) {
      least = r;
      least_left = left;
    }
    if (!coarsen || least_left == 0) break;
    pos.unit *= coarsen;
  }
  return least;
}

static bool choose_along(const split_growth *g, int32_t dim, split_memo *memo, const rivals *than,
                         split_choice *out) {
  split_region *r = grow(g, dim, memo, than);
  if (!r) return false;
  assess(r, g->goal, out);
  remember(memo, r, out);
  ctx_log(g->m->ctx, 5,
          "candidate: dimension %d of %s, extent %lld, slice %lld, %d loops, held %lld", dim,
          ir_op_name(g->m, ir_value_get(g->m, g->seed)->op), (long long)r->extent,
          (long long)out->slice, r->n_loops, (long long)out->held_bytes);
  return true;
}

/* Nothing stays in memory, slices fit and nothing is made twice: no stencils need be looked at. */
static bool is_good(const split_choice *c, const split_goal *goal) {
  return c->held_bytes == 0 && c->index_bytes <= goal->generous_bytes && !c->overlaps &&
         c->n_loops <= 1;
}

/* The best dimension of a seed. */
typedef struct pick {
  int32_t dim; /* -1: none dissolves it */
  split_choice best;
  split_choice all[IR_MAX_RANK]; /* of dimensions that do, without the bounds of what is known */
  uint32_t n_all;
} pick;

/* What is known of a dimension, if that spares growing a region along it; *out_is_out: it is none
 * that the seed would be split along. */
static const split_known *find_answer(const split_memo *memo, ir_value seed, int32_t dim,
                                      const split_goal *goal, const pick *p, bool *out_is_out) {
  const split_known *known = find_known(memo, seed, dim);
  bool counts = known && (known->dissolves || (goal->detaches && known->is_needed));
  *out_is_out = false;
  if (!known) return NULL;
  if (counts && known->knowledge != SPLIT_KNOWN_SAME)
    *out_is_out = p->dim >= 0 && !is_better(&known->choice, &p->best, goal);
  else if (!counts) *out_is_out = known->knowledge != SPLIT_KNOWN_LIKE;
  return counts && known->knowledge == SPLIT_KNOWN_SAME ? known : NULL;
}

static void consider(pick *p, int32_t dim, const split_choice *choice, const split_goal *goal) {
  p->all[p->n_all++] = *choice;
  if (p->dim >= 0 && !is_better(choice, &p->best, goal)) return;
  p->best = *choice;
  p->dim = dim;
}

static pick pick_best(const split_growth *g, split_memo *memo) {
  const split_goal *goal = g->goal;
  pick p = {.dim = -1};
  for (int32_t dim = 0; dim < ir_type_at(g->m, g->seed)->rank; dim++) {
    bool is_out;
    const split_known *known = find_answer(memo, g->seed, dim, goal, &p, &is_out);
    if (is_out) continue;
    split_choice choice;
    if (known) choice = known->choice;
    const split_choice *so_far = p.dim >= 0 ? &p.best : NULL;
    rivals than = {goal, so_far, so_far && is_good(so_far, goal)};
    if (known || choose_along(g, dim, memo, &than, &choice)) consider(&p, dim, &choice, goal);
  }
  CTX_CHECK(g->m->ctx, p.dim < 0 || p.best.held_bytes >= 0);
  return p;
}

/* With its region, unless slices would not be smaller. */
static bool grow_picked(const split_growth *g, split_memo *memo, const pick *p,
                        split_choice *out_choice) {
  rivals none = {.goal = g->goal, .no_overlaps = !p->best.has_stencils};
  bool grows = !p->best.region && p->best.slice < p->best.extent;
  *out_choice = p->best;
  if (grows && !choose_along(g, p->dim, memo, &none, out_choice)) return false;
  for (uint32_t i = 0; i < p->n_all; i++)
    out_choice->has_shorter |= is_shorter(&p->all[i], out_choice, g->goal);
  return true;
}

/* What a seed may be split along, and how. */
typedef struct chosen {
  pick by;
  bool detaches; /* once its readers make it for themselves */
} chosen;

/* Where as much is held as is dissolved, its readers may make the seed for themselves. */
static chosen choose(const split_growth *g, split_memo *memo) {
  const split_goal *goal = g->goal;
  pick plain = pick_best(g, memo);
  if (plain.dim < 0) return (chosen){plain, false};
  split_known_users(memo, g->m, g->block, goal);
  bool may_detach = goal->nest && plain.best.held_bytes >= ir_value_bytes(g->m, g->seed) / 2 &&
                    split_may_detach(&memo->state, g->m, g->seed);
  split_goal detaching = *goal;
  detaching.detaches = true;
  split_growth detached = *g;
  detached.goal = &detaching;
  pick other = {.dim = -1};
  if (may_detach) other = pick_best(&detached, memo);
  bool is_other = other.dim >= 0 && is_better(&other.best, &plain.best, goal);
  return is_other ? (chosen){other, true} : (chosen){plain, false};
}

bool split_find_choice(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                       const split_goal *goal, split_memo *memo, split_choice *out_choice) {
  split_growth g = {scratch, m, block, seed, .goal = goal, .state = &memo->state};
  chosen c = choose(&g, memo);
  *out_choice = c.by.best;
  return c.by.dim >= 0;
}

bool split_choose(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                  const split_goal *goal, split_memo *memo, split_choice *out_choice) {
  split_growth g = {scratch, m, block, seed, .goal = goal, .state = &memo->state};
  chosen c = choose(&g, memo);
  split_goal how = *goal;
  how.detaches |= c.detaches;
  g.goal = &how;
  if (c.by.dim < 0 || !grow_picked(&g, memo, &c.by, out_choice)) return false;
  split_region *r = out_choice->region;
  if (r && goal->refines_cuts && out_choice->slice < out_choice->extent)
    split_refine_cuts(r, goal->room_bytes);
  return true;
}
