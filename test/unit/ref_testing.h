/* What the evaluator's unit programs share: run a program given as text, compare a result with
 * numbers. */
#ifndef WEIR_TEST_REF_TESTING_H
#define WEIR_TEST_REF_TESTING_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "in/in.h"
#include "ref/eval.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct run_state {
  ctx *c;
  const char *text;
  arena *arena;
  ref_tensor *results;
  uint32_t n_results;
} run_state;

static weir_status run_text(void *user) {
  run_state *r = user;
  ir_module *m = NULL;
  r->arena = arena_create(r->c);
  WEIR_TRY(in_stablehlo_text(r->c, r->text, strlen(r->text), &m));
  weir_status status = ref_run(r->arena, m, NULL, NULL, 0, &r->results, &r->n_results);
  ir_module_destroy(m);
  return status;
}

/* A module whose main() returns %r of `type`; `body` defines it. The caller frees it. */
static inline char *program(const char *type, const char *body) {
  static const char format[] = "func.func public @main() -> %s {\n%s\nreturn %%r : %s\n}\n";
  size_t room = sizeof format + 2 * strlen(type) + strlen(body);
  char *text = malloc(room);
  if (!text) abort();
  snprintf(text, room, format, type, body, type);
  return text;
}

static int failures;

static inline bool same_number(double x, double y) {
  return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

/* The elements of %r (real parts) are `want`, to the bit. */
static inline void expect(int line, const char *type, const char *body, const double *want,
                          size_t n) {
  ctx c;
  ctx_init(&c);
  char *text = program(type, body);
  run_state r = {.c = &c, .text = text};
  weir_status status = ctx_try(&c, run_text, &r);
  if (status != WEIR_OK || r.n_results != 1 || ref_element_count(&r.results[0]) != (int64_t)n) {
    fprintf(stderr, "line %d: %s %s, %lld elements\n", line, weir_status_name(status), c.message,
            (long long)(status == WEIR_OK ? ref_element_count(&r.results[0]) : -1));
    failures++;
    n = 0;
  }
  for (size_t i = 0; i < n; i++) {
    ref_scalar s = ref_load(&r.results[0], (int64_t)i);
    double got = 0;
    switch (ir_dtype_class_of(r.results[0].dtype)) {
      case IR_CLASS_FLOAT: got = s.f; break;
      case IR_CLASS_COMPLEX: got = creal(s.z); break;
      case IR_CLASS_UINT: got = (double)s.u; break;
      default: got = (double)s.i;
    }
    if (same_number(got, want[i])) continue;
    fprintf(stderr, "line %d: element %zu is %.17g, wanted %.17g\n", line, i, got, want[i]);
    failures++;
  }
  free(text);
  ctx_deinit(&c);
}

#define EXPECT(type, body, ...)                                                                    \
  expect(__LINE__, type, body, (const double[]){__VA_ARGS__},                                      \
         COUNT(((const double[]){__VA_ARGS__})))
#define EXPECT_EMPTY(type, body) expect(__LINE__, type, body, NULL, 0)

/* The whole module `text` fails with this status and a message that has `part` in it. */
static inline void expect_error(int line, const char *text, weir_status want, const char *part) {
  ctx c;
  ctx_init(&c);
  run_state r = {.c = &c, .text = text};
  weir_status status = ctx_try(&c, run_text, &r);
  if (status != want || !strstr(c.message, part)) {
    fprintf(stderr, "line %d: %s '%s', wanted %s '%s'\n", line, weir_status_name(status), c.message,
            weir_status_name(want), part);
    failures++;
  }
  ctx_deinit(&c);
}
#define EXPECT_ERROR(text, status, part) expect_error(__LINE__, text, status, part)

#endif
