#include "pipeline/varying.h"

static const char SAID[] = "weir.axes";

void varying_say(ir_module *m, ir_op op, uint32_t axes) {
  ir_op_set_attr(m, op, SAID, ir_attr_int(m, axes, IR_I64), false);
}

uint32_t varying_said(const ir_module *m, ir_op op) { return (uint32_t)ir_op_int(m, op, SAID, 0); }

void varying_forget(ir_module *m, ir_op op) { ir_op_drop_attr(m, op, SAID); }

typedef struct varying {
  const ir_module *m;
  uint32_t *axes; /* by value */
} varying;

static bool note_ops(varying *d, ir_block block);

/* Whether that is news. */
static bool note(varying *d, ir_value v, uint32_t axes) {
  bool is_news = axes & ~d->axes[v];
  d->axes[v] |= axes;
  return is_news;
}

static bool note_while(varying *d, ir_op op) {
  const ir_op_data data = *ir_op_get(d->m, op);
  bool news = false, again = true;
  for (uint32_t i = 0; i < data.n_operands; i++)
    news |= note(d, ir_argument(d->m, data.regions[1], i), d->axes[data.operands[i]]);
  while (again) {
    again = note_ops(d, data.regions[1]);
    for (uint32_t i = 0; i < data.n_operands; i++)
      again |= note(d, ir_argument(d->m, data.regions[1], i),
                    d->axes[ir_yielded(d->m, data.regions[1], i)]);
    news |= again;
  }
  for (uint32_t i = 0; i < data.n_operands; i++) {
    uint32_t mask = d->axes[ir_argument(d->m, data.regions[1], i)];
    note(d, ir_argument(d->m, data.regions[0], i), mask);
    news |= note(d, data.first_result + i, mask);
  }
  return note_ops(d, data.regions[0]) || news;
}

static bool note_op(varying *d, ir_op op) {
  const ir_module *m = d->m;
  uint32_t r = 0, read = 0, said = varying_said(m, op);
  bool news = false;
  if (ir_kind_of(m, op) == IR_OP_WHILE) return note_while(d, op);
  for (ir_block below; (below = ir_next_block(m, op, &r));) news |= note_ops(d, below);
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) read |= d->axes[v];
  bool is_number = said && ir_kind_of(m, op) == IR_OP_CONVERT;
  uint32_t axes = is_number ? said : read & ~said;
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) news |= note(d, v, axes);
  return news;
}

static bool note_ops(varying *d, ir_block block) {
  bool news = false;
  for (ir_op op, i = 0; (op = ir_op_at(d->m, block, i)); i++) news |= note_op(d, op);
  return news;
}

uint32_t *varying_axes(arena *a, const ir_module *m, ir_block block, const uint32_t *of_args) {
  varying d = {.m = m, .axes = ARENA_ARRAY(a, uint32_t, m->values.count)};
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, block, i)); i++) note(&d, arg, of_args[i]);
  note_ops(&d, block);
  return d.axes;
}
