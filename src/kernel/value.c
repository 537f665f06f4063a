/* Values of a nest as grids: reads of inputs, structural ops, sums inside the tile. */
#include "ir/attrs.h"
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

static int32_t lanes_of(const kernel_emitter *e, const kernel_grid *g) {
  return g->is_vector ? e->n->lanes : 1;
}

const char *kernel_widened(kernel_emitter *e, const kernel_grid *g, int32_t r, int32_t c,
                           bool is_vector) {
  const char *x = kernel_at(g, r, c);
  return is_vector && !g->is_vector ? kernel_splat(e, g->dtype, x) : x;
}

/* ---- addresses ---- */
int64_t kernel_stride(const int64_t *dims, const kernel_axes *axes, int32_t axis) {
  int64_t stride = 1, found = 0;
  for (int32_t i = axes->rank - 1; i >= 0; i--) {
    if (axes->of[i] == axis) found += stride;
    stride *= dims[i];
  }
  return found;
}

/* The sum of strides times indices over some of the axes. */
static const char *sum_of(kernel_emitter *e, const int64_t *dims, const kernel_axes *axes,
                          uint32_t which) {
  const kernel_nest *n = e->n;
  const char *at = "0";
  for (int32_t a = 0; a < n->n_axes; a++)
    if (kernel_axes_mask(axes) & which & 1u << a)
      at = kernel_index(e, at,
                        a == n->row      ? e->tile.row_index[0]
                        : a == n->column ? e->tile.column
                                         : e->tile.bound[a],
                        kernel_stride(dims, axes, a));
  return at;
}

const char *kernel_address(kernel_emitter *e, ir_dtype dtype, const char *base, const int64_t *dims,
                           const kernel_axes *axes, int32_t r, int32_t c) {
  const kernel_nest *n = e->n;
  uint32_t column = 1u << n->column, inner = 0;
  for (int32_t a = 0; a < n->n_axes; a++) inner |= (uint32_t)(n->role[a] < KERNEL_OUTER) << a;
  base = kernel_settled(e, dtype, base, sum_of(e, dims, axes, ~(column | inner)));
  base = kernel_settled(e, dtype, base, sum_of(e, dims, axes, column));
  base = kernel_after(e, dtype, base, sum_of(e, dims, axes, inner));
  int64_t step = r ? r * kernel_stride(dims, axes, n->row) : 0;
  if (c) step += c * n->lanes * kernel_stride(dims, axes, n->column);
  return kernel_after(e, dtype, base, kernel_int(e, step));
}

/* ---- loads ---- */
static const char *from_memory(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *x) {
  if (dtype != IR_I1) return x;
  const char *bytes = is_vector ? arena_printf(e->a, "<%d x i8>", e->n->lanes) : "i8";
  return kernel_line(e, "icmp ne %s %s, %s", bytes, x, is_vector ? "zeroinitializer" : "0");
}

static const char *memory_type(kernel_emitter *e, ir_dtype dtype, bool is_vector) {
  const char *one = kernel_memory_type(dtype);
  return is_vector ? arena_printf(e->a, "<%d x %s>", e->n->lanes, one) : one;
}

/* fixed: from an input, which nobody writes. */
static const char *load(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p,
                        bool fixed) {
  const char *type = memory_type(e, dtype, is_vector);
  const char *x =
      kernel_line(e, "load %s, ptr %s, align %lld%s", type, p, (long long)ir_dtype_bytes(dtype),
                  fixed ? ", !invariant.load !0" : "");
  return from_memory(e, dtype, is_vector, x);
}

static const char *memory_suffix(kernel_emitter *e, ir_dtype dtype) {
  return dtype == IR_I1 ? arena_printf(e->a, "v%di8", e->n->lanes)
                        : kernel_suffix(e, dtype, e->n->lanes);
}

const char *kernel_load_masked(kernel_emitter *e, ir_dtype dtype, const char *p, const char *mask) {
  const char *type = memory_type(e, dtype, true), *suffix = memory_suffix(e, dtype);
  kernel_declare(
      e, arena_printf(e->a, "declare %s @llvm.masked.load.%s.p0(ptr, i32, <%d x i1>, %s)", type,
                      suffix, e->n->lanes, type));
  const char *x = kernel_line(
      e, "call %s @llvm.masked.load.%s.p0(ptr %s, i32 %lld, <%d x i1> %s, %s zeroinitializer)",
      type, suffix, p, (long long)ir_dtype_bytes(dtype), e->n->lanes, mask, type);
  return from_memory(e, dtype, true, x);
}

const char *kernel_lane_numbers(kernel_emitter *e, ir_dtype dtype, int64_t stride) {
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++) {
    int64_t number = i * stride; /* of lanes that are there it fits */
    strbuf_printf(&b, "%s%s %lld", i ? ", " : "<", kernel_dtype_text(dtype),
                  (long long)(dtype == IR_I32 ? (int32_t)number : number));
  }
  strbuf_putc(&b, '>');
  return b.text;
}

static const char *all_lanes(kernel_emitter *e) {
  return e->tile.mask ? e->tile.mask : kernel_number(e, IR_I1, e->n->lanes, -1);
}

const char *kernel_lane_pointers(kernel_emitter *e, ir_dtype dtype, const char *first,
                                 int64_t stride) {
  return kernel_line(e, "getelementptr %s, ptr %s, <%d x i64> %s", kernel_memory_type(dtype), first,
                     e->n->lanes, kernel_lane_numbers(e, IR_I64, stride));
}

const char *kernel_load_lanes(kernel_emitter *e, ir_dtype dtype, const char *pointers) {
  const char *type = memory_type(e, dtype, true), *suffix = memory_suffix(e, dtype);
  kernel_declare(e,
                 arena_printf(e->a,
                              "declare %s @llvm.masked.gather.%s.v%dp0(<%d x ptr>, i32, <%d x i1>, "
                              "%s)",
                              type, suffix, e->n->lanes, e->n->lanes, e->n->lanes, type));
  const char *x =
      kernel_line(e,
                  "call %s @llvm.masked.gather.%s.v%dp0(<%d x ptr> %s, i32 %lld, <%d x i1> %s, %s "
                  "zeroinitializer)",
                  type, suffix, e->n->lanes, e->n->lanes, pointers,
                  (long long)ir_dtype_bytes(dtype), e->n->lanes, all_lanes(e), type);
  return from_memory(e, dtype, true, x);
}

static const char *gather(kernel_emitter *e, ir_dtype dtype, const char *first, int64_t stride) {
  return kernel_load_lanes(e, dtype, kernel_lane_pointers(e, dtype, first, stride));
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
  if (stride != 1) return gather(e, dtype, p, stride);
  return e->tile.mask ? kernel_load_masked(e, dtype, p, e->tile.mask)
                      : load(e, dtype, true, p, true);
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
      g.at[r][c] =
          g.is_vector ? read_vector(e, v, axes, dims, dtype, r, c)
                      : load(e, dtype, false, kernel_address(e, dtype, in, dims, axes, r, c), true);
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
  kernel_grid g = {.dtype = dtype_of(e, x->value), .rows = 1, .columns = 1};
  g.at[0][0] = kernel_literal(e, x->op);
  return g;
}

static const char *converted_index(kernel_emitter *e, ir_dtype dtype, const char *i64) {
  const char *type = kernel_dtype_text(dtype);
  if (ir_dtype_class_of(dtype) == IR_CLASS_FLOAT)
    return kernel_line(e, "sitofp i64 %s to %s", i64, type);
  if (ir_dtype_bytes(dtype) == 8) return i64;
  return kernel_line(e, "trunc i64 %s to %s", i64, type);
}

static const char *counting_vector(kernel_emitter *e, ir_dtype dtype, const char *first) {
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++)
    strbuf_printf(&b, "%s%s %s", i ? ", " : "<", kernel_dtype_text(dtype),
                  kernel_number(e, dtype, 1, i));
  strbuf_putc(&b, '>');
  bool real = ir_dtype_class_of(dtype) == IR_CLASS_FLOAT;
  return kernel_line(e, "%s %s %s, %s", real ? "fadd" : "add", kernel_type(e, dtype, true),
                     kernel_splat(e, dtype, first), b.text);
}

static kernel_grid iota(kernel_emitter *e, const kernel_node *x, const kernel_axes *axes) {
  int32_t axis = axes->of[ir_op_int(e->n->m, x->op, "iota_dimension", 0)];
  ir_dtype dtype = dtype_of(e, x->value);
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
static const kernel_grid *find_memo(const kernel_emitter *e, int32_t node, uint32_t mask);
static kernel_grid added(kernel_emitter *e, const kernel_node *x, const kernel_node *dot,
                         uint32_t other);

/* The operand that is a short contraction of the same axes; -1: none. */
static int32_t short_product(const kernel_emitter *e, const kernel_node *x) {
  bool real = ir_dtype_class_of(dtype_of(e, x->value)) == IR_CLASS_FLOAT;
  int32_t last = x->kind == IR_OP_ADD ? 0 : x->kind == IR_OP_SUBTRACT ? 1 : 2;
  for (int32_t i = 1; real && i >= last; i--) {
    const kernel_node *dot = kernel_node_of(e->n, ir_operand(e->n->m, x->op, (uint32_t)i));
    if (dot && dot->kind == IR_OP_DOT_GENERAL && dot->index < 0 && dot->late < 0 &&
        dot->mask == x->mask && kernel_extent_of(e->n, dot->reduces) <= COST_UNROLL &&
        !find_memo(e, (int32_t)(dot - e->n->nodes), dot->mask))
      return i;
  }
  return -1;
}

/* All of a grid: the operations of `cost_exps_at_once` vectors alternate. */
static void exponentials(kernel_emitter *e, const kernel_grid *x, kernel_grid *out) {
  const char *from[KERNEL_MOST_ROWS * KERNEL_MOST_VECTORS],
      *to[KERNEL_MOST_ROWS * KERNEL_MOST_VECTORS];
  int32_t count = 0, most = cost_exps_at_once(e->n), next = 0;
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++)
      from[count++] = kernel_widened(e, x, r, c, out->is_vector);
  for (int32_t i = 0; i < count; i += most)
    kernel_emit_exps(e, out->dtype, lanes_of(e, out), count - i < most ? count - i : most, from + i,
                     to + i);
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++) out->at[r][c] = to[next++];
}

static kernel_grid elementwise(kernel_emitter *e, const kernel_node *x) {
  kernel_grid args[KERNEL_MOST_OPERANDS], g;
  uint32_t mask = 0;
  int32_t product = short_product(e, x);
  if (product >= 0)
    return added(e, x, kernel_node_of(e->n, ir_operand(e->n->m, x->op, (uint32_t)product)),
                 1 - (uint32_t)product);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    args[i] = kernel_operand(e, x, i);
    mask |= (uint32_t)args[i].is_vector << e->n->column;
    mask |= (uint32_t)(args[i].rows > 1) << e->n->row;
  }
  g = kernel_new_grid(e, dtype_of(e, x->value), mask);
  if (x->kind == IR_OP_EXPONENTIAL) {
    exponentials(e, &args[0], &g);
    return g;
  }
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) {
      const char *at[KERNEL_MOST_OPERANDS];
      for (uint32_t i = 0; i < x->n_operands; i++)
        at[i] = kernel_widened(e, &args[i], r, c, g.is_vector);
      g.at[r][c] = kernel_emit_elementwise(e, x->op, lanes_of(e, &g), at);
    }
  return g;
}

/* ---- sums inside the tile ---- */
static kernel_grid product(kernel_emitter *e, const kernel_node *x) {
  kernel_grid l = kernel_operand(e, x, 0), r = kernel_operand(e, x, 1);
  kernel_grid g = {.dtype = l.dtype, .is_vector = l.is_vector || r.is_vector};
  g.rows = l.rows > r.rows ? l.rows : r.rows;
  g.columns = l.columns > r.columns ? l.columns : r.columns;
  bool real = ir_dtype_class_of(g.dtype) == IR_CLASS_FLOAT;
  for (int32_t i = 0; i < g.rows; i++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[i][c] = kernel_line(
          e, "%s %s %s, %s", real ? "fmul contract" : "mul", kernel_type(e, g.dtype, g.is_vector),
          kernel_widened(e, &l, i, c, g.is_vector), kernel_widened(e, &r, i, c, g.is_vector));
  return g;
}

static kernel_grid term(kernel_emitter *e, const kernel_node *x) {
  return x->kind == IR_OP_DOT_GENERAL ? product(e, x) : kernel_operand(e, x, 0);
}

void kernel_widen_grid(kernel_emitter *e, const kernel_grid *g, kernel_grid *out) {
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++)
      out->at[r][c] = kernel_widened(e, g, r, c, out->is_vector);
}

static void combine_grids(kernel_emitter *e, ir_kind monoid, kernel_grid *sum,
                          const kernel_grid *add) {
  const char *type = kernel_type(e, sum->dtype, sum->is_vector);
  for (int32_t r = 0; r < sum->rows; r++)
    for (int32_t c = 0; c < sum->columns; c++)
      sum->at[r][c] = kernel_combine(e, monoid, sum->dtype, type, lanes_of(e, sum), sum->at[r][c],
                                     kernel_widened(e, add, r, c, sum->is_vector));
}

static kernel_grid filled(kernel_emitter *e, const kernel_node *x, uint32_t mask) {
  ir_dtype dtype = dtype_of(e, x->value);
  kernel_grid g = kernel_new_grid(e, dtype, mask);
  const char *neutral = kernel_neutral(e, x->monoid, dtype);
  if (g.is_vector) neutral = kernel_splat(e, dtype, neutral);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) g.at[r][c] = neutral;
  return g;
}

static kernel_grid sum_over(kernel_emitter *e, const kernel_node *x, uint32_t axes, uint32_t mask);

static kernel_grid unrolled(kernel_emitter *e, const kernel_node *x, int32_t axis, uint32_t rest,
                            uint32_t mask) {
  kernel_grid sum = filled(e, x, mask);
  for (int64_t i = 0; i < e->n->extent[axis]; i++) {
    e->tile.bound[axis] = kernel_int(e, i);
    kernel_grid add = sum_over(e, x, rest, mask);
    combine_grids(e, x->monoid, &sum, &add);
  }
  return sum;
}

void kernel_make_slots(kernel_emitter *e, kernel_grid *slots, const kernel_grid *values) {
  const char *type = kernel_type(e, values->dtype, values->is_vector);
  for (int32_t r = 0; r < values->rows; r++)
    for (int32_t c = 0; c < values->columns; c++) {
      slots->at[r][c] = kernel_name(e);
      strbuf_printf(&e->entry, "  %s = alloca %s, align 64\n", slots->at[r][c], type);
      kernel_put(e, "store %s %s, ptr %s", type, values->at[r][c], slots->at[r][c]);
    }
}

void kernel_load_slots(kernel_emitter *e, const kernel_grid *slots, kernel_grid *out) {
  const char *type = kernel_type(e, out->dtype, out->is_vector);
  for (int32_t r = 0; r < out->rows; r++)
    for (int32_t c = 0; c < out->columns; c++)
      out->at[r][c] = kernel_line(e, "load %s, ptr %s", type, slots->at[r][c]);
}

void kernel_store_slots(kernel_emitter *e, const kernel_grid *slots, const kernel_grid *g) {
  const char *type = kernel_type(e, g->dtype, g->is_vector);
  for (int32_t r = 0; r < g->rows; r++)
    for (int32_t c = 0; c < g->columns; c++)
      kernel_put(e, "store %s %s, ptr %s", type, g->at[r][c], slots->at[r][c]);
}

static kernel_grid looped(kernel_emitter *e, const kernel_node *x, int32_t axis, uint32_t rest,
                          uint32_t mask) {
  kernel_grid sum = filled(e, x, mask), slots = sum;
  kernel_hoist(e, x, axis);
  kernel_make_slots(e, &slots, &sum);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, e->n->extent[axis]), "1");
  e->tile.bound[axis] = l.index;
  e->tile.is_constant[axis] = false;
  kernel_grid add = sum_over(e, x, rest, mask);
  kernel_load_slots(e, &slots, &sum);
  combine_grids(e, x->monoid, &sum, &add);
  kernel_store_slots(e, &slots, &sum);
  kernel_loop_end(e, &l);
  kernel_load_slots(e, &slots, &sum);
  return sum;
}

/* The op's terms summed over axes that are not rows or columns. mask: axes of the sum. */
static kernel_grid sum_over(kernel_emitter *e, const kernel_node *x, uint32_t axes, uint32_t mask) {
  if (!axes) return term(e, x);
  int32_t axis = 31 - __builtin_clz(axes);
  const char *before = e->tile.bound[axis];
  bool was_constant = e->tile.is_constant[axis];
  e->tile.is_constant[axis] = true;
  uint32_t rest = axes & ~(1u << axis);
  kernel_grid g = e->n->extent[axis] <= COST_UNROLL ? unrolled(e, x, axis, rest, mask)
                                                    : looped(e, x, axis, rest, mask);
  e->tile.bound[axis] = before;
  e->tile.is_constant[axis] = was_constant;
  return g;
}

kernel_grid kernel_contribution(kernel_emitter *e, const kernel_node *x) {
  uint32_t tile = 1u << e->n->column | 1u << e->n->row;
  return sum_over(e, x, x->reduces & ~tile, (x->mask | x->reduces) & tile);
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

typedef struct bindings {
  const char *bound[KERNEL_MOST_AXES];
  bool is_constant[KERNEL_MOST_AXES];
} bindings;

static bindings bindings_of(const kernel_emitter *e) {
  bindings b;
  memcpy(b.bound, e->tile.bound, sizeof b.bound);
  memcpy(b.is_constant, e->tile.is_constant, sizeof b.is_constant);
  return b;
}

static void bind_again(kernel_emitter *e, const bindings *b) {
  memcpy(e->tile.bound, b->bound, sizeof b->bound);
  memcpy(e->tile.is_constant, b->is_constant, sizeof b->is_constant);
}

static void bind_term(kernel_emitter *e, uint32_t axes, int64_t number) {
  for (int32_t a = 0; a < e->n->n_axes; a++) {
    if (!(axes >> a & 1)) continue;
    e->tile.bound[a] = kernel_int(e, number % e->n->extent[a]);
    e->tile.is_constant[a] = true;
    number /= e->n->extent[a];
  }
}

/* x = other + dot or other - dot: the other one is the sum's first term. */
static kernel_grid added(kernel_emitter *e, const kernel_node *x, const kernel_node *dot,
                         uint32_t other) {
  kernel_grid start = kernel_operand(e, x, other), sum = kernel_new_grid(e, start.dtype, x->mask);
  const char *type = kernel_type(e, sum.dtype, sum.is_vector);
  const char *how = x->kind == IR_OP_ADD ? "fadd contract" : "fsub contract";
  bindings before_terms = bindings_of(e);
  for (int64_t i = 0; i < kernel_extent_of(e->n, dot->reduces); i++) {
    bind_term(e, dot->reduces, i);
    kernel_grid add = term(e, dot);
    for (int32_t r = 0; r < sum.rows; r++)
      for (int32_t c = 0; c < sum.columns; c++) {
        const char *before = i ? sum.at[r][c] : kernel_widened(e, &start, r, c, sum.is_vector);
        sum.at[r][c] = kernel_line(e, "%s %s %s, %s", how, type, before,
                                   kernel_widened(e, &add, r, c, sum.is_vector));
      }
  }
  bind_again(e, &before_terms);
  return sum;
}

/* The sum with the reduction's initial value. */
static kernel_grid with_start(kernel_emitter *e, const kernel_node *x, kernel_grid g) {
  if (x->kind != IR_OP_REDUCE || kernel_is_variadic(x)) return g;
  kernel_grid start = kernel_operand(e, x, 1);
  const char *type = kernel_type(e, g.dtype, g.is_vector);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] = kernel_combine(e, x->monoid, g.dtype, type, lanes_of(e, &g),
                                  kernel_widened(e, &start, 0, 0, g.is_vector), g.at[r][c]);
  return g;
}

static kernel_grid inner_sum(kernel_emitter *e, const kernel_node *x) {
  return with_start(e, x, sum_over(e, x, x->reduces, x->mask));
}

/* ---- results of tile reductions, from the scratch ---- */
const char *kernel_reduction_at(kernel_emitter *e, const kernel_node *x, int32_t r) {
  const char *at = "0";
  for (int32_t a = 0; a < e->n->n_axes; a++) {
    if (!(kernel_point_axes(e->n, x->mask) >> a & 1)) continue;
    at = kernel_index(e, kernel_index(e, "0", at, e->n->extent[a]), e->tile.bound[a], 1);
  }
  int64_t stride = x->is_product ? kernel_padded_points(e->n, x) : 1;
  at = kernel_index(e, kernel_index(e, "0", at, x->is_product ? 1 : e->n->sizes.chunk),
                    e->tile.row_local[0], stride);
  ir_dtype dtype = dtype_of(e, x->value);
  const char *base = kernel_line(e, "getelementptr i8, ptr %s, i64 %lld", e->numbers,
                                 (long long)e->reduction_offset[x->index]);
  return kernel_after(e, dtype, kernel_after(e, dtype, base, at), kernel_int(e, r * stride));
}

static kernel_grid read_reduction(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = kernel_new_grid(e, dtype_of(e, x->value), 1u << e->n->row);
  for (int32_t r = 0; r < g.rows; r++) {
    const char *y = kernel_line(e, "load %s, ptr %s", kernel_memory_type(g.dtype),
                                kernel_reduction_at(e, x, r));
    g.at[r][0] = from_memory(e, g.dtype, false, y);
    if (x->n_terms) g.at[r][0] = kernel_finish_sum(e, x, r, g.at[r][0]);
  }
  return with_start(e, x, g);
}

/* ---- results of reductions over rows ---- */
int64_t kernel_late_width(const kernel_nest *n, const kernel_node *x) {
  int64_t lanes = n->lanes, columns = n->extent[n->column];
  if (x->mask >> n->column & 1) return (columns + lanes - 1) / lanes * lanes;
  return x->reduces >> n->column & 1 ? lanes : 1;
}

const char *kernel_late_at(kernel_emitter *e, const kernel_node *x, const char *offset) {
  uint32_t points = kernel_point_axes(e->n, x->mask);
  const char *at = kernel_index(e, "0", e->slot, 1);
  for (int32_t a = 0; a < e->n->n_axes && !x->is_product; a++)
    if (points >> a & 1)
      at = kernel_index(e, kernel_index(e, "0", at, e->n->extent[a]), e->tile.bound[a], 1);
  at = kernel_index(e, kernel_index(e, "0", at, kernel_late_width(e->n, x)), offset, 1);
  if (x->is_product) /* [column][point] */
    at = kernel_index(e, kernel_index(e, "0", at, kernel_padded_points(e->n, x)),
                      e->tile.bound[kernel_product_axis(e->n, x)], 1);
  ir_dtype dtype = dtype_of(e, x->value);
  const char *base = kernel_line(e, "getelementptr i8, ptr %%shared, i64 %lld",
                                 (long long)e->late_offset[x->late]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", kernel_memory_type(dtype), base, at);
}

const char *kernel_load_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p) {
  const char *x = kernel_line(e, "load %s, ptr %s, align %lld", memory_type(e, dtype, is_vector), p,
                              (long long)ir_dtype_bytes(dtype));
  return from_memory(e, dtype, is_vector, x);
}

void kernel_store_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *x,
                     const char *p) {
  const char *type = memory_type(e, dtype, is_vector);
  if (dtype == IR_I1)
    x = kernel_line(e, "zext %s %s to %s", kernel_type(e, dtype, is_vector), x, type);
  kernel_put(e, "store %s %s, ptr %s, align %lld", type, x, p, (long long)ir_dtype_bytes(dtype));
}

const char *kernel_across_lanes(kernel_emitter *e, ir_kind monoid, ir_dtype dtype,
                                const char *vector) {
  const char *one = kernel_dtype_text(dtype);
  for (int32_t lanes = e->n->lanes; lanes > 2; lanes /= 2) {
    const char *type = arena_printf(e->a, "<%d x %s>", lanes, one), *half[2];
    for (int32_t side = 0; side < 2; side++) {
      strbuf b = strbuf_make(e->a);
      for (int32_t i = 0; i < lanes / 2; i++)
        strbuf_printf(&b, "%si32 %d", i ? ", " : "", side * (lanes / 2) + i);
      half[side] = kernel_line(e, "shufflevector %s %s, %s poison, <%d x i32> <%s>", type, vector,
                               type, lanes / 2, b.text);
    }
    vector = kernel_combine(e, monoid, dtype, arena_printf(e->a, "<%d x %s>", lanes / 2, one),
                            lanes / 2, half[0], half[1]);
  }
  const char *pair = arena_printf(e->a, "<2 x %s>", one);
  const char *x = kernel_line(e, "extractelement %s %s, i64 0", pair, vector),
             *y = kernel_line(e, "extractelement %s %s, i64 1", pair, vector);
  return kernel_combine(e, monoid, dtype, one, 1, x, y);
}

static kernel_grid read_late(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = kernel_new_grid(e, dtype_of(e, x->value), x->mask);
  bool in_lanes = !g.is_vector && kernel_late_width(e->n, x) > 1;
  for (int32_t c = 0; c < g.columns; c++) {
    const char *at =
        g.is_vector ? kernel_index(e, e->tile.column, kernel_int(e, (int64_t)c * e->n->lanes), 1)
                    : "0";
    const char *p = kernel_late_at(e, x, at);
    const char *y = x->is_product && g.is_vector
                        ? gather(e, g.dtype, p, kernel_padded_points(e->n, x))
                        : kernel_load_at(e, g.dtype, g.is_vector || in_lanes, p);
    g.at[0][c] = in_lanes ? kernel_across_lanes(e, x->monoid, g.dtype, y) : y;
  }
  return with_start(e, x, g);
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
      if (x->index >= 0) return read_reduction(e, x);
      if (x->late >= 0) return read_late(e, x);
      return inner_sum(e, x);
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

static const kernel_grid *find_memo(const kernel_emitter *e, int32_t node, uint32_t mask) {
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
  kernel_grid g = kernel_new_grid(e, dtype_of(e, x->value), x->mask);
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
  int32_t node = x && x->kind != IR_OP_IOTA ? (int32_t)(x - e->n->nodes) : -1;
  const kernel_grid *known = node >= 0 ? find_memo(e, node, mask) : NULL;
  if (known) return *known;
  if (x && x->packed && e->tile.in_tile) return kernel_read_packed(e, v, axes);
  strbuf *before = enter_stream(e, x, mask);
  kernel_grid g = !x ? read_input(e, v, axes) : node < 0 ? iota(e, x, axes) : made(e, x);
  if (node >= 0) kernel_remember(e, x, &g);
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
