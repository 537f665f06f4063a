/* The reader of .npy files against broken ones (fuzz/replay.h). */
#include "../fuzz/fuzz_npy.c"
#include "../fuzz/replay.h"

enum { MUTATIONS_PER_FILE = 2000 };

/* The bytes that choose what is wanted, and a file of that. */
static size_t make_file(char *to, ir_dtype dtype, const char *header, int version, size_t bytes) {
  size_t n = strlen(header);
  to[0] = (char)(dtype - 1);
  to[1] = 2;          /* rank */
  to[2] = 2 | 3 << 2; /* 2 x 3 */
  memcpy(to + 3, "\x93NUMPY", 6);
  to[9] = (char)version;
  to[10] = 0;
  size_t at = 11;
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) to[at++] = (char)(n >> 8 * i);
  memcpy(to + at, header, n);
  memset(to + at + n, 1, bytes);
  return at + n + bytes;
}

int main(void) {
  static const struct {
    ir_dtype dtype;
    const char *header;
    int version;
    size_t bytes;
  } files[] = {
      {IR_F32, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 1, 24},
      {IR_F64, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", 2, 48},
      {IR_C128, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<c16'}\n", 3, 96},
      {IR_BF16, "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 12},
      {IR_I1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 6},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char text[512];
    size_t n = make_file(text, files[i].dtype, files[i].header, files[i].version, files[i].bytes);
    replay_cuts(text, n);
    replay_mutations(text, n, MUTATIONS_PER_FILE, 1234 + i);
  }
  return 0;
}
