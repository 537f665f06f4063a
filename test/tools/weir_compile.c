/* weir_compile: what LLVM takes for kernels.
 *
 *   weir_compile KERNEL.ll...
 *
 * The kernels as WEIR_DUMP_TO has them, each named by its file. One line each: path, milliseconds
 * of CPU time from text to code in memory, past the cache on disk. Exit status: 0, 1 if a kernel
 * can't be read or compiled, 2 for wrong usage. */
#include <stdlib.h>
#include <time.h>

#include "kernel/llvm.h"
#include "tool.h"

typedef struct job {
  ctx *c;
  const char *path;
} job;

static double cpu_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *name_of(arena *a, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
             *dot = strrchr(name, '.');
  return arena_printf(a, "%.*s", (int)(dot ? dot - name : (long)strlen(name)), name);
}

static weir_status run(void *user) {
  const job *j = user;
  arena *a = arena_create(j->c);
  char *text = NULL;
  size_t length = 0;
  void *function = NULL;
  WEIR_TRY(tool_read_file(a, j->path, &text, &length));
  double begun = cpu_ms();
  WEIR_TRY(
      kernel_llvm_compile(a, machine_host().level, text, length, name_of(a, j->path), &function));
  printf("%s %.1f\n", j->path, cpu_ms() - begun);
  return WEIR_OK;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: weir_compile KERNEL.ll...\n", stderr);
    return 2;
  }
  setenv("WEIR_CACHE_DIR", "off", 1);
  if (kernel_llvm_missing()) { /* opens LLVM, which is no kernel's time */
    fprintf(stderr, "weir_compile: %s\n", kernel_llvm_missing());
    return 1;
  }
  int failed = 0;
  for (int i = 1; i < argc; i++) {
    ctx c;
    ctx_init(&c);
    job j = {&c, argv[i]};
    if (ctx_try(&c, run, &j) != WEIR_OK)
      fprintf(stderr, "weir_compile: %s: %s\n", j.path, c.message), failed = 1;
    ctx_deinit(&c);
  }
  return failed;
}
