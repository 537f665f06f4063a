/* chain: products of more than two tensors in the order that costs least.
 *
 * Requires: a verified module. Breaks: roundings, as any other order of the same sums; what lost
 * its uses stays for dce.
 * Identity: a tree of dot_generals, with transposes and multiplications by scalars in between, is
 * one sum over all contracted indices of a product of its leaves (an einsum), and the leaves may be
 * multiplied in any order: (A B) C = A (B C), (A B)^T = B^T A^T, (s A) B = s (A B). Indices are
 * named from the root's result downwards, so transposes, batch dimensions, several contracted
 * dimensions, vectors and outer products need no rules of their own. A scalar goes behind the
 * first product of one of the tensors that it scaled: what is scaled after each of ten products, so
 * that they don't overflow, is so in any order.
 *   Cost is floating-point operations; all orders are looked at (network.h: by dynamic programming
 * over subsets, of many leaves over intervals of the written order, which has all orders of a
 * matrix chain). An order with an intermediate that is larger than the largest as written is
 * taken only if it is no larger than an operand or the result.
 *   A product that several others use is a leaf of each, unless these are cheaper in sum without
 * it, itself counted if no one else needs it.
 * Taken if operations shrink by TUNED_ORDER_GAIN; or if the largest intermediate is above the
 * limit, shrinks, and operations do not grow. Errors stay those of a product in that precision,
 * bounded by |A| |B| |C| times the number of terms; integers wrap, so they are exact. With infinite
 * elements a result may be NaN in one order (0 times infinity) and infinite in another; so may,
 * with elements of extreme size, an intermediate that overflows in one order alone.
 *   P P^T of an outer product, P_iab = x_ia y_ib, is (X X^T) * (Y Y^T), element by element. Both
 * are positive, so it is, too; and no sum is rounded earlier (a kernel of gradients per sample).
 * Left alone: a product times its own transpose where it is a sum (is_square()), and what is
 * squared so; element types other than f32, f64 and integers (an intermediate of bf16 or f16 is
 * rounded where it is made), products that differ in element type, precision or algorithm or have
 * attributes that we don't know, those whose elements are compared (compared.h),
 * intermediates that are at hand anyway; chains of tensors all of which the splitter would leave
 * alone. Source: Godbole 1973 for chains; Pfeifer, Haegeman & Verstraete 2014 for subsets; eXLA's
 * dot-order pass knew (A B) c.
 */
#include "ir/maps.h"
#include "machine/tuned.h"
#include "pass/compared.h"
#include "pass/network.h"

enum {
  MOST_PATH = 8,       /* transposes and scalings between two products */
  MOST_ROOTS = 8,      /* users of a shared product */
  MOST_WORK = 20000000 /* pairs looked at; from there on everything stays as it is */
};

/* Where a product that has several users is not needed. */
enum { NOWHERE, EVERYWHERE, IN_PRODUCTS };

typedef struct chain {
  arena *scratch;
  ir_module *m;
  pass_rewrite r;                 /* what came */
  double small_bytes, goal_bytes; /* goal 0: none */
  uint32_t *uses;                 /* by value: how often it is an operand, anywhere */
  uint8_t *dissolved;             /* by value: of a shared product, where not */
  bool *squared;                  /* by value: dissolved in its own square, from leaves */
  uint8_t *consumed;              /* by op: part of the network of a later one */
  int64_t budget;
  const pass_plan **plans; /* by op */
  const ir_users *users;   /* of the block in hand */
  ir_map *map;             /* results of roots -> what they are now */
  bool changed;
} chain;

/* ---- which ops may be part of a network ---- */
static bool is_known_attr(const char *name) {
  return !strcmp(name, "dot_dimension_numbers") || !strcmp(name, "precision_config") ||
         !strcmp(name, "algorithm");
}

static bool is_product(const chain *c, ir_op op) {
  if (!op || ir_kind_of(c->m, op) != IR_OP_DOT_GENERAL || pass_is_compared(&c->r, op)) return false;
  const ir_op_data *d = ir_op_get(c->m, op);
  ir_type result = ir_type_of(c->m, d->first_result);
  ir_dtype dtype = ir_type_get(c->m, result)->dtype;
  ir_dtype_class class = ir_dtype_class_of(dtype);
  if (ir_dtype_bits(dtype) < 8) return false;
  if (class == IR_CLASS_FLOAT ? dtype != IR_F32 && dtype != IR_F64
                              : class != IR_CLASS_INT && class != IR_CLASS_UINT)
    return false;
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (!is_known_attr(ir_text(c->m, d->attrs[i].name))) return false;
  for (int i = 0; i < 2; i++) {
    ir_type t = ir_type_of(c->m, d->operands[i]);
    if (!ir_is_static_tensor(c->m, t) || ir_type_get(c->m, t)->dtype != dtype) return false;
  }
  return ir_is_static_tensor(c->m, result);
}

/* Two products may be parts of one network. */
static bool are_alike(const chain *c, ir_op x, ir_op y) {
  return ir_op_get(c->m, x)->block == ir_op_get(c->m, y)->block &&
         ir_type_at(c->m, ir_result(c->m, x, 0))->dtype ==
             ir_type_at(c->m, ir_result(c->m, y, 0))->dtype &&
         pass_same_accuracy(c->m, x, y);
}

/* ---- expanding a tree into its leaves ---- */
static uint8_t new_label(pass_network *net, int64_t extent) {
  assert(net->n_labels < PASS_MOST_LABELS && extent >= 0);
  net->extents[net->n_labels] = (double)extent;
  return (uint8_t)net->n_labels++;
}

/* What a product's operands are called, from what its result is called. */
typedef struct named_dot {
  uint8_t *at[2];
  pass_labels contracted;
} named_dot;

static bool name_operands(chain *c, pass_network *net, ir_op dot, const uint8_t *result_at,
                          named_dot *out) {
  ir_dot_numbers n;
  int32_t index[IR_MAX_RANK], rank = ir_type_at(c->m, ir_result(c->m, dot, 0))->rank;
  if (!ir_dot_dims(c->m, dot, &n)) return false;
  if (net->n_labels + n.lhs_contract.count > PASS_MOST_LABELS) return false;
  const ir_type_data *lhs = ir_type_at(c->m, ir_operand(c->m, dot, 0));
  int32_t first = net->n_labels;
  out->contracted = 0;
  for (int32_t i = 0; i < n.lhs_contract.count; i++)
    out->contracted |= (pass_labels)1 << new_label(net, lhs->dims[n.lhs_contract.at[i]]);
  for (uint32_t side = 0; side < 2; side++) {
    int32_t own_rank = ir_type_at(c->m, ir_operand(c->m, dot, side))->rank;
    out->at[side] = ARENA_ARRAY(c->scratch, uint8_t, (size_t)own_rank + 1);
    CTX_CHECK(c->m->ctx, ir_operand_indices(c->scratch, c->m, dot, side, index));
    for (int32_t d = 0; d < own_rank; d++)
      out->at[side][d] = index[d] < rank ? result_at[index[d]] : (uint8_t)(first + index[d] - rank);
  }
  return true;
}

/* A value on its way down: through transposes and scalings. */
typedef struct step {
  ir_value value;
  const uint8_t *at;
  bool shared; /* something else looks at what was passed */
} step;

static bool through_transpose(chain *c, ir_op op, step *s) {
  int32_t rank;
  const int64_t *perm = ir_op_ints(c->m, op, "permutation", &rank);
  if (ir_kind_of(c->m, op) != IR_OP_TRANSPOSE || !perm) return false;
  if (ir_op_get(c->m, op)->n_attrs != 1) return false;
  uint8_t *at = ARENA_ARRAY(c->scratch, uint8_t, (size_t)rank + 1);
  for (int32_t i = 0; i < rank; i++) at[perm[i]] = s->at[i];
  s->at = at;
  s->value = ir_operand(c->m, op, 0);
  return true;
}

/* The product below v that belongs to the network, with the scalings on the way; IR_NONE if v is a
 * leaf. */
static ir_op find_product(chain *c, const pass_network *net, step *s, pass_scale *scales,
                          int *n_scales) {
  *n_scales = 0;
  for (int i = 0; i < MOST_PATH; i++) {
    ir_op op = ir_value_get(c->m, s->value)->op;
    if (!op || ir_op_get(c->m, op)->block != net->block) return IR_NONE;
    s->shared |= c->uses[s->value] != 1;
    if (is_product(c, op))
      return are_alike(c, net->root, op) && (!s->shared || c->dissolved[s->value]) ? op : IR_NONE;
    if (through_transpose(c, op, s)) continue;
    ir_value x;
    if (!pass_find_scaling(c->m, op, &x, &scales[*n_scales])) return IR_NONE;
    s->value = x;
    ++*n_scales;
  }
  return IR_NONE;
}

static void add_leaf(chain *c, pass_network *net, ir_value v, const uint8_t *at) {
  step s = {v, at, false};
  ir_op op = ir_value_get(c->m, v)->op;
  while (op && through_transpose(c, op, &s)) op = ir_value_get(c->m, s.value)->op;
  int32_t rank = ir_type_at(c->m, s.value)->rank;
  pass_leaf l = {s.value, pass_labels_at(s.at, rank), s.at, 0};
  double size = pass_volume(net, l.labels);
  if (size > net->largest) net->largest = size;
  CTX_CHECK(c->m->ctx, net->n < PASS_MOST_LEAVES); /* expand_operand() left room */
  net->leaves[net->n++] = l;
}

static void reverse(pass_network *net, int from, int to) {
  for (to--; from < to; from++, to--) {
    pass_leaf l = net->leaves[from];
    net->leaves[from] = net->leaves[to];
    net->leaves[to] = l;
  }
}

/* Turns the leaves of the two operands around so that the ones that are contracted with each other
 * stand side by side, as in a matrix chain. */
static void line_up(pass_network *net, int from, int middle, pass_labels contracted) {
  int to = net->n;
  assert(from < middle && middle < to); /* both operands have leaves */
  pass_labels first = net->leaves[from].labels, last = net->leaves[middle - 1].labels;
  pass_labels next = net->leaves[middle].labels, end = net->leaves[to - 1].labels;
  if (last & next & contracted) return;
  bool turn_left = (first & (next | end) & contracted) && !(last & end & contracted);
  pass_labels inner = turn_left ? first : last;
  if (turn_left) reverse(net, from, middle);
  if (!(inner & next & contracted) && (inner & end & contracted)) reverse(net, middle, to);
}

static bool expand_product(chain *c, pass_network *net, ir_op dot, const uint8_t *at);

static void expand_operand(chain *c, pass_network *net, ir_value v, const uint8_t *at) {
  step s = {v, at, false};
  pass_scale scales[MOST_PATH];
  int n;
  ir_op dot = find_product(c, net, &s, scales, &n);
  int labels = net->n_labels;
  if (!dot || net->n_scales + n > PASS_MOST_SCALES || net->room + 1 > PASS_MOST_LEAVES) {
    add_leaf(c, net, v, at);
    return;
  }
  int n_scales = net->n_scales, from = net->n;
  for (int i = 0; i < n; i++) net->scales[net->n_scales++] = scales[i];
  double size = pass_volume(net, pass_labels_at(s.at, ir_type_at(c->m, s.value)->rank));
  if (!expand_product(c, net, dot, s.at)) {
    net->n_labels = labels;
    net->n_scales = n_scales;
    add_leaf(c, net, v, at);
    return;
  }
  for (int i = from; i < net->n; i++) net->leaves[i].scaled |= ((1u << n) - 1) << n_scales;
  net->inner[net->n_inner++] = dot;
  net->has_dissolved |= s.shared;
  if (size > net->peak) net->peak = size;
  if (size > net->largest) net->largest = size;
}

/* The operands of what is squared are leaves: multiplied out, a product times its own transpose
 * need not be positive. */
static void expand_side(chain *c, pass_network *net, ir_op dot, uint32_t side, const uint8_t *at) {
  ir_value v = ir_operand(c->m, dot, side);
  if (c->squared[ir_result(c->m, dot, 0)]) add_leaf(c, net, v, at);
  else expand_operand(c, net, v, at);
}

/* False, with nothing added, if the network would have too many indices. */
static bool expand_product(chain *c, pass_network *net, ir_op dot, const uint8_t *at) {
  named_dot n;
  if (!name_operands(c, net, dot, at, &n)) return false;
  pass_labels all =
      n.contracted | pass_labels_at(at, ir_type_at(c->m, ir_result(c->m, dot, 0))->rank);
  net->flops += 2 * pass_volume(net, all);
  net->room++;
  int from = net->n;
  expand_side(c, net, dot, 0, n.at[0]);
  int middle = net->n;
  expand_side(c, net, dot, 1, n.at[1]);
  line_up(net, from, middle, n.contracted);
  return true;
}

/* The network of a product; false if it has none. */
static bool read_network(chain *c, ir_op root, pass_network *net) {
  const ir_type_data *t = ir_type_at(c->m, ir_result(c->m, root, 0));
  *net = (pass_network){
      .ctx = c->m->ctx, .root = root, .block = ir_op_get(c->m, root)->block, .room = 1};
  if (t->rank > PASS_MOST_LABELS / 2) return false;
  uint8_t *at = ARENA_ARRAY(c->scratch, uint8_t, (size_t)t->rank + 1);
  for (int32_t i = 0; i < t->rank; i++) at[i] = new_label(net, t->dims[i]);
  net->out_at = at;
  net->out = pass_labels_at(at, t->rank);
  net->largest = pass_volume(net, net->out);
  return expand_product(c, net, root, at);
}

/* Whether there is work left for a network of n leaves. */
static bool may_plan(chain *c, int n) {
  int64_t work = n;
  if (n > PASS_MOST_SUBSET_LEAVES) work *= work * work;
  for (int i = 1; n <= PASS_MOST_SUBSET_LEAVES && i < n; i++) work *= 3;
  c->budget -= work;
  return c->budget > 0;
}

/* ---- which orders are taken ---- */
static double element_bytes(const chain *c, const pass_network *net) {
  return (double)ir_dtype_bytes(ir_type_at(c->m, ir_result(c->m, net->root, 0))->dtype);
}

static bool is_empty(const pass_network *net) {
  for (int i = 0; i < net->n_labels; i++)
    if (net->extents[i] == 0) return true;
  return false;
}

static bool is_worth_it(const chain *c, const pass_network *net, const pass_plan *p) {
  double bytes = element_bytes(c, net);
  if (p->flops < 0 || is_empty(net) || net->largest * bytes <= c->small_bytes) return false;
  if (net->has_dissolved || p->flops * TUNED_ORDER_GAIN <= net->flops) return true;
  return c->goal_bytes > 0 && net->peak * bytes > c->goal_bytes && p->peak < net->peak &&
         p->flops <= net->flops;
}

static const pass_plan *kept_plan(chain *c, const pass_plan *p) {
  pass_plan *kept = ARENA_NEW(c->scratch, pass_plan);
  *kept = *p;
  kept->net = ARENA_COPY(c->scratch, pass_network, p->net, 1);
  kept->first = ARENA_COPY(c->scratch, pass_leaves, p->first, p->n_first);
  pass_place_scales(kept->net, kept);
  return kept;
}

/* The order of a root, NULL for the one that it has; *out_flops is what it costs then. */
static const pass_plan *plan_root(chain *c, const pass_network *net, double *out_flops) {
  *out_flops = net->flops;
  if (net->n < 3 || !may_plan(c, net->n)) return NULL;
  arena *a = arena_create(c->m->ctx);
  pass_plan p = pass_best_plan(a, net);
  const pass_plan *kept = is_worth_it(c, net, &p) ? kept_plan(c, &p) : NULL;
  if (kept) *out_flops = p.flops;
  arena_destroy(a);
  return kept;
}

/* ---- products with several users ---- */
/* The last product of the network that the product belongs to. */
static ir_op root_of(chain *c, ir_op dot) {
  ir_op root = dot;
  ir_value v = ir_result(c->m, dot, 0);
  int passed = 0, products = 0;
  while (passed < MOST_PATH && products < PASS_MOST_LEAVES &&
         (c->uses[v] == 1 || c->dissolved[v])) {
    uint32_t u = c->users->first[v];
    if (u == c->users->first[v + 1]) break;
    ir_op op = c->users->ops[u];
    ir_value x;
    pass_scale s;
    passed++;
    if (is_product(c, op) && are_alike(c, root, op)) root = op, passed = 0, products++;
    else if (ir_kind_of(c->m, op) != IR_OP_TRANSPOSE && !pass_find_scaling(c->m, op, &x, &s)) break;
    v = ir_result(c->m, op, 0);
  }
  return root;
}

typedef struct roots {
  int n;
  ir_op ops[MOST_ROOTS];
  bool has_square; /* the product times itself */
} roots;

static bool add_root(roots *r, ir_op op) {
  for (int i = 0; i < r->n; i++)
    if (r->ops[i] == op) return true;
  if (r->n == MOST_ROOTS) return false;
  r->ops[r->n++] = op;
  return true;
}

/* Which dimension of x dimension `dim` of v is; -1: v is more than x, turned and scaled. */
static int64_t dim_of(const chain *c, ir_value v, int64_t dim, ir_value x) {
  pass_scale s;
  for (int i = 0; i < MOST_PATH && v != x; i++) {
    ir_op op = ir_value_get(c->m, v)->op;
    int32_t rank;
    const int64_t *perm = op ? ir_op_ints(c->m, op, "permutation", &rank) : NULL;
    if (perm && ir_kind_of(c->m, op) == IR_OP_TRANSPOSE) {
      dim = perm[dim];
      v = ir_operand(c->m, op, 0);
    } else if (!op || !pass_find_scaling(c->m, op, &v, &s)) {
      return -1;
    }
  }
  return v == x ? dim : -1;
}

/* P P^T, which is positive: A (B B^T) A^T, rounded elsewhere, need not be, and is off by what B B^T
 * is where A B is much smaller than A and B. */
static bool is_square(const chain *c, ir_op product, ir_value p) {
  ir_dot_numbers n;
  if (!ir_dot_dims(c->m, product, &n) || !n.lhs_contract.count) return false;
  for (int32_t i = 0; i < n.lhs_contract.count; i++) {
    int64_t left = dim_of(c, ir_operand(c->m, product, 0), n.lhs_contract.at[i], p),
            right = dim_of(c, ir_operand(c->m, product, 1), n.rhs_contract.at[i], p);
    if (left < 0 || left != right) return false;
  }
  return true;
}

/* The networks that look at v; false if anything else does too. */
static bool find_roots(chain *c, ir_op product, ir_value v, int depth, roots *out) {
  bool all = true;
  for (ir_op op, u = 0; (op = ir_user_at(c->users, v, u)); u++) {
    ir_value x;
    pass_scale s;
    if (is_product(c, op) && c->squared[ir_result(c->m, op, 0)]) {
      all = false; /* it reads v as it is */
    } else if (is_product(c, op)) {
      ir_op root = root_of(c, op);
      all &= are_alike(c, product, op) && add_root(out, root);
      out->has_square |= root == op && is_square(c, op, ir_result(c->m, product, 0));
    } else {
      bool passes = ir_kind_of(c->m, op) == IR_OP_TRANSPOSE || pass_find_scaling(c->m, op, &x, &s);
      all &= passes && depth < MOST_PATH &&
             find_roots(c, product, ir_result(c->m, op, 0), depth + 1, out);
    }
  }
  return all;
}

static double flops_of(chain *c, ir_op root) {
  pass_network net;
  double flops = 0;
  if (read_network(c, root, &net)) plan_root(c, &net, &flops);
  return flops;
}

static double flops_of_all(chain *c, const roots *r) {
  double sum = 0;
  for (int i = 0; i < r->n; i++) sum += flops_of(c, r->ops[i]);
  return sum;
}

/* No element is a sum of several terms. */
static bool is_outer(const chain *c, ir_op dot) {
  ir_dot_numbers n;
  if (!ir_dot_dims(c->m, dot, &n)) return false;
  const ir_type_data *lhs = ir_type_at(c->m, ir_operand(c->m, dot, 0));
  for (int32_t i = 0; i < n.lhs_contract.count; i++)
    if (lhs->dims[n.lhs_contract.at[i]] != 1) return false;
  return true;
}

/* Multiplies a shared product out where the products that use it are cheaper without it. What else
 * uses it still does. */
static void try_to_dissolve(chain *c, ir_op dot) {
  ir_value v = ir_result(c->m, dot, 0);
  roots r = {0};
  if (c->uses[v] < 2) return;
  bool all = find_roots(c, dot, v, 0, &r);
  if (!r.n || (r.has_square && !is_outer(c, dot))) return;
  double with = (all ? flops_of(c, dot) : 0) + flops_of_all(c, &r);
  c->dissolved[v] = all ? EVERYWHERE : IN_PRODUCTS;
  c->squared[v] = r.has_square;
  if (flops_of_all(c, &r) * TUNED_ORDER_GAIN <= with) return;
  c->dissolved[v] = NOWHERE;
  c->squared[v] = false;
}

/* ---- building ---- */
typedef struct term {
  ir_value value;
  int32_t rank;
  uint8_t at[PASS_MOST_LABELS];
} term;

static int64_t position(const term *t, uint8_t label) {
  for (int32_t i = 0; i < t->rank; i++)
    if (t->at[i] == label) return i;
  return -1;
}

/* The dimensions of both that carry the labels, in the order that x has them. */
static ir_dot_numbers numbers_of(chain *c, const term *x, const term *y, pass_labels kept) {
  int64_t *at = ARENA_ARRAY(c->scratch, int64_t, 4 * (size_t)PASS_MOST_LABELS);
  int64_t *lists[] = {at, at + PASS_MOST_LABELS, at + 2 * PASS_MOST_LABELS,
                      at + 3 * PASS_MOST_LABELS};
  int32_t batch = 0, contract = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t j = position(y, x->at[i]);
    bool is_kept = kept >> x->at[i] & 1;
    if (j < 0) continue;
    lists[is_kept ? 0 : 2][is_kept ? batch : contract] = i;
    lists[is_kept ? 1 : 3][is_kept ? batch++ : contract++] = j;
  }
  return (ir_dot_numbers){
      {batch, lists[0]}, {batch, lists[1]}, {contract, lists[2]}, {contract, lists[3]}};
}

static void name_result(const term *x, const term *y, const ir_dot_numbers *n, term *out) {
  out->rank = 0;
  for (int32_t i = 0; i < n->lhs_batch.count; i++) out->at[out->rank++] = x->at[n->lhs_batch.at[i]];
  for (int32_t i = 0; i < x->rank; i++)
    if (ir_dot_is_free(n, 0, i)) out->at[out->rank++] = x->at[i];
  for (int32_t i = 0; i < y->rank; i++)
    if (ir_dot_is_free(n, 1, i)) out->at[out->rank++] = y->at[i];
}

static ir_type type_of_term(chain *c, const pass_network *net, const term *t) {
  int64_t dims[PASS_MOST_LABELS];
  for (int32_t i = 0; i < t->rank; i++) dims[i] = (int64_t)net->extents[t->at[i]];
  return ir_tensor(c->m, ir_type_at(c->m, ir_result(c->m, net->root, 0))->dtype, t->rank, dims);
}

static ir_value spread(ir_builder *b, ir_value scalar, ir_type type) {
  return ir_type_get(b->m, type)->rank ? ir_build_broadcast(b, scalar, type, (int64_t[]){0})
                                       : scalar;
}

/* A product with the root's precision; with a scalar, a multiplication. */
static void multiply(chain *c, ir_builder *b, const pass_network *net, const term *x, const term *y,
                     pass_labels kept, term *out) {
  ir_module *m = c->m;
  ir_dot_numbers n = numbers_of(c, x, y, kept);
  name_result(x, y, &n, out);
  ir_type type = type_of_term(c, net, out);
  if (!x->rank || !y->rank) {
    const term *scalar = x->rank ? y : x, *other = x->rank ? x : y;
    out->value = ir_build_multiply(b, other->value, spread(b, scalar->value, type));
    return;
  }
  const ir_op_data root = *ir_op_get(m, net->root);
  out->value = ir_build(b, IR_OP_DOT_GENERAL, 2, (ir_value[]){x->value, y->value}, type,
                        root.n_attrs, root.attrs);
  ir_set_dot_dims(m, ir_value_get(m, out->value)->op, &n);
}

static bool is_named(const term *t, const uint8_t *at) {
  return !t->rank || !memcmp(t->at, at, (size_t)t->rank);
}

/* By what goes with the leaf that this part is, the innermost first. */
static void scale_part(ir_builder *b, const pass_plan *p, pass_leaves part, ir_value *x) {
  for (int i = p->net->n_scales; pass_is_single(part) && i-- > 0;)
    if (p->scaled[i] == __builtin_ctzll(part)) *x = pass_build_scaled(b, *x, &p->net->scales[i]);
}

static void build_term(chain *c, ir_builder *b, const pass_plan *p, pass_leaves s, term *out) {
  const pass_network *net = p->net;
  if (!(s & (s - 1))) {
    const pass_leaf *l = &net->leaves[__builtin_ctzll(s)];
    out->value = ir_map_get(c->map, l->value);
    out->rank = ir_type_at(c->m, l->value)->rank;
    if (out->rank) memcpy(out->at, l->at, (size_t)out->rank);
    return;
  }
  pass_leaves first = pass_first_part(p, s);
  term *x = ARENA_ARRAY(c->scratch, term, 2), *y = x + 1;
  build_term(c, b, p, first, x);
  build_term(c, b, p, s ^ first, y);
  pass_labels kept = pass_labels_of(net, s);
  bool is_whole = __builtin_popcountll(s) == net->n;
  if (is_whole) { /* the way round that gives the result's dimensions in order, if only one does */
    ir_dot_numbers n = numbers_of(c, x, y, kept);
    name_result(x, y, &n, out);
    bool is_in_order = is_named(out, net->out_at);
    n = numbers_of(c, y, x, kept);
    name_result(y, x, &n, out);
    if (!is_in_order && is_named(out, net->out_at)) {
      multiply(c, b, net, y, x, kept, out);
      return;
    }
  }
  multiply(c, b, net, x, y, kept, out);
  if (is_whole) return;
  scale_part(b, p, first, &out->value);
  scale_part(b, p, s ^ first, &out->value);
}

static ir_value in_order(chain *c, ir_builder *b, const pass_network *net, const term *t) {
  ir_module *m = c->m;
  int64_t perm[PASS_MOST_LABELS];
  if (is_named(t, net->out_at)) return t->value;
  for (int32_t i = 0; i < t->rank; i++) perm[i] = position(t, net->out_at[i]);
  ir_type type = ir_type_of(m, ir_result(m, net->root, 0));
  CTX_CHECK(m->ctx, t->rank == ir_type_get(m, type)->rank);
  ir_value made = ir_build_transpose(b, t->value, perm);
  CTX_CHECK(m->ctx, ir_type_of(m, made) == type);
  return made;
}

static void build(chain *c, ir_block block, const pass_plan *p) {
  const pass_network *net = p->net;
  ir_builder b = {c->m, block, ir_op_get(c->m, net->root)->location};
  term *t = ARENA_NEW(c->scratch, term);
  pass_leaves all = pass_all_leaves(net), first = pass_first_part(p, all);
  build_term(c, &b, p, all, t);
  ir_value x = in_order(c, &b, net, t);
  scale_part(&b, p, first, &x);
  scale_part(&b, p, all ^ first, &x);
  CTX_CHECK(c->m->ctx, ir_type_of(c->m, x) == ir_type_of(c->m, ir_result(c->m, net->root, 0)));
  ir_map_set(c->map, ir_result(c->m, net->root, 0), x);
  c->changed = true;
}

/* ---- the walk ---- */
/* Decides on the orders of all products of the block, the last ones first. */
static void plan_block(chain *c, ir_block block) {
  const ir_block_data *b = ir_block_get(c->m, block);
  for (uint32_t i = b->ops.count; i-- > 0;)
    if (is_product(c, b->ops.at[i])) try_to_dissolve(c, b->ops.at[i]);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    ir_op op = b->ops.at[i];
    if (!is_product(c, op) || c->consumed[op]) continue;
    pass_network net;
    double flops;
    if (!read_network(c, op, &net)) continue;
    for (int k = 0; k < net.n_inner; k++)
      c->consumed[net.inner[k]] = c->dissolved[ir_result(c->m, net.inner[k], 0)] != IN_PRODUCTS;
    c->plans[op] = plan_root(c, &net, &flops);
  }
}

static bool has_products(const chain *c, ir_block block) {
  int n = 0;
  for (ir_op op, i = 0; (op = ir_op_at(c->m, block, i)); i++) n += is_product(c, op);
  return n > 1;
}

static void visit_block(chain *c, ir_block block) {
  if (has_products(c, block)) {
    ir_users users = ir_users_of_block(c->scratch, c->m, block);
    c->users = &users;
    plan_block(c, block);
  }
  ir_ops ops = ir_take_ops(c->m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    for (ir_block below, r = 0; (below = ir_next_block(c->m, op, &r));) visit_block(c, below);
    if (c->plans[op]) build(c, block, c->plans[op]);
    else ir_block_append(c->m, block, op);
  }
}

static weir_status run(pass_ctx *p, ir_module *m) {
  const weir_options *o = p->options;
  int64_t limit = o->memory_limit_bytes, threshold = o->tensor_size_threshold_bytes;
  ir_block top = ir_top(m);
  chain c = {.scratch = p->scratch,
             .m = m,
             .r = {.p = p, .m = m},
             .small_bytes = (double)pass_small_bytes(o),
             .goal_bytes = (double)(limit ? limit : threshold),
             .budget = MOST_WORK,
             .uses = ir_count_uses(p->scratch, m, top),
             .dissolved = ARENA_ARRAY(p->scratch, uint8_t, m->values.count),
             .squared = ARENA_ARRAY(p->scratch, bool, m->values.count),
             .consumed = ARENA_ARRAY(p->scratch, uint8_t, m->ops.count),
             .plans = ARENA_ARRAY(p->scratch, const pass_plan *, m->ops.count),
             .map = ir_map_new(p->scratch, m)};
  pass_find_compared(&c.r);
  visit_block(&c, top);
  if (c.changed) ir_replace_uses(m, top, c.map);
  p->changed = c.changed;
  return WEIR_OK;
}

const pass pass_chain = {"chain", run};
