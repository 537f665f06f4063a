/* Whiles inside of a tile: what they carry, in registers. In: a weir.repeat (open.h), at the
 * indices that are bound now. Out: the grid of one of its results, and those of all that this one
 * needs. Every element goes its own way, since nothing inside sums over what is carried (nest.c),
 * so a tile runs all turns before the next.
 */
#include "tile/emit.h"
#include "tile/open.h"

typedef struct repeating {
  const tile_node *x, *first; /* first: of the op's results */
  uint32_t count;             /* of its carries */
  bool needed[TILE_MOST_CARRIES];
  bool *seen; /* by node */
  tile_grid slots[TILE_MOST_CARRIES];
} repeating;

static const tile_node *carry_of(const tile_emitter *e, const repeating *r, uint32_t j) {
  return tile_node_of(e->n, ir_operand(e->n->m, r->x->op, j));
}

/* ---- what one result needs ---- */
static void need(tile_emitter *e, repeating *r, ir_value v);

static void need_operand(tile_emitter *e, repeating *r, const tile_node *x, uint32_t i) {
  need(e, r, ir_operand(e->n->m, x->op, i));
}

/* Of this while, or of one inside: what it becomes, as long as the condition holds. */
static void need_carry(tile_emitter *e, repeating *r, const tile_node *carry) {
  const tile_node *end = &e->n->nodes[carry->repeat];
  uint32_t count = (end->n_operands - 1) / 2;
  if (end->op == r->x->op) r->needed[end->which] = true;
  else need_operand(e, r, carry, 0);
  need_operand(e, r, end, count + end->which);
  need_operand(e, r, end, 2 * count);
}

/* What lies outside is made before the loop, where it can be. */
static void need(tile_emitter *e, repeating *r, ir_value v) {
  const tile_node *x = tile_node_of(e->n, v);
  if (!x || r->seen[x - e->n->nodes]) return;
  r->seen[x - e->n->nodes] = true;
  if (x->depth <= r->x->depth) {
    if (tile_is_bound(e, x->mask)) tile_value(e, v, &x->result);
  } else if (x->kind == IR_OP_CARRY) {
    need_carry(e, r, x);
  } else if (x->kind == IR_OP_REPEAT) {
    need_operand(e, r, x, x->which); /* its carry says the rest */
  } else {
    for (uint32_t i = 0; i < x->n_operands; i++) need_operand(e, r, x, i);
  }
}

/* ---- the loop ---- */
static void enter_carries(tile_emitter *e, repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    const tile_node *carry = carry_of(e, r, j);
    tile_grid init = tile_operand(e, carry, 0);
    tile_grid all = tile_new_grid(e, init.dtype, carry->mask);
    tile_widen_grid(e, &init, &all);
    r->slots[j] = all;
    tile_make_slots(e, &r->slots[j], &all);
  }
}

static void read_carries(tile_emitter *e, const repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    tile_grid now = r->slots[j];
    tile_load_slots(e, &r->slots[j], &now);
    tile_remember(e, carry_of(e, r, j), &now);
  }
}

/* Results of rows alone are not remembered where a tile made them: who reads them does so before
 * the columns. */
static void read_results(tile_emitter *e, const repeating *r) {
  for (uint32_t j = 0; j < r->count; j++) {
    bool is_here = e->out == e->row || r->x->depth || !tile_is_row_level(e, r->first[j].mask);
    if (!r->needed[j] || !is_here) continue;
    tile_grid now = r->slots[j];
    tile_load_slots(e, &r->slots[j], &now);
    tile_remember(e, &r->first[j], &now);
  }
}

static void step(tile_emitter *e, const repeating *r) {
  tile_grid next[TILE_MOST_CARRIES];
  for (uint32_t j = 0; j < r->count; j++) {
    if (!r->needed[j]) continue;
    tile_grid made = tile_operand(e, r->x, r->count + j);
    next[j] = r->slots[j];
    tile_widen_grid(e, &made, &next[j]);
  }
  for (uint32_t j = 0; j < r->count; j++)
    if (r->needed[j]) tile_store_slots(e, &r->slots[j], &next[j]);
}

tile_grid tile_emit_repeat(tile_emitter *e, const tile_node *x) {
  repeating r = {.x = x, .first = x - x->which, .count = (x->n_operands - 1) / 2};
  r.seen = ARENA_ARRAY(e->a, bool, e->n->n_nodes);
  need_carry(e, &r, carry_of(e, &r, x->which));
  enter_carries(e, &r);
  tile_loop l = tile_while_begin(e);
  read_carries(e, &r);
  tile_grid goes_on = tile_operand(e, x, 2 * r.count);
  tile_while_test(e, &l, tile_at(&goes_on, 0, 0));
  step(e, &r);
  tile_while_end(e, &l);
  read_results(e, &r);
  tile_grid g = r.slots[x->which];
  tile_load_slots(e, &r.slots[x->which], &g);
  return g;
}
