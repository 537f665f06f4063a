#include "split/axes.h"

#include "split/factors.h"

enum { MOST_ENDS = 64 }; /* of legs that are looked at, for a state */

typedef struct legs {
  arena *a;
  ir_module *m;
  ir_block body;
  int64_t threshold_bytes;
  ir_users users;
} legs;

typedef struct leg {
  ir_value from, end;
  bool *has; /* by op of the body: nobody else needs it */
} leg;

typedef VEC(leg) leg_list;

/* ---- what a leg is made by ---- */
static bool is_read_within(const legs *k, ir_value v, const bool *has) {
  for (ir_op user, i = 0; (user = ir_user_at(&k->users, v, i)); i++)
    if (!has[user]) return false;
  return true;
}

static bool may_move(const legs *k, ir_op op, const leg *l) {
  bool is_read = op == ir_value_get(k->m, l->end)->op;
  if (ir_has_effects(k->m, op)) return false;
  for (ir_value v, j = 0; (v = ir_result_at(k->m, op, j)); j++) {
    if (v == l->end) continue;
    if (!is_read_within(k, v, l->has)) return false;
    is_read |= ir_user_at(&k->users, v, 0) != IR_NONE;
  }
  return is_read;
}

/* All that is made of `from` goes through `end`. */
static bool is_leg(const legs *k, leg *l) {
  l->has = ARENA_ARRAY(k->a, bool, k->m->ops.count);
  ir_op first = ir_value_get(k->m, l->from)->op;
  const ir_block_data *b = ir_block_get(k->m, k->body);
  for (uint32_t i = b->ops.count - 1; i-- > 0;)
    l->has[b->ops.at[i]] = b->ops.at[i] != first && may_move(k, b->ops.at[i], l);
  return is_read_within(k, l->from, l->has);
}

/* ---- along which dimension ---- */
typedef struct tracing {
  const legs *k;
  const leg *l;
  bool *depends;   /* by value: large, and made of the leg's beginning */
  bool *is_placed; /* by value: the leg's slices read, or make, its part at `at` */
  split_pos *at;
} tracing;

static bool is_large(const legs *k, ir_value v) {
  return ir_value_bytes(k->m, v) > k->threshold_bytes;
}

static void find_dependent(tracing *t) {
  const legs *k = t->k;
  t->depends[t->l->from] = true;
  for (ir_op op, i = 0; (op = ir_body_op_at(k->m, k->body, i)); i++) {
    if (!t->l->has[op] || !ir_reads_any(k->m, op, t->depends)) continue;
    for (ir_value v, j = 0; (v = ir_result_at(k->m, op, j)); j++) t->depends[v] = is_large(k, v);
  }
}

/* Two windows of one value are of one dimension. */
static bool place(tracing *t, ir_value v, split_pos pos) {
  if (!t->depends[v]) return true;
  if (pos.dim < 0 || pos.mirrored) return false;
  if (t->is_placed[v] && (t->at[v].dim != pos.dim || t->at[v].unit != pos.unit)) return false;
  t->is_placed[v] = true;
  t->at[v] = pos;
  return true;
}

/* What its regions read of the block is read whole. */
static bool reads_below(const tracing *t, ir_op op) {
  const ir_module *m = t->k->m;
  ir_walk w = ir_walk_op(m, op);
  for (ir_next(&w); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++)
      if (t->depends[v]) return true;
  return false;
}

static bool place_op(tracing *t, ir_op op) {
  ir_module *m = t->k->m;
  split_factor f;
  for (ir_value v, j = 0; (v = ir_result_at(m, op, j)); j++) {
    if (!t->is_placed[v]) continue;
    bool is_while = ir_kind_of(m, op) == IR_OP_WHILE;
    if (!split_trace(t->k->a, m, op, !is_while, j, t->at[v], &f)) return false;
    if (f.role != SPLIT_PARALLEL || reads_below(t, op)) return false;
    for (ir_value x, i = 0; (x = ir_operand_at(m, op, i)); i++)
      if (!place(t, x, f.operands[i])) return false;
    return true;
  }
  return true;
}

/* Slices of the end along the dimension are made of such of the beginning. */
static bool is_along(const legs *k, const leg *l, int32_t dim) {
  uint32_t n = k->m->values.count;
  tracing t = {k, l, ARENA_ARRAY(k->a, bool, n), ARENA_ARRAY(k->a, bool, n),
               ARENA_ARRAY(k->a, split_pos, n)};
  find_dependent(&t);
  if (!t.depends[l->end] || !place(&t, l->end, (split_pos){.dim = dim, .unit = 1})) return false;
  const ir_block_data *b = ir_block_get(k->m, k->body);
  for (uint32_t i = b->ops.count - 1; i-- > 0;)
    if (l->has[b->ops.at[i]] && !place_op(&t, b->ops.at[i])) return false;
  return t.is_placed[l->from] && t.at[l->from].dim == dim && t.at[l->from].unit == 1;
}

static bool is_along_any(const legs *k, leg *l) {
  if (!is_leg(k, l)) return false;
  for (int32_t d = 0; d < ir_type_at(k->m, l->from)->rank; d++)
    if (is_along(k, l, d)) return true;
  return false;
}

/* ---- which legs ---- */
/* The longest leg; its end is IR_NONE: there is none. */
static leg longest_from(const legs *k, ir_value from, ir_value next) {
  leg found = {0}, l = {.from = from, .end = next};
  if (is_along_any(k, &l)) return l;
  int32_t looked_at = 0;
  for (ir_op op, i = 0; (op = ir_body_op_at(k->m, k->body, i)); i++)
    for (ir_value v, j = 0; (v = ir_result_at(k->m, op, j)); j++) {
      l = (leg){.from = from, .end = v};
      if (v == from || ir_type_of(k->m, v) != ir_type_of(k->m, from)) continue;
      if (looked_at++ == MOST_ENDS) return found;
      if (is_along_any(k, &l)) found = l;
    }
  return found;
}

/* From the state to what is next in its place; none, if there is no way by legs. */
static leg_list find_legs(const legs *k, ir_value state, ir_value next) {
  leg_list all = {0};
  for (ir_value from = state; from != next;) {
    leg l = longest_from(k, from, next);
    if (!l.end) return (leg_list){0};
    VEC_PUSH(k->a, &all, l);
    from = l.end;
  }
  return all;
}

/* ---- as whiles ---- */
/* In the place of the leg's last op. */
static ir_value build_leg(const legs *k, ir_builder *b, const leg *l, const ir_ops *ops,
                          ir_map *map) {
  ir_module *m = k->m;
  ir_value init[] = {ir_build_int(b, 0), ir_map_get(map, l->from)};
  ir_op loop = ir_build_while(b, init, 2);
  ir_build_while_below(m, loop, 1);
  ir_builder in = {m, ir_while_body(m, loop), b->location};
  ir_map_set(map, l->from, ir_argument(m, in.block, 1));
  for (uint32_t i = 0; i < ops->count; i++)
    if (l->has[ops->at[i]]) ir_copy_op(m, in.block, ops->at[i], map);
  ir_value counter = ir_argument(m, in.block, 0),
           yields[] = {ir_build_binary(&in, IR_OP_ADD, counter, ir_build_int_like(&in, counter, 1)),
                       ir_map_get(map, l->end)};
  ir_build_return(&in, IR_OP_RETURN, yields, 2);
  return ir_result(m, loop, 1);
}

static const leg *leg_of(const leg_list *all, ir_op op) {
  for (uint32_t i = 0; i < all->count; i++)
    if (all->at[i].has[op]) return &all->at[i];
  return NULL;
}

static void build_legs(const legs *k, const leg_list *all) {
  ir_module *m = k->m;
  ir_ops ops = ir_take_ops(m, k->body);
  ir_map *map = ir_map_new(k->a, m);
  ir_builder b = {m, k->body, ir_op_get(m, ops.at[0])->location};
  for (uint32_t i = 0; i < ops.count; i++) {
    const leg *l = leg_of(all, ops.at[i]);
    if (l && ir_value_get(m, l->end)->op != ops.at[i]) continue;
    b.location = ir_op_get(m, ops.at[i])->location;
    if (l) ir_map_set(map, l->end, build_leg(k, &b, l, &ops, map));
    else {
      ir_rename_within(m, ops.at[i], map);
      ir_block_append(m, k->body, ops.at[i]);
    }
  }
}

static int32_t part_state(ir_module *m, ir_block body, uint32_t i, int64_t threshold_bytes) {
  ir_value state = ir_argument(m, body, i), next = ir_yielded(m, body, i);
  ir_type type = ir_type_of(m, state);
  bool may = ir_is_static_tensor(m, type) && ir_type_of(m, next) == type &&
             ir_is_made_in(m, next, body) && ir_type_get(m, type)->rank > 1;
  if (!may || ir_value_bytes(m, state) <= threshold_bytes) return 0;
  arena *a = arena_create(m->ctx);
  legs k = {a, m, body, threshold_bytes, ir_users_of_block(a, m, body)};
  leg_list all = find_legs(&k, state, next);
  int32_t n = all.count > 1 ? (int32_t)all.count : 0;
  if (n) build_legs(&k, &all);
  arena_destroy(a);
  return n;
}

int32_t split_part_axes(ir_module *m, ir_block top, int64_t threshold_bytes) {
  int32_t n = 0;
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) {
    if (ir_kind_of(m, w.op) != IR_OP_WHILE) continue;
    ir_block body = ir_while_body(m, w.op);
    for (uint32_t i = 0; i < ir_block_get(m, body)->args.count; i++)
      n += part_state(m, body, i, threshold_bytes);
  }
  return n;
}
