#include "split/reorder.h"

typedef struct reorder {
  ir_module *m;
  ir_block block;
  ir_map *renamed;
  bool *ours; /* by op: stands in the block or among the new ones */
  bool *placed;
  VEC(ir_op) ops;
} reorder;

static void place(reorder *p, ir_op op);

static void place_operands(const ir_module *m, ir_op op, void *user) {
  reorder *p = user;
  ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    d->operands[i] = ir_map_get(p->renamed, d->operands[i]);
    ir_op def = ir_value_get(m, d->operands[i])->op;
    if (def && p->ours[def]) place(p, def);
  }
}

static void place(reorder *p, ir_op op) {
  if (p->placed[op]) return;
  p->placed[op] = true;
  ir_walk_op(p->m, op, place_operands, p);
  ir_op_get(p->m, op)->block = p->block;
  VEC_PUSH(p->m->arena, &p->ops, op);
}

static void mark_ours(reorder *p, ir_block block) {
  const ir_block_data *b = ir_block_get(p->m, block);
  for (uint32_t i = 0; i < b->ops.count; i++) p->ours[b->ops.at[i]] = true;
}

typedef struct live_walk {
  const ir_map *renamed;
  bool *live;
} live_walk;

static void mark_operands(const ir_module *m, ir_op op, void *user) {
  live_walk *w = user;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++) {
    ir_op def = ir_value_get(m, ir_map_get(w->renamed, ir_operand(m, op, i)))->op;
    if (def) w->live[def] = true;
  }
}

static void mark_live(const ir_module *m, const ir_map *renamed, ir_op op, bool *live) {
  live_walk w = {renamed, live};
  ir_walk_op(m, op, mark_operands, &w);
}

/* Each op pulls what it reads in front of it. Liveness first: a dead op must not pull anything. */
void split_reorder(arena *scratch, ir_module *m, ir_block to, ir_block extra, ir_map *renamed) {
  reorder p = {.m = m,
               .block = to,
               .renamed = renamed,
               .ours = ARENA_ARRAY(scratch, bool, m->ops.count),
               .placed = ARENA_ARRAY(scratch, bool, m->ops.count)};
  bool *live = ARENA_ARRAY(scratch, bool, m->ops.count);
  mark_ours(&p, to);
  mark_ours(&p, extra);
  const ir_block_data *b = ir_block_get(m, to), *e = ir_block_get(m, extra);
  /* A loop may be read by ops before what it reads; sweeps repeat until nothing is added. Two are
   * the rule. */
  for (bool again = true; again;) {
    again = false;
    for (int which = 0; which < 2; which++) {
      const ir_block_data *list = which ? b : e;
      for (uint32_t i = list->ops.count; i-- > 0;) {
        ir_op op = list->ops.at[i];
        bool root = list == b && (i + 1 == b->ops.count || ir_has_effects(m, op));
        if (p.placed[op] || !(live[op] || root)) continue;
        live[op] = p.placed[op] = again = true;
        mark_live(m, renamed, op, live);
      }
    }
  }
  memset(p.placed, 0, m->ops.count * sizeof *p.placed);
  for (uint32_t i = 0; i < b->ops.count; i++)
    if (live[b->ops.at[i]]) place(&p, b->ops.at[i]);
  ir_block_data *block = ir_block_get(m, to);
  block->ops.at = p.ops.at;
  block->ops.count = p.ops.count;
  block->ops.room = p.ops.room;
}
