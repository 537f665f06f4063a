#include "base/strbuf.h"

#include <stdio.h>

void strbuf_reserve(strbuf *b, size_t more) {
  size_t need = b->length + more + 1;
  if (need <= b->room) return;
  size_t room = b->room * 2 > need ? b->room * 2 : need + 256;
  char *text = arena_alloc(b->arena, room);
  if (b->length) memcpy(text, b->text, b->length);
  b->text = text;
  b->room = room;
}

void strbuf_add(strbuf *b, const char *s, size_t length) {
  strbuf_reserve(b, length);
  memcpy(b->text + b->length, s, length);
  b->length += length;
  b->text[b->length] = 0;
}

void strbuf_puts(strbuf *b, const char *s) { strbuf_add(b, s, strlen(s)); }
void strbuf_putc(strbuf *b, char ch) { strbuf_add(b, &ch, 1); }

void strbuf_int(strbuf *b, int64_t value) {
  char digits[24];
  int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
  strbuf_add(b, digits, (size_t)n);
}

void strbuf_printf(strbuf *b, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  CTX_CHECK(arena_ctx(b->arena), n >= 0);
  strbuf_reserve(b, (size_t)n);
  vsnprintf(b->text + b->length, (size_t)n + 1, format, again);
  va_end(again);
  b->length += (size_t)n;
}
