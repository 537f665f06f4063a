#include "split/restart.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "split/chunks.h"
#include "split/phases.h"
#include "split/shards.h"

typedef struct scan {
  ir_op op;
  split_scan as;
  bool may_restart;
  bool *is_saved;   /* by carry of the state: the stacks depend on it */
  int64_t segment;  /* steps between saved states */
  ir_value *begins; /* by carry: the saved states that segments begin with; NULL: of nobody */
} scan;

typedef struct plan {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int64_t slice_bytes, threshold_bytes;
  VEC(scan) scans;
  split_phases phases;
  ir_users users;
  ir_op end;       /* of the block */
  ir_map **values; /* by phase: the program's values as it has them */
} plan;

static scan *scan_at(const plan *p, ir_op op) {
  for (scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    if (s->op == op) return s;
  return NULL;
}

/* ---- which scans ---- */
static void need_stack(split_needed *n, const split_scan *s, uint32_t carry) {
  ir_op write = s->at[carry].op;
  n->op[write] = true;
  for (ir_value v, k = 1; (v = ir_operand_at(s->steps.m, write, k)); k++) split_need(n, v);
}

static void find_saved(const plan *p, scan *s) {
  s->is_saved = ARENA_ARRAY(p->scratch, bool, s->as.n);
  split_needed n = split_needed_of(p->scratch, &s->as.steps, s->is_saved);
  for (uint32_t i = 0; i < s->as.n; i++)
    if (s->as.roles[i] == SPLIT_STACK) need_stack(&n, &s->as, i);
}

static int64_t carries_bytes(const ir_module *m, const scan *s, bool of_stacks) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < s->as.n; i++)
    if (of_stacks ? s->as.roles[i] == SPLIT_STACK : s->is_saved[i])
      sum = saturated_sum(sum, ir_value_bytes(m, ir_operand(m, s->op, i)));
  return sum;
}

/* Of what scans of so many trips read or stack in a step the largest: in one region segments of all
 * have the same length. */
static int64_t step_bytes(const plan *p, int64_t trips) {
  int64_t most = 1;
  for (const scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    for (uint32_t i = 0; i < s->as.n && s->as.steps.trips == trips; i++)
      if (s->as.roles[i] == SPLIT_READ || s->as.roles[i] == SPLIT_STACK)
        most = max64(most, ir_value_bytes(p->m, ir_operand(p->m, s->op, i)) / trips);
  return most;
}

/* The most steps that a slice has, spread evenly; of those within half that divide all, if there
 * are any. */
static int64_t segment_of(const plan *p, int64_t trips) {
  int64_t most = clamp64(p->slice_bytes / step_bytes(p, trips), 1, trips / 2);
  int64_t even = largest_divisor(trips, most / 2 + 1, most);
  return even ? even : ceil_div(trips, ceil_div(trips, most));
}

/* Of others no stack can be made. */
static bool are_states_static(const ir_module *m, const scan *s) {
  for (uint32_t i = 0; i < s->as.n; i++)
    if (s->is_saved[i] && !ir_is_static_tensor(m, ir_type_of(m, ir_operand(m, s->op, i))))
      return false;
  return true;
}

static int64_t count_segments(const scan *s) { return ceil_div(s->as.steps.trips, s->segment); }

static bool is_worth_it(const plan *p, const scan *s) {
  int64_t stacks = carries_bytes(p->m, s, true), states = carries_bytes(p->m, s, false),
          saved = saturated_product(count_segments(s), states);
  return states > 0 && saved < stacks - stacks / 3;
}

static void find_scans(plan *p) {
  const ir_module *m = p->m;
  for (ir_op op, i = 0; (op = ir_op_at(m, p->block, i)); i++) {
    scan s = {.op = op};
    if (ir_kind_of(m, op) == IR_OP_WHILE &&
        split_scan_of(p->scratch, m, op, ir_op_get(m, op)->n_operands, &s.as))
      VEC_PUSH(p->scratch, &p->scans, s);
  }
  for (scan *s = p->scans.at; s < VEC_END(p->scans); s++) {
    if (s->as.steps.trips < 4 || ir_has_effects(m, s->op)) continue;
    s->segment = segment_of(p, s->as.steps.trips);
    find_saved(p, s);
    s->may_restart = are_states_static(m, s) && is_worth_it(p, s);
  }
}

/* ---- when what is made ---- */
static int8_t *directions_of(const plan *p) {
  int8_t *direction = ARENA_ARRAY(p->scratch, int8_t, p->m->ops.count);
  memset(direction, -1, p->m->ops.count * sizeof *direction);
  for (const scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    direction[s->op] = s->as.backward != p->scans.at[0].as.backward;
  return direction;
}

/* What is small or of ops with effects, last states, and stacks of scans that are made once. */
static bool *whole_of(const plan *p) {
  const ir_module *m = p->m;
  bool *is_whole = ARENA_ARRAY(p->scratch, bool, m->values.count);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, p->block, i)); i++) {
    bool has_effects = ir_has_effects(m, op);
    for (ir_value v, k = 0; (v = ir_result_at(m, op, k)); k++)
      is_whole[v] = has_effects || ir_value_bytes(m, v) <= p->threshold_bytes;
  }
  for (const scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    for (uint32_t i = 0; i < s->as.n; i++)
      is_whole[ir_result(m, s->op, i)] = s->as.roles[i] != SPLIT_STACK || !s->may_restart;
  return is_whole;
}

static bool is_restarted(const plan *p, const scan *s) {
  for (uint32_t phase = 0; phase < p->phases.n; phase++)
    if (split_is_made_in(&p->phases, s->op, phase) && (phase ^ p->phases.home[s->op]) & 1)
      return true;
  return false;
}

/* ---- an op in a phase ---- */
/* What is whole is that of its first phase in all that follow. */
static void set_value(const plan *p, ir_value v, ir_value to, uint32_t phase) {
  bool is_whole = p->phases.is_whole[v];
  uint32_t end = is_whole ? p->phases.n : phase + 1;
  if (is_whole && phase != p->phases.home[ir_value_get(p->m, v)->op]) return;
  for (; phase < end; phase++) ir_map_set(p->values[phase], v, to);
}

static bool is_made_later(const plan *p, ir_op op, uint32_t phase) {
  return p->phases.made[op] >> phase > 1;
}

/* The last phase has the op itself. */
static void move(const plan *p, ir_op op, uint32_t phase) {
  ir_rename_within(p->m, op, p->values[phase]);
  ir_block_append(p->m, p->block, op);
}

static void copy(const plan *p, ir_op op, uint32_t phase) {
  ir_map *values = p->values[phase];
  uint32_t n = ir_op_get(p->m, op)->n_results;
  ir_value first = ir_result(p->m, op, 0), *before = ARENA_ARRAY(p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++) before[i] = ir_map_get(values, first + i);
  ir_op made = ir_copy_op(p->m, p->block, op, values);
  for (uint32_t i = 0; i < n; i++) {
    ir_map_set(values, first + i, before[i]);
    set_value(p, first + i, ir_result(p->m, made, i), phase);
  }
}

/* ---- a scan in a phase ---- */
typedef struct pass {
  const plan *p;
  const scan *s;
  uint32_t phase;
  ir_map *values;
  bool is_first; /* all of its states are there; else those that what it stacks depends on */
  bool restarts; /* it begins anew in each segment */
  bool *has;     /* by carry */
  bool *needs;   /* by op of the body */
} pass;

/* It is read in the phase, or put out. */
static bool is_stack_wanted(const pass *w, uint32_t carry) {
  const plan *p = w->p;
  ir_value stack = ir_result(p->m, w->s->op, carry);
  for (ir_op user, i = 0; (user = ir_user_at(&p->users, stack, i)); i++)
    if (user == p->end ? w->is_first : split_is_made_in(&p->phases, user, w->phase)) return true;
  return false;
}

static void find_needed(pass *w) {
  const ir_module *m = w->p->m;
  const split_scan *as = &w->s->as;
  uint32_t *uses = ARENA_ARRAY(w->p->scratch, uint32_t, m->values.count);
  w->has = ARENA_ARRAY(w->p->scratch, bool, as->n);
  split_needed n = split_needed_of(w->p->scratch, &as->steps, w->has);
  w->needs = n.op;
  for (uint32_t i = 0; i < as->n; i++) {
    if (as->roles[i] == SPLIT_STACK && is_stack_wanted(w, i)) need_stack(&n, as, i);
    if (as->roles[i] == SPLIT_STATE && w->is_first)
      split_need(&n, ir_yielded(m, as->steps.body, i));
    w->has[i] |= as->roles[i] == SPLIT_STATE && w->is_first;
  }
  for (ir_op op, i = 0; (op = ir_body_op_at(m, as->steps.body, i)); i++)
    if (w->needs[op]) ir_count_uses_of(m, op, uses);
  for (uint32_t i = 0; i < as->n; i++)
    w->has[i] |= i == as->steps.counter ||
                 (as->roles[i] != SPLIT_STATE && uses[ir_argument(m, as->steps.body, i)]);
}

/* The while once more, with some of its carries and what is given besides; w->values has what its
 * body is made of. The condition is the same. */
static ir_op begin_while(const pass *w, const ir_values *more) {
  ir_module *m = w->p->m;
  arena *scratch = w->p->scratch;
  ir_op op = w->s->op;
  ir_builder b = {m, w->p->block, ir_op_get(m, op)->location};
  ir_values init = {0};
  for (uint32_t i = 0; i < w->s->as.n; i++)
    if (w->has[i]) VEC_PUSH(scratch, &init, ir_map_get(w->values, ir_operand(m, op, i)));
  for (uint32_t i = 0; i < more->count; i++) VEC_PUSH(scratch, &init, more->at[i]);
  ir_op made = ir_build_while(&b, init.at, init.count);
  for (uint32_t region = 0; region < 2; region++) {
    ir_block from = ir_op_get(m, op)->regions[region], to = ir_op_get(m, made)->regions[region];
    for (uint32_t i = 0, k = 0; i < w->s->as.n; i++)
      if (w->has[i]) ir_map_set(w->values, ir_argument(m, from, i), ir_argument(m, to, k++));
  }
  ir_copy_block(m, ir_body(m, op), ir_body(m, made), w->values);
  return made;
}

static void end_while(const pass *w, ir_builder *b, const ir_values *more) {
  ir_module *m = w->p->m;
  ir_values yields = {0};
  for (uint32_t i = 0; i < w->s->as.n; i++)
    if (w->has[i])
      VEC_PUSH(w->p->scratch, &yields,
               ir_map_get(w->values, ir_yielded(m, w->s->as.steps.body, i)));
  for (uint32_t i = 0; i < more->count; i++) VEC_PUSH(w->p->scratch, &yields, more->at[i]);
  ir_build_return(b, IR_OP_RETURN, yields.at, yields.count);
}

/* The step, counted so that segments are whole from the first index on: i64. */
static ir_value step_of(const scan *s, ir_builder *b, const ir_map *map) {
  const split_steps *steps = &s->as.steps;
  int64_t ahead = s->as.backward ? count_segments(s) * s->segment - steps->trips : 0;
  ir_value counter = ir_map_get(map, ir_argument(b->m, steps->body, steps->counter)),
           step = ir_build_convert(b, counter, IR_I64);
  return ahead == steps->first ? step
                               : ir_build_add(b, step, ir_build_int(b, ahead - steps->first));
}

/* Its results as the phase has them; what is whole, as all that follow have it. What no step
 * changes is what it was given. */
static void set_results(const pass *w, ir_op made) {
  const ir_module *m = w->p->m;
  const split_steps *steps = &w->s->as.steps;
  for (uint32_t i = 0, k = 0; i < w->s->as.n; i++) {
    ir_value result = ir_result(m, steps->op, i);
    if (split_steps_keeps(steps, i))
      set_value(w->p, result, ir_map_get(w->values, ir_operand(m, steps->op, i)), w->phase);
    else if (w->has[i]) set_value(w->p, result, ir_result(m, made, k), w->phase);
    k += w->has[i];
  }
}

static uint32_t count_carries(const pass *w) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->s->as.n; i++) n += w->has[i];
  return n;
}

/* The states that segments begin with. */
static ir_value begins_of(const pass *w, ir_builder *b, uint32_t carry, ir_value ends) {
  ir_value initial = ir_map_get(w->values, ir_operand(b->m, w->s->op, carry));
  ir_type one = ir_tensor_stacked(b->m, ir_type_of(b->m, initial), 1);
  ir_value others = ir_build_slice_dim(b, ends, 0, 0, count_segments(w->s) - 1),
           parts[] = {ir_build_reshape(b, initial, one), others};
  return ir_build_concatenate(b, parts, 2, 0);
}

/* The scan as it was, which also puts out the state that each segment ends with. */
static void build_first(const pass *w, ir_value *out_begins) {
  ir_module *m = w->p->m;
  const scan *s = w->s;
  arena *scratch = w->p->scratch;
  ir_builder b = {m, w->p->block, ir_op_get(m, s->op)->location}, outside = b;
  ir_values ends = {0}, next = {0};
  ir_map *map = w->values;
  uint32_t n = count_carries(w);
  for (uint32_t i = 0; i < s->as.n; i++) {
    if (!s->is_saved[i]) continue;
    ir_type t = ir_type_of(m, ir_operand(m, s->op, i));
    VEC_PUSH(scratch, &ends, ir_build_zeros(&b, ir_tensor_stacked(m, t, count_segments(s))));
  }
  ir_op made = begin_while(w, &ends);
  b.block = ir_while_body(m, made);
  ir_copy_body(m, s->as.steps.body, b.block, w->needs, map);
  ir_value at =
      ir_build_binary(&b, IR_OP_DIVIDE, step_of(s, &b, map), ir_build_int(&b, s->segment));
  for (uint32_t i = 0; i < s->as.n; i++) {
    if (!s->is_saved[i]) continue;
    ir_value state = ir_map_get(map, ir_yielded(m, s->as.steps.body, i)),
             into = ir_argument(m, b.block, n + next.count);
    VEC_PUSH(scratch, &next, ir_build_with_stacked(&b, into, state, at));
  }
  end_while(w, &b, &next);
  for (uint32_t i = 0, k = n; i < s->as.n; i++)
    if (s->is_saved[i]) out_begins[i] = begins_of(w, &outside, i, ir_result(m, made, k++));
  set_results(w, made);
}

/* The scan for its stacks alone. */
static void build_again(const pass *w) {
  ir_module *m = w->p->m;
  const scan *s = w->s;
  ir_builder b = {m, w->p->block, ir_op_get(m, s->op)->location};
  ir_values begins = {0}, kept = {0};
  ir_map *map = w->values;
  uint32_t n = count_carries(w);
  for (uint32_t i = 0; i < s->as.n && w->restarts; i++)
    if (w->has[i] && s->is_saved[i]) VEC_PUSH(w->p->scratch, &begins, s->begins[i]);
  ir_op made = begin_while(w, &begins);
  b.block = ir_while_body(m, made);
  if (w->restarts) {
    ir_value step = step_of(s, &b, map), length = ir_build_int(&b, s->segment),
             left = ir_build_binary(&b, IR_OP_REMAINDER, step, length),
             is_first = ir_build_compare(&b, "EQ", left, ir_build_int(&b, 0)),
             number = ir_build_binary(&b, IR_OP_DIVIDE, step, length);
    for (uint32_t i = 0; i < s->as.n; i++) {
      if (!w->has[i] || !s->is_saved[i]) continue;
      ir_value all = ir_argument(m, b.block, n + kept.count),
               old = ir_argument(m, s->as.steps.body, i),
               begin = ir_build_stacked_at(&b, all, number, ir_type_of(m, old));
      ir_map_set(map, old, ir_build_select(&b, is_first, begin, ir_map_get(map, old)));
      VEC_PUSH(w->p->scratch, &kept, all);
    }
  }
  ir_copy_body(m, s->as.steps.body, b.block, w->needs, map);
  end_while(w, &b, &kept);
  set_results(w, made);
}

static void make_scan(const plan *p, scan *s, uint32_t phase) {
  uint32_t home = p->phases.home[s->op];
  pass w = {.p = p,
            .s = s,
            .phase = phase,
            .values = p->values[phase],
            .is_first = phase == home,
            .restarts = (phase ^ home) & 1};
  CTX_CHECK(p->m->ctx, w.is_first || s->may_restart);
  CTX_CHECK(p->m->ctx, !w.restarts || s->begins);
  find_needed(&w);
  if (!w.is_first) build_again(&w);
  else if (is_restarted(p, s))
    build_first(&w, s->begins = ARENA_ARRAY(p->scratch, ir_value, s->as.n));
  else if (is_made_later(p, s->op, phase)) copy(p, s->op, phase);
  else move(p, s->op, phase);
}

static void make_op(const plan *p, ir_op op, uint32_t phase) {
  scan *s = scan_at(p, op);
  if (s) make_scan(p, s, phase);
  else if (is_made_later(p, op, phase)) copy(p, op, phase);
  else move(p, op, phase);
}

/* What the block puts out is of the phase that its op is at home in. */
static void end_block(const plan *p) {
  ir_module *m = p->m;
  ir_op_data *end = ir_op_get(m, p->end);
  for (uint32_t i = 0; i < end->n_operands; i++) {
    ir_op by = ir_value_get(m, end->operands[i])->op;
    if (by) end->operands[i] = ir_map_get(p->values[p->phases.home[by]], end->operands[i]);
  }
  ir_block_append(m, p->block, p->end);
}

static void rebuild(plan *p) {
  ir_module *m = p->m;
  p->users = ir_users_of_block(p->scratch, m, p->block);
  p->end = ir_terminator(m, p->block);
  p->values = ARENA_ARRAY(p->scratch, ir_map *, p->phases.n);
  for (uint32_t phase = 0; phase < p->phases.n; phase++)
    p->values[phase] = ir_map_new(p->scratch, m);
  ir_ops old = ir_take_ops(m, p->block);
  for (uint32_t phase = 0; phase < p->phases.n; phase++)
    for (uint32_t i = 0; i < old.count; i++)
      if (split_is_made_in(&p->phases, old.at[i], phase)) make_op(p, old.at[i], phase);
  end_block(p);
}

/* How many there are; 0: they are of no use. */
static uint32_t plan_phases(plan *p) {
  if (split_is_spread(p->m, p->block)) return 0;
  find_scans(p);
  if (!p->scans.count) return 0;
  p->phases = (split_phases){p->m, p->block, directions_of(p), whole_of(p)};
  if (!split_find_phases(p->scratch, &p->phases)) return 0;
  for (const scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    if (is_restarted(p, s)) return p->phases.n;
  return 0;
}

static void log_phases(const plan *p) {
  uint32_t n = 0;
  const scan *last = NULL;
  for (const scan *s = p->scans.at; s < VEC_END(p->scans); s++)
    if (is_restarted(p, s)) n++, last = s;
  ctx_log(p->m->ctx, 3,
          "%u scans in two passes, the second from states every %lld steps; %u phases", n,
          (long long)last->segment, p->phases.n);
}

uint32_t split_restart_scans(ir_module *m, ir_block block, const split_goal *goal) {
  plan p = {m, arena_create(m->ctx), block, goal->slice_bytes, goal->threshold_bytes};
  uint32_t phases = plan_phases(&p);
  if (phases && phases <= goal->most_phases) {
    log_phases(&p);
    rebuild(&p);
  }
  arena_destroy(p.scratch);
  return phases;
}
