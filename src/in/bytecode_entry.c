/* Attributes and types of MLIR bytecode: decoded when first used, each once. Those of the builtin
 * dialect have codes (ir/builtin_codes.def), VHLO's are bytecode_vhlo.c's, all others are text.
 *
 * An entry may stand in many others, so what a file of a few bytes stands for can be large without
 * end. The IR shares the parts; their weight (characters in text, counted as often as they are
 * printed) has a bound, so that no printer meets it. A location beyond its bound is unknown. */

#include <stdio.h>
#include <stdlib.h>

#include "in/bytecode.h"
#include "in/parser.h"
#include "ir/floats.h"
#include "ir/print.h"

enum { MAX_LOCATION_BYTES = 1 << 16 };

/* ---- entries ---- */
/* Whether a location's text may be made or put to an op yet. */
static bool pay_location(bc *r, size_t bytes) {
  if (bytes > MAX_LOCATION_BYTES || (int64_t)bytes > r->location_bytes_left) return false;
  r->location_bytes_left -= (int64_t)bytes;
  CTX_CHECK(r->ctx, r->location_bytes_left >= 0);
  return true;
}

static void add_weight(const bc_bytes *b, bc_entry *e, int64_t weight) {
  if (__builtin_add_overflow(e->weight, weight, &e->weight) || e->weight > b->r->weight_left)
    bc_fail(b, "an attribute or type that would be longer than %lld characters in text",
            (long long)b->r->weight_left);
}

static ir_str location_of(bc_bytes *b, uint64_t code);
static void builtin_attr(bc_bytes *b, bc_entry *e);
static void builtin_type(bc_bytes *b, bc_entry *e);

/* In the dialect's own text, with a zero byte. */
static const char *entry_text(bc_bytes *b, bc_entry *e, size_t *out_length) {
  const char *text = (const char *)b->at;
  const char *zero = b->at < b->end ? memchr(text, 0, bc_left(b)) : NULL;
  if (!zero) bc_fail(b, "a text that does not end");
  *out_length = (size_t)(zero - text);
  bc_take(b, *out_length + 1);
  add_weight(b, e, (int64_t)*out_length);
  return text;
}

/* loc(...), without what is around it. */
static bool location_in(bc_bytes *b, ir_attr attr, ir_str *out) {
  const ir_attr_data *d = ir_attr_get(b->r->m, attr);
  const char *text = d->kind == IR_ATTR_OTHER ? ir_text(b->r->m, d->text) : "";
  size_t length = strlen(text);
  if (length < 5 || memcmp(text, "loc(", 4) || text[length - 1] != ')') return false;
  bool said = strcmp(text, "loc(unknown)") && pay_location(b->r, length - 5);
  *out = said ? ir_intern_text(b->r->m, text + 4, length - 5) : IR_NONE;
  return true;
}

static void other_attr(bc_bytes *b, bc_entry *e) {
  size_t length;
  if (e->is_custom)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "an attribute in a code of its dialect; wanted VHLO");
  const char *text = entry_text(b, e, &length);
  ir_attr attr = in_attribute_of(b->r->ctx, b->r->scratch, b->r->m, text, length);
  e->is_location = location_in(b, attr, &e->location);
  if (!e->is_location) e->attr = attr;
}

static void other_type(bc_bytes *b, bc_entry *e) {
  size_t length;
  if (e->is_custom)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "a type in a code of its dialect; wanted VHLO");
  const char *text = entry_text(b, e, &length);
  e->type = in_type_of(b->r->ctx, b->r->scratch, b->r->m, text, length);
}

static void read_entry(bc *r, bc_entry *e, bool is_type) {
  bc_bytes b = {r, e->at, e->end};
  if (e->state == BC_READ) return;
  if (e->state == BC_READING) bc_fail(&b, "an attribute or type that contains itself");
  e->state = BC_READING;
  bc_enter(&b);
  if (e->is_custom && e->dialect == BC_BUILTIN) (is_type ? builtin_type : builtin_attr)(&b, e);
  else if (e->is_custom && e->dialect == BC_VHLO) (is_type ? bc_vhlo_type : bc_vhlo_attr)(&b, e);
  else (is_type ? other_type : other_attr)(&b, e);
  if (b.at != b.end) bc_fail(&b, "%zu bytes behind an attribute or type", bc_left(&b));
  CTX_CHECK(r->ctx, is_type ? e->type != IR_NONE : e->is_location || e->attr);
  CTX_CHECK(r->ctx, r->depth > 0);
  e->state = BC_READ;
  r->depth--;
}

bc_entry *bc_attr_entry(const bc_bytes *b, uint32_t index) {
  bc_entry *e = &b->r->attrs.at[index];
  read_entry(b->r, e, false);
  return e;
}

bc_entry *bc_read_attr(bc_bytes *b) {
  return bc_attr_entry(b, bc_index(b, b->r->attrs.count, "attribute"));
}

ir_attr bc_attr(bc_bytes *b, bc_entry *parent) {
  bc_entry *e = bc_read_attr(b);
  if (e->is_location) bc_fail(b, "a location where an attribute is wanted");
  if (parent) add_weight(b, parent, e->weight + 2);
  return e->attr;
}

bc_entry *bc_type_entry(bc_bytes *b, uint64_t index) {
  if (index >= b->r->types.count)
    bc_fail(b, "type %llu of %u", (unsigned long long)index, b->r->types.count);
  bc_entry *e = &b->r->types.at[index];
  read_entry(b->r, e, true);
  return e;
}

ir_type bc_type(bc_bytes *b, bc_entry *parent) {
  bc_entry *e = bc_type_entry(b, bc_varint(b));
  if (parent) add_weight(b, parent, e->weight + 2);
  return e->type;
}

ir_str bc_location(bc_bytes *b) {
  bc_entry *e = bc_read_attr(b);
  if (!e->is_location) bc_fail(b, "an attribute where a location is wanted");
  return pay_location(b->r, ir_text_length(b->r->m, e->location)) ? e->location : IR_NONE;
}

/* ---- locations, as text ---- */
static void quote_attr(bc_bytes *b, strbuf *out) {
  const ir_attr_data *d = ir_attr_get(b->r->m, bc_attr(b, NULL));
  if (d->kind != IR_ATTR_STRING) bc_fail(b, "a location's name that is no string");
  ir_print_quoted(ir_text(b->r->m, d->text), ir_text_length(b->r->m, d->text), out);
}

static const char *child(bc_bytes *b) {
  bc_entry *e = bc_read_attr(b);
  if (!e->is_location) bc_fail(b, "a location that contains another attribute");
  return e->location ? ir_text(b->r->m, e->location) : NULL;
}

/* Nothing more is put to a text that is too long: it will be forgotten. */
static void put_child(bc_bytes *b, strbuf *out) {
  const char *text = child(b);
  if (out->length <= MAX_LOCATION_BYTES) strbuf_puts(out, text ? text : "unknown");
}

/* "file":1:2 to 3:4, whose end is that of the start where it is not said. */
static void put_range(bc_bytes *b, strbuf *out) {
  unsigned long long n[4] = {0};
  quote_attr(b, out);
  uint32_t count = bc_count(b, "numbers of a place");
  if (count > 4) bc_fail(b, "%u numbers of a place", count);
  for (uint32_t i = 0; i < count; i++) n[i] = bc_varint(b);
  strbuf_printf(out, ":%llu:%llu", n[0], n[1]);
  if (count == 3) strbuf_printf(out, " to :%llu", n[2]);
  if (count == 4) strbuf_printf(out, " to %llu:%llu", n[2], n[3]);
}

static void put_fused(bc_bytes *b, strbuf *out) {
  strbuf_puts(out, "fused[");
  for (uint32_t n = bc_count(b, "locations"), i = 0; i < n; i++) {
    if (i && out->length <= MAX_LOCATION_BYTES) strbuf_puts(out, ", ");
    put_child(b, out);
  }
  strbuf_putc(out, ']');
}

static ir_str location_of(bc_bytes *b, uint64_t code) {
  strbuf out = strbuf_make(b->r->scratch);
  const char *text;
  switch (code) {
    case BUILTIN_ATTR_UNKNOWN_LOC: return IR_NONE;
    case BUILTIN_ATTR_CALL_SITE_LOC:
      strbuf_puts(&out, "callsite(");
      put_child(b, &out);
      strbuf_puts(&out, " at ");
      put_child(b, &out);
      strbuf_putc(&out, ')');
      break;
    case BUILTIN_ATTR_FILE_LINE_COL_LOC:
      quote_attr(b, &out);
      strbuf_printf(&out, ":%llu", (unsigned long long)bc_varint(b));
      strbuf_printf(&out, ":%llu", (unsigned long long)bc_varint(b));
      break;
    case BUILTIN_ATTR_FILE_LINE_COL_RANGE: put_range(b, &out); break;
    case BUILTIN_ATTR_NAME_LOC:
      quote_attr(b, &out);
      if ((text = child(b))) strbuf_printf(&out, "(%s)", text);
      break;
    default: /* fused; what else it says of itself is dropped */
      put_fused(b, &out);
      if (code == BUILTIN_ATTR_FUSED_LOC_WITH_METADATA) bc_attr(b, NULL);
  }
  return pay_location(b->r, out.length) ? ir_intern_text(b->r->m, out.text, out.length) : IR_NONE;
}

/* ---- numbers ---- */
static int64_t integer(bc_bytes *b, ir_dtype dtype) {
  int width = ir_dtype_bits(dtype), unused = 64 - width;
  CTX_CHECK(b->r->ctx, width > 0 && width <= 64);
  uint64_t value = width <= 8 ? bc_byte(b) : (uint64_t)bc_signed_varint(b);
  if (ir_dtype_class_of(dtype) == IR_CLASS_INT) return (int64_t)(value << unused) >> unused;
  return (int64_t)(value << unused >> unused);
}

static ir_dtype scalar_of(const bc_bytes *b, ir_type type) {
  const ir_type_data *t = ir_type_get(b->r->m, type);
  ir_dtype_class cls = ir_dtype_class_of(t->dtype);
  if (t->kind != IR_TYPE_SCALAR || cls == IR_CLASS_COMPLEX || cls == IR_CLASS_NONE)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "a number of a type that weir does not know");
  return t->dtype;
}

ir_attr bc_integer_attr(bc_bytes *b, ir_type type) {
  ir_dtype dtype = scalar_of(b, type);
  if (ir_is_float(dtype)) bc_fail(b, "an integer of a float type");
  int64_t value = integer(b, dtype);
  if (dtype == IR_I1) return ir_attr_bool(b->r->m, value != 0);
  return ir_attr_int(b->r->m, value, dtype);
}

ir_attr bc_float_attr(bc_bytes *b, ir_type type) {
  ir_dtype dtype = scalar_of(b, type);
  if (!ir_is_float(dtype)) bc_fail(b, "a float of an integer type");
  uint64_t bits = (uint64_t)integer(b, dtype);
  char text[IR_FLOAT_TEXT];
  ir_float_text(dtype, bits, text);
  return ir_attr_new(b->r->m, &(ir_attr_data){.kind = IR_ATTR_FLOAT,
                                              .type = type,
                                              .real = ir_float_value(dtype, bits),
                                              .text = ir_intern_string(b->r->m, text)});
}

/* ---- constants ---- */
/* Eight booleans to a byte, but for a splat, which is 0 or 255. */
static char *unpack(bc_bytes *b, const uint8_t *bytes, uint64_t n, int64_t count, bool *out_splat) {
  if (n != ((uint64_t)count + 7) / 8 || n == (uint64_t)count) return NULL;
  if (n == 1 && bytes[0] == 255) return NULL;
  char *data = arena_array(b->r->scratch, (size_t)count, 1);
  for (int64_t i = 0; i < count; i++) data[i] = bytes[i / 8] >> (i % 8) & 1;
  *out_splat = false;
  return data;
}

ir_attr bc_dense(bc_bytes *b, bc_entry *e, ir_type type) {
  const bc_bytes here = *b;
  uint64_t n = bc_varint(b);
  const uint8_t *bytes = bc_take(b, n);
  if (!ir_is_static_tensor(b->r->m, type))
    bc_fail_status(&here, WEIR_UNIMPLEMENTED, "a constant of a type that weir does not know");
  ir_dtype dtype = ir_type_get(b->r->m, type)->dtype;
  int64_t width = ir_dtype_bytes(dtype), count = ir_element_count(b->r->m, type), all;
  bool splat = n == (uint64_t)width && count != 1;
  char *data = dtype == IR_I1 ? unpack(b, bytes, n, count, &splat) : NULL;
  bool whole = !__builtin_mul_overflow(count, width, &all) && (uint64_t)all == n;
  if (!data && !whole && !splat)
    bc_fail(&here, "a constant of %llu bytes, wanted %lld elements of %lld", (unsigned long long)n,
            (long long)count, (long long)width);
  if (!data) data = arena_copy(b->r->scratch, bytes, (size_t)n);
  add_weight(b, e, 4 * (int64_t)n);
  return in_dense_of(b->r->m, type, data, splat && !whole);
}

static int64_t little_endian(const uint8_t *bytes, uint64_t width, ir_dtype_class cls) {
  assert(width > 0 && width <= sizeof(int64_t));
  uint64_t value = cls == IR_CLASS_INT && bytes[width - 1] > 127 ? ~(uint64_t)0 : 0;
  for (uint64_t k = width; k > 0; k--) value = value << 8 | bytes[k - 1];
  return (int64_t)value;
}

/* array<i64: ...>, array<i1: ...>, and others as text */
static ir_attr dense_array(bc_bytes *b, bc_entry *e) {
  ir_dtype dtype = scalar_of(b, bc_type(b, e));
  uint64_t count = bc_varint(b), n = bc_varint(b), width = (uint64_t)ir_dtype_bytes(dtype);
  const uint8_t *bytes = bc_take(b, n);
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  if (count > n || count * width != n) bc_fail(b, "an array of another length than its data");
  if (cls == IR_CLASS_FLOAT)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "an array of %s", ir_dtype_name(dtype));
  add_weight(b, e, 4 * (int64_t)n);
  int64_t *ints = ARENA_ARRAY(b->r->scratch, int64_t, count + 1);
  for (uint64_t i = 0; i < count; i++) ints[i] = little_endian(&bytes[i * width], width, cls);
  if (dtype == IR_I64) return ir_attr_i64s(b->r->m, ints, (int32_t)count);
  if (dtype == IR_I1)
    return ir_attr_new(
        b->r->m, &(ir_attr_data){.kind = IR_ATTR_BOOLS, .count = (int32_t)count, .ints = ints});
  strbuf text = strbuf_make(b->r->scratch);
  strbuf_printf(&text, "array<%s", ir_dtype_name(dtype));
  for (uint64_t i = 0; i < count; i++)
    strbuf_printf(&text, "%s%lld", i ? ", " : ": ", (long long)ints[i]);
  strbuf_putc(&text, '>');
  return ir_attr_other(b->r->m, text.text);
}

/* ---- containers ---- */
ir_attr bc_array(bc_bytes *b, bc_entry *e) {
  uint32_t n = bc_count(b, "elements");
  ir_attr *items = ARENA_ARRAY(b->r->scratch, ir_attr, n + 1);
  for (uint32_t i = 0; i < n; i++) items[i] = bc_attr(b, e);
  return ir_attr_new(b->r->m,
                     &(ir_attr_data){.kind = IR_ATTR_ARRAY, .count = (int32_t)n, .items = items});
}

static int by_name(const void *x, const void *y) {
  const char *const *a = x, *const *b = y;
  return strcmp(*a, *b);
}

/* Both dialects write a dictionary as pairs of a string and a value. */
ir_attr bc_dictionary(bc_bytes *b, bc_entry *e) {
  typedef struct pair {
    const char *name;
    ir_named_attr attr;
  } pair;
  ir_module *m = b->r->m;
  uint32_t n = bc_count(b, "entries of a dictionary");
  pair *pairs = ARENA_ARRAY(b->r->scratch, pair, n + 1);
  ir_named_attr *entries = ARENA_ARRAY(b->r->scratch, ir_named_attr, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    ir_attr name = bc_attr(b, e);
    if (ir_attr_get(m, name)->kind != IR_ATTR_STRING) bc_fail(b, "a name that is no string");
    ir_str text = ir_attr_get(m, name)->text;
    if (!ir_text_length(m, text)) bc_fail(b, "a name without characters");
    pairs[i] = (pair){ir_text(m, text), {text, bc_attr(b, e), false}};
  }
  qsort(pairs, n, sizeof *pairs, by_name);
  for (uint32_t i = 0; i < n; i++) {
    if (i && !strcmp(pairs[i].name, pairs[i - 1].name))
      bc_fail(b, "'%.100s' stands twice in a dictionary", pairs[i].name);
    entries[i] = pairs[i].attr;
  }
  return ir_attr_new(
      m, &(ir_attr_data){.kind = IR_ATTR_DICT, .count = (int32_t)n, .entries = entries});
}

/* ---- the builtin dialect ---- */
static ir_attr string_attr(bc_bytes *b, bc_entry *e) {
  ir_str text = bc_string(b);
  add_weight(b, e, 3 * (int64_t)ir_text_length(b->r->m, text));
  return ir_attr_new(b->r->m, &(ir_attr_data){.kind = IR_ATTR_STRING, .text = text});
}

static ir_attr symbol_attr(bc_bytes *b, bc_entry *e) {
  const ir_attr_data *root = ir_attr_get(b->r->m, bc_attr(b, e));
  if (root->kind != IR_ATTR_STRING) bc_fail(b, "a symbol that is no string");
  return ir_attr_new(b->r->m, &(ir_attr_data){.kind = IR_ATTR_SYMBOL, .text = root->text});
}

static ir_attr builtin_value(bc_bytes *b, bc_entry *e, uint64_t code) {
  ir_module *m = b->r->m;
  ir_type type;
  switch (code) {
    case BUILTIN_ATTR_ARRAY: return bc_array(b, e);
    case BUILTIN_ATTR_DICTIONARY: return bc_dictionary(b, e);
    case BUILTIN_ATTR_STRING: return string_attr(b, e);
    case BUILTIN_ATTR_FLAT_SYMBOL: return symbol_attr(b, e);
    case BUILTIN_ATTR_TYPE:
      type = bc_type(b, e);
      return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type});
    case BUILTIN_ATTR_UNIT: return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_UNIT});
    case BUILTIN_ATTR_INTEGER: return bc_integer_attr(b, bc_type(b, e));
    case BUILTIN_ATTR_FLOAT: return bc_float_attr(b, bc_type(b, e));
    case BUILTIN_ATTR_DENSE_ARRAY: return dense_array(b, e);
    case BUILTIN_ATTR_DENSE: return bc_dense(b, e, bc_type(b, e));
    default:
      bc_fail_status(b, WEIR_UNIMPLEMENTED, "a builtin attribute of code %llu",
                     (unsigned long long)code);
  }
}

static bool is_location_code(uint64_t code) {
  return (code >= BUILTIN_ATTR_CALL_SITE_LOC && code <= BUILTIN_ATTR_UNKNOWN_LOC) ||
         code == BUILTIN_ATTR_FILE_LINE_COL_RANGE;
}

static void builtin_attr(bc_bytes *b, bc_entry *e) {
  uint64_t code = bc_varint(b);
  add_weight(b, e, 8);
  e->is_location = is_location_code(code);
  if (e->is_location) e->location = location_of(b, code);
  else e->attr = builtin_value(b, e, code);
}

/* ---- types ---- */
ir_type bc_other_type(bc *r, const char *text) {
  return ir_type_intern(
      r->m, &(ir_type_data){.kind = IR_TYPE_OTHER, .text = ir_intern_string(r->m, text)});
}

const int64_t *bc_ints(bc_bytes *b, int32_t *out_count) {
  uint32_t n = bc_count(b, "numbers");
  int64_t *ints = ARENA_ARRAY(b->r->scratch, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) ints[i] = bc_signed_varint(b);
  *out_count = (int32_t)n;
  return ints;
}

ir_type bc_types(bc_bytes *b, bc_entry *e, ir_type_kind kind) {
  VEC(ir_type) types = {0};
  int32_t counts[2] = {0};
  VEC_PUSH(b->r->scratch, &types, 0);
  types.count = 0;
  for (int list = 0; list < (kind == IR_TYPE_FUNCTION ? 2 : 1); list++)
    for (uint32_t n = bc_count(b, "types"), i = 0; i < n; i++, counts[list]++) {
      ir_type type = bc_type(b, e);
      VEC_PUSH(b->r->scratch, &types, type);
    }
  CTX_CHECK(b->r->ctx, (uint32_t)(counts[0] + counts[1]) == types.count);
  return ir_type_intern(
      b->r->m, &(ir_type_data){
                   .kind = kind, .n_types = counts[0], .n_results = counts[1], .types = types.at});
}

static ir_str encoding_of(bc_bytes *b, bc_entry *e) {
  const ir_attr_data *d = ir_attr_get(b->r->m, bc_attr(b, e));
  if (d->kind != IR_ATTR_OTHER)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "an encoding of a tensor that weir does not know");
  return d->text;
}

/* Dimensions that are not known are the smallest number; one may not be less than none. */
static void check_dims(const bc_bytes *b, int64_t *dims, int32_t rank) {
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] == INT64_MIN || dims[i] == -1) dims[i] = -1;
    else if (dims[i] < 0) bc_fail(b, "a dimension of %lld", (long long)dims[i]);
  }
}

ir_type bc_tensor(bc_bytes *b, bc_entry *e, bool has_encoding) {
  ir_type_data data = {.kind = IR_TYPE_TENSOR};
  ir_module *m = b->r->m;
  if (has_encoding) data.encoding = encoding_of(b, e);
  const int64_t *ints = bc_ints(b, &data.rank);
  if (data.rank > IR_MAX_RANK) bc_fail(b, "a tensor of more than %d dimensions", IR_MAX_RANK);
  int64_t dims[IR_MAX_RANK];
  memcpy(dims, ints, (size_t)data.rank * sizeof *dims);
  check_dims(b, dims, data.rank);
  data.dims = dims;
  ir_type element = bc_type(b, e);
  if (ir_type_get(m, element)->kind == IR_TYPE_SCALAR) {
    data.dtype = ir_type_get(m, element)->dtype;
  } else {
    data.element_text = ir_intern_string(m, ir_type_text(b->r->scratch, m, element));
  }
  add_weight(b, e, 8 + 8 * (int64_t)data.rank);
  return ir_type_intern(m, &data);
}

ir_type bc_complex(bc_bytes *b, ir_type part) {
  const ir_type_data *t = ir_type_get(b->r->m, part);
  if (t->kind != IR_TYPE_SCALAR || (t->dtype != IR_F32 && t->dtype != IR_F64))
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "complex numbers of other parts than f32 and f64");
  return ir_attr_scalar(b->r->m, t->dtype == IR_F32 ? IR_C64 : IR_C128);
}

/* i8, ui8, and what has no row in ir/dtypes.def as text */
static ir_type integer_type(bc_bytes *b) {
  static const char *const prefixes[] = {"", "s", "u"};
  uint64_t code = bc_varint(b), width = code >> 2;
  char text[32];
  if ((code & 3) > 2 || width > 1 << 24)
    bc_fail(b, "an integer type of code %llu", (unsigned long long)code);
  int n = snprintf(text, sizeof text, "%si%llu", prefixes[code & 3], (unsigned long long)width);
  ir_dtype dtype = ir_dtype_find(text, (size_t)n);
  return dtype ? ir_attr_scalar(b->r->m, dtype) : bc_other_type(b->r, text);
}

static ir_type builtin_type_of(bc_bytes *b, bc_entry *e, uint64_t code) {
  ir_module *m = b->r->m;
  switch (code) {
    case BUILTIN_TYPE_INTEGER: return integer_type(b);
    case BUILTIN_TYPE_INDEX: return ir_attr_scalar(m, IR_INDEX);
    case BUILTIN_TYPE_FUNCTION: return bc_types(b, e, IR_TYPE_FUNCTION);
    case BUILTIN_TYPE_BF16: return ir_attr_scalar(m, IR_BF16);
    case BUILTIN_TYPE_F16: return ir_attr_scalar(m, IR_F16);
    case BUILTIN_TYPE_F32: return ir_attr_scalar(m, IR_F32);
    case BUILTIN_TYPE_F64: return ir_attr_scalar(m, IR_F64);
    case BUILTIN_TYPE_COMPLEX: return bc_complex(b, bc_type(b, e));
    case BUILTIN_TYPE_NONE: return bc_other_type(b->r, "none");
    case BUILTIN_TYPE_TENSOR: return bc_tensor(b, e, false);
    case BUILTIN_TYPE_TENSOR_WITH_ENCODING: return bc_tensor(b, e, true);
    case BUILTIN_TYPE_TUPLE: return bc_types(b, e, IR_TYPE_TUPLE);
    default:
      bc_fail_status(b, WEIR_UNIMPLEMENTED, "a builtin type of code %llu",
                     (unsigned long long)code);
  }
}

static void builtin_type(bc_bytes *b, bc_entry *e) {
  uint64_t code = bc_varint(b);
  add_weight(b, e, 8);
  e->type = builtin_type_of(b, e, code);
}
