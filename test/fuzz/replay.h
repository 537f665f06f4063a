/* Replay of a libFuzzer target in the normal tests: its seeds cut off at every byte, and with
 * random mutations from fixed seeds of the generator, so that a run is the same on every machine.
 * For a unit program that includes a target of this folder. What counts is in the target; the
 * sanitizer build looks on.
 */
#ifndef WEIR_TEST_REPLAY_H
#define WEIR_TEST_REPLAY_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline char *replay_read(const char *path, size_t *out_length) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(MAX_BYTES);
  if (!f || !text) {
    fprintf(stderr, "can't be read: %s\n", path);
    abort();
  }
  *out_length = fread(text, 1, MAX_BYTES, f);
  fclose(f);
  return text;
}

/* The bytes in a block of their own size, so that reading past them is seen. */
static inline void replay_run(const char *text, size_t length) {
  if (getenv("WEIR_FUZZ_LAST")) { /* the input that broke it */
    FILE *f = fopen(getenv("WEIR_FUZZ_LAST"), "wb");
    if (f) fwrite(text, 1, length, f), fclose(f);
  }
  uint8_t *exact = malloc(length ? length : 1);
  memcpy(exact, text, length);
  LLVMFuzzerTestOneInput(exact, length);
  free(exact);
}

static inline void replay_cuts(const char *text, size_t length) {
  for (size_t n = 0; n <= length; n++) replay_run(text, n);
}

static inline uint64_t random_bits(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

/* Replaces `old` bytes at `at` by `new_length` of them. */
static inline size_t splice(char *text, size_t length, size_t at, size_t old, const char *new_text,
                            size_t new_length) {
  char piece[256];
  if (at + old > length) old = length - at;
  if (new_length > sizeof piece || length - old + new_length > MAX_BYTES) return length;
  memcpy(piece, new_text, new_length);
  memmove(text + at + new_length, text + at + old, length - at - old);
  memcpy(text + at, piece, new_length);
  return length - old + new_length;
}

static inline size_t mutate(char *text, size_t length, uint64_t *seed) {
  static const char *const words[] = {
      "%0",
      "%0#1",
      "%1:2 = ",
      "@main",
      "#a",
      "!t",
      "^bb0",
      "\"",
      "({",
      "})",
      "<{",
      "}>",
      "{",
      "}",
      "[",
      "]",
      "<",
      ">",
      "(",
      ")",
      ":",
      "->",
      ",",
      "=",
      "-",
      "\n#a = ",
      "\n!t = ",
      "#a = [#a]",
      "dense<",
      "dense<\"0x00\">",
      "dense<[1, 2]>",
      "array<i64: 1>",
      "tensor<2x3xf32>",
      "tensor<?xi1>",
      "tensor<9999999999999x9999999999999xf32>",
      "tensor<4xi4>",
      "tuple<>",
      "() -> ()",
      "complex<f32>",
      "i64",
      "0x7FC0",
      "-1",
      "18446744073709551616",
      "1.0e999",
      "true",
      "loc(",
      "loc(\"a\")",
      "loc(#a)",
      "// ",
      "\"stablehlo.add\"",
      "stablehlo.reduce",
      " applies ",
      "attributes",
      "vector<2xf32>",
      "!quant.uniform<i8:f32, 1.0>",
      "dense_resource<a>",
      "\xff",
      "{-#",
  };
  if (length == 0) return 0;
  size_t at = random_bits(seed) % length, from = random_bits(seed) % length,
         n = random_bits(seed) % 64;
  if (from + n > length) n = length - from;
  switch (random_bits(seed) % 6) {
    case 0: text[at] = (char)random_bits(seed); return length;
    case 1: return splice(text, length, at, n, "", 0);
    case 2: return splice(text, length, at, 0, text + from, n);
    case 3: return splice(text, length, at, n, text + from, n);
    default: {
      const char *word = words[random_bits(seed) % (sizeof words / sizeof *words)];
      return splice(text, length, at, random_bits(seed) % 5, word, strlen(word));
    }
  }
}

static inline void replay_mutations(const char *text, size_t length, int count, uint64_t seed) {
  char *copy = malloc(MAX_BYTES);
  for (int i = 0; i < count; i++) {
    memcpy(copy, text, length);
    size_t n = length;
    for (uint64_t k = 1 + random_bits(&seed) % 4; k; k--) n = mutate(copy, n, &seed);
    replay_run(copy, n);
  }
  free(copy);
}

#endif
