/* libFuzzer target: any bytes may be refused but must not crash; what reads must print as text that
 * reads as the same module, and be written as bytecode (written.h). Build: cmake -DWEIR_FUZZ=ON
 * -DCMAKE_C_COMPILER=clang; run: fuzz/fuzz_stablehlo_text -max_len=20000 FOLDER. The normal tests
 * replay it with mutations of their own (unit/in_fuzz_test.c). */
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

static void check_again(ctx *c, const strbuf *once) {
  ir_module *m;
  if (in_stablehlo_text(c, once->text, once->length, &m) != WEIR_OK)
    die("own output does not read", c->message);
  strbuf twice = strbuf_make(m->arena);
  out_stablehlo_text(m, &twice);
  if (twice.length != once->length || memcmp(twice.text, once->text, once->length))
    die("own output reads as another module", once->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ctx c;
  ir_module *m;
  ctx_init(&c);
  weir_status status = in_stablehlo_text(&c, (const char *)data, size, &m);
  if (status == WEIR_OK) {
    weir_status verified = ir_verify(m);
    strbuf once = strbuf_make(m->arena);
    out_stablehlo_text(m, &once);
    check_again(&c, &once);
    if (verified == WEIR_OK) written_check(&c, m);
    if (verified != WEIR_OK && verified != WEIR_INVALID_ARGUMENT)
      die("the verifier's status", weir_status_name(verified));
  } else if (status != WEIR_INVALID_ARGUMENT && status != WEIR_UNIMPLEMENTED) {
    die(weir_status_name(status), c.message);
  } else if (!strchr(c.message, ':')) {
    die("a message without a place", c.message);
  }
  ctx_deinit(&c);
  return 0;
}
