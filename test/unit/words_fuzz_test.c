/* The readers of short texts against broken ones (fuzz/replay.h): every seed through every reader.
 */
#include "../fuzz/fuzz_words.c"
#include "../fuzz/replay.h"

enum { READERS = 9, MUTATIONS_PER_WORD = 120 };

int main(void) {
  static const char *const words[] = {
      "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
      "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>",
      "#stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], "
      "operand_batching_dims = [], start_index_map = [0], index_vector_dim = 1>",
      "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 9223372036854775807>",
      "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>",
      "#stablehlo<comparison_direction EQ>",
      "#stablehlo<precision HIGHEST>",
      "callsite(\"f\"(\"site-packages/f.py\":1:2) at fused<{a = \"b\"}>[\"g.py\":3:4 to :9])",
      "512 MiB",
      "9223372036854775807",
      "",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    for (int reader = 0; reader < READERS; reader++) {
      char text[512];
      int n = snprintf(text, sizeof text, "%c%s", reader, words[i]);
      replay_cuts(text, (size_t)n);
      replay_mutations(text, (size_t)n, MUTATIONS_PER_WORD, 77 + i * READERS + (uint64_t)reader);
    }
  return 0;
}
