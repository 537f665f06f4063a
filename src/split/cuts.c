#include "split/cuts.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "split/held.h"
#include "split/mincut.h"
#include "split/repeats.h"
#include "split/spans.h"
#include "split/stages.h"
#include "split/state.h"

enum {
  LOOKS = 16,  /* at edges take as long as one at an op */
  SOMEWHAT = 3 /* of a segment: by a third it may be shorter */
};

int64_t split_cut_bytes(split_region *r) {
  const int32_t *last_read = split_last_reads(r);
  int64_t *change = ARENA_ARRAY(r->scratch, int64_t, (size_t)r->n_stages + 1), now = 0, most = 0;
  for (ir_value v = 1; v < r->n_values; v++) {
    if (!split_is_only_cut(r, v)) continue;
    int32_t made = split_outside_stage(r, v) - 1, read = last_read[v] > made ? last_read[v] : made;
    change[made] = saturated_sum(change[made], ir_value_bytes(r->m, v));
    change[read + 1] -= ir_value_bytes(r->m, v);
  }
  for (int32_t stage = 0; stage < r->n_stages; stage++) {
    now = saturated_sum(now, change[stage]);
    most = max64(most, now);
  }
  return most;
}

/* ---- where the cuts are ---- */
typedef struct cutter {
  split_region *r;
  int32_t segment;
  int32_t *made;     /* by value: the first stage whose loops make it; -1: none does */
  ir_value *by_made; /* those that are made, and by stage where they begin there */
  uint32_t *from;
  uint32_t *vertex; /* by value: among those of the window, + 1 */
} cutter;

/* What was stretched of small values, and what elementwise ops make of such: made again anywhere.
 */
static bool is_plain(const cutter *c, ir_op op) {
  const split_region *r = c->r;
  ir_kind kind = ir_kind_of(r->m, op);
  if (!ir_is_elementwise(kind) && kind != IR_OP_BROADCAST_IN_DIM && kind != IR_OP_IOTA)
    return false;
  for (ir_value x, i = 0; (x = ir_operand_at(r->m, op, i)); i++)
    if (split_is_large(r, x) && (!ir_is_made_in(r->m, x, r->block) || c->made[x] >= 0))
      return false;
  return true;
}

static int32_t stage_of(const cutter *c, ir_op op, ir_value v) {
  const split_region *r = c->r;
  bool is_made = split_is_large(r, v) && r->member_of[op] && !is_plain(c, op);
  int32_t put_out = is_made ? r->outside_stage[v] : 0;
  return put_out <= r->n_stages ? put_out - 1 : -1;
}

static void find_made(cutter *c) {
  const split_region *r = c->r;
  for (ir_value v = 1; v < r->n_values; v++) c->made[v] = -1;
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++)
    for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) c->made[v] = stage_of(c, op, v);
}

static cutter cutter_of(split_region *r, int32_t segment) {
  uint32_t n = r->n_values, *at = ARENA_ARRAY(r->scratch, uint32_t, (size_t)r->n_stages + 2);
  cutter c = {r,
              segment,
              ARENA_ARRAY(r->scratch, int32_t, n),
              ARENA_ARRAY(r->scratch, ir_value, n),
              at,
              ARENA_ARRAY(r->scratch, uint32_t, n)};
  find_made(&c);
  for (ir_value v = 1; v < n; v++)
    if (c.made[v] >= 0) at[c.made[v] + 2]++;
  for (int32_t stage = 0; stage < r->n_stages; stage++) at[stage + 1] += at[stage];
  for (ir_value v = 1; v < n; v++)
    if (c.made[v] >= 0) c.by_made[at[c.made[v] + 1]++] = v;
  return c;
}

typedef struct crossing { /* what was made in the stages just before a cut */
  const ir_value *values;
  uint32_t n;
  const bool *is_cut; /* of these */
} crossing;

static bool is_read_from(const cutter *c, ir_value v, int32_t stage) {
  const split_region *r = c->r;
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++)
    for (split_member *k = split_first_member(r, user); k; k = split_next_member(r, k))
      if (k->stage >= stage && k->stage < stage + c->segment) return true;
  return false;
}

/* Made of something that was made before the window: making it again would take that, too. */
static bool reads_older(const cutter *c, ir_value v, int32_t window) {
  const split_region *r = c->r;
  for (ir_value x, i = 0; (x = ir_operand_at(r->m, ir_value_get(r->m, v)->op, i)); i++)
    if (x < r->n_values && c->made[x] >= 0 && c->made[x] < window && !r->is_cut[x]) return true;
  return false;
}

static int64_t weight_of(const split_region *r, ir_value v) {
  return r->is_held[v] ? 0 : ir_value_bytes(r->m, v);
}

static void add_vertex(const cutter *c, mincut *k, ir_value v, int32_t window, int32_t stage) {
  const split_region *r = c->r;
  mincut_vertex(k, c->vertex[v] - 1, weight_of(r, v), reads_older(c, v, window),
                is_read_from(c, v, stage));
  for (ir_value x, i = 0; (x = ir_operand_at(r->m, ir_value_get(r->m, v)->op, i)); i++)
    if (x < r->n_values && c->made[x] >= window && c->made[x] < stage)
      mincut_edge(k, c->vertex[x] - 1, c->vertex[v] - 1);
}

/* What was made in the window before the stage and is read in the segment from it on can be made of
 * what is cut: of the window's values those in out_is_cut, so many bytes. */
static int64_t find_cut(cutter *c, int32_t stage, crossing *out) {
  split_region *r = c->r;
  int32_t begin = stage - (c->segment + 1) / 2;
  const ir_value *values = c->by_made + c->from[begin];
  uint32_t n = c->from[stage] - c->from[begin];
  mincut *k = mincut_new(r->scratch, n);
  bool *is_cut = ARENA_ARRAY(r->scratch, bool, n + 1);
  for (uint32_t i = 0; i < n; i++) c->vertex[values[i]] = i + 1;
  for (uint32_t i = 0; i < n; i++) add_vertex(c, k, values[i], begin, stage);
  r->m->ctx->looked_at += mincut_find(k, is_cut) / LOOKS;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < n; i++)
    if (is_cut[i]) bytes = saturated_sum(bytes, weight_of(r, values[i]));
  *out = (crossing){values, n, is_cut};
  return bytes;
}

/* At the stage or somewhat before, where least crosses: layers are narrower than what is between
 * them. The last stage of as light ones. */
static int32_t cut_before(cutter *c, int32_t stage) {
  int64_t least = INT64_MAX;
  int32_t best = stage;
  crossing chosen = {0};
  for (int32_t at = stage; at >= stage - c->segment / SOMEWHAT && least > 0; at--) {
    crossing w;
    int64_t bytes = find_cut(c, at, &w);
    if (bytes >= least) continue;
    least = bytes, best = at, chosen = w;
  }
  for (uint32_t i = 0; i < chosen.n; i++) c->r->is_cut[chosen.values[i]] |= chosen.is_cut[i];
  return best;
}

void split_cut_stages(split_region *r, int32_t segment) {
  CTX_CHECK(r->m->ctx, segment > 0 && r->is_cut && r->is_held);
  split_clear_spans(r);
  cutter c = cutter_of(r, segment);
  for (int32_t stage = segment; stage < r->n_stages; stage += segment)
    stage = cut_before(&c, stage);
  for (ir_value v = 1; v < r->n_values; v++)
    if (r->is_cut[v]) split_add_span(r, v, split_outside_stage(r, v) - 1, r->n_stages - 1);
}
