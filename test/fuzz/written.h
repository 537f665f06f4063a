/* What a module is as bytecode, for the targets of this folder: it may be refused, as what has no
 * place in VHLO, but must not crash; what is written reads, verifies, and is written as the same
 * bytes again. */
#ifndef WEIR_TEST_WRITTEN_H
#define WEIR_TEST_WRITTEN_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"

static inline void written_die(const char *what, const char *message) {
  fprintf(stderr, "bytecode: %s: %s\n", what, message);
  abort();
}

/* m verifies. */
static inline void written_check(ctx *c, const ir_module *m) {
  ir_module *again;
  strbuf once = strbuf_make(m->arena), twice = strbuf_make(m->arena);
  weir_status status = out_bytecode(m, OUT_BYTECODE_VERSION, &once);
  if (status == WEIR_UNIMPLEMENTED && strchr(c->message, ':')) return;
  if (status != WEIR_OK) written_die(weir_status_name(status), c->message);
  if (in_bytecode(c, once.text, once.length, &again) != WEIR_OK)
    written_die("does not read", c->message);
  if (ir_verify(again) != WEIR_OK) written_die("does not verify", c->message);
  if (out_bytecode(again, OUT_BYTECODE_VERSION, &twice) != WEIR_OK)
    written_die("is not written again", c->message);
  if (twice.length != once.length || memcmp(twice.text, once.text, once.length))
    written_die("reads as another module", "");
}

#endif
