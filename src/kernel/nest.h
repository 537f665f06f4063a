/* A weir.loop as one loop nest: axes, their roles, passes over the columns. docs/design/emitter.md.
 *
 * In: a loop op whose body has covered ops only. Out: for each op of the body the axis of every
 * dimension of its operands and its result, and a role for every axis. The loop is one trip over
 * its whole extent (split/loops.h).
 */
#ifndef WEIR_KERNEL_NEST_H
#define WEIR_KERNEL_NEST_H
#include "ir/ir.h"
#include "machine/machine.h"

enum {
  KERNEL_MOST_AXES = 24,
  KERNEL_MOST_RANK = 8,
  KERNEL_MOST_OPERANDS = 16,
  KERNEL_MOST_TERMS = 2,
  KERNEL_NO_AXIS = -1, /* a dimension of length 1 */
};

typedef enum kernel_role {
  KERNEL_INNER, /* in no result: reduced inside the tile */
  KERNEL_POINT, /* in some results only */
  KERNEL_OUTER, /* in all results: indices of a work item */
  KERNEL_ROW,
  KERNEL_COLUMN,
} kernel_role;

typedef enum kernel_packing {
  KERNEL_NOT_PACKED,
  KERNEL_PACKED_ROWS,
  KERNEL_PACKED_COLUMNS
} kernel_packing;

typedef struct kernel_axes { /* of the dimensions of one operand or result */
  int32_t rank;
  int8_t of[KERNEL_MOST_RANK];
} kernel_axes;

/* As bits. */
static inline bool kernel_has_axis(const kernel_axes *axes, int32_t axis) {
  for (int32_t i = 0; i < axes->rank; i++)
    if (axes->of[i] == axis) return true;
  return false;
}
static inline uint32_t kernel_axes_mask(const kernel_axes *axes) {
  uint32_t mask = 0;
  for (int32_t i = 0; i < axes->rank; i++)
    if (axes->of[i] >= 0) mask |= 1u << axes->of[i];
  return mask;
}

/* A sum with exp(degree * t) in its terms, where the node t is made from running extremes of the
 * sum's own pass: it is brought to the new t whenever that changes (stream.c). */
typedef struct kernel_term {
  int32_t node, degree;
} kernel_term;

typedef struct kernel_node { /* one result of one op of the body */
  ir_op op;
  ir_value value;
  uint32_t which; /* of the op's results; their nodes stand one after the other */
  ir_kind kind;
  uint32_t n_operands;
  kernel_axes operands[KERNEL_MOST_OPERANDS], result;
  uint32_t mask;    /* axes of the result, as bits */
  uint32_t reduces; /* axes that are in the operands and are summed (or ...) away */
  int32_t level;    /* the pass that computes it where it has columns, from finished statistics */
  int32_t pass;     /* of a reduction over rows or columns: that sums it up */
  int32_t phase;    /* of the pass, after those of the running statistics that it reads */
  int32_t step;     /* the phase of a pass that computes it from finished statistics */
  int32_t ready;    /* the same of pass level - 1, while its statistics run */
  int32_t n_terms;
  kernel_term terms[KERNEL_MOST_TERMS];
  bool is_boundary;    /* has no columns, and is read as a running value: some reduction's term */
  bool is_product;     /* a reduction as a product of a kept grid and rows of points (product.c) */
  int32_t index;       /* among the tile reductions; -1: none */
  int32_t late;        /* among the reductions over rows; -1: none */
  bool after;          /* such a reduction, or made from one: known when all rows are done */
  int32_t depth;       /* whiles that carry it, or what it is made from (flatten.h) */
  double turns;        /* of all of them */
  int32_t repeat;      /* of a carry: the node of what it is in the end */
  bool is_rowless;     /* neither rows nor reductions over rows or columns are in it */
  ir_kind monoid;      /* of what it reduces with */
  bool never_negative; /* nor is any of its terms -0.0: equal ones have equal bits */
  bool is_added; /* a product of two numbers that only one sum reads: they are one operation */
  bool in_order; /* a sum that has to round as in other kernels: term by term, inside the tile */
  bool is_exact; /* sums, differences and products round as wherever else they are made: each alone
                  */
  kernel_packing packed; /* tiles read it from a copy (pack.h) */
} kernel_node;

typedef struct kernel_output {
  ir_value value;
  int32_t node;     /* that makes it */
  kernel_axes axes; /* of the loop's result */
  const int64_t *dims;
  int32_t level, phase;
  bool after; /* stored when all rows are done */
} kernel_output;

/* How large things are; travels with the region, so that another machine runs the same code. */
typedef struct kernel_sizes {
  int32_t rows, vectors; /* of the register tile */
  int64_t block;         /* columns between two packings */
  int64_t chunk;         /* rows of a work item */
  int64_t spans; /* of rows: work items; where rows are reduced each has its partial results */
  int64_t column_spans; /* of columns: likewise; 1 unless rows are few */
} kernel_sizes;

typedef struct kernel_nest {
  ir_module *m;
  arena *a;
  ir_op loop;
  ir_block body;
  uint32_t n_inputs, n_outputs; /* inputs: all operands of the loop, carries too */
  int32_t n_axes, row, column;
  uint32_t positions; /* axes that count what a top-k keeps */
  uint32_t strided; /* axes that a slice, pad, concatenation or gather counts otherwise on its other
                    side: inside the tile */
  int64_t extent[KERNEL_MOST_AXES];
  kernel_role role[KERNEL_MOST_AXES];
  uint32_t n_nodes;
  kernel_node *nodes;
  uint32_t *node_of; /* by op: index + 1 of its first result's */
  uint32_t n_views;
  ir_value *views; /* slices of inputs, which are read in the inputs themselves */
  kernel_output *outputs;
  int32_t n_passes, n_reductions, n_late;
  bool staged;     /* long contractions end a phase */
  bool agrees;     /* what it compares has to have the bits that other kernels make */
  int32_t lanes;   /* of a vector: of the widest floating-point type in the body */
  machine machine; /* that the code is for */
  kernel_sizes sizes;
} kernel_nest;

/* Those of the tile. */
static inline uint32_t kernel_tile_axes(const kernel_nest *n) {
  return 1u << n->row | 1u << n->column;
}

/* False, with *out_why, where kernels don't cover the loop. Everything lives in `a`. code_for: the
 * machine that runs the code. */
bool kernel_nest_of(arena *a, ir_module *m, ir_op loop, const machine *code_for,
                    kernel_nest *out_nest, const char **out_why);

/* Whether there is a rule for the op; it may still refuse. Reshapes that merge or cut dimensions
 * have none, nor do slices, pads and concatenations along dimensions too long for the inside of a
 * tile. */
bool kernel_has_rule(const ir_module *m, ir_op op);

/* Of a slice, pad or concatenation: whether dimension dim of the operand and of the result have one
 * index. */
bool kernel_keeps_index(ir_module *m, ir_op op, uint32_t operand, int64_t dim);

/* A reduction of several operands together, by a body of its own: argmax. */
static inline bool kernel_is_variadic(const kernel_node *x) {
  return x->kind == IR_OP_REDUCE && x->n_operands > 2;
}

/* The node that makes v; NULL: v is an argument of the body. */
const kernel_node *kernel_node_of(const kernel_nest *n, ir_value v);
/* Which input an argument of the body, or a slice of one, reads; negative: the loop's start or lo,
 * which no kernel has. */
int32_t kernel_input_of(const kernel_nest *n, ir_value v);
/* The element of the input that is a view's first. */
int64_t kernel_view_offset(const kernel_nest *n, ir_value view);

/* Makes axes of results one where they are equally long, no value has both and nothing sums
 * over them. Whether there were any. merge.c */
bool kernel_merge_axes(kernel_nest *n);
/* Whether axes a < b can be one; a copy of the nest in which they are, as number a. */
bool kernel_may_merge(const kernel_nest *n, int32_t a, int32_t b);
kernel_nest kernel_merged(const kernel_nest *n, int32_t a, int32_t b);
/* Whether the sum x over the columns can run in the pass before its level, and then its pass, phase
 * and terms. stream.c */
bool kernel_stream(kernel_nest *n, kernel_node *x);
/* Whether the reduction x, over rows or columns, is a product; the axis of its points. product.c */
bool kernel_is_product(const kernel_nest *n, const kernel_node *x);
int32_t kernel_product_axis(const kernel_nest *n, const kernel_node *x);
/* A row value that a sum inside the tile reads point by point, and that costs something to make:
 * made once for a chunk of rows (table.c). */
bool kernel_has_table(const kernel_nest *n, const kernel_node *x);
static inline bool kernel_is_gather(const kernel_node *x) {
  return x->kind == IR_OP_GATHER || x->kind == IR_OP_DYNAMIC_SLICE;
}
/* The input, or view of one, that a gather reads; IR_NONE: it is computed, by more than
 * conversions. Whether lanes have places of their own; whether columns can be read at all. gather.c
 */
ir_value kernel_gathered_input(const kernel_nest *n, const kernel_node *x);
bool kernel_gathers_lanes(const kernel_nest *n, const kernel_node *x);
bool kernel_gather_is_legal(const kernel_nest *n, const kernel_node *x);
int32_t kernel_phases_of(const kernel_nest *n, int32_t pass);
/* The phase of a pass that computes the value. */
static inline int32_t kernel_phase_of(const kernel_node *x, int32_t pass) {
  return x->level > pass ? x->ready : x->step;
}
/* A contraction with a register tile of its own: what reads it comes a phase later. */
bool kernel_ends_phase(const kernel_nest *n, const kernel_node *x);

/* Axes of a value that neither are outside of the tile nor span it, and the product of lengths. */
uint32_t kernel_point_axes(const kernel_nest *n, uint32_t mask);
int64_t kernel_extent_of(const kernel_nest *n, uint32_t mask);
int64_t kernel_outer_extent(const kernel_nest *n); /* of the axes outside the tile, together */

/* A rule says which axes of an op are one; op table, column `kernel`. */
typedef struct kernel_tie kernel_tie;
typedef bool kernel_rule(kernel_tie *t, kernel_node *node);
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  extern kernel_rule *const kernel_rule_##kernel;
#include "ir/ops.def"
#undef OP

#endif
