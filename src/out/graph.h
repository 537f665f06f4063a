/* Pictures: IR -> Graphviz's dot language, or whatever a sink makes of nodes, edges and boxes. */
#ifndef WEIR_OUT_GRAPH_H
#define WEIR_OUT_GRAPH_H
#include "base/strbuf.h"
#include "ir/ir.h"

/* An op, an argument, a loop's carried value or the function's results. Ids are of the program. */
typedef struct out_graph_node {
  uint32_t id;
  const char *name;
  const char *shape; /* the results', comma-separated; "" if there are none */
  const char *line;  /* of the user's source; NULL: not known */
  int64_t bytes;     /* of all results; saturates */
  enum {
    OUT_GRAPH_OP,
    OUT_GRAPH_ARGUMENT,
    OUT_GRAPH_CARRIED,
    OUT_GRAPH_BRANCH,
    OUT_GRAPH_RESULTS
  } kind;
} out_graph_node;

typedef struct out_graph_sink {
  void *user;
  void (*node)(void *user, const out_graph_node *node); /* in the innermost box that is open */
  void (*edge)(void *user, uint32_t from, uint32_t to, bool is_next_trip);
  void (*open)(void *user, const char *id, const char *label, const char *line);
  void (*close)(void *user);
} out_graph_sink;

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
/* The same into a sink. What is made for it lives in the arena. */
void out_graph_walk(arena *a, const ir_module *m, const out_graph_style *style,
                    const out_graph_sink *sink);
void out_graph_begin(strbuf *out);
void out_graph_end(strbuf *out);

/* Bytes of the largest tensor that would be drawn. */
int64_t out_graph_largest_bytes(const ir_module *m);

#endif
