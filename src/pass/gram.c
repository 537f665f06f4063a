/* gram: a sum of products over a long dimension from one that is there.
 *
 *   (M X + c y^T) X^T = M (X X^T) + c (X y)^T      X X^T being computed anyway
 *
 *   sum of all (U * X) = trace (U X^T)                U X^T being computed anyway
 *
 * where X is long and M, c are small: the gradient of anything that reads X X^T (sparse Gaussian
 * processes, whitening, least squares by normal equations) multiplies what it makes of X with X
 * once more, as expensive as X X^T was. Both sides may be scaled, the left one may be a sum of such
 * terms, with transposes in between; a product of few rows (X y) is made anew. Without the sum of
 * all, U may be needed nowhere.
 * Requires: a verified module, equal ops merged. Breaks: roundings, as `chain`, whose identity it
 * is with sums in between and with what others need at no price; what lost its uses stays for dce.
 *   Terms that cancel lose what M X was rounded by, times X. So a sum of different terms that are
 * exact, X - Z and X - c 1^T, is a matrix of its own: it may be as small as X's last bits.
 *   Numbers by which X is scaled are multiplied with X X^T in place of X, but only where the
 * program multiplies X itself with something, too, or makes it of products: what else is scaled
 * first may be too large, or too small, to be multiplied as it is.
 * Left alone: products whose elements are compared (compared.h); what costs more than half of the
 * product; (M X) (M X)^T, which is positive
 * (`chain`); element types other than f32 and f64; batches; products of different accuracy (f32
 * beyond CPU: `precision`); what is read is small against the limit or below the threshold. Cost:
 * MOST_STEPS ops a product.
 * Source: associativity; matrix calculus by hand does it (Titsias 2009, the bound's gradient).
 */
#include "machine/tuned.h"
#include "pass/build.h"
#include "pass/compared.h"

enum { MOST_STEPS = 32, MOST_SCALES = 8, MOST_LOOKS = 16 };

typedef struct side { /* of a product: a matrix or a vector */
  ir_value v;
  int32_t sum; /* its contracted dimension */
} side;

typedef struct scaled { /* a side without the numbers that it is multiplied by */
  side root;
  int32_t count;
  pass_scale by[MOST_SCALES];
} scaled;

typedef struct product { /* of two sides */
  ir_op op;
  ir_block block;
  scaled at[2];
  ir_value made;  /* of the two roots; IR_NONE: not yet */
  bool is_wanted; /* others follow from it */
  bool is_found;  /* it follows from others, what at[0] is made of being looked into */
  bool is_turned; /* at[0] is its right side */
  uint32_t next;  /* with the same value as root of at[0], +1 */
} product;

typedef struct gram {
  pass_ctx *p;
  ir_module *m;
  ir_map *map; /* results of replaced ops -> what they are now */
  product *products;
  uint32_t count, room;
  uint32_t *first; /* by value, +1 */
  uint32_t n_values;
  bool *is_factor; /* by value: it, or its transpose, is multiplied with more than a number */
  uint32_t *place; /* by op: in `products`, +1; of a sum of all: of what it is the trace of */
  uint32_t n_ops;
} gram;

/* ---- sides ---- */
static const ir_type_data *type_of(const gram *f, side s) { return ir_type_at(f->m, s.v); }

/* Of the dimension that is not summed over. */
static double length(const gram *f, side s) {
  const ir_type_data *t = type_of(f, s);
  return t->rank == 2 ? (double)t->dims[1 - s.sum] : 1;
}

static bool is_transpose(const gram *f, ir_op op, side *in_out) {
  if (!op || ir_kind_of(f->m, op) != IR_OP_TRANSPOSE || type_of(f, *in_out)->rank != 2)
    return false;
  int32_t sum = (int32_t)ir_op_entry(f->m, op, "permutation", in_out->sum, 0);
  *in_out = (side){ir_operand(f->m, op, 0), sum};
  return true;
}

/* One contraction of matrices, or of a matrix and a vector; or, with `outer`, none of vectors. */
static bool read_product(const gram *f, ir_op op, bool outer, side *out) {
  ir_dot_numbers n;
  if (!op || ir_kind_of(f->m, op) != IR_OP_DOT_GENERAL || !pass_is_plain_product(f->m, op) ||
      !ir_dot_dims(f->m, op, &n) || n.lhs_batch.count || n.lhs_contract.count != !outer)
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    out[i].v = ir_operand(f->m, op, i);
    out[i].sum = outer ? 0 : (int32_t)ir_dot_contract(&n, i).at[0];
    int32_t rank = type_of(f, out[i])->rank;
    if (!ir_is_static_tensor(f->m, ir_type_of(f->m, out[i].v)) || rank < 1 || rank > 2 - outer)
      return false;
  }
  return true;
}

/* c 1^T is what c is. */
static bool is_rounded_product(const gram *f, ir_op op) {
  side of[2];
  return !read_product(f, op, true, of) ||
         !(ir_is_one_number(f->m, of[0].v) || ir_is_one_number(f->m, of[1].v));
}

/* A product is in it, so that each element is off by roundings of something of its size. */
static bool is_rounded(const gram *f, ir_value v, int *looks) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_value x;
  pass_scale by;
  if (!op || --*looks < 0) return false;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_DOT_GENERAL: return is_rounded_product(f, op);
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
      return is_rounded(f, ir_operand(f->m, op, 0), looks) ||
             is_rounded(f, ir_operand(f->m, op, 1), looks);
    case IR_OP_TRANSPOSE: return is_rounded(f, ir_operand(f->m, op, 0), looks);
    default: return pass_find_scaling(f->m, op, &x, &by) && is_rounded(f, x, looks);
  }
}

/* It is multiplied as it is, or made by multiplying. */
static bool is_root(const gram *f, ir_value v) {
  int looks = MOST_LOOKS;
  return (v < f->n_values && f->is_factor[v]) || is_rounded(f, v, &looks);
}

/* Down to the last root. A negation goes in any case. */
static scaled strip(const gram *f, side s) {
  scaled out = {.root = s}, at = out;
  for (int step = 0; step < MOST_SCALES; step++) {
    ir_op op = ir_value_get(f->m, at.root.v)->op;
    bool reached = at.count == out.count;
    ir_value x;
    if (is_transpose(f, op, &at.root)) {
      if (reached) out = at;
      continue;
    }
    if (!op || !pass_find_scaling(f->m, op, &x, &at.by[at.count])) break;
    at.root.v = x;
    at.count++;
    if (is_root(f, x) || (reached && ir_kind_of(f->m, op) == IR_OP_NEGATE)) out = at;
  }
  return out;
}

static ir_value with_scales(ir_builder *b, ir_value x, const scaled *s) {
  for (int32_t i = 0; i < s->count; i++) x = pass_build_scaled(b, x, &s->by[i]);
  return x;
}

static bool is_same(side a, side b) { return a.v == b.v && a.sum == b.sum; }

/* ---- products ---- */
/* As accurate as `like`; first the dimensions of x. */
static ir_value build_product(ir_builder *b, ir_op like, side x, side y, bool outer) {
  ir_module *m = b->m;
  int64_t from[2] = {x.sum, y.sum};
  ir_dot_numbers n = {.lhs_contract = {!outer, &from[0]}, .rhs_contract = {!outer, &from[1]}};
  ir_dtype dtype = ir_type_at(m, ir_result(m, like, 0))->dtype;
  ir_value made = pass_build_dot(b, x.v, y.v, &n, dtype);
  pass_set_accuracy(m, ir_value_get(m, made)->op, like);
  return made;
}

static bool are_alike(const gram *f, ir_op x, ir_op y) {
  bool whole = pass_multiplies_whole(f->p->options, ir_type_at(f->m, ir_result(f->m, x, 0))->dtype);
  bool plain = !ir_op_attr(f->m, x, "algorithm") && !ir_op_attr(f->m, y, "algorithm");
  return pass_same_accuracy(f->m, x, y) || (whole && plain);
}

/* What v is a number times, or a sum of such; v itself if it is of several. */
static ir_value multiple_of(const gram *f, ir_value v, int *looks) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_value x;
  pass_scale by;
  if (!op || --*looks < 0) return v;
  if (pass_find_scaling(f->m, op, &x, &by)) return multiple_of(f, x, looks);
  if (ir_kind_of(f->m, op) != IR_OP_ADD && ir_kind_of(f->m, op) != IR_OP_SUBTRACT) return v;
  x = multiple_of(f, ir_operand(f->m, op, 0), looks);
  return x == multiple_of(f, ir_operand(f->m, op, 1), looks) ? x : v;
}

/* A sum that may be multiplied term by term. */
static bool is_sum(const gram *f, ir_op op) {
  int looks = MOST_LOOKS, steps = MOST_LOOKS;
  ir_kind kind = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
  if (kind != IR_OP_ADD && kind != IR_OP_SUBTRACT) return false;
  ir_value v = ir_result(f->m, op, 0);
  return is_rounded(f, v, &looks) || multiple_of(f, v, &steps) != v;
}

/* ---- what a product is made of ---- */
typedef struct trace {
  gram *f;
  const product *p; /* that is replaced: it follows from those before it */
  side y;           /* the same throughout */
  ir_builder *b;    /* NULL: nothing is built, costs are counted */
  double cost;      /* multiply-adds */
  int steps;
  product *used[MOST_STEPS];
  int n_used;
} trace;

static side root_of(const gram *f, const product *p, uint32_t i) {
  side s = p->at[i].root;
  return (side){ir_map_get(f->map, s.v), s.sum};
}

static bool is_of(const gram *f, const product *p, side x, side y) {
  return is_same(root_of(f, p, 0), x) && is_same(root_of(f, p, 1), y);
}

static bool is_known(const trace *t, const product *p, bool swapped, side x) {
  return p->block == t->p->block && p < t->p &&
         (swapped ? is_of(t->f, p, t->y, x) : is_of(t->f, p, x, t->y)) &&
         are_alike(t->f, p->op, t->p->op);
}

static product *find_known(const trace *t, side x, bool swapped) {
  const gram *f = t->f;
  ir_value v = swapped ? t->y.v : x.v;
  for (uint32_t i = v < f->n_values ? f->first[v] : 0; i; i = f->products[i - 1].next)
    if (is_known(t, &f->products[i - 1], swapped, x)) return &f->products[i - 1];
  return NULL;
}

static ir_value made_of(gram *f, ir_builder *b, product *p);

static bool take_known(trace *t, side x, ir_value *out) {
  product *p = find_known(t, x, false);
  bool swapped = !p;
  if (swapped) p = find_known(t, x, true);
  if (!p) return false;
  if (!t->b) return t->used[t->n_used++] = p, true;
  *out = made_of(t->f, t->b, p);
  if (swapped && ir_type_at(t->f->m, *out)->rank == 2)
    *out = ir_build_transpose(t->b, *out, (int64_t[]){1, 0});
  return true;
}

static void make(trace *t, side x, side y, bool outer, double cost, ir_value *out) {
  t->cost += cost;
  if (t->b) *out = build_product(t->b, t->p->op, x, y, outer);
}

static bool follow(trace *t, side x, ir_value *out);

/* x = left . right */
static bool follow_product(trace *t, side x, const side *of, bool outer, ir_value *out) {
  const gram *f = t->f;
  side small = of[1 - x.sum], large = {of[x.sum].v, outer ? 0 : 1 - of[x.sum].sum};
  ir_value sum = IR_NONE;
  if (!follow(t, large, &sum)) return false;
  double inner = length(f, large);
  make(t, small, (side){sum, 0}, outer, length(f, x) * inner * length(f, t->y), out);
  return true;
}

static bool follow_sum(trace *t, side x, ir_op op, ir_value *out) {
  ir_value of[2] = {IR_NONE, IR_NONE};
  for (uint32_t i = 0; i < 2; i++)
    if (!follow(t, (side){ir_operand(t->f->m, op, i), x.sum}, &of[i])) return false;
  if (t->b) *out = ir_build_binary(t->b, ir_kind_of(t->f->m, op), of[0], of[1]);
  return true;
}

/* The product of x and t->y: its free dimension, then that of t->y. False: too many steps. */
static bool follow(trace *t, side x, ir_value *out) {
  gram *f = t->f;
  if (++t->steps > MOST_STEPS) return false;
  if (take_known(t, x, out)) return true;
  ir_op op = ir_value_get(f->m, x.v)->op;
  side of[2], turned = x;
  pass_scale by;
  ir_value whole;
  if (is_sum(f, op)) return follow_sum(t, x, op, out);
  if (is_transpose(f, op, &turned)) return follow(t, turned, out);
  if (op && pass_find_scaling(f->m, op, &whole, &by)) {
    if (!follow(t, (side){whole, x.sum}, out)) return false;
    if (t->b) *out = pass_build_scaled(t->b, *out, &by);
    return true;
  }
  for (int outer = 0; outer < 2 && type_of(f, x)->rank == 2; outer++)
    if (read_product(f, op, outer, of) && are_alike(f, op, t->p->op))
      return follow_product(t, x, of, outer, out);
  double terms = (double)type_of(f, x)->dims[x.sum];
  make(t, x, t->y, false, length(f, x) * terms * length(f, t->y), out);
  return true;
}

/* ---- which products ---- */
static double cost_of(const gram *f, side x, side y) {
  return length(f, x) * length(f, y) * (double)type_of(f, x)->dims[x.sum];
}

/* Looks into the side x. */
static bool is_worth_it(gram *f, const product *p, side x, side y, trace *out) {
  *out = (trace){.f = f, .p = p, .y = y};
  ir_value none = IR_NONE;
  return type_of(f, x)->rank == 2 && type_of(f, y)->rank == 2 &&
         ir_value_bytes(f->m, x.v) > pass_small_bytes(f->p->options) && follow(out, x, &none) &&
         TUNED_GRAM_GAIN * out->cost <= cost_of(f, x, y);
}

static void find_way(gram *f, product *p) {
  if (is_same(p->at[0].root, p->at[1].root)) return;
  for (int turned = 0; turned < 2 && !p->is_found; turned++) {
    trace t;
    if (!is_worth_it(f, p, p->at[turned].root, p->at[!turned].root, &t)) continue;
    for (int i = 0; i < t.n_used; i++) t.used[i]->is_wanted = true;
    p->is_found = true;
    p->is_turned = turned;
  }
  if (!p->is_turned) return;
  scaled left = p->at[0];
  p->at[0] = p->at[1];
  p->at[1] = left;
}

static void look_at_product(gram *f, ir_op op) {
  const ir_module *m = f->m;
  side of[2];
  if (!read_product(f, op, false, of)) return;
  CTX_CHECK(m->ctx, f->count < f->room);
  product *p = &f->products[f->count];
  *p = (product){
      .op = op, .block = ir_op_get(m, op)->block, .at = {strip(f, of[0]), strip(f, of[1])}};
  find_way(f, p);
  ir_value v = p->at[0].root.v;
  p->next = f->first[v];
  f->first[v] = f->place[op] = ++f->count;
}

/* The two sides of a sum of all elements of a product of matrices; the sum's dimension is to be
 * set. */
static bool read_sum(const gram *f, ir_op op, scaled *out) {
  ir_module *m = f->m;
  if (ir_kind_of(m, op) != IR_OP_REDUCE || !ir_adds_up(m, op)) return false;
  ir_value v = ir_operand(m, op, 0);
  ir_op multiply = ir_maker(m, v, IR_OP_MULTIPLY);
  bool all = ir_op_list(m, op, "dimensions").count == 2 && ir_type_at(m, v)->rank == 2;
  if (!multiply || !all || !ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  for (uint32_t i = 0; i < 2; i++) out[i] = strip(f, (side){ir_operand(m, multiply, i), 0});
  return true;
}

static void turn(scaled *s) { s->root.sum = 1 - s->root.sum; }

/* A product of the two is there, or will be, that is no larger than they are. */
static product *find_trace(gram *f, ir_block block, scaled *of) {
  const int64_t *dims = type_of(f, of[0].root)->dims;
  for (int sum = 0; sum < 2; sum++, turn(&of[0]), turn(&of[1])) {
    if (dims[1 - of[0].root.sum] > dims[of[0].root.sum]) continue;
    for (int swapped = 0; swapped < 2; swapped++) {
      ir_value v = of[swapped].root.v;
      for (uint32_t i = v < f->n_values ? f->first[v] : 0; i; i = f->products[i - 1].next) {
        product *p = &f->products[i - 1];
        if (p->block == block && is_of(f, p, of[swapped].root, of[!swapped].root)) return p;
      }
    }
  }
  return NULL;
}

static void look_at_sum(gram *f, ir_op op) {
  const ir_module *m = f->m;
  scaled of[2];
  if (!read_sum(f, op, of) || ir_value_bytes(m, of[0].root.v) <= pass_small_bytes(f->p->options))
    return;
  product *p = find_trace(f, ir_op_get(m, op)->block, of);
  if (!p) return;
  p->is_wanted = true;
  f->place[op] = (uint32_t)(p - f->products) + 1;
}

/* ---- rewriting ---- */
/* The product of its roots, wherever it is needed first: they are there. */
static ir_value made_of(gram *f, ir_builder *b, product *p) {
  if (p->made) return p->made;
  side x = root_of(f, p, 0), y = root_of(f, p, 1);
  trace dry, t = {.f = f, .p = p, .y = y, .b = b};
  bool found = p->is_found && is_worth_it(f, p, x, y, &dry);
  if (!found || !follow(&t, x, &p->made)) p->made = build_product(b, p->op, x, y, false);
  return p->made;
}

static ir_value make_product(gram *f, ir_builder *b, product *p) {
  ir_value x = with_scales(b, with_scales(b, made_of(f, b, p), &p->at[0]), &p->at[1]);
  return p->is_turned && ir_type_at(f->m, x)->rank == 2
             ? ir_build_transpose(b, x, (int64_t[]){1, 0})
             : x;
}

static ir_value trace_of(ir_builder *b, ir_value x) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  CTX_CHECK(m->ctx, t->rank == 2 && t->dims[0] == t->dims[1]);
  ir_type type = ir_type_of(m, x);
  ir_value kept =
      ir_build_select(b, ir_build_is_diagonal(b, type, 0, 1), x, ir_build_zeros(b, type));
  return ir_build_sum(b, kept, (int64_t[]){0, 1}, 2);
}

static ir_value make_sum(gram *f, ir_builder *b, ir_op op, product *p) {
  scaled of[2];
  if (!read_sum(f, op, of) || find_trace(f, b->block, of) != p) return IR_NONE;
  return with_scales(b, with_scales(b, trace_of(b, made_of(f, b, p)), &of[0]), &of[1]);
}

static bool replace(pass_rewrite *r, ir_op op) {
  gram *f = r->own;
  uint32_t place = op < f->n_ops ? f->place[op] : 0;
  if (!place || pass_is_compared(r, op)) return false;
  product *p = &f->products[place - 1];
  if (!p->is_wanted && !p->is_found) return false;
  ir_value made = p->op == op ? make_product(f, &r->b, p) : make_sum(f, &r->b, op, p);
  if (!made) return false;
  CTX_CHECK(f->m->ctx, ir_type_of(f->m, made) == ir_type_of(f->m, ir_result(f->m, op, 0)));
  return pass_stand_in(f->m, f->map, op, made);
}

static void note_factor(gram *f, ir_value v) {
  for (ir_op op; !f->is_factor[v]; v = ir_operand(f->m, op, 0)) {
    f->is_factor[v] = true;
    op = ir_maker(f->m, v, IR_OP_TRANSPOSE);
    if (!op) break;
  }
}

static void note_factors(gram *f, ir_op op) {
  const ir_module *m = f->m;
  ir_kind kind = ir_kind_of(m, op);
  ir_value x;
  pass_scale by;
  f->room += kind == IR_OP_DOT_GENERAL;
  if (kind != IR_OP_DOT_GENERAL && kind != IR_OP_MULTIPLY) return;
  if (pass_find_scaling(m, op, &x, &by)) return;
  for (uint32_t i = 0; i < 2; i++) note_factor(f, ir_operand(m, op, i));
}

static bool begin(pass_rewrite *r) {
  arena *a = r->p->scratch;
  ir_module *m = r->m;
  ir_block top = ir_top(m);
  gram *f = r->own = ARENA_NEW(a, gram);
  *f = (gram){.p = r->p, .m = m, .map = r->map, .n_values = r->n_values, .n_ops = m->ops.count};
  f->is_factor = ARENA_ARRAY(a, bool, f->n_values);
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) note_factors(f, w.op);
  if (!f->room) return false;
  f->products = ARENA_ARRAY(a, product, f->room);
  f->first = ARENA_ARRAY(a, uint32_t, f->n_values);
  f->place = ARENA_ARRAY(a, uint32_t, f->n_ops);
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) look_at_product(f, w.op);
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) look_at_sum(f, w.op);
  return pass_find_compared(r);
}

const pass pass_gram = {"gram", .replace = replace, .begin = begin};
