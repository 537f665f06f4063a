/* through-slice: of what is made, only the part that is read.
 *
 * Requires: a verified module, dead code gone. Breaks: nothing; what lost its uses stays for dce.
 * Slices without gaps move from a value to what it is made of. With S a range of indices,
 *   S(f(x, y)) = f(S(x), S(y)) for elementwise f
 *   S(A . B) = S'(A) . S''(B)       along free and batch dimensions
 *   S(sum_k x) = sum_k S'(x)        and any other reducer
 *   S(broadcast, transpose, reshape, concatenate, iota, slice): the same of fewer elements
 *   S(scatter into x) = scatter into S(x)    the first ones along dimensions whose windows are of
 *                                            one element: what is written behind is dropped
 * One walk from the last op to the first finds the smallest pass_box around what the ops behind
 * read of each value; a second one gives values that size, and their readers what is left to cut.
 * So a language model's loss on logits[:, :-1] is one on logits of h[:, :-1]: its loop can be a
 * kernel (tiles do not cut computed rows and columns), and rows that nobody reads are not computed.
 *   Exact: every element is made as before; but a product of another shape may sum in another
 * order. Left alone: values that are small against the limit or below the threshold, unless made
 * of a large one; products with an operand larger than the result, of which a copy would be made;
 * slices with strides; boxes that a reshape makes no pass_box of; what regions (loops, branches)
 * read; ops with several results; dynamic shapes. Cost: linear. Source: the identities above; XLA's
 * AlgebraicSimplifier has some of them for single ops. See docs/design/through-slice.md.
 */
#include "ir/masks.h"
#include "pass/boxes.h"
#include "pass/build.h"

/* A part of a value, for all ops of the block that want the same. */
typedef struct part {
  ir_value value; /* IR_NONE: none so far */
  ir_block block;
  pass_box of;
} part;

typedef struct cutter {
  pass_ctx *p;
  ir_module *m;
  ir_map *map;      /* slices -> what they are now */
  pass_boxes boxes; /* of values as they were before */
  uint32_t *uses;
  bool *is_read;
  pass_box *read; /* by value: what is read of it; in the second walk what there is of it */
  part *part;     /* by value: the last one made */
  int64_t small_bytes;
} cutter;

static const ir_type_data *type_of(const cutter *f, ir_value v) {
  return pass_box_type(&f->boxes, v);
}

/* ---- which ops make a part of their result ---- */
static bool can_be_cut(const cutter *f, ir_op op) {
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE:
    case IR_OP_SLICE:
    case IR_OP_REDUCE:
    case IR_OP_DOT_GENERAL:
    case IR_OP_CONCATENATE:
    case IR_OP_SCATTER:
    case IR_OP_IOTA: break;
    default:
      if (!ir_is_elementwise(ir_kind_of(f->m, op))) return false;
  }
  const ir_op_data *d = ir_op_get(f->m, op);
  bool is_static = d->n_results == 1 && ir_is_static_tensor(f->m, f->boxes.type[d->first_result]);
  for (uint32_t i = 0; i < d->n_operands; i++)
    is_static &= ir_is_static_tensor(f->m, f->boxes.type[d->operands[i]]);
  return is_static && !pass_box_is_empty(type_of(f, d->first_result), PASS_WHOLE);
}

/* A product's operand lies in memory: a part of it is a copy, unless it is made for this alone. */
static bool may_copy(const cutter *f, ir_op op, ir_value x) {
  ir_op def = ir_value_get(f->m, x)->op;
  bool own = def && ir_op_get(f->m, def)->block == ir_op_get(f->m, op)->block && f->uses[x] == 1 &&
             can_be_cut(f, def);
  return own || ir_value_bytes(f->m, x) <= ir_value_bytes(f->m, ir_result(f->m, op, 0));
}

static bool is_worth_it(const cutter *f, ir_op op, pass_box of) {
  ir_kind kind = ir_kind_of(f->m, op);
  bool large = ir_value_bytes(f->m, ir_result(f->m, op, 0)) > f->small_bytes;
  if (kind == IR_OP_IOTA && of.lo[ir_op_int(f->m, op, "iota_dimension", 0)]) return false;
  for (ir_value x, i = 0; (x = ir_operand_at(f->m, op, i)); i++) {
    pass_box b;
    if (!pass_box_of_operand(&f->boxes, op, i, of, &b)) return false;
    if (!pass_box_is_cut(type_of(f, x), b)) continue;
    if (kind == IR_OP_DOT_GENERAL && !may_copy(f, op, x)) return false;
    large |= ir_value_get(f->m, x)->op && ir_value_bytes(f->m, x) > f->small_bytes;
  }
  return large;
}

/* ---- the first walk: what is read ---- */
static void extend(pass_box *b, const ir_type_data *t, pass_box other) {
  for (int32_t d = 0; d < t->rank; d++)
    pass_box_set(b, d, other.lo[d] < b->lo[d] ? other.lo[d] : b->lo[d],
                 other.hi[d] > b->hi[d] ? other.hi[d] : b->hi[d]);
}

static void need(cutter *f, ir_block block, ir_value x, pass_box b) {
  ir_op def = ir_value_get(f->m, x)->op;
  pass_box *had = &f->read[x];
  bool is_first = !f->is_read[x], is_here = def && ir_op_get(f->m, def)->block == block;
  f->is_read[x] = true;
  if (!b.lo || !is_here || (!is_first && !had->lo)) *had = PASS_WHOLE;
  else if (is_first) *had = b;
  else extend(had, type_of(f, x), b);
}

static bool is_plain_slice(const cutter *f, ir_op op) {
  pass_box b;
  return ir_kind_of(f->m, op) == IR_OP_SLICE && can_be_cut(f, op) &&
         pass_box_of_operand(&f->boxes, op, 0, PASS_WHOLE, &b);
}

/* What is made of the op's result from now on: all of it, or what is read. */
static void settle(cutter *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  ir_value y = d->first_result;
  for (uint32_t r = 0; d->n_results > 1 && r < d->n_results; r++) f->read[y + r] = PASS_WHOLE;
  if (d->n_results != 1) return;
  pass_box b = f->read[y];
  bool cuts = b.lo && can_be_cut(f, op) && pass_box_is_cut(type_of(f, y), b) &&
              (ir_kind_of(f->m, op) == IR_OP_SLICE ? is_plain_slice(f, op) : is_worth_it(f, op, b));
  if (!cuts) f->read[y] = PASS_WHOLE;
}

static void find_reads(cutter *f, ir_block block);

static void find_reads_of(cutter *f, ir_block block, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  settle(f, op);
  bool cuts = is_plain_slice(f, op) || (d->n_results == 1 && f->read[d->first_result].lo);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    pass_box b = PASS_WHOLE;
    if (cuts) pass_box_of_operand(&f->boxes, op, i, f->read[d->first_result], &b);
    if (!cuts || !pass_box_is_empty(type_of(f, d->operands[i]), b))
      need(f, block, d->operands[i], b);
  }
  for (ir_block below, r = 0; (below = ir_next_block(f->m, op, &r));) find_reads(f, below);
}

static void find_reads(cutter *f, ir_block block) {
  const ir_block_data *b = ir_block_get(f->m, block);
  for (uint32_t i = b->ops.count; i-- > 0;) find_reads_of(f, block, b->ops.at[i]);
}

/* ---- the second walk: values of that size ---- */
/* iota(first..) is iota + first in this element type, to the bit. */
static bool adds_exactly(const ir_type_data *t, pass_box want, int64_t dim) {
  enum { F32_DIGITS = 24 };
  bool is_int = ir_is_integer(t->dtype);
  return want.lo[dim] == 0 || (is_int && ir_dtype_bytes(t->dtype) >= 4) || t->dtype == IR_F64 ||
         (t->dtype == IR_F32 && want.hi[dim] < (int64_t)1 << F32_DIGITS);
}

/* IR_NONE: x is no iota. */
static ir_value counted(cutter *f, ir_builder *b, ir_value x, pass_box want) {
  ir_op def = ir_maker(f->m, x, IR_OP_IOTA);
  if (!def) return IR_NONE;
  int64_t dim = ir_op_int(f->m, def, "iota_dimension", 0);
  if (!adds_exactly(type_of(f, x), want, dim)) return IR_NONE;
  ir_type type = pass_type_of_box(&f->boxes, x, want);
  ir_value count = ir_build_iota(b, type, dim);
  if (!want.lo[dim]) return count;
  return ir_build_add(b, count, ir_build_splat_int(b, type, want.lo[dim]));
}

static ir_value sliced(cutter *f, ir_builder *b, ir_value x, pass_box want) {
  int64_t start[IR_MAX_RANK], limit[IR_MAX_RANK], stride[IR_MAX_RANK];
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    int64_t first = f->read[x].lo ? f->read[x].lo[d] : 0;
    start[d] = want.lo[d] - first;
    limit[d] = want.hi[d] - first;
    CTX_CHECK(f->m->ctx, 0 <= start[d] && start[d] <= limit[d]); /* inside what there is */
    stride[d] = 1;
  }
  return ir_build_slice(b, ir_map_get(f->map, x), start, limit, stride);
}

/* It is all that there is. */
static bool is_all(const cutter *f, ir_value x, pass_box want) {
  const ir_type_data *t = type_of(f, x);
  return f->read[x].lo ? pass_box_is_same(t, f->read[x], want) : !pass_box_is_cut(t, want);
}

/* This pass_box of x, of which there is f->read[x]. */
static ir_value part_of(cutter *f, ir_builder *b, ir_value x, pass_box want) {
  part *had = &f->part[x];
  if (is_all(f, x, want)) return ir_map_get(f->map, x);
  if (had->value && had->block == b->block && pass_box_is_same(type_of(f, x), had->of, want))
    return had->value;
  ir_value made = counted(f, b, x, want);
  if (!made) made = sliced(f, b, x, want);
  *had = (part){made, b->block, want};
  return made;
}

/* The same of operand i. A mask that a product selects by is cut before it is converted, as XLA
 * knows it (ir/masks.h). */
static ir_value part_of_operand(cutter *f, ir_builder *b, ir_op op, uint32_t i, pass_box want) {
  ir_value x = ir_operand(f->m, op, i);
  ir_op convert = ir_maker(f->m, x, IR_OP_CONVERT);
  bool selects =
      convert && ir_is_converted_mask(f->m, x) && !is_all(f, x, want) && ir_selects_by(f->m, op, i);
  if (!selects) return part_of(f, b, x, want);
  ir_value p = part_of(f, b, ir_operand(f->m, convert, 0), want);
  return ir_build_convert(b, p, type_of(f, x)->dtype);
}

/* The slice is another one, or what it slices. */
static bool cut_slice(cutter *f, ir_block block, ir_op op) {
  if (!is_plain_slice(f, op)) return false;
  ir_value x = ir_operand(f->m, op, 0), y = ir_result(f->m, op, 0);
  bool counts = ir_maker(f->m, x, IR_OP_IOTA) && ir_value_bytes(f->m, y) > f->small_bytes;
  if (!f->read[y].lo && !f->read[x].lo && !counts) return false;
  pass_box want;
  pass_box_of_operand(&f->boxes, op, 0, f->read[y], &want);
  ir_builder b = {f->m, block, ir_op_get(f->m, op)->location};
  ir_map_set(f->map, y, part_of(f, &b, x, want));
  return f->p->changed = true;
}

/* Operands of a concatenation that nothing is read of go. */
static void cut_op(cutter *f, ir_block block, ir_op op) {
  uint32_t n = ir_op_get(f->m, op)->n_operands, kept = 0;
  ir_value y = ir_result(f->m, op, 0);
  ir_builder b = {f->m, block, ir_op_get(f->m, op)->location};
  pass_box *want = ARENA_ARRAY(f->p->scratch, pass_box, n + 1);
  ir_value *old = ARENA_ARRAY(f->p->scratch, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    old[i] = ir_operand(f->m, op, i);
    pass_box_of_operand(&f->boxes, op, i, f->read[y], &want[i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (pass_box_is_empty(type_of(f, old[i]), want[i])) continue;
    ir_value x = part_of_operand(f, &b, op, i, want[i]);
    ir_op_get(f->m, op)->operands[kept++] = x;
  }
  CTX_CHECK(f->m->ctx, kept || !n); /* the result is not empty */
  ir_op_get(f->m, op)->n_operands = kept;
  ir_value_get(f->m, y)->type = pass_type_of_box(&f->boxes, y, f->read[y]);
  f->p->changed = true;
}

static void cut_block(cutter *f, ir_block block) {
  ir_ops ops = ir_take_ops(f->m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    if (cut_slice(f, block, op)) continue;
    const ir_op_data *d = ir_op_get(f->m, op);
    if (d->n_results == 1 && f->read[d->first_result].lo) cut_op(f, block, op);
    else ir_rename_operands(f->m, op, f->map);
    for (ir_block below, r = 0; (below = ir_next_block(f->m, op, &r));) cut_block(f, below);
    ir_block_append(f->m, block, op);
  }
}

static weir_status run(pass_ctx *p, ir_module *m) {
  ir_block top = ir_top(m);
  uint32_t n = m->values.count;
  cutter f = {.p = p,
              .m = m,
              .map = ir_map_new(p->scratch, m),
              .boxes = pass_boxes_new(p->scratch, m),
              .uses = ir_count_uses(p->scratch, m, top),
              .is_read = ARENA_ARRAY(p->scratch, bool, n),
              .read = ARENA_ARRAY(p->scratch, pass_box, n),
              .part = ARENA_ARRAY(p->scratch, part, n),
              .small_bytes = pass_small_bytes(p->options)};
  find_reads(&f, top);
  cut_block(&f, top);
  return WEIR_OK;
}

const pass pass_through_slice = {"through-slice", run};
