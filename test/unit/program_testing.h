/* What unit programs share that ask something about a program's text. */
#ifndef WEIR_TEST_PROGRAM_TESTING_H
#define WEIR_TEST_PROGRAM_TESTING_H
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "in/in.h"

/* `text` is read and verified, and the question asked. */
typedef struct program_asked {
  ctx c;
  const char *text;
  size_t length;      /* 0: up to the 0 that ends it */
  int64_t fail_after; /* this allocation fails; 0: none */
  weir_status (*ask)(ir_module *m, arena *a, void *user);
  void *user;
} program_asked;

static inline weir_status program_read_and_ask(void *asked) {
  program_asked *p = asked;
  ir_module *m;
  size_t length = p->length ? p->length : strlen(p->text);
  WEIR_TRY(in_stablehlo_text(&p->c, p->text, length, &m));
  WEIR_TRY(ir_verify(m));
  return p->ask(m, arena_create(&p->c), p->user);
}

/* All that was made is gone when it returns: what is to be known goes to `user`. Says why not. */
static inline weir_status program_ask(program_asked p) {
  ctx_init(&p.c);
  if (p.fail_after) p.c.fail_after = p.fail_after - 1;
  weir_status status = ctx_try(&p.c, program_read_and_ask, &p);
  if (status != WEIR_OK && !p.fail_after) fprintf(stderr, "%s\n%s\n", p.c.message, p.text);
  ctx_deinit(&p.c);
  return status;
}

#endif
