/* Kernels that are made ahead of their first call, while the process forks, goes on or ends. Where
 * there is no LLVM, only that this is told. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call/loaded.h"
#include "machine/machine.h"
#include "kernel/llvm.h"
#include "weir/weir.h"
#include "environment_testing.h"

enum { N = 40, SCRATCH = 1 << 16, CALLERS = 4, MOST_SECONDS = 100 };

/* y[i] = sum_j max(x[i], x[j]) v[j] * scale: another kernel for each scale. For the family's first
 * level, which any processor of the family runs. */
static const char BODY[] =
    "weir-tile 9: %s 4 2 1024 40 1 1\n"
    "\"builtin.module\"() ({\n"
    "  \"func.func\"() <{function_type = (tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) -> "
    "tensor<40xf32>, sym_name = \"main\"}> ({\n"
    "  ^bb0(%%arg0: tensor<40xf32>, %%arg1: tensor<40xf32>, %%arg2: tensor<40xf32>):\n"
    "    %%0 = \"weir.loop\"(%%arg1, %%arg1, %%arg2) ({\n"
    "    ^bb0(%%arg3: tensor<i64>, %%arg4: tensor<i64>, %%arg5: tensor<40xf32>, "
    "%%arg6: tensor<40xf32>, %%arg7: tensor<40xf32>):\n"
    "      %%1 = \"stablehlo.broadcast_in_dim\"(%%arg5) <{broadcast_dimensions = array<i64: 0>}> : "
    "(tensor<40xf32>) -> tensor<40x40xf32>\n"
    "      %%2 = \"stablehlo.broadcast_in_dim\"(%%arg6) <{broadcast_dimensions = array<i64: 1>}> : "
    "(tensor<40xf32>) -> tensor<40x40xf32>\n"
    "      %%3 = \"stablehlo.maximum\"(%%1, %%2) : (tensor<40x40xf32>, tensor<40x40xf32>) -> "
    "tensor<40x40xf32>\n"
    "      %%4 = \"stablehlo.constant\"() <{value = dense<%d.0> : tensor<40x40xf32>}> : () -> "
    "tensor<40x40xf32>\n"
    "      %%5 = \"stablehlo.multiply\"(%%3, %%4) : (tensor<40x40xf32>, tensor<40x40xf32>) -> "
    "tensor<40x40xf32>\n"
    "      %%6 = \"stablehlo.dot_general\"(%%5, %%arg7) <{dot_dimension_numbers = "
    "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : "
    "(tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>\n"
    "      \"weir.yield\"(%%6) : (tensor<40xf32>) -> ()\n"
    "    }) {extent = 40 : i64, in_dims = array<i64: 0, -1, -1>, in_units = array<i64: 1, 1, 1>, "
    "out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = \"a test\", slice = 40 : i64} : "
    "(tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>\n"
    "    \"func.return\"(%%0) : (tensor<40xf32>) -> ()\n"
    "  }) : () -> ()\n"
    "}) : () -> ()\n";

typedef struct body {
  char text[sizeof BODY + 16];
  size_t length;
} body;

static body body_of(int scale) {
  bool is_arm = machine_host().level == MACHINE_AARCH64;
  const char *level = machine_level_name(is_arm ? MACHINE_AARCH64 : MACHINE_X86_64);
  body b;
  b.length = (size_t)snprintf(b.text, sizeof b.text, BODY, level, scale);
  return b;
}

static void check(int scale) {
  float x[N], v[N], y[N];
  void *buffers[] = {x, x, v, y};
  char message[2200];
  const loaded_kernel *k;
  body b = body_of(scale);
  weir_status status = loaded_get(b.text, b.length, message, sizeof message, &k);
  if (status != WEIR_OK) fprintf(stderr, "%s\n", message);
  assert(status == WEIR_OK && loaded_buffers(k) == 4);
  for (int i = 0; i < N; i++) x[i] = (float)(i * 7 % N), v[i] = (float)(i % 3);
  void *scratch = aligned_alloc(64, SCRATCH);
  kernel_work w;
  assert(loaded_work(k, buffers, scratch, SCRATCH, 1, &w) == 1);
  assert(kernel_run(&w, 1, NULL, NULL));
  free(scratch);
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int j = 0; j < N; j++) sum += (x[i] > x[j] ? x[i] : x[j]) * (float)scale * v[j];
    assert(y[i] == sum); /* of small integers */
  }
}

static void prepare(int scale) {
  body b = body_of(scale);
  loaded_prepare(b.text, b.length);
}

/* ---- tests ---- */
static void test_waits_for_what_is_being_made(void) {
  for (int scale = 1; scale < 4; scale++) prepare(scale);
  for (int scale = 3; scale > 0; scale--) check(scale);
  prepare(1); /* it is there */
  check(1);
}

static void test_bad_bodies_are_told_when_called(void) {
  static const char *const bad[] = {"", "weir-tile 6: 16 4 2 1024 40 1 1\n", "weir-tile 9: 1\n",
                                    "weir-tile 9: x86-64 4 2 1024 40 1 1\nno module",
                                    "weir-tile 9: zen 4 2 1024 40 1 1\n"};
  char message[2200];
  const loaded_kernel *k;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    loaded_prepare(bad[i], strlen(bad[i]));
    assert(loaded_get(bad[i], strlen(bad[i]), message, sizeof message, &k) != WEIR_OK);
    assert(strstr(message, "weir: "));
  }
}

/* AddressSanitizer's allocator (before gcc 14) does not wait for its own locks in a fork, as the C
 * library's does: a thread that ends meanwhile leaves one taken in the child. */
#ifdef __SANITIZE_ADDRESS__
enum { MAY_FORK_MEANWHILE = 0 };
#else
enum { MAY_FORK_MEANWHILE = 1 };
#endif

static void test_forks_meanwhile(void) {
  prepare(5);
  pid_t child = fork();
  assert(child >= 0);
  if (!child) {          /* makes and finds kernels as if nothing had happened */
    alarm(MOST_SECONDS); /* not inherited */
    check(5);
    check(6);
    _exit(0);
  }
  int status;
  assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
  check(5);
}

static void *call(void *user) {
  check(*(int *)user);
  return NULL;
}

static void test_callers_at_once(void) {
  pthread_t threads[CALLERS];
  int scales[CALLERS] = {7, 8, 7, 8};
  prepare(8);
  for (int i = 0; i < CALLERS; i++) assert(!pthread_create(&threads[i], NULL, call, &scales[i]));
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
}

int main(void) {
  set_variable("WEIR_CACHE_DIR", "off");
  alarm(MOST_SECONDS); /* a deadlock is a failure */
  if (kernel_llvm_missing()) {
    test_bad_bodies_are_told_when_called();
    return 0;
  }
  test_waits_for_what_is_being_made();
  test_bad_bodies_are_told_when_called();
  if (MAY_FORK_MEANWHILE) test_forks_meanwhile();
  test_callers_at_once();
  prepare(9);
  weir_end_kernels(); /* or that thread would still use an LLVM whose statics are gone */
  return 0;
}
