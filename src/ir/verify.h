/* Inside of the verifier: what its files share. The entry is ir_verify() in ir.h.
 *
 * One rule per name in the op table's shape column, ir_verify_<shape>(): the types of operands,
 * results and regions that the StableHLO specification demands. A violation is named by the
 * specification's constraint tag (`dot_general_c10`). A rule only judges what it knows: a dynamic
 * dimension equals every dimension, an element type that we don't know equals every element type,
 * and ops with operands or results of types that we don't know are not shown to their rule at all.
 * Attributes that are there but that we can't read are not judged either.
 */
#ifndef WEIR_IR_VERIFY_H
#define WEIR_IR_VERIFY_H
#include "base/strbuf.h"
#include "ir/attrs.h"
#include "ir/ir.h"

typedef struct verifier {
  ir_module *m;     /* read only, but for the decoding of attributes */
  arena *scratch;   /* until ir_verify() returns */
  ir_op *functions; /* by ir_str of the name: the func.func, IR_NONE if there is none */
  uint32_t n_names; /* room of functions */
  uint32_t *depth;  /* by value: 1 + depth of the block that defines it; 0: not visible here */
  uint8_t *op_seen;
  uint32_t level;   /* nesting depth of the block in hand */
  uint32_t floor;   /* values of a depth below are hidden: they are outside of an isolated region */
  uint32_t modules; /* how many builtin.module ops we are in */
  ir_op function;   /* that we are in, IR_NONE outside */
  uint32_t index;   /* of the op of the function's block that we are in */
} verifier;

/* INVALID_ARGUMENT with the text, the constraint's tag (`_c<number>` after the op's mnemonic; 0:
 * none) and where the op is. */
WEIR_MUST_USE weir_status ir_violation(verifier *v, ir_op op, int constraint, const char *format,
                                       ...) __attribute__((format(printf, 4, 5)));
/* "tensor<2x3xf32>" for a message. */
const char *ir_verify_type_text(verifier *v, ir_type type);
/* "2x3" */
const char *ir_verify_dims_text(verifier *v, const int64_t *dims, int32_t count);

/* ---- building blocks of rules: verify_common.c ---- */
/* So many operands and results; -1: any number. */
WEIR_MUST_USE weir_status ir_verify_count(verifier *v, ir_op op, int64_t operands, int64_t results);
/* The same, and all of them tensors. */
WEIR_MUST_USE weir_status ir_verify_tensors(verifier *v, ir_op op, int64_t operands,
                                            int64_t results);
/* `have` may stand where `want` is asked for; `what` says which ("operand 1"). */
WEIR_MUST_USE weir_status ir_verify_type(verifier *v, ir_op op, int constraint, const char *what,
                                         ir_type have, ir_type want);
/* `have` is `want`: the same dynamic dimensions and unknown element types, too. */
WEIR_MUST_USE weir_status ir_verify_same(verifier *v, ir_op op, int constraint, const char *what,
                                         ir_type have, ir_type want);
/* A place is an operand's number, or RESULT: the first result. */
enum { RESULT = -1 };
/* What stands there, for a message, is not `wanted`: a violation. */
WEIR_MUST_USE weir_status ir_verify_wanted(verifier *v, ir_op op, int constraint, int64_t place,
                                           const char *wanted);
/* What stands there fits operand `like`. */
WEIR_MUST_USE weir_status ir_verify_fits(verifier *v, ir_op op, int constraint, int64_t place,
                                         uint32_t like);
/* It has the element type of operand `like`. */
WEIR_MUST_USE weir_status ir_verify_elements(verifier *v, ir_op op, int constraint, int64_t place,
                                             uint32_t like);
/* It has the dimensions `want`. */
WEIR_MUST_USE weir_status ir_verify_shape(verifier *v, ir_op op, int constraint, int64_t place,
                                          const int64_t *want, int32_t rank);
/* The number `name` is in [low, high]. */
WEIR_MUST_USE weir_status ir_verify_number(verifier *v, ir_op op, int constraint, const char *name,
                                           int64_t number, int64_t low, int64_t high);
/* The tensor `have` has the dimensions `want`. */
WEIR_MUST_USE weir_status ir_verify_dims(verifier *v, ir_op op, int constraint, const char *what,
                                         ir_type have, const int64_t *want, int32_t rank);
/* The tensor `have` has the element type of the tensor `want`. */
WEIR_MUST_USE weir_status ir_verify_dtype(verifier *v, ir_op op, int constraint, const char *what,
                                          ir_type have, ir_type want);
/* Regions. Types of arguments and of what the terminator hands over; the scalar forms want rank 0
 * and the element types of the tensors `like`. */
WEIR_MUST_USE weir_status ir_verify_args(verifier *v, ir_op op, int constraint, uint32_t region,
                                         const ir_type *want, uint32_t n);
WEIR_MUST_USE weir_status ir_verify_returns(verifier *v, ir_op op, int constraint, uint32_t region,
                                            const ir_type *want, uint32_t n);
WEIR_MUST_USE weir_status ir_verify_scalar_args(verifier *v, ir_op op, int constraint,
                                                uint32_t region, const ir_type *like, uint32_t n);
WEIR_MUST_USE weir_status ir_verify_scalar_returns(verifier *v, ir_op op, int constraint,
                                                   uint32_t region, const ir_type *like,
                                                   uint32_t n);
/* The region returns one tensor<i1>. */
WEIR_MUST_USE weir_status ir_verify_predicate(verifier *v, ir_op op, int constraint,
                                              uint32_t region);
/* A region of (E0.., E0..) -> (E0..) scalars, one E per result of `op`, where E is the result's
 * element type. */
WEIR_MUST_USE weir_status ir_verify_reducer(verifier *v, ir_op op, int constraint, uint32_t region);
/* n inputs and n initial values make n results; what they are and what makes them. */
typedef struct ir_reduction_tags {
  int inputs, initials, results, body;
} ir_reduction_tags;
WEIR_MUST_USE weir_status ir_verify_halves(verifier *v, ir_op op, int constraint);
WEIR_MUST_USE weir_status ir_verify_reduction(verifier *v, ir_op op, const ir_reduction_tags *tags,
                                              const int64_t *want, int32_t rank);
/* Operand `i` is a tensor<dtype>; IR_DTYPE_NONE: of any integers. */
WEIR_MUST_USE weir_status ir_verify_scalar_operand(verifier *v, ir_op op, int constraint,
                                                   uint32_t i, ir_dtype dtype);
WEIR_MUST_USE weir_status ir_verify_n_regions(verifier *v, ir_op op, uint32_t count);
/* Every element is in [low, high]; `what` names the list. */
WEIR_MUST_USE weir_status ir_verify_range(verifier *v, ir_op op, int constraint, const char *what,
                                          ir_ints list, int64_t low, int64_t high);
WEIR_MUST_USE weir_status ir_verify_unique(verifier *v, ir_op op, int constraint, const char *what,
                                           ir_ints list);
WEIR_MUST_USE weir_status ir_verify_sorted(verifier *v, ir_op op, int constraint, const char *what,
                                           ir_ints list);
WEIR_MUST_USE weir_status ir_verify_length(verifier *v, ir_op op, int constraint, const char *what,
                                           ir_ints list, int64_t want);

/* Of the attribute `name`. */
WEIR_MUST_USE weir_status ir_verify_absent(verifier *v, ir_op op, const char *name);
WEIR_MUST_USE weir_status ir_verify_unreadable(verifier *v, ir_op op, const char *name);
/* A number, or a list of them, that has to be there and to read. */
WEIR_MUST_USE weir_status ir_verify_int(verifier *v, ir_op op, const char *name,
                                        int64_t *out_number);
WEIR_MUST_USE weir_status ir_verify_ints(verifier *v, ir_op op, const char *name,
                                         ir_ints *out_list);

static inline bool dim_fits(int64_t have, int64_t want) {
  return have == want || have < 0 || want < 0;
}
static inline const ir_type_data *operand_type(const verifier *v, ir_op op, uint32_t i) {
  return ir_type_at(v->m, ir_operand(v->m, op, i));
}
static inline const ir_type_data *result_type(const verifier *v, ir_op op, uint32_t i) {
  return ir_type_at(v->m, ir_result(v->m, op, i));
}
static inline ir_type operand_type_id(const verifier *v, ir_op op, uint32_t i) {
  return ir_type_of(v->m, ir_operand(v->m, op, i));
}
static inline ir_type result_type_id(const verifier *v, ir_op op, uint32_t i) {
  return ir_type_of(v->m, ir_result(v->m, op, i));
}

/* ---- the rules: verify_data.c, verify_contract.c, verify_region.c ---- */
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  WEIR_MUST_USE weir_status ir_verify_##shape(verifier *v, ir_op op);
#include "ir/ops.def"
#undef OP

#endif
