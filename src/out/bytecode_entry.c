/* Attributes and types of MLIR bytecode. VHLO's are in its codes (ir/vhlo_codes.def). Builtin ones
 * are text, which MLIR reads in any place: they are what the printer would print. An
 * attribute of another dialect within VHLO's (a sharding) is text of that dialect. */
#include <stdlib.h>

#include "ir/floats.h"
#include "ir/print.h"
#include "out/bytecode.h"
#include "out/out.h"

/* ---- text ---- */
/* "#sdy.sharding<...>" is of "sdy"; what has no sigil is builtin. */
static const char *dialect_of(const bw *w, const char *text) {
  if (*text != '#' && *text != '!') return "builtin";
  size_t n = strcspn(text + 1, ".<");
  return arena_strdup(w->scratch, text + 1, n);
}

uint32_t bw_text_entry(bw *w, bw_list list, const char *text) {
  return bw_put_of(w, list, dialect_of(w, text), false, text, strlen(text) + 1);
}

static uint32_t put_builtin(bw *w, const strbuf *b) {
  return bw_put_of(w, BW_ATTRS, "builtin", true, b->text, b->length);
}

uint32_t bw_builtin_string(bw *w, const char *text, size_t length) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, BUILTIN_ATTR_STRING);
  bw_varint(&b, bw_string(w, text, length));
  return put_builtin(w, &b);
}

uint32_t bw_dict(bw *w, const ir_named_attr *entries, const uint32_t *values, uint32_t count) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, BUILTIN_ATTR_DICTIONARY);
  bw_varint(&b, count);
  for (uint32_t i = 0; i < count; i++) {
    ir_str name = entries[i].name;
    bw_varint(&b, bw_builtin_string(w, ir_text(w->m, name), ir_text_length(w->m, name)));
    bw_varint(&b, values[i]);
  }
  return put_builtin(w, &b);
}

/* ---- types ---- */
static strbuf begin(const bw *w, uint64_t code) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, code);
  return b;
}

static uint32_t put_attr(bw *w, const strbuf *b) {
  return bw_put_of(w, BW_ATTRS, "vhlo", true, b->text, b->length);
}

static uint32_t put_type(bw *w, const strbuf *b) {
  return bw_put_of(w, BW_TYPES, "vhlo", true, b->text, b->length);
}

static uint32_t scalar(bw *w, const char *name, size_t length) {
  for (uint32_t code = 0; code < VHLO_CODES; code++) {
    const vhlo_scalar *s = &vhlo_scalars[code];
    if (!s->name || strlen(s->name) != length || memcmp(s->name, name, length)) continue;
    if (s->since > w->minor)
      bw_fail(w, "the type %s is in StableHLO from 1.%d on, the target is 1.%d", s->name, s->since,
              w->minor);
    strbuf b = begin(w, code);
    return put_type(w, &b);
  }
  bw_fail(w, "the type %.*s has no place in VHLO", (int)length, name);
}

static uint32_t element(bw *w, ir_dtype dtype) {
  bool complex = ir_is_complex(dtype);
  const char *name = ir_dtype_name(ir_real_dtype(dtype));
  uint32_t part = scalar(w, name, strlen(name));
  if (!complex) return part;
  strbuf b = begin(w, VHLO_TYPE_COMPLEX);
  bw_varint(&b, part);
  return put_type(w, &b);
}

static void put_ints(strbuf *b, const int64_t *ints, int32_t count) {
  bw_varint(b, (uint64_t)count);
  for (int32_t i = 0; i < count; i++) bw_signed_varint(b, ints[i]);
}

/* Dimensions that are not known are the smallest number. */
static void put_dims(bw *w, strbuf *b, const int64_t *dims, int32_t rank) {
  int64_t *all = ARENA_ARRAY(w->scratch, int64_t, (size_t)rank + 1);
  for (int32_t i = 0; i < rank; i++) all[i] = dims[i] < 0 ? INT64_MIN : dims[i];
  put_ints(b, all, rank);
}

static uint32_t tensor(bw *w, const ir_type_data *t) {
  const char *unknown = ir_text(w->m, t->element_text);
  strbuf b = begin(w, t->encoding ? VHLO_TYPE_TENSOR_WITH_ENCODING : VHLO_TYPE_TENSOR);
  if (t->encoding) bw_varint(&b, bw_other(w, ir_text(w->m, t->encoding)));
  put_dims(w, &b, t->dims, t->rank);
  bw_varint(&b, t->dtype ? element(w, t->dtype) : scalar(w, unknown, strlen(unknown)));
  return put_type(w, &b);
}

static void put_types(bw *w, strbuf *b, const ir_type *types, int32_t count) {
  bw_varint(b, (uint64_t)count);
  for (int32_t i = 0; i < count; i++) bw_varint(b, bw_type(w, types[i], true));
}

static uint32_t vhlo_type(bw *w, const ir_type_data *t) {
  strbuf b = begin(w, t->kind == IR_TYPE_FUNCTION ? VHLO_TYPE_FUNCTION
                      : t->kind == IR_TYPE_TUPLE  ? VHLO_TYPE_TUPLE
                                                  : VHLO_TYPE_TOKEN);
  switch (t->kind) {
    case IR_TYPE_TENSOR: return tensor(w, t);
    case IR_TYPE_SCALAR: return element(w, t->dtype);
    case IR_TYPE_OTHER: return scalar(w, ir_text(w->m, t->text), ir_text_length(w->m, t->text));
    case IR_TYPE_TOKEN: break;
    case IR_TYPE_TUPLE:
    case IR_TYPE_FUNCTION: put_types(w, &b, t->types, t->n_types);
  }
  if (t->kind == IR_TYPE_FUNCTION) put_types(w, &b, t->types + t->n_types, t->n_results);
  return put_type(w, &b);
}

static uint32_t builtin_type(bw *w, ir_type type) {
  return bw_text_entry(w, BW_TYPES, ir_type_text(w->scratch, w->m, type));
}

uint32_t bw_type(bw *w, ir_type type, bool vhlo) {
  uint32_t *known = &w->types[vhlo][type];
  if (!*known) *known = 1 + (vhlo ? vhlo_type(w, ir_type_get(w->m, type)) : builtin_type(w, type));
  return *known - 1;
}

/* ---- numbers ---- */
/* As many bits as MLIR gives the type. */
static uint64_t bits_of(ir_dtype dtype, int64_t value) {
  int width = ir_dtype_bits(dtype);
  return width >= 64 ? (uint64_t)value : (uint64_t)value & (((uint64_t)1 << width) - 1);
}

static void put_number(strbuf *b, ir_dtype dtype, int64_t value) {
  uint64_t bits = bits_of(dtype, value);
  if (ir_dtype_bytes(dtype) == 1) strbuf_putc(b, (char)bits);
  else bw_signed_varint(b, (int64_t)bits);
}

static uint32_t integer(bw *w, ir_dtype dtype, int64_t value) {
  strbuf b = begin(w, VHLO_ATTR_INTEGER);
  bw_varint(&b, element(w, dtype));
  put_number(&b, dtype, value);
  return put_attr(w, &b);
}

uint32_t bw_int(bw *w, int64_t value) { return integer(w, IR_I64, value); }

static uint32_t real(bw *w, const ir_attr_data *d) {
  ir_dtype dtype = d->type ? ir_type_get(w->m, d->type)->dtype : IR_F64;
  if (!ir_is_float(dtype)) bw_fail(w, "a float of a type that is none");
  strbuf b = begin(w, VHLO_ATTR_FLOAT);
  bw_varint(&b, element(w, dtype));
  put_number(&b, dtype, (int64_t)ir_float_bits(dtype, d->real));
  return put_attr(w, &b);
}

static uint32_t one_number(bw *w, uint64_t code, uint64_t value) {
  strbuf b = begin(w, code);
  bw_varint(&b, value);
  return put_attr(w, &b);
}

uint32_t bw_bool(bw *w, bool value) { return one_number(w, VHLO_ATTR_BOOLEAN, value); }

uint32_t bw_api_version(bw *w, int64_t value) {
  if (value < 0 || value > 4) bw_fail(w, "version %lld of custom calls", (long long)value);
  return one_number(w, VHLO_ATTR_API_VERSION, (uint64_t)value);
}

uint32_t bw_text(bw *w, const char *text, size_t length) {
  return one_number(w, VHLO_ATTR_STRING, bw_string(w, text, length));
}

uint32_t bw_type_attr(bw *w, const char *name, size_t length) {
  return one_number(w, VHLO_ATTR_TYPE, scalar(w, name, length));
}

/* ---- constants ---- */
static bool is_splat(const char *data, int64_t width, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (memcmp(data, data + i * width, (size_t)width)) return false;
  return count > 0;
}

/* Eight booleans to a byte, but for a splat, which is 0 or 255. */
static void put_bools(strbuf *b, const char *data, int64_t count, bool splat) {
  int64_t bytes = splat ? 1 : (count + 7) / 8;
  bw_varint(b, (uint64_t)bytes);
  for (int64_t i = 0; i < bytes; i++) {
    int byte = splat && *data ? 255 : 0;
    for (int64_t k = 8 * i; !splat && k < count && k < 8 * i + 8; k++)
      byte |= !!data[k] << (k - 8 * i);
    strbuf_putc(b, (char)byte);
  }
}

/* data: `count` elements, or one if it is a splat. */
static void put_data(bw *w, strbuf *b, ir_dtype dtype, const char *data, int64_t count,
                     bool splat) {
  int64_t width = ir_dtype_bytes(dtype);
  splat = splat || is_splat(data, width, count);
  if (dtype == IR_I1) {
    put_bools(b, data, count, splat);
    return;
  }
  size_t n = (size_t)((splat ? 1 : count) * width);
  char *bytes = arena_copy(w->scratch, data, n);
  if (!ir_is_float(dtype) && width == 1)
    for (size_t i = 0; i < n; i++) bytes[i] = (char)bits_of(dtype, bytes[i]);
  bw_varint(b, n);
  strbuf_add(b, bytes, n);
}

static uint32_t constant(bw *w, uint32_t type, ir_dtype dtype, const void *data, int64_t count,
                         bool splat) {
  strbuf b = begin(w, VHLO_ATTR_TENSOR);
  bw_varint(&b, type);
  put_data(w, &b, dtype, data, count, splat);
  return put_attr(w, &b);
}

static uint32_t tensor_of(bw *w, ir_dtype dtype, int32_t rank, const int64_t *dims) {
  return tensor(
      w, &(ir_type_data){.kind = IR_TYPE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims});
}

static uint32_t dense(bw *w, const ir_attr_data *d) {
  if (!ir_is_static_tensor(w->m, d->type))
    bw_fail(w, "a constant of a type that weir does not know");
  return constant(w, bw_type(w, d->type, true), ir_type_get(w->m, d->type)->dtype, d->data,
                  ir_element_count(w->m, d->type), d->splat);
}

uint32_t bw_ints(bw *w, ir_ints ints) {
  int64_t n = ints.count;
  return constant(w, tensor_of(w, IR_I64, 1, &n), IR_I64, ints.at, n, false);
}

static uint32_t bools(bw *w, const ir_attr_data *d) {
  int64_t n = d->count;
  char *data = ARENA_ARRAY(w->scratch, char, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) data[i] = d->ints[i] != 0;
  return constant(w, tensor_of(w, IR_I1, 1, &n), IR_I1, data, n, false);
}

uint32_t bw_repeated(bw *w, ir_dtype dtype, int64_t value, int32_t rank, const int64_t *dims) {
  int64_t count = 1;
  for (int32_t i = 0; i < rank; i++) count *= dims[i];
  return constant(w, tensor_of(w, dtype, rank, dims), dtype, &value, count, count > 0);
}

/* ---- containers ---- */
uint32_t bw_items(bw *w, const uint32_t *items, uint32_t count) {
  strbuf b = begin(w, VHLO_ATTR_ARRAY);
  bw_varint(&b, count);
  for (uint32_t i = 0; i < count; i++) bw_varint(&b, items[i]);
  return put_attr(w, &b);
}

static uint32_t array(bw *w, const ir_attr_data *d) {
  uint32_t *items = ARENA_ARRAY(w->scratch, uint32_t, (size_t)d->count + 1);
  for (int32_t i = 0; i < d->count; i++) items[i] = bw_attr(w, d->items[i]);
  return bw_items(w, items, (uint32_t)d->count);
}

static uint32_t dictionary(bw *w, const ir_attr_data *d) {
  strbuf b = begin(w, VHLO_ATTR_DICTIONARY);
  bw_varint(&b, (uint64_t)d->count);
  for (int32_t i = 0; i < d->count; i++) {
    ir_str name = d->entries[i].name;
    bw_varint(&b, bw_text(w, ir_text(w->m, name), ir_text_length(w->m, name)));
    bw_varint(&b, bw_attr(w, d->entries[i].value));
  }
  return put_attr(w, &b);
}

uint32_t bw_no_entries(bw *w) { return dictionary(w, &(ir_attr_data){.kind = IR_ATTR_DICT}); }

/* ---- StableHLO's attributes that the IR keeps as text ---- */
/* "#stablehlo<precision HIGHEST>": the place of the word; -1: it is none of the enumeration's. */
static int64_t word_of(const vhlo_enum *e, const char *text) {
  const char *hole = strstr(e->text, "%s");
  size_t head = (size_t)(hole - e->text), tail = strlen(hole + 2), n = strlen(text);
  if (n <= head + tail || strncmp(text, e->text, head) || strcmp(text + n - tail, hole + 2))
    return -1;
  const char *s = e->words;
  for (int64_t at = 0; *s; at++) {
    size_t length = strcspn(s, " ");
    if (length == n - head - tail && !memcmp(s, text + head, length)) return at;
    s += length + (s[length] == ' ');
  }
  return -1;
}

static bool enumerated(bw *w, const char *text, uint32_t *out) {
  for (uint32_t code = 0; code < VHLO_CODES; code++) {
    int64_t at = vhlo_enums[code].text ? word_of(&vhlo_enums[code], text) : -1;
    if (at >= 0) return *out = one_number(w, code, (uint64_t)at), true;
  }
  return false;
}

static int64_t int_behind(const char *text, const char *key) {
  const char *at = ir_text_value(text, key);
  return at ? strtoll(at, NULL, 10) : 0;
}

static void put_int_list(bw *w, strbuf *b, const char *text, const char *key) {
  ir_ints ints;
  if (!ir_text_ints(w->scratch, text, key, &ints)) bw_fail(w, "'%.200s' does not read", text);
  put_ints(b, ints.at, ints.count);
}

static uint32_t alias(bw *w, const char *text) {
  strbuf b = begin(w, VHLO_ATTR_OUTPUT_OPERAND_ALIAS);
  put_int_list(w, &b, text, "output_tuple_indices");
  bw_signed_varint(&b, int_behind(text, "operand_index"));
  put_int_list(w, &b, text, "operand_tuple_indices");
  return put_attr(w, &b);
}

static void put_real(strbuf *b, const char *text, const char *key) {
  const char *at = ir_text_value(text, key);
  put_number(b, IR_F64, (int64_t)ir_float_bits(IR_F64, at ? strtod(at, NULL) : 0));
}

static uint32_t accuracy(bw *w, const char *text) {
  uint32_t mode;
  const char *at = ir_text_value(text, "mode");
  const char *end = at ? strchr(at, '>') : NULL;
  if (!end || !enumerated(w, arena_strdup(w->scratch, at, (size_t)(end + 1 - at)), &mode))
    bw_fail(w, "'%.200s' does not read", text);
  strbuf b = begin(w, VHLO_ATTR_RESULT_ACCURACY);
  put_real(&b, text, "atol");
  put_real(&b, text, "rtol");
  bw_signed_varint(&b, int_behind(text, "ulps"));
  bw_varint(&b, mode);
  return put_attr(w, &b);
}

/* #stablehlo.bounds<?, 5> */
static uint32_t bounds(bw *w, const char *text) {
  VEC(int64_t) ints = {0};
  for (const char *s = strchr(text, '<') + 1; *s && *s != '>';) {
    char *end = (char *)s + 1;
    int64_t bound = *s == '?' ? INT64_MIN : strtoll(s, &end, 10);
    if (end == s) bw_fail(w, "'%.200s' does not read", text);
    VEC_PUSH(w->scratch, &ints, bound);
    s = end + strspn(end, ", ");
  }
  strbuf b = begin(w, VHLO_ATTR_TYPE_EXTENSIONS);
  put_ints(&b, ints.at, (int32_t)ints.count);
  return put_attr(w, &b);
}

uint32_t bw_other(bw *w, const char *text) {
  uint32_t number;
  if (enumerated(w, text, &number)) return number;
  if (starts_with(text, "#stablehlo.output_operand_alias<")) return alias(w, text);
  if (starts_with(text, "#stablehlo.result_accuracy<")) return accuracy(w, text);
  if (starts_with(text, "#stablehlo.bounds<")) return bounds(w, text);
  if (starts_with(text, "#stablehlo"))
    bw_fail(w, "the attribute %.200s has no place in VHLO", text);
  return bw_text_entry(w, BW_ATTRS, text);
}

/* ---- all attributes ---- */
static uint32_t attr_of(bw *w, ir_attr a) {
  const ir_attr_data *d = ir_attr_get(w->m, a);
  switch (d->kind) {
    case IR_ATTR_UNIT: return bw_text_entry(w, BW_ATTRS, "unit");
    case IR_ATTR_BOOL: return bw_bool(w, d->boolean);
    case IR_ATTR_INT:
      return integer(w, d->type ? ir_type_get(w->m, d->type)->dtype : IR_I64, d->integer);
    case IR_ATTR_FLOAT: return real(w, d);
    case IR_ATTR_STRING:
    case IR_ATTR_SYMBOL: return bw_text(w, ir_text(w->m, d->text), ir_text_length(w->m, d->text));
    case IR_ATTR_TYPE: return one_number(w, VHLO_ATTR_TYPE, bw_type(w, d->type, true));
    case IR_ATTR_I64S: return bw_ints(w, (ir_ints){d->count, d->ints});
    case IR_ATTR_BOOLS: return bools(w, d);
    case IR_ATTR_ARRAY: return array(w, d);
    case IR_ATTR_DICT: return dictionary(w, d);
    case IR_ATTR_DENSE: return dense(w, d);
    case IR_ATTR_OTHER: return bw_other(w, ir_text(w->m, d->text));
  }
  return 0;
}

uint32_t bw_attr(bw *w, ir_attr attr) {
  if (!w->attrs[attr]) {
    uint32_t number = attr_of(w, attr);
    w->attrs[attr] = number + 1;
  }
  return w->attrs[attr] - 1;
}

/* In the order of their names, as dictionaries are, whichever of them are properties: those that
 * nobody knows are read as attributes like others. */
static ir_named_attr *attrs_by_name(bw *w, ir_op op) {
  const ir_op_data *d = ir_op_get(w->m, op);
  ir_named_attr *sorted = ARENA_ARRAY(w->scratch, ir_named_attr, d->n_attrs + 1);
  for (uint32_t i = 0; i < d->n_attrs; i++) {
    const char *name = ir_text(w->m, d->attrs[i].name);
    uint32_t at = i;
    for (; at > 0 && strcmp(ir_text(w->m, sorted[at - 1].name), name) > 0; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = d->attrs[i];
  }
  return sorted;
}

uint32_t bw_dict_text(bw *w, ir_op op) {
  strbuf b = strbuf_make(w->scratch);
  out_entries_text(w->m, attrs_by_name(w, op), ir_op_get(w->m, op)->n_attrs, &b);
  return bw_text_entry(w, BW_ATTRS, b.text);
}
