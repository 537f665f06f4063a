/* ranges: integers that can only be one number, or only what an operand is.
 *
 *   i < 0 ? i + n : i  =  i          where i counts, or is a remainder, a digit, a number of ones
 *   max(i, 0), i % n   =  i          likewise
 *   (i n + j) / n      =  i          0 <= j < n
 *   (i n + j) % n      =  j
 *
 * What indices go through before a gather: NumPy's wrapping of negative ones, clamps, floor
 * division. Without it an index that counts can be seen to count (`counted`).
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact. Left
 * alone: ui64, sums that may overflow. Cost: linear. Source: LLVM's CorrelatedValuePropagation and
 * MLIR's int-range-optimizations do the same with scalars.
 */
#include "pass/ranges.h"

#include "pass/build.h"
#include "base/ints.h"

/* ---- intervals ---- */
static const pass_range TRUTH = {0, 1}, ANY = {INT64_MIN, INT64_MAX};

static bool is_integral(ir_dtype d) { return ir_fits_i64(d) || d == IR_I1; }

static pass_range of_dtype(ir_dtype d) {
  return is_integral(d) ? (pass_range){ir_lowest(d), ir_highest(d)} : ANY;
}

static bool is_one_number(pass_range x) { return x.lo == x.hi; }
static bool is_within(pass_range x, pass_range y) { return x.lo >= y.lo && x.hi <= y.hi; }
static pass_range hull(pass_range x, pass_range y) {
  return (pass_range){min64(x.lo, y.lo), max64(x.hi, y.hi)};
}

/* ---- ops ---- */
typedef struct question {
  const pass_bounds *r;
  ir_op op;
  ir_dtype dtype; /* of the result */
} question;

static ir_value operand(const question *q, uint32_t i) { return ir_operand(q->r->m, q->op, i); }
static pass_range of(const question *q, uint32_t i) { return pass_range_of(q->r, operand(q, i)); }
static pass_range constant(const question *q) {
  const ir_attr_data *d = ir_op_attr_of(q->r->m, q->op, "value", IR_ATTR_DENSE);
  int64_t x;
  bool one = d && (d->splat || ir_element_count(q->r->m, d->type) == 1);
  if (!one || !ir_load_int(q->dtype, d->data, &x)) return ANY;
  return (pass_range){x, x};
}

static int64_t longest(const question *q, ir_value v) {
  const ir_type_data *t = ir_type_at(q->r->m, v);
  int64_t most_elements = 0;
  for (int32_t i = 0; i < t->rank; i++) most_elements = max64(most_elements, t->dims[i]);
  return most_elements;
}

static pass_range iota(const question *q) {
  const ir_type_data *t = ir_type_at(q->r->m, ir_result(q->r->m, q->op, 0));
  int64_t dim = ir_op_int(q->r->m, q->op, "iota_dimension", -1);
  bool known = dim >= 0 && dim < t->rank && t->dims[dim] > 0;
  return known ? (pass_range){0, t->dims[dim] - 1} : ANY;
}

static pass_range sum(pass_range x, pass_range y) {
  pass_range z;
  bool over =
      __builtin_add_overflow(x.lo, y.lo, &z.lo) || __builtin_add_overflow(x.hi, y.hi, &z.hi);
  return over ? ANY : z;
}

static pass_range negated(pass_range x) {
  return x.lo == INT64_MIN ? ANY : (pass_range){-x.hi, -x.lo};
}

static pass_range product(pass_range x, pass_range y) {
  int64_t p[4];
  bool over =
      __builtin_mul_overflow(x.lo, y.lo, &p[0]) || __builtin_mul_overflow(x.lo, y.hi, &p[1]) ||
      __builtin_mul_overflow(x.hi, y.lo, &p[2]) || __builtin_mul_overflow(x.hi, y.hi, &p[3]);
  if (over) return ANY;
  return (pass_range){min64(min64(p[0], p[1]), min64(p[2], p[3])),
                      max64(max64(p[0], p[1]), max64(p[2], p[3]))};
}

static pass_range quotient(pass_range x, pass_range y) {
  return x.lo >= 0 && y.lo > 0 ? (pass_range){x.lo / y.hi, x.hi / y.lo} : ANY;
}

static pass_range rest(pass_range x, pass_range y) {
  if (y.lo <= 0) return ANY;
  return (pass_range){x.lo >= 0 ? 0 : -(y.hi - 1), x.lo >= 0 ? min64(x.hi, y.hi - 1) : y.hi - 1};
}

static pass_range sign_of(pass_range x) {
  return (pass_range){(x.lo > 0) - (x.lo < 0), (x.hi > 0) - (x.hi < 0)};
}

static pass_range truth(bool never, bool always) { return (pass_range){always, !never}; }

static pass_range comparison(const question *q) {
  pass_range x = of(q, 0), y = of(q, 1);
  ir_direction direction;
  ir_compare_type type;
  if (!is_integral(ir_type_at(q->r->m, operand(q, 0))->dtype) ||
      !ir_compare_kind(q->r->m, q->op, &direction, &type))
    return TRUTH;
  bool apart = x.hi < y.lo || y.hi < x.lo, same = is_one_number(x) && is_one_number(y) && !apart;
  switch (direction) {
    case IR_EQ: return truth(apart, same);
    case IR_NE: return truth(same, apart);
    case IR_LT: return truth(x.lo >= y.hi, x.hi < y.lo);
    case IR_LE: return truth(x.lo > y.hi, x.hi <= y.lo);
    case IR_GT: return truth(x.hi <= y.lo, x.lo > y.hi);
    case IR_GE: return truth(x.hi < y.lo, x.lo >= y.hi);
  }
  return TRUTH;
}

/* NE(f(x), ..) where f is `kind`; x, or IR_NONE. */
static ir_value differs(const pass_bounds *r, ir_value test, ir_kind kind, uint32_t *out_other) {
  ir_direction direction;
  ir_op compare = ir_comparison(r->m, test, &direction);
  if (!compare || direction != IR_NE) return IR_NONE;
  ir_op f = ir_maker(r->m, ir_operand(r->m, compare, 0), kind);
  *out_other = ir_operand(r->m, compare, 1);
  return f ? ir_operand(r->m, f, 0) : IR_NONE;
}

/* sign(x) != 1 and x % n != 0, of floor division: where x >= 0 the one means x = 0, whose remainder
 * is 0. */
static bool is_never_both(const pass_bounds *r, ir_value p, ir_value q) {
  ir_value one, zero;
  ir_value x = differs(r, p, IR_OP_SIGN, &one), y = differs(r, q, IR_OP_REMAINDER, &zero);
  if (!x || x != y || pass_range_of(r, x).lo < 0) return false;
  pass_range a = pass_range_of(r, one), b = pass_range_of(r, zero);
  return a.lo == 1 && a.hi == 1 && b.lo == 0 && b.hi == 0;
}

static pass_range conjunction(const question *q) {
  pass_range x = of(q, 0), y = of(q, 1);
  if (!is_within(x, TRUTH) || !is_within(y, TRUTH)) return ANY;
  bool never = is_never_both(q->r, operand(q, 0), operand(q, 1)) ||
               is_never_both(q->r, operand(q, 1), operand(q, 0));
  return (pass_range){x.lo & y.lo, never ? 0 : x.hi & y.hi};
}

static pass_range choice(const question *q) {
  pass_range p = of(q, 0);
  return is_one_number(p) ? of(q, p.lo ? 1 : 2) : hull(of(q, 1), of(q, 2));
}

/* A prefix sum of what is not negative: at most all of it. */
static pass_range running_sum(const question *q) {
  pass_range x = of(q, 0);
  bool plain =
      x.lo >= 0 && ir_adds_up(q->r->m, q->op) && ir_type_at(q->r->m, operand(q, 0))->rank == 1;
  return plain ? product(x, (pass_range){0, longest(q, operand(q, 0))}) : ANY;
}

static pass_range all_operands(const question *q) {
  pass_range x = of(q, 0);
  for (uint32_t i = 1; i < ir_op_get(q->r->m, q->op)->n_operands; i++) x = hull(x, of(q, i));
  return x;
}

static pass_range larger(pass_range x, pass_range y) {
  return (pass_range){max64(x.lo, y.lo), max64(x.hi, y.hi)};
}
static pass_range smaller(pass_range x, pass_range y) {
  return (pass_range){min64(x.lo, y.lo), min64(x.hi, y.hi)};
}

static pass_range result_range(const question *q) {
  switch (ir_kind_of(q->r->m, q->op)) {
    case IR_OP_CONSTANT: return constant(q);
    case IR_OP_IOTA: return iota(q);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_BROADCAST:
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE:
    case IR_OP_REVERSE:
    case IR_OP_SLICE:
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER:
    case IR_OP_CONVERT: return of(q, 0);
    case IR_OP_CONCATENATE: return all_operands(q);
    case IR_OP_ADD: return sum(of(q, 0), of(q, 1));
    case IR_OP_SUBTRACT: return sum(of(q, 0), negated(of(q, 1)));
    case IR_OP_MULTIPLY: return product(of(q, 0), of(q, 1));
    case IR_OP_DIVIDE: return quotient(of(q, 0), of(q, 1));
    case IR_OP_REMAINDER: return rest(of(q, 0), of(q, 1));
    case IR_OP_SIGN: return sign_of(of(q, 0));
    case IR_OP_MAXIMUM: return larger(of(q, 0), of(q, 1));
    case IR_OP_MINIMUM: return smaller(of(q, 0), of(q, 1));
    case IR_OP_CLAMP: return smaller(larger(of(q, 0), of(q, 1)), of(q, 2));
    case IR_OP_COMPARE: return comparison(q);
    case IR_OP_AND: return conjunction(q);
    case IR_OP_SELECT: return choice(q);
    case IR_OP_REDUCE_WINDOW: return running_sum(q);
    default: return ANY;
  }
}

/* ---- the list ---- */
pass_bounds pass_bounds_make(arena *a, ir_module *m) { return (pass_bounds){.a = a, .m = m}; }

pass_range pass_range_of(const pass_bounds *r, ir_value v) {
  bool known = v < r->known.count && r->known.at[v].lo <= r->known.at[v].hi;
  return known ? r->known.at[v] : of_dtype(ir_type_at(r->m, v)->dtype);
}

/* What does not fit its type has wrapped around: it can be anything. So does a conversion of what
 * is no integer. */
void pass_bounds_note(pass_bounds *r, ir_op op) {
  const ir_op_data *d = ir_op_get(r->m, op);
  ir_dtype dtype = d->n_results == 1 ? ir_type_at(r->m, d->first_result)->dtype : IR_F32;
  if (d->n_results != 1 || !is_integral(dtype)) return;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (d->kind != IR_OP_COMPARE && !is_integral(ir_type_at(r->m, d->operands[i])->dtype)) return;
  question q = {r, op, dtype};
  pass_range x = result_range(&q);
  if (!is_within(x, of_dtype(dtype))) return;
  while (r->known.count <= d->first_result) VEC_PUSH(r->a, &r->known, (pass_range){1, 0});
  r->known.at[d->first_result] = x;
}

/* Of two operands, the one that is always the largest, or the least; IR_NONE: neither is. */
static ir_value winner(const question *q, bool largest) {
  pass_range x = of(q, 0), y = of(q, 1);
  if (largest ? x.lo >= y.hi : x.hi <= y.lo) return operand(q, 0);
  return (largest ? y.lo >= x.hi : y.hi <= x.lo) ? operand(q, 1) : IR_NONE;
}

ir_value pass_bounds_forward(const pass_bounds *r, ir_op op) {
  const ir_op_data *d = ir_op_get(r->m, op);
  question q = {r, op, IR_I1};
  if (d->n_results != 1 || !d->n_operands) return IR_NONE;
  if (d->kind == IR_OP_SELECT)
    return is_one_number(of(&q, 0)) ? operand(&q, of(&q, 0).lo ? 1 : 2) : IR_NONE;
  if (!is_integral(ir_type_at(r->m, d->first_result)->dtype)) return IR_NONE;
  switch (d->kind) {
    case IR_OP_MAXIMUM: return winner(&q, true);
    case IR_OP_MINIMUM: return winner(&q, false);
    case IR_OP_CLAMP:
      return of(&q, 1).lo >= of(&q, 0).hi && of(&q, 1).hi <= of(&q, 2).lo ? operand(&q, 1)
                                                                          : IR_NONE;
    case IR_OP_DIVIDE: return of(&q, 1).lo == 1 && of(&q, 1).hi == 1 ? operand(&q, 0) : IR_NONE;
    case IR_OP_REMAINDER:
      return of(&q, 0).lo >= 0 && of(&q, 0).hi < of(&q, 1).lo ? operand(&q, 0) : IR_NONE;
    default: return IR_NONE;
  }
}

/* ---- the pass ---- */
/* x n + y with 0 <= y < n and x >= 0, which does not overflow. */
typedef struct counter {
  ir_value x, y;
  int64_t n;
} counter;

static bool find_counter(const pass_bounds *r, ir_value v, uint32_t side, counter *out) {
  ir_op add = ir_maker(r->m, v, IR_OP_ADD);
  ir_op times = add ? ir_maker(r->m, ir_operand(r->m, add, side), IR_OP_MULTIPLY) : IR_NONE;
  if (!times) return false;
  *out = (counter){ir_operand(r->m, times, 0), ir_operand(r->m, add, 1 - side), 0};
  pass_range n = pass_range_of(r, ir_operand(r->m, times, 1)), x = pass_range_of(r, out->x),
             y = pass_range_of(r, out->y), all = of_dtype(ir_type_at(r->m, v)->dtype);
  out->n = n.lo;
  return is_one_number(n) && n.lo > 0 && x.lo >= 0 && y.lo >= 0 && y.hi < n.lo &&
         is_within(sum(product(x, n), y), all);
}

/* (x n + y) / (n k) is x / k; of % n it is y, of % (n k) it is (x % k) n + y: left alone. */
static ir_value taken_apart(const pass_bounds *f, ir_builder *b, ir_op op) {
  counter c;
  ir_kind kind = ir_kind_of(f->m, op);
  if (kind != IR_OP_DIVIDE && kind != IR_OP_REMAINDER) return IR_NONE;
  pass_range by = pass_range_of(f, ir_operand(f->m, op, 1));
  if (!find_counter(f, ir_operand(f->m, op, 0), 0, &c) &&
      !find_counter(f, ir_operand(f->m, op, 0), 1, &c))
    return IR_NONE;
  if (!is_one_number(by) || by.lo < c.n || by.lo % c.n) return IR_NONE;
  if (kind == IR_OP_REMAINDER) return by.lo == c.n ? c.y : IR_NONE;
  return by.lo == c.n
             ? c.x
             : ir_build_binary(b, IR_OP_DIVIDE, c.x, ir_build_int_like(b, c.x, by.lo / c.n));
}

static ir_value one_number(const pass_bounds *f, ir_builder *b, ir_op op) {
  ir_value y = ir_result(f->m, op, 0);
  pass_range x = pass_range_of(f, y);
  bool moved = ir_kind_of(f->m, op) == IR_OP_BROADCAST_IN_DIM || !ir_op_get(f->m, op)->n_operands;
  if (!is_integral(ir_type_at(f->m, y)->dtype) || !is_one_number(x) || moved) return IR_NONE;
  return ir_build_int_like(b, y, x.lo);
}

static ir_value narrowed(const pass_bounds *f, ir_builder *b, ir_op op) {
  ir_value x = one_number(f, b, op);
  if (!x) x = pass_bounds_forward(f, op);
  if (!x) x = taken_apart(f, b, op);
  return x;
}

static void note_made(pass_bounds *f, ir_value v) {
  ir_op op = ir_value_get(f->m, v)->op;
  if (!op) return;
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_operands; i++) {
    ir_op from = ir_value_get(f->m, ir_operand(f->m, op, i))->op;
    if (from) pass_bounds_note(f, from);
  }
  pass_bounds_note(f, op);
}

static bool begin(pass_rewrite *r) {
  pass_bounds *f = r->own = ARENA_NEW(r->p->scratch, pass_bounds);
  *f = pass_bounds_make(r->p->scratch, r->m);
  return true;
}

static bool replace(pass_rewrite *r, ir_op op) {
  pass_bounds *f = r->own;
  if (!pass_is_static(f->m, op)) return false;
  pass_bounds_note(f, op);
  if (ir_op_get(f->m, op)->n_results != 1 || ir_has_effects(f->m, op)) return false;
  ir_value y = ir_result(f->m, op, 0);
  ir_value x = narrowed(f, &r->b, op);
  if (!x || ir_type_of(f->m, x) != ir_type_of(f->m, y)) return false;
  note_made(f, x);
  return pass_stand_in(f->m, r->map, op, x);
}

const pass pass_ranges = {"ranges", .replace = replace, .begin = begin};
