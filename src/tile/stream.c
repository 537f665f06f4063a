/* Sums that read statistics of their own pass. In: a nest whose nodes up to a sum over the columns
 * have levels. Out: whether the sum is a multiple of exp(degree * t), where t has no columns and is
 * made from running maxima or minima; then it runs in their pass, one phase later, and is brought
 * to the new t whenever that changes: exp(degree * (t_new - t_old)) times what was summed so far.
 * The algebra is that of the split pass (src/split/stream.c), with row values in place of
 * statistics: masks and guards around a maximum are row values like any other.
 *
 * While the pass runs, an infinite t counts as 0; a sum that ends with an infinite t is multiplied
 * by exp(degree * t), which makes of it what the program would have (NaN, mostly). A sum of 0 stays
 * 0.
 */
#include <math.h>

#include "ir/attrs.h"
#include "tile/nest.h"

enum { MOST_STEPS = 2048 };

typedef enum dependence { INDEPENDENT, ADDITIVE, MULTIPLICATIVE, OTHERWISE } dependence;

typedef struct form { /* u + sum degree * t, or u * exp(sum degree * t) */
  dependence kind;
  int32_t n;
  tile_term at[TILE_MOST_TERMS];
} form;

typedef struct reading {
  const tile_nest *n;
  int32_t pass, steps;
} reading;

static const form INDEPENDENT_FORM = {INDEPENDENT, 0, {{0, 0}}}, NO_FORM = {OTHERWISE, 0, {{0, 0}}};

/* ---- the algebra ---- */
static bool add_term(form *f, tile_term term) {
  for (int32_t i = 0; i < f->n; i++)
    if (f->at[i].node == term.node) {
      f->at[i].degree += term.degree;
      return true;
    }
  if (f->n == TILE_MOST_TERMS) return false;
  f->at[f->n++] = term;
  return true;
}

static form combined(form a, form b, int32_t sign) { /* of sums, or of products */
  for (int32_t i = 0; i < b.n; i++)
    if (!add_term(&a, (tile_term){b.at[i].node, sign * b.at[i].degree})) return NO_FORM;
  if (a.kind == INDEPENDENT) a.kind = b.kind;
  return a;
}

static bool same_terms(const form *a, const form *b) {
  form difference = combined(*a, *b, -1);
  for (int32_t i = 0; i < difference.n; i++)
    if (difference.at[i].degree) return false;
  return difference.kind != OTHERWISE;
}

static form sum_of(form a, form b, int32_t sign) {
  if (a.kind == OTHERWISE || b.kind == OTHERWISE) return NO_FORM;
  if (a.kind != MULTIPLICATIVE && b.kind != MULTIPLICATIVE) return combined(a, b, sign);
  return a.kind == b.kind && same_terms(&a, &b) ? a : NO_FORM;
}

static form product_of(form a, form b, int32_t sign) {
  bool fits = (a.kind == INDEPENDENT || a.kind == MULTIPLICATIVE) &&
              (b.kind == INDEPENDENT || b.kind == MULTIPLICATIVE);
  return fits ? combined(a, b, sign) : NO_FORM;
}

static form exponential_of(form a) {
  if (a.kind != ADDITIVE) return a.kind == INDEPENDENT ? a : NO_FORM;
  a.kind = MULTIPLICATIVE;
  return a;
}

/* ---- reading it off the nodes ---- */
static bool is_splat(const tile_nest *n, ir_value v, double x) {
  ir_op op = ir_value_get(n->m, v)->op;
  while (op && ir_kind_of(n->m, op) == IR_OP_BROADCAST_IN_DIM)
    op = ir_value_get(n->m, ir_operand(n->m, op, 0))->op;
  if (!op || ir_kind_of(n->m, op) != IR_OP_CONSTANT) return false;
  const ir_attr_data *d = ir_attr_get(n->m, ir_op_attr(n->m, op, "value"));
  ir_dtype dtype = ir_type_get(n->m, d->type)->dtype;
  float f;
  double g;
  if (!d->splat || (dtype != IR_F32 && dtype != IR_F64)) return false;
  if (dtype == IR_F32) return memcpy(&f, d->data, sizeof f), (double)f == x;
  return memcpy(&g, d->data, sizeof g), g == x;
}

static bool is_real(const tile_nest *n, const tile_node *x) {
  ir_dtype dtype = ir_type_at(n->m, x->value)->dtype;
  return dtype == IR_F32 || dtype == IR_F64;
}

/* 1: x, a value without columns, grows with running maxima of the pass; -1: it falls with them, or
 * grows with minima; 0: neither, or not known. */
static int32_t direction_of(reading *r, const tile_node *x);

static int32_t operand_direction(reading *r, const tile_node *x, uint32_t i) {
  const tile_node *from = tile_node_of(r->n, ir_operand(r->n->m, x->op, i));
  return from && from->level > r->pass ? direction_of(r, from) : 0;
}

static bool is_known(const reading *r, const tile_node *x, uint32_t i) {
  const tile_node *from = tile_node_of(r->n, ir_operand(r->n->m, x->op, i));
  return !from || from->level <= r->pass;
}

static int32_t direction_of(reading *r, const tile_node *x) {
  if (r->steps-- <= 0) return 0;
  switch (x->kind) {
    case IR_OP_REDUCE:
      if (x->index < 0 || x->pass != r->pass || !is_real(r->n, x)) return 0;
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

static form form_of(reading *r, ir_value v);

static form operand_form(reading *r, const tile_node *x, uint32_t i) {
  return form_of(r, ir_operand(r->n->m, x->op, i));
}

static form statistic_form(reading *r, const tile_node *x) {
  uint32_t others = x->mask & ~(1u << r->n->row);
  for (int32_t a = 0; a < r->n->n_axes; a++)
    if (r->n->role[a] == TILE_OUTER) others &= ~(1u << a);
  if (others || !is_real(r->n, x) || !direction_of(r, x)) return NO_FORM;
  return (form){ADDITIVE, 1, {{(int32_t)(x - r->n->nodes), 1}}};
}

/* A choice between forms; what is 0, or -inf before exp, is so for every statistic. */
static form select_form(reading *r, const tile_node *x) {
  form pred = operand_form(r, x, 0), a = operand_form(r, x, 1), b = operand_form(r, x, 2);
  if (pred.kind != INDEPENDENT) return NO_FORM;
  if (a.kind == b.kind && same_terms(&a, &b)) return a;
  for (uint32_t i = 1; i <= 2; i++) {
    form some = i == 1 ? b : a;
    double absorbing = some.kind == ADDITIVE ? -(double)INFINITY : 0;
    if (some.kind != OTHERWISE && some.kind != INDEPENDENT &&
        is_splat(r->n, ir_operand(r->n->m, x->op, i), absorbing))
      return some;
  }
  return NO_FORM;
}

static form node_form(reading *r, const tile_node *x) {
  switch (x->kind) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return operand_form(r, x, 0);
    case IR_OP_NEGATE: {
      form a = operand_form(r, x, 0);
      return a.kind == ADDITIVE ? combined(INDEPENDENT_FORM, a, -1) : a;
    }
    case IR_OP_ADD: return sum_of(operand_form(r, x, 0), operand_form(r, x, 1), 1);
    case IR_OP_SUBTRACT: return sum_of(operand_form(r, x, 0), operand_form(r, x, 1), -1);
    case IR_OP_MULTIPLY: return product_of(operand_form(r, x, 0), operand_form(r, x, 1), 1);
    case IR_OP_DIVIDE: return product_of(operand_form(r, x, 0), operand_form(r, x, 1), -1);
    case IR_OP_DOT_GENERAL: return product_of(operand_form(r, x, 0), operand_form(r, x, 1), 1);
    case IR_OP_REDUCE: {
      form a = operand_form(r, x, 0);
      bool sums = x->monoid == IR_OP_ADD && a.kind == MULTIPLICATIVE &&
                  operand_form(r, x, 1).kind == INDEPENDENT;
      return sums ? a : NO_FORM;
    }
    case IR_OP_EXPONENTIAL: return exponential_of(operand_form(r, x, 0));
    case IR_OP_SELECT: return select_form(r, x);
    default: return NO_FORM;
  }
}

static form form_of(reading *r, ir_value v) {
  const tile_node *x = tile_node_of(r->n, v);
  if (!x || x->level <= r->pass) return INDEPENDENT_FORM;
  if (r->steps-- <= 0) return NO_FORM;
  if (!(x->mask >> r->n->column & 1)) return statistic_form(r, x);
  return node_form(r, x);
}

/* What was summed never grows: exp(x - max), exp(min - x). So it does not overflow on the way, and
 * an infinite statistic has an infinite or masked element of its own in the sum. */
static bool only_falls(reading *r, const form *f) {
  for (int32_t i = 0; i < f->n; i++)
    if (f->at[i].degree * direction_of(r, &r->n->nodes[f->at[i].node]) > 0) return false;
  return true;
}

bool tile_stream(tile_nest *n, tile_node *x) {
  reading r = {n, x->level - 1, MOST_STEPS};
  if (x->level == 0 || x->monoid != IR_OP_ADD || !is_real(n, x)) return false;
  form f = node_form(&r, x);
  if (f.kind != MULTIPLICATIVE || !only_falls(&r, &f)) return false;
  int32_t phase = x->n_terms = 0;
  for (int32_t i = 0; i < f.n; i++) {
    tile_node *t = &n->nodes[f.at[i].node];
    t->is_boundary = true;
    if (t->ready > phase) phase = t->ready;
    x->terms[x->n_terms++] = f.at[i];
  }
  x->pass = r.pass;
  return phase > 0;
}

int32_t tile_phases_of(const tile_nest *n, int32_t pass) {
  int32_t last = 0;
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const tile_node *x = &n->nodes[k];
    if ((x->index >= 0 || x->late >= 0) && x->pass == pass && x->phase > last) last = x->phase;
  }
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    const tile_output *o = &n->outputs[j];
    bool has_column = n->nodes[o->node].mask >> n->column & 1;
    if (has_column && !o->after && o->level == pass && o->phase > last) last = o->phase;
  }
  return last + 1;
}
