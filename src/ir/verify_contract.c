/* Shape rules of contractions, windows, gather and scatter, linear algebra, transforms. Source:
 * StableHLO specification, "Constraints" of each op.
 *
 * Not demanded although the specification does: equal element types of the two sides of dot_general
 * and convolution and of their results; JAX asks for wider results (preferred_element_type) and
 * mixed f8 operands, and XLA takes both.
 */
#include "ir/verify.h"

static ir_ints ints_of(const int64_t *at, int32_t count) { return (ir_ints){count, at}; }

static ir_ints joined(verifier *v, ir_ints a, ir_ints b) {
  int64_t *at = ARENA_ARRAY(v->scratch, int64_t, (size_t)a.count + (size_t)b.count + 1);
  memcpy(at, a.at, (size_t)a.count * sizeof *at);
  memcpy(at + a.count, b.at, (size_t)b.count * sizeof *at);
  return ints_of(at, a.count + b.count);
}

/* An attribute that has to be there and to read. */
#define NEED_NUMBERS(v, op, name, read)                                                            \
  do {                                                                                             \
    if (!ir_op_attr((v)->m, (op), (name))) return ir_verify_absent((v), (op), (name));             \
    if (!(read)) return ir_verify_unreadable((v), (op), (name));                                   \
  } while (0)

static int64_t dim_from_end(const ir_type_data *t, int32_t i) { return t->dims[t->rank - i]; }

/* ---- dot ---- */
static weir_status same_dims(verifier *v, ir_op op, int constraint, const char *what, ir_ints left,
                             ir_ints right) {
  const ir_type_data *l = operand_type(v, op, 0), *r = operand_type(v, op, 1);
  for (int32_t i = 0; i < left.count; i++) {
    int64_t a = l->dims[left.at[i]], b = r->dims[right.at[i]];
    if (!dim_fits(a, b))
      return ir_violation(v, op, constraint,
                          "%s dimension %lld of the left side is %lld, but dimension %lld of the "
                          "right side is %lld",
                          what, (long long)left.at[i], (long long)a, (long long)right.at[i],
                          (long long)b);
  }
  return WEIR_OK;
}

static weir_status dot_lists(verifier *v, ir_op op, const ir_dot_numbers *dims) {
  int32_t l = operand_type(v, op, 0)->rank, r = operand_type(v, op, 1)->rank;
  WEIR_TRY(ir_verify_length(v, op, 1, "`rhs_batching_dimensions`", dims->rhs_batch,
                            dims->lhs_batch.count));
  WEIR_TRY(ir_verify_length(v, op, 2, "`rhs_contracting_dimensions`", dims->rhs_contract,
                            dims->lhs_contract.count));
  WEIR_TRY(ir_verify_range(v, op, 5, "`lhs_batching_dimensions`", dims->lhs_batch, 0, l - 1));
  WEIR_TRY(ir_verify_range(v, op, 6, "`lhs_contracting_dimensions`", dims->lhs_contract, 0, l - 1));
  WEIR_TRY(ir_verify_range(v, op, 7, "`rhs_batching_dimensions`", dims->rhs_batch, 0, r - 1));
  WEIR_TRY(ir_verify_range(v, op, 8, "`rhs_contracting_dimensions`", dims->rhs_contract, 0, r - 1));
  WEIR_TRY(ir_verify_unique(v, op, 3, "lhs batching and contracting dimensions",
                            joined(v, dims->lhs_batch, dims->lhs_contract)));
  return ir_verify_unique(v, op, 4, "rhs batching and contracting dimensions",
                          joined(v, dims->rhs_batch, dims->rhs_contract));
}

weir_status ir_verify_dot_general(verifier *v, ir_op op) {
  ir_dot_numbers dims;
  int64_t want[3 * IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  NEED_NUMBERS(v, op, "dot_dimension_numbers", ir_dot_dims(v->m, op, &dims));
  WEIR_TRY(dot_lists(v, op, &dims));
  WEIR_TRY(same_dims(v, op, 9, "batching", dims.lhs_batch, dims.rhs_batch));
  WEIR_TRY(same_dims(v, op, 10, "contracting", dims.lhs_contract, dims.rhs_contract));
  int32_t n = ir_dot_result_dims(operand_type(v, op, 0), operand_type(v, op, 1), &dims, want);
  return ir_verify_shape(v, op, 12, RESULT, want, n);
}

/* Vectors and matrices only: the last dimension of the left side with the first of the right side.
 */
weir_status ir_verify_dot(verifier *v, ir_op op) {
  int64_t want[2];
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  const ir_type_data *l = operand_type(v, op, 0), *r = operand_type(v, op, 1);
  if (l->rank < 1 || l->rank > 2 || r->rank < 1 || r->rank > 2)
    return ir_violation(v, op, 0, "operands of rank %d and %d, wanted 1 or 2", l->rank, r->rank);
  if (!dim_fits(dim_from_end(l, 1), r->dims[0]))
    return ir_violation(
        v, op, 0, "the left side's last dimension is %lld, but the right side's first is %lld",
        (long long)dim_from_end(l, 1), (long long)r->dims[0]);
  int32_t n = 0;
  if (l->rank == 2) want[n++] = l->dims[0];
  if (r->rank == 2) want[n++] = r->dims[1];
  return ir_verify_shape(v, op, 0, RESULT, want, n);
}

/* ---- windows ---- */
typedef struct windows {
  ir_ints size, stride, base_dilation, dilation, padding;
} windows;

/* How many windows of this size fit along dimension i; -1 where a size is unknown or the number
 * does not fit. */
static int64_t n_windows(const windows *w, int32_t i, int64_t length, int64_t size) {
  if (length < 0 || size < 0) return -1;
  __int128 base = length ? (__int128)(length - 1) * w->base_dilation.at[i] + 1 : 0;
  __int128 padded = base + w->padding.at[2 * i] + w->padding.at[2 * i + 1],
           reach = size ? (__int128)(size - 1) * w->dilation.at[i] + 1 : 0;
  if (padded <= 0 || reach > padded) return 0;
  __int128 n = (padded - reach) / w->stride.at[i] + 1;
  return n > INT64_MAX ? -1 : (int64_t)n;
}

/* An optional list of numbers; if absent `n` times `otherwise`. */
static weir_status list_or(verifier *v, ir_op op, const char *name, int32_t n, int64_t otherwise,
                           ir_ints *out_list) {
  if (ir_op_attr(v->m, op, name)) return ir_verify_ints(v, op, name, out_list);
  int64_t *all = ARENA_ARRAY(v->scratch, int64_t, (size_t)n + 1);
  for (int32_t i = 0; i < n; i++) all[i] = otherwise;
  *out_list = ints_of(all, n);
  return WEIR_OK;
}

static weir_status read_windows(verifier *v, ir_op op, int32_t rank, const char *base_dilation,
                                const char *dilation, windows *out) {
  WEIR_TRY(list_or(v, op, "window_dimensions", rank, 1, &out->size));
  WEIR_TRY(list_or(v, op, "window_strides", rank, 1, &out->stride));
  WEIR_TRY(list_or(v, op, base_dilation, rank, 1, &out->base_dilation));
  WEIR_TRY(list_or(v, op, dilation, rank, 1, &out->dilation));
  return list_or(v, op, "padding", 2 * rank, 0, &out->padding);
}

static weir_status positive(verifier *v, ir_op op, int constraint, const char *what, ir_ints list,
                            int64_t count) {
  WEIR_TRY(ir_verify_length(v, op, constraint, what, list, count));
  return ir_verify_range(v, op, constraint + 1, what, list, 1, INT64_MAX);
}

/* ---- convolution ---- */
static bool is_permutation(ir_ints spatial, int64_t a, int64_t b, int32_t rank) {
  uint64_t seen = 0;
  for (int32_t i = -2; i < spatial.count; i++) {
    int64_t d = i == -2 ? a : i == -1 ? b : spatial.at[i];
    if (d < 0 || d >= rank || seen >> d & 1) return false;
    seen |= (uint64_t)1 << d;
  }
  return true;
}

static weir_status conv_lists(verifier *v, ir_op op, const ir_conv_numbers *dims, int32_t rank) {
  WEIR_TRY(
      ir_verify_length(v, op, 12, "the input's spatial dimensions", dims->input_spatial, rank - 2));
  if (!is_permutation(dims->input_spatial, dims->input_batch, dims->input_feature, rank))
    return ir_violation(v, op, 13, "the input's dimension numbers are not 0 to %d", rank - 1);
  if (!is_permutation(dims->kernel_spatial, dims->kernel_input_feature, dims->kernel_output_feature,
                      rank))
    return ir_violation(v, op, 18, "the kernel's dimension numbers are not 0 to %d", rank - 1);
  if (!is_permutation(dims->output_spatial, dims->output_batch, dims->output_feature, rank))
    return ir_violation(v, op, 20, "the output's dimension numbers are not 0 to %d", rank - 1);
  return WEIR_OK;
}

static weir_status divides(verifier *v, ir_op op, int constraint, const char *what, int64_t size,
                           int64_t groups) {
  if (size < 0 || size % groups == 0) return WEIR_OK;
  return ir_violation(v, op, constraint, "%s is %lld, wanted a multiple of %lld", what,
                      (long long)size, (long long)groups);
}

static weir_status conv_groups(verifier *v, ir_op op, const ir_conv_numbers *dims,
                               int64_t *out_batch_groups) {
  const ir_type_data *x = operand_type(v, op, 0), *k = operand_type(v, op, 1);
  int64_t features = 1, batches = 1;
  WEIR_TRY(ir_verify_int(v, op, "feature_group_count", &features));
  WEIR_TRY(ir_verify_int(v, op, "batch_group_count", &batches));
  *out_batch_groups = batches;
  WEIR_TRY(ir_verify_number(v, op, 21, "feature_group_count", features, 1, INT64_MAX));
  WEIR_TRY(ir_verify_number(v, op, 22, "batch_group_count", batches, 1, INT64_MAX));
  if (features > 1 && batches > 1)
    return ir_violation(v, op, 23,
                        "both `feature_group_count` and `batch_group_count` are above 1");
  int64_t channels = x->dims[dims->input_feature], outputs = k->dims[dims->kernel_output_feature];
  WEIR_TRY(divides(v, op, 10, "the batch dimension", x->dims[dims->input_batch], batches));
  WEIR_TRY(divides(v, op, 11, "the feature dimension", channels, features));
  WEIR_TRY(divides(v, op, 15, "the number of output features", outputs, batches));
  WEIR_TRY(divides(v, op, 16, "the number of output features", outputs, features));
  int64_t want = channels < 0 ? -1 : channels / features;
  if (!dim_fits(k->dims[dims->kernel_input_feature], want))
    return ir_violation(v, op, 14, "the kernel has %lld input features, wanted %lld",
                        (long long)k->dims[dims->kernel_input_feature], (long long)want);
  return WEIR_OK;
}

weir_status ir_verify_convolution(verifier *v, ir_op op) {
  ir_conv_numbers dims;
  windows w;
  ir_ints reversal;
  int64_t want[IR_MAX_RANK], batch_groups = 1;
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  const ir_type_data *x = operand_type(v, op, 0), *k = operand_type(v, op, 1);
  int32_t n = x->rank - 2;
  if (x->rank < 2 || k->rank != x->rank)
    return ir_violation(v, op, 1, "operands of rank %d and %d, wanted equal ranks of at least 2",
                        x->rank, k->rank);
  NEED_NUMBERS(v, op, "dimension_numbers", ir_conv_dims(v->scratch, v->m, op, &dims));
  WEIR_TRY(conv_lists(v, op, &dims, x->rank));
  WEIR_TRY(conv_groups(v, op, &dims, &batch_groups));
  WEIR_TRY(read_windows(v, op, n, "lhs_dilation", "rhs_dilation", &w));
  WEIR_TRY(list_or(v, op, "window_reversal", n, 0, &reversal));
  WEIR_TRY(positive(v, op, 2, "`window_strides`", w.stride, n));
  WEIR_TRY(ir_verify_length(v, op, 4, "`padding`", w.padding, 2 * n));
  WEIR_TRY(positive(v, op, 5, "`lhs_dilation`", w.base_dilation, n));
  WEIR_TRY(positive(v, op, 7, "`rhs_dilation`", w.dilation, n));
  WEIR_TRY(ir_verify_length(v, op, 9, "`window_reversal`", reversal, n));
  int64_t batch = x->dims[dims.input_batch];
  want[dims.output_batch] = batch < 0 ? -1 : batch / batch_groups;
  want[dims.output_feature] = k->dims[dims.kernel_output_feature];
  for (int32_t i = 0; i < n; i++)
    want[dims.output_spatial.at[i]] =
        n_windows(&w, i, x->dims[dims.input_spatial.at[i]], k->dims[dims.kernel_spatial.at[i]]);
  return ir_verify_shape(v, op, 25, RESULT, want, x->rank);
}

/* ---- windows over tensors ---- */
weir_status ir_verify_reduce_window(verifier *v, ir_op op) {
  windows w;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_halves(v, op, 1));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_ints(v, op, "window_dimensions", &w.size));
  WEIR_TRY(read_windows(v, op, x->rank, "base_dilations", "window_dilations", &w));
  WEIR_TRY(positive(v, op, 4, "`window_dimensions`", w.size, x->rank));
  WEIR_TRY(positive(v, op, 6, "`window_strides`", w.stride, x->rank));
  WEIR_TRY(positive(v, op, 8, "`base_dilations`", w.base_dilation, x->rank));
  WEIR_TRY(positive(v, op, 10, "`window_dilations`", w.dilation, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 12, "`padding`", w.padding, 2 * x->rank));
  for (int32_t d = 0; d < x->rank; d++) want[d] = n_windows(&w, d, x->dims[d], w.size.at[d]);
  return ir_verify_reduction(v, op, &(ir_reduction_tags){2, 3, 15, 13}, want, x->rank);
}

weir_status ir_verify_select_and_scatter(verifier *v, ir_op op) {
  windows w;
  int64_t want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 3, 1));
  WEIR_TRY(ir_verify_n_regions(v, op, 2));
  const ir_type_data *x = operand_type(v, op, 0);
  ir_type x_type = operand_type_id(v, op, 0);
  WEIR_TRY(read_windows(v, op, x->rank, "base_dilations", "window_dilations", &w));
  WEIR_TRY(positive(v, op, 4, "`window_dimensions`", w.size, x->rank));
  WEIR_TRY(positive(v, op, 6, "`window_strides`", w.stride, x->rank));
  WEIR_TRY(ir_verify_length(v, op, 8, "`padding`", w.padding, 2 * x->rank));
  for (int32_t d = 0; d < x->rank; d++) want[d] = n_windows(&w, d, x->dims[d], w.size.at[d]);
  WEIR_TRY(ir_verify_dtype(v, op, 1, "the source", operand_type_id(v, op, 1), x_type));
  WEIR_TRY(ir_verify_dims(v, op, 2, "the source", operand_type_id(v, op, 1), want, x->rank));
  WEIR_TRY(ir_verify_dtype(v, op, 3, "the initial value", operand_type_id(v, op, 2), x_type));
  WEIR_TRY(ir_verify_dims(v, op, 0, "the initial value", operand_type_id(v, op, 2), NULL, 0));
  WEIR_TRY(ir_verify_scalar_args(v, op, 9, 0, (ir_type[]){x_type, x_type}, 2));
  WEIR_TRY(ir_verify_predicate(v, op, 9, 0));
  WEIR_TRY(ir_verify_reducer(v, op, 10, 1));
  return ir_verify_shape(v, op, 11, RESULT, x->dims, x->rank);
}

/* ---- gather and scatter ---- */
/* Which constraint is which, by field of ir_gather_numbers. */
typedef struct index_constraints {
  int offsets, offsets_range, collapsed_unique, collapsed_sorted, collapsed_range, batching_sorted,
      batching_range, starts_unique, starts_range, starts_vector, batching_size, batching_dims,
      map_size, map_unique, map_range, vector_range;
} index_constraints;

static const index_constraints gather_tags = {4,  5,  6,  7,  8, 10, 11, 13,
                                              14, 15, 16, 17, 3, 18, 19, 2};
static const index_constraints scatter_tags = {7,  8,  9,  10, 11, 12, 13, 14,
                                               15, 16, 17, 18, 19, 20, 21, 22};

/* x: what is indexed, indices: the start indices, rank: of gather's result or scatter's updates. */
static weir_status index_lists(verifier *v, ir_op op, const ir_gather_numbers *n,
                               const index_constraints *c, const ir_type_data *x,
                               const ir_type_data *indices, int32_t rank) {
  int64_t vector = n->index_vector_dim;
  WEIR_TRY(ir_verify_number(v, op, c->vector_range, "index_vector_dim", vector, 0, indices->rank));
  WEIR_TRY(ir_verify_unique(v, op, c->offsets, "the window dimensions", n->offset_dims));
  WEIR_TRY(ir_verify_sorted(v, op, c->offsets, "the window dimensions", n->offset_dims));
  WEIR_TRY(ir_verify_range(v, op, c->offsets_range, "the window dimensions", n->offset_dims, 0,
                           rank - 1));
  WEIR_TRY(ir_verify_range(v, op, c->collapsed_range, "the collapsed dimensions",
                           n->collapsed_slice_dims, 0, x->rank - 1));
  WEIR_TRY(ir_verify_range(v, op, c->batching_range, "the operand's batching dimensions",
                           n->operand_batching_dims, 0, x->rank - 1));
  WEIR_TRY(ir_verify_unique(v, op, c->collapsed_unique, "collapsed and batching dimensions",
                            joined(v, n->collapsed_slice_dims, n->operand_batching_dims)));
  WEIR_TRY(ir_verify_sorted(v, op, c->collapsed_sorted, "the collapsed dimensions",
                            n->collapsed_slice_dims));
  WEIR_TRY(ir_verify_sorted(v, op, c->batching_sorted, "the operand's batching dimensions",
                            n->operand_batching_dims));
  WEIR_TRY(ir_verify_unique(v, op, c->starts_unique, "the indices' batching dimensions",
                            n->start_indices_batching_dims));
  WEIR_TRY(ir_verify_range(v, op, c->starts_range, "the indices' batching dimensions",
                           n->start_indices_batching_dims, 0, indices->rank - 1));
  if (ir_ints_have(n->start_indices_batching_dims, vector))
    return ir_violation(v, op, c->starts_vector,
                        "`index_vector_dim` is among the indices' batching dimensions");
  WEIR_TRY(ir_verify_length(v, op, c->batching_size, "the indices' batching dimensions",
                            n->start_indices_batching_dims, n->operand_batching_dims.count));
  for (int32_t i = 0; i < n->operand_batching_dims.count; i++) {
    int64_t a = x->dims[n->operand_batching_dims.at[i]],
            b = indices->dims[n->start_indices_batching_dims.at[i]];
    if (!dim_fits(a, b))
      return ir_violation(
          v, op, c->batching_dims,
          "batching dimension %d has length %lld in the operand and %lld in the indices", i,
          (long long)a, (long long)b);
  }
  int64_t components = vector < indices->rank ? indices->dims[vector] : 1;
  if (components >= 0)
    WEIR_TRY(ir_verify_length(v, op, c->map_size, "the index map", n->start_index_map, components));
  WEIR_TRY(ir_verify_unique(v, op, c->map_unique, "index map and batching dimensions",
                            joined(v, n->start_index_map, n->operand_batching_dims)));
  return ir_verify_range(v, op, c->map_range, "the index map", n->start_index_map, 0, x->rank - 1);
}

/* combine() of the specification: window sizes at the window dimensions, the indices' other
 * dimensions elsewhere, in order. */
static bool combined_dims(const ir_gather_numbers *n, const ir_type_data *indices,
                          const int64_t *window_sizes, int32_t rank, int64_t *out_dims) {
  int32_t next_window = 0, next_index = 0;
  for (int32_t d = 0; d < rank; d++) {
    if (ir_ints_have(n->offset_dims, d)) {
      out_dims[d] = window_sizes[next_window++];
      continue;
    }
    if (next_index == n->index_vector_dim) next_index++;
    if (next_index >= indices->rank) return false;
    out_dims[d] = indices->dims[next_index++];
  }
  if (next_index == n->index_vector_dim) next_index++;
  return next_index >= indices->rank;
}

weir_status ir_verify_gather(verifier *v, ir_op op) {
  ir_gather_numbers n;
  ir_ints sizes;
  int64_t window[IR_MAX_RANK], want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  const ir_type_data *x = operand_type(v, op, 0), *indices = operand_type(v, op, 1),
                     *r = result_type(v, op, 0);
  NEED_NUMBERS(v, op, "dimension_numbers", ir_gather_dims(v->scratch, v->m, op, &n));
  WEIR_TRY(ir_verify_ints(v, op, "slice_sizes", &sizes));
  if (x->rank != n.offset_dims.count + n.collapsed_slice_dims.count + n.operand_batching_dims.count)
    return ir_violation(
        v, op, 1,
        "operand 0 has rank %d, wanted as many as offset, collapsed and batching dimensions",
        x->rank);
  WEIR_TRY(index_lists(v, op, &n, &gather_tags, x, indices, r->rank));
  WEIR_TRY(ir_verify_length(v, op, 20, "`slice_sizes`", sizes, x->rank));
  int32_t n_window = 0;
  for (int32_t d = 0; d < x->rank; d++) {
    bool collapsed = ir_ints_have(n.collapsed_slice_dims, d),
         batching = ir_ints_have(n.operand_batching_dims, d);
    if (sizes.at[d] < 0 || (x->dims[d] >= 0 && sizes.at[d] > x->dims[d]))
      return ir_violation(v, op, 21, "slice size %lld of dimension %d, wanted 0 to %lld",
                          (long long)sizes.at[d], d, (long long)x->dims[d]);
    if ((collapsed || batching) && sizes.at[d] > 1)
      return ir_violation(v, op, collapsed ? 9 : 12,
                          "slice size %lld of dimension %d, wanted at most 1",
                          (long long)sizes.at[d], d);
    if (!collapsed && !batching) window[n_window++] = sizes.at[d];
  }
  if (!combined_dims(&n, indices, window, r->rank, want))
    return ir_violation(v, op, 22, "the result has rank %d, which does not fit offsets and indices",
                        r->rank);
  WEIR_TRY(ir_verify_elements(v, op, 23, RESULT, 0));
  return ir_verify_shape(v, op, 22, RESULT, want, r->rank);
}

static weir_status scatter_updates(verifier *v, ir_op op, const ir_gather_numbers *n,
                                   const ir_type_data *x, uint32_t count) {
  int64_t window[IR_MAX_RANK], want[IR_MAX_RANK];
  const ir_type_data *indices = operand_type(v, op, count), *u = operand_type(v, op, count + 1);
  int32_t n_window = 0;
  for (int32_t d = 0; d < x->rank; d++)
    if (!ir_ints_have(n->collapsed_slice_dims, d) && !ir_ints_have(n->operand_batching_dims, d))
      window[n_window++] = x->dims[d];
  if (!combined_dims(n, indices, window, u->rank, want))
    return ir_violation(
        v, op, 4, "the updates have rank %d, which does not fit windows and indices", u->rank);
  for (int32_t d = 0; d < u->rank; d++) {
    bool is_window = ir_ints_have(n->offset_dims, d);
    bool fits = dim_fits(u->dims[d], want[d]) || (is_window && u->dims[d] <= want[d]);
    if (!fits)
      return ir_violation(v, op, 4, "dimension %d of the updates is %lld, wanted %s%lld", d,
                          (long long)u->dims[d], is_window ? "at most " : "", (long long)want[d]);
  }
  return WEIR_OK;
}

weir_status ir_verify_scatter(verifier *v, ir_op op) {
  ir_gather_numbers n;
  WEIR_TRY(ir_verify_tensors(v, op, -1, -1));
  uint32_t count = ir_op_get(v->m, op)->n_results;
  if (!count || ir_op_get(v->m, op)->n_operands != 2 * count + 1)
    return ir_violation(
        v, op, 5,
        "%u operands for %u results, wanted inputs, indices and as many updates as inputs",
        ir_op_get(v->m, op)->n_operands, count);
  WEIR_TRY(ir_verify_n_regions(v, op, 1));
  const ir_type_data *x = operand_type(v, op, 0), *u = operand_type(v, op, count + 1);
  NEED_NUMBERS(v, op, "scatter_dimension_numbers", ir_gather_dims(v->scratch, v->m, op, &n));
  if (x->rank != n.offset_dims.count + n.collapsed_slice_dims.count + n.operand_batching_dims.count)
    return ir_violation(
        v, op, 2,
        "operand 0 has rank %d, wanted as many as window, inserted and batching dimensions",
        x->rank);
  WEIR_TRY(index_lists(v, op, &n, &scatter_tags, x, operand_type(v, op, count), u->rank));
  for (uint32_t i = 0; i < count; i++) {
    WEIR_TRY(ir_verify_dims(v, op, 1, "an input", operand_type_id(v, op, i), x->dims, x->rank));
    WEIR_TRY(ir_verify_dims(v, op, 3, "an update", operand_type_id(v, op, count + 1 + i), u->dims,
                            u->rank));
    WEIR_TRY(ir_verify_dtype(v, op, 6, "an update", operand_type_id(v, op, count + 1 + i),
                             operand_type_id(v, op, i)));
    WEIR_TRY(ir_verify_dims(v, op, 24, "a result", result_type_id(v, op, i), x->dims, x->rank));
  }
  WEIR_TRY(scatter_updates(v, op, &n, x, count));
  return ir_verify_reducer(v, op, 23, 0);
}

/* ---- linear algebra, transforms, top-k ---- */
weir_status ir_verify_cholesky(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_unary(v, op));
  const ir_type_data *a = operand_type(v, op, 0);
  if (a->rank < 2)
    return ir_violation(v, op, 2, "operand 0 has rank %d, wanted at least 2", a->rank);
  if (dim_fits(dim_from_end(a, 1), dim_from_end(a, 2))) return WEIR_OK;
  return ir_verify_wanted(v, op, 3, 0, "square matrices");
}

weir_status ir_verify_triangular_solve(verifier *v, ir_op op) {
  WEIR_TRY(ir_verify_tensors(v, op, 2, 1));
  const ir_type_data *a = operand_type(v, op, 0), *b = operand_type(v, op, 1);
  WEIR_TRY(ir_verify_elements(v, op, 1, 1, 0));
  if (a->rank < 2 || a->rank != b->rank)
    return ir_violation(v, op, 2, "operands of rank %d and %d, wanted equal ranks of at least 2",
                        a->rank, b->rank);
  if (!ir_op_attr(v->m, op, "left_side")) return ir_verify_absent(v, op, "left_side");
  int64_t side = dim_from_end(b, ir_op_bool(v->m, op, "left_side", true) ? 2 : 1);
  bool fits =
      dim_fits(dim_from_end(a, 1), dim_from_end(a, 2)) && dim_fits(dim_from_end(a, 1), side);
  for (int32_t d = 0; d + 2 < a->rank; d++) fits = fits && dim_fits(a->dims[d], b->dims[d]);
  if (!fits)
    return ir_violation(v, op, 3, "%s does not fit %s",
                        ir_verify_type_text(v, operand_type_id(v, op, 0)),
                        ir_verify_type_text(v, operand_type_id(v, op, 1)));
  return ir_verify_fits(v, op, 4, RESULT, 1);
}

static ir_dtype complex_of(ir_dtype d) {
  return d == IR_F32 ? IR_C64 : d == IR_F64 ? IR_C128 : IR_DTYPE_NONE;
}

/* The element types on the real and on the complex side; for FFT and IFFT both are complex. */
static weir_status fft_types(verifier *v, ir_op op, bool from_real, bool to_real) {
  ir_dtype x = operand_type(v, op, 0)->dtype, r = result_type(v, op, 0)->dtype;
  if (!x || !r) return WEIR_OK;
  bool fits = from_real ? complex_of(x) && complex_of(x) == r
              : to_real ? complex_of(r) && complex_of(r) == x
                        : x == r && ir_is_complex(x);
  return fits ? WEIR_OK
              : ir_violation(v, op, 2, "elements of %s to elements of %s", ir_dtype_name(x),
                             ir_dtype_name(r));
}

weir_status ir_verify_fft(verifier *v, ir_op op) {
  ir_ints length;
  int64_t want[IR_MAX_RANK];
  const char *type, *word;
  WEIR_TRY(ir_verify_tensors(v, op, 1, 1));
  WEIR_TRY(ir_verify_ints(v, op, "fft_length", &length));
  type = ir_op_string(v->m, op, "fft_type");
  size_t n_word = type ? ir_enum_word(type, "fft_type", &word) : 0;
  if (!n_word) return ir_verify_absent(v, op, "fft_type");
  bool from_real = word_is(word, n_word, "RFFT"), to_real = word_is(word, n_word, "IRFFT");
  const ir_type_data *x = operand_type(v, op, 0), *r = result_type(v, op, 0);
  if (length.count < 1 || length.count > 3)
    return ir_violation(v, op, 3, "`fft_length` has %d elements, wanted 1 to 3", length.count);
  if (length.count > x->rank)
    return ir_violation(v, op, 1, "`fft_length` has %d elements, wanted at most %d", length.count,
                        x->rank);
  WEIR_TRY(fft_types(v, op, from_real, to_real));
  const ir_type_data *real = from_real ? x : to_real ? r : NULL;
  for (int32_t i = 0; real && real->rank == x->rank && i < length.count; i++)
    if (!dim_fits(real->dims[real->rank - length.count + i], length.at[i]))
      return ir_violation(v, op, 4, "the real side's dimension %d is %lld, wanted %lld",
                          real->rank - length.count + i,
                          (long long)real->dims[real->rank - length.count + i],
                          (long long)length.at[i]);
  for (int32_t d = 0; d < x->rank; d++) want[d] = x->dims[d];
  if (from_real)
    want[x->rank - 1] =
        x->dims[x->rank - 1] > 0 ? x->dims[x->rank - 1] / 2 + 1 : x->dims[x->rank - 1];
  if (to_real) {
    int64_t last = length.at[length.count - 1];
    if (!dim_fits(x->dims[x->rank - 1], last ? last / 2 + 1 : 0))
      return ir_violation(v, op, 5, "the operand's last dimension is %lld, wanted %lld",
                          (long long)x->dims[x->rank - 1], (long long)(last ? last / 2 + 1 : 0));
    want[x->rank - 1] = last;
  }
  return ir_verify_shape(v, op, 5, RESULT, want, x->rank);
}

weir_status ir_verify_top_k(verifier *v, ir_op op) {
  int64_t k, want[IR_MAX_RANK];
  WEIR_TRY(ir_verify_tensors(v, op, 1, 2));
  WEIR_TRY(ir_verify_int(v, op, "k", &k));
  const ir_type_data *x = operand_type(v, op, 0);
  if (x->rank < 1) return ir_violation(v, op, 0, "the operand is a scalar");
  int64_t last = x->dims[x->rank - 1];
  WEIR_TRY(ir_verify_number(v, op, 0, "k", k, 0, last < 0 ? INT64_MAX : last));
  for (int32_t d = 0; d < x->rank; d++) want[d] = x->dims[d];
  want[x->rank - 1] = k;
  WEIR_TRY(
      ir_verify_dtype(v, op, 0, "result 0", result_type_id(v, op, 0), operand_type_id(v, op, 0)));
  WEIR_TRY(ir_verify_dims(v, op, 0, "result 0", result_type_id(v, op, 0), want, x->rank));
  ir_dtype_class indices = ir_dtype_class_of(result_type(v, op, 1)->dtype);
  if (indices != IR_CLASS_INT && indices != IR_CLASS_NONE)
    return ir_violation(v, op, 0, "result 1 is %s, wanted integers",
                        ir_verify_type_text(v, result_type_id(v, op, 1)));
  return ir_verify_dims(v, op, 0, "result 1", result_type_id(v, op, 1), want, x->rank);
}

/* ---- batch normalisation ---- */
/* Every operand and result but the first ones, and the gradient among the operands, is a vector of
 * one number per feature. */
weir_status ir_verify_batch_norm(verifier *v, ir_op op) {
  ir_kind kind = ir_kind_of(v->m, op);
  int64_t feature;
  WEIR_TRY(ir_verify_tensors(v, op, kind == IR_OP_BATCH_NORM_TRAINING ? 3 : 5,
                             kind == IR_OP_BATCH_NORM_INFERENCE ? 1 : 3));
  WEIR_TRY(ir_verify_int(v, op, "feature_index", &feature));
  const ir_type_data *x = operand_type(v, op, 0);
  WEIR_TRY(ir_verify_number(v, op, 1, "feature_index", feature, 0, x->rank - 1));
  WEIR_TRY(ir_verify_type(v, op, kind == IR_OP_BATCH_NORM_GRAD ? 3 : 7, "result 0",
                          result_type_id(v, op, 0), operand_type_id(v, op, 0)));
  const ir_op_data *data = ir_op_get(v->m, op);
  for (uint32_t i = 1; i < data->n_operands + data->n_results; i++) {
    if (i == data->n_operands) continue;
    bool whole = kind == IR_OP_BATCH_NORM_GRAD && i == 4;
    ir_type type = i < data->n_operands ? operand_type_id(v, op, i)
                                        : result_type_id(v, op, i - data->n_operands);
    WEIR_TRY(ir_verify_dtype(v, op, 2, "an operand or result", type, operand_type_id(v, op, 0)));
    WEIR_TRY(ir_verify_dims(v, op,
                            whole                           ? 3
                            : kind == IR_OP_BATCH_NORM_GRAD ? 5
                                                            : 3,
                            "an operand or result", type, whole ? x->dims : &x->dims[feature],
                            whole ? x->rank : 1));
  }
  return WEIR_OK;
}
