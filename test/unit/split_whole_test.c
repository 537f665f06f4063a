/* A weir.loop's body as one trip (split/loops.h), of which kernels are made: run in place of the
 * slices it gives what they give, whatever the slice; so it does behind dce, and where bodies are
 * split further. */
#include "pass/pass.h"
#include "pipeline/pipeline.h"
#include "ref_testing.h"
#include "split/loops.h"

/* Rows of 7 of x, y: 23 or 20 long. */
#define HEAD                                                                                       \
  "func.func public @main() -> %s {\n"                                                             \
  "%%i = stablehlo.iota dim = 0 : tensor<23xf32>\n"                                                \
  "%%x = stablehlo.sine %%i : tensor<23xf32>\n"                                                    \
  "%%j = stablehlo.iota dim = 0 : tensor<7xf32>\n"                                                 \
  "%%y = stablehlo.cosine %%j : tensor<7xf32>\n"                                                   \
  "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                            \
  "%%low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"                                   \
  "%%xs = stablehlo.broadcast_in_dim %%x, dims = [0] : (tensor<23xf32>) -> tensor<23x7xf32>\n"     \
  "%%ys = stablehlo.broadcast_in_dim %%y, dims = [1] : (tensor<7xf32>) -> tensor<23x7xf32>\n"      \
  "%%k = stablehlo.multiply %%xs, %%ys : tensor<23x7xf32>\n"
#define REDUCED(name, x, init, op, dim, from, to)                                                  \
  name " = stablehlo.reduce(" x " init: " init ") applies stablehlo." op                           \
       " across dimensions = [" dim "] : (" from ", tensor<f32>) -> " to "\n"
#define ROWS "tensor<23xf32>"
#define COLUMNS "tensor<7xf32>"
#define ALL "tensor<23x7xf32>"

#define WIDE "tensor<23x60xf32>"
/* Not to be cut along dim. */
#define SORTED(name, x, dim, type)                                                                 \
  name " = \"stablehlo.sort\"(" x                                                                  \
       ") ({\n^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n"                                         \
       "%%c = stablehlo.compare LT, %%a, %%b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"         \
       "stablehlo.return %%c : tensor<i1>\n}) {dimension = " dim " : i64} : (" type ") -> " type   \
       "\n"

typedef struct example {
  const char *what, *type, *body;
} example;

static const example examples[] = {
    {"sums of rows", ROWS, REDUCED("%%r", "%%k", "%%z", "add", "1", ALL, ROWS)},
    {"sums of columns", COLUMNS, REDUCED("%%r", "%%k", "%%z", "add", "0", ALL, COLUMNS)},
    {"positions", ROWS,
     "%%p = stablehlo.iota dim = 0 : " ALL "\n%%q = stablehlo.add %%k, %%p : " ALL
     "\n" REDUCED("%%r", "%%q", "%%z", "add", "1", ALL, ROWS)},
    {"running statistics", COLUMNS,
     REDUCED("%%m", "%%k", "%%low", "maximum", "0", ALL,
             COLUMNS) "%%ms = stablehlo.broadcast_in_dim %%m, dims = [1] : (" COLUMNS ") -> " ALL
                      "\n%%d = stablehlo.subtract %%k, %%ms : " ALL
                      "\n%%e = stablehlo.exponential %%d : " ALL
                      "\n" REDUCED("%%r", "%%e", "%%z", "add", "0", ALL, COLUMNS)},
    {"rolled", ROWS,
     "%%a = stablehlo.slice %%k [3:23, 0:7] : (" ALL ") -> tensor<20x7xf32>\n"
     "%%b = stablehlo.slice %%k [0:3, 0:7] : (" ALL ") -> tensor<3x7xf32>\n"
     "%%c = stablehlo.concatenate %%a, %%b, dim = 0 : (tensor<20x7xf32>, tensor<3x7xf32>) -> " ALL
     "\n" REDUCED("%%r", "%%c", "%%z", "add", "1", ALL, ROWS)},
    {"padded", "tensor<25xf32>",
     "%%a = stablehlo.pad %%k, %%low, low = [1, 0], high = [1, 0], interior = [0, 0] : (" ALL
     ", tensor<f32>) -> tensor<25x7xf32>\n" REDUCED("%%r", "%%a", "%%low", "maximum", "1",
                                                    "tensor<25x7xf32>", "tensor<25xf32>")},
    {"padded, over all", COLUMNS,
     "%%a = stablehlo.pad %%k, %%low, low = [2, 0], high = [1, 0], interior = [0, 0] : (" ALL
     ", tensor<f32>) -> tensor<26x7xf32>\n" REDUCED("%%r", "%%a", "%%low", "maximum", "0",
                                                    "tensor<26x7xf32>", COLUMNS)},
    {"neighbours", "tensor<22xf32>",
     "%%a = stablehlo.slice %%k [1:23, 0:7] : (" ALL ") -> tensor<22x7xf32>\n"
     "%%b = stablehlo.slice %%k [0:22, 0:7] : (" ALL ") -> tensor<22x7xf32>\n"
     "%%c = stablehlo.subtract %%a, %%b : tensor<22x7xf32>\n" REDUCED(
         "%%r", "%%c", "%%z", "add", "1", "tensor<22x7xf32>", "tensor<22xf32>")},
    {"mirrored", ROWS,
     "%%a = stablehlo.reverse %%k, dims = [0] : " ALL
     "\n" REDUCED("%%r", "%%a", "%%z", "add", "1", ALL, ROWS)},
    {"the largest of rows", "tensor<7x3xf32>",
     "%%t = stablehlo.transpose %%k, dims = [1, 0] : (" ALL ") -> tensor<7x23xf32>\n"
     "%%r, %%which = chlo.top_k(%%t, k = 3) : tensor<7x23xf32> -> (tensor<7x3xf32>, "
     "tensor<7x3xi32>)\n"},
    {"which are the largest of rows", "tensor<7x3xi32>",
     "%%t = stablehlo.transpose %%k, dims = [1, 0] : (" ALL ") -> tensor<7x23xf32>\n"
     "%%most, %%r = chlo.top_k(%%t, k = 3) : tensor<7x23xf32> -> (tensor<7x3xf32>, "
     "tensor<7x3xi32>)\n"},
    {"two positions of one value", ROWS,
     "%%kt = stablehlo.dot_general %%k, %%k, contracting_dims = [1] x [1] : (" ALL ", " ALL
     ") -> tensor<23x23xf32>\n"
     "%%t = stablehlo.transpose %%kt, dims = [1, 0] : (tensor<23x23xf32>) -> tensor<23x23xf32>\n"
     "%%e = stablehlo.exponential %%kt : tensor<23x23xf32>\n"
     "%%s = stablehlo.add %%e, %%t : tensor<23x23xf32>\n" REDUCED("%%r", "%%s", "%%z", "add", "1",
                                                                  "tensor<23x23xf32>", ROWS)},
    {"what a loop reads whole", ROWS,
     "%%n = stablehlo.iota dim = 0 : tensor<60xf32>\n"
     "%%w = stablehlo.cosine %%n : tensor<60xf32>\n" SORTED(
         "%%s", "%%w", "0",
         "tensor<60xf32>") "%%xw = stablehlo.broadcast_in_dim %%x, dims = [0] : (" ROWS ") -> " WIDE
                           "\n"
                           "%%sw = stablehlo.broadcast_in_dim %%s, dims = [1] : (tensor<60xf32>) "
                           "-> " WIDE "\n"
                           "%%p = stablehlo.multiply %%xw, %%sw : " WIDE
                           "\n" SORTED("%%e", "%%p", "1", WIDE)
                               REDUCED("%%r", "%%e", "%%z", "add", "1", WIDE, ROWS)},
};

typedef struct run {
  ctx *c;
  const char *text;
  int64_t slice_bytes;
  bool nest; /* bodies are split further */
  arena *a;
  ref_tensor *program, *slices, *whole;
  uint32_t n;
  int32_t loops;
} run;

/* Each loop's body becomes that of one trip. */
static void take_whole(run *r, ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_LOOP || !ir_op_get(m, op)->whole) return;
  ir_region_set(m, op, 0, ir_op_get(m, op)->whole);
  int64_t extent = ir_op_int(m, op, "extent", 0);
  ir_op_set_attr(m, op, "slice", ir_attr_int(m, extent, IR_I64), false);
  r->loops++;
}

static weir_status run_all(void *user) {
  enum { THRESHOLD = 200 };
  run *r = user;
  ir_module *m = NULL;
  weir_options options = {0};
  pass_ctx p = {.options = &options};
  r->a = p.scratch = arena_create(r->c);
  WEIR_TRY(in_stablehlo_text(r->c, r->text, strlen(r->text), &m));
  WEIR_TRY(ref_run(r->a, m, NULL, NULL, 0, &r->program, &r->n));
  split_goal goal = {.threshold_bytes = THRESHOLD, .slice_bytes = r->slice_bytes, .nest = r->nest};
  split_order order = {.goal = goal, .no_kernels = true};
  splitter_above_threshold(m, &order);
  WEIR_TRY(pass_dce.run(&p, m));
  WEIR_TRY(ref_run(r->a, m, NULL, NULL, 0, &r->slices, &r->n));
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) take_whole(r, m, w.op);
  WEIR_TRY(ir_verify(m));
  WEIR_TRY(ref_run(r->a, m, NULL, NULL, 0, &r->whole, &r->n));
  ir_module_destroy(m);
  return WEIR_OK;
}

static double number(const ref_tensor *t, int64_t i) {
  ref_scalar s = ref_load(t, i);
  return ir_dtype_class_of(t->dtype) == IR_CLASS_FLOAT ? s.f : (double)s.i;
}

static bool are_close(const ref_tensor *a, const ref_tensor *b) {
  for (int64_t i = 0; i < ref_element_count(a); i++) {
    double x = number(a, i), y = number(b, i);
    if (!same_number(x, y) && !(fabs(x - y) <= 1e-5 * (1 + fabs(x)))) return false;
  }
  return ref_element_count(a) == ref_element_count(b);
}

static void check(const example *e, int64_t slice_bytes, bool nest) {
  char text[1 << 13];
  int n = snprintf(text, sizeof text, HEAD, e->type);
  n += snprintf(text + n, sizeof text - (size_t)n, e->body, 0);
  snprintf(text + n, sizeof text - (size_t)n, "return %%r : %s\n}\n", e->type);
  ctx context;
  ctx_init(&context);
  run r = {.c = &context, .text = text, .slice_bytes = slice_bytes, .nest = nest};
  weir_status status = ctx_try(&context, run_all, &r);
  bool same = status == WEIR_OK && are_close(r.program, r.slices) && are_close(r.slices, r.whole);
  if (!same || !r.loops) {
    fprintf(stderr, "%s, slices of %lld bytes%s: %s %s; %s; %d loops\n", e->what,
            (long long)slice_bytes, nest ? ", nested" : "", weir_status_name(status),
            context.message, same ? "same" : "other results", r.loops);
    failures++;
  }
  ctx_deinit(&context);
}

int main(void) {
  for (size_t k = 0; k < COUNT(examples); k++)
    for (int64_t slice_bytes = 60; slice_bytes <= 300; slice_bytes += 60)
      for (int nest = 0; nest < 2; nest++) check(&examples[k], slice_bytes, nest);
  return failures != 0;
}
