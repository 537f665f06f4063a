/* One round of dividing a program over devices (per_device.c): what is sharded along the round's
 * axes, what stands for each value of the program, and values in the form that is wanted: whole, or
 * each device's part along a dimension. */
#ifndef WEIR_PIPELINE_DIVISION_H
#define WEIR_PIPELINE_DIVISION_H
#include "ir/shardings.h"
#include "split/factors.h"
#include "split/tile_op.h"

enum { DIVISION_WHOLE = -1 };

/* A sum of which each device has a part. */
typedef struct partial_sum {
  ir_kind kind;
  ir_value part;
  ir_value initial; /* of the program: what it begins with; IR_NONE: with nothing */
  bool *is_needed;  /* set where somebody wants the sum itself; NULL: who does not matter */
} partial_sum;

/* What stands for a value of the block that is read. */
typedef struct division_value {
  ir_value now;
  ir_value whole; /* gathered; good in its block */
  int32_t dim;    /* `now` is a device's part along it, or DIVISION_WHOLE */
  partial_sum *sum;
} division_value;

/* By dimension: the rounds that divide it, or DIVISION_WHOLE. */
enum { DIVISION_MOST = 2 };
typedef struct division_border {
  int8_t rounds[IR_MAX_RANK][DIVISION_MOST];
} division_border;

typedef struct division {
  ir_module *m;
  arena *a;
  ir_axes mesh;
  const char *mesh_name; /* as shardings name it, from '@' on */
  int32_t mesh_name_length;
  VEC(ir_axes) rounds;
  VEC(ir_axes) in_two;      /* lists of which one round has the first axes, a later one the rest */
  ir_block from, to;        /* the program, before and after the round */
  const char **given;       /* by argument: its sharding */
  division_border *entries; /* by argument */
  const char **asked;       /* by result: likewise */
  division_border *exits;   /* by result */
  int32_t round;
  ir_axes axes; /* of the round */
  int64_t parts;
  uint32_t mask;          /* its axes, as bits of the mesh's */
  uint32_t *varies;       /* by value of `from`: axes along which devices have other ones */
  division_value *values; /* of what `from` has */
  ir_map *map;            /* the same, whole */
  VEC(ir_value) sums;     /* those that are not complete */
  ir_builder b;
  ir_value number;     /* of this device along the axes; good in its block */
  int64_t most_bytes;  /* of what is gathered */
  int64_t large_bytes; /* of what every device may make whole though it is sharded: no more */
  bool is_hopeless;
} division;

/* Axes of the mesh, or parts of such, as bits: the mesh's first is the lowest. */
uint32_t division_mask(const division *d, const ir_axes *axes);
/* As the program says it; NULL: it says nothing. */
const char *division_sharding(const division *d, ir_value v);
/* Whether the sharding names axes of the mesh along the dimension. */
bool division_axes_along(const division *d, const char *sharding, int32_t dim, ir_axes *out);
/* Whether two rounds divide what is sharded along these axes. */
bool division_is_in_two(const division *d, const ir_axes *axes);
/* The dimension of v that the round divides, under that sharding. */
int32_t division_divided_dim(const division *d, ir_value v, const char *sharding);
/* Devices along the round's axes have different ones: no parts of one value. */
bool division_is_locked(const division *d, ir_value v);
/* The dimension that the round divides, under the value's own sharding. */
int32_t division_wanted_dim(const division *d, ir_value v);

/* XLA's all_reduce takes these. */
bool division_can_reduce(ir_kind kind, ir_dtype dtype);
/* The device as a trip: the one slice of as many as the axes have devices that is its own. */
split_trip division_trip(division *d);

/* The same, index by index, along a dimension of so many: a device's slice of them. */
split_trip division_slice(division *d, int64_t extent);

/* What costs less to make than to send. */
bool division_is_cheap(const ir_module *m, ir_value v);
/* Of a device's part along dim, or of all. */
ir_type division_type(const division *d, ir_value v, int32_t dim);
/* A factor that puts each device's part of the operand or result at dim, and of all others, too. */
bool division_find_factor(const division *d, ir_op op, bool of_result, uint32_t i, int32_t dim,
                          split_factor *out);

/* Of a gather or scatter whose places name that dimension of its first operand, one index after the
 * other: each device has a slice of it, and all places (split/indices.h). */
bool division_find_places(const division *d, ir_op op, int32_t dim, split_factor *out);

/* Each makes what it needs where the builder stands. part: along dim, or all. */
ir_value division_whole(division *d, ir_value v);
ir_value division_part(division *d, ir_value v, int32_t dim);
void division_complete(division *d, ir_value v); /* v is no sum of parts from here on */
ir_op division_whole_op(division *d, ir_op op);
/* trip: division_trip(), or division_slice() for a factor of single indices. */
void division_own_op(division *d, ir_op op, const split_factor *f, const split_trip *trip,
                     ir_value *out);
ir_value *division_operands(division *d, ir_op op, const split_factor *f);

void division_set(division *d, ir_value v, ir_value now, int32_t dim);
/* A new argument of `to` stands for it. */
void division_take_argument(division *d, ir_block to, ir_value arg, int32_t dim);

#endif
