#include "pipeline/divide.h"

#include "base/saturate.h"
#include "ir/fold.h"
#include "ir/attrs.h"
#include "pipeline/manual.h"
#include "pipeline/varying.h"
#include "split/indices.h"
#include "split/monoid.h"

static bool counts_for_nothing(const ir_module *m, ir_kind kind, ir_value initial) {
  return kind == IR_OP_ADD && ir_is_zero(m, initial);
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
  return division_can_reduce(kind, dtype) && split_has_neutral(kind, dtype) &&
         split_can_merge(d->a, d->m, op, f);
}

/* Bytes that devices exchange, or that each makes though another does, too. */
static int64_t cost_of(const division *d, ir_op op, const split_factor *f) {
  int64_t cost = 0;
  bool is_sum = f && f->role == SPLIT_REDUCED;
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++) {
    int32_t dim = d->values[v].dim, asked = f ? f->operands[i].dim : DIVISION_WHOLE;
    if (dim != DIVISION_WHOLE && dim != asked && !division_is_cheap(d->m, v))
      cost = saturated_sum(cost, ir_value_bytes(d->m, v));
  }
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    if (is_sum || division_wanted_dim(d, v) != (f ? f->results[i].dim : DIVISION_WHOLE))
      cost = saturated_sum(cost, ir_value_bytes(d->m, v));
  return cost;
}

typedef struct way {
  bool is_own;    /* else whole */
  bool by_places; /* of a slice of what places name */
  split_factor f;
  int64_t cost;
} way;

static void consider(const division *d, ir_op op, bool of_result, uint32_t i, int32_t dim,
                     way *best) {
  split_factor f;
  if (dim == DIVISION_WHOLE || !division_find_factor(d, op, of_result, i, dim, &f)) return;
  if (f.role == SPLIT_REDUCED && !may_sum(d, op, &f)) return;
  int64_t cost = cost_of(d, op, &f);
  if (cost < best->cost) *best = (way){true, false, f, cost};
}

/* Each device reads, or adds to, its slice of a table alone. What it reads is a part of a sum: the
 * others have zeros there. */
static void consider_places(const division *d, ir_op op, way *best) {
  ir_kind kind = ir_kind_of(d->m, op);
  if (kind != IR_OP_GATHER && kind != IR_OP_SCATTER) return;
  split_factor f;
  bool is_read = kind == IR_OP_GATHER;
  int32_t dim = is_read ? d->values[ir_operand(d->m, op, 0)].dim
                        : division_wanted_dim(d, ir_result(d->m, op, 0));
  ir_dtype dtype = ir_type_at(d->m, ir_result(d->m, op, 0))->dtype;
  if (is_read && !(division_can_reduce(IR_OP_ADD, dtype) && split_has_neutral(IR_OP_ADD, dtype)))
    return;
  if (dim == DIVISION_WHOLE || !division_find_places(d, op, dim, &f)) return;
  int64_t cost = cost_of(d, op, &f);
  if (cost < best->cost) *best = (way){true, true, f, cost};
}

static bool reads_locked(const division *d, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    if (division_is_locked(d, v)) return true;
  return false;
}

static way find_way(const division *d, ir_op op) {
  way best = {.cost = cost_of(d, op, NULL)};
  if (reads_locked(d, op)) return best;
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    consider(d, op, true, i, division_wanted_dim(d, v), &best);
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    consider(d, op, false, i, d->values[v].dim, &best);
  consider_places(d, op, &best);
  return best;
}

/* ---- ops ---- */
/* XLA CPU may lay out what it gathers so that its FFT, which reads row by row, ends with an error.
 */
static bool is_fft_of_gathered(const division *d, ir_op op) {
  if (ir_kind_of(d->m, op) != IR_OP_FFT) return false;
  const division_value *x = &d->values[ir_operand(d->m, op, 0)];
  return x->dim != DIVISION_WHOLE || (x->now && ir_maker(d->m, x->now, IR_OP_ALL_GATHER));
}

static void do_whole(division *d, ir_op op) {
  d->is_hopeless |= is_fft_of_gathered(d, op);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    d->is_hopeless |=
        division_wanted_dim(d, v) != DIVISION_WHOLE && ir_value_bytes(d->m, v) > d->large_bytes;
  ir_op copy = division_whole_op(d, op);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    division_set(d, v, ir_result(d->m, copy, i), DIVISION_WHOLE);
}

static ir_value own_scatter(division *d, ir_op op, ir_kind kind, const ir_value *operands) {
  ir_module *m = d->m;
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  ir_value none = split_neutral(&d->b, kind, type, ir_operand(m, op, 0));
  ir_op part = ir_build_again(&d->b, op, (ir_value[]){none, operands[1], operands[2]}, &type);
  return ir_result(m, part, 0);
}

static void set_sum(division *d, ir_value v, partial_sum sum) {
  division_set(d, v, IR_NONE, DIVISION_WHOLE);
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
  ir_value *operands = division_operands(d, op, f), v = ir_result(d->m, op, 0);
  split_trip trip = division_trip(d);
  ir_value part = is_scatter ? own_scatter(d, op, kind, operands)
                             : split_sum_part(&d->b, op, f, &trip, operands);
  set_sum(d, v, (partial_sum){kind, part, initial_of(d->m, op, kind), NULL});
}

/* What the device's slice of the table has at the places; where others have it, nothing. */
static void do_read(division *d, ir_op op, const split_factor *f) {
  ir_value *operands = division_operands(d, op, f), v = ir_result(d->m, op, 0),
           table = ir_operand(d->m, op, 0);
  split_trip slice = division_slice(d, ir_type_at(d->m, table)->dims[f->operands[0].dim]);
  ir_value none = split_neutral(&d->b, IR_OP_ADD, ir_type_of(d->m, v), table);
  ir_value part =
      split_gather_step(&d->b, op, f->operands[0], &slice, operands[0], operands[1], none);
  set_sum(d, v, (partial_sum){IR_OP_ADD, part, IR_NONE, NULL});
}

/* ---- what is linear in sums: done on the parts ---- */
static bool is_bare_sum(const division *d, ir_value v) {
  const partial_sum *s = d->values[v].sum;
  return s && s->kind == IR_OP_ADD && !s->initial;
}

static bool are_floats(const division *d, ir_value x, ir_value y) {
  return ir_is_float(ir_type_at(d->m, x)->dtype) && ir_is_float(ir_type_at(d->m, y)->dtype);
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
    operands[i] = i < summed ? part_of_sum(d, x) : division_whole(d, x);
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

/* A collective's results are not along the dimension what its operand is. */
static bool is_exchanged_along(const division *d, ir_op op, int32_t dim) {
  static const char *const NAMES[] = {"all_gather_dim", "scatter_dimension", "split_dimension",
                                      "concat_dimension"};
  for (uint32_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (ir_op_int(d->m, op, NAMES[i], DIVISION_WHOLE) == dim) return true;
  return false;
}

/* Barriers, constraints, collectives of earlier rounds and of manual computations along other axes:
 * dimension by dimension what x is. */
static void do_same(division *d, ir_op op) {
  ir_value x = ir_operand(d->m, op, 0), v = ir_result(d->m, op, 0);
  bool is_constraint = ir_kind_of(d->m, op) == IR_OP_SDY_SHARDING_CONSTRAINT;
  int32_t dim = is_constraint ? division_wanted_dim(d, v) : d->values[x].dim;
  bool meets = varying_said(d->m, op) & d->mask; /* devices with other parts */
  if (meets || is_exchanged_along(d, op, dim)) dim = DIVISION_WHOLE;
  ir_value part = division_part(d, x, dim);
  ir_type type = division_type(d, v, dim);
  division_set(d, v, ir_result(d->m, ir_build_again(&d->b, op, &part, &type), 0), dim);
}

static split_trip slice_of_result(division *d, ir_op op, const split_factor *f) {
  return division_slice(d, ir_type_at(d->m, ir_result(d->m, op, 0))->dims[f->results[0].dim]);
}

static void do_plain(division *d, ir_op op) {
  way best = find_way(d, op);
  uint32_t n = ir_op_get(d->m, op)->n_results;
  if (!best.is_own) {
    do_whole(d, op);
  } else if (best.by_places && best.f.role == SPLIT_REDUCED) {
    do_read(d, op, &best.f);
  } else if (best.f.role == SPLIT_REDUCED) {
    do_sum(d, op, &best.f);
  } else {
    ir_value *results = ARENA_ARRAY(d->a, ir_value, n + 1);
    split_trip trip = best.by_places ? slice_of_result(d, op, &best.f) : division_trip(d);
    division_own_op(d, op, &best.f, &trip, results);
    for (uint32_t i = 0; i < n; i++)
      division_set(d, ir_result(d->m, op, i), results[i], best.f.results[i].dim);
  }
}

/* ---- ops with blocks of their own ---- */
static void divide_each(division *d, ir_block from);

/* Carries of a while that are each device's part of a sum: it begins with zeros, and the body does
 * only what is linear with it. That is assumed, and the body made again where it was wrong. */
typedef struct carried_sums {
  bool *are, *are_needed; /* by carry */
} carried_sums;

/* dims: of what the block yields; NULL: all whole. sums: what may be yielded as parts of sums;
 * NULL: nothing. */
static void divide_block(division *d, ir_block from, ir_block to, ir_kind end, const int32_t *dims,
                         carried_sums *sums) {
  ir_builder around = d->b;
  d->b = (ir_builder){d->m, to, IR_NONE};
  divide_each(d, from);
  ir_op last = ir_terminator(d->m, from);
  uint32_t n = ir_op_get(d->m, last)->n_operands;
  ir_value *yields = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = ir_operand(d->m, last, i);
    bool is_part = sums && sums->are[i] && is_bare_sum(d, v);
    if (sums && sums->are[i] && !is_part) sums->are_needed[i] = true;
    yields[i] = is_part ? part_of_sum(d, v) : division_part(d, v, dims ? dims[i] : DIVISION_WHOLE);
  }
  ir_build_return(&d->b, end, yields, n);
  d->b = around;
}

static ir_op build_divided(division *d, ir_op op, const ir_value *operands, const int32_t *dims) {
  ir_op_desc desc = ir_op_desc_of(d->m, op);
  ir_type *types = ARENA_ARRAY(d->a, ir_type, desc.n_results + 1);
  for (uint32_t i = 0; i < desc.n_results; i++)
    types[i] = division_type(d, ir_result(d->m, op, i), dims[i]);
  desc.operands = operands;
  desc.result_types = types;
  return ir_op_new(d->m, IR_NONE, &desc);
}

static int32_t *wanted_dims(const division *d, ir_op op) {
  int32_t *dims = ARENA_ARRAY(d->a, int32_t, ir_op_get(d->m, op)->n_results + 1);
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++) dims[i] = division_wanted_dim(d, v);
  return dims;
}

static void set_results(division *d, ir_op op, ir_op made, const int32_t *dims) {
  for (ir_value v, i = 0; (v = ir_result_at(d->m, op, i)); i++)
    division_set(d, v, ir_result(d->m, made, i), dims[i]);
}

static carried_sums assume_sums(const division *d, ir_op op, const int32_t *dims) {
  uint32_t n = ir_op_get(d->m, op)->n_operands;
  carried_sums sums = {ARENA_ARRAY(d->a, bool, n + 1), ARENA_ARRAY(d->a, bool, n + 1)};
  for (ir_value v, i = 0; (v = ir_operand_at(d->m, op, i)); i++)
    sums.are[i] = dims[i] == DIVISION_WHOLE && ir_type_at(d->m, v)->rank > 0 && ir_is_zero(d->m, v);
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
  division_take_argument(d, to, arg, dim);
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
  for (uint32_t i = 0; i < n; i++) operands[i] = division_part(d, ir_operand(d->m, op, i), dims[i]);
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
  ir_value index = division_whole(d, data.operands[0]);
  ir_op made = build_divided(d, op, &index, dims);
  for (uint32_t r = 0; r < data.n_regions; r++)
    divide_block(d, data.regions[r], ir_region_block(d->m, made, r), IR_OP_RETURN, dims, NULL);
  ir_block_append(d->m, d->b.block, made);
  set_results(d, op, made, dims);
}

/* Along its own axes its body is each device's as it is. */
static void copy_body(division *d, ir_op op, ir_op made) {
  ir_builder around = d->b;
  ir_block from = ir_body(d->m, op);
  d->b = (ir_builder){d->m, ir_region_block(d->m, made, 0), IR_NONE};
  for (ir_value arg, i = 0; (arg = ir_argument_at(d->m, from, i)); i++)
    ir_map_set(d->map, arg, ir_block_arg(d->m, d->b.block, ir_type_of(d->m, arg)));
  for (ir_op below, i = 0; (below = ir_op_at(d->m, from, i)); i++) division_whole_op(d, below);
  d->b = around;
}

static void divide_body(division *d, ir_op op, ir_op made, const int32_t *in, const int32_t *out) {
  ir_block from = ir_body(d->m, op), to = ir_region_block(d->m, made, 0);
  for (ir_value arg, i = 0; (arg = ir_argument_at(d->m, from, i)); i++)
    division_take_argument(d, to, arg, in[i]);
  divide_block(d, from, to, IR_OP_SDY_RETURN, out, NULL);
}

static void say_parts(division *d, ir_op op, ir_op made, const int32_t *out) {
  uint32_t n = ir_op_get(d->m, op)->n_results;
  int64_t *axes = ARENA_ARRAY(d->a, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++)
    axes[i] = varying_said_of(d->m, op, i) | (out[i] == DIVISION_WHOLE ? 0 : d->mask);
  varying_say_each(d->m, made, axes, manual_axes(d, op));
}

static void do_manual(division *d, ir_op op) {
  uint32_t n = ir_op_get(d->m, op)->n_operands, n_out = ir_op_get(d->m, op)->n_results;
  bool is_own = manual_axes(d, op) & d->mask;
  int32_t *in = ARENA_ARRAY(d->a, int32_t, n + 1), *out = ARENA_ARRAY(d->a, int32_t, n_out + 1);
  ir_value *operands = ARENA_ARRAY(d->a, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = ir_operand(d->m, op, i);
    in[i] = division_is_locked(d, v) ? DIVISION_WHOLE : manual_dim(d, op, false, i);
    operands[i] = division_part(d, v, in[i]);
  }
  for (uint32_t i = 0; i < n_out; i++) {
    bool is_locked = !is_own && division_is_locked(d, ir_result(d->m, op, i));
    out[i] = is_locked ? DIVISION_WHOLE : manual_dim(d, op, true, i);
  }
  ir_op made = build_divided(d, op, operands, out);
  if (is_own) copy_body(d, op, made);
  else divide_body(d, op, made, in, out);
  say_parts(d, op, made, out);
  ir_block_append(d->m, d->b.block, made);
  set_results(d, op, made, out);
}

/* Sums that the op's blocks read, outside of them. */
static void complete_below(division *d, ir_op op) {
  for (uint32_t i = 0; i < d->sums.count; i++)
    if (d->values[d->sums.at[i]].sum && ir_reads(d->m, op, d->sums.at[i]))
      division_complete(d, d->sums.at[i]);
}

static void divide_op(division *d, ir_op op) {
  d->b.location = ir_op_get(d->m, op)->location;
  if (ir_op_get(d->m, op)->n_regions) complete_below(d, op);
  switch (ir_kind_of(d->m, op)) {
    case IR_OP_WHILE: do_while(d, op); return;
    case IR_OP_IF:
    case IR_OP_CASE: do_branches(d, op); return;
    case IR_OP_SDY_MANUAL_COMPUTATION: do_manual(d, op); return;
    case IR_OP_OPTIMIZATION_BARRIER:
    case IR_OP_SDY_SHARDING_CONSTRAINT:
    case IR_OP_ALL_REDUCE:
    case IR_OP_ALL_GATHER:
    case IR_OP_ALL_TO_ALL:
    case IR_OP_REDUCE_SCATTER:
    case IR_OP_COLLECTIVE_BROADCAST:
    case IR_OP_COLLECTIVE_PERMUTE:
      if (ir_op_get(d->m, op)->n_operands == 1) do_same(d, op);
      else do_whole(d, op);
      return;
    default:
      if (!do_linear(d, op)) do_plain(d, op);
  }
}

static void divide_each(division *d, ir_block from) {
  for (ir_op op, i = 0; !d->is_hopeless && (op = ir_body_op_at(d->m, from, i)); i++)
    divide_op(d, op);
}

void divide_ops(division *d, const int32_t *dims) {
  divide_block(d, d->from, d->to, IR_OP_SDY_RETURN, dims, NULL);
}
