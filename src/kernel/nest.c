#include "kernel/nest.h"

#include "ir/attrs.h"
#include "ir/compares.h"
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/roles.h"
#include "kernel/run.h"
#include "kernel/tie.h"

enum { MOST_NODES = 400 };

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
  ir_ints start = ir_op_list(n->m, ir_value_get(n->m, view)->op, "start_indices");
  ir_value input = ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, view));
  int64_t at = 0;
  for (int32_t i = 0; i < start.count; i++)
    at = at * ir_type_at(n->m, input)->dims[i] + start.at[i];
  return at;
}

static bool is_argument(const kernel_nest *n, ir_value v) {
  return !ir_value_get(n->m, v)->op && ir_value_get(n->m, v)->index >= 2;
}

/* A slice that can be read where it lies: of an input, without gaps, and whole along the dimension
 * that the loop slices. */
static bool is_view(const kernel_nest *n, ir_op op) {
  if (ir_kind_of(n->m, op) != IR_OP_SLICE || !is_argument(n, ir_operand(n->m, op, 0)) ||
      !ir_ints_all(ir_op_list(n->m, op, "strides"), 1))
    return false;
  int32_t input = kernel_input_of(n, ir_operand(n->m, op, 0));
  int64_t dim = ir_op_entry(n->m, n->loop, "in_dims", input, -1);
  return dim < 0 || kernel_keeps_index(n->m, op, 0, dim);
}

/* Made anew for every reader, with the reader's axes. */
static bool is_free(ir_kind kind) { return kind == IR_OP_CONSTANT || kind == IR_OP_IOTA; }

static bool is_leaf(const kernel_nest *n, ir_value v) {
  const kernel_node *x = kernel_node_of(n, v);
  return !x || is_free(x->kind);
}

static bool is_covered_type(const ir_module *m, ir_type type) {
  const ir_type_data *d = ir_type_get(m, type);
  return ir_is_static_tensor(m, type) && d->rank <= KERNEL_MOST_RANK &&
         kernel_dtype_text(d->dtype) != NULL;
}

static bool add_node(kernel_tie *t, ir_op op) {
  kernel_nest *n = t->n;
  const ir_op_data *d = ir_op_get(n->m, op);
  if (d->kind == IR_OP_UNKNOWN || !kernel_rule_of((ir_kind)d->kind))
    return kernel_refuse(t, ir_op_name(n->m, op));
  bool several = d->kind == IR_OP_REDUCE || d->kind == IR_OP_CHLO_TOP_K || d->kind == IR_OP_REPEAT;
  if ((d->n_results != 1 && !several) || d->n_operands > KERNEL_MOST_OPERANDS)
    return kernel_refuse(t, "an op of several results");
  if (!ir_all_types(n->m, op, is_covered_type))
    return kernel_refuse(t, "an element type that kernels don't have");
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
  t->first[k] = kernel_new_slots(t, kernel_tensor_of(t, x->value));
  for (uint32_t s = t->first[k]; is_free(x->kind) && s < t->n_slots; s++) t->length[s] = 1;
  for (uint32_t i = 0; i < x->n_operands; i++)
    kernel_new_slots(t, kernel_tensor_of(t, ir_operand(n->m, x->op, i)));
  if (!kernel_rule_of(x->kind)(t, x)) return false;
  for (ir_value v, i = 0; (v = ir_operand_at(n->m, x->op, i)); i++) {
    if (is_leaf(n, v)) continue;
    uint32_t def = (uint32_t)(kernel_node_of(n, v) - n->nodes);
    for (int32_t dim = 0; dim < kernel_tensor_of(t, v)->rank; dim++)
      kernel_tie_slots(t, kernel_operand_slot(t, k, i, dim), kernel_result_slot(t, def, dim));
  }
  return true;
}

/* ---- the loop's own dimension ---- */
static void tie_loop(kernel_tie *t, uint32_t slot) {
  if (t->loop_slot == UINT32_MAX) t->loop_slot = slot;
  kernel_tie_slots(t, t->loop_slot, slot);
}

static bool tie_input(kernel_tie *t, uint32_t k, uint32_t i, const ir_loop *l) {
  int32_t input = kernel_input_of(t->n, ir_operand(t->n->m, t->n->nodes[k].op, i));
  if (input < 0) return kernel_refuse(t, "what depends on where a slice begins");
  if (input >= (int32_t)l->n_inputs || l->in_dims[input] < 0) return true;
  if (l->in_units[input] != 1) return kernel_refuse(t, "a slice of several elements an index");
  tie_loop(t, kernel_operand_slot(t, k, i, l->in_dims[input]));
  return true;
}

static bool tie_inputs(kernel_tie *t) {
  kernel_nest *n = t->n;
  ir_loop l = ir_loop_get(n->m, n->loop);
  for (uint32_t k = 0; k < n->n_nodes; k++)
    for (uint32_t i = 0; i < n->nodes[k].n_operands; i++)
      if (!kernel_node_of(n, ir_operand(n->m, n->nodes[k].op, i)) && !tie_input(t, k, i, &l))
        return false;
  return true;
}

static bool tie_outputs(kernel_tie *t) {
  kernel_nest *n = t->n;
  ir_loop l = ir_loop_get(n->m, n->loop);
  ir_op end = ir_terminator(n->m, n->body);
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    ir_value v = ir_operand(n->m, end, j);
    if (is_leaf(n, v)) return kernel_refuse(t, "a result that is an input");
    int32_t def = (int32_t)(kernel_node_of(n, v) - n->nodes);
    n->outputs[j] = (kernel_output){
        .value = v, .node = def, .dims = ir_type_at(n->m, ir_result(n->m, n->loop, j))->dims};
    if (l.out_dims[j] < 0) continue;
    if (l.out_units[j] != 1) return kernel_refuse(t, "a slice of several elements an index");
    tie_loop(t, kernel_result_slot(t, (uint32_t)def, l.out_dims[j]));
  }
  return true;
}

/* ---- classes -> axes ---- */
static bool number_axes(kernel_tie *t, int8_t *axis_of) {
  kernel_nest *n = t->n;
  uint32_t loop = t->loop_slot == UINT32_MAX ? UINT32_MAX : kernel_class_of(t, t->loop_slot);
  for (uint32_t s = 0; s < t->n_slots; s++) axis_of[s] = KERNEL_NO_AXIS;
  for (uint32_t s = 0; s < t->n_slots; s++) {
    uint32_t top = kernel_class_of(t, s);
    if (t->length[s] == 1) continue; /* one of a class may be broadcast */
    if (axis_of[top] < 0) {
      if (n->n_axes == KERNEL_MOST_AXES) return kernel_refuse(t, "too many axes");
      axis_of[top] = (int8_t)n->n_axes;
      n->extent[n->n_axes++] = t->length[s];
    }
    if (t->is_position[s]) n->positions |= 1u << axis_of[top];
    if (t->is_bent[s]) n->strided |= 1u << axis_of[top];
    if (t->is_bent[s] && top == loop) return kernel_refuse(t, "a slice of the loop's dimension");
    if (t->length[s] != n->extent[axis_of[top]]) return kernel_refuse(t, "an axis of two lengths");
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
  int32_t rank = kernel_tensor_of(t, x->value)->rank;
  uint32_t read = 0;
  bool any_twice = false;
  x->result = axes_at(t, axis_of, kernel_result_slot(t, k, 0), rank);
  x->mask = kernel_axes_mask(&x->result);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    rank = kernel_tensor_of(t, ir_operand(n->m, x->op, i))->rank;
    x->operands[i] = axes_at(t, axis_of, kernel_operand_slot(t, k, i, 0), rank);
    read |= kernel_axes_mask(&x->operands[i]);
    any_twice |= has_axis_twice(&x->operands[i]);
  }
  bool reduces =
      x->kind == IR_OP_REDUCE || x->kind == IR_OP_DOT_GENERAL || x->kind == IR_OP_CHLO_TOP_K;
  x->reduces = reduces ? read & ~x->mask : 0;
  bool bends = x->kind == IR_OP_SLICE || x->kind == IR_OP_PAD || x->kind == IR_OP_CONCATENATE;
  if (reduces && any_twice) return kernel_refuse(t, "a reduction over an axis that stays");
  if (bends && any_twice) return kernel_refuse(t, "a slice of a diagonal");
  return is_free(x->kind) || !has_axis_twice(&x->result) ||
         kernel_refuse(t, "a value with the same axis twice");
}

/* ---- whiles that were opened ---- */
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
  for (kernel_node *node = n->nodes; node < n->nodes + n->n_nodes; node++) {
    count_turns(n, node);
    if (node->kind == IR_OP_CARRY) carried |= node->mask;
    if (node->kind == IR_OP_REPEAT) note_repeat(n, node);
  }
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    uint32_t axes = x->reduces | (x->mask & n->strided);
    for (uint32_t i = 0; i < x->n_operands; i++)
      axes |= kernel_axes_mask(&x->operands[i]) & n->strided;
    if (x->depth && axes & carried)
      return kernel_refuse(t, "a while that sums over what it carries");
  }
  return true;
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
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    bool is_read_once = !ir_user_at(&users, x->value, 1);
    x->is_added = x->kind == IR_OP_MULTIPLY && is_read_once &&
                  sums_up(n->m, ir_user_at(&users, x->value, 0), x->value);
  }
}

static bool is_rounded_sum(const kernel_nest *n, const kernel_node *x) {
  return x->reduces && (x->monoid == IR_OP_ADD || x->monoid == IR_OP_MULTIPLY) &&
         ir_is_float(ir_type_at(n->m, x->value)->dtype);
}

static bool compares(const kernel_nest *n, const kernel_node *x) {
  return x->kind == IR_OP_COMPARE || ir_compares_by(n->m, x->op);
}

/* By node: whether it is made of comparisons. */
static const bool *find_made_of_comparisons(const kernel_nest *n) {
  bool *is = ARENA_ARRAY(n->a, bool, n->n_nodes + 1);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    for (uint32_t i = 0; i < x->n_operands; i++) {
      const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
      is[k] |= from && (is[from - n->nodes] || compares(n, from));
    }
  }
  return is;
}

/* What has fewer dimensions is small: it is read, not made again. */
static bool is_matrix(const kernel_nest *n, const kernel_node *x) {
  int32_t axes = 0;
  for (int32_t a = 0; a < n->n_axes; a++) axes += x->mask >> a & 1 && n->extent[a] > 1;
  return axes >= 2;
}

enum { COMPARED = 1, PUT_OUT = 2 };

/* What is compared, in a loop that has to agree with another one, which makes it again: where rows
 * or columns are summed up, the order of terms is this nest's own. A matrix that is put out, or
 * selected from, may be compared there; one that is made of comparisons rarely is: gradients. */
static void mark_in_order(kernel_nest *n) {
  uint8_t *read = ARENA_ARRAY(n->a, uint8_t, n->n_nodes + 1);
  if (!n->agrees) return;
  const bool *is_of_comparisons = find_made_of_comparisons(n);
  for (uint32_t j = 0; j < n->n_outputs; j++) read[n->outputs[j].node] = PUT_OUT;
  for (uint32_t k = n->n_nodes; k-- > 0;) {
    kernel_node *x = &n->nodes[k];
    bool may_be_compared = read[k] && !is_of_comparisons[k] && is_matrix(n, x);
    x->in_order = (read[k] & COMPARED || may_be_compared) && is_rounded_sum(n, x);
    uint8_t is = compares(n, x) ? COMPARED : read[k];
    for (uint32_t i = 0; is && i < x->n_operands; i++) {
      const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
      if (from) read[from - n->nodes] |= is;
    }
  }
}

static void mark_exact_operands(kernel_nest *n, const kernel_node *x) {
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (from) n->nodes[from - n->nodes].is_exact = true;
  }
}

/* What is compared, from inputs on, and what is put out for another kernel that compares it:
 * whether two operations are contracted to one hangs on those around them. */
static void mark_exact(kernel_nest *n) {
  for (uint32_t j = 0; n->agrees && j < n->n_outputs; j++)
    n->nodes[n->outputs[j].node].is_exact = true;
  for (uint32_t k = n->n_nodes; k-- > 0;) {
    const kernel_node *x = &n->nodes[k];
    ir_op by = ir_compares_rounded_by(n->m, x->op);
    if (by) mark_exact_operands(n, kernel_node_of(n, ir_result(n->m, by, 0)));
    if (x->is_exact) mark_exact_operands(n, x);
  }
}

static bool build(kernel_tie *t) {
  kernel_nest *n = t->n;
  ir_module *m = n->m;
  uint32_t count = 0, slots = 0;
  for (ir_op op, i = 0; (op = ir_body_op_at(m, n->body, i)); i++)
    count += ir_op_get(m, op)->n_results;
  if (ir_op_int(m, n->loop, "slice", 0) != ir_op_int(m, n->loop, "extent", 0))
    return kernel_refuse(t, "a loop of several trips");
  if (count > MOST_NODES) return kernel_refuse(t, "too many ops");
  if (n->n_inputs + n->n_outputs > KERNEL_MOST_BUFFERS) return kernel_refuse(t, "too many results");
  n->nodes = ARENA_ARRAY(n->a, kernel_node, count + 1);
  n->node_of = ARENA_ARRAY(n->a, uint32_t, m->ops.count);
  n->views = ARENA_ARRAY(n->a, ir_value, count + 1);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, n->body, i)); i++)
    if (!add_node(t, op)) return false;
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
  mark_exact(n);
  return true;
}

bool kernel_nest_of(arena *a, ir_module *m, ir_op loop, const machine *code_for,
                    kernel_nest *out_nest, const char **out_why) {
  const ir_op_data *d = ir_op_get(m, loop);
  *out_nest = (kernel_nest){.m = m,
                            .a = a,
                            .loop = loop,
                            .body = d->regions[0],
                            .agrees = ir_op_bool(m, loop, "agree", false),
                            .n_inputs = d->n_operands,
                            .n_outputs = d->n_results,
                            .machine = *code_for};
  out_nest->outputs = ARENA_ARRAY(a, kernel_output, d->n_results);
  kernel_tie t = {.n = out_nest, .a = a, .loop_slot = UINT32_MAX};
  bool covered = build(&t);
  if (covered) cost_set_lanes(out_nest);
  covered = covered && (kernel_choose_roles(out_nest) ||
                        kernel_refuse(&t, "no pair of axes that can be rows and columns"));
  *out_why = covered ? NULL : t.why;
  if (covered) kernel_check_nest(out_nest);
  return covered;
}
