#include "ir/maps.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/lapack.h"

/* What a rule sees: one operand or result of the op. All dimensions are alone to begin with. */
typedef struct query {
  arena *scratch;
  ir_module *m;
  ir_op op;
  bool of_result;
  uint32_t which;
  const ir_type_data *x, *y; /* operand `which` (0 if of_result) and result 0 */
  int32_t rank;              /* of the value asked about */
  int32_t *out;
} query;

#define MAP(name) static bool map_##name(const query *q)

static bool same(const query *q) {
  for (int32_t d = 0; d < q->rank; d++) q->out[d] = d;
  return true;
}

MAP(none) {
  (void)q;
  return false;
}
MAP(constant) { return same(q); }
MAP(iota) { return same(q); }

/* Scalars (select's predicate, clamp's bounds) have no dimension. */
MAP(elementwise) { return same(q); }

/* ---- moves ---- */
MAP(broadcast) { /* of old: new dimensions in front */
  int32_t added = q->of_result ? 0 : q->y->rank - q->x->rank;
  for (int32_t d = 0; d < q->rank; d++) q->out[d] = d + added;
  return true;
}

MAP(broadcast_in_dim) {
  ir_ints to = ir_op_list(q->m, q->op, "broadcast_dimensions");
  if (q->of_result) return same(q);
  if (to.count != q->x->rank) return false;
  for (int32_t d = 0; d < to.count; d++)
    if (q->x->dims[d] == q->y->dims[to.at[d]]) q->out[d] = (int32_t)to.at[d];
  return true;
}

MAP(transpose) {
  ir_ints from = ir_op_list(q->m, q->op, "permutation");
  if (q->of_result) return same(q);
  for (int32_t d = 0; d < from.count; d++) q->out[from.at[d]] = d;
  return from.count == q->rank;
}

/* As far as only dimensions of length 1 come and go; from where others merge, all are alone. */
MAP(reshape) {
  int32_t i = 0, j = 0;
  for (; ir_next_same_dim(q->x, q->y, &i, &j); i++, j++) q->out[q->of_result ? j : i] = j;
  return true;
}

/* ---- parts: dimensions that are there whole ---- */
static bool same_but(const query *q, bool (*is_alone)(const query *, int32_t)) {
  for (int32_t d = 0; d < q->rank; d++)
    if (!is_alone(q, d)) q->out[d] = d;
  return true;
}

static bool is_sliced(const query *q, int32_t d) { return q->x->dims[d] != q->y->dims[d]; }
MAP(slice) { return same_but(q, is_sliced); }
MAP(dynamic_slice) { return same_but(q, is_sliced); }
/* The operand's elements stay where they are, the update's are moved. */
MAP(dynamic_update_slice) {
  return q->of_result || q->which != 1 ? same(q) : same_but(q, is_sliced);
}

static bool is_padded(const query *q, int32_t d) {
  return ir_op_list(q->m, q->op, "edge_padding_low").at[d] ||
         ir_op_list(q->m, q->op, "edge_padding_high").at[d] ||
         ir_op_list(q->m, q->op, "interior_padding").at[d];
}
MAP(pad) { return same_but(q, is_padded); }

static bool is_joined(const query *q, int32_t d) {
  return d == ir_op_int(q->m, q->op, "dimension", -1) && ir_op_get(q->m, q->op)->n_operands > 1;
}
MAP(concatenate) { return same_but(q, is_joined); }

static bool is_reversed(const query *q, int32_t d) {
  return ir_ints_have(ir_op_list(q->m, q->op, "dimensions"), d);
}
MAP(reverse) { return same_but(q, is_reversed); }

static bool is_within_element(const query *q, int32_t d) { /* the ranks may differ by one */
  return d >= q->x->rank || d >= q->y->rank;
}
MAP(bitcast_convert) { return same_but(q, is_within_element); }

/* ---- contractions and reductions ---- */
static void number_free(const query *q, ir_ints taken, int32_t next) {
  for (int32_t d = 0; d < q->rank; d++)
    if (q->out[d] == IR_ALONE && !ir_ints_have(taken, d)) q->out[d] = next++;
}

static bool dot_indices(const query *q, const ir_dot_numbers *n) {
  if (q->of_result) return same(q);
  ir_ints batch = ir_dot_batch(n, q->which), contract = ir_dot_contract(n, q->which);
  int32_t lhs_free =
      ir_type_at(q->m, ir_operand(q->m, q->op, 0))->rank - batch.count - contract.count;
  for (int32_t i = 0; i < batch.count; i++) q->out[batch.at[i]] = i;
  for (int32_t i = 0; i < contract.count; i++) q->out[contract.at[i]] = q->y->rank + i;
  number_free(q, contract, batch.count + (q->which ? lhs_free : 0));
  return true;
}

MAP(dot_general) {
  ir_dot_numbers n;
  return ir_dot_dims(q->m, q->op, &n) && dot_indices(q, &n);
}

MAP(dot) { /* of old: last dimension of lhs with first of rhs */
  int64_t last = ir_type_at(q->m, ir_operand(q->m, q->op, 0))->rank - 1, first = 0;
  ir_dot_numbers n = {.lhs_contract = {1, &last}, .rhs_contract = {1, &first}};
  return dot_indices(q, &n);
}

MAP(reduce) {
  ir_ints dims = ir_op_list(q->m, q->op, "dimensions");
  if (q->of_result || q->which >= ir_op_get(q->m, q->op)->n_operands / 2) return same(q);
  for (int32_t i = 0; i < dims.count; i++) q->out[dims.at[i]] = q->y->rank + i;
  number_free(q, dims, 0);
  return true;
}

static bool is_last(const query *q, int32_t d) { return d == q->rank - 1; }

MAP(top_k) { /* the k kept are nobody else's */
  same_but(q, is_last);
  if (!q->of_result) q->out[q->rank - 1] = q->y->rank;
  return true;
}

static bool is_sorted(const query *q, int32_t d) {
  int64_t along = ir_op_int(q->m, q->op, "dimension", -1); /* counted from the end where negative */
  return d == (along < 0 ? along + q->rank : along);
}
MAP(sort) { return same_but(q, is_sorted); }

/* ---- windows ---- */
static bool is_one(ir_ints v, int32_t d) { return d >= v.count || v.at[d] == 1; }

/* A window spans it: not of size 1, stride 1, no dilation, no padding. */
static bool is_windowed(const query *q, int32_t d) {
  ir_ints padding = ir_op_list(q->m, q->op, "padding");
  return !is_one(ir_op_list(q->m, q->op, "window_dimensions"), d) ||
         !is_one(ir_op_list(q->m, q->op, "window_strides"), d) ||
         !is_one(ir_op_list(q->m, q->op, "base_dilations"), d) ||
         (2 * d + 1 < padding.count && (padding.at[2 * d] || padding.at[2 * d + 1]));
}
MAP(reduce_window) { return same_but(q, is_windowed); }
MAP(select_and_scatter) { return same_but(q, is_windowed); }

/* ---- linear algebra: batches of matrices ---- */
static bool is_of_matrix(const query *q, int32_t d) { return d >= q->rank - 2; }
MAP(cholesky) { return same_but(q, is_of_matrix); }

static bool is_of_equations(const query *q, int32_t d) {
  bool left_side = ir_op_bool(q->m, q->op, "left_side", true);
  return d == q->rank - (left_side ? 2 : 1);
}
/* The columns of b are solved for one by one (rows, from the right). */
MAP(triangular_solve) {
  return same_but(q, q->of_result || q->which == 1 ? is_of_equations : is_of_matrix);
}

/* The dimension of trsm's equations, of b and x; -1: not theirs. */
static int32_t equations_of_trsm(const query *q) {
  if (!q->of_result && q->which == 0) return -1;
  int64_t side = ir_ffi_config_int(q->m, q->op, "side", 0);
  return side == 'L' ? q->rank - 1 : side == 'R' ? q->rank - 2 : -1;
}

/* Of gtsv's operands and results the fourth has a column for each system; the diagonals, their
 * factors and whether that went well are the same for all. */
static int32_t columns_of_gtsv(const query *q) { return q->which == 3 ? q->rank - 1 : -1; }

/* Matrices of a batch; and the systems with one matrix that some solve. */
MAP(custom_call) {
  int32_t batch = ir_lapack_batch_rank(q->m, q->op);
  for (int32_t d = 0; d < batch; d++) q->out[d] = d;
  if (batch < 0) return false;
  int32_t systems = ir_is_lapack(q->m, q->op, "trsm")   ? equations_of_trsm(q)
                    : ir_is_lapack(q->m, q->op, "gtsv") ? columns_of_gtsv(q)
                                                        : -1;
  if (systems >= 0) q->out[systems] = systems;
  return true;
}

static bool is_transformed(const query *q, int32_t d) {
  return d >= q->rank - ir_op_list(q->m, q->op, "fft_length").count;
}
MAP(fft) { return same_but(q, is_transformed); }

/* ---- told by the splitting alone: batches, features and places that indices name ---- */
MAP(barrier) { return map_none(q); }
MAP(convolution) { return map_none(q); }
MAP(gather) { return map_none(q); }
MAP(scatter) { return map_none(q); }
MAP(while) { return map_none(q); }

/* ---- dispatch ---- */
typedef bool (*rule)(const query *q);
static const rule rules[IR_OP_COUNT] = {
    [IR_OP_UNKNOWN] = map_none,
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = map_##factors,
#include "ir/ops.def"
#undef OP
};

static bool ask(query q) {
  q.y = ir_type_at(q.m, ir_result(q.m, q.op, 0));
  for (int32_t d = 0; d < q.rank; d++) q.out[d] = IR_ALONE;
  bool known = rules[ir_kind_of(q.m, q.op)](&q);
  for (int32_t d = 0; known && d < q.rank; d++)
    CTX_CHECK(q.m->ctx, IR_ALONE <= q.out[d] && q.out[d] < 2 * IR_MAX_RANK);
  return known;
}

bool ir_operand_indices(arena *scratch, ir_module *m, ir_op op, uint32_t which,
                        int32_t *out_index) {
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, which));
  return ask((query){scratch, m, op, false, which, .x = x, .rank = x->rank, .out = out_index});
}

bool ir_result_indices(arena *scratch, ir_module *m, ir_op op, uint32_t which, int32_t *out_index) {
  bool has_operands = ir_op_get(m, op)->n_operands > 0;
  const ir_type_data *x = has_operands ? ir_type_at(m, ir_operand(m, op, 0)) : NULL,
                     *y = ir_type_at(m, ir_result(m, op, which));
  return ask((query){scratch, m, op, true, which, .x = x, .rank = y->rank, .out = out_index});
}

int32_t ir_operand_dim(arena *scratch, ir_module *m, ir_op op, uint32_t which, int32_t index) {
  int32_t at[IR_MAX_RANK], rank = ir_type_at(m, ir_operand(m, op, which))->rank;
  if (!ir_operand_indices(scratch, m, op, which, at)) return -1;
  for (int32_t d = 0; d < rank; d++)
    if (at[d] == index) return d;
  return -1;
}

/* ---- moves ---- */
bool ir_moved_dims(ir_module *m, ir_op op, int32_t *out_to) {
  if (!ir_is_move(ir_kind_of(m, op)) || !ir_operand_indices(NULL, m, op, 0, out_to)) return false;
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, 0));
  for (int32_t d = 0; d < x->rank; d++)
    if (out_to[d] == IR_ALONE && x->dims[d] != 1) return false;
  return true;
}

int32_t ir_moved_from(ir_module *m, ir_op op, int64_t dim) {
  int32_t to[IR_MAX_RANK], rank = ir_type_at(m, ir_operand(m, op, 0))->rank;
  if (!ir_moved_dims(m, op, to)) return IR_ALONE;
  for (int32_t d = 0; d < rank; d++)
    if (to[d] == dim) return d;
  return IR_ALONE;
}

bool ir_keeps_order(ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if ((kind != IR_OP_RESHAPE && kind != IR_OP_BROADCAST_IN_DIM) ||
      !ir_all_types(m, op, ir_is_static_tensor) ||
      ir_element_count(m, ir_type_of(m, ir_operand(m, op, 0))) !=
          ir_element_count(m, ir_type_of(m, ir_result(m, op, 0))))
    return false;
  if (kind == IR_OP_RESHAPE) return true;
  ir_ints to = ir_op_list(m, op, "broadcast_dimensions");
  for (int32_t i = 1; i < to.count; i++)
    if (to.at[i] < to.at[i - 1]) return false;
  return true;
}

/* ---- reads ---- */
/* No order is. */
static bool may_be_true_of_one(const ir_module *m, ir_value p) {
  ir_direction direction = IR_EQ;
  ir_op wide = ir_maker(m, p, IR_OP_BROADCAST_IN_DIM);
  return !ir_comparison(m, wide ? ir_operand(m, wide, 0) : p, &direction) || direction == IR_EQ ||
         direction == IR_NE;
}

/* The x of select(p, x, 0), or of select(p, 0, x), where p may be true of one. IR_NONE: v is no
 * such value. */
static ir_value masked(const ir_module *m, ir_value v) {
  ir_op select = ir_maker(m, v, IR_OP_SELECT);
  if (!select || !may_be_true_of_one(m, ir_operand(m, select, 0))) return IR_NONE;
  for (uint32_t i = 1; i < 3; i++)
    if (ir_is_zero(m, ir_operand(m, select, 3 - i))) return ir_operand(m, select, i);
  return IR_NONE;
}

ir_value ir_read_from(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind == IR_OP_GATHER) return d->operands[0];
  if (d->kind != IR_OP_REDUCE || d->n_operands != 2 ||
      ir_reducer_kind(m, ir_body(m, op)) != IR_OP_ADD)
    return IR_NONE;
  ir_op convert = ir_maker(m, d->operands[0], IR_OP_CONVERT);
  return masked(m, convert ? ir_operand(m, convert, 0) : d->operands[0]);
}

/* One-hot rows, of 0 and 1, as they are or turned. */
static bool is_one_hot(const ir_module *m, ir_value v) {
  ir_op turn = ir_maker(m, v, IR_OP_TRANSPOSE);
  ir_op convert = ir_maker(m, turn ? ir_operand(m, turn, 0) : v, IR_OP_CONVERT);
  ir_value p = convert ? ir_operand(m, convert, 0) : IR_NONE;
  return p && ir_type_at(m, p)->dtype == IR_I1 && may_be_true_of_one(m, p);
}

ir_value ir_multiplied_from(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_DOT_GENERAL) return IR_NONE;
  for (uint32_t i = 0; i < 2; i++)
    if (is_one_hot(m, ir_operand(m, op, i))) return ir_operand(m, op, 1 - i);
  return IR_NONE;
}

bool ir_finds_extremes(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_CHLO_TOP_K || kind == IR_OP_SORT) return true;
  if (kind != IR_OP_REDUCE && kind != IR_OP_SCATTER) return false;
  ir_kind by = ir_reducer_kind(m, ir_body(m, op));
  bool is_variadic = kind == IR_OP_REDUCE && ir_op_get(m, op)->n_results > 1;
  return is_variadic || by == IR_OP_MAXIMUM || by == IR_OP_MINIMUM;
}
