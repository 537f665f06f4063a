/* What several passes need: op counts, attributes compared by content, blocks filled anew. See
 * pass.h. */
#include "pass/build.h"

#include "base/hash.h"
#include "ir/convolution.h"

bool pass_is_static(const ir_module *m, ir_op op) {
  return ir_all_types(m, op, ir_is_static_tensor);
}

/* Cut at a dimension's low end, and padded at its high end by no more. */
bool pass_misreads_padding(ir_module *m, ir_op conv) {
  int32_t spatial = ir_type_at(m, ir_operand(m, conv, 0))->rank - 2;
  for (int32_t i = 0; i < spatial && ir_is_of_eigen(m, conv); i++) {
    int64_t low = ir_op_entry(m, conv, "padding", 2 * i, 0),
            high = ir_op_entry(m, conv, "padding", 2 * i + 1, 0);
    if (low < 0 && high > 0 && low + high <= 0) return true;
  }
  return false;
}

bool pass_has_foreign_attrs(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (!d->attrs[i].property) return true;
  return false;
}

bool pass_stand_in(const ir_module *m, ir_map *map, ir_op op, ir_value made) {
  if (made) ir_map_set(map, ir_result(m, op, 0), made);
  return made != IR_NONE;
}

static void rewrite_block(pass_rewrite *r, const pass *pass, ir_block block) {
  ir_module *m = r->m;
  ir_ops ops = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    ir_rename_operands(m, op, r->map);
    for (ir_block below, k = 0; (below = ir_next_block(m, op, &k));) rewrite_block(r, pass, below);
    r->b = (ir_builder){m, block, ir_op_get(m, op)->location};
    if (pass->replace(r, op)) r->p->changed = true;
    else ir_block_append(m, block, op);
  }
}

void pass_rewrite_ops(pass_ctx *p, ir_module *m, const pass *pass) {
  pass_rewrite r = {.p = p,
                    .m = m,
                    .map = ir_map_new(p->scratch, m),
                    .uses = ir_count_uses(p->scratch, m, ir_top(m)),
                    .n_values = m->values.count,
                    .small_bytes = pass_small_bytes(p->options)};
  if (pass->begin && !pass->begin(&r)) return;
  rewrite_block(&r, pass, ir_top(m));
  CTX_CHECK(m->ctx, r.n_values <= m->values.count);
}

/* ---- attributes ---- */
ir_op *pass_functions(arena *a, const ir_module *m) {
  ir_op *functions = ARENA_ARRAY(a, ir_op, m->strs.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, ir_top(m), i)); i++) {
    const ir_attr_data *name = ir_op_attr_of(m, op, "sym_name", IR_ATTR_STRING);
    if (name && ir_kind_of(m, op) == IR_OP_FUNC) functions[name->text] = op;
  }
  return functions;
}

/* What says how accurate a product is. */
static const char *const accuracy[] = {"precision_config", "algorithm"};
enum { N_ACCURACY = sizeof accuracy / sizeof *accuracy };

static bool same_attr(const ir_module *m, ir_op a, ir_op b, const char *name) {
  ir_attr x = ir_op_attr(m, a, name), y = ir_op_attr(m, b, name);
  return x && y ? ir_attr_equal(m, x, y) : x == y;
}

bool pass_same_accuracy(const ir_module *m, ir_op dot, ir_op other) {
  bool same = true;
  for (int i = 0; i < N_ACCURACY; i++) same = same && same_attr(m, dot, other, accuracy[i]);
  return same;
}

void pass_set_accuracy(ir_module *m, ir_op dot, ir_op like) {
  for (int i = 0; i < N_ACCURACY; i++) {
    ir_attr a = ir_op_attr(m, like, accuracy[i]);
    if (a) ir_op_set_attr(m, dot, accuracy[i], a, true);
  }
}

/* Of a constant only the first bytes count: enough to tell most apart, and bounded. */
static uint32_t hash_dense(const ir_module *m, const ir_attr_data *d, uint32_t h) {
  size_t n = (size_t)ir_dense_bytes(m, d);
  return n ? hash_bytes(h, d->data, n < 256 ? n : 256) : h;
}

uint32_t pass_attr_hash(const ir_module *m, ir_attr attr) {
  const ir_attr_data *d = ir_attr_get(m, attr);
  uint32_t h = hash_mix(
      hash_mix(hash_mix(hash_mix(HASH_BEGIN, d->kind), d->type), (uint32_t)d->count), d->text);
  switch (d->kind) {
    case IR_ATTR_BOOL: return hash_mix(h, d->boolean);
    case IR_ATTR_INT: return hash_bytes(h, &d->integer, sizeof d->integer);
    case IR_ATTR_I64S:
    case IR_ATTR_BOOLS:
      return d->count ? hash_bytes(h, d->ints, (size_t)d->count * sizeof *d->ints) : h;
    case IR_ATTR_ARRAY:
      for (int32_t i = 0; i < d->count; i++) h = hash_mix(h, pass_attr_hash(m, d->items[i]));
      return h;
    case IR_ATTR_DICT:
      for (int32_t i = 0; i < d->count; i++)
        h = hash_mix(hash_mix(h, d->entries[i].name), pass_attr_hash(m, d->entries[i].value));
      return h;
    case IR_ATTR_DENSE: return hash_dense(m, d, h);
    default: return h;
  }
}
