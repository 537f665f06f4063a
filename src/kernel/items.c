#include "kernel/items.h"

#include "base/ints.h"

static void bind_outer(kernel_emitter *e, const char *number) {
  const kernel_nest *n = e->n;
  for (int32_t a = 0; a < n->n_axes; a++) {
    if (n->role[a] != KERNEL_OUTER) continue;
    number = kernel_divided(e, number, n->extent[a], &e->tile.bound[a]);
  }
}

static int64_t rows_of_span(const kernel_nest *n) {
  int64_t chunks = ceil_div(n->extent[n->row], n->sizes.chunk);
  return ceil_div(chunks, n->sizes.spans) * n->sizes.chunk;
}

/* %<name>_begin and %<name>_end of the span of that number. */
static void put_span(kernel_emitter *e, const char *name, const char *number, int64_t width,
                     int64_t extent) {
  kernel_put(e, "%%%s_begin = mul i64 %s, %lld", name, number, (long long)width);
  const char *end = kernel_line(e, "add i64 %%%s_begin, %lld", name, (long long)width);
  const char *is_last = kernel_line(e, "icmp sgt i64 %s, %lld", end, (long long)extent);
  kernel_put(e, "%%%s_end = select i1 %s, i64 %lld, i64 %s", name, is_last, (long long)extent, end);
}

static int64_t columns_of_span(const kernel_nest *n) {
  int64_t blocks = ceil_div(n->extent[n->column], n->sizes.block);
  return ceil_div(blocks, n->sizes.column_spans) * n->sizes.block;
}

const char *kernel_divided(kernel_emitter *e, const char *number, int64_t by,
                           const char **out_rest) {
  *out_rest = kernel_line(e, "urem i64 %s, %lld", number, (long long)by);
  return kernel_line(e, "udiv i64 %s, %lld", number, (long long)by);
}

void kernel_decode_item(kernel_emitter *e, int64_t column_spans) {
  const kernel_nest *n = e->n;
  const char *rows, *columns;
  const char *number = kernel_divided(e, "%item", n->sizes.spans, &rows);
  CTX_CHECK(n->m->ctx, rows_of_span(n) * n->sizes.spans >= n->extent[n->row]);
  CTX_CHECK(n->m->ctx, columns_of_span(n) * n->sizes.column_spans >= n->extent[n->column]);
  number = kernel_divided(e, number, column_spans, &columns);
  bind_outer(e, number);
  put_span(e, "span", rows, rows_of_span(n), n->extent[n->row]);
  put_span(e, "column", columns, column_spans == 1 ? n->extent[n->column] : columns_of_span(n),
           n->extent[n->column]);
}

void kernel_decode_finishing_item(kernel_emitter *e) {
  bind_outer(e, "%item");
  put_span(e, "column", "0", e->n->extent[e->n->column], e->n->extent[e->n->column]);
}

kernel_loop kernel_begin_chunk(kernel_emitter *e) {
  const kernel_sizes *s = &e->n->sizes;
  kernel_loop l = kernel_loop_begin(e, "%span_begin", "%span_end", kernel_int(e, s->chunk));
  kernel_put(e, "%%row_begin = add i64 %s, 0", l.index);
  const char *left = kernel_line(e, "sub i64 %%span_end, %%row_begin");
  const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)s->chunk);
  kernel_put(e, "%%row_count = select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)s->chunk);
  return l;
}
