/* Whiles inside of a tile: what they carry, in registers. In: a weir.repeat (flatten.h), at the
 * indices that are bound now. Out: the grid of one of its results, and those of all that this one
 * needs. Every element goes its own way, since nothing inside sums over what is carried (nest.c),
 * so a tile runs all turns before the next.
 */
#include "kernel/emit.h"
#include "kernel/flatten.h"

typedef struct repeating {
  const kernel_node *x, *first; /* first: of the op's results */
  uint32_t count;               /* of its carries */
  bool needed[KERNEL_MOST_CARRIES];
  bool *seen; /* by node */
  kernel_grid slots[KERNEL_MOST_CARRIES];
} repeating;

static const kernel_node *carry_of(const kernel_emitter *e, const repeating *r, uint32_t j) {
  return kernel_node_of(e->n, ir_operand(e->n->m, r->x->op, j));
}

/* ---- what one result needs ---- */
static void need(kernel_emitter *e, repeating *r, ir_value v);

static void need_operand(kernel_emitter *e, repeating *r, const kernel_node *x, uint32_t i) {
  need(e, r, ir_operand(e->n->m, x->op, i));
}

/* Of this while, or of one inside: what it becomes, as long as the condition holds. */
static void need_carry(kernel_emitter *e, repeating *r, const kernel_node *carry) {
  const kernel_node *end = &e->n->nodes[carry->repeat];
  uint32_t count = (end->n_operands - 1) / 2;
  if (end->op == r->x->op) r->needed[end->which] = true;
  else need_operand(e, r, carry, 0);
  need_operand(e, r, end, count + end->which);
  need_operand(e, r, end, 2 * count);
}

/* What lies outside is made before the loop, where it can be. */
static void need(kernel_emitter *e, repeating *r, ir_value v) {
  const kernel_node *x = kernel_node_of(e->n, v);
  if (!x || r->seen[x - e->n->nodes]) return;
  r->seen[x - e->n->nodes] = true;
  if (x->depth <= r->x->depth) {
    if (kernel_is_bound(e, x->mask)) kernel_value(e, v, &x->result);
  } else if (x->kind == IR_OP_CARRY) {
    need_carry(e, r, x);
  } else if (x->kind == IR_OP_REPEAT) {
    need_operand(e, r, x, x->which); /* its carry says the rest */
  } else {
    for (uint32_t i = 0; i < x->n_operands; i++) need_operand(e, r, x, i);
  }
}

/* ---- the loop ---- */
static void enter_carries(kernel_emitter *e, repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    const kernel_node *carry = carry_of(e, r, j);
    kernel_grid init = kernel_operand(e, carry, 0);
    kernel_grid all = kernel_new_grid(e, init.dtype, carry->mask);
    kernel_widen_grid(e, &init, &all);
    r->slots[j] = all;
    kernel_make_slots(e, &r->slots[j], &all);
  }
}

static void read_carries(kernel_emitter *e, const repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    kernel_grid now = r->slots[j];
    kernel_load_slots(e, &r->slots[j], &now);
    kernel_remember(e, carry_of(e, r, j), &now);
  }
}

/* Results of rows alone are not remembered where a tile made them: who reads them does so before
 * the columns. */
static void read_results(kernel_emitter *e, const repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    bool is_here =
        e->out == e->tile.row || r->x->depth || !kernel_is_row_level(e, r->first[j].mask);
    if (!r->needed[j] || !is_here) continue;
    kernel_grid now = r->slots[j];
    kernel_load_slots(e, &r->slots[j], &now);
    kernel_remember(e, &r->first[j], &now);
  }
}

static void step(kernel_emitter *e, const repeating *r) {
  kernel_grid next[KERNEL_MOST_CARRIES];
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    kernel_grid made = kernel_operand(e, r->x, r->count + j);
    next[j] = r->slots[j];
    kernel_widen_grid(e, &made, &next[j]);
  }
  for (uint32_t j = 0; j < r->count; j++)
    if (r->needed[j]) kernel_store_slots(e, &r->slots[j], &next[j]);
}

kernel_grid kernel_emit_repeat(kernel_emitter *e, const kernel_node *x) {
  repeating r = {.x = x, .first = x - x->which, .count = (x->n_operands - 1) / 2};
  r.seen = ARENA_ARRAY(e->a, bool, e->n->n_nodes);
  need_carry(e, &r, carry_of(e, &r, x->which));
  enter_carries(e, &r);
  kernel_loop l = kernel_while_begin(e);
  read_carries(e, &r);
  kernel_grid goes_on = kernel_operand(e, x, 2 * r.count);
  kernel_while_test(e, &l, kernel_at(&goes_on, 0, 0));
  step(e, &r);
  kernel_while_end(e, &l);
  read_results(e, &r);
  kernel_grid g = r.slots[x->which];
  kernel_load_slots(e, &r.slots[x->which], &g);
  return g;
}
