#include "limit/beside.h"

#include "limit/fastest.h"
#include "limit/as_is.h"
#include "limit/timed.h"
#include "machine/tuned.h"

enum {
  COMPILES_TIMED = 2,       /* of loops beside kernels that hold the limit */
  TIMED_SHARE = NEAR_SHARE, /* of the search, for these */
};

/* Beside the splits that predictions come to. */
typedef enum beside {
  BY_XLA, /* without kernels */
  BOLDLY, /* with kernels that are only worth a try */
} beside;

static const char *const asked_about[] = {[BY_XLA] = "split", [BOLDLY] = "split boldly"};

static weir_status find_beside(job *j, beside how, int64_t peak, int32_t most_compiles,
                               candidate *out) {
  int tile = j->options.tile;
  search s;
  if (how == BY_XLA) j->options.tile = WEIR_TILE_OFF;
  j->is_bold = how == BOLDLY;
  search_begin(j, TIMED_SHARE);
  weir_status status = fastest_split(j, peak, (effort){TIMED_SHARE, most_compiles}, &s, out);
  search_begin(j, 1);
  j->is_bold = false;
  j->options.tile = tile;
  return status;
}

static timed look_up(job *j, beside how) {
  return timed_look_up(
      j, (timed_ways){asked_about[how], .limit_bytes = j->options.memory_limit_bytes});
}

/* Whether the found way and the one beside it are to be timed, by the estimate of that one. */
static weir_status is_in_doubt(job *j, beside how, int64_t peak, const candidate *found,
                               bool *out_is) {
  candidate other;
  WEIR_TRY(find_beside(j, how, peak, 0, &other));
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

/* The faster of two, of which one has kernels. */
static candidate timed_of(job *j, timed *t, beside how, candidate found, candidate other) {
  const candidate *kernels = how == BOLDLY ? &other : &found,
                  *xla = how == BOLDLY ? &found : &other;
  timed_choice choice = other.needs.is_xlas ? timed_choose(j, t, kernels, xla) : TIMED_NEVER;
  bool takes_other = choice == (how == BOLDLY ? TIMED_GAINS : TIMED_LOSES);
  ir_module_destroy(takes_other ? found.m : other.m);
  return takes_other ? other : found;
}

/* Compilations of the search after which nothing is timed: that compiles up to twice more. */
static int32_t most_before_timing(const job *j) {
  return j->prepared->ops.count <= TUNED_QUICK_OPS ? MOST_COMPILES : 1;
}

weir_status beside_time(job *j, int64_t peak, int32_t compiles, candidate *found) {
  beside how = candidate_has_loops(found, true) ? BY_XLA : BOLDLY;
  bool may = compiles <= most_before_timing(j) && found->needs.is_xlas &&
             found->time_ns < TIMED_MOST_NS && j->prepared->ops.count <= MOST_OPS_FOR_SPEED;
  candidate other;
  if (!may) return WEIR_OK;
  timed t = look_up(j, how);
  if (t.choice != TIMED_OPEN) return WEIR_OK;
  WEIR_TRY(is_in_doubt(j, how, peak, found, &may));
  if (!may) return WEIR_OK;
  WEIR_TRY(find_beside(j, how, peak, COMPILES_TIMED, &other));
  if (other.m) *found = timed_of(j, &t, how, *found, other);
  return WEIR_OK;
}

weir_status beside_find_known(job *j, int64_t peak, candidate *out) {
  *out = (candidate){0};
  if (look_up(j, BY_XLA).choice == TIMED_LOSES)
    return find_beside(j, BY_XLA, peak, COMPILES_TIMED, out);
  if (look_up(j, BOLDLY).choice == TIMED_GAINS)
    return find_beside(j, BOLDLY, peak, COMPILES_TIMED, out);
  return WEIR_OK;
}
