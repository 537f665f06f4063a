/* plan_upper_bound(): what a program could need at worst, without any model of fusion or order:
 * every value has a buffer, all at once. */
#include "plan/peak.h"

enum { POINTER_BYTES = 8 };

typedef struct sum {
  const ir_module *m;
  int64_t bytes;
  uint32_t depth;
} sum;

static void add(sum *s, int64_t bytes) {
  if (__builtin_add_overflow(s->bytes, bytes, &s->bytes)) s->bytes = INT64_MAX;
}

static void add_block(sum *s, ir_block block);

static void add_callee(sum *s, ir_op op) {
  const char *name =
      ir_op_string(s->m, op, ir_kind_of(s->m, op) == IR_OP_CALL ? "callee" : "decomposition");
  ir_op callee = name ? ir_find_function(s->m, name) : IR_NONE;
  if (!callee || ir_op_get(s->m, callee)->n_regions == 0 || !ir_op_get(s->m, callee)->regions[0])
    return;
  if (s->depth >= 200) s->bytes = INT64_MAX;
  else add_block(s, ir_op_get(s->m, callee)->regions[0]);
}

static void add_op(sum *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  for (uint32_t i = 0; i < d->n_results; i++) {
    int64_t bytes = ir_value_bytes(s->m, d->first_result + i);
    add(s, bytes);
    add(s, bytes); /* once for the value, once for a copy of it that XLA may make */
  }
  if (d->kind == IR_OP_CALL || d->kind == IR_OP_COMPOSITE) add_callee(s, op);
  for (uint32_t r = 0; r < d->n_regions; r++)
    if (d->regions[r]) add_block(s, d->regions[r]);
}

static void add_block(sum *s, ir_block block) {
  const ir_block_data *b = ir_block_get(s->m, block);
  s->depth++;
  for (uint32_t i = 0; i < b->args.count; i++) add(s, ir_value_bytes(s->m, b->args.at[i]));
  for (uint32_t i = 0; i < b->ops.count && s->bytes < INT64_MAX; i++) add_op(s, b->ops.at[i]);
  s->depth--;
}

int64_t plan_upper_bound(const ir_module *m) {
  sum s = {.m = m};
  ir_op function = ir_main_function(m);
  if (!function) return 0;
  ir_block body = ir_op_get(m, function)->regions[0];
  add_block(&s, body);
  ir_op end = ir_terminator(m, body);
  uint32_t n_results = ir_op_get(m, end)->n_operands;
  add(&s, POINTER_BYTES * (int64_t)n_results); /* the table of several results */
  for (uint32_t i = 0; i < n_results; i++) add(&s, ir_value_bytes(m, ir_operand(m, end, i)));
  return s.bytes;
}
