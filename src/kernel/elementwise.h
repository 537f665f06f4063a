/* Elementwise ops as LLVM instructions, on scalars and vectors alike. */
#ifndef WEIR_KERNEL_ELEMENTWISE_H
#define WEIR_KERNEL_ELEMENTWISE_H
#include "ir/ir.h"

struct kernel_emitter;

/* "float"; NULL: kernels don't have it. 16-bit floats are their bits, "i16". */
const char *kernel_dtype_text(ir_dtype dtype);
static inline bool kernel_is_narrow(ir_dtype dtype) { return dtype == IR_BF16 || dtype == IR_F16; }
/* Of a weir.round: what its results are numbers of. */
ir_dtype kernel_round_format(const ir_module *m, ir_op op);
/* Whether the op, whose rule is `elementwise`, has an emitter for its element types. */
bool kernel_is_elementwise(const ir_module *m, ir_op op);

/* One element or vector of the op's result. lanes: 1 for a scalar; args: as many as operands, all
 * of that width (a scalar predicate of a select too). */
const char *kernel_emit_elementwise(struct kernel_emitter *e, ir_op op, int32_t lanes,
                                    const char *const *args);
/* A literal of that width; and the ending of an intrinsic's name: "v16f32". */
const char *kernel_number(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, double value);
const char *kernel_suffix(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes);
const char *kernel_typed(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes);
/* A call of LLVM's intrinsic for arguments and a result of one type. */
const char *kernel_intrinsic(struct kernel_emitter *e, const char *name, ir_dtype dtype,
                             int32_t lanes, uint32_t n_args, const char *const *args);
/* x y + z, rounded once */
const char *kernel_fma(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x,
                       const char *y, const char *z);
/* Lane by lane: yes where the test is true. */
const char *kernel_choose(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *test,
                          const char *yes, const char *no);
/* exp of f32, f64: relative error below 1.5 ulp; results below the smallest normal number are 0. */
const char *kernel_emit_exp(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, const char *x);
/* The same of several vectors, whose operations alternate: up to KERNEL_MOST_AT_ONCE. */
enum { KERNEL_MOST_AT_ONCE = 8 };
void kernel_emit_exps(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                      const char *const *x, const char **out);
/* tanh of f32, f64, likewise: of the bits of XLA's; below 4 and 6.5 ulp, and exact of 0. */
const char *kernel_emit_tanh(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                             const char *x);
void kernel_emit_tanhs(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                       const char *const *x, const char **out);
/* erf and erfc of f32: below 6 and 5 ulp. */
const char *kernel_emit_erf(struct kernel_emitter *e, int32_t lanes, const char *x);
const char *kernel_emit_erfc(struct kernel_emitter *e, int32_t lanes, const char *x);
/* sqrt(x), 1 / sqrt(x) and 1 / x of f32, f64: below 1, 2 and 1 ulp; exact of 0 and infinity. */
const char *kernel_emit_sqrt(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                             const char *x);
const char *kernel_emit_rsqrt(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                              const char *x);
const char *kernel_emit_reciprocal(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                                   const char *x);
/* A function of the C library, from libmvec where it has one of that width, else lane by lane. */
const char *kernel_emit_call(struct kernel_emitter *e, const char *name, ir_dtype dtype,
                             int32_t lanes, uint32_t n_args, const char *const *args);
/* Such a function; NULL: this computer has none of the name. */
void *kernel_library_function(const char *name);
/* fmod of f32, f64, exact. */
const char *kernel_emit_remainder(struct kernel_emitter *e, ir_dtype dtype, int32_t lanes,
                                  const char *const *args);

#endif
