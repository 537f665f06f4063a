/* Elements of a value, at places of it, made of what the value is made of. With E the elements,
 *   E(f(x, y)) = f(E(x), E(y)) for elementwise f
 *   E(broadcast, transpose, reshape by 1s, slice, iota, constant): the elements it came from
 *   E(x that merges (i, k) to i n + k) = those at i and k                            (jnp.kron)
 *   E(A . B) = sums of products of rows and columns
 *   E(sum_k x) = sum_k E(x)
 * so that the value may be one that nobody holds. Exact, but for products: their sum is done in
 * another order, 16-bit floats are summed up in f32. What is there anyway, and what is read once
 * each, in boxes, is read where it lies. Cost: a bounded number of ops, each of as many elements as
 * are read. Index rules as in ir/maps.h.
 *
 * Entries are the indices of a tensor, the elements; a place says which element each of them is.
 */
#ifndef WEIR_PASS_ELEMENTS_H
#define WEIR_PASS_ELEMENTS_H
#include "pass/build.h"

/* Which index of a dimension an entry reads. */
typedef struct pass_coordinate {
  ir_value at;                 /* i64, one an entry; IR_NONE: the entry's own: */
  int64_t along, step, offset; /* its index along a dimension * step + offset; along -1: offset */
} pass_coordinate;

typedef struct pass_place { /* of every entry, in a value; inside of it */
  pass_coordinate at[IR_MAX_RANK];
} pass_place;

typedef struct pass_known {
  ir_value value, element;
  const pass_place *where; /* as long as the picker */
} pass_known;

typedef struct pass_picker {
  pass_ctx *p;
  ir_module *m;
  int64_t small_bytes; /* values up to this size are read where they lie, at places of data */
  ir_builder b;        /* where the op that is looked at stands */
  int32_t rank;        /* of the entries */
  int64_t dims[IR_MAX_RANK];
  int32_t steps, depth; /* ops left; ops that are being looked through */
  VEC(pass_known) found;
} pass_picker;

pass_picker pass_picker_at(const pass_rewrite *r, ir_op op);

/* Where the entries of a gather or scatter are in the operand, or their windows begin; of data not
 * clamped. It sets the picker's entries; false: they can't be read. */
bool pass_find_place(pass_picker *f, const pass_entries *v, pass_place *out);
/* No index is data: what is found builds nothing. */
bool pass_counts_entries(const pass_entries *v);
/* Of a gather's result, whose indices the entries are then; clamped. */
bool pass_find_place_of_gather(pass_picker *f, ir_op op, const pass_entries *v, pass_place *out);

ir_value pass_elements(pass_picker *f, ir_value v, const pass_place *where);
/* Whether they are made of others, by an op that is seen through (data: at places of data): v is
 * not in memory anyway, as arguments are, what a loop carries, and parts of them. */
bool pass_is_made(const ir_module *m, ir_value v, bool data);

/* One coordinate, i64, by entry. */
ir_value pass_coordinate_value(pass_picker *f, const pass_coordinate *c);
/* The entries' own index, all of a dimension of this extent. */
bool pass_is_line(const pass_picker *f, const pass_coordinate *c, int64_t extent);
/* Two dimensions of v count the same index, and no data is read. */
bool pass_is_diagonal(const pass_picker *f, ir_value v, const pass_place *where);

/* Dimensions of v that entries are of, by how. */
typedef struct pass_named_dims {
  int64_t indexed[IR_MAX_RANK], batch[IR_MAX_RANK], along[IR_MAX_RANK];
  int32_t n_indexed, n_batch;
} pass_named_dims;
/* Those that are read as a whole are none of them. A diagonal has no batches. */
pass_named_dims pass_name_dims(const pass_picker *f, ir_value v, const pass_place *where,
                               ir_ints whole);
/* Of single elements along these dimensions; index vectors lie behind the entries. */
ir_gather_numbers pass_numbers_of(const pass_picker *f, const pass_named_dims *n, ir_ints offset);
/* [entries, indexed dimensions] */
ir_value pass_index_vectors(pass_picker *f, const pass_place *where, const pass_named_dims *n);

#endif
