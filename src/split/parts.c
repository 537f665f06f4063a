#include "split/parts.h"

#include "ir/attrs.h"
#include "ir/fold.h"
#include "split/prefix.h"
#include "split/tile_op.h"
#include "split/window.h"

enum {
  DEEPEST = 64,
  LEAST_EDGES = 16,  /* times as long is what they are edges of */
  MOST_OF_EDGE = 512 /* values that are made again for one */
};

typedef struct made { /* the part of a value that a trip has */
  ir_value value, part;
  split_pos pos; /* as of a trip that begins with the first index */
  int64_t slice; /* the trip's */
  uint32_t next; /* of the same value; index + 1, 0: none */
} made;

typedef struct parts {
  ir_module *m;
  arena *scratch;
  ir_block block;
  int64_t threshold_bytes;
  ir_builder b;
  split_trip trip;
  int64_t first;       /* index of the trip, if it is an edge's; else 0 */
  int64_t length;      /* that is read along the dimension that is sliced; 0: not known */
  bool takes_whole;    /* parts may read values from outside that they need whole */
  VEC(ir_value) whole; /* those */
  bool *is_whole;
  VEC(made) known;  /* without a part while it is only asked whether there could be one */
  uint32_t *newest; /* by value: index + 1 */
} parts;

static parts parts_of(ir_module *m, ir_block block, int64_t threshold_bytes) {
  parts p = {m, arena_create(m->ctx), block, threshold_bytes};
  p.newest = ARENA_ARRAY(p.scratch, uint32_t, m->values.count);
  p.is_whole = ARENA_ARRAY(p.scratch, bool, m->values.count);
  return p;
}

/* What trips of one length have at the same indices is the same, wherever these begin. */
static split_pos placed(const parts *p, split_pos pos) {
  int64_t by = p->first * pos.unit;
  pos.offset += pos.mirrored ? -by : by;
  return pos;
}

static void know(parts *p, ir_value v, ir_value part, split_pos pos) {
  VEC_PUSH(p->scratch, &p->known, ((made){v, part, placed(p, pos), p->trip.slice, p->newest[v]}));
  p->newest[v] = p->known.count;
}

/* But the first `count`. */
static void forget(parts *p, uint32_t count) {
  while (p->known.count > count) {
    const made *last = &p->known.at[--p->known.count];
    p->newest[last->value] = last->next;
  }
}

static bool is_made_anew(const parts *p, ir_value v) {
  return ir_is_made_in(p->m, v, p->block) && ir_value_bytes(p->m, v) > p->threshold_bytes &&
         !p->is_whole[v];
}

/* What a part needs whole is there already, or stays outside. */
static bool may_be_whole(parts *p, ir_value v) {
  if (!is_made_anew(p, v)) return true;
  if (p->takes_whole) VEC_PUSH(p->scratch, &p->whole, v);
  return p->is_whole[v] = p->takes_whole;
}

static void forget_whole(parts *p) {
  for (; p->whole.count; p->whole.count--) p->is_whole[p->whole.at[p->whole.count - 1]] = false;
}

static made *find(const parts *p, ir_value v, split_pos at) {
  split_pos pos = placed(p, at);
  for (uint32_t i = p->newest[v]; i; i = p->known.at[i - 1].next) {
    made *k = &p->known.at[i - 1];
    if (k->slice == p->trip.slice && split_pos_equal(k->pos, pos)) return k;
  }
  return NULL;
}

static bool parallel_factor(const parts *p, ir_value v, split_pos pos, split_factor *out) {
  const ir_value_data *d = ir_value_get(p->m, v);
  return !ir_has_effects(p->m, d->op) &&
         split_trace(p->scratch, p->m, d->op, true, d->index, pos, out) &&
         out->role == SPLIT_PARALLEL && split_pos_equal(out->results[d->index], pos);
}

/* ---- one element of each prefix sum: the sum of those that it has ---- */
/* XLA makes it where it is read. */
static bool is_fused(const parts *p, ir_value v, int depth) {
  if (!is_made_anew(p, v)) return true;
  ir_op op = ir_value_get(p->m, v)->op;
  ir_kind kind = ir_kind_of(p->m, op);
  if (depth == 0 || (kind != IR_OP_BROADCAST_IN_DIM && !ir_is_elementwise(kind))) return false;
  for (ir_value x, i = 0; (x = ir_operand_at(p->m, op, i)); i++)
    if (!is_fused(p, x, depth - 1)) return false;
  return true;
}

static bool is_prefix(const parts *p, ir_value v, split_pos pos) {
  ir_module *m = p->m;
  ir_op op = ir_maker(m, v, IR_OP_REDUCE_WINDOW);
  if (!op || p->length != 1 || pos.unit != 1 || pos.mirrored || pos.more ||
      split_prefix_along(m, op, pos.dim) == SPLIT_NO_PREFIX)
    return false;
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  ir_value x = ir_operand(m, op, 0);
  ir_dtype dtype = ir_type_at(m, x)->dtype;
  if (ir_type_at(m, x)->dims[pos.dim] > INT32_MAX) return false; /* counted in i32 */
  bool adds =
      kind == IR_OP_ADD && split_sum_dtype(dtype) == dtype && ir_is_zero(m, ir_operand(m, op, 1));
  return (adds || kind == IR_OP_MAXIMUM || kind == IR_OP_MINIMUM) && is_fused(p, x, DEEPEST);
}

static ir_value copied(parts *p, ir_value v, ir_map *map) {
  if (!is_made_anew(p, v)) return v;
  if (ir_map_has(map, v)) return ir_map_get(map, v);
  ir_op op = ir_value_get(p->m, v)->op;
  for (ir_value x, i = 0; (x = ir_operand_at(p->m, op, i)); i++) copied(p, x, map);
  ir_copy_op(p->m, p->b.block, op, map);
  return ir_map_get(map, v);
}

static ir_value prefix_at(parts *p, ir_value v, split_pos pos) {
  ir_module *m = p->m;
  ir_op op = ir_value_get(m, v)->op;
  ir_value x = copied(p, ir_operand(m, op, 0), ir_map_new(p->scratch, m)),
           initial = ir_operand(m, op, 1);
  ir_type type = ir_type_of(m, x), places = ir_tensor_with_dtype(m, type, IR_I32);
  p->b.location = ir_op_get(m, op)->location;
  ir_value here = ir_build_add(&p->b, p->trip.start, ir_build_int(&p->b, pos.offset));
  here = ir_build_convert(&p->b, here, IR_I32);
  bool forward = split_prefix_along(m, op, pos.dim) == SPLIT_FORWARD;
  ir_value is_in =
      ir_build_compare(&p->b, forward ? "LE" : "GE", ir_build_iota(&p->b, places, pos.dim),
                       ir_build_broadcast(&p->b, here, places, NULL));
  ir_value rest = ir_build_broadcast(&p->b, initial, type, NULL);
  ir_value y =
      ir_build_reduce(&p->b, ir_reducer_kind(m, ir_body(m, op)),
                      ir_build_select(&p->b, is_in, x, rest), initial, (int64_t[]){pos.dim}, 1);
  return ir_build_reshape(&p->b, y, ir_tensor_with_dim(m, type, pos.dim, 1));
}

static bool can_make(parts *p, ir_value v, split_pos pos, int depth) {
  split_factor f;
  if (!is_made_anew(p, v) || find(p, v, pos) || is_prefix(p, v, pos)) return true;
  if (depth == 0 || !parallel_factor(p, v, pos, &f)) return false;
  know(p, v, IR_NONE, pos);
  ir_op op = ir_value_get(p->m, v)->op;
  for (ir_value x, i = 0; (x = ir_operand_at(p->m, op, i)); i++) {
    if (f.operands[i].dim < 0 ? !may_be_whole(p, x) : !can_make(p, x, f.operands[i], depth - 1))
      return false;
  }
  return true;
}

static ir_value make(parts *p, ir_value v, split_pos pos) {
  split_factor f;
  if (pos.dim < 0) return v;
  made *had = find(p, v, pos);
  if (had) return had->part;
  if (!is_made_anew(p, v)) return split_window_take(&p->b, &p->trip, v, pos);
  if (is_prefix(p, v, pos)) {
    know(p, v, prefix_at(p, v, pos), pos);
    return p->known.at[p->known.count - 1].part;
  }
  parallel_factor(p, v, pos, &f);
  const ir_op_data d = *ir_op_get(p->m, ir_value_get(p->m, v)->op);
  ir_value *operands = ARENA_ARRAY(p->scratch, ir_value, d.n_operands + 1),
           *results = ARENA_ARRAY(p->scratch, ir_value, d.n_results + 1);
  for (uint32_t i = 0; i < d.n_operands; i++) operands[i] = make(p, d.operands[i], f.operands[i]);
  p->b.location = d.location;
  split_tile_op(&p->b, ir_value_get(p->m, v)->op, &f, &p->trip, operands, results);
  uint32_t asked = v - d.first_result; /* a constant is the same everywhere, at no position */
  for (uint32_t i = 0; i < d.n_results; i++)
    know(p, d.first_result + i, results[i], i == asked ? pos : f.results[i]);
  return results[asked];
}

/* ---- the slices ---- */
/* The dimension of which the op reads the smallest share; -1: it is no slice of v, or all of it, or
 * from an index beyond i64. */
static int32_t sliced_dim(const ir_module *m, ir_op op, ir_value v) {
  if (ir_kind_of(m, op) != IR_OP_DYNAMIC_SLICE || ir_operand(m, op, 0) != v ||
      ir_type_at(m, ir_operand(m, op, 1))->dtype == IR_UI64)
    return -1;
  const ir_type_data *x = ir_type_at(m, v), *y = ir_type_at(m, ir_result(m, op, 0));
  int32_t dim = -1;
  double share = 1;
  for (int32_t d = 0; d < x->rank; d++)
    if (y->dims[d] > 0 && (double)y->dims[d] / (double)x->dims[d] < share) {
      share = (double)y->dims[d] / (double)x->dims[d];
      dim = d;
    }
  return dim;
}

static void begin_trip(parts *p, ir_value start, int64_t slice, int64_t extent) {
  ir_value at = split_clamped_start(&p->b, start, extent, slice);
  p->trip = (split_trip){.start = at, .lo = at, .slice = slice, .extent = extent};
  forget(p, 0);
}

/* What the op reads of v: the part along `dim`, sliced along the others. */
static ir_value read_part(parts *p, ir_op op, ir_value v, int32_t dim) {
  ir_module *m = p->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_type want = ir_type_of(m, d.first_result);
  const ir_type_data part = *ir_type_get(m, want);
  begin_trip(p, d.operands[1 + dim], part.dims[dim], ir_type_at(m, v)->dims[dim]);
  ir_value x = make(p, v, (split_pos){.dim = dim, .unit = 1});
  if (ir_type_of(m, x) == want) return x;
  ir_value *starts = ARENA_COPY(p->scratch, ir_value, d.operands + 1, (size_t)part.rank);
  starts[dim] = ir_build_splat_int(&p->b, ir_type_of(m, starts[dim]), 0);
  return ir_build_dynamic_slice(&p->b, x, starts, part.dims);
}

static bool can_read_part(parts *p, ir_op op, ir_value v, ir_value stand_in, int32_t *out_dim) {
  forget(p, 0);
  forget_whole(p);
  *out_dim = sliced_dim(p->m, op, stand_in);
  if (*out_dim >= 0) p->length = ir_type_at(p->m, ir_result(p->m, op, 0))->dims[*out_dim];
  return *out_dim >= 0 && can_make(p, v, (split_pos){.dim = *out_dim, .unit = 1}, DEEPEST);
}

bool split_can_make_part(ir_module *m, ir_block block, ir_value v, int32_t dim,
                         int64_t threshold_bytes) {
  parts p = parts_of(m, block, threshold_bytes);
  bool can = can_make(&p, v, (split_pos){.dim = dim, .unit = 1}, DEEPEST);
  arena_destroy(p.scratch);
  return can;
}

uint32_t split_count_parts(ir_module *m, ir_block block, ir_value v, int64_t threshold_bytes,
                           ir_block body, ir_value stand_in) {
  parts p = parts_of(m, block, threshold_bytes);
  uint32_t n = 0;
  int32_t dim;
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++)
    n += can_read_part(&p, op, v, stand_in, &dim);
  arena_destroy(p.scratch);
  return n;
}

bool split_read_parts(ir_module *m, ir_block block, ir_value v, int64_t threshold_bytes,
                      ir_block body, ir_value stand_in) {
  parts p = parts_of(m, block, threshold_bytes);
  ir_map *map = ir_map_new(p.scratch, m);
  bool any = false;
  p.takes_whole = true;
  p.b = (ir_builder){m, body, IR_NONE};
  ir_ops old = ir_take_ops(m, body);
  for (uint32_t i = 0; i < old.count; i++) {
    int32_t dim;
    p.b.location = ir_op_get(m, old.at[i])->location;
    if (can_read_part(&p, old.at[i], v, stand_in, &dim)) {
      ir_map_set(map, ir_result(m, old.at[i], 0), read_part(&p, old.at[i], v, dim));
      any = true;
    } else {
      ir_block_append(m, body, old.at[i]);
    }
  }
  if (any) ir_replace_uses(m, body, map);
  arena_destroy(p.scratch);
  return any;
}

/* ---- edges ---- */
/* The only dimension that the slice cuts, without gaps; -1: there are several, or none. */
static int32_t cut_dim(ir_module *m, ir_op op) {
  const ir_type_data *x = ir_type_at(m, ir_operand(m, op, 0)),
                     *y = ir_type_at(m, ir_result(m, op, 0));
  int32_t dim = -1;
  for (int32_t d = 0; d < x->rank; d++) {
    if (ir_op_entry(m, op, "strides", d, 1) != 1) return -1;
    if (x->dims[d] == y->dims[d]) continue;
    if (dim >= 0) return -1;
    dim = d;
  }
  return dim;
}

static bool stands_beside_others(const ir_module *m, ir_value v, const ir_users *users) {
  uint32_t n = 0;
  for (ir_op user; (user = ir_user_at(users, v, n)); n++) {
    ir_kind kind = ir_kind_of(m, user);
    if (kind != IR_OP_CONCATENATE && kind != IR_OP_PAD) return false;
  }
  return n > 0;
}

/* The dimension along which the op slices an edge; -1: it does not. */
static int32_t edge_dim(parts *p, ir_op op, const ir_users *users) {
  ir_module *m = p->m;
  if (ir_kind_of(m, op) != IR_OP_SLICE) return -1;
  ir_value x = ir_operand(m, op, 0), y = ir_result(m, op, 0);
  if (!ir_is_static_tensor(m, ir_type_of(m, x)) || !ir_is_static_tensor(m, ir_type_of(m, y)) ||
      !is_made_anew(p, x) || is_made_anew(p, y))
    return -1;
  int32_t dim = cut_dim(m, op);
  if (dim < 0 || !stands_beside_others(m, y, users) ||
      ir_type_at(m, y)->dims[dim] > ir_type_at(m, x)->dims[dim] / LEAST_EDGES)
    return -1;
  uint32_t before = p->known.count;
  p->trip.slice = 0; /* whatever others are made of */
  bool can = can_make(p, x, (split_pos){.dim = dim, .unit = 1}, DEEPEST) &&
             p->known.count - before <= MOST_OF_EDGE;
  forget(p, before);
  return can ? dim : -1;
}

/* Edges share what they are made of where its indices are the same. */
static void begin_edge(parts *p, int64_t first, int64_t slice, int64_t extent) {
  ir_value start = ir_build_int(&p->b, first);
  p->first = first;
  p->trip = (split_trip){.start = start, .lo = start, .slice = slice, .extent = extent};
}

static ir_value make_edge(parts *p, ir_op op, int32_t dim) {
  ir_module *m = p->m;
  ir_value x = ir_operand(m, op, 0);
  p->b.location = ir_op_get(m, op)->location;
  begin_edge(p, ir_op_entry(m, op, "start_indices", dim, 0),
             ir_type_at(m, ir_result(m, op, 0))->dims[dim], ir_type_at(m, x)->dims[dim]);
  return make(p, x, (split_pos){.dim = dim, .unit = 1});
}

int32_t split_make_edges(ir_module *m, ir_block block, int64_t threshold_bytes) {
  parts p = parts_of(m, block, threshold_bytes);
  p.b = (ir_builder){m, block, IR_NONE};
  ir_users users = ir_users_of_block(p.scratch, m, block);
  ir_map *map = ir_map_new(p.scratch, m);
  ir_ops old = ir_take_ops(m, block);
  int32_t count = 0;
  for (uint32_t i = 0; i < old.count; i++) {
    int32_t dim = edge_dim(&p, old.at[i], &users);
    if (dim >= 0) ir_map_set(map, ir_result(m, old.at[i], 0), make_edge(&p, old.at[i], dim));
    count += dim >= 0;
    ir_block_append(m, block, old.at[i]);
    for (ir_block below, r = 0; (below = ir_next_block(m, old.at[i], &r));)
      count += split_make_edges(m, below, threshold_bytes);
  }
  if (count) ir_replace_uses(m, block, map);
  arena_destroy(p.scratch);
  return count;
}
