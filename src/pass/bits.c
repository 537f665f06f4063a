/* bits: rng_bit_generator -> the generator's arithmetic, element by element.
 *
 *   word i of the output = f(key, counter + i)      f: Philox 4x32 of 10 rounds, Threefry 2x32 of
 * 20
 *
 * so that a loop makes the bits of its slice alone. Exact: XLA expands the op into the same integer
 * arithmetic, laid out in the same way; the state that comes out is the same, too.
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce.
 * DEFAULT is Philox on CPU. Left alone: DEFAULT on other platforms, which choose; outputs of
 * anything but ui32 and ui64, of no dimensions or elements, or small against the limit; states of
 * another size than XLA's (Philox 2 or 3 words, Threefry 2). Cost: some 200 ops each.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; XLA,
 * rng_bit_generator_expander and client/lib/prng; test/ref/random.c.
 */
#include "base/strbuf.h"
#include "pass/build.h"

enum { PHILOX_ROUNDS = 10, PHILOX_WORDS = 4, THREEFRY_WORDS = 2 };

/* One op's arithmetic: values of one shape, of ui32 and of ui64. */
typedef struct bits {
  ir_builder b;
  int32_t rank;
  int64_t dims[IR_MAX_RANK];
} bits;

/* ---- spelling ---- */
static ir_value spread(bits *s, ir_value scalar) {
  ir_dtype dtype = ir_type_at(s->b.m, scalar)->dtype;
  return ir_build_broadcast(&s->b, scalar, ir_tensor(s->b.m, dtype, s->rank, s->dims), NULL);
}
static ir_value number(bits *s, ir_dtype dtype, uint64_t x) {
  return ir_build_splat_int(&s->b, ir_scalar(s->b.m, dtype), (int64_t)x);
}
static ir_value like(bits *s, ir_value x, uint64_t n) {
  ir_value scalar = number(s, ir_type_at(s->b.m, x)->dtype, n);
  return ir_type_at(s->b.m, x)->rank ? spread(s, scalar) : scalar;
}
static ir_value add(bits *s, ir_value x, ir_value y) { return ir_build_add(&s->b, x, y); }
static ir_value xor_of(bits *s, ir_value x, ir_value y) {
  return ir_build_binary(&s->b, IR_OP_XOR, x, y);
}
static ir_value shifted(bits *s, ir_kind kind, ir_value x, uint64_t by) {
  return ir_build_binary(&s->b, kind, x, like(s, x, by));
}
static ir_value low_half(bits *s, ir_value x) { return ir_build_convert(&s->b, x, IR_UI32); }
static ir_value high_half(bits *s, ir_value x) {
  return low_half(s, shifted(s, IR_OP_SHIFT_RIGHT_LOGIC, x, 32));
}
static ir_value joined(bits *s, ir_value low, ir_value high) {
  ir_value l = ir_build_convert(&s->b, low, IR_UI64), h = ir_build_convert(&s->b, high, IR_UI64);
  return ir_build_binary(&s->b, IR_OP_OR, l, shifted(s, IR_OP_SHIFT_LEFT, h, 32));
}

/* Row-major, from 0, as ui64. */
static ir_value positions(bits *s) {
  ir_type type = ir_tensor(s->b.m, IR_UI64, s->rank, s->dims);
  ir_value sum = IR_NONE;
  int64_t stride = 1;
  for (int32_t d = s->rank; d-- > 0; stride *= s->dims[d]) {
    ir_value at = ir_build_iota(&s->b, type, d);
    if (stride > 1) at = ir_build_multiply(&s->b, at, like(s, at, (uint64_t)stride));
    sum = sum ? add(s, sum, at) : at;
  }
  return sum;
}

/* ---- the generators: x holds counters and becomes words ---- */
static ir_value times(bits *s, ir_value x, uint64_t by) {
  ir_value wide = ir_build_convert(&s->b, x, IR_UI64);
  return ir_build_multiply(&s->b, wide, like(s, wide, by));
}

static void philox(bits *s, ir_value key, ir_value *x) {
  ir_value k0 = low_half(s, key), k1 = high_half(s, key);
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    ir_value p = times(s, x[0], 0xD2511F53), q = times(s, x[2], 0xCD9E8D57);
    x[0] = xor_of(s, xor_of(s, high_half(s, q), x[1]), spread(s, k0));
    x[2] = xor_of(s, xor_of(s, high_half(s, p), x[3]), spread(s, k1));
    x[1] = low_half(s, q);
    x[3] = low_half(s, p);
    k0 = add(s, k0, like(s, k0, 0x9E3779B9));
    k1 = add(s, k1, like(s, k1, 0xBB67AE85));
  }
}

static ir_value rotated(bits *s, ir_value x, uint64_t by) {
  return ir_build_binary(&s->b, IR_OP_OR, shifted(s, IR_OP_SHIFT_LEFT, x, by),
                         shifted(s, IR_OP_SHIFT_RIGHT_LOGIC, x, 32 - by));
}

static void threefry(bits *s, ir_value key, ir_value *x) {
  static const uint64_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  ir_value k[3] = {low_half(s, key), high_half(s, key)};
  k[2] = xor_of(s, xor_of(s, k[0], k[1]), like(s, k[0], 0x1BD11BDA));
  x[0] = add(s, x[0], spread(s, k[0]));
  x[1] = add(s, x[1], spread(s, k[1]));
  for (uint64_t group = 0; group < 5; group++) {
    for (int i = 0; i < 4; i++) {
      x[0] = add(s, x[0], x[1]);
      x[1] = xor_of(s, x[0], rotated(s, x[1], rotations[group % 2][i]));
    }
    ir_value last = k[(group + 2) % 3];
    x[0] = add(s, x[0], spread(s, k[(group + 1) % 3]));
    x[1] = add(s, x[1], spread(s, add(s, last, like(s, last, group + 1))));
  }
}

/* ---- laying words out ---- */
/* The parts side by side along a new dimension at `at`. */
static ir_value stacked(bits *s, const ir_value *parts, uint32_t count, int32_t at) {
  ir_value wide[PHILOX_WORDS];
  int64_t dims[IR_MAX_RANK + 1];
  for (int32_t d = 0; d <= s->rank; d++)
    dims[d] = d < at ? s->dims[d] : d > at ? s->dims[d - 1] : 1;
  ir_dtype dtype = ir_type_at(s->b.m, parts[0])->dtype;
  ir_type type = ir_tensor(s->b.m, dtype, s->rank + 1, dims);
  for (uint32_t i = 0; i < count; i++) wide[i] = ir_build_reshape(&s->b, parts[i], type);
  return ir_build_concatenate(&s->b, wide, count, at);
}

/* The counters at these places behind the state's: what a sum carries goes to the high half. */
static void counters(bits *s, ir_value low, ir_value high, ir_value at, ir_value *x) {
  ir_value start = spread(s, low), sum = add(s, start, at);
  ir_value carry = ir_build_convert(&s->b, ir_build_compare(&s->b, "LT", sum, start), IR_UI64);
  ir_value above = add(s, spread(s, high), carry);
  x[0] = low_half(s, sum);
  x[1] = high_half(s, sum);
  x[2] = low_half(s, above);
  x[3] = high_half(s, above);
}

/* words[position % count], element by element; count is 2 or 4. */
static ir_value chosen(bits *s, const ir_value *words, uint64_t count, ir_value position) {
  ir_value which = ir_build_binary(&s->b, IR_OP_AND, position, like(s, position, count - 1));
  ir_value made = words[0];
  for (uint64_t i = 1; i < count; i++) {
    ir_value here = ir_build_compare(&s->b, "EQ", which, like(s, which, i));
    made = ir_build_select(&s->b, here, words[i], made);
  }
  return made;
}

/* Two or four elements a counter, in row-major order. Where they fill the last dimension, side by
 * side; else each element makes all that its counter gives, and takes one. */
static ir_value philox_bits(ir_builder b, const ir_value *state, ir_type type, int64_t *out_used) {
  const ir_type_data t = *ir_type_get(b.m, type);
  bool is_wide = t.dtype == IR_UI64;
  int64_t each = is_wide ? 2 : PHILOX_WORDS, last = t.dims[t.rank - 1];
  int64_t n = ir_element_count(b.m, type);
  bits s = {.b = b, .rank = t.rank};
  memcpy(s.dims, t.dims, (size_t)t.rank * sizeof *s.dims);
  *out_used = n / each + (n % each != 0);
  CTX_CHECK(b.m->ctx, n > 0 && t.rank > 0);
  bool fills = last % each == 0;
  if (fills) s.dims[t.rank - 1] /= each;
  ir_value x[PHILOX_WORDS], at = positions(&s), counter = at;
  if (!fills) counter = shifted(&s, IR_OP_SHIFT_RIGHT_LOGIC, at, is_wide ? 1 : 2);
  counters(&s, state[1], state[2], counter, x);
  philox(&s, state[0], x);
  if (is_wide) x[0] = joined(&s, x[0], x[1]), x[1] = joined(&s, x[2], x[3]);
  if (!fills) return chosen(&s, x, (uint64_t)each, at);
  return ir_build_reshape(&s.b, stacked(&s, x, (uint32_t)each, s.rank), type);
}

/* The dimension that is cut in halves: the first even one, else the first of the longest. */
static int32_t halved_dim(const ir_type_data *t) {
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] % 2 == 0) return d;
  return ir_longest_dim(t);
}

/* A counter is an element of 64 bits, or two of 32 that are neighbours in one dimension. */
static ir_value threefry_bits(ir_builder b, const ir_value *state, ir_type type,
                              int64_t *out_used) {
  const ir_type_data t = *ir_type_get(b.m, type);
  bits s = {.b = b, .rank = t.rank};
  memcpy(s.dims, t.dims, (size_t)t.rank * sizeof *s.dims);
  int32_t cut = halved_dim(&t);
  if (t.dtype == IR_UI32) s.dims[cut] = (t.dims[cut] + 1) / 2;
  *out_used = 1;
  for (int32_t d = 0; d < s.rank; d++) *out_used *= s.dims[d];
  ir_value sum = add(&s, spread(&s, state[1]), positions(&s));
  ir_value x[THREEFRY_WORDS] = {low_half(&s, sum), high_half(&s, sum)};
  threefry(&s, state[0], x);
  if (t.dtype == IR_UI64) return joined(&s, x[0], x[1]);
  ir_value made = stacked(&s, x, THREEFRY_WORDS, cut + 1);
  s.dims[cut] *= 2;
  made = ir_build_reshape(&s.b, made, ir_tensor(b.m, t.dtype, s.rank, s.dims));
  return s.dims[cut] == t.dims[cut] ? made : ir_build_slice_dim(&s.b, made, cut, 0, t.dims[cut]);
}

/* ---- the op ---- */
static ir_value state_word(ir_builder *b, ir_value state, int64_t i) {
  ir_value word = ir_build_slice_dim(b, state, 0, i, 1);
  return ir_build_reshape(b, word, ir_scalar(b->m, IR_UI64));
}

/* The state with its counter that much further. */
static ir_value next_state(ir_builder *b, const ir_value *state, int64_t n_words, int64_t used) {
  bits s = {.b = *b};
  ir_value low = add(&s, state[1], number(&s, IR_UI64, (uint64_t)used));
  ir_value carry = ir_build_convert(b, ir_build_compare(b, "LT", low, state[1]), IR_UI64);
  ir_value words[] = {state[0], low, add(&s, state[2], carry)};
  ir_type one = ir_tensor(b->m, IR_UI64, 1, (int64_t[]){1});
  for (int64_t i = 0; i < n_words; i++) words[i] = ir_build_reshape(b, words[i], one);
  return ir_build_concatenate(b, words, (uint32_t)n_words, 0);
}

/* Philox, or Threefry; false: another one, or not known. */
static bool find_algorithm(const pass_rewrite *g, ir_op op, bool *out_philox) {
  const char *text = ir_op_string(g->m, op, "rng_algorithm"), *word = "";
  size_t n = text ? ir_enum_word(text, "rng_algorithm", &word) : 0;
  bool is_default = word_is(word, n, "DEFAULT");
  *out_philox =
      word_is(word, n, "PHILOX") || (is_default && !strcmp(g->p->options->platform, "cpu"));
  return *out_philox || word_is(word, n, "THREE_FRY");
}

/* Returns the words of its state; 0: left alone. */
static int64_t may_spell(pass_rewrite *g, ir_op op, bool *out_philox) {
  const ir_module *m = g->m;
  const ir_op_data *d = ir_op_get(m, op);
  if (d->kind != IR_OP_RNG_BIT_GENERATOR || d->n_operands != 1 || d->n_results != 2 ||
      !find_algorithm(g, op, out_philox) || !pass_is_static(m, op) ||
      ir_type_of(m, d->first_result) != ir_type_of(m, d->operands[0]))
    return 0;
  const ir_type_data *in = ir_type_at(m, d->operands[0]), *y = ir_type_at(m, d->first_result + 1);
  int64_t count = ir_element_count(m, ir_type_of(m, d->first_result + 1));
  if (in->rank != 1 || in->dtype != IR_UI64 || (y->dtype != IR_UI32 && y->dtype != IR_UI64) ||
      !y->rank || y->rank >= IR_MAX_RANK || count < 1 || count > INT64_MAX / 16 ||
      ir_value_bytes(m, d->first_result + 1) <= g->small_bytes)
    return 0;
  int64_t words = in->dims[0];
  return words == 2 || (*out_philox && words == 3) ? words : 0;
}

static bool replace(pass_rewrite *g, ir_op op) {
  bool is_philox;
  int64_t words = may_spell(g, op, &is_philox), used;
  if (!words) return false;
  ir_value in = ir_operand(g->m, op, 0), state[3];
  for (int64_t i = 0; i < words; i++) state[i] = state_word(&g->b, in, i);
  if (words == 2) state[2] = state[0]; /* XLA takes the key for the counter's high half */
  ir_type type = ir_type_of(g->m, ir_result(g->m, op, 1));
  ir_value made =
      is_philox ? philox_bits(g->b, state, type, &used) : threefry_bits(g->b, state, type, &used);
  ir_map_set(g->map, ir_result(g->m, op, 0), next_state(&g->b, state, words, used));
  ir_map_set(g->map, ir_result(g->m, op, 1), made);
  return true;
}

const pass pass_bits = {"bits", .replace = replace};
