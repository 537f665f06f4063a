#include "split/phases.h"

enum { MOST_COPIES = 8 /* of an op on average */ };

typedef struct finder {
  split_phases *p;
  arena *scratch;
  uint32_t *earliest[2];      /* by op: the first phase of a direction in which it can be made */
  uint32_t *latest;           /* by op: that reads what is whole of its results */
  bool *is_live, *is_put_out; /* by op: the block puts a result of it out, or it has effects */
  uint32_t *seen, looks;      /* by op: the last look that came to it */
  ir_ops pending;
} finder;

/* The op of the block that makes the value; IR_NONE: it comes from outside, or from below an op. */
static ir_op maker(const finder *f, ir_value v) {
  ir_op op = ir_value_get(f->p->m, v)->op;
  return op && ir_op_get(f->p->m, op)->block == f->p->block ? op : IR_NONE;
}

/* for (v of all that the op, or one below it, reads of the block) */
typedef struct reads {
  const finder *f;
  ir_walk w;
  uint32_t next;
  ir_op by; /* what makes it */
} reads;

static reads reads_of(const finder *f, ir_op op) {
  reads r = {.f = f, .w = ir_walk_op(f->p->m, op)};
  ir_next(&r.w);
  return r;
}

static ir_value next_read(reads *r) {
  do
    for (ir_value v; (v = ir_operand_at(r->f->p->m, r->w.op, r->next)); r->next++)
      if ((r->by = maker(r->f, v))) return r->next++, v;
  while (r->next = 0, ir_next(&r->w));
  return IR_NONE;
}

/* ---- when each can be made ---- */
static uint32_t from_on(uint32_t phase, uint32_t direction) {
  return phase + ((phase ^ direction) & 1);
}

static uint32_t first_of(const finder *f, ir_op op) {
  int8_t direction = f->p->direction[op];
  uint32_t even = f->earliest[0][op], odd = f->earliest[1][op];
  if (direction >= 0) return f->earliest[direction][op];
  return even < odd ? even : odd;
}

static uint32_t available(const finder *f, const reads *r, ir_value v, uint32_t direction) {
  if (f->p->is_whole[v]) return from_on(first_of(f, r->by), direction);
  return f->earliest[direction][r->by];
}

static void find_earliest(finder *f, ir_op op) {
  int8_t own = f->p->direction[op];
  for (uint32_t direction = 0; direction < 2; direction++) {
    uint32_t phase = direction;
    reads r = reads_of(f, op);
    for (ir_value v; (v = next_read(&r));) {
      uint32_t from = available(f, &r, v, direction);
      if (from > phase) phase = from;
    }
    f->earliest[direction][op] = phase;
  }
  if (own < 0) return;
  uint32_t next = f->earliest[own][op] + 1, *other = &f->earliest[!own][op];
  if (next > *other) *other = next;
}

static void find_live(finder *f) {
  const ir_module *m = f->p->m;
  ir_op end = ir_terminator(m, f->p->block);
  for (uint32_t i = ir_block_get(m, f->p->block)->ops.count; i-- > 0;) {
    ir_op op = ir_op_at(m, f->p->block, i);
    bool has_effects = op != end && ir_has_effects(m, op);
    f->is_put_out[op] |= has_effects;
    f->is_live[op] |= has_effects || op == end;
    reads r = reads_of(f, op);
    while (f->is_live[op] && next_read(&r)) {
      f->is_live[r.by] = true;
      f->is_put_out[r.by] |= op == end;
    }
  }
}

static bool find_order(finder *f) {
  split_phases *p = f->p;
  uint32_t last = 0;
  find_live(f);
  for (ir_op op, i = 0; (op = ir_body_op_at(p->m, p->block, i)); i++) {
    find_earliest(f, op);
    if (f->is_live[op] && first_of(f, op) > last) last = first_of(f, op);
    if (last >= SPLIT_MOST_PHASES) return false;
  }
  p->n = last + 1;
  for (uint32_t op = 0; op < p->m->ops.count; op++) f->latest[op] = last;
  return true;
}

/* ---- what each phase makes ---- */
/* What the op reads in the phase is made there, too, or is whole by then. */
static void need_reads(finder *f, ir_op op, uint32_t phase) {
  reads r = reads_of(f, op);
  for (ir_value v; (v = next_read(&r));) {
    if (!f->p->is_whole[v]) VEC_PUSH(f->scratch, &f->pending, r.by);
    else if (phase < f->latest[r.by]) f->latest[r.by] = phase;
  }
}

static void make(finder *f, ir_op op, uint32_t phase) {
  f->pending.count = 0;
  VEC_PUSH(f->scratch, &f->pending, op);
  while (f->pending.count) {
    op = f->pending.at[--f->pending.count];
    if (split_is_made_in(f->p, op, phase)) continue;
    CTX_CHECK(f->p->m->ctx, f->earliest[phase & 1][op] <= phase);
    f->p->made[op] |= UINT32_C(1) << phase;
    need_reads(f, op, phase);
  }
}

/* Ops that the phase would have to make besides, up to `most`. */
static uint32_t count_more(finder *f, ir_op op, uint32_t phase, uint32_t most) {
  uint32_t n = 0;
  f->looks++;
  f->pending.count = 0;
  VEC_PUSH(f->scratch, &f->pending, op);
  while (f->pending.count && n < most) {
    op = f->pending.at[--f->pending.count];
    if (split_is_made_in(f->p, op, phase) || f->seen[op] == f->looks) continue;
    f->seen[op] = f->looks;
    n++;
    reads r = reads_of(f, op);
    for (ir_value v; (v = next_read(&r));)
      if (!f->p->is_whole[v]) VEC_PUSH(f->scratch, &f->pending, r.by);
  }
  f->p->m->ctx->looked_at += n;
  return n;
}

/* The one that makes least for it alone, the last of such; SPLIT_MOST_PHASES: there is none. */
static uint32_t choose_home(finder *f, ir_op op) {
  bool has_effects = ir_has_effects(f->p->m, op);
  uint32_t best = SPLIT_MOST_PHASES, least = UINT32_MAX,
           from = has_effects ? f->p->n - 1 : first_of(f, op);
  for (uint32_t phase = f->latest[op] + 1; phase-- > from && least;) {
    if (f->earliest[phase & 1][op] > phase) continue;
    uint32_t more = count_more(f, op, phase, least);
    if (more >= least) continue;
    least = more;
    best = phase;
  }
  return best;
}

static bool has_whole(const finder *f, ir_op op) {
  for (ir_value v, i = 0; (v = ir_result_at(f->p->m, op, i)); i++)
    if (f->p->is_whole[v]) return true;
  return false;
}

static bool find_homes(finder *f) {
  split_phases *p = f->p;
  for (uint32_t i = ir_block_get(p->m, p->block)->ops.count - 1; i-- > 0;) {
    ir_op op = ir_op_at(p->m, p->block, i);
    if (!f->is_live[op] || p->direction[op] >= 0) continue;
    if (!f->is_put_out[op] && !has_whole(f, op)) continue;
    uint32_t home = choose_home(f, op);
    if (home == SPLIT_MOST_PHASES) return false;
    CTX_CHECK(p->m->ctx, home <= f->latest[op]);
    p->home[op] = home;
    make(f, op, home);
    CTX_CHECK(p->m->ctx, !ir_has_effects(p->m, op) || p->made[op] == UINT32_C(1) << home);
  }
  return true;
}

static void make_scans(finder *f) {
  split_phases *p = f->p;
  for (ir_op op, i = 0; (op = ir_body_op_at(p->m, p->block, i)); i++) {
    if (!f->is_live[op] || p->direction[op] < 0) continue;
    p->home[op] = first_of(f, op);
    CTX_CHECK(p->m->ctx, p->home[op] < p->n);
    make(f, op, p->home[op]);
  }
}

static bool are_few(const finder *f) {
  const split_phases *p = f->p;
  uint32_t n = 0, most = MOST_COPIES * ir_block_get(p->m, p->block)->ops.count;
  for (ir_op op, i = 0; (op = ir_body_op_at(p->m, p->block, i)); i++)
    for (uint32_t bits = p->made[op]; bits; bits &= bits - 1) n++;
  return n <= most;
}

bool split_find_phases(arena *scratch, split_phases *p) {
  uint32_t n = p->m->ops.count;
  finder f = {.p = p,
              .scratch = scratch,
              .earliest = {ARENA_ARRAY(scratch, uint32_t, n), ARENA_ARRAY(scratch, uint32_t, n)},
              .latest = ARENA_ARRAY(scratch, uint32_t, n),
              .is_live = ARENA_ARRAY(scratch, bool, n),
              .is_put_out = ARENA_ARRAY(scratch, bool, n),
              .seen = ARENA_ARRAY(scratch, uint32_t, n)};
  p->home = ARENA_ARRAY(scratch, uint32_t, n);
  p->made = ARENA_ARRAY(scratch, uint32_t, n);
  if (!find_order(&f)) return false;
  make_scans(&f);
  return find_homes(&f) && are_few(&f);
}
