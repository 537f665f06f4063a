/* rng_bit_generator: the counter-based generators as XLA lays their output out, bit for bit.
 * Default on CPU: Philox. Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011; XLA's rng_bit_generator_expander and client/lib/prng. */
#include "ref/eval.h"

/* ---- Threefry 2x32, 20 rounds ---- */
static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void threefry(uint64_t key, uint64_t counter, uint32_t out[2]) {
  static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t k[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
  k[2] = 0x1BD11BDA ^ k[0] ^ k[1];
  uint32_t x = (uint32_t)counter + k[0], y = (uint32_t)(counter >> 32) + k[1];
  for (uint32_t group = 0; group < 5; group++) {
    for (int i = 0; i < 4; i++) x += y, y = x ^ rotated(y, rotations[group % 2][i]);
    x += k[(group + 1) % 3];
    y += k[(group + 2) % 3] + group + 1;
  }
  out[0] = x, out[1] = y;
}

/* Words of up to 32 bits: one dimension is split in halves (the first even one, else the longest);
 * counter i gives the i-th element of both halves. */
static int64_t threefry_words(ref_tensor *y, uint64_t key, uint64_t counter) {
  int32_t split = -1;
  for (int32_t d = 0; d < y->rank && split < 0; d++)
    if (y->dims[d] % 2 == 0) split = d;
  for (int32_t d = 0; split < 0 && d < y->rank; d++) {
    int32_t longest = 0;
    for (int32_t e = 1; e < y->rank; e++)
      if (y->dims[e] > y->dims[longest]) longest = e;
    split = longest;
  }
  uint32_t words[2];
  if (y->rank == 0) {
    threefry(key, counter, words);
    ref_store(y, 0, (ref_scalar){.u = words[0]});
    return 1;
  }
  int64_t half[IR_MAX_RANK], index[IR_MAX_RANK] = {0}, at[IR_MAX_RANK], count = 1;
  for (int32_t d = 0; d < y->rank; d++)
    count *= half[d] = d == split ? (y->dims[d] + 1) / 2 : y->dims[d];
  for (int64_t i = 0; i < count; i++, ref_next(y->rank, half, index)) {
    threefry(key, counter + (uint64_t)i, words);
    for (int part = 0; part < 2; part++) {
      memcpy(at, index, sizeof at);
      at[split] = 2 * index[split] + part;
      if (at[split] < y->dims[split])
        ref_store(y, ref_offset(y, at), ref_from_pattern(y->dtype, words[part]));
    }
  }
  return count;
}

static int64_t threefry_fill(ref_tensor *y, uint64_t key, uint64_t counter) {
  if (ref_bits(y->dtype) < 64) return threefry_words(y, key, counter);
  int64_t n = ref_element_count(y);
  for (int64_t i = 0; i < n; i++) {
    uint32_t words[2];
    threefry(key, counter + (uint64_t)i, words);
    ref_store(y, i, ref_from_pattern(y->dtype, words[0] | (uint64_t)words[1] << 32));
  }
  return n;
}

/* ---- Philox 4x32, 10 rounds ---- */
typedef unsigned __int128 counter128;

static void philox(uint64_t key, counter128 counter, uint32_t out[4]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int i = 0; i < 4; i++) out[i] = (uint32_t)(counter >> (32 * i));
  for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    uint64_t p = (uint64_t)out[0] * 0xD2511F53, q = (uint64_t)out[2] * 0xCD9E8D57;
    uint32_t next[4] = {(uint32_t)(q >> 32) ^ out[1] ^ k0, (uint32_t)q,
                        (uint32_t)(p >> 32) ^ out[3] ^ k1, (uint32_t)p};
    memcpy(out, next, sizeof next);
  }
}

/* Four words a counter, in order; two a 64-bit element. Returns how many counters were used. */
static int64_t philox_fill(ref_tensor *y, uint64_t key, counter128 counter) {
  int64_t per_element = ref_bits(y->dtype) == 64 ? 2 : 1, n = ref_element_count(y),
          used = (n * per_element + 3) / 4;
  for (int64_t i = 0; i < used; i++) {
    uint32_t words[4];
    philox(key, counter + (counter128)i, words);
    for (int64_t k = 0; k < 4; k += per_element) {
      int64_t at = (4 * i + k) / per_element;
      uint64_t bits = words[k] | (per_element == 2 ? (uint64_t)words[k + 1] << 32 : 0);
      if (at < n) ref_store(y, at, ref_from_pattern(y->dtype, bits));
    }
  }
  return used;
}

/* State (key, counter) of two words or (key, counter low, counter high) of three. With two, XLA
 * takes the key again for the counter's high half. */
static void philox_state(ref_tensor *state, ref_tensor *y) {
  uint64_t key = ref_load(state, 0).u, low = ref_load(state, 1).u;
  bool has_high = state->dims[0] >= 3;
  counter128 counter = (counter128)(has_high ? ref_load(state, 2).u : key) << 64 | low;
  counter += (counter128)philox_fill(y, key, counter);
  ref_store(state, 1, (ref_scalar){.u = (uint64_t)counter});
  if (has_high) ref_store(state, 2, (ref_scalar){.u = (uint64_t)(counter >> 64)});
}

weir_status ref_rng_bit_generator(ref_frame *f, ir_op op) {
  const ref_tensor *in = ref_operand(f, op, 0);
  const char *text = ir_op_string(f->m, op, "rng_algorithm"), *word = "";
  size_t n = text ? ir_enum_word(text, "rng_algorithm", &word) : 0;
  if (!text || in->rank != 1 || in->dims[0] < 2 || in->dtype != IR_UI64)
    return ref_error(f, op, WEIR_UNIMPLEMENTED,
                     "of a state that is not tensor<2xui64> or tensor<3xui64>");
  ref_tensor *state = ref_result(f, op, 0), *y = ref_result(f, op, 1);
  if (state->rank != 1 || state->dims[0] != in->dims[0] ||
      ir_dtype_class_of(y->dtype) == IR_CLASS_COMPLEX || y->dtype == IR_I1)
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "of %s", ir_dtype_name(y->dtype));
  for (int64_t i = 0; i < in->dims[0]; i++) ref_copy_element(state, i, in, i);
  if (n == 9 && !strncmp(word, "THREE_FRY", n)) {
    uint64_t counter = ref_load(in, 1).u;
    ref_store(state, 1,
              (ref_scalar){.u = counter + (uint64_t)threefry_fill(y, ref_load(in, 0).u, counter)});
  } else {
    philox_state(state, y);
  }
  return WEIR_OK;
}
