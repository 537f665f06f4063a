#include "split/body.h"

#include "ir/fold.h"
#include "ir/frozen.h"
#include "split/linear.h"
#include "split/steps.h"
#include "split/tile_op.h"

enum { MOST_SWEEPS = 64 };

/* What an op of the body was last asked for, and its answer: most sweeps ask the same. */
typedef struct body_asked {
  bool known, of_result, traced;
  uint32_t index;
  split_pos pos;
  split_factor factor;
} body_asked;

/* Positions of the values of a while's body and of the branches in it, found by sweeps over its ops
 * until nothing changes; and those of its condition, where that asks the rows. */
typedef struct split_body {
  arena *scratch;
  ir_module *m;
  ir_op loop;
  ir_block block;
  ir_ops ops;     /* the block's, in order, and before a branching those of its branches; none ends
                     a block */
  ir_value first; /* ids of the body's values are in [first, first + count) */
  bool *is_own;   /* and it is one of them */
  split_pos *positions;
  bool *sums; /* parts of a sum over the factor */
  uint32_t count;
  body_asked *asked; /* by an op's place in ops */
  bool changed, failed;
  bool by_rows;                 /* something inside ends once all rows are done */
  bool is_condition;            /* this is one */
  ir_op vote;                   /* of a condition: the op that asks all rows */
  struct split_body *condition; /* of a body: NULL if it asks none */
  bool *puts_parts;             /* by an op's place: it puts a part where no other trip does, beside
                                   what the slices before left there; NULL: none does */
} body;

static bool is_in_body(const body *b, ir_value v) {
  return v >= b->first && v - b->first < b->count && b->is_own[v - b->first];
}

static split_pos position_of(const body *b, ir_value v) {
  return is_in_body(b, v) ? b->positions[v - b->first] : SPLIT_ABSENT;
}

static void list_ops(body *b, ir_block block) {
  for (ir_op op, i = 0; (op = ir_body_op_at(b->m, block, i)); i++) {
    const ir_op_data *d = ir_op_get(b->m, op);
    for (uint32_t r = 0; ir_is_branching(b->m, op) && r < d->n_regions; r++)
      list_ops(b, d->regions[r]);
    VEC_PUSH(b->scratch, &b->ops, op);
  }
}

static ir_op op_at(const body *b, uint32_t at) {
  return at < b->ops.count ? b->ops.at[at] : IR_NONE;
}

/* The ids between which the body's values are; all of these are marked as its own, once there is a
 * place for marks. */
static void note_value(body *b, ir_value v) {
  if (b->is_own) b->is_own[v - b->first] = true;
  if (!b->count) b->first = v, b->count = 1;
  uint32_t end = b->first + b->count;
  b->count = (v >= end ? v + 1 : end) - (v < b->first ? v : b->first);
  b->first = v < b->first ? v : b->first;
}

static void note_values(body *b) {
  for (ir_value v, i = 0; (v = ir_argument_at(b->m, b->block, i)); i++) note_value(b, v);
  for (ir_op op, i = 0; (op = op_at(b, i)); i++)
    for (ir_value v, j = 0; (v = ir_result_at(b->m, op, j)); j++) note_value(b, v);
}

/* Branches of a condition are not followed. */
static body body_of(arena *scratch, ir_module *m, ir_op loop, uint32_t region) {
  body b = {.scratch = scratch, .m = m, .loop = loop, .is_condition = region == 0};
  b.block = ir_op_get(m, loop)->regions[region];
  list_ops(&b, b.block);
  b.failed = b.is_condition && b.ops.count + 1 > ir_block_get(m, b.block)->ops.count;
  note_values(&b);
  b.is_own = ARENA_ARRAY(scratch, bool, b.count);
  note_values(&b);
  b.positions = ARENA_ARRAY(scratch, split_pos, b.count);
  b.sums = ARENA_ARRAY(scratch, bool, b.count);
  b.asked = ARENA_ARRAY(scratch, body_asked, b.ops.count);
  for (uint32_t i = 0; i < b.count; i++) b.positions[i] = SPLIT_ABSENT;
  return b;
}

static bool is_sum(const body *b, ir_value v) { return is_in_body(b, v) && b->sums[v - b->first]; }

static void place(body *b, ir_value v, split_pos pos) {
  if (pos.dim < 0 || split_pos_equal(position_of(b, v), pos)) return;
  if (!is_in_body(b, v) || position_of(b, v).dim >= 0 || is_sum(b, v)) {
    b->failed = true;
    return;
  }
  b->positions[v - b->first] = pos;
  b->changed = true;
}

static void mark_sum(body *b, ir_value v) {
  if (is_sum(b, v) || ir_is_zero(b->m, v)) return;
  if (!is_in_body(b, v) || position_of(b, v).dim >= 0) {
    b->failed = true;
    return;
  }
  b->sums[v - b->first] = true;
  b->changed = true;
}

/* Parts of a sum, or the one vote of a condition. */
static bool may_be_reduced(body *b, ir_op op, const split_factor *f) {
  if (!b->is_condition) return split_is_sum(b->scratch, b->m, op, f);
  if (!ir_is_vote(b->m, op) || (b->vote && b->vote != op)) return false;
  b->vote = op;
  return true;
}

static const body_asked *ask_op(body *b, uint32_t at, bool of_result, uint32_t index,
                                split_pos pos) {
  body_asked *a = &b->asked[at];
  if (a->known && a->of_result == of_result && a->index == index && split_pos_equal(a->pos, pos))
    return a;
  *a = (body_asked){.known = true, .of_result = of_result, .index = index, .pos = pos};
  a->traced = split_trace(b->scratch, b->m, op_at(b, at), of_result, index, pos, &a->factor);
  return a;
}

/* The factor of an op of the body, from any of its values that has a position; false if none has.
 */
static bool op_factor(body *b, uint32_t at, split_factor *out) {
  ir_op op = op_at(b, at);
  const ir_op_data d = *ir_op_get(b->m, op);
  bool of_result = true, any = false;
  uint32_t index = 0;
  for (uint32_t i = 0; i < d.n_results && !any; i++)
    any = position_of(b, d.first_result + i).dim >= 0, index = i;
  for (uint32_t i = 0; i < d.n_operands && !any; i++)
    any = position_of(b, d.operands[i]).dim >= 0, index = i, of_result = false;
  if (!any) return false;
  split_pos pos = position_of(b, of_result ? d.first_result + index : d.operands[index]);
  const body_asked *asked = ask_op(b, at, of_result, index, pos);
  *out = asked->factor;
  /* what moves along the factor from trip to trip would have all trips run for each slice */
  if (!asked->traced || out->shifts || (out->role == SPLIT_REDUCED && !may_be_reduced(b, op, out)))
    b->failed = true;
  else b->by_rows |= out->by_rows;
  return !b->failed;
}

static void place_op(body *b, ir_op op, const split_factor *f) {
  const ir_op_data d = *ir_op_get(b->m, op);
  for (uint32_t i = 0; i < d.n_operands; i++) place(b, d.operands[i], f->operands[i]);
  for (uint32_t i = 0; i < d.n_results; i++) {
    place(b, d.first_result + i, f->results[i]);
    if (split_makes_sum(f, i)) mark_sum(b, d.first_result + i);
  }
}

/* ---- what is linear in parts of a sum ---- */

static bool reads_sum(const body *b, ir_op op) {
  for (uint32_t i = 0; i < ir_op_get(b->m, op)->n_operands; i++)
    if (is_sum(b, ir_operand(b->m, op, i))) return true;
  return false;
}

/* An op none of whose values is sliced, as far as is known: what must not read a part of a sum is
 * found in the end, and so are operands that had to be one. */
static void pass_sum_on(body *b, ir_op op) {
  if (reads_sum(b, op) && split_linearity_of(b->m, op).count) mark_sum(b, ir_result(b->m, op, 0));
}

/* What branches end with is where the branching has it, and a part of a sum if one's is. */
static void place_branches(body *b, ir_op op) {
  const ir_op_data d = *ir_op_get(b->m, op);
  for (uint32_t r = 0; r < d.n_regions; r++)
    for (uint32_t j = 0; j < d.n_results && !b->failed; j++) {
      ir_value v = ir_yielded(b->m, d.regions[r], j), result = ir_result(b->m, op, j);
      place(b, v, position_of(b, result));
      place(b, result, position_of(b, v));
      if (is_sum(b, v)) mark_sum(b, result);
    }
}

/* What a trip yields is where the next one finds it. */
static void place_carries(body *b) {
  ir_op end = ir_terminator(b->m, b->block);
  for (uint32_t i = 0; i < ir_op_get(b->m, end)->n_operands && !b->failed; i++) {
    ir_value arg = ir_argument(b->m, b->block, i), yield = ir_operand(b->m, end, i);
    place(b, yield, position_of(b, arg));
    place(b, arg, position_of(b, yield));
    if (is_sum(b, yield)) mark_sum(b, arg);
  }
}

static void sweep(body *b) {
  b->changed = false;
  for (ir_op op, i = 0; !b->failed && (op = op_at(b, i)); i++) {
    split_factor f;
    if (ir_is_branching(b->m, op)) place_branches(b, op);
    else if (op_factor(b, i, &f)) place_op(b, op, &f);
    else if (!b->failed) pass_sum_on(b, op);
  }
  if (!b->is_condition) place_carries(b);
}

/* A part of a sum; zeros are one of any sum. */
static bool is_part(const body *b, ir_value v) { return is_sum(b, v) || ir_is_zero(b->m, v); }

/* A sliced op reads its operands as its factor wants them: none sliced that it needs whole, no part
 * of a sum but what a while begins with. */
static bool is_factor_kept(const body *b, ir_op op, const split_factor *f) {
  const ir_op_data *d = ir_op_get(b->m, op);
  for (uint32_t k = 0; k < d->n_operands; k++) {
    ir_value v = d->operands[k];
    if (!split_pos_equal(position_of(b, v), f->operands[k])) return false;
    split_sum sum = f->sums ? f->sums[k] : SPLIT_NO_SUM;
    if (sum == SPLIT_NO_SUM ? is_sum(b, v) : !is_part(b, v)) return false;
    if (sum == SPLIT_SUM_NEW && !ir_is_zero(b->m, v)) return false;
  }
  for (uint32_t k = 0; k < d->n_results; k++)
    if (is_sum(b, d->first_result + k) != split_makes_sum(f, k)) return false;
  return true;
}

/* A while that ends once its rows are done takes as many trips as those of the slice. */
static bool is_same_for_all(const body *b, ir_op op, const split_factor *f) {
  if (!f->inside || !f->inside->condition) return true;
  for (ir_value v, i = 0; (v = ir_result_at(b->m, op, i)); i++)
    if (f->results[i].dim < 0 && !ir_is_handed_on(b->m, f->inside->block, i) &&
        ir_is_used_in(b->m, b->block, v))
      return false;
  return true;
}

/* Its result is a part of a sum if, and only if, the operands are that it is linear in. */
static bool is_linear_kept(body *b, ir_op op) {
  const ir_op_data d = *ir_op_get(b->m, op);
  uint32_t sums = 0, marked = 0;
  for (uint32_t k = 0; k < d.n_operands; k++) sums += is_sum(b, d.operands[k]);
  for (uint32_t k = 0; k < d.n_results; k++) marked += is_sum(b, d.first_result + k);
  if (sums == 0) return marked == 0;
  split_linearity l = split_linearity_of(b->m, op);
  if (marked != 1 || d.n_results != 1 || (sums > 1 && !l.jointly)) return false;
  for (uint32_t k = 0; k < d.n_operands; k++) {
    bool linear = k >= l.first && k < l.first + l.count;
    if (linear ? l.jointly && !is_part(b, d.operands[k]) : is_sum(b, d.operands[k])) return false;
  }
  return l.count > 0;
}

/* All slices take the same branch in the same trip, and have the same of it. */
static bool is_branching_kept(const body *b, ir_op op) {
  const ir_op_data *d = ir_op_get(b->m, op);
  if (d->n_attrs || position_of(b, d->operands[0]).dim >= 0 || is_sum(b, d->operands[0]))
    return false;
  for (uint32_t r = 0; r < d->n_regions; r++)
    for (uint32_t j = 0; j < d->n_results; j++) {
      ir_value v = ir_yielded(b->m, d->regions[r], j), result = d->first_result + j;
      if (!split_pos_equal(position_of(b, v), position_of(b, result))) return false;
      if (!is_sum(b, result) && is_sum(b, v)) return false;
      if (is_sum(b, result) && !(is_part(b, v) && split_may_add_parts(b->m, v))) return false;
    }
  return true;
}

static bool is_consistent(body *b) {
  for (ir_op op, i = 0; (op = op_at(b, i)); i++) {
    split_factor f;
    if (ir_is_branching(b->m, op) && !is_branching_kept(b, op)) return false;
    if (ir_is_branching(b->m, op)) continue;
    bool sliced = op_factor(b, i, &f);
    if (b->failed) return false;
    if (sliced ? !is_factor_kept(b, op, &f) || !is_same_for_all(b, op, &f)
               : !b->is_condition && !is_linear_kept(b, op))
      return false;
  }
  if (b->is_condition) return true;
  ir_op end = ir_terminator(b->m, b->block);
  for (uint32_t i = 0; i < ir_op_get(b->m, end)->n_operands; i++)
    if (is_sum(b, ir_argument(b->m, b->block, i)) != is_sum(b, ir_operand(b->m, end, i)))
      return false;
  return true;
}

static bool solve(body *b) {
  b->changed = true;
  for (int i = 0; i < MOST_SWEEPS && b->changed && !b->failed; i++) sweep(b);
  return !b->changed && !b->failed && is_consistent(b);
}

/* ---- the condition ---- */
static bool is_looked_at(const ir_module *m, ir_block condition, uint32_t carry) {
  return ir_is_used_in(m, condition, ir_argument(m, condition, carry));
}

/* The carry comes back with parts added to it, and the body does nothing else with it. */
static bool is_added_to(const body *b, uint32_t carry, const uint32_t *uses) {
  ir_value v = ir_yielded(b->m, b->block, carry), arg = ir_argument(b->m, b->block, carry);
  if (uses[arg] != 1) return false;
  ir_value at = arg; /* the carry and what was added so far, in program order */
  for (ir_op op, i = 0; at != v && (op = op_at(b, i)); i++) {
    bool adds = ir_kind_of(b->m, op) == IR_OP_ADD &&
                (ir_operand(b->m, op, 0) == at || ir_operand(b->m, op, 1) == at);
    if (adds) at = ir_result(b->m, op, 0);
    if (adds && uses[at] != 1) return false;
  }
  return at == v;
}

/* A stack of parts that begins with zeros: each trip has a place of its own. */
static bool is_stacked(body *b, uint32_t carry, const uint32_t *uses) {
  split_steps s;
  split_access put;
  if (!ir_is_zero(b->m, ir_operand(b->m, b->loop, carry)) || !split_steps_of(b->m, b->loop, &s) ||
      !split_steps_stack(&s, carry, uses, &put))
    return false;
  uint32_t at = 0;
  while (op_at(b, at) != put.op) at++;
  if (!b->puts_parts) b->puts_parts = ARENA_ARRAY(b->scratch, bool, b->ops.count);
  return b->puts_parts[at] = true;
}

/* How the slices' results of a carry come together; false if they don't. */
static bool sum_of_carry(body *b, uint32_t carry, const uint32_t *uses, split_sum *out) {
  ir_value initial = ir_operand(b->m, b->loop, carry);
  if (!split_may_add_parts(b->m, initial)) return false;
  bool onto = is_added_to(b, carry, uses) || is_stacked(b, carry, uses);
  *out = onto ? SPLIT_SUM_ONTO : SPLIT_SUM_NEW;
  return onto || ir_is_zero(b->m, initial);
}

/* What only one of them reads may be sliced for it. Whether that was news to one. */
static bool exchange_positions(body *b, body *c) {
  b->changed = c->changed = false;
  for (ir_value arg, i = 0; (arg = ir_argument_at(b->m, b->block, i)); i++) {
    ir_value in_condition = ir_argument(c->m, c->block, i);
    place(c, in_condition, position_of(b, arg));
    place(b, arg, position_of(c, in_condition));
  }
  return b->changed || c->changed;
}

/* By carry: the first whose rows lie the same way; -1: it has none. */
static const int32_t *rows_of_carries(const body *b) {
  const ir_block_data *d = ir_block_get(b->m, b->block);
  int32_t *at = ARENA_ARRAY(b->scratch, int32_t, d->args.count);
  for (uint32_t i = 0; i < d->args.count; i++) {
    split_pos pos = position_of(b, d->args.at[i]);
    uint32_t first = 0;
    while (!split_pos_equal(position_of(b, d->args.at[first]), pos)) first++;
    at[i] = pos.dim >= 0 ? (int32_t)first : -1;
  }
  return at;
}

/* By carry: one truth value for each row. */
static const bool *flags_of_carries(const body *b) {
  const ir_block_data *d = ir_block_get(b->m, b->block);
  bool *is_flag = ARENA_ARRAY(b->scratch, bool, d->args.count);
  for (uint32_t i = 0; i < d->args.count; i++) {
    const ir_type_data *type = ir_type_at(b->m, d->args.at[i]);
    split_pos pos = position_of(b, d->args.at[i]);
    is_flag[i] = pos.dim == 0 && pos.unit == 1 && type->rank == 1 && type->dtype == IR_I1;
  }
  return is_flag;
}

/* The condition asks the rows, and a trip leaves those alone that are done. */
static bool ends_by_rows(body *b) {
  body c = body_of(b->scratch, b->m, b->loop, 0);
  while (exchange_positions(b, &c))
    if (!solve(b) || !solve(&c)) return false;
  if (b->failed || c.failed || !c.vote ||
      !ir_rows_freeze(b->scratch, b->m, b->loop, c.vote, rows_of_carries(b), flags_of_carries(b)))
    return false;
  b->condition = arena_copy(b->scratch, &c, sizeof c);
  return b->by_rows = true;
}

static bool asks_rows(const body *b) {
  ir_block condition = ir_body(b->m, b->loop);
  for (ir_value arg, i = 0; (arg = ir_argument_at(b->m, b->block, i)); i++)
    if (position_of(b, arg).dim >= 0 && is_looked_at(b->m, condition, i)) return true;
  return false;
}

/* Of the carries that are sums: how they come together, and that nobody asks for them on the way.
 */
static bool trace_sums(body *b, split_factor *out) {
  uint32_t n = ir_op_get(b->m, b->loop)->n_operands, *uses = NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (!is_sum(b, ir_argument(b->m, b->block, i))) continue;
    if (b->condition || is_looked_at(b->m, ir_body(b->m, b->loop), i)) return false;
    if (!uses) uses = ir_count_uses(b->scratch, b->m, b->block);
    if (!out->sums) out->sums = ARENA_ARRAY(b->scratch, split_sum, n);
    if (!sum_of_carry(b, i, uses, &out->sums[i])) return false;
  }
  return true;
}

bool split_body_trace(arena *scratch, ir_module *m, ir_op loop, uint32_t carry, split_pos pos,
                      split_factor *out) {
  body b = body_of(scratch, m, loop, 1);
  place(&b, ir_argument(m, b.block, carry), pos);
  if (!solve(&b) || (asks_rows(&b) && !ends_by_rows(&b)) || !trace_sums(&b, out)) return false;
  out->inside = arena_copy(scratch, &b, sizeof b);
  out->by_rows = b.by_rows;
  for (uint32_t i = 0; i < ir_op_get(m, loop)->n_operands; i++)
    out->operands[i] = out->results[i] = position_of(&b, ir_argument(m, b.block, i));
  return true;
}

bool split_body_slices(const split_factor *f, ir_value v) {
  return position_of(f->inside, v).dim >= 0 || is_sum(f->inside, v);
}

/* ---- the while on slices ---- */
static void narrow_args(ir_module *m, ir_block from, ir_block to, const split_factor *f,
                        int64_t slice, ir_map *map) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, from, i)); i++) {
    ir_map_set(map, arg,
               ir_block_arg(m, to, split_tile_type(m, ir_type_of(m, arg), f->operands[i], slice)));
  }
}

/* Of a stack's update: what is there already, and the part. */
static ir_value part_added(ir_builder *b, const ir_value *operands) {
  const ir_type_data part = *ir_type_at(b->m, operands[1]);
  ir_value old = ir_build_dynamic_slice(b, operands[0], operands + 2, part.dims);
  return ir_build_add(b, old, operands[1]);
}

static void narrow_body_op(body *from, ir_builder *to, uint32_t at, const split_trip *trip,
                           ir_map *map) {
  ir_module *m = from->m;
  ir_op op = op_at(from, at);
  split_factor f;
  bool sliced = op_factor(from, at, &f);
  if (!sliced && (from->is_condition || !reads_sum(from, op))) {
    ir_copy_op(m, to->block, op, map);
    return;
  }
  const ir_op_data d = *ir_op_get(m, op);
  ir_value *operands = ir_map_all(from->scratch, map, d.operands, d.n_operands),
           *results = ARENA_ARRAY(from->scratch, ir_value, d.n_results + 1);
  to->location = d.location;
  if (from->puts_parts && from->puts_parts[at]) operands[1] = part_added(to, operands);
  if (!sliced) results[0] = split_build_linear(to, op, operands);
  else if (f.role == SPLIT_REDUCED && !from->is_condition)
    results[0] = split_sum_part(to, op, &f, trip, operands);
  else split_tile_op(to, op, &f, trip, operands, results);
  for (uint32_t i = 0; i < d.n_results; i++) ir_map_set(map, d.first_result + i, results[i]);
}

static void narrow_ops(body *from, ir_builder *to, ir_block block, uint32_t *at,
                       const split_trip *trip, ir_map *map);

static void narrow_branching(body *from, ir_builder *to, ir_op op, uint32_t *at,
                             const split_trip *trip, ir_map *map) {
  ir_module *m = from->m;
  ir_op_desc desc = ir_op_desc_of(m, op);
  ir_block *blocks = ARENA_ARRAY(from->scratch, ir_block, desc.n_regions);
  for (uint32_t r = 0; r < desc.n_regions; r++) {
    ir_block branch = ir_op_get(m, op)->regions[r];
    ir_builder b = {m, blocks[r] = ir_block_new(m), to->location};
    narrow_ops(from, &b, branch, at, trip, map);
    ir_copy_op(m, blocks[r], ir_terminator(m, branch), map);
  }
  const ir_value *ends = ir_op_get(m, ir_terminator(m, blocks[0]))->operands;
  desc.operands = ir_map_all(m->arena, map, desc.operands, desc.n_operands);
  desc.result_types = ir_types_of(m->arena, m, ends, desc.n_results);
  ir_op made = ir_op_new(m, to->block, &desc);
  for (uint32_t r = 0; r < desc.n_regions; r++) ir_region_set(m, made, r, blocks[r]);
  for (uint32_t j = 0; j < desc.n_results; j++)
    ir_map_set(map, ir_result(m, op, j), ir_result(m, made, j));
}

/* Of a block whose first op is the one at *at, which is then the one behind. */
static void narrow_ops(body *from, ir_builder *to, ir_block block, uint32_t *at,
                       const split_trip *trip, ir_map *map) {
  for (ir_op op, i = 0; (op = ir_body_op_at(from->m, block, i)); i++) {
    if (ir_is_branching(from->m, op)) narrow_branching(from, to, op, at, trip, map);
    else narrow_body_op(from, to, *at, trip, map);
    ++*at;
  }
}

static void narrow_body(body *from, ir_block to, const split_factor *f, const split_trip *trip,
                        ir_map *map) {
  ir_module *m = from->m;
  ir_builder b = {m, to, IR_NONE};
  narrow_args(m, from->block, to, f, trip->slice, map);
  uint32_t at = 0;
  narrow_ops(from, &b, from->block, &at, trip, map);
  ir_copy_op(m, to, ir_terminator(m, from->block), map);
}

void split_body_narrow(ir_builder *b, ir_op loop, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *out_results) {
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, loop);
  body *from = f->inside;
  ir_op_desc desc = ir_op_desc_of(m, loop);
  desc.operands = operands;
  desc.result_types = ir_types_of(m->arena, m, operands, d.n_results);
  ir_op copy = ir_op_new(m, b->block, &desc);
  ir_map *map = ir_map_new(m->arena, m);
  ir_block condition = ir_region_block(m, copy, 0);
  if (from->condition) {
    narrow_body(from->condition, condition, f, trip, map);
  } else {
    narrow_args(m, d.regions[0], condition, f, trip->slice, map);
    ir_copy_block(m, d.regions[0], condition, map);
  }
  narrow_body(from, ir_region_block(m, copy, 1), f, trip, map);
  for (uint32_t i = 0; i < d.n_results; i++) out_results[i] = ir_result(m, copy, i);
}
