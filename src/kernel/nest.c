#include "kernel/nest.h"

#include <assert.h>

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/maps.h"
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/lists.h"
#include "kernel/flatten.h"
#include "kernel/pack.h"
#include "kernel/run.h"

enum { MOST_NODES = 400 };

/* Slots: one per dimension of every operand and result; a forest of which the classes become axes.
 * Reads of inputs, constants and iotas have slots of their own, so that the same x can be read at
 * two places. */
struct kernel_tie {
  kernel_nest *n;
  arena *a;
  uint32_t *parent;
  int64_t *length;
  bool *is_position; /* counts what a top-k keeps */
  bool *is_bent;     /* counted otherwise on the other side of a slice, a gather */
  uint32_t n_slots;
  uint32_t *first; /* by node: its result's slots, then those of each operand */
  uint32_t now;    /* the node that a rule is asked about */
  uint32_t loop_slot;
  const char *why;
};

static const ir_type_data *tensor_of(const kernel_tie *t, ir_value v) {
  return ir_type_at(t->n->m, v);
}

static bool refuse(kernel_tie *t, const char *why) {
  if (!t->why) t->why = why;
  return false;
}

static uint32_t find(kernel_tie *t, uint32_t s) {
  while (t->parent[s] != s) s = t->parent[s] = t->parent[t->parent[s]];
  return s;
}

static void tie(kernel_tie *t, uint32_t a, uint32_t b) {
  uint32_t x = find(t, a), y = find(t, b);
  if (x != y) t->parent[x > y ? x : y] = x > y ? y : x;
}

static uint32_t new_slots(kernel_tie *t, const ir_type_data *type) {
  uint32_t first = t->n_slots;
  for (int32_t i = 0; i < type->rank; i++) {
    t->parent[first + (uint32_t)i] = first + (uint32_t)i;
    t->length[first + (uint32_t)i] = type->dims[i];
  }
  t->n_slots += (uint32_t)type->rank;
  return first;
}

static uint32_t result_slot(const kernel_tie *t, uint32_t node, int64_t dim) {
  return t->first[node] + (uint32_t)dim;
}

static uint32_t operand_slot(const kernel_tie *t, uint32_t node, uint32_t operand, int64_t dim) {
  const kernel_node *x = &t->n->nodes[node];
  uint32_t slot = t->first[node] + (uint32_t)tensor_of(t, x->value)->rank;
  for (uint32_t i = 0; i < operand; i++)
    slot += (uint32_t)tensor_of(t, ir_operand(t->n->m, x->op, i))->rank;
  return slot + (uint32_t)dim;
}

/* ---- rules: what a kernel can't do is refused; ir/maps says what is tied ---- */
static bool is_repeated(const kernel_tie *t, const kernel_node *x, uint32_t operand, int32_t dim) {
  return x->kind == IR_OP_BROADCAST_IN_DIM &&
         tensor_of(t, ir_operand(t->n->m, x->op, operand))->dims[dim] == 1;
}

/* Dimensions of operands that count an index of the op's loop nest are tied to that of the result
 * that does, those that count a reduced one to each other. False: the op has no map. */
static bool tie_by_map(kernel_tie *t, const kernel_node *x) {
  uint32_t slot_of[2 * IR_MAX_RANK]; /* by index */
  int32_t index[IR_MAX_RANK], rank = tensor_of(t, x->value)->rank;
  memset(slot_of, 0xff, sizeof slot_of);
  if (!ir_result_indices(t->a, t->n->m, x->op, x->which, index)) return false;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] != IR_ALONE) slot_of[index[d]] = result_slot(t, t->now, d);
  for (uint32_t k = 0; k < x->n_operands; k++) {
    if (!ir_operand_indices(t->a, t->n->m, x->op, k, index)) return false;
    rank = tensor_of(t, ir_operand(t->n->m, x->op, k))->rank;
    for (int32_t d = 0; d < rank; d++) {
      if (index[d] == IR_ALONE || is_repeated(t, x, k, d)) continue;
      assert(index[d] < 2 * IR_MAX_RANK);
      if (slot_of[index[d]] == UINT32_MAX) slot_of[index[d]] = operand_slot(t, t->now, k, d);
      tie(t, slot_of[index[d]], operand_slot(t, t->now, k, d));
    }
  }
  return true;
}

static bool rule_elementwise(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  bool halves = tensor_of(t, node->value)->dtype == IR_F16 ||
                tensor_of(t, ir_operand(m, node->op, 0))->dtype == IR_F16 ||
                (node->kind == IR_OP_ROUND && kernel_round_format(m, node->op) == IR_F16);
  if (!kernel_is_elementwise(m, node->op) || (halves && !machine_has_halves(&t->n->machine)))
    return refuse(t, "an elementwise op of this element type");
  return tie_by_map(t, node);
}

static bool rule_constant(kernel_tie *t, kernel_node *node) {
  const ir_attr_data *d = ir_attr_get(t->n->m, ir_op_attr(t->n->m, node->op, "value"));
  return d->splat || refuse(t, "a constant that is not a splat");
}

static bool rule_iota(kernel_tie *t, kernel_node *node) {
  return !kernel_is_narrow(tensor_of(t, node->value)->dtype) || refuse(t, "counting in 16 bits");
}

/* Dimensions are repeated, change places, or are of length 1 and come and go. */
static bool rule_move(kernel_tie *t, kernel_node *node) {
  int32_t to[IR_MAX_RANK];
  return (ir_moved_dims(t->n->m, node->op, to) && tie_by_map(t, node)) ||
         refuse(t, "a reshape that merges or cuts dimensions");
}

static bool rule_reduce(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  node->monoid = ir_reducer_kind(m, ir_body(m, node->op));
  node->never_negative = ir_is_never_negative(m, ir_operand(m, node->op, 0));
  bool covered = kernel_is_variadic(node) ? kernel_variadic_is_covered(m, node->op)
                                          : node->monoid != IR_OP_UNKNOWN;
  if (!covered) return refuse(t, "a reduction by a function of its own");
  if (kernel_is_narrow(tensor_of(t, ir_operand(m, node->op, 0))->dtype))
    return refuse(t, "a reduction in 16 bits");
  return tie_by_map(t, node);
}

/* The last dimension of the results, k long, is nobody else's. */
static bool rule_top_k(kernel_tie *t, kernel_node *node) {
  const ir_type_data *operand = tensor_of(t, ir_operand(t->n->m, node->op, 0));
  int32_t last = operand->rank - 1;
  if (!kernel_topk_is_covered(operand->dtype)) return refuse(t, "a top-k of this element type");
  uint32_t rank = result_slot(t, t->now - node->which, last);
  tie(t, rank, result_slot(t, t->now, last));
  t->is_position[rank] = true;
  return tie_by_map(t, node);
}

static bool rule_dot_general(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  ir_dtype out = tensor_of(t, node->value)->dtype;
  node->monoid = IR_OP_ADD;
  if (tensor_of(t, ir_operand(m, node->op, 0))->dtype != out ||
      tensor_of(t, ir_operand(m, node->op, 1))->dtype != out || out == IR_I1 ||
      kernel_is_narrow(out))
    return refuse(t, "a dot of mixed element types");
  return tie_by_map(t, node) || refuse(t, "a dot that does not read");
}

/* ---- whiles that were opened ---- */
static void tie_all(kernel_tie *t, uint32_t a, uint32_t b, int32_t rank) {
  for (int32_t d = 0; d < rank; d++) tie(t, a + (uint32_t)d, b + (uint32_t)d);
}

static bool rule_carry(kernel_tie *t, kernel_node *node) {
  tie_all(t, operand_slot(t, t->now, 0, 0), result_slot(t, t->now, 0),
          tensor_of(t, node->value)->rank);
  return true;
}

/* All results have all operands; each is tied to its own. */
static bool rule_repeat(kernel_tie *t, kernel_node *node) {
  uint32_t carries = (node->n_operands - 1) / 2, first = t->now - node->which;
  for (uint32_t i = 0; i < 2 * carries; i++)
    tie_all(t, operand_slot(t, t->now, i, 0), operand_slot(t, first, i, 0),
            tensor_of(t, ir_operand(t->n->m, node->op, i))->rank);
  for (uint32_t i = node->which; i < 2 * carries; i += carries)
    tie_all(t, operand_slot(t, t->now, i, 0), result_slot(t, t->now, 0),
            tensor_of(t, node->value)->rank);
  return true;
}

/* How deep it is in whiles, and how often that is computed. */
static void count_turns(kernel_nest *n, kernel_node *x) {
  x->turns = 1;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (from && from->depth > x->depth) x->depth = from->depth;
    if (from && from->turns > x->turns) x->turns = from->turns;
  }
  if (x->kind != IR_OP_CARRY && x->kind != IR_OP_REPEAT) return;
  x->depth = (int32_t)ir_op_int(n->m, x->op, "depth", 0);
  x->turns = (double)ir_op_int(n->m, x->op, "turns", 1);
}

static void note_repeat(kernel_nest *n, const kernel_node *x) {
  const kernel_node *carry = kernel_node_of(n, ir_operand(n->m, x->op, x->which));
  n->nodes[carry - n->nodes].repeat = (int32_t)(x - n->nodes);
}

/* Elements of what is carried go their own ways: nothing inside brings them together. */
static bool find_whiles(kernel_tie *t) {
  kernel_nest *n = t->n;
  uint32_t carried = 0;
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    count_turns(n, &n->nodes[k]);
    if (n->nodes[k].kind == IR_OP_CARRY) carried |= n->nodes[k].mask;
    if (n->nodes[k].kind == IR_OP_REPEAT) note_repeat(n, &n->nodes[k]);
  }
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    uint32_t axes = x->reduces | (x->mask & n->strided);
    for (uint32_t i = 0; i < x->n_operands; i++)
      axes |= kernel_axes_mask(&x->operands[i]) & n->strided;
    if (x->depth && axes & carried) return refuse(t, "a while that sums over what it carries");
  }
  return true;
}

/* ---- other indices than the operand's ---- */
bool kernel_keeps_index(ir_module *m, ir_op op, uint32_t operand, int64_t dim) {
  int32_t index[IR_MAX_RANK];
  if (dim >= ir_type_at(m, ir_operand(m, op, operand))->rank) return true; /* a pad's scalar */
  return !ir_operand_indices(NULL, m, op, operand, index) || index[dim] != IR_ALONE;
}

/* A slice, pad, concatenation: where it does not keep the index, both sides are strided. */
static bool rule_bent(kernel_tie *t, kernel_node *node) {
  int32_t rank = tensor_of(t, node->value)->rank;
  uint32_t n = node->kind == IR_OP_CONCATENATE ? node->n_operands : 1; /* not the padding */
  for (uint32_t k = 0; k < n; k++)
    for (int32_t d = 0; d < rank; d++)
      if (!kernel_keeps_index(t->n->m, node->op, k, d))
        t->is_bent[operand_slot(t, t->now, k, d)] = t->is_bent[result_slot(t, t->now, d)] = true;
  return tie_by_map(t, node);
}

/* A dimension of a gather's operand: the result's, or named by the index and read at one place. */
static bool tie_gathered(kernel_tie *t, int64_t dim, bool is_named, int64_t slice, int64_t result) {
  uint32_t slot = operand_slot(t, t->now, 0, dim);
  if (is_named || result < 0) t->is_bent[slot] = true;
  else tie(t, slot, result_slot(t, t->now, result));
  return slice == (is_named || result < 0 ? 1 : t->length[slot]) ||
         refuse(t, "a gather of windows");
}

static bool rule_gather(kernel_tie *t, kernel_node *node) {
  ir_gather_numbers g;
  int32_t n;
  ir_module *m = t->n->m;
  if (!ir_gather_dims(t->a, m, node->op, &g)) return refuse(t, "a gather that does not read");
  if (!kernel_gathered_input(t->n, node)) return refuse(t, "a gather of what is computed");
  const int64_t *slice = ir_op_ints(m, node->op, "slice_sizes", &n);
  const ir_type_data *operand = tensor_of(t, ir_operand(m, node->op, 0)),
                     *index = tensor_of(t, ir_operand(m, node->op, 1));
  int32_t window = 0, batch = 0;
  for (int32_t d = 0; d < operand->rank; d++) {
    int32_t pair = ir_ints_find(g.operand_batching_dims, d);
    bool cut = pair >= 0 || ir_ints_have(g.collapsed_slice_dims, d);
    int64_t result = cut ? -1 : g.offset_dims.at[window++];
    if (pair >= 0)
      tie(t, operand_slot(t, t->now, 0, d),
          operand_slot(t, t->now, 1, g.start_indices_batching_dims.at[pair]));
    else if (!tie_gathered(t, d, ir_ints_have(g.start_index_map, d), slice[d], result))
      return false;
  }
  for (int32_t d = 0; d < index->rank; d++) {
    if (d == g.index_vector_dim) {
      t->is_bent[operand_slot(t, t->now, 1, d)] = true;
      continue;
    }
    while (ir_ints_have(g.offset_dims, batch)) batch++;
    tie(t, operand_slot(t, t->now, 1, d), result_slot(t, t->now, batch++));
  }
  return true;
}

/* A gather at one place. */
static bool rule_dynamic_slice(kernel_tie *t, kernel_node *node) {
  const ir_type_data *operand = tensor_of(t, ir_operand(t->n->m, node->op, 0)),
                     *result = tensor_of(t, node->value);
  if (!operand->rank || !kernel_gathered_input(t->n, node))
    return refuse(t, "a dynamic slice of what is computed");
  for (int32_t d = 0; d < operand->rank; d++)
    if (!tie_gathered(t, d, result->dims[d] != operand->dims[d], result->dims[d], d)) return false;
  return true;
}

/* Along dimensions that no tile spans. */
static bool bends_inside(ir_module *m, ir_op op) {
  const ir_type_data *result = ir_type_at(m, ir_result(m, op, 0)),
                     *first = ir_type_at(m, ir_operand(m, op, 0));
  for (int32_t i = 0; i < result->rank; i++)
    if (!kernel_keeps_index(m, op, 0, i) &&
        (result->dims[i] > COST_MOST_POINTS || first->dims[i] > COST_MOST_POINTS))
      return false;
  return true;
}

#define RULE(name) kernel_rule *const kernel_rule_##name = rule_##name;
RULE(elementwise)
RULE(constant)
RULE(iota)
RULE(move)
RULE(reduce)
RULE(dot_general)
RULE(top_k)
RULE(gather)
RULE(dynamic_slice)
RULE(carry)
RULE(repeat)
#undef RULE
kernel_rule *const kernel_rule_slice = rule_bent, *const kernel_rule_pad = rule_bent,
                   *const kernel_rule_concatenate = rule_bent;
kernel_rule *const kernel_rule_none = NULL;

static kernel_rule *const *const rules[] = {
    NULL,
#define OP(kind, name, flags, asm_, shape, factors, eval, xla, plan, kernel)                       \
  [IR_OP_##kind] = &kernel_rule_##kernel,
#include "ir/ops.def"
#undef OP
};

bool kernel_has_rule(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  int32_t to[IR_MAX_RANK];
  if (kind == IR_OP_WHILE) return kernel_can_flatten(m, op);
  if (!rules[kind] || !*rules[kind]) return false;
  if (*rules[kind] == rule_bent) return bends_inside((ir_module *)m, op);
  return *rules[kind] != rule_move || ir_moved_dims((ir_module *)m, op, to);
}

/* ---- nodes ---- */
const kernel_node *kernel_node_of(const kernel_nest *n, ir_value v) {
  ir_op op = ir_value_get(n->m, v)->op;
  return op && n->node_of[op] ? &n->nodes[n->node_of[op] - 1 + ir_value_get(n->m, v)->index] : NULL;
}

/* The argument that v is, or is a slice of. */
static ir_value argument_of(const kernel_nest *n, ir_value v) {
  ir_op op = ir_value_get(n->m, v)->op;
  return op ? ir_operand(n->m, op, 0) : v;
}

int32_t kernel_input_of(const kernel_nest *n, ir_value v) {
  return (int32_t)ir_value_get(n->m, argument_of(n, v))->index - 2;
}

int64_t kernel_view_offset(const kernel_nest *n, ir_value view) {
  int32_t rank;
  const int64_t *start = ir_op_ints(n->m, ir_value_get(n->m, view)->op, "start_indices", &rank);
  ir_value input = ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, view));
  int64_t at = 0;
  for (int32_t i = 0; i < rank; i++) at = at * ir_type_at(n->m, input)->dims[i] + start[i];
  return at;
}

static bool is_argument(const kernel_nest *n, ir_value v) {
  return !ir_value_get(n->m, v)->op && ir_value_get(n->m, v)->index >= 2;
}

/* A slice that can be read where it lies: of an input, without gaps, and whole along the dimension
 * that the loop slices. */
static bool is_view(const kernel_nest *n, ir_op op) {
  int32_t rank, n_in;
  if (ir_kind_of(n->m, op) != IR_OP_SLICE || !is_argument(n, ir_operand(n->m, op, 0))) return false;
  const int64_t *stride = ir_op_ints(n->m, op, "strides", &rank),
                *dims = ir_op_ints(n->m, n->loop, "in_dims", &n_in);
  int32_t input = kernel_input_of(n, ir_operand(n->m, op, 0));
  for (int32_t i = 0; i < rank; i++)
    if (stride[i] != 1) return false;
  return input >= n_in || dims[input] < 0 || kernel_keeps_index(n->m, op, 0, dims[input]);
}

/* Made anew for every reader, with the reader's axes. */
static bool is_free(ir_kind kind) { return kind == IR_OP_CONSTANT || kind == IR_OP_IOTA; }

static bool is_leaf(const kernel_nest *n, ir_value v) {
  const kernel_node *x = kernel_node_of(n, v);
  return !x || is_free(x->kind);
}

static bool is_covered_type(const ir_module *m, ir_value v) {
  const ir_type_data *d = ir_type_at(m, v);
  return ir_is_static_tensor(m, ir_type_of(m, v)) && d->rank <= KERNEL_MOST_RANK &&
         kernel_dtype_text(d->dtype) != NULL;
}

static bool add_node(kernel_tie *t, ir_op op) {
  kernel_nest *n = t->n;
  const ir_op_data *d = ir_op_get(n->m, op);
  if (d->kind == IR_OP_UNKNOWN || !*rules[d->kind]) return refuse(t, ir_op_name(n->m, op));
  bool several = d->kind == IR_OP_REDUCE || d->kind == IR_OP_CHLO_TOP_K || d->kind == IR_OP_REPEAT;
  if ((d->n_results != 1 && !several) || d->n_operands > KERNEL_MOST_OPERANDS)
    return refuse(t, "an op of several results");
  bool covered = is_covered_type(n->m, d->first_result);
  for (uint32_t i = 1; i < d->n_results; i++)
    covered = covered && is_covered_type(n->m, d->first_result + i);
  for (uint32_t i = 0; i < d->n_operands; i++)
    covered = covered && is_covered_type(n->m, d->operands[i]);
  if (!covered) return refuse(t, "an element type that kernels don't have");
  if (is_view(n, op)) {
    n->views[n->n_views++] = d->first_result;
    return true;
  }
  n->node_of[op] = n->n_nodes + 1;
  for (uint32_t i = 0; i < d->n_results; i++)
    n->nodes[n->n_nodes++] = (kernel_node){.op = op,
                                           .value = d->first_result + i,
                                           .which = i,
                                           .kind = (ir_kind)d->kind,
                                           .n_operands = d->n_operands,
                                           .index = -1};
  return true;
}

static bool tie_node(kernel_tie *t, uint32_t k) {
  kernel_nest *n = t->n;
  kernel_node *x = &n->nodes[k];
  t->now = k;
  t->first[k] = new_slots(t, tensor_of(t, x->value));
  for (uint32_t s = t->first[k]; is_free(x->kind) && s < t->n_slots; s++) t->length[s] = 1;
  for (uint32_t i = 0; i < x->n_operands; i++)
    new_slots(t, tensor_of(t, ir_operand(n->m, x->op, i)));
  if (!(*rules[x->kind])(t, x)) return false;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    ir_value v = ir_operand(n->m, x->op, i);
    if (is_leaf(n, v)) continue;
    uint32_t def = (uint32_t)(kernel_node_of(n, v) - n->nodes);
    for (int32_t dim = 0; dim < tensor_of(t, v)->rank; dim++)
      tie(t, operand_slot(t, k, i, dim), result_slot(t, def, dim));
  }
  return true;
}

/* ---- the loop's own dimension ---- */
static void tie_loop(kernel_tie *t, uint32_t slot) {
  if (t->loop_slot == UINT32_MAX) t->loop_slot = slot;
  tie(t, t->loop_slot, slot);
}

static bool tie_input(kernel_tie *t, uint32_t k, uint32_t i, const int64_t *dims,
                      const int64_t *units, int32_t n_in) {
  int32_t input = kernel_input_of(t->n, ir_operand(t->n->m, t->n->nodes[k].op, i));
  if (input < 0) return refuse(t, "what depends on where a slice begins");
  if (input >= n_in || dims[input] < 0) return true;
  if (units[input] != 1) return refuse(t, "a slice of several elements an index");
  tie_loop(t, operand_slot(t, k, i, dims[input]));
  return true;
}

static bool tie_inputs(kernel_tie *t) {
  kernel_nest *n = t->n;
  int32_t n_in, n_units;
  const int64_t *dims = ir_op_ints(n->m, n->loop, "in_dims", &n_in),
                *units = ir_op_ints(n->m, n->loop, "in_units", &n_units);
  for (uint32_t k = 0; k < n->n_nodes; k++)
    for (uint32_t i = 0; i < n->nodes[k].n_operands; i++)
      if (!kernel_node_of(n, ir_operand(n->m, n->nodes[k].op, i)) &&
          !tie_input(t, k, i, dims, units, n_in))
        return false;
  return true;
}

static bool tie_outputs(kernel_tie *t) {
  kernel_nest *n = t->n;
  int32_t count;
  const int64_t *dims = ir_op_ints(n->m, n->loop, "out_dims", &count),
                *units = ir_op_ints(n->m, n->loop, "out_units", &count);
  ir_op end = ir_terminator(n->m, n->body);
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    ir_value v = ir_operand(n->m, end, j);
    if (is_leaf(n, v)) return refuse(t, "a result that is an input");
    int32_t def = (int32_t)(kernel_node_of(n, v) - n->nodes);
    n->outputs[j] = (kernel_output){
        .value = v, .node = def, .dims = ir_type_at(n->m, ir_result(n->m, n->loop, j))->dims};
    if (dims[j] < 0) continue;
    if (units[j] != 1) return refuse(t, "a slice of several elements an index");
    tie_loop(t, result_slot(t, (uint32_t)def, dims[j]));
  }
  return true;
}

/* ---- classes -> axes ---- */
static bool number_axes(kernel_tie *t, int8_t *axis_of) {
  kernel_nest *n = t->n;
  uint32_t loop = t->loop_slot == UINT32_MAX ? UINT32_MAX : find(t, t->loop_slot);
  for (uint32_t s = 0; s < t->n_slots; s++) axis_of[s] = KERNEL_NO_AXIS;
  for (uint32_t s = 0; s < t->n_slots; s++) {
    uint32_t top = find(t, s);
    if (t->length[s] == 1) continue; /* one of a class may be broadcast */
    if (axis_of[top] < 0) {
      if (n->n_axes == KERNEL_MOST_AXES) return refuse(t, "too many axes");
      axis_of[top] = (int8_t)n->n_axes;
      n->extent[n->n_axes++] = t->length[s];
    }
    if (t->is_position[s]) n->positions |= 1u << axis_of[top];
    if (t->is_bent[s]) n->strided |= 1u << axis_of[top];
    if (t->is_bent[s] && top == loop) return refuse(t, "a slice of the loop's dimension");
    if (t->length[s] != n->extent[axis_of[top]]) return refuse(t, "an axis of two lengths");
    axis_of[s] = axis_of[top];
  }
  return true;
}

static kernel_axes axes_at(const kernel_tie *t, const int8_t *axis_of, uint32_t first,
                           int32_t rank) {
  kernel_axes axes = {.rank = rank};
  for (int32_t i = 0; i < rank; i++)
    axes.of[i] =
        t->length[first + (uint32_t)i] == 1 ? KERNEL_NO_AXIS : axis_of[first + (uint32_t)i];
  return axes;
}

static int32_t count_axes(const kernel_axes *axes) {
  int32_t count = 0;
  for (int32_t i = 0; i < axes->rank; i++) count += axes->of[i] >= 0;
  return count;
}

static bool has_axis_twice(const kernel_axes *axes) {
  return __builtin_popcount(kernel_axes_mask(axes)) != count_axes(axes);
}

static bool place_node(kernel_tie *t, const int8_t *axis_of, uint32_t k) {
  kernel_nest *n = t->n;
  kernel_node *x = &n->nodes[k];
  int32_t rank = tensor_of(t, x->value)->rank;
  uint32_t read = 0;
  bool any_twice = false;
  x->result = axes_at(t, axis_of, result_slot(t, k, 0), rank);
  x->mask = kernel_axes_mask(&x->result);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    rank = tensor_of(t, ir_operand(n->m, x->op, i))->rank;
    x->operands[i] = axes_at(t, axis_of, operand_slot(t, k, i, 0), rank);
    read |= kernel_axes_mask(&x->operands[i]);
    any_twice |= has_axis_twice(&x->operands[i]);
  }
  bool reduces =
      x->kind == IR_OP_REDUCE || x->kind == IR_OP_DOT_GENERAL || x->kind == IR_OP_CHLO_TOP_K;
  x->reduces = reduces ? read & ~x->mask : 0;
  bool bends = x->kind == IR_OP_SLICE || x->kind == IR_OP_PAD || x->kind == IR_OP_CONCATENATE;
  if (reduces && any_twice) return refuse(t, "a reduction over an axis that stays");
  if (bends && any_twice) return refuse(t, "a slice of a diagonal");
  return is_free(x->kind) || !has_axis_twice(&x->result) ||
         refuse(t, "a value with the same axis twice");
}

static bool find_axes(kernel_tie *t) {
  kernel_nest *n = t->n;
  int8_t *axis_of = ARENA_ARRAY(t->a, int8_t, t->n_slots + 1);
  if (!number_axes(t, axis_of)) return false;
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if (!place_node(t, axis_of, k)) return false;
  for (uint32_t j = 0; j < n->n_outputs; j++)
    n->outputs[j].axes = n->nodes[n->outputs[j].node].result;
  return find_whiles(t);
}

/* Whether the op is a sum of these terms alone. */
static bool sums_up(const ir_module *m, ir_op op, ir_value terms) {
  return op && ir_kind_of(m, op) == IR_OP_REDUCE && ir_op_get(m, op)->n_results == 1 &&
         ir_operand(m, op, 0) == terms && ir_reducer_kind(m, ir_body(m, op)) == IR_OP_ADD;
}

/* Multiply and add contract to one instruction. */
static void mark_added(kernel_nest *n) {
  ir_users users = ir_users_of_block(n->a, n->m, n->body);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    kernel_node *x = &n->nodes[k];
    bool is_read_once = !ir_user_at(&users, x->value, 1);
    x->is_added = x->kind == IR_OP_MULTIPLY && is_read_once &&
                  sums_up(n->m, ir_user_at(&users, x->value, 0), x->value);
  }
}

static bool is_rounded_sum(const kernel_nest *n, const kernel_node *x) {
  return x->reduces && (x->monoid == IR_OP_ADD || x->monoid == IR_OP_MULTIPLY) &&
         ir_dtype_class_of(ir_type_at(n->m, x->value)->dtype) == IR_CLASS_FLOAT;
}

/* What is compared, in a loop that has to agree with another one, which makes it again: where rows
 * or columns are summed up, the order of terms is this nest's own. */
static void mark_in_order(kernel_nest *n) {
  bool *compared = ARENA_ARRAY(n->a, bool, n->n_nodes + 1);
  if (!ir_op_bool(n->m, n->loop, "agree", false)) return;
  for (uint32_t k = n->n_nodes; k-- > 0;) {
    kernel_node *x = &n->nodes[k];
    x->in_order = compared[k] && is_rounded_sum(n, x);
    if (!compared[k] && x->kind != IR_OP_COMPARE) continue;
    for (uint32_t i = 0; i < x->n_operands; i++) {
      const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
      if (from) compared[from - n->nodes] = true;
    }
  }
}

static bool build(kernel_tie *t) {
  kernel_nest *n = t->n;
  ir_module *m = n->m;
  const ir_block_data *body = ir_block_get(m, n->body);
  uint32_t count = 0, slots = 0;
  for (uint32_t i = 0; i + 1 < body->ops.count; i++)
    count += ir_op_get(m, body->ops.at[i])->n_results;
  if (ir_op_int(m, n->loop, "slice", 0) != ir_op_int(m, n->loop, "extent", 0))
    return refuse(t, "a loop of several trips");
  if (count > MOST_NODES) return refuse(t, "too many ops");
  if (n->n_inputs + n->n_outputs > KERNEL_MOST_BUFFERS) return refuse(t, "too many results");
  n->nodes = ARENA_ARRAY(n->a, kernel_node, count + 1);
  n->node_of = ARENA_ARRAY(n->a, uint32_t, m->ops.count);
  n->views = ARENA_ARRAY(n->a, ir_value, count + 1);
  for (uint32_t i = 0; i + 1 < body->ops.count; i++)
    if (!add_node(t, body->ops.at[i])) return false;
  slots = count * KERNEL_MOST_RANK * (1 + KERNEL_MOST_OPERANDS);
  t->parent = ARENA_ARRAY(t->a, uint32_t, slots + 1);
  t->length = ARENA_ARRAY(t->a, int64_t, slots + 1);
  t->is_position = ARENA_ARRAY(t->a, bool, slots + 1);
  t->is_bent = ARENA_ARRAY(t->a, bool, slots + 1);
  t->first = ARENA_ARRAY(t->a, uint32_t, count + 1);
  for (uint32_t i = 0; i < n->n_nodes; i++)
    if (!tie_node(t, i)) return false;
  mark_added(n);
  if (!tie_inputs(t) || !tie_outputs(t) || !find_axes(t)) return false;
  mark_in_order(n);
  return true;
}

/* ---- roles and passes ---- */
uint32_t kernel_point_axes(const kernel_nest *n, uint32_t mask) {
  for (int32_t a = 0; a < n->n_axes; a++)
    if (n->role[a] >= KERNEL_OUTER) mask &= ~(1u << a);
  return mask;
}

int64_t kernel_extent_of(const kernel_nest *n, uint32_t mask) {
  int64_t product = 1;
  for (int32_t a = 0; a < n->n_axes; a++)
    if (mask >> a & 1 && __builtin_mul_overflow(product, n->extent[a], &product)) return INT64_MAX;
  return product;
}

int64_t kernel_outer_extent(const kernel_nest *n) {
  uint32_t outer = 0;
  for (int32_t a = 0; a < n->n_axes; a++) outer |= (uint32_t)(n->role[a] == KERNEL_OUTER) << a;
  return kernel_extent_of(n, outer);
}

/* Axes that all values with rows and columns have: an index outside of the tile computes nothing
 * twice. Long ones may be outside, too, if a product does not take them as points. */
static uint32_t axes_of_tiles(const kernel_nest *n, uint32_t tile, bool long_outside) {
  uint32_t all = ~0u;
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if ((n->nodes[k].mask & tile) == tile) all &= n->nodes[k].mask;
  for (int32_t a = 0; a < n->n_axes && long_outside; a++)
    if (n->extent[a] > COST_MOST_POINTS) all |= 1u << a;
  return all & ~n->positions & ~n->strided;
}

typedef struct choice { /* of roles */
  int32_t row, column;
  bool long_outside;
} choice;

static void set_roles(kernel_nest *n, choice c) {
  uint32_t all = ~0u, any = 0;
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    all &= n->nodes[n->outputs[j].node].mask;
    any |= n->nodes[n->outputs[j].node].mask;
  }
  all &= axes_of_tiles(n, 1u << c.row | 1u << c.column, c.long_outside);
  for (int32_t a = 0; a < n->n_axes; a++)
    n->role[a] = all >> a & 1 ? KERNEL_OUTER : any >> a & 1 ? KERNEL_POINT : KERNEL_INNER;
  n->row = c.row;
  n->column = c.column;
  n->role[c.row] = KERNEL_ROW;
  n->role[c.column] = KERNEL_COLUMN;
}

bool kernel_ends_phase(const kernel_nest *n, const kernel_node *x) {
  uint32_t tile = 1u << n->row | 1u << n->column;
  return n->staged && !x->depth && x->reduces && x->index < 0 && x->late < 0 &&
         (x->mask & tile) == tile && !kernel_point_axes(n, x->mask) &&
         kernel_extent_of(n, x->reduces) > COST_UNROLL;
}

/* The first phase of the pass in which all operands are known. */
static int32_t phase_after_operands(const kernel_nest *n, const kernel_node *x, int32_t pass) {
  int32_t phase = 0;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (!from || (from->level <= pass && !(from->mask >> n->column & 1))) continue;
    int32_t known = kernel_phase_of(from, pass) + kernel_ends_phase(n, from);
    if (known > phase) phase = known;
  }
  return phase;
}

/* What the operands say about the node. */
static void inherit(const kernel_nest *n, kernel_node *x) {
  x->level = 0;
  x->after = false;
  x->is_rowless = !(x->mask >> n->row & 1);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (kernel_axes_mask(&x->operands[i]) >> n->row & 1) x->is_rowless = false;
    if (!from) continue;
    if (from->level > x->level) x->level = from->level;
    x->after = x->after || from->after;
    x->is_rowless = x->is_rowless && from->is_rowless;
  }
  x->step = phase_after_operands(n, x, x->level);
  x->ready = phase_after_operands(n, x, x->level - 1);
}

/* What is made from a reduction over rows has no rows, and reads nothing else that needs them. */
static bool may_come_after(const kernel_nest *n, const kernel_node *x) {
  uint32_t tile = 1u << n->row | 1u << n->column;
  if (x->mask >> n->row & 1 || x->reduces & tile) return false;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (from && !from->after && !from->is_rowless) return false;
  }
  return true;
}

static bool has_few_points(const kernel_nest *n, const kernel_node *x) {
  return kernel_extent_of(n, kernel_point_axes(n, x->mask & ~n->positions)) <= COST_MOST_POINTS ||
         x->is_product;
}

/* A result: what is made of products, point by point once all are summed up, too. */
static bool may_be_stored(const kernel_nest *n, const kernel_node *x, bool after) {
  bool once = x->index < 0 && x->late < 0 && (after || !(x->mask >> n->column & 1));
  return has_few_points(n, x) ||
         (once && kernel_extent_of(n, kernel_point_axes(n, x->mask)) <= COST_MOST_PRODUCT);
}

/* Of a top-k or variadic reduction: over the columns alone, and a top-k of one list a row. */
static bool is_legal_list(const kernel_nest *n, const kernel_node *x) {
  bool positions = x->kind == IR_OP_CHLO_TOP_K;
  return x->reduces == 1u << n->column && !x->after &&
         (!positions || (x->mask >> n->row & 1 && !kernel_point_axes(n, x->mask & ~n->positions)));
}

static void need_pass(kernel_nest *n, int32_t pass) {
  if (pass + 1 > n->n_passes) n->n_passes = pass + 1;
}

static bool set_level(kernel_nest *n, kernel_node *x) {
  bool reduces_row = x->reduces >> n->row & 1, reduces_column = x->reduces >> n->column & 1;
  inherit(n, x);
  x->index = x->late = -1;
  x->pass = x->phase = x->n_terms = 0;
  x->is_boundary = x->is_product = false;
  for (int32_t a = 0; a < n->n_axes; a++)
    if (x->reduces >> a & 1 && n->role[a] == KERNEL_OUTER) return false;
  if ((x->kind == IR_OP_CHLO_TOP_K || kernel_is_variadic(x)) && !is_legal_list(n, x)) return false;
  if (kernel_is_gather(x) && !kernel_gather_is_legal(n, x)) return false;
  if (x->depth && (reduces_row || reduces_column || x->after)) return false;
  if (x->in_order && (reduces_row || reduces_column)) return false;
  if (x->after) return may_come_after(n, x);
  if (!reduces_row && !reduces_column) return true;
  x->is_rowless = false;
  x->pass = x->level;
  if (reduces_row) {
    x->late = n->n_late++;
    x->after = true;
  } else {
    x->index = n->n_reductions++;
    if (!kernel_stream(n, x)) x->level++;
  }
  x->phase = phase_after_operands(n, x, x->pass);
  x->ready = x->phase + 1;
  x->step = 0;
  x->is_product = kernel_is_product(n, x);
  if ((x->mask | x->reduces) >> n->column & 1) need_pass(n, x->pass);
  return has_few_points(n, x);
}

static bool set_levels(kernel_nest *n) {
  n->n_passes = n->n_reductions = n->n_late = 0;
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if (!set_level(n, &n->nodes[k])) return false;
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    kernel_output *o = &n->outputs[j];
    const kernel_node *x = &n->nodes[o->node];
    bool has_row = x->mask >> n->row & 1;
    o->level = x->level;
    o->phase = x->step + kernel_ends_phase(n, x);
    o->after = x->after || !has_row;
    if ((!has_row && !x->after && !x->is_rowless) || !may_be_stored(n, x, o->after)) return false;
    if (!o->after && x->mask >> n->column & 1) need_pass(n, x->level);
  }
  return n->n_passes > 0;
}

static bool is_legal(kernel_nest *n, choice c) {
  set_roles(n, c);
  n->staged = false;
  if (!set_levels(n)) return false;
  for (uint32_t k = 0; k < n->n_nodes; k++)
    n->staged |= n->nodes[k].is_product || n->nodes[k].n_terms > 0;
  return !n->staged || set_levels(n);
}

static void size_nest(kernel_nest *n) {
  kernel_mark_packed(n);
  cost_set_sizes(n);
}

/* The cheapest, of those with this column; column -1: any. False: none is legal. */
static bool find_roles(kernel_nest *n, int32_t column, double *out_cost) {
  choice best = {.row = -1};
  double least = 0;
  for (int32_t i = 0; i < 2 * n->n_axes * n->n_axes; i++) {
    choice c = {i / 2 / n->n_axes, i / 2 % n->n_axes, i % 2};
    uint32_t tile = 1u << c.row | 1u << c.column;
    if (column >= 0 && c.column != column) continue;
    if (c.row == c.column || (n->positions | n->strided) & tile || !is_legal(n, c)) continue;
    size_nest(n);
    double cost = cost_of_nest(n);
    if (best.row >= 0 && cost >= least) continue;
    least = cost;
    best = c;
  }
  *out_cost = least;
  return best.row >= 0 && is_legal(n, best);
}

/* Two axes as one where that makes cheaper columns. */
static void merge_columns(kernel_nest *n, double cost) {
  kernel_nest best = *n;
  for (int32_t b = 1; b < n->n_axes; b++)
    for (int32_t a = 0; a < b; a++) {
      if (!kernel_may_merge(n, a, b)) continue;
      kernel_nest trial = kernel_merged(n, a, b);
      double merged;
      if (!find_roles(&trial, a, &merged) || merged >= cost) continue;
      cost = merged;
      best = trial;
    }
  *n = best;
}

static bool choose_roles(kernel_tie *t) {
  double cost;
  if (!find_roles(t->n, -1, &cost) && !(kernel_merge_axes(t->n) && find_roles(t->n, -1, &cost)))
    return refuse(t, "no pair of axes that can be rows and columns");
  merge_columns(t->n, cost);
  return true;
}

/* ---- what holds of every nest that is covered ---- */
static void check_roles(const kernel_nest *n) {
  ctx *c = n->m->ctx;
  CTX_CHECK(c, n->n_axes >= 2 && n->n_axes <= KERNEL_MOST_AXES);
  CTX_CHECK(c, n->row >= 0 && n->row < n->n_axes && n->column >= 0 && n->column < n->n_axes);
  CTX_CHECK(c, n->row != n->column);
  CTX_CHECK(c, !((n->positions | n->strided) & (1u << n->row | 1u << n->column)));
  for (int32_t a = 0; a < n->n_axes; a++) {
    CTX_CHECK(c, n->extent[a] >= 0 && n->extent[a] != 1);
    CTX_CHECK(c, (n->role[a] == KERNEL_ROW) == (a == n->row));
    CTX_CHECK(c, (n->role[a] == KERNEL_COLUMN) == (a == n->column));
    CTX_CHECK(c, n->role[a] != KERNEL_OUTER || !((n->positions | n->strided) >> a & 1));
  }
}

/* Statistics that a running sum is brought to are without columns, and run in its pass. */
static void check_terms(const kernel_nest *n, const kernel_node *x) {
  ctx *c = n->m->ctx;
  for (int32_t i = 0; i < x->n_terms; i++) {
    const kernel_node *t = &n->nodes[x->terms[i].node];
    CTX_CHECK(c, t < x && t->is_boundary && !(t->mask >> n->column & 1));
    CTX_CHECK(c, t->level > x->pass && t->ready <= x->phase);
  }
}

/* A reduction is over columns, with a pass that runs it, or over rows, or inside of the tile. */
static void check_node(const kernel_nest *n, const kernel_node *x) {
  ctx *c = n->m->ctx;
  uint32_t row = 1u << n->row, column = 1u << n->column;
  CTX_CHECK(c, !(x->mask & x->reduces));
  CTX_CHECK(c, (x->mask | x->reduces) < 1u << n->n_axes);
  CTX_CHECK(c, x->index < n->n_reductions && x->late < n->n_late);
  CTX_CHECK(c, (x->late >= 0) == !!(x->reduces & row));
  CTX_CHECK(c, (x->index >= 0) == ((x->reduces & (row | column)) == column));
  CTX_CHECK(c, x->index < 0 || x->pass < n->n_passes);
  CTX_CHECK(c, x->level >= 0 && x->level <= n->n_passes);
  CTX_CHECK(c,
            x->n_terms >= 0 && x->n_terms <= KERNEL_MOST_TERMS && (!x->n_terms || x->index >= 0));
  CTX_CHECK(c, !(x->after && x->mask & row));
  CTX_CHECK(c, !(x->is_rowless && x->mask & row));
  CTX_CHECK(c, x->phase >= 0 && x->step >= 0 && x->ready >= 0);
  CTX_CHECK(c, !x->is_product || (x->kind == IR_OP_DOT_GENERAL && (x->index >= 0 || x->late >= 0)));
  CTX_CHECK(c, x->packed != KERNEL_PACKED_ROWS || (x->mask & (row | column)) == row);
  CTX_CHECK(c, x->packed != KERNEL_PACKED_COLUMNS || (x->mask & column && x->is_rowless));
  check_terms(n, x);
  for (uint32_t i = 0; i < x->n_operands; i++) { /* in program order */
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    CTX_CHECK(c, !from || from < x);
    CTX_CHECK(c, !from || from->level <= x->level || from->n_terms);
  }
}

/* Inner axes are in no result, outer ones in all. */
static void check_output(const kernel_nest *n, const kernel_output *o) {
  ctx *c = n->m->ctx;
  CTX_CHECK(c, o->node >= 0 && (uint32_t)o->node < n->n_nodes);
  CTX_CHECK(c, o->level <= n->n_passes && o->phase >= 0);
  for (int32_t a = 0; a < n->n_axes; a++) {
    bool has = n->nodes[o->node].mask >> a & 1;
    CTX_CHECK(c, n->role[a] != KERNEL_INNER || !has);
    CTX_CHECK(c, n->role[a] != KERNEL_OUTER || has);
  }
}

static void check_nest(const kernel_nest *n) {
  const kernel_sizes *s = &n->sizes;
  ctx *c = n->m->ctx;
  check_roles(n);
  for (uint32_t k = 0; k < n->n_nodes; k++) check_node(n, &n->nodes[k]);
  for (uint32_t j = 0; j < n->n_outputs; j++) check_output(n, &n->outputs[j]);
  CTX_CHECK(c, n->lanes >= 1);
  CTX_CHECK(c, s->rows >= 1 && s->vectors >= 1);
  CTX_CHECK(c, s->block >= 1 && s->chunk >= 1);
  CTX_CHECK(c, s->spans >= 1 && s->column_spans >= 1);
}

bool kernel_nest_of(arena *a, ir_module *m, ir_op loop, const machine *code_for,
                    kernel_nest *out_nest, const char **out_why) {
  const ir_op_data *d = ir_op_get(m, loop);
  *out_nest = (kernel_nest){.m = m,
                            .a = a,
                            .loop = loop,
                            .body = d->regions[0],
                            .n_inputs = d->n_operands,
                            .n_outputs = d->n_results,
                            .machine = *code_for};
  out_nest->outputs = ARENA_ARRAY(a, kernel_output, d->n_results);
  kernel_tie t = {.n = out_nest, .a = a, .loop_slot = UINT32_MAX};
  bool covered = build(&t);
  if (covered) cost_set_lanes(out_nest);
  covered = covered && choose_roles(&t);
  *out_why = covered ? NULL : t.why;
  if (covered) size_nest(out_nest);
  if (covered) check_nest(out_nest);
  return covered;
}
