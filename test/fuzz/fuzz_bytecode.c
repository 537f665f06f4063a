/* libFuzzer target: MLIR bytecode. Any bytes may be refused, with the place, but must not crash;
 * what reads and verifies must print as text that reads as the same module, and be written as
 * bytecode (written.h). The normal tests replay it (unit/bytecode_fuzz_test.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"
#include "written.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *message) {
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

/* A module that does not verify may hold what no text says (a region without an end). */
static void check_text(ctx *c, const ir_module *m) {
  ir_module *again;
  strbuf once = strbuf_make(m->arena), twice = strbuf_make(m->arena);
  out_stablehlo_text(m, &once);
  if (ir_verify(m) != WEIR_OK) return;
  if (in_stablehlo_text(c, once.text, once.length, &again) != WEIR_OK)
    die("own output does not read", c->message);
  out_stablehlo_text(again, &twice);
  if (twice.length != once.length || memcmp(twice.text, once.text, once.length))
    die("own output reads as another module", once.text);
  written_check(c, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ctx c;
  ir_module *m;
  ctx_init(&c);
  weir_status status = in_bytecode(&c, (const char *)data, size, &m);
  if (status == WEIR_OK) check_text(&c, m);
  else if (status != WEIR_INVALID_ARGUMENT && status != WEIR_UNIMPLEMENTED)
    die(weir_status_name(status), c.message);
  else if (!strchr(c.message, ':')) die("a message without a place", c.message);
  ctx_deinit(&c);
  return 0;
}
