#include "pipeline/division.h"

#include "base/strbuf.h"
#include "ir/fold.h"
#include "pipeline/varying.h"
#include "split/window.h"

/* ---- what is sharded ---- */
uint32_t division_mask(const division *d, const ir_axes *axes) {
  uint32_t mask = 0;
  for (int32_t i = 0; i < axes->n; i++)
    for (int32_t k = 0; k < d->mesh.n; k++)
      if (!strncmp(axes->at[i].text, d->mesh.at[k].text, (size_t)d->mesh.at[k].length))
        mask |= 1u << k;
  return mask;
}

const char *division_sharding(const division *d, ir_value v) {
  const ir_value_data *data = ir_value_get(d->m, v);
  if (!data->op && data->block == d->from) return d->given[data->index];
  return ir_value_sharding(d->m, v);
}

bool division_axes_along(const division *d, const char *sharding, int32_t dim, ir_axes *out) {
  const char *end, *from = sharding ? ir_sharding_dim(sharding, dim, &end) : NULL;
  return from && ir_axes_named(&d->mesh, from, end, out) && out->n > 0;
}

/* Axes from `from` on, before `to`. */
static ir_axes some_of(const ir_axes *axes, int32_t from, int32_t to) {
  ir_axes some = {.n = to - from};
  memcpy(some.at, axes->at + from, (size_t)some.n * sizeof *some.at);
  return some;
}

static int32_t find_round(const division *d, const ir_axes *axes) {
  for (uint32_t i = 0; i < d->rounds.count; i++)
    if (ir_axes_equal(&d->rounds.at[i], axes)) return (int32_t)i;
  return DIVISION_WHOLE;
}

/* The outer axes' round comes first: a part of its parts is a part along both. */
static bool find_two_rounds(const division *d, const ir_axes *axes, int32_t *outer,
                            int32_t *inner) {
  for (int32_t n = 1; n < axes->n; n++) {
    ir_axes first = some_of(axes, 0, n), rest = some_of(axes, n, axes->n);
    *outer = find_round(d, &first);
    *inner = find_round(d, &rest);
    if (*outer != DIVISION_WHOLE && *outer < *inner) return true;
  }
  return false;
}

static bool find_in_two(const division *d, const ir_axes *axes, int32_t *outer, int32_t *inner) {
  for (uint32_t i = 0; i < d->in_two.count; i++)
    if (ir_axes_equal(&d->in_two.at[i], axes)) return find_two_rounds(d, axes, outer, inner);
  return false;
}

bool division_is_in_two(const division *d, const ir_axes *axes) {
  int32_t outer, inner;
  return find_in_two(d, axes, &outer, &inner);
}

static bool is_divided_along(const division *d, const ir_axes *axes) {
  int32_t outer, inner;
  if (find_in_two(d, axes, &outer, &inner)) return outer == d->round || inner == d->round;
  return ir_axes_equal(axes, &d->axes);
}

int32_t division_divided_dim(const division *d, ir_value v, const char *sharding) {
  const ir_type_data *t = ir_type_at(d->m, v);
  ir_axes axes;
  for (int32_t i = 0; i < t->rank; i++)
    if (t->dims[i] >= d->parts && t->dims[i] % d->parts == 0 &&
        division_axes_along(d, sharding, i, &axes) && is_divided_along(d, &axes))
      return i;
  return DIVISION_WHOLE;
}

bool division_is_locked(const division *d, ir_value v) { return d->varies[v] & d->mask; }

int32_t division_wanted_dim(const division *d, ir_value v) {
  return division_is_locked(d, v) ? DIVISION_WHOLE
                                  : division_divided_dim(d, v, division_sharding(d, v));
}

/* What the next rounds find on the ops from `first` on that have v's shape, or a part of it. */
static void say_sharding(division *d, ir_value v, ir_op first) {
  ir_module *m = d->m;
  const char *sharding = division_sharding(d, v);
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

bool division_can_reduce(ir_kind kind, ir_dtype dtype) {
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
    number = number ? ir_build_add(b, ir_build_multiply(b, number, size), digit) : digit;
  }
  return number;
}

split_trip division_trip(division *d) {
  if (!d->number || !ir_is_made_in(d->m, d->number, d->b.block)) {
    ir_type type = ir_scalar(d->m, IR_UI32);
    ir_value id = ir_build(&d->b, IR_OP_PARTITION_ID, 0, NULL, type, 0, NULL);
    d->number = ir_build_convert(&d->b, made_of_digits(d, id, type), IR_I64);
    varying_say(d->m, ir_value_get(d->m, d->number)->op, d->mask);
  }
  return (split_trip){.start = d->number, .lo = d->number, .slice = 1, .extent = d->parts};
}

split_trip division_slice(division *d, int64_t extent) {
  int64_t slice = extent / d->parts;
  CTX_CHECK(d->m->ctx, slice * d->parts == extent);
  ir_value number = division_trip(d).start,
           each = ir_build_splat_int(&d->b, ir_type_of(d->m, number), slice),
           start = ir_build_multiply(&d->b, number, each);
  return (split_trip){.start = start, .lo = start, .slice = slice, .extent = extent};
}

/* ---- values in the form that is wanted ---- */
ir_value division_whole(division *d, ir_value v);
ir_value division_part(division *d, ir_value v, int32_t dim);

/* All devices' parts, and what it begins with. */
static ir_value completed(division *d, ir_value v, const partial_sum *s) {
  ir_module *m = d->m;
  ir_op first = m->ops.count;
  CTX_CHECK(m->ctx, s->part && division_can_reduce(s->kind, ir_type_at(m, s->part)->dtype));
  ir_value sum = all_reduced(d, s->kind, s->part);
  if (s->initial) {
    ir_value begin =
        ir_build_convert(&d->b, division_whole(d, s->initial), ir_type_at(m, sum)->dtype);
    if (ir_type_of(m, begin) != ir_type_of(m, sum)) /* a scalar */
      begin = ir_build_broadcast(&d->b, begin, ir_type_of(m, sum), NULL);
    sum = ir_build_binary(&d->b, s->kind, begin, sum);
  }
  sum = ir_build_convert(&d->b, sum, ir_type_at(m, v)->dtype);
  say_sharding(d, v, first);
  return sum;
}

void division_complete(division *d, ir_value v) {
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

ir_type division_type(const division *d, ir_value v, int32_t dim) {
  ir_type t = ir_type_of(d->m, v);
  CTX_CHECK(d->m->ctx, dim == DIVISION_WHOLE || ir_type_get(d->m, t)->dims[dim] % d->parts == 0);
  return dim == DIVISION_WHOLE ? t : ir_tensor_with_dim(d->m, t, dim, own_pos(d, v, dim).unit);
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

bool division_is_cheap(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  ir_kind kind = op ? ir_kind_of(m, op) : IR_OP_UNKNOWN;
  return kind == IR_OP_IOTA || ir_is_splat_constant(m, v) || kind == IR_OP_BROADCAST_IN_DIM;
}

ir_value division_whole(division *d, ir_value v) {
  division_value *x = &d->values[v];
  ir_module *m = d->m;
  division_complete(d, v);
  if (x->dim == DIVISION_WHOLE) return x->now;
  if (x->whole && ir_is_made_in(m, x->whole, d->b.block)) return x->whole;
  if (division_is_cheap(m, v))
    return x->whole = ir_result(m, division_whole_op(d, ir_value_get(m, v)->op), 0);
  d->is_hopeless |= ir_value_bytes(m, v) > d->most_bytes;
  ir_op first = m->ops.count;
  x->whole = all_gathered(d, x->now, x->dim, ir_type_of(m, v));
  say_sharding(d, v, first);
  return x->whole;
}

bool division_find_factor(const division *d, ir_op op, bool of_result, uint32_t i, int32_t dim,
                          split_factor *out) {
  ir_value v = of_result ? ir_result(d->m, op, i) : ir_operand(d->m, op, i);
  return split_trace(d->a, d->m, op, of_result, i, own_pos(d, v, dim), out) && is_own(d, op, out);
}

bool division_find_places(const division *d, ir_op op, int32_t dim, split_factor *out) {
  ir_kind kind = ir_kind_of(d->m, op);
  if (kind != IR_OP_GATHER && kind != IR_OP_SCATTER) return false;
  split_pos pos = {.dim = dim, .unit = 1};
  bool is_found = split_trace(d->a, d->m, op, false, 0, pos, out);
  for (ir_value v, i = 1; is_found && (v = ir_operand_at(d->m, op, i)); i++)
    is_found = out->operands[i].dim < 0;
  return is_found && out->role == (kind == IR_OP_GATHER ? SPLIT_REDUCED : SPLIT_PARALLEL);
}

ir_value *division_operands(division *d, ir_op op, const split_factor *f) {
  uint32_t n = ir_op_get(d->m, op)->n_operands;
  ir_value *parts = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++)
    parts[i] = division_part(d, ir_operand(d->m, op, i), f->operands[i].dim);
  return parts;
}

void division_own_op(division *d, ir_op op, const split_factor *f, const split_trip *trip,
                     ir_value *out) {
  ir_value *operands = division_operands(d, op, f);
  ir_op first = d->m->ops.count;
  split_tile_op(&d->b, op, f, trip, operands, out);
  say_sharding(d, ir_result(d->m, op, 0), first);
}

ir_value division_part(division *d, ir_value v, int32_t dim) {
  division_value *x = &d->values[v];
  split_factor f;
  if (dim == DIVISION_WHOLE) return division_whole(d, v);
  division_complete(d, v);
  if (x->dim == dim) return x->now;
  ir_value made;
  if (division_is_cheap(d->m, v) &&
      division_find_factor(d, ir_value_get(d->m, v)->op, true, 0, dim, &f)) {
    split_trip trip = division_trip(d);
    return division_own_op(d, ir_value_get(d->m, v)->op, &f, &trip, &made), made;
  }
  ir_value whole = division_whole(d, v);
  split_trip trip = division_trip(d);
  ir_op first = d->m->ops.count;
  made = split_window_take(&d->b, &trip, whole, own_pos(d, v, dim));
  say_sharding(d, v, first);
  return made;
}

void division_set(division *d, ir_value v, ir_value now, int32_t dim) {
  d->values[v] = (division_value){.now = now, .dim = dim};
}

/* ---- as a whole ---- */
static void map_whole(division *d, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    if (d->values[v].now || d->values[v].sum) ir_map_set(d->map, v, division_whole(d, v));
}

ir_op division_whole_op(division *d, ir_op op) {
  for (ir_walk w = ir_walk_op(d->m, op); ir_next(&w);) map_whole(d, w.op);
  return ir_copy_op(d->m, d->b.block, op, d->map);
}

void division_take_argument(division *d, ir_block to, ir_value arg, int32_t dim) {
  division_set(d, arg, ir_block_arg(d->m, to, division_type(d, arg, dim)), dim);
}
