/* Copies that XLA's copy insertion leaves in a program, as nodes of kind PLAN_COPY.
 *
 * One buffer holds a loop's state element before, in and after the loop, so the initial value is
 * copied if somebody else still needs it, and the next value is copied if the old one is still
 * read when the next is made. An update in place copies its target if that is still needed; a
 * result of the program can be neither an argument nor a constant. Order is that of
 * dependencies: what is not known to come before may come after. Source: XLA's
 * copy_insertion.cc. */
#include "plan/peak_graph.h"

typedef struct copier {
  plan_graph *g;
  uint32_t *seen; /* by node: stamp of the walk that met it */
  uint32_t stamp;
  uint32_t walked;  /* from where the last walk went to its end; 0: the graph is another since */
  uint32_t room;    /* nodes that seen is for */
  int64_t steps;    /* walks left; beyond, an answer is no */
  uint32_t *passed; /* by node: the turn in which an element of a tuple was found to be it */
  uint32_t turn;    /* of the tuple at hand */
  uint32_t *kept;   /* by node: how many elements to come of the tuple at hand no trip changes */
  VEC(uint32_t) todo;
} copier;

/* The node that really makes what `node` stands for. */
static uint32_t source_of(const plan_graph *g, uint32_t node) {
  for (;;) {
    const plan_node *n = plan_node_get(g, node);
    if (n->kind == PLAN_BITCAST) node = n->operands[0];
    else if (n->kind == IR_OP_GET_TUPLE_ELEMENT &&
             plan_node_get(g, n->operands[0])->kind == IR_OP_TUPLE)
      node = plan_node_get(g, n->operands[0])->operands[n->index];
    else return node;
  }
}

/* A copy of `node`, nobody's operand yet. */
static uint32_t copy_in(plan_graph *g, uint32_t comp, uint32_t node) {
  plan_node n = *plan_node_get(g, node);
  plan_node copy = {.kind = PLAN_COPY,
                    .flags = PLAN_FLAG_LIVE,
                    .comp = comp,
                    .n_operands = 1,
                    .shape = n.shape,
                    .op = n.op,
                    .value = n.value};
  copy.operands = ARENA_COPY(g->arena, uint32_t, &node, 1);
  return plan_node_new(g, &copy);
}

static uint32_t copy_of(copier *c, uint32_t node, uint32_t user, uint32_t slot) {
  plan_graph *g = c->g;
  CTX_CHECK(g->m->ctx, plan_node_get(g, user)->operands[slot] == node);
  if (g->nodes.count >= c->room) return node; /* beyond any real program */
  uint32_t made = copy_in(g, plan_node_get(g, user)->comp, node);
  plan_node *u = plan_node_get(g, user);
  u->operands[slot] = made;
  plan_put_between(g, node, made, user);
  if (user == c->walked) c->seen[made] = c->stamp; /* node was met already */
  else c->walked = 0;
  return made;
}

/* a buffer that is not ours to write to */
static bool is_fixed(const plan_graph *g, uint32_t source) {
  const plan_node *n = plan_node_get(g, source);
  if (n->kind == PLAN_PARAMETER) return true;
  if (n->kind == IR_OP_GET_TUPLE_ELEMENT &&
      plan_node_get(g, n->operands[0])->kind == PLAN_PARAMETER)
    return n->flags & PLAN_FLAG_CAPTURE;
  return n->kind == IR_OP_CONSTANT;
}

/* ---- who comes before whom ---- */
static void start_walk(copier *c) {
  c->stamp++;
  c->walked = 0;
  c->todo.count = 0;
}

static void meet(copier *c, uint32_t node) {
  if (c->seen[node] == c->stamp) return;
  c->seen[node] = c->stamp;
  VEC_PUSH(c->g->arena, &c->todo, node);
}

/* Marks what `node` needs. */
static bool walk_back(copier *c, uint32_t node) {
  if (c->walked == node) return c->steps > 0;
  start_walk(c);
  meet(c, node);
  for (; c->todo.count; c->steps--) {
    const plan_node *n = plan_node_get(c->g, c->todo.at[--c->todo.count]);
    for (uint32_t i = 0; i < n->n_operands; i++) meet(c, n->operands[i]);
  }
  c->walked = node;
  return c->steps > 0;
}

static bool all_marked(const copier *c, uint32_t node, uint32_t user) {
  const plan_node *n = plan_node_get(c->g, node);
  for (uint32_t i = 0; i < n->n_users; i++) {
    uint32_t u = n->users[i];
    if (u != user && c->seen[u] != c->stamp) return false;
  }
  return true;
}

static bool is_only_user(const plan_node *n, uint32_t user) {
  return n->n_users == 1 && n->users[0] == user;
}

/* Whether everybody else who reads `source` does so before `user` does: then `user` may
 * overwrite it. */
static bool dies_at(copier *c, uint32_t source, uint32_t user) {
  const plan_node *n = plan_node_get(c->g, source);
  if (is_only_user(n, user)) return true;
  return walk_back(c, user) && all_marked(c, source, user);
}

/* ---- loops ---- */
bool plan_is_carried(const plan_graph *g, uint32_t body, uint32_t index) {
  const plan_node *root = plan_node_get(g, plan_comp_get(g, body)->root),
                  *x = plan_node_get(g, root->operands[index]);
  return !(x->kind == IR_OP_GET_TUPLE_ELEMENT &&
           x->operands[0] == plan_comp_get(g, body)->parameter && x->index == index);
}

static uint32_t element_source(const plan_graph *g, uint32_t tuple, uint32_t i) {
  return source_of(g, plan_node_get(g, tuple)->operands[i]);
}

/* An element of the tuple at hand that was passed is the node. */
static bool appears_before(const copier *c, uint32_t source) {
  return c->passed[source] == c->turn;
}

/* The tuple's element i is as it will be. */
static void pass_element(copier *c, uint32_t tuple, uint32_t i) {
  c->passed[element_source(c->g, tuple, i)] = c->turn;
}

/* Whether an element that is carried begins in the buffer that is there. A loop that keeps the
 * value, too, as an element that no trip changes, needs another one. */
static bool begins_in_place(copier *c, uint32_t source, uint32_t tuple) {
  return !is_fixed(c->g, source) && !appears_before(c, source) && !c->kept[source] &&
         dies_at(c, source, tuple);
}

static void copy_initial(copier *c, uint32_t loop) {
  uint32_t tuple = plan_node_get(c->g, loop)->operands[0],
           body = plan_node_get(c->g, loop)->comps[1], n = plan_node_get(c->g, tuple)->n_operands;
  c->turn++;
  for (uint32_t i = 0; i < n; i++)
    c->kept[element_source(c->g, tuple, i)] += !plan_is_carried(c->g, body, i);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t x = plan_node_get(c->g, tuple)->operands[i], source = source_of(c->g, x);
    if (!plan_is_carried(c->g, body, i)) c->kept[source]--;
    else if (!begins_in_place(c, source, tuple)) copy_of(c, x, tuple, i);
    pass_element(c, tuple, i);
  }
}

static uint32_t element_of(const plan_graph *g, uint32_t parameter, uint32_t index) {
  const plan_node *p = plan_node_get(g, parameter);
  for (uint32_t i = 0; i < p->n_users; i++)
    if (plan_node_get(g, p->users[i])->index == index) return p->users[i];
  return 0;
}

/* Every read of the old value comes before the next one is made, or is where it is made over it. */
static bool replaces_old(copier *c, uint32_t old, uint32_t next) {
  const plan_node *n = plan_node_get(c->g, next);
  if (!old || plan_node_get(c->g, old)->n_users == 0) return true;
  if (!dies_at(c, old, next)) return false;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (source_of(c->g, n->operands[i]) == old && !plan_shares_buffer(c->g, next, 0, i))
      return false;
  return true;
}

/* What a loop leaves is in the buffer of what it began with, so that is where `next` begins. */
static uint32_t beginning_of(const plan_graph *g, uint32_t next) {
  for (;;) {
    const plan_node *n = plan_node_get(g, next), *loop;
    if (n->kind != IR_OP_GET_TUPLE_ELEMENT) return next;
    loop = plan_node_get(g, n->operands[0]);
    if (loop->kind != IR_OP_WHILE) return next;
    next = source_of(g, plan_node_get(g, loop->operands[0])->operands[n->index]);
  }
}

/* Whether the loop that leaves `next` may begin while `old` is still read. */
static bool begins_beside(copier *c, uint32_t old, uint32_t next) {
  uint32_t begin = beginning_of(c->g, next);
  if (!old || begin == next || begin == old || !plan_node_get(c->g, old)->n_users) return false;
  return !walk_back(c, begin) || !all_marked(c, old, begin);
}

/* A copy that all readers of `node` read instead: it may then be overwritten from the start. */
static void copy_for_readers(copier *c, uint32_t node) {
  plan_graph *g = c->g;
  if (g->nodes.count >= c->room) return;
  c->walked = 0;
  plan_node n = *plan_node_get(g, node);
  uint32_t made = copy_in(g, n.comp, node);
  for (uint32_t i = 0; i < n.n_users; i++) plan_take_instead(g, n.users[i], node, made);
  c->passed[made] = c->passed[node];
  c->passed[node] = 0;
  plan_node *original = plan_node_get(g, node);
  original->users = NULL;
  original->n_users = original->users_room = 0;
  plan_add_user(g, node, made);
}

/* The case that makes `next`; 0: none does. */
static uint32_t case_of(const plan_graph *g, uint32_t next) {
  const plan_node *n = plan_node_get(g, next);
  bool is_element = n->kind == IR_OP_GET_TUPLE_ELEMENT;
  return is_element && plan_node_get(g, n->operands[0])->kind == IR_OP_CASE ? n->operands[0] : 0;
}

typedef struct branch { /* of a case */
  uint32_t given, end;  /* what it is given of a value, what it makes of a result; 0: not known */
} branch;

static branch look_into_branch(const plan_graph *g, uint32_t id, uint32_t k, uint32_t old,
                               uint32_t index) {
  branch out = {0, 0};
  const plan_node *n = plan_node_get(g, id);
  const plan_comp *body = plan_comp_get(g, n->comps[k]);
  const plan_node *tuple = plan_node_get(g, n->operands[k + n->n_operands - n->n_comps]),
                  *root = plan_node_get(g, body->root);
  if (tuple->kind != IR_OP_TUPLE || root->kind != IR_OP_TUPLE) return out;
  for (uint32_t i = 0; i < tuple->n_operands && !out.given; i++)
    if (source_of(g, tuple->operands[i]) == old) out.given = element_of(g, body->parameter, i);
  out.end = source_of(g, root->operands[index]);
  if (plan_node_get(g, out.end)->kind == PLAN_COPY)
    out.end = source_of(g, plan_node_get(g, out.end)->operands[0]);
  return out;
}

/* A case writes beside what it reads. But for one that leaves it as it is, or else may make its
 * result over it: that one needs no copy, as XLA has it, if it leaves it in the first branch. */
static bool is_made_beside(copier *c, uint32_t old, uint32_t next) {
  uint32_t id = case_of(c->g, next), n_branches = id ? plan_node_get(c->g, id)->n_comps : 0;
  branch at[2] = {{0, 0}, {0, 0}};
  bool reads = false;
  for (uint32_t k = 0; old && k < n_branches; k++) {
    branch b = look_into_branch(c->g, id, k, old, plan_node_get(c->g, next)->index);
    reads |= b.given != 0;
    if (k < 2) at[k] = b;
  }
  bool over = n_branches == 2 && at[0].given && at[0].given == at[0].end &&
              (!at[1].given || replaces_old(c, at[1].given, at[1].end));
  return reads && !over;
}

static void copy_next(copier *c, uint32_t body) {
  uint32_t root = plan_comp_get(c->g, body)->root, parameter = plan_comp_get(c->g, body)->parameter;
  for (uint32_t i = 0; i < plan_node_get(c->g, root)->n_operands; i++) {
    if (!plan_is_carried(c->g, body, i)) continue;
    uint32_t x = plan_node_get(c->g, root)->operands[i], next = source_of(c->g, x);
    const plan_node *n = plan_node_get(c->g, next);
    bool of_parameter = n->kind == IR_OP_GET_TUPLE_ELEMENT && n->operands[0] == parameter;
    bool own = !of_parameter && n->kind != IR_OP_CONSTANT;
    uint32_t old = element_of(c->g, parameter, i);
    if (!own || begins_beside(c, old, next) || is_made_beside(c, old, next))
      next = copy_of(c, x, root, i);
    if (own && !replaces_old(c, old, next)) copy_for_readers(c, old);
  }
}

/* ---- the rest ---- */
static void copy_branch_results(copier *c, uint32_t comp) {
  uint32_t root = plan_comp_get(c->g, comp)->root;
  if (plan_node_get(c->g, root)->kind != IR_OP_TUPLE) return;
  c->turn++;
  for (uint32_t i = 0; i < plan_node_get(c->g, root)->n_operands; i++) {
    uint32_t x = plan_node_get(c->g, root)->operands[i], source = source_of(c->g, x);
    if (is_fixed(c->g, source) || appears_before(c, source)) copy_of(c, x, root, i);
    pass_element(c, root, i);
  }
}

/* Whether what is written over is another operand, too: of x.at[i].add(x). */
static bool is_read_beside(const plan_graph *g, const plan_node *n, uint32_t slot,
                           uint32_t source) {
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (i != slot && source_of(g, n->operands[i]) == source) return true;
  return false;
}

static void copy_target(copier *c, uint32_t node) {
  const plan_node *n = plan_node_get(c->g, node);
  uint32_t slot = n->in_place - 1, x = n->operands[slot], source = source_of(c->g, x);
  if (is_fixed(c->g, source) || is_read_beside(c->g, n, slot, source) || !dies_at(c, source, node))
    copy_of(c, x, node, slot);
}

/* Whether a result may be made where it has to be: in its own buffer, or in that of the argument
 * donated to it. */
static bool can_be_output(copier *c, uint32_t i, uint32_t x) {
  const plan_graph *g = c->g;
  uint32_t source = source_of(g, x);
  const plan_node *n = plan_node_get(g, source);
  if (n->kind == IR_OP_CONSTANT) return false;
  if (n->kind == PLAN_PARAMETER) return g->param_of_output[i] == (int32_t)n->index;
  if (g->param_of_output[i] < 0) return true;
  uint32_t argument = plan_argument(g, (uint32_t)g->param_of_output[i]);
  return !begins_beside(c, argument, source) && replaces_old(c, argument, source);
}

static uint32_t copied_root(copier *c) {
  plan_graph *g = c->g;
  uint32_t root = plan_comp_get(g, g->entry)->root;
  c->walked = 0;
  uint32_t made = copy_in(g, g->entry, root);
  plan_add_user(g, root, made);
  return plan_comp_get(g, g->entry)->root = made;
}

/* What XLA:GPU finds to be an argument or a constant under another name, and copies: bits as other
 * elements, what rounds to nothing, arrays without elements, what the compiler knows. */
static bool is_taken_over(const plan_graph *g, const plan_node *n) {
  bool is_call = n->kind == PLAN_OPAQUE && n->op;
  switch (is_call ? ir_kind_of(g->m, n->op) : n->kind) {
    case IR_OP_BITCAST_CONVERT:
    case IR_OP_REDUCE_PRECISION:
    case IR_OP_GET_DIMENSION_SIZE:
    case IR_OP_PARTITION_ID:
    case IR_OP_REPLICA_ID:
    case PLAN_COPY: return true;
    default: return !n->shape.is_tuple && n->shape.elements == 0;
  }
}

static void copy_outputs(copier *c) {
  plan_graph *g = c->g;
  uint32_t root = plan_comp_get(g, g->entry)->root;
  /* then the output is the root itself, else the root is their tuple */
  bool single = g->n_outputs == 1, is_copied = false;
  c->turn++;
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    uint32_t x = single ? root : plan_node_get(g, root)->operands[i];
    if (!single && appears_before(c, source_of(g, x))) x = copy_of(c, x, root, i);
    const plan_node *n = plan_node_get(g, source_of(g, x));
    bool made_here = n->kind != PLAN_PARAMETER && n->kind != IR_OP_CONSTANT;
    if (made_here && !can_be_output(c, i, x))
      copy_for_readers(c, plan_argument(g, (uint32_t)g->param_of_output[i]));
    for (int tries = 0; tries < 2 && !made_here && !can_be_output(c, i, x); tries++)
      x = single ? copied_root(c) : copy_of(c, x, root, i);
    is_copied |= !single && is_taken_over(g, plan_node_get(g, x));
    if (!single) pass_element(c, root, i);
    g->outputs[i] = x;
  }
  if (is_copied) plan_add_table(g, g->n_outputs);
}

void plan_insert_copies(plan_graph *g) {
  uint32_t count = g->nodes.count;
  copier c = {.g = g,
              .room = count * 2 + 1024,
              .seen = ARENA_ARRAY(g->arena, uint32_t, count * 2 + 1026),
              .passed = ARENA_ARRAY(g->arena, uint32_t, count * 2 + 1026),
              .kept = ARENA_ARRAY(g->arena, uint32_t, count * 2 + 1026),
              .steps = (int64_t)count * 256 + 1000000};
  for (uint32_t n = 1; n < count; n++) {
    plan_node node = *plan_node_get(g, n);
    if (!(node.flags & PLAN_FLAG_LIVE)) continue;
    if (node.kind == IR_OP_WHILE) {
      copy_initial(&c, n);
      copy_next(&c, node.comps[1]);
    } else if (node.kind == IR_OP_CASE)
      for (uint32_t i = 0; i < node.n_comps; i++) copy_branch_results(&c, node.comps[i]);
    if (node.in_place) copy_target(&c, n);
  }
  copy_outputs(&c);
}
