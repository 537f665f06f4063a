/* Inside of the evaluator: what its files share.
 *
 * An evaluator reads its operands' tensors, makes its results' tensors (zeroed, in the frame's
 * arena) and fills them. Elements are handled as ref_scalar, which holds every element type
 * exactly; rounding and wrapping happen in one place, ref_store(). The module has passed
 * ir_verify(), so evaluators check only what the verifier leaves alone (attributes that it can't
 * read, custom calls).
 */
#ifndef WEIR_REF_EVAL_H
#define WEIR_REF_EVAL_H
#include <complex.h>

#include "ir/attrs.h"
#include "ref/ref.h"

#ifndef CMPLX /* glibc has it for GCC alone */
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

/* One element: i of BOOL (0, 1) and INT, u of UINT, f of FLOAT, z of COMPLEX. */
typedef union ref_scalar {
  int64_t i;
  uint64_t u;
  double f;
  double complex z;
} ref_scalar;

#define REF_PI 3.14159265358979323846
#define REF_2_SQRT_PI 1.12837916709551257390 /* 2 / sqrt(pi) */

typedef struct ref_call_chain { /* the functions being evaluated, innermost first */
  ir_op function;
  const struct ref_call_chain *caller;
} ref_call_chain;

typedef struct ref_frame {
  ctx *ctx;
  ir_module *m;
  arena *arena;       /* where results go: of the function, or of the trip or call of a region */
  ref_tensor *values; /* by value id; regions do not recurse, so one table serves all */
  const ref_call_chain *calls;
  const ref_handler *handlers; /* NULL: none */
} ref_frame;

#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  WEIR_MUST_USE weir_status ref_##eval(ref_frame *f, ir_op op);
#include "ir/ops.def"
#undef OP

/* ---- eval.c: frames, operands, results ---- */
static inline const ref_tensor *ref_operand(const ref_frame *f, ir_op op, uint32_t i) {
  return &f->values[ir_operand(f->m, op, i)];
}
static inline uint32_t ref_n_operands(const ref_frame *f, ir_op op) {
  return ir_op_get(f->m, op)->n_operands;
}
static inline uint32_t ref_n_results(const ref_frame *f, ir_op op) {
  return ir_op_get(f->m, op)->n_results;
}
ref_tensor *ref_result(ref_frame *f, ir_op op, uint32_t i); /* makes result i, zeroed */
void ref_set_result(ref_frame *f, ir_op op, uint32_t i,
                    const ref_tensor *t); /* result i is t, data shared */
ref_tensor ref_tensor_copy(arena *a, const ref_tensor *t);
/* The status, with the message behind the op's name and location. */
WEIR_MUST_USE weir_status ref_error(ref_frame *f, ir_op op, weir_status status, const char *format,
                                    ...) __attribute__((format(printf, 4, 5)));
/* Runs a block's ops in the frame's arena; out has room for its terminator's operands, whose data
 * it shares. */
WEIR_MUST_USE weir_status ref_run_block(ref_frame *f, ir_block block, const ref_tensor *args,
                                        ref_tensor *out);
/* The same in an arena of its own that is gone afterwards; what is handed out is copied to `keep`.
 */
WEIR_MUST_USE weir_status ref_run_block_scoped(ref_frame *f, ir_block block, const ref_tensor *args,
                                               arena *keep, ref_tensor *out);
/* Calls a function by name. out has room for its results. */
WEIR_MUST_USE weir_status ref_call_function(ref_frame *f, ir_op op, const char *name,
                                            const ref_tensor *args, uint32_t n_args,
                                            ref_tensor *out, uint32_t n_out);
ir_block ref_region(const ref_frame *f, ir_op op, uint32_t region);
uint32_t ref_n_returned(const ref_frame *f, ir_block block); /* operands of its terminator */
/* Lists of numbers; false if the attribute is there and does not read as such. */
bool ref_ints_any(ref_frame *f, ir_op op, const char *name,
                  ir_ints *out); /* any length; absent: empty */
/* `count` of them, absent ones are `otherwise`; else INVALID_ARGUMENT. */
WEIR_MUST_USE weir_status ref_read_ints(ref_frame *f, ir_op op, const char *name, int32_t count,
                                        int64_t otherwise, ir_ints *out);
double ref_real(const ref_frame *f, ir_op op, const char *name, double otherwise);

/* ---- index arithmetic ---- */
/* Steps a row-major multi-index; false when it is back at zero. An empty shape (a zero among dims)
 * must not be walked: check the count first. */
static inline bool ref_next(int32_t rank, const int64_t *dims, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}
static inline int64_t ref_offset(const ref_tensor *t, const int64_t *index) {
  int64_t offset = 0;
  for (int32_t d = 0; d < t->rank; d++) offset = offset * t->dims[d] + index[d];
  return offset;
}
static inline bool ref_in_bounds(const ref_tensor *t, const int64_t *index) {
  for (int32_t d = 0; d < t->rank; d++)
    if (index[d] < 0 || index[d] >= t->dims[d]) return false;
  return true;
}
/* ---- dtype.c: elements ---- */
int ref_bits(ir_dtype dtype); /* that count: 1 of i1, 4 of i4, 8 of f8, 64 of complex<f32> */
ref_scalar ref_load(const ref_tensor *t, int64_t i);
void ref_store(ref_tensor *t, int64_t i,
               ref_scalar s); /* integers wrap, floats round to nearest even */
ref_scalar ref_convert_scalar(ir_dtype from, ir_dtype to, ref_scalar s);
/* The bit pattern and back; not of complex<f64>. */
uint64_t ref_pattern(ir_dtype dtype, ref_scalar s);
ref_scalar ref_from_pattern(ir_dtype dtype, uint64_t bits);
int64_t ref_load_index(const ref_tensor *t, int64_t i); /* an integer, clamped to int64 */
void ref_copy_element(ref_tensor *to, int64_t i, const ref_tensor *from,
                      int64_t j); /* same element type */
/* All elements as scalars, and back. */
ref_scalar *ref_unpack(arena *a, const ref_tensor *t);
void ref_pack(ref_tensor *t, const ref_scalar *s);

/* ---- arithmetic on elements of one type; results are not yet rounded to it ---- */
ref_scalar ref_binary_scalar(ir_kind kind, ir_dtype dtype, ref_scalar x,
                             ref_scalar y); /* elementwise.c */
bool ref_compare_scalar(ir_dtype dtype, ir_direction direction, ir_compare_type type, ref_scalar x,
                        ref_scalar y);
double complex ref_complex_unary(ir_kind kind, double complex z); /* complex.c */
double complex ref_complex_binary(ir_kind kind, double complex x, double complex y);
double complex ref_complex_mul(
    double complex x, double complex y); /* (ac - bd) + (ad + bc)i, nothing saved from NaN */
double complex ref_complex_div(double complex x, double complex y);
double ref_chlo_unary_real(ir_kind kind, double x); /* chlo.c, special.c */
double ref_digamma(double x);
double ref_zeta(double s, double q);
double ref_polygamma(double n, double x);
double ref_bessel_i1e(double x);
double ref_erf_inv(double x);

/* ---- reduce.c: regions on scalars, for reducers, comparators and map ---- */
typedef struct ref_reducer {
  ref_frame *f;
  ir_block block;
  ir_kind kind;   /* the one op that the body is, IR_OP_UNKNOWN: run the body */
  ir_dtype dtype; /* in which that op works: sums and products of floats stay in double until they
                     are stored */
  uint32_t n_args, n_results;
  ref_tensor *cells; /* the arguments as rank-0 tensors */
  arena *scratch;    /* for some calls, then renewed */
  uint32_t calls;
} ref_reducer;

void ref_reducer_init(ref_reducer *r, ref_frame *f, ir_block block);
WEIR_MUST_USE weir_status ref_reducer_call(ref_reducer *r, const ref_scalar *args, ref_scalar *out);
void ref_reducer_deinit(ref_reducer *r);

/* ---- others ---- */
WEIR_MUST_USE weir_status ref_merge_sort(int64_t *items, int64_t n, arena *scratch,
                                         weir_status (*before)(void *user, int64_t a, int64_t b,
                                                               bool *out),
                                         void *user); /* sort.c: stable */
/* The k first of the last dimension in descending total order (descending = false: ascending), with
 * their indices. */
void ref_top_k_rows(ref_frame *f, const ref_tensor *x, bool descending, ref_tensor *values,
                    ref_tensor *indices);
WEIR_MUST_USE weir_status
ref_lapack_call(ref_frame *f, ir_op op,
                const char *target); /* linalg_ops.c; UNIMPLEMENTED if it is none of ours */

#endif
