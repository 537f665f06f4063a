/* The graph that the peak estimate works on: what XLA CPU makes of a program, as far as memory
 * is concerned.
 *
 *   IR --peak_lower.c--> graph (inlined, simplified, equal nodes shared, loop invariants hoisted)
 *      --peak_merge.c--> products of one matrix as one, on GPUs
 *      --peak_top_k.c--> top-ks that are sorts, elsewhere
 *      --peak_layout.c-> what library calls want column by column is made so
 *      --peak_pad.c----> 16-bit matrices as cuBLAS wants them
 *      --peak_terms.c--> products of long sums in parts, on GPUs
 *      --peak_turned.c-> arguments of loops as their products want them, on GPUs
 *      --peak_parts.c--> operands as sums of narrower numbers, where products want them so
 *      --peak_invariant.c-> copies before TPUs' loops: products' operands, windows
 *      --peak_small.c---> counted: small arrays that stay in TPUs' memory, not on the chip
 *      --peak_fuse.c---> fewer nodes: what fuses stands inside its consumers; peak_kept.c: what
 *                        devices keep for several of them
 *      --peak_join.c-> fusions of several results and their tables of pointers, on GPUs
 *      --peak_device.c-> workspaces of libraries, siblings; peak_epilogue.c: what libraries add;
 *                        peak_tiles.c: padding to tiles, where there are any
 *      --schedule.c----> an order per computation; schedule_gpu.c: XLA:GPU's
 *      --peak_buffers.c> buffers, their live ranges
 *      --peak_assign.c-> where they lie: bytes
 *      --peak_report.c-> who holds them, for people
 *
 * Nodes are XLA's instructions: one result each, an array or a tuple. A computation is a list of
 * nodes with a root: the entry, a loop's body or condition, a branch, what several callers share.
 * Loop state is one tuple: the loop's node takes a TUPLE, the body's PARAMETER is taken apart by
 * GET_TUPLE_ELEMENTs. Node and computation ids start at 1. Everything is in the scratch arena of
 * the estimate. */
#ifndef WEIR_PLAN_PEAK_GRAPH_H
#define WEIR_PLAN_PEAK_GRAPH_H
#include "base/hash.h"
#include "base/strbuf.h"
#include "ir/attrs.h"
#include "plan/peak.h"

/* node kinds beside the ops of the table */
enum {
  PLAN_PARAMETER = IR_OP_COUNT,
  PLAN_BITCAST, /* the operand's buffer under another shape */
  PLAN_COPY,
  PLAN_FUSION,   /* operands: what the fused nodes read */
  PLAN_OPAQUE,   /* reads its operands, fills its own result: what has no better word */
  PLAN_RELAYOUT, /* the same array, its dimensions in another order in memory */
};

enum {
  PLAN_FLAG_EXPENSIVE = 1, /* never computed twice */
  PLAN_FLAG_CAPTURE = 2,   /* element of a loop's state that no trip changes */
  PLAN_FLAG_INVARIANT = 4, /* the same in every trip, but not worth hoisting alone */
  PLAN_FLAG_LIVE = 8,
  PLAN_FLAG_KEPT = 16,   /* not to be fused into several consumers */
  PLAN_FLAG_HELD = 64,   /* not to be fused into any */
  PLAN_FLAG_UPDATE = 32, /* a fusion whose root is a dynamic_update_slice: in place */
};

enum {                   /* how XLA treats nodes of a kind: column xla of ops.def */
       PLAN_TRAIT_F = 1, /* fuses into loops */
       PLAN_TRAIT_O = 2, /* reads each element once */
       PLAN_TRAIT_D = 4, /* dear: not computed twice */
       PLAN_TRAIT_B = 8, /* opens a block of code */
       PLAN_TRAIT_S = 16 /* stays in a loop unless it takes something else out with it */
};

/* Which operands of a dot stand the other way than [rows, sum] x [sum, columns]. */
enum {
  PLAN_DOT_FOLDED = 3,  /* with transposes folded in: bit 0 the left one, 1 the right one */
  PLAN_DOT_GIVEN = 12,  /* as the program has them: bits 2, 3 */
  PLAN_DOT_SWAPPED = 16 /* the whole is made transposed, the operands in the other order */
};
#define PLAN_DOT_SIDE(i) (5 << (i)) /* of one operand, both ways */

typedef struct plan_shape {
  ir_dtype dtype;
  int32_t rank;
  int32_t true_rank; /* dims other than 1 */
  bool is_tuple;
  uint32_t n_members; /* of a tuple */
  const int64_t *dims;
  int64_t elements, bytes; /* saturating; of a tuple: of its table of pointers */
  const struct plan_shape *members;
} plan_shape;

typedef struct plan_fusion plan_fusion; /* peak_fuse.c */

typedef struct plan_node {
  uint16_t kind;
  uint8_t flags;
  /* a dot that has taken in a transpose of an operand: XLA makes these last */
  bool folded;
  uint8_t stands; /* of a dot: PLAN_DOT_... */
  bool narrow;    /* products alone read it, in 16 bits */
  bool by_rows;   /* lies row by row, however narrow the rows are */
  bool of_rows; /* of an array's rows and their sums, which one kernel of Triton's makes with it */
  bool is_read_again; /* sums: by several, so that Triton makes no softmax of them and their rows */
  bool of_columns;    /* sums: not along the last dimension */
  bool is_scan;       /* windows: of a cumulative sum, along each tile */
  bool is_far;        /* in memory, for what it is a copy of is on the chip */
  uint32_t comp;
  uint32_t n_operands, n_comps, n_users, users_room;
  uint32_t *operands;
  uint32_t *comps; /* WHILE: condition, body; CASE, IF: branches; CALL: what is called */
  uint32_t *users; /* each once, in XLA's order; filled by plan_graph_finish() */
  plan_shape shape;
  uint32_t index;    /* of a GET_TUPLE_ELEMENT or PARAMETER */
  uint32_t in_place; /* 1 + the operand that the result must share its buffer with; 0: none */
  uint32_t n_hidden; /* values that XLA's expansion of it makes and drops */
  /* a scatter into x made of x + scatter(zeros): the latter, which stays if others read it */
  uint32_t instead_of;
  uint64_t signature; /* hash of the attributes */
  /* dims of a broadcast, permutation of a transpose, dimensions of a reduce, dimension of a
   * concatenate */
  const int64_t *ints;
  uint32_t n_ints;
  double number;  /* of a scalar CONSTANT; NAN if we can't say */
  int64_t blocks; /* of a sum on a GPU, in which it runs; 0: of something else, or unknown */
  int64_t summed; /* how many elements go into it, if blocks are known */
  /* of a fusion: XLA:GPU's, of all functions that it computes for an element; of a search: of its
   * reducer */
  int64_t cycles;
  const ir_value
      *results; /* of a fusion of several results, as the program names them; else NULL */
  const uint32_t *written_over; /* there, by operand: 1 + the result that may be; 0: none */
  ir_op op;                     /* where it comes from; IR_NONE: made here */
  ir_value value;
  plan_fusion *fusion;
} plan_node;

typedef struct plan_comp {
  /* the one of a loop or branch; the entry's are nodes of kind PARAMETER with their index */
  uint32_t parameter;
  uint32_t root;
  uint32_t caller; /* the node that runs it */
  ir_block block;
  VEC(uint32_t) nodes; /* in creation order, the dead left out */
  uint32_t *order;     /* nodes.count of them: the schedule */
} plan_comp;

typedef struct plan_graph {
  arena *arena;
  const ir_module *m;
  const device_memory *memory; /* NULL: a CPU's */
  VEC(plan_node) nodes;
  VEC(plan_comp) comps;
  uint32_t entry;
  uint32_t n_params;
  bool is_split; /* has weir.loops: dce is still to come */
  uint32_t n_outputs;
  uint32_t *outputs;        /* operands of the entry's root */
  int32_t *param_of_output; /* by output: donated parameter that it must be written to, -1 */
  uint8_t *state;           /* plan_post_order()'s */
  uint32_t state_count;
  uint32_t n_coefficients; /* plan_count_coefficients()'s */
  bool is_in_parts;        /* plan_part_products() found products for that */
  VEC(int64_t) tables;     /* bytes of tables of pointers of nodes that are no tuples here */
  int64_t n_small;         /* plan_count_small()'s: small arrays and tables in memory */
  bool is_small_left;      /* there are any, whatever else is left in memory */
} plan_graph;

static inline plan_node *plan_node_get(const plan_graph *g, uint32_t n) { return &g->nodes.at[n]; }
static inline plan_comp *plan_comp_get(const plan_graph *g, uint32_t c) { return &g->comps.at[c]; }
/* The node of the program's argument of this number: they come first, and stay. */
static inline uint32_t plan_argument(const plan_graph *g, uint32_t index) {
  uint32_t node = plan_comp_get(g, g->entry)->nodes.at[index];
  assert(index < g->n_params && plan_node_get(g, node)->kind == PLAN_PARAMETER);
  return node;
}

/* ---- peak_terms.c ---- */
/* The most bytes of all parts of a product, of which the result has so many elements. */
int64_t plan_most_bytes_of_parts(const device_memory *memory, int64_t elements);

/* ---- peak_graph.c ---- */
plan_shape plan_shape_make(arena *a, ir_dtype dtype, int32_t rank, const int64_t *dims);
plan_shape plan_shape_of_type(arena *a, const ir_module *m, ir_type type);
plan_shape plan_shape_tuple(arena *a, const plan_shape *members, uint32_t count);
bool plan_same_dims(const plan_shape *a, const plan_shape *b);
uint32_t plan_comp_new(plan_graph *g, ir_block block);
/* Copies what desc points to by reference; the node goes to the end of desc->comp. */
uint32_t plan_node_new(plan_graph *g, const plan_node *desc);
/* A live node for the same op as `like`, with desc's kind, flags, shape, numbers and operands
 * (copied), which do not have it as a user yet. */
uint32_t plan_node_beside(plan_graph *g, uint32_t like, plan_node desc);
/* The same of a node that reads `x`, which has it as a user. */
uint32_t plan_put_on(plan_graph *g, uint32_t like, uint32_t x, plan_node desc);
void plan_add_user(plan_graph *g, uint32_t node, uint32_t user);
void plan_remove_user(plan_graph *g, uint32_t node, uint32_t user);
/* Some operands of the user, which were `node`, are `between` now, which reads `node`: users. */
void plan_put_between(plan_graph *g, uint32_t node, uint32_t between, uint32_t user);
/* plan_node_beside() of a node that reads what operand i of the user was, and becomes that. */
uint32_t plan_put_before(plan_graph *g, uint32_t user, uint32_t i, plan_node desc);
/* All operands of the user, which becomes one of `now`, that were `old`. */
void plan_take_instead(plan_graph *g, uint32_t user, uint32_t old, uint32_t now);
/* The users given, and computations whose result it is, read `now` in place of `old`. */
void plan_read_instead(plan_graph *g, uint32_t old, uint32_t now, const uint32_t *users,
                       uint32_t count);
/* plan_node_beside() of a node that reads `node`, and that all read who have read that. */
uint32_t plan_put_behind(plan_graph *g, uint32_t node, plan_node desc);
/* Drops what no root needs and fills the users. */
void plan_graph_finish(plan_graph *g);
/* Drops dead nodes from the computations' lists. */
void plan_graph_sweep(plan_graph *g);
/* Operands first, from the first node without users on. Returns comp->nodes.count ids. */
uint32_t *plan_post_order(plan_graph *g, uint32_t comp);

/* ---- peak_donations.c ---- */
/* Fills param_of_output, of a graph that has its results. */
void plan_read_donations(plan_graph *g, ir_op function);

/* ---- peak_sound.c ---- */
/* Between stages: operands are of the node's own computation, users are who reads a node, and a
 * computation's result is one of its nodes. */
bool plan_is_sound(const plan_graph *g);
/* Each computation's schedule has each of its nodes once, behind its operands. */
bool plan_is_in_order(const plan_graph *g);

uint8_t plan_traits(uint16_t kind);
const char *plan_kind_name(uint16_t kind); /* "copy", "dot_general" */

/* ---- the stages ---- */
/* all up to the schedule; NULL: no main function */
plan_graph *plan_planned(arena *a, const ir_module *m, plan_order order,
                         const device_memory *memory);
plan_graph *plan_lower(arena *a, const ir_module *m, plan_order order, const device_memory *memory);
/* Of a graph for a GPU, as lowered: what several products of one matrix are made one of. */
void plan_merge_products(plan_graph *g);
/* Elsewhere: top-ks that are sorts for how they are read. */
void plan_sort_for_top_k(plan_graph *g);
/* Column by column what library calls want so. */
void plan_lay_out(plan_graph *g);
void plan_fuse(plan_graph *g);
/* Of a graph for a device, before it is fused: what a library adds to its products itself. */
void plan_take_epilogues(plan_graph *g);
/* After that: 16-bit matrices as large as cuBLAS wants them. */
void plan_pad_products(plan_graph *g);
bool plan_pads_result(const plan_graph *g, const plan_node *dot);
/* After that: parts of products on GPUs, and what adds them. */
void plan_part_products(plan_graph *g);
/* The same: operands of products by the algorithms of narrower numbers, in parts. */
void plan_split_products(plan_graph *g);
/* The same: what XLA:TPU makes before loops for products and windows in them. */
void plan_copy_invariants(plan_graph *g);
/* The loop's state has `now` as its element i, of another shape. */
void plan_pass_in(plan_graph *g, uint32_t loop, uint32_t i, uint32_t now);
/* Element i of the loop's state as the body has it, if no trip changes it and nobody reads it in
 * the condition or after the loop; else 0. */
uint32_t plan_invariant_element(const plan_graph *g, uint32_t loop, uint32_t i);
/* The same: arguments that XLA:GPU lays out anew before loops in which products read them. */
void plan_turn_captures(plan_graph *g);
/* The same: elements that are taken out of tables of constants. */
void plan_count_coefficients(plan_graph *g);
/* After that, on GPUs: fusions that XLA makes one of, and their tables. */
void plan_join_results(plan_graph *g);
void plan_add_table(plan_graph *g, uint32_t results); /* of so many; elsewhere: nothing */
/* Whether the node is one of these. */
bool plan_is_coefficient(const plan_graph *g, const plan_node *n);
/* The same: small arrays that XLA:TPU leaves in memory. */
void plan_count_small(plan_graph *g);
/* Whether it is a generator of random bits by that algorithm. */
bool plan_makes_bits(const plan_graph *g, const plan_node *n, const char *algorithm);
/* Whether nobody reads the result, which XLA:TPU leaves in memory then. */
bool plan_is_left_unread(const plan_graph *g, uint32_t node, uint32_t member);
/* Of an array in memory, with what lies between it and the next. */
int64_t plan_apart_bytes(const device_memory *memory, int64_t bytes);
/* What is left in memory, unread results given, of a graph with its copies. is_near: the other
 * temporaries are on the chip. */
int64_t plan_small_bytes(const plan_graph *g, bool is_near, int64_t unread_bytes);
/* After that: libraries' workspaces, and arrays as large as they are there. */
void plan_on_device(plan_graph *g);
/* UINT32_MAX: it reads no such. */
static inline uint32_t plan_operand_index(const plan_node *n, uint32_t operand) {
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (n->operands[i] == operand) return i;
  return UINT32_MAX;
}
bool plan_is_elementwise(const plan_node *n);
bool plan_is_loop_fusible(const plan_node *n); /* by its kind */
/* In which XLA:GPU sums, a long sum in parts. 0: nothing is summed. */
int64_t plan_sum_blocks(const plan_shape *from, ir_ints dims, int64_t parts);
/* Of a node, for an element, as XLA:GPU counts them. */
int64_t plan_cycles(const plan_node *n);
enum {
  PLAN_PASS_CYCLES = 80
}; /* in which a number of 32 bits is read, or written, by that count */

enum { PLAN_PHILOX_WORDS = 4 }; /* random words that a block of it has */

/* ---- values ---- */
/* A node's: an array, or a tuple's members and then its table of pointers; 0: what it reads. */
uint32_t plan_values_of(const plan_node *n);
/* By node that is live: the number of the first; the others follow. Numbers begin with 1. */
uint32_t *plan_number_values(const plan_graph *g, uint32_t *out_end);
/* Which of them, from base[node] on, is the table; 0: none. */
uint32_t plan_table_of(const plan_graph *g, const uint32_t *base, uint32_t node);
/* The kind of an op's node, or of the op that a fusion ends with; IR_OP_UNKNOWN: another node. */
ir_kind plan_kind_at_root(const plan_graph *g, const plan_node *n);
bool plan_is_output(const plan_graph *g, uint32_t id);
/* Of another shape, through which rules look; what a barrier holds is none. */
static inline bool plan_is_view(const plan_node *n) {
  return n->kind == PLAN_BITCAST && !(n->flags & PLAN_FLAG_HELD);
}
/* The last dimension that is longer than 1, else the first; its extent. */
static inline int32_t plan_innermost_dim(const plan_shape *s) {
  int32_t d = s->rank - 1;
  while (d > 0 && s->dims[d] == 1) d--;
  return d;
}
static inline int64_t plan_innermost(const plan_shape *s) {
  int32_t d = plan_innermost_dim(s);
  return d >= 0 ? s->dims[d] : 1;
}
/* 0, 1, 2, .. beside what is sorted. */
static inline bool plan_is_positions(const plan_node *n) {
  return n->kind == IR_OP_IOTA && n->shape.dtype == IR_I32;
}
/* Products, sorts and the like are calls of libraries: on GPUs. */
static inline bool plan_has_libraries(const plan_graph *g) {
  return g->memory && g->memory->library_bytes;
}
/* Of operands in memory, element by element, as far as it is no view of them. */
bool plan_is_made_elementwise(const plan_node *n);
bool plan_is_product(const plan_graph *g,
                     const plan_node *n); /* alone, or what a fusion is around */
void plan_schedule(plan_graph *g, plan_order order);
/* XLA:GPU's order. */
void plan_schedule_gpu(plan_graph *g);
/* Whether result `member` may be written over operand i, if that is not needed any more. */
bool plan_shares_buffer(const plan_graph *g, uint32_t node, uint32_t member, uint32_t i);
/* Copies where one buffer would have to hold two values: into loops, out of branches, before
 * updates in place. */
void plan_insert_copies(plan_graph *g);
/* After that, on GPUs: what is made with what it is a copy of. */
void plan_fuse_copies(plan_graph *g);
/* The buffers' part of plan_peak; no more than what is live at once if that is over enough_bytes.
 */
void plan_assign(plan_graph *g, int64_t enough_bytes, plan_peak *out_peak);
/* The same, and steps and temporaries of the time line. */
void plan_assign_spans(plan_graph *g, plan_timeline *out);
/* Whether the body makes a new value of the element, rather than pass it on. */
bool plan_is_carried(const plan_graph *g, uint32_t body, uint32_t index);

#endif
