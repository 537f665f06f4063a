/* Ways to make a program smaller: ops replaced by constants, by arguments of the program, by their
 * operands; branches and loop bodies in place of the op that has them; results, arguments,
 * functions, attributes, locations dropped; calls inlined. Extents: shrink_dims.c.
 *
 * Source: delta debugging's "complement" step (Zeller, Hildebrandt 2002) needs places that can be
 * left out in any combination; here what is left out has a stand-in, so that the rest keeps its
 * types.
 */
#include "ir/calls.h"
#include "pass/shrink.h"

#include "pass/pass.h"

static ir_block body_of(const ir_module *m, ir_op function) {
  return function && ir_op_get(m, function)->n_regions ? ir_body(m, function) : IR_NONE;
}

static ir_block main_body(const ir_module *m) { return body_of(m, ir_main_function(m)); }

/* ---- which ops ---- */
static ir_ops collect(arena *a, const ir_module *m, bool (*takes)(const ir_module *, ir_op)) {
  ir_ops found = {0};
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);)
    if (takes(m, w.op)) VEC_PUSH(a, &found, w.op);
  return found;
}

static uint32_t count_ops(ir_module *m, bool (*takes)(const ir_module *, ir_op)) {
  arena *a = arena_create(m->ctx);
  uint32_t n = collect(a, m, takes).count;
  arena_destroy(a);
  return n;
}

static bool is_computed(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return kind != IR_OP_FUNC && kind != IR_OP_MODULE && kind != IR_OP_CONSTANT &&
         !(ir_kind_flags(kind) & IR_FLAG_T);
}

/* Also constants that are not yet as simple as they can be. */
static bool is_not_simple(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_CONSTANT) return is_computed(m, op);
  const ir_attr_data *value = ir_op_attr_of(m, op, "value", IR_ATTR_DENSE);
  return value && !value->splat && ir_is_static_tensor(m, ir_type_of(m, ir_result(m, op, 0)));
}

static bool is_in_main(const ir_module *m, ir_op op) {
  return is_computed(m, op) && ir_op_get(m, op)->block == main_body(m);
}

static bool has_body(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_CASE || kind == IR_OP_IF || kind == IR_OP_WHILE;
}

/* ---- putting something in the place of ops ---- */
typedef struct swap swap;
struct swap {
  ir_module *m;
  ir_map *map;    /* results of ops that went -> what stands in for them */
  bool *selected; /* by op */
  uint32_t n_ops; /* made before the swap began */
  bool *used;     /* by value */
  /* the stand-in of a result, IR_NONE if there is none; ops it makes go to b->block */
  ir_value (*stand_in)(swap *s, ir_builder *b, ir_op op, uint32_t result);
  uint32_t region; /* of the body that replaces an op with regions, counted from the last; stand_in
                      is NULL then */
};

static bool *used_values(arena *a, const ir_module *m) {
  bool *used = ARENA_ARRAY(a, bool, m->values.count);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) used[v] = true;
  return used;
}

static bool replace_results(swap *s, ir_block block, ir_op op) {
  ir_builder b = {.m = s->m, .block = block, .location = ir_op_get(s->m, op)->location};
  uint32_t n = ir_op_get(s->m, op)->n_results;
  ir_value first = ir_op_get(s->m, op)->first_result;
  for (uint32_t i = 0; i < n; i++) {
    if (!s->used[first + i]) continue;
    ir_value value = s->stand_in(s, &b, op, i);
    if (!value) return false;
    ir_map_set(s->map, first + i, value);
  }
  return true;
}

static void emit_op(swap *s, ir_block block, ir_op op);

static bool can_replace_by_body(const ir_module *m, ir_op op, ir_block body) {
  if (!body || !ir_block_get(m, body)->ops.count) return false;
  const ir_op_data *last = ir_op_get(m, ir_terminator(m, body)), *d = ir_op_get(m, op);
  return last->kind == IR_OP_RETURN && last->n_operands == d->n_results &&
         ir_block_get(m, body)->args.count <= d->n_operands;
}

/* The ops of the body in the place of the op; arguments of a loop's body are its operands. */
static bool replace_by_body(swap *s, ir_block block, ir_op op) {
  ir_module *m = s->m;
  ir_op_data d = *ir_op_get(m, op);
  if (s->region >= d.n_regions) return false;
  ir_block body = d.regions[d.n_regions - 1 - s->region];
  if (!can_replace_by_body(m, op, body)) return false;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++)
    ir_map_set(s->map, arg, ir_map_get(s->map, d.operands[i]));
  ir_ops ops = ir_take_ops(m, body);
  for (uint32_t i = 0; i + 1 < ops.count; i++) emit_op(s, block, ops.at[i]);
  ir_map_results(s->map, m, op, ops.at[ops.count - 1]);
  return true;
}

static void swap_in_block(swap *s, ir_block block) {
  ir_ops ops = ir_take_ops(s->m, block);
  for (uint32_t i = 0; i < ops.count; i++) emit_op(s, block, ops.at[i]);
}

static void emit_op(swap *s, ir_block block, ir_op op) {
  bool goes = op < s->n_ops && s->selected[op];
  if (goes && (s->stand_in ? replace_results(s, block, op) : replace_by_body(s, block, op))) return;
  ir_block_append(s->m, block, op);
  for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));) swap_in_block(s, below);
}

static void swap_ops(ir_module *m, uint32_t first, uint32_t count,
                     bool (*takes)(const ir_module *, ir_op),
                     ir_value (*stand_in)(swap *, ir_builder *, ir_op, uint32_t), uint32_t region) {
  arena *a = arena_create(m->ctx);
  ir_ops ops = collect(a, m, takes);
  swap s = {.m = m, .map = ir_map_new(a, m), .n_ops = m->ops.count, .stand_in = stand_in};
  s.region = region;
  s.selected = ARENA_ARRAY(a, bool, m->ops.count);
  s.used = used_values(a, m);
  for (uint32_t i = first; i < ops.count && i < first + count; i++) s.selected[ops.at[i]] = true;
  swap_in_block(&s, ir_top(m));
  ir_replace_uses(m, ir_top(m), s.map);
  arena_destroy(a);
}

/* ---- constants ---- */
static ir_value zero(swap *s, ir_builder *b, ir_op op, uint32_t result) {
  ir_type type = ir_type_of(s->m, ir_result(s->m, op, result));
  return ir_is_static_tensor(s->m, type) ? ir_build_splat_int(b, type, 0) : IR_NONE;
}

static uint32_t count_not_simple(ir_module *m) { return count_ops(m, is_not_simple); }
static void put_constants(ir_module *m, uint32_t first, uint32_t count) {
  swap_ops(m, first, count, is_not_simple, zero, 0);
}

/* ---- operands ---- */
static ir_value like_operand(swap *s, ir_builder *b, ir_op op, uint32_t result) {
  (void)b;
  const ir_module *m = s->m;
  const ir_op_data *d = ir_op_get(m, op);
  ir_type type = ir_type_of(m, d->first_result + result);
  if (result < d->n_operands && ir_type_of(m, d->operands[result]) == type)
    return ir_map_get(s->map, d->operands[result]);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (ir_type_of(m, d->operands[i]) == type) return ir_map_get(s->map, d->operands[i]);
  return IR_NONE;
}

static uint32_t count_computed(ir_module *m) { return count_ops(m, is_computed); }
static void put_operands(ir_module *m, uint32_t first, uint32_t count) {
  swap_ops(m, first, count, is_computed, like_operand, 0);
}

/* ---- bodies ---- */
static uint32_t count_bodies(ir_module *m) { return count_ops(m, has_body); }
static void put_last_body(ir_module *m, uint32_t first, uint32_t count) {
  swap_ops(m, first, count, has_body, NULL, 0);
}
static void put_body_before(ir_module *m, uint32_t first, uint32_t count) {
  swap_ops(m, first, count, has_body, NULL, 1);
}

/* ---- the main function's type and lists ---- */
/* As its arguments and its terminator are. */
static void set_function_type(ir_module *m, ir_op function) {
  arena *a = arena_create(m->ctx);
  ir_block body = body_of(m, function);
  const ir_block_data *b = ir_block_get(m, body);
  const ir_op_data *last = ir_op_get(m, ir_terminator(m, body));
  ir_type *types = ARENA_ARRAY(a, ir_type, b->args.count + last->n_operands);
  for (uint32_t i = 0; i < b->args.count; i++) types[i] = ir_type_of(m, b->args.at[i]);
  for (uint32_t i = 0; i < last->n_operands; i++)
    types[b->args.count + i] = ir_type_of(m, last->operands[i]);
  ir_type type = ir_type_intern(m, &(ir_type_data){.kind = IR_TYPE_FUNCTION,
                                                   .n_types = (int32_t)b->args.count,
                                                   .n_results = (int32_t)last->n_operands,
                                                   .types = types});
  ir_attr attr = ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type});
  ir_op_set_attr(m, function, "function_type", attr, true);
  ir_op_drop_attr(m, m->root, "mhlo.input_output_alias"); /* it counts them */
  arena_destroy(a);
}

static void drop_attr(ir_module *m, ir_op op, uint32_t index) {
  ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = index; i + 1 < d->n_attrs; i++) d->attrs[i] = d->attrs[i + 1];
  d->n_attrs--;
}

/* Lists of attributes per argument or result: keeps the entries that are kept; drops the attribute
 * if it does not fit. */
static void keep_entries(ir_module *m, ir_op function, const char *name, const bool *keep,
                         uint32_t n) {
  ir_attr attr = ir_op_attr(m, function, name);
  if (!attr) return;
  ir_attr_data d = *ir_attr_get(m, attr);
  arena *a = arena_create(m->ctx);
  ir_attr *items = ARENA_ARRAY(a, ir_attr, n + 1);
  int32_t kept = 0;
  for (uint32_t i = 0; i < n && d.kind == IR_ATTR_ARRAY && d.count == (int32_t)n; i++)
    if (keep[i]) items[kept++] = d.items[i];
  d.items = items;
  d.count = kept;
  if (kept) ir_op_set_attr(m, function, name, ir_attr_new(m, &d), true);
  else
    for (uint32_t i = ir_op_get(m, function)->n_attrs; i-- > 0;)
      if (!strcmp(ir_text(m, ir_op_get(m, function)->attrs[i].name), name))
        drop_attr(m, function, i);
  arena_destroy(a);
}

/* ---- arguments in the place of ops ---- */
static ir_value new_argument(swap *s, ir_builder *b, ir_op op, uint32_t result) {
  ir_type type = ir_type_of(s->m, ir_result(s->m, op, result));
  return ir_type_get(s->m, type)->kind == IR_TYPE_TENSOR ? ir_block_arg(s->m, b->block, type)
                                                         : IR_NONE;
}

static uint32_t count_in_main(ir_module *m) { return count_ops(m, is_in_main); }

static void put_arguments(ir_module *m, uint32_t first, uint32_t count) {
  ir_op function = ir_main_function(m);
  keep_entries(m, function, "arg_attrs", NULL, 0); /* the new ones would have none */
  swap_ops(m, first, count, is_in_main, new_argument, 0);
  set_function_type(m, function);
}

/* ---- results ---- */
static uint32_t count_results(ir_module *m) {
  ir_block body = main_body(m);
  return body ? ir_op_get(m, ir_terminator(m, body))->n_operands : 0;
}

static void drop_results(ir_module *m, uint32_t first, uint32_t count) {
  ir_op function = ir_main_function(m);
  ir_op_data *last = ir_op_get(m, ir_terminator(m, body_of(m, function)));
  arena *a = arena_create(m->ctx);
  bool *keep = ARENA_ARRAY(a, bool, last->n_operands);
  uint32_t n = last->n_operands;
  for (uint32_t i = 0; i < n; i++) keep[i] = i < first || i >= first + count;
  ir_keep_operands(m, ir_terminator(m, body_of(m, function)), keep);
  keep_entries(m, function, "res_attrs", keep, n);
  set_function_type(m, function);
  arena_destroy(a);
}

/* What is computed on the way to a result, as results in its place: the way ends at arguments and
 * constants, which are worth nothing as results. */
static bool is_result_worth_having(const ir_module *m, ir_value v) {
  return ir_value_get(m, v)->op && ir_kind_of(m, ir_value_get(m, v)->op) != IR_OP_CONSTANT;
}

typedef struct value_list {
  arena *a;
  bool *has; /* by value */
  VEC(ir_value) list;
} value_list;

static void add_once(value_list *l, ir_value v) {
  if (!l->has[v]) VEC_PUSH(l->a, &l->list, v);
  l->has[v] = true;
}

static void add_operands_of(value_list *l, const ir_module *m, ir_value result) {
  ir_op op = ir_value_get(m, result)->op;
  for (uint32_t i = 0; op && i < ir_op_get(m, op)->n_operands; i++)
    if (is_result_worth_having(m, ir_operand(m, op, i))) add_once(l, ir_operand(m, op, i));
}

static void return_operands(ir_module *m, uint32_t first, uint32_t count) {
  ir_op function = ir_main_function(m);
  ir_op_data *last = ir_op_get(m, ir_terminator(m, body_of(m, function)));
  arena *a = arena_create(m->ctx);
  value_list l = {.a = a, .has = ARENA_ARRAY(a, bool, m->values.count)};
  for (uint32_t i = 0; i < last->n_operands; i++)
    if (i >= first && i < first + count) add_operands_of(&l, m, last->operands[i]);
    else add_once(&l, last->operands[i]);
  last->operands = ARENA_COPY(m->arena, ir_value, l.list.at, l.list.count);
  last->n_operands = l.list.count;
  keep_entries(m, function, "res_attrs", NULL, 0);
  set_function_type(m, function);
  arena_destroy(a);
}

/* ---- arguments that nobody uses ---- */
static uint32_t count_unused_arguments(ir_module *m) {
  arena *a = arena_create(m->ctx);
  bool *used = used_values(a, m);
  ir_block body = main_body(m);
  uint32_t n = 0;
  for (uint32_t i = 0; body && i < ir_block_get(m, body)->args.count; i++)
    n += !used[ir_argument(m, body, i)];
  arena_destroy(a);
  return n;
}

static void drop_arguments(ir_module *m, uint32_t first, uint32_t count) {
  ir_op function = ir_main_function(m);
  ir_block_data *b = ir_block_get(m, body_of(m, function));
  arena *a = arena_create(m->ctx);
  bool *used = used_values(a, m), *keep = ARENA_ARRAY(a, bool, b->args.count);
  uint32_t n = b->args.count, unused = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool is_unused = !used[b->args.at[i]];
    keep[i] = !is_unused || unused < first || unused >= first + count;
    unused += is_unused;
  }
  ir_keep_arguments(m, body_of(m, function), keep);
  keep_entries(m, function, "arg_attrs", keep, n);
  set_function_type(m, function);
  arena_destroy(a);
}

/* ---- functions ---- */
static bool is_other_function(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_FUNC && op != ir_main_function(m);
}

static uint32_t count_functions(ir_module *m) { return count_ops(m, is_other_function); }

static void drop_functions(ir_module *m, uint32_t first, uint32_t count) {
  ir_op function = ir_main_function(m);
  uint32_t seen = 0;
  ir_ops ops = ir_take_ops(m, ir_top(m));
  for (uint32_t i = 0; i < ops.count; i++) {
    bool other = ir_kind_of(m, ops.at[i]) == IR_OP_FUNC && ops.at[i] != function;
    if (!other || seen < first || seen >= first + count) ir_block_append(m, ir_top(m), ops.at[i]);
    seen += other;
  }
}

static bool is_call(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_CALL || ir_kind_of(m, op) == IR_OP_COMPOSITE;
}

/* All calls or none: the pass knows no single one. None where they double. */
static uint32_t count_calls(ir_module *m) {
  return count_ops(m, is_call) > 0 &&
         ir_count_inlined(m) <= ir_most_inlined(ir_count_below(m, m->root));
}

static void inline_calls(ir_module *m, uint32_t first, uint32_t count) {
  (void)first, (void)count;
  weir_options options = WEIR_OPTIONS_INIT;
  pass_ctx p = {.c = m->ctx, .scratch = arena_create(m->ctx), .options = &options};
  weir_status status = pass_inline.run(&p, m);
  CTX_CHECK(m->ctx, status == WEIR_OK);
  arena_destroy(p.scratch);
}

/* ---- attributes and locations ---- */
static bool is_optional(const ir_module *m, ir_op op, const ir_named_attr *attr) {
  const char *name = ir_text(m, attr->name);
  bool lists = ir_kind_of(m, op) == IR_OP_FUNC && strstr(name, "_attrs");
  return !attr->property || lists;
}

typedef struct attr_walk {
  uint32_t seen, first, end; /* those from first to end go */
} attr_walk;

static void walk_attrs(attr_walk *w, ir_module *m, ir_op op) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_attrs; i++) {
    if (!is_optional(m, op, &ir_op_get(m, op)->attrs[i])) continue;
    bool goes = w->seen >= w->first && w->seen < w->end;
    w->seen++;
    if (goes) drop_attr(m, op, i--);
  }
}

static uint32_t walk_all_attrs(ir_module *m, uint32_t first, uint32_t end) {
  attr_walk all = {.first = first, .end = end};
  walk_attrs(&all, m, m->root);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) walk_attrs(&all, m, w.op);
  return all.seen;
}

static uint32_t count_attributes(ir_module *m) { return walk_all_attrs(m, 0, 0); }
static void drop_attributes(ir_module *m, uint32_t first, uint32_t count) {
  walk_all_attrs(m, first, first + count);
}

static uint32_t count_locations(ir_module *m) {
  for (uint32_t i = 1; i < m->ops.count; i++)
    if (m->ops.at[i].location) return 1;
  for (uint32_t i = 1; i < m->values.count; i++)
    if (m->values.at[i].location) return 1;
  return 0;
}

static void drop_locations(ir_module *m, uint32_t first, uint32_t count) {
  (void)first, (void)count;
  for (uint32_t i = 1; i < m->ops.count; i++) m->ops.at[i].location = IR_NONE;
  for (uint32_t i = 1; i < m->values.count; i++) m->values.at[i].location = IR_NONE;
}

/* ---- the table ---- */
const pass_shrink pass_shrinks[] = {
    {"locations", count_locations, drop_locations},
    {"calls", count_calls, inline_calls},
    {"functions", count_functions, drop_functions},
    {"results", count_results, drop_results},
    {"ops by constants", count_not_simple, put_constants},
    {"ops by arguments", count_in_main, put_arguments},
    {"ops by operands", count_computed, put_operands},
    {"results by what they come from", count_results, return_operands},
    {"ops by their last region", count_bodies, put_last_body},
    {"ops by their region before", count_bodies, put_body_before},
    {"unused arguments", count_unused_arguments, drop_arguments},
    {"attributes", count_attributes, drop_attributes},
    {"lengths to 1", pass_count_lengths, pass_dims_to_one},
    {"factors to 1", pass_count_lengths, pass_factors_to_one},
    {"lengths to 2", pass_count_lengths, pass_dims_to_two},
    {"factors to 2", pass_count_lengths, pass_factors_to_two},
    {"lengths halved", pass_count_lengths, pass_dims_to_half},
    {"factors halved", pass_count_lengths, pass_factors_to_half},
    {0}};
