/* The table of who holds the peak, and source lines out of MLIR's locations. Grammar of
 * locations: MLIR language reference, "Builtin dialect: locations". */
#include "plan/explain.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- locations ---- */
typedef struct place {
  const char *file;
  size_t length;
  long line;
} place;

static bool is_installed(const place *p) {
  static const char *const marks[] = {"site-packages", "dist-packages", "/jax/_src/", "<frozen"};
  for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
    for (size_t i = 0; i + strlen(marks[m]) <= p->length; i++)
      if (strncmp(p->file + i, marks[m], strlen(marks[m])) == 0) return true;
  return false;
}

/* Every place of a location is a quoted string with a number behind it; innermost calls come
 * first in the text. */
static bool next_place(const char **text, place *out) {
  for (const char *p = strchr(*text, '"'); p; p = strchr(p, '"')) {
    const char *start = ++p;
    for (; *p && *p != '"'; p++)
      if (*p == '\\' && p[1]) p++;
    if (!*p) return false;
    *out = (place){.file = start, .length = (size_t)(p - start)};
    p++;
    if (*p != ':' || !isdigit((unsigned char)p[1])) continue;
    char *end;
    out->line = strtol(p + 1, &end, 10);
    *text = end;
    return true;
  }
  return false;
}

static const char *base_name(const place *p, size_t *out_length) {
  size_t from = p->length;
  while (from > 0 && p->file[from - 1] != '/') from--;
  *out_length = p->length - from;
  return p->file + from;
}

const char *plan_source_line(arena *a, const ir_module *m, ir_str location) {
  const char *text = ir_text(m, location);
  place p, best = {0};
  while (next_place(&text, &p)) {
    if (p.length == 0 || p.line == 0) continue;
    if (!best.file) best = p;
    if (is_installed(&p)) continue;
    best = p;
    break;
  }
  if (!best.file) return NULL;
  size_t length;
  const char *name = base_name(&best, &length);
  return arena_printf(a, "%.*s:%ld", (int)length, name, best.line);
}

/* ---- the table ---- */
const char *plan_bytes_text(arena *a, int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double x = (double)bytes;
  int u = 0;
  for (; x >= 999.5 && u < 6; u++) x /= 1000;
  int digits = u == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  return arena_printf(a, "%.*f %s", digits, x, units[u]);
}

const char *plan_shape_text(arena *a, const ir_module *m, ir_type type) {
  const ir_type_data *t = ir_type_get(m, type);
  strbuf b = strbuf_make(a);
  strbuf_puts(&b, "");
  if (t->kind != IR_TYPE_TENSOR) return "tuple";
  strbuf_puts(&b, t->dtype ? ir_dtype_name(t->dtype) : ir_text(m, t->element_text));
  strbuf_putc(&b, '[');
  for (int32_t d = 0; d < t->rank; d++) {
    if (d) strbuf_putc(&b, ',');
    strbuf_int(&b, t->dims[d]);
  }
  strbuf_putc(&b, ']');
  return b.text;
}

static const char *op_text(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  return op ? ir_mnemonic(ir_op_name(m, op)) : "loop state";
}

static const char *line_text(arena *a, const ir_module *m, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  const char *line = plan_source_line(a, m, d->op ? ir_op_get(m, d->op)->location : d->location);
  return line ? line : "-";
}

static void add_row(arena *a, const ir_module *m, const plan_peak *peak, const plan_holder *h,
                    strbuf *out) {
  double share = peak->temp_bytes > 0 ? 100.0 * (double)h->bytes / (double)peak->temp_bytes : 0;
  strbuf_printf(out, "  %9s  %5.1f %%  %-24s %-20s %s\n", plan_bytes_text(a, h->bytes), share,
                plan_shape_text(a, m, ir_type_of(m, h->value)), op_text(m, h->value),
                line_text(a, m, h->value));
}

void plan_explain_peak(const ir_module *m, const plan_peak *peak, strbuf *out, int max_rows) {
  arena *a = out->arena;
  strbuf_printf(out, "peak %s = arguments %s + results %s - donated %s + temporaries %s\n",
                plan_bytes_text(a, peak->total_bytes), plan_bytes_text(a, peak->argument_bytes),
                plan_bytes_text(a, peak->output_bytes), plan_bytes_text(a, peak->alias_bytes),
                plan_bytes_text(a, peak->temp_bytes));
  if (peak->n_holders == 0 || max_rows <= 0) return;
  strbuf_puts(out, "temporaries at the peak");
  if (peak->at) {
    const char *line = plan_source_line(a, m, ir_op_get(m, peak->at)->location);
    strbuf_printf(out, " (during %s%s%s)", ir_op_name(m, peak->at), line ? ", " : "",
                  line ? line : "");
  }
  strbuf_puts(out, ":\n");
  int64_t rest = 0;
  uint32_t n_rest = 0;
  for (uint32_t i = 0; i < peak->n_holders; i++) {
    if ((int64_t)i < max_rows) add_row(a, m, peak, &peak->holders[i], out);
    else n_rest++, rest = saturated_sum(rest, peak->holders[i].bytes);
  }
  if (n_rest) strbuf_printf(out, "  %9s           in %u more\n", plan_bytes_text(a, rest), n_rest);
}
