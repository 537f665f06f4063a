/* Reading and printing, as text and as bytecode, where the n-th allocation fails, for every n:
 * RESOURCE_EXHAUSTED, nothing lost. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"

static char text[1 << 20];
static size_t length;

static weir_status read_and_print(void *user) {
  ctx *c = user;
  ir_module *m;
  WEIR_TRY(in_stablehlo_text(c, text, length, &m));
  strbuf b = strbuf_make(m->arena);
  out_stablehlo_text(m, &b);
  strbuf bytes = strbuf_make(m->arena);
  WEIR_TRY(out_bytecode(m, OUT_BYTECODE_VERSION, &bytes));
  return in_bytecode(c, bytes.text, bytes.length, &m);
}

/* How many allocations it takes until all is well. */
static int fail_each(void) {
  for (int n = 0;; n++) {
    ctx c;
    ctx_init(&c);
    c.fail_after = n;
    weir_status status = ctx_try(&c, read_and_print, &c);
    assert(status == WEIR_OK || (status == WEIR_RESOURCE_EXHAUSTED && strstr(c.message, "memory")));
    ctx_deinit(&c);
    assert(c.live_bytes == 0);
    if (status == WEIR_OK) return n;
  }
}

static void keep_to_few_bytes(void) {
  ctx c;
  ctx_init(&c);
  c.most_bytes = 100000;
  assert(ctx_try(&c, read_and_print, &c) == WEIR_RESOURCE_EXHAUSTED);
  assert(c.live_bytes <= 100000 && strstr(c.message, "more than 100000 bytes"));
  ctx_deinit(&c);
}

int main(void) {
  FILE *f = fopen(WEIR_TEST_DIR "/lit/in/everything.mlir", "rb");
  assert(f);
  length = fread(text, 1, sizeof text, f);
  fclose(f);
  int n = fail_each();
  assert(n > 4);
  f = fopen(WEIR_TEST_DIR "/corpus/random_gamma_while/program.mlir",
            "rb"); /* large enough for many chunks */
  assert(f);
  length = fread(text, 1, sizeof text, f);
  fclose(f);
  assert(fail_each() > n);
  keep_to_few_bytes();
  return 0;
}
