/* Elementwise ops as LLVM instructions, on scalars and vectors alike. */
#ifndef WEIR_TILE_ELEMENTWISE_H
#define WEIR_TILE_ELEMENTWISE_H
#include "ir/ir.h"

struct tile_emitter;

/* "float"; NULL: tiles don't have it. 16-bit floats are their bits, "i16". */
const char *tile_dtype_text(ir_dtype dtype);
static inline bool tile_is_narrow(ir_dtype dtype) { return dtype == IR_BF16 || dtype == IR_F16; }
/* Whether the op with its element types has an emitter. */
bool tile_is_elementwise(const ir_module *m, ir_op op);

/* One element or vector of the op's result. lanes: 1 for a scalar; args: as many as operands, all
 * of that width (a scalar predicate of a select too). */
const char *tile_emit_elementwise(struct tile_emitter *e, ir_op op, int32_t lanes,
                                  const char *const *args);
/* A literal of that width; and the ending of an intrinsic's name: "v16f32". */
const char *tile_number(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, double value);
const char *tile_suffix(struct tile_emitter *e, ir_dtype dtype, int32_t lanes);
/* exp of f32, f64: relative error below 1.5 ulp; results below the smallest normal number are 0. */
const char *tile_emit_exp(struct tile_emitter *e, ir_dtype dtype, int32_t lanes, const char *x);

#endif
