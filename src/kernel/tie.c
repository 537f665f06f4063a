/* What each op ties: kernel rules of ir/ops.def. */
#include "kernel/tie.h"

#include <assert.h>
#include <string.h>

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/maps.h"
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/flatten.h"
#include "kernel/lists.h"

bool kernel_refuse(kernel_tie *t, const char *why) {
  if (!t->why) t->why = why;
  return false;
}

uint32_t kernel_class_of(kernel_tie *t, uint32_t s) {
  while (t->parent[s] != s) s = t->parent[s] = t->parent[t->parent[s]];
  return s;
}

void kernel_tie_slots(kernel_tie *t, uint32_t a, uint32_t b) {
  uint32_t x = kernel_class_of(t, a), y = kernel_class_of(t, b);
  if (x != y) t->parent[x > y ? x : y] = x > y ? y : x;
}

uint32_t kernel_new_slots(kernel_tie *t, const ir_type_data *type) {
  uint32_t first = t->n_slots;
  for (int32_t i = 0; i < type->rank; i++) {
    t->parent[first + (uint32_t)i] = first + (uint32_t)i;
    t->length[first + (uint32_t)i] = type->dims[i];
  }
  t->n_slots += (uint32_t)type->rank;
  return first;
}

uint32_t kernel_result_slot(const kernel_tie *t, uint32_t node, int64_t dim) {
  return t->first[node] + (uint32_t)dim;
}

uint32_t kernel_operand_slot(const kernel_tie *t, uint32_t node, uint32_t operand, int64_t dim) {
  const kernel_node *x = &t->n->nodes[node];
  uint32_t slot = t->first[node] + (uint32_t)kernel_tensor_of(t, x->value)->rank;
  for (uint32_t i = 0; i < operand; i++)
    slot += (uint32_t)kernel_tensor_of(t, ir_operand(t->n->m, x->op, i))->rank;
  return slot + (uint32_t)dim;
}

/* ---- rules: what a kernel can't do is refused; ir/maps says what is tied ---- */
static bool is_repeated(const kernel_tie *t, const kernel_node *x, uint32_t operand, int32_t dim) {
  return x->kind == IR_OP_BROADCAST_IN_DIM &&
         kernel_tensor_of(t, ir_operand(t->n->m, x->op, operand))->dims[dim] == 1;
}

/* Dimensions of operands that count an index of the op's loop nest are tied to that of the result
 * that does, those that count a reduced one to each other. False: the op has no map. */
static bool tie_by_map(kernel_tie *t, const kernel_node *x) {
  uint32_t slot_of[2 * IR_MAX_RANK]; /* by index */
  int32_t index[IR_MAX_RANK], rank = kernel_tensor_of(t, x->value)->rank;
  memset(slot_of, 0xff, sizeof slot_of);
  if (!ir_result_indices(t->a, t->n->m, x->op, x->which, index)) return false;
  for (int32_t d = 0; d < rank; d++)
    if (index[d] != IR_ALONE) slot_of[index[d]] = kernel_result_slot(t, t->now, d);
  for (uint32_t k = 0; k < x->n_operands; k++) {
    if (!ir_operand_indices(t->a, t->n->m, x->op, k, index)) return false;
    rank = kernel_tensor_of(t, ir_operand(t->n->m, x->op, k))->rank;
    for (int32_t d = 0; d < rank; d++) {
      if (index[d] == IR_ALONE || is_repeated(t, x, k, d)) continue;
      assert(index[d] < 2 * IR_MAX_RANK);
      if (slot_of[index[d]] == UINT32_MAX) slot_of[index[d]] = kernel_operand_slot(t, t->now, k, d);
      kernel_tie_slots(t, slot_of[index[d]], kernel_operand_slot(t, t->now, k, d));
    }
  }
  return true;
}

static bool rule_elementwise(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  bool halves = kernel_tensor_of(t, node->value)->dtype == IR_F16 ||
                kernel_tensor_of(t, ir_operand(m, node->op, 0))->dtype == IR_F16 ||
                (node->kind == IR_OP_ROUND && kernel_round_format(m, node->op) == IR_F16);
  if (!kernel_is_elementwise(m, node->op) || (halves && !machine_has_halves(&t->n->machine)))
    return kernel_refuse(t, "an elementwise op of this element type");
  return tie_by_map(t, node);
}

static bool rule_constant(kernel_tie *t, kernel_node *node) {
  const ir_attr_data *d = ir_attr_get(t->n->m, ir_op_attr(t->n->m, node->op, "value"));
  return d->splat || kernel_refuse(t, "a constant that is not a splat");
}

static bool rule_iota(kernel_tie *t, kernel_node *node) {
  return !kernel_is_narrow(kernel_tensor_of(t, node->value)->dtype) ||
         kernel_refuse(t, "counting in 16 bits");
}

/* Dimensions are repeated, change places, or are of length 1 and come and go. */
static bool rule_move(kernel_tie *t, kernel_node *node) {
  int32_t to[IR_MAX_RANK];
  return (ir_moved_dims(t->n->m, node->op, to) && tie_by_map(t, node)) ||
         kernel_refuse(t, "a reshape that merges or cuts dimensions");
}

static bool rule_reduce(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  node->monoid = ir_reducer_kind(m, ir_body(m, node->op));
  node->never_negative = ir_is_never_negative(m, ir_operand(m, node->op, 0));
  bool covered = kernel_is_variadic(node) ? kernel_variadic_is_covered(m, node->op)
                                          : node->monoid != IR_OP_UNKNOWN;
  if (!covered) return kernel_refuse(t, "a reduction by a function of its own");
  if (kernel_is_narrow(kernel_tensor_of(t, ir_operand(m, node->op, 0))->dtype))
    return kernel_refuse(t, "a reduction in 16 bits");
  return tie_by_map(t, node);
}

/* The last dimension of the results, k long, is nobody else's. */
static bool rule_top_k(kernel_tie *t, kernel_node *node) {
  const ir_type_data *operand = kernel_tensor_of(t, ir_operand(t->n->m, node->op, 0));
  int32_t last = operand->rank - 1;
  if (!kernel_topk_is_covered(operand->dtype))
    return kernel_refuse(t, "a top-k of this element type");
  uint32_t rank = kernel_result_slot(t, t->now - node->which, last);
  kernel_tie_slots(t, rank, kernel_result_slot(t, t->now, last));
  t->is_position[rank] = true;
  return tie_by_map(t, node);
}

static bool rule_dot_general(kernel_tie *t, kernel_node *node) {
  ir_module *m = t->n->m;
  ir_dtype out = kernel_tensor_of(t, node->value)->dtype;
  node->monoid = IR_OP_ADD;
  if (kernel_tensor_of(t, ir_operand(m, node->op, 0))->dtype != out ||
      kernel_tensor_of(t, ir_operand(m, node->op, 1))->dtype != out || out == IR_I1 ||
      kernel_is_narrow(out))
    return kernel_refuse(t, "a dot of mixed element types");
  return tie_by_map(t, node) || kernel_refuse(t, "a dot that does not read");
}

/* ---- whiles that were opened ---- */
static void tie_all(kernel_tie *t, uint32_t a, uint32_t b, int32_t rank) {
  for (int32_t d = 0; d < rank; d++) kernel_tie_slots(t, a + (uint32_t)d, b + (uint32_t)d);
}

static bool rule_carry(kernel_tie *t, kernel_node *node) {
  tie_all(t, kernel_operand_slot(t, t->now, 0, 0), kernel_result_slot(t, t->now, 0),
          kernel_tensor_of(t, node->value)->rank);
  return true;
}

/* All results have all operands; each is tied to its own. */
static bool rule_repeat(kernel_tie *t, kernel_node *node) {
  uint32_t carries = (node->n_operands - 1) / 2, first = t->now - node->which;
  for (uint32_t i = 0; i < 2 * carries; i++)
    tie_all(t, kernel_operand_slot(t, t->now, i, 0), kernel_operand_slot(t, first, i, 0),
            kernel_tensor_of(t, ir_operand(t->n->m, node->op, i))->rank);
  for (uint32_t i = node->which; i < 2 * carries; i += carries)
    tie_all(t, kernel_operand_slot(t, t->now, i, 0), kernel_result_slot(t, t->now, 0),
            kernel_tensor_of(t, node->value)->rank);
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
  int32_t rank = kernel_tensor_of(t, node->value)->rank;
  uint32_t n = node->kind == IR_OP_CONCATENATE ? node->n_operands : 1; /* not the padding */
  for (uint32_t k = 0; k < n; k++)
    for (int32_t d = 0; d < rank; d++)
      if (!kernel_keeps_index(t->n->m, node->op, k, d))
        t->is_bent[kernel_operand_slot(t, t->now, k, d)] =
            t->is_bent[kernel_result_slot(t, t->now, d)] = true;
  return tie_by_map(t, node);
}

/* A dimension of a gather's operand: the result's, or named by the index and read at one place. */
static bool tie_gathered(kernel_tie *t, int64_t dim, bool is_named, int64_t slice, int64_t result) {
  uint32_t slot = kernel_operand_slot(t, t->now, 0, dim);
  if (is_named || result < 0) t->is_bent[slot] = true;
  else kernel_tie_slots(t, slot, kernel_result_slot(t, t->now, result));
  return slice == (is_named || result < 0 ? 1 : t->length[slot]) ||
         kernel_refuse(t, "a gather of windows");
}

static bool rule_gather(kernel_tie *t, kernel_node *node) {
  ir_gather_numbers g;
  ir_module *m = t->n->m;
  if (!ir_gather_dims(t->a, m, node->op, &g))
    return kernel_refuse(t, "a gather that does not read");
  if (!kernel_gathered_input(t->n, node)) return kernel_refuse(t, "a gather of what is computed");
  const int64_t *slice = ir_op_list(m, node->op, "slice_sizes").at;
  const ir_type_data *operand = kernel_tensor_of(t, ir_operand(m, node->op, 0)),
                     *index = kernel_tensor_of(t, ir_operand(m, node->op, 1));
  int32_t window = 0, batch = 0;
  for (int32_t d = 0; d < operand->rank; d++) {
    int32_t pair = ir_ints_find(g.operand_batching_dims, d);
    bool cut = pair >= 0 || ir_ints_have(g.collapsed_slice_dims, d);
    int64_t result = cut ? -1 : g.offset_dims.at[window++];
    if (pair >= 0)
      kernel_tie_slots(t, kernel_operand_slot(t, t->now, 0, d),
                       kernel_operand_slot(t, t->now, 1, g.start_indices_batching_dims.at[pair]));
    else if (!tie_gathered(t, d, ir_ints_have(g.start_index_map, d), slice[d], result))
      return false;
  }
  for (int32_t d = 0; d < index->rank; d++) {
    if (d == g.index_vector_dim) {
      t->is_bent[kernel_operand_slot(t, t->now, 1, d)] = true;
      continue;
    }
    while (ir_ints_have(g.offset_dims, batch)) batch++;
    kernel_tie_slots(t, kernel_operand_slot(t, t->now, 1, d),
                     kernel_result_slot(t, t->now, batch++));
  }
  return true;
}

/* A gather at one place. */
static bool rule_dynamic_slice(kernel_tie *t, kernel_node *node) {
  const ir_type_data *operand = kernel_tensor_of(t, ir_operand(t->n->m, node->op, 0)),
                     *result = kernel_tensor_of(t, node->value);
  if (!operand->rank || !kernel_gathered_input(t->n, node))
    return kernel_refuse(t, "a dynamic slice of what is computed");
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
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = &kernel_rule_##kernel,
#include "ir/ops.def"
#undef OP
};

kernel_rule *kernel_rule_of(ir_kind kind) { return rules[kind] ? *rules[kind] : NULL; }

bool kernel_has_rule(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  int32_t to[IR_MAX_RANK];
  if (kind == IR_OP_WHILE) return kernel_can_flatten(m, op);
  if (!rules[kind] || !*rules[kind]) return false;
  if (*rules[kind] == rule_bent) return bends_inside((ir_module *)m, op);
  return *rules[kind] != rule_move || ir_moved_dims((ir_module *)m, op, to);
}
