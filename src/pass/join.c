/* join: manual computations of which one reads what the other makes become one.
 *
 * JAX differentiates shard_map into two of them, with all that the backward pass needs as results
 * of the first: large values that are put out whole, because each body is split on its own.
 * Requires: a verified module. Breaks: nothing.
 * Identity: a value that leaves a manual computation under a sharding and enters the next under the
 * same one, along the same axes, is on each device what it was.
 * Left alone: what is read under another sharding than it was made under (XLA exchanges it between
 * devices), and where an op between the two reads the first or has effects.
 * Source: Shardy, manual_computation.
 */
#include "base/strbuf.h"
#include "ir/shardings.h"
#include "pass/pass.h"

typedef struct joining {
  pass_ctx *p;
  ir_module *m;
  ir_block block; /* the main function's */
  ir_op first, second;
  ir_map *renamed; /* results of both -> the joined one's */
} joining;

static bool is_manual(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_SDY_MANUAL_COMPUTATION && ir_body(m, op);
}

static bool is_result_of(const ir_module *m, ir_value v, ir_op op) {
  return ir_value_get(m, v)->op == op;
}

/* ---- whether ---- */
static bool reads(const ir_module *m, ir_op op, ir_op what) {
  for (uint32_t j = 0; j < ir_op_get(m, what)->n_results; j++)
    if (ir_reads(m, op, ir_result(m, what, j))) return true;
  return false;
}

static bool same_axes(const ir_module *m, ir_op a, ir_op b) {
  const char *x = ir_sharding_text(m, ir_op_attr(m, a, "manual_axes")),
             *y = ir_sharding_text(m, ir_op_attr(m, b, "manual_axes"));
  return x && y && !strcmp(x, y);
}

static bool same_sharding(const char *x, const char *y) {
  size_t n = ir_sharding_length(x);
  return n && n == ir_sharding_length(y) && !memcmp(x, y, n);
}

static bool can_join(const joining *j) {
  const ir_module *m = j->m;
  bool any = false;
  for (ir_value v, i = 0; (v = ir_operand_at(m, j->second, i)); i++) {
    if (!is_result_of(m, v, j->first)) continue;
    any = true;
    if (!same_sharding(ir_sharding_of(m, j->first, "out_shardings", ir_value_get(m, v)->index),
                       ir_sharding_of(m, j->second, "in_shardings", i)))
      return false;
  }
  return any && same_axes(m, j->first, j->second);
}

/* The next manual computation after position `at` that reads the one there; IR_NONE if something
 * stands in between. */
static ir_op find_reader(const ir_module *m, ir_block block, uint32_t at) {
  const ir_block_data *b = ir_block_get(m, block);
  for (uint32_t i = at + 1; i < b->ops.count; i++) {
    ir_op op = b->ops.at[i];
    if (reads(m, op, b->ops.at[at])) return is_manual(m, op) ? op : IR_NONE;
    if (ir_has_effects(m, op)) return IR_NONE;
  }
  return IR_NONE;
}

/* ---- how ---- */
typedef struct sides { /* operands or results of the joined op, with their shardings */
  VEC(ir_value) values;
  strbuf shardings;
} sides;

static void add_side(joining *j, sides *s, ir_value v, ir_op op, const char *name, uint32_t i) {
  const char *sharding = ir_sharding_of(j->m, op, name, i);
  strbuf_printf(&s->shardings, "%s%.*s", s->values.count ? ", " : "",
                (int)ir_sharding_length(sharding), sharding);
  VEC_PUSH(j->p->scratch, &s->values, v);
}

static sides no_sides(joining *j) {
  sides s = {.shardings = strbuf_make(j->p->scratch)};
  strbuf_puts(&s.shardings, "#sdy.sharding_per_value<[");
  return s;
}

static bool is_read_elsewhere(const joining *j, ir_value v) {
  for (ir_walk w = ir_walk_block(j->m, j->block); ir_next(&w);)
    for (ir_value x, i = 0; w.op != j->second && (x = ir_operand_at(j->m, w.op, i)); i++)
      if (x == v) return true;
  return false;
}

static void add_operands(joining *j, sides *s, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(j->m, op, i)); i++) {
    if (!is_result_of(j->m, v, j->first)) add_side(j, s, v, op, "in_shardings", i);
  }
}

static void add_results(joining *j, sides *s, ir_op op) {
  for (ir_value v, i = 0; (v = ir_result_at(j->m, op, i)); i++) {
    if (op == j->second || is_read_elsewhere(j, v)) add_side(j, s, v, op, "out_shardings", i);
  }
}

static ir_named_attr list_attr(joining *j, const char *name, sides *s) {
  strbuf_puts(&s->shardings, "]>");
  return (ir_named_attr){ir_intern_string(j->m, name), ir_attr_other(j->m, s->shardings.text),
                         true};
}

static ir_op new_manual(joining *j, sides *operands, sides *results) {
  ir_module *m = j->m;
  const ir_type *types = ir_types_of(j->p->scratch, m, results->values.at, results->values.count);
  ir_named_attr attrs[] = {
      list_attr(j, "in_shardings", operands),
      {ir_intern_string(m, "manual_axes"), ir_op_attr(m, j->second, "manual_axes"), true},
      list_attr(j, "out_shardings", results)};
  return ir_build_op(&(ir_builder){m, IR_NONE, ir_op_get(m, j->second)->location},
                     IR_OP_SDY_MANUAL_COMPUTATION, operands->values.count, operands->values.at,
                     results->values.count, types, 3, attrs, 1);
}

/* The ops of one body; map: values of the two bodies -> those of the joined one. */
static void copy_body(joining *j, ir_block to, ir_op op, ir_map *map) {
  ir_module *m = j->m;
  ir_block from = ir_body(m, op);
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++) {
    ir_value arg = ir_argument(m, from, i);
    if (is_result_of(m, v, j->first)) {
      ir_value yielded = ir_yielded(m, ir_body(m, j->first), ir_value_get(m, v)->index);
      ir_map_set(map, arg, ir_map_get(map, yielded));
    } else ir_map_set(map, arg, ir_block_arg(m, to, ir_type_of(m, arg)));
  }
  ir_copy_body(m, from, to, NULL, map);
}

static void yield_results(joining *j, ir_block to, const sides *results, ir_map *map) {
  ir_module *m = j->m;
  ir_value *yields = ARENA_ARRAY(j->p->scratch, ir_value, results->values.count + 1);
  for (uint32_t i = 0; i < results->values.count; i++) {
    const ir_value_data *v = ir_value_get(m, results->values.at[i]);
    yields[i] = ir_map_get(map, ir_yielded(m, ir_body(m, v->op), v->index));
  }
  ir_builder b = {m, to, ir_op_get(m, j->second)->location};
  ir_build_return(&b, IR_OP_SDY_RETURN, yields, results->values.count);
}

static void replace_both(joining *j, ir_op joined) {
  ir_ops ops = ir_take_ops(j->m, j->block);
  for (uint32_t i = 0; i < ops.count; i++)
    if (ops.at[i] != j->first)
      ir_block_append(j->m, j->block, ops.at[i] == j->second ? joined : ops.at[i]);
  ir_replace_uses(j->m, j->block, j->renamed);
}

static void join(joining *j) {
  ir_map *map = ir_map_new(j->p->scratch, j->m);
  j->renamed = ir_map_new(j->p->scratch, j->m);
  sides operands = no_sides(j), results = no_sides(j);
  add_operands(j, &operands, j->first);
  add_operands(j, &operands, j->second);
  add_results(j, &results, j->first);
  add_results(j, &results, j->second);
  ir_op joined = new_manual(j, &operands, &results);
  ir_block body = ir_region_block(j->m, joined, 0);
  copy_body(j, body, j->first, map);
  copy_body(j, body, j->second, map);
  yield_results(j, body, &results, map);
  CTX_CHECK(j->m->ctx, ir_op_get(j->m, joined)->n_operands == ir_block_get(j->m, body)->args.count);
  for (uint32_t i = 0; i < results.values.count; i++)
    ir_map_set(j->renamed, results.values.at[i], ir_result(j->m, joined, i));
  replace_both(j, joined);
}

/* Joins one pair, if there is one. */
static bool join_some(pass_ctx *p, ir_module *m, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    joining j = {.p = p, .m = m, .block = block, .first = op};
    if (!is_manual(m, j.first)) continue;
    j.second = find_reader(m, block, i);
    if (!j.second || !can_join(&j)) continue;
    join(&j);
    return true;
  }
  return false;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  ir_op main = ir_main_function(m);
  ir_block block = main && ir_op_get(m, main)->n_regions ? ir_body(m, main) : IR_NONE;
  while (block && join_some(p, m, block)) p->changed = true;
  return WEIR_OK;
}

const pass pass_join = {"join", run};
