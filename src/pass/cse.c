/* cse: equal ops are computed once.
 *
 * Requires: a verified module. Breaks: live ranges get longer where an op has uses far apart.
 * Identity: an op without effects is a function of its kind, operands, attributes, result types and
 * regions; the later of two equal ones is replaced by the earlier one of the same block. Regions
 * are not looked out of: a value that comes in from outside lives as long as the region runs, which
 * for a loop is what we want to avoid, and XLA takes no captured values in reducers. Nothing is
 * hoisted.
 * Left alone: ops with effects, calls, ops that we don't know, and optimization_barrier, which is
 * there to keep things apart (jax.checkpoint).
 * Constants are compared by content. The hash only finds candidates: what is replaced by what
 * depends on program order alone.
 * Source: Cocke 1970; MLIR's cse pass for the scoping.
 */
#include "pass/pass.h"

#include "base/hash.h"

typedef struct entry {
  ir_op op;
  uint32_t hash, next; /* next: entry of the same bucket, 0: none */
} entry;

typedef struct cse {
  arena *scratch;
  ir_module *m;
  ir_map *map;       /* results of removed ops -> those of the kept ones */
  uint32_t *buckets; /* last entry, 0: none */
  uint32_t mask;
  VEC(entry) entries; /* a stack: those of a block go when it ends; 0 is nobody */
  uint32_t floor;     /* entries up to here belong to enclosing blocks */
  ir_map *same;       /* while two regions are compared: values of the second -> of the first */
  bool changed;
} cse;

/* ---- equality ---- */
static uint32_t hash_op(cse *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  uint32_t h = hash_mix(hash_mix(hash_mix(HASH_BEGIN, d->kind), d->n_operands), d->n_results);
  for (uint32_t i = 0; i < d->n_operands; i++) h = hash_mix(h, d->operands[i]);
  for (uint32_t i = 0; i < d->n_results; i++)
    h = hash_mix(h, ir_type_of(s->m, d->first_result + i));
  for (uint32_t i = 0; i < d->n_attrs; i++)
    h = hash_mix(hash_mix(h, d->attrs[i].name), pass_attr_hash(s->m, d->attrs[i].value));
  for (uint32_t i = 0; i < d->n_regions; i++)
    h = hash_mix(h, d->regions[i] ? ir_block_get(s->m, d->regions[i])->ops.count : 0);
  return h ^ h >> 15;
}

static bool ops_equal(cse *s, ir_op x, ir_op y);

/* Equal, and from here on the results of y count as those of x. Only for ops of two regions that
 * are being compared. */
static bool match_op(cse *s, ir_op x, ir_op y) {
  if (!ops_equal(s, x, y)) return false;
  for (uint32_t i = 0; i < ir_op_get(s->m, x)->n_results; i++)
    ir_map_set(s->same, ir_result(s->m, y, i), ir_result(s->m, x, i));
  return true;
}

static bool blocks_equal(cse *s, ir_block x, ir_block y) {
  if (!x || !y) return x == y;
  const ir_block_data *a = ir_block_get(s->m, x), *b = ir_block_get(s->m, y);
  if (a->args.count != b->args.count || a->ops.count != b->ops.count) return false;
  for (uint32_t i = 0; i < a->args.count; i++) {
    if (ir_type_of(s->m, a->args.at[i]) != ir_type_of(s->m, b->args.at[i])) return false;
    ir_map_set(s->same, b->args.at[i], a->args.at[i]);
  }
  for (uint32_t i = 0; i < a->ops.count; i++)
    if (!match_op(s, a->ops.at[i], b->ops.at[i])) return false;
  return true;
}

/* Values of regions of y in hand count as what they were matched with. */
static bool ops_equal(cse *s, ir_op x, ir_op y) {
  const ir_op_data *a = ir_op_get(s->m, x), *b = ir_op_get(s->m, y);
  if (a->kind != b->kind || a->name != b->name || a->n_operands != b->n_operands ||
      a->n_results != b->n_results || a->n_regions != b->n_regions)
    return false;
  for (uint32_t i = 0; i < a->n_operands; i++)
    if (a->operands[i] != ir_map_get(s->same, b->operands[i])) return false;
  if (!ir_attrs_equal(s->m, x, y)) return false;
  for (uint32_t i = 0; i < a->n_results; i++)
    if (ir_type_of(s->m, a->first_result + i) != ir_type_of(s->m, b->first_result + i))
      return false;
  for (uint32_t i = 0; i < a->n_regions; i++)
    if (!blocks_equal(s, a->regions[i], b->regions[i])) return false;
  return true;
}

static bool may_merge_kind(ir_kind kind) {
  switch (kind) {
    case IR_OP_UNKNOWN:
    case IR_OP_MODULE:
    case IR_OP_FUNC:
    case IR_OP_CALL:
    case IR_OP_COMPOSITE:
    case IR_OP_OPTIMIZATION_BARRIER: return false;
    default: return !(ir_kind_flags(kind) & (IR_FLAG_X | IR_FLAG_T));
  }
}

static bool may_merge(const ir_module *m, ir_op op) {
  for (ir_walk w = ir_walk_op(m, op); ir_next(&w);) {
    ir_kind kind = ir_kind_of(m, w.op);
    bool is_end = w.op != op && ir_kind_flags(kind) & IR_FLAG_T;
    if (!may_merge_kind(kind) && !is_end) return false;
  }
  return true;
}

/* ---- the table ---- */
static ir_op find_equal(cse *s, ir_op op, uint32_t hash) {
  for (uint32_t e = s->buckets[hash & s->mask]; e > s->floor; e = s->entries.at[e].next)
    if (s->entries.at[e].hash == hash && ops_equal(s, s->entries.at[e].op, op))
      return s->entries.at[e].op;
  return IR_NONE;
}

static void insert(cse *s, ir_op op, uint32_t hash) {
  uint32_t *bucket = &s->buckets[hash & s->mask];
  entry e = {op, hash, *bucket};
  *bucket = s->entries.count;
  VEC_PUSH(s->scratch, &s->entries, e);
}

static void forget_down_to(cse *s, uint32_t count) {
  while (s->entries.count > count) {
    const entry *e = &s->entries.at[--s->entries.count];
    CTX_CHECK(s->m->ctx, s->buckets[e->hash & s->mask] == s->entries.count); /* a stack */
    s->buckets[e->hash & s->mask] = e->next;
  }
}

/* ---- the walk ---- */
/* True if an equal op came before; its results then stand for this one's. */
static bool replace(cse *s, ir_op op) {
  if (!may_merge(s->m, op)) return false;
  uint32_t hash = hash_op(s, op);
  ir_op earlier = find_equal(s, op, hash);
  if (!earlier) {
    insert(s, op, hash);
    return false;
  }
  for (uint32_t i = 0; i < ir_op_get(s->m, op)->n_results; i++)
    ir_map_set(s->map, ir_result(s->m, op, i), ir_result(s->m, earlier, i));
  return s->changed = true;
}

static void visit_block(cse *s, ir_block block) {
  uint32_t outer = s->entries.count, kept = 0, floor = s->floor;
  ir_block_data *b = ir_block_get(s->m, block);
  s->floor = outer - 1;
  for (uint32_t i = 0; i < b->ops.count; i++) {
    ir_op op = b->ops.at[i];
    ir_rename_operands(s->m, op, s->map);
    for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));) visit_block(s, below);
    if (!replace(s, op)) b->ops.at[kept++] = op;
  }
  b->ops.count = kept;
  forget_down_to(s, outer);
  s->floor = floor;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  cse s = {.scratch = p->scratch,
           .m = m,
           .map = ir_map_new(p->scratch, m),
           .same = ir_map_new(p->scratch, m)};
  uint32_t room = 256;
  while (room < m->ops.count) room *= 2;
  s.mask = room - 1;
  s.buckets = ARENA_ARRAY(p->scratch, uint32_t, room);
  VEC_PUSH(p->scratch, &s.entries, (entry){0});
  visit_block(&s, ir_top(m));
  p->changed = s.changed;
  return WEIR_OK;
}

const pass pass_cse = {"cse", run};
