#include "limit/faster.h"

#include <assert.h>

#include "base/ints.h"
#include "base/saturate.h"
#include "machine/tuned.h"
#include "plan/cost.h"
#include "split/sink.h"
#include "limit/referee.h"
#include "limit/result.h"
#include "limit/steps.h"

enum {
  COMPILES_OF_OTHERS = 2, /* by XLA, for each kind of them */
  CANDIDATES_FOR_PASSES = 6,
  COMPILES_OF_LONGER = 3,
  CANDIDATES_FOR_LONGER = 6,
  LEAST_TIMES_LONGER = 4,
  MOST_TIMES_LONGER = 64,
  CANDIDATES_FOR_SHORTER = 6,
  CANDIDATES_FOR_SEGMENTS = 6,
  CANDIDATES_FOR_SAFETY = 3,
  MOST_OPS = 5000, /* of a program for which others are tried */
  MORE_CUTS = 4,   /* at first, though less is left: what is written over needs less */
};

/* Slices that may just fit, by what those of the candidate before came to. */
static int64_t fewer_bytes(const search *s, int64_t room_bytes) {
  int64_t held = s->limit - room_bytes, most = s->slice_bytes - s->slice_bytes / 10,
          least = s->slice_bytes / 4;
  if (s->seen.least <= s->limit)
    return s->slice_bytes - s->slice_bytes / 3; /* too slow, or refused */
  double share = 0.95 * (double)room_bytes / (double)(s->seen.least - held);
  int64_t bytes = (int64_t)((double)s->slice_bytes * share);
  return bytes > most ? most : bytes < least ? least : bytes;
}

static double least_gain(const job *j) {
  return j->machine.device ? TUNED_PASSES_GAIN : TUNED_TRIPS_GAIN;
}

/* Than the program as it came. */
static bool is_slower(const job *j, const search *s) {
  return s->found.time_ns > (double)j->result->summary.time_before_ns * least_gain(j);
}

/* They leave slices little room: there are many trips, each of which reads and writes the sum. */
static bool has_large_parts(const search *s, int64_t room_bytes) {
  return s->added_bytes > room_bytes / TUNED_PARTS_SHARE;
}

/* Rates are of CPUs. */
static bool may_add_in_blocks(const job *j, const search *s, int64_t room_bytes) {
  bool may_gain = s->found.has_shorter || (has_large_parts(s, room_bytes) && is_slower(j, s));
  return may_gain && s->found.time_ns > 0 && room_bytes > 0 && !strcmp(j->options.platform, "cpu");
}

/* For another candidate in the place of what was found, with compilations of its own. */
static search search_beside(const search *s) {
  search again = *s;
  assert(s->found.m);
  again.found = (candidate){0};
  again.most_compiles = s->most_compiles ? COMPILES_OF_OTHERS : 0;
  again.compiles = again.candidates = again.most_candidates = 0;
  return again;
}

static void take_found(search *s, search *again) {
  ir_module_destroy(s->found.m);
  s->found = again->found;
  again->found = (candidate){0};
}

/* Kernels have to be so much faster than XLA's loops, whichever these are. */
static search of_fewer_passes(const job *j, const search *s, int64_t room_bytes) {
  bool is_for_gain = s->found.has_shorter && candidate_has_loops(&s->found, true) &&
                     j->options.tile == WEIR_TILE_AUTO;
  search again = search_beside(s);
  assert(s->found.time_ns > 0);
  again.most_ns = s->found.time_ns / TUNED_PASSES_GAIN;
  again.most_xla_ns = is_for_gain ? s->found.time_ns * TUNED_KERNEL_GAIN : again.most_ns;
  again.part_bytes = machine_slices_under(&j->machine, s->limit).first_bytes;
  if (has_large_parts(s, room_bytes))
    again.part_bytes = min64(again.part_bytes, room_bytes / TUNED_PARTS_SHARE);
  return again;
}

static bool has_compiled_enough(const search *s) {
  return s->most_compiles && s->compiles == s->most_compiles;
}

static weir_status try_slices(job *j, const search *s, int64_t slice_bytes, search *again) {
  again->slice_bytes = slice_bytes;
  again->share = s->share;
  again->thorough = s->thorough;
  again->no_kernels = s->no_kernels;
  again->is_over = false;
  again->seen.least = INT64_MAX;
  WEIR_TRY(search_try(j, again));
  again->slice_bytes = slice_bytes;
  return WEIR_OK;
}

/* Slices are as long as fits, for each of them reads and writes the sums once. */
static weir_status try_fewer_passes(job *j, search *s, int64_t room_bytes) {
  if (!may_add_in_blocks(j, s, room_bytes)) return WEIR_OK;
  search again = of_fewer_passes(j, s, room_bytes);
  int64_t slice_bytes = room_bytes;
  for (int i = 0; i < CANDIDATES_FOR_PASSES && slice_bytes > s->slice_bytes / 4; i++) {
    WEIR_TRY(try_slices(j, s, slice_bytes, &again));
    if (again.found.m || has_compiled_enough(&again)) break;
    slice_bytes = fewer_bytes(&again, room_bytes);
  }
  if (again.found.m) take_found(s, &again);
  return WEIR_OK;
}

/* On CPUs XLA's loops gain by longer slices where those are short, unless the program is hardly
 * slower than it came. */
static bool has_short_slices(const job *j, const search *s) {
  return !strcmp(j->options.platform, "cpu") && s->slice_bytes < TUNED_COARSE_BYTES &&
         candidate_has_loops(&s->found, false) && is_slower(j, s);
}

/* Of a while that slices repeat XLA makes one function where its steps are short: ops cost next to
 * nothing then. With longer slices it may not, which is not predicted. */
static bool ends_functions(const job *j, const search *s, const search *longer) {
  return s->found.has_whiles && search_has(s, IR_OP_WHILE) &&
         steps_are_short(j, s->found.m, s->in_functions) &&
         !steps_are_short(j, longer->found.m, s->in_functions);
}

static void drop_found(search *s) {
  ir_module_destroy(s->found.m);
  s->found = (candidate){0};
}

/* Both what XLA gets of it, and its loops. */
static void want_faster(const job *j, const search *s, double gain, search *again) {
  again->most_ns = plan_time_ns(s->found.m, &j->machine) / gain;
  again->most_time_ns = s->found.time_ns / gain;
}

static search for_less_time(const job *j, const search *s, double gain) {
  search again = search_beside(s);
  want_faster(j, s, gain, &again);
  return again;
}

static weir_status try_more_cuts(job *j, search *s, int64_t room_bytes) {
  if (!s->found.lacks_room || !is_slower(j, s)) return WEIR_OK;
  search again = for_less_time(j, s, least_gain(j));
  again.refines_cuts = true;
  again.most_ns = 0; /* it counts all of a value that is written over as read in each trip */
  int64_t more = 16 * (s->limit - s->found.needs.peak) / max64(1, room_bytes);
  more = max64(more, MORE_CUTS);
  for (int shorter = 1; more > 0 && !again.found.m; shorter = 5 - shorter) {
    if (has_compiled_enough(&again)) break;
    again.hold_bytes = s->hold_bytes;
    again.cut_sixteenths = s->cut_sixteenths + (int32_t)more;
    WEIR_TRY(try_slices(j, s, max64(LEAST_SLICE_BYTES, s->slice_bytes / shorter), &again));
    if (shorter > 1) more /= 2;
  }
  if (!again.found.m) return WEIR_OK;
  s->cut_sixteenths = again.cut_sixteenths;
  s->refines_cuts = true;
  s->slice_bytes = again.slice_bytes;
  take_found(s, &again);
  return WEIR_OK;
}

/* A candidate that holds. */
typedef struct tried {
  int64_t slice_bytes, peak_bytes;
} tried;

/* Slices that may just fit, by how the peak grew from shorter ones to those found; the first time,
 * as if all beside arguments and results were theirs, and at least LEAST_TIMES_LONGER. */
static int64_t most_that_may_fit(const search *s, const tried *shorter, int64_t slice_bytes,
                                 int64_t room_bytes) {
  int64_t peak = s->found.needs.peak, used = peak - (s->limit - room_bytes),
          most = saturated_product(slice_bytes, MOST_TIMES_LONGER);
  if (shorter->slice_bytes) {
    double more =
        (double)(peak - shorter->peak_bytes) / (double)(slice_bytes - shorter->slice_bytes);
    if (more <= 0) return most;
    return min64(most, saturated_sum(slice_bytes, saturated_int((double)(s->limit - peak) / more)));
  }
  int64_t times = used > 0 ? max64(room_bytes / used, LEAST_TIMES_LONGER) : MOST_TIMES_LONGER;
  return min64(most, saturated_product(slice_bytes, times));
}

/* high: too large, or may just fit. */
static int64_t between(int64_t low, int64_t high, bool may_fit) {
  if (high / 2 <= low) return low + (high - low) / 2;
  return may_fit ? high - high / 10 : halfway(low, high);
}

/* XLA has reported too much of the candidate, which was within the limit by estimate: what may just
 * fit is shorter by as much as the target is lower now. low: as long as what was found. */
static int64_t somewhat_below(const search *s, const search *refused, int64_t low, int64_t high) {
  int64_t peak = s->found.needs.peak, room = refused->target - peak,
          used = refused->seen.least - peak;
  if (room <= 0 || used <= room) return between(low, high, false);
  return low + (int64_t)(0.95 * (double)room / (double)used * (double)(high - low));
}

/* Where larger values are left whole that were split, and where the same is split. */
static weir_status try_either(job *j, const search *s, int64_t slice_bytes, search *again) {
  again->threshold_bytes = 0;
  WEIR_TRY(try_slices(j, s, slice_bytes, again));
  int64_t follows = search_threshold(again);
  again->threshold_bytes = search_threshold(s);
  if (again->found.m || again->threshold_bytes == follows) return WEIR_OK;
  WEIR_TRY(try_slices(j, s, slice_bytes, again));
  again->is_over = false; /* shorter slices that leave more whole may be faster */
  return WEIR_OK;
}

/* What goes in so many fewer trips may be as much faster. */
static bool are_longer(int64_t slice_bytes, int64_t low) {
  return (double)slice_bytes >= TUNED_LONGER_GAIN * (double)low;
}

/* Trips cost launches, and slices were divided by two or four until they fitted. */
static weir_status try_longer_slices(job *j, search *s, int64_t room_bytes) {
  if (!j->machine.device && !has_short_slices(j, s)) return WEIR_OK;
  tried shorter = {0};
  int64_t low = s->slice_bytes, high = most_that_may_fit(s, &shorter, low, room_bytes);
  int64_t too_large = INT64_MAX, slice_bytes = between(low, high, true);
  search again = for_less_time(j, s, TUNED_LONGER_GAIN);
  if (again.most_compiles) again.most_compiles = COMPILES_OF_LONGER;
  for (int i = 0; i < CANDIDATES_FOR_LONGER && !again.is_over; i++) {
    int64_t target = again.target;
    if (has_compiled_enough(&again) || !are_longer(slice_bytes, low)) break;
    again.hold_bytes = s->hold_bytes;
    WEIR_TRY(try_either(j, s, slice_bytes, &again));
    bool is_refused = again.target < target;
    if (again.found.m && ends_functions(j, s, &again)) drop_found(&again);
    if (!again.found.m) high = too_large = slice_bytes;
    slice_bytes = is_refused ? somewhat_below(s, &again, low, high) : between(low, high, false);
    if (!again.found.m) continue;
    shorter = (tried){low, s->found.needs.peak};
    take_found(s, &again);
    low = again.slice_bytes;
    high = min64(too_large, most_that_may_fit(s, &shorter, low, room_bytes));
    slice_bytes = between(low, high, true);
    want_faster(j, s, TUNED_LONGER_GAIN, &again);
  }
  CTX_CHECK(&j->c, s->found.m && !again.found.m);
  return WEIR_OK;
}

/* The estimate may be too high, of what loops hold on a chip, say: XLA is asked about slices
 * somewhat longer than may fit by it, the longest first. */
static weir_status try_doubted_slices(job *j, search *s, int64_t room_bytes) {
  bool may = s->most_compiles && j->options.referee && s->doubts == UNASKED;
  if (!j->machine.device || !may) return WEIR_OK;
  search again = for_less_time(j, s, TUNED_LONGER_GAIN);
  int64_t low = s->slice_bytes, slice_bytes = most_that_may_fit(s, &(tried){0}, low, room_bytes);
  again.asks_later = false;
  again.doubts = ASKED;
  for (int i = 0; i < CANDIDATES_FOR_LONGER && !again.found.m && !again.is_over; i++) {
    if (has_compiled_enough(&again) || again.doubts != ASKED) break;
    again.hold_bytes = s->hold_bytes;
    WEIR_TRY(try_either(j, s, slice_bytes, &again));
    slice_bytes = low + (slice_bytes - low) / 2;
  }
  if (!again.found.m) return WEIR_OK;
  s->slice_bytes = again.slice_bytes;
  take_found(s, &again);
  return WEIR_OK;
}

/* Slow, for it makes values anew, in each trip of a while or in one loop after the other: there was
 * no room for them beside slices of this length. */
static bool repeats_work(const job *j, const search *s) {
  return is_slower(j, s) &&
         (double)s->found.flops > TUNED_SLOW_PLAN * (double)j->result->summary.flops_before;
}

static search of_shorter_slices(const job *j, const search *s) {
  search again = search_beside(s);
  again.most_time_ns = s->found.time_ns / least_gain(j);
  again.no_kernels = true; /* their loops have other slices */
  search_shrink(&again);
  return again;
}

static weir_status try_shorter_slices(job *j, search *s) {
  if (!repeats_work(j, s)) return WEIR_OK;
  search again = of_shorter_slices(j, s);
  for (int i = 0; i < CANDIDATES_FOR_SHORTER && search_goes_on(&again); i++) {
    WEIR_TRY(search_try(j, &again));
    again.is_over = false;
  }
  if (!again.found.m) return WEIR_OK;
  ir_module_destroy(s->found.m);
  again.most_time_ns = s->most_time_ns;
  again.most_compiles = s->most_compiles;
  *s = again;
  return WEIR_OK;
}

/* A while that could go without what it keeps of its trips, or reads in them. */
static bool may_go_by_trips(const search *s, ir_op op) {
  ir_module *m = (ir_module *)s->from;
  if (ir_kind_of(m, op) != IR_OP_WHILE) return false;
  if (split_keeps_trips(m, op)) return true;
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++)
    if (split_is_read_in_parts(m, v, search_threshold(s))) return true;
  return false;
}

/* It runs whiles of the program once for each slice, whose ops are launched as often. */
static bool may_gain_by_segments(const job *j, const search *s) {
  bool may = false;
  if (!s->found.has_whiles || !is_slower(j, s)) return false;
  for (ir_walk w = ir_walk_block(s->from, ir_top(s->from)); !may && ir_next(&w);)
    may = may_go_by_trips(s, w.op);
  return may;
}

/* Likewise of scans that could go in slices of their steps; or trips, of these or of segments, make
 * one by one what slices make at once. */
static bool may_gain_by_steps(const job *j, const search *s) {
  bool may = s->found.has_whiles || s->keeps_trips || s->found.makes_parts;
  return s->manner != BY_STEPS && s->manner != IN_TURNS && may && is_slower(j, s) &&
         search_has_scans(j, s);
}

/* What goes over the steps of whiles once instead. */
static weir_status try_manner(job *j, search *s, int64_t room_bytes, manner by) {
  search again = for_less_time(j, s, least_gain(j));
  int64_t slice_bytes = room_bytes;
  again.manner = by;
  for (int i = 0; i < CANDIDATES_FOR_SEGMENTS && slice_bytes >= LEAST_SLICE_BYTES; i++) {
    again.hold_bytes = s->hold_bytes;
    WEIR_TRY(try_slices(j, s, slice_bytes, &again));
    if (again.found.m || has_compiled_enough(&again)) break;
    slice_bytes /= 4;
  }
  s->lacks_phases |= again.lacks_phases;
  if (!again.found.m) return WEIR_OK;
  s->slice_bytes = slice_bytes;
  s->manner = by;
  take_found(s, &again);
  return WEIR_OK;
}

static weir_status try_over_steps(job *j, search *s, int64_t room_bytes) {
  if (may_gain_by_steps(j, s)) WEIR_TRY(try_manner(j, s, room_bytes, BY_STEPS));
  if (s->lacks_phases && may_gain_by_steps(j, s)) WEIR_TRY(try_manner(j, s, room_bytes, IN_TURNS));
  return may_gain_by_segments(j, s) ? try_manner(j, s, room_bytes, SEGMENTS) : WEIR_OK;
}

/* What holds the peak may have so little room that its slices are thin, where others fit as they
 * are. */
static weir_status try_what_fits(job *j, search *s, int64_t room_bytes) {
  double before = (double)j->result->summary.time_before_ns;
  bool may_gain = s->manner < BY_FIT && s->found.time_ns > before * TUNED_FIT_GAIN;
  return may_gain ? try_manner(j, s, room_bytes, BY_FIT) : WEIR_OK;
}

/* The estimate has what was found just below the limit, and XLA, which is not asked before it is
 * compiled to run, may say somewhat more. */
static bool may_be_refused(const search *s, int64_t most) {
  return s->asks_later && s->most_compiles && !s->found.needs.is_xlas && s->found.needs.peak > most;
}

/* Another that is as fast, with some room: being refused takes a compilation more. */
static weir_status try_safer(job *j, search *s) {
  int64_t most = s->limit - (int64_t)(TUNED_NEAR_LIMIT * (double)s->limit);
  if (!may_be_refused(s, most)) return WEIR_OK;
  search again = for_less_time(j, s, 1 / TUNED_NEAR_LOSS);
  again.target = most;
  for (int i = 0; i < CANDIDATES_FOR_SAFETY && search_goes_on(&again); i++)
    WEIR_TRY(search_try(j, &again));
  ctx_log(&j->c, 2, "the estimate is near the limit: %s",
          again.found.m ? "what keeps away from it is as fast" : "nothing else is as fast");
  if (again.found.m) take_found(s, &again);
  return WEIR_OK;
}

weir_status faster_instead(job *j, search *s) {
  if (!s->found.m || s->devices > 1 || s->from->ops.count > MOST_OPS) return WEIR_OK;
  int64_t room_bytes = s->limit - referee_held_throughout(j);
  WEIR_TRY(try_more_cuts(j, s, room_bytes));
  WEIR_TRY(try_shorter_slices(j, s));
  WEIR_TRY(try_over_steps(j, s, room_bytes));
  WEIR_TRY(try_longer_slices(j, s, room_bytes));
  WEIR_TRY(try_doubted_slices(j, s, room_bytes));
  WEIR_TRY(try_what_fits(j, s, room_bytes));
  WEIR_TRY(try_fewer_passes(j, s, room_bytes));
  return try_safer(j, s);
}
