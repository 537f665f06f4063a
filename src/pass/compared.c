#include "pass/compared.h"

#include "ir/compares.h"
#include "ir/maps.h"

enum { MOST_VALUES = 1000 };

struct pass_compared {
  uint32_t n_ops;
  bool *is; /* by op */
};

typedef struct cone { /* what values are made of, element by element, or are the extremes of */
  const ir_module *m;
  arena *scratch;
  uint32_t *seen, look; /* by value: the last look that came to it */
  ir_values found;      /* in this look, the nearest first */
  ir_ops reads;         /* of this comparison */
  bool is_behind;       /* the look goes on behind reads */
  bool meets;           /* it came to what the look before it had seen */
} cone;

/* Made apart it may be rounded in another way. What a gather is of is read, or looked behind. */
static bool is_rounded(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_CONSTANT;
  ir_dtype dtype = ir_type_at(m, v)->dtype;
  return kind != IR_OP_CONSTANT && kind != IR_OP_IOTA && !(ir_kind_flags(kind) & IR_FLAG_M) &&
         (ir_is_float(dtype) || ir_is_complex(dtype)) && ir_elements(m, v) != 1;
}

static void add(cone *c, ir_value v) {
  if (c->seen[v] == c->look) return;
  c->meets |= c->is_behind && c->seen[v] == c->look - 1 && is_rounded(c->m, v);
  c->seen[v] = c->look;
  VEC_PUSH(c->scratch, &c->found, v);
}

static bool moves(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return ir_kind_flags(kind) & IR_FLAG_M || kind == IR_OP_CONVERT || kind == IR_OP_NEGATE;
}

static bool hands_on(const ir_module *m, ir_op op) {
  return ir_kind_flags(ir_kind_of(m, op)) & (IR_FLAG_E | IR_FLAG_M) || ir_finds_extremes(m, op);
}

static ir_value read_from(const ir_module *m, ir_op op) {
  ir_value x = ir_read_from(m, op);
  return x ? x : ir_multiplied_from(m, op);
}

static void look_behind(cone *c, ir_value v) {
  ir_op op = ir_value_get(c->m, v)->op;
  ir_value from = op ? read_from(c->m, op) : IR_NONE;
  if (from) VEC_PUSH(c->scratch, &c->reads, op);
  if (from && c->is_behind) add(c, from);
  if (!op || from || !hands_on(c->m, op)) return;
  for (ir_value x, i = 0; (x = ir_operand_at(c->m, op, i)); i++) add(c, x);
}

/* False: it takes too long. */
static bool look_on(cone *c) {
  for (uint32_t i = 0; i < c->found.count && c->found.count <= MOST_VALUES; i++)
    look_behind(c, c->found.at[i]);
  return c->found.count <= MOST_VALUES;
}

static void begin(cone *c, bool is_behind) {
  c->look++;
  c->is_behind = is_behind;
  c->found.count = 0;
}

typedef struct comparison {
  ir_ops reads, products;
  bool meets; /* what is read from */
} comparison;

typedef VEC(comparison) comparisons;

/* Of what this look has seen, with weights that may be 1 for one row and 0 for others. */
static bool multiplies_seen(const cone *c, ir_op op) {
  bool is = false;
  for (ir_value v, i = 0; (v = ir_operand_at(c->m, op, i)); i++) {
    for (ir_op by; (by = ir_value_get(c->m, v)->op) && moves(c->m, by);)
      v = ir_operand(c->m, by, 0);
    is |= c->seen[v] == c->look && is_rounded(c->m, v);
  }
  return is;
}

static ir_ops products_of_seen(const cone *c) {
  ir_ops products = {0};
  for (uint32_t i = 0; i < c->found.count; i++) {
    ir_op op = ir_value_get(c->m, c->found.at[i])->op;
    if (op && ir_kind_of(c->m, op) == IR_OP_DOT_GENERAL && multiplies_seen(c, op))
      VEC_PUSH(c->scratch, &products, op);
  }
  return products;
}

/* Down to reads, then behind them. Where that takes too long, those it has come to are compared. */
static comparison look_at(cone *c, ir_op compare) {
  c->reads = (ir_ops){0};
  c->meets = false;
  begin(c, false);
  for (ir_value x, i = 0; (x = ir_operand_at(c->m, compare, i)); i++) add(c, x);
  bool in_time = look_on(c);
  ir_ops products = products_of_seen(c);
  begin(c, true);
  for (uint32_t i = 0, n = c->reads.count; i < n; i++) add(c, read_from(c->m, c->reads.at[i]));
  bool ends = look_on(c) && in_time;
  return (comparison){c->reads, products, !ends || c->meets};
}

static comparisons look_at_all(cone *c) {
  comparisons all = {0};
  for (ir_walk w = ir_walk_op(c->m, c->m->root); ir_next(&w);)
    if (ir_compares_by(c->m, w.op)) VEC_PUSH(c->scratch, &all, look_at(c, w.op));
  return all;
}

/* Entries of one value that are read in two ways are made in one: those beside one that is
 * compared are so, too. Whether there are new ones. */
static bool mark(const comparison *a, pass_compared *out) {
  bool is = a->meets, any = false;
  for (uint32_t i = 0; i < a->reads.count; i++) is |= out->is[a->reads.at[i]];
  for (uint32_t i = 0; is && i < a->reads.count; i++) {
    any |= !out->is[a->reads.at[i]];
    out->is[a->reads.at[i]] = true;
  }
  return any;
}

bool pass_find_compared(pass_rewrite *r) {
  const ir_module *m = r->m;
  pass_compared *out = ARENA_NEW(r->p->scratch, pass_compared);
  cone c = {.m = m,
            .scratch = r->p->scratch,
            .seen = ARENA_ARRAY(r->p->scratch, uint32_t, m->values.count)};
  *out = (pass_compared){m->ops.count, ARENA_ARRAY(r->p->scratch, bool, m->ops.count)};
  comparisons all = look_at_all(&c);
  for (uint32_t i = 0; i < all.count; i++)
    for (ir_op op, k = 0; (op = ir_listed(&all.at[i].products, k)); k++) out->is[op] = true;
  for (bool any = true; any;) {
    any = false;
    for (uint32_t i = 0; i < all.count; i++) any |= mark(&all.at[i], out);
  }
  r->compared = out;
  return true;
}

bool pass_is_compared(const pass_rewrite *r, ir_op op) {
  return op < r->compared->n_ops && r->compared->is[op];
}
