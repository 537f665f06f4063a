/* dce: removes what nobody needs.
 *
 * Requires: a verified module. Breaks: nothing. Removes ops without effects whose results nobody
 * needs; results of weir.loop (with the yielded value; for a carry also the initial value and the
 * block argument), inputs of weir.loop, carries of stablehlo.while that only feed themselves, and
 * what a sort moves along for nobody (gradients of a median).
 * Identity: mark and sweep. Needed are ops with effects, terminators of functions, and what these
 * use; a carry of a loop is needed only if its result or its block argument is, so values that
 * circulate through a loop without ever leaving it fall. A loop that never ends counts as having no
 * effect, as in XLA.
 * A while with attributes keeps all its carries, and a sort with attributes of its users' all its
 * operands: an attribute may list something per value (sdy.sharding).
 * Linear in ops + operands. Functions are kept (see inline).
 * Source: Cytron et al. 1991, section 7.1, with loop carries as nodes of their own.
 */
#include "ir/attrs.h"
#include "pass/pass.h"

typedef struct dce {
  arena *scratch;
  ir_module *m;
  ir_op *functions; /* by ir_str of the name */
  uint32_t n_names;
  uint8_t *effects; /* by op: it or something below or called has effects */
  uint32_t depth;   /* of has_effects() */
  bool *live_op, *live_value;
  ir_value
      *with; /* by value, of live weir.loops: needed with it are, of a result that is a carry, what
                it begins with; of an argument the operand, or the result that it is within */
  VEC(ir_value) values; /* live, their definitions not yet looked at */
  VEC(ir_op) ops;
  ir_map *renamed; /* results that moved up */
  bool changed, has_renamed;
} dce;

/* ---- effects ---- */
enum { UNKNOWN_EFFECTS, BUSY, NO_EFFECTS, HAS_EFFECTS };
enum {
  DEEPEST = 4000
}; /* regions and calls in each other: deeper down everything counts as having effects */

static bool has_effects(dce *d, ir_op op);

static bool callee_has_effects(dce *d, ir_op op, const char *attr_name) {
  const ir_attr_data *name = ir_op_attr_of(d->m, op, attr_name, IR_ATTR_SYMBOL);
  ir_op callee = name && name->text < d->n_names ? d->functions[name->text] : IR_NONE;
  return !callee || !ir_function_body(d->m, callee) || has_effects(d, callee);
}

static bool own_effects(dce *d, ir_op op) {
  switch (ir_kind_of(d->m, op)) {
    case IR_OP_FUNC: return false;
    case IR_OP_CALL: return callee_has_effects(d, op, "callee");
    case IR_OP_COMPOSITE: return callee_has_effects(d, op, "decomposition");
    case IR_OP_CUSTOM_CALL: return ir_op_bool(d->m, op, "has_side_effect", false);
    default: return ir_kind_flags(ir_kind_of(d->m, op)) & IR_FLAG_X;
  }
}

/* Whether the op, anything below it or anything that is called has effects; a function that calls
 * itself does. Every op below is marked too. */
static bool has_effects(dce *d, ir_op op) {
  if (d->effects[op] == BUSY || d->depth > DEEPEST) return true;
  if (d->effects[op] != UNKNOWN_EFFECTS) return d->effects[op] == HAS_EFFECTS;
  d->effects[op] = BUSY;
  d->depth++;
  bool found = own_effects(d, op);
  for (ir_block below, r = 0; (below = ir_next_block(d->m, op, &r));)
    for (ir_op inner, i = 0; (inner = ir_op_at(d->m, below, i)); i++)
      found |= has_effects(d, inner);
  d->depth--;
  d->effects[op] = found ? HAS_EFFECTS : NO_EFFECTS;
  return found;
}

/* ---- loops ---- */
/* dimension, is_stable. */
static bool is_plain_sort(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_SORT && ir_op_get(m, op)->n_attrs <= 2;
}

/* Each of its operands is needed for itself. */
static bool can_shrink(const ir_module *m, ir_op op) {
  return ir_has_own_carries(m, op) || is_plain_sort(m, op);
}

static uint32_t n_inputs(ir_module *m, ir_op loop) {
  return (uint32_t)ir_op_list(m, loop, "in_dims").count;
}

/* A weir.loop's body: 0 of a slice, 1 as one trip, which it may not have. */
static ir_block loop_body(const ir_module *m, ir_op loop, uint32_t k) {
  const ir_op_data *data = ir_op_get(m, loop);
  return k ? data->whole : data->regions[0];
}

/* The argument of that number, of each body that there is. */
static void pair_argument(dce *d, ir_op loop, uint32_t argument, ir_value with) {
  for (uint32_t k = 0; k < 2; k++)
    if (loop_body(d->m, loop, k))
      d->with[ir_argument(d->m, loop_body(d->m, loop, k), argument)] = with;
}

static void pair_loop(dce *d, ir_op loop) {
  ir_ints out_dims = ir_op_list(d->m, loop, "out_dims");
  uint32_t operand = n_inputs(d->m, loop);
  for (uint32_t i = 0; i < operand; i++) pair_argument(d, loop, i + 2, ir_operand(d->m, loop, i));
  for (ir_value v, i = 0; (v = ir_result_at(d->m, loop, i)); i++) {
    CTX_CHECK(d->m->ctx, i < (uint32_t)out_dims.count);
    if (out_dims.at[i] != -1) continue;
    d->with[v] = ir_operand(d->m, loop, operand);
    pair_argument(d, loop, 2 + operand++, v);
  }
}

/* ---- mark ---- */
static void mark_value(dce *d, ir_value v) {
  if (d->live_value[v]) return;
  d->live_value[v] = true;
  VEC_PUSH(d->scratch, &d->values, v);
}

static void mark_op(dce *d, ir_op op) {
  if (d->live_op[op]) return;
  d->live_op[op] = true;
  if (ir_kind_of(d->m, op) == IR_OP_LOOP) pair_loop(d, op);
  VEC_PUSH(d->scratch, &d->ops, op);
}

/* Result i is needed: so are, of a loop, the value yielded for it and, of a carry, the value it
 * starts with; of a sort, what is sorted. */
static void follow_result(dce *d, ir_op op, uint32_t i) {
  const ir_op_data *data = ir_op_get(d->m, op);
  if (data->kind == IR_OP_SORT) {
    mark_value(d, data->operands[i]);
    return;
  }
  if (data->kind == IR_OP_WHILE) {
    mark_value(d, data->operands[i]);
    mark_value(d, ir_yielded(d->m, data->regions[1], i));
    return;
  }
  for (uint32_t k = 0; k < 2; k++)
    if (loop_body(d->m, op, k)) mark_value(d, ir_yielded(d->m, loop_body(d->m, op, k), i));
  ir_value begins_with = d->with[data->first_result + i];
  if (begins_with) mark_value(d, begins_with);
}

/* Block argument v, number i, of the loop or the comparator is needed. */
static void follow_argument(dce *d, ir_op op, ir_value v, uint32_t i) {
  if (ir_kind_of(d->m, op) == IR_OP_SORT) {
    mark_value(d, ir_result(d->m, op, i / 2));
    return;
  }
  if (ir_kind_of(d->m, op) == IR_OP_WHILE) {
    mark_value(d, ir_result(d->m, op, i));
    return;
  }
  if (d->with[v]) mark_value(d, d->with[v]);
}

static void follow_value(dce *d, ir_value v) {
  const ir_value_data *data = ir_value_get(d->m, v);
  ir_op op = data->op ? data->op : ir_block_get(d->m, data->block)->parent;
  mark_op(d, op);
  if (!can_shrink(d->m, op)) return;
  if (data->op) follow_result(d, op, data->index);
  else follow_argument(d, op, v, data->index);
}

/* Of a loop the terminators and what decides on the end; of a sort what decides; of any other op
 * its operands and all that its regions return. */
static void follow_op(dce *d, ir_op op) {
  const ir_op_data *data = ir_op_get(d->m, op);
  bool shrinks = can_shrink(d->m, op);
  ir_op parent = ir_op_around(d->m, op);
  if (parent) mark_op(d, parent);
  bool own =
      ir_kind_flags((ir_kind)data->kind) & IR_FLAG_T && parent && ir_has_own_carries(d->m, parent);
  bool is_condition =
      own && ir_kind_of(d->m, parent) == IR_OP_WHILE && ir_body(d->m, parent) == data->block;
  for (uint32_t i = 0;
       (!shrinks && !own) ? i < data->n_operands : is_condition && i < data->n_operands; i++)
    mark_value(d, data->operands[i]);
  for (ir_block below, r = 0; (below = ir_next_block(d->m, op, &r));)
    if (ir_op_at(d->m, below, 0) && data->kind != IR_OP_MODULE)
      mark_op(d, ir_terminator(d->m, below));
  if (data->whole) mark_op(d, ir_terminator(d->m, data->whole));
}

static void mark_root(dce *d, ir_op op) {
  ir_kind kind = ir_kind_of(d->m, op);
  if (kind == IR_OP_FUNC || kind == IR_OP_MODULE || own_effects(d, op)) mark_op(d, op);
}

static void mark(dce *d, ir_block top) {
  for (ir_walk w = ir_walk_block(d->m, top); ir_next(&w);) mark_root(d, w.op);
  while (d->ops.count || d->values.count) {
    while (d->values.count) follow_value(d, d->values.at[--d->values.count]);
    if (d->ops.count) follow_op(d, d->ops.at[--d->ops.count]);
  }
}

/* ---- sweep ---- */
/* Results have consecutive ids: those that stay move up, and their uses are renamed when the sweep
 * is over. */
static void keep_results(dce *d, ir_op op, const bool *keep) {
  ir_op_data *data = ir_op_get(d->m, op);
  uint32_t n = 0;
  for (uint32_t i = 0; i < data->n_results; i++) {
    if (!keep[i]) continue;
    if (n != i) {
      ir_value_get(d->m, data->first_result + n)->type = ir_type_of(d->m, data->first_result + i);
      ir_map_set(d->renamed, data->first_result + i, data->first_result + n);
      d->has_renamed = true;
    }
    n++;
  }
  data->n_results = n;
}

static void keep_ints(dce *d, ir_op op, const char *name, const bool *keep) {
  int32_t count, n = 0;
  const int64_t *old = ir_op_ints(d->m, op, name, &count);
  int64_t *kept = ARENA_ARRAY(d->scratch, int64_t, (size_t)count + 1);
  for (int32_t i = 0; i < count; i++)
    if (keep[i]) kept[n++] = old[i];
  if (n != count) ir_op_set_attr(d->m, op, name, ir_attr_i64s(d->m, kept, n), true);
}

static bool all(const bool *keep, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!keep[i]) return false;
  return true;
}

static void shrink_while(dce *d, ir_op op) {
  ir_op_data *data = ir_op_get(d->m, op);
  const bool *keep =
      ARENA_COPY(d->scratch, bool, &d->live_value[data->first_result], data->n_results);
  if (all(keep, data->n_results)) return;
  d->changed = true;
  ir_keep_operands(d->m, ir_terminator(d->m, data->regions[1]), keep);
  ir_keep_arguments(d->m, data->regions[0], keep);
  ir_keep_arguments(d->m, data->regions[1], keep);
  ir_keep_operands(d->m, op, keep);
  keep_results(d, op, keep);
}

static bool is_read(const dce *d, ir_op loop, uint32_t arg) {
  bool read = false;
  for (uint32_t k = 0; k < 2; k++)
    if (loop_body(d->m, loop, k))
      read |= d->live_value[ir_argument(d->m, loop_body(d->m, loop, k), arg)];
  return read;
}

/* Operand and argument i + 2 go together; an input stays if its argument is needed in one of the
 * bodies, a carry if its result is. */
static void shrink_loop(dce *d, ir_op op) {
  ir_op_data *data = ir_op_get(d->m, op);
  uint32_t n = data->n_operands, inputs = n_inputs(d->m, op);
  bool *keep_args = ARENA_ARRAY(d->scratch, bool, (size_t)n + 2);
  const bool *keep_outs =
      ARENA_COPY(d->scratch, bool, &d->live_value[data->first_result], data->n_results);
  keep_args[0] = keep_args[1] = true;
  for (uint32_t i = 0; i < inputs; i++) keep_args[i + 2] = is_read(d, op, i + 2);
  for (uint32_t r = 0, carry = inputs; r < data->n_results; r++)
    if (d->with[data->first_result + r]) keep_args[2 + carry++] = keep_outs[r];
  if (all(keep_args, n + 2) && all(keep_outs, data->n_results)) return;
  d->changed = true;
  for (uint32_t k = 0; k < 2; k++) {
    ir_block block = loop_body(d->m, op, k);
    if (block) ir_keep_operands(d->m, ir_terminator(d->m, block), keep_outs);
    if (block) ir_keep_arguments(d->m, block, keep_args);
  }
  CTX_CHECK(d->m->ctx, inputs <= n);
  ir_keep_operands(d->m, op, keep_args + 2);
  keep_results(d, op, keep_outs);
  keep_ints(d, op, "in_dims", keep_args + 2);
  keep_ints(d, op, "in_units", keep_args + 2);
  keep_ints(d, op, "out_dims", keep_outs);
  keep_ints(d, op, "out_units", keep_outs);
}

/* Renames what lost results in loops' bodies as one trip, too. */
static void rename_in_wholes(dce *d, ir_block top) {
  for (ir_walk w = ir_walk_block(d->m, top); ir_next(&w);) {
    ir_block whole = ir_op_get(d->m, w.op)->whole;
    if (whole) ir_replace_uses(d->m, whole, d->renamed);
  }
}

static void shrink_sort(dce *d, ir_op op) {
  ir_op_data *data = ir_op_get(d->m, op);
  uint32_t n = data->n_results;
  const bool *keep = ARENA_COPY(d->scratch, bool, &d->live_value[data->first_result], n);
  bool *pairs = ARENA_ARRAY(d->scratch, bool, 2 * (size_t)n);
  if (all(keep, n)) return;
  for (uint32_t i = 0; i < 2 * n; i++) pairs[i] = keep[i / 2];
  d->changed = true;
  ir_keep_arguments(d->m, data->regions[0], pairs);
  ir_keep_operands(d->m, op, keep);
  keep_results(d, op, keep);
}

static void sweep(dce *d, ir_block block) {
  ir_block_data *b = ir_block_get(d->m, block);
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->ops.count; i++) {
    ir_op op = b->ops.at[i];
    if (!d->live_op[op]) continue;
    b->ops.at[n++] = op;
    ir_op_data *data = ir_op_get(d->m, op);
    if (data->kind == IR_OP_LOOP) shrink_loop(d, op);
    else if (is_plain_sort(d->m, op)) shrink_sort(d, op);
    else if (ir_has_own_carries(d->m, op)) shrink_while(d, op);
    for (ir_block below, r = 0; (below = ir_next_block(d->m, op, &r));) sweep(d, below);
    if (data->whole) sweep(d, data->whole);
  }
  d->changed |= n != b->ops.count;
  b->ops.count = n;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  dce d = {.scratch = p->scratch,
           .m = m,
           .n_names = m->strs.count,
           .renamed = ir_map_new(p->scratch, m)};
  ir_block top = ir_top(m);
  d.functions = pass_functions(p->scratch, m);
  d.effects = ARENA_ARRAY(p->scratch, uint8_t, m->ops.count);
  d.live_op = ARENA_ARRAY(p->scratch, bool, m->ops.count);
  d.live_value = ARENA_ARRAY(p->scratch, bool, m->values.count);
  d.with = ARENA_ARRAY(p->scratch, ir_value, m->values.count);
  has_effects(&d, m->root);
  mark(&d, top);
  sweep(&d, top);
  if (d.has_renamed) ir_replace_uses(m, top, d.renamed);
  if (d.has_renamed) rename_in_wholes(&d, top);
  p->changed = d.changed;
  return WEIR_OK;
}

const pass pass_dce = {"dce", run};
