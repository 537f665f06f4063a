#include "ir/print.h"

static void print_str(const ir_module *m, ir_str s, strbuf *out) {
  strbuf_add(out, ir_text(m, s), ir_text_length(m, s));
}

/* `a, b` */
static void print_types(const ir_module *m, const ir_type *types, uint32_t count, strbuf *out) {
  for (uint32_t i = 0; i < count; i++) {
    if (i) strbuf_add(out, ", ", 2);
    ir_print_type(m, types[i], out);
  }
}

/* `-> a`, `-> (a, b)` without the arrow: parentheses unless it is one type that is no function. */
static void print_result_types(const ir_module *m, const ir_type *types, uint32_t count,
                               strbuf *out) {
  if (count == 1 && ir_type_get(m, types[0])->kind != IR_TYPE_FUNCTION) {
    ir_print_type(m, types[0], out);
    return;
  }
  strbuf_putc(out, '(');
  print_types(m, types, count, out);
  strbuf_putc(out, ')');
}

static void print_tensor(const ir_module *m, const ir_type_data *t, strbuf *out) {
  strbuf_puts(out, "tensor<");
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0) strbuf_putc(out, '?');
    else strbuf_int(out, t->dims[i]);
    strbuf_putc(out, 'x');
  }
  if (t->dtype) strbuf_puts(out, ir_dtype_name(t->dtype));
  else print_str(m, t->element_text, out);
  if (t->encoding) {
    strbuf_add(out, ", ", 2);
    print_str(m, t->encoding, out);
  }
  strbuf_putc(out, '>');
}

void ir_print_type(const ir_module *m, ir_type type, strbuf *out) {
  const ir_type_data *t = ir_type_get(m, type);
  switch (t->kind) {
    case IR_TYPE_TENSOR: print_tensor(m, t, out); return;
    case IR_TYPE_TOKEN: strbuf_puts(out, "!stablehlo.token"); return;
    case IR_TYPE_TUPLE:
      strbuf_puts(out, "tuple<");
      print_types(m, t->types, (uint32_t)t->n_types, out);
      strbuf_putc(out, '>');
      return;
    case IR_TYPE_FUNCTION:
      strbuf_putc(out, '(');
      print_types(m, t->types, (uint32_t)t->n_types, out);
      strbuf_puts(out, ") -> ");
      print_result_types(m, t->types + t->n_types, (uint32_t)t->n_results, out);
      return;
    case IR_TYPE_SCALAR: strbuf_puts(out, ir_dtype_name(t->dtype)); return;
    case IR_TYPE_OTHER: print_str(m, t->text, out); return;
  }
}

const char *ir_type_text(arena *a, const ir_module *m, ir_type type) {
  strbuf text = strbuf_make(a);
  ir_print_type(m, type, &text);
  return text.text;
}

/* ---- strings ---- */
void ir_print_quoted(const char *s, size_t length, strbuf *out) {
  strbuf_putc(out, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\\') strbuf_puts(out, "\\\\");
    else if (c < ' ' || c > '~' || c == '"') strbuf_printf(out, "\\%02X", c);
    else strbuf_putc(out, s[i]);
  }
  strbuf_putc(out, '"');
}
