/* Bodies of loops without their trips (tile/trip.h): each rewritten loop, run in its trips as
 * before, gives what it gave, whatever the slice; and what a kernel, which has no trips, would get
 * wrong is refused. */
#include <stdarg.h>

#include "ref_testing.h"
#include "tile/nest.h"
#include "tile/trip.h"

enum { ROOM = 1 << 13 };

/* y of E elements and a sum, from x of E elements in slices of S: of r, which the body makes of the
 * slice %a and the number %c, times each w. */
static const char LOOP[] =
    "func.func public @main() -> (tensor<%1$lldxf32>, tensor<f32>) {\n"
    "%%x = stablehlo.constant dense<2.0> : tensor<%1$lldxf32>\n"
    "%%v = stablehlo.constant dense<1.0> : tensor<5xf32>\n"
    "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "%%y, %%t = \"weir.loop\"(%%x, %%v, %%z) ({\n"
    "^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%a: tensor<%2$lldxf32>, %%w: tensor<5xf32>, "
    "%%k: tensor<f32>):\n"
    "%%i = stablehlo.iota dim = 0 : tensor<%2$lldxi32>\n"
    "%%none = stablehlo.constant dense<0.0> : tensor<%2$lldxf32>\n"
    "%%empty = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "%%zero = stablehlo.constant dense<0> : tensor<i64>\n"
    "%%slice = stablehlo.constant dense<%2$lld> : tensor<i64>\n"
    "%%c = stablehlo.constant dense<%3$lld> : tensor<i64>\n"
    "%4$s\n"
    "%%rs = stablehlo.broadcast_in_dim %%r, dims = [0] : (tensor<%2$lldxf32>) -> "
    "tensor<%2$lldx5xf32>\n"
    "%%ws = stablehlo.broadcast_in_dim %%w, dims = [1] : (tensor<5xf32>) -> "
    "tensor<%2$lldx5xf32>\n"
    "%%all = stablehlo.multiply %%rs, %%ws : tensor<%2$lldx5xf32>\n"
    "%%out = stablehlo.reduce(%%all init: %%empty) applies stablehlo.add across dimensions = [1] : "
    "(tensor<%2$lldx5xf32>, tensor<f32>) -> tensor<%2$lldxf32>\n"
    "%%old = stablehlo.subtract %%lo, %%start : tensor<i64>\n"
    "%%old32 = stablehlo.convert %%old : (tensor<i64>) -> tensor<i32>\n"
    "%%olds = stablehlo.broadcast_in_dim %%old32, dims = [] : (tensor<i32>) -> tensor<%2$lldxi32>\n"
    "%%new = stablehlo.compare GE, %%i, %%olds : (tensor<%2$lldxi32>, tensor<%2$lldxi32>) -> "
    "tensor<%2$lldxi1>\n"
    "%%fresh = stablehlo.select %%new, %%out, %%none : tensor<%2$lldxi1>, tensor<%2$lldxf32>\n"
    "%%next = stablehlo.reduce(%%fresh init: %%k) applies stablehlo.add across dimensions = [0] : "
    "(tensor<%2$lldxf32>, tensor<f32>) -> tensor<f32>\n"
    "\"weir.yield\"(%%out, %%next) : (tensor<%2$lldxf32>, tensor<f32>) -> ()\n"
    "}) {extent = %1$lld : i64, slice = %2$lld : i64, in_dims = array<i64: 0, -1>, in_units = "
    "array<i64: 1, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 1, 1>} : "
    "(tensor<%1$lldxf32>, tensor<5xf32>, tensor<f32>) -> (tensor<%1$lldxf32>, tensor<f32>)\n"
    "return %%y, %%t : tensor<%1$lldxf32>, tensor<f32>\n"
    "}\n";

#define VECTOR "tensor<%1$lldxi32>"
#define SPLAT(name, from)                                                                          \
  name "32 = stablehlo.convert " from " : (tensor<i64>) -> tensor<i32>\n" name                     \
       "s = stablehlo.broadcast_in_dim " name "32, dims = [] : (tensor<i32>) -> " VECTOR "\n"
#define OP(name, op, x, y) name " = stablehlo." op " " x ", " y " : tensor<i64>\n"
#define COMPARED(name, direction, y)                                                               \
  name " = stablehlo.compare " direction ", %%i, " y " : (" VECTOR ", " VECTOR                     \
       ") -> tensor<%1$lldxi1>\n"
#define SELECTED(mask)                                                                             \
  "%%r = stablehlo.select " mask ", %%a, %%none : tensor<%1$lldxi1>, tensor<%1$lldxf32>\n"
#define AS_RESULT(x) "%%r = stablehlo.convert " x " : (" VECTOR ") -> tensor<%1$lldxf32>\n"
/* %from is c, counted from where the slice begins, as far as it lies in it */
#define CLAMPED                                                                                    \
  OP("%%far", "subtract", "%%c", "%%start")                                                        \
  OP("%%above", "maximum", "%%far", "%%zero") OP("%%from", "minimum", "%%above", "%%slice")

typedef struct body {
  const char *text; /* of VECTOR's length; makes %r */
  const char *why;  /* no kernel; NULL: one */
  bool may_fold;    /* and one for those c that decide it */
  bool is_fresh;    /* leaves out what an earlier trip had */
} body;

static const body bodies[] = {
    /* parts of a concatenation, a pad's edges */
    {CLAMPED SPLAT("%%from", "%%from") COMPARED("%%m", "LT", "%%froms") SELECTED("%%m"), NULL},
    {CLAMPED SPLAT("%%from", "%%from") COMPARED("%%m", "GE", "%%froms") SELECTED("%%m"), NULL},
    /* no index of the slice, and all */
    {OP("%%far", "subtract", "%%c", "%%start") SPLAT("%%far", "%%far")
         COMPARED("%%m", "LT", "%%fars") SELECTED("%%m"),
     NULL},
    /* the later of two ends, the earlier of two begins */
    {CLAMPED OP("%%old1", "subtract", "%%lo", "%%start") OP("%%end", "maximum", "%%old1", "%%from")
         SPLAT("%%end", "%%end") COMPARED("%%m", "GE", "%%ends") SELECTED("%%m"),
     NULL, .is_fresh = true},
    {CLAMPED OP("%%two", "add", "%%far", "%%slice") OP("%%end", "minimum", "%%from", "%%two")
         SPLAT("%%end", "%%end") COMPARED("%%m", "LT", "%%ends") SELECTED("%%m"),
     NULL},
    /* positions, also counted from elsewhere */
    {SPLAT("%%start", "%%start") "%%p = stablehlo.add %%i, %%starts : " VECTOR
                                 "\n" AS_RESULT("%%p"),
     NULL},
    {OP("%%at", "add", "%%start", "%%c")
         SPLAT("%%at", "%%at") "%%p = stablehlo.add %%ats, %%i : " VECTOR "\n" AS_RESULT("%%p"),
     NULL},
    {OP("%%at", "add", "%%c", "%%start") OP("%%back", "subtract", "%%at", "%%c") SPLAT(
         "%%back", "%%back") "%%p = stablehlo.add %%i, %%backs : " VECTOR "\n" AS_RESULT("%%p"),
     NULL},
    /* an index that counts from where a slice begins; one that is bounded by its length only */
    {AS_RESULT("%%i"), "an index that counts from where a slice begins"},
    {SPLAT("%%c", "%%c") COMPARED("%%m", "LT", "%%cs") SELECTED("%%m"),
     "an index that counts from where a slice begins", .may_fold = true},
    /* a mirrored index; twice as many elements an index; where the slice begins, as a number */
    {OP("%%at", "subtract", "%%c", "%%start")
         SPLAT("%%at", "%%at") "%%p = stablehlo.add %%i, %%ats : " VECTOR "\n" AS_RESULT("%%p"),
     "what depends on where a slice begins"},
    {OP("%%at", "add", "%%start", "%%start")
         SPLAT("%%at", "%%at") "%%p = stablehlo.add %%i, %%ats : " VECTOR "\n" AS_RESULT("%%p"),
     "what depends on where a slice begins"},
    {SPLAT("%%start", "%%start") AS_RESULT("%%starts"), "what depends on where a slice begins"},
    {SPLAT("%%lo", "%%lo") "%%p = stablehlo.add %%i, %%los : " VECTOR "\n" AS_RESULT("%%p"),
     "what depends on where a slice begins"},
    {OP("%%at", "minimum", "%%start", "%%c") SPLAT("%%at", "%%at") COMPARED("%%m", "LT", "%%ats")
         SELECTED("%%m"),
     "what depends on where a slice begins", .may_fold = true},
    /* another index of the slice's length, and a position of it */
    {"%%u = stablehlo.constant dense<1.0> : tensor<%1$lldx%1$lldxf32>\n"
     "%%j = stablehlo.iota dim = 1 : tensor<%1$lldx%1$lldxf32>\n"
     "%%uj = stablehlo.add %%u, %%j : tensor<%1$lldx%1$lldxf32>\n"
     "%%r0 = stablehlo.reduce(%%uj init: %%k) applies stablehlo.add across dimensions = [1] : "
     "(tensor<%1$lldx%1$lldxf32>, tensor<f32>) -> tensor<%1$lldxf32>\n"
     "%%r = stablehlo.add %%r0, %%a : tensor<%1$lldxf32>\n",
     "an axis as long as the slice"},
};

/* Slices of 5 beside all of an input of 5. */
static const body BESIDE = {"%%r = stablehlo.add %%a, %%w : tensor<%1$lldxf32>\n",
                            "a slice beside what is not sliced"};

/* A number for each element of a slice, two an index, where nothing else says what is sliced. */
static const char COUNTING[] =
    "func.func public @main() -> tensor<f32> {\n"
    "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "%t = \"weir.loop\"(%z) ({\n"
    "^bb0(%start: tensor<i64>, %lo: tensor<i64>, %k: tensor<f32>):\n"
    "%i = stablehlo.iota dim = 1 : tensor<6x5xf32>\n"
    "%one = stablehlo.constant dense<1.0> : tensor<6x5xf32>\n"
    "%sum = stablehlo.add %i, %one : tensor<6x5xf32>\n"
    "%next = stablehlo.reduce(%sum init: %k) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<6x5xf32>, tensor<f32>) -> tensor<f32>\n"
    "\"weir.yield\"(%next) : (tensor<f32>) -> ()\n"
    "}) {extent = 9 : i64, slice = 3 : i64, in_dims = array<i64>, in_units = array<i64>, "
    "out_dims = array<i64: -1>, out_units = array<i64: 1>} : (tensor<f32>) -> tensor<f32>\n"
    "return %t : tensor<f32>\n"
    "}\n";

typedef struct run {
  ctx *c;
  const char *text;
  arena *a;
  ref_tensor *before, *after;
  uint32_t n;
  const char *why;
} run;

static ir_op find_loop(const ir_module *m) {
  const ir_block_data *main = ir_block_get(m, ir_op_get(m, ir_main_function(m))->regions[0]);
  for (uint32_t i = 0; i < main->ops.count; i++)
    if (ir_kind_of(m, main->ops.at[i]) == IR_OP_LOOP) return main->ops.at[i];
  return IR_NONE;
}

static weir_status run_both(void *user) {
  run *r = user;
  ir_module *m = NULL;
  tile_nest nest;
  r->a = arena_create(r->c);
  WEIR_TRY(in_stablehlo_text(r->c, r->text, strlen(r->text), &m));
  WEIR_TRY(ref_run(r->a, m, NULL, NULL, 0, &r->before, &r->n));
  tile_drop_trips(m, find_loop(m));
  WEIR_TRY(ref_run(r->a, m, NULL, NULL, 0, &r->after, &r->n));
  machine any = machine_of_level(MACHINE_X86_64_V3);
  if (tile_nest_of(r->a, m, find_loop(m), &any, &nest, &r->why)) r->why = NULL;
  ir_module_destroy(m);
  return WEIR_OK;
}

/* The sum counts what the last slice has of the one before, twice without trips: there its mask is
 * gone. */
static bool is_same(const run *r, bool overlaps) {
  for (uint32_t i = 0; i < (overlaps ? 1 : r->n); i++)
    if (memcmp(r->before[i].data, r->after[i].data,
               (size_t)ref_element_count(&r->before[i]) * sizeof(float)))
      return false;
  return true;
}

static bool is_why(const char *found, const char *wanted) {
  return found && wanted ? !strcmp(found, wanted) : !found && !wanted;
}

static void check(const body *b, long long extent, long long slice, long long c) {
  char inside[ROOM], text[2 * ROOM];
  snprintf(inside, sizeof inside, b->text, slice);
  snprintf(text, sizeof text, LOOP, extent, slice, c, inside);
  ctx context;
  ctx_init(&context);
  run r = {.c = &context, .text = text};
  weir_status status = ctx_try(&context, run_both, &r);
  bool overlaps = extent % slice, folds = b->may_fold && status == WEIR_OK && !r.why;
  bool one = status == WEIR_OK && ((overlaps && b->is_fresh) || is_same(&r, overlaps)),
       two = slice == extent || folds || is_why(r.why, b->why);
  if (!one || !two) {
    fprintf(stderr, "slices of %lld of %lld, c = %lld: %s %s; %s; why: %s\n%s\n", slice, extent, c,
            weir_status_name(status), context.message, one ? "same" : "other results",
            r.why ? r.why : "-", inside);
    failures++;
  }
  ctx_deinit(&context);
}

static void check_refused(const char *text, const char *why) {
  ctx context;
  ctx_init(&context);
  run r = {.c = &context, .text = text};
  weir_status status = ctx_try(&context, run_both, &r);
  if (status != WEIR_OK || !is_why(r.why, why)) {
    fprintf(stderr, "%s %s; why: %s, wanted %s\n", weir_status_name(status), context.message,
            r.why ? r.why : "-", why);
    failures++;
  }
  ctx_deinit(&context);
}

int main(void) {
  static const long long extents[] = {4, 7, 12}, slices[] = {2, 3, 4};
  for (size_t k = 0; k < COUNT(bodies); k++)
    for (size_t e = 0; e < COUNT(extents); e++)
      for (size_t s = 0; s < COUNT(slices); s++)
        for (long long c = -2; c <= extents[e] + 2; c++)
          check(&bodies[k], extents[e], slices[s], c);
  check(&BESIDE, 12, 5, 0);
  check_refused(COUNTING, "nothing that is sliced");
  return failures != 0;
}
