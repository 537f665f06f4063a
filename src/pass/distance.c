/* distance: squared distances between all pairs of two sets of points, and what gradients make of
 * the differences, without the [n, m, d] tensor of differences.
 *
 * Requires: a verified module, calls inlined, equal ops merged (cse). Breaks: nothing; what lost
 * its uses stays for dce. With x varying along n and d, y along m and d, c any point, g along n
 * and m, all of them along batch dimensions too:
 *   sum_d (x - y)^2      = |x - c|^2 + |y - c|^2 - 2 (x - c) . (y - c)
 *   sum_m g (x - y)      = (x - c) sum_m g - g . (y - c)              the same over n, or n and m
 *   sum_nm g (x - y)^2   = sum_n (x - c)^2 sum_m g + ... - 2 sum_n (x - c) (g . (y - c))
 * where x - y may be scaled by what varies along neither n nor m. Read from elementwise ops and
 * broadcasts in any order of dimensions (vary.h). The square is x * x, |x|^2, power(x, 2),
 * chlo.square, or a dot_general of x with itself; the reducer adds; another initial value is added
 * afterwards.
 *
 * Exactness. c is about the mean of the smaller set, so far-off data cost nothing, and a number of
 * few bits, so that points of whole numbers have exact distances. With u the rounding of
 * the arithmetic and s = |x - c|^2 + |y - c|^2, a distance is off by a few u s (measured: below
 * u s sqrt(d)); what lies below that is 0, so equal points have distance 0 and none is negative.
 *   f32 is computed in f64: distances above 1e-7 sqrt(s) are as good as the differences were. Only
 * on CPU: elsewhere f64 is slow or absent and f32 is left alone.
 *   f64 has nothing wider: s / distance^2 is lost in relative accuracy, and exp(-a distance^2) is
 * off by a u s: by 1e-10 where the data extend over a thousand length scales. So it is left alone
 * where a root, a logarithm, a power or a division can see the distance (breaks_at_zero()), and
 * gradients where g comes of such. Infinite points are infinitely far from all points; the program
 * may also give NaN for two infinite points. NaN stays in its row and column. x + y is x - -y. Left
 * alone: any other exponent, reducer or element type, |x - y|, sums over n or m without a product,
 * tensors that are small against the limit or below the threshold, points of few dimensions: there
 * XLA's loops over the differences are as fast and exact. Kernels over the differences in f32 may
 * be faster than products in f64, so both ways are tried (passes.def). Cost: a matrix product. In
 * loops under a limit 3 to 10 times as fast as the differences from d = 16. Source: eXLA's
 * Euclidean distance rewrite (Artemev et al. 2022), which took every power for a square; Gram
 * matrix and centring: Schoenberg 1935.
 */
#include <float.h>
#include <math.h>

#include "pass/vary.h"
#include "machine/tuned.h"

enum { MOST_SCALES = 8, MOST_FACTORS = 16, MOST_TAKEN = 64, KEPT = 4 };

/* Two sets of points in f64, their common point taken away; scaled or not. */
typedef struct points {
  pass_nd p, q;
} points;

typedef struct finder {
  pass_ctx *p;
  ir_module *m;
  pass_vary *vary;
  ir_map *map;      /* results of replaced ops -> what they are now */
  uint8_t *at_zero; /* by value: something that is not smooth at 0 sees it */
  uint8_t *rough;   /* by value: may be anything near a distance of 0 */
  uint32_t room;
  struct { /* made last: gradients look at the points that the distance looked at */
    ir_value p, q;
    ir_block block;
    pass_dims shared;
    bool minus_q;
    points made;
  } last[KEPT];
  int n_last;
} finder;

typedef struct factor {
  ir_value value;
  bool divides;
} factor;

/* p - q, or p - -q, times or by the scales, the last one first. */
typedef struct difference {
  ir_value p, q;
  pass_dims vp, vq;
  bool minus_q;
  factor scales[MOST_SCALES];
  int n_scales;
} difference;

static ir_dtype dtype_of(const finder *f, ir_value v) { return ir_type_at(f->m, v)->dtype; }
static pass_dims varies(const finder *f, ir_value v) { return pass_varies(f->vary, v); }

/* Along all dimensions that it has. */
static bool is_full(const finder *f, ir_value v) { return varies(f, v) == pass_long_dims(f->m, v); }

/* ---- who sees a distance of 0 ---- */
static bool breaks_at_zero(const ir_module *m, ir_op op, uint32_t operand) {
  double exponent;
  switch (ir_kind_of(m, op)) {
    case IR_OP_SQRT:
    case IR_OP_RSQRT:
    case IR_OP_CBRT:
    case IR_OP_LOG:
    case IR_OP_ATAN2:
    case IR_OP_UNKNOWN:
    case IR_OP_CALL:
    case IR_OP_COMPOSITE:
    case IR_OP_CUSTOM_CALL:
    case IR_OP_WHILE:
    case IR_OP_MAP:
    case IR_OP_CHLO_LGAMMA:
    case IR_OP_CHLO_DIGAMMA:
    case IR_OP_CHLO_POLYGAMMA:
    case IR_OP_CHLO_ZETA:
    case IR_OP_CHLO_ACOSH: return true;
    case IR_OP_DIVIDE: return operand == 1;
    case IR_OP_POWER: return !ir_splat_real(m, ir_operand(m, op, 1), &exponent) || exponent < 1;
    default: return false;
  }
}

/* What comes out does not tell how close to 0 the operand was. */
static bool hides_zero(ir_kind kind) {
  return kind == IR_OP_EXPONENTIAL || kind == IR_OP_LOGISTIC || kind == IR_OP_COSINE ||
         kind == IR_OP_COMPARE || kind == IR_OP_FUNC_RETURN;
}

/* What the region's terminator hands over is the op's result, or goes round in a loop. */
static bool terminator_sees(const finder *f, ir_op op) {
  ir_op parent = ir_block_get(f->m, ir_op_get(f->m, op)->block)->parent;
  const ir_op_data *d = ir_op_get(f->m, parent);
  if (d->kind != IR_OP_CASE && d->kind != IR_OP_IF) return d->kind == IR_OP_WHILE;
  for (uint32_t i = 0; i < d->n_results; i++)
    if (f->at_zero[d->first_result + i]) return true;
  return false;
}

static void mark_operands(finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  ir_kind kind = (ir_kind)d->kind;
  bool seen = false;
  for (uint32_t i = 0; i < d->n_results; i++) seen |= f->at_zero[d->first_result + i];
  if (kind == IR_OP_RETURN) seen = terminator_sees(f, op);
  if (hides_zero(kind)) seen = false;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (seen || breaks_at_zero(f->m, op, i)) f->at_zero[d->operands[i]] = true;
}

/* Backwards: users before what they use. */
static void find_who_sees_zero(finder *f, ir_block block) {
  const ir_block_data *b = ir_block_get(f->m, block);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    ir_op op = b->ops.at[i];
    for (ir_block below, r = 0; (below = ir_next_block(f->m, op, &r));)
      find_who_sees_zero(f, below);
    mark_operands(f, op);
  }
}

/* Made of the inverse, the logarithm, a power of something that varies along all its dimensions. */
static void find_rough(finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->n_results != 1 || d->first_result >= f->room || hides_zero((ir_kind)d->kind)) return;
  bool rough = false;
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_value x = d->operands[i];
    if (x < f->room && f->rough[x]) rough = true;
    if (breaks_at_zero(f->m, op, i) && is_full(f, x) && pass_long_dims(f->m, x)) rough = true;
  }
  f->rough[d->first_result] = rough;
}

/* ---- differences ---- */
/* x - y or x + y, x - -y, of two sets of points. */
static bool find_difference(const finder *f, ir_value v, difference *out) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_kind kind = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
  if (kind != IR_OP_SUBTRACT && kind != IR_OP_ADD) return false;
  *out = (difference){
      .p = ir_operand(f->m, op, 0), .q = ir_operand(f->m, op, 1), .minus_q = kind == IR_OP_ADD};
  out->vp = varies(f, out->p);
  out->vq = varies(f, out->q);
  return out->vp & ~out->vq && out->vq & ~out->vp;
}

/* What is squared, up to its sign: a difference under scales. */
static bool find_scaled(const finder *f, ir_value v, difference *out) {
  factor scales[MOST_SCALES];
  ir_dtype dtype = dtype_of(f, v);
  int n = 0;
  for (ir_op op; !find_difference(f, v, out);) {
    if ((op = ir_maker(f->m, v, IR_OP_NEGATE)) || (op = ir_maker(f->m, v, IR_OP_ABS))) {
      v = ir_operand(f->m, op, 0);
      continue;
    }
    if (!((op = ir_maker(f->m, v, IR_OP_MULTIPLY)) || (op = ir_maker(f->m, v, IR_OP_DIVIDE))) ||
        n == MOST_SCALES)
      return false;
    bool divides = ir_kind_of(f->m, op) == IR_OP_DIVIDE;
    uint32_t inner = !divides && !is_full(f, ir_operand(f->m, op, 0));
    scales[n++] = (factor){ir_operand(f->m, op, 1 - inner), divides};
    v = ir_operand(f->m, op, inner);
    if (!is_full(f, v)) return false;
  }
  if (dtype_of(f, v) != dtype) return false; /* |x| of complex numbers */
  memcpy(out->scales, scales, sizeof scales);
  out->n_scales = n;
  for (int i = 0; i < n; i++)
    if (varies(f, scales[i].value) & (out->vp ^ out->vq)) return false;
  return true;
}

static bool is_worth_it(const finder *f, ir_value v) {
  ir_dtype dtype = dtype_of(f, v);
  return pass_multiplies_whole(f->p->options, dtype) &&
         ir_value_bytes(f->m, v) > pass_small_bytes(f->p->options);
}

static bool are_long(const pass_space *s, ir_dtype dtype, pass_dims shared) {
  return pass_nd_count(s, shared) >= (dtype == IR_F32 ? TUNED_POINT_F32 : TUNED_POINT_F64);
}

/* ---- building ---- */
static pass_space space_of(finder *f, ir_value v, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  return (pass_space){{f->m, d->block, d->location}, f->vary, ir_type_at(f->m, v)->dims};
}

/* In f64, with at least these dimensions. */
static pass_nd wide(pass_space *s, ir_value v, pass_dims dims) {
  return pass_nd_spread(s, pass_nd_convert(s, pass_nd_of(s, v), IR_F64), dims);
}

static pass_nd unary(pass_space *s, ir_kind kind, pass_nd x) {
  return (pass_nd){ir_build_unary(&s->b, kind, x.value), x.dims};
}

/* x where it is finite, else y, of the same dimensions. */
static pass_nd or_else(pass_space *s, pass_nd x, ir_value y) {
  ir_builder *b = &s->b;
  ir_type flags = pass_nd_type(s, IR_I1, x.dims);
  ir_value is_finite = ir_build(b, IR_OP_IS_FINITE, 1, &x.value, flags, 0, NULL);
  return (pass_nd){ir_build_select(b, is_finite, x.value, y), x.dims};
}

static pass_nd or_zero(pass_space *s, pass_nd x) {
  return or_else(s, x, ir_build_splat_int(&s->b, ir_type_of(s->b.m, x.value), 0));
}

static pass_nd mean(pass_space *s, pass_nd x, pass_dims dims) {
  ir_type scalar = ir_scalar(s->b.m, IR_F64);
  pass_nd count = {ir_build_splat_real(&s->b, scalar, (double)pass_nd_count(s, x.dims & dims)), 0};
  return pass_nd_binary(s, IR_OP_DIVIDE, pass_nd_sum(s, x, dims), count);
}

static pass_nd power_of_two(pass_space *s, pass_nd x) {
  ir_module *m = s->b.m;
  ir_named_attr attrs[] = {ir_property(m, "exponent_bits", ir_attr_int(m, 11, IR_I32)),
                           ir_property(m, "mantissa_bits", ir_attr_int(m, 0, IR_I32))};
  ir_type type = ir_type_of(m, x.value);
  return (pass_nd){ir_build(&s->b, IR_OP_REDUCE_PRECISION, 1, &x.value, type, 2, attrs), x.dims};
}

/* The mean in units of the mean deviation, rounded to a power of two: few bits, so that whole
 * numbers stay whole and their distances exact. */
static pass_nd common_point(pass_space *s, pass_nd x, pass_dims dims) {
  pass_nd c = mean(s, x, dims);
  pass_nd off = unary(s, IR_OP_ABS, pass_nd_binary(s, IR_OP_SUBTRACT, x, c));
  pass_nd unit = power_of_two(s, mean(s, off, dims));
  pass_nd units = unary(s, IR_OP_ROUND_EVEN, pass_nd_binary(s, IR_OP_DIVIDE, c, unit));
  pass_nd round = pass_nd_binary(s, IR_OP_MULTIPLY, units, unit);
  return or_zero(s, or_else(s, round, c.value)); /* unit is 0 where all are equal */
}

static points make_centred(pass_space *s, const difference *e, pass_dims shared) {
  points x = {wide(s, e->p, shared), wide(s, e->q, shared)};
  if (e->minus_q) x.q.value = ir_build_unary(&s->b, IR_OP_NEGATE, x.q.value);
  pass_dims only_p = x.p.dims & ~x.q.dims, only_q = x.q.dims & ~x.p.dims;
  CTX_CHECK(s->b.m->ctx, only_p && only_q); /* two sets of points */
  bool p_is_small = pass_nd_count(s, only_p) <= pass_nd_count(s, only_q);
  pass_nd c = p_is_small ? common_point(s, x.p, only_p) : common_point(s, x.q, only_q);
  return (points){pass_nd_binary(s, IR_OP_SUBTRACT, x.p, c),
                  pass_nd_binary(s, IR_OP_SUBTRACT, x.q, c)};
}

static points centred(finder *f, pass_space *s, const difference *e, pass_dims shared) {
  for (int i = 0; i < KEPT; i++)
    if (f->last[i].p == e->p && f->last[i].q == e->q && f->last[i].block == s->b.block &&
        f->last[i].shared == shared && f->last[i].minus_q == e->minus_q)
      return f->last[i].made;
  int at = f->n_last++ % KEPT;
  f->last[at].p = e->p;
  f->last[at].q = e->q;
  f->last[at].block = s->b.block;
  f->last[at].shared = shared;
  f->last[at].minus_q = e->minus_q;
  return f->last[at].made = make_centred(s, e, shared);
}

static points scaled(finder *f, pass_space *s, const difference *e, pass_dims shared) {
  points x = centred(f, s, e, shared);
  for (int i = e->n_scales; i-- > 0;) {
    ir_kind kind = e->scales[i].divides ? IR_OP_DIVIDE : IR_OP_MULTIPLY;
    pass_nd by = wide(s, e->scales[i].value, 0);
    x.p = pass_nd_binary(s, kind, x.p, by);
    x.q = pass_nd_binary(s, kind, x.q, by);
  }
  return x;
}

static pass_nd square(pass_space *s, pass_nd x) { return pass_nd_binary(s, IR_OP_MULTIPLY, x, x); }

/* Below the rounding of |x|^2 + |y|^2 - 2 x.y nothing is told from 0. NaN and inf stay. */
static pass_nd flushed(pass_space *s, pass_nd distance, pass_nd norms, pass_dims summed) {
  double roundings = 4 + sqrt((double)pass_nd_count(s, summed));
  pass_nd noise = pass_nd_scaled(s, norms, roundings * DBL_EPSILON);
  ir_value small = ir_build_compare(&s->b, "LT", distance.value, noise.value);
  ir_value zero = ir_build_splat_int(&s->b, ir_type_of(s->b.m, distance.value), 0);
  return (pass_nd){ir_build_select(&s->b, small, zero, distance.value), distance.dims};
}

/* Infinite coordinates count in the norms alone: inf - inf would be NaN. */
static pass_nd squared_distance(finder *f, pass_space *s, const difference *e, pass_dims summed) {
  points x = scaled(f, s, e, summed);
  pass_nd norms = pass_nd_binary(s, IR_OP_ADD, pass_nd_sum(s, square(s, x.p), summed),
                                 pass_nd_sum(s, square(s, x.q), summed));
  pass_nd mixed = pass_nd_dot(s, or_zero(s, x.p), pass_nd_scaled(s, or_zero(s, x.q), -2), summed);
  return flushed(s, pass_nd_binary(s, IR_OP_ADD, norms, mixed), norms, summed);
}

/* As the op's result: its element type, its shape, its initial value. kept: the dimensions of the
 * space that the result has, in order. init: IR_NONE for 0. */
static ir_value as_result(finder *f, pass_space *s, pass_nd x, ir_op op, pass_dims kept,
                          ir_value init) {
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  CTX_CHECK(f->m->ctx, !(x.dims & ~kept)); /* what is summed over is gone */
  x = pass_nd_convert(s, x, ir_type_get(f->m, type)->dtype);
  int64_t at[IR_MAX_RANK];
  int32_t n = 0;
  for (int d = 0; d < IR_MAX_RANK; d++)
    if (x.dims >> d & 1) at[n++] = __builtin_popcountll(kept & (((pass_dims)1 << d) - 1));
  ir_value v = x.value;
  if (ir_type_of(f->m, v) != type) v = ir_build_broadcast(&s->b, v, type, at);
  double zero;
  if (!init || (ir_splat_real(f->m, init, &zero) && zero == 0)) return v;
  if (ir_type_get(f->m, type)->rank) init = ir_build_broadcast(&s->b, init, type, at);
  return ir_build_add(&s->b, v, init);
}

/* ---- sum_d (x - y)^2 ---- */
static bool find_square(const finder *f, ir_value v, ir_value *out_of) {
  ir_op op;
  double exponent;
  if ((op = ir_maker(f->m, v, IR_OP_CHLO_SQUARE))) *out_of = ir_operand(f->m, op, 0);
  else if ((op = ir_maker(f->m, v, IR_OP_MULTIPLY)) &&
           ir_operand(f->m, op, 0) == ir_operand(f->m, op, 1))
    *out_of = ir_operand(f->m, op, 0);
  else if ((op = ir_maker(f->m, v, IR_OP_POWER)) &&
           ir_splat_real(f->m, ir_operand(f->m, op, 1), &exponent) && exponent == 2)
    *out_of = ir_operand(f->m, op, 0);
  else return false;
  return true;
}

/* The sum over `summed` of e^2 as the op's result; IR_NONE if that is no distance. */
static ir_value distance_of(finder *f, ir_op op, ir_value e, pass_dims summed, pass_dims kept,
                            ir_value init) {
  difference x;
  if (!is_worth_it(f, e) || !find_scaled(f, e, &x)) return IR_NONE;
  ir_value result = ir_result(f->m, op, 0);
  if (dtype_of(f, result) != dtype_of(f, e) || (x.vp ^ x.vq) & summed & pass_long_dims(f->m, e))
    return IR_NONE;
  if (dtype_of(f, e) == IR_F64 && (result >= f->room || f->at_zero[result])) return IR_NONE;
  pass_space s = space_of(f, e, op);
  summed &= pass_long_dims(f->m, e);
  if (!are_long(&s, dtype_of(f, e), summed)) return IR_NONE;
  return as_result(f, &s, squared_distance(f, &s, &x, summed), op, kept, init);
}

static pass_dims all_dims(const finder *f, ir_value v) {
  int32_t rank = ir_type_at(f->m, v)->rank;
  return rank == IR_MAX_RANK ? ~(pass_dims)0 : ((pass_dims)1 << rank) - 1;
}

static pass_dims mask_of(ir_ints dims) {
  pass_dims mask = 0;
  for (int32_t i = 0; i < dims.count; i++) mask |= (pass_dims)1 << dims.at[i];
  return mask;
}

/* A dot_general of x with itself over the same dimensions, all others batch dimensions in order. */
static ir_value distance_of_dot(finder *f, ir_op op) {
  ir_value e = ir_operand(f->m, op, 0);
  ir_dot_numbers n;
  if (ir_operand(f->m, op, 1) != e || !ir_dot_dims(f->m, op, &n)) return IR_NONE;
  int32_t rank = ir_type_at(f->m, e)->rank;
  if (n.lhs_batch.count + n.lhs_contract.count != rank) return IR_NONE;
  for (int32_t i = 0; i < n.lhs_batch.count; i++)
    if (n.lhs_batch.at[i] != n.rhs_batch.at[i] || (i && n.lhs_batch.at[i] < n.lhs_batch.at[i - 1]))
      return IR_NONE;
  for (int32_t i = 0; i < n.lhs_contract.count; i++)
    if (n.lhs_contract.at[i] != n.rhs_contract.at[i]) return IR_NONE;
  return distance_of(f, op, e, mask_of(n.lhs_contract), mask_of(n.lhs_batch), IR_NONE);
}

/* ---- sum g (x - y), sum g (x - y)^2 ---- */
/* A product of tensors of the whole space, taken apart. */
typedef struct product {
  difference e[2];
  int n_e;
  factor g[MOST_FACTORS]; /* they don't vary along all dimensions */
  int n_g;
  double times;
  int n_taken; /* ops, to get here */
} product;

static bool add_factor(product *x, ir_value v, bool divides) {
  if (x->n_g == MOST_FACTORS) return false;
  x->g[x->n_g++] = (factor){v, divides};
  return true;
}

/* power(v, 1) is v. */
static ir_value without_power(const finder *f, ir_value v) {
  double exponent;
  ir_op op = ir_maker(f->m, v, IR_OP_POWER);
  return op && ir_splat_real(f->m, ir_operand(f->m, op, 1), &exponent) && exponent == 1
             ? ir_operand(f->m, op, 0)
             : v;
}

/* a * b + b * a, the derivative of x * x: 2 a * b. */
static bool is_twice(const finder *f, ir_op add) {
  ir_value x = ir_operand(f->m, add, 0), y = ir_operand(f->m, add, 1);
  ir_op a = ir_maker(f->m, x, IR_OP_MULTIPLY), b = ir_maker(f->m, y, IR_OP_MULTIPLY);
  return x == y || (a && b && ir_operand(f->m, a, 0) == ir_operand(f->m, b, 1) &&
                    ir_operand(f->m, a, 1) == ir_operand(f->m, b, 0));
}

/* The left operand's dimensions are the first ones of the right operand's: g * x. */
static bool is_dot_of_leading(finder *f, ir_op dot) {
  ir_dot_numbers n;
  if (!ir_dot_dims(f->m, dot, &n) || n.lhs_contract.count) return false;
  int32_t rank = ir_type_at(f->m, ir_operand(f->m, dot, 0))->rank;
  for (int32_t i = 0; i < n.lhs_batch.count; i++)
    if (n.lhs_batch.at[i] != i || n.rhs_batch.at[i] != i) return false;
  return n.lhs_batch.count == rank &&
         dtype_of(f, ir_operand(f->m, dot, 1)) == dtype_of(f, ir_result(f->m, dot, 0)) &&
         dtype_of(f, ir_operand(f->m, dot, 0)) == dtype_of(f, ir_result(f->m, dot, 0));
}

static bool take_apart(finder *f, ir_value v, product *x) {
  v = without_power(f, v);
  ir_op op = ir_value_get(f->m, v)->op;
  if (!is_full(f, v)) return add_factor(x, v, false);
  if (!op || x->n_g + x->n_e > MOST_FACTORS || ++x->n_taken > MOST_TAKEN) return false;
  if (x->n_e < 2 && find_difference(f, v, &x->e[x->n_e])) return ++x->n_e;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_NEGATE: x->times = -x->times; return take_apart(f, ir_operand(f->m, op, 0), x);
    case IR_OP_ADD:
      x->times *= 2;
      return is_twice(f, op) && take_apart(f, ir_operand(f->m, op, 0), x);
    case IR_OP_DOT_GENERAL:
      return is_dot_of_leading(f, op) && add_factor(x, ir_operand(f->m, op, 0), false) &&
             take_apart(f, ir_operand(f->m, op, 1), x);
    case IR_OP_MULTIPLY:
      return take_apart(f, ir_operand(f->m, op, 0), x) && take_apart(f, ir_operand(f->m, op, 1), x);
    case IR_OP_DIVIDE:
      return !is_full(f, ir_operand(f->m, op, 1)) && add_factor(x, ir_operand(f->m, op, 1), true) &&
             take_apart(f, ir_operand(f->m, op, 0), x);
    default: return false;
  }
}

static bool is_same_difference(const difference *a, const difference *b) {
  return a->p == b->p && a->q == b->q && a->minus_q == b->minus_q;
}

/* Close pairs weigh so much that (x - c) - (y - c) is not close enough to x - y. */
static bool is_rough(const finder *f, const product *x) {
  for (int i = 0; i < x->n_g; i++) {
    ir_value g = x->g[i].value;
    if (g >= f->room || f->rough[g] ||
        (x->g[i].divides && varies(f, g) & (x->e[0].vp ^ x->e[0].vq)))
      return true;
  }
  return false;
}

/* What varies with neither set is a scale of the first difference; the rest stays in g. */
static bool sort_factors(const finder *f, product *x, pass_dims *out_g) {
  difference *e = &x->e[0];
  pass_dims own = e->vp ^ e->vq;
  int kept = 0;
  *out_g = 0;
  for (int i = 0; i < x->n_g; i++) {
    pass_dims v = varies(f, x->g[i].value);
    bool scales = !(v & own);
    if (scales && e->n_scales == MOST_SCALES) return false;
    if (scales) e->scales[e->n_scales++] = x->g[i];
    else x->g[kept++] = x->g[i], *out_g |= v;
  }
  x->n_g = kept;
  return true;
}

/* The product of g's factors, in the program's precision, as there. */
static pass_nd weights(pass_space *s, const product *x) {
  pass_nd g = {IR_NONE, 0};
  for (int i = 0; i < x->n_g; i++) {
    pass_nd y = pass_nd_of(s, x->g[i].value);
    ir_kind kind = x->g[i].divides ? IR_OP_DIVIDE : IR_OP_MULTIPLY;
    if (!g.value && x->g[i].divides) {
      ir_value one = ir_build_splat_real(&s->b, ir_type_of(s->b.m, y.value), 1);
      g = (pass_nd){one, y.dims};
    }
    g = g.value ? pass_nd_binary(s, kind, g, y) : y;
  }
  return pass_nd_convert(s, g, IR_F64);
}

static pass_nd linear_sum(finder *f, pass_space *s, const product *x, pass_nd g, pass_dims shared,
                          pass_dims summed) {
  points z = scaled(f, s, &x->e[0], shared);
  return pass_nd_binary(s, IR_OP_SUBTRACT, pass_nd_dot(s, g, z.p, summed),
                        pass_nd_dot(s, g, z.q, summed));
}

/* The scales are all on the first difference of two equal ones: as e * scaled e. */
static pass_nd quadratic_sum(finder *f, pass_space *s, const product *x, pass_nd g,
                             pass_dims shared, pass_dims summed) {
  points z = scaled(f, s, &x->e[0], shared), plain = centred(f, s, &x->e[1], shared);
  pass_nd pp = pass_nd_binary(s, IR_OP_MULTIPLY, z.p, plain.p);
  pass_nd qq = pass_nd_binary(s, IR_OP_MULTIPLY, z.q, plain.q);
  pass_dims own_q = z.q.dims & ~z.p.dims;
  bool over_q = summed & own_q;
  pass_nd inner =
      over_q ? pass_nd_dot(s, g, plain.q, summed & own_q) : pass_nd_dot(s, g, plain.p, summed);
  pass_nd mixed = pass_nd_binary(s, IR_OP_MULTIPLY, inner, over_q ? z.p : z.q);
  mixed = pass_nd_sum(s, mixed, summed);
  pass_nd squares =
      pass_nd_binary(s, IR_OP_ADD, pass_nd_dot(s, g, pp, summed), pass_nd_dot(s, g, qq, summed));
  return pass_nd_binary(s, IR_OP_SUBTRACT, squares, pass_nd_scaled(s, mixed, 2));
}

/* n or m or both are summed over, whole; g has both, the points share a dimension that g lacks. */
static bool is_contraction(const product *x, pass_dims g, pass_dims summed) {
  pass_dims p = x->e[0].vp, q = x->e[0].vq, own = p ^ q;
  if ((g & own) != own || !(p & q & ~g)) return false;
  return summed == own || summed == (p & ~q) || summed == (q & ~p);
}

static ir_value weighted_of(finder *f, ir_op op, ir_value v, pass_dims summed, pass_dims kept,
                            ir_value init) {
  product x = {.times = 1};
  pass_dims g;
  if (!is_worth_it(f, v) || !is_full(f, v) || !take_apart(f, v, &x) || !x.n_e) return IR_NONE;
  if (dtype_of(f, ir_result(f->m, op, 0)) != dtype_of(f, v)) return IR_NONE;
  if (x.n_e == 2 && !is_same_difference(&x.e[0], &x.e[1])) return IR_NONE;
  summed &= pass_long_dims(f->m, v);
  if (!sort_factors(f, &x, &g) || !is_contraction(&x, g, summed)) return IR_NONE;
  if (dtype_of(f, v) == IR_F64 && is_rough(f, &x)) return IR_NONE;
  pass_space s = space_of(f, v, op);
  pass_dims shared = x.e[0].vp & x.e[0].vq;
  if (!are_long(&s, dtype_of(f, v), shared & ~g)) return IR_NONE;
  pass_nd w = weights(&s, &x);
  pass_nd sum = x.n_e == 2 ? quadratic_sum(f, &s, &x, w, shared, summed)
                           : linear_sum(f, &s, &x, w, shared, summed);
  if (x.times != 1) sum = pass_nd_scaled(&s, sum, x.times);
  return as_result(f, &s, sum, op, kept, init);
}

/* ---- the walk ---- */
static ir_value replace_reduce(finder *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->n_operands != 2 || ir_reducer_kind(f->m, d->regions[0]) != IR_OP_ADD) return IR_NONE;
  if (!ir_is_static_tensor(f->m, ir_type_of(f->m, d->operands[0]))) return IR_NONE;
  ir_value v = d->operands[0], init = d->operands[1], e;
  pass_dims summed = mask_of(ir_op_list(f->m, op, "dimensions")), kept = all_dims(f, v) & ~summed;
  ir_value found = find_square(f, v, &e) ? distance_of(f, op, e, summed, kept, init) : IR_NONE;
  return found ? found : weighted_of(f, op, v, summed, kept, init);
}

static bool replace(pass_rewrite *r, ir_op op) {
  finder *f = r->own;
  ir_value made = IR_NONE;
  pass_vary_op(f->vary, op);
  find_rough(f, op);
  if (ir_kind_of(f->m, op) == IR_OP_REDUCE) made = replace_reduce(f, op);
  if (ir_kind_of(f->m, op) == IR_OP_DOT_GENERAL) made = distance_of_dot(f, op);
  return pass_stand_in(f->m, f->map, op, made);
}

static bool begin(pass_rewrite *r) {
  arena *a = r->p->scratch;
  finder *f = r->own = ARENA_NEW(a, finder);
  *f = (finder){.p = r->p,
                .m = r->m,
                .vary = pass_vary_new(a, r->m),
                .map = r->map,
                .at_zero = ARENA_ARRAY(a, uint8_t, r->n_values),
                .rough = ARENA_ARRAY(a, uint8_t, r->n_values),
                .room = r->n_values};
  find_who_sees_zero(f, ir_top(r->m));
  return true;
}

const pass pass_distance = {"distance", .replace = replace, .begin = begin};
