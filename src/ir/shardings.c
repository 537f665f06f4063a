#include "ir/shardings.h"

const char *ir_sharding_find(const char *text, int depth, char c, uint32_t n) {
  bool quoted = false;
  for (int at = 0; text && *text; text++) {
    if (*text == '"') quoted = !quoted;
    if (quoted) continue;
    if (at == depth && *text == c && n-- == 0) return text;
    at += (*text == '<') - (*text == '>');
    if (at < depth && *text == '>') return NULL;
  }
  return NULL;
}

const char *ir_sharding_text(const ir_module *m, ir_attr attr) {
  const ir_attr_data *d = ir_attr_get(m, attr);
  return attr && d->kind == IR_ATTR_OTHER ? ir_text(m, d->text) : NULL;
}

const char *ir_sharding_of(const ir_module *m, ir_op op, const char *name, uint32_t index) {
  return ir_sharding_find(ir_sharding_text(m, ir_op_attr(m, op, name)), 1, '<', index);
}

size_t ir_sharding_length(const char *sharding) {
  const char *end = ir_sharding_find(sharding, 1, '>', 0);
  return end ? (size_t)(end + 1 - sharding) : 0;
}

ir_value ir_build_sharding_constraint(ir_module *m, ir_block block, ir_value x,
                                      const char *sharding) {
  ir_named_attr attr = ir_property(m, "sharding", ir_attr_other(m, sharding));
  return ir_build(&(ir_builder){m, block, IR_NONE}, IR_OP_SDY_SHARDING_CONSTRAINT, 1, &x,
                  ir_type_of(m, x), 1, &attr);
}
