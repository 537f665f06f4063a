#include "split/sink.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/flops.h"
#include "split/agreement.h"
#include "split/parts.h"

typedef struct sinking {
  ir_module *m;
  arena *scratch;
  ir_block block; /* that the seed stands in */
  int64_t threshold_bytes;
  bool *seen; /* by value: can_copy has answered; where that is yes, what is copied */
  bool made_parts;
} sinking;

/* ---- the producers ---- */
static bool is_copied(const sinking *s, ir_value v) {
  return ir_is_made_in(s->m, v, s->block) && ir_value_bytes(s->m, v) > s->threshold_bytes;
}

static bool can_copy(const sinking *s, ir_value v, int depth) {
  if (!is_copied(s, v) || s->seen[v]) return true;
  s->seen[v] = true;
  ir_op op = ir_value_get(s->m, v)->op;
  ir_kind kind = ir_kind_of(s->m, op);
  bool control = kind == IR_OP_WHILE || kind == IR_OP_CASE || kind == IR_OP_IF ||
                 kind == IR_OP_LOOP || kind == IR_OP_CALL;
  if (depth == 0 || control || ir_has_effects(s->m, op)) return false;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++)
    if (!can_copy(s, ir_operand(s->m, op, i), depth - 1)) return false;
  return true;
}

static void copy_into(const sinking *s, ir_block to, ir_value v, ir_map *map) {
  if (!is_copied(s, v) || ir_map_has(map, v)) return;
  ir_op op = ir_value_get(s->m, v)->op;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++)
    copy_into(s, to, ir_operand(s->m, op, i), map);
  ir_copy_op(s->m, to, op, map);
}

/* Copies of v's ops in front of the block's; what stood for v there (stand_in) becomes the copy. */
static void sink_into_block(const sinking *s, ir_block to, ir_value v, ir_value stand_in) {
  ir_module *m = s->m;
  ir_map *map = ir_map_new(s->scratch, m), *replace = ir_map_new(s->scratch, m);
  ir_ops old = ir_take_ops(m, to);
  copy_into(s, to, v, map);
  ir_map_set(replace, stand_in, ir_map_get(map, v));
  for (uint32_t i = 0; i < old.count;
       i++) { /* not the copies, which may read what makes stand_in */
    ir_rename_within(m, old.at[i], replace);
    ir_block_append(m, to, old.at[i]);
  }
}

/* ---- who reads it ---- */
/* What reads parts of stand_in reads parts that are made there; what reads more reads a copy. */
static void sink_for_readers(sinking *s, ir_block body, ir_value v, ir_value stand_in) {
  s->made_parts |= split_read_parts(s->m, s->block, v, s->threshold_bytes, body, stand_in);
  if (ir_is_used_in(s->m, body, stand_in)) sink_into_block(s, body, v, stand_in);
}

static bool sink_captured(sinking *s, ir_op user, ir_value v) {
  bool any = false;
  for (uint32_t r = 0; r < ir_op_get(s->m, user)->n_regions; r++) {
    ir_block block = ir_op_get(s->m, user)->regions[r];
    if (!block || !ir_is_used_in(s->m, block, v)) continue;
    sink_for_readers(s, block, v, v);
    any = true;
  }
  return any;
}

/* ---- a while without one of its carries; not where attributes may list something per value
 * (sdy.sharding) ---- */
/* Uses of the lost result read v. */
static ir_op drop_carry(const sinking *s, ir_op loop, uint32_t carry, ir_value v) {
  ir_module *m = s->m;
  ir_builder b = {m, IR_NONE, ir_op_get(m, loop)->location};
  ir_map *map = ir_map_new(s->scratch, m);
  ir_map_set(map, ir_result(m, loop, carry), v);
  ir_op fresh = ir_build_while_with(&b, loop, carry, NULL, 0, map);
  ir_block block = ir_op_get(m, loop)->block;
  ir_ops old = ir_take_ops(m, block);
  for (uint32_t i = 0; i < old.count; i++)
    ir_block_append(m, block, old.at[i] == loop ? fresh : old.at[i]);
  ir_replace_uses(m, block, map);
  return fresh;
}

static bool sink_carried(sinking *s, ir_op *loop, ir_value v) {
  ir_module *m = s->m;
  if (ir_kind_of(m, *loop) != IR_OP_WHILE || ir_op_get(m, *loop)->n_attrs) return false;
  for (uint32_t i = 0; i < ir_op_get(m, *loop)->n_operands; i++) {
    if (ir_operand(m, *loop, i) != v || !ir_is_handed_on(m, ir_while_body(m, *loop), i)) continue;
    ir_value arg = ir_argument(m, ir_while_body(m, *loop), i),
             in_condition = ir_argument(m, ir_body(m, *loop), i);
    if (ir_is_used_in(m, ir_body(m, *loop), in_condition)) continue;
    ir_op end = ir_terminator(m, ir_while_body(m, *loop));
    ir_op_get(m, end)->operands[i] = IR_NONE; /* so that the yield is no use */
    sink_for_readers(s, ir_while_body(m, *loop), v, arg);
    *loop = drop_carry(s, *loop, i, v);
    return true;
  }
  return false;
}

/* ---- a weir.loop, whose body reads nothing but operands ---- */
static void mark_arguments(const ir_module *m, ir_block block, bool *inside) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, block, i)); i++) inside[arg] = true;
}

static ir_values captured_by(const sinking *s, ir_block body) {
  const ir_module *m = s->m;
  bool *inside = ARENA_ARRAY(s->scratch, bool, m->values.count);
  ir_values found = {0};
  mark_arguments(m, body, inside);
  for (ir_walk w = ir_walk_block(m, body); ir_next(&w);) {
    for (ir_value v, i = 0; (v = ir_result_at(m, w.op, i)); i++) inside[v] = true;
    for (ir_block below, r = 0; (below = ir_next_block(m, w.op, &r));)
      mark_arguments(m, below, inside);
  }
  for (ir_walk w = ir_walk_block(m, body); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) {
      if (!inside[v]) VEC_PUSH(s->scratch, &found, v);
      inside[v] = true;
    }
  return found;
}

/* Input `gone` leaves the loop, the values of `more` become whole inputs. */
static void change_inputs(const sinking *s, ir_op loop, uint32_t gone, const ir_values *more) {
  enum { INDICES = 2 }; /* start and lo */
  ir_module *m = s->m;
  ir_loop l = ir_loop_get(m, loop);
  ir_block body = ir_body(m, loop);
  uint32_t n_old = ir_op_get(m, loop)->n_operands, n = n_old - 1 + more->count, at = 0;
  ir_value *operands = ARENA_ARRAY(m->arena, ir_value, n),
           *args = ARENA_ARRAY(m->arena, ir_value, n);
  int64_t *dims = ARENA_ARRAY(s->scratch, int64_t, n), *units = ARENA_ARRAY(s->scratch, int64_t, n);
  ir_map *map = ir_map_new(s->scratch, m);
  for (uint32_t i = 0; i <= n_old; i++) {
    for (uint32_t k = 0; i == l.n_inputs && k < more->count; k++, at++) {
      ir_value v = operands[at] = more->at[k];
      args[at] = ir_block_arg(m, body, ir_type_of(m, v));
      dims[at] = -1, units[at] = 1;
      ir_map_set(map, v, args[at]);
    }
    if (i == gone || i == n_old) continue;
    operands[at] = ir_operand(m, loop, i);
    args[at] = ir_argument(m, body, INDICES + i);
    if (i < l.n_inputs) dims[at] = l.in_dims[i], units[at] = l.in_units[i];
    at++;
  }
  ir_block_data *b = ir_block_get(m, body);
  b->args.count = INDICES + n;
  for (uint32_t i = 0; i < n; i++) {
    b->args.at[INDICES + i] = args[i];
    ir_value_get(m, args[i])->index = INDICES + i;
  }
  ir_op_get(m, loop)->operands = operands;
  ir_op_get(m, loop)->n_operands = n;
  ir_op_get(m, loop)->whole = IR_NONE; /* which reads what it did: no kernel */
  int32_t n_inputs = (int32_t)(l.n_inputs - 1 + more->count);
  ir_op_set_attr(m, loop, "in_dims", ir_attr_i64s(m, dims, n_inputs), false);
  ir_op_set_attr(m, loop, "in_units", ir_attr_i64s(m, units, n_inputs), false);
  ir_replace_uses(m, body, map);
}

static bool sink_into_loop(const sinking *s, ir_op loop, ir_value v) {
  ir_module *m = s->m;
  if (ir_kind_of(m, loop) != IR_OP_LOOP) return false;
  ir_loop l = ir_loop_get(m, loop);
  for (uint32_t i = 0; i < l.n_inputs; i++) {
    if (ir_operand(m, loop, i) != v || l.in_dims[i] >= 0) continue;
    ir_block body = ir_body(m, loop);
    sink_into_block(s, body, v, ir_argument(m, body, 2 + i));
    ir_values more = captured_by(s, body);
    change_inputs(s, loop, i, &more);
    return true;
  }
  return false;
}

static sinking sinking_of(ir_module *m, ir_block block, int64_t threshold_bytes) {
  sinking s = {m, arena_create(m->ctx), block, threshold_bytes};
  s.seen = ARENA_ARRAY(s.scratch, bool, m->values.count);
  return s;
}

enum { DEEPEST = 64 };

/* What was copied and has no reader left goes: XLA makes equal values once, and the estimate would
 * name this one where another stays. */
static void drop_unread(const sinking *s, ir_value v, uint32_t *uses) {
  ir_op op = ir_value_get(s->m, v)->op;
  if (!is_copied(s, v) || ir_has_uses(s->m, op, uses)) return;
  ir_block_data *b = ir_block_get(s->m, s->block);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < b->ops.count; i++)
    if (b->ops.at[i] != op) b->ops.at[kept++] = b->ops.at[i];
  if (kept == b->ops.count) return;
  b->ops.count = kept;
  for (uint32_t k = 0; k < ir_op_get(s->m, op)->n_operands; k++) {
    uses[ir_operand(s->m, op, k)]--;
    drop_unread(s, ir_operand(s->m, op, k), uses);
  }
}

bool split_sink(ir_module *m, ir_block block, ir_value seed, int64_t threshold_bytes,
                bool into_loops, bool *out_parts) {
  sinking s = sinking_of(m, block, threshold_bytes);
  bool any = false;
  if (is_copied(&s, seed) && can_copy(&s, seed, DEEPEST) &&
      !split_meets_selected(s.scratch, m, block, s.seen)) {
    ir_users users = ir_users_of_block(s.scratch, m, block);
    for (ir_op user, i = 0; (user = ir_user_at(&users, seed, i)); i++) {
      while (sink_carried(&s, &user, seed)) any = true;
      if (ir_kind_of(m, user) == IR_OP_LOOP)
        while (into_loops && sink_into_loop(&s, user, seed)) any = true;
      else any |= sink_captured(&s, user, seed);
    }
  }
  if (any) drop_unread(&s, seed, ir_count_uses(s.scratch, m, block));
  *out_parts = s.made_parts;
  arena_destroy(s.scratch);
  return any;
}

/* Of what stands for v in the while's body: all uses are parts, but that it is handed on. */
static bool are_parts(const sinking *s, ir_op loop, ir_value v, ir_value stand_in,
                      uint32_t yields) {
  ir_block body = ir_while_body(s->m, loop);
  uint32_t uses = ir_count_uses(s->scratch, s->m, body)[stand_in];
  return split_count_parts(s->m, s->block, v, s->threshold_bytes, body, stand_in) + yields == uses;
}

static bool reads_parts(const sinking *s, ir_op loop, ir_value v) {
  ir_module *m = s->m;
  if (ir_kind_of(m, loop) != IR_OP_WHILE || ir_op_get(m, loop)->n_attrs ||
      ir_is_used_in(m, ir_body(m, loop), v) || !are_parts(s, loop, v, v, 0))
    return false;
  for (uint32_t i = 0; i < ir_op_get(m, loop)->n_operands; i++) {
    if (ir_operand(m, loop, i) != v) continue;
    if (!ir_is_handed_on(m, ir_while_body(m, loop), i) ||
        ir_is_used_in(m, ir_body(m, loop), ir_argument(m, ir_body(m, loop), i)) ||
        !are_parts(s, loop, v, ir_argument(m, ir_while_body(m, loop), i), 1))
      return false;
  }
  return true;
}

/* What is so much smaller than the value stays outside: an operand before it was broadcast. */
static int64_t whole_bytes(const ir_module *m, ir_value v, int64_t threshold_bytes) {
  enum { MOST_TIMES = 8 };
  return max64(threshold_bytes, ir_value_bytes(m, v) / MOST_TIMES);
}

bool split_is_read_in_parts(ir_module *m, ir_value v, int64_t threshold_bytes) {
  ir_block block = ir_value_block(m, v);
  sinking s = sinking_of(m, block, whole_bytes(m, v, threshold_bytes));
  bool is = is_copied(&s, v);
  ir_users users = {0};
  if (is) users = ir_users_of_block(s.scratch, m, block);
  for (ir_op user, i = 0; is && (user = ir_user_at(&users, v, i)); i++)
    is = reads_parts(&s, user, v);
  arena_destroy(s.scratch);
  return is;
}

bool split_sink_parts(ir_module *m, ir_value v, int64_t threshold_bytes) {
  bool parts;
  return split_is_read_in_parts(m, v, threshold_bytes) &&
         split_sink(m, ir_value_block(m, v), v, whole_bytes(m, v, threshold_bytes), false, &parts);
}

/* ---- a copy for each use ---- */
typedef struct use {
  ir_op op;
  uint32_t operand;
} use;

typedef VEC(use) uses;

static uses uses_of(const sinking *s, const ir_users *users, ir_value v) {
  uses found = {0};
  for (ir_op op, i = 0; (op = ir_user_at(users, v, i)); i++)
    for (uint32_t k = 0; k < ir_op_get(s->m, op)->n_operands; k++)
      if (ir_operand(s->m, op, k) == v) VEC_PUSH(s->scratch, &found, ((use){op, k}));
  return found;
}

static void give_copies(const sinking *s, ir_value v, const uses *u) {
  ir_module *m = s->m;
  ir_ops old = ir_take_ops(m, s->block);
  for (uint32_t i = 0; i < old.count; i++) {
    ir_block_append(m, s->block, old.at[i]);
    for (uint32_t k = 1; old.at[i] == ir_value_get(m, v)->op && k < u->count; k++) {
      ir_map *map = ir_map_new(s->scratch, m);
      copy_into(s, s->block, v, map);
      ir_op_get(m, u->at[k].op)->operands[u->at[k].operand] = ir_map_get(map, v);
    }
  }
}

/* Many copies of what was seen may together take no more than the block takes. */
static bool are_cheap(const sinking *s, uint32_t copies) {
  int64_t flops = 0;
  for (ir_value v = 1; v < s->m->values.count; v++)
    if (s->seen[v])
      flops = saturated_sum(flops, ir_op_flops(s->scratch, s->m, ir_value_get(s->m, v)->op));
  return saturated_product(copies, flops) <= ir_block_flops(s->scratch, s->m, s->block);
}

static bool can_detach(const sinking *s, ir_value v, const uses *u) {
  enum { FEW_USES = 4, MOST_USES = 16 };
  if (u->count < 2 || u->count > MOST_USES || !is_copied(s, v) || !can_copy(s, v, DEEPEST))
    return false;
  return u->count <= FEW_USES || are_cheap(s, u->count - 1);
}

/* Copies are the same to the bit, or nobody minds. */
bool split_can_detach(ir_module *m, ir_block block, const ir_users *users, ir_value v,
                      int64_t threshold_bytes, bool compares_selected) {
  sinking s = sinking_of(m, block, threshold_bytes);
  uses u = uses_of(&s, users, v);
  bool can = can_detach(&s, v, &u) &&
             !(compares_selected && split_meets_selected(s.scratch, m, block, s.seen));
  arena_destroy(s.scratch);
  return can;
}

void split_detach(ir_module *m, ir_block block, const ir_users *users, ir_value v,
                  int64_t threshold_bytes) {
  sinking s = sinking_of(m, block, threshold_bytes);
  uses u = uses_of(&s, users, v);
  CTX_CHECK(m->ctx, can_detach(&s, v, &u));
  give_copies(&s, v, &u);
  arena_destroy(s.scratch);
}
