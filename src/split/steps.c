#include "split/steps.h"

#include "ir/attrs.h"

enum { DEEPEST = 24 };

/* ---- integers ---- */
static bool at(split_affine x, int64_t t, int64_t *out) {
  return !__builtin_mul_overflow(x.a, t, out) && !__builtin_add_overflow(*out, x.b, out);
}

/* In all trips between the bounds; being affine it is so if it is in the first and in the last. */
static bool is_within(const split_steps *s, split_affine x, int64_t low, int64_t high) {
  int64_t first, last;
  return at(x, 0, &first) && at(x, s->trips - 1, &last) && first >= low && first <= high &&
         last >= low && last <= high;
}

static bool fits(const split_steps *s, split_affine x, ir_dtype dtype) {
  return is_within(s, x, ir_lowest(dtype), ir_highest(dtype));
}

/* ---- carries ---- */
static ir_value argument(const split_steps *s, uint32_t carry) {
  return ir_argument(s->m, s->body, carry);
}

static ir_value yielded(const split_steps *s, uint32_t carry) {
  return ir_yielded(s->m, s->body, carry);
}

bool split_steps_keeps(const split_steps *s, uint32_t carry) {
  return yielded(s, carry) == argument(s, carry);
}

/* A carry that a constant is added to in each trip. */
static bool carry_affine(const split_steps *s, uint32_t carry, split_affine *out) {
  out->a = ir_growth(s->m, s->op, carry);
  return ir_integer_of(s->m, ir_operand(s->m, s->op, carry), &out->b) &&
         (out->a || split_steps_keeps(s, carry));
}

/* ---- affine values ---- */
static bool affine(const split_steps *s, ir_value v, int depth, split_affine *out);

static bool operand_affine(const split_steps *s, ir_op op, uint32_t i, int depth,
                           split_affine *out) {
  return affine(s, ir_operand(s->m, op, i), depth - 1, out);
}

static bool add_scaled(split_affine x, split_affine y, int64_t scale, split_affine *out) {
  int64_t a, b;
  return !__builtin_mul_overflow(y.a, scale, &a) && !__builtin_mul_overflow(y.b, scale, &b) &&
         !__builtin_add_overflow(x.a, a, &out->a) && !__builtin_add_overflow(x.b, b, &out->b);
}

/* 1: x < y in all trips, 0: in none, -1: in some, or one of them leaves the type's range. */
static int is_less(const split_steps *s, split_affine x, split_affine y, ir_dtype dtype) {
  split_affine d;
  if (!fits(s, x, dtype) || !fits(s, y, dtype) || !add_scaled(x, y, -1, &d)) return -1;
  return is_within(s, d, INT64_MIN, -1) ? 1 : is_within(s, d, 0, INT64_MAX) ? 0 : -1;
}

static int inverted(int truth) { return truth < 0 ? truth : !truth; }

/* The same answer in all trips, or -1. */
static int compared(const split_steps *s, ir_value v, int depth) {
  ir_direction direction;
  ir_op op = ir_comparison(s->m, v, &direction);
  split_affine x, y;
  if (!op || !operand_affine(s, op, 0, depth, &x) || !operand_affine(s, op, 1, depth, &y))
    return -1;
  ir_dtype dtype = ir_type_at(s->m, ir_operand(s->m, op, 0))->dtype;
  switch (direction) {
    case IR_LT: return is_less(s, x, y, dtype);
    case IR_GE: return inverted(is_less(s, x, y, dtype));
    case IR_GT: return is_less(s, y, x, dtype);
    case IR_LE: return inverted(is_less(s, y, x, dtype));
    default: return -1;
  }
}

static bool chosen(const split_steps *s, ir_op op, int depth, split_affine *out) {
  int truth = compared(s, ir_operand(s->m, op, 0), depth - 1);
  return truth >= 0 && operand_affine(s, op, truth ? 1 : 2, depth, out);
}

static bool extreme(const split_steps *s, split_affine x, split_affine y, ir_dtype dtype,
                    bool largest, split_affine *out) {
  int less = is_less(s, x, y, dtype);
  *out = (less == 1) == largest ? y : x;
  return less >= 0;
}

static bool product(split_affine x, split_affine y, split_affine *out) {
  if (x.a && y.a) return false;
  return x.a ? add_scaled((split_affine){0}, x, y.b, out)
             : add_scaled((split_affine){0}, y, x.b, out);
}

static bool converted(const split_steps *s, ir_op op, int depth, split_affine *out) {
  ir_value x = ir_operand(s->m, op, 0), y = ir_result(s->m, op, 0);
  return ir_is_int_scalar(s->m, x) && operand_affine(s, op, 0, depth, out) &&
         fits(s, *out, ir_type_at(s->m, x)->dtype) && fits(s, *out, ir_type_at(s->m, y)->dtype);
}

static bool op_affine(const split_steps *s, ir_op op, int depth, split_affine *out) {
  split_affine x, y, z;
  ir_kind kind = ir_kind_of(s->m, op);
  if (kind == IR_OP_CONVERT) return converted(s, op, depth, out);
  if (kind == IR_OP_SELECT) return chosen(s, op, depth, out);
  if (kind == IR_OP_NEGATE)
    return operand_affine(s, op, 0, depth, &x) && add_scaled((split_affine){0}, x, -1, out);
  if (kind != IR_OP_ADD && kind != IR_OP_SUBTRACT && kind != IR_OP_MULTIPLY &&
      kind != IR_OP_MAXIMUM && kind != IR_OP_MINIMUM && kind != IR_OP_CLAMP)
    return false;
  if (!operand_affine(s, op, 0, depth, &x) || !operand_affine(s, op, 1, depth, &y)) return false;
  ir_dtype dtype = ir_type_at(s->m, ir_result(s->m, op, 0))->dtype;
  switch (kind) {
    case IR_OP_ADD: return add_scaled(x, y, 1, out);
    case IR_OP_SUBTRACT: return add_scaled(x, y, -1, out);
    case IR_OP_MULTIPLY: return product(x, y, out);
    case IR_OP_CLAMP: /* low, value, high */
      return operand_affine(s, op, 2, depth, &z) && extreme(s, x, y, dtype, true, out) &&
             extreme(s, *out, z, dtype, false, out);
    default: return extreme(s, x, y, dtype, kind == IR_OP_MAXIMUM, out);
  }
}

static bool affine(const split_steps *s, ir_value v, int depth, split_affine *out) {
  if (depth == 0 || !ir_is_int_scalar(s->m, v)) return false;
  const ir_value_data *d = ir_value_get(s->m, v);
  out->a = 0;
  if (ir_integer_of(s->m, v, &out->b)) return true;
  if (d->block == s->body) return carry_affine(s, d->index, out);
  return d->op && ir_op_get(s->m, d->op)->block == s->body && op_affine(s, d->op, depth, out);
}

/* An integer scalar that the body can read; false if it does not follow from the trip. */
static bool affine_of(const split_steps *s, ir_value v, split_affine *out) {
  return affine(s, v, DEEPEST, out) && fits(s, *out, ir_type_at(s->m, v)->dtype);
}

bool split_steps_counts(const split_steps *s, ir_value v, int64_t *out_ahead) {
  split_affine x;
  bool counts = affine_of(s, v, &x) && x.a == 1;
  *out_ahead = counts ? x.b : 0;
  return counts;
}

/* ---- trips ---- */
bool split_steps_of(const ir_module *m, ir_op op, split_steps *out) {
  const ir_op_data *d = ir_op_get(m, op);
  ir_counter c;
  if (d->kind != IR_OP_WHILE || d->n_attrs || !ir_find_counter(m, op, &c) || c.by != 1)
    return false;
  *out = (split_steps){m, op, d->regions[1], c.carry, c.first, c.trips};
  return c.trips > 0 &&
         fits(out, (split_affine){1, c.first + 1}, ir_type_at(m, argument(out, c.carry))->dtype);
}

/* ---- stacks and reads ---- */
/* The dimension that parts of these sizes are counted along: 1 of `extent`, all of the others. */
static bool covers(const split_steps *s, const ir_type_data *whole, const int64_t *part,
                   const ir_value *starts, split_access *out) {
  out->dim = -1;
  for (int32_t d = 0; d < whole->rank; d++) {
    if (part[d] == whole->dims[d]) continue;
    if (out->dim >= 0 || part[d] != 1 || whole->dims[d] != s->trips) return false;
    out->dim = d;
  }
  return out->dim >= 0 && affine_of(s, starts[out->dim], &out->at) &&
         (out->at.a == 1 || out->at.a == -1) && is_within(s, out->at, 0, s->trips - 1);
}

bool split_steps_stack(const split_steps *s, uint32_t carry, const uint32_t *uses,
                       split_access *out) {
  const ir_module *m = s->m;
  ir_value arg = argument(s, carry), next = yielded(s, carry);
  ir_op op = ir_maker(m, next, IR_OP_DYNAMIC_UPDATE_SLICE);
  if (!op || ir_operand(m, op, 0) != arg || ir_op_get(m, op)->block != s->body || uses[arg] != 1 ||
      uses[next] != 1 || !ir_is_static_tensor(m, ir_type_of(m, arg)))
    return false;
  ir_value looked_at = ir_argument(m, ir_body(m, s->op), carry);
  if (ir_is_used_in(m, ir_body(m, s->op), looked_at)) return false;
  out->op = op;
  return covers(s, ir_type_at(m, arg), ir_type_at(m, ir_operand(m, op, 1))->dims,
                ir_op_get(m, op)->operands + 2, out);
}

bool split_steps_read(const split_steps *s, ir_op op, ir_value v, split_access *out) {
  const ir_module *m = s->m;
  if (ir_kind_of(m, op) != IR_OP_DYNAMIC_SLICE || ir_operand(m, op, 0) != v ||
      ir_op_get(m, op)->block != s->body)
    return false;
  out->op = op;
  return covers(s, ir_type_at(m, v), ir_type_at(m, ir_result(m, op, 0))->dims,
                ir_op_get(m, op)->operands + 1, out);
}

ir_value split_build_access(ir_builder *b, arena *scratch, ir_op op, int32_t dim, ir_value stack,
                            ir_value place, const ir_map *map) {
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, op);
  bool reads = d.kind == IR_OP_DYNAMIC_SLICE;
  ir_value *x = ir_map_all(scratch, map, d.operands, d.n_operands), *starts = x + (reads ? 1 : 2);
  starts[dim] = ir_build_convert(b, place, ir_type_at(m, starts[dim])->dtype);
  return reads ? ir_build_dynamic_slice(b, stack, starts, ir_type_at(m, d.first_result)->dims)
               : ir_build_dynamic_update_slice(b, stack, x[1], starts);
}

/* ---- what is needed ---- */
/* Ops whose operands are to be looked at are put on the list. */
static void need(split_needed *n, ir_value v, ir_ops *todo) {
  const split_steps *s = n->s;
  const ir_value_data *d = ir_value_get(s->m, v);
  if (ir_value_block(s->m, v) != s->body) return;
  if (d->op && !n->op[d->op]) VEC_PUSH(n->scratch, todo, d->op);
  if (d->op) n->op[d->op] = true;
  if (d->op || d->index == s->counter || n->carry[d->index] || split_steps_keeps(s, d->index))
    return;
  n->carry[d->index] = true;
  need(n, yielded(s, d->index), todo);
}

void split_need(split_needed *n, ir_value v) {
  ir_ops todo = {0};
  need(n, v, &todo);
  while (todo.count)
    for (ir_walk w = ir_walk_op(n->s->m, todo.at[--todo.count]); ir_next(&w);)
      for (ir_value x, i = 0; (x = ir_operand_at(n->s->m, w.op, i)); i++) need(n, x, &todo);
}

split_needed split_needed_of(arena *scratch, const split_steps *s, bool *carry) {
  split_needed n = {s, ARENA_ARRAY(scratch, bool, s->m->ops.count), carry, scratch};
  split_need(&n, yielded(s, s->counter));
  return n;
}
