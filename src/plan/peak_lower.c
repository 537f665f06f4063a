/* IR -> the estimate's graph, as XLA CPU's passes before fusion would leave it.
 *
 * Ops become nodes one by one (peak_rules.c has the rules per op); on the way calls and
 * composites are inlined, equal nodes are made once (common subexpressions), and nodes of a
 * loop's body whose operands no trip changes are made outside of it (XLA's loop-invariant code
 * motion). A region that reads values from outside gets them as further elements of its state
 * tuple: for StableHLO these are captures, for HLO there is nothing else. */
#include "plan/peak_lower.h"

#include <math.h>

#include "base/saturate.h"
#include "ir/calls.h"

/* nodes: inlining nested calls can blow up; beyond, a call is opaque */
enum { LARGEST_GRAPH = 4 << 20 };

/* ---- attributes as hashes ---- */
static uint64_t mix_bytes(uint64_t h, const void *data, size_t bytes) {
  const unsigned char *p = data;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    h = hash_mix_wide(h, x);
  }
  uint64_t rest = 0;
  if (bytes) memcpy(&rest, p, bytes);
  return hash_mix_wide(h, rest ^ (uint64_t)bytes << 56);
}

static uint64_t hash_attr(const ir_module *m, uint64_t h, ir_attr attr) {
  const ir_attr_data *a = ir_attr_get(m, attr);
  h = hash_mix_wide(hash_mix_wide(hash_mix_wide(h, a->kind), a->type),
                    ((uint64_t)(uint32_t)a->count << 2) | (a->splat << 1) | a->boolean);
  h = hash_mix_wide(hash_mix_wide(h, (uint64_t)a->integer), a->text);
  if (a->ints) h = mix_bytes(h, a->ints, (size_t)a->count * sizeof *a->ints);
  for (int32_t i = 0; a->items && i < a->count; i++) h = hash_attr(m, h, a->items[i]);
  for (int32_t i = 0; a->entries && i < a->count; i++)
    h = hash_attr(m, hash_mix_wide(h, a->entries[i].name), a->entries[i].value);
  if (a->data) {
    const ir_type_data *t = ir_type_get(m, a->type);
    int64_t count = a->splat ? 1 : ir_element_count(m, a->type);
    h = mix_bytes(h, a->data, (size_t)(count * ir_dtype_bytes(t->dtype)));
  }
  return h;
}

uint64_t plan_attrs_hash(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  uint64_t h = hash_mix_wide(d->kind, d->name);
  for (uint32_t i = 0; i < d->n_attrs; i++)
    h = hash_attr(m, hash_mix_wide(h, d->attrs[i].name), d->attrs[i].value);
  return h;
}

/* ---- equal nodes once ---- */
static uint64_t hash_shape(uint64_t h, const plan_shape *s) {
  h = mix_bytes(hash_mix_wide(hash_mix_wide(h, s->dtype), s->n_members), s->dims,
                (size_t)s->rank * sizeof(int64_t));
  for (uint32_t i = 0; i < s->n_members; i++) h = hash_shape(h, &s->members[i]);
  return h;
}

static uint64_t node_hash(const plan_node *n) {
  uint64_t h = hash_mix_wide(hash_mix_wide(hash_mix_wide(n->comp, n->kind), n->signature),
                             ((uint64_t)n->index << 32) | n->n_operands);
  for (uint32_t i = 0; i < n->n_operands; i++) h = hash_mix_wide(h, n->operands[i]);
  h = hash_shape(h, &n->shape);
  return mix_bytes(h, n->ints, n->n_ints * sizeof *n->ints) | 1;
}

static void grow_table(lowering *l) {
  uint32_t room = l->table_room ? l->table_room * 2 : 1024;
  plan_slot *table = ARENA_ARRAY(l->g->arena, plan_slot, room);
  for (uint32_t i = 0; i < l->table_room; i++) {
    if (!l->table[i].hash) continue;
    uint32_t k = (uint32_t)l->table[i].hash & (room - 1);
    while (table[k].hash) k = (k + 1) & (room - 1);
    table[k] = l->table[i];
  }
  l->table = table;
  l->table_room = room;
}

/* The slot of this hash; its node is 0 if there is none yet. */
static plan_slot *find_slot(lowering *l, uint64_t hash) {
  if (l->table_count * 2 >= l->table_room) grow_table(l);
  uint32_t k = (uint32_t)hash & (l->table_room - 1);
  while (l->table[k].hash && l->table[k].hash != hash) k = (k + 1) & (l->table_room - 1);
  if (!l->table[k].hash) l->table_count++, l->table[k].hash = hash;
  return &l->table[k];
}

/* ---- scopes: computations that are being filled ---- */
static plan_scope *scope_new(lowering *l, ir_block block, plan_scope *outer, bool is_loop) {
  plan_scope *s = ARENA_NEW(l->g->arena, plan_scope);
  *s = (plan_scope){.outer = outer,
                    .comp = plan_comp_new(l->g, block),
                    .is_loop = is_loop,
                    .depth = outer ? outer->depth + 1 : 0};
  return s;
}

/* Element `index` of the scope's state. */
static uint32_t state_element(lowering *l, plan_scope *s, uint32_t index, const plan_shape *shape,
                              uint32_t flags, const plan_node *like) {
  plan_node n = {.kind = IR_OP_GET_TUPLE_ELEMENT,
                 .flags = (uint8_t)flags,
                 .comp = s->comp,
                 .index = index,
                 .shape = *shape,
                 .op = like ? like->op : IR_NONE,
                 .value = like ? like->value : IR_NONE};
  n.operands = ARENA_COPY(l->g->arena, uint32_t, &s->parameter, 1);
  n.n_operands = 1;
  return plan_node_new(l->g, &n);
}

static uint32_t clone_into(lowering *l, plan_scope *s, uint32_t node) {
  plan_node n = *plan_node_get(l->g, node);
  uint32_t operands[2];
  for (uint32_t i = 0; i < n.n_operands && i < 2; i++)
    operands[i] = clone_into(l, s, n.operands[i]);
  n.operands = operands;
  return plan_make(l, s, &n);
}

/* Scalar constants and what spreads them: XLA sinks them into regions. */
static bool is_cheap_leaf(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  if (n->kind == IR_OP_CONSTANT) return n->shape.elements == 1;
  return n->kind == IR_OP_BROADCAST_IN_DIM && is_cheap_leaf(g, n->operands[0]);
}

uint32_t plan_import(lowering *l, plan_scope *s, uint32_t node) {
  if (plan_node_get(l->g, node)->comp == s->comp) return node;
  CTX_CHECK(l->g->m->ctx, s->outer);
  if (is_cheap_leaf(l->g, node)) return clone_into(l, s, node);
  uint32_t outer = plan_import(l, s->outer, node);
  plan_scope *owner = s->shares ? s->shares : s; /* a loop's condition has the state of its body */
  uint64_t hash = hash_mix_wide(hash_mix_wide(s->comp, 0xca9), outer) | 1;
  uint32_t known = find_slot(l, hash)->node;
  if (known) return known;
  uint32_t index = 0;
  plan_slot *slot = find_slot(l, hash_mix_wide(hash_mix_wide(owner->comp, 0xca8), outer) | 1);
  if (slot->node) index = slot->node - 1;
  else {
    index = owner->n_state + owner->captures.count;
    slot->node = index + 1;
    VEC_PUSH(l->g->arena, &owner->captures, outer);
  }
  plan_node like = *plan_node_get(l->g, outer);
  uint32_t made = state_element(l, s, index, &like.shape, PLAN_FLAG_CAPTURE, &like);
  find_slot(l, hash)->node = made;
  return made;
}

/* ---- loop-invariant code motion ---- */
static uint32_t outer_of(lowering *l, plan_scope *s, uint32_t node);

static bool is_invariant(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  return n->kind == IR_OP_CONSTANT || (n->flags & (PLAN_FLAG_CAPTURE | PLAN_FLAG_INVARIANT));
}

static uint32_t outer_of(lowering *l, plan_scope *s, uint32_t node);

static uint32_t *outer_operands(lowering *l, plan_scope *s, const plan_node *n) {
  uint32_t *operands = ARENA_ARRAY(l->g->arena, uint32_t, n->n_operands);
  for (uint32_t i = 0; i < n->n_operands; i++) operands[i] = outer_of(l, s, n->operands[i]);
  return operands;
}

/* The same node in the scope around `s`. */
static uint32_t outer_of(lowering *l, plan_scope *s, uint32_t node) {
  plan_node n = *plan_node_get(l->g, node);
  CTX_CHECK(l->g->m->ctx, n.comp == s->comp && s->outer);
  if (n.flags & PLAN_FLAG_CAPTURE) return s->captures.at[n.index - s->n_state];
  n.operands = outer_operands(l, s, &n);
  n.flags &= (uint8_t)~PLAN_FLAG_INVARIANT;
  return plan_make(l, s->outer, &n);
}

/* Larger than what it is made of: devices' XLA leaves it in the loop. */
static bool inflates(const plan_graph *g, const plan_node *n) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < n->n_operands; i++)
    bytes = saturated_sum(bytes, plan_node_get(g, n->operands[i])->shape.bytes);
  return n->shape.bytes > bytes;
}

uint32_t plan_make(lowering *l, plan_scope *s, const plan_node *desc) {
  plan_node n = *desc;
  n.comp = s->comp;
  bool stays = l->g->memory && inflates(l->g, &n);
  if (l->hoists && !stays && s->is_loop && n.kind != PLAN_OPAQUE && n.n_comps == 0) {
    bool invariant = true;
    for (uint32_t i = 0; i < n.n_operands; i++) invariant &= is_invariant(l->g, n.operands[i]);
    if (invariant && (n.n_operands || n.kind == IR_OP_IOTA)) {
      if (!(plan_traits(n.kind) & PLAN_TRAIT_S)) {
        n.operands = outer_operands(l, s, &n);
        return plan_import(l, s, plan_make(l, s->outer, &n));
      }
      n.flags |= PLAN_FLAG_INVARIANT;
    }
  }
  bool shared = n.n_comps == 0 && !(n.op && n.kind == PLAN_OPAQUE && ir_has_effects(l->g->m, n.op));
  uint64_t hash = shared ? node_hash(&n) : 0;
  if (shared) {
    uint32_t known = find_slot(l, hash)->node;
    if (known) return known;
  }
  n.operands = ARENA_COPY(l->g->arena, uint32_t, n.operands, n.n_operands);
  uint32_t made = plan_node_new(l->g, &n);
  if (shared) find_slot(l, hash)->node = made;
  return made;
}

/* ---- values ---- */
uint32_t plan_node_of(lowering *l, plan_scope *s, ir_value v) {
  uint32_t node = l->map[v];
  CTX_CHECK(l->g->m->ctx, node);
  return plan_import(l, s, node);
}

static uint32_t make_tuple(lowering *l, plan_scope *s, const uint32_t *members, uint32_t count) {
  plan_shape *shapes = ARENA_ARRAY(l->g->arena, plan_shape, count);
  for (uint32_t i = 0; i < count; i++) shapes[i] = plan_node_get(l->g, members[i])->shape;
  plan_node n = {.kind = IR_OP_TUPLE,
                 .n_operands = count,
                 .operands = (uint32_t *)members,
                 .shape = plan_shape_tuple(l->g->arena, shapes, count)};
  n.comp = s->comp;
  n.operands = ARENA_COPY(l->g->arena, uint32_t, members, count);
  return plan_node_new(l->g, &n);
}

/* The same, but equal tuples are one: nothing of it may be changed later. */
static uint32_t make_shared_tuple(lowering *l, plan_scope *s, const uint32_t *members,
                                  uint32_t count) {
  plan_node n = *plan_node_get(l->g, make_tuple(l, s, members, count));
  return plan_make(l, s, &n);
}

uint32_t plan_element(lowering *l, plan_scope *s, uint32_t tuple, uint32_t index) {
  const plan_node *t = plan_node_get(l->g, tuple);
  CTX_CHECK(l->g->m->ctx, t->shape.is_tuple && index < t->shape.n_members);
  if (t->kind == IR_OP_TUPLE) return t->operands[index];
  plan_node n = {.kind = IR_OP_GET_TUPLE_ELEMENT,
                 .n_operands = 1,
                 .operands = &tuple,
                 .index = index,
                 .shape = t->shape.members[index],
                 .op = t->op,
                 .value = t->op
                              ? ir_result(l->g->m, t->op,
                                          index < ir_op_get(l->g->m, t->op)->n_results ? index : 0)
                              : IR_NONE};
  return plan_make(l, s, &n);
}

void plan_bind(lowering *l, ir_op op, uint32_t result, uint32_t node) {
  ir_value v = ir_result(l->g->m, op, result);
  l->map[v] = node;
  if (!plan_node_get(l->g, node)->value) {
    plan_node_get(l->g, node)->value = v;
    plan_node_get(l->g, node)->op = op;
  }
}

/* ---- blocks ---- */
static void lower_op(lowering *l, plan_scope *s, ir_op op);

static void lower_ops(lowering *l, plan_scope *s, ir_block block) {
  const ir_block_data *b = ir_block_get(l->g->m, block);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) lower_op(l, s, b->ops.at[i]);
}

static void open_state(lowering *l, plan_scope *s, uint32_t n_state) {
  plan_node p = {.kind = PLAN_PARAMETER, .comp = s->comp};
  s->parameter = plan_node_new(l->g, &p);
  s->n_state = n_state;
  plan_comp_get(l->g, s->comp)->parameter = s->parameter;
}

/* Whether `to` is `from` with dimensions of length 1 put in behind others of several. XLA's view
 * of such an array has these dimensions outermost. */
static bool inserts_units(const plan_shape *from, const plan_shape *to) {
  int32_t k = 0;
  bool inside = false;
  for (int32_t d = 0; d < to->rank; d++) {
    if (k < from->rank && to->dims[d] == from->dims[k]) k++;
    else if (to->dims[d] == 1) inside |= k > 0;
    else return false;
  }
  return inside && k == from->rank && from->true_rank > 1;
}

/* A loop's state is row by row: a view that is not is copied. */
static uint32_t in_rows(lowering *l, plan_scope *s, uint32_t node) {
  plan_node n = *plan_node_get(l->g, node);
  if (n.kind != PLAN_BITCAST ||
      !inserts_units(&plan_node_get(l->g, n.operands[0])->shape, &n.shape))
    return node;
  plan_node copy = {.kind = PLAN_COPY,
                    .n_operands = 1,
                    .operands = &node,
                    .shape = n.shape,
                    .op = n.op,
                    .value = n.value};
  return plan_make(l, s, &copy);
}

static void copy_in_rows(lowering *l, plan_scope *s, uint32_t *to, const uint32_t *from,
                         uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i] = in_rows(l, s, from[i]);
}

/* The tuple that a scope's node is given: its state, then what the region turned out to capture. */
static uint32_t state_tuple(lowering *l, plan_scope *s, plan_scope *inner, const uint32_t *state,
                            uint32_t n_state) {
  uint32_t *members = ARENA_ARRAY(l->g->arena, uint32_t, n_state + inner->captures.count);
  copy_in_rows(l, s, members, state, n_state);
  copy_in_rows(l, s, members + n_state, inner->captures.at, inner->captures.count);
  return make_tuple(l, s, members, n_state + inner->captures.count);
}

/* Gives the body's parameter its shape and passes the captures on. */
static void close_loop(lowering *l, plan_scope *body, uint32_t *next, uint32_t n_state,
                       const plan_shape *shape) {
  uint32_t *members = ARENA_ARRAY(l->g->arena, uint32_t, n_state + body->captures.count);
  copy_in_rows(l, body, members, next, n_state);
  for (uint32_t i = 0; i < body->captures.count; i++) {
    uint32_t known =
        find_slot(l, hash_mix_wide(hash_mix_wide(body->comp, 0xca9), body->captures.at[i]) | 1)
            ->node;
    members[n_state + i] = known ? known
                                 : state_element(l, body, n_state + i, &shape->members[n_state + i],
                                                 PLAN_FLAG_CAPTURE, NULL);
  }
  plan_comp_get(l->g, body->comp)->root =
      make_tuple(l, body, members, n_state + body->captures.count);
}

static uint32_t make_while(lowering *l, plan_scope *s, ir_op op, plan_scope *cond, plan_scope *body,
                           const uint32_t *init, uint32_t *next, uint32_t n_state) {
  uint32_t tuple = state_tuple(l, s, body, init, n_state);
  plan_shape shape = plan_node_get(l->g, tuple)->shape;
  close_loop(l, body, next, n_state, &shape);
  plan_node_get(l->g, body->parameter)->shape = shape;
  plan_node_get(l->g, cond->parameter)->shape = shape;
  plan_node n = {.kind = IR_OP_WHILE,
                 .comp = s->comp,
                 .n_operands = 1,
                 .n_comps = 2,
                 .shape = shape,
                 .op = op};
  n.operands = ARENA_COPY(l->g->arena, uint32_t, &tuple, 1);
  n.comps = ARENA_COPY(l->g->arena, uint32_t, ((uint32_t[]){cond->comp, body->comp}), 2);
  uint32_t made = plan_node_new(l->g, &n);
  plan_comp_get(l->g, cond->comp)->caller = plan_comp_get(l->g, body->comp)->caller = made;
  return made;
}

typedef struct while_state { /* of a stablehlo.while that is being lowered */
  ir_op_data op;
  ir_block cond_block, body_block;
  plan_scope *cond, *body;
  uint32_t *init, *slot; /* slot: by operand, its element of the state; NOT_CARRIED */
  uint32_t n_state;
} while_state;

#define NOT_CARRIED UINT32_MAX

/* What no trip changes is captured instead of carried. */
static void divide_state(lowering *l, plan_scope *s, while_state *w) {
  const ir_module *m = l->g->m;
  ir_op end = ir_terminator(m, w->body_block);
  for (uint32_t i = 0; i < w->op.n_operands; i++) {
    ir_value in_body = ir_block_get(m, w->body_block)->args.at[i],
             in_cond = ir_block_get(m, w->cond_block)->args.at[i];
    uint32_t node = plan_node_of(l, s, w->op.operands[i]);
    bool kept = ir_operand(m, end, i) == in_body;
    w->slot[i] = kept ? NOT_CARRIED : w->n_state;
    if (kept) l->map[in_body] = l->map[in_cond] = node;
    else w->init[w->n_state++] = node;
  }
}

static void bind_state(lowering *l, while_state *w) {
  const ir_module *m = l->g->m;
  open_state(l, w->body, w->n_state);
  open_state(l, w->cond, w->n_state);
  for (uint32_t i = 0; i < w->op.n_operands; i++) {
    if (w->slot[i] == NOT_CARRIED) continue;
    plan_shape shape = plan_node_get(l->g, w->init[w->slot[i]])->shape;
    ir_value in_body = ir_block_get(m, w->body_block)->args.at[i],
             in_cond = ir_block_get(m, w->cond_block)->args.at[i];
    plan_node like = {.value = in_body};
    l->map[in_body] = state_element(l, w->body, w->slot[i], &shape, 0, &like);
    l->map[in_cond] = state_element(l, w->cond, w->slot[i], &shape, 0, NULL);
  }
}

static uint32_t lower_while_blocks(lowering *l, plan_scope *s, ir_op op, while_state *w) {
  const ir_module *m = l->g->m;
  lower_ops(l, w->cond, w->cond_block);
  plan_comp_get(l->g, w->cond->comp)->root =
      plan_node_of(l, w->cond, ir_operand(m, ir_terminator(m, w->cond_block), 0));
  lower_ops(l, w->body, w->body_block);
  uint32_t *next = ARENA_ARRAY(l->g->arena, uint32_t, w->n_state);
  for (uint32_t i = 0; i < w->op.n_operands; i++)
    if (w->slot[i] != NOT_CARRIED)
      next[w->slot[i]] =
          plan_node_of(l, w->body, ir_operand(m, ir_terminator(m, w->body_block), i));
  return make_while(l, s, op, w->cond, w->body, w->init, next, w->n_state);
}

static void lower_while(lowering *l, plan_scope *s, ir_op op) {
  while_state w = {.op = *ir_op_get(l->g->m, op)};
  w.cond_block = w.op.regions[0];
  w.body_block = w.op.regions[1];
  w.init = ARENA_ARRAY(l->g->arena, uint32_t, w.op.n_operands);
  w.slot = ARENA_ARRAY(l->g->arena, uint32_t, w.op.n_operands);
  w.body = scope_new(l, w.body_block, s, true);
  w.cond = scope_new(l, w.cond_block, s, false);
  w.cond->shares = w.body;
  divide_state(l, s, &w);
  bind_state(l, &w);
  uint32_t node = lower_while_blocks(l, s, op, &w);
  for (uint32_t i = 0; i < w.op.n_operands; i++)
    plan_bind(l, op, i,
              w.slot[i] == NOT_CARRIED ? plan_node_of(l, s, w.op.operands[i])
                                       : plan_element(l, s, node, w.slot[i]));
}

/* ---- weir.loop ---- */
static plan_loop read_loop(lowering *l, ir_op op) {
  const ir_module *m = l->g->m;
  plan_loop w = {.of = ir_loop_get(m, op), .body = ir_op_get(m, op)->regions[0]};
  w.over = ARENA_ARRAY(l->g->arena, int32_t, w.of.n_results);
  for (uint32_t j = 0; j < w.of.n_results; j++) w.over[j] = IR_NOT_IN_PLACE;
  if (l->keeps) ir_loop_in_place(&l->in_place, op, w.over);
  return w;
}

static void bind_carries(lowering *l, const plan_loop *w, const uint32_t *state) {
  const ir_block_data *body = ir_block_get(l->g->m, w->body);
  for (uint32_t j = 0, k = 2 + w->of.n_inputs; j < w->of.n_results; j++)
    if (w->of.out_dims[j] < 0) l->map[body->args.at[k++]] = state[j];
}

static void open_loop(lowering *l, plan_scope *s, ir_op op, const plan_loop *w,
                      plan_scope **out_body, plan_scope **out_cond) {
  *out_body = scope_new(l, w->body, s, true);
  *out_cond = scope_new(l, w->body, s, false);
  (*out_cond)->shares = *out_body;
  open_state(l, *out_body, w->of.n_results + 1);
  open_state(l, *out_cond, w->of.n_results + 1);
  plan_shape scalar = plan_node_get(l->g, plan_loop_counter(l, s, op))->shape;
  plan_comp_get(l->g, (*out_cond)->comp)->root = plan_loop_more(
      l, *out_cond, op, state_element(l, *out_cond, w->of.n_results, &scalar, 0, NULL));
}

/* Of ir_build_after(): the first node's buffer, once the other is there. */
static uint32_t after(lowering *l, plan_scope *s, uint32_t x, uint32_t other, ir_value v) {
  uint32_t operands[] = {x, other};
  plan_node n = {.kind = PLAN_OPAQUE,
                 .n_operands = 2,
                 .operands = operands,
                 .in_place = 1,
                 .shape = plan_node_get(l->g, x)->shape,
                 .value = v};
  for (uint32_t i = 0; i < 2; i++) plan_node_get(l->g, operands[i])->flags |= PLAN_FLAG_HELD;
  return plan_make(l, s, &n);
}

/* Result j as a trip makes it. What is written over an input's slice that it is not made of comes
 * after that is read: split/lower.c. */
static uint32_t made_by_trip(lowering *l, plan_scope *body, const plan_loop *w, uint32_t j) {
  const ir_module *m = l->g->m;
  ir_value v = ir_operand(m, ir_terminator(m, w->body), j);
  uint32_t made = plan_node_of(l, body, v);
  if (w->over[j] < 0) return made;
  ir_value read = ir_argument(m, w->body, (uint32_t)(2 + w->over[j]));
  if (ir_is_made_of(l->g->arena, m, w->body, v, read)) return made;
  return after(l, body, made, plan_node_of(l, body, read), v);
}

/* The body's ops; next: the state after a trip. */
static void lower_loop_body(lowering *l, plan_scope *body, ir_op op, const plan_loop *w,
                            const uint32_t *init, uint32_t *next) {
  const ir_module *m = l->g->m;
  uint32_t n = w->of.n_results, *state = ARENA_ARRAY(l->g->arena, uint32_t, n + 1);
  for (uint32_t j = 0; j <= n; j++) {
    plan_shape shape = plan_node_get(l->g, init[j])->shape;
    plan_node like = {.op = op, .value = j < n ? ir_result(m, op, j) : IR_NONE};
    state[j] = state_element(l, body, j, &shape, 0, &like);
  }
  uint32_t *instead = ARENA_ARRAY(l->g->arena, uint32_t, w->of.n_inputs);
  for (uint32_t j = 0; j < n; j++)
    if (w->over[j] >= 0) instead[w->over[j]] = state[j];
  plan_loop_inputs(l, body, op, w, state[n], instead);
  bind_carries(l, w, state);
  lower_ops(l, body, w->body);
  for (uint32_t j = 0; j < n; j++) {
    uint32_t made = made_by_trip(l, body, w, j);
    next[j] =
        w->of.out_dims[j] < 0 ? made : plan_loop_update(l, body, op, state[j], made, state[n]);
  }
  next[n] = plan_loop_next(l, body, op, state[n]);
}

/* State: results and carries in their order, the counter last. */
static void lower_loop(lowering *l, plan_scope *s, ir_op op) {
  plan_loop w = read_loop(l, op);
  uint32_t n = w.of.n_results, *init = ARENA_ARRAY(l->g->arena, uint32_t, n + 1),
           *next = ARENA_ARRAY(l->g->arena, uint32_t, n + 1);
  for (uint32_t j = 0, k = w.of.n_inputs; j < n; j++)
    init[j] = w.of.out_dims[j] < 0 ? plan_node_of(l, s, ir_operand(l->g->m, op, k++))
              : w.over[j] >= 0 ? plan_node_of(l, s, ir_operand(l->g->m, op, (uint32_t)w.over[j]))
                               : plan_loop_zeros(l, s, op, j);
  init[n] = plan_loop_counter(l, s, op);
  plan_scope *body, *cond;
  open_loop(l, s, op, &w, &body, &cond);
  lower_loop_body(l, body, op, &w, init, next);
  uint32_t node = make_while(l, s, op, cond, body, init, next, n + 1);
  for (uint32_t j = 0; j < n; j++) plan_bind(l, op, j, plan_element(l, s, node, j));
}

static plan_scope *open_captures(lowering *l, plan_scope *s, ir_block block) {
  plan_scope *inner = scope_new(l, block, s, false);
  open_state(l, inner, 0);
  return inner;
}

/* The tuple of what the computation captured. */
static uint32_t close_captures(lowering *l, plan_scope *s, plan_scope *inner,
                               const uint32_t *results, uint32_t n) {
  CTX_CHECK(l->g->m->ctx, inner->n_state == 0); /* all that it reads is captured */
  plan_comp_get(l->g, inner->comp)->root = make_tuple(l, inner, results, n);
  uint32_t tuple = make_shared_tuple(l, s, inner->captures.at, inner->captures.count);
  plan_node_get(l->g, inner->parameter)->shape = plan_node_get(l->g, tuple)->shape;
  return tuple;
}

plan_scope *plan_open_call(lowering *l, plan_scope *s) {
  return open_captures(l, s, plan_comp_get(l->g, s->comp)->block);
}

uint32_t plan_close_call(lowering *l, plan_scope *s, plan_scope *inner, ir_op op, uint32_t root) {
  uint32_t tuple = close_captures(l, s, inner, &root, 1);
  plan_node n = {.kind = IR_OP_CALL,
                 .comp = s->comp,
                 .n_operands = 1,
                 .n_comps = 1,
                 .comps = ARENA_COPY(l->g->arena, uint32_t, &inner->comp, 1),
                 .shape = plan_node_get(l->g, plan_comp_get(l->g, inner->comp)->root)->shape,
                 .op = op};
  n.operands = ARENA_COPY(l->g->arena, uint32_t, &tuple, 1);
  uint32_t node = plan_node_new(l->g, &n);
  plan_comp_get(l->g, inner->comp)->caller = node;
  return plan_element(l, s, node, 0);
}

static uint32_t lower_branch(lowering *l, plan_scope *s, ir_block block, uint32_t *out_comp) {
  plan_scope *inner = open_captures(l, s, block);
  lower_ops(l, inner, block);
  ir_op end = ir_terminator(l->g->m, block);
  uint32_t n = ir_op_get(l->g->m, end)->n_operands,
           *results = ARENA_ARRAY(l->g->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) results[i] = plan_node_of(l, inner, ir_operand(l->g->m, end, i));
  *out_comp = inner->comp;
  return close_captures(l, s, inner, results, n);
}

/* A branch known beforehand (jax.lax.platform_dependent), or the only one, stands in for the op. */
static bool inline_branch(lowering *l, plan_scope *s, ir_op op, const ir_op_data *d) {
  const plan_node *index = plan_node_get(l->g, plan_node_of(l, s, d->operands[0]));
  double at = index->kind == IR_OP_CONSTANT ? index->number : NAN;
  if (d->n_regions == 1) at = 0;
  if (isnan(at)) return false;
  uint32_t branch = at >= 0 && at < d->n_regions ? (uint32_t)at : d->n_regions - 1;
  if (d->kind == IR_OP_IF) branch = at == 0;
  lower_ops(l, s, d->regions[branch]);
  ir_op end = ir_terminator(l->g->m, d->regions[branch]);
  for (uint32_t i = 0; i < d->n_results; i++)
    plan_bind(l, op, i, plan_node_of(l, s, ir_operand(l->g->m, end, i)));
  return true;
}

static void lower_branches(lowering *l, plan_scope *s, ir_op op) {
  ir_op_data d = *ir_op_get(l->g->m, op);
  if (inline_branch(l, s, op, &d)) return;
  plan_node n = {.kind = IR_OP_CASE,
                 .comp = s->comp,
                 .n_operands = d.n_regions + 1,
                 .n_comps = d.n_regions,
                 .op = op};
  n.operands = ARENA_ARRAY(l->g->arena, uint32_t, n.n_operands);
  n.comps = ARENA_ARRAY(l->g->arena, uint32_t, d.n_regions);
  n.operands[0] = plan_node_of(l, s, d.operands[0]);
  for (uint32_t r = 0; r < d.n_regions; r++)
    n.operands[r + 1] = lower_branch(l, s, d.regions[r], &n.comps[r]);
  n.shape = plan_node_get(l->g, plan_comp_get(l->g, n.comps[0])->root)->shape;
  uint32_t node = plan_node_new(l->g, &n);
  for (uint32_t r = 0; r < d.n_regions; r++) plan_comp_get(l->g, n.comps[r])->caller = node;
  for (uint32_t i = 0; i < d.n_results; i++) plan_bind(l, op, i, plan_element(l, s, node, i));
}

static void hold(lowering *l, plan_scope *s, ir_value v) {
  plan_node_get(l->g, plan_node_of(l, s, v))->flags |= PLAN_FLAG_HELD;
}

static bool is_inlineable(const ir_module *m, ir_op call) {
  ir_attr dict = ir_op_attr(m, call, "mhlo.frontend_attributes"),
          a = ir_dict_get(m, dict, "inlineable");
  return !a || strcmp(ir_text(m, ir_attr_get(m, a)->text), "false") != 0;
}

static bool keep_after(lowering *l, plan_scope *s, ir_op op) {
  const ir_op_data d = *ir_op_get(l->g->m, op);
  uint32_t x = plan_node_of(l, s, d.operands[0]), other = plan_node_of(l, s, d.operands[1]);
  plan_bind(l, op, 0, after(l, s, x, other, d.first_result));
  return true;
}

/* The callee's ops in place of the call. What goes into and comes out of one that XLA may not
 * inline has buffers. */
static bool inline_call(lowering *l, plan_scope *s, ir_op op) {
  const ir_module *m = l->g->m;
  ir_block body = ir_callee_body(m, op);
  if (!body || l->call_depth > 200 || l->g->nodes.count > LARGEST_GRAPH) return false;
  ir_op_data d = *ir_op_get(m, op);
  if (!is_inlineable(m, op) && ir_gives_first_of_two(m, op)) return keep_after(l, s, op);
  for (uint32_t i = 0; i < d.n_operands; i++)
    l->map[ir_block_get(m, body)->args.at[i]] = plan_node_of(l, s, d.operands[i]);
  l->call_depth++;
  lower_ops(l, s, body);
  l->call_depth--;
  for (uint32_t i = 0; i < d.n_results; i++)
    plan_bind(l, op, i, plan_node_of(l, s, ir_operand(m, ir_terminator(m, body), i)));
  if (is_inlineable(m, op)) return true;
  for (uint32_t i = 0; i < d.n_operands; i++) hold(l, s, d.operands[i]);
  for (uint32_t i = 0; i < d.n_results; i++) hold(l, s, d.first_result + i);
  return true;
}

/* What the computation's argument stands for: an argument of the program is as large as a device's
 * part of it, of anything else the part is a buffer of its own. */
static uint32_t device_part(lowering *l, plan_scope *s, uint32_t whole, ir_value arg) {
  plan_shape shape = plan_shape_of_type(l->g->arena, l->g->m, ir_type_of(l->g->m, arg));
  if (plan_same_dims(&plan_node_get(l->g, whole)->shape, &shape)) return whole;
  if (plan_node_get(l->g, whole)->kind == PLAN_PARAMETER) {
    plan_node_get(l->g, whole)->shape = shape;
    return whole;
  }
  plan_node part = {
      .kind = PLAN_OPAQUE, .n_operands = 1, .operands = &whole, .shape = shape, .value = arg};
  return plan_make(l, s, &part);
}

/* A device's part of a manual computation, in place of it. */
static void lower_manual(lowering *l, plan_scope *s, ir_op op) {
  const ir_module *m = l->g->m;
  ir_op_data d = *ir_op_get(m, op);
  for (uint32_t i = 0; i < d.n_operands; i++) {
    ir_value arg = ir_block_get(m, d.regions[0])->args.at[i];
    l->map[arg] = device_part(l, s, plan_node_of(l, s, d.operands[i]), arg);
  }
  lower_ops(l, s, d.regions[0]);
  for (uint32_t i = 0; i < d.n_results; i++)
    plan_bind(l, op, i, plan_node_of(l, s, ir_operand(m, ir_terminator(m, d.regions[0]), i)));
}

static void lower_op(lowering *l, plan_scope *s, ir_op op) {
  switch (ir_kind_of(l->g->m, op)) {
    case IR_OP_WHILE: lower_while(l, s, op); break;
    case IR_OP_LOOP:
      if (ir_op_int(l->g->m, op, "scratch", -1) < 0) lower_loop(l, s, op);
      else plan_lower_plain(l, s, op);
      break;
    case IR_OP_CASE:
    case IR_OP_IF: lower_branches(l, s, op); break;
    case IR_OP_SDY_MANUAL_COMPUTATION: lower_manual(l, s, op); break;
    case IR_OP_CALL:
    case IR_OP_COMPOSITE:
      if (!inline_call(l, s, op)) plan_lower_plain(l, s, op);
      break;
    default:
      plan_lower_plain(l, s, op);
      if (ir_op_bool(l->g->m, op, "keep", false)) hold(l, s, ir_result(l->g->m, op, 0));
  }
}

/* ---- the main function ---- */
static void lower_function(lowering *l, ir_op function) {
  plan_graph *g = l->g;
  ir_block body = ir_op_get(g->m, function)->regions[0];
  plan_scope *s = scope_new(l, body, NULL, false);
  g->entry = s->comp;
  g->n_params = ir_block_get(g->m, body)->args.count;
  for (uint32_t i = 0; i < g->n_params; i++) {
    ir_value arg = ir_block_get(g->m, body)->args.at[i];
    plan_node p = {.kind = PLAN_PARAMETER,
                   .comp = s->comp,
                   .index = i,
                   .shape = plan_shape_of_type(g->arena, g->m, ir_type_of(g->m, arg)),
                   .value = arg};
    l->map[arg] = plan_node_new(g, &p);
  }
  lower_ops(l, s, body);
  ir_op end = ir_terminator(g->m, body);
  g->n_outputs = ir_op_get(g->m, end)->n_operands;
  g->outputs = ARENA_ARRAY(g->arena, uint32_t, g->n_outputs);
  for (uint32_t i = 0; i < g->n_outputs; i++)
    g->outputs[i] = plan_node_of(l, s, ir_operand(g->m, end, i));
  plan_comp_get(g, s->comp)->root =
      g->n_outputs == 1 ? g->outputs[0] : make_tuple(l, s, g->outputs, g->n_outputs);
  plan_read_donations(g, function);
}

static uint32_t *count_uses(arena *a, const ir_module *m) {
  uint32_t *uses = ARENA_ARRAY(a, uint32_t, m->values.count);
  for (uint32_t op = 1; op < m->ops.count; op++)
    for (uint32_t i = 0; i < m->ops.at[op].n_operands; i++) uses[m->ops.at[op].operands[i]]++;
  return uses;
}

static bool has_loops(const ir_module *m) {
  for (uint32_t op = 1; op < m->ops.count; op++)
    if (m->ops.at[op].kind == IR_OP_LOOP) return true;
  return false;
}

plan_graph *plan_lower(arena *a, const ir_module *m, plan_order order,
                       const device_memory *memory) {
  plan_graph *g = ARENA_NEW(a, plan_graph);
  *g = (plan_graph){.arena = a, .m = m, .memory = memory, .is_split = has_loops(m)};
  lowering l = {.g = g,
                .hoists = plan_hoists(order) && !g->is_split,
                .keeps = ir_op_int(m, m->root, "mhlo.num_partitions", 1) == 1,
                .in_place = ir_in_place_of(a, m),
                .uses = count_uses(a, m),
                .map = ARENA_ARRAY(a, uint32_t, m->values.count)};
  ir_op function = ir_main_function(m);
  if (!function) return NULL;
  lower_function(&l, function);
  plan_graph_finish(g);
  return g;
}
