/* Sums of one loop that are added up behind it: what joining them looks at grows as they do. And
 * blocks that are read of two sums before either is put back: each goes where it was read. */
#include <stdlib.h>

#include "program_testing.h"
#include "split/joined.h"

#define SUM "tensor<8x8xf64>"

enum { LINE = 200 };

typedef struct sums {
  int n;
  int32_t joined;
  int64_t looked_at;
} sums;

/* The line with its number in up to three places, n times. */
static char *repeat(char *s, int n, const char *separator, const char *line) {
  for (int i = 0; i < n; i++) {
    s += sprintf(s, "%s", i ? separator : "");
    s += sprintf(s, line, i, i, i);
  }
  return s;
}

/* ((0 + a) + b) + .. */
static char *program(int n) {
  char *text = malloc(1000 + (size_t)n * LINE * 5), *s = text;
  assert(text);
  s += sprintf(s,
               "func.func @main(%%x: tensor<96x8xf64>, %%t0: " SUM ") -> " SUM
               " {\n%%z = stablehlo.constant dense<0.0> : " SUM "\n%%r:%d = \"weir.loop\"(%%x, ",
               n);
  s = repeat(s, n, ", ", "%%z");
  s += sprintf(s, ") ({\n^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%xs: tensor<12x8xf64>, ");
  s = repeat(s, n, ", ", "%%a%d: " SUM);
  s += sprintf(s, "):\n");
  s = repeat(s, n, "",
             "%%g%d = stablehlo.dot_general %%xs, %%xs, contracting_dims = [0] x [0] : "
             "(tensor<12x8xf64>, tensor<12x8xf64>) -> " SUM "\n");
  s = repeat(s, n, "", "%%s%d = stablehlo.add %%a%d, %%g%d : " SUM "\n");
  s += sprintf(s, "\"weir.yield\"(");
  s = repeat(s, n, ", ", "%%s%d");
  s += sprintf(s, ") : (");
  s = repeat(s, n, ", ", SUM);
  s += sprintf(s,
               ") -> ()\n}) {extent = 96 : i64, slice = 12 : i64, in_dims = array<i64: 0>, "
               "in_units = array<i64: 1>, out_dims = array<i64: ");
  s = repeat(s, n, ", ", "-1");
  s += sprintf(s, ">, out_units = array<i64: ");
  s = repeat(s, n, ", ", "1");
  s += sprintf(s, ">} : (tensor<96x8xf64>, ");
  s = repeat(s, n, ", ", SUM);
  s += sprintf(s, ") -> (");
  s = repeat(s, n, ", ", SUM);
  s += sprintf(s, ")\n");
  for (int i = 0; i < n; i++)
    s += sprintf(s, "%%t%d = stablehlo.add %%t%d, %%r#%d : " SUM "\n", i + 1, i, i);
  sprintf(s, "return %%t%d : " SUM "\n}\n", n);
  return text;
}

static weir_status ask(ir_module *m, arena *a, void *user) {
  (void)a;
  sums *p = user;
  int64_t before = m->ctx->looked_at;
  p->joined = split_join_sums(m, ir_body(m, ir_main_function(m)), IR_NONE, 0);
  p->looked_at = m->ctx->looked_at - before;
  return ir_verify(m);
}

static sums joined(int n) {
  sums p = {.n = n};
  char *text = program(n);
  assert(program_ask((program_asked){.text = text, .ask = ask, .user = &p}) == WEIR_OK);
  free(text);
  assert(p.joined == n);
  return p;
}

#define PART "tensor<16x8xf64>"
#define BLOCK "tensor<8x8xf64>"
static const char two_parts[] =
    "func.func @main(%x: tensor<96x8xf64>) -> (tensor<32x8xf64>, tensor<32x8xf64>) {\n"
    "%z = stablehlo.constant dense<0.0> : " PART
    "\n"
    "%zero = stablehlo.constant dense<0.0> : tensor<f64>\n"
    "%r:2 = \"weir.loop\"(%x, %z, %z) ({\n"
    "^bb0(%s: tensor<i64>, %lo: tensor<i64>, %xs: tensor<8x8xf64>, %a: " PART ", %b: " PART
    "):\n"
    "%i = stablehlo.constant dense<0> : tensor<i64>\n"
    "%j = stablehlo.constant dense<4> : tensor<i64>\n"
    "%sa = stablehlo.dynamic_slice %a, %i, %i, sizes = [8, 8]\n"
    ": (" PART ", tensor<i64>, tensor<i64>) -> " BLOCK
    "\n"
    "%sb = stablehlo.dynamic_slice %b, %j, %i, sizes = [8, 8]\n"
    ": (" PART ", tensor<i64>, tensor<i64>) -> " BLOCK
    "\n"
    "%na = stablehlo.add %sa, %xs : " BLOCK "\n%nb = stablehlo.add %sb, %xs : " BLOCK
    "\n"
    "%ua = stablehlo.dynamic_update_slice %a, %na, %i, %i\n"
    ": (" PART ", " BLOCK ", tensor<i64>, tensor<i64>) -> " PART
    "\n"
    "%ub = stablehlo.dynamic_update_slice %b, %nb, %j, %i\n"
    ": (" PART ", " BLOCK ", tensor<i64>, tensor<i64>) -> " PART
    "\n"
    "\"weir.yield\"(%ua, %ub) : (" PART ", " PART
    ") -> ()\n"
    "}) {extent = 96 : i64, slice = 8 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>,\n"
    "out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>}\n"
    ": (tensor<96x8xf64>, " PART ", " PART ") -> (" PART ", " PART
    ")\n"
    "%p = stablehlo.pad %r#0, %zero, low = [0, 0], high = [16, 0], interior = [0, 0]\n"
    ": (" PART
    ", tensor<f64>) -> tensor<32x8xf64>\n"
    "%q = stablehlo.pad %r#1, %zero, low = [16, 0], high = [0, 0], interior = [0, 0]\n"
    ": (" PART
    ", tensor<f64>) -> tensor<32x8xf64>\n"
    "return %p, %q : tensor<32x8xf64>, tensor<32x8xf64>\n}\n";

/* update(x, slice(x, at) + .., at) */
static bool is_put_back(const ir_module *m, ir_op update) {
  ir_op add = ir_maker(m, ir_operand(m, update, 1), IR_OP_ADD),
        slice = add ? ir_maker(m, ir_operand(m, add, 0), IR_OP_DYNAMIC_SLICE) : IR_NONE;
  bool is = slice && ir_operand(m, slice, 0) == ir_operand(m, update, 0);
  for (uint32_t i = 1; is && i < 3; i++)
    is = ir_operand(m, slice, i) == ir_operand(m, update, i + 1);
  return is;
}

static weir_status ask_two_parts(ir_module *m, arena *a, void *user) {
  int updates = 0;
  (void)a, (void)user;
  assert(split_join_sums(m, ir_body(m, ir_main_function(m)), IR_NONE, 0) == 2);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) {
    if (ir_kind_of(m, w.op) != IR_OP_DYNAMIC_UPDATE_SLICE) continue;
    assert(is_put_back(m, w.op));
    updates++;
  }
  assert(updates == 2);
  return ir_verify(m);
}

int main(void) {
  assert(program_ask((program_asked){.text = two_parts, .ask = ask_two_parts}) == WEIR_OK);
  sums few = joined(50), many = joined(400);
  assert(few.looked_at >= 50 && many.looked_at <= 9 * few.looked_at);
  return 0;
}
