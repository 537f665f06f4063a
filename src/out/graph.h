/* Pictures: IR -> Graphviz's dot language. */
#ifndef WEIR_OUT_GRAPH_H
#define WEIR_OUT_GRAPH_H
#include "base/strbuf.h"
#include "ir/ir.h"

typedef struct out_graph_style {
  int64_t large_bytes; /* a tensor of this size gets the strongest colour */
  const char *(*bytes_text)(arena *a, int64_t bytes);
  const char *(*line_text)(arena *a, const ir_module *m, ir_str location); /* may return NULL */
} out_graph_style;

/* Appends the main function as a subgraph (a cluster) and its edges: a node per op with shape, size
 * and source line; whiles, cases and ifs as boxes around their bodies. Not drawn: what is computed
 * from scalar constants alone, loop conditions, bodies of reducers and comparators. number: tells
 * the programs of one picture apart. Calls should have been inlined; else they are plain nodes. */
void out_graph_program(const ir_module *m, const char *title, uint32_t number,
                       const out_graph_style *style, strbuf *out);
void out_graph_begin(strbuf *out);
void out_graph_end(strbuf *out);

/* Bytes of the largest tensor that would be drawn. */
int64_t out_graph_largest_bytes(const ir_module *m);

#endif
