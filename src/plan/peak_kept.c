#include "plan/peak_kept.h"

#include "base/ints.h"
#include "machine/cpu.h"

enum {
  SEEN_THROUGH = 4,    /* nodes between what is computed and the memory that it reads */
  SEEN_OF_SUMS = 6,    /* nodes between the sums of rows, which may be rounded, and these */
  SEEN_OF_SOFTMAX = 2, /* nodes between a softmax and what is computed from it alone */
};

/* Whether who reads `p` writes its elements elsewhere. */
static bool is_moved_by(const plan_graph *g, const plan_node *p, const plan_node *c) {
  bool is_fusion = c->kind == PLAN_FUSION;
  switch (plan_kind_at_root(g, c)) {
    case IR_OP_PAD:
    case IR_OP_SLICE:
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_CONCATENATE:
    case IR_OP_TRANSPOSE:
    case IR_OP_DYNAMIC_UPDATE_SLICE:
    case IR_OP_GATHER:
    case IR_OP_SCATTER: return true;
    /* cut or padded for it */
    case IR_OP_RESHAPE:
    case IR_OP_DOT_GENERAL: return is_fusion && c->shape.elements != p->shape.elements;
    default: return false;
  }
}

/* Whether what it is computed from, as far as that is in memory, has an array of more bytes. */
static bool reads_more_than(const plan_graph *g, uint32_t node, int64_t bytes, int32_t depth) {
  const plan_node *n = plan_node_get(g, node);
  bool ends = n->n_operands == 0 || (n->flags & PLAN_FLAG_HELD) || !plan_is_loop_fusible(n);
  if (depth == 0 && !ends && !plan_has_libraries(g)) return false;
  ends |= depth == 0;
  if (ends) return n->kind != IR_OP_CONSTANT && n->kind != IR_OP_IOTA && n->shape.bytes > bytes;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (reads_more_than(g, n->operands[i], bytes, depth - 1)) return true;
  return false;
}

/* ---- by products ---- */
/* Of what XLA:TPU does not do twice: sines anywhere, other functions where the row says so. */
static bool computes_dear(const plan_graph *g, uint32_t node, int32_t depth) {
  const plan_node *n = plan_node_get(g, node);
  if (depth == 0 || (n->flags & PLAN_FLAG_HELD) || !plan_is_loop_fusible(n)) return false;
  if (n->kind == IR_OP_SINE || n->kind == IR_OP_COSINE) return true;
  if (g->memory->keeps_for_products && (plan_traits(n->kind) & PLAN_TRAIT_D)) return true;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (computes_dear(g, n->operands[i], depth - 1)) return true;
  return false;
}

bool plan_is_kept_for_products(const plan_graph *g, uint32_t producer) {
  const plan_node *p = plan_node_get(g, producer);
  if (!g->memory->fuses_products || p->n_users < 2) return false;
  if (p->shape.dtype != IR_F32 || !plan_is_elementwise(p)) return false;
  for (uint32_t i = 0; i < p->n_users; i++)
    if (!plan_is_product(g, plan_node_get(g, p->users[i]))) return false;
  return computes_dear(g, producer, PLAN_SEEN_OF_OPERANDS);
}

/* ---- by what XLA:GPU counts ---- */
/* Of an f32 function on H100 (hlo_op_profiles_data.h). */
static int64_t cycles_of(uint16_t kind) {
  switch (kind) {
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY: return 7;
    case IR_OP_DIVIDE: return 36;
    case IR_OP_SQRT:
    case IR_OP_RSQRT: return 75;
    case IR_OP_EXPONENTIAL: return 79;
    case IR_OP_LOG: return 166;
    case IR_OP_EXPM1: return 190;
    case IR_OP_LOG1P: return 229;
    case IR_OP_TANH: return 467;
    case IR_OP_POWER: return 526;
    case IR_OP_SINE: return 958;
    case IR_OP_COSINE: return 978;
    default: return 0;
  }
}

int64_t plan_cycles(const plan_node *n) {
  return n->kind == PLAN_FUSION ? n->cycles : n->cycles + cycles_of(n->kind);
}

/* Whether the node is a sum of x by rows. */
static bool is_sum_of_rows(const plan_graph *g, const plan_node *n, uint32_t x) {
  bool is_sum = plan_kind_at_root(g, n) == IR_OP_REDUCE;
  const plan_shape *from = &plan_node_get(g, x)->shape;
  int64_t row = from->rank > 1 ? from->dims[from->rank - 1] : 0;
  return is_sum && !n->of_columns && row > 1 && !n->shape.is_tuple &&
         n->shape.elements == from->elements / row && plan_operand_index(n, x) != UINT32_MAX;
}

/* What is spread or viewed, if one alone reads it so. */
static uint32_t source_of(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  while (n->n_users == 1 && (n->kind == IR_OP_BROADCAST_IN_DIM || n->kind == PLAN_BITCAST))
    n = plan_node_get(g, node = n->operands[0]);
  return node;
}

enum { MOST_OWN = 48 };

typedef struct own { /* what is computed with a node: what nobody else reads */
  uint32_t count;
  uint32_t at[MOST_OWN];
} own;

static bool is_own(const own *o, uint32_t node) {
  for (uint32_t i = 0; i < o->count; i++)
    if (o->at[i] == node) return true;
  return false;
}

static bool is_read_by_own(const plan_node *x, const own *o) {
  for (uint32_t i = 0; i < x->n_users; i++)
    if (!is_own(o, x->users[i])) return false;
  return x->n_users > 0;
}

static int64_t own_cycles(const plan_graph *g, uint32_t node);

/* Of an operand of the k-th that nobody else reads: it is computed, too. What is spread is, if that
 * is less than a launch. */
static int64_t add_own(const plan_graph *g, own *o, uint32_t k, uint32_t operand) {
  uint32_t source = source_of(g, operand);
  const plan_node *n = plan_node_get(g, o->at[k]), *x = plan_node_get(g, source);
  if ((x->flags & PLAN_FLAG_HELD) || o->count == MOST_OWN || is_own(o, source)) return 0;
  if (x->shape.elements < n->shape.elements) {
    int64_t cycles = x->n_users == 1 ? own_cycles(g, source) : 0;
    return plan_is_short(g, cycles, n->shape.elements) ? cycles : 0;
  }
  if (!is_read_by_own(x, o)) return 0;
  o->at[o->count++] = source;
  return cycles_of(x->kind);
}

/* Cycles of the node for an element, with what it alone reads. */
static int64_t own_cycles(const plan_graph *g, uint32_t node) {
  own o = {.count = 1, .at = {node}};
  int64_t cycles = cycles_of(plan_node_get(g, node)->kind);
  for (uint32_t k = 0; k < o.count; k++) {
    const plan_node *n = plan_node_get(g, o.at[k]);
    for (uint32_t i = 0; i < n->n_operands && plan_is_elementwise(n); i++)
      cycles += add_own(g, &o, k, n->operands[i]);
  }
  return cycles;
}

/* Whether sums of its rows read it and what is as large, which is one softmax of Triton's. */
static bool is_of_softmax(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  bool has_sum = false;
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *u = plan_node_get(g, n->users[i]);
    bool is_sum = is_sum_of_rows(g, u, node) && !u->is_read_again;
    if (!is_sum && u->shape.elements != n->shape.elements) return false;
    has_sum |= is_sum;
  }
  return has_sum;
}

enum { MOST_SOURCES = 8 };

typedef struct sources { /* arrays as large as a node, of which it is computed */
  uint32_t count;
  uint32_t at[MOST_SOURCES];
} sources;

static void add_sources(const plan_graph *g, uint32_t node, int64_t elements, int32_t depth,
                        sources *out) {
  const plan_node *n = plan_node_get(g, node);
  for (uint32_t i = 0; i < n->n_operands && plan_is_elementwise(n); i++) {
    const plan_node *x = plan_node_get(g, n->operands[i]);
    bool is_computed = x->n_users == 1 && plan_is_elementwise(x) && depth > 0;
    bool is_known = x->shape.elements != elements || x->kind == IR_OP_BROADCAST_IN_DIM;
    for (uint32_t k = 0; k < out->count && !is_known; k++) is_known = out->at[k] == n->operands[i];
    if (is_computed) add_sources(g, n->operands[i], elements, depth - 1, out);
    else if (!is_known && out->count < MOST_SOURCES) out->at[out->count++] = n->operands[i];
  }
}

/* Half of a window is read for each element. */
bool plan_is_cheap_in_windows(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  sources from = {0};
  if (!plan_is_elementwise(n) || (n->flags & PLAN_FLAG_HELD)) return false;
  add_sources(g, node, n->shape.elements, PLAN_SEEN_OF_OPERANDS, &from);
  return from.count <= 1 && own_cycles(g, node) * (CPU_SCAN_TILE / 2) <= 2 * PLAN_PASS_CYCLES;
}

/* Arrays of so many elements that a reader reads or writes, but for one. */
static int64_t passes_of(const plan_graph *g, const plan_node *reader, uint32_t but,
                         int64_t elements) {
  int64_t passes = reader->shape.elements == elements;
  for (uint32_t i = 0; i < reader->n_operands; i++)
    passes += reader->operands[i] != but &&
              plan_node_get(g, reader->operands[i])->shape.elements == elements;
  return passes;
}

/* How much longer XLA:GPU takes by its count, in cycles for an element, if a reader computes the
 * node, rather than to read it. Numbers are read and written meanwhile. */
static int64_t longer_by(const plan_graph *g, const plan_node *reader, uint32_t node,
                         int64_t cycles, const sources *from) {
  int64_t elements = plan_node_get(g, node)->shape.elements, own = plan_cycles(reader),
          passes = passes_of(g, reader, node, elements), with = passes;
  for (uint32_t i = 0; i < from->count; i++)
    with += plan_operand_index(reader, from->at[i]) == UINT32_MAX;
  return max64(own + cycles, with * PLAN_PASS_CYCLES) - max64(own, (passes + 1) * PLAN_PASS_CYCLES);
}

/* Whether computing it anew for each reader takes longer than writing it and reading it. Triton
 * computes rows as long as a power of two, once for a softmax. */
static bool is_too_long_for_each(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  int64_t cycles = own_cycles(g, node), padded = 1, longer = 0;
  if (is_of_softmax(g, node)) {
    int64_t row = n->shape.dims[n->shape.rank - 1];
    while (padded < row) padded *= 2;
    return cycles * (padded - row) > PLAN_PASS_CYCLES * row;
  }
  sources from = {0};
  add_sources(g, node, n->shape.elements, PLAN_SEEN_OF_OPERANDS, &from);
  for (uint32_t i = 0; i < n->n_users; i++)
    longer += longer_by(g, plan_node_get(g, n->users[i]), node, cycles, &from);
  return longer > max64(cycles, (from.count + 1) * PLAN_PASS_CYCLES);
}

static bool is_too_long_to_repeat(const plan_graph *g, const plan_node *p, uint32_t producer) {
  if (!g->memory->library_bytes || !plan_is_elementwise(p)) return false;
  bool is_in_softmax = p->n_users > 1 && is_of_softmax(g, producer);
  if (!is_in_softmax && plan_is_made_before_sums(g, producer)) return true;
  return p->n_users > 1 && is_too_long_for_each(g, producer);
}

/* Whether it is computed from the sums of x's rows, through views and what is computed of them. */
static bool comes_of_rows(const plan_graph *g, uint32_t node, uint32_t x, int32_t depth) {
  const plan_node *n = plan_node_get(g, node);
  if (is_sum_of_rows(g, n, x)) return !n->is_read_again;
  bool is_view = n->kind == IR_OP_BROADCAST_IN_DIM || n->kind == PLAN_BITCAST;
  if (depth == 0 || !(is_view || plan_is_elementwise(n))) return false;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (comes_of_rows(g, n->operands[i], x, depth - 1)) return true;
  return false;
}

/* Whether who reads `x` does what Triton does not take in: other sums than by rows, sums that find
 * places, what moves elements. Through views and numbers of fewer bits, which each reader makes. */
static bool is_read_outside(const plan_graph *g, const plan_node *x, const plan_node *rows) {
  int64_t row = rows->shape.dims[rows->shape.rank - 1];
  for (uint32_t i = 0; i < x->n_users; i++) {
    const plan_node *u = plan_node_get(g, x->users[i]);
    bool is_sum = plan_kind_at_root(g, u) == IR_OP_REDUCE;
    bool is_of_rows = !u->shape.is_tuple && u->shape.elements * row == rows->shape.elements;
    if (is_sum && (!is_of_rows || u->is_read_again)) return true;
    if (is_moved_by(g, rows, u)) return true;
    bool is_seen_through = u->kind == PLAN_BITCAST || (u->kind == IR_OP_CONVERT && u->n_users > 1);
    if (is_seen_through && is_read_outside(g, u, rows)) return true;
  }
  return false;
}

/* Whether it is computed, element by element, from rows and from the sums of these: such a softmax
 * is one fusion of Triton's. In f64, too, which Triton does not have (softmax_rewriter_triton.cc).
 */
static bool is_softmax(const plan_graph *g, const plan_node *p, int32_t depth) {
  if (!plan_is_elementwise(p) || p->shape.rank < 2) return false;
  if (p->kind == IR_OP_CONVERT && p->n_users > 1) return false;
  for (uint32_t i = 0; i < 2 && p->n_operands == 2; i++)
    if (comes_of_rows(g, p->operands[i], p->operands[1 - i], SEEN_OF_SUMS)) return true;
  for (uint32_t i = 0; i < p->n_operands && depth > 0; i++) {
    const plan_node *x = plan_node_get(g, p->operands[i]);
    if (is_softmax(g, x, depth - 1) && !is_read_outside(g, x, x)) return true;
  }
  return false;
}

/* Others than Triton read what it writes. */
static bool is_softmax_written(const plan_graph *g, const plan_node *p) {
  return g->memory->library_bytes && is_softmax(g, p, SEEN_OF_SOFTMAX) && is_read_outside(g, p, p);
}

bool plan_is_kept(const plan_graph *g, uint32_t producer) {
  const plan_node *p = plan_node_get(g, producer);
  if (is_too_long_to_repeat(g, p, producer) || is_softmax_written(g, p)) return true;
  return p->n_users > 1 && reads_more_than(g, producer, p->shape.bytes, SEEN_THROUGH);
}
