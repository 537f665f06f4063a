/* IR op -> nodes: one rule per op that XLA CPU does not take as it is. Everything else becomes one node of its own kind.
 *
 * A rule follows what XLA's simplifier, expanders and canonicalisers do to the op where that changes which buffers there are: splat constants are broadcasts,
 * reshapes are bitcasts, large reductions become trees of reduce_windows, dots take two matrices (or batches of them) in row-major order, 16-bit floats
 * are computed in f32. Sources: XLA's algebraic_simplifier, dot_decomposer, tree_reduction_rewriter, transpose_folding, change_op_data_type; each
 * was checked against the optimized HLO of jaxlib 0.10.2 (docs/design/peak-estimate.md).
 */
#include <math.h>
#include <stdlib.h>

#include "ir/attrs.h"
#include "ir/floats.h"
#include "plan/peak_lower.h"

enum { REDUCE_WINDOW_SIZE = 32 }; /* XLA's TreeReductionRewriter: longer reductions become trees */

typedef struct rule { /* what every rule is given */
  lowering *l;
  plan_scope *s;
  plan_graph *g;
  ir_module *m;
  ir_op op;
} rule;

/* ---- making nodes ---- */
static plan_shape shape_of(const rule *r, ir_value v) { return plan_shape_of_type(r->g->arena, r->m, ir_type_of(r->m, v)); }
static plan_shape result_shape(const rule *r, uint32_t i) { return shape_of(r, ir_result(r->m, r->op, i)); }
static uint32_t operand(const rule *r, uint32_t i) { return plan_node_of(r->l, r->s, ir_operand(r->m, r->op, i)); }
static const plan_node *node_of(const rule *r, uint32_t n) { return plan_node_get(r->g, n); }
static uint32_t n_operands(const rule *r) { return ir_op_get(r->m, r->op)->n_operands; }

static uint32_t make(const rule *r, plan_node n) {
  n.op = r->op;
  if (ir_op_get(r->m, r->op)->n_results) n.value = ir_result(r->m, r->op, 0);
  return plan_make(r->l, r->s, &n);
}

static uint32_t make1(const rule *r, int kind, plan_shape shape, uint32_t x) {
  return make(r, (plan_node){.kind = (uint16_t)kind, .shape = shape, .n_operands = 1, .operands = &x});
}

static uint32_t make2(const rule *r, int kind, plan_shape shape, uint32_t x, uint32_t y) {
  return make(r, (plan_node){.kind = (uint16_t)kind, .shape = shape, .n_operands = 2, .operands = (uint32_t[]){x, y}});
}

static plan_shape with_dtype(plan_shape s, ir_dtype dtype) {
  s.dtype = dtype;
  if (__builtin_mul_overflow(s.elements, ir_dtype_bytes(dtype), &s.bytes)) s.bytes = INT64_MAX;
  return s;
}

static plan_shape scalar_shape(ir_dtype dtype) {
  static const int64_t none;
  return with_dtype((plan_shape){.elements = 1, .dims = &none}, dtype);
}

static uint32_t make_number(const rule *r, ir_dtype dtype, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return make(r, (plan_node){.kind = IR_OP_CONSTANT, .shape = scalar_shape(dtype), .number = x, .signature = bits});
}

static uint32_t bitcast(const rule *r, uint32_t x, plan_shape shape) {
  const plan_node *n = node_of(r, x);
  shape.dtype = n->shape.dtype;
  shape.bytes = n->shape.bytes;
  if (plan_same_dims(&n->shape, &shape)) return x;
  if (n->kind == PLAN_BITCAST) return bitcast(r, n->operands[0], shape);
  return make1(r, PLAN_BITCAST, shape, x);
}

static uint32_t broadcast(const rule *r, uint32_t x, plan_shape shape, const int64_t *dims) {
  plan_node n = *node_of(r, x);
  if (n.shape.elements == shape.elements) return bitcast(r, x, shape);
  int64_t kept[IR_MAX_RANK], sizes[IR_MAX_RANK];
  int32_t n_kept = 0;
  for (int32_t d = 0; d < n.shape.rank; d++) /* the dims that really spread are dropped first */
    if (n.shape.dims[d] == shape.dims[dims[d]]) kept[n_kept] = dims[d], sizes[n_kept++] = n.shape.dims[d];
  if (n_kept < n.shape.rank) x = bitcast(r, x, plan_shape_make(r->g->arena, n.shape.dtype, n_kept, sizes));
  n = *node_of(r, x);
  if (n.kind == IR_OP_BROADCAST_IN_DIM) { /* of a broadcast */
    for (uint32_t d = 0; d < n.n_ints; d++) sizes[d] = kept[n.ints[d]];
    return broadcast(r, n.operands[0], shape, sizes);
  }
  shape = with_dtype(shape, n.shape.dtype);
  return make(r, (plan_node){.kind = IR_OP_BROADCAST_IN_DIM, .shape = shape, .n_operands = 1, .operands = &x,
                             .ints = ARENA_COPY(r->g->arena, int64_t, kept, (size_t)n_kept), .n_ints = (uint32_t)n_kept});
}

static uint32_t splat(const rule *r, uint32_t scalar, plan_shape shape) { return shape.rank == 0 ? scalar : broadcast(r, scalar, shape, NULL); }

static uint32_t convert(const rule *r, uint32_t x, ir_dtype dtype) {
  plan_node n = *node_of(r, x);
  if (n.shape.dtype == dtype) return x;
  if (n.kind == IR_OP_CONSTANT && n.shape.elements == 1 && !isnan(n.number)) return make_number(r, dtype, n.number);
  if (n.kind == IR_OP_BROADCAST_IN_DIM && node_of(r, n.operands[0])->kind == IR_OP_CONSTANT)
    return splat(r, convert(r, n.operands[0], dtype), n.shape);
  uint32_t made = make1(r, IR_OP_CONVERT, with_dtype(n.shape, dtype), x);
  if (dtype == IR_BF16 && n.shape.dtype == IR_F32) plan_node_get(r->g, made)->flags |= PLAN_FLAG_EXPENSIVE;
  return made;
}

static uint32_t transpose(const rule *r, uint32_t x, const int64_t *perm) {
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
  if (!moves) return bitcast(r, x, shape);
  if (n.kind == IR_OP_BROADCAST_IN_DIM) {
    int64_t to[IR_MAX_RANK];
    for (uint32_t i = 0; i < n.n_ints; i++)
      for (int32_t d = 0; d < n.shape.rank; d++)
        if (perm[d] == n.ints[i]) to[i] = d;
    return broadcast(r, n.operands[0], shape, to);
  }
  if (n.kind == IR_OP_TRANSPOSE) {
    int64_t both[IR_MAX_RANK];
    for (int32_t d = 0; d < n.shape.rank; d++) both[d] = n.ints[perm[d]];
    return transpose(r, n.operands[0], both);
  }
  return make(r, (plan_node){.kind = IR_OP_TRANSPOSE, .shape = shape, .n_operands = 1, .operands = &x,
                             .ints = ARENA_COPY(r->g->arena, int64_t, perm, (size_t)n.shape.rank), .n_ints = (uint32_t)n.shape.rank});
}

/* ---- constants ---- */
static double element_value(const ir_module *m, const ir_attr_data *a) {
  ir_dtype t = ir_type_get(m, a->type)->dtype;
  uint64_t bits = 0;
  memcpy(&bits, a->data, (size_t)(ir_dtype_bytes(t) < 8 ? ir_dtype_bytes(t) : 8));
  switch (ir_dtype_class_of(t)) {
    case IR_CLASS_FLOAT: return ir_float_value(t, bits);
    case IR_CLASS_INT: case IR_CLASS_UINT: case IR_CLASS_BOOL: return bits < (1u << 30) ? (double)bits : NAN;
    default: return NAN;
  }
}

static uint32_t lower_constant(const rule *r) {
  ir_attr attr = ir_op_attr(r->m, r->op, "value");
  plan_shape shape = result_shape(r, 0);
  const ir_attr_data *a = attr ? ir_attr_get(r->m, attr) : NULL;
  if (!a || a->kind != IR_ATTR_DENSE || (!a->splat && shape.elements != 1))
    return make(r, (plan_node){.kind = IR_OP_CONSTANT, .shape = shape, .number = NAN, .signature = plan_attrs_hash(r->m, r->op)});
  double x = element_value(r->m, a);
  uint32_t scalar = isnan(x) ? make(r, (plan_node){.kind = IR_OP_CONSTANT, .shape = scalar_shape(shape.dtype), .number = NAN, .signature = plan_attrs_hash(r->m, r->op)})
                             : make_number(r, shape.dtype, x);
  return splat(r, scalar, shape);
}

/* The number that a value is everywhere, NAN if there is none. */
static double number_of(const rule *r, uint32_t x) {
  const plan_node *n = node_of(r, x);
  if (n->kind == IR_OP_BROADCAST_IN_DIM) n = node_of(r, n->operands[0]);
  return n->kind == IR_OP_CONSTANT && n->shape.elements == 1 ? n->number : NAN;
}

static bool is_splat_constant(const rule *r, uint32_t x) {
  const plan_node *n = node_of(r, x);
  if (n->kind == IR_OP_BROADCAST_IN_DIM) n = node_of(r, n->operands[0]);
  return n->kind == IR_OP_CONSTANT && n->shape.elements == 1;
}

/* ---- elementwise ---- */
static bool is_expensive_kind(const plan_graph *g, const plan_node *n) {
  bool is_complex = ir_dtype_class_of(n->shape.dtype) == IR_CLASS_COMPLEX;
  switch (n->kind) {
    case IR_OP_ABS: case IR_OP_SIGN: case IR_OP_SINE: case IR_OP_COSINE: case IR_OP_TAN: return is_complex;
    case IR_OP_DIVIDE: case IR_OP_REMAINDER: {
      const plan_node *x = plan_node_get(g, n->operands[0]);
      if (x->kind == IR_OP_BROADCAST_IN_DIM) x = plan_node_get(g, x->operands[0]);
      ir_dtype_class c = ir_dtype_class_of(n->shape.dtype);
      return (c != IR_CLASS_INT && c != IR_CLASS_UINT) || !(x->kind == IR_OP_CONSTANT && x->shape.elements == 1);
    }
    case IR_OP_ATAN2: case IR_OP_CBRT: case IR_OP_EXPONENTIAL: case IR_OP_EXPM1: case IR_OP_LOG: case IR_OP_LOG1P: case IR_OP_LOGISTIC:
    case IR_OP_POWER: case IR_OP_RSQRT: case IR_OP_SQRT: case IR_OP_TANH:
      return true;
    default: return (ir_kind_flags((ir_kind)n->kind) & IR_FLAG_H) && n->kind >= IR_OP_CHLO_ACOS;
  }
}

static uint32_t make_elementwise(const rule *r, int kind, plan_shape shape, const uint32_t *operands, uint32_t count, uint64_t signature) {
  plan_node n = {.kind = (uint16_t)kind, .shape = shape, .n_operands = count, .operands = (uint32_t *)operands, .signature = signature};
  if (is_expensive_kind(r->g, &n)) n.flags |= PLAN_FLAG_EXPENSIVE;
  return make(r, n);
}

/* All operands are broadcasts of one value in one way, or of scalar constants: the op is done before the broadcast. */
static bool sink_broadcast(const rule *r, int kind, plan_shape shape, const uint32_t *operands, uint32_t count, uint64_t signature, uint32_t *out) {
  uint32_t source = 0, inner[8];
  if (count > 8 || shape.rank == 0) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (is_splat_constant(r, operands[i])) continue;
    const plan_node *n = node_of(r, operands[i]);
    if (n->kind != IR_OP_BROADCAST_IN_DIM || !plan_same_dims(&n->shape, &shape)) return false;
    const plan_node *s = source ? node_of(r, source) : n;
    if (n->operands[0] != s->operands[0] || n->n_ints != s->n_ints || memcmp(n->ints, s->ints, n->n_ints * sizeof *n->ints) != 0) return false;
    source = operands[i];
  }
  if (!source) return false;
  plan_node s = *node_of(r, source);
  plan_shape small = node_of(r, s.operands[0])->shape;
  for (uint32_t i = 0; i < count; i++) {
    const plan_node *n = node_of(r, operands[i]);
    if (!is_splat_constant(r, operands[i])) inner[i] = s.operands[0];
    else inner[i] = n->kind == IR_OP_CONSTANT ? operands[i] : splat(r, n->operands[0], with_dtype(small, n->shape.dtype));
  }
  uint32_t done = make_elementwise(r, kind, with_dtype(small, shape.dtype), inner, count, signature);
  *out = broadcast(r, done, shape, s.ints);
  return true;
}

static uint32_t elementwise(const rule *r, int kind, plan_shape shape, const uint32_t *operands, uint32_t count, uint64_t signature);

static uint32_t divide(const rule *r, plan_shape shape, uint32_t x, uint32_t y) {
  double by = number_of(r, y);
  bool is_float = ir_dtype_class_of(shape.dtype) == IR_CLASS_FLOAT;
  if (is_float && by != 0 && !isnan(by)) {
    uint32_t inverse = splat(r, make_number(r, shape.dtype, 1 / by), shape);
    return elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){x, inverse}, 2, 0);
  }
  plan_node n = *node_of(r, y);
  if (is_float && n.kind == IR_OP_BROADCAST_IN_DIM && !is_splat_constant(r, y) && !is_splat_constant(r, x)) {
    plan_shape small = node_of(r, n.operands[0])->shape;
    uint32_t one = splat(r, make_number(r, shape.dtype, 1), small);
    uint32_t inverse = make_elementwise(r, IR_OP_DIVIDE, small, (uint32_t[]){one, n.operands[0]}, 2, 0);
    return elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){x, broadcast(r, inverse, shape, n.ints)}, 2, 0);
  }
  return make_elementwise(r, IR_OP_DIVIDE, shape, (uint32_t[]){x, y}, 2, 0);
}

/* x where one operand is the op's neutral element; 0 if it is none. */
static uint32_t neutral(const rule *r, int kind, ir_dtype dtype, uint32_t x, uint32_t y) {
  double a = number_of(r, x), b = number_of(r, y);
  bool real = ir_dtype_class_of(dtype) == IR_CLASS_FLOAT;
  switch (kind) {
    case IR_OP_ADD: return a == 0 ? y : b == 0 ? x : 0;
    case IR_OP_SUBTRACT: return b == 0 ? x : 0;
    case IR_OP_MULTIPLY: return a == 1 ? y : b == 1 ? x : 0;
    case IR_OP_MAXIMUM: return real && a == -INFINITY ? y : real && b == -INFINITY ? x : 0;
    case IR_OP_MINIMUM: return real && a == INFINITY ? y : real && b == INFINITY ? x : 0;
    default: return 0;
  }
}

static uint32_t elementwise(const rule *r, int kind, plan_shape shape, const uint32_t *operands, uint32_t count, uint64_t signature) {
  if (count == 2) {
    uint32_t same = neutral(r, kind, shape.dtype, operands[0], operands[1]);
    if (same && plan_same_dims(&node_of(r, same)->shape, &shape)) return same;
    if (kind == IR_OP_POWER && number_of(r, operands[1]) == 2) return elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){operands[0], operands[0]}, 2, 0);
    if (kind == IR_OP_POWER && number_of(r, operands[1]) == 1) return operands[0];
  }
  uint32_t sunk;
  if (sink_broadcast(r, kind, shape, operands, count, signature, &sunk)) return sunk;
  if (kind == IR_OP_DIVIDE) return divide(r, shape, operands[0], operands[1]);
  return make_elementwise(r, kind, shape, operands, count, signature);
}

/* XLA CPU has no arithmetic on bf16 and f8: f32 (f16) in between. */
static ir_dtype computed_in(ir_dtype t) {
  if (t == IR_BF16) return IR_F32;
  return t >= IR_F4E2M1FN && t <= IR_F8E8M0FNU ? IR_F16 : t;
}

static uint32_t lower_elementwise(const rule *r) {
  ir_kind kind = ir_kind_of(r->m, r->op);
  uint32_t n = n_operands(r), *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  plan_shape shape = result_shape(r, 0);
  uint64_t signature = ir_op_get(r->m, r->op)->n_attrs ? plan_attrs_hash(r->m, r->op) : 0;
  for (uint32_t i = 0; i < n; i++) operands[i] = operand(r, i);
  if (kind == IR_OP_CONVERT) return convert(r, operands[0], shape.dtype);
  if (kind == IR_OP_CHLO_SQUARE) return elementwise(r, IR_OP_MULTIPLY, shape, (uint32_t[]){operands[0], operands[0]}, 2, 0);
  bool moves_bits = kind == IR_OP_SELECT || kind == IR_OP_NEGATE || kind == IR_OP_ABS || kind == IR_OP_REDUCE_PRECISION;
  ir_dtype inside = moves_bits ? shape.dtype : computed_in(shape.dtype);
  for (uint32_t i = 0; i < n && !moves_bits; i++) {
    ir_dtype t = computed_in(node_of(r, operands[i])->shape.dtype);
    operands[i] = convert(r, operands[i], t);
  }
  for (uint32_t i = 0; i < n; i++) /* clamp's bounds, select's predicate */
    if (node_of(r, operands[i])->shape.rank == 0 && shape.rank > 0) operands[i] = splat(r, operands[i], with_dtype(shape, node_of(r, operands[i])->shape.dtype));
  return convert(r, elementwise(r, kind, with_dtype(shape, inside), operands, n, signature), shape.dtype);
}

/* ---- reductions ---- */
static bool lists(const int64_t *dims, int32_t count, int64_t d) {
  for (int32_t i = 0; i < count; i++)
    if (dims[i] == d) return true;
  return false;
}

/* One step of the tree: windows of 32 along every reduced dimension. */
static uint32_t reduce_windows(const rule *r, uint32_t x, uint32_t init, const int64_t *dims, int32_t count, uint64_t signature) {
  plan_node n = *node_of(r, x);
  int64_t sizes[IR_MAX_RANK];
  for (int32_t d = 0; d < n.shape.rank; d++) {
    sizes[d] = n.shape.dims[d];
    if (lists(dims, count, d)) sizes[d] = (sizes[d] + REDUCE_WINDOW_SIZE - 1) / REDUCE_WINDOW_SIZE;
  }
  return make(r, (plan_node){.kind = IR_OP_REDUCE_WINDOW, .shape = plan_shape_make(r->g->arena, n.shape.dtype, n.shape.rank, sizes), .n_operands = 2,
                             .operands = (uint32_t[]){x, init}, .signature = signature, .flags = PLAN_FLAG_EXPENSIVE});
}

static uint64_t reducer_hash(const rule *r) {
  ir_block body = ir_op_get(r->m, r->op)->regions[0];
  ir_kind k = body ? ir_reducer_kind(r->m, body) : IR_OP_UNKNOWN;
  return k == IR_OP_UNKNOWN ? plan_mix(body, 1) : (uint64_t)k;
}

static uint32_t reduce_one(const rule *r, uint32_t x, uint32_t init, const int64_t *dims, int32_t count, plan_shape shape, uint64_t signature) {
  plan_node n = *node_of(r, x);
  if (n.shape.elements == shape.elements) return bitcast(r, x, shape);
  if (n.kind == IR_OP_TRANSPOSE) { /* the order of what is reduced does not matter, if that of the rest stays */
    int64_t inner[IR_MAX_RANK], last = -1;
    bool ordered = true;
    for (int32_t i = 0; i < count; i++) inner[i] = n.ints[dims[i]];
    for (int32_t d = 0; d < n.shape.rank; d++) {
      if (lists(dims, count, d)) continue;
      ordered &= n.ints[d] > last;
      last = n.ints[d];
    }
    if (ordered) return reduce_one(r, n.operands[0], init, inner, count, shape, signature);
  }
  for (;;) {
    bool large = false;
    for (int32_t i = 0; i < count; i++) large |= node_of(r, x)->shape.dims[dims[i]] > REDUCE_WINDOW_SIZE;
    if (!large) break;
    x = reduce_windows(r, x, init, dims, count, signature);
  }
  return make(r, (plan_node){.kind = IR_OP_REDUCE, .shape = shape, .n_operands = 2, .operands = (uint32_t[]){x, init}, .signature = signature,
                             .flags = PLAN_FLAG_EXPENSIVE, .ints = ARENA_COPY(r->g->arena, int64_t, dims, (size_t)count), .n_ints = (uint32_t)count});
}

static plan_shape results_tuple(const rule *r) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  plan_shape *shapes = ARENA_ARRAY(r->g->arena, plan_shape, n);
  for (uint32_t i = 0; i < n; i++) shapes[i] = result_shape(r, i);
  return plan_shape_tuple(r->g->arena, shapes, n);
}

static void bind_results(const rule *r, uint32_t node) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  if (n == 1 && !node_of(r, node)->shape.is_tuple) plan_bind(r->l, r->op, 0, node);
  else
    for (uint32_t i = 0; i < n; i++) plan_bind(r->l, r->op, i, plan_element(r->l, r->s, node, i));
}

/* One node with the op's operands and results. */
static uint32_t generic(const rule *r, int kind, uint8_t flags) {
  uint32_t n = n_operands(r), *operands = ARENA_ARRAY(r->g->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) operands[i] = operand(r, i);
  bool single = ir_op_get(r->m, r->op)->n_results == 1;
  uint64_t signature = plan_attrs_hash(r->m, r->op);
  if (ir_op_get(r->m, r->op)->n_regions) signature = plan_mix(signature, r->op); /* regions are not compared */
  return make(r, (plan_node){.kind = (uint16_t)kind, .shape = single ? result_shape(r, 0) : results_tuple(r), .n_operands = n, .operands = operands,
                             .signature = signature, .flags = flags});
}

static void lower_reduce(const rule *r) {
  int32_t count;
  const int64_t *dims = ir_op_ints(r->m, r->op, "dimensions", &count);
  if (n_operands(r) != 2 || count < 0) {
    bind_results(r, generic(r, IR_OP_REDUCE, PLAN_FLAG_EXPENSIVE));
    return;
  }
  plan_shape shape = result_shape(r, 0);
  ir_dtype inside = computed_in(shape.dtype);
  uint32_t x = convert(r, operand(r, 0), inside), init = convert(r, operand(r, 1), inside);
  plan_bind(r->l, r->op, 0, convert(r, reduce_one(r, x, init, dims, count, with_dtype(shape, inside), reducer_hash(r)), shape.dtype));
}

/* ---- dots ---- */
typedef struct dot_side { /* an operand as the dot wants it: batch, then rows and columns in either order */
  uint32_t node;
  int64_t batch, free, contract;
} dot_side;

static int64_t product_of(const plan_shape *s, const int64_t *dims, int32_t count) {
  int64_t p = 1;
  for (int32_t i = 0; i < count; i++)
    if (__builtin_mul_overflow(p, s->dims[dims[i]], &p)) p = INT64_MAX;
  return p;
}

static int32_t free_dims(const plan_shape *s, ir_ints batch, ir_ints contract, int64_t *out) {
  int32_t n = 0;
  for (int32_t d = 0; d < s->rank; d++)
    if (!lists(batch.at, batch.count, d) && !lists(contract.at, contract.count, d)) out[n++] = d;
  return n;
}

static int32_t append(int64_t *to, int32_t at, const int64_t *from, int32_t count) {
  memcpy(to + at, from, (size_t)count * sizeof *to);
  return at + count;
}

static bool is_identity(const int64_t *perm, const plan_shape *s) { /* dims of length 1 may stand anywhere */
  int64_t last = -1;
  for (int32_t d = 0; d < s->rank; d++) {
    if (s->dims[perm[d]] == 1) continue;
    if (perm[d] < last) return false;
    last = perm[d];
  }
  return true;
}

/* A transpose of the operand that only swaps rows and columns is the dot's own business. */
static uint32_t look_through(const rule *r, uint32_t x, ir_ints *batch, ir_ints *contract) {
  plan_node n = *node_of(r, x);
  if (n.kind != IR_OP_TRANSPOSE || n.shape.rank - batch->count != 2 || contract->count != 1) return x;
  int64_t *mapped = ARENA_ARRAY(r->g->arena, int64_t, (size_t)batch->count + 1);
  for (int32_t i = 0; i < batch->count; i++) {
    mapped[i] = n.ints[batch->at[i]];
    if (mapped[i] != i) return x;
  }
  mapped[batch->count] = n.ints[contract->at[0]];
  *batch = (ir_ints){batch->count, mapped};
  *contract = (ir_ints){1, mapped + batch->count};
  return n.operands[0];
}

static dot_side dot_operand(const rule *r, uint32_t x, ir_ints batch, ir_ints contract, bool contract_last) {
  x = look_through(r, x, &batch, &contract);
  plan_shape s = node_of(r, x)->shape;
  int64_t rest[IR_MAX_RANK], perm[IR_MAX_RANK], swapped[IR_MAX_RANK];
  int32_t n_rest = free_dims(&s, batch, contract, rest), n = append(perm, 0, batch.at, batch.count);
  append(swapped, 0, batch.at, batch.count);
  n = append(perm, n, contract_last ? rest : contract.at, contract_last ? n_rest : contract.count);
  append(perm, n, contract_last ? contract.at : rest, contract_last ? contract.count : n_rest);
  n = append(swapped, batch.count, contract_last ? contract.at : rest, contract_last ? contract.count : n_rest);
  append(swapped, n, contract_last ? rest : contract.at, contract_last ? n_rest : contract.count);
  dot_side side = {.batch = product_of(&s, batch.at, batch.count), .free = product_of(&s, rest, n_rest), .contract = product_of(&s, contract.at, contract.count)};
  bool folds = is_identity(swapped, &s) && (n_rest <= 1 && contract.count <= 1);
  side.node = is_identity(perm, &s) || folds ? x : transpose(r, x, perm);
  return side;
}

/* Nothing to sum over: a product of broadcasts, which fuses. */
static uint32_t outer_product(const rule *r, const dot_side *a, const dot_side *b, plan_shape shape) {
  int64_t dims[3] = {a->batch, a->free, b->free};
  plan_shape full = plan_shape_make(r->g->arena, shape.dtype, 3, dims), x = plan_shape_make(r->g->arena, shape.dtype, 2, dims);
  plan_shape y = plan_shape_make(r->g->arena, shape.dtype, 2, (int64_t[]){a->batch, b->free});
  uint32_t left = broadcast(r, bitcast(r, a->node, x), full, (int64_t[]){0, 1}), right = broadcast(r, bitcast(r, b->node, y), full, (int64_t[]){0, 2});
  return bitcast(r, elementwise(r, IR_OP_MULTIPLY, full, (uint32_t[]){left, right}, 2, 0), shape);
}

/* One row times one column, maybe in batches: a product and a sum. */
static uint32_t inner_product(const rule *r, const dot_side *a, const dot_side *b, plan_shape shape) {
  int64_t dims[2] = {a->batch, a->contract}, last = 1;
  plan_shape full = plan_shape_make(r->g->arena, shape.dtype, 2, dims);
  uint32_t zero = make_number(r, shape.dtype, 0);
  uint32_t product = elementwise(r, IR_OP_MULTIPLY, full, (uint32_t[]){bitcast(r, a->node, full), bitcast(r, b->node, full)}, 2, 0);
  return bitcast(r, reduce_one(r, product, zero, &last, 1, plan_shape_make(r->g->arena, shape.dtype, 1, dims), IR_OP_ADD), shape);
}

static void lower_dot(const rule *r) {
  ir_dot_numbers n = {0};
  plan_shape shape = result_shape(r, 0);
  static const int64_t zero_dim = 0;
  int64_t last = node_of(r, operand(r, 0))->shape.rank - 1;
  if (ir_kind_of(r->m, r->op) == IR_OP_DOT) {
    n = (ir_dot_numbers){{0, &zero_dim}, {0, &zero_dim}, {1, &last}, {1, &zero_dim}};
  } else if (!ir_dot_dims(r->g->arena, r->m, r->op, &n)) {
    bind_results(r, generic(r, PLAN_OPAQUE, 0));
    return;
  }
  ir_dtype inside = shape.dtype == IR_F16 ? IR_F32 : computed_in(shape.dtype);
  dot_side a = dot_operand(r, convert(r, operand(r, 0), inside), n.lhs_batch, n.lhs_contract, true);
  dot_side b = dot_operand(r, convert(r, operand(r, 1), inside), n.rhs_batch, n.rhs_contract, false);
  plan_shape out = with_dtype(shape, inside);
  uint32_t made;
  if (a.contract == 1) made = outer_product(r, &a, &b, out);
  else if (a.free == 1 && b.free == 1) made = inner_product(r, &a, &b, out);
  else {
    int64_t dims[3] = {a.batch, a.free, b.free};
    bool batched = n.lhs_batch.count > 0;
    plan_shape canonical = plan_shape_make(r->g->arena, inside, batched ? 3 : 2, batched ? dims : dims + 1);
    made = bitcast(r, make(r, (plan_node){.kind = IR_OP_DOT_GENERAL, .shape = canonical, .n_operands = 2, .operands = (uint32_t[]){a.node, b.node},
                                          .signature = plan_mix(plan_attrs_hash(r->m, r->op), 0), .flags = PLAN_FLAG_EXPENSIVE}), out);
  }
  plan_bind(r->l, r->op, 0, convert(r, made, shape.dtype));
}

/* ---- data movement ---- */
static void lower_broadcast(const rule *r) {
  int32_t count;
  const int64_t *dims = ir_op_ints(r->m, r->op, "broadcast_dimensions", &count);
  uint32_t x = operand(r, 0);
  int64_t shifted[IR_MAX_RANK];
  plan_shape shape = result_shape(r, 0);
  if (ir_kind_of(r->m, r->op) == IR_OP_BROADCAST) { /* new dims in front */
    int32_t rank = node_of(r, x)->shape.rank;
    for (int32_t d = 0; d < rank; d++) shifted[d] = shape.rank - rank + d;
    dims = shifted;
  }
  plan_bind(r->l, r->op, 0, broadcast(r, x, shape, dims));
}

static uint32_t reshape(const rule *r, uint32_t x, plan_shape shape) {
  const plan_node *n = node_of(r, x);
  if (n->kind == IR_OP_BROADCAST_IN_DIM && node_of(r, n->operands[0])->shape.elements == 1) {
    uint32_t scalar = bitcast(r, n->operands[0], scalar_shape(n->shape.dtype));
    return splat(r, scalar, shape);
  }
  return bitcast(r, x, shape);
}

static uint32_t lower_concatenate(const rule *r) {
  uint32_t made = generic(r, IR_OP_CONCATENATE, 0);
  int64_t dim = ir_op_int(r->m, r->op, "dimension", 0);
  plan_node *n = plan_node_get(r->g, made);
  if (n->kind == IR_OP_CONCATENATE && !n->ints) n->ints = ARENA_COPY(r->g->arena, int64_t, &dim, 1), n->n_ints = 1;
  return n_operands(r) == 1 ? operand(r, 0) : made;
}

static uint32_t lower_update(const rule *r) {
  uint32_t made = generic(r, IR_OP_DYNAMIC_UPDATE_SLICE, 0);
  plan_node_get(r->g, made)->in_place = 1;
  return made;
}

static void lower_scatter(const rule *r) {
  uint32_t made = generic(r, IR_OP_SCATTER, 0);
  plan_node_get(r->g, made)->in_place = 1;
  bind_results(r, made);
}

static uint32_t lower_pad(const rule *r) {
  uint32_t x = operand(r, 0);
  plan_shape shape = result_shape(r, 0);
  static const char *const names[] = {"edge_padding_low", "edge_padding_high"};
  bool none = plan_same_dims(&node_of(r, x)->shape, &shape);
  for (int k = 0; k < 2; k++) {
    int32_t count;
    const int64_t *at = ir_op_ints(r->m, r->op, names[k], &count);
    for (int32_t i = 0; i < count; i++) none &= at[i] == 0;
  }
  return none ? x : generic(r, IR_OP_PAD, 0);
}

/* ---- library calls ---- */
/* output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, ...>]: the first one. */
static uint32_t aliased_operand(const rule *r) {
  ir_attr attr = ir_op_attr(r->m, r->op, "output_operand_aliases");
  const ir_attr_data *a = attr ? ir_attr_get(r->m, attr) : NULL;
  for (int32_t i = 0; a && a->items && i < a->count; i++) {
    const char *text = ir_text(r->m, ir_attr_get(r->m, a->items[i])->text), *at = strstr(text, "operand_index = ");
    if (at) return 1 + (uint32_t)strtoul(at + strlen("operand_index = "), NULL, 10);
  }
  return 0;
}

static void lower_custom_call(const rule *r) {
  const char *target = ir_op_string(r->m, r->op, "call_target_name");
  bool marker = target && (!strcmp(target, "Sharding") || !strcmp(target, "annotate_device_placement") || !strncmp(target, "SPMD", 4));
  if (marker && n_operands(r) == 1) {
    plan_bind(r->l, r->op, 0, operand(r, 0));
    return;
  }
  uint32_t made = generic(r, PLAN_OPAQUE, 0);
  plan_node_get(r->g, made)->in_place = aliased_operand(r);
  bind_results(r, made);
}

/* ---- weir.loop: what split/ lowers it to ---- */
static uint32_t counter(const rule *r) { return make_number(r, IR_I64, 0); }

static uint32_t slice_of(const rule *r, uint32_t x, plan_shape shape, uint32_t start) {
  uint32_t zero = make_number(r, IR_I64, 0), operands[IR_MAX_RANK + 1] = {x};
  for (int32_t d = 0; d < shape.rank; d++) operands[d + 1] = zero;
  if (shape.rank) operands[1] = start; /* which dimension it is makes no difference to memory */
  return make(r, (plan_node){.kind = IR_OP_DYNAMIC_SLICE, .shape = shape, .n_operands = (uint32_t)shape.rank + 1, .operands = operands});
}

static uint32_t update_of(const rule *r, uint32_t x, uint32_t slice, uint32_t start) {
  plan_shape shape = node_of(r, x)->shape;
  uint32_t zero = make_number(r, IR_I64, 0), operands[IR_MAX_RANK + 2] = {x, slice};
  for (int32_t d = 0; d < shape.rank; d++) operands[d + 2] = zero;
  if (shape.rank) operands[2] = start;
  return make(r, (plan_node){.kind = IR_OP_DYNAMIC_UPDATE_SLICE, .shape = shape, .n_operands = (uint32_t)shape.rank + 2, .operands = operands, .in_place = 1});
}

void plan_loop_inputs(lowering *l, plan_scope *s, ir_op op, const plan_loop *w, uint32_t start) {
  rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  const ir_block_data *body = ir_block_get(r.m, w->body);
  l->map[body->args.at[0]] = l->map[body->args.at[1]] = start;
  for (uint32_t i = 0; i < w->n_inputs; i++) {
    ir_value arg = body->args.at[i + 2];
    uint32_t x = operand(&r, i);
    l->map[arg] = w->in_dims[i] < 0 ? x : slice_of(&r, x, shape_of(&r, arg), start);
    if (w->in_dims[i] >= 0 && w->trips > 1) plan_node_get(r.g, l->map[arg])->value = arg;
  }
}

uint32_t plan_loop_counter(lowering *l, plan_scope *s, ir_op op) { return counter(&(rule){l, s, l->g, (ir_module *)l->g->m, op}); }

uint32_t plan_loop_next(lowering *l, plan_scope *s, ir_op op, uint32_t t) {
  rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  return make2(&r, IR_OP_ADD, scalar_shape(IR_I64), t, make_number(&r, IR_I64, 1));
}

uint32_t plan_loop_more(lowering *l, plan_scope *s, ir_op op, uint32_t t) {
  rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  return make2(&r, IR_OP_COMPARE, scalar_shape(IR_I1), t, make_number(&r, IR_I64, 2));
}

uint32_t plan_loop_update(lowering *l, plan_scope *s, ir_op op, uint32_t x, uint32_t slice, uint32_t start) {
  return update_of(&(rule){l, s, l->g, (ir_module *)l->g->m, op}, x, slice, start);
}

uint32_t plan_loop_zeros(lowering *l, plan_scope *s, ir_op op, uint32_t result) {
  rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  plan_shape shape = result_shape(&r, result);
  return splat(&r, make_number(&r, shape.dtype, 0), shape);
}

/* ---- all ops ---- */
static void lower_default(const rule *r) {
  ir_kind kind = ir_kind_of(r->m, r->op);
  int flags = ir_kind_flags(kind);
  bool single = ir_op_get(r->m, r->op)->n_results == 1;
  if ((flags & IR_FLAG_E) && single) plan_bind(r->l, r->op, 0, lower_elementwise(r));
  else bind_results(r, generic(r, flags & IR_FLAG_M ? kind : PLAN_OPAQUE, 0));
}

static void pass_through(const rule *r) {
  uint32_t n = ir_op_get(r->m, r->op)->n_results;
  for (uint32_t i = 0; i < n && i < n_operands(r); i++) plan_bind(r->l, r->op, i, operand(r, i));
}

void plan_lower_plain(lowering *l, plan_scope *s, ir_op op) {
  rule r = {l, s, l->g, (ir_module *)l->g->m, op};
  int32_t count;
  if (ir_op_get(r.m, op)->n_results == 0 && !ir_has_effects(r.m, op)) return;
  switch (ir_kind_of(r.m, op)) {
    case IR_OP_CONSTANT: plan_bind(l, op, 0, lower_constant(&r)); break;
    case IR_OP_BROADCAST: case IR_OP_BROADCAST_IN_DIM: lower_broadcast(&r); break;
    case IR_OP_RESHAPE: plan_bind(l, op, 0, reshape(&r, operand(&r, 0), result_shape(&r, 0))); break;
    case IR_OP_TRANSPOSE: plan_bind(l, op, 0, transpose(&r, operand(&r, 0), ir_op_ints(r.m, op, "permutation", &count))); break;
    case IR_OP_CONCATENATE: plan_bind(l, op, 0, lower_concatenate(&r)); break;
    case IR_OP_DYNAMIC_UPDATE_SLICE: plan_bind(l, op, 0, lower_update(&r)); break;
    case IR_OP_IOTA: plan_bind(l, op, 0, generic(&r, IR_OP_IOTA, 0)); break;
    case IR_OP_PAD: plan_bind(l, op, 0, lower_pad(&r)); break;
    case IR_OP_SCATTER: lower_scatter(&r); break;
    case IR_OP_SORT: bind_results(&r, generic(&r, IR_OP_SORT, 0)); break;
    case IR_OP_REDUCE: lower_reduce(&r); break;
    case IR_OP_DOT: case IR_OP_DOT_GENERAL: lower_dot(&r); break;
    case IR_OP_CUSTOM_CALL: lower_custom_call(&r); break;
    case IR_OP_OPTIMIZATION_BARRIER: case IR_OP_SDY_SHARDING_CONSTRAINT: pass_through(&r); break;
    default: lower_default(&r);
  }
}
