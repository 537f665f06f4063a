/* libFuzzer target: .npy files. The first three bytes choose element type, rank and lengths of the
 * tensor that is wanted, the rest is the file. What reads must be there to the last element. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref/eval.h"
#include "ref/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
  ctx c;
  const uint8_t *data;
  size_t size;
} input;

static weir_status read_file(void *user) {
  input *in = user;
  const uint8_t *d = in->data;
  int64_t dims[3] = {d[2] & 3, d[2] >> 2 & 3, d[2] >> 4};
  ir_type_data want = {.kind = IR_TYPE_TENSOR,
                       .dtype = (ir_dtype)(1 + d[0] % (IR_DTYPE_COUNT - 1)),
                       .rank = d[1] % 4,
                       .dims = dims};
  ref_tensor out;
  arena *a = arena_create(&in->c);
  weir_status status = ref_npy_parse(a, "x.npy", (const char *)d + 3, in->size - 3, &want, &out);
  for (int64_t i = 0; status == WEIR_OK && i < ref_element_count(&out); i++) {
    ref_scalar s = ref_load(&out, i);
    if (memcmp(&s, &s, sizeof s)) abort(); /* reads all of it */
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3) return 0;
  input in = {.data = data, .size = size};
  ctx_init(&in.c);
  weir_status status = ctx_try(&in.c, read_file, &in);
  if (status != WEIR_OK && status != WEIR_INVALID_ARGUMENT && status != WEIR_UNIMPLEMENTED) {
    fprintf(stderr, "%s: %s\n", weir_status_name(status), in.c.message);
    abort();
  }
  ctx_deinit(&in.c);
  return 0;
}
