/* StableHLO's attributes of an op as VHLO's, by the rows of ir/vhlo.def: what is one attribute
 * there is taken apart, what was left out is written. Source: StableHLO,
 * StablehloLegalizeToVhlo.cpp. */
#include <stddef.h>
#include <stdlib.h>

#include "out/bytecode.h"

/* ---- what was left out ---- */
/* Of a window: all dimensions, but for a convolution's batch and feature. */
static int64_t windowed_dims(const bw *w, ir_op op) {
  const ir_op_data *d = ir_op_get(w->m, op);
  bool conv = d->kind == IR_OP_CONVOLUTION || d->kind == IR_OP_DYNAMIC_CONV;
  int64_t rank = d->n_operands ? ir_type_at(w->m, d->operands[0])->rank : 0;
  return conv ? (rank > 2 ? rank - 2 : 0) : rank;
}

static bool is_typed_call(const bw *w, ir_op op) {
  return ir_op_int(w->m, op, "api_version", 1) == 4;
}

static uint32_t preset_of(bw *w, ir_op op, const vhlo_row *row) {
  int64_t dims[2] = {windowed_dims(w, op), 2};
  uint32_t item;
  switch (row->preset) {
    case VHLO_NONE: break;
    case VHLO_ZERO: return bw_int(w, 0);
    case VHLO_ONE: return row->rule == VHLO_API_VERSION ? bw_api_version(w, 1) : bw_int(w, 1);
    case VHLO_MINUS_ONE: return bw_int(w, -1);
    case VHLO_FALSE: return bw_bool(w, false);
    case VHLO_ZERO_PAIRS: return bw_repeated(w, IR_I64, 0, 2, dims);
    case VHLO_ONES: return bw_repeated(w, IR_I64, 1, 1, dims);
    case VHLO_FALSES: return bw_repeated(w, IR_I1, 0, 1, dims);
    case VHLO_NO_TEXT: return bw_text(w, "", 0);
    case VHLO_NO_ITEMS: return bw_items(w, NULL, 0);
    case VHLO_NO_ENTRIES: return bw_no_entries(w);
    case VHLO_NO_INTS: return bw_ints(w, (ir_ints){0, dims});
    case VHLO_NO_CONFIG: return is_typed_call(w, op) ? bw_no_entries(w) : bw_text(w, "", 0);
    case VHLO_DEFAULTS:
      item = bw_other(w, "#stablehlo<precision DEFAULT>");
      return bw_items(w, (uint32_t[]){item, item}, 2);
    case VHLO_NOTYPE: return bw_other(w, "#stablehlo<comparison_type NOTYPE>");
    case VHLO_ACCURACY:
      return bw_other(w,
                      "#stablehlo.result_accuracy<mode = "
                      "#stablehlo.result_accuracy_mode<DEFAULT>>");
  }
  if (row->rule == VHLO_FLAG) return bw_bool(w, false);
  if (row->rule == VHLO_ALGORITHM) return bw_type_attr(w, "none", 4);
  bw_fail(w, "'%s' is missing", vhlo_stablehlo_name(row));
}

/* ---- attributes taken apart ---- */
static uint32_t layout_part(bw *w, ir_op op, const vhlo_row *row) {
#define PART(side, name, field)                                                                    \
  { #side "_" #name "_dimension", offsetof(ir_conv_numbers, field) }
  static const struct {
    const char *name;
    size_t at;
  } parts[] = {PART(input, batch, input_batch),
               PART(input, feature, input_feature),
               PART(kernel, input_feature, kernel_input_feature),
               PART(kernel, output_feature, kernel_output_feature),
               PART(output, batch, output_batch),
               PART(output, feature, output_feature)};
#undef PART
  ir_conv_numbers n;
  if (!ir_conv_dims(w->scratch, w->m, op, &n)) bw_fail(w, "'dimension_numbers' do not read");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(parts[i].name, row->name))
      return bw_int(w, *(const int64_t *)((const char *)&n + parts[i].at));
  ir_ints spatial = *row->name == 'i'   ? n.input_spatial
                    : *row->name == 'k' ? n.kernel_spatial
                                        : n.output_spatial;
  for (int32_t i = 0; i < spatial.count; i++) /* [b, 5, f] has no 0 */
    if (spatial.at[i] < 0) bw_fail(w, "'dimension_numbers' do not read");
  return bw_ints(w, spatial);
}

/* [0, 1], 1, true, f32 */
static uint32_t value_part(bw *w, const char *value, const char *text, const char *key) {
  ir_ints ints;
  if (*value == '[' && ir_text_ints(w->scratch, text, key, &ints)) return bw_ints(w, ints);
  if (*value == '-' || (*value >= '0' && *value <= '9')) return bw_int(w, strtoll(value, NULL, 10));
  size_t n = strcspn(value, ",> ");
  if (n == 4 && !memcmp(value, "true", n)) return bw_bool(w, true);
  if (n == 5 && !memcmp(value, "false", n)) return bw_bool(w, false);
  return bw_type_attr(w, value, n);
}

static uint32_t part_of(bw *w, ir_op op, const vhlo_row *row, ir_attr a) {
  static const int64_t nothing = 0;
  if (row->rule == VHLO_CONV) return layout_part(w, op, row);
  const ir_attr_data *d = ir_attr_get(w->m, a);
  const char *text = d->kind == IR_ATTR_OTHER ? ir_text(w->m, d->text) : "";
  const char *key = vhlo_part_name(row), *value = ir_text_value(text, key);
  if (value) return value_part(w, value, text, key);
  if (!vhlo_groups[row->rule].sparse || !*text)
    bw_fail(w, "'%s' does not read", vhlo_stablehlo_name(row));
  bool is_number = !strcmp(row->name, "index_vector_dim");
  return is_number ? bw_int(w, 0) : bw_ints(w, (ir_ints){0, &nothing});
}

/* ---- all of an op ---- */
static bool are_symbols(const ir_module *m, const ir_attr_data *d) {
  bool are = d->kind == IR_ATTR_ARRAY;
  for (int32_t i = 0; are && i < d->count; i++)
    are = ir_attr_get(m, d->items[i])->kind == IR_ATTR_SYMBOL;
  return are;
}

static bool is_vector(const ir_module *m, const ir_attr_data *d, ir_dtype dtype) {
  const ir_type_data *t = d->kind == IR_ATTR_DENSE ? ir_type_get(m, d->type) : NULL;
  return t && t->rank == 1 && t->dtype == dtype;
}

/* Whether it reads as what VHLO has there: attributes that weir does not read are kept as text. */
static bool is_of_kind(const ir_module *m, vhlo_rule rule, const ir_attr_data *d) {
  switch (rule) {
    case VHLO_INTS: return d->kind == IR_ATTR_I64S || is_vector(m, d, IR_I64);
    case VHLO_BOOLS: return d->kind == IR_ATTR_BOOLS || is_vector(m, d, IR_I1);
    case VHLO_SYMBOL: return d->kind == IR_ATTR_SYMBOL;
    case VHLO_SYMBOLS: return are_symbols(m, d);
    default: return true;
  }
}

static uint32_t given_as(bw *w, ir_op op, const vhlo_row *row, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(w->m, a);
  if (vhlo_groups[row->rule].name) return part_of(w, op, row, a);
  if (row->rule == VHLO_FLAG) return bw_bool(w, d->kind != IR_ATTR_BOOL || d->boolean);
  if (row->rule == VHLO_API_VERSION)
    return bw_api_version(w, d->kind == IR_ATTR_INT ? d->integer : -1);
  if (!is_of_kind(w->m, row->rule, d)) bw_fail(w, "'%s' does not read", vhlo_stablehlo_name(row));
  if (row->rule != VHLO_CHANNEL_ID) return bw_attr(w, a);
  const char *handle =
      d->kind == IR_ATTR_OTHER ? ir_text_value(ir_text(w->m, d->text), "handle") : NULL;
  if (!handle) bw_fail(w, "'channel_handle' does not read");
  return bw_int(w, strtoll(handle, NULL, 10));
}

static uint32_t row_attr(bw *w, ir_op op, const vhlo_row *row) {
  ir_attr a = ir_op_attr(w->m, op, vhlo_stablehlo_name(row));
  return a ? given_as(w, op, row, a) : preset_of(w, op, row);
}

static const vhlo_row *row_of(const vhlo_op *rows, const char *name) {
  for (uint32_t i = 0; i < rows->count; i++)
    if (!strcmp(vhlo_stablehlo_name(rows->rows[i]), name)) return rows->rows[i];
  return NULL;
}

/* Whether a later version of the op has a place for it. What says the same as nothing may go. */
static bool is_later(bw *w, ir_op op, const char *stem, const ir_named_attr *a) {
  const char *name = ir_text(w->m, a->name);
  vhlo_op newest = vhlo_op_find(stem, strlen(stem), vhlo_op_version(stem, INT16_MAX));
  const vhlo_row *row = row_of(&newest, name);
  if (row && given_as(w, op, row, a->value) != preset_of(w, op, row))
    bw_fail(w, "StableHLO 1.%d has no '%s' for it: a later target does", w->minor, name);
  if (!row && a->property) bw_fail(w, "'%.100s' has no place in VHLO", name);
  return row != NULL;
}

static int64_t other_attrs(bw *w, ir_op op, const char *stem, const vhlo_op *rows) {
  const ir_op_data *d = ir_op_get(w->m, op);
  ir_named_attr *entries = ARENA_ARRAY(w->scratch, ir_named_attr, d->n_attrs + 1);
  uint32_t *values = ARENA_ARRAY(w->scratch, uint32_t, d->n_attrs + 1), n = 0;
  for (const ir_named_attr *a = d->attrs; a < d->attrs + d->n_attrs; a++) {
    if (row_of(rows, ir_text(w->m, a->name)) || is_later(w, op, stem, a)) continue;
    values[n] = bw_attr(w, a->value);
    entries[n++] = *a;
  }
  return n ? (int64_t)bw_dict(w, entries, values, n) : -1;
}

const char *bw_vhlo_stem(const ir_module *m, ir_op op) {
  const char *name = ir_op_name(m, op);
  bool ours = starts_with(name, "stablehlo.") || !strcmp(name, "func.func") ||
              !strcmp(name, "func.call") || !strcmp(name, "func.return");
  return ours ? strchr(name, '.') + 1 : NULL;
}

bw_head bw_vhlo_head(bw *w, ir_op op, const char *stem) {
  int version = vhlo_op_version(stem, w->minor);
  if (ir_kind_of(w->m, op) == IR_OP_UNKNOWN) bw_fail(w, "an op that VHLO is not known to have");
  if (!version) bw_fail(w, "StableHLO 1.%d does not have it: a later target does", w->minor);
  vhlo_op rows = vhlo_op_find(stem, strlen(stem), version);
  const char *name = arena_printf(w->scratch, "%s_v%d", stem, version);
  bw_head head = {.name = bw_put_of(w, BW_OPS, "vhlo", true, name, strlen(name)), .properties = -1};
  strbuf b = strbuf_make(w->scratch);
  for (uint32_t i = 0; i < rows.count; i++) bw_varint(&b, row_attr(w, op, rows.by_name[i]));
  if (rows.count) head.properties = bw_put(w, BW_PROPERTIES, b.text, b.length);
  head.attrs = other_attrs(w, op, stem, &rows);
  return head;
}
