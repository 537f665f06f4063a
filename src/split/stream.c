#include "split/stream.h"

#include <math.h>
#include <stdlib.h>

#include "ir/fold.h"
#include "split/instances.h"
#include "split/stages.h"

enum { DEEPEST = 64 };

/* ---- reading it off the ops ---- */
/* A result of a reduced member of at most this stage: a running value in the loop. */
static const split_member *statistic_member(split_region *r, ir_value v, int32_t stage) {
  ir_op op = ir_value_get(r->m, v)->op;
  return op ? split_reduced_member(r, op, stage) : NULL;
}

static bool is_wide_float(const ir_module *m, ir_value v) {
  return ir_type_at(m, v)->dtype == IR_F32 || ir_type_at(m, v)->dtype == IR_F64;
}

static online_form statistic_form(const split_region *r, ir_value v, const split_member *member) {
  online_form f = {.kind = ONLINE_MULTIPLICATIVE, .terms = {1, {{.statistic = v, .degree = 1}}}};
  const ir_type_data *t = ir_type_at(r->m, v);
  for (int32_t i = 0; i < IR_MAX_RANK; i++)
    f.terms.at[0].dims[i] = i < t->rank && t->dims[i] != 1 ? (int8_t)i : -1;
  ir_kind kind = online_reducer(r->m, member->op);
  if (!is_wide_float(r->m, v)) return ONLINE_UNKNOWN;
  if (kind == IR_OP_MAXIMUM || kind == IR_OP_MINIMUM) f.kind = ONLINE_ADDITIVE;
  else if (kind != IR_OP_ADD) return ONLINE_UNKNOWN;
  return f;
}

static const online_form *form_of(split_region *r, ir_value v, split_pos pos, int32_t stage,
                                  int depth);

/* The statistic's dimensions in the op's result, given where they are in operand i. False: one is
 * summed over, or lost: the result is a multiple of no single value of the statistic. */
static bool move_dims(split_region *r, ir_op op, uint32_t i, online_term *term) {
  for (int32_t k = 0; k < IR_MAX_RANK; k++) {
    split_factor f;
    if (term->dims[k] < 0) continue;
    if (!split_trace(r->scratch, r->m, op, false, i, (split_pos){.dim = term->dims[k], .unit = 1},
                     &f) ||
        f.results[0].dim < 0 || f.results[0].unit != 1)
      return false;
    term->dims[k] = (int8_t)f.results[0].dim;
  }
  return true;
}

typedef struct form_reader { /* what asks for the forms of an op's operands */
  split_region *r;
  const split_factor *f; /* where the factor is on them */
  int32_t stage;
  int depth;
} form_reader;

static online_form operand_form(void *reader, ir_op op, uint32_t i) {
  const form_reader *q = reader;
  const online_form *known =
      form_of(q->r, ir_operand(q->r->m, op, i), q->f->operands[i], q->stage, q->depth);
  online_form a = *known;
  for (int32_t k = 0; k < a.terms.count; k++)
    if (!move_dims(q->r, op, i, &a.terms.at[k])) return ONLINE_UNKNOWN;
  return a;
}

/* The value is a statistic, moved at most. */
static bool is_bare(split_region *r, ir_value v, int32_t stage) {
  for (;;) {
    if (statistic_member(r, v, stage)) return true;
    ir_op op = ir_value_get(r->m, v)->op;
    switch (op ? ir_kind_of(r->m, op) : IR_OP_UNKNOWN) {
      case IR_OP_BROADCAST_IN_DIM:
      case IR_OP_RESHAPE:
      case IR_OP_TRANSPOSE:
      case IR_OP_OPTIMIZATION_BARRIER: v = ir_operand(r->m, op, 0); continue;
      case IR_OP_MAXIMUM:
        v = ir_operand(r->m, op, ir_is_splat_real(r->m, ir_operand(r->m, op, 0), -INFINITY));
        continue;
      default: return false;
    }
  }
}

/* select(is_finite(t), t, 0) of a statistic: what logsumexp reads for the maximum, and what a
 * running statistic is seen as anyway. */
static bool is_guard(split_region *r, ir_op select, int32_t stage) {
  const ir_module *m = r->m;
  ir_op pred = ir_maker(m, ir_operand(m, select, 0), IR_OP_IS_FINITE);
  return pred && ir_operand(m, pred, 0) == ir_operand(m, select, 1) &&
         ir_is_splat_real(m, ir_operand(m, select, 2), 0) &&
         is_bare(r, ir_operand(m, select, 1), stage);
}

static online_form guarded(online_form a) {
  for (int32_t i = 0; i < a.terms.count; i++) a.terms.at[i].guarded = true;
  return a;
}

static online_form op_form(split_region *r, ir_op op, const split_factor *f, int32_t stage,
                           int depth) {
  form_reader q = {r, f, stage, depth - 1};
  if (ir_kind_of(r->m, op) == IR_OP_SELECT && is_guard(r, op, stage)) {
    online_form statistic = operand_form(&q, op, 1);
    if (statistic.kind == ONLINE_ADDITIVE) return guarded(statistic);
  }
  return online_of_op(r->m, op, operand_form, &q);
}

static online_form read_form(split_region *r, ir_value v, split_pos pos, int32_t stage, int depth) {
  const split_member *statistic = pos.dim < 0 ? statistic_member(r, v, stage) : NULL;
  if (statistic) return statistic_form(r, v, statistic);
  ir_op op = ir_value_get(r->m, v)->op;
  if (depth == 0 || !op || ir_op_get(r->m, op)->block != r->block ||
      ir_op_get(r->m, op)->n_results != 1 || !is_wide_float(r->m, v))
    return ONLINE_UNKNOWN;
  split_factor f;
  if (pos.dim >= 0) {
    const split_instance *instance = split_instance_get(r, v, pos);
    if (!instance->traced) return ONLINE_UNKNOWN;
    f = instance->factor;
  } else f = split_absent_factor(r->scratch, r->m, op);
  return op_form(r, op, &f, stage, depth);
}

/* Most are otherwise. */
static const online_form *kept(arena *a, const online_form *f) {
  if (f->kind == ONLINE_OTHERWISE) return &ONLINE_UNKNOWN;
  return f->kind == ONLINE_INDEPENDENT ? &ONLINE_NONE : ARENA_COPY(a, online_form, f, 1);
}

static const online_form *form_of(split_region *r, ir_value v, split_pos pos, int32_t stage,
                                  int depth) {
  if (split_instance_stage(r, v, pos) <= stage) return &ONLINE_NONE;
  for (uint32_t i = r->first_stream[v]; i; i = r->streams.at[i - 1].next) {
    const stream_known *k = &r->streams.at[i - 1];
    if (k->stage == stage && split_pos_equal(k->pos, pos)) return k->form;
  }
  online_form f = read_form(r, v, pos, stage, depth);
  const online_form *form = kept(r->scratch, &f);
  VEC_PUSH(r->scratch, &r->streams, (stream_known){pos, stage, form, r->first_stream[v]});
  r->first_stream[v] = r->streams.count;
  return form;
}

/* ---- the sum ---- */
/* A sum that gets larger with a running extremum may be infinite before it is, and stays so: exp(m
 * - x) for m = max x. Where it only falls, exp(x - m), nothing is lost. */
static bool grows(const split_region *r, const online_term *term) {
  bool is_maximum = online_reducer(r->m, ir_value_get(r->m, term->statistic)->op) == IR_OP_MAXIMUM;
  return term->exponential && (is_maximum ? term->degree > 0 : term->degree < 0);
}

bool stream_member(split_region *r, const split_member *member, int32_t stage,
                   online_terms *out_terms) {
  ir_op op = member->op;
  if (member->factor.role != SPLIT_REDUCED || online_reducer(r->m, op) != IR_OP_ADD ||
      !is_wide_float(r->m, ir_result(r->m, op, 0)))
    return false;
  if (ir_kind_of(r->m, op) == IR_OP_REDUCE && !ir_is_splat_real(r->m, ir_operand(r->m, op, 1), 0))
    return false;
  online_form f = op_form(r, op, &member->factor, stage, DEEPEST);
  if (f.kind != ONLINE_MULTIPLICATIVE) return false;
  for (int32_t i = 0; i < f.terms.count; i++)
    if (grows(r, &f.terms.at[i])) return false;
  *out_terms = f.terms;
  return true;
}

/* ---- correcting ---- */
static ir_value is_infinite(ir_builder *b, ir_value x) {
  return ir_build_compare(b, "EQ", ir_build_unary(b, IR_OP_ABS, x),
                          ir_build_splat_real(b, ir_type_of(b->m, x), INFINITY));
}

static ir_value is_zero(ir_builder *b, ir_value x) {
  return ir_build_compare(b, "EQ", x, ir_build_splat_real(b, ir_type_of(b->m, x), 0));
}

/* What is divided by it stays far from overflow while a sum is still tiny, or 0; a product with it
 * while a sum is larger than in the end. Finishing makes up for what is left. NaN stays NaN. */
static ir_value bounded(ir_builder *b, ir_value x) {
  ir_type t = ir_type_of(b->m, x);
  double least = ir_type_get(b->m, t)->dtype == IR_F32 ? 0x1p-31 : 0x1p-255;
  ir_value zero = ir_build_splat_real(b, t, 0), size = ir_build_unary(b, IR_OP_ABS, x);
  size = ir_build_binary(b, IR_OP_MAXIMUM, size, ir_build_splat_real(b, t, least));
  size = ir_build_binary(b, IR_OP_MINIMUM, size, ir_build_splat_real(b, t, 1 / least));
  return ir_build_select(b, ir_build_compare(b, "LT", x, zero),
                         ir_build_unary(b, IR_OP_NEGATE, size), size);
}

static ir_value zero_for_infinite(ir_builder *b, ir_value x) {
  return ir_build_select(b, is_infinite(b, x), ir_build_splat_real(b, ir_type_of(b->m, x), 0), x);
}

ir_value stream_running_value(split_region *r, ir_builder *b, const split_member *member,
                              ir_value carry) {
  ir_kind kind = online_reducer(r->m, member->op);
  if (kind == IR_OP_UNKNOWN || !is_wide_float(r->m, carry)) return carry;
  return kind == IR_OP_MAXIMUM || kind == IR_OP_MINIMUM ? zero_for_infinite(b, carry)
                                                        : bounded(b, carry);
}

static ir_value exponential_of_multiple(ir_builder *b, ir_value x, int32_t degree) {
  ir_value scale = ir_build_splat_real(b, ir_type_of(b->m, x), degree);
  return ir_build_unary(b, IR_OP_EXPONENTIAL, ir_build_multiply(b, x, scale));
}

/* Per degree: what was made with the old value times this is what the new one makes. */
static ir_value power_ratio(ir_builder *b, const online_term *term, ir_value old_value,
                            ir_value new_value) {
  return term->degree < 0 ? ir_build_binary(b, IR_OP_DIVIDE, old_value, new_value)
                          : ir_build_binary(b, IR_OP_DIVIDE, new_value, old_value);
}

/* In the shape of the statistic, of its values as sums see them; for all degrees at once if it is
 * exponential. */
static ir_value ratio_of(ir_builder *b, const online_term *term, ir_value old_value,
                         ir_value new_value) {
  if (!term->exponential) return power_ratio(b, term, bounded(b, old_value), bounded(b, new_value));
  ir_value moved =
      ir_build_subtract(b, zero_for_infinite(b, new_value), zero_for_infinite(b, old_value));
  return exponential_of_multiple(b, moved, term->degree);
}

/* A value in the shape of the statistic, broadcast to the member's result. */
static ir_value in_shape_of_result(ir_builder *b, const split_member *member,
                                   const online_term *term, ir_value x) {
  ir_module *m = b->m;
  int64_t kept[IR_MAX_RANK], sizes[IR_MAX_RANK];
  ir_type_data t = *ir_type_at(m, x), out = *ir_type_at(m, ir_result(m, member->op, 0));
  int32_t n = 0;
  for (int32_t i = 0; i < t.rank; i++)
    if (term->dims[i] >= 0) sizes[n] = t.dims[i], kept[n++] = term->dims[i];
  /* broadcast_in_dim wants no order of its dims, so a transposed statistic is fine */
  ir_value line = ir_build_reshape(b, x, ir_tensor(m, t.dtype, n, sizes));
  return ir_build_broadcast(b, line, ir_tensor(m, t.dtype, out.rank, out.dims), kept);
}

/* One by one: a power of the ratio may overflow where the sum times it does not. */
static ir_value times_ratio(ir_builder *b, const split_member *member, const online_term *term,
                            ir_value sum, ir_value ratio) {
  ir_value x = in_shape_of_result(b, member, term, ratio);
  for (int32_t i = term->exponential ? 1 : abs(term->degree); i > 0; i--)
    sum = ir_build_multiply(b, sum, x);
  return sum;
}

ir_value stream_correct(ir_builder *b, const split_member *member, const online_term *term,
                        ir_value sum, ir_value old_value, ir_value new_value) {
  if (term->degree == 0) return sum;
  ir_value ratio = ratio_of(b, term, old_value, new_value);
  /* 0 stays 0: before the first finite element of a maximum the ratio may be infinite */
  return ir_build_select(b, is_zero(b, sum), sum, times_ratio(b, member, term, sum, ratio));
}

/* What the sum would be had it been made with the statistic itself. */
static ir_value made_with(ir_builder *b, const split_member *member, const online_term *term,
                          ir_value statistic, ir_value sum) {
  if (term->degree && !term->exponential)
    return times_ratio(b, member, term, sum,
                       power_ratio(b, term, bounded(b, statistic), statistic));
  ir_value x = in_shape_of_result(b, member, term, statistic);
  if (!term->exponential) return ir_build_multiply(b, sum, ir_build_binary(b, IR_OP_DIVIDE, x, x));
  ir_value one = term->degree ? exponential_of_multiple(b, x, term->degree)
                              : exponential_of_multiple(b, ir_build_subtract(b, x, x), 1);
  return ir_build_multiply(b, sum, one);
}

/* Where sums see another value: that is infinite, NaN, too small or too large. */
static ir_value is_seen_otherwise(ir_builder *b, const online_term *term, ir_value x) {
  return term->exponential ? is_infinite(b, x) : ir_build_compare(b, "NE", x, bounded(b, x));
}

ir_value stream_finish(ir_builder *b, const split_member *member, const ir_map *renamed,
                       ir_value sum) {
  for (int32_t i = 0; i < split_n_streams(member); i++) {
    const online_term *term = &member->streams->at[i];
    if (term->guarded) continue;
    ir_value statistic = ir_map_get(renamed, term->statistic);
    ir_value otherwise = in_shape_of_result(b, member, term, is_seen_otherwise(b, term, statistic));
    sum = ir_build_select(b, otherwise, made_with(b, member, term, statistic, sum), sum);
  }
  return sum;
}
