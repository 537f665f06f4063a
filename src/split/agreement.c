#include "split/agreement.h"

#include <assert.h>

#include "ir/attrs.h"
#include "ir/compares.h"
#include "ir/fold.h"
#include "ir/maps.h"

enum { MOST_VALUES = 256, MOST_MOVES = 8, UNKNOWN = -1, LOOP_INDICES = 2 /* where the trip is */ };

typedef struct answer {
  ir_value v;
  split_pos pos; /* asked about */
  int is;
} answer;

typedef struct search {
  ir_module *m;
  arena *scratch, *kept; /* kept: of what is put out */
  ir_block block;
  const bool *selected; /* by value: it may have been; NULL: not known */
  VEC(answer) known;    /* of one question, also begun: a value may be reached in many ways */
  VEC(answer) parts; /* what is compared is made of, element by element, down to sums, and where */
  VEC(ir_value) sources; /* likewise through selections: what trips of the factor make of it */
  bool has_all_sources;  /* or of any value: it is not known */
  bool has_numbers;      /* what is compared may be made of numbers, too: scaled */
  split_compared *out;   /* what raise_to() is told; NULL: nobody asks */
  ir_op loop;            /* out */
  bool is_selection_made_again; /* of that: what is selected for each index; else functions */
} search;

static const split_pos WHOLE = {.dim = -1}, WALKED = {.dim = -2};

static int answer_of(const search *s, ir_value v, split_pos pos) {
  for (const answer *a = s->known.at; a < VEC_END(s->known); a++)
    if (a->v == v && split_pos_equal(a->pos, pos)) return a->is;
  return UNKNOWN;
}

/* Before its operands are asked, so that chains end where it takes too long; returns its place. */
static uint32_t begin(search *s, ir_value v, split_pos pos) {
  assert(answer_of(s, v, pos) == UNKNOWN);
  VEC_PUSH(s->scratch, &s->known, ((answer){v, pos, UNKNOWN}));
  s->m->ctx->looked_at++;
  return s->known.count - 1;
}

static int note(search *s, uint32_t place, int is) {
  assert(is != UNKNOWN && s->known.at[place].is == UNKNOWN);
  return s->known.at[place].is = is;
}

static bool takes_too_long(const search *s) { return s->known.count > MOST_VALUES; }

static ir_op made_by(const search *s, ir_value v) {
  return ir_is_made_in(s->m, v, s->block) ? ir_value_get(s->m, v)->op : IR_NONE;
}

/* Elements of the operands as they are. */
static bool moves(ir_kind kind) {
  return (ir_kind_flags(kind) & IR_FLAG_M) || kind == IR_OP_CONVERT || kind == IR_OP_NEGATE ||
         kind == IR_OP_OPTIMIZATION_BARRIER;
}

/* Also as they are where the other operands are neutral, or the same on both sides. */
static bool hands_on(ir_kind kind) {
  return moves(kind) || (ir_is_elementwise(kind) && kind != IR_OP_COMPARE);
}

/* Elements of operand i are among the result's. Of a scatter the places are none of them, nor is a
 * mask; of a gather they say which are read, x[argmax(x)]: so they count. */
static bool hands_on_operand(const ir_module *m, ir_op op, uint32_t i) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_SELECT) return i > 0;
  return kind != IR_OP_SCATTER || i != (ir_op_get(m, op)->n_operands - 1) / 2;
}

/* Of one row, column or element what that is of; of a longer slice the others are read, too. */
static ir_value picked_from(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_SLICE && kind != IR_OP_DYNAMIC_SLICE) return IR_NONE;
  ir_value x = ir_operand(m, op, 0);
  const ir_type_data *from = ir_type_at(m, x), *to = ir_type_at(m, ir_result(m, op, 0));
  bool picks = false;
  for (int32_t d = 0; d < to->rank; d++) picks |= to->dims[d] == 1 && from->dims[d] != 1;
  return picks ? x : IR_NONE;
}

/* What is read once for many that are compared with it: at a place that is a number. */
static ir_value repeated_from(const ir_module *m, ir_op op) {
  ir_value x = IR_NONE;
  if (ir_kind_of(m, op) != IR_OP_BROADCAST_IN_DIM ||
      ir_elements(m, ir_result(m, op, 0)) == ir_elements(m, ir_operand(m, op, 0)))
    return IR_NONE;
  for (uint32_t i = 0; !x && op && moves(ir_kind_of(m, op)) && i < MOST_MOVES; i++) {
    op = ir_value_get(m, ir_operand(m, op, 0))->op;
    x = op ? picked_from(m, op) : IR_NONE;
  }
  return x;
}

/* What an op reads elements of: at places that are data, or numbers. */
static ir_value read_from(const ir_module *m, ir_op op) {
  ir_value x = repeated_from(m, op);
  return x ? x : ir_read_from(m, op);
}

static bool selects(const ir_module *m, ir_op op) {
  ir_value x = read_from(m, op);
  return x ? ir_value_get(m, x)->op : ir_finds_extremes(m, op); /* x: it is made here */
}

/* Also those of the program: a scan may carry the largest so far. */
static bool is_loop_or_branch(ir_kind kind) {
  return kind == IR_OP_LOOP || kind == IR_OP_WHILE || kind == IR_OP_CASE || kind == IR_OP_IF;
}

/* A product that is added up is a factor where the other one is 1 there and 0 elsewhere: no square.
 */
static bool is_masked(const ir_module *m, ir_value added) {
  ir_op op = ir_maker(m, added, IR_OP_MULTIPLY);
  return op ? ir_operand(m, op, 0) != ir_operand(m, op, 1) : ir_maker(m, added, IR_OP_SELECT);
}

/* A sum is one of its elements where the others' factors are 0, or they are masked: by one-hot
 * labels, which are data. */
static bool may_read(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_DOT_GENERAL || kind == IR_OP_DOT ||
         (kind == IR_OP_REDUCE && is_masked(m, ir_operand(m, op, 0)));
}

static bool may_select(const ir_module *m, ir_op op) {
  return is_loop_or_branch(ir_kind_of(m, op)) || selects(m, op);
}

static bool is_selection(search *s, ir_op op) {
  if (ir_kind_of(s->m, op) == IR_OP_LOOP) s->loop = op;
  return may_select(s->m, op);
}

static bool has_selected_operand(const ir_module *m, ir_op op, const bool *selected) {
  bool any = false;
  for (uint32_t i = 0; !any && i < ir_op_get(m, op)->n_operands; i++)
    any = selected[ir_operand(m, op, i)] && hands_on_operand(m, op, i);
  return any;
}

/* By value: may it have been selected; was it made by more than moves? */
typedef struct origins {
  const ir_module *m;
  bool *selected, *made;
  ir_block asked; /* is not looked at where that is about what is around it */
  bool is_around; /* that: who is given a row may repeat it */
} origins;

static void look_at(const origins *o, ir_block block);

static void give_arguments(const origins *o, ir_op around, ir_block block) {
  uint32_t first = ir_kind_of(o->m, around) == IR_OP_LOOP ? LOOP_INDICES : 0;
  for (ir_value v, i = 0; (v = ir_operand_at(o->m, around, i)); i++) {
    ir_value arg = ir_argument(o->m, block, first + i);
    o->selected[arg] = o->selected[v], o->made[arg] = o->made[v];
  }
}

/* What a loop puts out may be what it has selected, unless that is no more than moved. */
static void look_into(const origins *o, ir_op loop) {
  ir_block body = ir_body(o->m, loop);
  give_arguments(o, loop, body);
  if (body == o->asked) return;
  look_at(o, body);
  for (ir_value v, k = 0; (v = ir_result_at(o->m, loop, k)); k++) {
    ir_value from = ir_yielded(o->m, body, k);
    o->selected[v] = o->selected[from] || o->made[from], o->made[v] = o->made[from];
  }
}

/* A sum reads elements only of what more than moves make: the others are the same in all trips. */
static void look_at_op(const origins *o, ir_op op) {
  ir_kind kind = ir_kind_of(o->m, op);
  bool of_made = false;
  for (ir_value v, k = 0; (v = ir_operand_at(o->m, op, k)); k++) of_made |= o->made[v];
  ir_value x = o->is_around ? picked_from(o->m, op) : IR_NONE;
  if (!x) x = read_from(o->m, op);
  bool is = (x ? o->made[x] : may_select(o->m, op)) || (may_read(o->m, op) && of_made) ||
            (hands_on(kind) && has_selected_operand(o->m, op, o->selected));
  for (ir_value v, k = 0; (v = ir_result_at(o->m, op, k)); k++) {
    o->selected[v] = is;
    o->made[v] = of_made || (!moves(kind) && kind != IR_OP_CONSTANT);
  }
}

static void look_at(const origins *o, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(o->m, block, i)); i++) {
    if (ir_kind_of(o->m, op) == IR_OP_LOOP) look_into(o, op);
    else look_at_op(o, op);
  }
}

/* What is given to a block, or read there, may have been selected around it. */
static void look_around(const origins *o, ir_block block) {
  ir_op around = ir_block_get(o->m, block)->parent;
  if (!around) return;
  look_around(o, ir_op_get(o->m, around)->block);
  look_at(o, ir_op_get(o->m, around)->block);
  if (ir_kind_of(o->m, around) == IR_OP_WHILE) give_arguments(o, around, block);
}

static origins find_given(arena *a, const ir_module *m, ir_block block) {
  uint32_t n = m->values.count;
  origins o = {m, ARENA_ARRAY(a, bool, n), ARENA_ARRAY(a, bool, n), block, true};
  look_around(&o, block);
  o.is_around = false;
  return o;
}

const bool *split_find_selected(arena *a, const ir_module *m, ir_block block) {
  origins o = find_given(a, m, block);
  look_at(&o, block);
  return o.selected;
}

static bool is_sum(ir_kind kind) {
  return kind == IR_OP_DOT_GENERAL || kind == IR_OP_DOT || kind == IR_OP_CONVOLUTION ||
         kind == IR_OP_REDUCE || kind == IR_OP_REDUCE_WINDOW;
}

/* One, or copies: readers may have one each. */
static bool is_same_sum(const ir_module *m, ir_value v, ir_value w) {
  if (v == w) return true;
  const ir_op_data *a = ir_op_get(m, ir_value_get(m, v)->op),
                   *b = ir_op_get(m, ir_value_get(m, w)->op);
  bool same = a->kind == b->kind && a->n_operands == b->n_operands;
  for (uint32_t i = 0; same && i < a->n_operands; i++) same = a->operands[i] == b->operands[i];
  return same;
}

/* ---- what is compared ---- */
/* By which op all operands are compared that are no numbers; what is made of comparisons is not. */
static ir_op compared_by(const ir_module *m, ir_op op, const ir_op *by) {
  ir_op of = IR_NONE;
  bool is = ir_is_elementwise(ir_kind_of(m, op));
  for (ir_value v, i = 0; is && (v = ir_operand_at(m, op, i)); i++) {
    if (ir_is_number(m, v)) continue;
    ir_op from = ir_value_get(m, v)->op, found = by[from];
    is = found && ir_kind_of(m, from) != IR_OP_COMPARE && (!of || of == found);
    of = found;
  }
  return is ? of : IR_NONE;
}

const ir_op *split_find_comparing(arena *a, const ir_module *m, ir_block block) {
  ir_op *by = ARENA_ARRAY(a, ir_op, m->ops.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    ir_op found = ir_compares_by(m, op);
    by[found] = found;
  }
  by[IR_NONE] = IR_NONE;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (!by[op]) by[op] = compared_by(m, op, by);
  return by;
}

static bool adds_up(const search *s, ir_op op) {
  return is_sum(ir_kind_of(s->m, op)) && !selects(s->m, op);
}

/* Notes what trips make of v, sliced like this. */
static void note_sources(search *s, ir_value v, split_pos pos) {
  split_factor f;
  ir_op op = made_by(s, v);
  if (pos.dim < 0 || s->has_all_sources || answer_of(s, v, pos) != UNKNOWN) return;
  note(s, begin(s, v, pos), true);
  VEC_PUSH(s->scratch, &s->sources, v);
  if (!op || adds_up(s, op) || !ir_op_get(s->m, op)->n_operands) return;
  s->has_all_sources = takes_too_long(s) || !split_trace(s->scratch, s->m, op, true,
                                                         ir_value_get(s->m, v)->index, pos, &f);
  for (ir_value x, i = 0; !s->has_all_sources && (x = ir_operand_at(s->m, op, i)); i++)
    note_sources(s, x, f.operands[i]);
}

static bool is_source(const search *s, ir_value v) {
  ir_op op = made_by(s, v);
  for (const ir_value *x = s->sources.at; x < VEC_END(s->sources); x++) {
    ir_op by = made_by(s, *x);
    if (*x == v || (op && by && adds_up(s, op) && is_same_sum(s->m, *x, v))) return true;
  }
  return false;
}

static bool reads_source(search *s, ir_op op);

/* Whether v is made of a source. Yes, where that takes too long to say, or v is a loop's. */
static bool is_made_of_source(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  if (s->has_all_sources || takes_too_long(s) || is_source(s, v)) return true;
  int known = answer_of(s, v, WALKED);
  if (!op || known != UNKNOWN || (adds_up(s, op) && !may_read(s->m, op)))
    return op && known == true;
  uint32_t place = begin(s, v, WALKED);
  return note(s, place, is_loop_or_branch(ir_kind_of(s->m, op)) || reads_source(s, op));
}

/* What says where an op reads is no element. */
static bool reads_source(search *s, ir_op op) {
  ir_value from = read_from(s->m, op);
  bool reads = false;
  if (from) return is_made_of_source(s, from);
  for (ir_value x, i = 0; !reads && (x = ir_operand_at(s->m, op, i)); i++)
    reads = is_made_of_source(s, x);
  return reads;
}

static bool has_number(const ir_module *m, ir_op op) {
  bool has = false;
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++) has |= ir_is_number(m, v);
  return has && ir_is_elementwise(ir_kind_of(m, op));
}

/* Whether v is made of numbers or of two terms (s + s.T), down to sums; also where nobody knows. */
static bool has_numbers(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  if (!op || takes_too_long(s)) return true;
  if (answer_of(s, v, WALKED) != UNKNOWN || adds_up(s, op)) return false;
  ir_kind kind = ir_kind_of(s->m, op);
  bool has = kind == IR_OP_ADD || is_loop_or_branch(kind) || has_number(s->m, op);
  note(s, begin(s, v, WALKED), true);
  for (ir_value x, i = 0; !has && (x = ir_operand_at(s->m, op, i)); i++) has = has_numbers(s, x);
  return has;
}

/* Elements that are scaled are none of what is made without numbers: x >= max(x) / 10. */
static bool is_scaled_by(const search *s, ir_op op) {
  ir_kind kind = ir_kind_of(s->m, op);
  bool is_factor = kind == IR_OP_MULTIPLY || kind == IR_OP_DIVIDE;
  return is_factor && !s->has_numbers && has_number(s->m, op);
}

/* ---- what it is compared with ---- */
static bool is_selected(search *s, ir_value v);

static bool is_made_of_selected(search *s, ir_op op) {
  if (takes_too_long(s)) return true;
  if (is_selection(s, op)) return is_made_of_source(s, ir_result(s->m, op, 0));
  if (may_read(s->m, op)) return reads_source(s, op);
  if (!hands_on(ir_kind_of(s->m, op)) || is_scaled_by(s, op)) return false;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++)
    if (hands_on_operand(s->m, op, i) && is_selected(s, ir_operand(s->m, op, i))) return true;
  return false;
}

/* Whether v is an element that was selected from a source, or several. Yes, where that takes too
 * long to say. */
static bool is_selected(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  int known = answer_of(s, v, WHOLE);
  if (!op) return s->selected[v];
  if (known != UNKNOWN) return known;
  uint32_t place = begin(s, v, WHOLE);
  return note(s, place, is_made_of_selected(s, op));
}

static bool is_selected_elsewhere(search *s, ir_op op, ir_value v, split_pos pos);

/* Comes to the sums that v is made of element by element, and notes where; or, with those noted
 * already, asks whether one of them is there at another position, or read from all of a value. */
static bool meets_sums(search *s, ir_value v, split_pos pos, bool notes) {
  split_factor f;
  ir_op op = made_by(s, v);
  if (!op || pos.dim < 0 || takes_too_long(s) || answer_of(s, v, pos) != UNKNOWN) return false;
  note(s, begin(s, v, pos), true);
  if (notes) VEC_PUSH(s->scratch, &s->parts, ((answer){v, pos, true}));
  ir_kind kind = ir_kind_of(s->m, op);
  bool meets = false;
  if (is_sum(kind)) {
    for (const answer *a = s->parts.at; !notes && a < VEC_END(s->parts); a++)
      meets |= is_same_sum(s->m, a->v, v) && !split_pos_equal(a->pos, pos);
  }
  if (!notes && may_select(s->m, op)) return meets || is_selected_elsewhere(s, op, v, pos);
  if (!is_sum(kind) && (ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M)) &&
      split_trace(s->scratch, s->m, op, true, ir_value_get(s->m, v)->index, pos, &f))
    for (ir_value x, i = 0; (x = ir_operand_at(s->m, op, i)); i++)
      meets |= meets_sums(s, x, f.operands[i], notes);
  return meets;
}

/* What is selected for each index, from what is compared at another position: s[i, :] with
 * max(s[:, i]); or read from all of a value, which another loop makes: s[i, i], max(s[k[i], :]), or
 * in a while. */
static bool is_selected_elsewhere(search *s, ir_op op, ir_value v, split_pos pos) {
  split_factor f;
  ir_kind kind = ir_kind_of(s->m, op);
  bool is = false, reads = read_from(s->m, op);
  if (kind == IR_OP_LOOP) return false;
  if (!split_trace(s->scratch, s->m, op, true, ir_value_get(s->m, v)->index, pos, &f))
    return is_loop_or_branch(kind);
  for (ir_value x, i = 0; !is && (x = ir_operand_at(s->m, op, i)); i++) {
    bool is_whole = reads && i == 0 && f.operands[i].dim < 0;
    is = is_whole ? is_made_of_source(s, x) : meets_sums(s, x, f.operands[i], false);
  }
  return is;
}

static bool is_elsewhere(search *s, ir_op op, ir_value v, split_pos pos) {
  search inner = {.m = s->m,
                  .scratch = s->scratch,
                  .block = s->block,
                  .parts = s->parts,
                  .sources = s->sources,
                  .has_all_sources = s->has_all_sources};
  return is_selected_elsewhere(&inner, op, v, pos);
}

/* What is compared is made of it, as m and max(m, 0) are: both read the one. A selection may be
 * compared with elements of what it was selected from, too: max(x, m). */
static bool is_itself(const search *s, ir_value v, split_pos pos) {
  bool is = false, has_other_sums = false;
  for (const answer *a = s->parts.at; a < VEC_END(s->parts); a++) {
    is |= a->v == v && split_pos_equal(a->pos, pos);
    has_other_sums |= a->v != v && is_sum(ir_kind_of(s->m, made_by(s, a->v)));
  }
  return is && !(has_other_sums && selects(s->m, made_by(s, v)));
}

static void raise_to(search *s, ir_value v, split_again how) {
  VEC_PUSH(s->kept, &s->out->again, ((split_raised){v, how}));
}

static split_selected selected_of(search *s, ir_value v, split_pos pos);

static split_selected known_or_selected_of(search *s, ir_value v, split_pos pos) {
  int known = answer_of(s, v, pos);
  if (known != UNKNOWN) return (split_selected)known;
  uint32_t place = begin(s, v, pos);
  return (split_selected)note(s, place, (int)selected_of(s, v, pos));
}

static split_selected selected_at(search *s, ir_value v, split_pos pos) {
  if (pos.dim < 0) return is_selected(s, v) ? SPLIT_SELECTED_OF_ALL : SPLIT_NOT_SELECTED;
  split_selected found = known_or_selected_of(s, v, pos);
  if (found == SPLIT_SELECTED_OF_EACH && s->is_selection_made_again)
    raise_to(s, v, SPLIT_MADE_AGAIN);
  return found;
}

static split_selected selected_of(search *s, ir_value v, split_pos pos) {
  split_factor f;
  split_selected found = SPLIT_NOT_SELECTED;
  ir_op op = made_by(s, v);
  if (!op) return s->selected[v] ? SPLIT_SELECTED_OF_ALL : found;
  if (is_itself(s, v, pos)) return found;
  if (takes_too_long(s)) return SPLIT_SELECTED_OF_ALL;
  if (is_selection(s, op) || may_read(s->m, op)) {
    if (!is_loop_or_branch(ir_kind_of(s->m, op)) && !reads_source(s, op)) return found;
    return is_elsewhere(s, op, v, pos) ? SPLIT_SELECTED_OF_ALL : SPLIT_SELECTED_OF_EACH;
  }
  if (!hands_on(ir_kind_of(s->m, op)) || is_scaled_by(s, op)) return found;
  if (!split_trace(s->scratch, s->m, op, true, ir_value_get(s->m, v)->index, pos, &f))
    return is_selected(s, v) ? SPLIT_SELECTED_OF_ALL : found; /* it is read, not made again */
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++) {
    if (!hands_on_operand(s->m, op, i)) continue;
    split_selected one = selected_at(s, ir_operand(s->m, op, i), f.operands[i]);
    if (one > found) found = one;
  }
  return found;
}

/* What has v's elements before they were moved. */
static ir_value source_of(const search *s, ir_value v) {
  for (ir_op op; (op = made_by(s, v)) && moves(ir_kind_of(s->m, op));) v = ir_operand(s->m, op, 0);
  return v;
}

/* A sum that may be contracted with a product. */
static bool adds_product(const search *s, ir_op op) {
  ir_kind kind = ir_kind_of(s->m, op);
  if (kind != IR_OP_ADD && kind != IR_OP_SUBTRACT) return false;
  for (uint32_t i = 0; i < 2; i++) {
    ir_op by = made_by(s, source_of(s, ir_operand(s->m, op, i)));
    if (by && ir_kind_of(s->m, by) == IR_OP_MULTIPLY) return true;
  }
  return false;
}

/* What kernels compute in another way than XLA, to other last bits: functions, and quotients by a
 * number, which XLA multiplies by its inverse where it sees that. */
static bool is_approximated(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return ir_kind_flags(kind) & IR_FLAG_H || kind == IR_OP_RSQRT ||
         (kind == IR_OP_DIVIDE && ir_is_one_number(m, ir_operand(m, op, 1)));
}

static split_sameness sameness_of(search *s, ir_value v);

static split_sameness sameness_of_op(search *s, ir_op op) {
  ir_kind kind = ir_kind_of(s->m, op);
  bool is_exact = ir_is_integer(ir_type_at(s->m, ir_result(s->m, op, 0))->dtype);
  if (takes_too_long(s)) return SPLIT_SAME_NEVER;
  if (!is_exact && (is_sum(kind) || adds_product(s, op))) return SPLIT_SAME_NEVER;
  if (!is_sum(kind) && !(ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M))) return SPLIT_SAME_ALWAYS;
  split_sameness least = is_approximated(s->m, op) ? SPLIT_SAME_IN_XLA : SPLIT_SAME_ALWAYS;
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_operands; i++) {
    split_sameness one = sameness_of(s, ir_operand(s->m, op, i));
    if (one < least) least = one;
  }
  return least;
}

/* In what v is the same when it is made again. */
static split_sameness sameness_of(search *s, ir_value v) {
  ir_op op = made_by(s, v);
  int known = answer_of(s, v, WHOLE);
  if (!op || known != UNKNOWN) return op ? (split_sameness)known : SPLIT_SAME_ALWAYS;
  uint32_t place = begin(s, v, WHOLE);
  return (split_sameness)note(s, place, (int)sameness_of_op(s, op));
}

/* Whether v is made of functions, element by element. Those of fewer elements, and what is made of
 * them, are marked: between loops XLA would make them, to other last bits than kernels do. */
static bool mark_functions(search *s, ir_value v, split_pos pos, int64_t elements) {
  split_factor f;
  ir_op op = made_by(s, v);
  int known = answer_of(s, v, pos);
  if (!op || known != UNKNOWN || takes_too_long(s)) return known == true;
  uint32_t place = begin(s, v, pos);
  ir_kind kind = ir_kind_of(s->m, op);
  bool is = is_approximated(s->m, op), is_whole = pos.dim < 0;
  if (ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M) &&
      (is_whole || split_trace(s->scratch, s->m, op, true, ir_value_get(s->m, v)->index, pos, &f)))
    for (ir_value x, i = 0; (x = ir_operand_at(s->m, op, i)); i++)
      is |= mark_functions(s, x, is_whole ? WHOLE : f.operands[i], elements);
  if (is && ir_elements(s->m, v) < elements)
    raise_to(s, v, is_whole ? SPLIT_NEEDED_WHOLE : SPLIT_MADE_AGAIN);
  return note(s, place, is);
}

/* Of operand i, which may have been selected from the other. */
static split_selected operand_selected(search *s, ir_op by, uint32_t i, const split_compared *c) {
  ir_value v = ir_operand(s->m, by, i), other = ir_operand(s->m, by, 1 - i);
  split_pos pos = c->pos;
  if (pos.dim < 0 || !s->selected[v]) return SPLIT_NOT_SELECTED;
  s->known.count = 0;
  if (sameness_of(s, other) >= c->enough) return SPLIT_NOT_SELECTED;
  s->known.count = s->parts.count = 0;
  meets_sums(s, other, pos, true);
  s->known.count = s->sources.count = 0;
  s->has_all_sources = false;
  note_sources(s, other, pos);
  s->known.count = 0;
  s->has_numbers = has_numbers(s, other);
  s->known.count = 0;
  split_selected found = selected_at(s, v, pos);
  s->known.count = 0;
  if (found && !s->is_selection_made_again) mark_functions(s, other, pos, ir_elements(s->m, other));
  return found;
}

split_compared split_compares_selected(arena *a, ir_module *m, ir_op by, split_pos pos,
                                       split_sameness enough, const bool *selected) {
  split_compared c = {.pos = pos, .enough = enough};
  search s = {.m = m,
              .scratch = arena_create(m->ctx),
              .kept = a,
              .block = ir_op_get(m, by)->block,
              .selected = selected,
              .out = &c,
              .is_selection_made_again = enough == SPLIT_SAME_IN_XLA};
  for (uint32_t i = 0; i < 2; i++) {
    split_selected one = operand_selected(&s, by, i, &c);
    if (one > c.of) c.of = one;
  }
  c.loop = s.loop;
  arena_destroy(s.scratch);
  return c;
}

/* ---- values made of others, by value of a block ---- */
enum { MADE_OF = 1, SELECTED_FROM = 2 };

static uint8_t seen_by(const ir_module *m, ir_op op, const uint8_t *seen) {
  ir_kind kind = ir_kind_of(m, op);
  uint8_t all = 0;
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++) all |= seen[v];
  if (all && (kind == IR_OP_LOOP || read_from(m, op))) return MADE_OF | SELECTED_FROM;
  if (all && (selects(m, op) || may_read(m, op))) return SELECTED_FROM;
  return is_sum(kind) ? 0 : all;
}

/* ---- within a trip ---- */
/* What has elements of the source, moved or selected; by sums, too. */
static void follow(const search *s, ir_value source, bool by_sums, uint8_t *seen) {
  for (ir_op op, i = 0; (op = ir_op_at(s->m, s->block, i)); i++) {
    bool passes =
        selects(s->m, op) || hands_on(ir_kind_of(s->m, op)) || (by_sums && may_read(s->m, op));
    uint8_t now = passes ? seen_by(s->m, op, seen) : 0;
    for (ir_value v, k = 0; (v = ir_result_at(s->m, op, k)); k++)
      seen[v] = now | (v == source ? MADE_OF : 0);
  }
}

/* What operand i is made of, where another operand has elements selected from that. Sums that are
 * put out are rarely elements: gradients. */
static void keep_source(search *s, ir_op reader, uint32_t i, bool compares, uint8_t *seen) {
  ir_value source = source_of(s, ir_operand(s->m, reader, i));
  ir_op op = made_by(s, source);
  bool is_met = false;
  if (!op || !ir_is_elementwise(ir_kind_of(s->m, op))) return;
  follow(s, source, compares, seen);
  for (ir_value v, j = 0; !is_met && (v = ir_operand_at(s->m, reader, j)); j++)
    is_met = j != i && seen[v] & SELECTED_FROM;
  s->known.count = 0;
  if (is_met && sameness_of(s, source) == SPLIT_SAME_NEVER)
    ir_op_set_attr(s->m, op, "keep", ir_attr_bool(s->m, true), false);
}

void split_keep_compared(ir_module *m, ir_op loop) {
  ir_ints out_dims = ir_op_list(m, loop, "out_dims");
  ir_block body = ir_body(m, loop);
  search s = {.m = m, .scratch = arena_create(m->ctx), .block = body};
  uint8_t *seen = ARENA_ARRAY(s.scratch, uint8_t, m->values.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++) {
    ir_op by = ir_compares_by(m, op);
    for (uint32_t k = 0; by && k < 2; k++) keep_source(&s, by, k, true, seen);
  }
  ir_op yield = ir_terminator(m, body);
  for (int32_t k = 0; k < out_dims.count; k++)
    if (out_dims.at[k] >= 0) keep_source(&s, yield, k, false, seen);
  arena_destroy(s.scratch);
}

/* ---- copies ---- */
typedef struct meeting {
  const ir_module *m;
  const bool *sources; /* by value; NULL: all are */
  uint8_t *seen;
} meeting;

static bool meets_in(const meeting *t, ir_block block);

static bool meets(const meeting *t, ir_op op) {
  uint8_t x = t->seen[ir_operand(t->m, op, 0)], y = t->seen[ir_operand(t->m, op, 1)];
  if (ir_operand(t->m, op, 0) == ir_operand(t->m, op, 1)) return false; /* whether it is NaN */
  return (x & MADE_OF && y & SELECTED_FROM) || (y & MADE_OF && x & SELECTED_FROM);
}

static bool is_of_sources(const meeting *t, ir_value v) {
  return (!t->sources || t->sources[v]) && !ir_is_number(t->m, v);
}

/* What a body hands out are elements of some trip's. */
static void hand_out(const meeting *t, ir_op op, ir_block below) {
  const ir_op_data *d = ir_op_get(t->m, op), *end = ir_op_get(t->m, ir_terminator(t->m, below));
  for (uint32_t i = 0; end->n_operands == d->n_results && i < d->n_results; i++) {
    uint8_t seen = t->seen[end->operands[i]];
    t->seen[ir_result(t->m, op, i)] |= seen & MADE_OF ? MADE_OF | SELECTED_FROM : seen;
  }
}

/* A body sees what the op does. */
static bool meets_below(const meeting *t, ir_op op) {
  uint32_t skipped = ir_kind_of(t->m, op) == IR_OP_LOOP ? LOOP_INDICES : 0;
  for (ir_block below, r = 0; (below = ir_next_block(t->m, op, &r));) {
    const ir_block_data *b = ir_block_get(t->m, below);
    for (uint32_t i = skipped; i < b->args.count; i++)
      t->seen[b->args.at[i]] |= t->seen[ir_operand(t->m, op, i - skipped)];
    if (meets_in(t, below)) return true;
    if (!skipped) hand_out(t, op, below);
  }
  return false;
}

static bool meets_in(const meeting *t, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(t->m, block, i)); i++) {
    ir_kind kind = ir_kind_of(t->m, op);
    ir_op by = ir_compares_by(t->m, op);
    bool has_bodies = is_loop_or_branch(kind), ends = kind == IR_OP_COMPARE || has_bodies;
    if (by ? meets(t, by) : has_bodies && meets_below(t, op)) return true;
    uint8_t now = ends && kind != IR_OP_LOOP ? 0 : seen_by(t->m, op, t->seen);
    for (ir_value v, k = 0; (v = ir_result_at(t->m, op, k)); k++)
      t->seen[v] |= now | (is_of_sources(t, v) ? MADE_OF : 0);
  }
  return false;
}

bool split_meets_selected(arena *scratch, const ir_module *m, ir_block block, const bool *sources) {
  uint8_t *seen = ARENA_ARRAY(scratch, uint8_t, m->values.count);
  const bool *given = find_given(scratch, m, block).selected;
  for (ir_value v = 1; v < m->values.count; v++) seen[v] = given[v] ? SELECTED_FROM : 0;
  return meets_in(&(meeting){m, sources, seen}, block);
}
