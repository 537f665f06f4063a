/* IR op -> nodes: one rule per op that XLA CPU does not take as it is. Everything else becomes
 * one node of its own kind.
 *
 * A rule follows what XLA's simplifier, expanders and canonicalisers do to the op where that
 * changes which buffers there are: splat constants are broadcasts, reshapes are bitcasts, large
 * reductions become trees of reduce_windows, dots take two matrices (or batches of them) in
 * row-major order, 16-bit floats are computed in f32. Here: making nodes, constants, elementwise
 * ops, plain data movement, weir.loop, the dispatch. Sources: XLA's algebraic_simplifier,
 * dot_decomposer, tree_reduction_rewriter, transpose_folding, change_op_data_type; each was
 * checked against the optimized HLO of jaxlib 0.10.2 (docs/design/peak-estimate.md). */
#include "plan/peak_rules.h"

#include <math.h>

#include "ir/attrs.h"
#include "ir/floats.h"
#include "ir/fold.h"

/* ---- making nodes ---- */
uint32_t plan_rule_make(const plan_rule *r, plan_node n) {
  n.op = r->op;
  if (plan_traits(n.kind) & PLAN_TRAIT_D) n.flags |= PLAN_FLAG_EXPENSIVE;
  if (n.kind == IR_OP_DYNAMIC_UPDATE_SLICE || n.kind == IR_OP_SCATTER) n.in_place = 1;
  if (ir_op_get(r->m, r->op)->n_results) n.value = ir_result(r->m, r->op, 0);
  return plan_make(r->l, r->s, &n);
}

uint32_t plan_rule_node(const plan_rule *r, int kind, plan_shape shape, const uint32_t *operands,
                        uint32_t count, uint64_t signature) {
  return plan_rule_make(r, (plan_node){.kind = (uint16_t)kind,
                                       .shape = shape,
                                       .n_operands = count,
                                       .operands = (uint32_t *)operands,
                                       .signature = signature});
}

uint32_t plan_rule_make1(const plan_rule *r, int kind, plan_shape shape, uint32_t x) {
  return plan_rule_node(r, kind, shape, &x, 1, 0);
}

uint32_t plan_rule_make2(const plan_rule *r, int kind, plan_shape shape, uint32_t x, uint32_t y) {
  return plan_rule_node(r, kind, shape, (uint32_t[]){x, y}, 2, 0);
}

uint32_t plan_rule_concatenate(const plan_rule *r, plan_shape shape, const uint32_t *operands,
                               uint32_t count, int64_t dim) {
  return plan_rule_make(r, (plan_node){.kind = IR_OP_CONCATENATE,
                                       .shape = shape,
                                       .n_operands = count,
                                       .operands = (uint32_t *)operands,
                                       .ints = ARENA_COPY(r->g->arena, int64_t, &dim, 1),
                                       .n_ints = 1});
}

uint32_t plan_rule_number(const plan_rule *r, ir_dtype dtype, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return plan_rule_make(
      r, (plan_node){
             .kind = IR_OP_CONSTANT, .shape = scalar_shape(dtype), .number = x, .signature = bits});
}

uint32_t plan_rule_bitcast(const plan_rule *r, uint32_t x, plan_shape shape) {
  const plan_node *n = node_of(r, x);
  shape.dtype = n->shape.dtype;
  shape.bytes = n->shape.bytes;
  if (plan_same_dims(&n->shape, &shape)) return x;
  if (plan_is_view(n)) return plan_rule_bitcast(r, n->operands[0], shape);
  return plan_rule_make1(r, PLAN_BITCAST, shape, x);
}

uint32_t plan_rule_broadcast(const plan_rule *r, uint32_t x, plan_shape shape,
                             const int64_t *dims) {
  plan_node n = *node_of(r, x);
  if (n.shape.elements == shape.elements) return plan_rule_bitcast(r, x, shape);
  int64_t kept[IR_MAX_RANK], sizes[IR_MAX_RANK];
  int32_t n_kept = 0;
  for (int32_t d = 0; d < n.shape.rank; d++) /* the dims that really spread are dropped first */
    if (n.shape.dims[d] == shape.dims[dims[d]])
      kept[n_kept] = dims[d], sizes[n_kept++] = n.shape.dims[d];
  if (n_kept < n.shape.rank)
    x = plan_rule_bitcast(r, x, plan_shape_make(r->g->arena, n.shape.dtype, n_kept, sizes));
  n = *node_of(r, x);
  if (n.kind == IR_OP_BROADCAST_IN_DIM) { /* of a broadcast */
    for (uint32_t d = 0; d < n.n_ints; d++) sizes[d] = kept[n.ints[d]];
    return plan_rule_broadcast(r, n.operands[0], shape, sizes);
  }
  shape = with_dtype(shape, n.shape.dtype);
  return plan_rule_make(r,
                        (plan_node){.kind = IR_OP_BROADCAST_IN_DIM,
                                    .shape = shape,
                                    .n_operands = 1,
                                    .operands = &x,
                                    .ints = ARENA_COPY(r->g->arena, int64_t, kept, (size_t)n_kept),
                                    .n_ints = (uint32_t)n_kept});
}

uint32_t plan_rule_splat(const plan_rule *r, uint32_t scalar, plan_shape shape) {
  return shape.rank == 0 ? scalar : plan_rule_broadcast(r, scalar, shape, NULL);
}

uint32_t plan_rule_convert(const plan_rule *r, uint32_t x, ir_dtype dtype) {
  plan_node n = *node_of(r, x);
  if (n.shape.dtype == dtype) return x;
  if (n.kind == IR_OP_CONSTANT && n.shape.elements == 1 && !isnan(n.number))
    return plan_rule_number(r, dtype, n.number);
  uint32_t made = plan_rule_make1(r, IR_OP_CONVERT, with_dtype(n.shape, dtype), x);
  if (dtype == IR_BF16 && n.shape.dtype == IR_F32)
    plan_node_get(r->g, made)->flags |= PLAN_FLAG_EXPENSIVE;
  return made;
}

/* The permutation that swaps the last two dimensions. */
static bool swaps_matrices(const plan_node *n) {
  int32_t rank = n->shape.rank;
  if (n->kind != IR_OP_TRANSPOSE || rank < 2 || n->ints[rank - 1] != rank - 2 ||
      n->ints[rank - 2] != rank - 1)
    return false;
  for (int32_t d = 0; d < rank - 2; d++)
    if (n->ints[d] != d) return false;
  return true;
}

uint32_t plan_rule_relayout(const plan_rule *r, uint32_t x) {
  plan_node n = *node_of(r, x);
  int32_t rank = n.shape.rank;
  if (rank < 2 || n.shape.dims[rank - 1] == 1 || n.shape.dims[rank - 2] == 1) return x;
  if (n.kind == PLAN_RELAYOUT) return n.operands[0];
  if (swaps_matrices(&n)) return plan_rule_bitcast(r, n.operands[0], n.shape);
  return plan_rule_make1(r, PLAN_RELAYOUT, n.shape, x);
}

uint32_t plan_rule_transpose(const plan_rule *r, uint32_t x, const int64_t *perm) {
  plan_node n = *node_of(r, x);
  int64_t dims[IR_MAX_RANK], last = -1;
  bool moves = false, identity = true;
  for (int32_t d = 0; d < n.shape.rank; d++) {
    dims[d] = n.shape.dims[perm[d]];
    identity &= perm[d] == d;
    if (dims[d] == 1) continue;
    moves |= perm[d] < last;
    last = perm[d];
  }
  if (identity) return x;
  plan_shape shape = plan_shape_make(r->g->arena, n.shape.dtype, n.shape.rank, dims);
  if (!moves) return plan_rule_bitcast(r, x, shape);
  if (n.kind == IR_OP_TRANSPOSE) {
    int64_t both[IR_MAX_RANK];
    for (int32_t d = 0; d < n.shape.rank; d++) both[d] = n.ints[perm[d]];
    return plan_rule_transpose(r, n.operands[0], both);
  }
  return plan_rule_make(
      r, (plan_node){.kind = IR_OP_TRANSPOSE,
                     .shape = shape,
                     .n_operands = 1,
                     .operands = &x,
                     .ints = ARENA_COPY(r->g->arena, int64_t, perm, (size_t)n.shape.rank),
                     .n_ints = (uint32_t)n.shape.rank});
}

/* ---- ops as they are ---- */
/* A tuple's element, or the node, in the type that the op says. */
static void bind_as_said(const plan_rule *r, uint32_t i, uint32_t x) {
  plan_bind(r->l, r->op, i, plan_rule_convert(r, x, result_shape(r, i).dtype));
}

void plan_rule_bind(const plan_rule *r, uint32_t node) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  if (n == 1 && !node_of(r, node)->shape.is_tuple) bind_as_said(r, 0, node);
  else
    for (uint32_t i = 0; i < n; i++) bind_as_said(r, i, plan_element(r->l, r->s, node, i));
}

static plan_shape wide(const plan_rule *r, plan_shape s) {
  return r->g->memory ? s : with_dtype(s, plan_computed_in(s.dtype));
}

uint32_t plan_rule_wide(const plan_rule *r, uint32_t x) {
  return plan_rule_convert(r, x, wide(r, node_of(r, x)->shape).dtype);
}

static plan_shape all_results(const plan_rule *r, bool widens) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  plan_shape *members = ARENA_ARRAY(r->g->arena, plan_shape, n);
  for (uint32_t i = 0; i < n; i++)
    members[i] = widens ? wide(r, result_shape(r, i)) : result_shape(r, i);
  return n == 1 ? members[0] : plan_shape_tuple(r->g->arena, members, n);
}

/* One node with the op's operands and results. */
static uint32_t generic(const plan_rule *r, int kind, bool widens) {
  uint32_t n = n_operands(r), *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    operands[i] = widens ? plan_rule_wide(r, operand(r, i)) : operand(r, i);
  uint64_t signature = plan_attrs_hash(r->m, r->op);
  /* regions are not compared */
  if (ir_op_get(r->m, r->op)->n_regions) signature = hash_mix_wide(signature, r->op);
  return plan_rule_node(r, kind, all_results(r, widens), operands, n, signature);
}

uint32_t plan_rule_generic(const plan_rule *r, int kind) { return generic(r, kind, false); }
uint32_t plan_rule_generic_wide(const plan_rule *r, int kind) { return generic(r, kind, true); }

uint32_t plan_rule_opaque(const plan_rule *r, const uint32_t *operands, uint32_t count,
                          const plan_shape *results, uint32_t n_results, int64_t scratch_bytes) {
  plan_shape *members = ARENA_ARRAY(r->g->arena, plan_shape, n_results + 1);
  memcpy(members, results, n_results * sizeof *members);
  members[n_results] = plan_shape_make(r->g->arena, IR_UI8, 1, &scratch_bytes);
  plan_node n = {.kind = PLAN_OPAQUE,
                 .shape = plan_shape_tuple(r->g->arena, members, n_results + 1),
                 .n_operands = count,
                 .operands = (uint32_t *)operands,
                 .signature = hash_mix_wide(plan_attrs_hash(r->m, r->op), (uint64_t)scratch_bytes)};
  return plan_rule_make(r, n);
}

/* ---- constants ---- */
static double integer_value(ir_dtype t, uint64_t bits) {
  int unused = 64 - 8 * (int)ir_dtype_bytes(t);
  if (ir_dtype_class_of(t) == IR_CLASS_INT) return (double)((int64_t)(bits << unused) >> unused);
  return bits < (1ull << 53) ? (double)bits : NAN;
}

static double element_value(const ir_module *m, const ir_attr_data *a) {
  ir_dtype t = ir_type_get(m, a->type)->dtype;
  uint64_t bits = 0;
  memcpy(&bits, a->data, (size_t)(ir_dtype_bytes(t) < 8 ? ir_dtype_bytes(t) : 8));
  switch (ir_dtype_class_of(t)) {
    case IR_CLASS_FLOAT: return ir_float_value(t, bits);
    case IR_CLASS_INT:
    case IR_CLASS_UINT:
    case IR_CLASS_BOOL: return integer_value(t, bits);
    default: return NAN;
  }
}

static uint32_t constant_node(const plan_rule *r) {
  ir_attr attr = ir_op_attr(r->m, r->op, "value");
  plan_shape shape = result_shape(r, 0);
  const ir_attr_data *a = attr ? ir_attr_get(r->m, attr) : NULL;
  if (!a || a->kind != IR_ATTR_DENSE || (!a->splat && shape.elements != 1))
    return plan_rule_make(r, (plan_node){.kind = IR_OP_CONSTANT,
                                         .shape = shape,
                                         .number = NAN,
                                         .signature = plan_attrs_hash(r->m, r->op)});
  double x = element_value(r->m, a);
  uint32_t scalar = isnan(x)
                        ? plan_rule_make(r, (plan_node){.kind = IR_OP_CONSTANT,
                                                        .shape = scalar_shape(shape.dtype),
                                                        .number = NAN,
                                                        .signature = plan_attrs_hash(r->m, r->op)})
                        : plan_rule_number(r, shape.dtype, x);
  return plan_rule_splat(r, scalar, shape);
}

void plan_lower_constant(const plan_rule *r) { plan_bind(r->l, r->op, 0, constant_node(r)); }

/* The constant of one element that a value is everywhere; NULL: it is none. */
static const plan_node *splat_of(const plan_rule *r, uint32_t x) {
  const plan_node *n = node_of(r, x);
  if (n->kind == IR_OP_BROADCAST_IN_DIM) n = node_of(r, n->operands[0]);
  return n->kind == IR_OP_CONSTANT && n->shape.elements == 1 ? n : NULL;
}

double plan_rule_number_of(const plan_rule *r, uint32_t x) {
  const plan_node *n = splat_of(r, x);
  return n ? n->number : NAN;
}

/* ---- elementwise ---- */
/* All operands are broadcasts of one value in one way, or of scalar constants: the op is done
 * before the broadcast. */
static bool sink_broadcast(const plan_rule *r, int kind, plan_shape shape, const uint32_t *operands,
                           uint32_t count, uint64_t signature, uint32_t *out) {
  uint32_t source = 0, inner[8];
  if (count > 8 || shape.rank == 0) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (splat_of(r, operands[i])) continue;
    const plan_node *n = node_of(r, operands[i]);
    if (n->kind != IR_OP_BROADCAST_IN_DIM || !plan_same_dims(&n->shape, &shape)) return false;
    const plan_node *s = source ? node_of(r, source) : n;
    if (n->operands[0] != s->operands[0] || n->n_ints != s->n_ints ||
        memcmp(n->ints, s->ints, n->n_ints * sizeof *n->ints) != 0)
      return false;
    source = operands[i];
  }
  if (!source) return false;
  plan_node s = *node_of(r, source);
  plan_shape small = node_of(r, s.operands[0])->shape;
  for (uint32_t i = 0; i < count; i++) {
    const plan_node *n = node_of(r, operands[i]);
    if (!splat_of(r, operands[i])) inner[i] = s.operands[0];
    else
      inner[i] = n->kind == IR_OP_CONSTANT
                     ? operands[i]
                     : plan_rule_splat(r, n->operands[0], with_dtype(small, n->shape.dtype));
  }
  uint32_t done = plan_rule_node(r, kind, with_dtype(small, shape.dtype), inner, count, signature);
  *out = plan_rule_broadcast(r, done, shape, s.ints);
  return true;
}

/* x / exp(z) is x * exp(-z); x / sqrt(z) is x * rsqrt(z) if nobody else reads the root. */
static bool is_inverted(const plan_rule *r, const plan_node *by) {
  if (by->kind == IR_OP_EXPONENTIAL) return true;
  return by->kind == IR_OP_SQRT && ir_kind_of(r->m, r->op) == IR_OP_DIVIDE &&
         r->l->uses[ir_operand(r->m, r->op, 1)] == 1;
}

static uint32_t multiply_by_inverse(const plan_rule *r, plan_shape shape, uint32_t x,
                                    const plan_node *by) {
  uint32_t z = by->operands[0];
  bool is_root = by->kind == IR_OP_SQRT;
  if (!is_root) z = plan_rule_elementwise(r, IR_OP_NEGATE, shape, &z, 1, 0);
  uint32_t y = plan_rule_elementwise(r, is_root ? IR_OP_RSQRT : IR_OP_EXPONENTIAL, shape, &z, 1, 0);
  return plan_rule_elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){x, y}, 2, 0);
}

static uint32_t divide(const plan_rule *r, plan_shape shape, uint32_t x, uint32_t y) {
  double by = plan_rule_number_of(r, y);
  bool is_float = ir_is_float(shape.dtype);
  if (is_float && by != 0 && !isnan(by)) {
    uint32_t inverse = plan_rule_splat(r, plan_rule_number(r, shape.dtype, 1 / by), shape);
    return plan_rule_elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){x, inverse}, 2, 0);
  }
  plan_node n = *node_of(r, y);
  if (is_float && is_inverted(r, &n)) return multiply_by_inverse(r, shape, x, &n);
  /* a single number is not worth it to XLA */
  bool spread = n.kind == IR_OP_BROADCAST_IN_DIM && n.n_ints > 0;
  if (is_float && spread && !splat_of(r, x)) {
    plan_shape small = node_of(r, n.operands[0])->shape;
    uint32_t one = plan_rule_splat(r, plan_rule_number(r, shape.dtype, 1), small);
    uint32_t inverse =
        plan_rule_node(r, IR_OP_DIVIDE, small, (uint32_t[]){one, n.operands[0]}, 2, 0);
    return plan_rule_elementwise(r, IR_OP_MULTIPLY, shape,
                                 (uint32_t[]){x, plan_rule_broadcast(r, inverse, shape, n.ints)}, 2,
                                 0);
  }
  return plan_rule_node(r, IR_OP_DIVIDE, shape, (uint32_t[]){x, y}, 2, 0);
}

/* x + scatter(zeros, ...) scatters into x, unless others read that, too, who may still come. */
static uint32_t add_into_scatter(const plan_rule *r, int kind, uint32_t x, uint32_t y) {
  for (int swap = 0; swap < 2 && kind == IR_OP_ADD; swap++) {
    plan_node n = *node_of(r, swap ? x : y);
    if (n.kind != IR_OP_SCATTER || n.index != IR_OP_ADD || n.n_operands != 3 ||
        plan_rule_number_of(r, n.operands[0]) != 0)
      continue;
    uint32_t operands[3] = {swap ? y : x, n.operands[1], n.operands[2]};
    n.operands = operands;
    n.instead_of = swap ? x : y;
    return plan_rule_make(r, n);
  }
  return 0;
}

/* x where one operand is the op's neutral element; 0 if it is none. */
static uint32_t neutral(const plan_rule *r, int kind, ir_dtype dtype, uint32_t x, uint32_t y) {
  double a = plan_rule_number_of(r, x), b = plan_rule_number_of(r, y);
  bool real = ir_is_float(dtype);
  switch (kind) {
    case IR_OP_ADD: return a == 0 ? y : b == 0 ? x : 0;
    case IR_OP_SUBTRACT: return b == 0 ? x : 0;
    case IR_OP_MULTIPLY: return a == 1 ? y : b == 1 ? x : 0;
    case IR_OP_MAXIMUM: return real && a == -INFINITY ? y : real && b == -INFINITY ? x : 0;
    case IR_OP_MINIMUM: return real && a == INFINITY ? y : real && b == INFINITY ? x : 0;
    default: return 0;
  }
}

/* What moves elements to other tiles. */
static bool is_moved(const plan_rule *r, const plan_node *n) {
  const plan_shape *from = plan_is_view(n) ? &node_of(r, n->operands[0])->shape : &n->shape;
  return plan_innermost(from) != plan_innermost(&n->shape);
}

/* All operands are views of arrays of one shape, or of scalar constants: the op is done before the
 * view, where that is a copy. Source: XLA's reshape_mover.cc. */
static bool sink_view(const plan_rule *r, int kind, plan_shape shape, const uint32_t *operands,
                      uint32_t count, uint64_t signature, uint32_t *out) {
  uint32_t inner[8];
  const plan_shape *source = NULL;
  if (count > 8 || !r->g->memory || !r->g->memory->tile_lanes) return false;
  for (uint32_t i = 0; i < count; i++) {
    const plan_node *n = node_of(r, operands[i]);
    if (splat_of(r, operands[i])) continue;
    if (!is_moved(r, n)) return false;
    const plan_shape *s = &node_of(r, n->operands[0])->shape;
    if (source && !plan_same_dims(s, source)) return false;
    source = s;
  }
  if (!source) return false;
  plan_shape before = *source;
  for (uint32_t i = 0; i < count; i++) {
    const plan_node *splat = splat_of(r, operands[i]);
    inner[i] = splat ? plan_rule_splat(r, plan_rule_number(r, splat->shape.dtype, splat->number),
                                       with_dtype(before, splat->shape.dtype))
                     : node_of(r, operands[i])->operands[0];
  }
  uint32_t made =
      plan_rule_elementwise(r, kind, with_dtype(before, shape.dtype), inner, count, signature);
  *out = plan_rule_bitcast(r, made, shape);
  return true;
}

/* Constants alone; 0 if they are not, or not known. */
static uint32_t fold(const plan_rule *r, int kind, plan_shape shape, const uint32_t *operands,
                     uint32_t count) {
  if (count < 1 || count > 2 || !ir_is_float(shape.dtype)) return 0;
  double x = plan_rule_number_of(r, operands[0]),
         y = count == 2 ? plan_rule_number_of(r, operands[1]) : 0;
  double z = isnan(x) || isnan(y) ? NAN : ir_folded((ir_kind)kind, x, y);
  if (isnan(z)) return 0;
  if (shape.dtype != IR_F64) z = (float)z;
  return plan_rule_splat(r, plan_rule_number(r, shape.dtype, z), shape);
}

uint32_t plan_rule_elementwise(const plan_rule *r, int kind, plan_shape shape,
                               const uint32_t *operands, uint32_t count, uint64_t signature) {
  uint32_t constant = fold(r, kind, shape, operands, count);
  if (constant) return constant;
  if (kind == IR_OP_SELECT && operands[1] == operands[2]) return operands[1];
  if (count == 2) {
    uint32_t same = neutral(r, kind, shape.dtype, operands[0], operands[1]);
    if (same && plan_same_dims(&node_of(r, same)->shape, &shape)) return same;
    uint32_t scattered = add_into_scatter(r, kind, operands[0], operands[1]);
    if (scattered) return scattered;
  }
  uint32_t sunk;
  if (sink_broadcast(r, kind, shape, operands, count, signature, &sunk) ||
      sink_view(r, kind, shape, operands, count, signature, &sunk))
    return sunk;
  if (kind == IR_OP_DIVIDE) return divide(r, shape, operands[0], operands[1]);
  return plan_rule_node(r, kind, shape, operands, count, signature);
}

/* XLA CPU has no arithmetic on bf16 and f8: f32 (f16) in between. */
ir_dtype plan_computed_in(ir_dtype t) {
  if (t == IR_BF16) return IR_F32;
  return t >= IR_F4E2M1FN && t <= IR_F8E8M0FNU ? IR_F16 : t;
}

/* ---- functions that XLA expands ---- Values that are dear, which several readers share, and cheap
 * arithmetic on them that each reader does for itself. lgamma and digamma are made of the same
 * logarithm and of the same quotients, which are summed up. */
enum { MOST_PARTS = 4, LANCZOS_TERMS = 8, LOG_OF_SHIFTED = 1, PART_OF_SUMS = 2 };

static uint32_t part(const plan_rule *r, plan_shape shape, const uint32_t *operands, uint32_t count,
                     uint64_t signature) {
  return plan_rule_make(r, (plan_node){.kind = IR_OP_DIVIDE,
                                       .shape = shape,
                                       .n_operands = count,
                                       .operands = (uint32_t *)operands,
                                       .signature = signature,
                                       .flags = PLAN_FLAG_EXPENSIVE});
}

static uint32_t made_of_parts(const plan_rule *r, uint32_t x, plan_shape shape, uint32_t n_parts,
                              bool has_sums) {
  uint32_t operands[MOST_PARTS + 1] = {x}, terms[LANCZOS_TERMS + 1] = {x};
  uint64_t kind = ir_kind_of(r->m, r->op);
  for (uint32_t i = 1; has_sums && i <= LANCZOS_TERMS; i++)
    terms[i] = part(r, shape, &x, 1, hash_mix_wide(LOG_OF_SHIFTED, i));
  for (uint32_t i = 1; i <= n_parts; i++) {
    bool sums = has_sums && i == PART_OF_SUMS;
    uint64_t own = has_sums && i == LOG_OF_SHIFTED ? LOG_OF_SHIFTED : hash_mix_wide(kind, i);
    operands[i] = part(r, shape, sums ? terms : &x, sums ? LANCZOS_TERMS + 1 : 1, own);
  }
  return plan_rule_node(r, IR_OP_SELECT, shape, operands, n_parts + 1, kind);
}

/* wide: in f32 at least */
static void lower_in_parts(const plan_rule *r, uint32_t n_parts, bool wide, bool has_sums) {
  plan_shape shape = result_shape(r, 0);
  bool widens = wide && ir_dtype_bytes(shape.dtype) < 4;
  if (!ir_is_float(shape.dtype) || (r->g->memory && !has_sums)) {
    plan_lower_elementwise(r);
    return;
  }
  plan_shape inside = with_dtype(shape, widens ? IR_F32 : plan_computed_in(shape.dtype));
  uint32_t x = plan_rule_convert(r, operand(r, 0), inside.dtype);
  plan_bind(r->l, r->op, 0,
            plan_rule_convert(r, made_of_parts(r, x, inside, n_parts, has_sums), shape.dtype));
}

void plan_lower_one_part(const plan_rule *r) { lower_in_parts(r, 1, false, false); }
void plan_lower_two_parts(const plan_rule *r) { lower_in_parts(r, 2, false, false); }
void plan_lower_two_wide(const plan_rule *r) { lower_in_parts(r, 2, true, false); }
void plan_lower_three_wide(const plan_rule *r) { lower_in_parts(r, 3, true, false); }
void plan_lower_four_wide(const plan_rule *r) { lower_in_parts(r, 4, true, false); }
void plan_lower_gamma(const plan_rule *r) { lower_in_parts(r, 4, true, true); }

/* What XLA itself made bf16, as the op's type says, is read as it was computed; what the program
 * rounds stays rounded. */
static uint32_t before_rounding(const plan_rule *r, ir_dtype dtype) {
  uint32_t x = operand(r, 0);
  const plan_node *n = node_of(r, x);
  ir_value from = ir_op_get(r->m, r->op)->operands[0];
  if (n->kind != IR_OP_CONVERT || n->shape.dtype != IR_BF16 || ir_maker(r->m, from, IR_OP_CONVERT))
    return x;
  return node_of(r, n->operands[0])->shape.dtype == dtype ? n->operands[0] : x;
}

void plan_lower_convert(const plan_rule *r) {
  ir_dtype dtype = result_shape(r, 0).dtype;
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, before_rounding(r, dtype), dtype));
}

/* Operands in the type that is computed in; scalars (clamp's bounds, select's predicate) spread. */
static uint32_t computed_operand(const plan_rule *r, uint32_t i, plan_shape shape) {
  uint32_t x = operand(r, i);
  x = plan_rule_convert(r, x, plan_computed_in(node_of(r, x)->shape.dtype));
  const plan_node *n = node_of(r, x);
  if (n->shape.rank > 0 || shape.rank == 0) return x;
  return plan_rule_splat(r, x, with_dtype(shape, n->shape.dtype));
}

void plan_lower_elementwise(const plan_rule *r) {
  ir_kind kind = ir_kind_of(r->m, r->op);
  uint32_t n = n_operands(r), *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  plan_shape shape = result_shape(r, 0), inside = with_dtype(shape, plan_computed_in(shape.dtype));
  uint64_t signature = ir_op_get(r->m, r->op)->n_attrs ? plan_attrs_hash(r->m, r->op) : 0;
  for (uint32_t i = 0; i < n; i++) operands[i] = computed_operand(r, i, shape);
  uint32_t made = plan_rule_elementwise(r, kind, inside, operands, n, signature);
  plan_bind(r->l, r->op, 0, plan_rule_convert(r, made, shape.dtype));
}

/* ---- data movement ---- */
void plan_lower_broadcast_in_dim(const plan_rule *r) {
  const int64_t *dims = ir_op_list(r->m, r->op, "broadcast_dimensions").at;
  plan_bind(r->l, r->op, 0, plan_rule_broadcast(r, operand(r, 0), result_shape(r, 0), dims));
}

/* New dimensions in front. */
void plan_lower_broadcast(const plan_rule *r) {
  uint32_t x = operand(r, 0);
  int64_t shifted[IR_MAX_RANK];
  plan_shape shape = result_shape(r, 0);
  int32_t rank = node_of(r, x)->shape.rank;
  for (int32_t d = 0; d < rank; d++) shifted[d] = shape.rank - rank + d;
  plan_bind(r->l, r->op, 0, plan_rule_broadcast(r, x, shape, shifted));
}

void plan_lower_reshape(const plan_rule *r) {
  plan_bind(r->l, r->op, 0, plan_rule_bitcast(r, operand(r, 0), result_shape(r, 0)));
}

void plan_lower_concatenate(const plan_rule *r) {
  uint32_t made = plan_rule_generic_wide(r, IR_OP_CONCATENATE);
  int64_t dim = ir_op_int(r->m, r->op, "dimension", 0);
  plan_node *n = plan_node_get(r->g, made);
  if (n->kind == IR_OP_CONCATENATE && !n->ints)
    n->ints = ARENA_COPY(r->g->arena, int64_t, &dim, 1), n->n_ints = 1;
  plan_rule_bind(r, made);
}

void plan_lower_update(const plan_rule *r) {
  plan_bind(r->l, r->op, 0, plan_rule_generic(r, IR_OP_DYNAMIC_UPDATE_SLICE));
}

void plan_lower_pad(const plan_rule *r) {
  uint32_t x = operand(r, 0);
  plan_shape shape = result_shape(r, 0);
  static const char *const names[] = {"edge_padding_low", "edge_padding_high"};
  bool none = plan_same_dims(&node_of(r, x)->shape, &shape);
  for (int k = 0; k < 2; k++) none &= ir_ints_all(ir_op_list(r->m, r->op, names[k]), 0);
  if (none) plan_bind(r->l, r->op, 0, x);
  else plan_rule_bind(r, plan_rule_generic_wide(r, IR_OP_PAD));
}

/* ---- weir.loop: what split/ lowers it to ---- */
static uint32_t counter(const plan_rule *r) { return plan_rule_number(r, IR_I64, 0); }

static uint32_t slice_of(const plan_rule *r, uint32_t x, plan_shape shape, uint32_t start) {
  uint32_t zero = plan_rule_number(r, IR_I64, 0), operands[IR_MAX_RANK + 1] = {x};
  for (int32_t d = 0; d < shape.rank; d++) operands[d + 1] = zero;
  if (shape.rank) operands[1] = start; /* which dimension it is makes no difference to memory */
  return plan_rule_node(r, IR_OP_DYNAMIC_SLICE, shape, operands, (uint32_t)shape.rank + 1, 0);
}

static uint32_t update_of(const plan_rule *r, uint32_t x, uint32_t slice, uint32_t start) {
  plan_shape shape = node_of(r, x)->shape;
  uint32_t zero = plan_rule_number(r, IR_I64, 0), operands[IR_MAX_RANK + 2] = {x, slice};
  for (int32_t d = 0; d < shape.rank; d++) operands[d + 2] = zero;
  if (shape.rank) operands[2] = start;
  return plan_rule_node(r, IR_OP_DYNAMIC_UPDATE_SLICE, shape, operands, (uint32_t)shape.rank + 2,
                        0);
}

/* The slice of an input that is written over (split/lower.c): kept, the last one from before. */
static uint32_t slice_of_state(const plan_rule *r, const plan_loop *w, uint32_t state, uint32_t i,
                               plan_shape shape, uint32_t start) {
  uint32_t slice = slice_of(r, state, shape, start);
  if (w->of.extent % w->of.slice) {
    plan_rule outside = *r;
    outside.s = r->s->outer;
    uint32_t last = slice_of(&outside, operand(&outside, i), shape, counter(&outside));
    plan_node_get(r->g, last)->flags |= PLAN_FLAG_HELD;
    uint32_t operands[] = {plan_loop_more(r->l, r->s, r->op, start), plan_import(r->l, r->s, last),
                           slice};
    slice = plan_rule_elementwise(r, IR_OP_SELECT, shape, operands, 3, 0);
  }
  plan_node_get(r->g, slice)->flags |= PLAN_FLAG_HELD;
  return slice;
}

void plan_loop_inputs(lowering *l, plan_scope *s, ir_op op, const plan_loop *w, uint32_t start,
                      const uint32_t *instead) {
  plan_rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  const ir_block_data *body = ir_block_get(r.m, w->body);
  l->map[body->args.at[0]] = l->map[body->args.at[1]] = start;
  for (uint32_t i = 0; i < w->of.n_inputs; i++) {
    ir_value arg = body->args.at[i + 2];
    plan_shape shape = shape_of(&r, arg);
    l->map[arg] = instead[i]             ? slice_of_state(&r, w, instead[i], i, shape, start)
                  : w->of.in_dims[i] < 0 ? operand(&r, i)
                                         : slice_of(&r, operand(&r, i), shape, start);
    if (w->of.in_dims[i] >= 0) plan_node_get(r.g, l->map[arg])->value = arg;
  }
}

uint32_t plan_loop_counter(lowering *l, plan_scope *s, ir_op op) {
  return counter(&(plan_rule){l, s, l->g, (ir_module *)l->g->m, op});
}

uint32_t plan_loop_next(lowering *l, plan_scope *s, ir_op op, uint32_t t) {
  plan_rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  return plan_rule_make2(&r, IR_OP_ADD, scalar_shape(IR_I64), t, plan_rule_number(&r, IR_I64, 1));
}

uint32_t plan_loop_more(lowering *l, plan_scope *s, ir_op op, uint32_t t) {
  plan_rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  return plan_rule_make2(&r, IR_OP_COMPARE, scalar_shape(IR_I1), t,
                         plan_rule_number(&r, IR_I64, 2));
}

uint32_t plan_loop_update(lowering *l, plan_scope *s, ir_op op, uint32_t x, uint32_t slice,
                          uint32_t start) {
  return update_of(&(plan_rule){l, s, l->g, (ir_module *)l->g->m, op}, x, slice, start);
}

uint32_t plan_loop_zeros(lowering *l, plan_scope *s, ir_op op, uint32_t result) {
  plan_rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  plan_shape shape = result_shape(&r, result);
  return plan_rule_splat(&r, plan_rule_number(&r, shape.dtype, 0), shape);
}

/* ---- what has no better rule ---- */
void plan_lower_own(const plan_rule *r) {
  ir_kind kind = ir_kind_of(r->m, r->op);
  bool moves = ir_kind_flags(kind) & IR_FLAG_M;
  plan_rule_bind(r, moves ? plan_rule_generic_wide(r, kind) : plan_rule_generic(r, kind));
}

void plan_lower_opaque(const plan_rule *r) { plan_rule_bind(r, plan_rule_generic(r, PLAN_OPAQUE)); }

/* The value as it is in memory: what makes it is not made by who reads it here, nor again. */
static uint32_t held(const plan_rule *r, uint32_t x) {
  return plan_rule_make(r, (plan_node){.kind = PLAN_BITCAST,
                                       .flags = PLAN_FLAG_HELD,
                                       .shape = node_of(r, x)->shape,
                                       .n_operands = 1,
                                       .operands = &x,
                                       .signature = hash_mix_wide(r->op, 3)});
}

/* Several values are all there at once, in a tuple. */
static void hold_together(const plan_rule *r, uint32_t n) {
  uint32_t all = plan_rule_generic(r, IR_OP_TUPLE);
  for (uint32_t i = 0; i < n; i++)
    plan_bind(r->l, r->op, i,
              plan_rule_make(r, (plan_node){.kind = IR_OP_GET_TUPLE_ELEMENT,
                                            .shape = result_shape(r, i),
                                            .index = i,
                                            .n_operands = 1,
                                            .operands = &all}));
}

void plan_lower_pass_through(const plan_rule *r) {
  for (uint32_t i = 0; i < ir_op_get(r->m, r->op)->n_results && i < n_operands(r); i++)
    plan_bind(r->l, r->op, i, operand(r, i));
}

/* Devices' XLA drops barriers once it has fused, a CPU's before. */
void plan_lower_barrier(const plan_rule *r) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  if (!r->g->memory || n != n_operands(r)) plan_lower_pass_through(r);
  else if (n == 1) plan_bind(r->l, r->op, 0, held(r, operand(r, 0)));
  else hold_together(r, n);
}

/* Transposed, a product of two matrices is the product of the transposed ones the other way
 * round. */
static bool swap_dot(const plan_rule *r, const int64_t *perm) {
  uint32_t x = operand(r, 0);
  plan_node n = *node_of(r, x), swap = {.kind = IR_OP_TRANSPOSE, .shape = n.shape, .ints = perm};
  if (n.kind != IR_OP_DOT_GENERAL || r->l->uses[ir_operand(r->m, r->op, 0)] != 1 ||
      !swaps_matrices(&swap))
    return false;
  n.shape = result_shape(r, 0);
  uint32_t swapped[2] = {n.operands[1], n.operands[0]};
  n.operands = swapped;
  n.folded = true;
  n.stands =
      (uint8_t)((~n.stands & 5) << 1 | (~n.stands & 10) >> 1 | (~n.stands & PLAN_DOT_SWAPPED));
  plan_bind(r->l, r->op, 0, plan_rule_make(r, n));
  return true;
}

void plan_lower_transpose(const plan_rule *r) {
  const int64_t *perm = ir_op_list(r->m, r->op, "permutation").at;
  if (!swap_dot(r, perm)) plan_bind(r->l, r->op, 0, plan_rule_transpose(r, operand(r, 0), perm));
}

void plan_lower_tuple(const plan_rule *r) {
  plan_bind(r->l, r->op, 0, plan_rule_generic(r, IR_OP_TUPLE));
}

void plan_lower_get_tuple_element(const plan_rule *r) {
  uint32_t index = (uint32_t)ir_op_int(r->m, r->op, "index", 0);
  plan_bind(r->l, r->op, 0, plan_element(r->l, r->s, operand(r, 0), index));
}

/* ---- all ops ---- */
void plan_lower_plain(lowering *l, plan_scope *s, ir_op op) {
  static void (*const rules[IR_OP_COUNT])(const plan_rule *) = {
      [IR_OP_UNKNOWN] = plan_lower_opaque,
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = plan_lower_##plan,
#include "ir/ops.def"
#undef OP
  };
  plan_rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  if (ir_op_get(r.m, op)->n_results || ir_has_effects(r.m, op)) rules[ir_kind_of(r.m, op)](&r);
}
