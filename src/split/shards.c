#include "split/shards.h"

#include "base/strbuf.h"
#include "ir/attrs.h"
#include "ir/shardings.h"
#include "split/stages.h"
#include "split/state.h"

static bool names_axes(const char *from, const char *end) {
  return memchr(from, '"', (size_t)(end - from)) != NULL;
}

/* What does not read counts as sharded. */
bool split_is_sharded(const ir_module *m, ir_value v, int32_t dim) {
  const char *sharding = ir_value_sharding(m, v), *end;
  if (!sharding) return false;
  const char *axes = ir_sharding_dim(sharding, dim, &end),
             *stop = ir_sharding_find(sharding, 1, '>', 0),
             *partial = strstr(sharding, "unreduced=");
  return !axes || !stop || names_axes(axes, end) || (partial && partial < stop);
}

/* ---- whose values they are ---- */
static int64_t partitions(const ir_module *m) {
  return ir_op_int(m, m->root, "mhlo.num_partitions", 1);
}

/* Over how many devices the computation's axes go; 0: can't say. */
static int64_t manual_devices(const ir_module *m, ir_op manual) {
  const char *mesh = ir_sharding_mesh(m, ir_sharding_of(m, manual, "in_shardings", 0)),
             *axes = ir_sharding_text(m, ir_op_attr(m, manual, "manual_axes"));
  ir_axes whole, named;
  if (!mesh) mesh = ir_sharding_mesh(m, ir_sharding_of(m, manual, "out_shardings", 0));
  bool known = mesh && axes && ir_axes_of_mesh(mesh, &whole) &&
               ir_axes_named(&whole, axes, axes + strlen(axes), &named);
  return known ? ir_axes_devices(&named) : 0;
}

static bool is_fully_manual(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_SDY_MANUAL_COMPUTATION &&
         manual_devices(m, op) == partitions(m);
}

/* Whether the block stands in a manual computation over all devices. */
static bool is_local(const ir_module *m, ir_block block) {
  while (block) {
    ir_op parent = ir_block_get(m, block)->parent;
    if (!parent || is_fully_manual(m, parent)) return parent != IR_NONE;
    block = ir_op_get(m, parent)->block;
  }
  return false;
}

split_spread split_spread_of(const ir_module *m) {
  ir_op main = ir_main_function(m);
  if (partitions(m) == 1 || !main) return SPLIT_SINGLE;
  for (ir_op op, i = 0; (op = ir_body_op_at(m, ir_body(m, main), i)); i++)
    if (ir_kind_of(m, op) != IR_OP_CONSTANT && !is_fully_manual(m, op)) return SPLIT_SHARDED;
  return SPLIT_MANUAL;
}

/* ---- what may be split ---- */
static bool is_only_read(split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  if (!op || ir_op_get(r->m, op)->block != r->block) return true;
  return !split_is_large(r, v) && !r->member_of[op] && split_outside_stage(r, v) == 0;
}

/* Nothing else than a value that is only read, seen another way. */
static bool is_view(split_region *r, ir_value v) {
  while (!is_only_read(r, v)) {
    const ir_op_data *d = ir_op_get(r->m, ir_value_get(r->m, v)->op);
    if (d->n_operands != 1 || !(ir_kind_flags((ir_kind)d->kind) & IR_FLAG_M)) return false;
    v = d->operands[0];
  }
  return true;
}

static bool puts_out_sharded(const split_region *r, const split_member *member) {
  const ir_op_data *d = ir_op_get(r->m, member->op);
  for (uint32_t i = 0; i < d->n_results; i++) {
    ir_value v = d->first_result + i;
    split_pos pos = member->factor.results[i];
    bool is_put_out = !split_is_large(r, v) || r->needed_outside[v];
    if (is_put_out && pos.dim >= 0 && split_is_sharded(r->m, v, pos.dim)) return true;
  }
  return false;
}

/* In a partly manual computation, nothing: the dimensions of its values are sharded once more than
 * their texts say. */
static bool is_under_main(const ir_module *m, ir_block block) {
  return !ir_is_within(m, block, IR_OP_SDY_MANUAL_COMPUTATION);
}

bool split_is_spread(const ir_module *m, ir_block block) {
  return partitions(m) != 1 && !is_local(m, block);
}

/* Each device has a part of a sum: what a loop adds up would be added up by each of them. */
static bool has_unreduced(const ir_module *m) {
  for (ir_attr a = 1; a < m->attrs.count; a++) {
    const char *text = ir_sharding_text(m, a);
    if (text && strstr(text, "unreduced")) return true;
  }
  return false;
}

bool split_may_split(split_region *r) {
  if (!split_is_spread(r->m, r->block)) return true;
  bool good = is_under_main(r->m, r->block) && !has_unreduced(r->m);
  for (uint32_t i = 0; good && i < r->instances.count; i++) {
    const split_instance *x = &r->instances.at[i];
    good = x->pos.dim < 0 || !split_is_sharded(r->m, x->value, x->pos.dim) || is_view(r, x->value);
  }
  for (uint32_t i = 0; good && i < r->members.count; i++)
    good = !puts_out_sharded(r, &r->members.at[i]);
  return good;
}

/* ---- inputs of the loops ---- */
/* The value whole along `dim`: a constraint in front of the ops that follow in `block`. */
static ir_value unsharded(ir_module *m, ir_block block, ir_value v, int32_t dim) {
  const char *sharding = ir_value_sharding(m, v), *end,
             *axes = ir_sharding_dim(sharding, dim, &end),
             *stop = ir_sharding_find(sharding, 1, '>', 0);
  if (!axes || !stop) return v;
  strbuf text = strbuf_make(m->arena);
  strbuf_printf(&text, "#sdy.sharding%.*s{}%.*s>", (int)(axes - sharding), sharding,
                (int)(stop - end), end);
  return ir_build_sharding_constraint(m, block, v, text.text);
}

static void unshard_loop(ir_module *m, ir_block block, ir_op loop) {
  ir_ints dims = ir_op_list(m, loop, "in_dims");
  for (int32_t i = 0; i < dims.count; i++) {
    ir_value v = ir_operand(m, loop, (uint32_t)i);
    if (dims.at[i] >= 0 && split_is_sharded(m, v, (int32_t)dims.at[i])) {
      ir_value whole = unsharded(m, block, v, (int32_t)dims.at[i]);
      ir_op_get(m, loop)->operands[i] = whole;
    }
  }
}

static void drop_sharding(const ir_module *m, ir_op op) {
  ir_op_data *d = ir_op_get(m, op);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (strcmp(ir_text(m, d->attrs[i].name), "sdy.sharding")) d->attrs[kept++] = d->attrs[i];
  d->n_attrs = kept;
}

static void unshard_block(ir_module *m, ir_block block) {
  ir_ops old = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    ir_kind kind = ir_kind_of(m, op);
    if (kind == IR_OP_LOOP) {
      unshard_loop(m, block, op);
      for (ir_walk w = ir_walk_block(m, ir_body(m, op)); ir_next(&w);) drop_sharding(m, w.op);
    }
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_regions; k++)
      if (ir_op_get(m, op)->regions[k] && kind != IR_OP_SDY_MANUAL_COMPUTATION)
        unshard_block(m, ir_op_get(m, op)->regions[k]);
    if (kind == IR_OP_WHILE) drop_sharding(m, op); /* XLA changes its carries, not the list */
    ir_block_append(m, block, op);
  }
}

void split_unshard_inputs(ir_module *m) {
  ir_op main = ir_main_function(m);
  if (partitions(m) > 1 && main) unshard_block(m, ir_body(m, main));
}
