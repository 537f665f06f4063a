#include "split/apart.h"
#include "split/held.h"
#include "split/instances.h"
#include "split/spans.h"
#include "split/stages.h"
#include "split/state.h"

enum {
  MOST_ROOTS = 64,    /* of a stage; one that puts out more is one loop */
  MOST_MEMBERS = 2000 /* of a region whose stages are looked at */
};

/* ---- what stays outside ---- */
typedef enum origin_kind { ORIGIN_NONE, ORIGIN_SMALL, ORIGIN_MOVED, ORIGIN_COMPUTED } origin_kind;

/* What a large value is made of without a loop: small values alone, or one that is there. */
typedef struct origin {
  origin_kind kind;
  ir_value source;
} origin;

typedef struct outsiders {
  split_region *r;
  origin *of; /* by value */
  bool *is;   /* by op */
  bool any;
} outsiders;

static bool is_moved(ir_kind kind) {
  return kind == IR_OP_RESHAPE || kind == IR_OP_SLICE || kind == IR_OP_OPTIMIZATION_BARRIER ||
         kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_IOTA;
}

static bool is_member_made(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  return op && ir_op_get(r->m, op)->block == r->block && r->member_of[op];
}

static uint32_t n_users(const split_region *r, ir_value v) {
  return r->state->users.first[v + 1] - r->state->users.first[v];
}

/* What is small and a loop makes need not be there outside. */
static origin origin_of_operand(const outsiders *o, ir_value v) {
  bool is_small = ir_value_bytes(o->r->m, v) <= o->r->goal.threshold_bytes;
  if (is_small && is_member_made(o->r, v)) return (origin){ORIGIN_NONE, 0};
  if (is_small || o->of[v].kind == ORIGIN_SMALL) return (origin){ORIGIN_SMALL, 0};
  return is_member_made(o->r, v) ? o->of[v] : (origin){ORIGIN_MOVED, v};
}

/* Elementwise ops write over a value that nobody else reads. */
static origin origin_of(const outsiders *o, ir_op op) {
  const ir_op_data *d = ir_op_get(o->r->m, op);
  bool moved = is_moved((ir_kind)d->kind);
  origin found = {ORIGIN_SMALL, 0}, none = {ORIGIN_NONE, 0};
  if (!moved && !ir_is_elementwise(d->kind)) return none;
  for (uint32_t i = 0; i < d->n_operands; i++) {
    origin one = origin_of_operand(o, d->operands[i]);
    if (one.kind == ORIGIN_NONE) return none;
    if (one.kind == ORIGIN_SMALL) continue;
    if (found.source || (!moved && n_users(o->r, d->operands[i]) != 1)) return none;
    found = one;
  }
  if (found.source && !moved) found.kind = ORIGIN_COMPUTED;
  return found;
}

/* Moved, or computed of as large a value that is no argument. */
static bool is_for_nothing_inside(const outsiders *o, ir_value v) {
  origin from = o->of[v];
  if (!from.source || !split_is_large(o->r, v) || !o->r->needed_outside[v]) return false;
  return from.kind == ORIGIN_MOVED ||
         (ir_value_get(o->r->m, from.source)->op &&
          ir_value_bytes(o->r->m, from.source) == ir_value_bytes(o->r->m, v));
}

static void leave_out(outsiders *o, ir_op op) {
  if (o->is[op]) return;
  CTX_CHECK(o->r->m->ctx, o->r->member_of[op] && !o->r->state->effects[op]);
  o->is[op] = o->any = true;
  ctx_log(o->r->m->ctx, 4, "%s stays outside of the loops", ir_op_name(o->r->m, op));
  for (ir_value v, i = 0; (v = ir_operand_at(o->r->m, op, i)); i++) {
    if (is_member_made(o->r, v) && split_is_large(o->r, v) && o->of[v].source)
      leave_out(o, ir_value_get(o->r->m, v)->op);
  }
}

bool split_find_outside(split_region *r, split_outside *out) {
  outsiders o = {.r = r,
                 .of = ARENA_ARRAY(r->scratch, origin, r->m->values.count),
                 .is = r->outside.is ? ARENA_COPY(r->scratch, bool, r->outside.is, r->m->ops.count)
                                     : ARENA_ARRAY(r->scratch, bool, r->m->ops.count)};
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++) {
    if (ir_op_get(r->m, op)->n_results != 1) continue;
    ir_value v = ir_result(r->m, op, 0);
    o.of[v] = origin_of(&o, op);
    if (r->member_of[op] && is_for_nothing_inside(&o, v)) leave_out(&o, op);
  }
  bool *plain = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  for (ir_value v = 1; v < r->m->values.count; v++) plain[v] = o.of[v].kind == ORIGIN_SMALL;
  *out = (split_outside){o.is, plain};
  return o.any;
}

/* ---- loops of one stage ---- */
typedef struct grouping {
  split_region *r;
  int32_t stage;
  uint32_t n_roots;
  uint32_t before;               /* roots of the stages before, at most: they are numbered on */
  uint32_t roots[MOST_ROOTS];    /* members that put something out */
  uint32_t together[MOST_ROOTS]; /* with an earlier root; itself if with none */
  uint32_t *writer;              /* by value: of a state that a root writes over, that root + 1 */
} grouping;

static uint32_t first_of(const grouping *g, uint32_t root) {
  while (g->together[root] != root) root = g->together[root];
  return root;
}

static void put_together(grouping *g, uint32_t a, uint32_t b) {
  uint32_t x = first_of(g, a), y = first_of(g, b);
  g->together[x > y ? x : y] = x > y ? y : x;
}

/* Masks, indices and what small values were stretched to: made again for each loop. */
static bool is_cheap(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  ir_dtype_class c = ir_dtype_class_of(ir_type_at(r->m, v)->dtype);
  ir_kind kind = ir_kind_of(r->m, op);
  return !split_is_large(r, v) || c == IR_CLASS_BOOL || c == IR_CLASS_INT || c == IR_CLASS_UINT ||
         kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_IOTA;
}

static void look_at(grouping *g, uint32_t root, ir_op op, const split_factor *f);

static void make_inside(grouping *g, uint32_t root, ir_value v, split_pos pos) {
  split_region *r = g->r;
  if (g->writer[v]) put_together(g, g->writer[v] - 1, root);
  if (r->is_passed_on[v] || !split_is_inside(r, v, pos, g->stage)) return;
  split_instance *at = split_instance_get(r, v, pos);
  if (at->asked_by == g->before + root + 1) return;
  at->asked_by = g->before + root + 1;
  if (!is_cheap(r, v)) {
    if (at->made_by > g->before) { /* it is together with all that this is made of */
      put_together(g, at->made_by - g->before - 1, root);
      return;
    }
    at->made_by = g->before + root + 1;
  }
  split_factor f = at->factor;
  look_at(g, root, ir_value_get(r->m, v)->op, &f);
}

static void look_at(grouping *g, uint32_t root, ir_op op, const split_factor *f) {
  for (uint32_t j = 0; j < ir_op_get(g->r->m, op)->n_operands; j++)
    make_inside(g, root, ir_operand(g->r->m, op, j), f->operands[j]);
}

static bool puts_out_large(const split_region *r, const split_member *member) {
  for (ir_value v, j = 0; (v = ir_result_at(r->m, member->op, j)); j++) {
    if (split_is_large(r, v) && split_is_put_out(r, v)) return true;
  }
  return false;
}

/* Running statistics, sums of whiles and prefix sums tie a loop's members together. */
static bool is_tied(const split_member *member) {
  return member->streams || member->factor.sums || member->factor.carried;
}

/* False: the stage is one loop. */
static bool find_roots(grouping *g) {
  const split_region *r = g->r;
  uint32_t n_large = 0;
  g->n_roots = 0;
  if (split_puts_out_again(r, g->stage)) return false;
  for (uint32_t i = r->stage_from[g->stage]; i < r->stage_from[g->stage + 1]; i++) {
    const split_member *member = &r->members.at[r->by_stage[i]];
    if (is_tied(member)) return false;
    if (!split_puts_out(r, member)) continue;
    if (g->n_roots == MOST_ROOTS) return false;
    n_large += puts_out_large(r, member);
    g->together[g->n_roots] = g->n_roots;
    g->roots[g->n_roots++] = r->by_stage[i];
  }
  return n_large > 1;
}

/* Who reads a state as it was is together with who writes over it (split/halo.h). */
static void find_writers(grouping *g) {
  const split_region *r = g->r;
  memset(g->writer, 0, r->m->values.count * sizeof *g->writer);
  for (uint32_t i = 0; r->has_states && i < g->n_roots; i++)
    for (ir_value v, j = 0; (v = ir_result_at(r->m, r->members.at[g->roots[i]].op, j)); j++)
      if (r->state->carried[v]) g->writer[r->state->carried[v]] = i + 1;
}

static void find_together(grouping *g) {
  split_region *r = g->r;
  find_writers(g);
  for (uint32_t i = 0; i < g->n_roots; i++) {
    const split_member member = r->members.at[g->roots[i]];
    for (uint32_t j = 0; j < i; j++)
      if (r->members.at[g->roots[j]].op == member.op) put_together(g, i, j);
    for (uint32_t j = 0; j < ir_op_get(r->m, member.op)->n_results; j++)
      if (member.factor.results[j].dim >= 0)
        make_inside(g, i, ir_result(r->m, member.op, j), member.factor.results[j]);
    for (uint32_t of = g->roots[i] + 1; of; of = r->members.at[of - 1].onto)
      look_at(g, i, r->members.at[of - 1].op, &r->members.at[of - 1].factor);
  }
}

/* What puts out nothing large is one more loop, if there are several others: who waits for it waits
 * for none of these. */
static void number_groups(grouping *g) {
  split_region *r = g->r;
  int32_t number[MOST_ROOTS] = {0}, n = 0, n_small = 0;
  for (uint32_t i = 0; i < g->n_roots; i++) {
    uint32_t first = first_of(g, i);
    if (puts_out_large(r, &r->members.at[g->roots[i]]) && !number[first]) number[first] = ++n;
  }
  if (n < 2) return;
  for (uint32_t i = 0; i < g->n_roots; i++) {
    int32_t own = number[first_of(g, i)];
    r->members.at[g->roots[i]].group = own ? own - 1 : n;
    n_small += !own;
  }
  n += n_small > 0;
  if (n > r->n_groups) r->n_groups = n;
}

void split_find_groups(split_region *r) {
  r->n_groups = 1;
  if (r->must_agree || r->members.count > MOST_MEMBERS) return;
  grouping g = {.r = r, .writer = ARENA_ARRAY(r->scratch, uint32_t, r->m->values.count)};
  for (uint32_t i = 0; i < r->instances.count; i++)
    r->instances.at[i].made_by = r->instances.at[i].asked_by = 0;
  for (; g.stage < r->n_stages; g.stage++) {
    if (!find_roots(&g)) continue;
    find_together(&g);
    number_groups(&g);
    g.before += g.n_roots;
  }
  CTX_CHECK(r->m->ctx, r->n_groups >= 1 && r->n_groups <= MOST_ROOTS + 1);
}
