/* Strings as JSON inside of HTML: quotes, control characters, what is no UTF-8, ends of scripts;
 * and whatever else, by a random walk: the text stays UTF-8 without a character that HTML reads. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

static ctx c;
static arena *a;

static void string_is(const char *text, size_t length, const char *want) {
  strbuf out = strbuf_make(a);
  json_string(&out, text, length);
  if (strcmp(out.text, want)) fprintf(stderr, "%s instead of %s\n", out.text, want);
  assert(!strcmp(out.text, want));
}
#define STRING_IS(text, want) string_is(text, sizeof(text) - 1, want)

static void strings(void) {
  STRING_IS("", "\"\"");
  STRING_IS("f32[8,4096]", "\"f32[8,4096]\"");
  STRING_IS("say \"a\\b\"", "\"say \\u0022a\\u005cb\\u0022\"");
  STRING_IS("</script><!--&", "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
  STRING_IS("a\nb\tc\0d\x7f", "\"a\\u000ab\\u0009c\\u0000d\\u007f\"");
  STRING_IS("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d\"");
  STRING_IS("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\"");
  STRING_IS(
      "\xff"
      "a",
      "\"\\ufffda\"");
  STRING_IS("\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* a slash, overlong */
  STRING_IS("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
  STRING_IS("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
  STRING_IS("\xe2\x82", "\"\\ufffd\\ufffd\""); /* cut off */
}

/* Escapes apart, what went in comes out: no more and no less. */
static void random_strings(void) {
  unsigned seed = 7;
  char text[24];
  for (int i = 0; i < 20000; i++) {
    size_t n = (seed = seed * 1103515245u + 12345u) / 65536 % sizeof text;
    for (size_t k = 0; k < n; k++) text[k] = (char)((seed = seed * 1103515245u + 12345u) / 65536);
    strbuf out = strbuf_make(a), again = strbuf_make(a);
    json_string(&out, text, n);
    for (size_t k = 1; k + 1 < out.length; k++)
      assert((unsigned char)out.text[k] >= 0x20 && !strchr("\"<>&\x7f", out.text[k]));
    for (size_t k = 0; k < out.length; k++) /* the UTF-8 that is left stays as it is */
      if (out.text[k] != '\\' && out.text[k] != '"') strbuf_putc(&again, out.text[k]);
    if (!strchr(out.text, '\\'))
      assert(again.length == n && (n == 0 || !memcmp(again.text, text, n)));
  }
}

static void objects(void) {
  strbuf out = strbuf_make(a);
  strbuf_putc(&out, '{');
  json_int(&out, "largest", INT64_MAX);
  json_int(&out, "least", INT64_MIN);
  json_bool(&out, "yes", true);
  json_text(&out, "text", "{");
  json_key(&out, "list");
  strbuf_puts(&out, "[]}");
  assert(!strcmp(out.text,
                 "{\"largest\":9223372036854775807,\"least\":-9223372036854775808,"
                 "\"yes\":true,\"text\":\"{\",\"list\":[]}"));
}

static weir_status test(void *user) {
  (void)user;
  a = arena_create(&c);
  strings();
  random_strings();
  objects();
  return WEIR_OK;
}

int main(void) {
  ctx_init(&c);
  weir_status status = ctx_try(&c, test, NULL);
  ctx_deinit(&c);
  return status != WEIR_OK;
}
