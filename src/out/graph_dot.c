/* A graph in the dot language, for Graphviz. Source: graphviz.org/doc/info/lang.html. */
#include "out/graph.h"

enum { N_SHADES = 4 };

static const struct shade {
  int64_t share; /* of large_bytes: from a share-th on */
  const char *fill, *text;
} shades[N_SHADES] = {{1, "#c0392b", "white"},
                      {8, "#f0a050", "black"},
                      {64, "#fbe6b0", "black"},
                      {0, "white", "black"}};

typedef struct dot {
  const out_graph_style *style;
  strbuf *out, edges;
  uint32_t number; /* of the program in the picture */
  int indent;
} dot;

static void put_indent(dot *g) { strbuf_printf(g->out, "%*s", 2 * g->indent, ""); }

static void put_escaped(strbuf *out, const char *text) {
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') strbuf_putc(out, '\\');
    if (*text == '\n') strbuf_puts(out, "\\n");
    else strbuf_putc(out, *text);
  }
}

static void put_line(strbuf *out, const char *text) {
  if (!text || !*text) return;
  strbuf_puts(out, "\\n");
  put_escaped(out, text);
}

static const struct shade *shade_of(const out_graph_style *style, int64_t bytes) {
  int i = 0;
  while (shades[i].share && bytes < (style->large_bytes + shades[i].share - 1) / shades[i].share)
    i++;
  return &shades[i];
}

static void put_node(void *user, const out_graph_node *n) {
  static const char *const shapes[] = {"box", "house", "ellipse", "diamond", "invhouse"};
  dot *g = user;
  const struct shade *s = shade_of(g->style, n->bytes);
  put_indent(g);
  strbuf_printf(g->out, "n%u_%u [shape=%s, label=\"", g->number, n->id, shapes[n->kind]);
  put_escaped(g->out, n->name);
  put_line(g->out, n->shape);
  put_line(g->out, n->bytes ? g->style->bytes_text(g->out->arena, n->bytes) : NULL);
  put_line(g->out, n->line);
  if (n->kind == OUT_GRAPH_RESULTS) strbuf_puts(g->out, "\", fillcolor=white];\n");
  else strbuf_printf(g->out, "\", fillcolor=\"%s\", fontcolor=\"%s\"];\n", s->fill, s->text);
}

static void put_edge(void *user, uint32_t from, uint32_t to, bool is_next_trip) {
  dot *g = user;
  strbuf_printf(&g->edges, "  n%u_%u -> n%u_%u%s;\n", g->number, from, g->number, to,
                is_next_trip ? " [style=dashed, constraint=false]" : "");
}

static void open_box(void *user, const char *id, const char *label, const char *line) {
  dot *g = user;
  put_indent(g);
  strbuf_printf(g->out, "subgraph cluster_%u_%s {\n", g->number, id);
  g->indent++;
  put_indent(g);
  strbuf_puts(g->out, "label=\"");
  put_escaped(g->out, label);
  put_line(g->out, line);
  strbuf_puts(g->out, "\"; style=\"rounded,filled\"; color=\"#5b7fa6\"; fillcolor=\"#eef3f8\";\n");
}

static void close_box(void *user) {
  dot *g = user;
  g->indent--;
  put_indent(g);
  strbuf_puts(g->out, "}\n");
}

void out_graph_begin(strbuf *out) {
  strbuf_puts(out,
              "digraph weir {\n  node [style=filled, fontname=\"sans-serif\", fontsize=10];\n"
              "  graph [fontname=\"sans-serif\", fontsize=12];\n  edge [color=\"#444444\"];\n");
}

void out_graph_end(strbuf *out) { strbuf_puts(out, "}\n"); }

void out_graph_program(const ir_module *m, const char *title, uint32_t number,
                       const out_graph_style *style, strbuf *out) {
  dot g = {.style = style, .out = out, .number = number, .indent = 2};
  out_graph_sink sink = {&g, put_node, put_edge, open_box, close_box};
  g.edges = strbuf_make(out->arena);
  strbuf_puts(&g.edges, "");
  strbuf_printf(out, "  subgraph cluster_%u {\n    label=\"", number);
  put_escaped(out, title);
  strbuf_puts(out, "\"; labeljust=l; fontsize=16; color=\"#999999\";\n");
  out_graph_walk(out->arena, m, style, &sink);
  strbuf_puts(out, "  }\n");
  strbuf_add(out, g.edges.text, g.edges.length);
}
