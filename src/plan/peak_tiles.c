/* Arrays in the tiles of two dimensions that XLA:TPU pads them to, and what it copies to have them
 * so. Layouts are those that XLA:TPU prints. */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_device.h"

/* ---- tiles ---- */
/* A scatter of single elements, whose places are given in several dimensions: XLA:TPU makes one
 * dimension of these, and lays the array out anew for that and back. */
static bool is_flattened(const plan_graph *g, const plan_node *n) {
  if (n->kind != IR_OP_SCATTER || !(n->flags & PLAN_FLAG_LIVE) || n->n_operands != 3) return false;
  const plan_shape *at = &plan_node_get(g, n->operands[1])->shape,
                   *updates = &plan_node_get(g, n->operands[2])->shape;
  const plan_node *into = plan_node_get(g, n->operands[0]); /* a splat is made in any layout */
  bool is_splat = into->kind == IR_OP_BROADCAST_IN_DIM &&
                  plan_node_get(g, into->operands[0])->shape.elements == 1;
  int64_t depth = at->rank > 0 ? at->dims[at->rank - 1] : 1;
  return !is_splat && !n->shape.is_tuple && n->shape.true_rank > 1 && depth > 1 &&
         saturated_product(updates->elements, depth) == at->elements;
}

/* What operand i of the node is read as. */
static void lay_out_anew(plan_graph *g, uint32_t id, uint32_t i, plan_shape shape, bool by_rows) {
  plan_put_before(g, id, i, (plan_node){.kind = PLAN_OPAQUE, .shape = shape, .by_rows = by_rows});
}

/* The node makes `shape`, and what reads it a copy as it was. */
static void put_back(plan_graph *g, uint32_t id, plan_shape shape) {
  plan_shape before = plan_node_get(g, id)->shape;
  plan_put_behind(g, id, (plan_node){.kind = PLAN_OPAQUE, .shape = before});
  plan_node_get(g, id)->shape = shape;
}

static void flatten(plan_graph *g, uint32_t id) {
  plan_node n = *plan_node_get(g, id);
  plan_shape flat = plan_shape_make(g->arena, n.shape.dtype, 1, &n.shape.elements);
  lay_out_anew(g, id, 0, flat, false);
  put_back(g, id, flat);
}

/* ---- sorts ---- */
static bool calls_top_k(const plan_graph *g, const plan_node *n) {
  return n->kind == PLAN_OPAQUE && n->op && ir_kind_of(g->m, n->op) == IR_OP_CHLO_TOP_K;
}

/* Row by row, what is `along` not in a row. */
static plan_shape across(const plan_graph *g, const plan_shape *s, int64_t along) {
  if (along != s->rank - 1) return *s;
  int64_t dims[IR_MAX_RANK];
  memcpy(dims, s->dims, (size_t)s->rank * sizeof *dims);
  dims[s->rank - 1] = s->dims[s->rank - 2];
  dims[s->rank - 2] = s->dims[s->rank - 1];
  return plan_shape_make(g->arena, s->dtype, s->rank, dims);
}

/* XLA:TPU sorts rows that lie across: of an array that lies otherwise it makes a copy. So does a
 * call for the largest, but what is computed for that is made across. */
static void lay_out_sorted(plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  if (!(n->flags & PLAN_FLAG_LIVE) || n->n_operands == 0) return;
  uint32_t from = n->operands[0];
  bool is_taken = calls_top_k(g, n) && plan_node_get(g, from)->kind == PLAN_PARAMETER;
  if (n->kind != IR_OP_SORT && !is_taken) return;
  plan_shape s = plan_node_get(g, from)->shape;
  if (s.is_tuple || s.true_rank < 2 || s.elements < 1) return;
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  int64_t along = kind == IR_OP_SORT ? ir_op_int(g->m, n->op, "dimension", -1) : s.rank - 1;
  if (along != device_least_layout(g->memory, s.bytes / s.elements, s.rank, s.dims).minor) return;
  lay_out_anew(g, id, 0, across(g, &s, along), true);
}

/* ---- random bits ---- */
/* XLA:TPU makes Philox's blocks as rows of four words, before it makes bits of them. */
static void make_blocks(plan_graph *g, uint32_t id) {
  plan_node n = *plan_node_get(g, id);
  if (!n.shape.is_tuple || n.shape.n_members != 2 || n.n_operands != 1) return;
  int64_t words = n.shape.members[1].bytes / (int64_t)sizeof(uint32_t),
          dims[2] = {(words + PLAN_PHILOX_WORDS - 1) / PLAN_PHILOX_WORDS, PLAN_PHILOX_WORDS};
  lay_out_anew(g, id, 0, plan_shape_make(g->arena, IR_UI32, 2, dims), true);
}

/* ---- convolutions ---- */
/* XLA:TPU convolves with batch and features innermost, in either order. Arguments and results lie
 * as takes least: where that is otherwise they are laid out anew, arguments of f32 as bf16. */
typedef struct conv_side {
  int32_t batch, feature; /* of a kernel: input and output features */
} conv_side;

/* In f32 the graph has images as [batch, space, features], kernels as [space, in, out]. */
static conv_side side_of(const plan_node *conv, const ir_conv_numbers *dims, uint32_t operand) {
  int32_t last = conv->shape.rank - 1;
  bool is_canonical = conv->shape.dtype == IR_F32;
  if (operand == 0)
    return is_canonical ? (conv_side){0, last}
                        : (conv_side){(int32_t)dims->input_batch, (int32_t)dims->input_feature};
  return is_canonical ? (conv_side){last - 1, last}
                      : (conv_side){(int32_t)dims->kernel_input_feature,
                                    (int32_t)dims->kernel_output_feature};
}

static conv_side result_side(const plan_node *conv, const ir_conv_numbers *dims) {
  if (conv->shape.dtype == IR_F32) return side_of(conv, dims, 0);
  return (conv_side){(int32_t)dims->output_batch, (int32_t)dims->output_feature};
}

static int64_t convolved_bytes(const plan_graph *g, const plan_shape *s, int64_t width,
                               conv_side at) {
  int64_t one = device_laid_out_bytes(g->memory, width, s->rank, s->dims,
                                      (device_layout){at.feature, at.batch}),
          other = device_laid_out_bytes(g->memory, width, s->rank, s->dims,
                                        (device_layout){at.batch, at.feature});
  return one < other ? one : other;
}

/* Made element by element of the program's arguments. */
static bool is_of_arguments(const plan_graph *g, uint32_t id, int32_t depth) {
  const plan_node *n = plan_node_get(g, id);
  if (n->kind == PLAN_PARAMETER) return n->comp == g->entry;
  bool is = depth > 0 && n->n_operands > 0 &&
            (n->kind == PLAN_FUSION || n->kind == PLAN_BITCAST || plan_is_elementwise(n));
  for (uint32_t i = 0; i < n->n_operands && is; i++) {
    bool is_scalar = plan_node_get(g, n->operands[i])->shape.elements == 1;
    is = is_scalar || is_of_arguments(g, n->operands[i], depth - 1);
  }
  return is;
}

enum { SEEN_OF_ARGUMENTS = 4 };

static void lay_out_operand(plan_graph *g, uint32_t conv, uint32_t i, conv_side at) {
  uint32_t id = plan_node_get(g, conv)->operands[i];
  plan_shape s = plan_node_get(g, id)->shape;
  if (s.rank < 3 || s.elements <= 0 || !is_of_arguments(g, id, SEEN_OF_ARGUMENTS)) return;
  int64_t width = s.bytes / s.elements;
  device_layout own = device_least_layout(g->memory, width, s.rank, s.dims);
  if (own.minor == at.batch || own.minor == at.feature) return;
  int64_t bytes = convolved_bytes(g, &s, s.dtype == IR_F32 ? 2 : width, at);
  plan_shape convolved = plan_shape_make(g->arena, IR_UI8, 1, &bytes);
  lay_out_anew(g, conv, i, convolved, false);
}

static void lay_out_result(plan_graph *g, uint32_t conv, conv_side at) {
  plan_node n = *plan_node_get(g, conv);
  bool moves = n.n_users == 1 && plan_node_get(g, n.users[0])->kind == IR_OP_TRANSPOSE;
  if (n.shape.rank < 3 || n.shape.elements <= 0 || !(moves || plan_is_output(g, conv))) return;
  int64_t width = n.shape.bytes / n.shape.elements;
  device_layout own = device_least_layout(g->memory, width, n.shape.rank, n.shape.dims);
  bool is_same = (own.minor == at.batch && own.second == at.feature) ||
                 (own.minor == at.feature && own.second == at.batch);
  if (is_same) return;
  int64_t bytes = convolved_bytes(g, &n.shape, width, at);
  plan_shape convolved = plan_shape_make(g->arena, IR_UI8, 1, &bytes);
  if (moves) plan_node_get(g, conv)->shape = convolved;
  else put_back(g, conv, convolved);
}

static void lay_out_convolution(plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  bool is_convolution = n->kind == PLAN_OPAQUE && (n->flags & PLAN_FLAG_LIVE) && n->op &&
                        ir_kind_of(g->m, n->op) == IR_OP_CONVOLUTION;
  ir_conv_numbers dims;
  if (!is_convolution || n->n_operands != 2 || n->shape.is_tuple ||
      !ir_conv_dims(g->arena, g->m, n->op, &dims))
    return;
  plan_node conv = *n;
  for (uint32_t i = 0; i < 2; i++) lay_out_operand(g, id, i, side_of(&conv, &dims, i));
  lay_out_result(g, id, result_side(&conv, &dims));
}

/* Whether a gather's windows are what is innermost of its result: moved elsewhere they may lie in
 * any layout. */
static bool has_windows_last(const plan_graph *g, const plan_node *n) {
  ir_gather_numbers at;
  if (!ir_gather_dims(g->arena, g->m, n->op, &at)) return true;
  for (int32_t i = 0; i < at.offset_dims.count; i++)
    if (at.offset_dims.at[i] < n->shape.rank - at.offset_dims.count) return false;
  return true;
}

/* What XLA:TPU's own calls and loops make, of a gather or a factorisation, lies row by row. */
static bool is_by_rows(const plan_graph *g, const plan_node *n) {
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  bool is_factor = kind == IR_OP_CHOLESKY || kind == IR_OP_TRIANGULAR_SOLVE,
       is_fused = n->kind == PLAN_FUSION && kind == IR_OP_GATHER,
       is_gather = n->kind == IR_OP_GATHER || (is_fused && has_windows_last(g, n));
  return n->by_rows || is_gather || (n->kind == PLAN_OPAQUE && is_factor);
}

/* Without dimensions of length 1 that follow what rows are made of, as a gather along the last
 * dimension of an array leaves one. */
static int32_t rank_of_rows(const plan_shape *s) {
  int32_t rank = s->rank;
  while (rank > 2 && s->dims[rank - 1] == 1) rank--;
  return rank;
}

/* Largest values that nobody reads, but their places. */
static bool is_narrowed(const plan_graph *g, uint32_t id, uint32_t member) {
  const plan_node *n = plan_node_get(g, id);
  return n->op && ir_kind_of(g->m, n->op) == IR_OP_REDUCE &&
         n->shape.members[member].dtype == IR_F32 && plan_is_left_unread(g, id, member);
}

static void pad_array(const plan_graph *g, plan_shape *s, bool by_rows, bool narrow) {
  if (s->is_tuple || s->elements <= 0) return;
  int64_t width = s->bytes / s->elements;
  if (narrow) width = width < 2 ? width : 2;
  s->bytes = by_rows ? device_row_bytes(g->memory, width, rank_of_rows(s), s->dims)
                     : device_least_bytes(g->memory, width, s->rank, s->dims);
}

static void pad_member(const plan_graph *g, uint32_t id, uint32_t i, plan_shape *s) {
  const plan_node *n = plan_node_get(g, id);
  if (calls_top_k(g, n) && plan_is_left_unread(g, id, i)) /* it makes both, row by row */
    s->bytes = device_row_bytes(g->memory, ir_dtype_bytes(s->dtype), s->rank, s->dims);
  else pad_array(g, s, is_by_rows(g, n), n->narrow || is_narrowed(g, id, i));
}

static void pad(const plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  plan_shape *s = &n->shape;
  if (s->is_tuple) {
    plan_shape *members = ARENA_COPY(g->arena, plan_shape, s->members, s->n_members);
    for (uint32_t i = 0; i < s->n_members; i++) pad_member(g, id, i, &members[i]);
    s->members = members;
    int64_t table = s->bytes;
    s->bytes = device_least_bytes(g->memory, 1, 1, &table);
  } else pad_array(g, s, is_by_rows(g, n), n->narrow);
}

/* ---- views ---- */
/* Made element by element before, or as the program has it. */
static bool is_copied_view(const plan_graph *g, const plan_node *n) {
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  return n->kind == PLAN_OPAQUE && n->n_operands == 1 &&
         (kind == IR_OP_RESHAPE || ir_is_elementwise(kind));
}

/* Whether a view has other dimensions innermost than what it views, so that the elements lie in
 * other tiles. */
static bool moves_tiles(const plan_graph *g, const plan_node *n) {
  bool is_view = n->kind == PLAN_BITCAST || is_copied_view(g, n);
  if (!is_view || !(n->flags & PLAN_FLAG_LIVE) || n->shape.is_tuple) return false;
  const plan_shape *from = &plan_node_get(g, n->operands[0])->shape, *to = &n->shape;
  if (from->is_tuple || from->true_rank < 1 || to->true_rank < 1 || from->elements < 1)
    return false;
  if (from->true_rank == 1 && to->true_rank == 1) return false;
  return plan_innermost(from) != plan_innermost(to);
}

/* Of what is viewed the dimension that is dimension d of the view; -1: there is none. */
static int32_t viewed_dim(const plan_shape *from, const plan_shape *to, int32_t d) {
  int64_t before = 1, a = 1;
  for (int32_t k = 0; k < d; k++) before = saturated_product(before, to->dims[k]);
  for (int32_t i = 0; i < from->rank; a = saturated_product(a, from->dims[i++]))
    if (a == before && from->dims[i] == to->dims[d]) return i;
  return -1;
}

/* With that dimension innermost. */
static int64_t bytes_with(const plan_graph *g, const plan_shape *s, int64_t width, int32_t minor) {
  int64_t least = INT64_MAX;
  for (int32_t d = 0; d < s->rank; d++) {
    int64_t bytes = d == minor ? INT64_MAX
                               : device_laid_out_bytes(g->memory, width, s->rank, s->dims,
                                                       (device_layout){minor, d});
    if (bytes < least) least = bytes;
  }
  return least;
}

/* The dimension of what is viewed that both have innermost, if the view takes no less in any other
 * layout; what is viewed may have it so already. -1: both lie row by row. */
static int32_t common_innermost(const plan_graph *g, const plan_shape *from, const plan_shape *to,
                                int64_t width, int32_t own) {
  int32_t found = -1;
  if (from->rank < 2 || to->rank < 2) return -1;
  int64_t least = device_least_bytes(g->memory, width, to->rank, to->dims);
  for (int32_t d = 0; d < to->rank; d++) {
    int32_t i = viewed_dim(from, to, d);
    if (i < 0 || to->dims[d] == 1 || bytes_with(g, to, width, d) > least) continue;
    if (found < 0 || i == own) found = i;
  }
  return found;
}

/* The array with that dimension innermost, for the view. */
static void turn_viewed(plan_graph *g, uint32_t view, int64_t width, int32_t minor) {
  plan_shape s = plan_node_get(g, plan_node_get(g, view)->operands[0])->shape;
  bool by_rows = minor == plan_innermost_dim(&s);
  int64_t bytes = bytes_with(g, &s, width, minor);
  if (!by_rows) s = plan_shape_make(g->arena, IR_UI8, 1, &bytes);
  lay_out_anew(g, view, 0, s, by_rows);
}

/* A copy. What is viewed is copied first if it lies as arguments do, and that is otherwise; so is a
 * result of the program behind it. */
static void copy_view(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  uint32_t from = n->operands[0];
  const plan_shape s = plan_node_get(g, from)->shape, to = n->shape;
  int64_t width = s.bytes / s.elements;
  n->kind = PLAN_OPAQUE;
  if (n->narrow) return;
  int32_t own = s.rank > 1 ? device_least_layout(g->memory, width, s.rank, s.dims).minor : 0,
          minor = common_innermost(g, &s, &to, width, own);
  n->by_rows = minor < 0;
  if (minor < 0) minor = plan_innermost_dim(&s);
  if (s.true_rank > 1 && own != minor && is_of_arguments(g, from, SEEN_OF_ARGUMENTS))
    turn_viewed(g, id, width, minor);
  bool is_turned =
      plan_node_get(g, id)->by_rows && to.rank > 1 &&
      device_least_layout(g->memory, width, to.rank, to.dims).minor != plan_innermost_dim(&to);
  if (is_turned && plan_is_output(g, id)) put_back(g, id, to);
}

void plan_lay_out_tiles(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++)
    if (is_flattened(g, plan_node_get(g, id))) flatten(g, id);
  for (uint32_t id = 1; id < count; id++) {
    if (plan_makes_bits(g, plan_node_get(g, id), "PHILOX")) make_blocks(g, id);
    lay_out_convolution(g, id);
    lay_out_sorted(g, id);
  }
  for (uint32_t id = 1; id < count; id++)
    if (moves_tiles(g, plan_node_get(g, id))) copy_view(g, id);
  for (uint32_t id = 1; id < g->nodes.count; id++) pad(g, id);
}
