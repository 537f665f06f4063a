/* Rules for gathers, scatters, top-k and library calls. See peak_rules.c; sources: XLA's
 * gather_simplifier, scatter_simplifier, topk_rewriter, select_and_scatter_expander. */
#include <stdlib.h>

#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_rules.h"

/* ---- gather and scatter ---- */
/* Moves the window dimensions of x, listed in `windows`, behind the others. */
static uint32_t windows_last(const plan_rule *r, uint32_t x, ir_ints windows) {
  int32_t rank = node_of(r, x)->shape.rank, n = 0;
  int64_t perm[IR_MAX_RANK];
  for (int32_t d = 0; d < rank; d++)
    if (!ir_ints_have(windows, d)) perm[n++] = d;
  for (int32_t i = 0; i < windows.count; i++) perm[n++] = windows.at[i];
  return plan_rule_transpose(r, x, perm);
}

/* Batching dimensions become indices: one list of [batch index, index]. */
static uint32_t list_batches(const plan_rule *r, const ir_gather_numbers *n, uint32_t indices) {
  arena *a = r->g->arena;
  plan_shape s = node_of(r, indices)->shape;
  int64_t depth = n->index_vector_dim < s.rank ? s.dims[n->index_vector_dim] : 1,
          count = depth ? s.elements / depth : 0;
  int64_t batch[2] = {count, n->operand_batching_dims.count}, own[2] = {count, depth},
          both[2] = {count, batch[1] + depth};
  if (!batch[1]) return indices;
  uint32_t parts[2] = {plan_rule_node(r, IR_OP_IOTA, plan_shape_make(a, s.dtype, 2, batch), NULL, 0,
                                      hash_mix_wide(r->op, 11)),
                       plan_rule_bitcast(r, indices, plan_shape_make(a, s.dtype, 2, own))};
  return plan_rule_concatenate(r, plan_shape_make(a, s.dtype, 2, both), parts, 2, 1);
}

/* ... and the updates in the order of that list. */
static uint32_t in_order_of_list(const plan_rule *r, uint32_t indices, uint32_t updates) {
  plan_shape u = node_of(r, updates)->shape;
  int64_t count = node_of(r, indices)->shape.dims[0],
          rows[2] = {count, count ? u.elements / count : 0};
  plan_shape listed = plan_shape_make(r->g->arena, u.dtype, 2, rows);
  return plan_rule_make1(r, PLAN_COPY, listed, plan_rule_bitcast(r, updates, listed));
}

/* XLA's form: one list of indices, the result is that list of whole windows. */
void plan_lower_gather(const plan_rule *r) {
  ir_gather_numbers n;
  ir_ints sizes = ir_op_list(r->m, r->op, "slice_sizes");
  plan_shape shape = result_shape(r, 0), x = shape_of(r, ir_operand(r->m, r->op, 0));
  if (!ir_gather_dims(r->g->arena, r->m, r->op, &n) || sizes.count != x.rank ||
      sizes.count + 1 > IR_MAX_RANK) {
    plan_rule_bind(r, plan_rule_generic(r, IR_OP_GATHER));
    return;
  }
  int64_t window = 1, dims[IR_MAX_RANK + 1], grouped[IR_MAX_RANK], back[IR_MAX_RANK],
          perm[IR_MAX_RANK];
  for (int32_t d = 0; d < sizes.count; d++)
    window *= sizes.at[d] > 0 ? sizes.at[d] : 1, dims[d + 1] = sizes.at[d];
  dims[0] = window && shape.elements >= window ? shape.elements / window : 0;
  uint32_t indices = list_batches(r, &n, operand(r, 1));
  int32_t k = 0;
  for (int32_t d = 0; d < shape.rank; d++)
    if (!ir_ints_have(n.offset_dims, d)) perm[k++] = d;
  for (int32_t i = 0; i < n.offset_dims.count; i++) perm[k++] = n.offset_dims.at[i];
  for (int32_t d = 0; d < shape.rank; d++) grouped[d] = shape.dims[perm[d]], back[perm[d]] = d;
  uint32_t made = plan_rule_node(
      r, IR_OP_GATHER, plan_shape_make(r->g->arena, shape.dtype, sizes.count + 1, dims),
      (uint32_t[]){operand(r, 0), indices}, 2, plan_attrs_hash(r->m, r->op));
  made = plan_rule_bitcast(r, made, plan_shape_make(r->g->arena, shape.dtype, shape.rank, grouped));
  plan_bind(r->l, r->op, 0, plan_rule_transpose(r, made, back));
}

static ir_kind combiner_of(const plan_rule *r) {
  ir_block body = ir_op_get(r->m, r->op)->n_regions ? ir_op_get(r->m, r->op)->regions[0] : IR_NONE;
  return body ? ir_reducer_kind(r->m, body) : IR_OP_UNKNOWN;
}

/* A single window: a dynamic_update_slice of what was there (if the window should lie outside)
 * or of the combined values. */
static uint32_t scatter_once(const plan_rule *r, uint32_t x, uint32_t start, uint32_t updates) {
  plan_shape shape = node_of(r, x)->shape, given = node_of(r, updates)->shape;
  int64_t dims[IR_MAX_RANK];
  int32_t k = given.rank - 1; /* the window's dimensions in order, 1 where they were inserted */
  for (int32_t d = shape.rank - 1; d >= 0; d--)
    dims[d] =
        k >= 0 && (given.dims[k] == 1 || given.dims[k] <= shape.dims[d]) ? given.dims[k--] : 1;
  plan_shape window = plan_shape_make(r->g->arena, shape.dtype, shape.rank, dims);
  if (window.elements != given.elements) return 0;
  uint32_t old = plan_rule_make2(r, IR_OP_DYNAMIC_SLICE, window, x, start),
           fresh = plan_rule_bitcast(r, updates, window);
  ir_kind combine = combiner_of(r);
  if (combine != IR_OP_UNKNOWN)
    fresh = plan_rule_elementwise(r, combine, window, (uint32_t[]){old, fresh}, 2, 0);
  fresh = plan_rule_node(r, IR_OP_SELECT, window, (uint32_t[]){start, fresh, old}, 3, 0);
  return plan_rule_node(r, IR_OP_DYNAMIC_UPDATE_SLICE, shape, (uint32_t[]){x, fresh, start}, 3, 0);
}

/* Updates in place; the windows of the updates come last, row by row. */
void plan_lower_scatter(const plan_rule *r) {
  ir_gather_numbers n;
  if (n_operands(r) != 3 || !ir_gather_dims(r->g->arena, r->m, r->op, &n)) {
    plan_rule_bind(r, plan_rule_generic(r, IR_OP_SCATTER));
    return;
  }
  uint32_t operands[3] = {plan_rule_wide(r, operand(r, 0)), operand(r, 1),
                          plan_rule_wide(r, windows_last(r, operand(r, 2), n.offset_dims))};
  plan_shape indices = node_of(r, operands[1])->shape;
  int64_t depth = n.index_vector_dim < indices.rank ? indices.dims[n.index_vector_dim] : 1;
  if (indices.elements == depth) {
    uint32_t done = scatter_once(
        r, operands[0],
        plan_rule_bitcast(r, operands[1], plan_shape_make(r->g->arena, indices.dtype, 1, &depth)),
        operands[2]);
    if (done) {
      plan_rule_bind(r, done);
      return;
    }
  }
  operands[1] = list_batches(r, &n, operands[1]);
  if (n.operand_batching_dims.count) operands[2] = in_order_of_list(r, operands[1], operands[2]);
  plan_node node = {.kind = IR_OP_SCATTER,
                    .shape = node_of(r, operands[0])->shape,
                    .n_operands = 3,
                    .operands = operands,
                    .index = combiner_of(r),
                    .signature = hash_mix_wide(plan_attrs_hash(r->m, r->op), r->op)};
  plan_rule_bind(r, plan_rule_make(r, node));
}

/* The largest element of each window, and its coordinates, of which each such op has its own: one
 * reduction. picked: the shape of all windows. */
static uint32_t largest_with_places(const plan_rule *r, uint32_t x, plan_shape shape,
                                    plan_shape picked) {
  arena *a = r->g->arena;
  uint32_t n = (uint32_t)shape.rank + 1, operands[IR_MAX_RANK + 1] = {x};
  plan_shape *members = ARENA_ARRAY(a, plan_shape, n);
  members[0] = picked;
  for (int64_t d = 0; d < shape.rank; d++) {
    operands[d + 1] = plan_rule_make(r, (plan_node){.kind = IR_OP_IOTA,
                                                    .shape = with_dtype(shape, IR_I32),
                                                    .signature = hash_mix_wide(r->op, 7),
                                                    .ints = ARENA_COPY(a, int64_t, &d, 1),
                                                    .n_ints = 1});
    members[d + 1] = with_dtype(picked, IR_I32);
  }
  return plan_rule_node(r, IR_OP_REDUCE_WINDOW, plan_shape_tuple(a, members, n), operands, n,
                        r->op);
}

/* Its coordinates, a row for each window. */
static uint32_t places_in_rows(const plan_rule *r, uint32_t found, int32_t rank, int64_t windows) {
  arena *a = r->g->arena;
  int64_t one[2] = {windows, 1}, all[2] = {windows, rank};
  uint32_t operands[IR_MAX_RANK];
  for (int32_t d = 0; d < rank; d++)
    operands[d] = plan_rule_bitcast(r, plan_element(r->l, r->s, found, (uint32_t)d + 1),
                                    plan_shape_make(a, IR_I32, 2, one));
  return plan_rule_concatenate(r, plan_shape_make(a, IR_I32, 2, all), operands, (uint32_t)rank, 1);
}

/* The largest of each window and where it is, then a scatter there. */
void plan_lower_select_and_scatter(const plan_rule *r) {
  uint32_t x = operand(r, 0), source = operand(r, 1), init = operand(r, 2);
  plan_shape shape = result_shape(r, 0), picked = node_of(r, source)->shape;
  uint32_t found = largest_with_places(r, x, shape, picked),
           indices = places_in_rows(r, found, shape.rank, picked.elements),
           into = plan_rule_splat(r, init, shape);
  int64_t column[2] = {picked.elements, 1};
  uint32_t updates =
      plan_rule_bitcast(r, source, plan_shape_make(r->g->arena, picked.dtype, 2, column));
  plan_bind(
      r->l, r->op, 0,
      plan_rule_node(r, IR_OP_SCATTER, shape, (uint32_t[]){into, indices, updates}, 3, r->op));
}

/* ---- sort ---- */
static uint32_t positions(const plan_rule *r, plan_shape like) {
  return plan_rule_node(r, IR_OP_IOTA, with_dtype(like, IR_I32), NULL, 0,
                        (uint64_t)like.rank + 100);
}

/* A stable sort on a GPU has positions, too, which make equal keys different: those that it sorts
 * along, if these are a vector. An iota of several dimensions comes to XLA as a broadcast of one,
 * which it does not know for positions yet (stable_sort_expander.cc). */
static uint32_t with_positions(const plan_rule *r, plan_node n) {
  uint32_t count = n.n_operands, *operands = ARENA_ARRAY(r->g->arena, uint32_t, count + 1);
  plan_shape *members = ARENA_ARRAY(r->g->arena, plan_shape, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    operands[i] = n.operands[i];
    members[i] = node_of(r, operands[i])->shape;
    if (members[i].rank == 1 && plan_is_positions(node_of(r, operands[i]))) return 0;
  }
  operands[count] = positions(r, members[0]);
  members[count] = with_dtype(members[0], IR_I32);
  n.shape = plan_shape_tuple(r->g->arena, members, count + 1);
  n.operands = operands;
  n.n_operands = count + 1;
  return plan_rule_make(r, n);
}

void plan_lower_sort(const plan_rule *r) {
  uint32_t made = plan_rule_generic_wide(r, IR_OP_SORT), more = 0;
  if (plan_has_libraries(r->g) && ir_op_bool(r->m, r->op, "is_stable", false))
    more = with_positions(r, *node_of(r, made));
  plan_rule_bind(r, more ? more : made);
}

/* ---- top-k ---- */
enum { GPU_MOST_K = 16, GPU_LEAST_LENGTH = 1024 };
static const double GPU_MOST_SHARE = 0.85;
/* XLA:TPU sorts 800 for 10, 2,049 for 32, and calls for 10 of 900, 32 of 2,560, 200 of 15,000. */
enum { TPU_LEAST_TO_ONE = 90 };

/* CPU: of f32. GPU, TPU: of few of many (topk_specializer.cc). */
static bool is_call(const plan_rule *r, const plan_shape *s, const plan_shape *largest) {
  if (!r->g->memory) return s->dtype == IR_F32;
  if (s->rank < 1 || s->rank > 2) return false;
  int64_t n = s->dims[s->rank - 1], k = largest->dims[s->rank - 1];
  bool is_float = s->dtype == IR_F32 || s->dtype == IR_BF16;
  if (plan_has_libraries(r->g))
    return is_float && n >= GPU_LEAST_LENGTH && k <= GPU_MOST_K &&
           (double)k < GPU_MOST_SHARE * (double)n;
  return (is_float || s->dtype == IR_I32) && s->rank == 2 && (k <= 1 || n / k >= TPU_LEAST_TO_ONE);
}

/* A library call, or a sort of values and positions, and two slices. */
void plan_lower_top_k(const plan_rule *r) {
  uint32_t x = operand(r, 0);
  plan_shape s = node_of(r, x)->shape, results[2] = {result_shape(r, 0), result_shape(r, 1)};
  arena *a = r->g->arena;
  uint64_t signature = plan_attrs_hash(r->m, r->op);
  if (is_call(r, &s, &results[0])) {
    uint32_t made =
        plan_rule_node(r, PLAN_OPAQUE, plan_shape_tuple(a, results, 2), &x, 1, signature);
    for (uint32_t i = 0; i < 2; i++) plan_bind(r->l, r->op, i, plan_element(r->l, r->s, made, i));
    return;
  }
  x = plan_rule_wide(r, x);
  plan_shape both[2] = {node_of(r, x)->shape, with_dtype(s, IR_I32)};
  uint32_t operands[2] = {x, positions(r, s)};
  uint32_t sorted =
      plan_rule_node(r, IR_OP_SORT, plan_shape_tuple(a, both, 2), operands, 2, signature);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t all = plan_element(r->l, r->s, sorted, i);
    plan_shape first = with_dtype(results[i], both[i].dtype);
    uint32_t found = plan_rule_make1(r, IR_OP_SLICE, first, all);
    plan_bind(r->l, r->op, i, plan_rule_convert(r, found, results[i].dtype));
  }
}

/* ---- library calls ---- */
/* output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0],
 * operand_index = 0, ...>]: the first one, of the first result. */
static uint32_t aliased_operand(const plan_rule *r) {
  ir_attr attr = ir_op_attr(r->m, r->op, "output_operand_aliases");
  const ir_attr_data *a = attr ? ir_attr_get(r->m, attr) : NULL;
  for (int32_t i = 0; a && a->items && i < a->count; i++) {
    const char *text = ir_text(r->m, ir_attr_get(r->m, a->items[i])->text),
               *at = ir_text_value(text, "operand_index");
    if (!at) continue;
    uint64_t index = strtoull(at, NULL, 10);
    return index < n_operands(r) ? 1 + (uint32_t)index : 0;
  }
  return 0;
}

/* The largest, or nearly, of what is sorted whole on GPUs: arrays first, then their initial values.
 */
static void sort_all(const plan_rule *r) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results, *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  plan_shape *members = ARENA_ARRAY(r->g->arena, plan_shape, n);
  for (uint32_t i = 0; i < n; i++) {
    operands[i] = operand(r, i);
    members[i] = node_of(r, operands[i])->shape;
  }
  uint32_t sorted = plan_rule_node(r, IR_OP_SORT, plan_shape_tuple(r->g->arena, members, n),
                                   operands, n, plan_attrs_hash(r->m, r->op));
  for (uint32_t i = 0; i < n; i++)
    plan_bind(
        r->l, r->op, i,
        plan_rule_make1(r, IR_OP_SLICE, result_shape(r, i), plan_element(r->l, r->s, sorted, i)));
}

enum { ARRAYS_OF_QR = 2, TABLES_OF_QR = 8, ALIGNED_BYTES = 256 };

/* XLA:GPU expands them into loops over columns and products, which a library does unless they are
 * small. Not exact: copies of the matrix, tables (qr_expander.cc, householder_expander.cc). */
static int64_t expanded_bytes(const plan_rule *r, const char *target) {
  bool is_expanded = target && (!strcmp(target, "Qr") ||
                                !strcmp(target, "ProductOfElementaryHouseholderReflectors"));
  plan_shape s = is_expanded && n_operands(r) ? shape_of(r, ir_operand(r->m, r->op, 0))
                                              : (plan_shape){.rank = 0};
  if (!plan_has_libraries(r->g) || s.rank < 2) return 0;
  int64_t columns = s.dims[s.rank - 1],
          products = saturated_product(saturated_product(s.dims[s.rank - 2], columns), columns);
  int64_t work = products < r->g->memory->least_library_products ? TABLES_OF_QR * ALIGNED_BYTES
                                                                 : r->g->memory->library_bytes;
  return saturated_sum(work, saturated_product(ARRAYS_OF_QR, s.bytes));
}

/* As a call with so many bytes more. */
static void bind_expanded(const plan_rule *r, const uint32_t *operands, const plan_shape *shapes,
                          int64_t bytes) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results,
           made = plan_rule_opaque(r, operands, n_operands(r), shapes, n, bytes);
  for (uint32_t i = 0; i < n; i++) plan_bind(r->l, r->op, i, plan_element(r->l, r->s, made, i));
}

/* It says something of its operand, and is that. */
static bool is_marker(const plan_rule *r, const char *target) {
  return n_operands(r) == 1 && target &&
         (!strcmp(target, "Sharding") || !strcmp(target, "LayoutConstraint") ||
          !strcmp(target, "annotate_device_placement") || starts_with(target, "SPMD"));
}

/* The node x, or a copy of it column by column, where the call's attribute wants that. */
static uint32_t in_layout(const plan_rule *r, const char *layouts, uint32_t i, uint32_t x) {
  return ir_is_by_columns(r->m, r->op, layouts, i) ? plan_rule_relayout(r, x) : x;
}

static void call_library(const plan_rule *r, uint32_t *operands, plan_shape *shapes,
                         uint32_t n_results) {
  uint32_t made = plan_rule_make(
      r, (plan_node){
             .kind = PLAN_OPAQUE,
             .shape = n_results == 1 ? shapes[0] : plan_shape_tuple(r->g->arena, shapes, n_results),
             .n_operands = n_operands(r),
             .operands = operands,
             .signature = plan_attrs_hash(r->m, r->op),
             .in_place = aliased_operand(r)});
  for (uint32_t i = 0; i < n_results; i++) {
    uint32_t x = n_results == 1 ? made : plan_element(r->l, r->s, made, i);
    plan_bind(r->l, r->op, i, in_layout(r, "result_layouts", i, x));
  }
}

void plan_lower_custom_call(const plan_rule *r) {
  const char *target = ir_op_string(r->m, r->op, "call_target_name");
  uint32_t n = n_operands(r), n_results = ir_op_get(r->m, r->op)->n_results;
  bool is_top_k = target && !strcmp(target, "ApproxTopK") && n >= 2 * n_results;
  if (is_marker(r, target)) {
    plan_bind(r->l, r->op, 0, operand(r, 0));
    return;
  }
  if (is_top_k && plan_has_libraries(r->g)) {
    sort_all(r);
    return;
  }
  uint32_t *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  plan_shape *shapes = ARENA_ARRAY(r->g->arena, plan_shape, n_results);
  for (uint32_t i = 0; i < n; i++) operands[i] = in_layout(r, "operand_layouts", i, operand(r, i));
  for (uint32_t i = 0; i < n_results; i++) shapes[i] = result_shape(r, i);
  int64_t more_bytes = expanded_bytes(r, target);
  if (more_bytes) bind_expanded(r, operands, shapes, more_bytes);
  else call_library(r, operands, shapes, n_results);
}

void plan_lower_kernel(const plan_rule *r) {
  uint32_t n = n_operands(r), n_results = ir_op_get(r->m, r->op)->n_results,
           *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  plan_shape *shapes = ARENA_ARRAY(r->g->arena, plan_shape, n_results);
  for (uint32_t i = 0; i < n; i++) operands[i] = operand(r, i);
  for (uint32_t i = 0; i < n_results; i++) shapes[i] = result_shape(r, i);
  plan_rule_bind(
      r, plan_rule_opaque(r, operands, n, shapes, n_results, ir_op_int(r->m, r->op, "scratch", 0)));
}
