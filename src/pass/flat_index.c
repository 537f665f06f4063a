/* flat-index: one index into what was flattened -> one index for each dimension that it had.
 *
 *   gather(reshape(x), i)     = gather(x, [i / n, i % n])       x is [.., m, n, ..]
 *   reshape(scatter(y, i, u)) = scatter(reshape(y), [i / n, i % n], u)
 *
 * so that x, or what is scattered, can be cut along m: a flattened dimension can't.
 * Requires: a verified module; behind `permuted`, which finds a sort by the line that it sorts.
 * Breaks: nothing; what lost its uses stays for dce. Exact, for indices beyond the ends, too: a
 * gather moves them inside, here before they are divided; a scatter drops them, and here those
 * below 0 become the first one behind the end. Updates come in the order that they had. Left alone:
 * dynamic shapes, batches, several named dimensions, ui64 (whose halves i64 can't tell apart),
 * scatters that others read as well, tensors that are small against the limit. Source: TensorFlow,
 * gradients of top_k, tf.gather and of segments; gather and scatter in the StableHLO specification.
 */
#include "base/saturate.h"
#include "pass/build.h"

/* Dimension `dim` of one shape is `count` dimensions of a taller one. */
typedef struct fold {
  int64_t dim;
  int32_t count;
  ir_type tall;
} fold;

static int64_t tall_extent(const ir_module *m, const fold *f, int32_t i) {
  return ir_type_get(m, f->tall)->dims[f->dim + i];
}

/* The shapes differ by `dim` alone, and more than dimensions of 1 went into it. */
static bool is_fold(const ir_module *m, ir_type flat, ir_type tall, int64_t dim, fold *out) {
  const ir_type_data *x = ir_type_get(m, flat), *y = ir_type_get(m, tall);
  *out = (fold){dim, y->rank - x->rank + 1, tall};
  if (out->count < 2) return false;
  int64_t size = 1, longest = 1;
  for (int32_t i = 0; i < out->count; i++) {
    int64_t extent = tall_extent(m, out, i);
    size = saturated_product(size, extent);
    if (extent > longest) longest = extent;
  }
  if (size != x->dims[dim] || size <= longest) return false;
  for (int32_t i = 0; i < x->rank; i++)
    if (i != dim && x->dims[i] != y->dims[i < dim ? i : i + out->count - 1]) return false;
  return true;
}

/* The only dimension that the indices name; -1: there are others, or windows along it. */
static int64_t named_dim(const ir_gather_numbers *n) {
  bool one = n->collapsed_slice_dims.count == 1 && n->start_index_map.count == 1 &&
             !n->operand_batching_dims.count;
  return one && n->collapsed_slice_dims.at[0] == n->start_index_map.at[0] ? n->start_index_map.at[0]
                                                                          : -1;
}

static bool are_readable(const ir_module *m, ir_value indices) {
  return ir_fits_i64(ir_type_at(m, indices)->dtype);
}

/* ---- indices ---- */
/* In i64, without the dimension of length 1 that index vectors lie along. */
static ir_value numbers_of(ir_builder *b, ir_value indices, const ir_gather_numbers *n) {
  ir_value wide = ir_build_convert(b, indices, IR_I64);
  int64_t along = n->index_vector_dim;
  if (along == ir_type_at(b->m, wide)->rank) return wide;
  return ir_build_reshape(b, wide, ir_tensor_without_dim(b->m, ir_type_of(b->m, wide), along));
}

/* Those below 0 behind the end, where scatter drops them as well. */
static ir_value dropped(ir_builder *b, ir_value at, int64_t size) {
  ir_value below = ir_build_compare(b, "LT", at, ir_build_int_like(b, at, 0));
  return ir_build_select(b, below, ir_build_int_like(b, at, size), at);
}

/* Index vectors: the first component is beyond its end where `at` is beyond the whole. */
static ir_value taken_apart(ir_builder *b, ir_value at, const fold *f) {
  ir_value parts[IR_MAX_RANK];
  int32_t rank = ir_type_at(b->m, at)->rank;
  int64_t stride = 1;
  for (int32_t i = f->count; i-- > 0; stride *= tall_extent(b->m, f, i)) {
    ir_value x = ir_build_binary(b, IR_OP_DIVIDE, at, ir_build_int_like(b, at, stride));
    if (i)
      x = ir_build_binary(b, IR_OP_REMAINDER, x, ir_build_int_like(b, at, tall_extent(b->m, f, i)));
    parts[i] = pass_build_column(b, x);
  }
  return ir_build_concatenate(b, parts, (uint32_t)f->count, rank);
}

/* ---- the ops ---- */
static ir_gather_numbers tall_numbers(const ir_module *m, const ir_gather_numbers *n, const fold *f,
                                      ir_value indices, int64_t *named) {
  ir_gather_numbers tall = *n;
  for (int32_t i = 0; i < f->count; i++) named[i] = f->dim + i;
  tall.collapsed_slice_dims = tall.start_index_map = (ir_ints){f->count, named};
  tall.index_vector_dim = ir_type_at(m, indices)->rank - 1;
  return tall;
}

static ir_attr tall_sizes(ir_module *m, ir_op gather, const fold *f) {
  ir_ints flat = ir_op_list(m, gather, "slice_sizes");
  int64_t sizes[IR_MAX_RANK];
  int32_t rank = flat.count + f->count - 1;
  CTX_CHECK(m->ctx, rank == ir_type_get(m, f->tall)->rank);
  for (int32_t i = 0; i < rank; i++)
    sizes[i] = i < f->dim ? flat.at[i] : i < f->dim + f->count ? 1 : flat.at[i - f->count + 1];
  return ir_attr_i64s(m, sizes, rank);
}

/* A rank that fits is left for the index vectors and what is taller. */
static bool has_room(const ir_module *m, ir_value indices) {
  return ir_type_at(m, indices)->rank < IR_MAX_RANK;
}

/* What it reshapes is computed: of what is there anyway nothing is gained. */
static bool is_flattened(const ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_RESHAPE);
  return op && ir_value_get(m, ir_operand(m, op, 0))->op;
}

static bool replace_gather(pass_rewrite *g, ir_op op) {
  ir_module *m = g->m;
  ir_gather_numbers n;
  fold f;
  ir_value x = ir_operand(m, op, 0), indices = ir_operand(m, op, 1);
  ir_op flat = ir_value_get(m, x)->op;
  if (!is_flattened(m, x) || !pass_is_large(g, x) || !pass_is_static(m, op) ||
      !ir_gather_dims(g->p->scratch, m, op, &n) || named_dim(&n) < 0 || !are_readable(m, indices) ||
      !has_room(m, indices) ||
      !is_fold(m, ir_type_of(m, x), ir_type_of(m, ir_operand(m, flat, 0)), named_dim(&n), &f))
    return false;
  int64_t named[IR_MAX_RANK], size = ir_type_at(m, x)->dims[f.dim];
  ir_value inside = ir_build_clamped(&g->b, numbers_of(&g->b, indices, &n), 0, size - 1),
           at = taken_apart(&g->b, inside, &f);
  ir_gather_numbers tall = tall_numbers(m, &n, &f, at, named);
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  ir_op made = ir_build_again(&g->b, op, (ir_value[]){ir_operand(m, flat, 0), at}, &type);
  ir_set_gather_dims(m, made, &tall);
  ir_op_set_attr(m, made, "slice_sizes", tall_sizes(m, op, &f), true);
  return pass_stand_in(m, g->map, op, ir_result(m, made, 0));
}

/* The scatter that the op reshapes, in the same block, for nobody else. */
static ir_op scatter_of(const pass_rewrite *g, ir_block block, ir_op reshape) {
  ir_value v = ir_operand(g->m, reshape, 0);
  ir_op op = ir_maker(g->m, v, IR_OP_SCATTER);
  bool is = op && ir_op_get(g->m, op)->n_operands == 3 && ir_op_get(g->m, op)->block == block &&
            v < g->n_values && g->uses[v] == 1;
  return is && pass_is_static(g->m, op) && pass_is_static(g->m, reshape) ? op : IR_NONE;
}

static bool replace_scatter(pass_rewrite *g, ir_op op) {
  ir_module *m = g->m;
  ir_gather_numbers n;
  fold f;
  ir_op scatter = scatter_of(g, g->b.block, op);
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  if (!scatter || !pass_is_large(g, ir_result(m, op, 0)) ||
      !ir_gather_dims(g->p->scratch, m, scatter, &n) || named_dim(&n) < 0 ||
      !are_readable(m, ir_operand(m, scatter, 1)) || !has_room(m, ir_operand(m, scatter, 1)) ||
      !is_fold(m, ir_type_of(m, ir_operand(m, op, 0)), type, named_dim(&n), &f))
    return false;
  ir_builder b = {m, g->b.block, ir_op_get(m, scatter)->location};
  int64_t named[IR_MAX_RANK], size = ir_type_at(m, ir_operand(m, op, 0))->dims[f.dim];
  ir_value at = dropped(&b, numbers_of(&b, ir_operand(m, scatter, 1), &n), size);
  at = taken_apart(&b, at, &f);
  ir_gather_numbers tall = tall_numbers(m, &n, &f, at, named);
  ir_value y = ir_build_reshape(&b, ir_operand(m, scatter, 0), type);
  ir_value operands[] = {y, at, ir_operand(m, scatter, 2)};
  ir_op made = ir_build_again(&b, scatter, operands, &type);
  ir_set_gather_dims(m, made, &tall);
  /* what was dropped in front is now behind, all of it at one place */
  ir_op_drop_attr(m, made, "indices_are_sorted");
  ir_op_drop_attr(m, made, "unique_indices");
  return pass_stand_in(m, g->map, op, ir_result(m, made, 0));
}

static bool replace(pass_rewrite *g, ir_op op) {
  switch (ir_kind_of(g->m, op)) {
    case IR_OP_GATHER: return replace_gather(g, op);
    case IR_OP_RESHAPE: return replace_scatter(g, op);
    default: return false;
  }
}

const pass pass_flat_index = {"flat-index", .replace = replace};
