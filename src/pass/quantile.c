/* quantile: single elements of a long sort, without the sort.
 *
 *   sort(x)[k] = max { v : #{ i : x_i < v } <= k }
 *
 * v is found by its bits, read so that they are ordered as the numbers are, two a trip of a while:
 * of three candidates the largest that has at most k below it. A trip reads x once and reduces it
 * to numbers, so x, which may be the largest tensor there is, need not be there. Not so a sort: it
 * can't be split along what it sorts, and takes 50 times as long. docs/design/quantile.md.
 *   Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * Exact, but zeros become +0, what is smaller than the smallest normal number 0 (as XLA compares on
 * CPUs), and NaNs lose sign and payload. Left alone: sorts of several arrays, or along one of
 * several dimensions; comparators other than < and > that have all NaNs last (first); sorts that
 * anything but gathers and slices of a few elements looks at, or another block; short ones, and
 * such that are small against the limit or below the threshold. Cost: linear. Source: selection by
 * counting (radix select).
 */
#include <math.h>

#include "pass/build.h"
#include "machine/tuned.h"
#include "pass/order.h"

enum { MOST_READS = 8, BITS_A_TRIP = 2, CANDIDATES = 1 << BITS_A_TRIP };

typedef struct reader { /* an op that takes elements of the sort */
  ir_op op;
  int64_t count; /* of them */
} reader;

typedef struct group { /* what is read of one sort and found together */
  ir_op sort, at;      /* the reader in whose place they are found */
  pass_order order;
  int64_t length;
  VEC(reader) readers;
} group;

typedef struct finder {
  pass_ctx *p;
  ir_module *m;
  ir_map *map;
  uint32_t *group_of; /* by op, readers: index + 1 */
  uint32_t n_ops;
  VEC(group) groups;
  ir_block known; /* whose users and places are */
  ir_users users;
  uint32_t *place; /* by op, in its block */
} finder;

/* ---- what is looked at ---- */
static bool takes_single_elements(ir_module *m, arena *scratch, ir_op gather) {
  ir_gather_numbers n;
  return ir_gather_dims(scratch, m, gather, &n) && n.collapsed_slice_dims.count == 1 &&
         n.start_index_map.count == 1 && n.offset_dims.count == 0 &&
         n.operand_batching_dims.count == 0 && ir_op_entry(m, gather, "slice_sizes", 0, 0) == 1;
}

static bool is_reader(const finder *f, ir_op op, ir_value sorted) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (!pass_is_static(f->m, op)) return false;
  switch ((ir_kind)d->kind) {
    case IR_OP_SLICE: return true;
    case IR_OP_DYNAMIC_SLICE: return d->operands[0] == sorted;
    case IR_OP_GATHER:
      return d->operands[0] == sorted && d->operands[1] != sorted &&
             takes_single_elements(f->m, f->p->scratch, op);
    default: return false;
  }
}

static void know_block(finder *f, ir_block block) {
  if (f->known == block) return;
  f->known = block;
  f->users = ir_users_of_block(f->p->scratch, f->m, block);
  for (ir_op op, i = 0; (op = ir_op_at(f->m, block, i)); i++) f->place[op] = i;
}

/* Nothing reads what the op makes before the other one. */
static bool can_wait(const finder *f, ir_op op, ir_op other) {
  ir_value v = ir_result(f->m, op, 0);
  uint32_t first = f->users.first[v];
  return op == other || first == f->users.first[v + 1] ||
         f->place[f->users.ops[first]] > f->place[other];
}

/* Where it reads is known before the other one. */
static bool can_be_early(const finder *f, ir_op op, ir_op other) {
  ir_value place = ir_kind_of(f->m, op) == IR_OP_SLICE ? IR_NONE : ir_operand(f->m, op, 1);
  ir_op def = place ? ir_value_get(f->m, place)->op : IR_NONE;
  return !def || ir_op_get(f->m, def)->block != f->known || f->place[def] < f->place[other];
}

static bool all_can(const finder *f, const group *g, ir_op at,
                    bool (*can)(const finder *, ir_op, ir_op)) {
  for (uint32_t i = 0; i < g->readers.count; i++)
    if (!can(f, g->readers.at[i].op, at)) return false;
  return true;
}

static void add_group(finder *f, const group *g) {
  VEC_PUSH(f->p->scratch, &f->groups, *g);
  for (uint32_t i = 0; i < g->readers.count; i++)
    f->group_of[g->readers.at[i].op] = f->groups.count;
}

/* All in one place, else each in its own. */
static void add_groups(finder *f, group *g) {
  ir_op first = g->readers.at[0].op, last = g->readers.at[g->readers.count - 1].op;
  g->at = all_can(f, g, last, can_wait)        ? last
          : all_can(f, g, first, can_be_early) ? first
                                               : IR_NONE;
  if (g->at) {
    add_group(f, g);
    return;
  }
  for (uint32_t i = 0; i < g->readers.count; i++) {
    group one = *g;
    memset(&one.readers, 0, sizeof one.readers);
    VEC_PUSH(f->p->scratch, &one.readers, g->readers.at[i]);
    one.at = g->readers.at[i].op;
    add_group(f, &one);
  }
}

static bool find_readers(finder *f, group *g) {
  ir_value sorted = ir_result(f->m, g->sort, 0);
  int64_t reads = 0;
  for (ir_op op, i = 0; (op = ir_user_at(&f->users, sorted, i)); i++) {
    if (!is_reader(f, op, sorted)) return false;
    int64_t count = ir_element_count(f->m, ir_type_of(f->m, ir_result(f->m, op, 0)));
    reads += count;
    if (count > MOST_READS || reads > MOST_READS) return false;
    if (count) VEC_PUSH(f->p->scratch, &g->readers, ((reader){op, count}));
  }
  return reads > 0;
}

static bool is_covered(const pass_order *o, ir_dtype d) {
  bool whole = d == IR_I32 || d == IR_I64 || d == IR_UI32 || d == IR_UI64;
  return whole ? o->is_identity : ir_is_common_float(d) && o->keeps_value && o->nans_last;
}

static void find_group(finder *f, ir_op op) {
  const ir_module *m = f->m;
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind != IR_OP_SORT || d->n_operands != 1) return;
  ir_type type = ir_type_of(m, d->operands[0]);
  if (!ir_is_static_tensor(m, type) || ir_type_get(m, type)->rank != 1 ||
      ir_element_count(m, type) < TUNED_RANKED_LENGTH ||
      ir_type_bytes(m, type) <= pass_small_bytes(f->p->options))
    return;
  group g = {.sort = op, .length = ir_element_count(m, type)};
  pass_sorted s = {op, 1, 0, g.length, d->regions[0], false};
  if (!pass_read_order(m, &s, &g.order) || !is_covered(&g.order, ir_type_get(m, type)->dtype))
    return;
  know_block(f, d->block);
  if (find_readers(f, &g)) add_groups(f, &g);
}

/* ---- numbers as bits ---- */
typedef struct keys {
  ir_dtype number, key, count; /* count: of elements */
  int32_t bits;
  bool is_float, is_signed;
} keys;

static keys keys_of(ir_dtype sorted, int64_t length) {
  bool wide = ir_dtype_bytes(sorted) == 8;
  keys k = {.key = wide ? IR_UI64 : IR_UI32,
            .count = length > INT32_MAX ? IR_I64 : IR_I32,
            .bits = wide ? 64 : 32,
            .is_float = ir_is_common_float(sorted),
            .is_signed = ir_dtype_class_of(sorted) == IR_CLASS_INT};
  k.number = !k.is_float ? sorted : wide ? IR_F64 : IR_F32;
  return k;
}

static ir_value key_constant(ir_builder *b, const keys *k, uint64_t x) {
  uint32_t narrow = (uint32_t)x;
  return ir_build_constant(b, ir_scalar(b->m, k->key),
                           k->bits == 64 ? (void *)&x : (void *)&narrow);
}

static uint64_t sign_bit(const keys *k) { return (uint64_t)1 << (k->bits - 1); }

/* The key of +inf: those above are NaNs. */
static uint64_t infinite_key(const keys *k) {
  return k->bits == 64 ? 0xFFF0000000000000 : 0xFF800000;
}

static ir_value number_of(ir_builder *b, const keys *k, ir_value key) {
  ir_value sign = key_constant(b, k, sign_bit(k)), bits = key;
  if (k->is_float || k->is_signed) bits = ir_build_binary(b, IR_OP_XOR, key, sign);
  if (k->is_float)
    bits = ir_build_select(b, ir_build_compare(b, "GE", key, sign), bits,
                           ir_build_unary(b, IR_OP_NOT, key));
  if (k->number == k->key) return bits;
  return ir_build(b, IR_OP_BITCAST_CONVERT, 1, &bits, ir_scalar(b->m, k->number), 0, NULL);
}

/* ---- counting ---- */
/* How many elements of x compare so with the scalar. */
static ir_value count_of(ir_builder *b, const keys *k, const char *direction, ir_value x,
                         ir_value y) {
  int32_t rank = ir_type_at(b->m, x)->rank;
  if (y != x) y = ir_build_broadcast(b, y, ir_type_of(b->m, x), NULL);
  ir_value is = ir_build_compare(b, direction, x, y);
  return ir_build_sum(b, ir_build_convert(b, is, k->count), ir_all_dims, rank);
}

/* `prefix` with the next bits, those at `shift`. */
static ir_value longer_prefix(ir_builder *b, const keys *k, ir_value x, ir_value prefix,
                              ir_value shift, ir_value place) {
  ir_value best = prefix;
  for (uint64_t c = 1; c < CANDIDATES; c++) {
    ir_value bits = ir_build_binary(b, IR_OP_SHIFT_LEFT, key_constant(b, k, c), shift);
    ir_value candidate = ir_build_add(b, prefix, bits);
    ir_value below = count_of(b, k, "LT", x, number_of(b, k, candidate));
    ir_value holds = ir_build_compare(b, "LE", below, place);
    if (k->is_float) {
      ir_value infinite = key_constant(b, k, infinite_key(k));
      holds = ir_build_binary(b, IR_OP_AND, holds, ir_build_compare(b, "LE", candidate, infinite));
    }
    best = ir_build_select(b, holds, candidate, best);
  }
  return best;
}

static void build_body(ir_builder *outer, const keys *k, ir_op loop, ir_value x,
                       const ir_value *places) {
  ir_builder b = {outer->m, ir_while_body(outer->m, loop), outer->location};
  const ir_value *args = ir_block_get(b.m, b.block)->args.at;
  uint32_t n = ir_block_get(b.m, b.block)->args.count;
  ir_value next[MOST_READS + 1], one = ir_build_splat_int(&b, ir_type_of(b.m, args[0]), 1);
  ir_value done = ir_build_multiply(&b, ir_build_convert(&b, args[0], k->key),
                                    key_constant(&b, k, BITS_A_TRIP));
  ir_value shift =
      ir_build_subtract(&b, key_constant(&b, k, (uint64_t)(k->bits - BITS_A_TRIP)), done);
  next[0] = ir_build_add(&b, args[0], one);
  for (uint32_t i = 1; i < n; i++) next[i] = longer_prefix(&b, k, x, args[i], shift, places[i - 1]);
  ir_build_return(&b, IR_OP_RETURN, next, n);
}

/* The keys of the elements at these places of the order, in `out`. */
static void build_search(ir_builder *b, const keys *k, ir_value x, const ir_value *places,
                         uint32_t count, ir_value *out) {
  CTX_CHECK(b->m->ctx, count <= MOST_READS && k->bits % BITS_A_TRIP == 0);
  ir_value init[MOST_READS + 1] = {ir_build_splat_int(b, ir_scalar(b->m, IR_I32), 0)};
  for (uint32_t i = 1; i <= count; i++) init[i] = key_constant(b, k, 0);
  ir_op loop = ir_build_while(b, init, count + 1);
  ir_build_while_below(b->m, loop, k->bits / BITS_A_TRIP);
  build_body(b, k, loop, x, places);
  for (uint32_t i = 0; i < count; i++) out[i] = ir_result(b->m, loop, i + 1);
}

/* ---- places ---- */
static ir_value element(ir_builder *b, ir_value v, int64_t at) {
  return ir_build_reshape(b, ir_build_slice_dim(b, v, 0, at, 1),
                          ir_scalar(b->m, ir_type_at(b->m, v)->dtype));
}

static ir_value flat(ir_builder *b, ir_value v, int64_t length) {
  return ir_build_reshape(b, v, ir_tensor(b->m, ir_type_at(b->m, v)->dtype, 1, &length));
}

static ir_value clamped(ir_builder *b, ir_value at, int64_t most) {
  return ir_build_clamped(b, ir_build_convert(b, at, IR_I64), 0, most);
}

/* Of element i of what the op reads, in [0, length), clamped as it does. */
static ir_value place_of(const finder *f, ir_builder *b, const keys *k, const group *g,
                         const reader *r, int64_t i) {
  ir_module *m = b->m;
  ir_type type = ir_scalar(m, k->count);
  if (ir_kind_of(m, r->op) == IR_OP_SLICE) {
    int64_t at =
        ir_op_entry(m, r->op, "start_indices", 0, 0) + i * ir_op_entry(m, r->op, "strides", 0, 1);
    CTX_CHECK(m->ctx, at < g->length);
    return ir_build_splat_int(b, type, at);
  }
  ir_value at = ir_map_get(f->map, ir_operand(m, r->op, 1));
  if (ir_kind_of(m, r->op) == IR_OP_GATHER)
    return ir_build_convert(b, clamped(b, element(b, flat(b, at, r->count), i), g->length - 1),
                            k->count);
  at = ir_build_convert(b, clamped(b, at, g->length - r->count), k->count);
  return ir_build_add(b, at, ir_build_splat_int(b, type, i));
}

static ir_value from_the_end(ir_builder *b, const keys *k, const group *g, ir_value place) {
  ir_value last = ir_build_splat_int(b, ir_scalar(b->m, k->count), g->length - 1);
  return ir_build_subtract(b, last, place);
}

/* ---- results ---- */
/* 0 where the number has no normal form, NaN where there are no more numbers. */
static ir_value finished(ir_builder *b, const keys *k, ir_value number, ir_value place,
                         ir_value numbers) {
  ir_type type = ir_scalar(b->m, k->number);
  ir_value least = ir_build_splat_real(b, type, k->bits == 64 ? 0x1p-1022 : 0x1p-126);
  ir_value size = ir_build_unary(b, IR_OP_ABS, number);
  number =
      ir_build_select(b, ir_build_compare(b, "LT", size, least), ir_build_zeros(b, type), number);
  ir_value nan = ir_build_splat_real(b, type, (double)NAN);
  return ir_build_select(b, ir_build_compare(b, "LT", place, numbers), number, nan);
}

/* The reader's result of the elements it reads. */
static ir_value as_read(ir_builder *b, const reader *r, ir_dtype dtype, const ir_value *elements) {
  ir_value parts[MOST_READS];
  for (int64_t i = 0; i < r->count; i++)
    parts[i] = flat(b, ir_build_convert(b, elements[i], dtype), 1);
  ir_value all = r->count > 1 ? ir_build_concatenate(b, parts, (uint32_t)r->count, 0) : parts[0];
  return ir_build_reshape(b, all, ir_type_of(b->m, ir_result(b->m, r->op, 0)));
}

static void build(finder *f, ir_builder *b, const group *g) {
  ir_module *m = f->m;
  ir_value sorted = ir_operand(m, g->sort, 0), places[MOST_READS], found[MOST_READS];
  ir_dtype dtype = ir_type_at(m, sorted)->dtype;
  keys k = keys_of(dtype, g->length);
  ir_value x = ir_build_convert(b, pass_build_unflattened(b, sorted), k.number);
  uint32_t count = 0;
  for (uint32_t i = 0; i < g->readers.count; i++)
    for (int64_t e = 0; e < g->readers.at[i].count; e++) {
      ir_value place = place_of(f, b, &k, g, &g->readers.at[i], e);
      places[count++] = g->order.descending ? from_the_end(b, &k, g, place) : place;
    }
  ir_value numbers = k.is_float ? count_of(b, &k, "EQ", x, x) : IR_NONE;
  build_search(b, &k, x, places, count, found);
  for (uint32_t i = 0; i < count; i++) {
    found[i] = number_of(b, &k, found[i]);
    if (k.is_float) found[i] = finished(b, &k, found[i], places[i], numbers);
  }
  for (uint32_t i = 0, at = 0; i < g->readers.count; at += (uint32_t)g->readers.at[i++].count)
    ir_map_set(f->map, ir_result(m, g->readers.at[i].op, 0),
               as_read(b, &g->readers.at[i], dtype, found + at));
}

static bool replace(pass_rewrite *r, ir_op op) {
  finder *f = r->own;
  uint32_t index = op < f->n_ops ? f->group_of[op] : 0;
  if (!index) return false;
  const group *g = &f->groups.at[index - 1];
  r->b.location = ir_op_get(f->m, g->sort)->location;
  if (op == g->at) build(f, &r->b, g);
  return true;
}

static bool begin(pass_rewrite *r) {
  arena *a = r->p->scratch;
  uint32_t n = r->m->ops.count;
  finder *f = r->own = ARENA_NEW(a, finder);
  *f = (finder){.p = r->p,
                .m = r->m,
                .map = r->map,
                .group_of = ARENA_ARRAY(a, uint32_t, n),
                .place = ARENA_ARRAY(a, uint32_t, n),
                .n_ops = n};
  for (ir_walk w = ir_walk_block(r->m, ir_top(r->m)); ir_next(&w);) find_group(f, w.op);
  return f->groups.count;
}

const pass pass_quantile = {"quantile", .replace = replace, .begin = begin};
