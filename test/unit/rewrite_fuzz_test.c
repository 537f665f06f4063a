/* The whole call against broken programs (fuzz/replay.h), under limits and thresholds. */
#include "../fuzz/fuzz_rewrite.c"
#include "../fuzz/replay.h"

enum { MUTATIONS_PER_PROGRAM = 12, MOST_BYTES = 9000 };

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
  /* limits of 4 kB with the minimum, 64 kB without; a threshold of 512 bytes */
  static const unsigned char ways[] = {8, 64 | 12, 128 | 5};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/%s/program.mlir", WEIR_TEST_DIR, programs[i]);
    char *text = replay_read(path, &length);
    for (size_t k = 0; k < sizeof ways && length < MOST_BYTES; k++) {
      memmove(text + 1, text + (k ? 1 : 0), length);
      text[0] = (char)ways[k];
      replay_run(text, length + 1);
      replay_mutations(text, length + 1, MUTATIONS_PER_PROGRAM, 99 + i * 10 + k);
    }
    free(text);
  }
  return 0;
}
