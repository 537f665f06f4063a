#include "split/state.h"

#include "base/hash.h"
#include "split/agreement.h"
#include "split/box.h"
#include "split/chunks.h"
#include "split/monoid.h"
#include "split/sink.h"
#include "split/sorts.h"

/* Regions ask of the same values again and again, and each answer takes a look at the block. */
typedef enum answer { NOT_ASKED, NO, YES } answer;

static bool is_large(const ir_module *m, ir_value v, int64_t threshold_bytes) {
  ir_op op = ir_value_get(m, v)->op;
  return op && ir_kind_of(m, op) != IR_OP_CONSTANT && ir_value_bytes(m, v) > threshold_bytes;
}

split_state split_state_of(arena *a, const ir_module *m, int64_t threshold_bytes) {
  uint32_t n = m->values.count;
  bool *large = ARENA_ARRAY(a, bool, n);
  for (ir_value v = 1; v < n; v++) large[v] = is_large(m, v, threshold_bytes);
  return (split_state){.a = a,
                       .n_values = n,
                       .threshold_bytes = threshold_bytes,
                       .large = large,
                       .traced = ARENA_ARRAY(a, split_traced **, m->ops.count),
                       .compared = ARENA_ARRAY(a, struct split_compared *, m->ops.count)};
}

static bool is_made_of_constants(const ir_module *m, ir_op op, const bool *is_constant) {
  ir_kind kind = ir_kind_of(m, op);
  bool may = kind == IR_OP_IOTA || kind == IR_OP_CONSTANT ||
             (ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M));
  for (ir_value v, i = 0; may && (v = ir_operand_at(m, op, i)); i++) may = is_constant[v];
  return may;
}

static const bool *find_constants(arena *a, const ir_module *m, ir_block block) {
  bool *is_constant = ARENA_ARRAY(a, bool, m->values.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    if (!is_made_of_constants(m, op, is_constant)) continue;
    for (ir_value v, j = 0; (v = ir_result_at(m, op, j)); j++) is_constant[v] = true;
  }
  return is_constant;
}

/* What stands in one place of two is nobody's in the other. */
static const ir_value *find_carried(arena *a, const ir_module *m, ir_block block) {
  ir_value *carried = ARENA_ARRAY(a, ir_value, m->values.count);
  ir_op around = ir_block_get(m, block)->parent;
  if (!around || ir_kind_of(m, around) != IR_OP_WHILE || ir_while_body(m, around) != block)
    return carried;
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, block, i)); i++) {
    ir_value v = ir_yielded(m, block, i);
    for (ir_op op; ir_is_made_in(m, v, block) && !carried[v]; v = ir_operand(m, op, 0)) {
      carried[v] = arg;
      if (!(op = ir_maker(m, v, IR_OP_DYNAMIC_UPDATE_SLICE))) break;
    }
  }
  return carried;
}

static const bool *find_going_on(const split_state *s, const ir_module *m) {
  bool *goes_on = ARENA_ARRAY(s->a, bool, m->values.count);
  const ir_block_data *b = ir_block_get(m, s->block);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    bool is_read = false;
    for (ir_value v, j = 0; (v = ir_result_at(m, b->ops.at[i], j)); j++)
      is_read |= goes_on[v] |= s->carried[v] && v < s->n_values && s->large[v];
    for (ir_value v, j = 0; is_read && (v = ir_operand_at(m, b->ops.at[i], j)); j++)
      goes_on[v] |= v < s->n_values && s->large[v];
  }
  return goes_on;
}

/* What it makes is for the end of the block, and nothing else that is large goes into it. */
static bool is_last_of_all(const split_state *s, const ir_module *m, ir_op op,
                           const bool *leads_on) {
  ir_value large = IR_NONE;
  bool is_last = ir_is_elementwise(ir_kind_of(m, op)) && !s->effects[op];
  for (ir_value v, j = 0; is_last && (v = ir_result_at(m, op, j)); j++) is_last = !leads_on[v];
  for (ir_value v, j = 0; is_last && (v = ir_operand_at(m, op, j)); j++) {
    if (!is_large(m, v, s->threshold_bytes) || !ir_is_made_in(m, v, s->block)) continue;
    is_last = !large || large == v;
    large = v;
  }
  return is_last;
}

static const bool *find_leading_on(const split_state *s, const ir_module *m) {
  bool *leads_on = ARENA_ARRAY(s->a, bool, m->values.count);
  const ir_block_data *b = ir_block_get(m, s->block);
  ir_op end = ir_terminator(m, s->block);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    bool leads = b->ops.at[i] != end && !is_last_of_all(s, m, b->ops.at[i], leads_on);
    for (ir_value v, j = 0; leads && (v = ir_operand_at(m, b->ops.at[i], j)); j++)
      leads_on[v] = true;
  }
  return leads_on;
}

void split_state_enter(split_state *s, const ir_module *m, ir_block block) {
  if (s->block == block) return;
  bool *effects = ARENA_ARRAY(s->a, bool, m->ops.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) effects[op] = ir_has_effects(m, op);
  s->users = ir_users_of_block(s->a, m, block);
  s->effects = effects;
  s->is_constant = find_constants(s->a, m, block);
  s->selected = split_find_selected(s->a, m, block);
  s->compares_by = split_find_comparing(s->a, m, block);
  s->detaches = ARENA_ARRAY(s->a, uint8_t, m->values.count);
  s->compares_selected = NOT_ASKED;
  s->becomes_part = ARENA_ARRAY(s->a, uint8_t, m->values.count);
  s->block = block;
  s->carried = find_carried(s->a, m, block);
  s->goes_on = find_going_on(s, m);
  s->leads_on = find_leading_on(s, m);
}

bool split_may_detach(split_state *s, ir_module *m, ir_value v) {
  CTX_CHECK(m->ctx, s->block && v < s->n_values);
  if (s->compares_selected == NOT_ASKED)
    s->compares_selected = split_meets_selected(s->a, m, s->block, NULL) ? YES : NO;
  bool compares = s->compares_selected == YES;
  if (s->detaches[v] == NOT_ASKED)
    s->detaches[v] =
        split_can_detach(m, s->block, &s->users, v, s->threshold_bytes, compares) ? YES : NO;
  return s->detaches[v] == YES;
}

bool split_becomes_part(split_state *s, ir_module *m, ir_value v) {
  split_box box;
  CTX_CHECK(m->ctx, s->block && v < s->n_values);
  if (s->becomes_part[v] == NOT_ASKED)
    s->becomes_part[v] = split_last_through(m, &s->users, NULL, v, &box) && !box.is_all ? YES : NO;
  return s->becomes_part[v] == YES;
}

bool split_is_large(const split_region *r, ir_value v) {
  return v < r->n_values ? r->large[v] : is_large(r->m, v, r->goal.threshold_bytes);
}

bool split_is_for_all(const split_region *r, ir_value v) {
  const bool *is_constant = r->state->is_constant;
  return r->goal.leaves_masks && v < r->n_values && is_constant[v] && !is_constant[r->seed];
}

bool split_goes_on(const split_region *r, ir_op op) {
  bool does = false;
  for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) does |= r->state->goes_on[v];
  return does;
}

/* ---- what ops answer ---- */
/* Once a while has a factor, every carry that it is on answers the same. */
static const split_asked *answered(const split_region *r, ir_op op, uint32_t carry, split_pos pos) {
  for (const split_asked *a = r->asked.at; a < VEC_END(r->asked); a++) {
    if (a->op != op) continue;
    bool same = a->traced ? split_pos_equal(a->factor.operands[carry], pos)
                          : a->carry == carry && split_pos_equal(a->pos, pos);
    if (same) return a;
  }
  return NULL;
}

static split_traced **answers_of(const split_region *r, ir_op op, bool of_result, uint32_t index) {
  split_state *s = r->state;
  const ir_op_data *d = ir_op_get(r->m, op);
  CTX_CHECK(r->m->ctx, index < (of_result ? d->n_results : d->n_operands));
  if (!s->traced[op])
    s->traced[op] = ARENA_ARRAY(s->a, split_traced *, d->n_results + d->n_operands);
  return &s->traced[op][of_result ? index : d->n_results + index];
}

/* Of what split_pos_equal() compares. */
static uint64_t hash_of(split_pos pos) {
  uint64_t h = hash_mix_wide(HASH_WIDE_BEGIN, (uint64_t)pos.dim << 1 | pos.mirrored);
  if (pos.dim < 0) return hash_mix_wide(HASH_WIDE_BEGIN, (uint64_t)pos.dim);
  h = hash_mix_wide(hash_mix_wide(h, (uint64_t)pos.unit), (uint64_t)pos.offset);
  return hash_mix_wide(h, (uint64_t)pos.more);
}

static bool trace_once(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
                       split_factor *out) {
  split_traced **at = answers_of(r, op, of_result, index);
  for (uint64_t h = hash_of(pos); *at && !split_pos_equal((*at)->pos, pos); h <<= 2)
    at = &(*at)->below[h >> 62];
  if (!*at) {
    *at = ARENA_NEW(r->state->a, split_traced);
    (*at)->pos = pos;
    (*at)->traced =
        split_trace_in_order(r->state->a, r->m, op, of_result, index, pos, &(*at)->factor);
  }
  *out = (*at)->factor;
  return (*at)->traced;
}

/* Of a scan only slices of its steps, or only others. */
static bool is_wanted_way(const split_region *r, ir_op loop, const split_factor *f) {
  return (f->chunks != NULL) == (r->goal.cuts_steps && split_has_chunks(r->m, loop));
}

static bool trace_while(split_region *r, ir_op op, uint32_t carry, split_pos pos,
                        split_factor *out) {
  const split_asked *known = pos.dim >= 0 ? answered(r, op, carry, pos) : NULL;
  if (known) {
    CTX_CHECK(r->m->ctx, !known->traced || split_pos_equal(known->factor.operands[carry], pos));
    *out = known->factor;
    return known->traced;
  }
  bool traced = trace_once(r, op, false, carry, pos, out) && is_wanted_way(r, op, out);
  out->backwards &= r->goal.cuts_steps;
  VEC_PUSH(r->scratch, &r->asked, ((split_asked){op, carry, pos, traced, *out}));
  return traced;
}

static bool trace_any(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
                      split_factor *out) {
  return ir_kind_of(r->m, op) == IR_OP_WHILE ? trace_while(r, op, index, pos, out)
                                             : trace_once(r, op, of_result, index, pos, out);
}

/* All of a comparison have the same shape. */
static const split_compared *compared(split_region *r, ir_op op, const split_factor *f) {
  split_state *s = r->state;
  split_sameness enough = r->goal.no_kernels ? SPLIT_SAME_IN_XLA : SPLIT_SAME_ALWAYS;
  split_pos pos = f->results[0];
  split_compared *c = s->compared[op];
  while (c && !(c->enough == enough && split_pos_equal(c->pos, pos))) c = c->next;
  if (c) return c;
  c = ARENA_NEW(s->a, split_compared);
  *c = split_compares_selected(s->a, r->m, s->compares_by[op], pos, enough, s->selected);
  c->next = s->compared[op];
  return s->compared[op] = c;
}

static bool may_compare(split_region *r, ir_op op, const split_factor *f) {
  const split_compared *c = compared(r, op, f);
  for (const split_raised *v = c->again.at; v < VEC_END(c->again); v++)
    if (r->again[v->v] < v->how) r->again[v->v] = (uint8_t)v->how;
  if (c->of == SPLIT_NOT_SELECTED) return true;
  if (r->goal.no_kernels && (c->of == SPLIT_SELECTED_OF_ALL || c->loop)) return false;
  r->must_agree = true;
  r->disagrees |= c->of == SPLIT_SELECTED_OF_ALL;
  if (c->loop) VEC_PUSH(r->scratch, &r->selecting, c->loop);
  return true;
}

bool split_ask(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
               split_factor *out) {
  if (r->goal.covers && !r->goal.covers(r->m, op, r->goal.threshold_bytes)) return false;
  if (r->outside.is && r->outside.is[op]) return false;
  if (!trace_any(r, op, of_result, index, pos, out)) {
    if (out->coarsen && !r->coarsen) r->coarsen = out->coarsen;
    r->backwards |= out->backwards;
    return false;
  }
  r->may_differ |= out->shifts || out->by_rows || out->stencil;
  if (r->may_shift ? out->by_rows : out->shifts) return false;
  if (out->stencil && !r->may_overlap) return false;
  if (!r->goal.may_sort && split_is_sorted(r->m, op, out)) return false;
  if (r->state->compares_by[op] && !may_compare(r, op, out)) return false;
  return out->role == SPLIT_PARALLEL || split_can_merge(r->scratch, r->m, op, out);
}
