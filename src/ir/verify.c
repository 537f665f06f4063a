/* ir_verify(): the invariants of ir.h's head comment.
 *
 * In: a module, from a reader or after a pass. Out: the first violation in program order, as the
 * context's message. One walk over the program: `depth` holds for each value how deep the block is
 * that defines it, as long as that block is open, so that visibility is one comparison per operand;
 * the shape rules are called from the op table. Linear in ops + operands + types.
 * Source: MLIR language reference (SSA dominance with one block per region, isolation); StableHLO
 * specification for the shape rules.
 */
#include <stdio.h>

#include "ir/calls.h"
#include "ir/print.h"
#include "ir/verify.h"

typedef weir_status (*shape_rule)(verifier *v, ir_op op);

static const shape_rule shape_rules[IR_OP_COUNT] = {
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = ir_verify_##shape,
#include "ir/ops.def"
#undef OP
};

weir_status ir_verify_none(verifier *v, ir_op op) {
  (void)v, (void)op;
  return WEIR_OK;
}

/* ---- messages ---- */
const char *ir_verify_type_text(verifier *v, ir_type type) {
  return ir_type_text(v->scratch, v->m, type);
}

const char *ir_verify_dims_text(verifier *v, const int64_t *dims, int32_t count) {
  strbuf b = strbuf_make(v->scratch);
  strbuf_puts(&b, count ? "" : "no dimensions");
  for (int32_t d = 0; d < count; d++) {
    if (d) strbuf_putc(&b, 'x');
    if (dims[d] < 0) strbuf_putc(&b, '?');
    else strbuf_int(&b, dims[d]);
  }
  return b.text;
}

static void add_place(verifier *v, strbuf *b, ir_op op) {
  ir_str location = ir_op_get(v->m, op)->location;
  if (v->function && v->function != op) {
    const char *name = ir_op_string(v->m, v->function, "sym_name");
    strbuf_printf(b, ", in op %u of @%s", v->index + 1, name ? name : "?");
  }
  if (location) strbuf_printf(b, ", at loc(%.400s)", ir_text(v->m, location));
}

weir_status ir_violation(verifier *v, ir_op op, int constraint, const char *format, ...) {
  const char *name = ir_op_name(v->m, op);
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  strbuf b = strbuf_make(v->scratch);
  strbuf_printf(&b, "%s: %s", name, text);
  if (constraint) strbuf_printf(&b, " (%s_c%d)", ir_mnemonic(name), constraint);
  add_place(v, &b, op);
  return ctx_error(v->m->ctx, WEIR_INVALID_ARGUMENT, "%s", b.text);
}

/* ---- the tables ---- */
static weir_status check_type(verifier *v, const ir_type_data *t, ir_type id) {
  ctx *c = v->m->ctx;
  if (t->kind == IR_TYPE_TENSOR) {
    if (t->rank < 0 || t->rank > IR_MAX_RANK)
      return ctx_error(c, WEIR_INVALID_ARGUMENT, "a tensor type of rank %d, wanted at most %d",
                       t->rank, IR_MAX_RANK);
    for (int32_t d = 0; d < t->rank; d++)
      if (t->dims[d] < -1)
        return ctx_error(c, WEIR_INVALID_ARGUMENT, "a tensor type with dimension %d of length %lld",
                         d, (long long)t->dims[d]);
  }
  if (t->kind == IR_TYPE_TUPLE || t->kind == IR_TYPE_FUNCTION) {
    for (int32_t i = 0; i < t->n_types + t->n_results; i++)
      CTX_CHECK(c, t->types[i] && t->types[i] < id);
  }
  return WEIR_OK;
}

static weir_status check_types(verifier *v) {
  for (ir_type t = 1; t < v->m->types.count; t++) WEIR_TRY(check_type(v, ir_type_get(v->m, t), t));
  return WEIR_OK;
}

/* Functions by name. A name twice is an error. */
static weir_status find_functions(verifier *v) {
  ir_op root = v->m->root;
  ir_block body = ir_op_get(v->m, root)->n_regions ? ir_body(v->m, root) : IR_NONE;
  v->n_names = v->m->strs.count;
  v->functions = ARENA_ARRAY(v->scratch, ir_op, v->n_names);
  if (!body) return WEIR_OK;
  for (ir_op op, i = 0; (op = ir_op_at(v->m, body, i)); i++) {
    if (ir_kind_of(v->m, op) != IR_OP_FUNC) continue;
    const ir_attr_data *name = ir_op_attr_of(v->m, op, "sym_name", IR_ATTR_STRING);
    if (!name) return ir_violation(v, op, 0, "a function without a name");
    ir_op *slot = &v->functions[name->text];
    if (*slot)
      return ir_violation(v, op, 0, "a second function named @%s", ir_text(v->m, name->text));
    *slot = op;
  }
  return WEIR_OK;
}

/* ---- the walk ---- */
static weir_status check_block(verifier *v, ir_block block, ir_op parent);

static weir_status check_operands(verifier *v, ir_op op) {
  const ir_op_data *data = ir_op_get(v->m, op);
  for (uint32_t i = 0; i < data->n_operands; i++) {
    ir_value x = data->operands[i];
    CTX_CHECK(v->m->ctx, x && x < v->m->values.count);
    if (!v->depth[x]) return ir_violation(v, op, 0, "operand %u is not defined before its use", i);
    if (v->depth[x] <= v->floor)
      return ir_violation(v, op, 0,
                          "operand %u is defined outside of the isolated region that uses it", i);
  }
  return WEIR_OK;
}

/* Back links of results, types, attributes. These are ours to keep, so a mistake is our bug. */
static void check_links(verifier *v, ir_op op, ir_block block) {
  const ir_module *m = v->m;
  const ir_op_data *data = ir_op_get(m, op);
  CTX_CHECK(m->ctx, data->block == block && data->kind < IR_OP_COUNT && !v->op_seen[op]);
  v->op_seen[op] = 1;
  CTX_CHECK(m->ctx, !data->n_results || (data->first_result &&
                                         data->first_result + data->n_results <= m->values.count));
  for (uint32_t i = 0; i < data->n_results; i++) {
    const ir_value_data *result = ir_value_get(m, data->first_result + i);
    CTX_CHECK(m->ctx, result->op == op && result->index == i && result->type &&
                          result->type < m->types.count);
  }
  for (uint32_t i = 0; i < data->n_attrs; i++)
    CTX_CHECK(m->ctx, data->attrs[i].value && data->attrs[i].value < m->attrs.count);
}

static bool has_known_types(verifier *v, ir_op op) {
  const ir_op_data *data = ir_op_get(v->m, op);
  for (uint32_t i = 0; i < data->n_operands; i++)
    if (ir_type_at(v->m, data->operands[i])->kind == IR_TYPE_OTHER) return false;
  for (uint32_t i = 0; i < data->n_results; i++)
    if (ir_type_at(v->m, data->first_result + i)->kind == IR_TYPE_OTHER) return false;
  return true;
}

static bool is_isolated(ir_kind kind) {
  return kind == IR_OP_MODULE || kind == IR_OP_FUNC || kind == IR_OP_LOOP;
}

static weir_status check_regions(verifier *v, ir_op op) {
  ir_kind kind = ir_kind_of(v->m, op);
  uint32_t floor = v->floor;
  ir_op function = v->function;
  if (is_isolated(kind)) v->floor = v->level;
  if (kind == IR_OP_FUNC) v->function = op;
  v->modules += kind == IR_OP_MODULE;
  for (uint32_t r = 0; r < ir_op_get(v->m, op)->n_regions; r++) {
    ir_block body = ir_op_get(v->m, op)->regions[r];
    if (body) WEIR_TRY(check_block(v, body, op));
  }
  v->modules -= kind == IR_OP_MODULE;
  v->function = function;
  v->floor = floor;
  return WEIR_OK;
}

/* Regions where the op table knows of none. A composite may have some (StableHLO 1.13). */
static weir_status check_has_regions(verifier *v, ir_op op) {
  ir_kind kind = ir_kind_of(v->m, op);
  uint32_t n = ir_op_get(v->m, op)->n_regions;
  if (!n || kind == IR_OP_UNKNOWN || kind == IR_OP_COMPOSITE || ir_kind_flags(kind) & IR_FLAG_R)
    return WEIR_OK;
  return ir_violation(v, op, 0, "%u regions, wanted none", n);
}

static weir_status check_op(verifier *v, ir_op op, ir_block block) {
  check_links(v, op, block);
  WEIR_TRY(check_has_regions(v, op));
  WEIR_TRY(check_operands(v, op));
  WEIR_TRY(check_regions(v, op));
  const ir_op_data *data = ir_op_get(v->m, op);
  for (uint32_t i = 0; i < data->n_results; i++) v->depth[data->first_result + i] = v->level;
  if (data->kind == IR_OP_UNKNOWN || !has_known_types(v, op)) return WEIR_OK;
  return shape_rules[data->kind](v, op);
}

static ir_kind terminator_of(ir_kind parent) {
  switch (parent) {
    case IR_OP_FUNC: return IR_OP_FUNC_RETURN;
    case IR_OP_LOOP: return IR_OP_YIELD;
    case IR_OP_SDY_MANUAL_COMPUTATION: return IR_OP_SDY_RETURN;
    case IR_OP_UNKNOWN: return IR_OP_UNKNOWN;
    default: return IR_OP_RETURN;
  }
}

/* One terminator, at the end, of the parent's kind. Of unknown ops' regions we only know that a
 * terminator stands at the end. */
static weir_status check_terminators(verifier *v, const ir_block_data *block, ir_op parent) {
  ir_kind wanted = terminator_of(ir_kind_of(v->m, parent));
  for (uint32_t i = 0; i + 1 < block->ops.count; i++)
    if (ir_kind_flags(ir_kind_of(v->m, block->ops.at[i])) & IR_FLAG_T)
      return ir_violation(v, block->ops.at[i], 0,
                          "a terminator that does not stand at the end of its block");
  ir_op last = block->ops.count ? block->ops.at[block->ops.count - 1] : IR_NONE;
  if (ir_kind_of(v->m, parent) == IR_OP_MODULE) {
    if (last && ir_kind_flags(ir_kind_of(v->m, last)) & IR_FLAG_T)
      return ir_violation(v, last, 0, "a terminator in a module");
    return WEIR_OK;
  }
  if (wanted == IR_OP_UNKNOWN) return WEIR_OK;
  if (!last)
    return ir_violation(v, parent, 0, "an empty region, wanted %s at its end",
                        ir_kind_name(wanted));
  ir_kind kind = ir_kind_of(v->m, last);
  if (kind == IR_OP_RETURN && wanted == IR_OP_FUNC_RETURN)
    return WEIR_OK; /* MLIR takes it, and JAX makes comparators of approx_top_k like this */
  if (kind != wanted && kind != IR_OP_UNKNOWN)
    return ir_violation(v, last, 0, "ends a region of %s, wanted %s there",
                        ir_op_name(v->m, parent), ir_kind_name(wanted));
  return WEIR_OK;
}

static void define_args(verifier *v, const ir_block_data *block, ir_block id) {
  for (uint32_t i = 0; i < block->args.count; i++) {
    const ir_value_data *arg = ir_value_get(v->m, block->args.at[i]);
    CTX_CHECK(v->m->ctx, arg->block == id && arg->index == i && !arg->op && arg->type &&
                             arg->type < v->m->types.count);
    v->depth[block->args.at[i]] = v->level;
  }
}

static void hide_values(verifier *v, const ir_block_data *block) {
  for (uint32_t i = 0; i < block->args.count; i++) v->depth[block->args.at[i]] = 0;
  for (uint32_t i = 0; i < block->ops.count; i++) {
    const ir_op_data *op = ir_op_get(v->m, block->ops.at[i]);
    for (uint32_t r = 0; r < op->n_results; r++) v->depth[op->first_result + r] = 0;
  }
}

static weir_status check_block(verifier *v, ir_block id, ir_op parent) {
  const ir_block_data *block = ir_block_get(v->m, id);
  CTX_CHECK(v->m->ctx, id < v->m->blocks.count && block->parent == parent);
  if (++v->level > IR_DEEPEST)
    return ir_violation(v, parent, 0, "regions nested more than %d deep", IR_DEEPEST);
  define_args(v, block, id);
  WEIR_TRY(check_terminators(v, block, parent));
  for (uint32_t i = 0; i < block->ops.count; i++) {
    if (ir_kind_of(v->m, parent) == IR_OP_FUNC) v->index = i;
    WEIR_TRY(check_op(v, block->ops.at[i], id));
  }
  hide_values(v, block);
  v->level--;
  return WEIR_OK;
}

weir_status ir_verify(const ir_module *m) {
  arena *scratch = arena_create(m->ctx);
  verifier v = {.m = (ir_module *)m, .scratch = scratch};
  v.depth = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  v.op_seen = ARENA_ARRAY(scratch, uint8_t, m->ops.count);
  weir_status status = check_types(&v);
  if (status == WEIR_OK) status = find_functions(&v);
  if (status == WEIR_OK) status = check_regions(&v, m->root);
  arena_destroy(scratch);
  return status;
}

bool ir_obeys_rule(const ir_module *m, ir_op op) {
  char kept[sizeof m->ctx->message];
  memcpy(kept, m->ctx->message, sizeof kept);
  verifier v = {.m = (ir_module *)m, .scratch = arena_create(m->ctx)};
  bool obeys = has_known_types(&v, op) && shape_rules[ir_kind_of(m, op)](&v, op) == WEIR_OK;
  arena_destroy(v.scratch);
  memcpy(m->ctx->message, kept, sizeof kept);
  return obeys;
}
