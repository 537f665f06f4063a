/* inverse: what reads an inverse permutation in any order reads it in the order of the sort.
 *
 *   y[p] = u, p from a sort of places       (zeros.at[argsort(x)].set(u))
 *   sum_i f(y_i, d_i)   =  sum_k f(u_k, d[p_k])
 *
 * and so of any reduction over i and any scatter that adds up (or multiplies, takes extremes, ..)
 * its entries. y is not made: u is there in the order of the sort, in which sorts are made slice by
 * slice, and so is what is gathered of d by p.
 *
 * What is between y and its readers (`members`) is made of elements along y's dimension, and is
 * made anew in the other order. Requires: a verified module. Breaks: nothing; what lost its uses
 * stays for dce. Sums of floats are rounded in another order. Left alone: what has any other
 * reader; permutations that are small against the limit. Cost: linear, for each such scatter.
 */
#include "ir/maps.h"
#include "pass/build.h"
#include "pass/line.h"

typedef struct turner {
  pass_ctx *p;
  ir_module *m;
  ir_block block;
  ir_builder b;
  ir_op put; /* y[places] = u */
  ir_value places;
  int64_t length;
  uint32_t n_values;
  int32_t *along;     /* by value: the dimension that y's elements lie along; -1: no member */
  ir_value *in_order; /* of values: made once */
} turner;

static bool is_member(const turner *f, ir_value v) { return v < f->n_values && f->along[v] >= 0; }

/* ---- y ---- */
/* Puts an element at each place of a line, in the order of a sort. */
static bool find_inverse(turner *f, ir_op op) {
  ir_module *m = f->m;
  ir_gather_numbers n;
  if (ir_kind_of(m, op) != IR_OP_SCATTER || ir_op_get(m, op)->n_operands != 3 ||
      !pass_is_static(m, op) || !ir_is_putting(m, ir_body(m, op)) ||
      !ir_scatter_dims(f->p->scratch, m, op, &n))
    return false;
  ir_value y = ir_result(m, op, 0), u = ir_operand(m, op, 2);
  if (ir_type_at(m, y)->rank != 1 || ir_type_of(m, y) != ir_type_of(m, u) ||
      n.collapsed_slice_dims.count != 1 || n.start_index_map.count != 1 ||
      ir_value_bytes(m, y) <= pass_small_bytes(f->p->options))
    return false;
  f->put = op;
  f->length = ir_type_at(m, y)->dims[0];
  ir_op sort = pass_line_sort(m, ir_operand(m, op, 1), f->length, &f->places);
  return sort && ir_op_get(m, sort)->block == f->block;
}

/* ---- what is made of it ---- */
static bool may_be_member(const turner *f, ir_op op) {
  ir_kind k = ir_kind_of(f->m, op);
  return ir_op_get(f->m, op)->n_results == 1 && pass_is_static(f->m, op) &&
         (ir_is_elementwise(k) || ir_is_move(k) || k == IR_OP_CONCATENATE || k == IR_OP_REDUCE);
}

/* The index of y's dimension in the op's loop nest; IR_ALONE: none, or several. */
static int32_t index_of(const turner *f, ir_op op) {
  int32_t at[IR_MAX_RANK], index = IR_ALONE;
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)); i++) {
    if (!is_member(f, v)) continue;
    if (!ir_operand_indices(f->p->scratch, f->m, op, i, at)) return IR_ALONE;
    int32_t here = at[f->along[v]];
    if (here == IR_ALONE || (index != IR_ALONE && index != here)) return IR_ALONE;
    index = here;
  }
  return index;
}

static bool reads_member(const turner *f, ir_op op) {
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_operands; i++)
    if (is_member(f, ir_operand(f->m, op, i))) return true;
  return false;
}

/* ---- its readers ---- */
/* The one dimension of the entries; -1: there are others. */
static int32_t entry_dim(const turner *f, ir_value v, const ir_gather_numbers *n, bool is_index) {
  int32_t found = -1;
  const ir_type_data *t = ir_type_at(f->m, v);
  for (int32_t d = 0; d < t->rank; d++) {
    if (is_index ? d == n->index_vector_dim : ir_ints_have(n->offset_dims, d)) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found >= 0 && t->dims[found] == f->length ? found : -1;
}

/* Of operand i of a reader: the dimension that is walked in any order; -1: none. */
static int32_t reader_dim(const turner *f, ir_op op, uint32_t i) {
  ir_gather_numbers n;
  if (ir_kind_of(f->m, op) == IR_OP_REDUCE)
    return ir_operand_dim(f->p->scratch, f->m, op, i, index_of(f, op));
  if (i == 0 || !ir_scatter_dims(f->p->scratch, f->m, op, &n)) return -1;
  return entry_dim(f, ir_operand(f->m, op, i), &n, i == 1);
}

static bool is_reader(const turner *f, ir_op op) {
  ir_kind k = ir_kind_of(f->m, op);
  const ir_op_data *d = ir_op_get(f->m, op);
  if ((k != IR_OP_REDUCE && k != IR_OP_SCATTER) || d->n_results != 1 || !pass_is_static(f->m, op) ||
      ir_reducer_kind(f->m, d->regions[0]) == IR_OP_UNKNOWN ||
      (k == IR_OP_SCATTER && d->n_operands != 3))
    return false;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (is_member(f, d->operands[i]) && reader_dim(f, op, i) != f->along[d->operands[i]])
      return false;
  return k == IR_OP_REDUCE || (reader_dim(f, op, 1) >= 0 && reader_dim(f, op, 2) >= 0);
}

/* The op, or one in its regions. */
static bool reads(const ir_module *m, ir_op op, const void *user) {
  (void)m;
  return reads_member(user, op);
}

/* Marks what is made of y; false: something reads it that is neither made of it nor a reader. */
static bool mark(turner *f) {
  const ir_ops *ops = &ir_block_get(f->m, f->block)->ops;
  for (ir_value v = 0; v < f->n_values; v++) f->along[v] = -1;
  f->along[ir_result(f->m, f->put, 0)] = 0;
  for (uint32_t i = 0; i < ops->count; i++) {
    ir_op op = ops->at[i];
    if (!ir_any_op(f->m, op, reads, f)) continue;
    int32_t index = may_be_member(f, op) ? index_of(f, op) : IR_ALONE;
    ir_value y = ir_op_get(f->m, op)->n_results == 1 ? ir_result(f->m, op, 0) : IR_NONE;
    if (index != IR_ALONE && index < ir_type_at(f->m, y)->rank) f->along[y] = index;
    else if (!is_reader(f, op)) return false;
  }
  return true;
}

/* ---- in the order of the sort ---- */
/* The same elements at each index of the dimension. */
static bool is_repeated(const turner *f, ir_value v, int32_t d) {
  ir_op op = ir_maker(f->m, v, IR_OP_BROADCAST_IN_DIM);
  return op ? ir_moved_from(f->m, op, d) == IR_ALONE : ir_is_one_number(f->m, v);
}

static ir_value ordered(turner *f, ir_value v, int32_t d) {
  if (d < 0) return v;
  if (is_member(f, v)) return f->in_order[v];
  return is_repeated(f, v, d) ? v : pass_build_rows(&f->b, v, d, f->places);
}

static void order_member(turner *f, ir_op op) {
  uint32_t n = ir_op_get(f->m, op)->n_operands;
  ir_value *x = ARENA_ARRAY(f->p->scratch, ir_value, n);
  int32_t index = index_of(f, op);
  for (uint32_t i = 0; i < n; i++)
    x[i] = ordered(f, ir_operand(f->m, op, i), ir_operand_dim(f->p->scratch, f->m, op, i, index));
  ir_value y = ir_result(f->m, op, 0);
  ir_type type = ir_type_of(f->m, y);
  f->in_order[y] = ir_result(f->m, ir_build_again(&f->b, op, x, &type), 0);
}

static void order_reader(turner *f, ir_op op) {
  ir_module *m = f->m;
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_value *x = ARENA_ARRAY(f->p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++) x[i] = ordered(f, ir_operand(m, op, i), reader_dim(f, op, i));
  for (uint32_t i = 0; i < n; i++) ir_op_get(m, op)->operands[i] = x[i];
  if (ir_kind_of(m, op) == IR_OP_SCATTER)
    ir_op_set_attr(m, op, "indices_are_sorted", ir_attr_bool(m, false), true);
}

/* What is made of y stays where it was, too: nobody reads it any more. */
static void rewrite(turner *f) {
  ir_ops ops = ir_take_ops(f->m, f->block);
  f->in_order[ir_result(f->m, f->put, 0)] = ir_operand(f->m, f->put, 2);
  for (uint32_t i = 0; i < ops.count; i++) {
    ir_op op = ops.at[i];
    f->b.location = ir_op_get(f->m, op)->location;
    bool reads = reads_member(f, op);
    if (reads && is_member(f, ir_result(f->m, op, 0))) order_member(f, op);
    else if (reads) order_reader(f, op);
    ir_block_append(f->m, f->block, op);
  }
}

static bool turn(turner *f, ir_op op) {
  if (!find_inverse(f, op)) return false;
  arena *a = f->p->scratch;
  f->n_values = f->m->values.count;
  f->along = ARENA_ARRAY(a, int32_t, f->n_values);
  f->in_order = ARENA_ARRAY(a, ir_value, f->n_values);
  if (!mark(f)) return false;
  rewrite(f);
  return true;
}

/* The function's body alone: what loops and branches sort stays as it is. */
static void turn_block(turner *f, ir_block block) {
  const ir_ops *ops = &ir_block_get(f->m, block)->ops;
  uint32_t n = ops->count;
  ir_op *all = ARENA_COPY(f->p->scratch, ir_op, ops->at, n);
  f->block = block;
  f->b = (ir_builder){f->m, block, IR_NONE};
  for (uint32_t i = 0; i < n; i++) f->p->changed |= turn(f, all[i]);
}

static weir_status run(pass_ctx *p, ir_module *m) {
  turner f = {.p = p, .m = m};
  const ir_block_data *top = ir_block_get(m, ir_top(m));
  ir_op *functions = ARENA_COPY(p->scratch, ir_op, top->ops.at, top->ops.count);
  for (uint32_t i = 0, n = top->ops.count; i < n; i++)
    if (ir_kind_of(m, functions[i]) == IR_OP_FUNC && ir_function_body(m, functions[i]))
      turn_block(&f, ir_function_body(m, functions[i]));
  return WEIR_OK;
}

const pass pass_inverse = {"inverse", run};
