/* weir_roundtrip [--verify] [--quiet] [--bytecode VERSION] FILE...: reads each program and prints
 * it in generic form; `-` is standard input. With several files each text is followed by a line
 * "//----". --bytecode: writes FILE.bc instead, MLIR bytecode of that version of StableHLO. Exit
 * status 1 at the first program that does not read (its message goes to stderr). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "in/in.h"
#include "out/out.h"

static char *read_file(const char *path, size_t *out_length) {
  FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  size_t room = 1 << 16, n = 0, got;
  char *text = malloc(room);
  if (!f || !text) return free(text), NULL;
  while ((got = fread(text + n, 1, room - n, f)) > 0)
    if ((n += got) == room) text = realloc(text, room *= 2);
  if (f != stdin) fclose(f);
  *out_length = n;
  return text;
}

static bool verify, quiet;
static const char *version; /* NULL: text */

static weir_status write_bytecode(const ir_module *m, const char *path) {
  strbuf out = strbuf_make(m->arena);
  WEIR_TRY(out_bytecode(m, version, &out));
  FILE *f = fopen(arena_printf(m->arena, "%s.bc", path), "wb");
  bool written = f && fwrite(out.text, 1, out.length, f) == out.length;
  if (f) written &= !fclose(f);
  return written ? WEIR_OK : ctx_error(m->ctx, WEIR_INTERNAL, "%s.bc can't be written", path);
}

static weir_status round_trip(ctx *c, const char *path, const char *text, size_t length) {
  ir_module *m;
  WEIR_TRY(in_program(c, text, length, &m));
  if (verify) WEIR_TRY(ir_verify(m));
  if (version) return write_bytecode(m, path);
  strbuf out = strbuf_make(m->arena);
  out_stablehlo_text(m, &out);
  if (!quiet) fwrite(out.text, 1, out.length, stdout);
  return WEIR_OK;
}

int main(int argc, char **argv) {
  bool several = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--verify")) {
      verify = true;
      continue;
    }
    if (!strcmp(argv[i], "--quiet")) {
      quiet = true;
      continue;
    }
    if (!strcmp(argv[i], "--bytecode") && i + 1 < argc) {
      version = argv[++i];
      quiet = true;
      continue;
    }
    size_t length;
    char *text = read_file(argv[i], &length);
    if (!text) return fprintf(stderr, "%s: can't be read\n", argv[i]), 1;
    if (several && !quiet) puts("//----");
    several = true;
    ctx c;
    ctx_init(&c);
    weir_status status = round_trip(&c, argv[i], text, length);
    if (status != WEIR_OK)
      fprintf(stderr, "%s:%s: %s\n", argv[i], c.message, weir_status_name(status));
    ctx_deinit(&c);
    free(text);
    if (status != WEIR_OK) return 1;
  }
  return 0;
}
