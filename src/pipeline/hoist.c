#include "pipeline/hoist.h"

#include <assert.h>
#include <math.h>

#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/lapack.h"
#include "ir/masks.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "pass/pass.h"
#include "plan/cost.h"

#define LEAST_PRICE 1e-9 /* ns a byte */
#define MOST_PRICE 1e12
#define CLOSE_PRICE 1.1

enum { MOST_IN_CONE = 64, MOST_TRIALS = 3 }; /* with less than all, of which each is an estimate */

typedef enum fate {
  STAYS,
  GOES_ALONG, /* only what is moved reads it */
  IS_KEPT     /* made before the while, and read inside */
} fate;

typedef struct hoister {
  ir_module *m;
  arena *a;
  const machine *on;
  machine_rates rates;
  hoist_room room;
  VEC(ir_op) ops; /* in program order, each before what is below it */
  /* by block */
  int32_t *depth;
  ir_block *ceiling; /* the outermost block with nothing but whiles in between */
  double *runs;
  /* by value */
  ir_block *home;    /* the outermost block that it can be made in */
  double *share;     /* of it that is read by what stays; 0: nothing does */
  double *reads;     /* how often that runs */
  bool *overwritten; /* by some reader */
  bool *selects;     /* by it, if it is a mask, some reader */
  /* by op */
  double *making; /* ns to make it and what goes along, if nothing of it is there; 0: not known */
  uint8_t *fate;
  uint32_t *seen, turn;
} hoister;

/* ---- where it can be made ---- */
static ir_block deeper(const hoister *h, ir_block x, ir_block y) {
  return h->depth[x] >= h->depth[y] ? x : y;
}

static bool is_while(const ir_module *m, ir_op op) {
  return op && ir_kind_of(m, op) == IR_OP_WHILE;
}

/* Carry i of a while that every trip hands on as it is. */
static bool is_unchanged(const ir_module *m, ir_op loop, uint32_t i) {
  return ir_is_handed_on(m, ir_while_body(m, loop), i);
}

/* What v is outside of whiles that carry it unchanged, in a block no deeper than `depth` or as far
 * out as it goes. */
static ir_value outside(const hoister *h, ir_value v, int32_t depth) {
  for (;;) {
    const ir_value_data *d = ir_value_get(h->m, v);
    ir_op loop = d->op ? IR_NONE : ir_block_get(h->m, d->block)->parent;
    if (!is_while(h->m, loop) || h->depth[d->block] <= depth || !is_unchanged(h->m, loop, d->index))
      return v;
    v = ir_operand(h->m, loop, d->index);
  }
}

static bool is_below(const ir_module *m, ir_block block, ir_op op) {
  ir_op parent = ir_block_get(m, block)->parent;
  while (parent && parent != op) parent = ir_op_around(m, parent);
  return parent == op;
}

/* An op below it reads what is made outside of it. */
static bool captures(const ir_module *m, ir_op op) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; w.op != op && (v = ir_operand_at(m, w.op, i)); i++)
      if (!is_below(m, ir_value_block(m, v), op)) return true;
  return false;
}

static bool is_pure_kind(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  switch (kind) {
    case IR_OP_WHILE:
    case IR_OP_CASE:
    case IR_OP_IF:
    case IR_OP_LOOP:
    case IR_OP_OPTIMIZATION_BARRIER: return false;
    case IR_OP_CUSTOM_CALL: {
      const char *target = ir_op_string(m, op, "call_target_name");
      return ir_lapack_find(target) >= 0;
    }
    default: return !(ir_kind_flags(kind) & IR_FLAG_T);
  }
}

static bool may_move(const ir_module *m, ir_op op) {
  return is_pure_kind(m, op) && ir_op_get(m, op)->n_results && pass_is_static(m, op) &&
         !ir_has_effects(m, op) && !pass_has_foreign_attrs(m, op) && !captures(m, op);
}

static ir_block home_of(const hoister *h, ir_op op) {
  ir_block block = ir_op_get(h->m, op)->block, found = h->ceiling[block];
  if (found == block || !may_move(h->m, op)) return block;
  for (ir_value v, i = 0; (v = ir_operand_at(h->m, op, i)); i++)
    found = deeper(h, found, h->home[v]);
  return found;
}

static double trips_of(const ir_module *m, ir_op op) {
  double trips = is_while(m, op) ? ir_mean_trips(m, op) : 1;
  return trips >= 0 ? trips : TUNED_UNKNOWN_TRIPS;
}

static void enter_block(hoister *h, ir_block block, ir_op op) {
  ir_block around = ir_op_get(h->m, op)->block;
  bool of_while = is_while(h->m, op);
  h->depth[block] = h->depth[around] + 1;
  h->runs[block] = h->runs[around] * trips_of(h->m, op);
  h->ceiling[block] = of_while ? h->ceiling[around] : block;
  for (ir_value arg, i = 0; (arg = ir_argument_at(h->m, block, i)); i++)
    h->home[arg] = of_while && is_unchanged(h->m, op, i) ? h->home[ir_operand(h->m, op, i)] : block;
}

static void note_op(hoister *h, ir_op op) {
  const ir_module *m = h->m;
  ir_block home = home_of(h, op);
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) h->home[v] = home;
  for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) enter_block(h, below, op);
  VEC_PUSH(h->a, &h->ops, op);
}

static ir_block home_of_results(const hoister *h, ir_op op) {
  const ir_op_data *d = ir_op_get(h->m, op);
  return d->n_results ? h->home[d->first_result] : d->block;
}

static bool can_move(const hoister *h, ir_op op) {
  return home_of_results(h, op) != ir_op_get(h->m, op)->block;
}

/* ---- what it costs ---- */
/* Not worth being moved on its own: it is made where it is read, of what was moved. */
static bool is_free(const ir_module *m, ir_op op) { return plan_stays_in_loops(ir_kind_of(m, op)); }

/* Made where it is read: of what nobody reads nothing is. */
static bool fuses(ir_kind kind) {
  return (ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M)) && kind != IR_OP_SCATTER;
}

static double bytes_of(const ir_module *m, ir_op op) {
  double bytes = 0;
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) bytes += (double)ir_value_bytes(m, v);
  return bytes;
}

static double read_ns(const hoister *h, double bytes) {
  return bytes / (bytes <= h->rates.resident_bytes ? h->rates.cached_bytes : h->rates.read_bytes);
}

/* No more is read of what is gathered from than is gathered. */
static double operand_ns(const hoister *h, ir_op op, uint32_t i) {
  ir_kind kind = ir_kind_of(h->m, op);
  double bytes = (double)ir_value_bytes(h->m, ir_operand(h->m, op, i));
  if (i == 0 && (kind == IR_OP_GATHER || kind == IR_OP_DYNAMIC_SLICE))
    bytes = fmin(bytes, bytes_of(h->m, op));
  return read_ns(h, bytes);
}

/* The op and all that would be moved with it, each once; what it reads beside. */
static double cone_ns(hoister *h, ir_op op, ir_block home, int32_t *room) {
  double ns = plan_making_ns(h->m, op, h->on);
  h->seen[op] = h->turn;
  for (ir_value v, i = 0; (v = ir_operand_at(h->m, op, i)); i++) {
    ir_op by = ir_value_get(h->m, outside(h, v, h->depth[home]))->op;
    bool along = by && can_move(h, by) && home_of_results(h, by) == home;
    if (along && h->seen[by] == h->turn) continue;
    if (along && (*room)-- > 0) ns += cone_ns(h, by, home, room);
    else ns += operand_ns(h, op, i);
  }
  return ns;
}

static double making_ns(hoister *h, ir_op op) {
  int32_t room = MOST_IN_CONE;
  if (h->making[op]) return h->making[op];
  h->turn++;
  return h->making[op] = cone_ns(h, op, home_of_results(h, op), &room);
}

/* ---- who reads it ---- */
typedef struct reading { /* of an op's results, together */
  double share, runs;
  bool overwritten, selects;
} reading;

static reading reading_of(const hoister *h, ir_op op) {
  reading r = {0};
  for (ir_value v, i = 0; (v = ir_result_at(h->m, op, i)); i++) {
    r.share = fmax(r.share, h->share[v]);
    r.runs = fmax(r.runs, h->reads[v]);
    r.overwritten |= h->overwritten[v];
    r.selects |= h->selects[v];
  }
  return r;
}

static void note_reader(hoister *h, ir_value v, reading r) {
  h->share[v] = fmax(h->share[v], fmin(r.share, 1));
  h->reads[v] = fmax(h->reads[v], r.runs);
  h->overwritten[v] |= r.overwritten;
  h->selects[v] |= r.selects;
}

static double ratio(const ir_module *m, ir_op op, ir_value of) {
  double whole = (double)ir_value_bytes(m, of);
  return whole > 0 ? bytes_of(m, op) / whole : 1;
}

/* A while: what it changes it writes over; what it does not is read where it is. */
static reading reading_by_while(const hoister *h, ir_op loop, uint32_t i, double runs) {
  reading r = {1, runs, !is_unchanged(h->m, loop, i)};
  if (r.overwritten) return r;
  bool is_result_read = h->share[ir_result(h->m, loop, i)] > 0;
  r.share = is_result_read ? 1 : 0;
  for (uint32_t k = 0; k < 2; k++) {
    ir_value arg = ir_argument(h->m, ir_op_get(h->m, loop)->regions[k], i);
    r.share = fmax(r.share, h->share[arg]);
    r.runs = fmax(r.runs, h->reads[arg]);
    r.overwritten |= h->overwritten[arg];
  }
  return r;
}

/* How an op that stays reads its operand. */
static reading reading_by(const hoister *h, ir_op op, uint32_t i) {
  const ir_module *m = h->m;
  ir_kind kind = ir_kind_of(m, op);
  ir_block block = ir_op_get(m, op)->block;
  reading r = {1, h->runs[block], false}, of_result = reading_of(h, op);
  if (kind == IR_OP_WHILE) return reading_by_while(h, op, i, r.runs);
  r.selects = ir_selects_by(m, op, i);
  if (ir_kind_flags(kind) & IR_FLAG_T) r.overwritten = is_while(m, ir_op_around(m, op));
  else if (kind == IR_OP_SCATTER || kind == IR_OP_DYNAMIC_UPDATE_SLICE) r.overwritten = i == 0;
  else if (i == 0 && (kind == IR_OP_DYNAMIC_SLICE || kind == IR_OP_GATHER))
    r.share = ratio(m, op, ir_operand(m, op, 0));
  else if (fuses(kind)) r.share = of_result.share;
  if (is_free(m, op)) {
    r.share *= ratio(m, op, ir_operand(m, op, i));
    r.overwritten = of_result.overwritten;
    r.selects = of_result.selects;
  }
  return r;
}

/* ---- what is moved ---- */
/* price: what a byte has to save, in ns. */
static bool is_worth_it(hoister *h, ir_op op, reading r, double price) {
  double bytes = bytes_of(h->m, op), once = making_ns(h, op),
         times = r.runs / h->runs[home_of_results(h, op)],
         anew = once * times * (fuses(ir_kind_of(h->m, op)) ? r.share : 1),
         read = once + bytes / h->rates.write_bytes + times * r.share * read_ns(h, bytes),
         gain = anew - read;
  if (h->room.value_bytes && bytes > (double)h->room.value_bytes) return false;
  return read <= TUNED_HOISTED_SHARE * anew && gain > price * bytes;
}

/* Beside who selects by it: XLA would not know it again (ir/masks.h). */
static bool is_mask(const ir_module *m, ir_op op) {
  return ir_op_get(m, op)->n_results == 1 && ir_is_converted_mask(m, ir_result(m, op, 0));
}

static fate fate_of(hoister *h, ir_op op, double price) {
  if (!can_move(h, op) || is_free(h->m, op)) return STAYS;
  reading r = reading_of(h, op);
  if (r.overwritten || (r.selects && is_mask(h->m, op))) return STAYS;
  if (r.share == 0) return GOES_ALONG;
  return is_worth_it(h, op, r, price) ? IS_KEPT : STAYS;
}

/* What is made at the op's new place goes there with it; what can be made further out is read. */
static void read_from_home(hoister *h, ir_op op) {
  ir_block home = home_of_results(h, op);
  for (ir_value v, i = 0; (v = ir_operand_at(h->m, op, i)); i++)
    if (h->home[v] != home)
      note_reader(h, v, (reading){1, h->runs[home], false, ir_selects_by(h->m, op, i)});
}

/* Readers come before what they read. Returns the bytes that are kept. */
static int64_t decide(hoister *h, double price) {
  int64_t bytes = 0;
  uint32_t n = h->m->values.count;
  memset(h->share, 0, n * sizeof *h->share);
  memset(h->reads, 0, n * sizeof *h->reads);
  memset(h->overwritten, 0, n * sizeof *h->overwritten);
  memset(h->selects, 0, n * sizeof *h->selects);
  for (uint32_t k = h->ops.count; k-- > 0;) {
    ir_op op = h->ops.at[k];
    h->fate[op] = (uint8_t)fate_of(h, op, price);
    if (h->fate[op] == IS_KEPT) bytes = saturated_sum(bytes, (int64_t)bytes_of(h->m, op));
    if (h->fate[op] != STAYS) read_from_home(h, op);
    else
      for (ir_value v, i = 0; (v = ir_operand_at(h->m, op, i)); i++)
        note_reader(h, v, reading_by(h, op, i));
  }
  return bytes;
}

/* As much as fits into so many bytes, the most time a byte. Returns how many it takes. */
static int64_t decide_within(hoister *h, int64_t room_bytes) {
  double low = LEAST_PRICE, high = MOST_PRICE;
  while (high > low * CLOSE_PRICE) {
    double price = sqrt(low * high);
    if (decide(h, price) <= room_bytes) high = price;
    else low = price;
  }
  int64_t bytes = decide(h, high);
  return bytes <= room_bytes ? bytes : decide(h, INFINITY);
}

static int32_t count_kept(const hoister *h) {
  int32_t count = 0;
  for (uint32_t k = 0; k < h->ops.count; k++) count += h->fate[h->ops.at[k]] == IS_KEPT;
  return count;
}

/* ---- moving ---- */
typedef struct mover {
  const hoister *h;
  ir_module *m;
  ir_map *moved;   /* what stands for values in whiles from now on */
  ir_map *copied;  /* operands of the op at hand */
  ir_block *front; /* by op, of whiles: what is put before it; IR_NONE: nothing */
  ir_block *last;  /* by op: in which front its last copy is */
  ir_value *copy;  /* by op: the first result of that */
} mover;

/* The while of the block that the op stands in. */
static ir_block front_in(mover *w, ir_op op, ir_block home) {
  while (ir_op_get(w->m, op)->block != home) op = ir_op_around(w->m, op);
  if (!w->front[op]) w->front[op] = ir_block_new(w->m);
  return w->front[op];
}

static void copy_to(mover *w, ir_op op, ir_block front, int32_t depth);

static ir_value at_front(mover *w, ir_value v, ir_block front, int32_t depth) {
  v = outside(w->h, v, depth);
  if (w->h->depth[ir_value_block(w->m, v)] <= depth) return v;
  const ir_value_data d = *ir_value_get(w->m, v);
  CTX_CHECK(w->m->ctx, d.op && can_move(w->h, d.op));
  if (w->h->fate[d.op] == IS_KEPT) return ir_map_get(w->moved, v);
  if (w->last[d.op] != front) copy_to(w, d.op, front, depth);
  return w->copy[d.op] + d.index;
}

static void copy_to(mover *w, ir_op op, ir_block front, int32_t depth) {
  const ir_op_data d = *ir_op_get(w->m, op);
  ir_value *operands = ARENA_ARRAY(w->m->arena, ir_value, d.n_operands);
  for (uint32_t i = 0; i < d.n_operands; i++)
    operands[i] = at_front(w, d.operands[i], front, depth);
  for (uint32_t i = 0; i < d.n_operands; i++) ir_map_set(w->copied, d.operands[i], operands[i]);
  w->last[op] = front;
  w->copy[op] = ir_result(w->m, ir_copy_op(w->m, front, op, w->copied), 0);
}

static void keep(mover *w, ir_op op) {
  ir_block home = home_of_results(w->h, op);
  assert(w->h->depth[home] < w->h->depth[ir_op_get(w->m, op)->block]); /* outward alone */
  copy_to(w, op, front_in(w, op, home), w->h->depth[home]);
  for (uint32_t i = 0; i < ir_op_get(w->m, op)->n_results; i++)
    ir_map_set(w->moved, ir_result(w->m, op, i), w->copy[op] + i);
}

static void put_fronts(mover *w, ir_block block, uint32_t n_ops) {
  ir_module *m = w->m;
  ir_ops old = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    ir_block front = op < n_ops ? w->front[op] : IR_NONE;
    ir_ops before = front ? ir_take_ops(m, front) : (ir_ops){0};
    for (uint32_t k = 0; k < before.count; k++) ir_block_append(m, block, before.at[k]);
    ir_block_append(m, block, op);
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) put_fronts(w, below, n_ops);
  }
}

/* m: the hoister's, or a clone of it. */
static void move(const hoister *h, ir_module *m, ir_block top) {
  uint32_t n_ops = m->ops.count;
  mover w = {.h = h,
             .m = m,
             .moved = ir_map_new(h->a, m),
             .copied = ir_map_new(h->a, m),
             .front = ARENA_ARRAY(h->a, ir_block, n_ops),
             .last = ARENA_ARRAY(h->a, ir_block, n_ops),
             .copy = ARENA_ARRAY(h->a, ir_value, n_ops)};
  for (uint32_t k = 0; k < h->ops.count; k++)
    if (h->fate[h->ops.at[k]] == IS_KEPT) keep(&w, h->ops.at[k]);
  put_fronts(&w, top, n_ops);
  ir_replace_uses(m, top, w.moved);
}

/* ---- under a limit ---- */
static int64_t estimated(const hoister *h, const ir_module *m) {
  arena *scratch = arena_create(m->ctx);
  int64_t bytes = plan_peak_of(scratch, m, h->room.order, NULL).total_bytes;
  arena_destroy(scratch);
  return bytes;
}

/* What was decided holds the limit, by estimate. */
static bool holds(hoister *h, ir_block top) {
  ir_module *trial = ir_module_clone(h->m);
  move(h, trial, top);
  h->room.peak_bytes = estimated(h, trial);
  ir_module_destroy(trial);
  ctx_log(h->m->ctx, 3, "%d values made before whiles: estimated peak %lld", count_kept(h),
          (long long)h->room.peak_bytes);
  return h->room.peak_bytes <= h->room.limit_bytes;
}

static bool decide_under_limit(hoister *h, ir_block top, int64_t *kept_bytes) {
  for (int i = 0; *kept_bytes > 0; i++) {
    if (holds(h, top)) return true;
    int64_t over = h->room.peak_bytes - h->room.limit_bytes;
    if (i == MOST_TRIALS || over >= *kept_bytes) return false;
    *kept_bytes = decide_within(h, *kept_bytes - over);
  }
  return false;
}

static hoister look_at(arena *a, ir_module *m, const machine *on, const hoist_room *room,
                       ir_block top) {
  uint32_t n_blocks = m->blocks.count, n_values = m->values.count, n_ops = m->ops.count;
  hoister h = {.m = m,
               .a = a,
               .on = on,
               .rates = machine_rates_of(on),
               .room = *room,
               .depth = ARENA_ARRAY(a, int32_t, n_blocks),
               .ceiling = ARENA_ARRAY(a, ir_block, n_blocks),
               .runs = ARENA_ARRAY(a, double, n_blocks),
               .home = ARENA_ARRAY(a, ir_block, n_values),
               .share = ARENA_ARRAY(a, double, n_values),
               .reads = ARENA_ARRAY(a, double, n_values),
               .overwritten = ARENA_ARRAY(a, bool, n_values),
               .selects = ARENA_ARRAY(a, bool, n_values),
               .making = ARENA_ARRAY(a, double, n_ops),
               .fate = ARENA_ARRAY(a, uint8_t, n_ops),
               .seen = ARENA_ARRAY(a, uint32_t, n_ops)};
  h.ceiling[top] = top;
  h.runs[top] = 1;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, top, i)); i++) h.home[arg] = top;
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) note_op(&h, w.op);
  return h;
}

int32_t hoist_invariants(ir_module *m, const machine *on, hoist_room *in_out) {
  ir_op main = ir_main_function(m);
  assert(in_out->limit_bytes >= 0 && in_out->value_bytes >= 0);
  if (!main) return 0;
  arena *a = arena_create(m->ctx);
  ir_block top = ir_body(m, main);
  hoister h = look_at(a, m, on, in_out, top);
  int64_t bytes = decide(&h, 0);
  bool holds_limit = !in_out->limit_bytes || decide_under_limit(&h, top, &bytes);
  int32_t count = holds_limit ? count_kept(&h) : 0;
  if (count) move(&h, m, top);
  in_out->peak_bytes = count ? h.room.peak_bytes : 0;
  in_out->moved_bytes = count ? bytes : 0;
  arena_destroy(a);
  return count;
}
