/* Text that grows: an arena-backed string builder. Always NUL-terminated once anything was added.
 */
#ifndef WEIR_BASE_STRBUF_H
#define WEIR_BASE_STRBUF_H
#include <string.h>

#include "base/arena.h"

static inline bool starts_with(const char *text, const char *head) {
  return !strncmp(text, head, strlen(head));
}
/* The first n characters are all of `word`. */
static inline bool word_is(const char *text, size_t n, const char *word) {
  return n == strlen(word) && !strncmp(text, word, n);
}

typedef struct strbuf {
  arena *arena;
  char *text;
  size_t length, room;
} strbuf;

static inline strbuf strbuf_make(arena *a) { return (strbuf){.arena = a}; }
void strbuf_reserve(strbuf *b, size_t more);
void strbuf_add(strbuf *b, const char *s, size_t length);
void strbuf_puts(strbuf *b, const char *s);
void strbuf_putc(strbuf *b, char ch);
void strbuf_int(strbuf *b, int64_t value);
void strbuf_printf(strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
