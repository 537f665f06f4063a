/* Copying, renaming, walking, users. */
#include "ir/ir.h"

#include "base/ints.h"

struct ir_map {
  uint32_t count;
  arena *arena;
  ir_value *to; /* by old id; IR_NONE: unmapped */
};

ir_map *ir_map_new(arena *a, const ir_module *m) {
  ir_map *map = ARENA_NEW(a, ir_map);
  (void)m;
  *map = (ir_map){.arena = a};
  return map;
}

bool ir_map_has(const ir_map *map, ir_value v) { return v < map->count && map->to[v]; }
ir_value ir_map_get(const ir_map *map, ir_value v) { return ir_map_has(map, v) ? map->to[v] : v; }

void ir_map_set(ir_map *map, ir_value from, ir_value to) {
  assert(from);
  if (from >= map->count) {
    uint32_t count = from * 2 + 16;
    ir_value *bigger = ARENA_ARRAY(map->arena, ir_value, count);
    if (map->count) memcpy(bigger, map->to, map->count * sizeof *bigger);
    map->to = bigger;
    map->count = count;
  }
  map->to[from] = to;
}

static void copy_block_to(const ir_module *from, ir_block block, ir_module *m, ir_block to,
                          ir_map *map) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(from, block, i)); i++) {
    ir_value_data old = *ir_value_get(from, arg);
    ir_value fresh = ir_block_arg(m, to, old.type);
    ir_value_get(m, fresh)->location = old.location;
    ir_map_set(map, arg, fresh);
  }
  for (ir_op op, i = 0; (op = ir_op_at(from, block, i)); i++) ir_copy_op_from(from, m, to, op, map);
}

static void copy_region(const ir_module *from, ir_block block, ir_module *m, ir_op copy,
                        uint32_t region, ir_map *map) {
  copy_block_to(from, block, m, ir_region_block(m, copy, region), map);
}

static void copy_whole(const ir_module *from, ir_block block, ir_module *m, ir_op copy,
                       ir_map *map) {
  ir_whole_set(m, copy, ir_block_new(m));
  copy_block_to(from, block, m, ir_op_get(m, copy)->whole, map);
}

ir_op ir_copy_op(ir_module *m, ir_block to, ir_op op, ir_map *map) {
  return ir_copy_op_from(m, m, to, op, map);
}

void ir_map_results(ir_map *map, const ir_module *m, ir_op op, ir_op last) {
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++)
    ir_map_set(map, v, ir_map_get(map, ir_operand(m, last, i)));
}

ir_value *ir_map_all(arena *a, const ir_map *map, const ir_value *values, uint32_t n) {
  ir_value *all = ARENA_ARRAY(a, ir_value, n);
  for (uint32_t i = 0; i < n; i++) all[i] = ir_map_get(map, values[i]);
  return all;
}

ir_type *ir_types_of(arena *a, const ir_module *m, const ir_value *values, uint32_t n) {
  ir_type *types = ARENA_ARRAY(a, ir_type, n);
  for (uint32_t i = 0; i < n; i++) types[i] = ir_type_of(m, values[i]);
  return types;
}

ir_op ir_copy_op_from(const ir_module *from, ir_module *m, ir_block to, ir_op op, ir_map *map) {
  ir_op_data d = *ir_op_get(from, op);
  ir_type *types = ARENA_ARRAY(m->arena, ir_type, d.n_results);
  for (uint32_t i = 0; i < d.n_results; i++) types[i] = ir_type_of(from, d.first_result + i);
  ir_op_desc desc = ir_op_desc_of(from, op);
  desc.operands = ir_map_all(m->arena, map, d.operands, d.n_operands);
  desc.result_types = types;
  ir_op copy = ir_op_new(m, to, &desc);
  for (uint32_t i = 0; i < d.n_results; i++)
    ir_map_set(map, d.first_result + i, ir_result(m, copy, i));
  for (uint32_t r = 0; r < d.n_regions; r++)
    if (d.regions[r]) copy_region(from, d.regions[r], m, copy, r, map);
  if (d.whole) copy_whole(from, d.whole, m, copy, map);
  return copy;
}

void ir_copy_block(ir_module *m, ir_block from, ir_block to, ir_map *map) {
  for (ir_op op, i = 0; (op = ir_op_at(m, from, i)); i++) ir_copy_op(m, to, op, map);
}

void ir_copy_body(ir_module *m, ir_block from, ir_block to, const bool *only, ir_map *map) {
  for (ir_op op, i = 0; (op = ir_body_op_at(m, from, i)); i++)
    if (!only || only[op]) ir_copy_op(m, to, op, map);
}

void ir_copy_regions(ir_module *m, ir_op from, ir_op to) {
  uint32_t n = ir_op_get(m, from)->n_regions;
  if (n == 0) return;
  ir_map *map = ir_map_new(m->arena, m);
  for (uint32_t r = 0; r < n; r++)
    if (ir_op_get(m, from)->regions[r])
      copy_region(m, ir_op_get(m, from)->regions[r], m, to, r, map);
}

static ir_walk_level *level_of(ir_walk *w, uint32_t depth) {
  return depth < IR_WALK_DEPTH ? &w->above[depth] : &w->deeper.at[depth - IR_WALK_DEPTH];
}

ir_walk ir_walk_block(const ir_module *m, ir_block block) {
  return (ir_walk){.m = m, .block = block};
}

ir_walk ir_walk_op(const ir_module *m, ir_op op) { return (ir_walk){.m = m, .first = op}; }

/* Into the next region of the op, if there is one. */
static void enter(ir_walk *w, ir_op op, uint32_t region) {
  ir_block below = ir_next_block(w->m, op, &region);
  if (!below) return;
  ir_walk_level back = {w->block, w->next, op, region};
  if (w->depth >= IR_WALK_DEPTH + w->deeper.count) VEC_PUSH(w->m->arena, &w->deeper, back);
  *level_of(w, w->depth++) = back;
  w->block = below;
  w->next = 0;
}

static bool leave(ir_walk *w) {
  if (!w->depth) return false;
  ir_walk_level back = *level_of(w, --w->depth);
  w->block = back.block;
  w->next = back.next;
  enter(w, back.op, back.region);
  return true;
}

bool ir_next(ir_walk *w) {
  ir_op last = w->op;
  w->op = w->first;
  if (w->op) {
    w->first = IR_NONE;
    return true;
  }
  if (last && ir_op_get(w->m, last)->n_regions) enter(w, last, 0);
  do w->op = w->block ? ir_op_at(w->m, w->block, w->next++) : IR_NONE;
  while (!w->op && leave(w));
  return w->op != IR_NONE;
}

bool ir_any(ir_walk w, bool (*is)(const ir_module *m, ir_op op)) {
  while (ir_next(&w))
    if (is(w.m, w.op)) return true;
  return false;
}

bool ir_is_within(const ir_module *m, ir_block block, ir_kind kind) {
  ir_op op = block ? ir_block_get(m, block)->parent : IR_NONE;
  while (op && ir_kind_of(m, op) != kind) op = ir_op_around(m, op);
  return op != IR_NONE;
}

uint32_t ir_count_below(const ir_module *m, ir_op op) {
  uint32_t n = 0;
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);) n++;
  return n - 1;
}

static void count_uses(ir_walk w, uint32_t *uses) {
  while (ir_next(&w))
    for (ir_value v, i = 0; (v = ir_operand_at(w.m, w.op, i)); i++) uses[v]++;
}

uint32_t *ir_count_uses(arena *a, const ir_module *m, ir_block block) {
  uint32_t *uses = ARENA_ARRAY(a, uint32_t, m->values.count);
  count_uses(ir_walk_block(m, block), uses);
  return uses;
}

void ir_count_uses_of(const ir_module *m, ir_op op, uint32_t *uses) {
  count_uses(ir_walk_op(m, op), uses);
}

void ir_count_needed(const ir_module *m, ir_block block, uint32_t end, uint32_t *uses) {
  const ir_block_data *b = ir_block_get(m, block);
  CTX_CHECK(m->ctx, end <= b->ops.count);
  while (end-- > 0)
    if (ir_has_uses(m, b->ops.at[end], uses)) ir_count_uses_of(m, b->ops.at[end], uses);
}

bool ir_is_made_of(arena *scratch, const ir_module *m, ir_block block, ir_value v, ir_value of) {
  uint32_t *needed = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  needed[v]++;
  ir_count_needed(m, block, ir_block_get(m, block)->ops.count, needed);
  return needed[of] > 0;
}

int64_t ir_largest_bytes(const ir_module *m, ir_op op) {
  int64_t most = 0;
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++)
    most = max64(most, ir_value_bytes(m, v));
  return most;
}

bool ir_has_uses(const ir_module *m, ir_op op, const uint32_t *uses) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (uses[ir_result(m, op, i)]) return true;
  return false;
}

void ir_drop_unused(ir_module *m, ir_block body) {
  arena *a = arena_create(m->ctx);
  uint32_t *uses = ir_count_uses(a, m, body);
  ir_block_data *b = ir_block_get(m, body);
  uint32_t kept = b->ops.count - 1;
  for (uint32_t i = b->ops.count - 1; i-- > 0;) {
    ir_op op = b->ops.at[i];
    if (ir_has_uses(m, op, uses)) {
      b->ops.at[--kept] = op;
      continue;
    }
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_operands; k++) uses[ir_operand(m, op, k)]--;
  }
  memmove(b->ops.at, b->ops.at + kept, (b->ops.count - kept) * sizeof *b->ops.at);
  b->ops.count -= kept;
  arena_destroy(a);
}

static bool finds_operand(ir_walk w, ir_value v) {
  while (ir_next(&w))
    for (ir_value x, i = 0; (x = ir_operand_at(w.m, w.op, i)); i++)
      if (x == v) return true;
  return false;
}

bool ir_is_used_in(const ir_module *m, ir_block block, ir_value v) {
  return finds_operand(ir_walk_block(m, block), v);
}

bool ir_reads(const ir_module *m, ir_op op, ir_value v) {
  return finds_operand(ir_walk_op(m, op), v);
}

bool ir_all_types(const ir_module *m, ir_op op, bool (*is)(const ir_module *, ir_type)) {
  const ir_op_data *d = ir_op_get(m, op);
  bool all = true;
  for (uint32_t i = 0; i < d->n_operands; i++) all = all && is(m, ir_type_of(m, d->operands[i]));
  for (uint32_t i = 0; i < d->n_results; i++)
    all = all && is(m, ir_type_of(m, d->first_result + i));
  return all;
}

bool ir_reads_any(const ir_module *m, ir_op op, const bool *of) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++)
      if (of[v]) return true;
  return false;
}

void ir_rename_operands(ir_module *m, ir_op op, const ir_map *map) {
  ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) d->operands[i] = ir_map_get(map, d->operands[i]);
}

void ir_rename_within(ir_module *m, ir_op op, const ir_map *map) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);) ir_rename_operands(m, w.op, map);
}

void ir_replace_uses(ir_module *m, ir_block block, const ir_map *map) {
  for (ir_walk w = ir_walk_block(m, block); ir_next(&w);) ir_rename_operands(m, w.op, map);
}

/* Users in two sweeps: count, then fill. `last` keeps an op from being entered twice for one value.
 */
typedef struct users_pass {
  uint32_t *first, *fill;
  ir_op *last, *ops;
} users_pass;

/* top: the op of the block that `op` is, or is below. */
static void enter_uses(const ir_module *m, ir_op op, ir_op top, users_pass *p) {
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++) {
    if (p->last[v] == top) continue;
    p->last[v] = top;
    if (p->ops) p->ops[p->fill[v]++] = top;
    else p->first[v + 1]++;
  }
}

static void enter_block(const ir_module *m, ir_block block, users_pass *p) {
  ir_op top = IR_NONE;
  for (ir_walk w = ir_walk_block(m, block); ir_next(&w);) {
    if (w.depth == 0) top = w.op;
    enter_uses(m, w.op, top, p);
  }
}

ir_users ir_users_of_block(arena *scratch, const ir_module *m, ir_block block) {
  uint32_t n = m->values.count;
  users_pass p = {.first = ARENA_ARRAY(scratch, uint32_t, n + 1),
                  .last = ARENA_ARRAY(scratch, ir_op, n)};
  enter_block(m, block, &p);
  for (uint32_t v = 0; v < n; v++) p.first[v + 1] += p.first[v];
  p.ops = ARENA_ARRAY(scratch, ir_op, p.first[n] + 1);
  p.fill = ARENA_COPY(scratch, uint32_t, p.first, n);
  memset(p.last, 0, n * sizeof *p.last);
  enter_block(m, block, &p);
  return (ir_users){p.first, p.ops};
}

bool ir_has_own_effects(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_CUSTOM_CALL) return ir_op_bool(m, op, "has_side_effect", false);
  if (kind == IR_OP_CALL || kind == IR_OP_COMPOSITE)
    return true; /* left by inline: what is in there may do anything */
  return ir_kind_flags(kind) & IR_FLAG_X;
}

bool ir_has_effects(const ir_module *m, ir_op op) {
  if (!ir_op_get(m, op)->n_regions) return ir_has_own_effects(m, op);
  return ir_any(ir_walk_op(m, op), ir_has_own_effects);
}
