/* weir_page(): plans as one page of HTML. */
#include "base/json.h"
#include "limit/result.h"
#include "out/page.h"

typedef struct pages {
  ctx c;
  const char *title;
  const weir_page_part *parts;
  size_t count;
  weir_result *result;
} pages;

static weir_status put_page(void *user) {
  pages *p = user;
  arena *a = arena_create(&p->c);
  strbuf plans = strbuf_make(a), out = strbuf_make(a);
  strbuf_putc(&plans, '[');
  for (size_t i = 0; i < p->count; i++) {
    const char *data = p->parts[i].data;
    if (!data || data[0] != '{')
      return ctx_error(&p->c, WEIR_INVALID_ARGUMENT, "plan %zu has no data: weir_options.data", i);
    json_open(&plans, NULL, '{');
    json_text(&plans, "title", p->parts[i].title);
    json_key(&plans, "plan");
    strbuf_puts(&plans, data);
    strbuf_putc(&plans, '}');
  }
  strbuf_putc(&plans, ']');
  out_page(&out, p->title, plans.text);
  return result_set_text(&p->c, p->result, out.text, out.length);
}

weir_status weir_page(const char *title, const weir_page_part *parts, size_t count,
                      weir_result **out_result) {
  pages p = {.title = title, .parts = parts, .count = count};
  return result_make(&p.c, put_page, &p, &p.result, out_result);
}
