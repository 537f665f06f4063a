/* per-device: a program that XLA would partition, as what each device computes.
 *
 * In: a program of several partitions whose values say how they are sharded. Out: one manual
 * computation over the whole mesh. Its values are each device's parts, so that loops may go along
 * any of their dimensions, and what they need is known.
 * Identity: a device's part along a sharded dimension is a slice, of which there are as many as
 * devices along its axes: an op on it is the op on a slice (split/tile_op.h). A sum over a sharded
 * dimension is the sum of all devices' parts of it (split/monoid.h): an all_reduce in front of its
 * first reader. What an op needs whole is gathered, what it needs a part of is sliced.
 * It goes round by round, one for each list of axes that some dimension is sharded along: a round
 * divides the dimensions along it and leaves all others as they are.
 * Requires: shardings_known. Breaks: nothing. Sums of floats are rounded in another order, as XLA's
 * partitioner does it.
 * Left alone: programs with effects, calls that we don't know or manual computations of their own,
 * dynamic sizes, meshes that say an order of devices, sums that are left unreduced; where more than
 * the limit would be gathered, or more than an eighth of it made by each device though it is
 * sharded. Dimensions that their axes do not divide count as whole.
 * Cost: linear in ops times lists of axes.
 * Source: GSPMD (Xu et al. 2021); StableHLO, all_reduce, all_gather; Shardy, manual_computation.
 */
#include "base/saturate.h"
#include "base/strbuf.h"
#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/lapack.h"
#include "ir/shardings.h"
#include "pass/pass.h"
#include "pipeline/varying.h"
#include "split/factors.h"
#include "split/shards.h"
#include "split/tile_op.h"
#include "split/window.h"

enum { WHOLE = -1, MOST_ROUNDS = 16, LARGE = 8 };

/* A sum of which each device has a part. */
typedef struct partial_sum {
  ir_kind kind;
  ir_value part;
  ir_value initial; /* of the program: what it begins with; IR_NONE: with nothing */
  bool *is_needed;  /* set where somebody wants the sum itself; NULL: who does not matter */
} partial_sum;

/* What stands for a value of the block that is read. */
typedef struct division_value {
  ir_value now;
  ir_value whole; /* gathered; good in its block */
  int32_t dim;    /* `now` is a device's part along it, or WHOLE */
  partial_sum *sum;
} division_value;

/* By dimension: the round that divides it, or WHOLE. */
typedef struct division_border {
  int8_t rounds[IR_MAX_RANK];
} division_border;

typedef struct division {
  ir_module *m;
  arena *a;
  ir_axes mesh;
  const char *mesh_name; /* as shardings name it, from '@' on */
  int32_t mesh_name_length;
  VEC(ir_axes) rounds;
  ir_block from, to;        /* the program, before and after the round */
  const char **given;       /* by argument: its sharding */
  division_border *entries; /* by argument */
  const char **asked;       /* by result: likewise */
  division_border *exits;   /* by result */
  int32_t round;
  ir_axes axes; /* of the round */
  int64_t parts;
  uint32_t mask;          /* its axes, as bits of the mesh's */
  uint32_t *varies;       /* by value of `from`: axes along which devices have other ones */
  division_value *values; /* of what `from` has */
  ir_map *map;            /* the same, whole */
  VEC(ir_value) sums;     /* those that are not complete */
  ir_builder b;
  ir_value number;     /* of this device along the axes; good in its block */
  int64_t most_bytes;  /* of what is gathered */
  int64_t large_bytes; /* of what every device may make whole though it is sharded: no more */
  bool is_hopeless;
} division;

/* ---- what is sharded ---- */
static const char *sharding_of(const division *d, ir_value v) {
  const ir_value_data *data = ir_value_get(d->m, v);
  if (!data->op && data->block == d->from) return d->given[data->index];
  return ir_value_sharding(d->m, v);
}

static bool axes_along(const division *d, const char *sharding, int32_t dim, ir_axes *out) {
  const char *end, *from = sharding ? ir_sharding_dim(sharding, dim, &end) : NULL;
  return from && ir_axes_named(&d->mesh, from, end, out) && out->n > 0;
}

/* The dimension of v that the round divides, under that sharding. */
static int32_t divided_dim(const division *d, ir_value v, const char *sharding) {
  const ir_type_data *t = ir_type_at(d->m, v);
  ir_axes axes;
  for (int32_t i = 0; i < t->rank; i++)
    if (t->dims[i] >= d->parts && t->dims[i] % d->parts == 0 && axes_along(d, sharding, i, &axes) &&
        ir_axes_equal(&axes, &d->axes))
      return i;
  return WHOLE;
}

/* Devices along the round's axes have different ones: no parts of one value. */
static bool is_locked(const division *d, ir_value v) { return d->varies[v] & d->mask; }

static int32_t wanted_dim(const division *d, ir_value v) {
  return is_locked(d, v) ? WHOLE : divided_dim(d, v, sharding_of(d, v));
}

/* What the next rounds find on the ops from `first` on that have v's shape, or a part of it. */
static void say_sharding(division *d, ir_value v, ir_op first) {
  ir_module *m = d->m;
  const char *sharding = sharding_of(d, v);
  int32_t rank = ir_type_at(m, v)->rank;
  if (!sharding || !rank) return;
  strbuf text = strbuf_make(d->a);
  strbuf_printf(&text, "#sdy.sharding_per_value<[%.*s]>", (int)ir_sharding_length(sharding),
                sharding);
  ir_attr said = ir_attr_other(m, text.text);
  for (ir_op made = first; made < m->ops.count; made++) {
    bool is_of_block = ir_op_get(m, made)->block == d->b.block;
    if (is_of_block && ir_op_get(m, made)->n_results == 1 &&
        ir_type_at(m, ir_result(m, made, 0))->rank == rank)
      ir_op_set_attr(m, made, "sdy.sharding", said, false);
  }
}

/* ---- collectives ---- */
static ir_attr replica_groups(const division *d) {
  int64_t n = ir_axes_devices(&d->mesh), *ids = ARENA_ARRAY(d->a, int64_t, n);
  int64_t *filled = ARENA_ARRAY(d->a, int64_t, n), groups = 0;
  int64_t *group_of = ARENA_ARRAY(d->a, int64_t, n); /* by the id with all digits of axes 0 */
  for (int64_t id = 0; id < n; id++) {
    int64_t base = id;
    for (int32_t i = 0; i < d->axes.n; i++)
      base -= id / d->axes.at[i].stride % d->axes.at[i].size * d->axes.at[i].stride;
    if (base == id) group_of[id] = groups++;
    filled[id] = base;
  }
  for (int64_t id = 0; id < n; id++) {
    int64_t place = 0;
    for (int32_t i = 0; i < d->axes.n; i++)
      place = place * d->axes.at[i].size + id / d->axes.at[i].stride % d->axes.at[i].size;
    ids[group_of[filled[id]] * d->parts + place] = id;
  }
  CTX_CHECK(d->m->ctx, groups * d->parts == n);
  ir_type type = ir_tensor(d->m, IR_I64, 2, (int64_t[]){groups, d->parts});
  return ir_attr_dense(d->m, type, ids, false);
}

static ir_op build_collective(division *d, ir_kind kind, ir_value x, ir_type type,
                              const ir_named_attr *own, uint32_t n_regions) {
  ir_module *m = d->m;
  ir_attr unit = ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_UNIT});
  ir_attr channel = ir_attr_other(m, "#stablehlo.channel_handle<handle = 1, type = 1>");
  ir_named_attr attrs[4] = {ir_property(m, "replica_groups", replica_groups(d)),
                            ir_property(m, "channel_handle", channel),
                            ir_property(m, "use_global_device_ids", unit)};
  if (own) attrs[3] = *own;
  ir_op op = ir_build_op(&d->b, kind, 1, &x, 1, &type, own ? 4 : 3, attrs, n_regions);
  varying_say(m, op, d->mask);
  return op;
}

/* XLA's all_reduce takes these. */
static bool can_all_reduce(ir_kind kind, ir_dtype dtype) {
  bool is_logical = kind == IR_OP_AND || kind == IR_OP_OR;
  return dtype == IR_I1 ? is_logical : ir_is_monoid(kind) && !is_logical && kind != IR_OP_XOR;
}

static ir_value all_reduced(division *d, ir_kind kind, ir_value x) {
  ir_op op = build_collective(d, IR_OP_ALL_REDUCE, x, ir_type_of(d->m, x), NULL, 1);
  ir_build_reducer(&d->b, op, kind, ir_type_at(d->m, x)->dtype);
  return ir_result(d->m, op, 0);
}

static ir_value all_gathered(division *d, ir_value x, int32_t dim, ir_type type) {
  ir_named_attr along = ir_property(d->m, "all_gather_dim", ir_attr_int(d->m, dim, IR_I64));
  return ir_result(d->m, build_collective(d, IR_OP_ALL_GATHER, x, type, &along, 0), 0);
}

static ir_value made_of_digits(division *d, ir_value id, ir_type type) {
  ir_builder *b = &d->b;
  ir_value number = IR_NONE;
  for (int32_t i = 0; i < d->axes.n; i++) {
    const ir_axis *axis = &d->axes.at[i];
    ir_value size = ir_build_splat_int(b, type, axis->size), digit = id;
    if (axis->stride > 1)
      digit = ir_build_binary(b, IR_OP_DIVIDE, id, ir_build_splat_int(b, type, axis->stride));
    digit = ir_build_binary(b, IR_OP_REMAINDER, digit, size);
    number = number ? ir_build_binary(b, IR_OP_ADD,
                                      ir_build_binary(b, IR_OP_MULTIPLY, number, size), digit)
                    : digit;
  }
  return number;
}

/* The device as a trip: the one slice of as many as the axes have devices that is its own. */
static split_trip own_trip(division *d) {
  if (!d->number || !ir_is_made_in(d->m, d->number, d->b.block)) {
    ir_type type = ir_scalar(d->m, IR_UI32);
    ir_value id = ir_build(&d->b, IR_OP_PARTITION_ID, 0, NULL, type, 0, NULL);
    d->number = ir_build_convert(&d->b, made_of_digits(d, id, type), IR_I64);
    varying_say(d->m, ir_value_get(d->m, d->number)->op, d->mask);
  }
  return (split_trip){.start = d->number, .lo = d->number, .slice = 1, .extent = d->parts};
}

/* ---- values in the form that is wanted ---- */
static ir_value whole_value(division *d, ir_value v);
static ir_value part_of_value(division *d, ir_value v, int32_t dim);

static bool counts_for_nothing(const ir_module *m, ir_kind kind, ir_value initial) {
  return kind == IR_OP_ADD && ir_is_zero(m, initial);
}

/* All devices' parts, and what it begins with. */
static ir_value completed(division *d, ir_value v, const partial_sum *s) {
  ir_module *m = d->m;
  ir_op first = m->ops.count;
  CTX_CHECK(m->ctx, s->part && can_all_reduce(s->kind, ir_type_at(m, s->part)->dtype));
  ir_value sum = all_reduced(d, s->kind, s->part);
  if (s->initial) {
    ir_value begin = ir_build_convert(&d->b, whole_value(d, s->initial), ir_type_at(m, sum)->dtype);
    if (ir_type_of(m, begin) != ir_type_of(m, sum)) /* a scalar */
      begin = ir_build_broadcast(&d->b, begin, ir_type_of(m, sum), NULL);
    sum = ir_build_binary(&d->b, s->kind, begin, sum);
  }
  sum = ir_build_convert(&d->b, sum, ir_type_at(m, v)->dtype);
  say_sharding(d, v, first);
  return sum;
}

static void complete(division *d, ir_value v) {
  division_value *x = &d->values[v];
  if (!x->sum) return;
  if (x->sum->is_needed) *x->sum->is_needed = true;
  x->now = completed(d, v, x->sum);
  x->sum = NULL;
}

static split_pos own_pos(const division *d, ir_value v, int32_t dim) {
  const ir_type_data *t = ir_type_at(d->m, v);
  CTX_CHECK(d->m->ctx, dim >= 0 && dim < t->rank);
  return (split_pos){.dim = dim, .unit = t->dims[dim] / d->parts};
}

static ir_type own_type(const division *d, ir_value v, int32_t dim) {
  ir_type t = ir_type_of(d->m, v);
  CTX_CHECK(d->m->ctx, dim == WHOLE || ir_type_get(d->m, t)->dims[dim] % d->parts == 0);
  return dim == WHOLE ? t : ir_tensor_with_dim(d->m, t, dim, own_pos(d, v, dim).unit);
}

static bool is_own_pos(const division *d, ir_value v, split_pos pos) {
  return pos.dim < 0 || split_pos_equal(pos, own_pos(d, v, pos.dim));
}

static bool is_own(const division *d, ir_op op, const split_factor *f) {
  bool is = !f->shifts && !f->stencil && !f->carried;
  for (ir_value v, i = 0; is && (v = ir_operand_at(d->m, op, i)); i++)
    is = is_own_pos(d, v, f->operands[i]);
  for (ir_value v, i = 0; is && (v = ir_result_at(d->m, op, i)); i++)
    is = is_own_pos(d, v, f->results[i]);
  return is;
}

/* What costs less to make than to send. */
static bool is_cheap(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
  return kind == IR_OP_IOTA || ir_is_splat_constant(m, v) || kind == IR_OP_BROADCAST_IN_DIM;
}

static ir_op whole_op(division *d, ir_op op);

static ir_value whole_value(division *d, ir_value v) {
  division_value *x = &d->values[v];
  ir_module *m = d->m;
  complete(d, v);
  if (x->dim == WHOLE) return x->now;
  if (x->whole && ir_is_made_in(m, x->whole, d->b.block)) return x->whole;
  if (is_cheap(m, v)) return x->whole = ir_result(m, whole_op(d, ir_value_get(m, v)->op), 0);
  d->is_hopeless |= ir_value_bytes(m, v) > d->most_bytes;
  ir_op first = m->ops.count;
  x->whole = all_gathered(d, x->now, x->dim, ir_type_of(m, v));
  say_sharding(d, v, first);
  return x->whole;
}

static bool find_factor(const division *d, ir_op op, bool of_result, uint32_t i, int32_t dim,
                        split_factor *out) {
  ir_value v = of_result ? ir_result(d->m, op, i) : ir_operand(d->m, op, i);
  return split_trace(d->a, d->m, op, of_result, i, own_pos(d, v, dim), out) && is_own(d, op, out);
}

static ir_value *parts_of_operands(division *d, ir_op op, const split_factor *f) {
  uint32_t n = ir_op_get(d->m, op)->n_operands;
  ir_value *parts = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++)
    parts[i] = part_of_value(d, ir_operand(d->m, op, i), f->operands[i].dim);
  return parts;
}

static void own_op(division *d, ir_op op, const split_factor *f, ir_value *out) {
  ir_value *operands = parts_of_operands(d, op, f);
  split_trip trip = own_trip(d);
  ir_op first = d->m->ops.count;
  split_tile_op(&d->b, op, f, &trip, operands, out);
  say_sharding(d, ir_result(d->m, op, 0), first);
}

static ir_value part_of_value(division *d, ir_value v, int32_t dim) {
  division_value *x = &d->values[v];
  split_factor f;
  if (dim == WHOLE) return whole_value(d, v);
  complete(d, v);
  if (x->dim == dim) return x->now;
  ir_value made;
  if (is_cheap(d->m, v) && find_factor(d, ir_value_get(d->m, v)->op, true, 0, dim, &f))
    return own_op(d, ir_value_get(d->m, v)->op, &f, &made), made;
  ir_value whole = whole_value(d, v);
  split_trip trip = own_trip(d);
  ir_op first = d->m->ops.count;
  made = split_window_take(&d->b, &trip, whole, own_pos(d, v, dim));
  say_sharding(d, v, first);
  return made;
}

static void set_value(division *d, ir_value v, ir_value now, int32_t dim) {
  d->values[v] = (division_value){.now = now, .dim = dim};
}

/* ---- how an op is done ---- */
static ir_kind summing_kind(const division *d, ir_op op) {
  const ir_op_data *data = ir_op_get(d->m, op);
  switch ((ir_kind)data->kind) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
    case IR_OP_CONVOLUTION: return IR_OP_ADD;
    case IR_OP_REDUCE:
      return data->n_operands == 2 ? ir_reducer_kind(d->m, data->regions[0]) : IR_OP_UNKNOWN;
    case IR_OP_SCATTER:
      return data->n_operands == 3 ? ir_reducer_kind(d->m, data->regions[0]) : IR_OP_UNKNOWN;
    default: return IR_OP_UNKNOWN;
  }
}

static bool may_sum(const division *d, ir_op op, const split_factor *f) {
  ir_kind kind = summing_kind(d, op);
  ir_dtype dtype = ir_type_at(d->m, ir_result(d->m, op, 0))->dtype;
  return can_all_reduce(kind, dtype) && split_has_neutral(kind, dtype) &&
         split_can_merge(d->a, d->m, op, f);
}

/* Bytes that devices exchange, or that each makes though another does, too. */
static int64_t cost_of(const division *d, ir_op op, const split_factor *f) {
  int64_t cost = 0;
  bool is_sum = f && f->role == SPLIT_REDUCED;
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++) {
    int32_t dim = d->values[v].dim, asked = f ? f->operands[i].dim : WHOLE;
    if (dim != WHOLE && dim != asked && !is_cheap(d->m, v))
      cost = saturated_sum(cost, ir_value_bytes(d->m, v));
  }
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    if (is_sum || wanted_dim(d, v) != (f ? f->results[i].dim : WHOLE))
      cost = saturated_sum(cost, ir_value_bytes(d->m, v));
  return cost;
}

typedef struct way {
  bool is_own; /* else whole */
  split_factor f;
  int64_t cost;
} way;

static void consider(const division *d, ir_op op, bool of_result, uint32_t i, int32_t dim,
                     way *best) {
  split_factor f;
  if (dim == WHOLE || !find_factor(d, op, of_result, i, dim, &f)) return;
  if (f.role == SPLIT_REDUCED && !may_sum(d, op, &f)) return;
  int64_t cost = cost_of(d, op, &f);
  if (cost < best->cost) *best = (way){true, f, cost};
}

static bool reads_locked(const division *d, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    if (is_locked(d, v)) return true;
  return false;
}

static way find_way(const division *d, ir_op op) {
  way best = {.cost = cost_of(d, op, NULL)};
  if (reads_locked(d, op)) return best;
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    consider(d, op, true, i, wanted_dim(d, v), &best);
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    consider(d, op, false, i, d->values[v].dim, &best);
  return best;
}

/* ---- ops ---- */
static void map_whole(division *d, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    if (d->values[v].now || d->values[v].sum) ir_map_set(d->map, v, whole_value(d, v));
}

static void map_captured(const ir_module *m, ir_op op, void *user) {
  (void)m;
  map_whole(user, op);
}

static ir_op whole_op(division *d, ir_op op) {
  ir_walk_op(d->m, op, map_captured, d);
  return ir_copy_op(d->m, d->b.block, op, d->map);
}

/* XLA CPU may lay out what it gathers so that its FFT, which reads row by row, ends with an error.
 */
static bool is_fft_of_gathered(const division *d, ir_op op) {
  if (ir_kind_of(d->m, op) != IR_OP_FFT) return false;
  const division_value *x = &d->values[ir_operand(d->m, op, 0)];
  return x->dim != WHOLE || (x->now && ir_maker(d->m, x->now, IR_OP_ALL_GATHER));
}

static void do_whole(division *d, ir_op op) {
  d->is_hopeless |= is_fft_of_gathered(d, op);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    d->is_hopeless |= wanted_dim(d, v) != WHOLE && ir_value_bytes(d->m, v) > d->large_bytes;
  ir_op copy = whole_op(d, op);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    set_value(d, v, ir_result(d->m, copy, i), WHOLE);
}

static ir_value own_scatter(division *d, ir_op op, ir_kind kind, const ir_value *operands) {
  ir_module *m = d->m;
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  ir_value none = split_neutral(&d->b, kind, type, ir_operand(m, op, 0));
  ir_op part = ir_build_again(&d->b, op, (ir_value[]){none, operands[1], operands[2]}, &type);
  return ir_result(m, part, 0);
}

static void set_sum(division *d, ir_value v, partial_sum sum) {
  set_value(d, v, IR_NONE, WHOLE);
  d->values[v].sum = arena_copy(d->a, &sum, sizeof sum);
  VEC_PUSH(d->a, &d->sums, v);
}

/* What the op's sum begins with, if that counts. */
static ir_value initial_of(const ir_module *m, ir_op op, ir_kind kind) {
  ir_kind of = ir_kind_of(m, op);
  if (of != IR_OP_REDUCE && of != IR_OP_SCATTER) return IR_NONE;
  ir_value initial = ir_operand(m, op, of == IR_OP_REDUCE ? 1 : 0);
  return counts_for_nothing(m, kind, initial) ? IR_NONE : initial;
}

static void do_sum(division *d, ir_op op, const split_factor *f) {
  bool is_scatter = ir_kind_of(d->m, op) == IR_OP_SCATTER;
  ir_kind kind = summing_kind(d, op);
  ir_value *operands = parts_of_operands(d, op, f), v = ir_result(d->m, op, 0);
  split_trip trip = own_trip(d);
  ir_value part = is_scatter ? own_scatter(d, op, kind, operands)
                             : split_sum_part(&d->b, op, f, &trip, operands);
  set_sum(d, v, (partial_sum){kind, part, initial_of(d->m, op, kind), NULL});
}

/* ---- what is linear in sums: done on the parts ---- */
static bool is_bare_sum(const division *d, ir_value v) {
  const partial_sum *s = d->values[v].sum;
  return s && s->kind == IR_OP_ADD && !s->initial;
}

static bool are_floats(const division *d, ir_value x, ir_value y) {
  return ir_dtype_class_of(ir_type_at(d->m, x)->dtype) == IR_CLASS_FLOAT &&
         ir_dtype_class_of(ir_type_at(d->m, y)->dtype) == IR_CLASS_FLOAT;
}

/* How many of its operands are parts of the sum that it is; 0: it is none. No more elements than
 * they have: they are sent. */
static uint32_t summed_operands(const division *d, ir_op op) {
  ir_value x = ir_operand_at(d->m, op, 0), v = ir_result_at(d->m, op, 0);
  if (!x || !is_bare_sum(d, x)) return 0;
  switch (ir_kind_of(d->m, op)) {
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE: return 1;
    case IR_OP_CONVERT: return are_floats(d, x, v);
    case IR_OP_BROADCAST_IN_DIM:
      return ir_element_count(d->m, ir_type_of(d->m, x)) ==
             ir_element_count(d->m, ir_type_of(d->m, v));
    case IR_OP_ADD:
    case IR_OP_DYNAMIC_UPDATE_SLICE: return is_bare_sum(d, ir_operand(d->m, op, 1)) ? 2 : 0;
    default: return 0;
  }
}

/* In the element type that the program has. */
static ir_value part_of_sum(division *d, ir_value v) {
  CTX_CHECK(d->m->ctx, is_bare_sum(d, v));
  return ir_build_convert(&d->b, d->values[v].sum->part, ir_type_at(d->m, v)->dtype);
}

static bool do_linear(division *d, ir_op op) {
  uint32_t n = ir_op_get(d->m, op)->n_operands, summed = summed_operands(d, op);
  if (!summed) return false;
  ir_value *operands = ARENA_ARRAY(d->a, ir_value, n), v = ir_result(d->m, op, 0);
  for (uint32_t i = 0; i < n; i++) {
    ir_value x = ir_operand(d->m, op, i);
    operands[i] = i < summed ? part_of_sum(d, x) : whole_value(d, x);
  }
  ir_type type = ir_type_of(d->m, v);
  bool is_converted = ir_kind_of(d->m, op) == IR_OP_CONVERT;
  bool *is_needed = NULL;
  for (uint32_t i = 0; i < summed && !is_needed; i++)
    is_needed = d->values[ir_operand(d->m, op, i)].sum->is_needed;
  ir_value part = is_converted ? d->values[ir_operand(d->m, op, 0)].sum->part
                               : ir_result(d->m, ir_build_again(&d->b, op, operands, &type), 0);
  set_sum(d, v, (partial_sum){IR_OP_ADD, part, IR_NONE, is_needed});
  return true;
}

/* Barriers, constraints and earlier rounds' collectives: dimension by dimension what x is. */
static void do_same(division *d, ir_op op) {
  ir_value x = ir_operand(d->m, op, 0), v = ir_result(d->m, op, 0);
  bool is_constraint = ir_kind_of(d->m, op) == IR_OP_SDY_SHARDING_CONSTRAINT;
  int32_t dim = is_constraint ? wanted_dim(d, v) : d->values[x].dim;
  bool meets = varying_said(d->m, op) & d->mask; /* devices with other parts */
  if (meets || dim == ir_op_int(d->m, op, "all_gather_dim", WHOLE)) dim = WHOLE;
  ir_value part = part_of_value(d, x, dim);
  ir_type type = own_type(d, v, dim);
  set_value(d, v, ir_result(d->m, ir_build_again(&d->b, op, &part, &type), 0), dim);
}

static void do_plain(division *d, ir_op op) {
  way best = find_way(d, op);
  uint32_t n = ir_op_get(d->m, op)->n_results;
  if (!best.is_own) {
    do_whole(d, op);
  } else if (best.f.role == SPLIT_REDUCED) {
    do_sum(d, op, &best.f);
  } else {
    ir_value *results = ARENA_ARRAY(d->a, ir_value, n + 1);
    own_op(d, op, &best.f, results);
    for (uint32_t i = 0; i < n; i++)
      set_value(d, ir_result(d->m, op, i), results[i], best.f.results[i].dim);
  }
}

/* ---- ops with blocks of their own ---- */
static void divide_ops(division *d, ir_block from);

/* Carries of a while that are each device's part of a sum: it begins with zeros, and the body does
 * only what is linear with it. That is assumed, and the body made again where it was wrong. */
typedef struct carried_sums {
  bool *are, *are_needed; /* by carry */
} carried_sums;

static void take_argument(division *d, ir_block to, ir_value arg, int32_t dim) {
  set_value(d, arg, ir_block_arg(d->m, to, own_type(d, arg, dim)), dim);
}

/* dims: of what the block yields; NULL: all whole. sums: what may be yielded as parts of sums;
 * NULL: nothing. */
static void divide_block(division *d, ir_block from, ir_block to, ir_kind end, const int32_t *dims,
                         carried_sums *sums) {
  ir_builder around = d->b;
  d->b = (ir_builder){d->m, to, IR_NONE};
  divide_ops(d, from);
  ir_op last = ir_terminator(d->m, from);
  uint32_t n = ir_op_get(d->m, last)->n_operands;
  ir_value *yields = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = ir_operand(d->m, last, i);
    bool is_part = sums && sums->are[i] && is_bare_sum(d, v);
    if (sums && sums->are[i] && !is_part) sums->are_needed[i] = true;
    yields[i] = is_part ? part_of_sum(d, v) : part_of_value(d, v, dims ? dims[i] : WHOLE);
  }
  ir_build_return(&d->b, end, yields, n);
  d->b = around;
}

static ir_op build_divided(division *d, ir_op op, const ir_value *operands, const int32_t *dims) {
  ir_op_desc desc = ir_op_desc_of(d->m, op);
  ir_type *types = ARENA_ARRAY(d->a, ir_type, desc.n_results + 1);
  for (uint32_t i = 0; i < desc.n_results; i++)
    types[i] = own_type(d, ir_result(d->m, op, i), dims[i]);
  desc.operands = operands;
  desc.result_types = types;
  return ir_op_new(d->m, IR_NONE, &desc);
}

static int32_t *wanted_dims(const division *d, ir_op op) {
  int32_t *dims = ARENA_ARRAY(d->a, int32_t, ir_op_get(d->m, op)->n_results + 1);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++) dims[i] = wanted_dim(d, v);
  return dims;
}

static void set_results(division *d, ir_op op, ir_op made, const int32_t *dims) {
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    set_value(d, v, ir_result(d->m, made, i), dims[i]);
}

static carried_sums assume_sums(const division *d, ir_op op, const int32_t *dims) {
  uint32_t n = ir_op_get(d->m, op)->n_operands;
  carried_sums sums = {ARENA_ARRAY(d->a, bool, n + 1), ARENA_ARRAY(d->a, bool, n + 1)};
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    sums.are[i] = dims[i] == WHOLE && ir_type_at(d->m, v)->rank > 0 && ir_is_zero(d->m, v);
  return sums;
}

/* Whether some were none; those that are left. */
static bool drop_needed_sums(carried_sums *sums, uint32_t n) {
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    any |= sums->are[i] && sums->are_needed[i];
    sums->are[i] &= !sums->are_needed[i];
    sums->are_needed[i] = false;
  }
  return any;
}

static void take_carry(division *d, ir_block to, ir_value arg, int32_t dim, bool *is_needed) {
  take_argument(d, to, arg, dim);
  ir_value part = d->values[arg].now;
  if (is_needed) set_sum(d, arg, (partial_sum){IR_OP_ADD, part, IR_NONE, is_needed});
}

static ir_op build_while(division *d, ir_op op, const ir_value *operands, const int32_t *dims,
                         carried_sums *sums) {
  ir_op made = build_divided(d, op, operands, dims);
  for (uint32_t r = 0; r < 2; r++) {
    ir_block from = ir_op_get(d->m, op)->regions[r], to = ir_region_block(d->m, made, r);
    for (ir_value arg, i = 0; (arg = ir_argument_at(d->m, from, i)); i++)
      take_carry(d, to, arg, dims[i], sums->are[i] ? &sums->are_needed[i] : NULL);
    divide_block(d, from, to, IR_OP_RETURN, r ? dims : NULL, r ? sums : NULL);
  }
  return made;
}

/* Carries are divided as the while's results are. */
static void do_while(division *d, ir_op op) {
  uint32_t n = ir_op_get(d->m, op)->n_operands;
  int32_t *dims = wanted_dims(d, op);
  ir_value *operands = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) operands[i] = part_of_value(d, ir_operand(d->m, op, i), dims[i]);
  carried_sums sums = assume_sums(d, op, dims);
  ir_op made = build_while(d, op, operands, dims, &sums);
  while (drop_needed_sums(&sums, n)) made = build_while(d, op, operands, dims, &sums);
  ir_block_append(d->m, d->b.block, made);
  set_results(d, op, made, dims);
  for (uint32_t i = 0; i < n; i++)
    if (sums.are[i])
      set_sum(d, ir_result(d->m, op, i),
              (partial_sum){IR_OP_ADD, ir_result(d->m, made, i), IR_NONE, NULL});
}

static void do_branches(division *d, ir_op op) {
  const ir_op_data data = *ir_op_get(d->m, op);
  int32_t *dims = wanted_dims(d, op);
  ir_value index = whole_value(d, data.operands[0]);
  ir_op made = build_divided(d, op, &index, dims);
  for (uint32_t r = 0; r < data.n_regions; r++)
    divide_block(d, data.regions[r], ir_region_block(d->m, made, r), IR_OP_RETURN, dims, NULL);
  ir_block_append(d->m, d->b.block, made);
  set_results(d, op, made, dims);
}

/* Sums that the op's blocks read, outside of them. */
static void complete_below(division *d, ir_op op) {
  for (uint32_t i = 0; i < d->sums.count; i++)
    if (d->values[d->sums.at[i]].sum && ir_reads(d->m, op, d->sums.at[i]))
      complete(d, d->sums.at[i]);
}

static void divide_op(division *d, ir_op op) {
  d->b.location = ir_op_get(d->m, op)->location;
  if (ir_op_get(d->m, op)->n_regions) complete_below(d, op);
  switch (ir_kind_of(d->m, op)) {
    case IR_OP_WHILE: do_while(d, op); return;
    case IR_OP_IF:
    case IR_OP_CASE: do_branches(d, op); return;
    case IR_OP_OPTIMIZATION_BARRIER:
    case IR_OP_SDY_SHARDING_CONSTRAINT:
    case IR_OP_ALL_REDUCE:
    case IR_OP_ALL_GATHER:
      if (ir_op_get(d->m, op)->n_operands == 1) do_same(d, op);
      else do_whole(d, op);
      return;
    default:
      if (!do_linear(d, op)) do_plain(d, op);
  }
}

static void divide_ops(division *d, ir_block from) {
  uint32_t n = ir_block_get(d->m, from)->ops.count;
  for (uint32_t i = 0; i + 1 < n && !d->is_hopeless; i++)
    divide_op(d, ir_block_get(d->m, from)->ops.at[i]);
}

/* ---- rounds ---- */
static uint32_t mask_of(const division *d, const ir_axes *axes) {
  uint32_t mask = 0;
  for (int32_t i = 0; i < axes->n; i++)
    for (int32_t k = 0; k < d->mesh.n; k++)
      if (!strncmp(axes->at[i].text, d->mesh.at[k].text, (size_t)d->mesh.at[k].length))
        mask |= 1u << k;
  return mask;
}

static void note_border(const division *d, division_border *border, int32_t dim) {
  if (dim != WHOLE) border->rounds[dim] = (int8_t)d->round;
}

/* What a round has divided along an axis is no value that a later one may divide along it: a
 * dimension may be sharded along "a", another along "b", "a". */
static uint32_t *masks_of_arguments(const division *d) {
  uint32_t *masks = ARENA_ARRAY(d->a, uint32_t, ir_block_get(d->m, d->from)->args.count + 1);
  for (ir_value arg, i = 0; (arg = ir_argument_at(d->m, d->from, i)); i++)
    for (int32_t k = 0; k < ir_type_at(d->m, arg)->rank; k++)
      if (d->entries[i].rounds[k] != WHOLE)
        masks[i] |= mask_of(d, &d->rounds.at[d->entries[i].rounds[k]]);
  return masks;
}

static void divide_along(division *d, int32_t round) {
  ir_module *m = d->m;
  d->round = round;
  d->axes = d->rounds.at[round];
  d->parts = ir_axes_devices(&d->axes);
  CTX_CHECK(m->ctx, d->parts > 1);
  d->mask = mask_of(d, &d->axes);
  d->varies = varying_axes(d->a, m, d->from, masks_of_arguments(d));
  d->values = ARENA_ARRAY(d->a, division_value, m->values.count);
  d->map = ir_map_new(d->a, m);
  d->sums.count = 0;
  d->number = IR_NONE;
  d->to = ir_block_new(m);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, d->from, i)); i++) {
    int32_t dim = wanted_dim(d, arg);
    note_border(d, &d->entries[i], dim);
    take_argument(d, d->to, arg, dim);
  }
  ir_op last = ir_terminator(m, d->from);
  int32_t *dims = ARENA_ARRAY(d->a, int32_t, ir_op_get(m, last)->n_operands + 1);
  for (ir_value v, i = 0; (v = ir_operand_at(m, last, i)); i++) {
    dims[i] = is_locked(d, v) ? WHOLE : divided_dim(d, v, d->asked[i]);
    note_border(d, &d->exits[i], dims[i]);
  }
  divide_block(d, d->from, d->to, IR_OP_SDY_RETURN, dims, NULL);
  d->from = d->to;
}

/* ---- whether ---- */
static bool is_of_tensors(const ir_module *m, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++)
    if (!ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++)
    if (!ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  return true;
}

static bool is_foreign(const ir_module *m, ir_op op, const void *user) {
  (void)user;
  ir_kind kind = ir_kind_of(m, op);
  bool is_end = ir_kind_flags(kind) & IR_FLAG_T;
  if (kind == IR_OP_CUSTOM_CALL && ir_lapack_batch_rank((ir_module *)m, op) < 0) return true;
  return !is_of_tensors(m, op) || kind == IR_OP_UNKNOWN || kind == IR_OP_CALL ||
         kind == IR_OP_COMPOSITE || kind == IR_OP_PARTITION_ID || kind == IR_OP_REPLICA_ID ||
         (!is_end && ir_has_effects(m, op));
}

/* All that is sharded is so over one mesh, of all devices in order. */
static bool find_mesh(division *d, const char *sharding) {
  const char *mesh = ir_sharding_mesh(d->m, sharding);
  int32_t length = mesh ? (int32_t)strcspn(sharding + 1, ",>") : 0;
  if (!mesh || strstr(mesh, "device_ids") || strstr(sharding, "unreduced")) return false;
  if (d->mesh_name)
    return length == d->mesh_name_length && !memcmp(sharding + 1, d->mesh_name, (size_t)length);
  d->mesh_name = sharding + 1;
  d->mesh_name_length = length;
  return ir_axes_of_mesh(mesh, &d->mesh) &&
         ir_axes_devices(&d->mesh) == ir_op_int(d->m, d->m->root, "mhlo.num_partitions", 1);
}

/* Those over more devices come first: sums over all of them are made before their parts. */
static void add_round(division *d, const ir_axes *axes) {
  for (uint32_t i = 0; i < d->rounds.count; i++)
    if (ir_axes_equal(&d->rounds.at[i], axes)) return;
  d->is_hopeless |= d->rounds.count == MOST_ROUNDS;
  if (d->is_hopeless || ir_axes_devices(axes) <= 1) return;
  VEC_PUSH(d->a, &d->rounds, *axes);
  for (uint32_t i = d->rounds.count - 1; i > 0; i--) {
    ir_axes *before = &d->rounds.at[i - 1], *after = &d->rounds.at[i];
    if (ir_axes_devices(before) >= ir_axes_devices(after)) return;
    ir_axes held = *before;
    *before = *after;
    *after = held;
  }
}

static void look_at_value(division *d, ir_value v) {
  const char *sharding = sharding_of(d, v);
  if (!sharding || !memchr(sharding, '"', ir_sharding_length(sharding))) return;
  if (!find_mesh(d, sharding)) {
    d->is_hopeless = true;
    return;
  }
  ir_axes axes;
  const ir_type_data *t = ir_type_at(d->m, v);
  for (int32_t i = 0; i < t->rank; i++) {
    if (!axes_along(d, sharding, i, &axes)) continue;
    bool is_uneven = t->dims[i] % ir_axes_devices(&axes) != 0;
    d->is_hopeless |= is_uneven && ir_value_bytes(d->m, v) > d->large_bytes;
    add_round(d, &axes);
  }
}

static void look_at_op(const ir_module *m, ir_op op, void *user) {
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) look_at_value(user, v);
}

static bool can_divide(division *d, const pass_ctx *p) {
  ir_module *m = d->m;
  bool is_known = p->options->shardings_known || p->options->only_passes;
  if (!is_known || split_spread_of(m) != SPLIT_SHARDED || ir_any(m, d->from, is_foreign, NULL))
    return false;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, d->from, i)); i++) {
    if (!ir_is_static_tensor(m, ir_type_of(m, arg))) return false;
    look_at_value(d, arg);
  }
  ir_walk(m, d->from, look_at_op, d);
  return !d->is_hopeless && d->rounds.count > 0;
}

/* ---- the whole ---- */
static void put_axes(strbuf *out, const ir_axes *axes) {
  for (int32_t i = 0; i < axes->n; i++)
    strbuf_printf(out, "%s%.*s", i ? ", " : "", axes->at[i].length, axes->at[i].text);
}

static void put_border(const division *d, strbuf *out, const division_border *border,
                       int32_t rank) {
  strbuf_printf(out, "<%.*s, [", d->mesh_name_length, d->mesh_name);
  for (int32_t i = 0; i < rank; i++) {
    strbuf_puts(out, i ? ", {" : "{");
    if (border->rounds[i] != WHOLE) put_axes(out, &d->rounds.at[border->rounds[i]]);
    strbuf_puts(out, "}");
  }
  strbuf_puts(out, "]>");
}

static ir_named_attr border_attr(division *d, const char *name, const division_border *borders,
                                 const ir_value *values, uint32_t n) {
  strbuf text = strbuf_make(d->a);
  strbuf_puts(&text, "#sdy.sharding_per_value<[");
  for (uint32_t i = 0; i < n; i++) {
    if (i) strbuf_puts(&text, ", ");
    put_border(d, &text, &borders[i], ir_type_at(d->m, values[i])->rank);
  }
  strbuf_puts(&text, "]>");
  return ir_property(d->m, name, ir_attr_other(d->m, text.text));
}

static ir_named_attr axes_attr(division *d) {
  strbuf text = strbuf_make(d->a);
  strbuf_puts(&text, "#sdy<manual_axes{");
  put_axes(&text, &d->mesh);
  strbuf_puts(&text, "}>");
  return ir_property(d->m, "manual_axes", ir_attr_other(d->m, text.text));
}

static void drop_sharding(const ir_module *m, ir_op op, void *user) {
  ir_map *map = user;
  ir_op_drop_attr((ir_module *)m, op, "sdy.sharding");
  varying_forget((ir_module *)m, op);
  if (ir_kind_of(m, op) == IR_OP_SDY_SHARDING_CONSTRAINT)
    ir_map_set(map, ir_result(m, op, 0), ir_map_get(map, ir_operand(m, op, 0)));
}

/* The function's block: the computation, and what it gives. */
static void put_in_place(division *d, ir_block block) {
  ir_module *m = d->m;
  ir_map *map = ir_map_new(d->a, m);
  ir_walk(m, d->to, drop_sharding, map);
  ir_replace_uses(m, d->to, map);
  ir_op last = ir_terminator(m, block);
  uint32_t n_in = ir_block_get(m, block)->args.count, n_out = ir_op_get(m, last)->n_operands;
  const ir_value *args = ir_block_get(m, block)->args.at, *results = ir_op_get(m, last)->operands;
  ir_named_attr attrs[] = {border_attr(d, "in_shardings", d->entries, args, n_in), axes_attr(d),
                           border_attr(d, "out_shardings", d->exits, results, n_out)};
  ir_take_ops(m, block);
  ir_builder b = {m, block, ir_op_get(m, last)->location};
  ir_op manual = ir_build_op(&b, IR_OP_SDY_MANUAL_COMPUTATION, n_in, args, n_out,
                             ir_types_of(d->a, m, results, n_out), 3, attrs, 1);
  ir_region_set(m, manual, 0, d->to);
  ir_value *made = ARENA_ARRAY(d->a, ir_value, n_out + 1);
  for (uint32_t i = 0; i < n_out; i++) made[i] = ir_result(m, manual, i);
  ir_build_return(&b, IR_OP_FUNC_RETURN, made, n_out);
}

static division_border *no_borders(const division *d, uint32_t n) {
  division_border *borders = ARENA_ARRAY(d->a, division_border, n + 1);
  for (uint32_t i = 0; i < n; i++) memset(borders[i].rounds, WHOLE, sizeof borders[i].rounds);
  return borders;
}

static const char **shardings_of(const division *d, const ir_value *values, uint32_t n) {
  const char **all = ARENA_ARRAY(d->a, const char *, n + 1);
  for (uint32_t i = 0; i < n; i++) all[i] = ir_value_sharding(d->m, values[i]);
  return all;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  ir_op main = ir_main_function(m);
  ir_block block = main && ir_op_get(m, main)->n_regions ? ir_body(m, main) : IR_NONE;
  int64_t limit = p->options->memory_limit_bytes;
  if (!block) return WEIR_OK;
  division d = {.m = m,
                .a = p->scratch,
                .from = block,
                .most_bytes = limit ? limit : INT64_MAX,
                .large_bytes = limit ? limit / LARGE : INT64_MAX};
  const ir_block_data *b = ir_block_get(m, block);
  const ir_op_data *last = ir_op_get(m, ir_terminator(m, block));
  d.given = shardings_of(&d, b->args.at, b->args.count);
  d.asked = shardings_of(&d, last->operands, last->n_operands);
  d.entries = no_borders(&d, b->args.count);
  d.exits = no_borders(&d, last->n_operands);
  if (!can_divide(&d, p)) return WEIR_OK;
  for (uint32_t i = 0; i < d.rounds.count && !d.is_hopeless; i++) divide_along(&d, (int32_t)i);
  if (d.is_hopeless) return WEIR_OK;
  put_in_place(&d, block);
  p->changed = true;
  return WEIR_OK;
}

const pass pass_per_device = {"per-device", run};
