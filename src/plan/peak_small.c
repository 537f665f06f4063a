/* What XLA:TPU leaves in memory of programs whose temporaries fit on the chip: single numbers that
 * are taken out of arrays, results that nobody reads, tables of tuples. Each is small, but they lie
 * far apart, and the report has what is between them twice (spacing_bytes).
 *
 * Tables of fusions with several results, of copies to and from the chip, and of loops count only
 * where anything else is left there. How many copies there are is not modelled: one of each
 * argument, and one more. Sources: buffer assignments that XLA:TPU prints. */
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/peak_graph.h"

enum { /* tables, at most about */
       TABLES_OF_LOOP = 4,
       TABLES_OF_SORT = 3,
       TABLES_OF_SCATTER = 5,  /* in a loop */
       TABLES_OF_PLACES = 3,   /* of a loop that writes windows at places */
       TABLES_OF_BATCHES = 5,  /* of one that gathers them, by batches */
       ARRAYS_OF_THREEFRY = 4, /* of random bits' key */
       ARRAYS_OF_PHILOX = 8,
       LOOPS_OF_F64 = 3 /* in place of a product in f64, a solve or a factor */
};

static bool is_live(const plan_node *n) { return n->flags & PLAN_FLAG_LIVE; }

/* ---- single numbers ---- */
/* One number that is made of an array. */
static bool is_single(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  if (n->shape.is_tuple || n->shape.elements != 1 || n->n_operands == 0 || plan_is_output(g, id))
    return false;
  const plan_node *from = plan_node_get(g, n->operands[0]);
  return !from->shape.is_tuple && from->shape.elements > 1;
}

/* XLA folds it, or it counts among the coefficients. */
static bool is_of_constant(const plan_graph *g, const plan_node *n) {
  while (n->kind == PLAN_BITCAST || n->kind == IR_OP_SLICE || n->kind == IR_OP_TRANSPOSE ||
         n->kind == IR_OP_BROADCAST_IN_DIM)
    n = plan_node_get(g, n->operands[0]);
  return n->kind == IR_OP_CONSTANT;
}

static bool is_taken_out(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  bool takes = n->kind == IR_OP_SLICE || n->kind == IR_OP_DYNAMIC_SLICE;
  return takes && is_single(g, id) && !is_of_constant(g, n) && !plan_is_coefficient(g, n);
}

static bool is_sum(const plan_graph *g, uint32_t id) {
  uint16_t kind = plan_node_get(g, id)->kind;
  return (kind == IR_OP_REDUCE || kind == IR_OP_DOT_GENERAL) && is_single(g, id);
}

/* Numbers that are taken out of one array come as the results of one fusion. */
static bool is_taken_apart(const plan_graph *g, const plan_node *n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_users; i++) count += is_taken_out(g, n->users[i]);
  return count > 1;
}

/* But the trip's. */
static int64_t numbers_of(const plan_shape *state) {
  int64_t count = -1;
  for (uint32_t i = 0; i < state->n_members; i++) count += state->members[i].elements == 1;
  return count > 0 ? count : 0;
}

/* In a computation and in what it runs. Loops one after the other have the same places for them,
 * but on chips where nothing is near. */
static int64_t singles_in(const plan_graph *g, uint32_t comp) {
  const plan_comp *c = plan_comp_get(g, comp);
  int64_t own = 0, most = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(g, c->nodes.at[i]);
    own += is_taken_out(g, c->nodes.at[i]) || is_sum(g, c->nodes.at[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) {
      int64_t run = singles_in(g, n->comps[k]);
      if (n->kind == IR_OP_WHILE && k == 1) run += numbers_of(&n->shape);
      if (g->memory->near_bytes == 0) own += run;
      else if (run > most) most = run;
    }
  }
  return own + most;
}

/* ---- loops ---- */
/* A scatter in a loop leaves small arrays in memory: what it scatters into, places, values. */
static bool is_in_loop(const plan_graph *g, const plan_node *n) {
  uint32_t caller = plan_comp_get(g, n->comp)->caller;
  if (!caller) return false;
  const plan_node *c = plan_node_get(g, caller);
  return c->kind == IR_OP_WHILE || is_in_loop(g, c);
}

/* Whether windows at places extend along a dimension that places are given in. */
static bool has_windows_along(const ir_gather_numbers *at) {
  return at->start_index_map.count > at->collapsed_slice_dims.count;
}

static int64_t tables_of_places(const plan_graph *g, const plan_node *n) {
  ir_gather_numbers at;
  bool is_gather = n->kind == IR_OP_GATHER;
  if (!n->op || ir_kind_of(g->m, n->op) != n->kind || (!is_gather && n->kind != IR_OP_SCATTER) ||
      !ir_gather_dims(g->arena, g->m, n->op, &at) || !has_windows_along(&at))
    return 0;
  if (!is_gather) return TABLES_OF_PLACES;
  return at.operand_batching_dims.count ? TABLES_OF_BATCHES : 0;
}

bool plan_makes_bits(const plan_graph *g, const plan_node *n, const char *algorithm) {
  if (!n->op || n->kind != PLAN_OPAQUE || ir_kind_of(g->m, n->op) != IR_OP_RNG_BIT_GENERATOR)
    return false;
  const char *text = ir_op_string(g->m, n->op, "rng_algorithm"), *word = "";
  size_t length = text ? ir_enum_word(text, "rng_algorithm", &word) : 0;
  return word_is(word, length, algorithm);
}

/* Once for all bits that are made of a key. */
static int64_t arrays_of_key(const plan_graph *g, const plan_node *key) {
  bool has_philox = false, has_threefry = false;
  for (uint32_t i = 0; i < key->n_users; i++) {
    const plan_node *user = plan_node_get(g, key->users[i]);
    has_philox |= plan_makes_bits(g, user, "PHILOX");
    has_threefry |= plan_makes_bits(g, user, "THREE_FRY");
  }
  return has_philox ? ARRAYS_OF_PHILOX : has_threefry ? ARRAYS_OF_THREEFRY : 0;
}

static bool is_of_top_k(const plan_graph *g, const plan_node *n) {
  return n->op && ir_kind_of(g->m, n->op) == IR_OP_CHLO_TOP_K;
}

/* Of ops that leave something in memory wherever they stand. */
static int64_t tables_of(const plan_graph *g, const plan_node *n) {
  int64_t of_places = tables_of_places(g, n);
  switch (n->kind) {
    case IR_OP_WHILE: return TABLES_OF_LOOP;
    case IR_OP_SORT: return is_of_top_k(g, n) ? 0 : TABLES_OF_SORT;
    case IR_OP_SCATTER: return is_in_loop(g, n) ? TABLES_OF_SCATTER : of_places;
    default: return of_places + arrays_of_key(g, n);
  }
}

/* XLA:TPU makes loops of the node. Products of matrices in f64 are loops over products of bf16. */
static int64_t loops_of(const plan_graph *g, const plan_node *n) {
  ir_dtype made = (n->shape.is_tuple && n->shape.n_members ? n->shape.members : &n->shape)->dtype;
  bool multiplies = n->n_hidden || (plan_is_product(g, n) && n->shape.true_rank > 1),
       is_expanded = n->n_hidden && n->kind != IR_OP_WHILE && n->kind != IR_OP_SORT;
  return made == IR_F64 && multiplies ? LOOPS_OF_F64 : is_expanded;
}

/* ---- all of them ---- */
static bool has_results(const plan_graph *g, const plan_node *n) {
  ir_kind kind = n->op ? ir_kind_of(g->m, n->op) : IR_OP_UNKNOWN;
  return n->shape.is_tuple &&
         (kind == IR_OP_REDUCE || kind == IR_OP_SORT || kind == IR_OP_CHLO_TOP_K) &&
         n->kind != IR_OP_GET_TUPLE_ELEMENT && n->kind != IR_OP_TUPLE;
}

/* A complex number is taken apart. */
static bool is_complex_number(const plan_graph *g, const plan_node *n) {
  return n->kind == PLAN_PARAMETER && n->comp == g->entry && n->shape.elements == 1 &&
         ir_is_complex(n->shape.dtype);
}

void plan_count_small(plan_graph *g) {
  int64_t others = 0, held = 0;
  bool takes_out = false;
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!is_live(n)) continue;
    others += is_taken_apart(g, n) + has_results(g, n);
    others += n->kind == PLAN_PARAMETER && n->comp == g->entry;
    held += tables_of(g, n) + is_complex_number(g, n);
    takes_out |= is_taken_out(g, id);
  }
  g->is_small_left = takes_out || held > 0;
  g->n_small = 1 + others + held + singles_in(g, g->entry);
  CTX_CHECK(g->m->ctx, g->n_small >= 1 && held >= 0);
}

bool plan_is_left_unread(const plan_graph *g, uint32_t id, uint32_t member) {
  const plan_node *n = plan_node_get(g, id);
  if (!has_results(g, n) || member >= n->shape.n_members) return false;
  for (uint32_t i = 0; i < n->n_users; i++) {
    const plan_node *user = plan_node_get(g, n->users[i]);
    if (user->kind != IR_OP_GET_TUPLE_ELEMENT || user->index == member) return false;
  }
  return true;
}

/* Bytes of one in memory, with what lies around it. */
int64_t plan_apart_bytes(const device_memory *memory, int64_t bytes) {
  int64_t spacing = memory->spacing_bytes, up = saturated_sum(bytes, spacing - 1) / spacing;
  return saturated_product(saturated_product(up, spacing), 2) - bytes;
}

static bool is_copy_for_update(const plan_graph *g, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  return n->kind == PLAN_COPY && n->n_users == 1 && plan_node_get(g, n->users[0])->in_place;
}

/* Copies that updates in place begin with, of one array: it is in memory, and they are made of it
 * there. A splat is made for each of them. */
static uint32_t copies_of(const plan_graph *g, const plan_node *n) {
  uint32_t count = 0;
  if (n->kind == PLAN_PARAMETER || n->kind == IR_OP_BROADCAST_IN_DIM || n->shape.is_tuple ||
      n->comp != g->entry)
    return 0;
  for (uint32_t i = 0; i < n->n_users; i++) count += is_copy_for_update(g, n->users[i]);
  return count > 1 ? count : 0;
}

int64_t plan_small_bytes(const plan_graph *g, bool is_near, int64_t unread_bytes) {
  const device_memory *m = g->memory;
  CTX_CHECK(g->m->ctx, m->spacing_bytes > 0 && unread_bytes >= 0);
  int64_t table = plan_apart_bytes(m, m->align_bytes), loops = 0, tables = g->n_small,
          arrays = unread_bytes;
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!is_live(n)) continue;
    loops += loops_of(g, n);
    uint32_t copies = is_near ? copies_of(g, n) : 0;
    if (copies) arrays = saturated_sum(arrays, plan_apart_bytes(m, n->shape.bytes));
    tables += copies ? copies + 1 : 0;
  }
  if (!g->is_small_left && arrays == 0) tables = 0;
  tables = saturated_product(tables + g->n_coefficients, table);
  return saturated_sum(saturated_sum(tables, arrays), saturated_product(loops, m->loop_bytes));
}
