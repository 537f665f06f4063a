/* The IR: one MLIR-shaped graph of 32-bit ids.
 *
 * A module is an op (builtin.module) with a block of func.func ops, whose blocks hold the program.
 * Every region has at most one block, as in all of StableHLO, so an op's regions are block ids
 * (IR_NONE: an empty region). Ops, values, blocks, types, attributes and strings are ids into the
 * module's tables; 0 (IR_NONE) is nobody. Types and strings are interned: equal ids, equal things.
 * Everything lives in the module's arena.
 *
 * Attributes in dialect form (`#stablehlo.dot<...>`, `#sdy...`) keep their text verbatim;
 * ir/attrs.h decodes the ones we know. What we don't know (an op, an attribute, a type) is kept as
 * text and printed as it came.
 *
 * Invariants (ir_verify): every operand is defined before its use in the same block or in an
 * enclosing one; a block ends in one terminator; types follow the op table's shape rule; all dims
 * >= 0, or -1 for a dynamic one.
 */
#ifndef WEIR_IR_IR_H
#define WEIR_IR_IR_H
#include <assert.h>

#include "base/arena.h"
#include "base/ctx.h"

enum { IR_NONE = 0, IR_MAX_RANK = 64 };

typedef uint32_t ir_str; /* an interned string */
typedef uint32_t ir_type;
typedef uint32_t ir_attr;
typedef uint32_t ir_value;
typedef uint32_t ir_op;
typedef uint32_t ir_block;

/* ---- the tables as enums ---- */
typedef enum ir_dtype {
  IR_DTYPE_NONE,
#define DTYPE(name, text, bits, cls) IR_##name,
#include "ir/dtypes.def"
#undef DTYPE
  IR_DTYPE_COUNT
} ir_dtype;

typedef enum ir_dtype_class {
  IR_CLASS_NONE,
  IR_CLASS_BOOL,
  IR_CLASS_INT,
  IR_CLASS_UINT,
  IR_CLASS_FLOAT,
  IR_CLASS_COMPLEX
} ir_dtype_class;

typedef enum ir_kind {
  IR_OP_UNKNOWN, /* kept by name, printed as it came */
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel) IR_OP_##kind,
#include "ir/ops.def"
#undef OP
  IR_OP_COUNT
} ir_kind;

enum { IR_FLAG_E = 1, IR_FLAG_X = 2, IR_FLAG_T = 4, IR_FLAG_H = 8, IR_FLAG_M = 16, IR_FLAG_R = 32 };
enum { IR_FLAG_O = 64, IR_FLAG_N = 128, IR_FLAG_S = 256 };

/* ---- data behind the ids ---- */
typedef enum ir_type_kind {
  IR_TYPE_TENSOR,
  IR_TYPE_TOKEN,
  IR_TYPE_TUPLE,
  IR_TYPE_FUNCTION,
  IR_TYPE_SCALAR /* i32, f64: of attributes */,
  IR_TYPE_OTHER /* verbatim */
} ir_type_kind;

typedef struct ir_type_data {
  ir_type_kind kind;
  ir_dtype
      dtype; /* tensor, scalar; NONE for an element type we don't know (then element_text has it) */
  int32_t rank;               /* tensor */
  int32_t n_types, n_results; /* tuple: n_types members; function: n_types inputs, n_results results
                                 after them */
  const int64_t *dims;        /* tensor: rank of them, -1 dynamic */
  const ir_type *types;       /* tuple members, or function inputs then results */
  ir_str element_text;        /* tensor of an element type we don't know: its text */
  ir_str encoding;            /* tensor: what stands after the last comma, "" if nothing */
  ir_str text;                /* OTHER: the type as it came */
  int64_t elements, bytes;    /* saturating; found when it is interned */
} ir_type_data;

typedef enum ir_attr_kind {
  IR_ATTR_UNIT,
  IR_ATTR_BOOL,
  IR_ATTR_INT,
  IR_ATTR_FLOAT,
  IR_ATTR_STRING,
  IR_ATTR_SYMBOL,
  IR_ATTR_TYPE,
  IR_ATTR_I64S,  /* array<i64: ...> */
  IR_ATTR_BOOLS, /* array<i1: ...> */
  IR_ATTR_ARRAY,
  IR_ATTR_DICT,
  IR_ATTR_DENSE, /* dense<...> : tensor type */
  IR_ATTR_OTHER  /* verbatim text: dialect attributes and whatever we don't know, with its ": type"
                    if it had one */
} ir_attr_kind;

typedef struct ir_named_attr {
  ir_str name;
  ir_attr value;
  bool property; /* printed in <{ }>: inherent to the op; else in { } */
} ir_named_attr;

typedef struct ir_attr_data {
  ir_attr_kind kind;
  ir_type type;    /* INT, FLOAT, DENSE: its type; TYPE: the type itself; INT, FLOAT may have none
                      (IR_NONE) */
  int32_t count;   /* of ints, items, entries */
  bool splat;      /* DENSE: data holds one element */
  bool boolean;    /* BOOL */
  int64_t integer; /* INT: two's complement of 64 bits */
  double real;     /* FLOAT */
  ir_str text;     /* FLOAT: as written; STRING: unescaped; SYMBOL: without @; OTHER: verbatim */
  const int64_t *ints;          /* I64S, BOOLS */
  const ir_attr *items;         /* ARRAY */
  const ir_named_attr *entries; /* DICT */
  const struct ir_dot_numbers
      *dot;         /* OTHER: a product's numbers, decoded (ir/attrs.h); else NULL */
  const void *data; /* DENSE: little-endian elements in row-major order, ir_dtype_bytes() each; i1:
                       0 or 1 */
} ir_attr_data;

typedef struct ir_value_data {
  ir_type type;
  ir_op op;        /* that has it as a result; IR_NONE: a block argument */
  ir_block block;  /* whose argument it is; IR_NONE: a result */
  uint32_t index;  /* among the results or arguments */
  ir_str location; /* block arguments: their loc(...) text, IR_NONE if none */
} ir_value_data;

typedef struct ir_op_data {
  uint16_t kind;  /* ir_kind */
  ir_str name;    /* UNKNOWN: the full name */
  ir_block block; /* that it stands in */
  uint32_t n_operands, n_results, n_attrs, n_regions;
  ir_value *operands;
  ir_value first_result; /* results have consecutive ids */
  ir_named_attr *attrs;
  ir_block *regions; /* IR_NONE: an empty region */
  ir_block whole;    /* of a weir.loop: its body as one trip, or IR_NONE (split/loops.h) */
  ir_str location;   /* loc(...) verbatim, without "loc(" and ")"; IR_NONE if none */
} ir_op_data;

typedef VEC(ir_op) ir_ops;
typedef VEC(ir_value) ir_values;

typedef struct ir_block_data {
  ir_op parent; /* the op whose region it is */
  VEC(ir_value) args;
  ir_ops ops;
} ir_block_data;

typedef struct ir_intern ir_intern;

typedef struct ir_module {
  ctx *ctx;
  arena *arena;
  ir_op root; /* the builtin.module op */
  VEC(ir_type_data) types;
  VEC(ir_attr_data) attrs;
  VEC(ir_value_data) values;
  VEC(ir_op_data) ops;
  VEC(ir_block_data) blocks;
  VEC(struct {
    const char *text;
    uint32_t length;
  })
  strs;
  ir_intern *intern;
} ir_module;

/* ---- module.c: making and looking up ---- */
ir_module *ir_module_create(
    ctx *c); /* has an arena of its own; an empty builtin.module with one block is its root */
void ir_module_destroy(ir_module *m);
ir_module *ir_module_clone(const ir_module *m); /* same ids */
/* A clone in m's place, in no more memory than it takes: arrays that grew leave as much behind. */
ir_module *ir_module_compacted(ir_module *m);
/* An empty module with the names, types and attributes of another, by the same ids. It must not
 * outlive that one. */
ir_module *ir_module_borrow(const ir_module *from);

static inline const ir_type_data *ir_type_get(const ir_module *m, ir_type t) {
  assert(t < m->types.count);
  return &m->types.at[t];
}
static inline const ir_attr_data *ir_attr_get(const ir_module *m, ir_attr a) {
  assert(a < m->attrs.count);
  return &m->attrs.at[a];
}
static inline ir_value_data *ir_value_get(const ir_module *m, ir_value v) {
  assert(v < m->values.count);
  return &m->values.at[v];
}
/* These pointers are good until the next op or block is made. */
static inline ir_op_data *ir_op_get(const ir_module *m, ir_op o) {
  assert(o < m->ops.count);
  return &m->ops.at[o];
}
static inline ir_block_data *ir_block_get(const ir_module *m, ir_block b) {
  assert(b < m->blocks.count);
  return &m->blocks.at[b];
}

ir_str ir_intern_text(ir_module *m, const char *text, size_t length);
static inline ir_str ir_intern_string(ir_module *m, const char *text) {
  return ir_intern_text(m, text, strlen(text));
}
static inline const char *ir_text(const ir_module *m, ir_str s) {
  assert(s < m->strs.count);
  return m->strs.at[s].text;
} /* NUL-terminated; "" for IR_NONE */
static inline size_t ir_text_length(const ir_module *m, ir_str s) { return m->strs.at[s].length; }

/* op table */
ir_kind ir_kind_find(const char *name, size_t length); /* IR_OP_UNKNOWN if not in the table */
const char *ir_kind_name(ir_kind kind);                /* "stablehlo.add" */
int ir_kind_flags(ir_kind kind);
int ir_kind_types(ir_kind kind); /* of the operand: 1 << ir_dtype_class, ored */
static inline bool ir_is_elementwise(ir_kind kind) { return ir_kind_flags(kind) & IR_FLAG_E; }
static inline bool ir_is_monoid(ir_kind kind) { return ir_kind_flags(kind) & IR_FLAG_O; }
static inline bool ir_is_bitwise(ir_kind kind) { return ir_kind_flags(kind) & IR_FLAG_S; }
/* The same elements elsewhere, of one operand. */
static inline bool ir_is_move(ir_kind kind) {
  return kind == IR_OP_BROADCAST_IN_DIM || kind == IR_OP_TRANSPOSE || kind == IR_OP_RESHAPE;
}
/* The op that "chlo.broadcast_OP" is after its broadcasts; IR_OP_UNKNOWN: it is none of these. */
ir_kind ir_explicit_kind(ir_kind kind);
static inline ir_kind ir_kind_of(const ir_module *m, ir_op o) { return (ir_kind)m->ops.at[o].kind; }
const char *ir_op_name(const ir_module *m, ir_op o); /* also of unknown ones */
const char *ir_mnemonic(const char *name);           /* without the dialect: "add" */

/* element types */
ir_dtype ir_dtype_find(const char *name, size_t length); /* IR_DTYPE_NONE if not in the table */
const char *ir_dtype_name(ir_dtype d);
int64_t ir_dtype_bytes(ir_dtype d);
int ir_dtype_bits(ir_dtype d); /* as the specification counts them: of i1 one, of i4 four */
ir_dtype_class ir_dtype_class_of(ir_dtype d);
static inline bool ir_is_float(ir_dtype d) { return ir_dtype_class_of(d) == IR_CLASS_FLOAT; }
static inline bool ir_is_complex(ir_dtype d) { return ir_dtype_class_of(d) == IR_CLASS_COMPLEX; }
/* Of a complex number's parts; of others it is themselves. */
static inline ir_dtype ir_real_dtype(ir_dtype d) {
  return d == IR_C64 ? IR_F32 : d == IR_C128 ? IR_F64 : d;
}
static inline bool ir_is_signed(ir_dtype d) { return ir_dtype_class_of(d) == IR_CLASS_INT; }
static inline bool ir_is_integer(ir_dtype d) { /* but for truth values */
  return ir_is_signed(d) || ir_dtype_class_of(d) == IR_CLASS_UINT;
}
/* The numbers that an integer type has, as far as int64_t has them. */
int64_t ir_lowest(ir_dtype d);
int64_t ir_highest(ir_dtype d);
static inline bool ir_fits_i64(ir_dtype d) { return ir_is_integer(d) && d != IR_UI64; }
/* f32 and f64; and these with the two types of 16 bits. */
static inline bool ir_is_real(ir_dtype d) { return d == IR_F32 || d == IR_F64; }
static inline bool ir_is_common_float(ir_dtype d) {
  return ir_is_real(d) || d == IR_F16 || d == IR_BF16;
}

/* types */
ir_type ir_tensor(ir_module *m, ir_dtype dtype, int32_t rank, const int64_t *dims);
ir_type ir_type_intern(ir_module *m, const ir_type_data *data); /* copies what data points to */
ir_type ir_scalar(ir_module *m, ir_dtype dtype);                /* tensor<dtype> */
ir_type ir_attr_scalar(ir_module *m, ir_dtype dtype); /* plain `i64`, the type of an attribute */
/* The same dimensions and encoding, of another element type. */
ir_type ir_tensor_with_dtype(ir_module *m, ir_type t, ir_dtype dtype);
/* The same element type and encoding, dimension `dim` of length `size`. */
ir_type ir_tensor_with_dim(ir_module *m, ir_type t, int32_t dim, int64_t size);
/* So many of it, along a new first dimension. */
ir_type ir_tensor_stacked(ir_module *m, ir_type t, int64_t count);
ir_type ir_tensor_without_dim(ir_module *m, ir_type t, int64_t dim);
/* The next dimensions, from *i and *j on, that are longer than 1 in either type; true if they are
 * as long as one another. A reshape that adds and drops only ones has all of them so. */
bool ir_next_same_dim(const ir_type_data *from, const ir_type_data *to, int32_t *i, int32_t *j);
/* Tensors of as many dimensions, as long. */
bool ir_same_dims(const ir_type_data *a, const ir_type_data *b);
int32_t ir_longest_dim(const ir_type_data *t); /* of equal ones the first; 0 of a scalar */
bool ir_is_static_tensor(
    const ir_module *m,
    ir_type t); /* a tensor of a known element type without dynamic dims or encoding */
static inline int64_t ir_element_count(const ir_module *m, ir_type t) { /* saturates at INT64_MAX */
  return ir_type_get(m, t)->elements;
}
/* Bytes of a tensor or of all of a tuple's members, saturating at INT64_MAX; 0 for tokens and what
 * we don't know. */
static inline int64_t ir_type_bytes(const ir_module *m, ir_type t) {
  return ir_type_get(m, t)->bytes;
}

/* attributes */
ir_attr ir_attr_new(ir_module *m, const ir_attr_data *data); /* copies what data points to */
/* By content: attributes are not interned. */
bool ir_attr_equal(const ir_module *m, ir_attr a, ir_attr b);
bool ir_attrs_equal(const ir_module *m, ir_op a, ir_op b);         /* all of two ops, in order */
int64_t ir_dense_bytes(const ir_module *m, const ir_attr_data *d); /* of its data */
ir_attr ir_attr_int(ir_module *m, int64_t value, ir_dtype dtype);
ir_attr ir_attr_bool(ir_module *m, bool value);
ir_attr ir_attr_i64s(ir_module *m, const int64_t *values, int32_t count);
ir_attr ir_attr_string(ir_module *m, const char *text);
ir_attr ir_attr_other(ir_module *m, const char *text);
ir_attr ir_attr_dense(ir_module *m, ir_type type, const void *data, bool splat);
/* By name; IR_NONE if the op has none of that name. */
ir_attr ir_op_attr(const ir_module *m, ir_op o, const char *name);
/* Its data; NULL where there is none of this name and kind. */
const ir_attr_data *ir_op_attr_of(const ir_module *m, ir_op o, const char *name, ir_attr_kind kind);
int64_t ir_op_int(const ir_module *m, ir_op o, const char *name, int64_t otherwise);
bool ir_op_bool(const ir_module *m, ir_op o, const char *name, bool otherwise);
/* The numbers of an I64S, BOOLS or integer DENSE attribute or of an ARRAY of INTs; *out_count = -1
 * and NULL if absent or of another kind. */
const int64_t *ir_op_ints(ir_module *m, ir_op o, const char *name, int32_t *out_count);
const char *ir_op_string(const ir_module *m, ir_op o,
                         const char *name); /* STRING, SYMBOL or OTHER; NULL if absent */
/* The entry of a DICT by name; IR_NONE if it has none, or is IR_NONE or of another kind. */
ir_attr ir_dict_get(const ir_module *m, ir_attr dict, const char *name);
/* Of a function's argument; IR_NONE if it has none of that name. */
ir_attr ir_argument_attr(const ir_module *m, ir_op function, uint32_t index, const char *name);
void ir_op_set_attr(ir_module *m, ir_op o, const char *name, ir_attr value, bool property);
void ir_op_drop_attr(ir_module *m, ir_op o, const char *name);

/* ops, values, blocks */
typedef struct ir_op_desc { /* what a new op is made of; all is copied */
  ir_kind kind;
  const char *name; /* UNKNOWN only */
  uint32_t n_operands, n_results, n_attrs, n_regions;
  const ir_value *operands;
  const ir_type *result_types;
  const ir_named_attr *attrs;
  ir_str location;
} ir_op_desc;
/* Appends the op to `block` (IR_NONE: nowhere yet). Its regions are made empty; fill them with
 * ir_region_block(). */
ir_op ir_op_new(ir_module *m, ir_block block, const ir_op_desc *desc);
/* The same op once more, with operands and attributes but for result types and regions' contents:
 * what the caller changes of it. */
ir_op_desc ir_op_desc_of(const ir_module *m, ir_op op);
/* The block becomes a loop's body as one trip: no region of it, but below it. */
void ir_whole_set(ir_module *m, ir_op loop, ir_block block);
ir_block ir_region_block(ir_module *m, ir_op op,
                         uint32_t region); /* makes the region's block; parent = op */
ir_block ir_block_new(ir_module *m);       /* belongs to no op yet */
void ir_region_set(ir_module *m, ir_op op, uint32_t region,
                   ir_block block);                                /* gives the block to the op */
ir_value ir_block_arg(ir_module *m, ir_block block, ir_type type); /* appends an argument */
/* Of the op's operands, the block's arguments, those stay that `keep` has by index. */
void ir_keep_operands(ir_module *m, ir_op op, const bool *keep);
void ir_keep_arguments(ir_module *m, ir_block block, const bool *keep);
void ir_block_append(ir_module *m, ir_block block, ir_op op);
/* Takes all ops out of the block and returns them, so that the block can be filled anew while they
 * are read. */
ir_ops ir_take_ops(ir_module *m, ir_block block);
static inline ir_value ir_result(const ir_module *m, ir_op o, uint32_t i) {
  return m->ops.at[o].first_result + i;
}
static inline ir_value ir_operand(const ir_module *m, ir_op o, uint32_t i) {
  assert(i < m->ops.at[o].n_operands);
  return m->ops.at[o].operands[i];
}
/* for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++): an op's operands, and likewise its
 * results and the ops and arguments of a block; IR_NONE: there are no more. What is appended
 * meanwhile comes, too. */
static inline ir_value ir_operand_at(const ir_module *m, ir_op o, uint32_t i) {
  return i < m->ops.at[o].n_operands ? m->ops.at[o].operands[i] : IR_NONE;
}
static inline ir_value ir_result_at(const ir_module *m, ir_op o, uint32_t i) {
  return i < m->ops.at[o].n_results ? m->ops.at[o].first_result + i : IR_NONE;
}
static inline ir_value ir_argument_at(const ir_module *m, ir_block b, uint32_t i) {
  return i < m->blocks.at[b].args.count ? m->blocks.at[b].args.at[i] : IR_NONE;
}
static inline ir_op ir_op_at(const ir_module *m, ir_block b, uint32_t i) {
  return i < m->blocks.at[b].ops.count ? m->blocks.at[b].ops.at[i] : IR_NONE;
}
static inline ir_op ir_listed(const ir_ops *ops, uint32_t i) { /* of a list */
  return i < ops->count ? ops->at[i] : IR_NONE;
}
/* Likewise of a block's ops but the last, which ends it. */
static inline ir_op ir_body_op_at(const ir_module *m, ir_block b, uint32_t i) {
  return i + 1 < m->blocks.at[b].ops.count ? m->blocks.at[b].ops.at[i] : IR_NONE;
}
/* The op that makes v, if it is of this kind; IR_NONE: it is not, or v is an argument. */
static inline ir_op ir_maker(const ir_module *m, ir_value v, ir_kind kind) {
  ir_op op = ir_value_get(m, v)->op;
  return op && ir_kind_of(m, op) == kind ? op : IR_NONE;
}
/* The block that the value is an argument of, or made in. */
static inline ir_block ir_value_block(const ir_module *m, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  return d->op ? m->ops.at[d->op].block : d->block;
}
static inline bool ir_is_made_in(const ir_module *m, ir_value v, ir_block block) {
  ir_op op = ir_value_get(m, v)->op;
  return op && m->ops.at[op].block == block;
}
static inline ir_type ir_type_of(const ir_module *m, ir_value v) {
  return ir_value_get(m, v)->type;
}
static inline const ir_type_data *ir_type_at(const ir_module *m, ir_value v) {
  return &m->types.at[ir_type_of(m, v)];
}
static inline int64_t ir_dim_of(const ir_module *m, ir_value v, int64_t dim) {
  return ir_type_at(m, v)->dims[dim];
}
static inline int64_t ir_value_bytes(const ir_module *m, ir_value v) {
  return ir_type_bytes(m, ir_type_of(m, v));
}
/* Of a tensor; 0: it is none. */
static inline int64_t ir_elements(const ir_module *m, ir_value v) {
  return ir_type_at(m, v)->kind == IR_TYPE_TENSOR ? ir_element_count(m, ir_type_of(m, v)) : 0;
}
static inline ir_block ir_body(const ir_module *m, ir_op op) { /* its first region */
  return m->ops.at[op].regions[0];
}
/* for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));): the blocks of its regions. */
static inline ir_block ir_next_block(const ir_module *m, ir_op op, uint32_t *r) {
  ir_block block = IR_NONE;
  while (!block && *r < m->ops.at[op].n_regions) block = m->ops.at[op].regions[(*r)++];
  return block;
}
/* The op whose region the op stands in; IR_NONE: none, or it is in no block. */
static inline ir_op ir_op_around(const ir_module *m, ir_op op) {
  ir_block block = m->ops.at[op].block;
  return block ? m->blocks.at[block].parent : IR_NONE;
}
static inline ir_op ir_terminator(const ir_module *m, ir_block b) {
  return m->blocks.at[b].ops.at[m->blocks.at[b].ops.count - 1];
}
static inline ir_value ir_argument(const ir_module *m, ir_block b, uint32_t i) {
  return m->blocks.at[b].args.at[i];
}
static inline ir_value ir_yielded(const ir_module *m, ir_block b, uint32_t i) {
  return m->ops.at[ir_terminator(m, b)].operands[i];
}
/* Argument i of a while's body is what the body yields there: every trip hands it on as it is. */
static inline bool ir_is_handed_on(const ir_module *m, ir_block body, uint32_t i) {
  return ir_yielded(m, body, i) == m->blocks.at[body].args.at[i];
}
static inline ir_block ir_while_body(const ir_module *m, ir_op loop) {
  return m->ops.at[loop].regions[1];
}
/* What its branches read of blocks around it is none of its operands. */
static inline bool ir_is_branching(const ir_module *m, ir_op op) {
  ir_kind kind = (ir_kind)m->ops.at[op].kind;
  return kind == IR_OP_CASE || kind == IR_OP_IF;
}
/* Carries of a loop that nobody needs may go one by one: attributes of a while may list all. */
static inline bool ir_has_own_carries(const ir_module *m, ir_op op) {
  ir_kind kind = (ir_kind)m->ops.at[op].kind;
  return kind == IR_OP_LOOP || (kind == IR_OP_WHILE && !m->ops.at[op].n_attrs);
}
/* The module's functions. */
static inline ir_block ir_top(const ir_module *m) { return m->ops.at[m->root].regions[0]; }
ir_op ir_find_function(const ir_module *m, const char *name); /* IR_NONE if there is none */
/* IR_NONE: a declaration, whose body is elsewhere. */
ir_block ir_function_body(const ir_module *m, ir_op function);
/* "main", else the only public function; IR_NONE if there is none or it is a declaration. */
ir_op ir_main_function(const ir_module *m);

/* ---- build.c: short spellings for the ops that rewrites make; result types are derived. All
 * append to b->block. ---- */
typedef struct ir_map ir_map; /* walk.c */
typedef struct ir_builder {
  ir_module *m;
  ir_block block;
  ir_str location; /* given to every op made */
} ir_builder;

ir_op ir_build_op(ir_builder *b, ir_kind kind, uint32_t n_operands, const ir_value *operands,
                  uint32_t n_results, const ir_type *types, uint32_t n_attrs,
                  const ir_named_attr *attrs, uint32_t n_regions);
/* An op of one result and no region. */
ir_value ir_build(ir_builder *b, ir_kind kind, uint32_t n, const ir_value *operands, ir_type type,
                  uint32_t n_attrs, const ir_named_attr *attrs);
ir_named_attr ir_property(ir_module *m, const char *name, ir_attr value);
ir_value ir_build_unary(ir_builder *b, ir_kind kind, ir_value x);
ir_value ir_build_binary(ir_builder *b, ir_kind kind, ir_value x, ir_value y);
static inline ir_value ir_build_add(ir_builder *b, ir_value x, ir_value y) {
  return ir_build_binary(b, IR_OP_ADD, x, y);
}
static inline ir_value ir_build_subtract(ir_builder *b, ir_value x, ir_value y) {
  return ir_build_binary(b, IR_OP_SUBTRACT, x, y);
}
static inline ir_value ir_build_multiply(ir_builder *b, ir_value x, ir_value y) {
  return ir_build_binary(b, IR_OP_MULTIPLY, x, y);
}
ir_value ir_build_compare(ir_builder *b, const char *direction, ir_value x,
                          ir_value y); /* "EQ", "LT", ...; the type follows the element type */
ir_value ir_build_select(ir_builder *b, ir_value pred, ir_value on_true, ir_value on_false);
/* Integers, no lower and no higher than these. */
ir_value ir_build_clamped(ir_builder *b, ir_value x, int64_t low, int64_t high);
ir_value ir_build_convert(ir_builder *b, ir_value x, ir_dtype dtype);
ir_value ir_build_splat_int(ir_builder *b, ir_type type,
                            int64_t value);          /* constant; any element type */
ir_value ir_build_int(ir_builder *b, int64_t value); /* a scalar of i64 */
ir_value ir_build_int_like(ir_builder *b, ir_value like, int64_t value); /* of its type */
ir_value ir_build_splat_real(ir_builder *b, ir_type type, double value);
/* The one element everywhere. */
ir_value ir_build_constant(ir_builder *b, ir_type type, const void *element);
/* x + it == x, to the bit: 0 of integers, -0.0 of floats, in both parts of complex numbers. Not of
 * floats of a byte that have no -0. */
ir_value ir_build_neutral_of_sum(ir_builder *b, ir_type type);
/* A broadcast of 0; not of f8E8M0FNU, which has none. */
ir_value ir_build_zeros(ir_builder *b, ir_type type);
ir_value ir_build_iota(ir_builder *b, ir_type type, int64_t dim);
ir_value ir_build_broadcast(ir_builder *b, ir_value x, ir_type type,
                            const int64_t *dims); /* rank(x) dims */
/* x, which has no such dimension, or one element along it: that at all places along it. */
ir_value ir_build_along(ir_builder *b, ir_value x, ir_type type, int64_t dim);
/* Result dimension i is dimension permutation[i] of x; x itself if that changes nothing. */
ir_value ir_build_transpose(ir_builder *b, ir_value x, const int64_t *permutation);
ir_value ir_build_reshape(ir_builder *b, ir_value x, ir_type type);
/* starts: rank scalars; sizes: rank. */
ir_value ir_build_dynamic_slice(ir_builder *b, ir_value x, const ir_value *starts,
                                const int64_t *sizes);
ir_value ir_build_dynamic_update_slice(ir_builder *b, ir_value x, ir_value update,
                                       const ir_value *starts);
/* [at, at + length) of one dimension, all of the others; `at` is an integer. */
ir_value ir_build_part(ir_builder *b, ir_value x, int64_t dim, ir_value at, int64_t length);
/* x with such a part put there. */
ir_value ir_build_with_part(ir_builder *b, ir_value x, ir_value part, int64_t dim, ir_value at);
/* Of a stack (ir_tensor_stacked()) what lies at `at`, of this type; and the stack with v put there.
 */
ir_value ir_build_stacked_at(ir_builder *b, ir_value stack, ir_value at, ir_type type);
ir_value ir_build_with_stacked(ir_builder *b, ir_value stack, ir_value v, ir_value at);
ir_value ir_build_slice(ir_builder *b, ir_value x, const int64_t *start, const int64_t *limit,
                        const int64_t *strides);
/* [at, at + length) of one dimension, all of the others. */
ir_value ir_build_slice_dim(ir_builder *b, ir_value x, int64_t dim, int64_t at, int64_t length);
/* fill: a scalar; gaps: how many of them between two elements. */
ir_value ir_build_pad_with_gaps(ir_builder *b, ir_value x, ir_value fill, const int64_t *low,
                                const int64_t *high, const int64_t *gaps);
ir_value ir_build_pad(ir_builder *b, ir_value x, ir_value fill, const int64_t *low,
                      const int64_t *high);
/* Where dimensions i and j of this type are at the same index. */
ir_value ir_build_is_diagonal(ir_builder *b, ir_type type, int64_t i, int64_t j);
/* Along dim of x the element at each of the positions. */
ir_value ir_build_take_along(ir_builder *b, ir_value x, ir_value positions, int64_t dim);
/* The op's region 0 becomes a reducer of two scalars by this kind. */
void ir_build_reducer(ir_builder *b, ir_op op, ir_kind kind, ir_dtype dtype);
/* Reduced by `kind` over `count` dimensions (ascending) from this initial scalar. */
ir_value ir_build_reduce(ir_builder *b, ir_kind kind, ir_value x, ir_value init,
                         const int64_t *dims, int32_t count);
/* 0, 1, 2, ..: all dimensions, in order. */
extern const int64_t ir_all_dims[IR_MAX_RANK];
/* Sums over `count` dimensions (ascending), from 0. */
ir_value ir_build_sum(ir_builder *b, ir_value x, const int64_t *dims, int32_t count);
ir_value ir_build_concatenate(ir_builder *b, const ir_value *xs, uint32_t count, int64_t dim);
typedef struct ir_text_entry {
  const char *name, *text;
} ir_text_entry;
/* The op once more, at the builder's place, with these operands and result types. */
ir_op ir_build_again(ir_builder *b, ir_op op, const ir_value *operands, const ir_type *types);
/* A call of XLA's typed FFI, with texts as its attributes. Returns the op. */
ir_op ir_build_ffi_call(ir_builder *b, const char *target, const ir_value *operands,
                        uint32_t n_operands, const ir_type *results, uint32_t n_results,
                        const ir_text_entry *entries, uint32_t n_entries);
/* A function of the module with a block that has its arguments. types: of arguments, then results.
 */
ir_op ir_build_function(ir_module *m, const char *name, const ir_type *types, uint32_t n_arguments,
                        uint32_t n_results);
/* x in memory once, however many users it has: through a call that XLA may not inline; through an
 * optimization_barrier. XLA CPU drops these before it fuses, and then makes what is cheap anew for
 * each user; XLA for GPUs and TPUs drops them behind it. */
ir_value ir_build_kept(ir_builder *b, ir_value x);
ir_value ir_build_barrier(ir_builder *b, ir_value x);
/* The same of x, which XLA knows no sooner than the other value. */
ir_value ir_build_after(ir_builder *b, ir_value x, ir_value other);
/* x, of rank 2 or more, for which XLA may choose no other layout than row by row. */
ir_value ir_build_by_rows(ir_builder *b, ir_value x);
void ir_build_return(ir_builder *b, ir_kind kind, const ir_value *values, uint32_t count);
/* A while that carries `count` values, its two blocks with nothing but their arguments. */
ir_op ir_build_while(ir_builder *b, const ir_value *init, uint32_t count);
/* In the place of a while without attributes, whose blocks it takes: one without carry `gone`,
 * which the caller sees to that nothing reads (IR_NO_CARRY: with all of them), and with n more
 * behind the others, which are handed on as they are. In map: what the results are now. */
enum { IR_NO_CARRY = INT32_MAX };
ir_op ir_build_while_with(ir_builder *b, ir_op loop, uint32_t gone, const ir_value *more,
                          uint32_t n, ir_map *map);
/* Its condition: the first value, a counter, is below the number. */
void ir_build_while_below(ir_module *m, ir_op loop, int64_t trips);
/* Its condition: of what it carries, one number is below another. */
void ir_build_while_less(ir_module *m, ir_op loop, uint32_t counter, uint32_t end);

/* ---- walk.c ---- */
/* Copies `op` with its regions to the end of `to`; map[old value] = new value, read for operands
 * (an unmapped value stands for itself) and extended by results and block arguments. */
ir_map *ir_map_new(arena *a, const ir_module *m);
ir_value ir_map_get(const ir_map *map, ir_value v); /* v itself if unmapped */
bool ir_map_has(const ir_map *map, ir_value v);
void ir_map_set(ir_map *map, ir_value from, ir_value to);
/* What `last`, the op that ends a body, returns stands for the results of `op`. */
void ir_map_results(ir_map *map, const ir_module *m, ir_op op, ir_op last);
/* What n values are now; the types of n values. */
ir_value *ir_map_all(arena *a, const ir_map *map, const ir_value *values, uint32_t n);
ir_type *ir_types_of(arena *a, const ir_module *m, const ir_value *values, uint32_t n);
ir_op ir_copy_op(ir_module *m, ir_block to, ir_op op, ir_map *map);
/* The same of an op of `from`, whose names, types and attributes m has by the same ids. */
ir_op ir_copy_op_from(const ir_module *from, ir_module *m, ir_block to, ir_op op, ir_map *map);
/* Gives `to` copies of the regions of `from`. */
void ir_copy_regions(ir_module *m, ir_op from, ir_op to);
void ir_copy_block(ir_module *m, ir_block from, ir_block to, ir_map *map); /* the ops only */
/* Of these those before the last; only: by op, NULL: all. */
void ir_copy_body(ir_module *m, ir_block from, ir_block to, const bool *only, ir_map *map);
/* The ops of a block and all below these, in order, parents first; or an op and all below it:
 *   for (ir_walk w = ir_walk_block(m, block); ir_next(&w);) .. w.op ..
 * What is appended meanwhile comes, too. */
enum { IR_WALK_DEPTH = 4 }; /* deeper levels take memory of the module */
typedef struct ir_walk_level {
  ir_block block; /* ops of it are next, from `next` on, */
  uint32_t next;
  ir_op op; /* once regions of this one from `region` on are done */
  uint32_t region;
} ir_walk_level;
typedef struct ir_walk {
  const ir_module *m;
  ir_op op, first;
  ir_block block;
  uint32_t next;
  uint32_t depth; /* of op, below where the walk began */
  ir_walk_level above[IR_WALK_DEPTH];
  VEC(ir_walk_level) deeper;
} ir_walk;
ir_walk ir_walk_block(const ir_module *m, ir_block block);
ir_walk ir_walk_op(const ir_module *m, ir_op op);
bool ir_next(ir_walk *w); /* false: that was all */
/* Whether `is` holds of one that is still to come. */
bool ir_any(ir_walk w, bool (*is)(const ir_module *m, ir_op op));
/* The block stands, at any depth, in a region of an op of this kind. */
bool ir_is_within(const ir_module *m, ir_block block, ir_kind kind);
/* Whether the types of all operands and results of the op are such. */
bool ir_all_types(const ir_module *m, ir_op op, bool (*is)(const ir_module *, ir_type));
uint32_t ir_count_below(const ir_module *m, ir_op op); /* ops in its regions, and below */
/* How often each value is an operand in the block and below, by value. */
uint32_t *ir_count_uses(arena *a, const ir_module *m, ir_block block);
/* Adds those of the op and of all below it. */
void ir_count_uses_of(const ir_module *m, ir_op op, uint32_t *uses);
/* Adds what is read, directly or by way of others, by those of the block's first `end` ops that
 * make a value that has uses already: one walk backwards. */
void ir_count_needed(const ir_module *m, ir_block block, uint32_t end, uint32_t *uses);
/* Whether making v, a value of the block, takes `of`. */
bool ir_is_made_of(arena *scratch, const ir_module *m, ir_block block, ir_value v, ir_value of);
/* Of the op's results, the bytes of the largest. */
int64_t ir_largest_bytes(const ir_module *m, ir_op op);
/* Whether any result of the op has one, by ir_count_uses(). */
bool ir_has_uses(const ir_module *m, ir_op op, const uint32_t *uses);
/* Ops whose results nobody in the block reads go; its last op stays. */
void ir_drop_unused(ir_module *m, ir_block block);
bool ir_is_used_in(const ir_module *m, ir_block block, ir_value v);
/* The op or one below it has v as an operand. */
bool ir_reads(const ir_module *m, ir_op op, ir_value v);
bool ir_reads_any(const ir_module *m, ir_op op, const bool *of); /* by value, of all that are */
/* The op's operands become what the map has for them. */
void ir_rename_operands(ir_module *m, ir_op op, const ir_map *map);
void ir_rename_within(ir_module *m, ir_op op, const ir_map *map); /* and of those below it */
/* Replaces uses in the block and below. */
void ir_replace_uses(ir_module *m, ir_block block, const ir_map *map);

/* Whether the op, or one below it, must be kept, kept in order and never run twice: flag X, and
 * calls, but a custom_call only if it says has_side_effect. */
bool ir_has_effects(const ir_module *m, ir_op op);
bool ir_has_own_effects(const ir_module *m, ir_op op); /* not those of ops below it */

/* Users of each value of a block, counting a use anywhere below an op as a use by that op of the
 * block. */
typedef struct ir_users {
  uint32_t *first; /* by value id: users are ops[first[v] .. first[v + 1]) */
  ir_op *ops;      /* in block order, each op once per value */
} ir_users;
ir_users ir_users_of_block(arena *scratch, const ir_module *m, ir_block block);
/* for (ir_op user, i = 0; (user = ir_user_at(&users, v, i)); i++) */
static inline ir_op ir_user_at(const ir_users *u, ir_value v, uint32_t i) {
  assert(u->first[v] <= u->first[v + 1]);
  return u->first[v] + i < u->first[v + 1] ? u->ops[u->first[v] + i] : IR_NONE;
}

/* ---- verify.c ---- */
/* The invariants of the head comment; the first violation is the context's message with the op's
 * name and location (INVALID_ARGUMENT). */
WEIR_MUST_USE weir_status ir_verify(const ir_module *m);
/* The op's types and attributes are as its own rule in the op table wants them. No call: its rule
 * asks for the module's functions. */
bool ir_obeys_rule(const ir_module *m, ir_op op);

#endif
