/* JSON (RFC 8259) into a strbuf. The text may stand inside of a <script> element of HTML: no "<",
 * ">" or "&" is in it as such. What is no UTF-8 becomes U+FFFD. */
#ifndef WEIR_BASE_JSON_H
#define WEIR_BASE_JSON_H
#include "base/strbuf.h"

void json_string(strbuf *out, const char *text, size_t length);
static inline void json_puts(strbuf *out, const char *text) {
  json_string(out, text, strlen(text));
}
/* `"name":`, behind a comma unless it is the first of its object. */
void json_key(strbuf *out, const char *name);
void json_int(strbuf *out, const char *name, int64_t value);
void json_bool(strbuf *out, const char *name, bool value);
void json_text(strbuf *out, const char *name, const char *value);
/* What opens an object or list, of this name or, NULL, in a list. */
void json_open(strbuf *out, const char *name, char bracket);
/* A comma, unless the text ends with what opens an object or list. */
void json_next(strbuf *out);

#endif
