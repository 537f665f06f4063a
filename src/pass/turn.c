#include "pass/turn.h"

#include "ir/maps.h"
#include "pass/build.h"
#include "pass/line.h"

void pass_turn_begin(pass_turn *t, pass_ctx *p, ir_module *m, ir_block block, int64_t length) {
  uint32_t n = m->values.count;
  *t = (pass_turn){.p = p,
                   .m = m,
                   .block = block,
                   .b = {m, block, IR_NONE},
                   .length = length,
                   .members = pass_along_new(p->scratch, m),
                   .counts = pass_along_new(p->scratch, m),
                   .turned = ARENA_ARRAY(p->scratch, ir_value, n),
                   .stays = ARENA_ARRAY(p->scratch, bool, n)};
}

void pass_turn_start(pass_turn *t, ir_value v, ir_value turned) {
  CTX_CHECK(t->m->ctx, ir_type_of(t->m, v) == ir_type_of(t->m, turned));
  t->members.dims[v] = 0;
  t->turned[v] = turned;
}

/* ---- gathers and scatters ---- */
/* Which dimension of the indices is the only one of their entries; -1: there are others. */
static int32_t only_entry_dim(const pass_turn *t, ir_value indices, const ir_gather_numbers *n) {
  int32_t rank = ir_type_at(t->m, indices)->rank;
  if (rank - (n->index_vector_dim < rank) != 1) return -1;
  return n->index_vector_dim == 0;
}

/* The same of operand 1 or 2 of a scatter; -1: there are others, or each has an operand of its own.
 */
static int32_t entry_dim(const pass_turn *t, ir_op scatter, uint32_t operand) {
  ir_gather_numbers n;
  ir_value indices = ir_operand(t->m, scatter, 1);
  if (operand == 0 || !ir_gather_dims(t->p->scratch, t->m, scatter, &n) ||
      n.start_indices_batching_dims.count)
    return -1;
  int32_t d = only_entry_dim(t, indices, &n);
  if (d < 0 || ir_type_at(t->m, indices)->dims[d] != t->length) return -1;
  return operand == 1 ? d : ir_entry_dim(&n, d);
}

static bool takes_rows(const pass_turn *t, ir_op gather, int32_t dim) {
  const ir_type_data *x = ir_type_at(t->m, ir_operand(t->m, gather, 0));
  ir_ints sizes = ir_op_list(t->m, gather, "slice_sizes");
  for (int32_t d = 0; d < x->rank; d++)
    if (sizes.at[d] != (d == dim ? 1 : x->dims[d])) return false;
  return true;
}

bool pass_turn_is_turned(const pass_turn *t, ir_op op) {
  ir_gather_numbers n;
  ir_module *m = t->m;
  if (ir_kind_of(m, op) != IR_OP_GATHER || !pass_is_static(m, op)) return false;
  ir_value x = ir_operand(m, op, 0), indices = ir_operand(m, op, 1);
  int32_t along = pass_dim_along(&t->members, x), d;
  return along >= 0 && ir_type_of(m, x) == ir_type_of(m, ir_result(m, op, 0)) &&
         ir_gather_dims(t->p->scratch, m, op, &n) && n.start_index_map.count == 1 &&
         n.start_index_map.at[0] == along && n.operand_batching_dims.count == 0 &&
         takes_rows(t, op, along) && (d = only_entry_dim(t, indices, &n)) >= 0 &&
         ir_entry_dim(&n, d) == along && t->are_places(t, indices);
}

/* ---- readers ---- */
/* Of operand i of a reader: the dimension that is walked in any order; -1: none. */
static int32_t reader_dim(const pass_turn *t, ir_op op, uint32_t i) {
  if (ir_kind_of(t->m, op) == IR_OP_SCATTER) return entry_dim(t, op, i);
  if (ir_kind_of(t->m, op) == IR_OP_GATHER)
    return i ? -1 : t->members.dims[ir_operand(t->m, op, 0)];
  int32_t index = pass_index_along(&t->members, op);
  bool is_reduced = index >= ir_type_at(t->m, ir_result(t->m, op, 0))->rank;
  return is_reduced ? pass_operand_along(&t->members, op, i, index) : -1;
}

/* No window reaches beyond its place. */
static bool are_windows_apart(const pass_turn *t, ir_op scatter) {
  ir_gather_numbers n;
  if (!ir_gather_dims(t->p->scratch, t->m, scatter, &n)) return false;
  for (int32_t i = 0; i < n.start_index_map.count; i++)
    if (!ir_ints_have(n.collapsed_slice_dims, n.start_index_map.at[i])) return false;
  return true;
}

/* Entries can be scattered in any order: they are combined, or no two meet. */
static bool scatters_in_any_order(const pass_turn *t, ir_op op) {
  ir_value places;
  ir_block body = ir_body(t->m, op);
  if (ir_op_get(t->m, op)->n_operands != 3 || entry_dim(t, op, 1) < 0 || entry_dim(t, op, 2) < 0)
    return false;
  if (ir_reducer_kind(t->m, body) != IR_OP_UNKNOWN) return true;
  return ir_is_putting(t->m, body) && are_windows_apart(t, op) &&
         pass_line_sort(t->m, ir_operand(t->m, op, 1), t->length, &places);
}

bool pass_turn_is_reader(const pass_turn *t, ir_op op) {
  const ir_op_data *d = ir_op_get(t->m, op);
  if (d->n_results != 1 || !pass_is_static(t->m, op)) return false;
  switch (d->kind) {
    case IR_OP_DOT_GENERAL: break;
    case IR_OP_GATHER: return pass_turn_is_turned(t, op);
    case IR_OP_REDUCE:
      if (ir_reducer_kind(t->m, d->regions[0]) == IR_OP_UNKNOWN) return false;
      break;
    case IR_OP_SCATTER:
      if (!scatters_in_any_order(t, op)) return false;
      break;
    default: return false;
  }
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (pass_turn_is_member(t, d->operands[i]) &&
        reader_dim(t, op, i) != t->members.dims[d->operands[i]])
      return false;
  return true;
}

/* ---- leaves ---- */
/* v counts dimension d, in a type that has numbers enough. */
static bool is_count(const pass_turn *t, ir_value v, int32_t d) {
  ir_dtype dtype = ir_type_at(t->m, v)->dtype;
  bool is_wide = dtype == IR_I32 || dtype == IR_I64 || dtype == IR_UI32 || dtype == IR_UI64;
  return is_wide && t->length <= INT32_MAX && pass_counted_dim(t->m, v) == d;
}

/* Made in the new order already, along this dimension. */
static bool is_turned(const pass_turn *t, ir_value v, int32_t d) {
  return pass_dim_along(&t->members, v) == d || pass_dim_along(&t->counts, v) == d;
}

static void look_at_leaf(pass_turn *t, ir_value v, int32_t d) {
  if (d < 0 || is_turned(t, v, d) || pass_is_alike_along(t->m, v, d)) return;
  ir_op op = ir_value_get(t->m, v)->op;
  int64_t bytes = ir_value_bytes(t->m, v);
  if (op && ir_kind_of(t->m, op) != IR_OP_CONSTANT && bytes > t->leaf_bytes) t->leaf_bytes = bytes;
}

/* ---- marks ---- */
/* What the op reads is made of counts, or the same at each index. */
static bool counts_alone(const pass_turn *t, ir_op op, int32_t index) {
  for (ir_value v, i = 0; (v = ir_operand_at(t->m, op, i)); i++) {
    int32_t d = pass_operand_along(&t->counts, op, i, index);
    if (d >= 0 && !is_turned(t, v, d) && !pass_is_alike_along(t->m, v, d)) return false;
  }
  return true;
}

static bool mark_count(pass_turn *t, ir_op op) {
  ir_value v = ir_kind_of(t->m, op) == IR_OP_IOTA ? ir_result(t->m, op, 0) : IR_NONE;
  int64_t d = v && pass_is_static(t->m, op) ? pass_counted_dim(t->m, v) : -1;
  if (d < 0 || ir_type_at(t->m, v)->dims[d] != t->length || !is_count(t, v, (int32_t)d))
    return false;
  t->counts.dims[v] = (int32_t)d;
  return true;
}

/* What the op is made of: members, else counts. */
static pass_along *made_of(pass_turn *t, ir_op op) {
  return pass_reads_along(&t->members, op) ? &t->members : &t->counts;
}

static void mark_member(pass_turn *t, ir_op op) {
  pass_along *of = made_of(t, op);
  int32_t d = mark_count(t, op) ? IR_ALONE : pass_result_along(of, op);
  if (d == IR_ALONE || (of == &t->counts && !counts_alone(t, op, d))) return;
  of->dims[ir_result(t->m, op, 0)] = d;
  for (uint32_t i = 0; i < ir_op_get(t->m, op)->n_operands; i++)
    look_at_leaf(t, ir_operand(t->m, op, i), pass_operand_along(of, op, i, d));
}

/* What an op, or one in its regions, reads of members has to stay. */
static void keep_operands(pass_turn *t, ir_op op) {
  for (ir_walk w = ir_walk_op(t->m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(t->m, w.op, i)); i++)
      if (pass_turn_is_member(t, v)) t->stays[v] = true;
}

static void mark_stays(pass_turn *t, ir_op op) {
  const ir_op_data *d = ir_op_get(t->m, op);
  bool is_member = d->n_results == 1 && pass_turn_is_member(t, ir_result(t->m, op, 0));
  if (is_member ? t->stays[ir_result(t->m, op, 0)] : !pass_turn_is_reader(t, op))
    keep_operands(t, op);
}

void pass_turn_mark(pass_turn *t) {
  const ir_ops *ops = &ir_block_get(t->m, t->block)->ops;
  for (uint32_t i = 0; i < ops->count; i++) {
    mark_member(t, ops->at[i]);
    if (!pass_reads_along(&t->members, ops->at[i]) || !pass_turn_is_reader(t, ops->at[i])) continue;
    for (uint32_t k = 0; k < ir_op_get(t->m, ops->at[i])->n_operands; k++)
      look_at_leaf(t, ir_operand(t->m, ops->at[i], k), reader_dim(t, ops->at[i], k));
  }
  for (uint32_t i = ops->count; i-- > 0;) mark_stays(t, ops->at[i]);
}

/* ---- in the new order ---- */
static ir_value places_of(pass_turn *t) {
  if (!t->found_places) t->found_places = t->places(t);
  return t->found_places;
}

static ir_value turned_count(pass_turn *t, ir_value v) {
  ir_type type = ir_type_of(t->m, v);
  ir_value q = ir_build_convert(&t->b, places_of(t), ir_type_get(t->m, type)->dtype);
  int64_t to = t->counts.dims[v];
  return ir_build_broadcast(&t->b, q, type, &to);
}

static ir_value turned(pass_turn *t, ir_value v, int32_t d) {
  if (d < 0 || pass_is_alike_along(t->m, v, d)) return v;
  return is_turned(t, v, d) ? t->turned[v] : ir_build_rows(&t->b, v, d, places_of(t));
}

static void turn_member(pass_turn *t, ir_op op) {
  uint32_t n = ir_op_get(t->m, op)->n_operands;
  ir_value *x = ARENA_ARRAY(t->p->scratch, ir_value, n);
  const pass_along *of = made_of(t, op);
  ir_value y = ir_result(t->m, op, 0);
  for (uint32_t i = 0; i < n; i++)
    x[i] = turned(t, ir_operand(t->m, op, i), pass_operand_along(of, op, i, of->dims[y]));
  ir_type type = ir_type_of(t->m, y);
  ir_op made = ir_build_again(&t->b, op, x, &type);
  if (ir_kind_of(t->m, op) == IR_OP_GATHER)
    ir_op_set_attr(t->m, made, "indices_are_sorted", ir_attr_bool(t->m, false), true);
  t->turned[y] = ir_result(t->m, made, 0);
}

/* 0, 1, .. in place of these indices of a line. */
static ir_value in_order(pass_turn *t, ir_value indices) {
  ir_type type = ir_type_of(t->m, indices);
  ir_type line = ir_tensor(t->m, ir_type_get(t->m, type)->dtype, 1, &t->length);
  return ir_build_reshape(&t->b, ir_build_iota(&t->b, line, 0), type);
}

static void turn_reader(pass_turn *t, ir_op op) {
  ir_module *m = t->m;
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_value *x = ARENA_ARRAY(t->p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++) x[i] = turned(t, ir_operand(m, op, i), reader_dim(t, op, i));
  if (ir_kind_of(m, op) == IR_OP_GATHER) x[1] = in_order(t, x[1]);
  for (uint32_t i = 0; i < n; i++) ir_op_get(m, op)->operands[i] = x[i];
  if (ir_kind_of(m, op) == IR_OP_SCATTER)
    ir_op_set_attr(m, op, "indices_are_sorted", ir_attr_bool(m, false), true);
}

static bool is_of(const pass_along *s, ir_op op) {
  return ir_op_get(s->m, op)->n_results == 1 && pass_dim_along(s, ir_result(s->m, op, 0)) >= 0;
}

static void turn_count(pass_turn *t, ir_op op) {
  if (ir_kind_of(t->m, op) != IR_OP_IOTA) turn_member(t, op);
  else t->turned[ir_result(t->m, op, 0)] = turned_count(t, ir_result(t->m, op, 0));
}

static void turn(pass_turn *t, ir_op op) {
  if (is_of(&t->counts, op)) turn_count(t, op);
  else if (!pass_reads_along(&t->members, op)) return;
  else if (is_of(&t->members, op)) turn_member(t, op);
  else if (pass_turn_is_reader(t, op)) turn_reader(t, op);
}

/* Nothing before `from` is made of members, but counts may be, which then are turned behind it. */
void pass_turn_rewrite(pass_turn *t, ir_op from) {
  ir_ops ops = ir_take_ops(t->m, t->block);
  bool begun = false;
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    t->b.location = ir_op_get(t->m, op)->location;
    if (begun) turn(t, op);
    ir_block_append(t->m, t->block, op);
    if (op != from) continue;
    begun = true;
    for (uint32_t k = 0; k < i; k++)
      if (is_of(&t->counts, ops.at[k])) turn_count(t, ops.at[k]);
  }
}

/* ---- all of a module ---- */
static void turn_block(pass_ctx *p, ir_module *m, ir_block block, pass_turn_try *turn) {
  const ir_ops *ops = &ir_block_get(m, block)->ops;
  uint32_t n = ops->count;
  ir_op *all = ARENA_COPY(p->scratch, ir_op, ops->at, n);
  for (uint32_t i = 0; i < n; i++) p->changed |= turn(p, m, block, all[i]);
}

weir_status pass_turn_each(pass_ctx *p, ir_module *m, pass_turn_try *turn) {
  const ir_ops *top = &ir_block_get(m, ir_top(m))->ops; /* blocks move as some are added */
  uint32_t n = top->count;
  ir_op *functions = ARENA_COPY(p->scratch, ir_op, top->at, n);
  for (uint32_t i = 0; i < n; i++)
    if (ir_kind_of(m, functions[i]) == IR_OP_FUNC && ir_function_body(m, functions[i]))
      turn_block(p, m, ir_function_body(m, functions[i]), turn);
  return WEIR_OK;
}
