/* Elementwise ops as LLVM instructions, on scalars and vectors alike. */
#ifndef WEIR_TILE_ELEMENTWISE_H
#define WEIR_TILE_ELEMENTWISE_H
#include "ir/ir.h"

struct tile_emitter;

/* "float"; NULL: tiles don't have it. 16-bit floats are their bits, "i16". */
const char *tile_dtype_text(ir_dtype dtype);
static inline bool tile_is_narrow(ir_dtype dtype) { return dtype == IR_BF16 || dtype == IR_F16; }
/* Of a weir.round: what its results are numbers of. */
ir_dtype tile_round_format(const ir_module *m, ir_op op);
/* Whether the op with its element types has an emitter. */
bool tile_is_elementwise(const ir_module *m, ir_op op);

/* One element or vector of the op's result. lanes: 1 for a scalar; args: as many as operands, all
 * of that width (a scalar predicate of a select too). */
const char *tile_emit_elementwise(struct tile_emitter *e, ir_op op, int32_t lanes,
                                  const char *const *args);
/* A literal of that width; and the ending of an intrinsic's name: "v16f32". */
const char *tile_number(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, double value);
const char *tile_suffix(struct tile_emitter *e, ir_dtype dtype, int32_t lanes);
const char *tile_typed(struct tile_emitter *e, ir_dtype dtype, int32_t lanes);
/* A call of LLVM's intrinsic for arguments and a result of one type. */
const char *tile_intrinsic(struct tile_emitter *e, const char *name, ir_dtype dtype, int32_t lanes,
                           uint32_t n_args, const char *const *args);
/* x y + z, rounded once */
const char *tile_fma(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x,
                     const char *y, const char *z);
/* Lane by lane: yes where the test is true. */
const char *tile_choose(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *test,
                        const char *yes, const char *no);
/* exp of f32, f64: relative error below 1.5 ulp; results below the smallest normal number are 0. */
const char *tile_emit_exp(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x);
/* The same of several vectors, whose operations alternate: up to TILE_MOST_AT_ONCE. */
enum { TILE_MOST_AT_ONCE = 8 };
void tile_emit_exps(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, int32_t count,
                    const char *const *x, const char **out);
/* sqrt(x), 1 / sqrt(x) and 1 / x of f32, f64: below 1, 2 and 1 ulp; exact of 0 and infinity. */
const char *tile_emit_sqrt(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x);
const char *tile_emit_rsqrt(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x);
const char *tile_emit_reciprocal(struct tile_emitter *e, ir_dtype dtype, int32_t lanes,
                                 const char *x);

#endif
