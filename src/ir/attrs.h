/* Decoded forms of the dialect attributes that we know (kept as text in the IR), and their
 * encoders. A decoder returns false where the op lacks the attribute or it does not read; arrays
 * are in the scratch arena and never NULL. Source: StableHLO specification. */
#ifndef WEIR_IR_ATTRS_H
#define WEIR_IR_ATTRS_H
#include "ir/ir.h"

typedef struct ir_ints {
  int32_t count;
  const int64_t *at;
} ir_ints;

/* The place of x in the list; -1 if it is not there. */
static inline int32_t ir_ints_find(ir_ints v, int64_t x) {
  for (int32_t i = 0; i < v.count; i++)
    if (v.at[i] == x) return i;
  return -1;
}
static inline bool ir_ints_have(ir_ints v, int64_t x) { return ir_ints_find(v, x) >= 0; }
/* Every entry is x; of an empty list, too. */
static inline bool ir_ints_all(ir_ints v, int64_t x) {
  for (int32_t i = 0; i < v.count; i++)
    if (v.at[i] != x) return false;
  return true;
}
/* 0, 1, 2, ... */
static inline bool ir_ints_count_up(ir_ints v) {
  for (int32_t i = 0; i < v.count; i++)
    if (v.at[i] != i) return false;
  return true;
}
/* The others, in out. */
ir_ints ir_ints_without(ir_ints v, int64_t x, int64_t *out);
static inline bool ir_ints_same(ir_ints a, ir_ints b) {
  return a.count == b.count &&
         (a.count == 0 || !memcmp(a.at, b.at, (size_t)a.count * sizeof *a.at));
}
/* ir_op_ints() as a list: empty where the attribute is absent or of another kind. */
ir_ints ir_op_list(const ir_module *m, ir_op op, const char *name);
/* Its entry i; `otherwise` where there is none. */
int64_t ir_op_entry(const ir_module *m, ir_op op, const char *name, int64_t i, int64_t otherwise);

/* What the attributes of a weir.loop say (split/loops.h); the arrays, by input and by result, live
 * in the module. */
typedef struct ir_loop {
  int64_t extent, slice, trips;
  uint32_t n_inputs, n_results, n_carries;
  const int64_t *in_dims, *in_units, *out_dims, *out_units;
} ir_loop;
ir_loop ir_loop_get(const ir_module *m, ir_op op);

typedef struct ir_dot_numbers {
  ir_ints lhs_batch, rhs_batch, lhs_contract, rhs_contract;
} ir_dot_numbers;
/* Of one side: 0 or 1. */
static inline ir_ints ir_dot_batch(const ir_dot_numbers *n, uint32_t side) {
  return side ? n->rhs_batch : n->lhs_batch;
}
static inline ir_ints ir_dot_contract(const ir_dot_numbers *n, uint32_t side) {
  return side ? n->rhs_contract : n->lhs_contract;
}

/* Neither a batch dimension of the side nor a contracted one. */
static inline bool ir_dot_is_free(const ir_dot_numbers *n, uint32_t side, int64_t dim) {
  return !ir_ints_have(ir_dot_batch(n, side), dim) && !ir_ints_have(ir_dot_contract(n, side), dim);
}

/* The lengths of the product's dimensions: batch, free ones of lhs, free ones of rhs; how many. */
int32_t ir_dot_result_dims(const ir_type_data *lhs, const ir_type_data *rhs,
                           const ir_dot_numbers *n, int64_t *out_dims);

typedef struct ir_gather_numbers {     /* of gather; scatter uses the same fields under the names in
                                          brackets */
  ir_ints offset_dims;                 /* [update_window_dims] */
  ir_ints collapsed_slice_dims;        /* [inserted_window_dims] */
  ir_ints operand_batching_dims;       /* [input_batching_dims] */
  ir_ints start_indices_batching_dims; /* [scatter_indices_batching_dims] */
  ir_ints start_index_map;             /* [scatter_dims_to_operand_dims] */
  int64_t index_vector_dim;
} ir_gather_numbers;

typedef struct ir_conv_numbers {
  int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch,
      output_feature;
  ir_ints input_spatial, kernel_spatial, output_spatial;
} ir_conv_numbers;

typedef enum ir_direction { IR_EQ, IR_NE, IR_GE, IR_GT, IR_LE, IR_LT } ir_direction;
/* x d y is y mirrored(d) x. */
static inline ir_direction ir_mirrored(ir_direction d) {
  return d == IR_LT ? IR_GT : d == IR_GT ? IR_LT : d == IR_LE ? IR_GE : d == IR_GE ? IR_LE : d;
}
typedef enum ir_compare_type {
  IR_COMPARE_DEFAULT,
  IR_COMPARE_FLOAT,
  IR_COMPARE_TOTALORDER,
  IR_COMPARE_SIGNED,
  IR_COMPARE_UNSIGNED
} ir_compare_type;

/* What stands behind `key =` in a dialect attribute's text; NULL: no such key. */
const char *ir_text_value(const char *text, const char *key);
/* `[1, 2]` after `key =` in a dialect attribute's text; an absent key is the empty list. */
bool ir_text_ints(arena *scratch, const char *text, const char *key, ir_ints *out_ints);

/* In the text of dot_dimension_numbers, or of an attribute that has their names, too. */
bool ir_text_dot_dims(arena *scratch, const char *text, ir_dot_numbers *out_dims);
bool ir_dot_dims(const ir_module *m, ir_op op,
                 ir_dot_numbers *out_dims); /* dot_general's dot_dimension_numbers */
/* Of the attribute's text, for ir_attr_new(); NULL: it is another's, or does not read. */
const ir_dot_numbers *ir_decode_dot(arena *a, const char *text);
/* The matrices of a dot or dot_general: `batch` products, each rows x inner by inner x columns;
 * saturating. */
typedef struct ir_gemm {
  int64_t batch, rows, columns, inner;
} ir_gemm;
bool ir_dot_gemm(const ir_module *m, ir_op op, ir_gemm *out_gemm);
/* A gather's dimension_numbers, a scatter's scatter_dimension_numbers; and the op's become these.
 */
bool ir_gather_dims(arena *scratch, const ir_module *m, ir_op op, ir_gather_numbers *out_dims);
void ir_set_gather_dims(ir_module *m, ir_op op, const ir_gather_numbers *dims);
/* The dimension of a gather's result, of a scatter's updates, that counts what dimension `dim` of
 * the indices does; dim: not that of index vectors. */
int32_t ir_entry_dim(const ir_gather_numbers *n, int64_t dim);
bool ir_conv_dims(arena *scratch, const ir_module *m, ir_op op,
                  ir_conv_numbers *out_dims); /* convolution's dimension_numbers */
/* [b, space, f] x [space, i, o] -> [b, space, f]; output_first: the kernel as [space, o, i]. */
ir_conv_numbers ir_conv_channels_last(arena *a, int32_t spatial, bool output_first);
bool ir_conv_same_numbers(const ir_conv_numbers *a, const ir_conv_numbers *b);
bool ir_compare_kind(const ir_module *m, ir_op op, ir_direction *out_direction,
                     ir_compare_type *out_type);
/* The compare that makes v, of whatever type; IR_NONE: v is no comparison. */
ir_op ir_comparison(const ir_module *m, ir_value v, ir_direction *out_direction);
/* "EQ" of `#stablehlo<comparison_direction EQ>`: the word after the key. Returns its length; 0 if
 * absent. */
size_t ir_enum_word(const char *text, const char *key, const char **out_word);

ir_attr ir_dot_dims_attr(ir_module *m, const ir_dot_numbers *dims);
void ir_set_dot_dims(ir_module *m, ir_op op, const ir_dot_numbers *dims);
ir_attr ir_gather_dims_attr(ir_module *m, const ir_gather_numbers *dims);
ir_attr ir_scatter_dims_attr(ir_module *m, const ir_gather_numbers *dims);
ir_attr ir_conv_dims_attr(ir_module *m, const ir_conv_numbers *dims);

/* slice_sizes: one per dimension of x. */
ir_value ir_build_gather(ir_builder *b, ir_value x, ir_value indices, ir_type type,
                         const ir_gather_numbers *n, const int64_t *slice_sizes);
/* Of one array; its region is to be made. */
ir_op ir_build_scatter(ir_builder *b, ir_value x, ir_value indices, ir_value updates,
                       const ir_gather_numbers *n);
/* Of all along dim, one for each index of a line or a column; out_others: the other dimensions. */
ir_gather_numbers ir_numbers_of_rows(int32_t rank, const int64_t *dim, int64_t *out_others);
/* x[.., at, ..] at such indices; out of bounds: the nearest inside. */
ir_value ir_build_rows(ir_builder *b, ir_value x, int64_t dim, ir_value at);

/* How far a pad of known shape goes around what it pads; false: there are gaps, or less than
 * nothing. */
bool ir_pads_around(ir_module *m, ir_op pad, ir_ints *out_low, ir_ints *out_high);

/* The monoid of a reducer region: a block (lhs.., rhs..) whose single op combines argument i with
 * argument n + i. */
ir_kind ir_reducer_kind(
    const ir_module *m,
    ir_block body); /* ADD, MULTIPLY, MAXIMUM, MINIMUM, AND, OR, XOR; UNKNOWN for anything else */

/* A reducer of two scalars that gives the second: a scatter by it puts its updates in place. */
bool ir_is_putting(const ir_module *m, ir_block body);
/* Result i of a reducer region is one of the arguments, whichever, by selections, maxima and
 * minima: merging such a result with itself changes nothing. */
bool ir_is_chosen(const ir_module *m, ir_block body, uint32_t i);

/* Of a reduce_window: 1 where windows along `dim` reach from the first element to each, one step
 * apart, as in a prefix sum; -1 from the last; 0: otherwise. */
int ir_prefix_along(ir_module *m, ir_op op, int64_t dim);

/* JAX's linear algebra on CPU: whether the custom call is lapack_{s,d,c,z}ROUTINE_ffi. */
bool ir_is_lapack(const ir_module *m, ir_op op, const char *routine);
/* An integer (a character: 'L' = 76) of a custom call's (mhlo.)backend_config. */
int64_t ir_ffi_config_int(const ir_module *m, ir_op op, const char *key, int64_t otherwise);

/* Whether the i-th of a custom call's "operand_layouts" or "result_layouts" has matrices column by
 * column. */
bool ir_is_by_columns(const ir_module *m, ir_op op, const char *layouts, uint32_t i);

/* A carry of a while that grows by so much in each trip, and says when it ends. trips.c */
typedef struct ir_counter {
  uint32_t carry;
  int64_t first, by, trips;
} ir_counter;
/* False: the trips depend on data, or on more than a counter. */
bool ir_find_counter(const ir_module *m, ir_op loop, ir_counter *out);
int64_t ir_trips(const ir_module *m, ir_op loop); /* of that; -1: there is none */
/* What each trip adds to the carry; 0: nothing, or not the same. */
int64_t ir_growth(const ir_module *m, ir_op loop, uint32_t carry);
/* Likewise; where it begins or ends at what is made of the counters of whiles around it, how many
 * they are on the average (but for roundings); NaN: not known. */
double ir_mean_trips(const ir_module *m, ir_op loop);
/* Whether some while's are not known. */
bool ir_has_unknown_trips(const ir_module *m);

bool ir_is_int_scalar(const ir_module *m, ir_value v);
/* The number that an integer scalar is; false if it is no constant, or beyond int64. */
bool ir_integer_of(const ir_module *m, ir_value v, int64_t *out);

#endif
