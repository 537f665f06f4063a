/* The entry: text -> module. */
#include "in/in.h"
#include "in/parser.h"

/* A text whose only op at the top is a module is that module. */
void in_adopt_module(ir_module *m) {
  const ir_block_data *top = ir_block_get(m, ir_top(m));
  if (top->ops.count != 1) return;
  ir_op only = top->ops.at[0];
  const ir_op_data *d = ir_op_get(m, only);
  if (d->kind != IR_OP_MODULE || d->n_regions != 1 || !d->regions[0] || d->n_operands ||
      d->n_results)
    return;
  ir_op_get(m, only)->block = IR_NONE;
  m->root = only;
}

static in_parser *parser_of(ctx *c, arena *scratch, ir_module *m, const char *text, size_t length) {
  in_parser *p = ARENA_NEW(scratch, in_parser);
  p->ctx = c, p->m = m, p->scratch = scratch;
  p->begin = text, p->end = text + length;
  return p;
}

ir_attr in_attribute_of(ctx *c, arena *scratch, ir_module *m, const char *text, size_t length) {
  in_parser *p = parser_of(c, scratch, m, text, length);
  in_seek(p, p->begin);
  ir_attr a = in_attribute(p);
  if (!in_is(p, IN_END)) in_fail_wanted(p, "the end of an attribute");
  return a;
}

ir_type in_type_of(ctx *c, arena *scratch, ir_module *m, const char *text, size_t length) {
  in_parser *p = parser_of(c, scratch, m, text, length);
  in_seek(p, p->begin);
  ir_type type = in_type(p);
  if (!in_is(p, IN_END)) in_fail_wanted(p, "the end of a type");
  return type;
}

static weir_status read_text(void *user) {
  in_job *j = user;
  j->scratch = arena_create(j->ctx);
  j->m = ir_module_create(j->ctx);
  in_parser *p = parser_of(j->ctx, j->scratch, j->m, j->text, j->length);
  if (in_is_bytecode(j->text, j->length))
    in_fail(p, p->begin, "found MLIR bytecode, wanted StableHLO text");
  const char *zero = j->length ? memchr(j->text, 0, j->length) : NULL;
  if (zero) in_fail(p, zero, "a zero byte in the text");
  in_find_aliases(p);
  in_seek(p, p->begin);
  in_ops(p, ir_top(j->m));
  if (!in_is(p, IN_END)) in_fail_wanted(p, "an op");
  in_adopt_module(j->m);
  return WEIR_OK;
}

weir_status in_read(ctx *c, const char *text, size_t length, weir_status (*read)(void *),
                    ir_module **out_module) {
  in_job j = {.ctx = c, .text = text, .length = length};
  weir_status status = ctx_try(c, read, &j);
  arena_destroy(j.scratch);
  if (status != WEIR_OK) ir_module_destroy(j.m);
  *out_module = status == WEIR_OK ? j.m : NULL;
  return status;
}

weir_status in_stablehlo_text(ctx *c, const char *text, size_t length, ir_module **out_module) {
  return in_read(c, text, length, read_text, out_module);
}
