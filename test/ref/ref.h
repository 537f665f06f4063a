/* The reference evaluator: runs a module op by op, one plain loop nest per op, in double precision
 * where it matters. It is slow and it is the oracle of the tests; the compiler never calls it.
 * docs/design/reference-evaluator.md says what it promises and where it differs from XLA CPU.
 */
#ifndef WEIR_REF_REF_H
#define WEIR_REF_REF_H
#include "ir/ir.h"

typedef struct ref_tensor {
  ir_dtype dtype; /* IR_DTYPE_NONE: a token, or a tuple if members is set */
  int32_t rank;
  const int64_t *dims; /* rank of them, all >= 0 */
  void *data;          /* little-endian, row-major, ir_dtype_bytes() an element; i1: 0 or 1 */
  uint32_t n_members;
  struct ref_tensor *members; /* of a tuple */
} ref_tensor;

/* Runs custom calls of one target; results are made, and zeroed. */
typedef struct ref_handler {
  const char *target;
  weir_status (*run)(ctx *c, const ir_module *m, ir_op call, const ref_tensor *operands,
                     ref_tensor *results);
} ref_handler;

/* Verifies m and calls `function` of it (NULL: main) with n_inputs inputs, which it only reads. The
 * results (out_results[0 .. *out_count)) live in `a`. INVALID_ARGUMENT: no such function, inputs of
 * other types than its arguments, a module that does not verify, endless recursion. UNIMPLEMENTED:
 * an op, custom call or type without an evaluator; the message has its name and location. Memory:
 * all values of the function until the call returns; a loop's trip frees what it made. */
WEIR_MUST_USE weir_status ref_run(arena *a, ir_module *m, const char *function,
                                  const ref_tensor *inputs, uint32_t n_inputs,
                                  ref_tensor **out_results, uint32_t *out_count);
/* The same with custom calls that the evaluator does not know; behind the last handler is one of
 * no target. */
WEIR_MUST_USE weir_status ref_run_with(arena *a, ir_module *m, const char *function,
                                       const ref_tensor *inputs, uint32_t n_inputs,
                                       const ref_handler *handlers, ref_tensor **out_results,
                                       uint32_t *out_count);

int64_t ref_element_count(const ref_tensor *t);
/* A zeroed tensor in `a`; copies dims. */
ref_tensor ref_tensor_new(arena *a, ir_dtype dtype, int32_t rank, const int64_t *dims);

#endif
