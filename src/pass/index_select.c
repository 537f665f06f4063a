/* index-select: torch_index_select -> gather.
 *
 *   torch_index_select(x, i) {dim, batch_dims}[b.., p.., k.., q..] = x[b.., p.., i[b.., k..], q..]
 *
 * where b.. are batch_dims dimensions of both, p.. the others in front of `dim`.
 * Requires: a verified module. Breaks: nothing. Exact, for indices beyond the ends too: XLA makes
 * a gather of it, which moves them inside, of indices of 64 bits the lower 32, without a sign.
 * Left alone: dynamic shapes, numbers and shapes that do not fit each other.
 * Source: StableHLO, TorchIndexSelectOp; XLA, TorchIndexSelect in client/lib/slicing.cc.
 */
#include "pass/build.h"

typedef struct selection {
  ir_value x, indices;
  int64_t dim, batch; /* of x; dimensions in common */
  int64_t inner;      /* of the indices: those that are not in common */
} selection;

static bool is_selection(const ir_module *m, ir_op op, selection *out) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind != IR_OP_TORCH_INDEX_SELECT || d->n_operands != 2 || d->n_results != 1 ||
      !pass_is_static(m, op))
    return false;
  *out = (selection){.x = d->operands[0],
                     .indices = d->operands[1],
                     .dim = ir_op_int(m, op, "dim", -1),
                     .batch = ir_op_int(m, op, "batch_dims", -1)};
  if (out->batch < 0 || out->batch > out->dim || out->dim >= ir_type_at(m, out->x)->rank)
    return false;
  const ir_type_data *t = ir_type_at(m, out->indices);
  out->inner = t->rank - out->batch;
  return out->inner >= 0 && ir_is_integer(t->dtype);
}

static ir_ints count_from(int64_t *ints, int64_t from, int64_t to, ir_ints more) {
  for (int64_t i = from; i < to; i++) ints[more.count++] = i;
  return (ir_ints){more.count, ints};
}

/* As XLA reads them; the conversion, if there is one, in no block yet. */
static ir_value indices_of(ir_module *m, ir_op op, const selection *s) {
  bool is_wide = ir_dtype_bytes(ir_type_at(m, s->indices)->dtype) == 8;
  ir_builder b = {m, IR_NONE, ir_op_get(m, op)->location};
  return is_wide && ir_type_at(m, s->x)->dims[s->dim] < UINT32_MAX
             ? ir_build_convert(&b, s->indices, IR_UI32)
             : s->indices;
}

/* In no block yet. */
static ir_op build(ir_module *m, ir_op op, const selection *s, ir_value indices) {
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  const ir_type_data *x = ir_type_at(m, s->x);
  int64_t sizes[IR_MAX_RANK];
  for (int32_t d = 0; d < x->rank; d++) sizes[d] = d < s->batch || d == s->dim ? 1 : x->dims[d];
  int64_t offsets[2 * IR_MAX_RANK], batch[IR_MAX_RANK];
  ir_ints windows = count_from(offsets, s->batch, s->dim, (ir_ints){0, offsets});
  windows = count_from(offsets, s->dim + s->inner, ir_type_get(m, type)->rank, windows);
  ir_ints common = count_from(batch, 0, s->batch, (ir_ints){0, batch}), dim = {1, &s->dim};
  ir_gather_numbers n = {windows, dim, common, common, dim, s->batch + s->inner};
  ir_builder b = {m, IR_NONE, ir_op_get(m, op)->location};
  ir_value y = ir_build_gather(&b, s->x, indices, type, &n, sizes);
  return ir_value_get(m, y)->op;
}

static bool replace(pass_rewrite *f, ir_op op) {
  selection s;
  if (!is_selection(f->m, op, &s)) return false;
  const ir_type_data *x = ir_type_at(f->m, s.x), *y = ir_type_at(f->m, ir_result(f->m, op, 0));
  if (y->rank != x->rank - 1 + s.inner || y->dtype != x->dtype) return false;
  ir_value indices = indices_of(f->m, op, &s);
  ir_op made = build(f->m, op, &s, indices);
  if (!ir_obeys_rule(f->m, made)) return false;
  if (indices != s.indices) ir_block_append(f->m, f->b.block, ir_value_get(f->m, indices)->op);
  ir_block_append(f->m, f->b.block, made);
  return pass_stand_in(f->m, f->map, op, ir_result(f->m, made, 0));
}

const pass pass_index_select = {"index-select", .replace = replace};
