#include "split/joined.h"

#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/fold.h"
#include "split/additions.h"
#include "split/box.h"
#include "split/linear.h"

typedef struct root root;

/* A carry that a trip adds to, and what comes of it behind the loop. */
typedef struct addend {
  uint32_t result; /* of the loop */
  split_addition addition;
  root *root;
  split_box box;       /* of the root */
  struct addend *next; /* of the same loop */
} addend;

/* What sums come to that are added and put together; by the op that does so last. */
struct root {
  ir_type type;
  uint32_t position; /* in the block */
  int64_t bytes;     /* of its addends */
  uint32_t count;
  bool is_moved;  /* an addend is a part of it, or lies in another shape */
  ir_value sum;   /* of the loops before; IR_NONE: there is none yet */
  addend *holder; /* in the loop at hand, whose carry has all of them; NULL: none yet */
  ir_value now;   /* in its body: what it came to so far */
};

typedef struct rest_of { /* a root that has more: what is added to it reads it as it was */
  ir_op add;
  ir_value rest;
} rest_of;

typedef struct joining {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int64_t threshold_bytes;
  ir_users users;       /* of the block */
  ir_op *runs;          /* of additions in it */
  const uint32_t *uses; /* by value: in the block and below */
  addend **of_loop;     /* by op: the first of a loop */
  root **roots;         /* by op */
  uint32_t *positions;  /* by op of the block */
  addend **begins;      /* by op of a body: of which it is the first to read the carry */
  addend **of_op;       /* by op of a body: which it adds to */
  bool *passes;         /* by op: an addend goes through it */
  uint32_t n_values;
  bool *gone; /* by value: it is 0 now, as what went into it is carried elsewhere */
  ir_map *renamed;
  ir_type *types;     /* by value: before it was a root's sum; IR_NONE: it is none */
  VEC(rest_of) rests; /* of the block that is made again */
} joining;

/* ---- which are joined ---- */
static root *root_at(joining *j, ir_op op) {
  if (!j->roots[op]) {
    j->roots[op] = ARENA_NEW(j->scratch, root);
    *j->roots[op] = (root){ir_type_of(j->m, ir_result(j->m, op, 0)), j->positions[op]};
  }
  return j->roots[op];
}

static void find_addend(joining *j, ir_op loop, uint32_t result, uint32_t operand) {
  ir_module *m = j->m;
  ir_block body = ir_body(m, loop);
  ir_value v = ir_result(m, loop, result), arg = ir_argument(m, body, operand + 2);
  addend a = {.result = result, .next = j->of_loop[loop]};
  if (!ir_is_static_tensor(m, ir_type_of(m, v)) || !split_may_add_parts(m, v) ||
      !ir_is_zero(m, ir_operand(m, loop, operand)))
    return;
  ir_op last = split_last_through(m, &j->users, j->runs, v, &a.box);
  if (!last ||
      !split_find_addition(m, j->uses, body, arg, ir_yielded(m, body, result), &a.addition))
    return;
  a.root = root_at(j, last);
  a.root->bytes = saturated_sum(a.root->bytes, ir_value_bytes(m, v));
  a.root->count++;
  a.root->is_moved |= !a.box.is_all;
  j->of_loop[loop] = ARENA_COPY(j->scratch, addend, &a, 1);
}

static void find_addends(joining *j, ir_op loop) {
  ir_loop l = ir_loop_get(j->m, loop);
  uint32_t operand = l.n_inputs;
  for (uint32_t r = 0; r < ir_op_get(j->m, loop)->n_results; r++)
    if (l.out_dims[r] < 0) find_addend(j, loop, r, operand++);
}

/* There are several, or the parts that there are would be there beside it. */
static bool is_worth_it(const joining *j, const root *r) {
  int64_t bytes = ir_type_bytes(j->m, r->type);
  return bytes > j->threshold_bytes && r->bytes >= bytes - r->bytes &&
         (r->count > 1 || r->is_moved);
}

static void choose(joining *j, addend *a) {
  const split_addition *adds = &a->addition;
  for (uint32_t k = 0; k < adds->count; k++) {
    j->of_op[adds->by[k].op] = a;
    if (adds->by[k].slice) j->of_op[adds->by[k].slice] = a;
  }
}

/* A while may add to two carries. */
static bool is_taken(const joining *j, const addend *a) {
  bool is = false;
  for (uint32_t k = 0; k < a->addition.count; k++) is |= j->of_op[a->addition.by[k].op] != NULL;
  return is;
}

/* Those of one root are added one after the other: none begins before another has ended. */
static int32_t choose_addends(joining *j, ir_op loop) {
  ir_block body = ir_body(j->m, loop);
  int32_t chosen = 0;
  for (addend *a = j->of_loop[loop]; a; a = a->next)
    if (is_worth_it(j, a->root)) j->begins[split_addition_begins(&a->addition)] = a;
  for (ir_op op, i = 0; (op = ir_body_op_at(j->m, body, i)); i++) {
    addend *a = j->begins[op];
    if (a && (a->root->holder || is_taken(j, a))) a = j->begins[op] = NULL;
    if (a) choose(j, a->root->holder = a), chosen++;
    if ((a = j->of_op[op]) && op == split_addition_ends(&a->addition)) a->root->holder = NULL;
  }
  return chosen;
}

static bool is_joined(const joining *j, const addend *a) {
  return j->begins[split_addition_begins(&a->addition)] == a;
}

static root *last_of(root *a, root *b) { return !a || (b && b->position > a->position) ? b : a; }

/* Each op between a joined sum and its root. Roots may be on the way to others: a part of a tensor
 * comes to an end where that is in another shape, and what is added to all of it goes on. */
static void mark_paths(joining *j) {
  root **to = ARENA_ARRAY(j->scratch, root *, j->n_values);
  for (ir_op op, i = 0; (op = ir_op_at(j->m, j->block, i)); i++) {
    root *r = NULL;
    for (ir_value v, k = 0; (v = ir_operand_at(j->m, op, k)); k++) r = last_of(r, to[v]);
    j->passes[op] = r;
    if (r && r != j->roots[op]) to[ir_result(j->m, op, 0)] = r;
    for (addend *a = j->of_loop[op]; a; a = a->next) {
      ir_value v = ir_result(j->m, op, a->result);
      j->gone[v] = is_joined(j, a);
      to[v] = j->gone[v] ? a->root : NULL;
    }
  }
}

/* ---- a loop's body ---- */
static void yield(ir_module *m, ir_op loop, uint32_t result, ir_value v) {
  ir_op_get(m, ir_terminator(m, ir_body(m, loop)))->operands[result] = v;
}

/* It adds to what those before came to; that is held apart. */
static void begin_addend(joining *j, addend *a) {
  root *r = a->root;
  ir_op add = r->holder ? ir_maker(j->m, r->now, IR_OP_ADD) : IR_NONE;
  if (add) ir_op_set_attr(j->m, add, "keep", ir_attr_bool(j->m, true), false);
  if (r->holder) return;
  r->holder = a, r->now = a->addition.arg;
  ir_value_get(j->m, r->now)->type = r->type;
}

static void rebuild_body(joining *j, ir_op loop) {
  ir_module *m = j->m;
  ir_block body = ir_body(m, loop);
  split_adding s = {{m, body, IR_NONE}, j->uses, ir_map_new(j->scratch, m)};
  ir_ops old = ir_take_ops(m, body);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    addend *a = j->of_op[op];
    if (j->begins[op]) begin_addend(j, a);
    if (a) split_add_to_part(&s, &a->addition, op, &a->box, &a->root->now);
    else ir_block_append(m, body, op);
  }
  ir_replace_uses(m, body, s.renamed);
}

/* Its root's, of the loop's carries, begins with what the loops before came to. */
static void hold(joining *j, ir_op loop, const addend *a) {
  ir_module *m = j->m;
  root *r = a->root;
  ir_loop l = ir_loop_get(m, loop);
  uint32_t operand = l.n_inputs;
  for (uint32_t i = 0; i < a->result; i++) operand += l.out_dims[i] < 0;
  ir_builder before = {m, j->block, ir_op_get(m, loop)->location};
  if (!r->sum && a->addition.type != r->type) r->sum = ir_build_zeros(&before, r->type);
  if (r->sum) ir_op_get(m, loop)->operands[operand] = r->sum;
  yield(m, loop, a->result, r->now);
  r->sum = ir_result(m, loop, a->result);
  CTX_CHECK(m->ctx, !j->types[r->sum]); /* one root's alone */
  j->types[r->sum] = ir_type_of(m, r->sum);
  ir_value_get(m, r->sum)->type = r->type;
  r->holder = NULL;
}

/* At the end of the block, from which it was taken. */
static void append_loop(joining *j, ir_op loop) {
  addend *all = j->of_loop[loop];
  if (all) rebuild_body(j, loop);
  for (addend *a = all; a; a = a->next) {
    if (!is_joined(j, a)) continue;
    if (a->root->holder == a) hold(j, loop, a);
    else yield(j->m, loop, a->result, a->addition.arg);
  }
  ir_block_append(j->m, j->block, loop);
}

/* ---- the block ---- */
/* What was read, not what is read instead: that may be a loop's result, which has all of a root. */
static bool reads_gone(const joining *j, ir_op op, uint32_t i) {
  return j->gone[ir_operand(j->m, op, i)];
}

static ir_type type_before(const joining *j, ir_value v) {
  return j->types[v] ? j->types[v] : ir_type_of(j->m, v);
}

/* Parts that are carried elsewhere are 0 in what is put together of others, too. */
static void append_with_zeros(joining *j, ir_op op) {
  ir_builder b = {j->m, j->block, ir_op_get(j->m, op)->location};
  for (uint32_t i = 0; i < ir_op_get(j->m, op)->n_operands; i++)
    if (reads_gone(j, op, i))
      ir_op_get(j->m, op)->operands[i] =
          ir_build_zeros(&b, type_before(j, ir_operand(j->m, op, i)));
  ir_block_append(j->m, j->block, op);
}

/* What is left of an op that sums went through: nothing, one side of an addition, or itself. */
static void append_rest(joining *j, ir_op op) {
  ir_value v = ir_result(j->m, op, 0);
  bool is_add = ir_kind_of(j->m, op) == IR_OP_ADD;
  uint32_t n = ir_kind_of(j->m, op) == IR_OP_PAD ? 1 : ir_op_get(j->m, op)->n_operands, gone = 0;
  for (uint32_t i = 0; i < n; i++) gone += reads_gone(j, op, i);
  if (gone == n) j->gone[v] = true;
  else if (gone && is_add)
    ir_map_set(j->renamed, v,
               ir_map_get(j->renamed, ir_operand(j->m, op, reads_gone(j, op, 0) ? 1 : 0)));
  else append_with_zeros(j, op);
}

/* An addition of what the loops carry to something else; false: another root. */
static bool append_sum(joining *j, ir_op op) {
  if (ir_kind_of(j->m, op) != IR_OP_ADD || reads_gone(j, op, 0) == reads_gone(j, op, 1))
    return false;
  ir_op_get(j->m, op)->operands[reads_gone(j, op, 0) ? 0 : 1] = j->roots[op]->sum;
  ir_block_append(j->m, j->block, op);
  return true;
}

/* What is left of the root, and what the loops carry of it. */
static void append_root(joining *j, ir_op op) {
  ir_module *m = j->m;
  if (append_sum(j, op)) return;
  append_rest(j, op);
  ir_value v = ir_result(m, op, 0), sum = j->roots[op]->sum;
  ir_builder b = {m, j->block, ir_op_get(m, op)->location};
  if (!j->gone[v]) {
    sum = ir_build_add(&b, v, sum);
    VEC_PUSH(j->scratch, &j->rests, ((rest_of){ir_value_get(m, sum)->op, v}));
  }
  j->gone[v] = false;
  ir_map_set(j->renamed, v, sum);
}

static void rebuild_block(joining *j) {
  ir_ops old = ir_take_ops(j->m, j->block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    if (j->of_loop[op]) append_loop(j, op);
    else if (!j->passes[op]) ir_block_append(j->m, j->block, op);
    else if (j->roots[op] && j->roots[op]->sum) append_root(j, op);
    else append_rest(j, op);
  }
  ir_replace_uses(j->m, j->block, j->renamed);
  for (const rest_of *r = j->rests.at; r < VEC_END(j->rests); r++)
    ir_op_get(j->m, r->add)->operands[0] = r->rest;
}

int32_t split_join_sums(ir_module *m, ir_block block, ir_op first, int64_t threshold_bytes) {
  arena *scratch = arena_create(m->ctx);
  joining j = {m, scratch, block, threshold_bytes};
  j.users = ir_users_of_block(scratch, m, block);
  j.runs = split_runs_of_additions(scratch, m, &j.users, block);
  j.uses = ir_count_uses(scratch, m, block);
  j.n_values = m->values.count;
  j.gone = ARENA_ARRAY(scratch, bool, j.n_values);
  j.types = ARENA_ARRAY(scratch, ir_type, j.n_values);
  j.renamed = ir_map_new(scratch, m);
  j.of_loop = ARENA_ARRAY(scratch, addend *, m->ops.count);
  j.roots = ARENA_ARRAY(scratch, root *, m->ops.count);
  j.positions = ARENA_ARRAY(scratch, uint32_t, m->ops.count);
  j.begins = ARENA_ARRAY(scratch, addend *, m->ops.count);
  j.of_op = ARENA_ARRAY(scratch, addend *, m->ops.count);
  j.passes = ARENA_ARRAY(scratch, bool, m->ops.count);
  int32_t joined = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) j.positions[op] = i;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (op >= first && ir_kind_of(m, op) == IR_OP_LOOP && !ir_op_get(m, op)->whole)
      find_addends(&j, op);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (j.of_loop[op]) joined += choose_addends(&j, op);
  if (joined) mark_paths(&j), rebuild_block(&j);
  arena_destroy(scratch);
  return joined;
}
