/* Programs that fit: regions that run faster as kernels.
 *
 * In: a program that holds its limit. Out: the same with some regions as calls of kernels, or
 * nothing. Seeds are the values that XLA keeps in memory and that leave its caches, smallest first.
 * The region of a seed is what must be sliced together with it if all values of at least a quarter
 * of its size are to go; it is taken if all of it becomes kernels, and these are predicted to be
 * faster than what the program then no longer does. docs/design/fit.md.
 */
#include "limit/fit.h"

#include <math.h>

#include "limit/result.h"
#include "limit/timed.h"
#include "machine/tuned.h"
#include "plan/cost.h"
#include "plan/peak.h"
#include "pipeline/made.h"
#include "pipeline/seeds.h"
#include "split/loops.h"
#include "pipeline/kernels.h"

/* Times as fast: a kernel as XLA's loop, what the program then has to do without, the program.
 * XLA's loops would not be run, so they only speak against kernels that are much slower.
 * Nanoseconds are of one execution: a kernel has to be compiled. Sure are gains that hold where
 * both predictions are wrong, most of all of products (docs/design/fit.md). For who times them
 * regions may lose a little, which make room for others: what these have in common is not made any
 * more. */
typedef struct least_gains {
  double loop, region, region_ns, program;
} least_gains;

static least_gains gains_for(fit_courage courage) {
  if (courage == FIT_BOLD)
    return (least_gains){TUNED_BOLD_GAIN, TUNED_BOLD_GAIN, -INFINITY, TUNED_TIMED_GAIN};
  return (least_gains){TUNED_BOLD_GAIN, TUNED_REGION_GAIN, TUNED_REGION_NS, TUNED_KERNEL_GAIN};
}

enum {
  SMALLER = 4, /* values of a region are at least a fourth of its seed */
  MOST_MEMBERS = 200,
  MOST_TRIALS = 200, /* of regions: what a program can cost */
};

typedef struct fit {
  job *j;
  fit_courage courage;
  arena *a;
  ir_module *m; /* with the regions so far */
  double time_ns, kernels_ns;
  int32_t kernels, trials;
  bool fused;      /* seeds are values that XLA has in fusions alone */
  made_loops made; /* the kernels */
  VEC(seed) seeds;
  seeds_tried tried;
} fit;

static bool is_large(const ir_module *m, ir_value v) {
  return ir_is_static_tensor(m, ir_type_of(m, v)) && ir_value_bytes(m, v) >= TUNED_SEED_BYTES;
}

/* ---- a value that costs nothing to make ties no regions together ---- */
typedef struct unsharing {
  ir_module *m;
  arena *a;
  bool *used; /* by value: by an op before */
} unsharing;

static bool is_free(const ir_module *m, ir_op op) {
  ir_kind k = ir_kind_of(m, op);
  return k == IR_OP_IOTA ||
         (k == IR_OP_BROADCAST_IN_DIM && ir_type_at(m, ir_operand(m, op, 0))->rank == 0);
}

static void unshare_operands(unsharing *u, ir_block block, ir_op user) {
  for (ir_value v, i = 0; (v = ir_operand_at(u->m, user, i)); i++) {
    ir_op op = ir_value_get(u->m, v)->op;
    if (!op || !is_large(u->m, v) || !is_free(u->m, op)) continue;
    if (u->used[v]) {
      ir_op copy = ir_copy_op(u->m, block, op, ir_map_new(u->a, u->m));
      ir_op_get(u->m, user)->operands[i] = ir_result(u->m, copy, 0);
    }
    u->used[v] = true;
  }
}

/* Each user has its own; XLA makes one of them again. */
static void unshare(unsharing *u, ir_block block) {
  ir_ops old = ir_take_ops(u->m, block);
  for (uint32_t i = 0; i < old.count; i++) {
    unshare_operands(u, block, old.at[i]);
    ir_block_append(u->m, block, old.at[i]);
    for (ir_block below, r = 0; (below = ir_next_block(u->m, old.at[i], &r));) unshare(u, below);
  }
}

static void unshare_all(ir_module *m) {
  unsharing u = {m, arena_create(m->ctx), NULL};
  u.used = ARENA_ARRAY(u.a, bool, m->values.count);
  unshare(&u, ir_top(m));
  arena_destroy(u.a);
}

/* ---- seeds ---- */
static bool may_be_split(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; !(ir_kind_flags(d->kind) & IR_FLAG_T) && i < d->n_operands; i++)
    if (ir_value_get(m, d->operands[i])->op && is_large(m, d->operands[i])) return true;
  return false;
}

bool fit_has_large(const job *j) { return ir_any(ir_walk_block(j->m, ir_top(j->m)), may_be_split); }

bool fit_may_gain(const job *j) {
  return j->options.tile != WEIR_TILE_OFF && pipeline_can_call(&j->options, j->m) &&
         pipeline_fit_is_on(j) && fit_has_large(j);
}

/* Not in memory, but made once for each element that a reduction reads. */
static bool is_fused_and_reduced(const ir_module *m, ir_op op, const ir_users *users) {
  ir_value v = ir_result(m, op, 0);
  if (plan_stock_keeps(m, op, users)) return false;
  for (uint32_t i = users->first[v]; i < users->first[v + 1]; i++)
    if (ir_kind_of(m, users->ops[i]) == IR_OP_REDUCE) return true;
  return false;
}

static void add_seeds(fit *f, ir_block block) {
  ir_module *m = f->m;
  arena *a = arena_create(m->ctx);
  ir_users users = ir_users_of_block(a, m, block);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    const ir_op_data *d = ir_op_get(m, op);
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) add_seeds(f, below);
    if (d->n_results != 1 || !kernels_cover_op(m, op) || d->kind == IR_OP_CONSTANT) continue;
    ir_value v = d->first_result;
    if (!is_large(m, v) || seeds_was_tried(&f->tried, v)) continue;
    if (f->fused ? is_fused_and_reduced(m, op, &users) : plan_stock_keeps(m, op, &users))
      VEC_PUSH(f->a, &f->seeds, (seed){v, block, ir_value_bytes(m, v), f->seeds.count});
  }
  arena_destroy(a);
}

/* ---- one seed ---- */
static bool reads_large(const ir_module *m, ir_op op, int64_t threshold_bytes) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (ir_value_bytes(m, d->operands[i]) > threshold_bytes) return true;
  return false;
}

/* Small products stay XLA's: a kernel would compute them once for each of its rows. */
static bool belongs(const ir_module *m, ir_op op, int64_t threshold_bytes) {
  return kernels_cover_op(m, op) &&
         (ir_kind_of(m, op) != IR_OP_DOT_GENERAL || reads_large(m, op, threshold_bytes) ||
          ir_value_bytes(m, ir_result(m, op, 0)) > threshold_bytes);
}

static split_goal goal_of(const seed *s) {
  int64_t share = s->bytes / SMALLER;
  return (split_goal){.threshold_bytes = (share > TUNED_SEED_BYTES ? share : TUNED_SEED_BYTES) - 1,
                      .hold_bytes = INT64_MAX,
                      .slice_bytes = TUNED_COARSE_BYTES,
                      .cached_bytes = TUNED_COARSE_BYTES,
                      .generous_bytes = INT64_MAX,
                      .covers = belongs,
                      .is_materialised = plan_is_materialised};
}

/* Others of that size would find the same region. */
static void give_up_members(fit *f, const split_region *r, const seed *s) {
  for (uint32_t i = 0; i < r->members.count; i++) {
    ir_value v = ir_result(f->m, r->members.at[i].op, 0);
    if (ir_value_bytes(f->m, v) <= s->bytes) seeds_mark_tried(&f->tried, v);
  }
}

static ir_ops loops_of(arena *a, const ir_module *m) {
  ir_ops found = {0};
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);)
    if (ir_kind_of(m, w.op) == IR_OP_LOOP) VEC_PUSH(a, &found, w.op);
  return found;
}

/* What did not become kernels is computed as before: a loop of one trip is its body. *out_may: none
 * of these has to agree with a kernel on values. */
static weir_status lower_rest(fit *f, bool *out_may) {
  ir_ops rest = loops_of(f->a, f->m);
  *out_may = true;
  for (uint32_t i = 0; i < rest.count; i++)
    *out_may &= !ir_op_bool(f->m, rest.at[i], "agree", false);
  if (!rest.count || !*out_may) return WEIR_OK;
  split_lower_loops(f->m, SPLIT_KEEPS_BY_CALL);
  WEIR_TRY(pass_run(&f->j->driver, &pass_simplify, f->m, NULL));
  WEIR_TRY(pass_run(&f->j->driver, &pass_cse, f->m, NULL));
  return pipeline_tidy(f->j, f->m);
}

static bool is_kernel(const fit *f, ir_op loop) {
  return ir_op_attr(f->m, loop, "kernel_ns") != IR_NONE;
}

/* Of those loops that became kernels, in all trips of what is around them. */
static double kernels_ns(const fit *f, const ir_ops *loops) {
  double ns = 0;
  for (uint32_t i = 0; i < loops->count; i++)
    if (is_kernel(f, loops->at[i])) ns += plan_loop_time_ns(f->m, loops->at[i], &f->j->machine);
  return ns;
}

static void note_kernels(fit *f, const ir_ops *loops, const kernels_made *made) {
  for (uint32_t i = 0; i < loops->count; i++)
    if (is_kernel(f, loops->at[i]))
      made_add_kernel(f->a, f->m, loops->at[i], &f->j->machine, &f->made);
  f->kernels_ns += made->time_ns;
  f->kernels += made->count;
}

/* Whether the program is so much faster with these kernels; f->m has them. */
static bool is_better(fit *f, const kernels_made *made, double rest_ns) {
  double saved_ns = f->time_ns - rest_ns, least = gains_for(f->courage).region;
  bool better = made->count && saved_ns >= least * made->time_ns &&
                saved_ns - made->time_ns >= gains_for(f->courage).region_ns;
  ctx_log(&f->j->c, 3, "as %d kernels: %.3g ms, now %.3g ms%s", made->count, made->time_ns / 1e6,
          saved_ns / 1e6, better ? "" : "; left alone");
  return better;
}

/* What XLA fuses and then writes is bound by memory: a kernel would write it, too. */
static bool writes_large(const fit *f, const ir_ops *loops, int64_t threshold_bytes) {
  for (uint32_t i = 0; f->fused && i < loops->count; i++)
    for (uint32_t j = 0; j < ir_op_get(f->m, loops->at[i])->n_results; j++)
      if (ir_value_bytes(f->m, ir_result(f->m, loops->at[i], j)) > threshold_bytes) return true;
  return false;
}

/* The region is of f->m, where it becomes loops and of these those kernels that gain;
 * *out_better if they are worth it. */
static weir_status build(fit *f, const split_choice *c, int64_t threshold_bytes, bool *out_better) {
  *out_better = false;
  split_build_loops(c->region, c->region->extent); /* a kernel is a single trip */
  WEIR_TRY(pipeline_tidy(f->j, f->m));
  ir_ops loops = loops_of(f->a, f->m);
  if (writes_large(f, &loops, threshold_bytes)) return WEIR_OK;
  bool may;
  kernels_made made = kernels_replace_loops(f->m, &f->j->machine, gains_for(f->courage).loop);
  made.time_ns = kernels_ns(f, &loops);
  WEIR_TRY(lower_rest(f, &may));
  double rest_ns = plan_stock_time_ns(f->m, &f->j->machine);
  *out_better = may && is_better(f, &made, rest_ns);
  if (!*out_better) return WEIR_OK;
  note_kernels(f, &loops, &made);
  f->time_ns = rest_ns;
  return WEIR_OK;
}

static weir_status try_region(fit *f, const seed *s, const split_choice *c, bool *out_better) {
  if (c->region->members.count > MOST_MEMBERS) return WEIR_OK;
  ir_module *before = ir_module_clone(f->m);
  ctx_log(&f->j->c, 3, "region of %s, %lld bytes: %u members",
          ir_op_name(f->m, ir_value_get(f->m, s->value)->op), (long long)s->bytes,
          c->region->members.count);
  WEIR_TRY(build(f, c, goal_of(s).threshold_bytes, out_better));
  if (*out_better) {
    ir_module_destroy(before);
    return WEIR_OK;
  }
  ir_module_destroy(f->m);
  f->m = before;
  return WEIR_OK;
}

static weir_status try_seed(fit *f, const seed *s, bool *out_better) {
  arena *scratch = arena_create(&f->j->c);
  split_goal goal = goal_of(s);
  split_memo known = {0}; /* of this goal alone */
  split_choice c;
  *out_better = false;
  seeds_mark_tried(&f->tried, s->value);
  f->trials++;
  if (split_choose(scratch, f->m, s->block, s->value, &goal, &known, &c)) {
    give_up_members(f, c.region, s);
    WEIR_TRY(try_region(f, s, &c, out_better));
  }
  split_forget(&known); /* the region has parts of it */
  arena_destroy(scratch);
  return WEIR_OK;
}

/* The first seed that gains, of those that were not tried yet. */
static weir_status try_seeds(fit *f, bool *out_better) {
  *out_better = false;
  f->seeds.count = 0;
  add_seeds(f, ir_body(f->m, ir_main_function(f->m)));
  seeds_sort(f->seeds.at, f->seeds.count, true);
  for (uint32_t i = 0; i < f->seeds.count && !*out_better && f->trials < MOST_TRIALS; i++)
    if (!seeds_was_tried(&f->tried, f->seeds.at[i].value))
      WEIR_TRY(try_seed(f, &f->seeds.at[i], out_better));
  return WEIR_OK;
}

/* What outlives the fit lives with the module. */
static candidate candidate_of(const fit *f, double before_ns) {
  return (candidate){.m = f->m,
                     .made = made_copy(f->m->arena, &f->made),
                     .flops = f->j->result->summary.flops_before,
                     .stock_ns = before_ns,
                     .time_ns = f->time_ns + f->kernels_ns};
}

weir_status fit_with_kernels(job *j, fit_courage courage, candidate *out) {
  *out = (candidate){0};
  CTX_CHECK(&j->c, fit_may_gain(j));
  fit f = {.j = j, .courage = courage, .a = arena_create(&j->c)};
  f.tried.a = f.a;
  f.m = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_AS_IT_CAME, j->options.memory_limit_bytes, f.m, NULL));
  unshare_all(f.m);
  double before_ns = f.time_ns = plan_stock_time_ns(f.m, &j->machine);
  bool goes_on = courage == FIT_SURE || before_ns < TIMED_MOST_NS;
  while (goes_on && f.trials < MOST_TRIALS) {
    bool better;
    WEIR_TRY(try_seeds(&f, &better));
    goes_on = better || !f.fused;
    f.fused |= !better;
  }
  if (f.kernels && before_ns >= gains_for(courage).program * (f.time_ns + f.kernels_ns))
    *out = candidate_of(&f, before_ns);
  else ir_module_destroy(f.m);
  arena_destroy(f.a);
  return WEIR_OK;
}
