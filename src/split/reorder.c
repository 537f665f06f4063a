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

static void place_operands(reorder *p, ir_op op) {
  const ir_module *m = p->m;
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
  for (ir_walk w = ir_walk_op(p->m, op); ir_next(&w);) place_operands(p, w.op);
  ir_op_get(p->m, op)->block = p->block;
  VEC_PUSH(p->m->arena, &p->ops, op);
}

static void mark_ours(reorder *p, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(p->m, block, i)); i++) p->ours[op] = true;
}

static void mark_live(const ir_module *m, const ir_map *renamed, ir_op op, bool *live) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++) {
      ir_op def = ir_value_get(m, ir_map_get(renamed, v))->op;
      if (def) live[def] = true;
    }
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
