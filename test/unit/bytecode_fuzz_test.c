/* The reader of MLIR bytecode against broken files: cut off at every byte, every byte replaced by
 * others, random mutations (fuzz/replay.h). */
#include "../fuzz/fuzz_bytecode.c"
#include "../fuzz/replay.h"

enum { MUTATIONS_PER_PROGRAM = 300 };

static void replace_each(char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char old = bytes[i];
    const char others[] = {(char)~old, (char)(old + 2)};
    for (size_t k = 0; k < sizeof others; k++) {
      bytes[i] = others[k];
      replay_run(bytes, length);
    }
    bytes[i] = old;
  }
}

/* Two strings; the text of the last one is what the length of the first one is read from: 2^61. */
static void replay_overlapping_strings(void) {
  static const char file[] =
      "ML\xEFR" /* version 6, made by "x" */
      "\x0D"
      "x\0"
      /* section 0 of 12 bytes: lengths, then texts */
      "\0\x19\x05\x15"
      "\0\0\0\0\0\0\0\0\x20\0"
      /* sections 1 to 4, empty */ "\1\1\2\1\3\1\4\1";
  replay_run(file, sizeof file - 1);
}

int main(void) {
  replay_overlapping_strings();
  static const char *const programs[] = {"ops-0.9.0",    "ops-0.14.0", "ops-1.17.0", "plain-0.9.0",
                                         "plain-1.17.0", "mixed-weir", "ops-weir"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/bytecode/%s.mlirbc", WEIR_TEST_DIR, programs[i]);
    char *bytes = replay_read(path, &length);
    replay_cuts(bytes, length);
    replace_each(bytes, length);
    replay_mutations(bytes, length, MUTATIONS_PER_PROGRAM, 0xB5297A4D3F84D5B5u + i);
    free(bytes);
  }
  return 0;
}
