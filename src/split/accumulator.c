#include "split/accumulator.h"

#include "ir/fold.h"
#include "split/linear.h"
#include "split/shards.h"

typedef struct sinking {
  ir_module *m;
  arena *scratch;
  ir_block block; /* of the loop and its readers */
  ir_op loop;
  uint32_t carry;
  ir_users users;
  bool *depends;      /* by value: the total, and what is linear in it, but for the outcomes */
  bool *reads;        /* by op: of such a value */
  bool *early;        /* by op: stands behind the loop, and the readers need it in the loop */
  ir_ops path;        /* the readers, in order */
  ir_values outcomes; /* the small ends of the path, which are carried instead */
} sinking;

static ir_value sum_of(const sinking *t) { return ir_result(t->m, t->loop, t->carry); }

/* ---- the loop ---- */
/* The operand of op that is v, if just one is. */
static bool find_operand(const ir_module *m, ir_op op, ir_value v, uint32_t *out_index) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    if (ir_operand(m, op, i) == v) *out_index = i, n++;
  return n == 1;
}

/* The carry comes back with something added to it, perhaps by loops inside, and nobody else looks
 * at it. */
static bool is_total(arena *scratch, const ir_module *m, ir_op loop, uint32_t carry) {
  const ir_op_data *d = ir_op_get(m, loop);
  if (d->kind != IR_OP_WHILE || d->n_attrs ||
      ir_is_used_in(m, d->regions[0], ir_argument(m, d->regions[0], carry)))
    return false;
  ir_block body = ir_while_body(m, loop);
  uint32_t *uses = ir_count_uses(scratch, m, body), k;
  ir_value arg = ir_argument(m, body, carry), at = arg;
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    if (uses[at] != 1 || !find_operand(m, op, at, &k)) continue;
    if (ir_kind_of(m, op) == IR_OP_ADD) at = ir_result(m, op, 0);
    else if (is_total(scratch, m, op, k)) at = ir_result(m, op, k);
    else return false;
  }
  return at != arg && uses[at] == 1 && ir_yielded(m, body, carry) == at;
}

/* ---- the readers ---- */
static void depend(sinking *t, ir_value v) {
  t->depends[v] = true;
  for (uint32_t i = t->users.first[v]; i < t->users.first[v + 1]; i++)
    t->reads[t->users.ops[i]] = true;
}

static bool is_joint(split_linearity l, uint32_t operand) {
  return l.jointly && operand >= l.first && operand < l.first + l.count;
}

static bool is_linear_reader(const sinking *t, ir_op op) {
  split_linearity l = split_linearity_of(t->m, op);
  uint32_t n = 0;
  for (uint32_t k = 0; k < ir_op_get(t->m, op)->n_operands; k++) {
    if (!t->depends[ir_operand(t->m, op, k)]) continue;
    if (k < l.first || k >= l.first + l.count) return false;
    n++;
  }
  return n == 1 || (n > 1 && l.jointly);
}

/* From the total to where it has become small. */
static bool find_path(sinking *t) {
  int64_t total = ir_value_bytes(t->m, sum_of(t)), left = total / 2;
  depend(t, sum_of(t));
  for (ir_op op, i = 0; (op = ir_op_at(t->m, t->block, i)); i++) {
    if (!t->reads[op]) continue;
    if (!is_linear_reader(t, op)) return false;
    VEC_PUSH(t->scratch, &t->path, op);
    ir_value v = ir_result(t->m, op, 0);
    int64_t bytes = ir_value_bytes(t->m, v);
    if (bytes > total / 4) {
      depend(t, v);
      continue;
    }
    left -= bytes;
    VEC_PUSH(t->scratch, &t->outcomes, v);
  }
  return left >= 0 && t->outcomes.count > 0;
}

/* ---- what they need besides ---- */
typedef struct need {
  sinking *t;
  bool *after; /* by op: the loop, and all behind it */
  bool *of_path;
  bool failed;
} need;

static void need_value(need *n, ir_value v) {
  const ir_module *m = n->t->m;
  ir_op op = ir_value_get(m, v)->op;
  if (!op || !n->after[op] || n->t->early[op]) return;
  if (op == n->t->loop || n->of_path[op] || ir_has_effects(m, op)) {
    n->failed = true;
    return;
  }
  n->t->early[op] = true;
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value x, i = 0; (x = ir_operand_at(m, w.op, i)); i++) need_value(n, x);
}

/* Moves in front of the loop what the readers need there; false if that is made of its results. */
static bool find_early(sinking *t) {
  const ir_module *m = t->m;
  need n = {.t = t,
            .after = ARENA_ARRAY(t->scratch, bool, m->ops.count),
            .of_path = ARENA_ARRAY(t->scratch, bool, m->ops.count)};
  bool behind = false;
  for (ir_op op, i = 0; (op = ir_op_at(m, t->block, i)); i++) {
    behind |= op == t->loop;
    n.after[op] = behind;
  }
  for (uint32_t i = 0; i < t->path.count; i++) n.of_path[t->path.at[i]] = true;
  for (ir_op op, i = 0; (op = ir_listed(&t->path, i)); i++) {
    split_linearity l = split_linearity_of(m, op);
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_operands; k++)
      if (!t->depends[ir_operand(m, op, k)] && !is_joint(l, k))
        need_value(&n, ir_operand(m, op, k));
  }
  return !n.failed;
}

/* ---- a reader of one of the total's parts; IR_NONE is a part that is 0 ---- */
static ir_value read_part(const sinking *t, ir_builder *b, ir_op op, ir_value *operands) {
  ir_module *m = t->m;
  split_linearity l = split_linearity_of(m, op);
  ir_kind kind = ir_kind_of(m, op);
  bool any = false;
  b->location = ir_op_get(m, op)->location;
  uint32_t n = ir_op_get(m, op)->n_operands;
  for (uint32_t k = 0; k < n; k++) {
    if (!operands[k] && !l.jointly) return IR_NONE;
    any |= is_joint(l, k) && operands[k];
  }
  if (l.jointly && !any) return IR_NONE;
  if ((kind == IR_OP_ADD || kind == IR_OP_SUBTRACT) && !operands[1]) return operands[0];
  if (kind == IR_OP_ADD && !operands[0]) return operands[1];
  if (kind == IR_OP_SUBTRACT && !operands[0]) return ir_build_unary(b, IR_OP_NEGATE, operands[1]);
  for (uint32_t k = 0; k < n; k++)
    if (!operands[k]) operands[k] = ir_build_zeros(b, ir_type_of(m, ir_operand(m, op, k)));
  return split_build_linear(b, op, operands);
}

static ir_value part_in(const ir_map *map, ir_value v) {
  return ir_map_has(map, v) ? ir_map_get(map, v) : IR_NONE;
}

/* The readers' results for one part of the total, in `map`. What is joined to it (a in a + S)
 * belongs to the part that has it. */
static void read_sum(const sinking *t, ir_builder *b, ir_op op, bool joined, ir_map *map) {
  const ir_module *m = t->m;
  split_linearity l = split_linearity_of(m, op);
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_value *operands = ARENA_ARRAY(t->scratch, ir_value, n);
  for (uint32_t k = 0; k < n; k++) {
    ir_value v = ir_operand(m, op, k);
    if (t->depends[v]) operands[k] = part_in(map, v);
    else if (!is_joint(l, k) || (joined && !ir_is_zero(m, v))) operands[k] = v;
  }
  ir_map_set(map, ir_result(m, op, 0), read_part(t, b, op, operands));
}

/* ---- the loop anew ---- */
/* sums[k] and what the readers make of u. */
static void add_to_sums(const sinking *t, ir_builder *b, ir_value u, ir_value *sums) {
  ir_map *map = ir_map_new(t->scratch, t->m);
  ir_map_set(map, sum_of(t), u);
  for (uint32_t i = 0; i < t->path.count; i++) read_sum(t, b, t->path.at[i], false, map);
  for (uint32_t k = 0; k < t->outcomes.count; k++)
    sums[k] = ir_build_add(b, sums[k], ir_map_get(map, t->outcomes.at[k]));
}

/* Appends to `to` the loop without the carry and with the sums, which begin and end in `sums`; its
 * other results are in map. */
static void convert(const sinking *t, ir_block to, ir_op loop, uint32_t carry, ir_value *sums,
                    ir_map *map) {
  ir_module *m = t->m;
  uint32_t n = ir_op_get(m, loop)->n_operands, n_sums = t->outcomes.count, k;
  ir_block body = ir_while_body(m, loop);
  ir_value at = ir_argument(m, body, carry);
  ir_builder b = {m, to, ir_op_get(m, loop)->location}, inside = {m, body, b.location};
  ir_op made = ir_build_while_with(&b, loop, carry, sums, n_sums, map);
  ir_ops old = ir_take_ops(m, body);
  ir_value *inner = ir_op_get(m, old.at[old.count - 1])->operands + n - 1;
  for (uint32_t i = 0; i + 1 < old.count; i++) {
    ir_op op = old.at[i];
    if (!find_operand(m, op, at, &k)) ir_block_append(m, body, op);
    else if (ir_kind_of(m, op) == IR_OP_ADD) {
      add_to_sums(t, &inside, ir_operand(m, op, 1 - k), inner);
      at = ir_result(m, op, 0);
    } else {
      at = ir_result(m, op, k);
      convert(t, body, op, k, inner, map);
    }
  }
  ir_block_append(m, body, old.at[old.count - 1]);
  for (uint32_t i = 0; i < n_sums; i++) sums[i] = ir_result(m, made, n - 1 + i);
}

/* ---- the block anew ---- */
static void build_loop(const sinking *t, ir_value *sums, ir_map *renamed) {
  ir_builder b = {t->m, t->block, ir_op_get(t->m, t->loop)->location};
  for (uint32_t k = 0; k < t->outcomes.count; k++)
    sums[k] = ir_build_zeros(&b, ir_type_of(t->m, t->outcomes.at[k]));
  convert(t, t->block, t->loop, t->carry, sums, renamed);
}

/* The op reads what the total begins with, and what is joined to it; an outcome is that and the
 * sum. */
static void build_reader(const sinking *t, ir_op op, const ir_value *sums, ir_map *begins,
                         ir_map *renamed) {
  ir_builder b = {t->m, t->block, ir_op_get(t->m, op)->location};
  ir_value v = ir_result(t->m, op, 0);
  read_sum(t, &b, op, true, begins);
  for (uint32_t k = 0; k < t->outcomes.count; k++) {
    if (t->outcomes.at[k] != v) continue;
    ir_value first = part_in(begins, v);
    ir_map_set(renamed, v, first ? ir_build_add(&b, first, sums[k]) : sums[k]);
  }
}

static void rebuild_block(const sinking *t) {
  ir_module *m = t->m;
  ir_ops old = ir_take_ops(m, t->block);
  ir_map *renamed = ir_map_new(t->scratch, m), *begins = ir_map_new(t->scratch, m);
  ir_value *sums = ARENA_ARRAY(t->scratch, ir_value, t->outcomes.count);
  ir_value initial = ir_operand(m, t->loop, t->carry);
  ir_map_set(begins, sum_of(t), ir_is_zero(m, initial) ? IR_NONE : initial);
  uint32_t n_read = 0, at = 0;
  while (old.at[at] != t->loop) ir_block_append(m, t->block, old.at[at++]);
  for (uint32_t i = at + 1; i < old.count; i++)
    if (t->early[old.at[i]]) ir_block_append(m, t->block, old.at[i]);
  build_loop(t, sums, renamed);
  for (uint32_t i = at + 1; i < old.count; i++) {
    ir_op op = old.at[i];
    if (t->early[op]) continue;
    if (n_read < t->path.count && t->path.at[n_read] == op) {
      build_reader(t, op, sums, begins, renamed);
      n_read++;
    } else ir_block_append(m, t->block, op);
  }
  ir_replace_uses(m, t->block, renamed);
}

/* ---- as a whole ---- */
static bool can_sum(const sinking *t) {
  bool can = ir_is_static_tensor(t->m, ir_type_of(t->m, sum_of(t))) &&
             split_may_add_parts(t->m, sum_of(t));
  for (uint32_t k = 0; k < t->outcomes.count; k++)
    can &= split_may_add_parts(t->m, t->outcomes.at[k]);
  return can;
}

static bool analyse(sinking *t) {
  ir_module *m = t->m;
  if (!is_total(t->scratch, m, t->loop, t->carry) || split_is_spread(m, t->block)) return false;
  t->users = ir_users_of_block(t->scratch, m, t->block);
  t->depends = ARENA_ARRAY(t->scratch, bool, m->values.count);
  t->reads = ARENA_ARRAY(t->scratch, bool, m->ops.count);
  t->early = ARENA_ARRAY(t->scratch, bool, m->ops.count);
  return find_path(t) && can_sum(t) && find_early(t);
}

static sinking sinking_of(ir_module *m, ir_op loop, uint32_t carry) {
  return (sinking){m, arena_create(m->ctx), ir_op_get(m, loop)->block, loop, carry};
}

bool split_can_sink_accumulator(ir_module *m, ir_op loop, uint32_t carry) {
  sinking t = sinking_of(m, loop, carry);
  bool can = analyse(&t);
  arena_destroy(t.scratch);
  return can;
}

void split_sink_accumulator(ir_module *m, ir_op loop, uint32_t carry) {
  sinking t = sinking_of(m, loop, carry);
  bool can = analyse(&t);
  CTX_CHECK(m->ctx, can);
  rebuild_block(&t);
  arena_destroy(t.scratch);
}
