/* What an op compares by: a difference or quotient, of which it asks on which side of equal it is,
 * itself, or nothing. */
#include "ir/compares.h"

#include "program_testing.h"

/* d is x - y, q is x / y; of each line what its last op compares by: s, one of these; c, the op
 * itself; - */
static const struct asked {
  char by;
  const char *ops;
} lines[] = {
    {'s', "%r = stablehlo.sign %d : tensor<4xf32>"},
    {'s', "%r = stablehlo.floor %d : tensor<4xf32>"},
    {'s', "%r = stablehlo.ceil %d : tensor<4xf32>"},
    {'-', "%r = stablehlo.tanh %d : tensor<4xf32>"},
    {'-', "%r = stablehlo.sign %x : tensor<4xf32>"},
    {'s', "%f = stablehlo.exponential %d : tensor<4xf32>\n%r = stablehlo.compare EQ, %f, %one"},
    {'s', "%f = stablehlo.logistic %d : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %one"},
    {'s', "%f = stablehlo.cosine %d : tensor<4xf32>\n%r = stablehlo.compare EQ, %f, %one"},
    {'s', "%f = stablehlo.tanh %d : tensor<4xf32>\n%r = stablehlo.compare EQ, %f, %zero"},
    {'s', "%f = stablehlo.sign %d : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %one"},
    {'s', "%r = stablehlo.compare GT, %zero, %d"},
    {'s', "%f = stablehlo.tanh %d : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %one"},
    {'c', "%f = stablehlo.abs %d : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %one"},
    {'c', "%r = stablehlo.compare GE, %d, %one"},
    {'c', "%r = stablehlo.compare GE, %x, %y"},
    {'s', "%f = stablehlo.multiply %d, %d : tensor<4xf32>\n%r = stablehlo.compare LE, %f, %zero"},
    {'c', "%f = stablehlo.multiply %d, %x : tensor<4xf32>\n%r = stablehlo.compare LE, %f, %zero"},
    {'c', "%f = stablehlo.exponential %d : tensor<4xf32>\n%r = stablehlo.compare GT, %f, %half"},
    {'s', "%f = stablehlo.add %d, %half : tensor<4xf32>\n%r = stablehlo.compare GT, %half, %f"},
    {'s', "%r = stablehlo.compare GE, %q, %one"},
    {'s', "%f = stablehlo.negate %q : tensor<4xf32>\n%r = stablehlo.compare NE, %f, %one"},
    {'s',
     "%f = stablehlo.multiply %q, %half : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %half"},
    {'s', "%f = stablehlo.floor %q : tensor<4xf32>\n%r = stablehlo.compare EQ, %f, %one"},
    {'c', "%r = stablehlo.compare GT, %q, %zero"},
    {'c', "%r = stablehlo.compare GT, %q, %half"},
    {'c', "%f = stablehlo.multiply %q, %half : tensor<4xf32>\n%r = stablehlo.compare GE, %f, %one"},
    {'c',
     "%f = stablehlo.clamp %zero, %q, %half : tensor<4xf32>\n%r = stablehlo.compare GE, %f, "
     "%half"},
    {'-', "%r = stablehlo.floor %q : tensor<4xf32>"},
};

static weir_status check(ir_module *m, arena *a, void *user) {
  const struct asked *line = user;
  ir_block body = ir_body(m, ir_main_function(m));
  ir_op last = ir_value_get(m, ir_operand(m, ir_terminator(m, body), 0))->op,
        by = ir_compares_by(m, last);
  char is = !by ? '-' : by == last ? 'c' : 's';
  bool is_of_two = by && (ir_kind_of(m, by) == IR_OP_SUBTRACT || ir_kind_of(m, by) == IR_OP_DIVIDE);
  assert(a && (is != 's' || is_of_two));
  if (is != line->by) fprintf(stderr, "%c, not %c: %s\n", is, line->by, line->ops);
  assert(is == line->by);
  return WEIR_OK;
}

int main(void) {
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char text[1200];
    bool compares = strstr(lines[i].ops, "compare") != NULL;
    const char *type = compares ? "tensor<4xi1>" : "tensor<4xf32>";
    snprintf(text, sizeof text,
             "func.func public @main(%%x: tensor<4xf32>, %%y: tensor<4xf32>) -> %s {\n"
             "%%zero = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
             "%%one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
             "%%half = stablehlo.constant dense<0.5> : tensor<4xf32>\n"
             "%%q = stablehlo.divide %%x, %%y : tensor<4xf32>\n"
             "%%d = stablehlo.subtract %%x, %%y : tensor<4xf32>\n%s%s\nreturn %%r : %s\n}\n",
             type, lines[i].ops,
             compares ? " : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>" : "", type);
    struct asked line = lines[i];
    assert(program_ask((program_asked){.text = text, .ask = check, .user = &line}) == WEIR_OK);
  }
  return 0;
}
