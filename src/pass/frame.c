/* Gathers and scatters of parts as such of the whole. See frame.h. */
#include "pass/frame.h"

void pass_frame_init(const ir_module *m, ir_value other, pass_frame *out) {
  *out = (pass_frame){.outer = *ir_type_at(m, other)};
  for (int32_t d = 0; d < out->outer.rank; d++) {
    out->to[d] = d;
    out->inner[d] = out->outer.dims[d];
  }
}

static bool is_cut(const pass_frame *f, int64_t dim) { return f->outer.dims[dim] != f->inner[dim]; }

static bool is_gather(const ir_module *m, ir_op op) { return ir_kind_of(m, op) == IR_OP_GATHER; }

/* Whether the list of the part's dimensions has this one of the other array. */
static bool has(ir_ints part, const pass_frame *f, int64_t dim) {
  for (int32_t k = 0; k < part.count; k++)
    if (f->to[part.at[k]] == dim) return true;
  return false;
}

/* All numbers up to the extent are of this type. */
static bool may_count(ir_dtype dtype, int64_t extent) {
  return ir_is_integer(dtype) && ir_dtype_bytes(dtype) >= 4 && extent <= INT32_MAX;
}

bool pass_may_reframe(arena *scratch, ir_module *m, ir_op op, const pass_frame *f) {
  ir_gather_numbers n;
  const ir_type_data *places = ir_type_at(m, ir_operand(m, op, 1));
  bool ok = ir_gather_dims(scratch, m, op, &n) && !n.operand_batching_dims.count &&
            n.start_index_map.count && places->rank < IR_MAX_RANK;
  for (int32_t d = 0; ok && d < f->outer.rank; d++) {
    if (!is_cut(f, d)) continue;
    bool named = has(n.start_index_map, f, d);
    ok = may_count(places->dtype, f->outer.dims[d]) && f->inner[d] > 0 &&
         (named ? has(n.collapsed_slice_dims, f, d) : f->inner[d] == 1);
  }
  return ok;
}

/* ---- places ---- */
/* Places along a dimension of the part as such of the other array. */
static ir_value moved(ir_builder *b, ir_value at, const pass_frame *f, int64_t dim, bool clamps) {
  if (clamps) {
    at = ir_build_clamped(b, at, 0, f->inner[dim] - 1);
    return ir_build_add(b, at, ir_build_int_like(b, at, f->low[dim]));
  }
  ir_value from = ir_build_compare(b, "GE", at, ir_build_int_like(b, at, 0)),
           below = ir_build_compare(b, "LT", at, ir_build_int_like(b, at, f->inner[dim])),
           inside = ir_build_binary(b, IR_OP_AND, from, below),
           in_other = ir_build_add(b, at, ir_build_int_like(b, at, f->low[dim]));
  return ir_build_select(b, inside, in_other, ir_build_int_like(b, at, f->outer.dims[dim]));
}

/* The places in the other array, and in n what dimensions they name: those of before, then what is
 * cut and had no name. */
static ir_value reframed_places(ir_builder *b, ir_op op, const pass_frame *f, ir_gather_numbers *n,
                                int64_t *named) {
  ir_ints before = n->start_index_map;
  int64_t by = n->index_vector_dim;
  ir_value all = ir_operand(b->m, op, 1), parts[2 * IR_MAX_RANK];
  int32_t count = 0;
  if (by == ir_type_at(b->m, all)->rank) all = pass_build_column(b, all);
  for (; count < before.count; count++) {
    ir_value at = before.count == 1 ? all : ir_build_slice_dim(b, all, by, count, 1);
    named[count] = f->to[before.at[count]];
    parts[count] = at;
    if (is_cut(f, named[count])) parts[count] = moved(b, at, f, named[count], is_gather(b->m, op));
  }
  for (int32_t d = 0; d < f->outer.rank; d++) {
    if (!is_cut(f, d) || has(before, f, d)) continue;
    named[count] = d;
    parts[count++] = ir_build_int_like(b, parts[0], f->low[d]);
  }
  n->start_index_map = (ir_ints){count, named};
  return count == 1 ? parts[0] : ir_build_concatenate(b, parts, (uint32_t)count, by);
}

/* ---- ops ---- */
/* The windows in the other array: of one along its further dimensions, which are collapsed. */
static void reframe_windows(ir_module *m, ir_op op, const pass_frame *f, ir_gather_numbers *n,
                            int64_t *collapsed, int64_t *out_sizes) {
  int32_t rank = ir_type_at(m, ir_operand(m, op, 0))->rank, count = 0;
  for (int32_t d = 0, at = 0; d < f->outer.rank; d++) {
    bool own = at < rank && f->to[at] == d;
    out_sizes[d] = own ? ir_op_entry(m, op, "slice_sizes", at, 1) : 1;
    if (!own || ir_ints_have(n->collapsed_slice_dims, at)) collapsed[count++] = d;
    at += own;
  }
  n->collapsed_slice_dims = (ir_ints){count, collapsed};
}

ir_value pass_build_reframed(ir_builder *b, arena *scratch, ir_op op, const pass_frame *f,
                             ir_value other) {
  ir_gather_numbers n;
  ir_module *m = b->m;
  int64_t named[2 * IR_MAX_RANK], collapsed[IR_MAX_RANK], sizes[IR_MAX_RANK];
  CTX_CHECK(m->ctx, ir_gather_dims(scratch, m, op, &n));
  bool gather = is_gather(m, op);
  ir_value operands[] = {other, reframed_places(b, op, f, &n, named),
                         gather ? IR_NONE : ir_operand(m, op, 2)};
  reframe_windows(m, op, f, &n, collapsed, sizes);
  ir_type type = gather ? ir_type_of(m, ir_result(m, op, 0)) : ir_type_of(m, other);
  ir_op made = ir_build_again(b, op, operands, &type);
  ir_set_gather_dims(m, made, &n);
  if (gather) ir_op_set_attr(m, made, "slice_sizes", ir_attr_i64s(m, sizes, f->outer.rank), true);
  /* what was beyond the ends is elsewhere, at one place */
  ir_op_drop_attr(m, made, "indices_are_sorted");
  if (!gather) ir_op_drop_attr(m, made, "unique_indices");
  return ir_result(m, made, 0);
}
