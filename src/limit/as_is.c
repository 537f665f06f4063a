#include "limit/as_is.h"

#include <assert.h>

#include "base/ints.h"
#include "limit/faster.h"
#include "limit/fit.h"
#include "limit/referee.h"
#include "limit/result.h"
#include "limit/search.h"
#include "limit/steps.h"
#include "limit/timed.h"
#include "machine/tuned.h"
#include "plan/cost.h"
#include "plan/peak.h"

enum {
  COMPILES_FOR_SPEED = 2,
  CANDIDATES_FOR_SPEED = 3,
};

/* Where XLA is asked. */
static bool holds_by_xla(job *j, candidate *c) {
  return referee_ask(j, c, &c->needs) && c->needs.peak <= j->options.memory_limit_bytes;
}

/* ---- with kernels ---- */
/* By the judge that the program as it came had. c->needs.peak 0: nobody asked. */
static bool holds_with_kernels(job *j, weir_outcome as_is, candidate *c) {
  int64_t limit = j->options.memory_limit_bytes;
  c->is_stock = as_is == WEIR_UNTOUCHED;
  if (c->is_stock) return !limit || plan_upper_bound(c->m, machine_memory(&j->machine)) <= limit;
  if (j->options.referee) return holds_by_xla(j, c);
  c->needs.peak = referee_estimate(j, c->m, c->order);
  return c->needs.peak <= limit;
}

/* *out: kernels that are predicted to gain; else, where that is asked, those that may for all that
 * predictions know. None, if *t knows better. */
static weir_status find_kernels(job *j, const timed *t, candidate *out, fit_courage *out_courage) {
  *out = (candidate){0};
  *out_courage = FIT_SURE;
  if (t->choice == TIMED_LOSES) return WEIR_OK;
  WEIR_TRY(fit_with_kernels(j, FIT_SURE, out));
  if (out->m || t->choice == TIMED_NEVER) return WEIR_OK;
  *out_courage = FIT_BOLD;
  WEIR_TRY(fit_with_kernels(j, FIT_BOLD, out));
  if (!out->m || timed_is_unsure(out->time_ns, out->stock_ns)) return WEIR_OK;
  ir_module_destroy(out->m);
  *out = (candidate){0};
  return WEIR_OK;
}

/* Whether they are taken, which hold the limit. */
static bool is_worth_kernels(job *j, timed *t, const candidate *kernels, const candidate *as_is,
                             fit_courage courage) {
  bool is_unsure = timed_is_unsure(kernels->time_ns, kernels->stock_ns);
  CTX_CHECK(&j->c, is_unsure || courage == FIT_SURE);
  if (!is_unsure || (t->choice == TIMED_OPEN && j->is_asked_ahead)) return true;
  timed_choice choice = timed_choose(j, t, kernels, as_is);
  return choice == TIMED_NEVER ? courage == FIT_SURE : choice == TIMED_GAINS;
}

/* The same two ways under whatever limit: if it does not decide which options they have. */
static const char *as_it_is_held(const climb *c) {
  if (c->taken.is_stock) return "fits";
  return plan_is_by_memory(c->taken.order) ? "fits by memory" : "fits in order";
}

/* ---- in slices ---- */
/* Whether slices might gain, of which those that stay XLA's save traffic and never arithmetic;
 * rates are of CPUs. */
static bool may_gain(const job *j, ir_module *exact, const search *s) {
  bool has_rates = !strcmp(j->options.platform, "cpu") && split_spread_of(exact) != SPLIT_SHARDED;
  return has_rates && exact->ops.count <= MOST_OPS_FOR_SPEED &&
         (!s->no_kernels || s->most_ns > plan_arithmetic_ns(exact, &j->machine));
}

/* Slices are predicted to be so many times as fast as all of it, within a limit. */
typedef struct wanted {
  int64_t limit;
  double gain;
  int32_t most_compiles, share; /* of a search */
  bool no_kernels;
  weir_status (*look)(job *j, search *s);
} wanted;

static weir_status look_at_few(job *j, search *s) {
  s->most_candidates = CANDIDATES_FOR_SPEED;
  return search_slices(j, s);
}

static weir_status look_at_all(job *j, search *s) {
  WEIR_TRY(search_all(j, s));
  return faster_instead(j, s);
}

/* Of the program with nothing done that XLA would not do. */
static weir_status predict_stock(job *j, double *out_ns) {
  ir_module *m = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_AS_IT_CAME, j->options.memory_limit_bytes, m, NULL));
  *out_ns = plan_time_as_it_came_ns(m, &j->machine);
  ir_module_destroy(m);
  return WEIR_OK;
}

/* *out: slices that hold that limit in the program's order, too, and gain; its module is NULL: none
 * does. */
static weir_status find_slices(job *j, wanted w, candidate *out) {
  ir_module *m = ir_module_clone(j->m);
  *out = (candidate){0};
  CTX_CHECK(&j->c, w.limit > 0 && w.gain > 0 && w.share > 0);
  WEIR_TRY(pipeline_prepare(j, PREPARE_FOR_SPEED, w.limit, m, NULL));
  double stock_ns;
  WEIR_TRY(predict_stock(j, &stock_ns));
  search s = search_under(j, w.limit, PLAN_ORDER_PROGRAM_UNHOISTED, w.most_compiles,
                          search_budget(j, w.share));
  s.from = m;
  s.most_ns = stock_ns / w.gain;
  s.no_kernels |= w.no_kernels;
  if (may_gain(j, m, &s)) {
    WEIR_TRY(w.look(j, &s));
    *out = s.found;
    out->stock_ns = stock_ns;
  }
  search_done_with(j, m);
  return WEIR_OK;
}

/* What fits is sliced as if it had a limit: with a share of its temporaries most slices are in
 * cache. */
static int64_t limit_of_slices(job *j, int32_t share) {
  int64_t held = referee_held_throughout(j), peak = referee_estimate(j, j->m, PLAN_ORDER_PROGRAM);
  return held + max64(peak - held, 0) / share + 1;
}

static bool holds_sliced(job *j, candidate *c) {
  int64_t limit = j->options.memory_limit_bytes;
  if (!limit || plan_upper_bound(c->m, machine_memory(&j->machine)) <= limit) return true;
  return j->options.referee && holds_by_xla(j, c);
}

/* What XLA runs without its library's fusions takes longer than predictions say, which do not know
 * of them: slices are tried boldly then. */
static double least_gain_of_slices(const candidate *base) {
  return base->is_stock ? TUNED_TIMED_GAIN : TUNED_BOLD_GAIN;
}

/* Predictions of XLA's loops are too rough to go by: slices are taken where a timer says so. base:
 * what they are to be faster than. */
static bool may_be_worth_slices(const job *j, const candidate *slices, const candidate *base) {
  if (!slices->m) return false;
  double base_ns = base->m ? base->time_ns : slices->stock_ns;
  bool may = base_ns >= least_gain_of_slices(base) * slices->time_ns &&
             2 * slices->time_ns + base_ns <= TIMED_MOST_NS;
  ctx_log(&j->c, 2, "in slices %.3g ms predicted, %.3g without%s", slices->time_ns / 1e6,
          base_ns / 1e6, may ? "" : ": left alone");
  return may;
}

static bool are_worth(job *j, timed *t, candidate *slices, const candidate *base) {
  if (!may_be_worth_slices(j, slices, base)) {
    timed_give_up(j, t);
    return false;
  }
  if (!holds_sliced(j, slices)) return false;
  if (t->choice == TIMED_OPEN && j->is_asked_ahead) return true;
  return timed_choose(j, t, slices, base) == TIMED_GAINS;
}

/* Under no other limit than that of slices: what comes of them is kept for whatever limit. */
static weir_status find_cached(job *j, const candidate *base, bool no_kernels, candidate *out) {
  int32_t share = base->is_stock ? TUNED_SLICED_SHARE : TUNED_HELD_SHARE;
  wanted w = {.limit = limit_of_slices(j, share),
              .gain = least_gain_of_slices(base),
              .share = NEAR_SHARE,
              .no_kernels = no_kernels,
              .look = look_at_all};
  return find_slices(j, w, out);
}

/* What XLA has fusions for is quick while it stays in the caches. */
static bool may_slice(job *j, const candidate *base) {
  bool is_small = j->m->ops.count <= MOST_OPS_FOR_SPEED;
  return pipeline_slices_are_on(j) && is_small && (!base->is_stock || fit_has_large(j));
}

/* *in_out: as it came, or with kernels; no_kernels: they have lost already. */
static weir_status slice_instead(job *j, bool no_kernels, climb *in_out) {
  candidate slices = {0}, *base = &in_out->taken;
  if (!may_slice(j, base)) return WEIR_OK;
  bool may = base->m || (double)j->result->summary.time_before_ns < TIMED_MOST_NS;
  timed t = timed_look_up(j, (timed_ways){.about = base->m      ? "sliced beside kernels"
                                                   : no_kernels ? "sliced without"
                                                                : "sliced",
                                          .held = as_it_is_held(in_out),
                                          .how = "in slices"});
  if (!may || t.choice == TIMED_NEVER || t.choice == TIMED_LOSES) return WEIR_OK;
  WEIR_TRY(find_cached(j, base, no_kernels, &slices));
  bool takes = are_worth(j, &t, &slices, base);
  ir_module *dropped = takes ? base->m : slices.m;
  if (dropped) ir_module_destroy(dropped);
  if (takes) *in_out = climb_to(WEIR_REWRITTEN, slices);
  return WEIR_OK;
}

/* ---- with what is made again and again written ---- */
/* base: the program as it came, or with kernels. *out: its module is NULL if that saves less, or is
 * over the limit (0: there is none) by estimate. */
static weir_status find_written(job *j, const candidate *base, int64_t limit, double least_ns,
                                candidate *out) {
  materialise_room room = {.order = base->order, .limit_bytes = limit, .least_ns = least_ns};
  *out = *base;
  WEIR_TRY(pipeline_materialise_copy(j, base->m, &room, &out->m));
  out->needs = (verdict){.peak = room.peak_bytes}; /* 0: nothing would be written, or no limit */
  if (!out->m) return WEIR_OK;
  if (!base->m) out->flops = plan_flops(out->m);
  if (!base->m) out->time_ns = plan_time_as_it_came_ns(out->m, &j->machine);
  out->stock_ns = out->time_ns + room.saved_ns;
  if (!limit) out->needs.peak = referee_estimate(j, out->m, base->order);
  return WEIR_OK;
}

static bool is_moved(const ir_module *m, ir_op op) {
  ir_value v = ir_operand_at(m, op, 0);
  return ir_kind_flags(ir_kind_of(m, op)) & IR_FLAG_M && v &&
         ir_value_bytes(m, v) >= TUNED_LEAST_WRITTEN_BYTES;
}

/* It is asked of every program: elements are read again where something moves them. */
static bool may_write(const job *j, const candidate *base) {
  bool is_cheap = !base->m && j->m->ops.count <= MOST_OPS_FOR_SPEED;
  return (!base->is_stock || is_cheap) && ir_any(ir_walk_block(j->m, ir_top(j->m)), is_moved);
}

static bool is_worth_writing(const candidate *c) {
  return c->m && c->stock_ns >= TUNED_KERNEL_GAIN * c->time_ns &&
         2 * c->time_ns + c->stock_ns <= TIMED_MOST_NS;
}

static bool is_known_to_hold(job *j, candidate *c) {
  return j->options.referee ? holds_by_xla(j, c) : c->needs.peak <= j->options.memory_limit_bytes;
}

static bool holds_written(job *j, weir_outcome as_is, candidate *c) {
  c->is_stock = as_is == WEIR_UNTOUCHED;
  return c->is_stock ? holds_sliced(j, c) : is_known_to_hold(j, c);
}

/* Of what runs without XLA's library, which makes again what others don't. */
static bool is_surely_worth_writing(const candidate *c, const candidate *base) {
  return c->m && !base->is_stock && c->stock_ns >= TUNED_SURE_GAIN * c->time_ns;
}

static bool gains_written(job *j, timed *t, candidate *written, const climb *as_is) {
  const candidate *base = &as_is->taken;
  bool is_sure = is_surely_worth_writing(written, base),
       may = is_sure || (!base->m && t->choice != TIMED_NEVER && is_worth_writing(written));
  if (!may || !holds_written(j, as_is->outcome, written)) return false;
  bool is_open = t->choice == TIMED_OPEN && j->is_asked_ahead;
  return is_sure || is_open || timed_choose(j, t, written, base) == TIMED_GAINS;
}

/* *in_out: as it came, or faster already. What runs as without weir is written under no limit, and
 * has to hold it then. */
static weir_status write_instead(job *j, climb *in_out) {
  candidate written, *base = &in_out->taken;
  if (!may_write(j, base)) return WEIR_OK;
  int64_t limit = base->is_stock ? 0 : j->options.memory_limit_bytes;
  timed t = timed_look_up(j, (timed_ways){"written", .held = as_it_is_held(in_out),
                                          .limit_bytes = limit, .how = "with more in memory"});
  if (t.choice == TIMED_LOSES || (t.choice == TIMED_NEVER && base->is_stock)) return WEIR_OK;
  WEIR_TRY(find_written(j, base, limit, TUNED_LEAST_SAVED_NS, &written));
  bool takes = gains_written(j, &t, &written, in_out);
  ir_module *dropped = takes ? base->m : written.m;
  if (dropped) ir_module_destroy(dropped);
  if (takes) *in_out = climb_to(WEIR_REWRITTEN, written);
  return WEIR_OK;
}

/* ---- steps in functions ---- */
/* XLA may copy what a function is given. Of what runs as without weir it is not asked: that needs
 * all temporaries together. */
static bool has_room_for_functions(const job *j, const candidate *as_is) {
  int64_t limit = j->options.memory_limit_bytes;
  assert(!as_is->m);
  return !as_is->is_stock || !limit || as_is->needs.peak <= limit / 2;
}

static bool holds_in_functions(job *j, candidate *c) { return c->is_stock || holds_by_xla(j, c); }

static bool may_gain_in_functions(const job *j, const candidate *as_is) {
  return !as_is->m && timed_are_quick(as_is->time_ns) && pipeline_functions_are_on(j) &&
         has_room_for_functions(j, as_is) && steps_may_be_short(j, j->m);
}

/* *in_out: the program as it came. Where XLA takes longer to start the ops of a step than to run
 * them, a timer says so. */
static weir_status make_functions(job *j, climb *in_out) {
  candidate tried = in_out->taken;
  if (!may_gain_in_functions(j, &tried)) return WEIR_OK;
  timed t =
      timed_look_up(j, (timed_ways){"steps", .held = as_it_is_held(in_out), .how = "in functions"});
  bool is_open = t.choice == TIMED_OPEN && j->is_asked_ahead, /* then nobody asks what it needs */
      may = t.choice == TIMED_OPEN || t.choice == TIMED_GAINS;
  tried.in_functions = true;
  if (tried.is_stock) tried.stock_ns = tried.time_ns;
  if (!may || !holds_in_functions(j, &tried)) return WEIR_OK;
  if (!is_open && timed_choose(j, &t, &tried, &in_out->taken) != TIMED_GAINS) return WEIR_OK;
  if (!is_open) tried.time_ns *= (double)t.took[0].ns / (double)t.took[1].ns;
  if (!is_open && tried.is_stock)
    tried.needs = (verdict){.peak = referee_estimate(j, j->m, tried.order)};
  *in_out = climb_to(WEIR_OPTIONS_ONLY, tried);
  return WEIR_OK;
}

/* ---- all ---- */
/* *out_t: what a timer says of them. */
static weir_status take_kernels(job *j, climb *in_out, timed *out_t) {
  candidate faster, *as_is = &in_out->taken;
  fit_courage courage;
  *out_t = timed_look_up(j, (timed_ways){"kernels", .held = as_it_is_held(in_out)});
  WEIR_TRY(find_kernels(j, out_t, &faster, &courage));
  if (!faster.m) return WEIR_OK;
  faster.order = as_is->order;
  if (holds_with_kernels(j, in_out->outcome, &faster) &&
      is_worth_kernels(j, out_t, &faster, as_is, courage))
    *in_out = climb_to(WEIR_REWRITTEN, faster);
  else ir_module_destroy(faster.m);
  return WEIR_OK;
}

weir_status as_is_hold(job *j, climb as_is, climb *out) {
  timed kernels = {.choice = TIMED_NEVER};
  *out = as_is;
  out->taken.is_stock = as_is.outcome == WEIR_UNTOUCHED;
  if (fit_may_gain(j)) WEIR_TRY(take_kernels(j, out, &kernels));
  bool is_changed = j->is_asked_ahead && out->taken.m; /* which is all that is asked */
  if (is_changed) return WEIR_OK;
  WEIR_TRY(write_instead(j, out));
  is_changed |= j->is_asked_ahead && out->taken.m;
  if (is_changed) return WEIR_OK;
  WEIR_TRY(slice_instead(j, kernels.choice == TIMED_LOSES, out));
  return make_functions(j, out);
}

/* XLA runs what is independent one after the other, and out of cache: where slices are predicted to
 * be faster they are taken. */
static weir_status split_instead(job *j, climb *in_out) {
  candidate faster;
  wanted w = {.limit = j->options.memory_limit_bytes,
              .gain = TUNED_SPLIT_GAIN,
              .most_compiles = COMPILES_FOR_SPEED,
              .share = 1,
              .look = look_at_few};
  WEIR_TRY(find_slices(j, w, &faster));
  faster.stock_ns = 0; /* it is what holds the limit */
  if (!faster.m) return WEIR_OK;
  if (in_out->taken.m) ir_module_destroy(in_out->taken.m);
  *in_out = climb_to(WEIR_REWRITTEN, faster);
  return WEIR_OK;
}

weir_status as_is_hold_ordered(job *j, verdict needs, climb *out) {
  candidate as_is = candidate_as_it_came(j, PLAN_ORDER_MEMORY, needs);
  WEIR_TRY(as_is_hold(j, climb_to(WEIR_OPTIONS_ONLY, as_is), out));
  return out->taken.m ? WEIR_OK : split_instead(j, out);
}

/* *tried: something would be written. */
static weir_status hold_written_in(job *j, plan_order order, bool *tried, bool *holds, climb *out) {
  int64_t limit = j->options.memory_limit_bytes;
  double least_ns = TUNED_WRITTEN_SHARE * (double)j->result->summary.time_before_ns;
  candidate as_is = {.order = order}, written;
  WEIR_TRY(find_written(j, &as_is, limit, least_ns, &written));
  *tried = written.needs.peak > 0;
  if (!written.m) return WEIR_OK;
  written.stock_ns = 0; /* it is what holds the limit */
  *holds = is_known_to_hold(j, &written);
  if (*holds) *out = climb_to(WEIR_REWRITTEN, written);
  else ir_module_destroy(written.m);
  return WEIR_OK;
}

weir_status as_is_hold_written(job *j, bool *holds, climb *out) {
  const plan_order orders[] = {PLAN_ORDER_PROGRAM, PLAN_ORDER_MEMORY};
  bool tried = true;
  *holds = false;
  for (int i = 0; i < 2 && tried && !*holds; i++)
    WEIR_TRY(hold_written_in(j, orders[i], &tried, holds, out));
  return *holds ? split_instead(j, out) : WEIR_OK;
}
