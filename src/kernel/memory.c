/* Where elements are, and how they are read and written: addresses, vectors, lanes one by one,
 * places on the stack. Bytes for i1. */
#include "kernel/elementwise.h"
#include "kernel/emit.h"

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

static const char *from_memory(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *x) {
  if (dtype != IR_I1) return x;
  const char *bytes = is_vector ? arena_printf(e->a, "<%d x i8>", e->n->lanes) : "i8";
  return kernel_line(e, "icmp ne %s %s, %s", bytes, x, is_vector ? "zeroinitializer" : "0");
}

static const char *memory_type(kernel_emitter *e, ir_dtype dtype, bool is_vector) {
  const char *one = kernel_memory_type(dtype);
  return is_vector ? arena_printf(e->a, "<%d x %s>", e->n->lanes, one) : one;
}

/* as: what follows the alignment. */
static const char *load(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p,
                        const char *as) {
  const char *x = kernel_line(e, "load %s, ptr %s, align %lld%s", memory_type(e, dtype, is_vector),
                              p, (long long)ir_dtype_bytes(dtype), as);
  return from_memory(e, dtype, is_vector, x);
}

const char *kernel_load_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p) {
  return load(e, dtype, is_vector, p, "");
}

const char *kernel_load_fixed(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p) {
  return load(e, dtype, is_vector, p, ", !invariant.load !0");
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

const char *kernel_load_strided(kernel_emitter *e, ir_dtype dtype, const char *first,
                                int64_t stride) {
  return kernel_load_lanes(e, dtype, kernel_lane_pointers(e, dtype, first, stride));
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

void kernel_store_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *x,
                     const char *p) {
  const char *type = memory_type(e, dtype, is_vector);
  if (dtype == IR_I1)
    x = kernel_line(e, "zext %s %s to %s", kernel_type(e, dtype, is_vector), x, type);
  kernel_put(e, "store %s %s, ptr %s, align %lld", type, x, p, (long long)ir_dtype_bytes(dtype));
}
