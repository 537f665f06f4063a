#include "limit/beside.h"

#include <assert.h>

#include "limit/fastest.h"
#include "limit/as_is.h"
#include "limit/steps.h"
#include "limit/timed.h"
#include "machine/tuned.h"

enum {
  COMPILES_TIMED = 2,       /* of loops beside kernels that hold the limit */
  TIMED_SHARE = NEAR_SHARE, /* of the search, for these */
};

/* Beside the splits that predictions come to: which loops are kernels, and whether XLA makes
 * functions of whiles. */
typedef enum kernels {
  AS_PREDICTED,
  BY_XLA, /* none */
  BOLDLY, /* also such as are only worth a try */
} kernels;

typedef struct beside {
  kernels kernels;
  bool in_functions;
} beside;

static const char *const asked_about[] = {
    [AS_PREDICTED] = "split as predicted", [BY_XLA] = "split", [BOLDLY] = "split boldly"};

static weir_status find_beside(job *j, beside how, int64_t peak, int32_t most_compiles, search *s,
                               candidate *out) {
  effort e = {.limit_bytes = j->options.memory_limit_bytes,
              .share = how.kernels == AS_PREDICTED ? 1 : TIMED_SHARE,
              .most_compiles = most_compiles,
              .no_kernels = how.kernels == BY_XLA,
              .kernels = how.kernels == BOLDLY ? KERNELS_WORTH_A_TRY : KERNELS_THAT_GAIN,
              .in_functions = how.in_functions};
  return fastest_split(j, peak, e, s, out);
}

static timed look_up(job *j, kernels how) {
  return timed_look_up(
      j, (timed_ways){asked_about[how], .limit_bytes = j->options.memory_limit_bytes});
}

static timed look_up_functions(job *j, kernels how) {
  return timed_look_up(
      j, (timed_ways){"functions", .held = asked_about[how],
                      .limit_bytes = j->options.memory_limit_bytes, .how = "in functions"});
}

/* What is timed is searched for as what was found, compiled and run. All of it is to take no more
 * than twice what XLA takes for the program as it came, and a second. */
static bool has_time(const job *j, const search *s, const candidate *found) {
  int64_t stock = ir_count_below(j->prepared, j->prepared->root),
          beside = ir_count_below(found->m, found->m->root),
          runs = (int64_t)(TIMED_MOST_NS / 1e9 * TUNED_SECOND_OPS),
          searched = s->room_ops - *s->left_ops;
  assert(stock > 0 && searched >= 0);
  return j->c.looked_at + searched + runs + beside * TUNED_COMPILED_OP <=
         2 * stock * TUNED_COMPILED_OP + TUNED_SECOND_OPS;
}

static bool may_time(const job *j, const search *s, const candidate *found) {
  return found->needs.is_xlas && found->time_ns < TIMED_MOST_NS &&
         j->prepared->ops.count <= MOST_OPS_FOR_SPEED && has_time(j, s, found);
}

/* ---- kernels ---- */
/* Whether the found way and the one beside it are to be timed, by the estimate of that one. */
static weir_status is_in_doubt(job *j, kernels how, int64_t peak, const candidate *found,
                               bool *out_is) {
  candidate other;
  search s;
  WEIR_TRY(find_beside(j, (beside){how}, peak, 0, &s, &other));
  *out_is = other.m && candidate_has_loops(&other, true) == (how == BOLDLY);
  if (!other.m) return WEIR_OK;
  double kernels_ns = how == BOLDLY ? other.time_ns : found->time_ns,
         xla_ns = how == BOLDLY ? found->time_ns : other.time_ns;
  *out_is &= timed_is_unsure(kernels_ns, xla_ns);
  ctx_log(&j->c, 2, "with kernels %.3g ms predicted, without %.3g%s", kernels_ns / 1e6,
          xla_ns / 1e6, *out_is ? ": to be timed" : "");
  ir_module_destroy(other.m);
  return WEIR_OK;
}

static void take(candidate *found, const candidate *other) {
  ir_module_destroy(found->m);
  *found = *other;
}

/* Takes the faster of two, of which one has kernels. Whether it is the other. */
static bool take_timed(job *j, timed *t, kernels how, candidate *found, const candidate *other) {
  const candidate *tried = how == BOLDLY ? other : found, *xla = how == BOLDLY ? found : other;
  timed_choice choice = other->needs.is_xlas ? timed_choose(j, t, tried, xla) : TIMED_NEVER;
  bool takes_other = choice == (how == BOLDLY ? TIMED_GAINS : TIMED_LOSES);
  if (takes_other) take(found, other);
  else ir_module_destroy(other->m);
  return takes_other;
}

/* Where it is in doubt that *found gains by its kernels, or would by some, the timer decides.
 * *out_how: what came of that. */
static weir_status time_kernels(job *j, int64_t peak, const search *s, kernels *out_how,
                                candidate *found) {
  kernels how = candidate_has_loops(found, true) ? BY_XLA : BOLDLY;
  candidate other;
  search again;
  bool may = may_time(j, s, found);
  if (!may) return WEIR_OK;
  timed t = look_up(j, how);
  if (t.choice != TIMED_OPEN) return WEIR_OK;
  WEIR_TRY(is_in_doubt(j, how, peak, found, &may));
  if (!may) return WEIR_OK;
  WEIR_TRY(find_beside(j, (beside){how}, peak, COMPILES_TIMED, &again, &other));
  if (other.m && take_timed(j, &t, how, found, &other)) *out_how = how;
  return WEIR_OK;
}

/* ---- functions ---- */
static bool may_gain_in_functions(const job *j, const search *s, const candidate *found) {
  return search_has(s, IR_OP_WHILE) && timed_are_quick(found->time_ns) &&
         pipeline_functions_are_on(j) && steps_may_be_short(j, found->m) && may_time(j, s, found);
}

/* The same kernels, searched for with XLA's reports of functions. */
static weir_status time_functions(job *j, int64_t peak, kernels how, const search *s,
                                  candidate *found) {
  candidate other;
  search again;
  if (found->in_functions || !may_gain_in_functions(j, s, found)) return WEIR_OK;
  timed t = look_up_functions(j, how);
  if (t.choice != TIMED_OPEN) return WEIR_OK;
  WEIR_TRY(find_beside(j, (beside){how, true}, peak, COMPILES_TIMED, &again, &other));
  bool holds = other.m && other.needs.is_xlas;
  assert(!other.m || other.in_functions);
  if (!holds) timed_give_up(j, &t);
  if (holds && timed_choose(j, &t, &other, found) == TIMED_GAINS) take(found, &other);
  else if (other.m) ir_module_destroy(other.m);
  return WEIR_OK;
}

/* ---- all ---- */
static beside find_known(job *j) {
  kernels how = look_up(j, BY_XLA).choice == TIMED_LOSES   ? BY_XLA
                : look_up(j, BOLDLY).choice == TIMED_GAINS ? BOLDLY
                                                           : AS_PREDICTED;
  return (beside){how, look_up_functions(j, how).choice == TIMED_GAINS};
}

weir_status beside_split(job *j, int64_t peak, search *s, candidate *out) {
  beside known = find_known(j);
  *out = (candidate){0};
  if (known.kernels != AS_PREDICTED || known.in_functions)
    WEIR_TRY(find_beside(j, known, peak, COMPILES_TIMED, s, out));
  if (!out->m) {
    known.kernels = AS_PREDICTED;
    WEIR_TRY(find_beside(j, (beside){AS_PREDICTED}, peak, MOST_COMPILES, s, out));
    if (out->m) WEIR_TRY(time_kernels(j, peak, s, &known.kernels, out));
  }
  return out->m ? time_functions(j, peak, known.kernels, s, out) : WEIR_OK;
}
