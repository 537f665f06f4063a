/* weir.loop -> stablehlo.while. In: loops anywhere in the module. Out: no weir op is left.
 *
 *   carry = (t: i64, results written in place..., carries...), everything else is captured from
 * outside the while, which XLA makes free of copies. body:  lo = t * slice; start = min(lo, extent
 * - slice); inputs sliced at start; the loop's body; results updated at start. A loop of one trip
 * is its body. Why this form: docs/design/loop-emission-facts.md.
 *
 * A result that is written over an input (ir/in_place.h) begins as that input, whose slices are
 * taken of what is carried. The last trip, which begins before lo, takes the last slice as it was
 * before the loop.
 *
 * A library call in the body may ask for matrices column by column. XLA gives that layout to the
 * slice, to what it is a slice of, and so copies the whole: slices are held to be row by row there,
 * and what is copied is a slice.
 */
#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/in_place.h"
#include "split/loops.h"
#include "split/window.h"

typedef struct in_place { /* of one loop, by result: ir/in_place.h */
  int32_t *over;
  ir_value *last; /* last_slice() of what it is written over */
} in_place;

typedef struct lowering {
  ir_module *m;
  arena *scratch;
  ir_map *renamed;
  split_keeping keeping;
  bool any;           /* loops were there */
  bool by_rows;       /* slices of the loop at hand are held in this layout */
  VEC(ir_type) begun; /* types of results that loops write slice by slice, one entry each */
} lowering;

static ir_value scaled(ir_builder *b, ir_value start, int64_t unit) {
  return unit == 1 ? start : ir_build_multiply(b, start, ir_build_int(b, unit));
}

static bool is_by_columns(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  bool found = false;
  for (uint32_t i = 0; i < d->n_operands && !found; i++)
    found = ir_is_by_columns(m, op, "operand_layouts", i);
  for (uint32_t j = 0; j < d->n_results && !found; j++)
    found = ir_is_by_columns(m, op, "result_layouts", j);
  return found;
}

static bool calls_by_columns(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_CUSTOM_CALL && is_by_columns(m, op);
}

static ir_value held(lowering *w, ir_builder *b, ir_value slice) {
  return w->by_rows && ir_type_at(w->m, slice)->rank >= 2 ? ir_build_by_rows(b, slice) : slice;
}

static ir_value kept(const lowering *w, ir_builder *b, ir_value x) {
  switch (w->keeping) {
    case SPLIT_KEEPS_BY_CALL: return ir_build_kept(b, x);
    case SPLIT_KEEPS_BY_BARRIER: return ir_build_barrier(b, x);
    default: return x;
  }
}

/* The op at the end of b's block; what is compared with what was selected from it, kept. */
static void copy_op(lowering *w, ir_builder *b, ir_op op, ir_map *map) {
  ir_op copy = ir_copy_op(w->m, b->block, op, map);
  if (!ir_op_bool(w->m, copy, "keep", false)) return;
  ir_op_drop_attr(w->m, copy, "keep");
  ir_map_set(map, ir_result(w->m, op, 0), kept(w, b, ir_result(w->m, copy, 0)));
}

/* What one trip takes of each input, of which there is the whole: that, or its slice at start. */
static void take_inputs(lowering *w, ir_builder *b, ir_op op, const ir_loop *l, ir_value start,
                        ir_value *in_out) {
  ir_block body = ir_body(w->m, op);
  for (uint32_t i = 0; i < l->n_inputs; i++) {
    int64_t dim = l->in_dims[i];
    if (dim < 0) continue;
    int64_t length = ir_type_at(w->m, ir_argument_at(w->m, body, i + 2))->dims[dim];
    ir_value at = scaled(b, start, l->in_units[i]);
    in_out[i] = held(w, b, ir_build_part(b, in_out[i], dim, at, length));
  }
}

/* The loop's body at the end of b's block. inputs, carries: for the body's arguments; yields: what
 * it yields. */
static void inline_body(lowering *w, ir_builder *b, ir_op op, const ir_loop *l, ir_value start,
                        ir_value lo, const ir_value *inputs, const ir_value *carries,
                        ir_value *yields) {
  ir_module *m = w->m;
  ir_block body = ir_body(m, op);
  ir_map *map = ir_map_new(w->scratch, m);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++) {
    uint32_t k = i - 2;
    ir_map_set(map, arg,
               i == 0            ? start
               : i == 1          ? lo
               : k < l->n_inputs ? inputs[k]
                                 : carries[k - l->n_inputs]);
  }
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) copy_op(w, b, op, map);
  ir_op end = ir_terminator(m, body);
  for (uint32_t j = 0; j < ir_op_get(m, end)->n_operands; j++)
    yields[j] = ir_map_get(map, ir_operand(m, end, j));
}

/* The inputs as the block has them now. */
static ir_value *whole_inputs(lowering *w, ir_op op, const ir_loop *l) {
  ir_value *whole = ARENA_ARRAY(w->scratch, ir_value, l->n_inputs);
  for (uint32_t i = 0; i < l->n_inputs; i++)
    whole[i] = ir_map_get(w->renamed, ir_operand(w->m, op, i));
  return whole;
}

static void initial_carries(lowering *w, ir_op op, const ir_loop *l, ir_value *out) {
  for (uint32_t i = 0; i < l->n_carries; i++)
    out[i] = ir_map_get(w->renamed, ir_operand(w->m, op, l->n_inputs + i));
}

static void lower_single_trip(lowering *w, ir_builder *b, ir_op op, const ir_loop *l) {
  uint32_t n = ir_op_get(w->m, op)->n_results;
  ir_value *carries = ARENA_ARRAY(w->scratch, ir_value, l->n_carries),
           *yields = ARENA_ARRAY(w->scratch, ir_value, n);
  initial_carries(w, op, l, carries);
  w->by_rows = false;
  CTX_CHECK(b->m->ctx, l->slice == l->extent); /* start and lo are 0 in all trips: the one */
  ir_value zero = ir_build_int(b, 0), *inputs = whole_inputs(w, op, l);
  take_inputs(w, b, op, l, zero, inputs);
  inline_body(w, b, op, l, zero, zero, inputs, carries, yields);
  for (uint32_t j = 0; j < n; j++) ir_map_set(w->renamed, ir_result(w->m, op, j), yields[j]);
}

/* The last slice of an input that is written over, as it is before the loop: of what the last trip
 * takes of it, the trips before have written a part. IR_NONE: the slices do not overlap. */
static ir_value last_slice(ir_builder *b, const ir_loop *l, uint32_t i, ir_value whole) {
  if (l->extent % l->slice == 0) return IR_NONE;
  int64_t unit = l->in_units[i], first = l->extent - l->slice;
  return ir_build_slice_dim(b, whole, l->in_dims[i], first * unit, l->slice * unit);
}

/* The slice of an input that is written over. XLA would make a cheap one anew for each user: also
 * for such as nothing keeps before the update that overwrites it. */
static ir_value read_before_written(lowering *w, ir_builder *b, ir_value slice, ir_value last,
                                    ir_value start, ir_value lo) {
  CTX_CHECK(w->m->ctx, w->keeping != SPLIT_KEEPS_NOTHING);
  if (last) slice = ir_build_select(b, ir_build_compare(b, "LT", start, lo), last, slice);
  return kept(w, b, slice);
}

/* What is written over a slice that it is not made of: XLA would copy all that is carried, as it
 * does not know that the slice is read before. */
static ir_value written_after_read(lowering *w, ir_builder *b, ir_op op, uint32_t result,
                                   uint32_t input, ir_value slice, ir_value read) {
  if (w->keeping != SPLIT_KEEPS_BY_CALL) return slice;
  ir_block body = ir_body(w->m, op);
  ir_value yielded = ir_operand(w->m, ir_terminator(w->m, body), result),
           arg = ir_argument_at(w->m, body, input + 2);
  if (ir_is_made_of(w->scratch, w->m, body, yielded, arg)) return slice;
  return ir_build_after(b, slice, read);
}

static void build_body(lowering *w, ir_builder *outer, ir_op loop, ir_op op, const ir_loop *l,
                       const in_place *p) {
  ir_module *m = w->m;
  ir_builder b = {m, ir_while_body(m, loop), outer->location};
  const ir_value *args = ir_block_get(m, b.block)->args.at;
  uint32_t n = ir_op_get(m, op)->n_results + 1, k = 0;
  ir_value *carries = ARENA_ARRAY(w->scratch, ir_value, n),
           *yields = ARENA_ARRAY(w->scratch, ir_value, n), *inputs = whole_inputs(w, op, l);
  for (uint32_t j = 0; j + 1 < n; j++) {
    if (l->out_dims[j] < 0) carries[k++] = args[j + 1];
    if (p->over[j] >= 0) inputs[p->over[j]] = args[j + 1];
  }
  ir_value lo = ir_build_multiply(&b, args[0], ir_build_int(&b, l->slice)), start = lo;
  if (l->extent % l->slice)
    start = ir_build_binary(&b, IR_OP_MINIMUM, lo, ir_build_int(&b, l->extent - l->slice));
  take_inputs(w, &b, op, l, start, inputs);
  for (uint32_t j = 0; j + 1 < n; j++)
    if (p->over[j] >= 0)
      inputs[p->over[j]] = read_before_written(w, &b, inputs[p->over[j]], p->last[j], start, lo);
  inline_body(w, &b, op, l, start, lo, inputs, carries, yields + 1);
  yields[0] = ir_build_add(&b, args[0], ir_build_int(&b, 1));
  for (uint32_t j = 0; j + 1 < n; j++) {
    if (l->out_dims[j] < 0) continue;
    ir_value slice = held(w, &b, yields[j + 1]);
    if (p->over[j] >= 0)
      slice = written_after_read(w, &b, op, j, (uint32_t)p->over[j], slice, inputs[p->over[j]]);
    yields[j + 1] = ir_build_with_part(&b, args[j + 1], slice, l->out_dims[j],
                                       scaled(&b, start, l->out_units[j]));
  }
  ir_build_return(&b, IR_OP_RETURN, yields, n);
}

static bool has_number(const ir_module *m, ir_value v) {
  const ir_type_data *t = ir_type_at(m, v);
  return ir_value_get(m, v)->op && t->kind == IR_TYPE_TENSOR &&
         split_counts_in((ir_dtype)t->dtype) && t->rank <= 2 && ir_value_bytes(m, v) &&
         !ir_is_splat_constant(m, v);
}

/* Which of what the loop waits for is small and computed, of the type if there are such, else real;
 * IR_NONE: none is. */
static ir_value waited_for(const lowering *w, ir_op op, const ir_loop *l, ir_dtype dtype) {
  ir_value any = IR_NONE;
  for (uint32_t i = l->n_inputs; i-- > 0;) {
    ir_value v = ir_map_get(w->renamed, ir_operand(w->m, op, i));
    if (l->in_dims[i] >= 0 || !has_number(w->m, v)) continue;
    ir_dtype own = (ir_dtype)ir_type_at(w->m, v)->dtype;
    if (own == dtype) return v;
    if (!any && !ir_is_complex(own)) any = v;
  }
  return any;
}

static ir_value first_number(ir_builder *b, ir_value v) {
  const ir_type_data *t = ir_type_at(b->m, v);
  int64_t zero[IR_MAX_RANK] = {0}, one[IR_MAX_RANK];
  ir_dtype dtype = (ir_dtype)t->dtype;
  for (int32_t d = 0; d < IR_MAX_RANK; d++) one[d] = 1;
  ir_value first = t->rank ? ir_build_slice(b, v, zero, one, one) : v;
  return ir_build_reshape(b, first, ir_scalar(b->m, dtype));
}

static ir_value as_dtype(ir_builder *b, ir_value number, ir_dtype dtype) {
  if (dtype == IR_I1) return ir_build_compare(b, "NE", number, ir_build_int_like(b, number, 0));
  return ir_build_convert(b, number, dtype);
}

/* Written by a loop among many whose results are read by later ones: it begins no earlier than what
 * the loop waits for. Else XLA may begin with all of them. */
static ir_value overwritten_in_turn(lowering *w, ir_builder *b, ir_op op, const ir_loop *l,
                                    ir_type t) {
  ir_dtype dtype = (ir_dtype)ir_type_get(w->m, t)->dtype;
  ir_value v = dtype == IR_I1 || split_counts_in(dtype) ? waited_for(w, op, l, dtype) : IR_NONE;
  if (!v) return IR_NONE;
  ir_value number = first_number(b, v);
  int64_t which = w->begun.count;
  VEC_PUSH(w->scratch, &w->begun, t);
  number = ir_build_add(b, number, ir_build_int_like(b, number, which));
  return ir_build_broadcast(b, as_dtype(b, number, dtype), t, NULL);
}

static ir_value overwritten(lowering *w, ir_builder *b, ir_type t) {
  int64_t before = 0;
  for (uint32_t i = 0; i < w->begun.count; i++) before += w->begun.at[i] == t;
  VEC_PUSH(w->scratch, &w->begun, t);
  return split_overwritten(b, t, before);
}

/* What the loop begins with where it is written over this input. */
static ir_value begin_over(lowering *w, ir_builder *b, ir_op op, const ir_loop *l, uint32_t input,
                           ir_value *out_last) {
  ir_value whole = ir_map_get(w->renamed, ir_operand(w->m, op, input));
  *out_last = last_slice(b, l, input, whole);
  return whole;
}

static void lower_to_while(lowering *w, ir_builder *b, ir_op op, const ir_loop *l,
                           const in_place *p) {
  ir_module *m = w->m;
  uint32_t n = ir_op_get(m, op)->n_results + 1, k = 0;
  ir_value *init = ARENA_ARRAY(w->scratch, ir_value, n),
           *carries = ARENA_ARRAY(w->scratch, ir_value, n);
  initial_carries(w, op, l, carries);
  init[0] = ir_build_int(b, 0);
  for (uint32_t j = 0; j + 1 < n; j++) {
    ir_type t = ir_type_of(m, ir_result(m, op, j));
    if (l->out_dims[j] < 0) init[j + 1] = carries[k++];
    else if (p->over[j] >= 0)
      init[j + 1] = begin_over(w, b, op, l, (uint32_t)p->over[j], &p->last[j]);
    else if (ir_op_bool(m, op, "cut", false)) init[j + 1] = overwritten_in_turn(w, b, op, l, t);
    if (!init[j + 1]) init[j + 1] = overwritten(w, b, t);
  }
  w->by_rows = ir_any(ir_walk_block(m, ir_body(m, op)), calls_by_columns);
  ir_op loop = ir_build_while(b, init, n);
  ir_build_while_below(m, loop, l->trips);
  build_body(w, b, loop, op, l, p);
  for (uint32_t j = 0; j + 1 < n; j++)
    ir_map_set(w->renamed, ir_result(m, op, j), ir_result(m, loop, j + 1));
}

/* By op of the block. */
static in_place *in_place_of_all(lowering *w, const ir_block_data *ops) {
  ir_in_place known = ir_in_place_of(w->scratch, w->m);
  in_place *all = ARENA_ARRAY(w->scratch, in_place, ops->ops.count);
  for (ir_op op, i = 0; (op = ir_listed(&ops->ops, i)); i++) {
    uint32_t n = ir_op_get(w->m, op)->n_results;
    if (ir_kind_of(w->m, op) != IR_OP_LOOP) continue;
    all[i].over = ARENA_ARRAY(w->scratch, int32_t, n);
    all[i].last = ARENA_ARRAY(w->scratch, ir_value, n);
    for (uint32_t j = 0; j < n; j++) all[i].over[j] = IR_NOT_IN_PLACE;
    if (w->keeping) ir_loop_in_place(&known, op, all[i].over);
  }
  return all;
}

static void lower_block(lowering *w, ir_block block) {
  ir_module *m = w->m;
  ir_block_data old = *ir_block_get(m, block);
  bool any = false;
  for (ir_op op, i = 0; (op = ir_listed(&old.ops, i)); i++) {
    any |= ir_kind_of(m, op) == IR_OP_LOOP;
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) lower_block(w, below);
  }
  if (!any) return;
  w->any = true;
  in_place *places = in_place_of_all(w, &old);
  ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old.ops, i)); i++) {
    if (ir_kind_of(m, op) != IR_OP_LOOP) {
      ir_block_append(m, block, op);
      continue;
    }
    ir_builder b = {m, block, ir_op_get(m, op)->location};
    ir_loop l = ir_loop_get(m, op);
    if (l.trips == 1) lower_single_trip(w, &b, op, &l);
    else lower_to_while(w, &b, op, &l, &places[i]);
  }
  ir_replace_uses(m, block, w->renamed);
}

/* XLA calls instructions as locations say, its own by their opcodes, and the functions of a fusion
 * by instructions, with '_' for '-'. A select at "dynamic_update_slice" and its own
 * "dynamic-update-slice" may be one function, which calls itself for ever; of one spelling, XLA
 * numbers them. What was inlined is called as its callee's location says, which stands first. */
static ir_str hyphenated(lowering *w, ir_str location) {
  const char *text = ir_text(w->m, location), *name = strchr(text, '"');
  const char *end = name ? strchr(name + 1, '"') : NULL;
  size_t n = ir_text_length(w->m, location);
  if (!end || end[1] == ':') return location; /* a file */
  char *changed = ARENA_COPY(w->scratch, char, text, n);
  for (char *c = changed + (end - text) - 1; *c != '"' && *c != '/'; c--)
    if (*c == '_') *c = '-';
  return ir_intern_text(w->m, changed, n);
}

static void hyphenate_locations(lowering *w) {
  uint32_t n = w->m->strs.count;
  ir_str *known = ARENA_ARRAY(w->scratch, ir_str, n);
  for (ir_walk walk = ir_walk_block(w->m, ir_top(w->m)); ir_next(&walk);) {
    ir_str old = ir_op_get(w->m, walk.op)->location;
    if (!old || old >= n) continue;
    if (!known[old]) known[old] = hyphenated(w, old);
    ir_op_get(w->m, walk.op)->location = known[old];
  }
}

void split_lower_loops(ir_module *m, split_keeping keeping) {
  lowering w = {.m = m, .scratch = arena_create(m->ctx), .keeping = keeping};
  w.renamed = ir_map_new(w.scratch, m);
  lower_block(&w, ir_top(m));
  if (w.any) hyphenate_locations(&w);
  arena_destroy(w.scratch);
}
