#include "base/json.h"

/* Bytes of the UTF-8 sequence at p, by the table 3-7 of the Unicode Standard; 0: it is none. */
static size_t sequence_length(const unsigned char *p, size_t left) {
  if (p[0] < 0x80) return 1;
  size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
  if (p[0] < 0xC2 || p[0] > 0xF4 || left < n) return 0;
  unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
  unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < n; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  return n;
}

static bool is_plain(unsigned char ch) {
  return ch >= 0x20 && ch != 0x7F && !strchr("\"\\<>&", ch);
}

/* U+2028 and U+2029 end lines of JavaScript before 2019. */
static bool is_separator(const unsigned char *p, size_t n) {
  return n == 3 && p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9);
}

void json_string(strbuf *out, const char *text, size_t length) {
  const unsigned char *p = (const unsigned char *)text;
  strbuf_putc(out, '"');
  for (size_t i = 0; i < length;) {
    size_t n = sequence_length(p + i, length - i);
    if (n == 0) strbuf_puts(out, "\\ufffd");
    else if (n == 1 && !is_plain(p[i])) strbuf_printf(out, "\\u%04x", p[i]);
    else if (is_separator(p + i, n)) strbuf_puts(out, p[i + 2] == 0xA8 ? "\\u2028" : "\\u2029");
    else strbuf_add(out, text + i, n);
    i += n ? n : 1;
  }
  strbuf_putc(out, '"');
}

void json_next(strbuf *out) {
  if (out->length && !strchr("{[,:", out->text[out->length - 1])) strbuf_putc(out, ',');
}

void json_key(strbuf *out, const char *name) {
  json_next(out);
  json_puts(out, name);
  strbuf_putc(out, ':');
}

void json_open(strbuf *out, const char *name, char bracket) {
  if (name) json_key(out, name);
  else json_next(out);
  strbuf_putc(out, bracket);
}

void json_int(strbuf *out, const char *name, int64_t value) {
  json_key(out, name);
  strbuf_int(out, value);
}

void json_bool(strbuf *out, const char *name, bool value) {
  json_key(out, name);
  strbuf_puts(out, value ? "true" : "false");
}

void json_text(strbuf *out, const char *name, const char *value) {
  json_key(out, name);
  json_puts(out, value);
}
