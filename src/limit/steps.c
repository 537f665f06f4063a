#include "limit/steps.h"

#include <string.h>

#include "base/saturate.h"
#include "ir/calls.h"
#include "ir/attrs.h"
#include "machine/cpu.h"

enum {
  LEAST_TRIPS = 16,
  MOST_OPS = 500, /* what LLVM takes for a function grows faster than its ops */
  DEEPEST = 16,   /* regions and calls in each other */
};

typedef struct step {
  const ir_module *m;
  int64_t bytes, most_bytes, ops;
  bool may;
} step;

/* Of which XLA CPU makes a call of a library, or what it runs from outside of functions. */
static bool is_called(ir_kind kind) {
  switch (kind) {
    case IR_OP_CUSTOM_CALL:
    case IR_OP_CONVOLUTION:
    case IR_OP_FFT:
    case IR_OP_SCATTER:
    case IR_OP_SORT:
    case IR_OP_UNKNOWN: return true;
    default: return false;
  }
}

/* That it writes. */
static int64_t touched(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind == IR_OP_DYNAMIC_UPDATE_SLICE) return ir_value_bytes(m, d->operands[1]);
  int64_t bytes = 0;
  for (uint32_t i = 0; i < d->n_results; i++)
    bytes = saturated_sum(bytes, ir_value_bytes(m, ir_result(m, op, i)));
  return bytes;
}

static bool is_known(const ir_module *m, ir_op op) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (!ir_is_static_tensor(m, ir_type_of(m, ir_result(m, op, i)))) return false;
  return true;
}

static void add_block(step *s, ir_block block, int depth) {
  for (ir_op op, i = 0; s->may && (op = ir_op_at(s->m, block, i)); i++) {
    ir_kind kind = ir_kind_of(s->m, op);
    ir_block callee = ir_callee_body(s->m, op);
    bool is_around = callee || kind == IR_OP_WHILE; /* its ops touch what it has */
    s->may = depth < DEEPEST && (s->ops += kind != IR_OP_CONSTANT) <= MOST_OPS &&
             is_known(s->m, op) && !is_called(kind) && (callee || !ir_has_own_effects(s->m, op));
    if (!is_around) s->bytes = saturated_sum(s->bytes, touched(s->m, op));
    if (callee) add_block(s, callee, depth + 1);
    for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));)
      add_block(s, below, depth + 1);
    s->may &= s->bytes <= s->most_bytes;
  }
}

static bool has_short_steps(const ir_module *m, ir_op op, int64_t most_bytes) {
  if (ir_kind_of(m, op) != IR_OP_WHILE || ir_trips(m, op) < LEAST_TRIPS) return false;
  step s = {.m = m, .most_bytes = most_bytes, .may = true};
  for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) add_block(&s, below, 0);
  return s.may;
}

bool steps_are_short(const job *j, ir_module *m, int64_t most_bytes) {
  if (j->machine.device || strcmp(j->options.platform, "cpu")) return false;
  for (ir_walk w = ir_walk_op(m, m->root); ir_next(&w);)
    if (has_short_steps(m, w.op, most_bytes)) return true;
  return false;
}
