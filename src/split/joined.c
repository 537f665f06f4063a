#include "split/joined.h"

#include <assert.h>

#include "ir/attrs.h"
#include "ir/fold.h"
#include "split/linear.h"
#include "split/loops.h"

/* A carry that a trip adds to, and what comes of it behind the loop. */
typedef struct addend {
  uint32_t result; /* of the loop */
  ir_value arg;    /* of its body */
  ir_op add, root; /* in the body; the last of the sums that it goes into, behind the loop */
  ir_value sum;    /* of the first of its root: what these come to */
} addend;

typedef struct joining {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int64_t threshold_bytes;
  ir_users users;       /* of the block */
  const uint32_t *uses; /* by value: in the block and below */
  bool *is_gone;        /* by value: carried with another that it is added to */
  ir_map *renamed;
  ir_op *roots;            /* by op: of its result, or itself */
  addend **added, **first; /* of the loop at hand, by op: what it adds to; the first of its root */
} joining;

/* ---- looking ---- */
static bool is_plain_add(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  return d->kind == IR_OP_ADD && !d->n_attrs && d->operands[0] != d->operands[1];
}

/* The last of the additions that v goes into, and nothing else reads; IR_NONE: it goes into none.
 */
static ir_op root_of(const joining *j, ir_value v) {
  ir_op op = ir_user_at(&j->users, v, 0);
  j->m->ctx->looked_at++;
  return op && is_plain_add(j->m, op) && !ir_user_at(&j->users, v, 1) ? j->roots[op] : IR_NONE;
}

/* The last op first: who reads it is known. */
static void find_roots(joining *j) {
  for (uint32_t i = ir_block_get(j->m, j->block)->ops.count; i-- > 0;) {
    ir_op op = ir_op_at(j->m, j->block, i);
    if (!is_plain_add(j->m, op)) continue;
    ir_op root = root_of(j, ir_result(j->m, op, 0));
    j->roots[op] = root ? root : op;
  }
}

static ir_op addition_to(const joining *j, ir_block body, ir_value arg, ir_value yielded);

/* A loop that adds to it block by block. */
static bool adds_in_blocks(const joining *j, ir_op op, ir_value arg) {
  if (ir_kind_of(j->m, op) != IR_OP_LOOP || ir_op_get(j->m, op)->n_results != 1) return false;
  split_loop l = split_loop_get(j->m, op);
  ir_block body = ir_body(j->m, op);
  uint32_t at = 0;
  while (at < l.n_inputs && ir_operand(j->m, op, at) != arg) at++;
  if (at == l.n_inputs || l.out_dims[0] < 0 || l.in_dims[at] != l.out_dims[0] ||
      l.in_units[at] != l.out_units[0])
    return false;
  ir_op add = addition_to(j, body, ir_argument(j->m, body, at + 2), ir_yielded(j->m, body, 0));
  return add && ir_kind_of(j->m, add) == IR_OP_ADD;
}

static bool adds(const joining *j, ir_op op, ir_value arg) {
  return is_plain_add(j->m, op) &&
         (ir_operand(j->m, op, 0) == arg || ir_operand(j->m, op, 1) == arg);
}

/* What yields the argument with something added to it; IR_NONE: others see it, too. */
static ir_op addition_to(const joining *j, ir_block body, ir_value arg, ir_value yielded) {
  ir_op op = ir_value_get(j->m, yielded)->op;
  bool is_own =
      op && ir_op_get(j->m, op)->block == body && j->uses[arg] == 1 && j->uses[yielded] == 1;
  return is_own && (adds(j, op, arg) || adds_in_blocks(j, op, arg)) ? op : IR_NONE;
}

static bool find_addend(const joining *j, ir_op loop, uint32_t result, uint32_t operand,
                        addend *out) {
  ir_module *m = j->m;
  ir_block body = ir_body(m, loop);
  ir_value v = ir_result(m, loop, result);
  if (!ir_is_static_tensor(m, ir_type_of(m, v)) || ir_value_bytes(m, v) <= j->threshold_bytes ||
      !split_may_add_parts(m, v) || !ir_is_zero(m, ir_operand(m, loop, operand)))
    return false;
  *out = (addend){.result = result, .root = root_of(j, v)};
  out->arg = ir_argument(m, body, operand + 2); /* behind start and lo */
  if (out->root) out->add = addition_to(j, body, out->arg, ir_yielded(m, body, result));
  return out->add;
}

static uint32_t find_addends(const joining *j, ir_op loop, addend *out) {
  split_loop l = split_loop_get(j->m, loop);
  uint32_t n = 0, operand = l.n_inputs;
  for (uint32_t r = 0; r < ir_op_get(j->m, loop)->n_results; r++)
    if (l.out_dims[r] < 0) n += find_addend(j, loop, r, operand++, &out[n]);
  return n;
}

/* ---- joining ---- */
static void yield(ir_module *m, ir_op loop, uint32_t result, ir_value v) {
  ir_op_get(m, ir_terminator(m, ir_body(m, loop)))->operands[result] = v;
}

/* The next one adds to what the ones before it came to. */
static void go_on(joining *j, ir_op loop, const addend *a, ir_value sum) {
  ir_op_data *d = ir_op_get(j->m, a->add);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (d->operands[i] == a->arg) d->operands[i] = sum;
  ir_op add = ir_maker(j->m, sum, IR_OP_ADD);
  if (add) ir_op_set_attr(j->m, add, "keep", ir_attr_bool(j->m, true), false);
  yield(j->m, loop, a->result, a->arg);
  j->is_gone[ir_result(j->m, loop, a->result)] = true;
}

/* All that goes into one root, in the order in which the body makes it: the first one's carry has
 * what they come to. Returns whether it is another. */
static bool join(joining *j, ir_op loop, addend *a) {
  addend **first = &j->first[a->root];
  if (*first) go_on(j, loop, a, (*first)->sum);
  else *first = a;
  (*first)->sum = ir_result(j->m, a->add, 0);
  return *first != a;
}

static int32_t join_loop(joining *j, ir_op loop) {
  ir_block body = ir_body(j->m, loop);
  addend *all = ARENA_ARRAY(j->scratch, addend, ir_op_get(j->m, loop)->n_results + 1);
  uint32_t n = ir_op_get(j->m, loop)->whole ? 0 : find_addends(j, loop, all);
  int32_t joined = 0;
  for (addend *a = all; a < all + n; a++) {
    assert(!j->added[a->add]);
    j->added[a->add] = a, j->first[a->root] = NULL;
  }
  for (ir_op op, i = 0; n > 1 && (op = ir_body_op_at(j->m, body, i)); i++)
    if (j->added[op]) joined += join(j, loop, j->added[op]);
  for (const addend *a = all; a < all + n; a++)
    if (j->first[a->root] == a) yield(j->m, loop, a->result, a->sum);
  return joined;
}

/* What is added to nothing any more is the other operand. */
static void note_sum(joining *j, ir_op op) {
  if (!is_plain_add(j->m, op)) return;
  ir_value x = ir_map_get(j->renamed, ir_operand(j->m, op, 0)),
           y = ir_map_get(j->renamed, ir_operand(j->m, op, 1));
  if (j->is_gone[x] || j->is_gone[y])
    ir_map_set(j->renamed, ir_result(j->m, op, 0), j->is_gone[x] ? y : x);
}

int32_t split_join_sums(ir_module *m, ir_block block, ir_op first, int64_t threshold_bytes) {
  arena *scratch = arena_create(m->ctx);
  joining j = {m, scratch, block, threshold_bytes};
  j.users = ir_users_of_block(scratch, m, block);
  j.uses = ir_count_uses(scratch, m, block);
  j.is_gone = ARENA_ARRAY(scratch, bool, m->values.count);
  j.renamed = ir_map_new(scratch, m);
  j.roots = ARENA_ARRAY(scratch, ir_op, m->ops.count);
  find_roots(&j);
  j.added = ARENA_ARRAY(scratch, addend *, m->ops.count);
  j.first = ARENA_ARRAY(scratch, addend *, m->ops.count);
  int32_t joined = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    if (op >= first && ir_kind_of(m, op) == IR_OP_LOOP) joined += join_loop(&j, op);
    else if (joined) note_sum(&j, op);
  }
  if (joined) ir_replace_uses(m, block, j.renamed);
  arena_destroy(scratch);
  return joined;
}
