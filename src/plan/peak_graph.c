/* The estimate's graph: nodes, users, dead code, post order. */
#include "plan/peak_graph.h"

#include "base/saturate.h"

#define F PLAN_TRAIT_F
#define O PLAN_TRAIT_O
#define D PLAN_TRAIT_D
#define B PLAN_TRAIT_B
#define S PLAN_TRAIT_S
static const uint8_t traits[] = {
    [PLAN_BITCAST] = F | O | S,
    [PLAN_RELAYOUT] = F | O,
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = xla,
#include "ir/ops.def"
#undef OP
};
#undef F
#undef O
#undef D
#undef B
#undef S

uint8_t plan_traits(uint16_t kind) { return traits[kind]; }

bool plan_stays_in_loops(ir_kind kind) { return plan_traits((uint16_t)kind) & PLAN_TRAIT_S; }

uint32_t plan_values_of(const plan_node *n) {
  switch (n->kind) {
    case PLAN_BITCAST:
    case IR_OP_GET_TUPLE_ELEMENT: return 0;
    case IR_OP_TUPLE: return 1;
    default: return n->shape.is_tuple ? n->shape.n_members + 1 : 1;
  }
}

uint32_t *plan_number_values(const plan_graph *g, uint32_t *out_end) {
  uint32_t *base = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count);
  *out_end = 1;
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    base[id] = *out_end;
    if (plan_node_get(g, id)->flags & PLAN_FLAG_LIVE)
      *out_end += plan_values_of(plan_node_get(g, id));
  }
  return base;
}

uint32_t plan_table_of(const plan_graph *g, const uint32_t *base, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  if (!n->shape.is_tuple || n->kind == IR_OP_GET_TUPLE_ELEMENT) return 0;
  return base[node] + (n->kind == IR_OP_TUPLE ? 0 : n->shape.n_members);
}

plan_shape plan_shape_make(arena *a, ir_dtype dtype, int32_t rank, const int64_t *dims) {
  plan_shape s = {.dtype = dtype,
                  .rank = rank,
                  .elements = 1,
                  .dims = ARENA_COPY(a, int64_t, dims, (size_t)rank)};
  for (int32_t d = 0; d < rank; d++) {
    s.elements = saturated_product(s.elements, dims[d] > 0 ? dims[d] : 0);
    s.true_rank += dims[d] != 1;
  }
  s.bytes = saturated_product(s.elements, dtype ? ir_dtype_bytes(dtype) : 0);
  return s;
}

plan_shape plan_shape_tuple(arena *a, const plan_shape *members, uint32_t count) {
  return (plan_shape){.is_tuple = true,
                      .n_members = count,
                      .bytes = 8 * (int64_t)count,
                      .members = ARENA_COPY(a, plan_shape, members, count)};
}

plan_shape plan_shape_of_type(arena *a, const ir_module *m, ir_type type) {
  const ir_type_data *t = ir_type_get(m, type);
  if (t->kind == IR_TYPE_TENSOR) return plan_shape_make(a, t->dtype, t->rank, t->dims);
  if (t->kind != IR_TYPE_TUPLE) return (plan_shape){0};
  plan_shape *members = ARENA_ARRAY(a, plan_shape, (size_t)t->n_types);
  for (int32_t i = 0; i < t->n_types; i++) members[i] = plan_shape_of_type(a, m, t->types[i]);
  return plan_shape_tuple(a, members, (uint32_t)t->n_types);
}

bool plan_same_dims(const plan_shape *a, const plan_shape *b) {
  return a->is_tuple == b->is_tuple && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

uint32_t plan_comp_new(plan_graph *g, ir_block block) {
  if (g->comps.count == 0) VEC_PUSH(g->arena, &g->comps, (plan_comp){0});
  VEC_PUSH(g->arena, &g->comps, (plan_comp){.block = block});
  return g->comps.count - 1;
}

uint32_t plan_node_new(plan_graph *g, const plan_node *desc) {
  CTX_CHECK(g->m->ctx, desc->comp && desc->comp < g->comps.count);
  CTX_CHECK(g->m->ctx, desc->in_place <= desc->n_operands && desc->shape.bytes >= 0);
  if (g->nodes.count == 0) VEC_PUSH(g->arena, &g->nodes, (plan_node){0});
  VEC_PUSH(g->arena, &g->nodes, *desc);
  uint32_t id = g->nodes.count - 1;
  VEC_PUSH(g->arena, &plan_comp_get(g, desc->comp)->nodes, id);
  return id;
}

uint32_t plan_node_beside(plan_graph *g, uint32_t like, plan_node desc) {
  const plan_node *n = plan_node_get(g, like);
  desc.flags |= PLAN_FLAG_LIVE;
  desc.comp = n->comp;
  desc.op = n->op;
  desc.value = n->value;
  desc.operands = ARENA_COPY(g->arena, uint32_t, desc.operands, desc.n_operands);
  return plan_node_new(g, &desc);
}

/* ---- users ---- */
void plan_add_user(plan_graph *g, uint32_t node, uint32_t user) {
  plan_node *n = plan_node_get(g, node);
  if (n->n_users == n->users_room)
    n->users = arena_grow(g->arena, n->users, n->n_users, &n->users_room, sizeof *n->users);
  n->users[n->n_users++] = user;
}

/* The last takes the place of the removed one, as in XLA. */
void plan_remove_user(plan_graph *g, uint32_t node, uint32_t user) {
  plan_node *n = plan_node_get(g, node);
  for (uint32_t i = n->n_users; i-- > 0;)
    if (n->users[i] == user) {
      n->users[i] = n->users[--n->n_users];
      return;
    }
}

void plan_put_between(plan_graph *g, uint32_t node, uint32_t between, uint32_t user) {
  if (plan_operand_index(plan_node_get(g, user), node) == UINT32_MAX)
    plan_remove_user(g, node, user);
  plan_add_user(g, node, between);
  plan_add_user(g, between, user);
}

uint32_t plan_put_on(plan_graph *g, uint32_t like, uint32_t x, plan_node desc) {
  desc.operands = &x;
  desc.n_operands = 1;
  uint32_t made = plan_node_beside(g, like, desc);
  plan_add_user(g, x, made);
  return made;
}

uint32_t plan_put_before(plan_graph *g, uint32_t user, uint32_t i, plan_node desc) {
  uint32_t x = plan_node_get(g, user)->operands[i];
  desc.operands = &x;
  desc.n_operands = 1;
  uint32_t made = plan_node_beside(g, x, desc);
  plan_node_get(g, user)->operands[i] = made;
  plan_put_between(g, x, made, user);
  return made;
}

void plan_take_instead(plan_graph *g, uint32_t user, uint32_t old, uint32_t now) {
  plan_node *u = plan_node_get(g, user);
  for (uint32_t i = 0; i < u->n_operands; i++)
    if (u->operands[i] == old) u->operands[i] = now;
  plan_add_user(g, now, user);
}

void plan_read_instead(plan_graph *g, uint32_t old, uint32_t now, const uint32_t *users,
                       uint32_t count) {
  for (uint32_t k = 0; k < count; k++) plan_take_instead(g, users[k], old, now);
  for (uint32_t c = 1; c < g->comps.count; c++)
    if (plan_comp_get(g, c)->root == old) plan_comp_get(g, c)->root = now;
  for (uint32_t i = 0; i < g->n_outputs; i++)
    if (g->outputs[i] == old) g->outputs[i] = now;
}

uint32_t plan_put_behind(plan_graph *g, uint32_t node, plan_node desc) {
  desc.operands = &node;
  desc.n_operands = 1;
  uint32_t made = plan_node_beside(g, node, desc);
  plan_node *n = plan_node_get(g, node);
  uint32_t *users = n->users, count = n->n_users;
  n->users = NULL;
  n->n_users = n->users_room = 0;
  plan_add_user(g, node, made);
  plan_read_instead(g, node, made, users, count);
  return made;
}

static bool seen_before(const plan_node *n, uint32_t i) {
  for (uint32_t j = 0; j < i; j++)
    if (n->operands[j] == n->operands[i]) return true;
  return false;
}

enum { MOST_UNNEEDED = 1000 }; /* state elements of a loop; of more, none stays */

/* ---- dead code ---- A loop's state element is needed only if somebody reads it, inside or
 * after the loop, other than to make its own next value. So a loop marks its state element by
 * element, as GET_TUPLE_ELEMENTs are met; the rest is cut out of the tuples afterwards. */
typedef VEC(uint32_t) stack;

typedef struct marker {
  plan_graph *g;
  stack todo;
  bool **elements; /* by node: of a WHILE, which elements of its state are needed */
} marker;

static void mark(marker *k, uint32_t node) {
  plan_node *n = plan_node_get(k->g, node);
  if (n->flags & PLAN_FLAG_LIVE) return;
  n->flags |= PLAN_FLAG_LIVE;
  VEC_PUSH(k->g->arena, &k->todo, node);
}

static void mark_quietly(marker *k, uint32_t node) {
  plan_node_get(k->g, node)->flags |= PLAN_FLAG_LIVE;
}

static void mark_loop(marker *k, uint32_t node) {
  const plan_node *n = plan_node_get(k->g, node);
  const plan_comp *cond = plan_comp_get(k->g, n->comps[0]),
                  *body = plan_comp_get(k->g, n->comps[1]);
  k->elements[node] = ARENA_ARRAY(k->g->arena, bool, n->shape.n_members);
  mark_quietly(k, n->operands[0]);
  mark_quietly(k, body->root);
  mark_quietly(k, body->parameter);
  mark_quietly(k, cond->parameter);
  mark(k, cond->root);
}

/* Whether the comparator looks at the i-th array of a sort; a top-k sorts values, then indices. On
 * GPUs it looks at these, too: the sort is stable (topk_decomposer.cc, stable_sort_expander.cc).
 * TPUs sort them, too. */
static bool is_compared(const plan_graph *g, const plan_node *sort, uint32_t i) {
  const ir_op_data *d = ir_op_get(g->m, sort->op);
  if (d->kind == IR_OP_CHLO_TOP_K) return i == 0 || g->memory;
  if (d->n_regions == 0 || !d->regions[0]) return true;
  const ir_block_data *body = ir_block_get(g->m, d->regions[0]);
  if (body->args.count != 2 * sort->n_operands) return true;
  for (uint32_t k = 0; k < body->ops.count; k++) {
    const ir_op_data *use = ir_op_get(g->m, body->ops.at[k]);
    if (use->n_regions) return true;
    for (uint32_t j = 0; j < use->n_operands; j++)
      if (use->operands[j] == body->args.at[2 * i] || use->operands[j] == body->args.at[2 * i + 1])
        return true;
  }
  return false;
}

static bool is_joint_sort(const plan_node *n) { return n->kind == IR_OP_SORT && n->shape.is_tuple; }

static void mark_sorted(marker *k, uint32_t node, uint32_t index) {
  if (k->elements[node][index]) return;
  k->elements[node][index] = true;
  mark(k, plan_node_get(k->g, node)->operands[index]);
}

static void mark_sort(marker *k, uint32_t node) {
  const plan_node *n = plan_node_get(k->g, node);
  if (k->elements[node]) return;
  k->elements[node] = ARENA_ARRAY(k->g->arena, bool, n->shape.n_members);
  for (uint32_t i = 0; i < n->shape.n_members; i++)
    if (is_compared(k->g, n, i)) mark_sorted(k, node, i);
}

static void mark_element(marker *k, uint32_t tuple, uint32_t index) {
  const plan_node *t = plan_node_get(k->g, tuple);
  if (is_joint_sort(t)) {
    mark(k, tuple);
    mark_sort(k, tuple);
    mark_sorted(k, tuple, index);
    return;
  }
  uint32_t loop = t->kind == PLAN_PARAMETER ? plan_comp_get(k->g, t->comp)->caller : tuple;
  const plan_node *n = plan_node_get(k->g, loop);
  mark(k, loop);
  if (!k->elements[loop]) mark_loop(k, loop);
  if (k->elements[loop][index]) return;
  k->elements[loop][index] = true;
  mark(k, plan_node_get(k->g, n->operands[0])->operands[index]);
  mark(k, plan_node_get(k->g, plan_comp_get(k->g, n->comps[1])->root)->operands[index]);
}

static bool is_loop_state(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  if (n->kind == IR_OP_WHILE) return true;
  uint32_t caller = n->kind == PLAN_PARAMETER ? plan_comp_get(g, n->comp)->caller : 0;
  return caller && plan_node_get(g, caller)->kind == IR_OP_WHILE;
}

static void mark_from(marker *k) {
  plan_graph *g = k->g;
  while (k->todo.count) {
    uint32_t id = k->todo.at[--k->todo.count];
    const plan_node *n = plan_node_get(g, id);
    if (n->kind == IR_OP_WHILE) {
      if (!k->elements[id]) mark_loop(k, id);
      continue;
    }
    if (is_joint_sort(n)) {
      mark_sort(k, id);
      continue;
    }
    if (n->kind == IR_OP_GET_TUPLE_ELEMENT &&
        (is_loop_state(g, n->operands[0]) || is_joint_sort(plan_node_get(g, n->operands[0])))) {
      mark_element(k, n->operands[0], n->index);
      continue;
    }
    for (uint32_t i = 0; i < n->n_operands; i++) mark(k, n->operands[i]);
    for (uint32_t i = 0; i < n->n_comps; i++) {
      const plan_comp *c = plan_comp_get(g, n->comps[i]);
      mark(k, c->root);
      if (c->parameter) mark(k, c->parameter);
    }
  }
}

/* ---- what XLA does not see to be dead ---- It takes a state element out if its next value goes
 * into no other element's, again and again (while_loop_simplifier.cc). So elements that make one
 * another stay. */
typedef struct unneeded { /* of one loop */
  marker *k;
  uint32_t parameter, count;
  uint32_t *of;          /* which elements of its state */
  uint32_t *at;          /* by element: its place in `of` + 1; 0: needed */
  bool *goes_to;         /* count x count: from one into the next value of another */
  uint32_t *readers;     /* by place: how many others' next values it goes into */
  bool *is_out;          /* by place: taken out */
  uint32_t *visited_for; /* by node: place in `of` + 1 */
} unneeded;

/* Its place + 1 if the node is such an element, as the body has it. */
static uint32_t unneeded_place(const unneeded *u, const plan_node *n) {
  return n->kind == IR_OP_GET_TUPLE_ELEMENT && n->operands[0] == u->parameter ? u->at[n->index] : 0;
}

static void note_reader(unneeded *u, uint32_t from, uint32_t place) {
  bool *goes = &u->goes_to[from * u->count + place];
  if (!*goes && from != place) u->readers[from]++;
  *goes = true;
}

static void trace_unneeded(unneeded *u, uint32_t next, uint32_t place) {
  stack todo = {0};
  VEC_PUSH(u->k->g->arena, &todo, next);
  while (todo.count) {
    uint32_t id = todo.at[--todo.count];
    const plan_node *n = plan_node_get(u->k->g, id);
    if (u->visited_for[id] == place + 1) continue;
    u->visited_for[id] = place + 1;
    uint32_t from = unneeded_place(u, n);
    if (from) note_reader(u, from - 1, place);
    for (uint32_t i = 0; !from && i < n->n_operands; i++)
      VEC_PUSH(u->k->g->arena, &todo, n->operands[i]);
  }
}

static void take_out(unneeded *u, uint32_t place, stack *todo) {
  if (u->is_out[place] || u->readers[place]) return;
  u->is_out[place] = true;
  VEC_PUSH(u->k->g->arena, todo, place);
}

static void take_out_what_makes_nothing(unneeded *u) {
  stack todo = {0};
  for (uint32_t i = 0; i < u->count; i++) take_out(u, i, &todo);
  while (todo.count) {
    uint32_t gone = todo.at[--todo.count];
    for (uint32_t from = 0; from < u->count; from++) {
      if (from == gone || !u->goes_to[from * u->count + gone]) continue;
      u->readers[from]--;
      take_out(u, from, &todo);
    }
  }
}

static unneeded unneeded_of(marker *k, uint32_t loop) {
  const plan_node *n = plan_node_get(k->g, loop);
  arena *a = k->g->arena;
  unneeded u = {.k = k, .parameter = plan_comp_get(k->g, n->comps[1])->parameter};
  for (uint32_t i = 0; i < n->shape.n_members; i++) u.count += !k->elements[loop][i];
  if (u.count == 0 || u.count > MOST_UNNEEDED) return (unneeded){0};
  u.of = ARENA_ARRAY(a, uint32_t, u.count);
  u.at = ARENA_ARRAY(a, uint32_t, n->shape.n_members);
  u.goes_to = ARENA_ARRAY(a, bool, u.count *u.count);
  u.readers = ARENA_ARRAY(a, uint32_t, u.count);
  u.is_out = ARENA_ARRAY(a, bool, u.count);
  u.visited_for = ARENA_ARRAY(a, uint32_t, k->g->nodes.count);
  for (uint32_t i = 0, place = 0; i < n->shape.n_members; i++)
    if (!k->elements[loop][i]) u.of[place] = i, u.at[i] = ++place;
  return u;
}

/* Marks what stays; whether there was any. */
static bool mark_what_stays(marker *k, uint32_t loop) {
  unneeded u = unneeded_of(k, loop);
  const plan_comp *body = plan_comp_get(k->g, plan_node_get(k->g, loop)->comps[1]);
  for (uint32_t i = 0; i < u.count; i++)
    trace_unneeded(&u, plan_node_get(k->g, body->root)->operands[u.of[i]], i);
  take_out_what_makes_nothing(&u);
  bool found = false;
  for (uint32_t i = 0; i < u.count; i++) {
    if (u.is_out[i]) continue;
    mark_element(k, loop, u.of[i]);
    found = true;
  }
  return found;
}

/* Of what is split dce will take out what XLA would not. */
static bool may_have_more(const marker *k, uint32_t id) {
  const plan_node *n = plan_node_get(k->g, id);
  return k->elements[id] && n->kind == IR_OP_WHILE &&
         !(k->g->is_split && ir_has_own_carries(k->g->m, n->op));
}

static void mark_all_that_stays(marker *k) {
  bool more = true;
  while (more) {
    more = false;
    for (uint32_t id = 1; id < k->g->nodes.count; id++)
      if (may_have_more(k, id)) more |= mark_what_stays(k, id);
    mark_from(k);
  }
}

static void shrink_tuple(plan_graph *g, uint32_t tuple, const bool *keep, uint32_t count) {
  plan_node *t = plan_node_get(g, tuple);
  bool has_members = t->kind == IR_OP_TUPLE || t->kind == IR_OP_SORT;
  plan_shape *members = ARENA_ARRAY(g->arena, plan_shape, count);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!keep[i]) continue;
    members[kept] = t->shape.members[i];
    if (has_members) t->operands[kept] = t->operands[i];
    kept++;
  }
  if (has_members) t->n_operands = kept;
  t->shape = plan_shape_tuple(g->arena, members, kept);
}

static void renumber(plan_graph *g, uint32_t *const *renumbered) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    plan_node *n = plan_node_get(g, id);
    if (n->kind != IR_OP_GET_TUPLE_ELEMENT || !(n->flags & PLAN_FLAG_LIVE)) continue;
    const plan_node *t = plan_node_get(g, n->operands[0]);
    uint32_t owner = t->kind == PLAN_PARAMETER ? plan_comp_get(g, t->comp)->caller : n->operands[0];
    if (renumbered[owner]) n->index = renumbered[owner][n->index];
  }
}

/* Takes the elements that nobody needs out of the loops' and sorts' tuples and numbers the rest
 * anew. */
static void shrink_tuples(marker *k) {
  plan_graph *g = k->g;
  uint32_t **renumbered = ARENA_ARRAY(g->arena, uint32_t *, g->nodes.count);
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    if (!k->elements[id]) continue;
    const plan_node *n = plan_node_get(g, id);
    uint32_t count = n->shape.n_members, next = 0, tuples[5] = {id}, n_tuples = 1;
    if (n->kind == IR_OP_WHILE) {
      const plan_comp *cond = plan_comp_get(g, n->comps[0]), *body = plan_comp_get(g, n->comps[1]);
      tuples[n_tuples++] = n->operands[0];
      tuples[n_tuples++] = cond->parameter;
      tuples[n_tuples++] = body->parameter;
      tuples[n_tuples++] = body->root;
    }
    renumbered[id] = ARENA_ARRAY(g->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
      renumbered[id][i] = next;
      next += k->elements[id][i];
    }
    for (uint32_t t = 0; t < n_tuples; t++) shrink_tuple(g, tuples[t], k->elements[id], count);
  }
  renumber(g, renumbered);
}

static bool has_effect(const plan_graph *g, const plan_node *n) {
  return n->op && (n->kind == PLAN_OPAQUE || n->n_comps) && ir_has_effects(g->m, n->op);
}

void plan_graph_sweep(plan_graph *g) {
  for (uint32_t c = 1; c < g->comps.count; c++) {
    plan_comp *comp = plan_comp_get(g, c);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < comp->nodes.count; i++)
      if (plan_node_get(g, comp->nodes.at[i])->flags & PLAN_FLAG_LIVE)
        comp->nodes.at[kept++] = comp->nodes.at[i];
    comp->nodes.count = kept;
  }
}

static uint32_t last_user(const plan_graph *g, uint32_t node) {
  const plan_node *n = plan_node_get(g, node);
  return n->n_users ? n->users[n->n_users - 1] : 0;
}

/* Each once: what it has read already has it as its last user. */
static void use_operands(plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  for (uint32_t k = 0; k < n->n_operands; k++)
    if (last_user(g, n->operands[k]) != id) plan_add_user(g, n->operands[k], id);
}

static void use_operands_anew(plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  for (uint32_t k = 0; k < n->n_operands; k++)
    if (!seen_before(n, k)) {
      plan_remove_user(g, n->operands[k], id);
      plan_add_user(g, n->operands[k], id);
    }
}

/* In the order in which XLA has them: as in the program, but for dots that are made anew when
 * transposes are folded into them, operands first. */
static void fill_users(plan_graph *g, uint32_t comp) {
  const plan_comp *c = plan_comp_get(g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++) use_operands(g, c->nodes.at[i]);
  const uint32_t *order = plan_post_order(g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++)
    if (plan_node_get(g, order[i])->folded) use_operands_anew(g, order[i]);
}

/* A scatter that others read is not taken into the sum: x + scatter(zeros) as it was. */
static void restore_sums(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    plan_node *n = plan_node_get(g, id);
    bool is_read = n->instead_of && (plan_node_get(g, n->instead_of)->flags & PLAN_FLAG_LIVE);
    if (!is_read || !(n->flags & PLAN_FLAG_LIVE)) continue;
    n->kind = IR_OP_ADD;
    n->in_place = 0;
    n->n_operands = 2;
    n->operands[1] = n->instead_of;
  }
}

void plan_graph_finish(plan_graph *g) {
  marker k = {.g = g, .elements = ARENA_ARRAY(g->arena, bool *, g->nodes.count)};
  mark(&k, plan_comp_get(g, g->entry)->root);
  for (uint32_t n = 1; n < g->nodes.count; n++) {
    const plan_node *node = plan_node_get(g, n);
    if (has_effect(g, node) || (node->kind == PLAN_PARAMETER && node->comp == g->entry))
      mark(&k, n);
  }
  mark_from(&k);
  mark_all_that_stays(&k);
  restore_sums(g);
  shrink_tuples(&k);
  plan_graph_sweep(g);
  for (uint32_t c = 1; c < g->comps.count; c++) fill_users(g, c);
}

/* ---- post order ---- */
static void visit(const plan_graph *g, uint32_t root, uint8_t *state, stack *todo, uint32_t *order,
                  uint32_t *count) {
  VEC_PUSH(g->arena, todo, root);
  while (todo->count) {
    uint32_t id = todo->at[todo->count - 1];
    const plan_node *n = plan_node_get(g, id);
    if (state[id] == 0) {
      state[id] = 1;
      for (uint32_t i = n->n_operands; i-- > 0;)
        if (state[n->operands[i]] == 0) VEC_PUSH(g->arena, todo, n->operands[i]);
      continue;
    }
    todo->count--;
    if (state[id] == 1) order[(*count)++] = id;
    state[id] = 2;
  }
}

uint32_t *plan_post_order(plan_graph *g, uint32_t comp) {
  const plan_comp *c = plan_comp_get(g, comp);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1), count = 0;
  if (g->state_count < g->nodes.count) {
    g->state_count = g->nodes.count;
    g->state = ARENA_ARRAY(g->arena, uint8_t, g->nodes.count);
  }
  uint8_t *state = g->state;
  for (uint32_t i = 0; i < c->nodes.count; i++) state[c->nodes.at[i]] = 0;
  stack todo = {0};
  for (uint32_t i = 0; i < c->nodes.count; i++)
    if (plan_node_get(g, c->nodes.at[i])->n_users == 0)
      visit(g, c->nodes.at[i], state, &todo, order, &count);
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

bool plan_is_output(const plan_graph *g, uint32_t id) {
  for (uint32_t i = 0; i < g->n_outputs; i++)
    if (g->outputs[i] == id) return true;
  return false;
}

ir_kind plan_kind_at_root(const plan_graph *g, const plan_node *n) {
  if (n->kind < IR_OP_COUNT) return (ir_kind)n->kind;
  return n->kind == PLAN_FUSION && n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
}

/* ---- for people ---- */
const char *plan_kind_name(uint16_t kind) {
  static const char *const own[] = {"parameter", "bitcast", "copy", "fusion", "opaque", "relayout"};
  if (kind >= IR_OP_COUNT) return own[kind - IR_OP_COUNT];
  const char *name = ir_kind_name((ir_kind)kind), *dot = strchr(name, '.');
  return dot ? dot + 1 : name;
}
