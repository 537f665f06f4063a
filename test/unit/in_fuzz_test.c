/* The reader against broken text: programs cut off at every byte, and programs with random
 * mutations. What counts is in the fuzz target; the sanitizer build looks on. A fixed number of
 * runs from fixed seeds: the same on every machine. */
#include <assert.h>

#include "../fuzz/fuzz_stablehlo_text.c"

enum { MUTATIONS_PER_PROGRAM = 1500, MAX_BYTES = 1 << 20 };

static char *read_program(const char *path, size_t *out_length) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(MAX_BYTES);
  if (!f || !text) die("can't be read", path);
  *out_length = fread(text, 1, MAX_BYTES, f);
  fclose(f);
  return text;
}

/* The bytes in a block of their own size, so that reading past them is seen. */
static void run(const char *text, size_t length) {
  if (getenv("WEIR_FUZZ_LAST")) { /* the input that broke it */
    FILE *f = fopen(getenv("WEIR_FUZZ_LAST"), "wb");
    if (f) fwrite(text, 1, length, f), fclose(f);
  }
  uint8_t *exact = malloc(length ? length : 1);
  memcpy(exact, text, length);
  LLVMFuzzerTestOneInput(exact, length);
  free(exact);
}

static void cut_off_everywhere(const char *text, size_t length) {
  for (size_t n = 0; n <= length; n++) run(text, n);
}

static uint64_t random_bits(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

/* Replaces `old` bytes at `at` by `new_length` of them. */
static size_t splice(char *text, size_t length, size_t at, size_t old, const char *new_text,
                     size_t new_length) {
  char piece[256];
  if (at + old > length) old = length - at;
  if (new_length > sizeof piece || length - old + new_length > MAX_BYTES) return length;
  memcpy(piece, new_text, new_length);
  memmove(text + at + new_length, text + at + old, length - at - old);
  memcpy(text + at, piece, new_length);
  return length - old + new_length;
}

static size_t mutate(char *text, size_t length, uint64_t *seed) {
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

static void mutations(const char *text, size_t length, uint64_t seed) {
  char *copy = malloc(MAX_BYTES);
  for (int i = 0; i < MUTATIONS_PER_PROGRAM; i++) {
    memcpy(copy, text, length);
    size_t n = length;
    for (uint64_t k = 1 + random_bits(&seed) % 4; k; k--) n = mutate(copy, n, &seed);
    run(copy, n);
  }
  free(copy);
}

int main(void) {
  static const char *const programs[] = {
      "corpus/hand_generic_reduce_region/program.mlir",
      "corpus/hand_tuple/program.mlir",
      "corpus/dot_algorithm/program.mlir",
      "corpus/composite/program.mlir",
      "corpus/conv_2d_dilated/program.mlir",
      "corpus/hand_chlo_misc/program.mlir",
      "corpus/hand_if/program.mlir",
      "lit/in/everything.mlir",
  };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", WEIR_TEST_DIR, programs[i]);
    char *text = read_program(path, &length);
    cut_off_everywhere(text, length < 6000 ? length : 6000);
    mutations(text, length, 0x9E3779B97F4A7C15u + i);
    free(text);
  }
  return 0;
}
