/* IR -> StableHLO text, generic form:
 *
 *   %2:2 = "stablehlo.sort"(%0, %1) <{properties}> ({regions}) {attributes} : (types) -> types
 * loc()
 *
 * Values are numbered in the order of the text, anew in each function: %0, %1, ... for results,
 * %arg0, ... for arguments of blocks. Constants print as MLIR prints them: a splat or a short one
 * as numbers, a long one as a string of hex bytes. Booleans and integers of less than a byte are
 * always numbers: their hex form differs between versions of MLIR. Source: MLIR's AsmPrinter.
 */

#include "ir/floats.h"
#include "ir/print.h"
#include "out/out.h"

enum { MAX_PLAIN_ELEMENTS = 100 };

struct type_text {
  const char *text;
  size_t length;
};

typedef struct printer {
  const ir_module *m;
  strbuf *out;
  arena *scratch;
  uint32_t *numbers;       /* by value: of the %N or %argN it belongs to */
  struct type_text *types; /* by type, made when first printed; NULL: not kept */
  uint32_t next_result, next_arg;
  int indent;
  bool is_plain; /* no locations */
} printer;

static void add(printer *p, const char *s) { strbuf_puts(p->out, s); }
static void add_str(printer *p, ir_str s) {
  strbuf_add(p->out, ir_text(p->m, s), ir_text_length(p->m, s));
}

static void type(printer *p, ir_type t) {
  if (!p->types) {
    ir_print_type(p->m, t, p->out);
    return;
  }
  if (!p->types[t].text) {
    strbuf b = strbuf_make(p->scratch);
    ir_print_type(p->m, t, &b);
    p->types[t].text = b.text ? b.text : "";
    p->types[t].length = b.length;
  }
  strbuf_add(p->out, p->types[t].text, p->types[t].length);
}

static void new_line(printer *p) {
  static const char blanks[] = "                                ";
  strbuf_putc(p->out, '\n');
  for (int n = p->indent * 2; n > 0; n -= 32) strbuf_add(p->out, blanks, n < 32 ? (size_t)n : 32);
}

/* ---- names and strings ---- */
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.';
}

static bool is_word(const char *s, size_t length) {
  if (length == 0 || !is_letter(*s)) return false;
  for (size_t i = 1; i < length; i++)
    if (!is_word_char(s[i])) return false;
  return true;
}

static void quoted(printer *p, ir_str text) {
  ir_print_quoted(ir_text(p->m, text), ir_text_length(p->m, text), p->out);
}

static void word_or_quoted(printer *p, ir_str text) {
  if (is_word(ir_text(p->m, text), ir_text_length(p->m, text))) add_str(p, text);
  else quoted(p, text);
}

/* ---- constants ---- */
static uint64_t read_bits(const char *data, size_t bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes; i++) bits |= (uint64_t)(unsigned char)data[i] << (8 * i);
  return bits;
}

static void real(printer *p, ir_dtype dtype, uint64_t bits) {
  char text[IR_FLOAT_TEXT];
  ir_float_text(dtype, bits, text);
  add(p, text);
}

static void element(printer *p, ir_dtype dtype, const char *data) {
  size_t bytes = (size_t)ir_dtype_bytes(dtype);
  uint64_t bits = read_bits(data, bytes < 8 ? bytes : 8);
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_BOOL: add(p, bits ? "true" : "false"); return;
    case IR_CLASS_INT:
      strbuf_int(p->out, (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
      return;
    case IR_CLASS_UINT: strbuf_printf(p->out, "%llu", (unsigned long long)bits); return;
    case IR_CLASS_FLOAT: real(p, dtype, bits); return;
    case IR_CLASS_COMPLEX: {
      ir_dtype part = ir_real_dtype(dtype);
      strbuf_putc(p->out, '(');
      real(p, part, read_bits(data, bytes / 2));
      strbuf_putc(p->out, ',');
      real(p, part, read_bits(data + bytes / 2, bytes / 2));
      strbuf_putc(p->out, ')');
      return;
    }
    case IR_CLASS_NONE: return;
  }
}

/* The nested lists below dimension `dim`; returns the data behind them. */
static const char *list(printer *p, const ir_type_data *t, int32_t dim, const char *data) {
  if (dim == t->rank) {
    element(p, t->dtype, data);
    return data + ir_dtype_bytes(t->dtype);
  }
  strbuf_putc(p->out, '[');
  for (int64_t i = 0; i < t->dims[dim]; i++) {
    if (i) add(p, ", ");
    data = list(p, t, dim + 1, data);
  }
  strbuf_putc(p->out, ']');
  return data;
}

static void hex_string(printer *p, const char *data, size_t bytes) {
  static const char digits[] = "0123456789ABCDEF";
  strbuf_reserve(p->out, 2 * bytes + 4);
  char *s = p->out->text + p->out->length;
  memcpy(s, "\"0x", 3);
  s += 3;
  for (size_t i = 0; i < bytes; i++) {
    *s++ = digits[(unsigned char)data[i] >> 4];
    *s++ = digits[data[i] & 15];
  }
  *s++ = '"';
  *s = 0;
  p->out->length += 2 * bytes + 4;
}

static bool prints_as_hex(ir_dtype dtype, int64_t count) {
  static const bool never[IR_DTYPE_COUNT] = {[IR_I1] = true,  [IR_I2] = true,  [IR_I4] = true,
                                             [IR_UI2] = true, [IR_UI4] = true, [IR_INDEX] = true};
  return count > MAX_PLAIN_ELEMENTS && !never[dtype];
}

static void dense(printer *p, const ir_attr_data *d) {
  const ir_type_data *t = ir_type_get(p->m, d->type);
  int64_t count = ir_element_count(p->m, d->type);
  add(p, "dense<");
  if (d->splat) element(p, t->dtype, d->data);
  else if (prints_as_hex(t->dtype, count))
    hex_string(p, d->data, (size_t)ir_type_bytes(p->m, d->type));
  else if (count) list(p, t, 0, d->data);
  add(p, "> : ");
  type(p, d->type);
}

/* ---- attributes ---- */
static void attribute(printer *p, ir_attr a);

static void integer(printer *p, const ir_attr_data *d) {
  ir_dtype dtype = d->type ? ir_type_get(p->m, d->type)->dtype : IR_I64;
  if (ir_dtype_class_of(dtype) == IR_CLASS_UINT)
    strbuf_printf(p->out, "%llu", (unsigned long long)d->integer);
  else strbuf_int(p->out, d->integer);
}

static void numbers(printer *p, const ir_attr_data *d) {
  bool bools = d->kind == IR_ATTR_BOOLS;
  add(p, bools ? "array<i1" : "array<i64");
  for (int32_t i = 0; i < d->count; i++) {
    add(p, i ? ", " : ": ");
    if (bools) add(p, d->ints[i] ? "true" : "false");
    else strbuf_int(p->out, d->ints[i]);
  }
  strbuf_putc(p->out, '>');
}

static void named(printer *p, const ir_named_attr *a) {
  word_or_quoted(p, a->name);
  if (ir_attr_get(p->m, a->value)->kind == IR_ATTR_UNIT) return;
  add(p, " = ");
  attribute(p, a->value);
}

static void entries(printer *p, const ir_named_attr *at, uint32_t count) {
  strbuf_putc(p->out, '{');
  for (uint32_t i = 0; i < count; i++) {
    if (i) add(p, ", ");
    named(p, &at[i]);
  }
  strbuf_putc(p->out, '}');
}

static void items(printer *p, const ir_attr_data *d) {
  strbuf_putc(p->out, '[');
  for (int32_t i = 0; i < d->count; i++) {
    if (i) add(p, ", ");
    attribute(p, d->items[i]);
  }
  strbuf_putc(p->out, ']');
}

static void attribute(printer *p, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(p->m, a);
  switch (d->kind) {
    case IR_ATTR_UNIT: add(p, "unit"); return;
    case IR_ATTR_BOOL: add(p, d->boolean ? "true" : "false"); return;
    case IR_ATTR_INT: integer(p, d); break;
    case IR_ATTR_FLOAT: add_str(p, d->text); break;
    case IR_ATTR_STRING: quoted(p, d->text); return;
    case IR_ATTR_SYMBOL: strbuf_putc(p->out, '@'), word_or_quoted(p, d->text); return;
    case IR_ATTR_TYPE: type(p, d->type); return;
    case IR_ATTR_I64S:
    case IR_ATTR_BOOLS: numbers(p, d); return;
    case IR_ATTR_ARRAY: items(p, d); return;
    case IR_ATTR_DICT: entries(p, d->entries, (uint32_t)d->count); return;
    case IR_ATTR_DENSE: dense(p, d); return;
    case IR_ATTR_OTHER: add_str(p, d->text); return;
  }
  if (d->type) add(p, " : "), type(p, d->type);
}

/* The attributes that are properties, or those that are not. */
static void attributes(printer *p, const ir_op_data *op, bool property) {
  bool any = false;
  for (uint32_t i = 0; i < op->n_attrs; i++) {
    if (op->attrs[i].property != property) continue;
    add(p, any ? ", " : property ? " <{" : " {");
    named(p, &op->attrs[i]);
    any = true;
  }
  if (any) add(p, property ? "}>" : "}");
}

/* ---- values, regions, ops ---- */
static void value(printer *p, ir_value v) {
  const ir_value_data *d = ir_value_get(p->m, v);
  add(p, d->block ? "%arg" : "%");
  strbuf_int(p->out, p->numbers[v]);
  if (!d->block && ir_op_get(p->m, d->op)->n_results > 1) {
    strbuf_putc(p->out, '#');
    strbuf_int(p->out, d->index);
  }
}

static void location(printer *p, ir_str text) {
  if (!text || p->is_plain) return;
  add(p, " loc(");
  add_str(p, text);
  strbuf_putc(p->out, ')');
}

static void op_text(printer *p, ir_op o);

static void arguments(printer *p, const ir_block_data *b) {
  if (b->args.count == 0) return;
  new_line(p);
  add(p, "^bb0(");
  for (uint32_t i = 0; i < b->args.count; i++) {
    ir_value v = b->args.at[i];
    p->numbers[v] = p->next_arg++;
    if (i) add(p, ", ");
    value(p, v);
    add(p, ": ");
    type(p, ir_type_of(p->m, v));
    location(p, ir_value_get(p->m, v)->location);
  }
  add(p, "):");
}

static void region(printer *p, ir_block block) {
  add(p, "{");
  if (block) {
    arguments(p, ir_block_get(p->m, block));
    p->indent++;
    for (ir_op op, i = 0; (op = ir_op_at(p->m, block, i)); i++) op_text(p, op);
    p->indent--;
  }
  new_line(p);
  add(p, "}");
}

static void regions(printer *p, const ir_op_data *op) {
  if (op->n_regions == 0) return;
  add(p, " (");
  for (uint32_t i = 0; i < op->n_regions; i++) {
    if (i) add(p, ", ");
    region(p, op->regions[i]);
  }
  add(p, ")");
}

static void signature(printer *p, const ir_op_data *op) {
  add(p, " : (");
  for (uint32_t i = 0; i < op->n_operands; i++) {
    if (i) add(p, ", ");
    type(p, ir_type_of(p->m, op->operands[i]));
  }
  add(p, ") -> ");
  bool plain = op->n_results == 1 && ir_type_at(p->m, op->first_result)->kind != IR_TYPE_FUNCTION;
  if (!plain) add(p, "(");
  for (uint32_t i = 0; i < op->n_results; i++) {
    if (i) add(p, ", ");
    type(p, ir_type_of(p->m, op->first_result + i));
  }
  if (!plain) add(p, ")");
}

static void results(printer *p, const ir_op_data *op) {
  if (op->n_results == 0) return;
  for (uint32_t i = 0; i < op->n_results; i++) p->numbers[op->first_result + i] = p->next_result;
  strbuf_putc(p->out, '%');
  strbuf_int(p->out, p->next_result++);
  if (op->n_results > 1) {
    strbuf_putc(p->out, ':');
    strbuf_int(p->out, op->n_results);
  }
  add(p, " = ");
}

static void op_text(printer *p, ir_op o) {
  const ir_op_data *op = ir_op_get(p->m, o);
  uint32_t next_result = p->next_result, next_arg = p->next_arg;
  if (p->out->length) new_line(p);
  results(p, op);
  add(p, "\"");
  add(p, ir_op_name(p->m, o));
  add(p, "\"(");
  for (uint32_t i = 0; i < op->n_operands; i++) {
    if (i) add(p, ", ");
    value(p, op->operands[i]);
  }
  add(p, ")");
  attributes(p, op, true);
  if (op->kind == IR_OP_FUNC) p->next_result = p->next_arg = 0;
  regions(p, op);
  if (op->kind == IR_OP_FUNC) p->next_result = next_result, p->next_arg = next_arg;
  attributes(p, op, false);
  signature(p, op);
  location(p, op->location);
}

void out_entries_text(const ir_module *m, const ir_named_attr *at, uint32_t count, strbuf *out) {
  printer p = {.m = m, .out = out};
  entries(&p, at, count);
}

static void program_text(const ir_module *m, bool is_plain, strbuf *out) {
  arena *scratch = arena_create(m->ctx);
  printer p = {.m = m,
               .out = out,
               .is_plain = is_plain,
               .scratch = scratch,
               .numbers = ARENA_ARRAY(scratch, uint32_t, m->values.count)};
  p.types = arena_array(scratch, m->types.count, sizeof *p.types);
  op_text(&p, m->root);
  strbuf_putc(out, '\n');
  arena_destroy(scratch);
}

void out_stablehlo_text(const ir_module *m, strbuf *out) { program_text(m, false, out); }
void out_plain_text(const ir_module *m, strbuf *out) { program_text(m, true, out); }
