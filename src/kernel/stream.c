/* Sums that read statistics of their own pass. In: a nest whose nodes up to a sum over the columns
 * have levels. Out: whether the sum is a multiple of exp(degree * t), where t has no columns and is
 * made from running maxima or minima; then it runs in their pass, one phase later, and is brought
 * to the new t whenever that changes: exp(degree * (t_new - t_old)) times what was summed so far.
 * The algebra is that of the split pass (src/ir/online.h), with row values in place of statistics:
 * masks and guards around a maximum are row values like any other.
 *
 * While the pass runs, an infinite t counts as 0; a sum that ends with an infinite t is multiplied
 * by exp(degree * t), which makes of it what the program would have (NaN, mostly). A sum of 0 stays
 * 0.
 */
#include "ir/online.h"
#include "kernel/nest.h"

enum { MOST_STEPS = 2048 };

typedef struct reading {
  const kernel_nest *n;
  int32_t pass, steps;
} reading;

/* ---- reading it off the nodes ---- */
/* 1: x, a value without columns, grows with running maxima of the pass; -1: it falls with them, or
 * grows with minima; 0: neither, or not known. */
static int32_t direction_of(reading *r, const kernel_node *x);

static int32_t operand_direction(reading *r, const kernel_node *x, uint32_t i) {
  const kernel_node *from = kernel_node_of(r->n, ir_operand(r->n->m, x->op, i));
  return from && from->level > r->pass ? direction_of(r, from) : 0;
}

static bool is_known(const reading *r, const kernel_node *x, uint32_t i) {
  const kernel_node *from = kernel_node_of(r->n, ir_operand(r->n->m, x->op, i));
  return !from || from->level <= r->pass;
}

static int32_t direction_of(reading *r, const kernel_node *x) {
  if (r->steps-- <= 0) return 0;
  switch (x->kind) {
    case IR_OP_REDUCE:
      if (x->index < 0 || x->pass != r->pass || !ir_is_real(ir_type_at(r->n->m, x->value)->dtype))
        return 0;
      return x->monoid == IR_OP_MAXIMUM ? 1 : x->monoid == IR_OP_MINIMUM ? -1 : 0;
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return operand_direction(r, x, 0);
    case IR_OP_NEGATE: return -operand_direction(r, x, 0);
    case IR_OP_SELECT:
      if (is_known(r, x, 2)) return operand_direction(r, x, 1);
      return is_known(r, x, 1) ? operand_direction(r, x, 2) : 0;
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_ADD:
      if (is_known(r, x, 1)) return operand_direction(r, x, 0);
      return is_known(r, x, 0) ? operand_direction(r, x, 1) : 0;
    default: return 0;
  }
}

/* Of a value without columns: a statistic, if it changes in one direction. */
static online_form statistic_form(reading *r, const kernel_node *x) {
  uint32_t others = x->mask & ~(1u << r->n->row);
  for (int32_t a = 0; a < r->n->n_axes; a++)
    if (r->n->role[a] == KERNEL_OUTER) others &= ~(1u << a);
  if (others || !ir_is_real(ir_type_at(r->n->m, x->value)->dtype) || !direction_of(r, x))
    return ONLINE_UNKNOWN;
  online_term term = {.statistic = (uint32_t)(x - r->n->nodes), .degree = 1};
  return (online_form){ONLINE_ADDITIVE, {1, {term}}};
}

static online_form operand_form(void *reader, ir_op op, uint32_t i) {
  reading *r = reader;
  const kernel_node *x = kernel_node_of(r->n, ir_operand(r->n->m, op, i));
  if (!x || x->level <= r->pass) return ONLINE_NONE;
  if (r->steps-- <= 0) return ONLINE_UNKNOWN;
  if (!(x->mask >> r->n->column & 1)) return statistic_form(r, x);
  return online_of_op(r->n->m, x->op, operand_form, r);
}

/* What was summed never grows: exp(x - max), exp(min - x). So it does not overflow on the way, and
 * an infinite statistic has an infinite or masked element of its own in the sum. */
static bool only_falls(reading *r, const online_terms *t) {
  for (int32_t i = 0; i < t->count; i++)
    if (t->at[i].degree * direction_of(r, &r->n->nodes[t->at[i].statistic]) > 0) return false;
  return true;
}

bool kernel_stream(kernel_nest *n, kernel_node *x) {
  reading r = {n, x->level - 1, MOST_STEPS};
  if (x->level == 0 || x->monoid != IR_OP_ADD || !ir_is_real(ir_type_at(n->m, x->value)->dtype))
    return false;
  online_form f = online_of_op(n->m, x->op, operand_form, &r);
  if (f.kind != ONLINE_MULTIPLICATIVE || f.terms.count > KERNEL_MOST_TERMS ||
      !only_falls(&r, &f.terms))
    return false;
  int32_t phase = x->n_terms = 0;
  for (int32_t i = 0; i < f.terms.count; i++) {
    kernel_node *t = &n->nodes[f.terms.at[i].statistic];
    t->is_boundary = true;
    if (t->ready > phase) phase = t->ready;
    x->terms[x->n_terms++] = (kernel_term){(int32_t)(t - n->nodes), f.terms.at[i].degree};
  }
  x->pass = r.pass;
  return phase > 0;
}

int32_t kernel_phases_of(const kernel_nest *n, int32_t pass) {
  int32_t last = 0;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if ((x->index >= 0 || x->late >= 0) && x->pass == pass && x->phase > last) last = x->phase;
  for (const kernel_output *o = n->outputs; o < n->outputs + n->n_outputs; o++) {
    bool has_column = n->nodes[o->node].mask >> n->column & 1;
    if (has_column && !o->after && o->level == pass && o->phase > last) last = o->phase;
  }
  return last + 1;
}
