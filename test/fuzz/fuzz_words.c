/* libFuzzer target: the readers of short texts. Attributes in dialect form (numbers of dot, gather,
 * scatter, convolution, comparisons), lists of integers, words of enums, locations, sizes. The
 * first byte chooses the reader, the rest is the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/attrs.h"
#include "plan/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An op with the text as the attribute that its decoder reads. */
static ir_op op_with(ir_module *m, ir_kind kind, const char *name, const char *text) {
  ir_op op = ir_op_new(m, IR_NONE, &(ir_op_desc){.kind = kind});
  ir_op_set_attr(m, op, name, ir_attr_other(m, text), true);
  return op;
}

static void check_ints(ir_ints ints) {
  int64_t sum = 0;
  for (int32_t i = 0; i < ints.count; i++) sum ^= ints.at[i]; /* all of it can be read */
  if (ints.count < 0 || !ints.at || sum == 42424242) abort();
}

static void read_attribute(ir_module *m, unsigned which, const char *text) {
  ir_dot_numbers dot;
  ir_gather_numbers gather;
  ir_conv_numbers conv;
  ir_direction direction;
  ir_compare_type type;
  arena *a = m->arena;
  ir_op op = op_with(m, IR_OP_DOT_GENERAL, "dot_dimension_numbers", text);
  if (which == 0 && ir_dot_dims(m, op, &dot)) check_ints(dot.lhs_batch);
  op = op_with(m, IR_OP_GATHER, "dimension_numbers", text);
  if (which == 1 && ir_gather_dims(a, m, op, &gather)) check_ints(gather.offset_dims);
  op = op_with(m, IR_OP_SCATTER, "scatter_dimension_numbers", text);
  if (which == 2 && ir_gather_dims(a, m, op, &gather)) check_ints(gather.start_index_map);
  op = op_with(m, IR_OP_CONVOLUTION, "dimension_numbers", text);
  if (which == 3 && ir_conv_dims(a, m, op, &conv)) check_ints(conv.kernel_spatial);
  op = op_with(m, IR_OP_COMPARE, "comparison_direction", text);
  if (which == 4 && ir_compare_kind(m, op, &direction, &type) && direction > IR_LT) abort();
}

static void read_word(ir_module *m, unsigned which, const char *text) {
  ir_ints ints;
  const char *word;
  int64_t bytes = -7;
  arena *a = m->arena;
  if (which == 5 && ir_text_ints(a, text, "offset_dims =", &ints)) check_ints(ints);
  size_t n = which == 6 ? ir_enum_word(text, "precision", &word) : 0;
  if (n && (word < text || word + n > text + strlen(text))) abort();
  ir_str location = which == 7 ? ir_intern_string(m, text) : IR_NONE;
  const char *line = location ? plan_source_line(a, m, location) : NULL;
  if (line && strlen(line) > strlen(text) + 64) abort();
  if (which != 8) return;
  weir_status status = weir_parse_bytes(text, &bytes);
  if (status == WEIR_OK ? bytes <= 0 : bytes != -7) abort();
}

typedef struct input {
  ctx c;
  unsigned which;
  const char *text;
} input;

static weir_status read_all(void *user) {
  input *in = user;
  ir_module *m = ir_module_create(&in->c);
  read_attribute(m, in->which, in->text);
  read_word(m, in->which, in->text);
  return WEIR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  char *text = malloc(size); /* the first byte's room is the NUL's */
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  input in = {.which = data[0] % 9, .text = text};
  ctx_init(&in.c);
  if (ctx_try(&in.c, read_all, &in) != WEIR_OK) {
    fprintf(stderr, "%s\n", in.c.message);
    abort();
  }
  ctx_deinit(&in.c);
  free(text);
  return 0;
}
