/* The reader against broken text: programs cut off at every byte, and programs with random
 * mutations (fuzz/replay.h). */
#include "../fuzz/fuzz_stablehlo_text.c"
#include "../fuzz/replay.h"

enum { MUTATIONS_PER_PROGRAM = 1500 };

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
    char *text = replay_read(path, &length);
    replay_cuts(text, length < 6000 ? length : 6000);
    replay_mutations(text, length, MUTATIONS_PER_PROGRAM, 0x9E3779B97F4A7C15u + i);
    free(text);
  }
  return 0;
}
