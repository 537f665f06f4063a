/* Values of a nest as grids: inputs, literals, elementwise ops, what is known already; by op. */
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"
#include "kernel/lists.h"
#include "kernel/pack.h"

static ir_dtype dtype_of(const kernel_emitter *e, ir_value v) {
  return ir_type_at(e->n->m, v)->dtype;
}

bool kernel_is_row_level(const kernel_emitter *e, uint32_t mask) {
  if (mask >> e->n->column & 1) return false;
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (mask >> a & 1 && e->n->role[a] < KERNEL_OUTER && !e->tile.is_constant[a]) return false;
  return true;
}

/* What a while around the tile carries is made where the while is. Returns where text went, to be
 * put back. */
static strbuf *enter_stream(kernel_emitter *e, const kernel_node *x, uint32_t mask) {
  strbuf *before = e->out;
  if (kernel_is_row_level(e, mask) && !(x && x->depth)) e->out = e->tile.row;
  return before;
}

kernel_grid kernel_new_grid(const kernel_emitter *e, ir_dtype dtype, uint32_t mask) {
  kernel_grid g = {.dtype = dtype, .is_vector = mask >> e->n->column & 1};
  g.rows = mask >> e->n->row & 1 ? e->tile.rows : 1;
  g.columns = g.is_vector ? e->tile.vectors : 1;
  return g;
}

int32_t kernel_lanes_of(const kernel_emitter *e, const kernel_grid *g) {
  return g->is_vector ? e->n->lanes : 1;
}

const char *kernel_widened(kernel_emitter *e, const kernel_grid *g, int32_t r, int32_t c,
                           bool is_vector) {
  const char *x = kernel_at(g, r, c);
  return is_vector && !g->is_vector ? kernel_splat(e, g->dtype, x) : x;
}

/* ---- inputs ---- */
const char *kernel_input_base(kernel_emitter *e, ir_value v) {
  return ir_value_get(e->n->m, v)->op ? arena_printf(e->a, "%%view%u", (unsigned)v)
                                      : arena_printf(e->a, "%%in%d", kernel_input_of(e->n, v));
}

static const char *read_vector(kernel_emitter *e, ir_value v, const kernel_axes *axes,
                               const int64_t *dims, ir_dtype dtype, int32_t r, int32_t c) {
  int64_t stride = kernel_stride(dims, axes, e->n->column);
  const char *p = kernel_address(e, dtype, kernel_input_base(e, v), dims, axes, r, c);
  if (stride != 1) return kernel_load_strided(e, dtype, p, stride);
  return e->tile.mask ? kernel_load_masked(e, dtype, p, e->tile.mask)
                      : kernel_load_fixed(e, dtype, true, p);
}

static kernel_grid read_input(kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  int32_t input = kernel_input_of(e->n, v);
  ir_dtype dtype = dtype_of(e, v);
  kernel_grid g = kernel_new_grid(e, dtype, kernel_axes_mask(axes));
  if (input < 0) { /* the loop's start, lo */
    g.at[0][0] = "0";
    return g;
  }
  const int64_t *dims = ir_type_at(e->n->m, ir_operand(e->n->m, e->n->loop, (uint32_t)input))->dims;
  bool is_row = kernel_axes_mask(axes) >> e->n->row & 1;
  if (g.is_vector && !is_row && kernel_packs_input(e, v, axes))
    return kernel_read_packed(e, v, axes);
  const char *in = kernel_input_base(e, v);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] = g.is_vector ? read_vector(e, v, axes, dims, dtype, r, c)
                               : kernel_load_fixed(e, dtype, false,
                                                   kernel_address(e, dtype, in, dims, axes, r, c));
  return g;
}

/* ---- leaves of the body ---- */
static const char *literal(kernel_emitter *e, ir_dtype dtype, const void *data) {
  float f;
  double d;
  int64_t i = 0;
  if (dtype == IR_F32) return memcpy(&f, data, 4), kernel_real(e, dtype, (double)f);
  if (dtype == IR_F64) return memcpy(&d, data, 8), kernel_real(e, dtype, d);
  memcpy(&i, data, (size_t)ir_dtype_bytes(dtype));
  return kernel_int(e, dtype == IR_I1 ? i != 0 : i);
}

const char *kernel_literal(kernel_emitter *e, ir_op constant) {
  const ir_attr_data *d = ir_attr_get(e->n->m, ir_op_attr(e->n->m, constant, "value"));
  return literal(e, dtype_of(e, ir_result(e->n->m, constant, 0)), d->data);
}

static kernel_grid constant(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = {.dtype = kernel_dtype_of(e, x), .rows = 1, .columns = 1};
  g.at[0][0] = kernel_literal(e, x->op);
  return g;
}

static const char *converted_index(kernel_emitter *e, ir_dtype dtype, const char *i64) {
  const char *type = kernel_dtype_text(dtype);
  if (ir_is_float(dtype)) return kernel_line(e, "sitofp i64 %s to %s", i64, type);
  if (ir_dtype_bytes(dtype) == 8) return i64;
  return kernel_line(e, "trunc i64 %s to %s", i64, type);
}

static const char *counting_vector(kernel_emitter *e, ir_dtype dtype, const char *first) {
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++)
    strbuf_printf(&b, "%s%s %s", i ? ", " : "<", kernel_dtype_text(dtype),
                  kernel_number(e, dtype, 1, i));
  strbuf_putc(&b, '>');
  bool real = ir_is_float(dtype);
  return kernel_line(e, "%s %s %s, %s", real ? "fadd" : "add", kernel_type(e, dtype, true),
                     kernel_splat(e, dtype, first), b.text);
}

static kernel_grid iota(kernel_emitter *e, const kernel_node *x, const kernel_axes *axes) {
  int32_t axis = axes->of[ir_op_int(e->n->m, x->op, "iota_dimension", 0)];
  ir_dtype dtype = kernel_dtype_of(e, x);
  kernel_grid g = kernel_new_grid(e, dtype, axis < 0 ? 0 : 1u << axis);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) {
      const char *i =
          axis < 0            ? "0"
          : axis == e->n->row ? e->tile.row_index[r]
          : axis == e->n->column
              ? kernel_index(e, e->tile.column, kernel_int(e, (int64_t)c * e->n->lanes), 1)
              : e->tile.bound[axis];
      i = converted_index(e, dtype, i);
      g.at[r][c] = g.is_vector ? counting_vector(e, dtype, i) : i;
    }
  return g;
}

/* ---- elementwise ---- */
/* The operand that is a short contraction of the same axes, which may be rounded with what it is
 * added to; -1: none. */
static int32_t short_product(const kernel_emitter *e, const kernel_node *x) {
  bool real = ir_is_float(kernel_dtype_of(e, x)) && !x->is_exact;
  int32_t last = x->kind == IR_OP_ADD ? 0 : x->kind == IR_OP_SUBTRACT ? 1 : 2;
  for (int32_t i = 1; real && i >= last; i--) {
    const kernel_node *dot = kernel_node_of(e->n, ir_operand(e->n->m, x->op, (uint32_t)i));
    if (dot && dot->kind == IR_OP_DOT_GENERAL && dot->index < 0 && dot->late < 0 &&
        !dot->is_exact && dot->mask == x->mask &&
        kernel_extent_of(e->n, dot->reduces) <= COST_UNROLL && !kernel_find_memo(e, dot, dot->mask))
      return i;
  }
  return -1;
}

/* exp or tanh of all of a grid: the operations of `cost_exps_at_once` vectors alternate. */
static void in_turn(kernel_emitter *e, ir_kind kind, const kernel_grid *x, kernel_grid *out) {
  const char *from[KERNEL_MOST_ROWS * KERNEL_MOST_VECTORS],
      *to[KERNEL_MOST_ROWS * KERNEL_MOST_VECTORS];
  int32_t count = 0, most = cost_exps_at_once(e->n), next = 0;
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++)
      from[count++] = kernel_widened(e, x, r, c, out->is_vector);
  for (int32_t i = 0; i < count; i += most) {
    int32_t together = count - i < most ? count - i : most, lanes = kernel_lanes_of(e, out);
    if (kind == IR_OP_TANH) kernel_emit_tanhs(e, out->dtype, lanes, together, from + i, to + i);
    else kernel_emit_exps(e, out->dtype, lanes, together, from + i, to + i);
  }
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++) out->at[r][c] = to[next++];
}

static kernel_grid elementwise(kernel_emitter *e, const kernel_node *x) {
  kernel_grid args[KERNEL_MOST_OPERANDS], g;
  uint32_t mask = 0;
  int32_t product = short_product(e, x);
  if (product >= 0)
    return kernel_add_onto(e, x,
                           kernel_node_of(e->n, ir_operand(e->n->m, x->op, (uint32_t)product)),
                           1 - (uint32_t)product);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    args[i] = kernel_operand(e, x, i);
    mask |= (uint32_t)args[i].is_vector << e->n->column;
    mask |= (uint32_t)(args[i].rows > 1) << e->n->row;
  }
  g = kernel_new_grid(e, kernel_dtype_of(e, x), mask);
  if (x->kind == IR_OP_EXPONENTIAL || x->kind == IR_OP_TANH) {
    in_turn(e, x->kind, &args[0], &g);
    return g;
  }
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) {
      const char *at[KERNEL_MOST_OPERANDS];
      for (uint32_t i = 0; i < x->n_operands; i++)
        at[i] = kernel_widened(e, &args[i], r, c, g.is_vector);
      g.at[r][c] = kernel_emit_elementwise(e, x->op, kernel_lanes_of(e, &g), at);
    }
  return g;
}

void kernel_widen_grid(kernel_emitter *e, const kernel_grid *g, kernel_grid *out) {
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++)
      out->at[r][c] = kernel_widened(e, g, r, c, out->is_vector);
}

kernel_binding kernel_bind(kernel_emitter *e, int32_t axis, const char *index) {
  if (axis < 0) return (kernel_binding){.axis = axis};
  kernel_binding before = {axis, e->tile.bound[axis], e->tile.is_constant[axis]};
  e->tile.bound[axis] = index;
  e->tile.is_constant[axis] = index[0] != '%';
  return before;
}

void kernel_unbind(kernel_emitter *e, const kernel_binding *before) {
  if (before->axis < 0) return;
  e->tile.bound[before->axis] = before->index;
  e->tile.is_constant[before->axis] = before->is_constant;
}

/* ---- by op ---- */
static kernel_grid emit(kernel_emitter *e, const kernel_node *x) {
  CTX_CHECK(e->n->m->ctx, x->kind != IR_OP_CARRY); /* remembered while its loop is made */
  switch (x->kind) {
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return kernel_operand(e, x, 0);
    case IR_OP_SLICE:
    case IR_OP_PAD:
    case IR_OP_CONCATENATE: return kernel_emit_strided(e, x);
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER: return kernel_emit_gather(e, x);
    case IR_OP_REPEAT: return kernel_emit_repeat(e, x);
    case IR_OP_REDUCE:
    case IR_OP_DOT_GENERAL:
      if (x->index >= 0) return kernel_read_reduction(e, x);
      if (x->late >= 0) return kernel_read_late(e, x);
      return kernel_inner_sum(e, x);
    case IR_OP_CHLO_TOP_K: return kernel_topk_read(e, x);
    default: return elementwise(e, x);
  }
}

static bool is_bound_alike(const kernel_emitter *e, const kernel_memo *memo, uint32_t mask) {
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (mask >> a & 1 && e->n->role[a] < KERNEL_ROW && memo->bound[a] != e->tile.bound[a])
      return false;
  return true;
}

const kernel_grid *kernel_find_memo(const kernel_emitter *e, const kernel_node *x, uint32_t mask) {
  int32_t node = (int32_t)(x - e->n->nodes);
  for (uint32_t i = e->tile.memos.count; i-- > 0;)
    if (e->tile.memos.at[i].node == node && is_bound_alike(e, &e->tile.memos.at[i], mask))
      return &e->tile.memos.at[i].grid;
  return NULL;
}

void kernel_remember(kernel_emitter *e, const kernel_node *x, const kernel_grid *g) {
  kernel_memo memo = {
      .node = (int32_t)(x - e->n->nodes), .grid = *g, .in_row = e->out == e->tile.row};
  memo.depth = e->tile.depth[memo.in_row];
  memcpy(memo.bound, e->tile.bound, sizeof memo.bound);
  VEC_PUSH(e->a, &e->tile.memos, memo);
}

/* From where it is kept, or made; infinite extremes so far count as 0. */
static kernel_grid made(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = kernel_new_grid(e, kernel_dtype_of(e, x), x->mask);
  if (kernel_read_kept(e, x, &g) || kernel_read_table(e, x, &g)) return g;
  g = emit(e, x);
  if (!x->is_boundary || !e->is_running || x->level <= e->pass) return g;
  for (int32_t r = 0; r < g.rows; r++)
    g.at[r][0] = kernel_zero_for_infinite(e, g.dtype, g.at[r][0]);
  return g;
}

/* In code that is too long nothing more is made: nobody will compile it. */
static kernel_grid nothing(kernel_emitter *e, ir_dtype dtype, uint32_t mask) {
  kernel_grid g = kernel_new_grid(e, dtype, mask);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) g.at[r][c] = "poison";
  return g;
}

kernel_grid kernel_value(kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  const kernel_node *x = kernel_node_of(e->n, v);
  uint32_t mask =
      x && x->kind != IR_OP_IOTA && x->kind != IR_OP_CONSTANT ? x->mask : kernel_axes_mask(axes);
  if (x && x->kind == IR_OP_CONSTANT) return constant(e, x);
  if (kernel_is_too_long(e)) return nothing(e, dtype_of(e, v), mask);
  bool is_made = x && x->kind != IR_OP_IOTA;
  const kernel_grid *known = is_made ? kernel_find_memo(e, x, mask) : NULL;
  if (known) return *known;
  if (x && x->packed && e->tile.in_tile) return kernel_read_packed(e, v, axes);
  strbuf *before = enter_stream(e, x, mask);
  kernel_grid g = !x ? read_input(e, v, axes) : is_made ? made(e, x) : iota(e, x, axes);
  if (is_made) kernel_remember(e, x, &g);
  e->out = before;
  return g;
}

kernel_grid kernel_operand(kernel_emitter *e, const kernel_node *x, uint32_t operand) {
  return kernel_value(e, ir_operand(e->n->m, x->op, operand), &x->operands[operand]);
}

bool kernel_is_bound(const kernel_emitter *e, uint32_t mask) {
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (mask >> a & 1 && e->n->role[a] < KERNEL_OUTER && !e->tile.bound[a]) return false;
  return true;
}

static void hoist(kernel_emitter *e, ir_value v, int32_t axis, uint32_t sweep) {
  const kernel_node *x = kernel_node_of(e->n, v);
  if (!x || x->kind == IR_OP_CONSTANT || x->kind == IR_OP_IOTA) return;
  uint32_t node = (uint32_t)(x - e->n->nodes);
  if (e->seen[node] == sweep) return;
  e->seen[node] = sweep;
  if (!(x->mask >> axis & 1) && kernel_is_bound(e, x->mask)) {
    kernel_value(e, v, &x->result);
    return;
  }
  bool is_made_here = x->index < 0 && x->late < 0 && x->kind != IR_OP_REPEAT;
  for (uint32_t i = 0; i < x->n_operands && is_made_here; i++)
    hoist(e, ir_operand(e->n->m, x->op, i), axis, sweep);
}

void kernel_hoist(kernel_emitter *e, const kernel_node *x, int32_t axis) {
  uint32_t sweep = ++e->sweeps; /* a value made on the way may sweep itself */
  for (uint32_t i = 0; i < x->n_operands && x->kind != IR_OP_REPEAT; i++)
    hoist(e, ir_operand(e->n->m, x->op, i), axis, sweep);
}
