#include "kernel/elementwise.h"

#include <dlfcn.h>
#include <math.h>

#include "ir/attrs.h"
#include "ir/fold.h"
#include "kernel/emit.h"

/* ---- types and literals ---- */
const char *kernel_dtype_text(ir_dtype dtype) {
  switch (dtype) {
    case IR_I1: return "i1";
    case IR_I8:
    case IR_UI8: return "i8";
    case IR_I16:
    case IR_UI16:
    case IR_BF16:
    case IR_F16: return "i16";
    case IR_I32:
    case IR_UI32: return "i32";
    case IR_I64:
    case IR_UI64: return "i64";
    case IR_F32: return "float";
    case IR_F64: return "double";
    default: return NULL;
  }
}

static const char *wide(kernel_emitter *e, const char *element, int32_t lanes) {
  return lanes == 1 ? element : arena_printf(e->a, "<%d x %s>", lanes, element);
}

const char *kernel_typed(kernel_emitter *e, ir_dtype dtype, int32_t lanes) {
  return wide(e, kernel_dtype_text(dtype), lanes);
}

const char *kernel_suffix(kernel_emitter *e, ir_dtype dtype, int32_t lanes) {
  const char *one = dtype == IR_F64 ? "f64" : dtype == IR_F32 ? "f32" : kernel_dtype_text(dtype);
  return lanes == 1 ? one : arena_printf(e->a, "v%d%s", lanes, one);
}

const char *kernel_number(kernel_emitter *e, ir_dtype dtype, int32_t lanes, double value) {
  const char *one = ir_is_float(dtype) ? kernel_real(e, dtype, value)
                                       : arena_printf(e->a, "%lld", (long long)value);
  if (lanes == 1) return one;
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < lanes; i++)
    strbuf_printf(&b, "%s%s %s", i ? ", " : "<", kernel_dtype_text(dtype), one);
  strbuf_putc(&b, '>');
  return b.text;
}

/* ---- what is covered ---- */
typedef struct math_function { /* of the C library; f appended for f32 */
  ir_kind kind;
  const char *name;
  bool
      is_even; /* libmvec's takes about as long whatever the number is, and no longer than libm's */
} math_function;

static const math_function functions[] = {
    {IR_OP_CBRT, "cbrt", true},         {IR_OP_COSINE, "cos", true},
    {IR_OP_EXPM1, "expm1", true},       {IR_OP_LOG, "log", false},
    {IR_OP_LOG1P, "log1p", true},       {IR_OP_SINE, "sin", true},
    {IR_OP_TAN, "tan", true},           {IR_OP_POWER, "pow", false},
    {IR_OP_ATAN2, "atan2", false},      {IR_OP_CHLO_ACOS, "acos", false},
    {IR_OP_CHLO_ACOSH, "acosh", false}, {IR_OP_CHLO_ASIN, "asin", false},
    {IR_OP_CHLO_ASINH, "asinh", false}, {IR_OP_CHLO_ATAN, "atan", true},
    {IR_OP_CHLO_ATANH, "atanh", false}, {IR_OP_CHLO_COSH, "cosh", true},
    {IR_OP_CHLO_ERF, "erf", true},      {IR_OP_CHLO_ERFC, "erfc", false},
    {IR_OP_CHLO_SINH, "sinh", true},    {IR_OP_CHLO_TAN, "tan", true},
};

static const char *function_of(ir_kind kind) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (functions[i].kind == kind) return functions[i].name;
  return NULL;
}

static bool is_even(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name)) return functions[i].is_even;
  return false;
}

bool kernel_is_elementwise(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  ir_dtype dtype = ir_type_at(m, ir_operand(m, op, kind == IR_OP_SELECT ? 1 : 0))->dtype;
  ir_direction direction;
  ir_compare_type type;
  ir_dtype result = ir_type_at(m, ir_result(m, op, 0))->dtype;
  if (!kernel_dtype_text(dtype) || !kernel_dtype_text(result)) return false;
  if (kernel_is_narrow(dtype) || kernel_is_narrow(result)) /* only in and out: promote.c */
    return kind == IR_OP_CONVERT && (dtype == IR_F32 || result == IR_F32);
  if (kind == IR_OP_COMPARE)
    return ir_compare_kind(m, op, &direction, &type) && type != IR_COMPARE_TOTALORDER;
  return ir_is_float(dtype) || !function_of(kind);
}

ir_dtype kernel_round_format(const ir_module *m, ir_op op) {
  return ir_type_get(m, ir_attr_get(m, ir_op_attr(m, op, "format"))->type)->dtype;
}

/* ---- functions of the C library ---- */
void *kernel_library_function(const char *name) {
  static const char *const libraries[] = {"libmvec.so.1", "libm.so.6"};
  void *found = NULL;
  for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
    void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (handle) found = dlsym(handle, name);
  }
  return found;
}

static int32_t function_index(kernel_emitter *e, const char *name) {
  for (uint32_t i = 0; i < e->functions.count; i++)
    if (!strcmp(e->functions.at[i], name)) return (int32_t)i;
  VEC_PUSH(e->a, &e->functions, name);
  return (int32_t)e->functions.count - 1;
}

static const char *call_function(kernel_emitter *e, const char *name, const char *type,
                                 uint32_t n_args, const char *const *args) {
  const char *slot =
      kernel_line(e, "getelementptr ptr, ptr %%functions, i64 %d", function_index(e, name));
  const char *f = kernel_line(e, "load ptr, ptr %s, !invariant.load !0", slot);
  if (n_args == 1) return kernel_line(e, "call %s %s(%s %s)", type, f, type, args[0]);
  return kernel_line(e, "call %s %s(%s %s, %s %s)", type, f, type, args[0], type, args[1]);
}

static const char *call_by_lane(kernel_emitter *e, const char *name, ir_dtype dtype, int32_t lanes,
                                uint32_t n_args, const char *const *args) {
  const char *type = kernel_typed(e, dtype, lanes), *element = kernel_dtype_text(dtype),
             *out = "poison";
  for (int32_t i = 0; i < lanes; i++) {
    const char *each[2];
    for (uint32_t k = 0; k < n_args; k++)
      each[k] = kernel_line(e, "extractelement %s %s, i64 %d", type, args[k], i);
    const char *y = call_function(e, name, element, n_args, each);
    out = kernel_line(e, "insertelement %s %s, %s %s, i64 %d", type, out, element, y, i);
  }
  return out;
}

/* libmvec's names: the x86-64 vector function ABI. */
static const char *vector_name(kernel_emitter *e, const char *name, int64_t bytes, int32_t lanes,
                               uint32_t n_args) {
  char isa = bytes == 64 ? 'e' : bytes == 32 ? 'd' : bytes == 16 ? 'b' : 0;
  if (!isa) return NULL;
  const char *full =
      arena_printf(e->a, "_ZGV%cN%d%s_%s", isa, lanes, n_args == 2 ? "vv" : "v", name);
  return kernel_library_function(full) ? full : NULL;
}

/* Of one number, as the first of a short vector: libm takes branches that depend on it, which a
 * processor guesses wrongly, and what is computed beside it waits. */
static const char *call_alone(kernel_emitter *e, const char *base, const char *name, ir_dtype dtype,
                              uint32_t n_args, const char *const *args) {
  int32_t bytes = ir_dtype_bytes(dtype), lanes = 16 / bytes;
  const char *element = kernel_dtype_text(dtype), *type = kernel_typed(e, dtype, lanes);
  const char *vector = is_even(base) ? vector_name(e, name, 16, lanes, n_args) : NULL;
  if (!vector) return call_function(e, name, element, n_args, args);
  const char *x = kernel_line(e, "insertelement %s %s, %s %s, i64 0", type,
                              kernel_number(e, dtype, lanes, 1), element, args[0]);
  const char *y = call_function(e, vector, type, 1, &x);
  return kernel_line(e, "extractelement %s %s, i64 0", type, y);
}

const char *kernel_emit_call(kernel_emitter *e, const char *base, ir_dtype dtype, int32_t lanes,
                             uint32_t n_args, const char *const *args) {
  const char *name = dtype == IR_F32 ? arena_printf(e->a, "%sf", base) : base;
  if (lanes == 1) return call_alone(e, base, name, dtype, n_args, args);
  const char *vector = vector_name(e, name, ir_dtype_bytes(dtype) * lanes, lanes, n_args);
  if (vector) return call_function(e, vector, kernel_typed(e, dtype, lanes), n_args, args);
  return call_by_lane(e, name, dtype, lanes, n_args, args);
}

/* ---- pieces ---- */
const char *kernel_intrinsic(kernel_emitter *e, const char *name, ir_dtype dtype, int32_t lanes,
                             uint32_t n_args, const char *const *args) {
  const char *type = kernel_typed(e, dtype, lanes);
  const char *full = arena_printf(e->a, "@llvm.%s.%s", name, kernel_suffix(e, dtype, lanes));
  strbuf types = strbuf_make(e->a), values = strbuf_make(e->a);
  for (uint32_t i = 0; i < n_args; i++) {
    strbuf_printf(&types, "%s%s", i ? ", " : "", type);
    strbuf_printf(&values, "%s%s %s", i ? ", " : "", type, args[i]);
  }
  kernel_declare(e, arena_printf(e->a, "declare %s %s(%s)", type, full, types.text));
  return kernel_line(e, "call %s %s(%s)", type, full, values.text);
}

static const char *choose(kernel_emitter *e, int32_t lanes, const char *type, const char *test,
                          const char *yes, const char *no) {
  return kernel_line(e, "select %s %s, %s %s, %s %s", wide(e, "i1", lanes), test, type, yes, type,
                     no);
}

const char *kernel_fma(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x,
                       const char *y, const char *z) {
  if (machine_has_fma(&e->n->machine))
    return kernel_intrinsic(e, "fma", dtype, lanes, 3, (const char *[]){x, y, z});
  const char *type = kernel_typed(e, dtype, lanes);
  return kernel_line(e, "fadd %s %s, %s", type, kernel_line(e, "fmul %s %s, %s", type, x, y), z);
}

const char *kernel_choose(kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *test,
                          const char *yes, const char *no) {
  return choose(e, lanes, kernel_typed(e, dtype, lanes), test, yes, no);
}

/* The larger (smaller) of x and y by processors' own maximum, which is y where neither is. */
static const char *either_extreme(kernel_emitter *e, bool is_max, const char *type, int32_t lanes,
                                  const char *x, const char *y) {
  const char *test = kernel_line(e, "fcmp %s %s %s, %s", is_max ? "ogt" : "olt", type, x, y);
  return choose(e, lanes, type, test, x, y);
}

/* +0 is larger than -0; the sum, which is NaN, if either is. Asked both ways numbers that differ
 * give the same, zeros both: of their bits +0 has none set. */
static const char *exact_extreme(kernel_emitter *e, bool is_max, ir_dtype dtype, int32_t lanes,
                                 const char *x, const char *y) {
  const char *real = kernel_typed(e, dtype, lanes),
             *bits = kernel_typed(e, dtype == IR_F64 ? IR_I64 : IR_I32, lanes);
  const char *one = either_extreme(e, is_max, real, lanes, x, y),
             *other = either_extreme(e, is_max, real, lanes, y, x);
  const char *a = kernel_line(e, "bitcast %s %s to %s", real, one, bits),
             *b = kernel_line(e, "bitcast %s %s to %s", real, other, bits),
             *both = kernel_line(e, "%s %s %s, %s", is_max ? "and" : "or", bits, a, b);
  return choose(e, lanes, real, kernel_line(e, "fcmp uno %s %s, %s", real, x, y),
                kernel_line(e, "fadd %s %s, %s", real, x, y),
                kernel_line(e, "bitcast %s %s to %s", bits, both, real));
}

/* The larger (smaller) by the processor's own, which is x where the test, or either being NaN, says
 * so; y if that is NaN. */
static const char *plain_extreme(kernel_emitter *e, const char *goes_first, ir_dtype dtype,
                                 int32_t lanes, const char *x, const char *y) {
  const char *real = kernel_typed(e, dtype, lanes);
  const char *test = kernel_line(e, "fcmp %s %s %s, %s", goes_first, real, x, y),
             *best = choose(e, lanes, real, test, x, y);
  return choose(e, lanes, real, kernel_line(e, "fcmp uno %s %s, %s", real, y, y), y, best);
}

/* The larger (smaller) of the two; NaN if either is. prefers_y: y is right where they are equal. */
static const char *float_extreme(kernel_emitter *e, bool is_max, ir_dtype dtype, int32_t lanes,
                                 const char *x, const char *y, bool prefers_y) {
  if (!prefers_y) return exact_extreme(e, is_max, dtype, lanes, x, y);
  return plain_extreme(e, is_max ? "ugt" : "ult", dtype, lanes, x, y);
}

static const char *extreme(kernel_emitter *e, bool is_max, ir_dtype dtype, int32_t lanes,
                           const char *x, const char *y, bool prefers_y) {
  const char *type = kernel_typed(e, dtype, lanes);
  if (ir_is_float(dtype)) return float_extreme(e, is_max, dtype, lanes, x, y, prefers_y);
  if (dtype == IR_I1) return kernel_line(e, "%s %s %s, %s", is_max ? "or" : "and", type, x, y);
  const char *test = kernel_line(e, "icmp %c%s %s %s, %s", ir_is_signed(dtype) ? 's' : 'u',
                                 is_max ? "gt" : "lt", type, x, y);
  return choose(e, lanes, type, test, x, y);
}

/* v is one number, and what equals it is not larger (smaller): any but 0, and +0 (-0). */
static bool is_preferred(const ir_module *m, ir_value v, bool is_max) {
  double value;
  return ir_splat_real(m, v, &value) && (value != 0 || (signbit(value) == 0) == is_max);
}

/* Of operands a and b of the op, where either may be a bound: a number. */
static const char *extreme_of(kernel_emitter *e, ir_op op, bool is_max, int32_t lanes, uint32_t a,
                              uint32_t b, const char *const *args) {
  const ir_module *m = e->n->m;
  ir_dtype dtype = ir_type_at(m, ir_result(m, op, 0))->dtype;
  if (is_preferred(m, ir_operand(m, op, a), is_max))
    return extreme(e, is_max, dtype, lanes, args[b], args[a], true);
  bool is_bound = is_preferred(m, ir_operand(m, op, b), is_max);
  return extreme(e, is_max, dtype, lanes, args[a], args[b], is_bound);
}

static const char *clamp(kernel_emitter *e, ir_op op, int32_t lanes, const char *const *args) {
  ir_dtype dtype = ir_type_at(e->n->m, ir_result(e->n->m, op, 0))->dtype;
  const char *above = extreme_of(e, op, true, lanes, 1, 0, args);
  bool is_bound = is_preferred(e->n->m, ir_operand(e->n->m, op, 2), false);
  return extreme(e, false, dtype, lanes, above, args[2], is_bound);
}

const char *kernel_combine(kernel_emitter *e, ir_kind monoid, ir_dtype dtype, const char *type,
                           int32_t lanes, const char *x, const char *y) {
  bool real = ir_is_float(dtype), boolean = dtype == IR_I1;
  switch (monoid) {
    case IR_OP_ADD:
      return kernel_line(e, "%s %s %s, %s",
                         real      ? "fadd contract"
                         : boolean ? "or"
                                   : "add",
                         type, x, y);
    case IR_OP_MULTIPLY:
      return kernel_line(e, "%s %s %s, %s",
                         real      ? "fmul contract"
                         : boolean ? "and"
                                   : "mul",
                         type, x, y);
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM: return extreme(e, monoid == IR_OP_MAXIMUM, dtype, lanes, x, y, false);
    case IR_OP_AND: return kernel_line(e, "and %s %s, %s", type, x, y);
    case IR_OP_OR: return kernel_line(e, "or %s %s, %s", type, x, y);
    default: return kernel_line(e, "xor %s %s, %s", type, x, y);
  }
}

const char *kernel_combine_term(kernel_emitter *e, const kernel_node *x, ir_dtype dtype,
                                const char *type, int32_t lanes, const char *sum,
                                const char *term) {
  bool is_extreme = x->monoid == IR_OP_MAXIMUM || x->monoid == IR_OP_MINIMUM;
  if (!is_extreme || !ir_is_float(dtype) || !x->never_negative)
    return kernel_combine(e, x->monoid, dtype, type, lanes, sum, term);
  /* what is equal has equal bits */
  return plain_extreme(e, x->monoid == IR_OP_MAXIMUM ? "uge" : "ule", dtype, lanes, sum, term);
}

const char *kernel_neutral(kernel_emitter *e, ir_kind monoid, ir_dtype dtype) {
  bool real = ir_is_float(dtype), is_max = monoid == IR_OP_MAXIMUM;
  switch (monoid) {
    case IR_OP_ADD: return kernel_number(e, dtype, 1, real ? -0.0 : 0);
    case IR_OP_MULTIPLY: return kernel_number(e, dtype, 1, 1);
    case IR_OP_AND: return dtype == IR_I1 ? "true" : "-1";
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
      if (real) return kernel_real(e, dtype, is_max ? -(double)INFINITY : (double)INFINITY);
      if (!ir_is_signed(dtype)) return is_max ? "0" : "-1";
      return arena_printf(e->a, "%lld", (long long)(is_max ? ir_lowest(dtype) : ir_highest(dtype)));
    default: return "0";
  }
}

static const char *safe_division(kernel_emitter *e, ir_kind kind, ir_dtype dtype, const char *type,
                                 int32_t lanes, const char *x, const char *y) {
  const char *zero = kernel_number(e, dtype, lanes, 0), *one = kernel_number(e, dtype, lanes, 1),
             *minus = kernel_number(e, dtype, lanes, -1);
  bool divides = kind == IR_OP_DIVIDE, sign = ir_is_signed(dtype);
  const char *by_zero = kernel_line(e, "icmp eq %s %s, %s", type, y, zero), *by_minus = NULL;
  const char *d = choose(e, lanes, type, by_zero, one, y);
  if (sign) {
    by_minus = kernel_line(e, "icmp eq %s %s, %s", type, y, minus);
    d = choose(e, lanes, type, by_minus, one, d);
  }
  const char *q =
      kernel_line(e, "%c%s %s %s, %s", sign ? 's' : 'u', divides ? "div" : "rem", type, x, d);
  if (sign && divides)
    q = choose(e, lanes, type, by_minus, kernel_line(e, "sub %s %s, %s", type, zero, x), q);
  return choose(e, lanes, type, by_zero, divides ? minus : x, q);
}

static const char *safe_shift(kernel_emitter *e, ir_kind kind, ir_dtype dtype, const char *type,
                              int32_t lanes, const char *x, const char *y) {
  const char *bits = kernel_number(e, dtype, lanes, (double)(ir_dtype_bytes(dtype) * 8)),
             *most = kernel_number(e, dtype, lanes, (double)(ir_dtype_bytes(dtype) * 8 - 1)),
             *zero = kernel_number(e, dtype, lanes, 0);
  const char *fits = kernel_line(e, "icmp ult %s %s, %s", type, y, bits);
  bool arithmetic = kind == IR_OP_SHIFT_RIGHT_ARITH;
  const char *by = choose(e, lanes, type, fits, y, arithmetic ? most : zero);
  const char *name = kind == IR_OP_SHIFT_LEFT ? "shl" : arithmetic ? "ashr" : "lshr";
  const char *z = kernel_line(e, "%s %s %s, %s", name, type, x, by);
  return arithmetic ? z : choose(e, lanes, type, fits, z, zero);
}

static const char *sign_of(kernel_emitter *e, ir_dtype dtype, const char *type, int32_t lanes,
                           const char *x) {
  const char *zero = kernel_number(e, dtype, lanes, 0);
  const char *greater = ir_is_float(dtype) ? "fcmp ogt" : "icmp sgt",
             *less = ir_is_float(dtype) ? "fcmp olt" : "icmp slt";
  const char *above = kernel_line(e, "%s %s %s, %s", greater, type, x, zero),
             *below = kernel_line(e, "%s %s %s, %s", less, type, x, zero);
  const char *y = choose(e, lanes, type, above, kernel_number(e, dtype, lanes, 1), x);
  return choose(e, lanes, type, below, kernel_number(e, dtype, lanes, -1), y);
}

static const char *logistic_of(kernel_emitter *e, ir_dtype dtype, const char *type, int32_t lanes,
                               const char *x) {
  const char *one = kernel_number(e, dtype, lanes, 1);
  const char *y = kernel_emit_exp(e, dtype, lanes, kernel_line(e, "fneg %s %s", type, x));
  return kernel_emit_reciprocal(e, dtype, lanes, kernel_line(e, "fadd %s %s, %s", type, y, one));
}

static const char *division(kernel_emitter *e, ir_dtype dtype, const char *type, int32_t lanes,
                            const char *x, const char *y) {
  bool inverts = !strcmp(x, kernel_number(e, dtype, lanes, 1));
  return inverts ? kernel_emit_reciprocal(e, dtype, lanes, y)
                 : kernel_line(e, "fdiv %s %s, %s", type, x, y);
}

static const char *is_class(kernel_emitter *e, ir_kind kind, ir_dtype dtype, const char *type,
                            int32_t lanes, const char *x) {
  bool negative = kind == IR_OP_CHLO_IS_NEG_INF,
       one_sided = negative || kind == IR_OP_CHLO_IS_POS_INF;
  const char *infinity =
      kernel_number(e, dtype, lanes, negative ? -(double)INFINITY : (double)INFINITY);
  if (!one_sided) x = kernel_intrinsic(e, "fabs", dtype, lanes, 1, &x);
  return kernel_line(e, "fcmp %s %s %s, %s", kind == IR_OP_IS_FINITE ? "olt" : "oeq", type, x,
                     infinity);
}

static const char *error_function(kernel_emitter *e, ir_kind kind, ir_dtype dtype, int32_t lanes,
                                  const char *x) {
  if (dtype == IR_F64) return kernel_emit_call(e, function_of(kind), dtype, lanes, 1, &x);
  return kind == IR_OP_CHLO_ERF ? kernel_emit_erf(e, lanes, x) : kernel_emit_erfc(e, lanes, x);
}

/* ---- by arity ---- */
/* Sums, differences and products of floats, which LLVM may contract unless they are to round as
 * wherever else they are made. A product that one sum alone reads is contracted with it everywhere.
 */
static const char *arithmetic(kernel_emitter *e, ir_op op, ir_dtype dtype, int32_t lanes,
                              const char *x, const char *y) {
  const kernel_node *node = kernel_node_of(e->n, ir_result(e->n->m, op, 0));
  ir_kind kind = ir_kind_of(e->n->m, op);
  return kernel_line(e, "%s%s %s %s, %s",
                     kind == IR_OP_ADD        ? "fadd"
                     : kind == IR_OP_SUBTRACT ? "fsub"
                                              : "fmul",
                     node && node->is_exact && !node->is_added ? "" : " contract",
                     kernel_typed(e, dtype, lanes), x, y);
}

static const char *float_unary(kernel_emitter *e, ir_op op, ir_dtype dtype, int32_t lanes,
                               const char *x) {
  const char *type = kernel_typed(e, dtype, lanes);
  ir_kind kind = ir_kind_of(e->n->m, op);
  switch (kind) {
    case IR_OP_ABS: return kernel_intrinsic(e, "fabs", dtype, lanes, 1, &x);
    case IR_OP_CEIL: return kernel_intrinsic(e, "ceil", dtype, lanes, 1, &x);
    case IR_OP_FLOOR: return kernel_intrinsic(e, "floor", dtype, lanes, 1, &x);
    case IR_OP_ROUND_AFZ: return kernel_intrinsic(e, "round", dtype, lanes, 1, &x);
    case IR_OP_ROUND_EVEN: return kernel_intrinsic(e, "rint", dtype, lanes, 1, &x);
    case IR_OP_SQRT: return kernel_emit_sqrt(e, dtype, lanes, x);
    case IR_OP_RSQRT: return kernel_emit_rsqrt(e, dtype, lanes, x);
    case IR_OP_NEGATE: return kernel_line(e, "fneg %s %s", type, x);
    case IR_OP_SIGN: return sign_of(e, dtype, type, lanes, x);
    case IR_OP_CHLO_SQUARE: return arithmetic(e, op, dtype, lanes, x, x);
    case IR_OP_EXPONENTIAL: return kernel_emit_exp(e, dtype, lanes, x);
    case IR_OP_LOGISTIC: return logistic_of(e, dtype, type, lanes, x);
    case IR_OP_TANH: return kernel_emit_tanh(e, dtype, lanes, x);
    case IR_OP_CHLO_ERF:
    case IR_OP_CHLO_ERFC: return error_function(e, kind, dtype, lanes, x);
    case IR_OP_IS_FINITE:
    case IR_OP_CHLO_IS_INF:
    case IR_OP_CHLO_IS_NEG_INF:
    case IR_OP_CHLO_IS_POS_INF: return is_class(e, kind, dtype, type, lanes, x);
    default: return kernel_emit_call(e, function_of(kind), dtype, lanes, 1, &x);
  }
}

static const char *int_unary(kernel_emitter *e, ir_kind kind, ir_dtype dtype, int32_t lanes,
                             const char *x) {
  const char *type = kernel_typed(e, dtype, lanes), *suffix = kernel_suffix(e, dtype, lanes);
  const char *zero = kernel_number(e, dtype, lanes, 0), *minus;
  switch (kind) {
    case IR_OP_ABS:
      minus = kernel_line(e, "sub %s %s, %s", type, zero, x);
      return choose(e, lanes, type, kernel_line(e, "icmp slt %s %s, %s", type, x, zero), minus, x);
    case IR_OP_NEGATE: return kernel_line(e, "sub %s %s, %s", type, zero, x);
    case IR_OP_SIGN: return sign_of(e, dtype, type, lanes, x);
    case IR_OP_NOT:
      return kernel_line(e, "xor %s %s, %s", type, x, kernel_number(e, dtype, lanes, -1));
    case IR_OP_POPCNT: return kernel_intrinsic(e, "ctpop", dtype, lanes, 1, &x);
    case IR_OP_CHLO_SQUARE: return kernel_line(e, "mul %s %s, %s", type, x, x);
    default: /* COUNT_LEADING_ZEROS */
      kernel_declare(e, arena_printf(e->a, "declare %s @llvm.ctlz.%s(%s, i1)", type, suffix, type));
      return kernel_line(e, "call %s @llvm.ctlz.%s(%s %s, i1 false)", type, suffix, type, x);
  }
}

static const char *binary(kernel_emitter *e, ir_op op, ir_dtype dtype, int32_t lanes,
                          const char *const *args) {
  const char *type = kernel_typed(e, dtype, lanes), *x = args[0], *y = args[1];
  ir_kind kind = ir_kind_of(e->n->m, op);
  bool real = ir_is_float(dtype);
  switch (kind) {
    case IR_OP_ADD:
    case IR_OP_MULTIPLY:
      if (real) return arithmetic(e, op, dtype, lanes, x, y);
      return kernel_combine(e, kind, dtype, type, lanes, x, y);
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR: return kernel_combine(e, kind, dtype, type, lanes, x, y);
    case IR_OP_SUBTRACT:
      if (real) return arithmetic(e, op, dtype, lanes, x, y);
      return kernel_line(e, "sub %s %s, %s", type, x, y);
    case IR_OP_DIVIDE:
    case IR_OP_REMAINDER:
      if (!real) return safe_division(e, kind, dtype, type, lanes, x, y);
      if (kind == IR_OP_DIVIDE) return division(e, dtype, type, lanes, x, y);
      return kernel_emit_remainder(e, dtype, lanes, args);
    case IR_OP_SHIFT_LEFT:
    case IR_OP_SHIFT_RIGHT_ARITH:
    case IR_OP_SHIFT_RIGHT_LOGIC: return safe_shift(e, kind, dtype, type, lanes, x, y);
    default: return kernel_emit_call(e, function_of(kind), dtype, lanes, 2, args);
  }
}

static const char *compare(kernel_emitter *e, ir_op op, ir_dtype dtype, int32_t lanes,
                           const char *const *args) {
  static const char *const names[] = {"eq", "ne", "ge", "gt", "le", "lt"};
  ir_direction direction = IR_EQ;
  ir_compare_type type;
  ir_compare_kind(e->n->m, op, &direction, &type);
  const char *prefix = ir_is_float(dtype)                         ? (direction == IR_NE ? "u" : "o")
                       : direction == IR_EQ || direction == IR_NE ? ""
                       : ir_is_signed(dtype)                      ? "s"
                                                                  : "u";
  return kernel_line(e, "%s %s%s %s %s, %s", ir_is_float(dtype) ? "fcmp" : "icmp", prefix,
                     names[direction], kernel_typed(e, dtype, lanes), args[0], args[1]);
}

static const char *to_integer(kernel_emitter *e, ir_dtype from, ir_dtype to, int32_t lanes,
                              const char *x) {
  const char *source = kernel_typed(e, from, lanes), *target = kernel_typed(e, to, lanes);
  const char *name = ir_is_signed(to) ? "fptosi" : "fptoui";
  const char *full = arena_printf(e->a, "@llvm.%s.sat.%s.%s", name, kernel_suffix(e, to, lanes),
                                  kernel_suffix(e, from, lanes));
  kernel_declare(e, arena_printf(e->a, "declare %s %s(%s)", target, full, source));
  return kernel_line(e, "call %s %s(%s %s)", target, full, source, x);
}

/* f32 of the bits of a 16-bit float. */
static const char *widened(kernel_emitter *e, ir_dtype from, int32_t lanes, const char *x) {
  const char *bits = kernel_typed(e, IR_I32, lanes), *real = kernel_typed(e, IR_F32, lanes),
             *half = wide(e, "half", lanes), *narrow = kernel_typed(e, from, lanes);
  if (from == IR_F16) {
    x = kernel_line(e, "bitcast %s %s to %s", narrow, x, half);
    return kernel_line(e, "fpext %s %s to %s", half, x, real);
  }
  x = kernel_line(e, "zext %s %s to %s", narrow, x, bits);
  x = kernel_line(e, "shl %s %s, %s", bits, x, kernel_number(e, IR_I32, lanes, 16));
  return kernel_line(e, "bitcast %s %s to %s", bits, x, real);
}

static const char *is_nan(kernel_emitter *e, int32_t lanes, const char *x) {
  return kernel_line(e, "fcmp uno %s %s, %s", kernel_typed(e, IR_F32, lanes), x, x);
}

/* The bits of an f32, whose upper half is that of the nearest bf16, even where there are two; not
 * of a NaN. */
static const char *rounded_bits(kernel_emitter *e, int32_t lanes, const char *b) {
  const char *bits = kernel_typed(e, IR_I32, lanes);
  const char *high = kernel_line(e, "lshr %s %s, %s", bits, b, kernel_number(e, IR_I32, lanes, 16));
  const char *odd = kernel_line(e, "and %s %s, %s", bits, high, kernel_number(e, IR_I32, lanes, 1));
  const char *up =
      kernel_line(e, "add %s %s, %s", bits, odd, kernel_number(e, IR_I32, lanes, 0x7fff));
  return kernel_line(e, "add %s %s, %s", bits, b, up);
}

static const char *to_half(kernel_emitter *e, int32_t lanes, const char *x) {
  return kernel_line(e, "fptrunc %s %s to %s", kernel_typed(e, IR_F32, lanes), x,
                     wide(e, "half", lanes));
}

/* To nearest even; a NaN stays one. */
static const char *narrowed(kernel_emitter *e, ir_dtype to, int32_t lanes, const char *x) {
  const char *bits = kernel_typed(e, IR_I32, lanes), *real = kernel_typed(e, IR_F32, lanes),
             *narrow = kernel_typed(e, to, lanes), *sixteen = kernel_number(e, IR_I32, lanes, 16);
  if (to == IR_F16)
    return kernel_line(e, "bitcast %s %s to %s", wide(e, "half", lanes), to_half(e, lanes, x),
                       narrow);
  const char *nan = is_nan(e, lanes, x), *b = kernel_line(e, "bitcast %s %s to %s", real, x, bits);
  const char *high = kernel_line(e, "lshr %s %s, %s", bits, b, sixteen);
  const char *y = kernel_line(e, "lshr %s %s, %s", bits, rounded_bits(e, lanes, b), sixteen);
  high = kernel_line(e, "or %s %s, %s", bits, high, kernel_number(e, IR_I32, lanes, 0x40));
  return kernel_line(e, "trunc %s %s to %s", bits, choose(e, lanes, bits, nan, high, y), narrow);
}

/* The same, as f32 again. */
static const char *rounded(kernel_emitter *e, ir_dtype to, int32_t lanes, const char *x) {
  const char *bits = kernel_typed(e, IR_I32, lanes), *real = kernel_typed(e, IR_F32, lanes);
  if (to == IR_F16)
    return kernel_line(e, "fpext %s %s to %s", wide(e, "half", lanes), to_half(e, lanes, x), real);
  const char *nan = is_nan(e, lanes, x), *b = kernel_line(e, "bitcast %s %s to %s", real, x, bits);
  b = kernel_line(e, "and %s %s, %s", bits, rounded_bits(e, lanes, b),
                  kernel_number(e, IR_I32, lanes, (double)0xffff0000));
  return choose(e, lanes, real, nan, x, kernel_line(e, "bitcast %s %s to %s", bits, b, real));
}

static const char *convert(kernel_emitter *e, ir_dtype from, ir_dtype to, int32_t lanes,
                           const char *x) {
  if (kernel_is_narrow(from)) return widened(e, from, lanes, x);
  if (kernel_is_narrow(to)) return narrowed(e, to, lanes, x);
  const char *source = kernel_typed(e, from, lanes), *target = kernel_typed(e, to, lanes), *name;
  int64_t narrow = ir_dtype_bytes(to) - ir_dtype_bytes(from);
  if (from == to) return x;
  if (to == IR_I1)
    return kernel_line(e, "%s %s %s, %s", ir_is_float(from) ? "fcmp une" : "icmp ne", source, x,
                       kernel_number(e, from, lanes, 0));
  if (ir_is_float(from) && !ir_is_float(to)) return to_integer(e, from, to, lanes, x);
  if (ir_is_float(from)) name = narrow < 0 ? "fptrunc" : "fpext";
  else if (ir_is_float(to)) name = ir_is_signed(from) ? "sitofp" : "uitofp";
  else if (from == IR_I1) name = "zext";
  else if (narrow == 0) return x;
  else name = narrow < 0 ? "trunc" : ir_is_signed(from) ? "sext" : "zext";
  return kernel_line(e, "%s %s %s to %s", name, source, x, target);
}

/* Functions of which a vector gets other last bits than a number alone, or a shorter vector. Not
 * exp and tanh of f32 and f64, the same operations in every lane, which value.c emits by
 * kernel_emit_exps and kernel_emit_tanhs. */
static bool depends_on_lanes(ir_kind kind) {
  return ir_kind_flags(kind) & IR_FLAG_H || kind == IR_OP_SQRT || kind == IR_OP_RSQRT ||
         kind == IR_OP_DIVIDE;
}

static int32_t lanes_of_whole(const kernel_emitter *e, ir_dtype dtype) {
  return machine_vector_bytes(&e->n->machine) / (int32_t)ir_dtype_bytes(dtype);
}

/* The first lanes of x, or x and then its first lane again and again. */
static const char *of_lanes(kernel_emitter *e, ir_dtype dtype, const char *x, int32_t from,
                            int32_t to) {
  const char *element = kernel_dtype_text(dtype);
  if (to == 1)
    return kernel_line(e, "extractelement %s %s, i64 0", kernel_typed(e, dtype, from), x);
  if (from == 1)
    x = kernel_line(e, "insertelement <1 x %s> poison, %s %s, i64 0", element, element, x);
  strbuf at = strbuf_make(e->a);
  for (int32_t i = 0; i < to; i++) strbuf_printf(&at, "%si32 %d", i ? ", " : "", i < from ? i : 0);
  return kernel_line(e, "shufflevector <%d x %s> %s, <%d x %s> poison, <%d x i32> <%s>", from,
                     element, x, from, element, to, at.text);
}

/* As part of a whole vector. */
static const char *in_whole(kernel_emitter *e, ir_op op, ir_dtype dtype, int32_t lanes,
                            const char *const *args) {
  int32_t whole = lanes_of_whole(e, dtype);
  const char *all[2];
  for (uint32_t i = 0; i < ir_op_get(e->n->m, op)->n_operands; i++)
    all[i] = of_lanes(e, dtype, args[i], lanes, whole);
  return of_lanes(e, dtype, kernel_emit_elementwise(e, op, whole, all), whole, lanes);
}

const char *kernel_emit_elementwise(kernel_emitter *e, ir_op op, int32_t lanes,
                                    const char *const *args) {
  ir_module *m = e->n->m;
  ir_kind kind = ir_kind_of(m, op);
  ir_dtype from = ir_type_at(m, ir_operand(m, op, 0))->dtype,
           to = ir_type_at(m, ir_result(m, op, 0))->dtype;
  const char *type = kernel_typed(e, to, lanes);
  if (e->n->agrees && ir_is_float(to) && depends_on_lanes(kind) && lanes < lanes_of_whole(e, to))
    return in_whole(e, op, to, lanes, args);
  switch (kind) {
    case IR_OP_CONVERT: return convert(e, from, to, lanes, args[0]);
    case IR_OP_ROUND: return rounded(e, kernel_round_format(m, op), lanes, args[0]);
    case IR_OP_COMPARE: return compare(e, op, from, lanes, args);
    case IR_OP_SELECT: return choose(e, lanes, type, args[0], args[1], args[2]);
    case IR_OP_CLAMP: return clamp(e, op, lanes, args);
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM: return extreme_of(e, op, kind == IR_OP_MAXIMUM, lanes, 0, 1, args);
    default: break;
  }
  if (ir_op_get(m, op)->n_operands == 2) return binary(e, op, to, lanes, args);
  return ir_is_float(from) ? float_unary(e, op, from, lanes, args[0])
                           : int_unary(e, kind, from, lanes, args[0]);
}
