/* simplify: small, sure folds that leave less to split.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Every rule is
 * exact, to the bit, for every value of its element types (x + 0 is not for floats:
 * -0.0 + 0.0 is 0.0), and looks at one op and the definitions of its operands. One walk in program
 * order; a rule sees its operands already simplified.
 * Left alone: optimization_barrier, sdy.sharding_constraint, tensors with dynamic dimensions or
 * encodings.
 * Source: StableHLO specification; each rule states its identity.
 */
#include "base/ints.h"
#include "ir/attrs.h"
#include "ir/fold.h"
#include "pass/build.h"

enum { SPREAD_BYTES = 1 << 12 };

typedef struct simplifier {
  pass_ctx *p;
  ir_module *m;
  ir_map *map;    /* results of removed ops -> what they are */
  ir_block block; /* being filled; new ops go to its end */
} simplifier;

/* A rule returns what the op's only result is, IR_NONE if it does not apply, or `again` after
 * changing the op in place. */
typedef ir_value (*rule)(simplifier *s, ir_op op);
static const ir_value again = UINT32_MAX;

/* ---- looking ---- */
static ir_value operand(const simplifier *s, ir_op op, uint32_t i) {
  return ir_operand(s->m, op, i);
}
static ir_type operand_type(const simplifier *s, ir_op op, uint32_t i) {
  return ir_type_of(s->m, ir_operand(s->m, op, i));
}
static ir_type result_type(const simplifier *s, ir_op op) {
  return ir_type_of(s->m, ir_result(s->m, op, 0));
}
static ir_builder builder(const simplifier *s, ir_op op) {
  return (ir_builder){s->m, s->block, ir_op_get(s->m, op)->location};
}

/* All elements of the value are one and the same, a constant: its bytes. NULL if not or if we can't
 * tell. */
static const void *splat_of(const simplifier *s, ir_value v) {
  const ir_attr_data *d = ir_splat_element(s->m, v, 64);
  return d ? d->data : NULL;
}

/* ---- identities of data movement ---- */
/* f(x) = x where the types are the same: convert, reshape, slice (a slice as large as its operand
 * starts at 0, in steps of 1). */
static ir_value same_type(simplifier *s, ir_op op) {
  return operand_type(s, op, 0) == result_type(s, op) ? operand(s, op, 0) : IR_NONE;
}

static bool counts_up(simplifier *s, ir_op op, const char *name) {
  return ir_ints_count_up(ir_op_list(s->m, op, name));
}

static ir_value pad_identity(simplifier *s, ir_op op) {
  static const char *const names[] = {"edge_padding_low", "edge_padding_high", "interior_padding"};
  for (int i = 0; i < 3; i++)
    if (!ir_ints_all(ir_op_list(s->m, op, names[i]), 0)) return IR_NONE;
  return operand(s, op, 0);
}

static ir_value update_of_none(simplifier *s, ir_op op) {
  return ir_element_count(s->m, operand_type(s, op, 1)) ? IR_NONE : operand(s, op, 0);
}

static ir_value transpose_identity(simplifier *s, ir_op op) {
  return counts_up(s, op, "permutation") ? operand(s, op, 0) : IR_NONE;
}

static ir_value broadcast_identity(simplifier *s, ir_op op) {
  return same_type(s, op) && counts_up(s, op, "broadcast_dimensions") ? operand(s, op, 0) : IR_NONE;
}

/* reshape(reshape(x)) = reshape(x): both keep the row-major order. */
static ir_value reshape_of_reshape(simplifier *s, ir_op op) {
  ir_op inner = ir_maker(s->m, operand(s, op, 0), IR_OP_RESHAPE);
  if (!inner) return IR_NONE;
  ir_op_get(s->m, op)->operands[0] = operand(s, inner, 0);
  return again;
}

static ir_value concatenate_one(simplifier *s, ir_op op) {
  return ir_op_get(s->m, op)->n_operands == 1 ? same_type(s, op) : IR_NONE;
}

/* ---- one value everywhere ---- */
/* The scalar that a value is broadcast from, made of a splat constant if need be; IR_NONE if there
 * is none. */
static ir_value scalar_source(simplifier *s, ir_op op, ir_value v) {
  ir_op broadcast = ir_maker(s->m, v, IR_OP_BROADCAST_IN_DIM);
  if (broadcast && ir_type_at(s->m, operand(s, broadcast, 0))->rank == 0)
    return operand(s, broadcast, 0);
  if (!ir_maker(s->m, v, IR_OP_CONSTANT)) return IR_NONE;
  const void *data = splat_of(s, v);
  if (!data) return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_constant(&b, ir_scalar(s->m, ir_type_at(s->m, v)->dtype), data);
}

/* Moving the elements of a tensor that are all alike gives a tensor of the same element: transpose,
 * reshape, broadcast_in_dim of a broadcast scalar or of a splat constant are a broadcast of the
 * scalar. */
static ir_value move_splat(simplifier *s, ir_op op) {
  ir_type from = operand_type(s, op, 0), to = result_type(s, op);
  if (!ir_is_static_tensor(s->m, from) || !ir_is_static_tensor(s->m, to) ||
      ir_type_get(s->m, from)->rank == 0)
    return IR_NONE;
  ir_value scalar = scalar_source(s, op, operand(s, op, 0));
  if (!scalar || ir_type_get(s->m, to)->rank == 0) return scalar;
  ir_builder b = builder(s, op);
  return ir_build_broadcast(&b, scalar, to, (int64_t[]){0});
}

/* A splat constant is a broadcast of its element, which a loop makes slice by slice like any other
 * value. Small ones, which nobody splits, stay as they are written. */
static ir_value spread_constant(simplifier *s, ir_op op) {
  ir_type type = result_type(s, op);
  if (!ir_is_static_tensor(s->m, type) || ir_type_bytes(s->m, type) < SPREAD_BYTES) return IR_NONE;
  const void *element = splat_of(s, ir_result(s->m, op, 0));
  if (!element || !ir_type_get(s->m, type)->rank) return IR_NONE;
  ir_builder b = builder(s, op);
  ir_type scalar = ir_scalar(s->m, ir_type_get(s->m, type)->dtype);
  return ir_build_broadcast(&b, ir_build_constant(&b, scalar, element), type, (int64_t[]){0});
}

/* A reshaped scalar constant is a broadcast of it: one canonical form for both. */
static ir_value reshape_scalar(simplifier *s, ir_op op) {
  ir_type to = result_type(s, op);
  if (ir_type_get(s->m, operand_type(s, op, 0))->rank || !ir_is_static_tensor(s->m, to) ||
      !ir_maker(s->m, operand(s, op, 0), IR_OP_CONSTANT))
    return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_type_get(s->m, to)->rank ? ir_build_broadcast(&b, operand(s, op, 0), to, (int64_t[]){0})
                                     : IR_NONE;
}

/* ---- neutral elements ---- */
typedef enum neutral { ZERO, NEGATIVE_ZERO, ONE, ALL_ONES } neutral;

/* The bytes are this number. Small floats that we don't list have no neutral elements here. */
static bool is_number(const void *data, ir_dtype dtype, neutral n) {
  static const struct {
    ir_dtype dtype;
    uint64_t one, sign;
  } floats[] = {{IR_F64, 0x3ff0000000000000u, 0x8000000000000000u},
                {IR_F32, 0x3f800000u, 0x80000000u},
                {IR_F16, 0x3c00u, 0x8000u},
                {IR_BF16, 0x3f80u, 0x8000u}};
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  size_t bytes = (size_t)ir_dtype_bytes(dtype);
  uint64_t x = 0;
  if (bytes > sizeof x) return false;
  memcpy(&x, data, bytes);
  if (cls == IR_CLASS_INT || cls == IR_CLASS_UINT || cls == IR_CLASS_BOOL) {
    uint64_t all = cls == IR_CLASS_BOOL ? 1
                   : bytes == sizeof x  ? UINT64_MAX
                                        : ((uint64_t)1 << 8 * bytes) - 1;
    return n == ZERO ? x == 0 : n == ONE ? x == 1 : n == ALL_ONES && x == all;
  }
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (floats[i].dtype == dtype)
      return n == ZERO  ? x == 0
             : n == ONE ? x == floats[i].one
                        : n == NEGATIVE_ZERO && x == floats[i].sign;
  return false;
}

static bool is_splat(simplifier *s, ir_value v, neutral n) {
  const void *data = splat_of(s, v);
  return data && is_number(data, ir_type_at(s->m, v)->dtype, n);
}

static bool is_float(const simplifier *s, ir_op op) {
  ir_dtype_class cls = ir_dtype_class_of(ir_type_get(s->m, result_type(s, op))->dtype);
  return cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX;
}

/* x op n = n op x = x */
static ir_value either_side(simplifier *s, ir_op op, neutral n) {
  if (is_splat(s, operand(s, op, 1), n)) return operand(s, op, 0);
  return is_splat(s, operand(s, op, 0), n) ? operand(s, op, 1) : IR_NONE;
}

/* x op n = x */
static ir_value right_side(simplifier *s, ir_op op, neutral n) {
  return is_splat(s, operand(s, op, 1), n) ? operand(s, op, 0) : IR_NONE;
}

static ir_value add_zero(simplifier *s, ir_op op) {
  return either_side(s, op, is_float(s, op) ? NEGATIVE_ZERO : ZERO);
}
static ir_value subtract_zero(simplifier *s, ir_op op) { return right_side(s, op, ZERO); }
static ir_value multiply_one(simplifier *s, ir_op op) { return either_side(s, op, ONE); }
static ir_value divide_one(simplifier *s, ir_op op) { return right_side(s, op, ONE); }
static ir_value or_zero(simplifier *s, ir_op op) { return either_side(s, op, ZERO); }
static ir_value and_ones(simplifier *s, ir_op op) { return either_side(s, op, ALL_ONES); }

/* ---- absorbing elements ---- */
/* x op n = n op x = n. No products of floats: 0 * inf is NaN. */
static ir_value absorbs(simplifier *s, ir_op op, neutral n) {
  for (uint32_t i = 0; i < 2; i++)
    if (operand_type(s, op, i) == result_type(s, op) && is_splat(s, operand(s, op, i), n))
      return operand(s, op, i);
  return IR_NONE;
}

static ir_value multiply_zero(simplifier *s, ir_op op) {
  return is_float(s, op) ? IR_NONE : absorbs(s, op, ZERO);
}
static ir_value and_zero(simplifier *s, ir_op op) { return absorbs(s, op, ZERO); }
static ir_value or_ones(simplifier *s, ir_op op) { return absorbs(s, op, ALL_ONES); }

/* ---- tensors of no elements ---- */
static bool is_empty(const simplifier *s, ir_type type) {
  return ir_is_static_tensor(s->m, type) && ir_element_count(s->m, type) == 0 &&
         ir_type_bytes(s->m, type) == 0;
}

/* Of no elements nothing is read: a result without any is that of zeros. */
static ir_value no_elements(simplifier *s, ir_op op) {
  ir_type type = result_type(s, op);
  if (!is_empty(s, type) || is_empty(s, operand_type(s, op, 0))) return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_zeros(&b, type);
}

/* Parts without elements go: a roll by none has one. */
static ir_value concatenate_less(simplifier *s, ir_op op) {
  ir_op_data *d = ir_op_get(s->m, op);
  uint32_t n = 0;
  if (is_empty(s, result_type(s, op))) return IR_NONE;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!is_empty(s, operand_type(s, op, i))) d->operands[n++] = d->operands[i];
  CTX_CHECK(s->m->ctx, n > 0); /* as many elements as the parts together */
  if (n == d->n_operands) return IR_NONE;
  d->n_operands = n;
  return again;
}

/* ---- parts ---- */
/* The operand of the concatenation that [first, end) of `dim` lies in, and where it begins. */
static ir_value part_around(const simplifier *s, ir_op whole, int32_t dim, int64_t first,
                            int64_t end, int64_t *out_at) {
  *out_at = 0;
  for (uint32_t i = 0; i < ir_op_get(s->m, whole)->n_operands; i++) {
    ir_type type = operand_type(s, whole, i);
    if (!ir_is_static_tensor(s->m, type)) return IR_NONE;
    int64_t size = ir_type_get(s->m, type)->dims[dim];
    if (*out_at <= first && end <= *out_at + size) return operand(s, whole, i);
    *out_at += size;
  }
  return IR_NONE;
}

/* slice(concatenate(.., x, ..)) = slice(x) of what lies in x: a border that is reflected is put to
 * one end, then to the other, of what the first made. */
static ir_value slice_of_part(simplifier *s, ir_op op) {
  static const char *const names[] = {"start_indices", "limit_indices"};
  ir_op whole = ir_maker(s->m, operand(s, op, 0), IR_OP_CONCATENATE);
  if (!whole) return IR_NONE;
  int32_t dim = (int32_t)ir_op_int(s->m, whole, "dimension", 0);
  int64_t at, ends[2] = {ir_op_entry(s->m, op, names[0], dim, 0),
                         ir_op_entry(s->m, op, names[1], dim, INT64_MAX)};
  ir_value part = part_around(s, whole, dim, ends[0], ends[1], &at);
  if (!part) return IR_NONE;
  for (int i = 0; i < 2; i++) {
    ir_ints old = ir_op_list(s->m, op, names[i]);
    int64_t *moved = ARENA_COPY(s->m->arena, int64_t, old.at, old.count);
    moved[dim] = ends[i] - at;
    ir_op_set_attr(s->m, op, names[i], ir_attr_i64s(s->m, moved, old.count), true);
  }
  ir_op_get(s->m, op)->operands[0] = part;
  return again;
}

/* dynamic_slice(x, constants) = slice(x), from where it would clamp them to. */
static ir_value slice_at_known(simplifier *s, ir_op op) {
  int64_t start[IR_MAX_RANK], limit[IR_MAX_RANK], step[IR_MAX_RANK];
  if (!pass_is_static(s->m, op)) return IR_NONE;
  const ir_type_data *x = ir_type_get(s->m, operand_type(s, op, 0)),
                     *y = ir_type_get(s->m, result_type(s, op));
  for (int32_t i = 0; i < x->rank; i++) {
    ir_value at = operand(s, op, (uint32_t)(1 + i));
    if (!ir_splat_int(s->m, at, &start[i])) return IR_NONE;
    start[i] = max64(0, min64(start[i], x->dims[i] - y->dims[i]));
    limit[i] = start[i] + y->dims[i];
    step[i] = 1;
  }
  ir_builder b = builder(s, op);
  return ir_build_slice(&b, operand(s, op, 0), start, limit, step);
}

/* Folding no elements gives the initial value. */
static ir_value reduce_of_none(simplifier *s, ir_op op) {
  ir_type type = result_type(s, op);
  if (ir_op_get(s->m, op)->n_operands != 2 || !is_empty(s, operand_type(s, op, 0)) ||
      !ir_is_static_tensor(s->m, type) || is_empty(s, type) ||
      operand_type(s, op, 1) != ir_scalar(s->m, ir_type_get(s->m, type)->dtype))
    return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_broadcast(&b, operand(s, op, 1), type, NULL);
}

/* Adding up no products gives zero. */
static ir_value product_of_none(simplifier *s, ir_op op) {
  bool adds = !is_empty(s, operand_type(s, op, 0)) && !is_empty(s, operand_type(s, op, 1));
  if (adds || !pass_is_static(s->m, op)) return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_zeros(&b, result_type(s, op));
}

/* Where nothing is put, all stays. */
static ir_value scatter_of_none(simplifier *s, ir_op op) {
  bool is_one = ir_op_get(s->m, op)->n_operands == 3;
  return is_one && is_empty(s, operand_type(s, op, 2)) ? same_type(s, op) : IR_NONE;
}

/* select(all true, x, y) = x; select(all false, x, y) = y */
static ir_value select_constant(simplifier *s, ir_op op) {
  const uint8_t *data = splat_of(s, operand(s, op, 0));
  ir_value x = data ? operand(s, op, *data ? 1 : 2) : IR_NONE;
  return x && ir_type_of(s->m, x) == result_type(s, op) ? x : IR_NONE;
}

/* select(p, x, x) = x: what a while_loop under vmap hands on for rows that are done and those that
 * are not. */
static ir_value select_same(simplifier *s, ir_op op) {
  ir_value x = operand(s, op, 1);
  return x == operand(s, op, 2) && ir_type_of(s->m, x) == result_type(s, op) ? x : IR_NONE;
}

/* select(p, select(p, x, y), y) = select(p, x, y) = select(p, x, select(p, x, y)): a mask put on
 * twice, as gradients of triangular factors do. */
static ir_value select_again(simplifier *s, ir_op op) {
  for (uint32_t i = 1; i <= 2; i++) {
    ir_value x = operand(s, op, i);
    ir_op inner = ir_maker(s->m, x, IR_OP_SELECT);
    if (inner && operand(s, inner, 0) == operand(s, op, 0) &&
        operand(s, inner, 3 - i) == operand(s, op, 3 - i))
      return x;
  }
  return IR_NONE;
}

/* ---- the rest ---- */
/* Reducing no dimension folds each element with the initial value once: op(init, x). */
static ir_value reduce_nothing(simplifier *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  if (ir_op_list(s->m, op, "dimensions").count || d->n_operands != 2 ||
      operand_type(s, op, 0) != result_type(s, op) ||
      !ir_is_static_tensor(s->m, result_type(s, op)))
    return IR_NONE;
  ir_kind kind = ir_reducer_kind(s->m, d->regions[0]);
  if (kind == IR_OP_UNKNOWN) return IR_NONE;
  ir_value x = operand(s, op, 0), init = operand(s, op, 1);
  ir_builder b = builder(s, op);
  if (ir_type_at(s->m, x)->rank)
    init = ir_build_broadcast(&b, init, ir_type_of(s->m, x), (int64_t[]){0});
  return ir_build_binary(&b, kind, init, x);
}

/* get_tuple_element(tuple(x...), i) = x[i] */
static ir_value element_of_tuple(simplifier *s, ir_op op) {
  ir_op tuple = ir_maker(s->m, operand(s, op, 0), IR_OP_TUPLE);
  int64_t i = ir_op_int(s->m, op, "index", -1);
  return tuple && i >= 0 && i < ir_op_get(s->m, tuple)->n_operands ? operand(s, tuple, (uint32_t)i)
                                                                   : IR_NONE;
}

/* ---- gathers and scatters of one window at a known place ---- */
/* Element i of a vector of indices, one constant or in pieces of one number each; -1 where we can't
 * tell. */
static int64_t index_at(const simplifier *s, ir_value indices, int64_t i) {
  ir_op op = ir_maker(s->m, indices, IR_OP_CONCATENATE);
  for (uint32_t k = 0; op && k < ir_op_get(s->m, op)->n_operands; k++) {
    int64_t count = ir_element_count(s->m, operand_type(s, op, k));
    if (i < count) {
      indices = operand(s, op, k);
      break;
    }
    i -= count;
  }
  ir_dtype dtype = ir_type_at(s->m, indices)->dtype;
  const ir_attr_data *d = ir_splat_element(s->m, indices, 64);
  ir_op constant = d ? IR_NONE : ir_maker(s->m, indices, IR_OP_CONSTANT);
  if (constant) d = ir_op_attr_of(s->m, constant, "value", IR_ATTR_DENSE);
  int64_t number, bytes = constant ? ir_dtype_bytes(dtype) : 0;
  bool known = d && ir_load_int(dtype, (const char *)d->data + i * bytes, &number);
  return known ? number : -1;
}

/* Where the window of x lies, and its shape among x's dimensions. */
typedef struct known_window {
  int64_t starts[IR_MAX_RANK], sizes[IR_MAX_RANK];
} known_window;

/* False: several windows, one whose place is not known, or that goes beyond x's ends. */
static bool find_window(const simplifier *s, const pass_entries *v, known_window *out) {
  const ir_gather_numbers *n = &v->n;
  const ir_type_data *x = ir_type_at(s->m, v->x), *t = ir_type_at(s->m, v->part);
  if (ir_type_at(s->m, v->indices)->rank != 1 || n->index_vector_dim != 0 ||
      n->operand_batching_dims.count || n->offset_dims.count != t->rank ||
      n->offset_dims.count + n->collapsed_slice_dims.count != x->rank)
    return false;
  for (int32_t d = 0, k = 0; d < x->rank; d++) {
    int32_t at = ir_ints_find(n->start_index_map, d);
    out->sizes[d] = ir_ints_have(n->collapsed_slice_dims, d) ? 1 : t->dims[k++];
    out->starts[d] = at < 0 ? 0 : index_at(s, v->indices, at);
    if (out->starts[d] < 0 || out->starts[d] > x->dims[d] - out->sizes[d]) return false;
  }
  return true;
}

static ir_value window_of(simplifier *s, ir_builder *b, ir_value x, const known_window *w) {
  static const int64_t ones[IR_MAX_RANK] = {[0 ... IR_MAX_RANK - 1] = 1};
  int64_t limits[IR_MAX_RANK];
  for (int32_t d = 0; d < ir_type_at(s->m, x)->rank; d++) limits[d] = w->starts[d] + w->sizes[d];
  return ir_build_slice(b, x, w->starts, limits, ones);
}

/* gather(x, constant index) = slice(x), reshaped. */
static ir_value gather_one_window(simplifier *s, ir_op op) {
  pass_entries v;
  known_window w;
  if (!pass_find_entries(s->p->scratch, s->m, op, &v) || !find_window(s, &v, &w)) return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_reshape(&b, window_of(s, &b, v.x, &w), result_type(s, op));
}

/* scatter(x, constant index, update) { f } = dynamic_update_slice(x, f(x's window, update),
 * index...) where the update is one window inside of x: what is outside a scatter leaves alone. */
static ir_value scatter_one_window(simplifier *s, ir_op op) {
  pass_entries v;
  known_window w;
  if (!pass_find_entries(s->p->scratch, s->m, op, &v) || (!v.puts && v.kind == IR_OP_UNKNOWN) ||
      !find_window(s, &v, &w))
    return IR_NONE;
  int32_t rank = ir_type_at(s->m, v.x)->rank;
  ir_builder b = builder(s, op);
  ir_type scalar = ir_scalar(s->m, ir_type_at(s->m, v.indices)->dtype);
  ir_type type = ir_tensor(s->m, ir_type_at(s->m, v.x)->dtype, rank, w.sizes);
  ir_value at[IR_MAX_RANK], update = ir_build_reshape(&b, v.part, type);
  for (int32_t d = 0; d < rank; d++) at[d] = ir_build_splat_int(&b, scalar, w.starts[d]);
  if (!v.puts) update = ir_build_binary(&b, v.kind, window_of(s, &b, v.x, &w), update);
  return ir_build_dynamic_update_slice(&b, v.x, update, at);
}

/* ---- what front ends write in other words ---- */
/* custom_call @mhlo.erf(x) = chlo.erf(x): how portable artifacts spell CHLO's functions. */
static ir_value erf_call(simplifier *s, ir_op op) {
  const char *target = ir_op_string(s->m, op, "call_target_name");
  const ir_op_data *d = ir_op_get(s->m, op);
  if (!target || strcmp(target, "mhlo.erf") || d->n_operands != 1 || d->n_results != 1 ||
      !same_type(s, op))
    return IR_NONE;
  ir_builder b = builder(s, op);
  return ir_build_unary(&b, IR_OP_CHLO_ERF, operand(s, op, 0));
}

/* set_dimension_size(x, extent of x) = x. Of this op the verifier knows nothing. */
static ir_value whole_dimension(simplifier *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  if (d->n_operands != 2 || d->n_results != 1 || !same_type(s, op) ||
      !ir_is_static_tensor(s->m, result_type(s, op)))
    return IR_NONE;
  const ir_type_data *x = ir_type_get(s->m, operand_type(s, op, 0)),
                     *index = ir_type_get(s->m, operand_type(s, op, 1));
  const void *size = splat_of(s, operand(s, op, 1));
  int64_t dim = ir_op_int(s->m, op, "dimension", -1);
  int32_t is;
  if (!size || index->dtype != IR_I32 || dim < 0 || dim >= x->rank) return IR_NONE;
  memcpy(&is, size, sizeof is);
  return is == x->dims[dim] ? operand(s, op, 0) : IR_NONE;
}

/* ---- one spelling of what the split and kernels look for ---- */
/* dot(x, y) sums over x's last dimension and y's first. */
static ir_value dot_as_general(simplifier *s, ir_op op) {
  static const int64_t first = 0;
  int64_t last = ir_type_get(s->m, operand_type(s, op, 0))->rank - 1;
  ir_dot_numbers n = {.lhs_contract = {1, &last}, .rhs_contract = {1, &first}};
  ir_op_get(s->m, op)->kind = IR_OP_DOT_GENERAL;
  ir_set_dot_dims(s->m, op, &n);
  return again;
}

/* A window that is reversed goes over the kernel reversed. XLA CPU (jaxlib 0.10.2) forgets that it
 * is where it covers its dimension, as it may in a slice. */
static ir_value convolution_reversed(simplifier *s, ir_op op) {
  ir_conv_numbers n;
  int64_t dims[IR_MAX_RANK];
  int32_t count = 0;
  if (!pass_is_static(s->m, op) || !ir_conv_dims(s->p->scratch, s->m, op, &n) ||
      pass_misreads_padding(s->m, op))
    return IR_NONE;
  for (int32_t i = 0; i < n.kernel_spatial.count; i++)
    if (ir_op_entry(s->m, op, "window_reversal", i, 0)) dims[count++] = n.kernel_spatial.at[i];
  if (!count) return IR_NONE;
  ir_builder b = builder(s, op);
  ir_op_get(s->m, op)->operands[1] =
      pass_build_reverse(&b, operand(s, op, 1), (ir_ints){count, dims});
  ir_op_drop_attr(s->m, op, "window_reversal");
  return again;
}

/* x to the power of 2 is x x, rounded once; XLA computes it so, too. */
static ir_value power_two(simplifier *s, ir_op op) {
  if (!ir_is_splat_real(s->m, operand(s, op, 1), 2)) return IR_NONE;
  ir_op_get(s->m, op)->kind = IR_OP_MULTIPLY;
  ir_op_get(s->m, op)->operands[1] = operand(s, op, 0);
  return again;
}

/* x to the power of 1, as gradients of squares have it, is x, zeros, infinities and NaN too. */
static ir_value power_one(simplifier *s, ir_op op) {
  return ir_is_splat_real(s->m, operand(s, op, 1), 1) ? operand(s, op, 0) : IR_NONE;
}

/* ---- the table ---- */
static const struct row {
  ir_kind kind;
  rule apply;
} rows[] = {
    {IR_OP_CONSTANT, spread_constant},
    {IR_OP_CONVERT, same_type},
    {IR_OP_RESHAPE, same_type},
    {IR_OP_RESHAPE, reshape_of_reshape},
    {IR_OP_RESHAPE, move_splat},
    {IR_OP_RESHAPE, reshape_scalar},
    {IR_OP_TRANSPOSE, transpose_identity},
    {IR_OP_TRANSPOSE, move_splat},
    {IR_OP_BROADCAST_IN_DIM, broadcast_identity},
    {IR_OP_BROADCAST_IN_DIM, move_splat},
    {IR_OP_SLICE, same_type},
    {IR_OP_SLICE, no_elements},
    {IR_OP_SLICE, slice_of_part},
    {IR_OP_DYNAMIC_SLICE, no_elements},
    {IR_OP_DYNAMIC_SLICE, slice_at_known},
    {IR_OP_DYNAMIC_UPDATE_SLICE, update_of_none},
    {IR_OP_GATHER, no_elements},
    {IR_OP_GATHER, gather_one_window},
    {IR_OP_PAD, pad_identity},
    {IR_OP_CONCATENATE, concatenate_less},
    {IR_OP_CONCATENATE, concatenate_one},
    {IR_OP_ADD, add_zero},
    {IR_OP_SUBTRACT, subtract_zero},
    {IR_OP_MULTIPLY, multiply_one},
    {IR_OP_MULTIPLY, multiply_zero},
    {IR_OP_DIVIDE, divide_one},
    {IR_OP_OR, or_zero},
    {IR_OP_OR, or_ones},
    {IR_OP_XOR, or_zero},
    {IR_OP_AND, and_ones},
    {IR_OP_AND, and_zero},
    {IR_OP_SELECT, select_constant},
    {IR_OP_SELECT, select_same},
    {IR_OP_SELECT, select_again},
    {IR_OP_REDUCE, reduce_nothing},
    {IR_OP_REDUCE, reduce_of_none},
    {IR_OP_GET_TUPLE_ELEMENT, element_of_tuple},
    {IR_OP_SCATTER, scatter_of_none},
    {IR_OP_SCATTER, scatter_one_window},
    {IR_OP_CUSTOM_CALL, erf_call},
    {IR_OP_SET_DIMENSION_SIZE, whole_dimension},
    {IR_OP_DOT, dot_as_general},
    {IR_OP_DOT_GENERAL, no_elements},
    {IR_OP_DOT_GENERAL, product_of_none},
    {IR_OP_CONVOLUTION, product_of_none},
    {IR_OP_CONVOLUTION, convolution_reversed},
    {IR_OP_POWER, power_one},
    {IR_OP_POWER, power_two},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Applies the rules to the op until none does. True if its result is something else now. */
static bool simplify_op(simplifier *s, ir_op op) {
  for (size_t i = 0; i < N_ROWS; i++) {
    if (rows[i].kind != ir_kind_of(s->m, op)) continue;
    ir_value x = rows[i].apply(s, op);
    if (!x) continue;
    s->p->changed = true;
    if (x != again) {
      ir_map_set(s->map, ir_result(s->m, op, 0), x);
      return true;
    }
    i = (size_t)-1; /* from the first rule on */
  }
  return false;
}

/* The branch that case or if takes, where a constant tells; a case out of range takes the last. */
static ir_block taken_branch(const simplifier *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  bool is_case = d->kind == IR_OP_CASE;
  if (!d->n_regions || (!is_case && d->kind != IR_OP_IF)) return IR_NONE;
  const void *data = splat_of(s, d->operands[0]);
  if (!data) return IR_NONE;
  int32_t index = 0;
  memcpy(&index, data, is_case ? sizeof index : 1);
  if (!is_case) return d->regions[!index];
  return d
      ->regions[index < 0 || (uint32_t)index >= d->n_regions ? d->n_regions - 1 : (uint32_t)index];
}

static void visit_block(simplifier *s, ir_block block);

static void visit_op(simplifier *s, ir_block block, ir_op op) {
  ir_rename_operands(s->m, op, s->map);
  ir_block taken = taken_branch(s, op);
  if (taken) {
    ir_ops ops = ir_take_ops(s->m, taken);
    for (uint32_t i = 0; i + 1 < ops.count; i++) visit_op(s, block, ops.at[i]);
    ir_map_results(s->map, s->m, op, ops.at[ops.count - 1]);
    s->p->changed = true;
    return;
  }
  for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));) visit_block(s, below);
  s->block = block;
  if (!simplify_op(s, op)) ir_block_append(s->m, block, op);
}

static void visit_block(simplifier *s, ir_block block) {
  ir_block outer = s->block;
  ir_ops ops = ir_take_ops(s->m, block);
  s->block = block;
  for (uint32_t i = 0; i < ops.count; i++) visit_op(s, block, ops.at[i]);
  s->block = outer;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  simplifier s = {.p = p, .m = m, .map = ir_map_new(p->scratch, m)};
  visit_block(&s, ir_top(m));
  return WEIR_OK;
}

const pass pass_simplify = {"simplify", run};
