/* gather, scatter and the old torch_index_select. Gathered windows are pushed back inside the
 * operand; a scattered window that does not lie wholly inside is dropped, as XLA CPU does. Several
 * updates of one element are folded in row-major order of the updates. Source: StableHLO
 * specification. */
#include "ref/eval.h"

/* Dimension numbers of both ops, and what follows from them. Indices "of a batch" are the
 * dimensions of start_indices without index_vector_dim. */
typedef struct plan {
  ir_gather_numbers numbers;
  const ref_tensor *indices;
  int32_t rank; /* of the operand */
  int32_t n_batch, n_window;
  int64_t batch_dims[IR_MAX_RANK];    /* of the result [updates]: those that are not offset_dims */
  int64_t window_to[IR_MAX_RANK];     /* the operand dimension of each of offset_dims */
  int64_t batching_from[IR_MAX_RANK]; /* by operand_batching_dims: which batch index */
} plan;

static bool make_plan(plan *p, int32_t rank, int32_t result_rank, const ref_tensor *indices) {
  const ir_gather_numbers *n = &p->numbers;
  p->indices = indices, p->rank = rank, p->n_batch = p->n_window = 0;
  for (int32_t d = 0; d < result_rank; d++)
    if (!ir_ints_have(n->offset_dims, d)) p->batch_dims[p->n_batch++] = d;
  for (int32_t d = 0; d < rank; d++)
    if (!ir_ints_have(n->collapsed_slice_dims, d) && !ir_ints_have(n->operand_batching_dims, d))
      p->window_to[p->n_window++] = d;
  for (int32_t k = 0; k < n->operand_batching_dims.count; k++) {
    int64_t d = n->start_indices_batching_dims.at[k];
    p->batching_from[k] = d - (d > n->index_vector_dim);
  }
  return p->n_window == n->offset_dims.count &&
         n->operand_batching_dims.count == n->start_indices_batching_dims.count &&
         p->n_batch == indices->rank - (n->index_vector_dim < indices->rank);
}

/* Where the window of the result [update] element `index` starts in the operand, not yet clamped.
 */
static void window_start(const plan *p, const int64_t *index, int64_t *out_start) {
  const ir_gather_numbers *n = &p->numbers;
  int64_t at[IR_MAX_RANK] = {0};
  for (int32_t d = 0; d < p->n_batch; d++)
    at[d + (d >= n->index_vector_dim)] = index[p->batch_dims[d]];
  for (int32_t d = 0; d < p->rank; d++) out_start[d] = 0;
  for (int32_t k = 0; k < n->start_index_map.count; k++) {
    if (n->index_vector_dim < p->indices->rank) at[n->index_vector_dim] = k;
    out_start[n->start_index_map.at[k]] = ref_load_index(p->indices, ref_offset(p->indices, at));
  }
}

/* Adds the element's place in its batch and its window. */
static void add_place(const plan *p, const int64_t *index, int64_t *start) {
  const ir_gather_numbers *n = &p->numbers;
  for (int32_t k = 0; k < n->operand_batching_dims.count; k++)
    start[n->operand_batching_dims.at[k]] += index[p->batch_dims[p->batching_from[k]]];
  for (int32_t k = 0; k < p->n_window; k++) start[p->window_to[k]] += index[n->offset_dims.at[k]];
}

weir_status ref_gather(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *indices = ref_operand(f, op, 1);
  ir_ints sizes;
  plan p;
  WEIR_TRY(ref_read_ints(f, op, "slice_sizes", x->rank, 1, &sizes));
  ref_tensor *y = ref_result(f, op, 0);
  if (!ir_gather_dims(f->arena, f->m, op, &p.numbers) || !make_plan(&p, x->rank, y->rank, indices))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "dimension_numbers does not read or does not fit");
  int64_t index[IR_MAX_RANK] = {0}, from[IR_MAX_RANK];
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++, ref_next(y->rank, y->dims, index)) {
    window_start(&p, index, from);
    for (int32_t d = 0; d < x->rank; d++) {
      int64_t last = x->dims[d] - sizes.at[d];
      from[d] = from[d] < 0 ? 0 : from[d] > last ? last : from[d];
    }
    add_place(&p, index, from);
    ref_copy_element(y, i, x, ref_offset(x, from));
  }
  return WEIR_OK;
}

/* ---- scatter ---- */
static bool window_fits(const plan *p, const ref_tensor *x, const ref_tensor *update,
                        const int64_t *start) {
  int64_t size[IR_MAX_RANK];
  for (int32_t d = 0; d < x->rank; d++) size[d] = 1;
  for (int32_t k = 0; k < p->n_window; k++)
    size[p->window_to[k]] = update->dims[p->numbers.offset_dims.at[k]];
  for (int32_t d = 0; d < x->rank; d++)
    if (start[d] < 0 || start[d] > x->dims[d] - size[d]) return false;
  return true;
}

static weir_status scatter_all(ref_frame *f, ir_op op, const plan *p, uint32_t n, ref_reducer *body,
                               ref_scalar **acc) {
  const ref_tensor *x = ref_operand(f, op, 0), *update = ref_operand(f, op, n + 1);
  ref_scalar *args = ARENA_ARRAY(f->arena, ref_scalar, 2 * n),
             *results = ARENA_ARRAY(f->arena, ref_scalar, n);
  int64_t index[IR_MAX_RANK] = {0}, to[IR_MAX_RANK];
  for (int64_t i = 0, count = ref_element_count(update); i < count;
       i++, ref_next(update->rank, update->dims, index)) {
    window_start(p, index, to);
    if (!window_fits(p, x, update, to)) continue;
    add_place(p, index, to);
    int64_t at = ref_offset(x, to);
    for (uint32_t k = 0; k < n; k++)
      args[k] = acc[k][at], args[n + k] = ref_load(ref_operand(f, op, n + 1 + k), i);
    WEIR_TRY(ref_reducer_call(body, args, results));
    for (uint32_t k = 0; k < n; k++) acc[k][at] = results[k];
  }
  return WEIR_OK;
}

weir_status ref_scatter(ref_frame *f, ir_op op) {
  uint32_t n = ref_n_results(f, op);
  plan p;
  if (!ir_gather_dims(f->arena, f->m, op, &p.numbers) ||
      !make_plan(&p, ref_operand(f, op, 0)->rank, ref_operand(f, op, n + 1)->rank,
                 ref_operand(f, op, n)))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "scatter_dimension_numbers does not read or does not fit");
  ref_scalar **acc = ARENA_ARRAY(f->arena, ref_scalar *, n);
  for (uint32_t k = 0; k < n; k++) acc[k] = ref_unpack(f->arena, ref_operand(f, op, k));
  ref_reducer body;
  ref_reducer_init(&body, f, ref_region(f, op, 0));
  CTX_CHECK(f->ctx, body.n_args == 2 * n && body.n_results == n);
  weir_status status = scatter_all(f, op, &p, n, &body, acc);
  ref_reducer_deinit(&body);
  for (uint32_t k = 0; status == WEIR_OK && k < n; k++) ref_pack(ref_result(f, op, k), acc[k]);
  return status;
}

/* ---- result[.., i.., ..] = x[.., index[.., i..], ..] with batch_dims leading dimensions in common
 * ---- */
/* XLA reads indices of 64 bits as unsigned ones of 32, if that is enough for the dimension. */
static int64_t index_as_read(const ref_tensor *indices, int64_t at, int64_t extent) {
  int64_t index = ref_load_index(indices, at);
  return ref_bits(indices->dtype) == 64 && extent < UINT32_MAX ? (int64_t)(uint32_t)index : index;
}

weir_status ref_torch_index_select(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *indices = ref_operand(f, op, 1);
  int64_t dim = ir_op_int(f->m, op, "dim", 0), batch = ir_op_int(f->m, op, "batch_dims", 0);
  ref_tensor *y = ref_result(f, op, 0);
  int64_t inner =
      indices->rank -
      batch; /* dimensions of the result that run over the indices; they stand at `dim` */
  if (batch < 0 || batch > dim || dim >= x->rank || inner < 0 || y->rank != x->rank - 1 + inner)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dim or batch_dims does not fit");
  int64_t index[IR_MAX_RANK] = {0}, at[IR_MAX_RANK], from[IR_MAX_RANK];
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++, ref_next(y->rank, y->dims, index)) {
    for (int64_t d = 0; d < batch; d++) at[d] = index[d];
    for (int64_t d = 0; d < inner; d++) at[batch + d] = index[dim + d];
    for (int64_t d = 0; d < x->rank; d++) from[d] = index[d < dim ? d : d + inner - 1];
    int64_t chosen = index_as_read(indices, ref_offset(indices, at), x->dims[dim]);
    int64_t last = x->dims[dim] - 1;
    from[dim] = chosen < 0 ? 0 : chosen > last ? last : chosen;
    ref_copy_element(y, i, x, ref_offset(x, from));
  }
  return WEIR_OK;
}
