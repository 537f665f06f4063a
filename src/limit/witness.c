#include "limit/witness.h"

#include "base/ints.h"
#include "limit/referee.h"

enum {
  MOST_WITNESSES = 32,
  ROOM_STEP = 4, /* from the room beside what is held throughout to that under the next limit */
  LEAST_ROOM = 64,
  ANEW = 1 << NESTED | 1 << ANEW_IN_BLOCKS | 1 << SORTED,
};

/* What comes of all limits before the next turn begins. What makes values anew is most of the work
 * of a search: it comes last. */
typedef enum turn { PLAINLY, SIZED, CHEAPLY, DEARLY, TURNS } turn;
static const uint32_t turns[TURNS] = {
    [PLAINLY] = 1u << BY_PEAK, /* without passes that it may need: ladder.c splits it so, too */
    [SIZED] = 1u << BY_SIZE,
    [CHEAPLY] = ~ANEW,
    [DEARLY] = ANEW};

/* The best candidate that was made for one limit. */
typedef struct witness {
  int64_t peak;
  search how; /* as it was before the candidate */
} witness;

typedef struct witnesses {
  witness at[MOST_WITNESSES]; /* each needs less than those before */
  int32_t count;
  turn turn;
  ir_module *prepared[TURNS];    /* what was split last in each; NULL: nothing was */
  bool was_in_vain;              /* the last limit was not held, and came to nothing less */
  int64_t held, most_room, room; /* beside what is held: of the next limit */
  int64_t left_ops;              /* of the turn's share of a search */
  int64_t low;                   /* largest limit that was not held in any turn; 0: none */
} witnesses;

static void begin_turn(job *j, witnesses *w) {
  w->room = w->most_room;
  while (w->room && w->count && w->held + w->room >= w->at[w->count - 1].peak) w->room /= ROOM_STEP;
  w->left_ops = search_ops(j) / NEAR_SHARE;
  w->was_in_vain = false;
}

/* As passes leave the program under a limit, of which some ask what is small beside it. */
static weir_status prepare(job *j, witnesses *w, int64_t limit, pipeline_changes *out) {
  ir_module *m = ir_module_clone(j->m), **last = &w->prepared[w->turn];
  pipeline_purpose why = w->turn == PLAINLY ? PREPARE_PLAINLY : PREPARE_FOR_A_SPLIT;
  WEIR_TRY(pipeline_prepare(j, why, limit, m, out));
  if (*last && pipeline_is_alike(*last, m)) ir_module_destroy(m);
  else *last = m;
  return WEIR_OK;
}

static weir_status begin(job *j, witnesses **out) {
  *out = j->witnesses;
  if (*out) return WEIR_OK;
  witnesses *w = *out = j->witnesses = ARENA_NEW(arena_create(&j->c), witnesses);
  pipeline_changes changes = {0};
  w->turn = SIZED;
  w->held = referee_held_throughout(j);
  w->most_room = (referee_estimate(j, j->m, PLAN_ORDER_MEMORY) - w->held) / ROOM_STEP;
  if (w->most_room >= LEAST_ROOM) WEIR_TRY(prepare(j, w, w->held + w->most_room, &changes));
  if (changes.needed) w->turn = PLAINLY;
  begin_turn(j, w);
  return WEIR_OK;
}

/* There is another limit to be tried. */
static bool goes_on(job *j, witnesses *w) {
  for (; w->turn < TURNS; w->turn++, begin_turn(j, w)) {
    bool may = w->room >= LEAST_ROOM && w->left_ops > 0 && !w->was_in_vain;
    if (may && w->count < MOST_WITNESSES) return true;
  }
  return false;
}

static void note(witnesses *w, int64_t limit, const search *s, bool holds) {
  bool is_less = s->seen.best && (!w->count || s->seen.best_peak < w->at[w->count - 1].peak);
  if (is_less) w->at[w->count++] = (witness){s->seen.best_peak, *s->seen.best};
  w->was_in_vain = !is_less && !holds && w->turn != SIZED;
  if (!holds && !s->was_stopped && w->turn == DEARLY) w->low = max64(w->low, limit);
}

/* What comes of the next limit. */
static weir_status look(job *j, witnesses *w) {
  int64_t limit = w->held + w->room;
  search s = search_for_limit(j, limit, 0, &w->left_ops);
  pipeline_changes changes;
  WEIR_TRY(prepare(j, w, limit, &changes));
  s.from = w->prepared[w->turn];
  s.seen.best_peak = INT64_MAX;
  s.manners = turns[w->turn];
  WEIR_TRY(search_all(j, &s));
  bool holds = s.found.m;
  if (holds) ir_module_destroy(s.found.m);
  w->room /= ROOM_STEP;
  note(w, limit, &s, holds);
  ctx_log(&j->c, 2, "for %lld bytes a candidate of %lld", (long long)limit,
          (long long)(s.seen.best ? s.seen.best_peak : 0));
  return WEIR_OK;
}

/* The first, which has the longest slices. */
static const witness *first_under(const witnesses *w, int64_t limit) {
  for (int32_t i = 0; i < w->count; i++)
    if (w->at[i].peak <= limit) return &w->at[i];
  return NULL;
}

/* A candidate is made for the limit that it was made for first, which may be larger. */
static void drop_over(search *s, int64_t limit) {
  if (!s->found.m || s->found.needs.peak <= limit) return;
  if (!s->reported || s->found.needs.peak < s->reported) s->reported = s->found.needs.peak;
  ir_module_destroy(s->found.m);
  s->found = (candidate){0};
}

/* Before whiles nothing was made, for it was a trial: it is, where there is room. */
static weir_status make(job *j, const witness *w, int64_t limit, int32_t most_compiles,
                        search *out) {
  int64_t reported = out->reported;
  CTX_CHECK(&j->c, w->peak <= limit && !out->found.m);
  for (int i = 0; i < 2 && !out->found.m; i++) {
    *out = w->how;
    out->enough = max64(limit, out->limit);
    out->most_compiles = most_compiles;
    out->is_trial = false;
    out->no_hoisting = i > 0;
    out->seen.best_peak = 0;
    WEIR_TRY(search_again(j, out));
    drop_over(out, limit);
    if (!out->reported || (reported && reported < out->reported)) out->reported = reported;
    reported = out->reported;
  }
  return WEIR_OK;
}

weir_status witness_hold(job *j, int64_t limit, int32_t most_compiles, search *out) {
  witnesses *w;
  *out = (search){0};
  WEIR_TRY(begin(j, &w));
  while (!first_under(w, limit) && goes_on(j, w)) WEIR_TRY(look(j, w));
  const witness *first = first_under(w, limit), *least = w->at + w->count - 1;
  if (!first) return WEIR_OK;
  WEIR_TRY(make(j, first, limit, most_compiles, out));
  return out->found.m || first == least ? WEIR_OK : make(j, least, limit, most_compiles, out);
}

weir_status witness_find_least(job *j, int64_t *out_peak, int64_t *out_low) {
  witnesses *w;
  WEIR_TRY(begin(j, &w));
  while (goes_on(j, w)) WEIR_TRY(look(j, w));
  *out_peak = w->count ? w->at[w->count - 1].peak : 0;
  *out_low = w->low < *out_peak ? w->low : 0;
  return WEIR_OK;
}
