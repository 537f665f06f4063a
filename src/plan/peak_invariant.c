/* What XLA:TPU makes before a loop of what no trip changes, and keeps until the loop's end; copies
 * that gathers read, and that make results of loops as the caller wants them.
 *
 * Products of f32 by default are made of bf16. A matrix that nothing but products of matrices reads
 * in a loop, whole or by slices, is converted once, before the loop: half of its bytes more.
 * Windows are gathered out of an array in which they lie together. Where the innermost dimension is
 * none of theirs there is a copy, before the loop if no trip changes the array. So is a slice of
 * a single place along that dimension read in each trip, and what windows are scattered into.
 *
 * Found by compiling single loops and gathers for v5e. In: the graph as lowered, before it is
 * fused: what makes such an array makes it as it is read. From the innermost loop outwards, for
 * what is made before a loop may be made before the one around it. */
#include "ir/attrs.h"
#include "plan/peak_graph.h"

/* A copy of so many bytes counts for nothing. */
static bool is_near(const plan_graph *g, int64_t bytes) {
  return bytes <= g->memory->near_copy_bytes;
}

/* ---- what products alone read ---- */
/* Each operand's elements are as precise as the platform likes. */
static bool is_default(const plan_graph *g, const plan_node *dot) {
  if (!dot->op || ir_op_attr(g->m, dot->op, "algorithm")) return false;
  ir_attr list = ir_op_attr(g->m, dot->op, "precision_config");
  const ir_attr_data *a = list ? ir_attr_get(g->m, list) : NULL;
  for (int32_t i = 0; a && a->items && i < a->count; i++)
    if (!strstr(ir_text(g->m, ir_attr_get(g->m, a->items[i])->text), "DEFAULT")) return false;
  return true;
}

static bool is_product_of_matrices(const plan_graph *g, const plan_node *n) {
  const plan_shape *s = &n->shape;
  return n->kind == IR_OP_DOT_GENERAL && s->dtype == IR_F32 && s->rank > 1 &&
         s->dims[s->rank - 1] > 1 && s->dims[s->rank - 2] > 1 && is_default(g, n);
}

static bool is_view(const plan_node *n) {
  switch (n->kind) {
    case PLAN_BITCAST:
    case PLAN_RELAYOUT:
    case IR_OP_SLICE:
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_TRANSPOSE: return true;
    default: return false;
  }
}

/* Made here, of what a loop within reads in this way, or by the program: reads 16 bits. */
static bool is_narrowed(const plan_node *n) {
  return n->kind == IR_OP_CONVERT && (n->narrow || n->shape.dtype == IR_BF16);
}

enum { MOST_VIEWS = 8 };

/* `passed_on`: the tuple of the loop's next state, which has it, too; 0: none. */
static bool products_alone_read(const plan_graph *g, uint32_t id, uint32_t passed_on,
                                int32_t depth) {
  const plan_node *n = plan_node_get(g, id);
  bool found = false;
  for (uint32_t i = 0; i < n->n_users; i++) {
    uint32_t user = n->users[i];
    const plan_node *u = plan_node_get(g, user);
    if (user == passed_on) continue;
    found = true;
    if (is_product_of_matrices(g, u) || is_narrowed(u)) continue;
    bool sees = is_view(u) && u->operands[0] == id && depth > 0;
    if (!sees || !products_alone_read(g, user, 0, depth - 1)) return false;
  }
  return found;
}

static void make_narrow(plan_graph *g, uint32_t id) {
  plan_node *n = plan_node_get(g, id);
  n->shape = plan_shape_make(g->arena, IR_BF16, n->shape.rank, n->shape.dims);
  for (uint32_t i = 0; i < n->n_users; i++) {
    plan_node *u = plan_node_get(g, n->users[i]);
    if (is_narrowed(u)) u->kind = PLAN_BITCAST;
    else if (is_view(u)) make_narrow(g, n->users[i]);
  }
}

/* ---- before a loop ---- */
static void set_member(plan_graph *g, uint32_t id, uint32_t i, const plan_shape *shape) {
  plan_node *n = plan_node_get(g, id);
  plan_shape *members = ARENA_COPY(g->arena, plan_shape, n->shape.members, n->shape.n_members);
  members[i] = *shape;
  n->shape.members = members;
}

void plan_pass_in(plan_graph *g, uint32_t loop, uint32_t i, uint32_t now) {
  const plan_node *n = plan_node_get(g, loop);
  const plan_comp *cond = plan_comp_get(g, n->comps[0]), *body = plan_comp_get(g, n->comps[1]);
  plan_shape shape = plan_node_get(g, now)->shape;
  uint32_t tuple = n->operands[0], old = plan_node_get(g, tuple)->operands[i],
           with_state[] = {loop, tuple, cond->parameter, body->parameter, body->root};
  for (uint32_t k = 0; k < sizeof with_state / sizeof *with_state; k++)
    set_member(g, with_state[k], i, &shape);
  plan_node *t = plan_node_get(g, tuple);
  t->operands[i] = now;
  bool is_read = false, is_new = true;
  for (uint32_t k = 0; k < t->n_operands; k++) {
    is_read |= t->operands[k] == old;
    is_new &= k == i || t->operands[k] != now;
  }
  if (!is_read) plan_remove_user(g, old, tuple);
  if (is_new) plan_add_user(g, now, tuple);
}

uint32_t plan_invariant_element(const plan_graph *g, uint32_t loop, uint32_t i) {
  const plan_node *n = plan_node_get(g, loop);
  const plan_comp *cond = plan_comp_get(g, n->comps[0]), *body = plan_comp_get(g, n->comps[1]);
  uint32_t id = plan_node_get(g, body->root)->operands[i];
  const plan_node *e = plan_node_get(g, id);
  bool is =
      e->kind == IR_OP_GET_TUPLE_ELEMENT && e->operands[0] == body->parameter && e->index == i;
  const plan_node *readers[] = {n, plan_node_get(g, cond->parameter)};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t u = 0; u < readers[k]->n_users && is; u++) {
      const plan_node *r = plan_node_get(g, readers[k]->users[u]);
      is = r->kind == IR_OP_GET_TUPLE_ELEMENT && r->index != i;
    }
  return is ? id : 0;
}

/* `x` in 16 bits, in the loop's computation. */
static uint32_t narrow_copy(plan_graph *g, uint32_t loop, uint32_t x) {
  const plan_node *n = plan_node_get(g, x);
  for (uint32_t i = 0; i < n->n_users; i++)
    if (is_narrowed(plan_node_get(g, n->users[i]))) return n->users[i];
  plan_shape shape = plan_shape_make(g->arena, IR_BF16, n->shape.rank, n->shape.dims);
  return plan_put_on(g, loop, x,
                     (plan_node){.kind = IR_OP_CONVERT, .shape = shape, .narrow = true});
}

static void narrow_state(plan_graph *g, uint32_t loop) {
  uint32_t body = plan_node_get(g, loop)->comps[1], root = plan_comp_get(g, body)->root,
           tuple = plan_node_get(g, loop)->operands[0];
  for (uint32_t i = 0; i < plan_node_get(g, loop)->shape.n_members; i++) {
    const plan_shape *s = &plan_node_get(g, loop)->shape.members[i];
    bool may = s->dtype == IR_F32 && s->true_rank > 1 && !is_near(g, s->bytes / 2);
    uint32_t element = may ? plan_invariant_element(g, loop, i) : 0;
    if (!element || !products_alone_read(g, element, root, MOST_VIEWS)) continue;
    plan_pass_in(g, loop, i, narrow_copy(g, loop, plan_node_get(g, tuple)->operands[i]));
    make_narrow(g, element);
  }
}

/* ---- what windows are gathered of ---- */
static int32_t longer_than_one(const int64_t *sizes, int32_t count, int32_t *out_dims) {
  int32_t found = 0;
  for (int32_t d = 0; d < count; d++)
    if (sizes[d] > 1) out_dims[found++] = d;
  return found;
}

static bool is_of_kind(const plan_graph *g, const plan_node *n, ir_kind kind) {
  return n->kind == kind && (n->flags & PLAN_FLAG_LIVE) && n->op && ir_kind_of(g->m, n->op) == kind;
}

/* Dimensions along which windows extend that a gather reads, or a slice in each trip of a loop, of
 * what no trip changes; 0: none. */
static int32_t window_dims(const plan_graph *g, const plan_node *n, int32_t *out_dims) {
  if (is_of_kind(g, n, IR_OP_GATHER)) {
    ir_ints sizes = ir_op_list(g->m, n->op, "slice_sizes");
    bool is_known = sizes.count == plan_node_get(g, n->operands[0])->shape.rank;
    return is_known ? longer_than_one(sizes.at, sizes.count, out_dims) : 0;
  }
  bool is_slice = n->kind == IR_OP_DYNAMIC_SLICE && (n->flags & PLAN_FLAG_LIVE) &&
                  (plan_node_get(g, n->operands[0])->flags & PLAN_FLAG_CAPTURE);
  return is_slice ? longer_than_one(n->shape.dims, n->shape.rank, out_dims) : 0;
}

static bool lists(const int32_t *dims, int32_t count, int32_t d) {
  for (int32_t i = 0; i < count; i++)
    if (dims[i] == d) return true;
  return false;
}

/* With one of the dimensions innermost: what takes least. */
static device_layout layout_of_windows(const plan_graph *g, const plan_shape *s,
                                       const int32_t *windows, int32_t count) {
  device_layout found = {0, 0};
  int64_t least = INT64_MAX, width = s->bytes / s->elements;
  for (int32_t i = 0; i < count; i++)
    for (int32_t d = s->rank; d-- > 0;) {
      device_layout at = {windows[i], d};
      if (d == windows[i]) continue;
      int64_t bytes = device_laid_out_bytes(g->memory, width, s->rank, s->dims, at);
      if (bytes < least) least = bytes, found = at;
    }
  return found;
}

/* As a slice of single places has them. */
static device_layout in_order(const int32_t *windows, int32_t count, device_layout own) {
  return (device_layout){windows[count - 1], count > 1 ? windows[count - 2] : own.minor};
}

/* The array with these dimensions last, row by row. */
static uint32_t windows_together(plan_graph *g, uint32_t like, uint32_t x, device_layout at) {
  const plan_shape *s = &plan_node_get(g, x)->shape;
  int64_t dims[IR_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < s->rank; d++)
    if (d != at.minor && d != at.second) dims[rank++] = s->dims[d];
  dims[rank++] = s->dims[at.second];
  dims[rank++] = s->dims[at.minor];
  const plan_node *n = plan_node_get(g, x);
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *u = plan_node_get(g, n->users[i]);
    bool is_same = u->by_rows && u->shape.rank == rank &&
                   memcmp(u->shape.dims, dims, (size_t)rank * sizeof *dims) == 0;
    if (is_same) return n->users[i];
  }
  plan_node made = {.kind = IR_OP_TRANSPOSE, .flags = PLAN_FLAG_HELD, .by_rows = true};
  made.shape = plan_shape_make(g->arena, s->dtype, rank, ARENA_COPY(g->arena, int64_t, dims, rank));
  return plan_put_on(g, like, x, made);
}

/* In place of its first operand. */
static void read_first(plan_graph *g, uint32_t reader, uint32_t copy) {
  uint32_t *operands = plan_node_get(g, reader)->operands, x = operands[0];
  operands[0] = copy;
  plan_add_user(g, copy, reader);
  if (plan_operand_index(plan_node_get(g, reader), x) == UINT32_MAX) plan_remove_user(g, x, reader);
}

/* The program's result is a copy. */
static void put_back(plan_graph *g, uint32_t element) {
  uint32_t root = plan_comp_get(g, g->entry)->root;
  plan_node copy = {.kind = PLAN_COPY, .n_operands = 1, .operands = &element};
  copy.shape = plan_node_get(g, element)->shape;
  uint32_t made = plan_node_beside(g, element, copy);
  plan_node_get(g, made)->flags |= PLAN_FLAG_HELD;
  bool is_tuple = root != element;
  plan_read_instead(g, element, made, &root, is_tuple);
  if (is_tuple) plan_remove_user(g, element, root);
  plan_add_user(g, element, made);
}

static void put_results_back(plan_graph *g, uint32_t id) {
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    const plan_node *n = plan_node_get(g, g->outputs[i]);
    bool is_view = n->kind == PLAN_BITCAST && n->operands[0] == id;
    if (g->outputs[i] != id && !is_view) continue;
    plan_node_get(g, id)->flags |= PLAN_FLAG_HELD;
    put_back(g, g->outputs[i]);
  }
}

/* The longest of the other dimensions. */
static int32_t most_places(const plan_shape *s, const int32_t *windows, int32_t count) {
  int32_t found = -1;
  for (int32_t d = 0; d < s->rank; d++)
    if (!lists(windows, count, d) && (found < 0 || s->dims[d] > s->dims[found])) found = d;
  return found;
}

/* Parts of a window on both sides of the places: the result has the places between them, too, as
 * the array. */
static void read_windows(plan_graph *g, uint32_t gather) {
  int32_t windows[IR_MAX_RANK];
  const plan_node *n = plan_node_get(g, gather);
  int32_t count = window_dims(g, n, windows);
  uint32_t x = count ? n->operands[0] : 0;
  const plan_shape *s = &plan_node_get(g, x)->shape;
  if (!x || s->is_tuple || s->true_rank < 2 || s->elements <= 0 || is_near(g, s->bytes)) return;
  device_layout own = device_least_layout(g->memory, s->bytes / s->elements, s->rank, s->dims);
  if (s->dims[own.minor] == 1) return;
  if (lists(windows, count, own.minor)) {
    if (n->kind == IR_OP_GATHER && windows[0] < most_places(s, windows, count))
      put_results_back(g, gather);
    return;
  }
  device_layout at = n->kind == IR_OP_GATHER ? layout_of_windows(g, s, windows, count)
                                             : in_order(windows, count, own);
  uint32_t copy = windows_together(g, gather, x, at);
  read_first(g, gather, copy);
}

/* ---- copies out of a loop ---- */
static void append(plan_graph *g, uint32_t tuple, const plan_shape *shape, uint32_t operand) {
  plan_node *n = plan_node_get(g, tuple);
  uint32_t count = n->shape.n_members;
  plan_shape *members = ARENA_ARRAY(g->arena, plan_shape, count + 1);
  memcpy(members, n->shape.members, count * sizeof *members);
  members[count] = *shape;
  n->shape = plan_shape_tuple(g->arena, members, count + 1);
  if (n->kind != IR_OP_TUPLE) return;
  uint32_t *operands = ARENA_ARRAY(g->arena, uint32_t, count + 1);
  memcpy(operands, n->operands, count * sizeof *operands);
  operands[count] = operand;
  n->operands = operands;
  n->n_operands = count + 1;
  plan_add_user(g, operand, tuple);
}

/* `x`, of the computation around the loop, becomes an element of its state that no trip changes:
 * what the body has. */
static uint32_t pass_on(plan_graph *g, uint32_t loop, uint32_t x) {
  plan_node n = *plan_node_get(g, loop);
  const plan_comp *cond = plan_comp_get(g, n.comps[0]), *body = plan_comp_get(g, n.comps[1]);
  plan_shape shape = plan_node_get(g, x)->shape;
  plan_node element = {.kind = IR_OP_GET_TUPLE_ELEMENT,
                       .flags = PLAN_FLAG_CAPTURE,
                       .index = n.shape.n_members,
                       .shape = shape};
  uint32_t root = body->root, parameter = body->parameter, of_cond = cond->parameter,
           made = plan_put_on(g, root, parameter, element);
  append(g, n.operands[0], &shape, x);
  append(g, root, &shape, made);
  append(g, parameter, &shape, 0);
  append(g, of_cond, &shape, 0);
  append(g, loop, &shape, 0);
  return made;
}

static void move_out(plan_graph *g, uint32_t loop, uint32_t copy) {
  plan_node n = *plan_node_get(g, copy), e = *plan_node_get(g, n.operands[0]);
  const plan_comp *body = plan_comp_get(g, n.comp);
  if (e.kind != IR_OP_GET_TUPLE_ELEMENT || e.operands[0] != body->parameter ||
      plan_invariant_element(g, loop, e.index) != n.operands[0])
    return;
  uint32_t tuple = plan_node_get(g, loop)->operands[0],
           x = plan_node_get(g, tuple)->operands[e.index];
  plan_node outside = n;
  outside.flags = PLAN_FLAG_HELD;
  outside.users = NULL;
  outside.n_users = outside.users_room = 0;
  uint32_t made = plan_put_on(g, loop, x, outside);
  uint32_t inside = pass_on(g, loop, made);
  plan_read_instead(g, copy, inside, n.users, n.n_users);
  plan_node_get(g, copy)->n_users = 0;
  plan_node_get(g, copy)->flags &= (uint8_t)~PLAN_FLAG_LIVE;
  plan_remove_user(g, n.operands[0], copy);
}

static void move_copies_out(plan_graph *g, uint32_t loop, uint32_t body) {
  for (uint32_t i = 0; i < plan_comp_get(g, body)->nodes.count; i++) {
    uint32_t id = plan_comp_get(g, body)->nodes.at[i];
    const plan_node *n = plan_node_get(g, id);
    if (n->by_rows && (n->flags & PLAN_FLAG_LIVE)) move_out(g, loop, id);
  }
}

/* ---- results of loops ---- */
/* A product, or what is computed from one element by element. */
static bool is_of_product(const plan_graph *g, uint32_t id, int32_t depth) {
  const plan_node *n = plan_node_get(g, id);
  if (n->kind == IR_OP_DOT_GENERAL) return true;
  bool sees = plan_is_elementwise(n) || n->kind == PLAN_BITCAST || n->kind == IR_OP_TRANSPOSE;
  for (uint32_t i = 0; i < n->n_operands && sees && depth > 0; i++)
    if (is_of_product(g, n->operands[i], depth - 1)) return true;
  return false;
}

enum { SEEN_OF_UPDATE = 8, MORE_IN_ROWS = 8 };

/* Slices that are no whole tiles, of a product: it may be made in any layout. XLA has the other
 * dimension innermost then, of a product with batches, or if that takes hardly more. */
static bool is_across_tiles(const plan_graph *g, const plan_shape *s, uint32_t slice,
                            device_layout own) {
  device_layout other = {own.second, own.minor};
  int64_t width = s->bytes / s->elements,
          bytes = device_laid_out_bytes(g->memory, width, s->rank, s->dims, own),
          across = device_laid_out_bytes(g->memory, width, s->rank, s->dims, other);
  return plan_node_get(g, slice)->shape.dims[own.minor] % g->memory->tile_lanes != 0 &&
         (s->rank > 2 || across - bytes <= bytes / MORE_IN_ROWS) &&
         is_of_product(g, slice, SEEN_OF_UPDATE);
}

/* Whether the loop writes slices along the innermost dimension so that another is innermost in the
 * loop. Slices of a single place are windows that lie together. */
static bool is_written_across(const plan_graph *g, const plan_node *update) {
  const plan_shape *s = &update->shape;
  bool is = update->kind == IR_OP_DYNAMIC_UPDATE_SLICE && s->true_rank > 1 && s->elements > 0 &&
            !is_near(g, s->bytes);
  if (!is) return false;
  device_layout own = device_least_layout(g->memory, s->bytes / s->elements, s->rank, s->dims);
  const plan_shape *slice = &plan_node_get(g, update->operands[1])->shape;
  if (slice->dims[own.minor] == s->dims[own.minor]) return false;
  bool is_column = slice->dims[own.minor] == 1 && slice->elements > 1;
  return is_column || is_across_tiles(g, s, update->operands[1], own);
}

static void put_states_back(plan_graph *g, uint32_t loop) {
  const plan_comp *body = plan_comp_get(g, plan_node_get(g, loop)->comps[1]);
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    const plan_node *n = plan_node_get(g, g->outputs[i]);
    bool is_its = n->kind == IR_OP_GET_TUPLE_ELEMENT && n->operands[0] == loop;
    if (!is_its) continue;
    uint32_t next = plan_node_get(g, body->root)->operands[n->index];
    if (!is_written_across(g, plan_node_get(g, next))) continue;
    plan_node_get(g, next)->by_rows |= plan_node_get(g, next)->shape.rank > 2;
    put_back(g, g->outputs[i]);
  }
}

/* ---- what windows are scattered into ---- */
static int32_t scattered_dims(const plan_graph *g, const plan_node *n, int32_t *out_dims) {
  ir_gather_numbers at;
  bool is_scatter = is_of_kind(g, n, IR_OP_SCATTER) && n->n_operands == 3 && !n->shape.is_tuple;
  if (!is_scatter || !ir_gather_dims(g->arena, g->m, n->op, &at)) return 0;
  const ir_ints *others[] = {&at.collapsed_slice_dims, &at.operand_batching_dims};
  int32_t found = 0;
  for (int32_t d = 0; d < n->shape.rank; d++) {
    bool is_window = n->shape.dims[d] > 1;
    for (int32_t k = 0; k < 2; k++)
      for (int32_t i = 0; i < others[k]->count; i++) is_window &= others[k]->at[i] != d;
    if (is_window) out_dims[found++] = d;
  }
  return found;
}

/* A splat is made in any layout. */
static bool is_splat(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  return n->kind == IR_OP_BROADCAST_IN_DIM && plan_node_get(g, n->operands[0])->shape.elements == 1;
}

static void write_windows(plan_graph *g, uint32_t scatter) {
  int32_t windows[IR_MAX_RANK];
  const plan_node *n = plan_node_get(g, scatter);
  int32_t count = scattered_dims(g, n, windows);
  const plan_shape *s = &n->shape;
  if (!count || s->true_rank < 2 || s->elements <= 0 || is_near(g, s->bytes)) return;
  device_layout own = device_least_layout(g->memory, s->bytes / s->elements, s->rank, s->dims);
  if (lists(windows, count, own.minor) || s->dims[own.minor] == 1) return;
  uint32_t x = n->operands[0];
  if (!is_splat(g, x)) {
    uint32_t copy = windows_together(g, scatter, x, layout_of_windows(g, s, windows, count));
    read_first(g, scatter, copy);
  }
  put_results_back(g, scatter);
}

/* ---- views that move rows ---- */
/* The last dimension before `end` that is longer than 1; -1: there is none. */
static int32_t last_before(const plan_shape *s, int32_t end) {
  do end--;
  while (end >= 0 && s->dims[end] == 1);
  return end;
}

/* The program's, maybe behind what is computed element by element. */
static bool is_reshape(const plan_graph *g, const plan_node *n) {
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  return plan_is_view(n) && (n->flags & PLAN_FLAG_LIVE) && !n->shape.is_tuple &&
         (kind == IR_OP_RESHAPE || ir_is_elementwise(kind));
}

/* What it is a view of, through reshapes: XLA makes one of them. */
static const plan_node *viewed(const plan_graph *g, const plan_node *n) {
  while (is_reshape(g, n)) n = plan_node_get(g, n->operands[0]);
  return n;
}

/* Whether a reshape has another innermost dimension, or merges or splits the dimensions around it,
 * of which one is no multiple of a tile's rows: so rows begin elsewhere in their tiles. What is
 * spread is spread so at once. */
static bool moves_rows(const plan_graph *g, const plan_node *n) {
  if (!is_reshape(g, n)) return false;
  const plan_shape *from = &viewed(g, n)->shape, *to = &n->shape;
  if (from->is_tuple || from->true_rank < 1 || to->true_rank < 1 || to->elements <= 0 ||
      is_near(g, to->bytes))
    return false;
  int32_t i = last_before(from, from->rank), k = last_before(to, to->rank);
  if (from->dims[i] != to->dims[k]) return viewed(g, n)->kind != IR_OP_BROADCAST_IN_DIM;
  if (from->true_rank < 2 || to->true_rank < 2) return false;
  int64_t rows = device_tile_rows(g->memory, to->bytes / to->elements),
          before = from->dims[last_before(from, i)], after = to->dims[last_before(to, k)];
  return before != after && (before % rows != 0 || after % rows != 0);
}

static int64_t padded_bytes(const plan_graph *g, const plan_shape *s) {
  return device_least_bytes(g->memory, s->bytes / s->elements, s->rank, s->dims);
}

/* What is copied is on the chip first. An argument is read as it lies by products of matrices; what
 * is made for them alone is in 16 bits. */
static void copy_view(plan_graph *g, uint32_t view) {
  plan_node *n = plan_node_get(g, view), *x = plan_node_get(g, n->operands[0]);
  bool is_for_products = products_alone_read(g, view, 0, MOST_VIEWS);
  if (is_for_products && viewed(g, n)->kind == PLAN_PARAMETER) return;
  bool is_made = plan_is_elementwise(x) || x->kind == IR_OP_DOT_GENERAL;
  n->kind = PLAN_OPAQUE;
  n->narrow = is_for_products;
  if (is_for_products && is_made && x->n_users == 1) x->narrow = true;
  int64_t bytes = padded_bytes(g, &n->shape) / (is_for_products ? 2 : 1);
  n->is_far = bytes > g->memory->near_bytes / 2;
}

static void copy_views(plan_graph *g) {
  for (uint32_t id = 1; id < g->nodes.count; id++)
    if (moves_rows(g, plan_node_get(g, id))) copy_view(g, id);
}

void plan_copy_invariants(plan_graph *g) {
  CTX_CHECK(g->m->ctx, g->memory);
  copy_views(g);
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count; id++) {
    read_windows(g, id);
    write_windows(g, id);
  }
  for (uint32_t c = g->comps.count; c-- > 1;) {
    uint32_t caller = plan_comp_get(g, c)->caller;
    const plan_node *n = plan_node_get(g, caller);
    bool is_loop = caller && n->kind == IR_OP_WHILE && (n->flags & PLAN_FLAG_LIVE);
    if (!is_loop || n->comps[1] != c) continue;
    narrow_state(g, caller);
    move_copies_out(g, caller, c);
    put_states_back(g, caller);
  }
  plan_graph_sweep(g);
}
