/* Sums of one loop that are added up behind it: what joining them looks at grows as they do. */
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

int main(void) {
  sums few = joined(50), many = joined(400);
  assert(few.looked_at >= 50 && many.looked_at <= 9 * few.looked_at);
  return 0;
}
