#include "ir/calls.h"

#include "base/saturate.h"

enum {
  MOST_INLINED = 1 << 17, /* some seconds for a split under a limit */
  MOST_GROWTH = 4,        /* times the ops of a program that is larger anyway */
  MOST_WRAPPERS = 3,      /* calls in each other, of a program that only moves data */
  MOST_MOVES = 100,       /* ops of a function of such */
};

weir_status ir_check_main(const ir_module *m) {
  if (ir_main_function(m)) return WEIR_OK;
  return ctx_error(m->ctx, WEIR_INVALID_ARGUMENT,
                   "no function @main, nor a public one that is alone, with a body");
}

static ir_op callee_of(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  const char *attr = kind == IR_OP_CALL ? "callee" : "decomposition";
  bool is_call = kind == IR_OP_CALL || kind == IR_OP_COMPOSITE;
  const char *name = is_call ? ir_op_string(m, op, attr) : NULL;
  return name ? ir_find_function(m, name) : IR_NONE;
}

ir_block ir_callee_body(const ir_module *m, ir_op op) {
  ir_op callee = callee_of(m, op);
  return callee ? ir_function_body(m, callee) : IR_NONE;
}

bool ir_gives_first_of_two(const ir_module *m, ir_op op) {
  ir_block body = ir_kind_of(m, op) == IR_OP_CALL ? ir_callee_body(m, op) : IR_NONE;
  if (!body) return false;
  const ir_block_data *b = ir_block_get(m, body);
  return b->args.count == 2 && b->ops.count == 1 && ir_op_get(m, b->ops.at[0])->n_operands == 1 &&
         ir_operand(m, b->ops.at[0], 0) == b->args.at[0];
}

ir_value ir_that_waits(const ir_module *m, ir_value v) {
  for (ir_op op; (op = ir_maker(m, v, IR_OP_CALL)) && ir_gives_first_of_two(m, op);)
    v = ir_operand(m, op, 0);
  return v;
}

int64_t ir_most_inlined(int64_t ops_as_read) {
  return saturated_sum(MOST_INLINED, saturated_product(MOST_GROWTH, ops_as_read));
}

/* ---- counting ---- */
typedef struct extent {
  int64_t ops;   /* INT64_MAX: too many to count */
  int32_t depth; /* of regions in each other, those of callees included */
} extent;

typedef struct counting {
  const ir_module *m;
  extent *known; /* by block that is a function's body; .ops 0: not seen */
  int32_t depth; /* of the walk */
} counting;

static const extent TOO_MANY = {.ops = INT64_MAX};

static extent count_block(counting *c, ir_block block);

/* While a body is counted it counts as too many: so does a function that calls itself. */
static extent count_body(counting *c, ir_block body) {
  if (c->known[body].ops) return c->known[body];
  c->known[body] = TOO_MANY;
  return c->known[body] = count_block(c, body);
}

static void add_below(extent *sum, extent below) {
  sum->ops = saturated_sum(sum->ops, below.ops);
  if (below.depth > sum->depth) sum->depth = below.depth;
}

static void count_op(counting *c, ir_op op, extent *sum) {
  ir_block callee = ir_callee_body(c->m, op);
  if (callee) add_below(sum, count_body(c, callee));
  else sum->ops = saturated_sum(sum->ops, 1);
  for (ir_block below, r = 0; (below = ir_next_block(c->m, op, &r));)
    add_below(sum, count_block(c, below));
}

static extent count_block(counting *c, ir_block block) {
  extent sum = {0};
  if (c->depth == IR_DEEPEST) return TOO_MANY;
  c->depth++;
  for (ir_op op, i = 0; sum.ops < INT64_MAX && (op = ir_op_at(c->m, block, i)); i++)
    count_op(c, op, &sum);
  c->depth--;
  return ++sum.depth > IR_DEEPEST ? TOO_MANY : sum;
}

int64_t ir_count_inlined(const ir_module *m) {
  ir_op main = ir_main_function(m);
  if (!main) return 0;
  arena *scratch = arena_create(m->ctx);
  counting c = {m, ARENA_ARRAY(scratch, extent, m->blocks.count), 0};
  int64_t n = count_body(&c, ir_function_body(m, main)).ops;
  arena_destroy(scratch);
  return n;
}

/* ---- programs that compute nothing ---- */
static bool block_only_moves(const ir_module *m, ir_block block, int32_t depth);

static bool op_only_moves(const ir_module *m, ir_op op, int32_t depth) {
  switch (ir_kind_of(m, op)) {
    case IR_OP_CONSTANT:
    case IR_OP_RESHAPE:
    case IR_OP_OPTIMIZATION_BARRIER:
    case IR_OP_FUNC_RETURN: return true;
    case IR_OP_CALL: {
      ir_block body = ir_callee_body(m, op);
      return body && depth < MOST_WRAPPERS && block_only_moves(m, body, depth + 1);
    }
    default: return false;
  }
}

static bool block_only_moves(const ir_module *m, ir_block block, int32_t depth) {
  const ir_block_data *b = ir_block_get(m, block);
  for (uint32_t i = 0; i < b->ops.count; i++)
    if (b->ops.count > MOST_MOVES || !op_only_moves(m, b->ops.at[i], depth)) return false;
  return true;
}

bool ir_only_moves(const ir_module *m) {
  ir_op main = ir_main_function(m);
  return main && block_only_moves(m, ir_function_body(m, main), 0);
}
