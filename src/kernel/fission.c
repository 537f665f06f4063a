#include "kernel/fission.h"

#include "ir/attrs.h"
#include "ir/compares.h"

typedef struct parting {
  ir_module *m;
  ir_op loop;
  ir_block body;
  arena *a;
  ir_loop of;
  bool *carried; /* by value: made from carries */
} parting;

static bool find_carried(parting *w) {
  ir_module *m = w->m;
  const ir_block_data *body = ir_block_get(m, w->body);
  w->carried = ARENA_ARRAY(w->a, bool, m->values.count);
  for (uint32_t i = 2 + w->of.n_inputs; i < body->args.count; i++)
    w->carried[body->args.at[i]] = true;
  for (uint32_t i = 0; i + 1 < body->ops.count; i++) {
    const ir_op_data *d = ir_op_get(m, body->ops.at[i]);
    bool any = false;
    if (d->kind == IR_OP_WHILE) return false; /* which may read what is not its operand */
    for (uint32_t k = 0; k < d->n_operands; k++) any |= w->carried[d->operands[k]];
    for (uint32_t j = 0; j < d->n_results; j++) w->carried[d->first_result + j] = any;
  }
  ir_op end = ir_terminator(m, w->body);
  uint32_t sliced = 0;
  for (uint32_t j = 0; j < w->of.n_results; j++) {
    if (w->of.out_dims[j] < 0) continue;
    ir_value v = ir_operand(m, end, j);
    if (w->carried[v] || !ir_value_get(m, v)->op) return false;
    sliced++;
  }
  return sliced > 0 && sliced < w->of.n_results;
}

typedef struct half { /* operands, and what the attributes say of them and the results */
  ir_value *operands;
  ir_type *types;
  int64_t *in_dims, *in_units, *out_dims, *out_units;
  uint32_t n_operands;
  int32_t n_in, n_out;
} half;

static void add_input(half *h, ir_value v, int64_t dim, int64_t unit) {
  h->operands[h->n_operands++] = v;
  h->in_dims[h->n_in] = dim;
  h->in_units[h->n_in++] = unit;
}

static half half_of(parting *w, bool second, const ir_value *first_results) {
  uint32_t room = ir_op_get(w->m, w->loop)->n_operands + w->of.n_results;
  half h = {ARENA_ARRAY(w->a, ir_value, room), ARENA_ARRAY(w->a, ir_type, room),
            ARENA_ARRAY(w->a, int64_t, room),  ARENA_ARRAY(w->a, int64_t, room),
            ARENA_ARRAY(w->a, int64_t, room),  ARENA_ARRAY(w->a, int64_t, room)};
  for (uint32_t i = 0; i < w->of.n_inputs; i++)
    add_input(&h, ir_operand(w->m, w->loop, i), w->of.in_dims[i], w->of.in_units[i]);
  for (uint32_t j = 0; j < w->of.n_results; j++) {
    bool carries = w->of.out_dims[j] < 0;
    if (second && !carries) add_input(&h, first_results[j], w->of.out_dims[j], w->of.out_units[j]);
    if (carries != second) continue;
    h.types[h.n_out] = ir_type_of(w->m, ir_result(w->m, w->loop, j));
    h.out_dims[h.n_out] = w->of.out_dims[j];
    h.out_units[h.n_out++] = w->of.out_units[j];
  }
  for (uint32_t i = w->of.n_inputs; second && i < ir_op_get(w->m, w->loop)->n_operands; i++)
    h.operands[h.n_operands++] = ir_operand(w->m, w->loop, i);
  return h;
}

static void set_ints(ir_module *m, ir_op op, const char *name, const int64_t *values, int32_t n,
                     bool property) {
  ir_op_set_attr(m, op, name, ir_attr_i64s(m, values, n), property);
}

static ir_op new_loop(parting *w, const half *h) {
  ir_module *m = w->m;
  ir_op_desc d = ir_op_desc_of(m, w->loop);
  d.n_operands = h->n_operands;
  d.operands = h->operands;
  d.n_results = (uint32_t)h->n_out;
  d.result_types = h->types;
  ir_op op = ir_op_new(m, IR_NONE, &d);
  set_ints(m, op, "in_dims", h->in_dims, h->n_in, false);
  set_ints(m, op, "in_units", h->in_units, h->n_in, false);
  set_ints(m, op, "out_dims", h->out_dims, h->n_out, true);
  set_ints(m, op, "out_units", h->out_units, h->n_out, true);
  return op;
}

/* The arguments of the body: what the loop had, and in the second part the first's results. */
static void add_arguments(parting *w, ir_block block, bool second, ir_map *map) {
  ir_module *m = w->m;
  ir_op end = ir_terminator(m, w->body);
  uint32_t n = ir_block_get(m, w->body)->args.count, inputs = 2 + w->of.n_inputs;
  for (uint32_t i = 0; i < (second ? n : inputs); i++) {
    for (uint32_t j = 0; i == inputs && j < w->of.n_results; j++)
      if (w->of.out_dims[j] >= 0) ir_block_arg(m, block, ir_type_of(m, ir_operand(m, end, j)));
    ir_value arg = ir_argument(m, w->body, i);
    ir_map_set(map, arg, ir_block_arg(m, block, ir_type_of(m, arg)));
  }
}

static ir_value *parted_arguments(parting *w, ir_block block) {
  ir_value *args = ARENA_ARRAY(w->a, ir_value, w->of.n_results);
  uint32_t next = 2 + w->of.n_inputs;
  for (uint32_t j = 0; j < w->of.n_results; j++)
    if (w->of.out_dims[j] >= 0) args[j] = ir_argument(w->m, block, next++);
  return args;
}

static void copy_body(parting *w, ir_op part, bool second) {
  ir_module *m = w->m;
  ir_block block = ir_region_block(m, part, 0);
  ir_map *map = ir_map_new(w->a, m);
  add_arguments(w, block, second, map);
  ir_value *args = second ? parted_arguments(w, block) : NULL;
  ir_op end = ir_terminator(m, w->body);
  uint32_t n = 0;
  for (ir_op op, i = 0; (op = ir_body_op_at(m, w->body, i)); i++) {
    bool from_carries = false;
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_operands; k++)
      from_carries |= w->carried[ir_operand(m, op, k)];
    if (!second && from_carries) continue;
    ir_copy_op(m, block, op, map);
    for (uint32_t j = 0; second && j < w->of.n_results; j++) {
      ir_value v = ir_operand(m, end, j);
      if (w->of.out_dims[j] >= 0 && ir_value_get(m, v)->op == op) ir_map_set(map, v, args[j]);
    }
  }
  ir_value *yields = ARENA_ARRAY(w->a, ir_value, w->of.n_results);
  for (uint32_t j = 0; j < w->of.n_results; j++)
    if ((w->of.out_dims[j] < 0) == second) yields[n++] = ir_map_get(map, ir_operand(m, end, j));
  ir_builder b = {m, block, IR_NONE};
  ir_build_return(&b, ir_kind_of(m, end), yields, n);
  ir_drop_unused(m, block);
}

static void collect_results(parting *w, ir_op part, bool second, ir_value *out_results) {
  uint32_t next = 0;
  for (uint32_t j = 0; j < w->of.n_results; j++)
    if ((w->of.out_dims[j] < 0) == second) out_results[j] = ir_result(w->m, part, next++);
}

static bool compares(const ir_module *m, ir_op op) { return ir_compares_rounded_by(m, op); }

bool kernel_fission(ir_module *m, ir_op loop, ir_op out_parts[2], ir_value *out_results) {
  parting w = {.m = m, .loop = loop, .of = ir_loop_get(m, loop), .body = ir_body(m, loop)};
  w.a = arena_create(m->ctx);
  bool parts = find_carried(&w);
  bool must_agree =
      ir_op_bool(m, loop, "agree", false) || ir_any(ir_walk_block(m, w.body), compares);
  for (int32_t i = 0; parts && i < 2; i++) {
    half h = half_of(&w, i == 1, out_results);
    out_parts[i] = new_loop(&w, &h);
    if (must_agree) ir_op_set_attr(m, out_parts[i], "agree", ir_attr_bool(m, true), true);
    copy_body(&w, out_parts[i], i == 1);
    collect_results(&w, out_parts[i], i == 1, out_results);
  }
  arena_destroy(w.a);
  return parts;
}
