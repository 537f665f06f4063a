/* Bytes -> tokens, on demand; and how errors in the text are reported. */
#include <stdio.h>

#include "in/parser.h"

static inline int peek(const in_parser *p, const char *s) {
  return s < p->end ? (unsigned char)*s : 0;
}
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_hex(int c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word_char(int c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

/* ---- errors ---- */
static _Noreturn void fail(in_parser *p, const char *at, weir_status status, const char *format,
                           va_list args) {
  char message[1024];
  int line = 1;
  const char *start = p->begin;
  if (at > p->end) at = p->end;
  for (const char *s = p->begin; s < at; s++)
    if (*s == '\n') line++, start = s + 1;
  vsnprintf(message, sizeof message, format, args);
  ctx_fail(p->ctx, status, "%d:%lld: %s", line, (long long)(at - start) + 1, message);
}

_Noreturn void in_fail(in_parser *p, const char *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(p, at, WEIR_INVALID_ARGUMENT, format, args);
}

_Noreturn void in_fail_status(in_parser *p, const char *at, weir_status status, const char *format,
                              ...) {
  va_list args;
  va_start(args, format);
  fail(p, at, status, format, args);
}

_Noreturn void in_fail_wanted(in_parser *p, const char *what) {
  if (in_is(p, IN_END)) in_fail(p, p->token.at, "found the end of the text, wanted %s", what);
  int n = p->token.length > 40 ? 40 : (int)p->token.length;
  in_fail(p, p->token.at, "found '%.*s%s', wanted %s", n, p->token.at,
          (size_t)n < p->token.length ? "..." : "", what);
}

void in_reach(in_parser *p, int depth) {
  if (depth > IN_MAX_DEPTH) in_fail(p, p->token.at, "nested deeper than %d levels", IN_MAX_DEPTH);
  if (depth > p->deepest) p->deepest = depth;
}

void in_enter(in_parser *p) { in_reach(p, ++p->depth); }

/* ---- tokens ---- */
static const char *skip_blanks(const in_parser *p, const char *s) {
  for (;; s++) {
    int c = peek(p, s);
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    if (c != '/' || peek(p, s + 1) != '/') return s;
    while (s + 1 < p->end && s[1] != '\n') s++;
  }
}

static const char *skip_number(in_parser *p, const char *s) {
  p->token.kind = IN_INTEGER;
  if (*s == '0' && peek(p, s + 1) == 'x' && is_hex(peek(p, s + 2))) {
    for (s += 2; is_hex(peek(p, s)); s++) continue;
    return s;
  }
  while (is_digit(peek(p, s))) s++;
  if (peek(p, s) != '.') return s;
  p->token.kind = IN_FLOAT;
  for (s++; is_digit(peek(p, s)); s++) continue;
  int c = peek(p, s), sign = peek(p, s + 1);
  const char *digits = s + 1 + (sign == '+' || sign == '-');
  if ((c != 'e' && c != 'E') || !is_digit(peek(p, digits))) return s;
  for (s = digits; is_digit(peek(p, s)); s++) continue;
  return s;
}

static const char *skip_string(in_parser *p, const char *quote) {
  for (const char *s = quote + 1;; s++) {
    if (s >= p->end || *s == '\n') in_fail(p, quote, "a string that does not end");
    if (*s == '"') return s + 1;
    if (*s == '\\') s++;
  }
}

/* Digits, or anything that begins with a letter or $ . _ - */
static const char *skip_suffix(in_parser *p, const char *s) {
  if (is_digit(peek(p, s)))
    while (is_digit(peek(p, s))) s++;
  else
    while (in_is_suffix_char(peek(p, s))) s++;
  return s;
}

static const char *skip_prefixed(in_parser *p, const char *s, int kind) {
  const char *end = skip_suffix(p, s + 1);
  if (end == s + 1) in_fail(p, s, "'%c' without a name", *s);
  p->token.kind = kind;
  return end;
}

static const char *skip_symbol(in_parser *p, const char *s) {
  p->token.kind = IN_AT;
  if (peek(p, s + 1) == '"') return skip_string(p, s + 1);
  const char *end = s + 1;
  if (is_letter(peek(p, end)))
    while (is_word_char(peek(p, end))) end++;
  if (end == s + 1) in_fail(p, s, "'@' without a name");
  return end;
}

static const char *skip_punctuation(in_parser *p, const char *s) {
  int c = *s, next = peek(p, s + 1);
  p->token.kind = c;
  switch (c) {
    case '-': return next == '>' ? p->token.kind = IN_ARROW, s + 2 : s + 1;
    case ':': return next == ':' ? p->token.kind = IN_COLON_COLON, s + 2 : s + 1;
    case '{':
      return next == '-' && peek(p, s + 2) == '#' ? p->token.kind = IN_RESOURCES, s + 3 : s + 1;
    case '(':
    case ')':
    case '[':
    case ']':
    case '}':
    case '<':
    case '>':
    case ',':
    case '=':
    case '+':
    case '*':
    case '?':
    case '/':
    case '|': return s + 1;
    default: break;
  }
  if (c > ' ' && c < 127) in_fail(p, s, "unexpected '%c'", c);
  in_fail(p, s, "unexpected byte 0x%02x", (unsigned char)c);
}

static const char *skip_token(in_parser *p, const char *s) {
  int c = (unsigned char)*s;
  if (is_letter(c)) {
    p->token.kind = IN_WORD;
    while (is_word_char(peek(p, s))) s++;
    return s;
  }
  if (is_digit(c)) return skip_number(p, s);
  switch (c) {
    case '%': return skip_prefixed(p, s, IN_PERCENT);
    case '#': return skip_prefixed(p, s, IN_HASH);
    case '!': return skip_prefixed(p, s, IN_BANG);
    case '^': return skip_prefixed(p, s, IN_CARET);
    case '@': return skip_symbol(p, s);
    case '"': return p->token.kind = IN_STRING, skip_string(p, s);
    default: return skip_punctuation(p, s);
  }
}

void in_seek(in_parser *p, const char *at) {
  CTX_CHECK(p->ctx, p->begin <= at && at <= p->end);
  const char *s = skip_blanks(p, at);
  p->token = (in_token){IN_END, s, 0};
  p->next = s < p->end ? skip_token(p, s) : s;
  CTX_CHECK(p->ctx, s <= p->next && p->next <= p->end);
  p->token.length = (size_t)(p->next - s);
}

void in_next(in_parser *p) {
  p->last = p->next;
  in_seek(p, p->next);
}

bool in_is_word(const in_parser *p, const char *word) {
  return p->token.kind == IN_WORD && p->token.length == strlen(word) &&
         !memcmp(p->token.at, word, p->token.length);
}

bool in_accept_word(in_parser *p, const char *word) {
  if (!in_is_word(p, word)) return false;
  in_next(p);
  return true;
}

void in_expect(in_parser *p, int kind, const char *what) {
  if (!in_accept(p, kind)) in_fail_wanted(p, what);
}

bool in_begin_list(in_parser *p, int open, int close, const char *what) {
  in_expect(p, open, what);
  return !in_accept(p, close);
}

bool in_more(in_parser *p, int close) {
  if (in_accept(p, ',')) return true;
  char what[16];
  snprintf(what, sizeof what, "'%c' or ','", close);
  in_expect(p, close, what);
  return false;
}

void in_expect_word(in_parser *p, const char *word) {
  if (in_accept_word(p, word)) return;
  char what[64];
  snprintf(what, sizeof what, "'%s'", word);
  in_fail_wanted(p, what);
}

const char *in_skip_balanced(in_parser *p, const char *open) {
  p->closers.count = 0;
  for (const char *s = open; s < p->end; s++) {
    char closer = *s == '(' ? ')' : *s == '[' ? ']' : *s == '{' ? '}' : *s == '<' ? '>' : 0;
    if (closer) {
      VEC_PUSH(p->scratch, &p->closers, closer);
    } else if (*s == '"') {
      s = skip_string(p, s) - 1;
    } else if (*s == '-' && peek(p, s + 1) == '>') {
      s++;
    } else if (*s == '/' && peek(p, s + 1) == '/') {
      while (s + 1 < p->end && s[1] != '\n') s++;
    } else if (*s == ')' || *s == ']' || *s == '}' || *s == '>') {
      CTX_CHECK(p->ctx, p->closers.count > 0); /* `open` was a bracket */
      char wanted = p->closers.at[p->closers.count - 1];
      if (*s != wanted) in_fail(p, s, "found '%c', wanted '%c'", *s, wanted);
      if (--p->closers.count == 0) return s + 1;
    }
  }
  in_fail(p, open, "'%c' that is never closed", *open);
}

const char *in_skip_group(in_parser *p) {
  const char *end = in_skip_balanced(p, p->token.at);
  in_skip_to(p, end);
  return end;
}

/* ---- tokens with a value ---- */
int64_t in_integer(in_parser *p) {
  const char *at = p->token.at;
  bool negative = in_accept(p, '-');
  if (!in_is(p, IN_INTEGER)) in_fail_wanted(p, "an integer");
  uint64_t value = 0;
  bool hex = p->token.length > 2 && p->token.at[1] == 'x';
  for (const char *s = p->token.at + (hex ? 2 : 0); s < p->next; s++) {
    uint64_t digit = is_digit(*s) ? (uint64_t)(*s - '0') : (uint64_t)((*s | 32) - 'a' + 10);
    if (__builtin_mul_overflow(value, hex ? 16 : 10, &value) ||
        __builtin_add_overflow(value, digit, &value))
      in_fail(p, at, "an integer that does not fit in 64 bits");
  }
  if (value > (uint64_t)INT64_MAX + negative)
    in_fail(p, at, "an integer that does not fit in 64 bits");
  in_next(p);
  return negative ? (int64_t)(0 - value) : (int64_t)value;
}

static int hex_digit(int c) { return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10; }

ir_str in_unescape(in_parser *p, const char *quoted, size_t length) {
  CTX_CHECK(p->ctx, length >= 2 && *quoted == '"' && quoted[length - 1] == '"');
  const char *s = quoted + 1, *end = quoted + length - 1;
  if (!memchr(s, '\\', (size_t)(end - s))) return ir_intern_text(p->m, s, (size_t)(end - s));
  strbuf b = strbuf_make(p->scratch);
  for (; s < end; s++) {
    if (*s != '\\') {
      strbuf_putc(&b, *s);
      continue;
    }
    s++;
    if (s + 1 < end && is_hex((unsigned char)s[0]) && is_hex((unsigned char)s[1])) {
      strbuf_putc(&b, (char)(hex_digit(s[0]) * 16 + hex_digit(s[1])));
      s++;
    } else if (s < end && strchr("\"\\nt", *s)) {
      strbuf_putc(&b, *s == 'n' ? '\n' : *s == 't' ? '\t' : *s);
    } else {
      in_fail(p, s, "unknown escape in a string");
    }
  }
  return ir_intern_text(p->m, b.text, b.length);
}

ir_str in_symbol(in_parser *p) {
  if (!in_is(p, IN_AT)) in_fail_wanted(p, "a symbol (@name)");
  in_token t = p->token;
  ir_str name = t.at[1] == '"' ? in_unescape(p, t.at + 1, t.length - 1)
                               : ir_intern_text(p->m, t.at + 1, t.length - 1);
  in_next(p);
  return name;
}
