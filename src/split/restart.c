#include "split/restart.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "split/chunks.h"
#include "split/shards.h"

typedef struct restarted { /* a scan that is made in two passes */
  ir_op op;
  split_scan scan;
  bool *is_needed; /* by op of the body: the stacks depend on it */
  bool *is_saved;  /* by carry of the state: likewise */
  int64_t segment; /* steps between saved states */
} restarted;

typedef struct plan {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int64_t slice_bytes, threshold_bytes;
  VEC(restarted) scans;
  bool *is_copied;      /* by op: of what the first pass is made of */
  ir_map *first, *last; /* values of the program as the first pass and the second have them */
} plan;

/* ---- which scans ---- */
typedef struct directions { /* by op of the block */
  bool *is_scan, *backward;
  bool *after;  /* is made of what a scan against the first one's direction makes */
  bool *before; /* such a one is made of it */
} directions;

/* Some operand of the op, or of an op below, is made by such ops. */
static bool reads_any(const ir_module *m, ir_op op, const bool *ops) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) {
      ir_op by = ir_value_get(m, v)->op;
      if (by && ops[by]) return true;
    }
  return false;
}

static void mark_operands(const ir_module *m, ir_op op, bool *ops) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) {
      ir_op by = ir_value_get(m, v)->op;
      if (by) ops[by] = true;
    }
}

static bool find_directions(plan *p, directions *d) {
  ir_module *m = p->m;
  uint32_t n = m->ops.count;
  bool any = false, first = false;
  *d = (directions){ARENA_ARRAY(p->scratch, bool, n), ARENA_ARRAY(p->scratch, bool, n),
                    ARENA_ARRAY(p->scratch, bool, n), ARENA_ARRAY(p->scratch, bool, n)};
  for (ir_op op, i = 0; (op = ir_op_at(m, p->block, i)); i++) {
    split_scan s;
    d->after[op] = reads_any(m, op, d->after);
    if (ir_kind_of(m, op) != IR_OP_WHILE ||
        !split_scan_of(p->scratch, m, op, ir_op_get(m, op)->n_operands, &s))
      continue;
    if (!any) first = s.backward;
    any = d->is_scan[op] = true;
    d->backward[op] = s.backward != first;
    d->after[op] |= d->backward[op];
  }
  for (uint32_t i = ir_block_get(m, p->block)->ops.count; any && i-- > 0;) {
    ir_op op = ir_op_at(m, p->block, i);
    if (d->before[op] || d->backward[op]) mark_operands(m, op, d->before);
  }
  return any;
}

/* ---- what of a scan ---- */
/* What is stacked, and the ops and the state that it depends on. */
static void find_needed(plan *p, restarted *r) {
  const ir_module *m = p->m;
  r->is_saved = ARENA_ARRAY(p->scratch, bool, r->scan.n);
  split_needed n = split_needed_of(p->scratch, &r->scan.steps, r->is_saved);
  for (uint32_t i = 0; i < r->scan.n; i++) {
    if (r->scan.roles[i] != SPLIT_STACK) continue;
    ir_op write = r->scan.at[i].op;
    n.op[write] = true;
    for (ir_value v, k = 1; (v = ir_operand_at(m, write, k)); k++) split_need(&n, v);
  }
  r->is_needed = n.op;
}

static int64_t carries_bytes(const ir_module *m, const restarted *r, bool of_stacks) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < r->scan.n; i++)
    if (of_stacks ? r->scan.roles[i] == SPLIT_STACK : r->is_saved[i])
      sum = saturated_sum(sum, ir_value_bytes(m, ir_operand(m, r->op, i)));
  return sum;
}

/* Of what it reads or stacks in a step the largest. */
static int64_t step_bytes(const ir_module *m, const split_scan *s) {
  int64_t most = 1;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->roles[i] == SPLIT_READ || s->roles[i] == SPLIT_STACK)
      most = max64(most, ir_value_bytes(m, ir_operand(m, s->steps.op, i)) / s->steps.trips);
  return most;
}

/* The most steps that a slice has, spread evenly; of those within half that divide all, if there
 * are any. */
static int64_t segment_of(const plan *p, const split_scan *s) {
  int64_t trips = s->steps.trips,
          most = clamp64(p->slice_bytes / step_bytes(p->m, s), 1, trips / 2);
  for (int64_t c = most; c > most / 2; c--)
    if (trips % c == 0) return c;
  return ceil_div(trips, ceil_div(trips, most));
}

/* Of others no stack can be made. */
static bool are_states_static(const ir_module *m, const restarted *r) {
  for (uint32_t i = 0; i < r->scan.n; i++)
    if (r->is_saved[i] && !ir_is_static_tensor(m, ir_type_of(m, ir_operand(m, r->op, i))))
      return false;
  return true;
}

static int64_t count_segments(const restarted *r) {
  return ceil_div(r->scan.steps.trips, r->segment);
}

static bool is_worth_it(const plan *p, const restarted *r) {
  int64_t stacks = carries_bytes(p->m, r, true), states = carries_bytes(p->m, r, false),
          saved = saturated_product(count_segments(r), states);
  return states > 0 && saved < stacks - stacks / 3;
}

static bool choose_scan(plan *p, ir_op op) {
  restarted r = {.op = op};
  if (!split_scan_of(p->scratch, p->m, op, ir_op_get(p->m, op)->n_operands, &r.scan) ||
      r.scan.steps.trips < 4 || ir_has_effects(p->m, op))
    return false;
  r.segment = segment_of(p, &r.scan);
  find_needed(p, &r);
  if (!are_states_static(p->m, &r) || !is_worth_it(p, &r)) return false;
  VEC_PUSH(p->scratch, &p->scans, r);
  return true;
}

static const restarted *scan_at(const plan *p, ir_op op) {
  for (uint32_t i = 0; i < p->scans.count; i++)
    if (p->scans.at[i].op == op) return &p->scans.at[i];
  return NULL;
}

/* ---- what the first pass is made of ---- */
static bool is_large(const plan *p, ir_op op) {
  return ir_largest_bytes(p->m, op) > p->threshold_bytes;
}

/* What is large, or made of what a scan makes, has a copy. False: it has effects. */
static bool find_copies(plan *p) {
  ir_module *m = p->m;
  bool *made = ARENA_ARRAY(p->scratch, bool, m->ops.count),
       *needed = ARENA_ARRAY(p->scratch, bool, m->ops.count);
  p->is_copied = ARENA_ARRAY(p->scratch, bool, m->ops.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, p->block, i)); i++)
    made[op] = scan_at(p, op) || reads_any(m, op, made);
  for (uint32_t i = ir_block_get(m, p->block)->ops.count; i-- > 0;) {
    ir_op op = ir_op_at(m, p->block, i);
    bool is_scan = scan_at(p, op);
    if (!is_scan && !(needed[op] && (is_large(p, op) || made[op]))) continue;
    if (ir_has_effects(m, op)) return false;
    p->is_copied[op] = !is_scan;
    mark_operands(m, op, needed);
  }
  return true;
}

/* ---- the two passes of a scan ---- */
/* Begins the while anew with some of its carries and what is given besides; *out_map: its body's
 * values. The condition is the same. */
static ir_op begin_while(const plan *p, const restarted *r, const bool *has,
                         const ir_map *values_of, const ir_values *more, ir_map **out_map) {
  ir_module *m = p->m;
  ir_op op = r->op;
  ir_builder b = {m, p->block, ir_op_get(m, op)->location};
  ir_values init = {0};
  for (uint32_t i = 0; i < r->scan.n; i++)
    if (has[i]) VEC_PUSH(p->scratch, &init, ir_map_get(values_of, ir_operand(m, op, i)));
  for (uint32_t i = 0; i < more->count; i++) VEC_PUSH(p->scratch, &init, more->at[i]);
  ir_op made = ir_build_while(&b, init.at, init.count);
  for (uint32_t region = 0; region < 2; region++) {
    ir_block from = ir_op_get(m, op)->regions[region], to = ir_op_get(m, made)->regions[region];
    ir_map *map = ir_map_new(p->scratch, m);
    for (uint32_t i = 0, k = 0; i < r->scan.n; i++)
      if (has[i]) ir_map_set(map, ir_argument(m, from, i), ir_argument(m, to, k++));
    if (region == 0) ir_copy_block(m, from, to, map);
    else *out_map = map;
  }
  return made;
}

static void end_while(const plan *p, const restarted *r, const bool *has, ir_builder *b,
                      const ir_map *map, const ir_values *more) {
  ir_values yields = {0};
  for (uint32_t i = 0; i < r->scan.n; i++)
    if (has[i])
      VEC_PUSH(p->scratch, &yields, ir_map_get(map, ir_yielded(p->m, r->scan.steps.body, i)));
  for (uint32_t i = 0; i < more->count; i++) VEC_PUSH(p->scratch, &yields, more->at[i]);
  ir_build_return(b, IR_OP_RETURN, yields.at, yields.count);
}

/* The step, counted so that segments are whole from the first index on: i64. */
static ir_value step_of(const restarted *r, ir_builder *b, ir_value counter) {
  const split_steps *s = &r->scan.steps;
  int64_t ahead = r->scan.backward ? count_segments(r) * r->segment - s->trips : 0;
  ir_value step = ir_build_convert(b, counter, IR_I64);
  return ahead == s->first ? step : ir_build_add(b, step, ir_build_int(b, ahead - s->first));
}

/* The scan as it was, which also puts out the state that each segment ends with; out_ends: by
 * carry. */
static ir_op build_first(const plan *p, const restarted *r, ir_value *out_ends) {
  ir_module *m = p->m;
  const split_steps *s = &r->scan.steps;
  ir_builder b = {m, p->block, ir_op_get(m, r->op)->location};
  bool *has = ARENA_ARRAY(p->scratch, bool, r->scan.n);
  ir_values ends = {0}, next = {0};
  ir_map *map;
  for (uint32_t i = 0; i < r->scan.n; i++) {
    has[i] = true;
    if (!r->is_saved[i]) continue;
    ir_type t = ir_type_of(m, ir_operand(m, r->op, i));
    VEC_PUSH(p->scratch, &ends, ir_build_zeros(&b, ir_tensor_stacked(m, t, count_segments(r))));
  }
  ir_op made = begin_while(p, r, has, p->first, &ends, &map);
  b.block = ir_while_body(m, made);
  ir_copy_body(m, s->body, b.block, NULL, map);
  ir_value step = step_of(r, &b, ir_argument(m, b.block, s->counter)),
           at = ir_build_binary(&b, IR_OP_DIVIDE, step, ir_build_int(&b, r->segment));
  for (uint32_t i = 0, k = 0; i < r->scan.n; i++) {
    if (!r->is_saved[i]) continue;
    ir_value state = ir_map_get(map, ir_yielded(m, s->body, i)),
             into = ir_argument(m, b.block, r->scan.n + k);
    VEC_PUSH(p->scratch, &next, ir_build_with_stacked(&b, into, state, at));
    out_ends[i] = ir_result(m, made, r->scan.n + k++);
  }
  end_while(p, r, has, &b, map, &next);
  return made;
}

/* The states that segments begin with. */
static ir_value begins_of(const plan *p, ir_builder *b, const restarted *r, uint32_t carry,
                          ir_value ends) {
  ir_value initial = ir_map_get(p->first, ir_operand(p->m, r->op, carry));
  ir_type one = ir_tensor_stacked(p->m, ir_type_of(p->m, initial), 1);
  ir_value others = ir_build_slice_dim(b, ends, 0, 0, count_segments(r) - 1),
           parts[] = {ir_build_reshape(b, initial, one), others};
  return ir_build_concatenate(b, parts, 2, 0);
}

/* The scan for its stacks alone, whose state begins anew in each segment; the stacks are set in the
 * map of the second pass. */
static void build_second(plan *p, const restarted *r, const ir_value *ends) {
  ir_module *m = p->m;
  const split_steps *s = &r->scan.steps;
  ir_builder b = {m, p->block, ir_op_get(m, r->op)->location};
  bool *has = ARENA_ARRAY(p->scratch, bool, r->scan.n);
  ir_values begins = {0}, kept = {0};
  ir_map *map;
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->scan.n; i++) {
    has[i] = r->scan.roles[i] != SPLIT_STATE || r->is_saved[i] || i == s->counter;
    n += has[i];
    if (r->is_saved[i]) VEC_PUSH(p->scratch, &begins, begins_of(p, &b, r, i, ends[i]));
  }
  ir_op made = begin_while(p, r, has, ir_map_new(p->scratch, m), &begins, &map);
  b.block = ir_while_body(m, made);
  ir_value counter = ir_map_get(map, ir_argument(m, s->body, s->counter)),
           step = step_of(r, &b, counter), length = ir_build_int(&b, r->segment),
           left = ir_build_binary(&b, IR_OP_REMAINDER, step, length),
           is_first = ir_build_compare(&b, "EQ", left, ir_build_int(&b, 0)),
           number = ir_build_binary(&b, IR_OP_DIVIDE, step, length);
  for (uint32_t i = 0, k = 0; i < r->scan.n; i++) {
    if (!r->is_saved[i]) continue;
    ir_value all = ir_argument(m, b.block, n + k++), old = ir_argument(m, s->body, i);
    ir_value begin = ir_build_stacked_at(&b, all, number, ir_type_of(m, old));
    ir_map_set(map, old, ir_build_select(&b, is_first, begin, ir_map_get(map, old)));
    VEC_PUSH(p->scratch, &kept, all);
  }
  ir_copy_body(m, s->body, b.block, r->is_needed, map);
  end_while(p, r, has, &b, map, &kept);
  for (uint32_t i = 0, k = 0; i < r->scan.n; i++) {
    if (r->scan.roles[i] == SPLIT_STACK)
      ir_map_set(p->last, ir_result(m, r->op, i), ir_result(m, made, k));
    k += has[i];
  }
}

static void build_both(plan *p, const restarted *r) {
  ir_module *m = p->m;
  ir_value *ends = ARENA_ARRAY(p->scratch, ir_value, r->scan.n);
  ir_op first = build_first(p, r, ends);
  for (uint32_t i = 0; i < r->scan.n; i++) {
    ir_map_set(p->first, ir_result(m, r->op, i), ir_result(m, first, i));
    ir_map_set(p->last, ir_result(m, r->op, i), ir_result(m, first, i));
  }
  build_second(p, r, ends);
}

static void rebuild(plan *p) {
  ir_module *m = p->m;
  ir_ops old = ir_take_ops(m, p->block);
  p->first = ir_map_new(p->scratch, m);
  p->last = ir_map_new(p->scratch, m);
  for (uint32_t i = 0; i < old.count; i++) {
    const restarted *r = scan_at(p, old.at[i]);
    if (r) {
      build_both(p, r);
      continue;
    }
    if (p->is_copied[old.at[i]]) ir_copy_op(m, p->block, old.at[i], p->first);
    ir_block_append(m, p->block, old.at[i]);
  }
  ir_replace_uses(m, p->block, p->last);
}

static bool plan_passes(plan *p) {
  ir_module *m = p->m;
  directions d;
  if (split_is_spread(m, p->block) || !find_directions(p, &d)) return false;
  for (ir_op op, i = 0; (op = ir_op_at(m, p->block, i)); i++)
    if (d.is_scan[op] && d.before[op] && !d.after[op]) choose_scan(p, op);
  return p->scans.count && find_copies(p);
}

bool split_restart_scans(ir_module *m, ir_block block, int64_t slice_bytes,
                         int64_t threshold_bytes) {
  plan p = {m, arena_create(m->ctx), block, slice_bytes, threshold_bytes};
  bool found = plan_passes(&p);
  if (found) rebuild(&p);
  if (found)
    ctx_log(m->ctx, 3, "%u scans in two passes, the second from states every %lld steps",
            p.scans.count, (long long)p.scans.at[0].segment);
  arena_destroy(p.scratch);
  return found;
}
