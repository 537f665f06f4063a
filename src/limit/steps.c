#include "limit/steps.h"

#include <assert.h>
#include <string.h>

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/calls.h"
#include "machine/cpu.h"

enum {
  LEAST_TRIPS = 16,
  MOST_OPS = 500,         /* what LLVM takes for a function grows faster than its ops */
  MOST_COUNTED = 5000,    /* then it is enough to know that there are more */
  DEEPEST = 16,           /* regions and calls in each other */
  LEAST_OF_A_LIBRARY = 8, /* rows, columns or terms of a product that is not XLA's own */
};

/* ---- products ---- */
/* Whether XLA has its library do it, unless it is told not to. */
static bool is_of_library(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  ir_gemm g;
  if ((kind != IR_OP_DOT && kind != IR_OP_DOT_GENERAL) || !ir_dot_gemm(m, op, &g)) return false;
  bool is_thin = g.rows <= 1 || g.columns <= 1; /* a matrix and a vector */
  return !is_thin && max64(max64(g.rows, g.columns), g.inner) >= LEAST_OF_A_LIBRARY;
}

static int64_t bytes_around(const ir_module *m, ir_op op) {
  int64_t bytes = ir_value_bytes(m, ir_result(m, op, 0));
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++)
    bytes = saturated_sum(bytes, ir_value_bytes(m, v));
  return bytes;
}

bool steps_have_small_products(ir_module *m) {
  bool has = false;
  for (ir_walk w = ir_walk_op(m, m->root); ir_next(&w);) {
    if (ir_kind_of(m, w.op) == IR_OP_CONVOLUTION) return false;
    if (!is_of_library(m, w.op)) continue;
    if (bytes_around(m, w.op) > CPU_STEP_BYTES) return false;
    has = true;
  }
  return has;
}

/* ---- steps ---- */
typedef struct step {
  const ir_module *m;
  bool by_loops; /* products: steps_have_small_products() */
  int64_t ops;
  int64_t least_bytes, most_bytes; /* that it touches: as far as XLA may fuse, as if it did not */
  bool may;                        /* be in a function */
} step;

/* Of which XLA CPU makes a call of a library, or what it runs from outside of functions. */
static bool is_called(const step *s, ir_op op) {
  switch (ir_kind_of(s->m, op)) {
    case IR_OP_CUSTOM_CALL:
    case IR_OP_CONVOLUTION:
    case IR_OP_FFT:
    case IR_OP_SCATTER:
    case IR_OP_SORT:
    case IR_OP_UNKNOWN: return true;
    default: return !s->by_loops && is_of_library(s->m, op);
  }
}

/* What it writes, as if by itself. */
static int64_t written(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind == IR_OP_DYNAMIC_UPDATE_SLICE) return ir_value_bytes(m, d->operands[1]);
  int64_t bytes = 0;
  for (uint32_t i = 0; i < d->n_results; i++)
    bytes = saturated_sum(bytes, ir_value_bytes(m, ir_result(m, op, i)));
  return bytes;
}

/* XLA makes it where it is read. */
static bool joins_fusions(ir_kind kind) {
  return kind == IR_OP_CONSTANT || kind == IR_OP_IOTA ||
         (ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M));
}

static bool is_known(const ir_module *m, ir_op op) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (!ir_is_static_tensor(m, ir_type_of(m, ir_result(m, op, i)))) return false;
  return true;
}

/* Of a value, in what is called. */
static ir_op maker_of(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  ir_block callee;
  for (int depth = 0; op && depth < DEEPEST && (callee = ir_callee_body(m, op)); depth++) {
    v = ir_yielded(m, callee, ir_value_get(m, v)->index);
    op = ir_value_get(m, v)->op;
  }
  return op;
}

/* Carries that are made anew, however much of it XLA fuses. */
static int64_t carried_anew(const ir_module *m, ir_op loop) {
  ir_block body = ir_while_body(m, loop);
  int64_t bytes = 0;
  for (ir_value v, i = 0; (v = ir_argument_at(m, body, i)); i++) {
    ir_op maker = maker_of(m, ir_yielded(m, body, i));
    ir_kind kind = maker ? ir_kind_of(m, maker) : IR_OP_WHILE;
    if (kind != IR_OP_DYNAMIC_UPDATE_SLICE && kind != IR_OP_WHILE)
      bytes = saturated_sum(bytes, ir_value_bytes(m, v));
  }
  return bytes;
}

static void add_bytes(step *s, ir_op op) {
  ir_kind kind = ir_kind_of(s->m, op);
  int64_t bytes = kind == IR_OP_WHILE ? carried_anew(s->m, op) : written(s->m, op);
  if (kind != IR_OP_WHILE) s->most_bytes = saturated_sum(s->most_bytes, bytes);
  if (!joins_fusions(kind)) s->least_bytes = saturated_sum(s->least_bytes, bytes);
}

static void add_block(step *s, ir_block block, int depth) {
  for (ir_op op, i = 0; s->may && s->ops <= MOST_COUNTED && (op = ir_op_at(s->m, block, i)); i++) {
    ir_block callee = ir_callee_body(s->m, op);
    s->ops += ir_kind_of(s->m, op) != IR_OP_CONSTANT;
    s->may = depth < DEEPEST && is_known(s->m, op) && !is_called(s, op) &&
             (callee || !ir_has_own_effects(s->m, op));
    if (callee) add_block(s, callee, depth + 1);
    else add_bytes(s, op);
    for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));)
      add_block(s, below, depth + 1);
  }
}

static step step_of(const ir_module *m, ir_op loop, bool by_loops) {
  assert(ir_kind_of(m, loop) == IR_OP_WHILE);
  step s = {.m = m, .by_loops = by_loops, .least_bytes = carried_anew(m, loop), .may = true};
  for (ir_block below, r = 0; (below = ir_next_block(m, loop, &r));) add_block(&s, below, 0);
  return s;
}

static bool is_few(const ir_module *m, ir_op loop, const step *s) {
  return s->may && s->ops <= MOST_OPS && ir_trips(m, loop) >= LEAST_TRIPS;
}

static bool are_cpus(const job *j) {
  return !j->machine.device && !strcmp(j->options.platform, "cpu");
}

bool steps_are_short(const job *j, ir_module *m, bool is_told) {
  int64_t most = is_told ? CPU_STEP_BYTES : CPU_OWN_STEP_BYTES;
  bool by_loops = is_told && steps_have_small_products(m);
  for (ir_walk w = ir_walk_op(m, m->root); are_cpus(j) && ir_next(&w);) {
    if (ir_kind_of(m, w.op) != IR_OP_WHILE) continue;
    step s = step_of(m, w.op, by_loops);
    if (is_few(m, w.op, &s) && s.most_bytes <= most) return true;
  }
  return false;
}

bool steps_may_be_short(const job *j, ir_module *m) {
  bool by_loops = steps_have_small_products(m), may = false;
  for (ir_walk w = ir_walk_op(m, m->root); are_cpus(j) && ir_next(&w);) {
    if (ir_kind_of(m, w.op) != IR_OP_WHILE) continue;
    step s = step_of(m, w.op, by_loops);
    bool is_too_long = s.may && s.ops > MOST_OPS && carried_anew(m, w.op) <= CPU_STEP_BYTES;
    if (is_too_long) return false;
    may |= is_few(m, w.op, &s) && s.least_bytes <= CPU_STEP_BYTES;
  }
  return may;
}
