#include "split/branches.h"

#include "base/saturate.h"
#include "split/shards.h"

/* Ops that are written anew, in all branches together and in those around: branchings in each other
 * double the text. */
enum { MOST_COPIES = 1024 };

typedef struct sinking {
  ir_module *m;
  arena *scratch;
  ir_op branching;
  ir_block block; /* that it stands in */
  int64_t threshold_bytes;
  ir_users users;
  bool *depends; /* by op of the block: on the branching, or it has effects and follows one of these
                    that has, or ends the block */
  bool *moves;
  bool failed;
} sinking;

static bool is_large(const sinking *a, ir_value v) {
  return ir_value_bytes(a->m, v) > a->threshold_bytes;
}

/* ---- what moves ---- */
static void mark_users(const sinking *a, ir_value v, bool *marks) {
  for (uint32_t i = a->users.first[v]; i < a->users.first[v + 1]; i++)
    marks[a->users.ops[i]] = true;
}

static void find_dependents(sinking *a) {
  bool effects = false;
  a->depends[ir_terminator(a->m, a->block)] = true;
  for (ir_op op, i = 0; (op = ir_op_at(a->m, a->block, i)); i++) {
    bool has = op != a->branching && (effects || a->depends[op]) && ir_has_effects(a->m, op);
    a->depends[op] |= has;
    effects |= has;
    if (op != a->branching && !a->depends[op]) continue;
    for (uint32_t j = 0; j < ir_op_get(a->m, op)->n_results; j++)
      mark_users(a, ir_result(a->m, op, j), a->depends);
  }
}

static bool may_move(const sinking *a, ir_op op) {
  return !(ir_kind_flags(ir_kind_of(a->m, op)) & IR_FLAG_T) && !ir_has_effects(a->m, op);
}

/* Readers of large results; those that must stay have them across the border. */
static bool move_readers(sinking *a) {
  bool any = false;
  for (ir_op op, i = 0; (op = ir_op_at(a->m, a->block, i)); i++) {
    if (op != a->branching && !a->moves[op]) continue;
    for (ir_value v, j = 0; (v = ir_result_at(a->m, op, j)); j++) {
      for (uint32_t k = a->users.first[v]; is_large(a, v) && k < a->users.first[v + 1]; k++) {
        ir_op user = a->users.ops[k];
        if (a->moves[user] || !may_move(a, user)) continue;
        a->moves[user] = any = true;
      }
    }
  }
  return any;
}

static bool is_read_by_moving(const sinking *a, ir_op op) {
  for (ir_value v, j = 0; (v = ir_result_at(a->m, op, j)); j++) {
    for (uint32_t k = a->users.first[v]; k < a->users.first[v + 1]; k++)
      if (a->moves[a->users.ops[k]]) return true;
  }
  return false;
}

/* What stands between the branching and what moves. */
static void move_path(sinking *a) {
  const ir_block_data *b = ir_block_get(a->m, a->block);
  for (uint32_t i = b->ops.count; i-- > 0;) {
    ir_op op = b->ops.at[i];
    if (!a->depends[op] || a->moves[op] || !is_read_by_moving(a, op)) continue;
    a->moves[op] = true;
    a->failed |= !may_move(a, op);
  }
}

static void find_moves(sinking *a) {
  find_dependents(a);
  while (!a->failed && move_readers(a)) move_path(a);
}

static bool is_branching(const ir_module *m, ir_op op) { return op && ir_is_branching(m, op); }

/* Branches of the branching and of those around it, multiplied; MOST_COPIES if there are more. */
static int64_t count_variants(const sinking *a) {
  int64_t n = 1;
  for (ir_op op = a->branching; op && n < MOST_COPIES;) {
    if (is_branching(a->m, op)) n *= ir_op_get(a->m, op)->n_regions;
    op = ir_op_around(a->m, op);
  }
  return n < MOST_COPIES ? n : MOST_COPIES;
}

static bool is_too_long(const sinking *a, const ir_ops *moved) {
  int64_t n = moved->count;
  for (uint32_t i = 0; i < moved->count; i++) n += ir_count_below(a->m, moved->at[i]);
  return n > MOST_COPIES / count_variants(a);
}

static bool is_read_outside(const sinking *a, ir_value v) {
  for (uint32_t k = a->users.first[v]; k < a->users.first[v + 1]; k++)
    if (!a->moves[a->users.ops[k]]) return true;
  return false;
}

typedef struct border { /* bytes of large values that cross it */
  int64_t before, after, freed;
} border;

static void count_border(const sinking *a, ir_op op, border *b) {
  for (ir_value v, j = 0; (v = ir_result_at(a->m, op, j)); j++) {
    if (!is_large(a, v) || a->users.first[v] == a->users.first[v + 1]) continue;
    int64_t bytes = ir_value_bytes(a->m, v);
    if (op == a->branching) b->before = saturated_sum(b->before, bytes);
    if (is_read_outside(a, v)) b->after = saturated_sum(b->after, bytes);
    else if (op == a->branching) b->freed = saturated_sum(b->freed, bytes);
  }
}

/* Some large result crosses no more, and no more bytes do: readers may make something large, too,
 * that somebody else wants. */
static bool is_gain(const sinking *a, const ir_ops *moved) {
  border b = {0};
  count_border(a, a->branching, &b);
  for (uint32_t i = 0; i < moved->count; i++) count_border(a, moved->at[i], &b);
  return b.freed > 0 && b.after <= b.before;
}

/* ---- moving ---- */
static void add_results(const sinking *a, ir_op op, ir_values *kept) {
  for (uint32_t j = 0; j < ir_op_get(a->m, op)->n_results; j++)
    if (is_read_outside(a, ir_result(a->m, op, j)))
      VEC_PUSH(a->scratch, kept, ir_result(a->m, op, j));
}

/* Takes the same branch as the branching does. */
static bool follows(const sinking *a, ir_op op) {
  const ir_op_data *d = ir_op_get(a->m, op), *of = ir_op_get(a->m, a->branching);
  return d->kind == of->kind && d->operands[0] == of->operands[0] &&
         d->n_regions == of->n_regions && !d->n_attrs;
}

static void copy_branch(ir_module *m, ir_block to, ir_op op, uint32_t branch, ir_map *map) {
  ir_block from = ir_op_get(m, op)->regions[branch];
  ir_copy_body(m, from, to, NULL, map);
  ir_map_results(map, m, op, ir_terminator(m, from));
}

static void extend_branch(const sinking *a, uint32_t branch, const ir_ops *moved,
                          const ir_values *kept) {
  ir_module *m = a->m;
  ir_block block = ir_op_get(m, a->branching)->regions[branch];
  ir_op end = ir_terminator(m, block);
  ir_map *map = ir_map_new(a->scratch, m);
  ir_block_get(m, block)->ops.count--;
  ir_map_results(map, m, a->branching, end);
  for (uint32_t i = 0; i < moved->count; i++) {
    if (follows(a, moved->at[i])) copy_branch(m, block, moved->at[i], branch, map);
    else ir_copy_op(m, block, moved->at[i], map);
  }
  const ir_value *yields = ir_map_all(a->scratch, map, kept->at, kept->count);
  ir_builder b = {m, block, ir_op_get(m, end)->location};
  ir_build_return(&b, ir_kind_of(m, end), yields, kept->count);
}

static ir_op branching_with(const sinking *a, const ir_values *kept) {
  ir_module *m = a->m;
  ir_op_desc desc = ir_op_desc_of(m, a->branching);
  desc.n_results = kept->count;
  desc.result_types = ir_types_of(a->scratch, m, kept->at, kept->count);
  ir_op fresh = ir_op_new(m, IR_NONE, &desc);
  for (uint32_t r = 0; r < desc.n_regions; r++)
    ir_region_set(m, fresh, r, ir_op_get(m, a->branching)->regions[r]);
  return fresh;
}

/* What depends on it comes after it, what moved is in it. */
static void put_in_order(const sinking *a, ir_op fresh) {
  ir_module *m = a->m;
  ir_ops old = ir_take_ops(m, a->block);
  for (uint32_t i = 0; i < old.count; i++)
    if (old.at[i] != a->branching && !a->depends[old.at[i]])
      ir_block_append(m, a->block, old.at[i]);
  ir_block_append(m, a->block, fresh);
  for (uint32_t i = 0; i < old.count; i++)
    if (a->depends[old.at[i]] && !a->moves[old.at[i]]) ir_block_append(m, a->block, old.at[i]);
}

static ir_values list_kept(const sinking *a, const ir_ops *moved) {
  ir_values kept = {0};
  add_results(a, a->branching, &kept);
  for (uint32_t i = 0; i < moved->count; i++) add_results(a, moved->at[i], &kept);
  return kept;
}

static void move(const sinking *a, const ir_ops *moved, const ir_values *kept) {
  ir_module *m = a->m;
  for (uint32_t r = 0; r < ir_op_get(m, a->branching)->n_regions; r++)
    extend_branch(a, r, moved, kept);
  ir_map *map = ir_map_new(a->scratch, m);
  ir_op fresh = branching_with(a, kept);
  put_in_order(a, fresh);
  for (uint32_t i = 0; i < kept->count; i++) ir_map_set(map, kept->at[i], ir_result(m, fresh, i));
  ir_replace_uses(m, a->block, map);
}

static ir_ops list_moved(const sinking *a) {
  ir_ops moved = {0};
  for (ir_op op, i = 0; (op = ir_op_at(a->m, a->block, i)); i++)
    if (a->moves[op]) VEC_PUSH(a->scratch, &moved, op);
  return moved;
}

static bool sink_users(sinking *a) {
  a->users = ir_users_of_block(a->scratch, a->m, a->block);
  a->depends = ARENA_ARRAY(a->scratch, bool, a->m->ops.count);
  a->moves = ARENA_ARRAY(a->scratch, bool, a->m->ops.count);
  find_moves(a);
  ir_ops moved = list_moved(a);
  if (a->failed || !is_gain(a, &moved) || is_too_long(a, &moved)) return false;
  ir_values kept = list_kept(a, &moved);
  if (!kept.count) return false; /* nobody needs any of it */
  move(a, &moved, &kept);
  return true;
}

/* ---- interface ---- */
ir_op split_branching_of(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op || is_branching(m, op)) return op;
  ir_block block = ir_op_get(m, op)->block;
  ir_op parent = block ? ir_block_get(m, block)->parent : IR_NONE;
  if (!is_branching(m, parent)) return IR_NONE;
  ir_op end = ir_terminator(m, block);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    if (ir_operand(m, end, i) == v) return parent;
  return IR_NONE;
}

int64_t split_branching_bytes(const ir_module *m, ir_op branching, int64_t threshold_bytes) {
  int64_t total = 0;
  for (uint32_t j = 0; is_branching(m, branching) && j < ir_op_get(m, branching)->n_results; j++) {
    int64_t bytes = ir_value_bytes(m, ir_result(m, branching, j));
    if (bytes > threshold_bytes) total = saturated_sum(total, bytes);
  }
  return total;
}

bool split_sink_users(ir_module *m, ir_op branching, int64_t threshold_bytes) {
  const ir_op_data *d = ir_op_get(m, branching);
  if (d->n_attrs || split_is_spread(m, d->block) || ir_has_effects(m, branching)) return false;
  sinking a = {.m = m,
               .scratch = arena_create(m->ctx),
               .branching = branching,
               .block = d->block,
               .threshold_bytes = threshold_bytes};
  bool done = sink_users(&a);
  arena_destroy(a.scratch);
  return done;
}
