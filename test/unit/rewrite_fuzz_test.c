/* The whole call against broken programs (fuzz/replay.h), under limits and thresholds. */
#include <assert.h>

#include "../fuzz/fuzz_rewrite.c"
#include "../fuzz/replay.h"

enum { MUTATIONS_PER_PROGRAM = 12, MUTATIONS_PER_FUNCTION = 3, MOST_BYTES = 9000 };

/* limits of 4 kB with the minimum, 64 kB without; a threshold of 512 bytes */
static const unsigned char ways[] = {8, 64 | 12, 128 | 5};

static void fuzz(const char *program, size_t length, int mutations, uint64_t seed) {
  char *text = malloc(MAX_BYTES);
  memcpy(text + 1, program, length);
  for (size_t k = 0; k < sizeof ways && length < MOST_BYTES; k++) {
    text[0] = (char)ways[k];
    replay_run(text, length + 1);
    replay_mutations(text, length + 1, mutations, seed + k);
  }
  free(text);
}

/* The programs of a pass's text test, each by itself; the last of a module ends it, too. */
static void fuzz_functions(const char *name, uint64_t seed) {
  static const char start[] = "func.func ";
  char path[512];
  size_t length;
  snprintf(path, sizeof path, "%s/lit/pass/%s.mlir", WEIR_TEST_DIR, name);
  char *text = replay_read(path, &length);
  text[length < MAX_BYTES ? length : MAX_BYTES - 1] = 0;
  char *at = strstr(text, start), *next = at;
  for (assert(at); next; at = next, seed += 10) {
    next = strstr(at + 1, start);
    fuzz(at, next ? (size_t)(next - at) : strlen(at), MUTATIONS_PER_FUNCTION, seed);
  }
  free(text);
}

int main(void) {
  static const char *const programs[] = {
      "corpus/hand_generic_reduce_region",
      "corpus/m_matvec_se",
      "corpus/m_xent_vocab",
      "corpus/m_knn_cosine",
      "corpus/cumulative",
      "corpus/conv_2d_nhwc",
      "corpus/hand_if",
      "corpus/gather_grad",
      "corpus/composite",
  };
  static const char *const passes[] = {"until-last",       "if-convert", "through-case", "solve",
                                       "solve-left-alone", "listed",     "scatters"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/%s/program.mlir", WEIR_TEST_DIR, programs[i]);
    char *text = replay_read(path, &length);
    fuzz(text, length, MUTATIONS_PER_PROGRAM, 99 + i * 10);
    free(text);
  }
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    fuzz_functions(passes[i], 1000 + i * 1000);
  return 0;
}
