/* fission: a while that can be sliced, in which some of the state is the same in every slice,
 * becomes two.
 *
 *   while(i, P, x) { i + 1, g(P), f(x, k(P)) }   is   K = while(i, P, K) { i + 1, g(P), K[i] = k(P)
 * } while(i, x) { i + 1, f(x, K[i]) }
 *
 * where x has a factor that P does not have (the states of many series, the covariance that they
 * share). Done in slices of x, the one while would make P for each slice again. Of two the first is
 * small and stays whole; the second waits for nothing that another slice makes.
 *
 * In the first goes what a factor is not on and reads nothing that it is on (split/body.h), of all
 * factors that with which this saves the most. What it keeps by trips: values that the second reads
 * and that depend on more than the trip's number; their reshapes and broadcasts are made where they
 * are read.
 *
 * Requires: a verified module. Breaks: nothing; what neither half needs stays for dce. Exact: the
 * same ops on the same operands, once a trip. Left alone: whiles whose trips are not known, with
 * attributes or effects, or of which nothing large could be sliced; where what is kept is large
 * against the limit, or is not made slowly enough to be read instead. Cost: at most MOST_FACTORS
 * times what the body's factors take.
 * Source: loop distribution (Allen & Kennedy, Optimizing Compilers for Modern Architectures, 5.3).
 */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "pass/pass.h"
#include "plan/cost.h"
#include "plan/peak.h"
#include "split/body.h"
#include "split/steps.h"

enum { MOST_FACTORS = 16 };

/* What a value of the first half depends on. */
typedef enum depends {
  ON_NOTHING, /* that a trip changes */
  ON_COUNTER, /* and is made of it quickly */
  ON_STATE
} depends;

/* Carries of whiles that begin with a value, by value. */
typedef struct reader {
  ir_op loop;
  uint32_t carry, next; /* of the same value, counted from 1; 0: none */
} reader;

typedef struct readers {
  arena *a;
  uint32_t *first; /* by value, counted from 1 */
  VEC(reader) list;
} readers;

typedef struct halves {
  pass_rewrite *f;
  ir_module *m;
  arena *a;
  split_steps steps;
  uint32_t n_carries;
  split_factor factor;
  /* by value that there was when the while was met */
  bool *is_first; /* of the body's: the first half makes it */
  uint8_t *on;    /* depends, of these */
  bool *is_kept;  /* by trips, for the second half */
  bool *is_moved; /* made of what is kept, where the second half reads it */
  VEC(ir_value) kept;
  double saved_ns; /* of a trip, for each slice but one */
} halves;

static ir_value argument(const halves *h, uint32_t i) {
  return ir_argument(h->m, h->steps.body, i);
}

static ir_value yielded(const halves *h, uint32_t i) { return ir_yielded(h->m, h->steps.body, i); }

static bool is_inside(const halves *h, ir_value v) {
  return ir_value_block(h->m, v) == h->steps.body;
}

static ir_op op_at(const halves *h, uint32_t i) { return ir_body_op_at(h->m, h->steps.body, i); }

/* ---- which half ---- */
/* Neither the op nor one below it reads what the second half makes. */
static bool may_be_first(const halves *h, ir_op op) {
  for (ir_value v, i = 0; (v = ir_result_at(h->m, op, i)); i++)
    if (split_body_slices(&h->factor, v)) return false;
  for (ir_walk w = ir_walk_op(h->m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(h->m, w.op, i)); i++)
      if (is_inside(h, v) && !h->is_first[v]) return false;
  return true;
}

static void divide_ops(halves *h) {
  for (ir_op op, i = 0; (op = op_at(h, i)); i++) {
    bool is_first = may_be_first(h, op);
    for (ir_value v, k = 0; (v = ir_result_at(h->m, op, k)); k++) h->is_first[v] = is_first;
  }
}

/* A carry is of the first half if what it becomes is. Whether that was news. */
static bool divide_carries(halves *h) {
  bool changed = false;
  for (uint32_t i = 0; i < h->n_carries; i++) {
    ir_value v = yielded(h, i);
    if (!h->is_first[argument(h, i)] || !is_inside(h, v) || h->is_first[v]) continue;
    h->is_first[argument(h, i)] = false;
    changed = true;
  }
  return changed;
}

static void divide(halves *h) {
  for (uint32_t i = 0; i < h->n_carries; i++)
    h->is_first[argument(h, i)] = !split_body_slices(&h->factor, argument(h, i));
  do divide_ops(h);
  while (divide_carries(h));
}

/* ---- what is kept ---- */
static bool is_quick(const ir_module *m, ir_op op) {
  return (ir_kind_flags(ir_kind_of(m, op)) & (IR_FLAG_E | IR_FLAG_M)) &&
         ir_op_get(m, op)->n_results == 1 && !ir_op_get(m, op)->n_regions;
}

/* What an op, or one below it, depends on. */
static depends depends_of(const halves *h, ir_op op) {
  depends on = ON_NOTHING;
  for (ir_walk w = ir_walk_op(h->m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(h->m, w.op, i)); i++)
      if (is_inside(h, v) && h->on[v] > on) on = (depends)h->on[v];
  return on == ON_COUNTER && !is_quick(h->m, op) ? ON_STATE : on;
}

static void find_dependences(halves *h) {
  for (uint32_t i = 0; i < h->n_carries; i++)
    h->on[argument(h, i)] = i == h->steps.counter             ? ON_COUNTER
                            : split_steps_keeps(&h->steps, i) ? ON_NOTHING
                                                              : ON_STATE;
  for (ir_op op, i = 0; (op = op_at(h, i)); i++) {
    depends on = depends_of(h, op);
    for (ir_value v, k = 0; (v = ir_result_at(h->m, op, k)); k++) h->on[v] = (uint8_t)on;
  }
}

/* Made where it is read, of what it is made of, which takes no more memory than it does. */
static bool is_move(const halves *h, ir_value v) {
  ir_op op = ir_value_get(h->m, v)->op;
  return op && plan_stays_in_loops(ir_kind_of(h->m, op)) && ir_op_get(h->m, op)->n_operands == 1 &&
         ir_value_bytes(h->m, ir_operand(h->m, op, 0)) <= ir_value_bytes(h->m, v);
}

static void need(halves *h, ir_value v) {
  while (is_inside(h, v) && h->is_first[v] && h->on[v] == ON_STATE && is_move(h, v)) {
    h->is_moved[v] = true;
    v = ir_operand(h->m, ir_value_get(h->m, v)->op, 0);
  }
  if (!is_inside(h, v) || !h->is_first[v] || h->on[v] != ON_STATE || h->is_kept[v]) return;
  h->is_kept[v] = true;
  VEC_PUSH(h->a, &h->kept, v);
}

static void need_operands(halves *h, ir_op op) {
  for (ir_walk w = ir_walk_op(h->m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(h->m, w.op, i)); i++) need(h, v);
}

static bool is_of_first(const halves *h, ir_op op) {
  const ir_op_data *d = ir_op_get(h->m, op);
  return d->n_results && h->is_first[d->first_result];
}

static void find_kept(halves *h) {
  find_dependences(h);
  for (ir_op op, i = 0; (op = op_at(h, i)); i++)
    if (!is_of_first(h, op)) need_operands(h, op);
  for (uint32_t i = 0; i < h->n_carries; i++)
    if (!h->is_first[argument(h, i)]) need(h, yielded(h, i));
}

/* ---- whether it is worth it ---- */
static double work_ns(const halves *h, ir_op op) {
  const machine *on = h->f->p->machine;
  if (ir_kind_of(h->m, op) != IR_OP_WHILE) return plan_making_ns(h->m, op, on);
  double ns = 0, trips = ir_mean_trips(h->m, op);
  ir_block body = ir_while_body(h->m, op);
  for (ir_op below, i = 0; (below = ir_op_at(h->m, body, i)); i++) ns += work_ns(h, below);
  return ns * (trips >= 0 ? trips : TUNED_UNKNOWN_TRIPS);
}

static double first_ns(const halves *h) {
  double ns = 0;
  for (ir_op op, i = 0; (op = op_at(h, i)); i++) {
    bool is_state = is_of_first(h, op) && h->on[ir_result(h->m, op, 0)] == ON_STATE;
    if (is_state && !plan_stays_in_loops(ir_kind_of(h->m, op))) ns += work_ns(h, op);
  }
  return ns;
}

static double reading_ns(const halves *h) {
  machine_rates rates = machine_rates_of(h->f->p->machine);
  double ns = 0;
  for (uint32_t i = 0; i < h->kept.count; i++)
    ns += rates.op_ns + (double)ir_value_bytes(h->m, h->kept.at[i]) / rates.read_bytes;
  return ns;
}

static int64_t kept_bytes(const halves *h) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < h->kept.count; i++)
    bytes = saturated_sum(bytes, ir_value_bytes(h->m, h->kept.at[i]));
  return saturated_product(bytes, h->steps.trips);
}

static bool has_room(const halves *h) {
  const weir_options *o = h->f->p->options;
  int64_t most =
      o->memory_limit_bytes ? o->memory_limit_bytes / TUNED_KEPT_SHARE : h->f->small_bytes;
  return kept_bytes(h) <= most;
}

static bool are_static(const halves *h) {
  for (uint32_t i = 0; i < h->kept.count; i++) {
    ir_type t = ir_type_of(h->m, h->kept.at[i]);
    if (!ir_is_static_tensor(h->m, t) || ir_type_get(h->m, t)->rank == IR_MAX_RANK) return false;
  }
  return true;
}

/* The condition asks for nothing that the second half makes. */
static bool is_asked_first(const halves *h) {
  ir_block condition = ir_body(h->m, h->steps.op);
  for (uint32_t i = 0; i < h->n_carries; i++)
    if (!h->is_first[argument(h, i)] &&
        ir_is_used_in(h->m, condition, ir_argument(h->m, condition, i)))
      return false;
  return true;
}

/* What the slices are of is large. */
static bool is_large(const halves *h, uint32_t carry) {
  return ir_value_bytes(h->m, argument(h, carry)) > h->f->small_bytes;
}

/* ---- the factor ---- */
/* Whiles that read what this one leaves large have the factor, too: else it is held whatever is
 * done, or left to segments of both (split/checkpoint.h), which want one loop. */
static bool can_readers(const halves *h) {
  const readers *all = h->f->own;
  for (uint32_t i = 0; i < h->n_carries; i++) {
    split_pos pos = h->factor.results[i];
    if (pos.dim < 0 || !is_large(h, i)) continue;
    for (uint32_t k = all->first[ir_result(h->m, h->steps.op, i)]; k;
         k = all->list.at[k - 1].next) {
      reader r = all->list.at[k - 1];
      split_factor f;
      if (!split_trace(h->a, h->m, r.loop, false, r.carry, pos, &f)) return false;
    }
  }
  return true;
}

static halves halves_by(const halves *of, uint32_t carry, int32_t dim) {
  halves h = *of;
  uint32_t n = h.m->values.count, k = h.n_carries;
  split_pos pos = {.dim = dim, .unit = 1};
  h.factor = (split_factor){.operands = ARENA_ARRAY(h.a, split_pos, k),
                            .results = ARENA_ARRAY(h.a, split_pos, k)};
  if (!split_body_trace(h.a, h.m, h.steps.op, carry, pos, &h.factor)) return *of;
  h.is_first = ARENA_ARRAY(h.a, bool, n);
  h.on = ARENA_ARRAY(h.a, uint8_t, n);
  h.is_kept = ARENA_ARRAY(h.a, bool, n);
  h.is_moved = ARENA_ARRAY(h.a, bool, n);
  divide(&h);
  find_kept(&h);
  double ns = first_ns(&h), reading = reading_ns(&h);
  bool is_worth_it = ns > 0 && ns >= TUNED_FISSION_GAIN * reading;
  if (!is_worth_it || !has_room(&h) || !are_static(&h) || !is_asked_first(&h) || !can_readers(&h))
    return *of;
  h.saved_ns = ns - reading;
  return h;
}

/* The best of those of large carries. */
static bool find_halves(halves *h) {
  halves none = *h;
  int32_t room = MOST_FACTORS;
  for (uint32_t i = 0; i < h->n_carries; i++) {
    const ir_type_data *t = ir_type_at(h->m, argument(h, i));
    if (t->kind != IR_TYPE_TENSOR || !is_large(h, i)) continue;
    for (int32_t d = 0; d < t->rank && room-- > 0; d++) {
      halves by = halves_by(&none, i, d);
      if (by.saved_ns > h->saved_ns) *h = by;
    }
  }
  return h->saved_ns > 0;
}

/* ---- the two of them ---- */
static ir_value trip_of(ir_builder *b, const halves *h, ir_value counter) {
  int64_t first = h->steps.first;
  return first ? ir_build_subtract(b, counter, ir_build_int_like(b, counter, first)) : counter;
}

/* The while once more, which also stacks what is kept; dce takes the second half out of it. */
static ir_op build_first(const halves *h) {
  ir_module *m = h->m;
  ir_values stacks = {0};
  for (uint32_t k = 0; k < h->kept.count; k++) {
    ir_type stack = ir_tensor_stacked(m, ir_type_of(m, h->kept.at[k]), h->steps.trips);
    VEC_PUSH(h->a, &stacks, ir_build_zeros(&h->f->b, stack));
  }
  ir_map *map = ir_map_new(h->a, m);
  ir_op copy = ir_copy_op(m, IR_NONE, h->steps.op, map);
  ir_op loop = ir_build_while_with(&h->f->b, copy, IR_NO_CARRY, stacks.at, stacks.count, map);
  ir_block body = ir_while_body(m, loop);
  ir_builder b = {m, body, ir_op_get(m, loop)->location};
  ir_op end = ir_block_get(m, body)->ops.at[--ir_block_get(m, body)->ops.count];
  ir_value trip = trip_of(&b, h, ir_argument(m, body, h->steps.counter)),
           *out = ir_op_get(m, end)->operands + h->n_carries;
  for (uint32_t k = 0; k < h->kept.count; k++)
    out[k] = ir_build_with_stacked(&b, out[k], ir_map_get(map, h->kept.at[k]), trip);
  ir_block_append(m, body, end);
  return loop;
}

/* The while as it is, but for what its second half reads of the stacks. What the first half alone
 * needs loses its readers. */
static void build_second(const halves *h, ir_op first) {
  ir_module *m = h->m;
  ir_block body = h->steps.body;
  ir_builder b = {m, body, h->f->b.location};
  ir_values stacks = {0};
  for (ir_value v, i = h->n_carries; (v = ir_result_at(m, first, i)); i++)
    VEC_PUSH(h->a, &stacks, v);
  ir_build_while_with(&h->f->b, h->steps.op, IR_NO_CARRY, stacks.at, stacks.count, h->f->map);
  ir_map *read = ir_map_new(h->a, m);
  ir_ops old = ir_take_ops(m, body);
  ir_value trip = trip_of(&b, h, ir_argument(m, body, h->steps.counter));
  for (uint32_t k = 0; k < h->kept.count; k++) {
    ir_value v = h->kept.at[k], stack = ir_argument(m, body, h->n_carries + k);
    ir_map_set(read, v, ir_build_stacked_at(&b, stack, trip, ir_type_of(m, v)));
  }
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    bool is_first = is_of_first(h, op);
    if (!is_first) ir_rename_within(m, op, read);
    ir_block_append(m, body, op);
    if (is_first && h->is_moved[ir_result(m, op, 0)]) ir_copy_op(m, body, op, read);
  }
}

static void build(const halves *h) {
  ir_module *m = h->m;
  ir_op first = build_first(h);
  build_second(h, first);
  for (uint32_t i = 0; i < h->n_carries; i++)
    if (h->is_first[argument(h, i)])
      ir_map_set(h->f->map, ir_result(m, h->steps.op, i), ir_result(m, first, i));
}

static bool replace(pass_rewrite *r, ir_op op) {
  halves h = {.f = r, .m = r->m, .a = r->p->scratch};
  if (!split_steps_of(r->m, op, &h.steps) || h.steps.trips < 2 || ir_has_effects(r->m, op))
    return false;
  h.n_carries = ir_op_get(r->m, op)->n_operands;
  if (!find_halves(&h)) return false;
  build(&h);
  return true;
}

static void note_reader(readers *r, const ir_module *m, ir_op loop) {
  for (ir_value v, i = 0; (v = ir_operand_at(m, loop, i)); i++) {
    VEC_PUSH(r->a, &r->list, ((reader){loop, i, r->first[v]}));
    r->first[v] = r->list.count;
  }
}

static bool begin(pass_rewrite *r) {
  readers *all = r->own = ARENA_NEW(r->p->scratch, readers);
  *all = (readers){.a = r->p->scratch, .first = ARENA_ARRAY(r->p->scratch, uint32_t, r->n_values)};
  for (ir_walk w = ir_walk_block(r->m, ir_top(r->m)); ir_next(&w);)
    if (ir_kind_of(r->m, w.op) == IR_OP_WHILE) note_reader(all, r->m, w.op);
  return all->list.count > 0;
}

const pass pass_fission = {"fission", .replace = replace, .begin = begin};
