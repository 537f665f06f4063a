/* per-device: a program that XLA would partition, as what each device computes.
 *
 * In: a program of several partitions whose values say how they are sharded. Out: one manual
 * computation over the whole mesh. Its values are each device's parts, so that loops may go along
 * any of their dimensions, and what they need is known.
 * Identity: a device's part along a sharded dimension is a slice, of which there are as many as
 * devices along its axes: an op on it is the op on a slice (split/tile_op.h). A sum over a sharded
 * dimension is the sum of all devices' parts of it (split/monoid.h): an all_reduce in front of its
 * first reader. What an op needs whole is gathered, what it needs a part of is sliced.
 * A manual computation of the program's is that already, along its own axes: it takes operands and
 * gives results under its shardings, and its body is divided along the other axes alone.
 * It goes round by round, one for each list of axes that some dimension is sharded along: a round
 * divides the dimensions along it and leaves all others as they are.
 * Requires: shardings_known. Breaks: nothing. Sums of floats are rounded in another order, as XLA's
 * partitioner does it.
 * Left alone: programs with effects or calls that we don't know, outside of manual computations
 * over the whole mesh; with transforms inside of such; with dynamic sizes, meshes that say an order
 * of devices, sums that are left unreduced; where more than the limit would be gathered, or more
 * than an eighth of it made by each device though it is sharded. Dimensions that their axes do not
 * divide count as whole.
 * Cost: linear in ops times lists of axes.
 * Here: the rounds, whether there are any, and the computation in its place. division.h has the
 * values of a round, divide.h its ops, manual.h manual computations.
 * Source: GSPMD (Xu et al. 2021); StableHLO, all_reduce, all_gather; Shardy, manual_computation.
 */
#include "base/strbuf.h"
#include "ir/lapack.h"
#include "machine/tuned.h"
#include "pass/pass.h"
#include "pipeline/divide.h"
#include "pipeline/manual.h"
#include "pipeline/varying.h"
#include "split/shards.h"

enum { MOST_ROUNDS = 16 };

/* ---- rounds ---- */
static void note_border(const division *d, division_border *border, int32_t dim) {
  if (dim == DIVISION_WHOLE) return;
  int8_t *rounds = border->rounds[dim];
  int32_t i = rounds[0] == DIVISION_WHOLE ? 0 : 1;
  CTX_CHECK(d->m->ctx, rounds[i] == DIVISION_WHOLE);
  rounds[i] = (int8_t)d->round;
}

/* What a round has divided along an axis is no value that a later one may divide along it: a
 * dimension may be sharded along "a", another along "b", "a". */
static uint32_t *masks_of_arguments(const division *d) {
  uint32_t *masks = ARENA_ARRAY(d->a, uint32_t, ir_block_get(d->m, d->from)->args.count + 1);
  for (ir_value arg, i = 0; (arg = ir_argument_at(d->m, d->from, i)); i++)
    for (int32_t k = 0; k < ir_type_at(d->m, arg)->rank * DIVISION_MOST; k++) {
      int32_t round = d->entries[i].rounds[k / DIVISION_MOST][k % DIVISION_MOST];
      if (round != DIVISION_WHOLE) masks[i] |= division_mask(d, &d->rounds.at[round]);
    }
  return masks;
}

static void divide_along(division *d, int32_t round) {
  ir_module *m = d->m;
  d->round = round;
  d->axes = d->rounds.at[round];
  d->parts = ir_axes_devices(&d->axes);
  CTX_CHECK(m->ctx, d->parts > 1);
  d->mask = division_mask(d, &d->axes);
  d->varies = varying_axes(d->a, m, d->from, masks_of_arguments(d));
  d->values = ARENA_ARRAY(d->a, division_value, m->values.count);
  d->map = ir_map_new(d->a, m);
  d->sums.count = 0;
  d->number = IR_NONE;
  d->to = ir_block_new(m);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, d->from, i)); i++) {
    int32_t dim = division_wanted_dim(d, arg);
    note_border(d, &d->entries[i], dim);
    division_take_argument(d, d->to, arg, dim);
  }
  ir_op last = ir_terminator(m, d->from);
  int32_t *dims = ARENA_ARRAY(d->a, int32_t, ir_op_get(m, last)->n_operands + 1);
  for (ir_value v, i = 0; (v = ir_operand_at(m, last, i)); i++) {
    dims[i] = division_is_locked(d, v) ? DIVISION_WHOLE : division_divided_dim(d, v, d->asked[i]);
    note_border(d, &d->exits[i], dims[i]);
  }
  divide_ops(d, dims);
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

static bool is_collective(ir_kind kind) {
  switch (kind) {
    case IR_OP_ALL_REDUCE:
    case IR_OP_ALL_GATHER:
    case IR_OP_ALL_TO_ALL:
    case IR_OP_REDUCE_SCATTER:
    case IR_OP_COLLECTIVE_BROADCAST:
    case IR_OP_COLLECTIVE_PERMUTE: return true;
    default: return false;
  }
}

/* In a manual computation over all axes anything may stand: no round goes through it. */
static bool is_foreign(const division *d, ir_op op) {
  const ir_module *m = d->m;
  ir_kind kind = ir_kind_of(m, op);
  uint32_t manual = manual_axes_around(d, op);
  if (manual && kind == IR_OP_FFT) return true; /* XLA CPU may fail on it elsewhere (divide.c) */
  if (kind == IR_OP_SDY_MANUAL_COMPUTATION || manual_is_whole(d, manual)) return false;
  if (manual && is_collective(kind)) return false;
  bool is_end = ir_kind_flags(kind) & IR_FLAG_T;
  if (kind == IR_OP_CUSTOM_CALL && ir_lapack_batch_rank(d->m, op) < 0) return true;
  return !is_of_tensors(m, op) || kind == IR_OP_UNKNOWN || kind == IR_OP_CALL ||
         kind == IR_OP_COMPOSITE || kind == IR_OP_PARTITION_ID || kind == IR_OP_REPLICA_ID ||
         (!is_end && ir_has_own_effects(m, op));
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
static bool comes_before(const ir_axes *a, const ir_axes *b) {
  return ir_axes_devices(a) > ir_axes_devices(b);
}

static void add_round(division *d, const ir_axes *axes) {
  for (uint32_t i = 0; i < d->rounds.count; i++)
    if (ir_axes_equal(&d->rounds.at[i], axes)) return;
  d->is_hopeless |= d->rounds.count == MOST_ROUNDS;
  if (d->is_hopeless || ir_axes_devices(axes) <= 1) return;
  VEC_PUSH(d->a, &d->rounds, *axes);
  ir_axes *at = d->rounds.at;
  uint32_t i = d->rounds.count - 1;
  for (; i > 0 && comes_before(axes, &at[i - 1]); i--) at[i] = at[i - 1];
  at[i] = *axes;
}

static void put_before(division *d, const ir_axes *first, const ir_axes *second) {
  ir_axes *at = d->rounds.at;
  uint32_t to = 0, from;
  while (to < d->rounds.count && !ir_axes_equal(&at[to], second)) to++;
  for (from = to; from < d->rounds.count && !ir_axes_equal(&at[from], first);) from++;
  if (from == d->rounds.count) return;
  ir_axes moved = at[from];
  memmove(&at[to + 1], &at[to], (from - to) * sizeof *at);
  at[to] = moved;
}

static void add_one(division *d, const ir_axes *axes) {
  if (!division_is_in_two(d, axes)) add_round(d, axes);
}

static void look_at_value(division *d, ir_value v) {
  const char *sharding = division_sharding(d, v);
  if (!sharding || !memchr(sharding, '"', ir_sharding_length(sharding))) return;
  if (!find_mesh(d, sharding)) {
    d->is_hopeless = true;
    return;
  }
  ir_axes axes;
  const ir_type_data *t = ir_type_at(d->m, v);
  for (int32_t i = 0; i < t->rank; i++) {
    if (!division_axes_along(d, sharding, i, &axes)) continue;
    bool is_uneven = t->dims[i] % ir_axes_devices(&axes) != 0;
    d->is_hopeless |= is_uneven && ir_value_bytes(d->m, v) > d->large_bytes;
    add_one(d, &axes);
  }
}

/* A dimension that a manual computation's own axes divide, and others what is left, has two rounds.
 */
static void add_both(division *d, ir_op op, const ir_axes *axes) {
  ir_axes own, rest;
  manual_part(d, op, axes, &own, &rest);
  if (!own.n || !rest.n) return;
  VEC_PUSH(d->a, &d->in_two, *axes);
  add_round(d, &own);
  add_round(d, &rest);
  put_before(d, &own, &rest);
}

static void look_at_border(division *d, ir_op op, bool of_result, uint32_t i, bool in_two) {
  ir_value v = of_result ? ir_result(d->m, op, i) : ir_operand(d->m, op, i);
  const char *sharding = manual_sharding(d, op, of_result, i);
  ir_axes axes;
  d->is_hopeless |= !sharding || !find_mesh(d, sharding);
  for (int32_t k = 0; !d->is_hopeless && k < ir_type_at(d->m, v)->rank; k++)
    if (division_axes_along(d, sharding, k, &axes)) {
      if (in_two) add_both(d, op, &axes);
      else add_one(d, &axes);
    }
}

static void look_at_manual(division *d, bool in_two) {
  for (ir_walk w = ir_walk_block(d->m, d->from); ir_next(&w);) {
    if (ir_kind_of(d->m, w.op) != IR_OP_SDY_MANUAL_COMPUTATION) continue;
    const ir_op_data *data = ir_op_get(d->m, w.op);
    for (uint32_t i = 0; i < data->n_operands; i++) look_at_border(d, w.op, false, i, in_two);
    for (uint32_t i = 0; i < data->n_results; i++) look_at_border(d, w.op, true, i, in_two);
  }
}

static bool can_divide(division *d, const pass_ctx *p) {
  ir_module *m = d->m;
  bool is_known = p->options->shardings_known || p->options->only_passes;
  if (!is_known || split_spread_of(m) != SPLIT_SHARDED) return false;
  look_at_manual(d, true);
  look_at_manual(d, false);
  for (ir_walk w = ir_walk_block(m, d->from); !d->is_hopeless && ir_next(&w);)
    d->is_hopeless = is_foreign(d, w.op);
  if (d->is_hopeless) return false;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, d->from, i)); i++) {
    if (!ir_is_static_tensor(m, ir_type_of(m, arg))) return false;
    look_at_value(d, arg);
  }
  for (ir_walk w = ir_walk_block(m, d->from); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_result_at(m, w.op, i)); i++)
      if (ir_kind_of(m, w.op) != IR_OP_SDY_MANUAL_COMPUTATION) look_at_value(d, v);
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
    for (int32_t k = 0; k < DIVISION_MOST && border->rounds[i][k] != DIVISION_WHOLE; k++) {
      strbuf_puts(out, k ? ", " : "");
      put_axes(out, &d->rounds.at[border->rounds[i][k]]);
    }
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

static void drop_sharding(ir_module *m, ir_op op, ir_map *map) {
  ir_op_drop_attr(m, op, "sdy.sharding");
  varying_forget(m, op);
  if (ir_kind_of(m, op) == IR_OP_SDY_SHARDING_CONSTRAINT)
    ir_map_set(map, ir_result(m, op, 0), ir_map_get(map, ir_operand(m, op, 0)));
}

/* The function's block: the computation, and what it gives. */
static void put_in_place(division *d, ir_block block) {
  ir_module *m = d->m;
  ir_map *map = ir_map_new(d->a, m);
  for (ir_walk w = ir_walk_block(m, d->to); ir_next(&w);) drop_sharding(m, w.op, map);
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
  for (uint32_t i = 0; i < n; i++)
    memset(borders[i].rounds, DIVISION_WHOLE, sizeof borders[i].rounds);
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
                .large_bytes = limit ? limit / TUNED_LARGE_SHARE : INT64_MAX};
  const ir_block_data *b = ir_block_get(m, block);
  const ir_op_data *last = ir_op_get(m, ir_terminator(m, block));
  d.given = shardings_of(&d, b->args.at, b->args.count);
  d.asked = shardings_of(&d, last->operands, last->n_operands);
  d.entries = no_borders(&d, b->args.count);
  d.exits = no_borders(&d, last->n_operands);
  if (!can_divide(&d, p)) return WEIR_OK;
  for (uint32_t i = 0; i < d.rounds.count && !d.is_hopeless; i++) divide_along(&d, (int32_t)i);
  if (d.is_hopeless || !manual_are_divided(m, d.to)) return WEIR_OK;
  manual_inline_all(d.a, m, d.to);
  put_in_place(&d, block);
  p->changed = true;
  return WEIR_OK;
}

const pass pass_per_device = {"per-device", run};
