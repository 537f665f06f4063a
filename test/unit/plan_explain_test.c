/* Source lines out of every form of MLIR's locations, byte counts in words, the table. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "plan/explain.h"

static ctx c;
static arena *a;
static ir_module *m;

static void line_is(const char *location, const char *want) {
  const char *got = plan_source_line(a, m, ir_intern_string(m, location));
  if (!want ? got != NULL : (!got || strcmp(got, want) != 0)) {
    fprintf(stderr, "%s: %s instead of %s\n", location, got ? got : "none", want ? want : "none");
    assert(false);
  }
}

static void locations(void) {
  line_is("", NULL);
  line_is("unknown", NULL);
  line_is("\"just a name\"", NULL);
  line_is("\"file.py\":12:3", "file.py:12");
  line_is("\"/home/me/project/model.py\":7:0", "model.py:7");
  line_is("\"model.py\":7:2 to :19", "model.py:7");
  line_is("\"model.py\":7:2 to 9:19", "model.py:7");
  line_is("\"jit(f)/jit(main)/dot_general\"(\"model.py\":120:11)", "model.py:120");
  line_is("\"name with \\\" and :12:3\"(\"model.py\":120:11)", "model.py:120");
  line_is("\"odd \\\"name\\\".py\":3:1", "odd \\\"name\\\".py:3");
  line_is("fused[\"a.py\":1:1, \"b.py\":2:2]", "a.py:1");
  line_is("fused<\"CSE\">[\"a.py\":1:1, \"b.py\":2:2]", "a.py:1");
  line_is("callsite(\"inner.py\":5:1 at \"outer.py\":9:1)", "inner.py:5");
  line_is(
      "\"dot\"(callsite(\"f\"(\"/env/lib/python3.11/site-packages/jax/nn.py\":30:4) at "
      "callsite(\"g\"(\"/home/me/train.py\":8:2) at \"main.py\":99:0)))",
      "train.py:8");
  line_is("callsite(\"/x/site-packages/jax/nn.py\":30:4 at \"/x/site-packages/flax/core.py\":2:2)",
          "nn.py:30");
  line_is("fused<{a = 1}>[\"x\"(unknown), \"y.py\":4:4]", "y.py:4");
  line_is("\"unterminated.py", NULL);
  line_is("\"\":3:3", NULL);
}

static void bytes_are(int64_t bytes, const char *want) {
  const char *got = plan_bytes_text(a, bytes);
  if (strcmp(got, want) != 0)
    fprintf(stderr, "%lld: %s instead of %s\n", (long long)bytes, got, want);
  assert(strcmp(got, want) == 0);
}

static void byte_counts(void) {
  bytes_are(0, "0 B");
  bytes_are(999, "999 B");
  bytes_are(1000, "1.00 kB");
  bytes_are(9994, "9.99 kB");
  bytes_are(12345, "12.3 kB");
  bytes_are(999499, "999 kB");
  bytes_are(999500, "1.00 MB");
  bytes_are(1073741824, "1.07 GB");
  bytes_are(8000000000000, "8.00 TB");
  bytes_are(INT64_MAX, "9.22 EB");
}

static ir_value sine_of(ir_builder *b, ir_value x, const char *location) {
  b->location = ir_intern_string(m, location);
  return ir_build_unary(b, IR_OP_SINE, x);
}

static void table(void) {
  int64_t dims[] = {1000, 250};
  ir_builder b = {m, ir_op_get(m, m->root)->regions[0], 0};
  ir_value zero = ir_build_splat_real(&b, ir_tensor(m, IR_F32, 2, dims), 0),
           x = sine_of(&b, zero, "\"sin\"(\"model.py\":3:1)"), y = sine_of(&b, x, "unknown");
  plan_holder holders[] = {{x, b.block, 1000000}, {y, b.block, 1000000}, {zero, b.block, 500000}};
  plan_peak p = {.argument_bytes = 4000,
                 .output_bytes = 500,
                 .temp_bytes = 2500000,
                 .total_bytes = 2504500,
                 .at = ir_value_get(m, x)->op,
                 .n_holders = 3,
                 .holders = holders};
  strbuf out = strbuf_make(a);
  plan_explain_peak(m, &p, &out, 2);
  assert(strstr(
      out.text,
      "peak 2.50 MB = arguments 4.00 kB + results 500 B - donated 0 B + temporaries 2.50 MB\n"));
  assert(strstr(out.text, "temporaries at the peak (during stablehlo.sine, model.py:3):\n"));
  assert(strstr(out.text,
                "1.00 MB   40.0 %  f32[1000,250]            sine                 model.py:3\n"));
  assert(strstr(out.text, "1.00 MB   40.0 %  f32[1000,250]            sine                 -\n"));
  assert(strstr(out.text, "500 kB           in 1 more\n") && !strstr(out.text, "constant"));
}

int main(void) {
  ctx_init(&c);
  a = arena_create(&c);
  m = ir_module_create(&c);
  locations();
  byte_counts();
  table();
  ctx_deinit(&c);
  return 0;
}
