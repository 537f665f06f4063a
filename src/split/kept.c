#include "split/kept.h"
#include "split/stages.h"
#include "split/state.h"

/* ---- what is kept ---- */
bool split_uses_below(const split_region *r, ir_op op, ir_value v) {
  for (uint32_t i = 0; i < ir_op_get(r->m, op)->n_operands; i++)
    if (ir_operand(r->m, op, i) == v) return false;
  return true;
}

/* A member makes the slices of v at this position. */
static bool is_made_at(const split_region *r, ir_value v, split_pos pos) {
  uint32_t index = ir_value_get(r->m, v)->index;
  for (split_member *k = split_first_member(r, ir_value_get(r->m, v)->op); k;
       k = split_next_member(r, k))
    if (split_contains(k->factor.results[index], pos)) return true;
  return false;
}

/* How op reads v: whole, or in slices that are taken of the whole; in slices that a loop makes; at
 * several positions both. */
static void note_reads(const split_region *r, ir_op op, ir_value v, bool *whole, bool *sliced) {
  if (!r->member_of[op] || split_uses_below(r, op, v)) *whole = true;
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    for (uint32_t j = 0; j < ir_op_get(r->m, op)->n_operands; j++)
      if (ir_operand(r->m, op, j) == v) {
        split_pos at = k->factor.operands[j];
        *(at.dim < 0 || !is_made_at(r, v, at) ? whole : sliced) = true;
      }
}

/* Whatever the stages are. */
static bool is_read_both_ways(const split_region *r, ir_value v) {
  bool whole = false, sliced = false;
  for (uint32_t i = r->state->users.first[v]; i < r->state->users.first[v + 1]; i++)
    note_reads(r, r->state->users.ops[i], v, &whole, &sliced);
  return whole && sliced;
}

typedef struct keeper {
  split_region *r;
  uint32_t *place; /* by op of the block: in program order, from 1 */
  uint32_t *last; /* by value: the place of the last op that needs it, if all that may be kept is */
  ir_value *taken; /* by value: what making it takes whole, of these what is needed the shortest */
} keeper;

static bool is_dissolved(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  return split_is_large(r, v) && r->member_of[op] && !r->is_kept[v];
}

/* The value, or what its slices are made of. */
static void take(keeper *k, ir_value v, bool is_whole, ir_value *in_out_taken) {
  const split_region *r = k->r;
  if (!ir_is_made_in(r->m, v, r->block) || !split_is_large(r, v)) return;
  ir_value u = is_whole ? v : is_dissolved(r, v) ? k->taken[v] : IR_NONE;
  if (u && (!*in_out_taken || k->last[u] < k->last[*in_out_taken])) *in_out_taken = u;
}

static ir_value taken_by(keeper *k, ir_op op) {
  const split_region *r = k->r;
  ir_value taken = IR_NONE;
  for (split_member *by = split_first_member(r, op); by; by = split_next_member(r, by))
    for (uint32_t j = 0; j < ir_op_get(r->m, op)->n_operands; j++)
      take(k, ir_operand(r->m, op, j), by->factor.operands[j].dim < 0, &taken);
  return taken;
}

/* Before `last` is known: whether it may be kept. */
static bool is_kept(const keeper *k, ir_value v) {
  ir_value u = k->taken[v];
  const split_region *r = k->r;
  if (!u || !split_is_large(r, v) || !is_read_both_ways(r, v)) return false;
  bool is_freed = k->last[u] < k->last[v] && ir_value_bytes(r->m, u) >= ir_value_bytes(r->m, v);
  return !k->last[u] || is_freed;
}

/* From the first op to the last. */
static bool note_kept(keeper *k) {
  split_region *r = k->r;
  bool any = false;
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++) {
    ir_value taken = r->member_of[op] ? taken_by(k, op) : IR_NONE;
    for (ir_value v, j = 0; taken && (v = ir_result_at(r->m, op, j)); j++) {
      k->taken[v] = taken;
      any |= r->is_kept[v] = is_kept(k, v);
    }
  }
  return any;
}

/* Readers of a value that is made anew need what it is made of. */
static uint32_t last_need(const keeper *k, ir_value v) {
  const split_region *r = k->r;
  uint32_t last = 0;
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++) {
    if (k->place[user] > last) last = k->place[user];
    for (ir_value made, j = 0; (made = ir_result_at(r->m, user, j)); j++) {
      if (is_dissolved(r, made) && k->last[made] > last) last = k->last[made];
    }
  }
  return last;
}

static void note_last(keeper *k) {
  const split_region *r = k->r;
  const ir_block_data *b = ir_block_get(r->m, r->block);
  k->place = ARENA_ARRAY(r->scratch, uint32_t, r->m->ops.count);
  for (uint32_t i = 0; i < b->ops.count; i++) k->place[b->ops.at[i]] = i + 1;
  for (uint32_t i = b->ops.count; i-- > 0;)
    for (ir_value v, j = 0; (v = ir_result_at(r->m, b->ops.at[i], j)); j++) {
      if (split_is_large(r, v)) k->last[v] = last_need(k, v);
    }
}

void split_find_kept(split_region *r) {
  uint32_t n = r->m->values.count;
  keeper k = {.r = r,
              .last = ARENA_ARRAY(r->scratch, uint32_t, n),
              .taken = ARENA_ARRAY(r->scratch, ir_value, n)};
  r->keeps_any = note_kept(&k);
  if (!r->keeps_any) return;
  note_last(&k);
  memset(k.taken, 0, n * sizeof *k.taken);
  r->keeps_any = note_kept(&k);
}

/* ---- members that no loop makes, for others read what is kept ---- */
static bool is_first_to_put_out(const split_region *r, const split_member *member) {
  for (split_member *k = split_first_member(r, member->op); k; k = split_next_member(r, k))
    if (k->stage < member->stage || (k->stage == member->stage && k < member)) return false;
  return true;
}

/* A member takes of v what another makes inside its loop, or nothing. */
static bool does_without(split_region *r, const split_member *reader, ir_value v, split_pos made) {
  if (reader->is_idle) return true;
  for (uint32_t j = 0; j < ir_op_get(r->m, reader->op)->n_operands; j++) {
    split_pos at = reader->factor.operands[j];
    if (ir_operand(r->m, reader->op, j) != v) continue;
    if (at.dim < 0 || split_pos_equal(at, made) || !split_is_inside(r, v, at, reader->stage))
      return false;
  }
  return !split_n_streams(reader);
}

static bool all_do_without(split_region *r, ir_value v, split_pos made) {
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++) {
    if (!r->member_of[user] || split_uses_below(r, user, v)) return false;
    for (split_member *k = split_first_member(r, user); k; k = split_next_member(r, k))
      if (!does_without(r, k, v, made)) return false;
  }
  return true;
}

static bool is_idle(split_region *r, const split_member *member) {
  const split_factor *f = &member->factor;
  if (f->role != SPLIT_PARALLEL || f->sums || r->state->effects[member->op]) return false;
  for (ir_value v, j = 0; (v = ir_result_at(r->m, member->op, j)); j++) {
    if (!split_is_large(r, v)) return false;
    bool is_read =
        r->is_kept[v] ? is_first_to_put_out(r, member) : !all_do_without(r, v, f->results[j]);
    if (is_read) return false;
  }
  return true;
}

/* From the last op to the first, so that readers are known. */
void split_find_idle(split_region *r) {
  const ir_block_data *b = ir_block_get(r->m, r->block);
  for (uint32_t i = b->ops.count; i-- > 0;)
    for (split_member *k = split_first_member(r, b->ops.at[i]); k; k = split_next_member(r, k))
      k->is_idle = is_idle(r, k);
}
