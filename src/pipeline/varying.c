#include "pipeline/varying.h"

#include "ir/attrs.h"

static const char SAID[] = "weir.axes";

void varying_say(ir_module *m, ir_op op, uint32_t axes) {
  ir_op_set_attr(m, op, SAID, ir_attr_int(m, axes, IR_I64), false);
}

uint32_t varying_said(const ir_module *m, ir_op op) { return (uint32_t)ir_op_int(m, op, SAID, 0); }

void varying_say_each(ir_module *m, ir_op op, const int64_t *axes, uint32_t own) {
  uint32_t n = ir_op_get(m, op)->n_results;
  int64_t *all = ARENA_ARRAY(m->arena, int64_t, n + 1);
  memcpy(all, axes, n * sizeof *all);
  all[n] = own;
  ir_op_set_attr(m, op, SAID, ir_attr_i64s(m, all, (int32_t)n + 1), false);
}

static uint32_t said_at(const ir_module *m, ir_op op, uint32_t i) {
  return (uint32_t)ir_op_entry(m, op, SAID, i, 0);
}

uint32_t varying_said_of(const ir_module *m, ir_op op, uint32_t i) { return said_at(m, op, i); }

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

/* What its own axes do in the body does not leave it. */
static uint32_t of_manual_result(const varying *d, ir_op op, uint32_t i) {
  uint32_t own = said_at(d->m, op, ir_op_get(d->m, op)->n_results);
  return (d->axes[ir_yielded(d->m, ir_body(d->m, op), i)] & ~own) | said_at(d->m, op, i);
}

static bool note_op(varying *d, ir_op op) {
  const ir_module *m = d->m;
  uint32_t r = 0, read = 0, said = varying_said(m, op);
  bool news = false;
  bool is_manual = ir_kind_of(m, op) == IR_OP_SDY_MANUAL_COMPUTATION;
  if (ir_kind_of(m, op) == IR_OP_WHILE) return note_while(d, op);
  for (ir_value v, i = 0; is_manual && (v = ir_operand_at(m, op, i)); i++)
    news |= note(d, ir_argument(m, ir_body(m, op), i), d->axes[v]);
  for (ir_block below; (below = ir_next_block(m, op, &r));) news |= note_ops(d, below);
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) read |= d->axes[v];
  bool is_number = said && ir_kind_of(m, op) == IR_OP_CONVERT;
  uint32_t axes = is_number ? said : read & ~said;
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++)
    news |= note(d, v, is_manual ? of_manual_result(d, op, i) : axes);
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
