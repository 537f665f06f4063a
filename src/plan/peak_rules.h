/* Inside of the rules per op: what the files peak_rules*.c share. */
#ifndef WEIR_PLAN_PEAK_RULES_H
#define WEIR_PLAN_PEAK_RULES_H
#include "base/saturate.h"
#include "plan/peak_lower.h"

typedef struct plan_rule { /* what every rule is given */
  lowering *l;
  plan_scope *s;
  plan_graph *g;
  ir_module *m;
  ir_op op;
} plan_rule;

static inline plan_shape shape_of(const plan_rule *r, ir_value v) {
  return plan_shape_of_type(r->g->arena, r->m, ir_type_of(r->m, v));
}
static inline plan_shape result_shape(const plan_rule *r, uint32_t i) {
  return shape_of(r, ir_result(r->m, r->op, i));
}
static inline uint32_t operand(const plan_rule *r, uint32_t i) {
  return plan_node_of(r->l, r->s, ir_operand(r->m, r->op, i));
}
/* good until the next node is made */
static inline const plan_node *node_of(const plan_rule *r, uint32_t n) {
  return plan_node_get(r->g, n);
}
static inline uint32_t n_operands(const plan_rule *r) { return ir_op_get(r->m, r->op)->n_operands; }

static inline plan_shape with_dtype(plan_shape s, ir_dtype dtype) {
  s.dtype = dtype;
  s.bytes = saturated_product(s.elements, ir_dtype_bytes(dtype));
  return s;
}

static inline plan_shape scalar_shape(ir_dtype dtype) {
  static const int64_t none;
  return with_dtype((plan_shape){.elements = 1, .dims = &none}, dtype);
}

/* ---- peak_rules.c: nodes, with what XLA simplifies at once ---- */
uint32_t plan_rule_make(const plan_rule *r, plan_node n); /* origin: the op and its first result */
uint32_t plan_rule_node(const plan_rule *r, int kind, plan_shape shape, const uint32_t *operands,
                        uint32_t count, uint64_t signature);
uint32_t plan_rule_make1(const plan_rule *r, int kind, plan_shape shape, uint32_t x);
uint32_t plan_rule_make2(const plan_rule *r, int kind, plan_shape shape, uint32_t x, uint32_t y);
uint32_t plan_rule_concatenate(const plan_rule *r, plan_shape shape, const uint32_t *operands,
                               uint32_t count, int64_t dim);
uint32_t plan_rule_number(const plan_rule *r, ir_dtype dtype, double x); /* a scalar constant */
/* that a node is everywhere; NAN: none, or not known */
double plan_rule_number_of(const plan_rule *r, uint32_t x);
uint32_t plan_rule_bitcast(const plan_rule *r, uint32_t x, plan_shape shape);
uint32_t plan_rule_broadcast(const plan_rule *r, uint32_t x, plan_shape shape, const int64_t *dims);
uint32_t plan_rule_splat(const plan_rule *r, uint32_t scalar, plan_shape shape);
uint32_t plan_rule_convert(const plan_rule *r, uint32_t x, ir_dtype dtype);
uint32_t plan_rule_transpose(const plan_rule *r, uint32_t x, const int64_t *perm);
/* The same matrices, column by column in memory (or back). */
uint32_t plan_rule_relayout(const plan_rule *r, uint32_t x);
uint32_t plan_rule_elementwise(const plan_rule *r, int kind, plan_shape shape,
                               const uint32_t *operands, uint32_t count, uint64_t signature);
ir_dtype plan_computed_in(ir_dtype t); /* the type that XLA CPU computes in */
/* Of a product's operands and result: f16 is wide there, too. */
ir_dtype plan_multiplied_in(const plan_rule *r, ir_dtype t);
/* One node with the op's operands and results. */
uint32_t plan_rule_generic(const plan_rule *r, int kind);
/* Likewise in the type that is computed in: XLA CPU moves bf16 and f8 as that, too, which shows
 * where it fuses nothing. */
uint32_t plan_rule_generic_wide(const plan_rule *r, int kind);
uint32_t plan_rule_wide(const plan_rule *r, uint32_t x); /* x in that type */
void plan_rule_bind(const plan_rule *r, uint32_t node);  /* to the op's results */
/* A node of kind OPAQUE with the op's results and, live only while it runs, `scratch_bytes`
 * more. */
uint32_t plan_rule_opaque(const plan_rule *r, const uint32_t *operands, uint32_t count,
                          const plan_shape *results, uint32_t n_results, int64_t scratch_bytes);

/* ---- peak_rules_conv.c: on a GPU; false: it is none that is modelled ---- */
bool plan_lower_library_convolution(const plan_rule *r);

/* ---- the rules: column plan of ops.def ---- Each binds the op's results to nodes. */
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  void plan_lower_##plan(const plan_rule *r);
#include "ir/ops.def"
#undef OP

#endif
