/* In: plans as JSON. Out: src/out/page/page.html with its places filled: style, data, scripts. */
#include "out/page.h"

static const char *const styles[] = {"uPlot.min.css", "page.css", NULL};
static const char *const scripts[] = {"uPlot.iife.js", "dagre.min.js", "page.js", NULL};

static const out_page_file *file_get(arena *a, const char *name) {
  const out_page_file *f = out_page_files;
  while (f->name && strcmp(f->name, name)) f++;
  CTX_CHECK(arena_ctx(a), f->name);
  return f;
}

static void put_files(strbuf *out, const char *const *names) {
  for (; *names; names++) {
    const out_page_file *f = file_get(out->arena, *names);
    strbuf_add(out, (const char *)f->bytes, f->length);
    strbuf_putc(out, '\n');
  }
}

static void put_markup(strbuf *out, const char *text) {
  for (; *text; text++) {
    if (*text == '<') strbuf_puts(out, "&lt;");
    else if (*text == '&') strbuf_puts(out, "&amp;");
    else strbuf_putc(out, *text);
  }
}

static void put_place(strbuf *out, const char *name, size_t length, const char *title,
                      const char *plans) {
  CTX_CHECK(arena_ctx(out->arena), length > 0);
  if (!strncmp(name, "title", length)) put_markup(out, title);
  else if (!strncmp(name, "style", length)) put_files(out, styles);
  else if (!strncmp(name, "scripts", length)) put_files(out, scripts);
  else if (!strncmp(name, "data", length)) strbuf_puts(out, plans);
}

void out_page(strbuf *out, const char *title, const char *plans) {
  const out_page_file *page = file_get(out->arena, "page.html");
  const char *text = arena_printf(out->arena, "%.*s", (int)page->length, (const char *)page->bytes);
  for (const char *open; (open = strstr(text, "{{")); text = strstr(open, "}}") + 2) {
    CTX_CHECK(arena_ctx(out->arena), strstr(open, "}}")); /* a place is closed */
    strbuf_add(out, text, (size_t)(open - text));
    put_place(out, open + 2, (size_t)(strstr(open, "}}") - open - 2), title, plans);
  }
  strbuf_puts(out, text);
}
