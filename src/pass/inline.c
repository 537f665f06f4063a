/* inline: calls become the callee's body.
 *
 * Requires: a verified module. Breaks: nothing; private functions that nobody names any more go.
 * Identity: func.call @f(x) and stablehlo.composite with decomposition @f are f's body with x for
 * its arguments, by definition; the order of effects stays.
 * composite "chlo.top_k" {k} is the op chlo.top_k, which is what JAX turned into the composite.
 * Left alone: calls of functions that (directly or not) call themselves, of functions without a
 * body, calls marked no_inline, and
 * everything once the program would grow beyond ir_most_inlined().
 * Functions are done callees first, so every body is copied when it is flat; each op of the result
 * is copied once per level of nesting at most.
 * Source: MLIR func dialect; StableHLO specification, composite; CHLO, top_k.
 */
#include "ir/calls.h"
#include "pass/pass.h"

enum { DEEPEST_CALLS = IR_DEEPEST / 2 }; /* regions included */

typedef enum visit { UNSEEN, OPEN, DONE } visit;

typedef struct inliner {
  pass_ctx *p;
  ir_module *m;
  ir_op *functions; /* by ir_str of the name */
  uint32_t n_names;
  uint8_t *state;     /* visit, by function op */
  uint8_t *recursive; /* by function op */
  uint32_t *size;     /* ops of the body, by function op, once DONE */
  VEC(ir_op) open;    /* functions being visited, outermost first */
  ir_map *map; /* callee's values -> their last copies; results of calls -> what replaced them */
  int64_t n_ops, most_ops; /* of the module; what it may become */
  int32_t depth;           /* of blocks being filled */
} inliner;

static ir_op find_symbol(const inliner *in, ir_op op, const char *attr_name) {
  const ir_attr_data *d = ir_op_attr_of(in->m, op, attr_name, IR_ATTR_SYMBOL);
  return d && d->text < in->n_names ? in->functions[d->text] : IR_NONE;
}

/* The function that the op calls; IR_NONE if it is no call. */
static ir_op callee_of(const inliner *in, ir_op op) {
  switch (ir_kind_of(in->m, op)) {
    case IR_OP_CALL: return find_symbol(in, op, "callee");
    case IR_OP_COMPOSITE: return find_symbol(in, op, "decomposition");
    default: return IR_NONE;
  }
}

/* ---- chlo.top_k ---- */
/* The results are the operand with k elements in its last dimension, the second one's i32. */
static bool has_shapes_of_top_k(const ir_module *m, ir_op op, int64_t k) {
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, 0));
  if (x->kind != IR_TYPE_TENSOR || x->rank < 1 || k < 0 || k > x->dims[x->rank - 1]) return false;
  for (uint32_t i = 0; i < 2; i++) {
    const ir_type_data *y = ir_type_at(m, ir_result(m, op, i));
    if (y->kind != IR_TYPE_TENSOR || y->rank != x->rank || y->dims[x->rank - 1] != k) return false;
    if (y->dtype != (i ? IR_I32 : x->dtype)) return false;
    for (int32_t d = 0; d + 1 < x->rank; d++)
      if (y->dims[d] != x->dims[d]) return false;
  }
  return true;
}

/* k of a composite that says chlo.top_k and nothing else. */
static ir_attr top_k_of(const inliner *in, ir_op op) {
  const ir_module *m = in->m;
  const char *name = ir_op_string(m, op, "name");
  ir_attr attrs = ir_op_attr(m, op, "composite_attributes");
  const ir_op_data *d = ir_op_get(m, op);
  if (!name || strcmp(name, "chlo.top_k") || d->n_operands != 1 || d->n_results != 2)
    return IR_NONE;
  if (!attrs || ir_attr_get(m, attrs)->kind != IR_ATTR_DICT || ir_attr_get(m, attrs)->count != 1)
    return IR_NONE;
  const ir_named_attr *k = &ir_attr_get(m, attrs)->entries[0];
  bool is_k = !strcmp(ir_text(m, k->name), "k") && ir_attr_get(m, k->value)->kind == IR_ATTR_INT;
  return is_k && has_shapes_of_top_k(m, op, ir_attr_get(m, k->value)->integer) ? k->value : IR_NONE;
}

/* Turns the composite into the op, in place. */
static bool make_top_k(inliner *in, ir_op op) {
  ir_attr k = ir_kind_of(in->m, op) == IR_OP_COMPOSITE ? top_k_of(in, op) : IR_NONE;
  if (!k) return false;
  ir_op_data *d = ir_op_get(in->m, op);
  d->kind = IR_OP_CHLO_TOP_K;
  d->n_attrs = 0;
  ir_op_set_attr(in->m, op, "k", k, true);
  return in->p->changed = true;
}

/* ---- inlining ---- */
static void mark_cycle(inliner *in, ir_op function) {
  for (uint32_t i = in->open.count; i-- > 0;) {
    in->recursive[in->open.at[i]] = true;
    if (in->open.at[i] == function) return;
  }
}

static bool visit_function(inliner *in, ir_op function);

/* Whether the call may become its callee's body now. Visits the callee first. */
static bool may_inline(inliner *in, ir_op op, ir_op callee) {
  ir_block body = callee ? ir_function_body(in->m, callee) : IR_NONE;
  if (!body || ir_op_attr(in->m, op, "no_inline") || ir_op_attr(in->m, callee, "no_inline"))
    return false;
  if (!visit_function(in, callee) || in->recursive[callee]) return false;
  const ir_op_data *last = ir_op_get(in->m, ir_terminator(in->m, body));
  return last->kind == IR_OP_FUNC_RETURN && in->n_ops + in->size[callee] <= in->most_ops;
}

/* Where a copied op stands for the reader of a report: its own place, or, in a function of a
 * library without one, that of the call. */
static ir_str location_at(inliner *in, ir_str location, ir_str call) {
  const char *own = ir_text(in->m, location);
  if (!call || strstr(own, "\":")) return location; /* "file":line */
  if (!location) return call;
  return ir_intern_string(
      in->m, arena_printf(in->p->scratch, "callsite(%s at %s)", own, ir_text(in->m, call)));
}

static void inline_call(inliner *in, ir_block to, ir_op op, ir_op callee) {
  ir_module *m = in->m;
  ir_block body = ir_function_body(m, callee);
  CTX_CHECK(m->ctx, !in->recursive[callee] && in->n_ops + in->size[callee] <= in->most_ops);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++)
    ir_map_set(in->map, arg, ir_map_get(in->map, ir_operand(m, op, i)));
  for (ir_op called, i = 0; (called = ir_body_op_at(m, body, i)); i++) {
    ir_op copy = ir_copy_op(m, to, called, in->map);
    ir_op_get(m, copy)->location =
        location_at(in, ir_op_get(m, copy)->location, ir_op_get(m, op)->location);
  }
  ir_op last = ir_terminator(m, body);
  ir_map_results(in->map, m, op, last);
  in->n_ops += in->size[callee];
  in->p->changed = true;
}

static bool has_calls(const inliner *in, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(in->m, block, i)); i++)
    if (callee_of(in, op)) return true;
  return false;
}

static void inline_block(inliner *in, ir_block block);

static void inline_regions(inliner *in, ir_op op) {
  for (ir_block below, r = 0; (below = ir_next_block(in->m, op, &r));) inline_block(in, below);
}

/* Fills the block anew, with callees' bodies in the place of calls. Operands are renamed right
 * away, so that a body copied later reads no results of calls. */
static void inline_block(inliner *in, ir_block block) {
  ir_module *m = in->m;
  bool refill = has_calls(in, block);
  in->depth++;
  ir_ops ops = refill
                   ? ir_take_ops(m, block)
                   : (ir_ops){ir_block_get(m, block)->ops.at, ir_block_get(m, block)->ops.count, 0};
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    ir_rename_operands(m, op, in->map);
    ir_op callee = make_top_k(in, op) ? IR_NONE : callee_of(in, op);
    if (may_inline(in, op, callee)) {
      inline_call(in, block, op, callee);
      continue;
    }
    inline_regions(in, op);
    if (refill) ir_block_append(m, block, op);
  }
  in->depth--;
}

/* Inlines what the function calls. False: it is being visited already (it calls itself) or calls
 * nest too deep. */
static bool visit_function(inliner *in, ir_op function) {
  if (in->state[function] == DONE) return true;
  if (in->state[function] == OPEN) {
    mark_cycle(in, function);
    return false;
  }
  if (in->depth >= DEEPEST_CALLS) return false;
  in->state[function] = OPEN;
  VEC_PUSH(in->p->scratch, &in->open, function);
  if (ir_function_body(in->m, function)) inline_block(in, ir_function_body(in->m, function));
  in->open.count--;
  in->state[function] = DONE;
  in->size[function] = ir_count_below(in->m, function);
  return true;
}

/* ---- functions that nobody names any more ---- */
typedef struct reach {
  inliner *in;
  uint8_t *used; /* by function op */
  VEC(ir_op) todo;
} reach;

static void use_name(reach *r, ir_str name) {
  ir_op function = name < r->in->n_names ? r->in->functions[name] : IR_NONE;
  if (!function || r->used[function]) return;
  r->used[function] = true;
  VEC_PUSH(r->in->p->scratch, &r->todo, function);
}

/* Every @name in the text of an attribute that we keep verbatim. A superset is fine: it only keeps
 * functions. */
static void use_names_in_text(reach *r, const char *text) {
  for (const char *p = strchr(text, '@'); p; p = strchr(p, '@')) {
    size_t n =
        *++p == '"'
            ? strcspn(++p, "\"")
            : strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.-");
    use_name(r, ir_intern_text(r->in->m, p, n));
  }
}

static void use_attr(reach *r, ir_attr attr) {
  const ir_attr_data *d = ir_attr_get(r->in->m, attr);
  if (d->kind == IR_ATTR_SYMBOL) use_name(r, d->text);
  if (d->kind == IR_ATTR_OTHER) use_names_in_text(r, ir_text(r->in->m, d->text));
  for (int32_t i = 0; d->kind == IR_ATTR_ARRAY && i < d->count; i++) use_attr(r, d->items[i]);
  for (int32_t i = 0; d->kind == IR_ATTR_DICT && i < d->count; i++)
    use_attr(r, d->entries[i].value);
}

static void use_op(reach *r, ir_op op) {
  const ir_op_data *d = ir_op_get(r->in->m, op);
  for (uint32_t i = 0; i < d->n_attrs; i++) use_attr(r, d->attrs[i].value);
}

static void use_all(reach *r, ir_op function) {
  for (ir_walk w = ir_walk_op(r->in->m, function); ir_next(&w);) use_op(r, w.op);
}

static bool is_private(const ir_module *m, ir_op function) {
  const char *visibility = ir_op_string(m, function, "sym_visibility");
  return visibility && !strcmp(visibility, "private");
}

static void remove_unused(inliner *in) {
  ir_module *m = in->m;
  reach r = {.in = in, .used = ARENA_ARRAY(in->p->scratch, uint8_t, m->ops.count)};
  ir_block top = ir_function_body(m, m->root);
  ir_ops ops = ir_take_ops(m, top);
  use_op(&r, m->root);
  for (uint32_t i = 0; i < ops.count; i++)
    if (ir_kind_of(m, ops.at[i]) != IR_OP_FUNC || !is_private(m, ops.at[i]))
      r.used[ops.at[i]] = true, use_all(&r, ops.at[i]);
  while (r.todo.count) use_all(&r, r.todo.at[--r.todo.count]);
  for (uint32_t i = 0; i < ops.count; i++)
    if (r.used[ops.at[i]]) ir_block_append(m, top, ops.at[i]);
}

static weir_status run(pass_ctx *p, ir_module *m) {
  inliner in = {.p = p, .m = m, .n_names = m->strs.count, .n_ops = ir_count_below(m, m->root)};
  in.most_ops = ir_most_inlined(in.n_ops);
  in.functions = pass_functions(p->scratch, m);
  in.state = ARENA_ARRAY(p->scratch, uint8_t, m->ops.count);
  in.recursive = ARENA_ARRAY(p->scratch, uint8_t, m->ops.count);
  in.size = ARENA_ARRAY(p->scratch, uint32_t, m->ops.count);
  in.map = ir_map_new(p->scratch, m);
  ir_block top = ir_function_body(m, m->root);
  for (ir_op op, i = 0; (op = ir_op_at(m, top, i)); i++) {
    if (ir_kind_of(m, op) == IR_OP_FUNC) visit_function(&in, op);
  }
  if (p->changed) remove_unused(&in);
  return WEIR_OK;
}

const pass pass_inline = {"inline", run};
