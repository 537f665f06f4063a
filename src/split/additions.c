#include "split/additions.h"

#include "ir/attrs.h"
#include "ir/fold.h"

/* ---- finding ---- */
static bool adds(const ir_module *m, ir_op op, ir_value arg) {
  return split_is_addition(m, op) && (ir_operand(m, op, 0) == arg || ir_operand(m, op, 1) == arg);
}

/* A weir.loop of one result. */
static bool adds_in_slices(ir_module *m, const uint32_t *uses, ir_op op, ir_value arg) {
  if (ir_kind_of(m, op) != IR_OP_LOOP || ir_op_get(m, op)->n_results != 1) return false;
  ir_loop l = ir_loop_get(m, op);
  ir_block body = ir_body(m, op);
  uint32_t at = 0;
  split_addition inside;
  while (at < l.n_inputs && ir_operand(m, op, at) != arg) at++;
  return at < l.n_inputs && l.out_dims[0] >= 0 && l.in_dims[at] == l.out_dims[0] &&
         l.in_units[at] == l.out_units[0] &&
         split_find_addition(m, uses, body, ir_argument(m, body, at + 2), ir_yielded(m, body, 0),
                             &inside) &&
         ir_kind_of(m, inside.by[0].op) == IR_OP_ADD;
}

static bool same_starts(const ir_module *m, ir_op slice, ir_op update) {
  bool same = true;
  for (uint32_t i = 1; i < ir_op_get(m, slice)->n_operands; i++) {
    ir_value x = ir_operand(m, slice, i), y = ir_operand(m, update, i + 1);
    same &= x == y || (ir_is_zero(m, x) && ir_is_zero(m, y));
  }
  return same;
}

/* update(sum, slice(sum, at) + x, at): the slice; IR_NONE: the op is another. */
static ir_op block_added_to(const ir_module *m, const uint32_t *uses, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_DYNAMIC_UPDATE_SLICE) return IR_NONE;
  ir_op add = ir_maker(m, ir_operand(m, op, 1), IR_OP_ADD);
  for (uint32_t i = 0; add && uses[ir_result(m, add, 0)] == 1 && i < 2; i++) {
    ir_value old = ir_operand(m, add, i);
    ir_op slice = ir_maker(m, old, IR_OP_DYNAMIC_SLICE);
    if (slice && adds(m, add, old) && uses[old] == 1 && same_starts(m, slice, op) &&
        ir_operand(m, slice, 0) == ir_operand(m, op, 0))
      return slice;
  }
  return IR_NONE;
}

static bool finds_in_while(ir_module *m, const uint32_t *uses, ir_op loop, uint32_t carry,
                           split_addition *out) {
  ir_block condition = ir_op_get(m, loop)->regions[0], body = ir_while_body(m, loop);
  return !uses[ir_argument(m, condition, carry)] &&
         split_find_addition(m, uses, body, ir_argument(m, body, carry), ir_yielded(m, body, carry),
                             out);
}

/* What it adds to; IR_NONE: it does something else. */
static ir_value added_to(ir_module *m, const uint32_t *uses, ir_value sum, ir_value arg,
                         split_step *out) {
  ir_op op = ir_value_get(m, sum)->op;
  split_addition inside;
  *out = (split_step){.op = op, .carry = ir_value_get(m, sum)->index};
  if (adds(m, op, arg) || adds_in_slices(m, uses, op, arg)) return arg;
  if (ir_kind_of(m, op) == IR_OP_WHILE) {
    if (!finds_in_while(m, uses, op, out->carry, &inside)) return IR_NONE;
    out->is_in_blocks = inside.is_in_blocks;
    return ir_operand(m, op, out->carry);
  }
  out->slice = block_added_to(m, uses, op);
  out->is_in_blocks = out->slice;
  return out->slice ? ir_operand(m, op, 0) : IR_NONE;
}

static void reverse(split_addition *a) {
  for (uint32_t i = 0, k = a->count; i + 1 < k--; i++) {
    split_addition old = *a;
    a->by[i] = old.by[k];
    a->by[k] = old.by[i];
  }
}

bool split_find_addition(ir_module *m, const uint32_t *uses, ir_block body, ir_value arg,
                         ir_value yielded, split_addition *out) {
  ir_value v = yielded;
  uint32_t readers = 1;
  *out = (split_addition){
      .arg = arg, .sum = yielded, .type = ir_type_of(m, arg), .is_in_blocks = true};
  while (v && v != arg && out->count < sizeof out->by / sizeof out->by[0]) {
    ir_op op = ir_value_get(m, v)->op;
    if (!op || ir_op_get(m, op)->block != body || uses[v] != readers) return false;
    split_step *step = &out->by[out->count++];
    v = added_to(m, uses, v, arg, step);
    readers = step->slice ? 2 : 1;
    out->is_in_blocks &= step->is_in_blocks;
  }
  reverse(out);
  return v == arg && out->count && uses[arg] == readers;
}

/* ---- parts ---- */
static ir_value part_in(ir_builder *b, ir_value whole, const split_box *box, ir_type type) {
  ir_value at[IR_MAX_RANK];
  for (int32_t d = 0; !box->is_all && d < ir_type_at(b->m, whole)->rank; d++)
    at[d] = ir_build_int(b, box->at[d]);
  if (!box->is_all) whole = ir_build_dynamic_slice(b, whole, at, box->dims);
  return ir_build_reshape(b, whole, type);
}

static ir_value with_part(ir_builder *b, ir_value whole, ir_value part, const split_box *box) {
  const ir_type_data *t = ir_type_at(b->m, whole);
  ir_value at[IR_MAX_RANK];
  part = ir_build_reshape(b, part, ir_tensor(b->m, t->dtype, t->rank, box->dims));
  for (int32_t d = 0; !box->is_all && d < t->rank; d++) at[d] = ir_build_int(b, box->at[d]);
  return box->is_all ? part : ir_build_dynamic_update_slice(b, whole, part, at);
}

/* ---- blocks of a part, as blocks of the whole ---- */
/* By dimension of the whole: the part's; -1: none. False: they differ by more than ones. */
static bool find_dims(const ir_type_data *part, const split_box *box, int32_t rank,
                      int32_t *out_from) {
  int32_t d = 0;
  for (int32_t k = 0; k < rank; k++) {
    out_from[k] = -1;
    if (box->dims[k] == 1) continue;
    while (d < part->rank && part->dims[d] == 1) d++;
    if (d == part->rank || part->dims[d] != box->dims[k]) return false;
    out_from[k] = d++;
  }
  while (d < part->rank && part->dims[d] == 1) d++;
  return d == part->rank;
}

/* Where the slice of the part lies in the whole. What a start is clamped to is the part. */
static void find_block(split_adding *s, const split_addition *a, ir_op slice, const split_box *box,
                       const int32_t *from, int32_t rank, ir_value *out_at, int64_t *out_dims) {
  ir_module *m = s->b.m;
  const ir_type_data *part = ir_type_get(m, a->type),
                     *block = ir_type_at(m, ir_result(m, slice, 0));
  for (int32_t k = 0; k < rank; k++) {
    int32_t d = from[k];
    ir_value start = ir_operand(m, slice, 1 + (d < 0 ? 0 : (uint32_t)d));
    bool is_all = d < 0 || block->dims[d] == part->dims[d];
    out_dims[k] = d < 0 ? 1 : block->dims[d];
    out_at[k] = ir_build_int_like(&s->b, start, box->at[k]);
    if (is_all) continue;
    start = ir_build_clamped(&s->b, start, 0, part->dims[d] - block->dims[d]);
    out_at[k] = box->at[k] ? ir_build_add(&s->b, start, out_at[k]) : start;
  }
}

static void read_block(split_adding *s, const split_addition *a, ir_op slice, const split_box *box,
                       const int32_t *from, ir_value now) {
  ir_module *m = s->b.m;
  ir_value old = ir_result(m, slice, 0), at[IR_MAX_RANK];
  int64_t dims[IR_MAX_RANK];
  find_block(s, a, slice, box, from, ir_type_at(m, now)->rank, at, dims);
  ir_value block = ir_build_dynamic_slice(&s->b, now, at, dims);
  ir_map_set(s->renamed, old, ir_build_reshape(&s->b, block, ir_type_of(m, old)));
}

/* In the place that it was read from. */
static ir_value put_block(split_adding *s, ir_op slice, ir_op update, ir_value now) {
  ir_module *m = s->b.m;
  ir_value read = ir_map_get(s->renamed, ir_result(m, slice, 0)),
           x = ir_map_get(s->renamed, ir_operand(m, update, 1));
  ir_op reshape = ir_maker(m, read, IR_OP_RESHAPE);
  if (reshape) read = ir_operand(m, reshape, 0);
  ir_op block = ir_maker(m, read, IR_OP_DYNAMIC_SLICE);
  CTX_CHECK(m->ctx, block);
  x = ir_build_reshape(&s->b, x, ir_type_of(m, read));
  return ir_build_dynamic_update_slice(&s->b, now, x, ir_op_get(m, block)->operands + 1);
}

static bool is_of(const split_addition *a, ir_op op) {
  bool is = false;
  for (uint32_t k = 0; k < a->count; k++) is |= a->by[k].op == op || a->by[k].slice == op;
  return is;
}

static void set_type(ir_module *m, ir_value v, ir_type type) { ir_value_get(m, v)->type = type; }

/* Its body, with the whole in the place of the part. */
static void add_in_body(split_adding *around, ir_op loop, uint32_t carry,
                        const split_addition *inside, const split_box *box) {
  ir_module *m = around->b.m;
  ir_block body = ir_while_body(m, loop);
  split_adding s = {.b = {m, body, around->b.location}, .uses = around->uses};
  s.renamed = ir_map_new(m->arena, m);
  ir_value now = inside->arg;
  ir_ops old = ir_take_ops(m, body);
  for (uint32_t i = 0; i < old.count; i++) {
    if (is_of(inside, old.at[i])) split_add_to_part(&s, inside, old.at[i], box, &now);
    else ir_block_append(m, body, old.at[i]);
  }
  ir_op_get(m, ir_terminator(m, body))->operands[carry] = now;
  ir_replace_uses(m, body, s.renamed);
}

static ir_value add_by_while(split_adding *s, ir_op loop, uint32_t i, const split_box *box,
                             ir_value now) {
  ir_module *m = s->b.m;
  ir_type type = ir_type_of(m, now);
  split_addition inside;
  bool found = finds_in_while(m, s->uses, loop, i, &inside);
  CTX_CHECK(m->ctx, found);
  ir_op_get(m, loop)->operands[i] = now;
  set_type(m, ir_argument(m, ir_op_get(m, loop)->regions[0], i), type);
  set_type(m, inside.arg, type);
  set_type(m, ir_result(m, loop, i), type);
  add_in_body(s, loop, i, &inside, box);
  ir_block_append(m, s->b.block, loop);
  return ir_result(m, loop, i);
}

static void add_in_blocks(split_adding *s, const split_addition *a, ir_op op, const split_box *box,
                          const int32_t *from, ir_value *now) {
  for (uint32_t k = 0; k < a->count; k++) {
    if (op == a->by[k].slice) read_block(s, a, op, box, from, *now);
    else if (op != a->by[k].op) continue;
    else if (a->by[k].slice) *now = put_block(s, a->by[k].slice, op, *now);
    else *now = add_by_while(s, op, a->by[k].carry, box, *now);
  }
}

/* ---- all of a part ---- */
static void read_instead(ir_module *m, ir_op op, ir_value old, ir_value now) {
  if (op) {
    ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->n_operands; i++)
      if (d->operands[i] == old) d->operands[i] = now;
  }
}

ir_op split_addition_begins(const split_addition *a) {
  return a->by[0].slice ? a->by[0].slice : a->by[0].op;
}

ir_op split_addition_ends(const split_addition *a) { return a->by[a->count - 1].op; }

static void add_apart(split_adding *s, const split_addition *a, ir_op op, const split_box *box,
                      ir_value *now) {
  ir_module *m = s->b.m;
  if (op == split_addition_begins(a)) {
    ir_value part = part_in(&s->b, *now, box, a->type);
    read_instead(m, a->by[0].slice, a->arg, part);
    read_instead(m, a->by[0].op, a->arg, part);
  }
  ir_block_append(m, s->b.block, op);
  if (op == split_addition_ends(a)) *now = with_part(&s->b, *now, a->sum, box);
}

void split_add_to_part(split_adding *s, const split_addition *a, ir_op op, const split_box *box,
                       ir_value *now) {
  ir_module *m = s->b.m;
  int32_t from[IR_MAX_RANK];
  s->b.location = ir_op_get(m, op)->location;
  CTX_CHECK(m->ctx, is_of(a, op));
  if (a->is_in_blocks && find_dims(ir_type_get(m, a->type), box, ir_type_at(m, *now)->rank, from))
    add_in_blocks(s, a, op, box, from, now);
  else add_apart(s, a, op, box, now);
}
