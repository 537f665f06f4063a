/* VHLO's attributes as StableHLO's: vhlo.def says which becomes what. Attributes that VHLO has
 * taken apart (dimension numbers) are put together again, as the text that MLIR prints; what
 * StableHLO leaves out because it is the default is left out. Source: StableHLO,
 * VhloLegalizeToStablehlo.cpp. */
#include "in/vhlo.h"

#include <stdio.h>

#include "base/strbuf.h"

/* ---- defaults ---- */
static bool is_word(const ir_module *m, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(m, a);
  if (d->kind == IR_ATTR_ARRAY) {
    for (int32_t i = 0; i < d->count; i++)
      if (!is_word(m, d->items[i])) return false;
    return true;
  }
  static const char *const words[] = {
      "#stablehlo<precision DEFAULT>", "#stablehlo<comparison_type NOTYPE>",
      "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>"};
  for (size_t i = 0; d->kind == IR_ATTR_OTHER && i < sizeof words / sizeof *words; i++)
    if (!strcmp(ir_text(m, d->text), words[i])) return true;
  return false;
}

static bool is_empty(const ir_module *m, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(m, a);
  switch (d->kind) {
    case IR_ATTR_STRING: return !ir_text_length(m, d->text);
    case IR_ATTR_ARRAY:
    case IR_ATTR_DICT: return d->count == 0;
    case IR_ATTR_DENSE: return !d->splat && ir_element_count(m, d->type) == 0;
    default: return false;
  }
}

static bool is_number(const ir_module *m, ir_attr a, int64_t value) {
  const ir_attr_data *d = ir_attr_get(m, a);
  if (d->kind == IR_ATTR_INT) return d->integer == value;
  if (d->kind == IR_ATTR_BOOL) return d->boolean == (value != 0);
  if (d->kind != IR_ATTR_DENSE || !d->splat) return false;
  const ir_type_data *t = ir_type_get(m, d->type);
  int64_t element = 0;
  if (t->dtype == IR_I1) element = *(const char *)d->data;
  else if (t->dtype == IR_I64) memcpy(&element, d->data, sizeof element);
  else return false;
  return element == value;
}

static bool is_default(const ir_module *m, vhlo_preset p, ir_attr a) {
  switch (p) {
    case VHLO_NONE: return false;
    case VHLO_ZERO:
    case VHLO_ZERO_PAIRS:
    case VHLO_FALSE:
    case VHLO_FALSES: return is_number(m, a, 0);
    case VHLO_ONE:
    case VHLO_ONES: return is_number(m, a, 1);
    case VHLO_MINUS_ONE: return is_number(m, a, -1);
    case VHLO_NO_TEXT:
    case VHLO_NO_ITEMS:
    case VHLO_NO_ENTRIES:
    case VHLO_NO_INTS:
    case VHLO_NO_CONFIG: return is_empty(m, a);
    case VHLO_DEFAULTS:
    case VHLO_NOTYPE:
    case VHLO_ACCURACY: return is_word(m, a);
  }
  return false;
}

/* ---- single attributes ---- */
/* The elements of a list of i64 or i1; NULL if it is none. */
static const int64_t *elements(const ir_module *m, arena *scratch, ir_attr a, ir_dtype dtype,
                               int32_t *out_count) {
  const ir_attr_data *d = ir_attr_get(m, a);
  if (d->kind != IR_ATTR_DENSE) return NULL;
  const ir_type_data *t = ir_type_get(m, d->type);
  int64_t n = ir_element_count(m, d->type);
  if (t->dtype != dtype || t->rank != 1 || n > INT16_MAX) return NULL;
  int64_t *ints = ARENA_ARRAY(scratch, int64_t, n + 1);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = d->splat ? 0 : i;
    if (dtype == IR_I1) ints[i] = ((const char *)d->data)[at];
    else memcpy(&ints[i], (const char *)d->data + 8 * at, 8);
  }
  *out_count = (int32_t)n;
  return ints;
}

static ir_attr ints_attr(ir_module *m, arena *scratch, ir_attr a, bool bools) {
  int32_t n;
  const int64_t *ints = elements(m, scratch, a, bools ? IR_I1 : IR_I64, &n);
  if (!ints) return IR_NONE;
  return ir_attr_new(
      m, &(ir_attr_data){.kind = bools ? IR_ATTR_BOOLS : IR_ATTR_I64S, .count = n, .ints = ints});
}

static ir_attr symbol(ir_module *m, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(m, a);
  if (d->kind != IR_ATTR_STRING) return IR_NONE;
  return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_SYMBOL, .text = d->text});
}

static ir_attr symbols(ir_module *m, arena *scratch, ir_attr a) {
  const ir_attr_data d = *ir_attr_get(m, a);
  if (d.kind != IR_ATTR_ARRAY) return IR_NONE;
  ir_attr *items = ARENA_ARRAY(scratch, ir_attr, (size_t)d.count + 1);
  for (int32_t i = 0; i < d.count; i++)
    if (!(items[i] = symbol(m, d.items[i]))) return IR_NONE;
  return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_ARRAY, .count = d.count, .items = items});
}

static ir_attr channel(ir_module *m, arena *scratch, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(m, a);
  if (d->kind != IR_ATTR_INT) return IR_NONE;
  return ir_attr_other(m,
                       arena_printf(scratch, "#stablehlo.channel_handle<handle = %lld, type = 0>",
                                    (long long)d->integer));
}

/* IR_NONE: of the wrong kind. */
static ir_attr convert(ir_module *m, arena *scratch, vhlo_rule r, ir_attr a) {
  switch (r) {
    case VHLO_INTS:
    case VHLO_BOOLS: return ints_attr(m, scratch, a, r == VHLO_BOOLS);
    case VHLO_SYMBOL: return symbol(m, a);
    case VHLO_SYMBOLS: return symbols(m, scratch, a);
    case VHLO_FLAG:
      return ir_attr_get(m, a)->kind == IR_ATTR_BOOL
                 ? ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_UNIT})
                 : IR_NONE;
    case VHLO_CHANNEL_ID: return channel(m, scratch, a);
    default: return a;
  }
}

/* ---- attributes put together ---- */
static ir_attr given_as(const ir_module *m, const ir_named_attr *given, uint32_t count,
                        const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(ir_text(m, given[i].name), name)) return given[i].value;
  return IR_NONE;
}

typedef struct putting {
  ir_module *m;
  arena *scratch;
  const vhlo_op *op;
  const ir_named_attr *given;
  uint32_t count;
} putting;

/* A part's value in text; NULL if it is of no kind that a part has, "" if it is empty or 0. */
static const char *part_text(const putting *p, ir_attr a) {
  int32_t n;
  const ir_attr_data *d = ir_attr_get(p->m, a);
  strbuf out = strbuf_make(p->scratch);
  const int64_t *ints = elements(p->m, p->scratch, a, IR_I64, &n);
  if (ints) {
    strbuf_putc(&out, '[');
    for (int32_t i = 0; i < n; i++)
      strbuf_printf(&out, "%s%lld", i ? ", " : "", (long long)ints[i]);
    strbuf_putc(&out, ']');
    return n ? out.text : "";
  }
  if (d->kind == IR_ATTR_INT)
    return d->integer ? arena_printf(p->scratch, "%lld", (long long)d->integer) : "";
  if (d->kind == IR_ATTR_BOOL) return d->boolean ? "true" : "false";
  if (d->kind != IR_ATTR_TYPE) return NULL;
  const ir_type_data *t = ir_type_get(p->m, d->type);
  return t->kind == IR_TYPE_SCALAR  ? ir_dtype_name(t->dtype)
         : t->kind == IR_TYPE_OTHER ? ir_text(p->m, t->text)
                                    : NULL;
}

static const char *struct_text(const putting *p, vhlo_rule r) {
  strbuf out = strbuf_make(p->scratch);
  strbuf_puts(&out, vhlo_groups[r].head);
  bool any = false;
  for (uint32_t i = 0; i < p->op->count; i++) {
    const vhlo_row *row = p->op->rows[i];
    if (row->rule != r) continue;
    ir_attr a = given_as(p->m, p->given, p->count, row->name);
    const char *text = a ? part_text(p, a) : NULL;
    if (!text) return NULL;
    if (!*text && vhlo_groups[r].sparse) continue;
    strbuf_printf(&out, "%s%s = %s", any ? ", " : "", vhlo_part_name(row), *text ? text : "0");
    any = true;
  }
  strbuf_putc(&out, '>');
  return out.text;
}

/* [b, 0, 1, f]: the letter or number of each dimension. */
static bool put_layout(const putting *p, const char *side, const char *names[2],
                       const char *letters[2], strbuf *out) {
  char key[64];
  int32_t n;
  snprintf(key, sizeof key, "%s_spatial_dimensions", side);
  ir_attr spatial = given_as(p->m, p->given, p->count, key);
  const int64_t *dims = spatial ? elements(p->m, p->scratch, spatial, IR_I64, &n) : NULL;
  if (!dims || n > IR_MAX_RANK) return false;
  const char *at[IR_MAX_RANK + 2] = {0};
  for (int32_t i = 0; i < n; i++) {
    if (dims[i] < 0 || dims[i] > n + 1 || at[dims[i]]) return false;
    at[dims[i]] = arena_printf(p->scratch, "%d", i);
  }
  for (int i = 0; i < 2; i++) {
    snprintf(key, sizeof key, "%s_%s_dimension", side, names[i]);
    ir_attr a = given_as(p->m, p->given, p->count, key);
    const ir_attr_data *d = a ? ir_attr_get(p->m, a) : NULL;
    if (!d || d->kind != IR_ATTR_INT || d->integer < 0 || d->integer > n + 1 || at[d->integer])
      return false;
    at[d->integer] = letters[i];
  }
  for (int32_t i = 0; i < n + 2; i++) strbuf_printf(out, "%s%s", i ? ", " : "[", at[i]);
  strbuf_putc(out, ']');
  return true;
}

static const char *conv_text(const putting *p) {
  const char *plain[2] = {"batch", "feature"}, *kernel[2] = {"input_feature", "output_feature"};
  const char *bf[2] = {"b", "f"}, *io[2] = {"i", "o"};
  strbuf out = strbuf_make(p->scratch);
  strbuf_puts(&out, vhlo_groups[VHLO_CONV].head);
  if (!put_layout(p, "input", plain, bf, &out)) return NULL;
  strbuf_putc(&out, 'x');
  if (!put_layout(p, "kernel", kernel, io, &out)) return NULL;
  strbuf_puts(&out, "->");
  if (!put_layout(p, "output", plain, bf, &out)) return NULL;
  strbuf_putc(&out, '>');
  return out.text;
}

/* A product without an algorithm has `none` for its types. */
static bool has_group(const putting *p, vhlo_rule r) {
  if (r == VHLO_ALGORITHM) {
    ir_attr a = given_as(p->m, p->given, p->count, "lhs_component_count");
    return a && ir_attr_get(p->m, a)->kind == IR_ATTR_INT;
  }
  for (uint32_t i = 0; i < p->op->count; i++)
    if (p->op->rows[i]->rule == r) return true;
  return false;
}

static uint32_t put_groups(const putting *p, ir_named_attr *out, const char **out_error) {
  uint32_t n = 0;
  for (int r = 0; r < VHLO_RULES; r++) {
    if (!vhlo_groups[r].name || !has_group(p, (vhlo_rule)r)) continue;
    const char *text = r == VHLO_CONV ? conv_text(p) : struct_text(p, (vhlo_rule)r);
    if (!text) return *out_error = vhlo_groups[r].name, n;
    out[n++] = (ir_named_attr){ir_intern_string(p->m, vhlo_groups[r].name),
                               ir_attr_other(p->m, text), true};
  }
  return n;
}

/* ---- all of an op ---- */
static const vhlo_row *row_of(const ir_module *m, const vhlo_op *op, ir_str name) {
  for (uint32_t i = 0; i < op->count; i++)
    if (!strcmp(op->rows[i]->name, ir_text(m, name))) return op->rows[i];
  return NULL;
}

/* Layouts of operands and of results are left out together or not at all. */
static bool keeps_layouts(const ir_module *m, const ir_named_attr *given, uint32_t count,
                          const char *name) {
  if (strcmp(name, "operand_layouts") && strcmp(name, "result_layouts")) return false;
  ir_attr operands = given_as(m, given, count, "operand_layouts"),
          results = given_as(m, given, count, "result_layouts");
  return operands && results && !(is_empty(m, operands) && is_empty(m, results));
}

uint32_t vhlo_convert(ir_module *m, arena *scratch, const vhlo_op *op, const ir_named_attr *given,
                      uint32_t count, ir_named_attr *out, const char **out_error) {
  putting p = {m, scratch, op, given, count};
  *out_error = NULL;
  uint32_t n = put_groups(&p, out, out_error);
  for (uint32_t i = 0; i < count && !*out_error; i++) {
    const vhlo_row *row = row_of(m, op, given[i].name);
    if (!row) {
      out[n++] = (ir_named_attr){given[i].name, given[i].value, false};
      continue;
    }
    if (vhlo_groups[row->rule].name) continue;
    if (row->rule == VHLO_FLAG && is_number(m, given[i].value, 0)) continue;
    if (is_default(m, row->preset, given[i].value) && !keeps_layouts(m, given, count, row->name))
      continue;
    ir_attr value = convert(m, scratch, row->rule, given[i].value);
    if (!value) *out_error = row->name;
    ir_str name = ir_intern_string(m, vhlo_stablehlo_name(row));
    out[n++] = (ir_named_attr){name, value, true};
  }
  return n;
}
