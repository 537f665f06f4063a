/* VHLO's attributes and types in MLIR bytecode, as StableHLO's: the codes are in ir/vhlo_codes.def.
 * What an op's attribute becomes in the end is vhlo.c's. Refused: quantized types, buffers,
 * futures, meshes of replica groups. */
#include "in/bytecode.h"
#include "in/parser.h"

/* ---- attributes ---- */
static ir_attr enum_attr(bc_bytes *b, uint64_t code) {
  uint64_t value = bc_varint(b), at = 0;
  const char *s = vhlo_enums[code].words;
  for (; at < value && (s = strchr(s, ' ')); at++) s++;
  if (!s || *s == '-') bc_fail(b, "value %llu of an enumeration", (unsigned long long)value);
  const char *word = arena_strdup(b->r->scratch, s, strcspn(s, " "));
  const char *text = vhlo_enums[code].text, *hole = strstr(text, "%s");
  return ir_attr_other(
      b->r->m, arena_printf(b->r->scratch, "%.*s%s%s", (int)(hole - text), text, word, hole + 2));
}

static void put_ints(bc_bytes *b, bc_entry *e, strbuf *out) {
  int32_t n;
  const int64_t *ints = bc_ints(b, &n);
  strbuf_putc(out, '[');
  for (int32_t i = 0; i < n; i++) {
    if (i) strbuf_puts(out, ", ");
    strbuf_int(out, ints[i]);
  }
  strbuf_putc(out, ']');
  e->weight += 24 * (int64_t)n;
}

static ir_attr output_operand_alias(bc_bytes *b, bc_entry *e) {
  strbuf out = strbuf_make(b->r->scratch);
  strbuf_puts(&out, "#stablehlo.output_operand_alias<output_tuple_indices = ");
  put_ints(b, e, &out);
  strbuf_puts(&out, ", operand_index = ");
  strbuf_int(&out, bc_signed_varint(b));
  strbuf_puts(&out, ", operand_tuple_indices = ");
  put_ints(b, e, &out);
  strbuf_putc(&out, '>');
  return ir_attr_other(b->r->m, out.text);
}

/* Bounds of dimensions that are not known; ? for the others. */
static ir_attr type_extensions(bc_bytes *b, bc_entry *e) {
  int32_t n;
  const int64_t *ints = bc_ints(b, &n);
  strbuf out = strbuf_make(b->r->scratch);
  strbuf_puts(&out, "#stablehlo.bounds<");
  for (int32_t i = 0; i < n; i++) {
    if (i) strbuf_puts(&out, ", ");
    if (ints[i] < 0) strbuf_putc(&out, '?');
    else strbuf_int(&out, ints[i]);
  }
  strbuf_putc(&out, '>');
  e->weight += 24 * (int64_t)n;
  return ir_attr_other(b->r->m, out.text);
}

/* Fields that are zero are not written, but for the mode. */
static ir_attr result_accuracy(bc_bytes *b) {
  ir_module *m = b->r->m;
  ir_type f64 = ir_attr_scalar(m, IR_F64);
  ir_attr atol = bc_float_attr(b, f64), rtol = bc_float_attr(b, f64);
  int64_t ulps = bc_signed_varint(b);
  ir_attr mode = bc_attr(b, NULL);
  if (ir_attr_get(m, mode)->kind != IR_ATTR_OTHER) bc_fail(b, "an accuracy of no mode");
  strbuf out = strbuf_make(b->r->scratch);
  strbuf_puts(&out, "#stablehlo.result_accuracy<");
  if (ir_attr_get(m, atol)->real != 0)
    strbuf_printf(&out, "atol = %s, ", ir_text(m, ir_attr_get(m, atol)->text));
  if (ir_attr_get(m, rtol)->real != 0)
    strbuf_printf(&out, "rtol = %s, ", ir_text(m, ir_attr_get(m, rtol)->text));
  if (ulps) strbuf_printf(&out, "ulps = %lld, ", (long long)ulps);
  strbuf_printf(&out, "mode = %s>", ir_text(m, ir_attr_get(m, mode)->text));
  return ir_attr_other(m, out.text);
}

static ir_attr boolean(bc_bytes *b) {
  uint64_t value = bc_varint(b);
  if (value > 1) bc_fail(b, "a boolean of value %llu", (unsigned long long)value);
  return ir_attr_bool(b->r->m, value == 1);
}

static ir_attr api_version(bc_bytes *b) {
  uint64_t value = bc_varint(b);
  if (value > 4) bc_fail(b, "version %llu of custom calls", (unsigned long long)value);
  return ir_attr_int(b->r->m, (int64_t)value, IR_I32);
}

static ir_attr string(bc_bytes *b, bc_entry *e) {
  ir_str text = bc_string(b);
  e->weight += 3 * (int64_t)ir_text_length(b->r->m, text);
  return ir_attr_new(b->r->m, &(ir_attr_data){.kind = IR_ATTR_STRING, .text = text});
}

static ir_attr type_attr(bc_bytes *b, bc_entry *e) {
  ir_type type = bc_type(b, e);
  return ir_attr_new(b->r->m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type});
}

static ir_attr attr_of(bc_bytes *b, bc_entry *e, uint64_t code) {
  switch (code) {
    case VHLO_ATTR_ARRAY: return bc_array(b, e);
    case VHLO_ATTR_BOOLEAN: return boolean(b);
    case VHLO_ATTR_API_VERSION: return api_version(b);
    case VHLO_ATTR_DICTIONARY: return bc_dictionary(b, e);
    case VHLO_ATTR_FLOAT: return bc_float_attr(b, bc_type(b, e));
    case VHLO_ATTR_INTEGER: return bc_integer_attr(b, bc_type(b, e));
    case VHLO_ATTR_OUTPUT_OPERAND_ALIAS: return output_operand_alias(b, e);
    case VHLO_ATTR_STRING: return string(b, e);
    case VHLO_ATTR_TENSOR: return bc_dense(b, e, bc_type(b, e));
    case VHLO_ATTR_TYPE: return type_attr(b, e);
    case VHLO_ATTR_TYPE_EXTENSIONS: return type_extensions(b, e);
    case VHLO_ATTR_RESULT_ACCURACY: return result_accuracy(b);
    default: break;
  }
  if (code < VHLO_CODES && vhlo_enums[code].text) return enum_attr(b, code);
  bc_fail_status(b, WEIR_UNIMPLEMENTED, "a VHLO attribute of code %llu", (unsigned long long)code);
}

void bc_vhlo_attr(bc_bytes *b, bc_entry *e) {
  e->weight += 40;
  e->attr = attr_of(b, e, bc_varint(b));
}

/* ---- types ---- */
static ir_type scalar(bc *r, const char *name) {
  ir_dtype dtype = ir_dtype_find(name, strlen(name));
  return dtype ? ir_attr_scalar(r->m, dtype) : bc_other_type(r, name);
}

static ir_type type_of(bc_bytes *b, bc_entry *e, uint64_t code) {
  switch (code) {
    case VHLO_TYPE_COMPLEX: return bc_complex(b, bc_type(b, e));
    case VHLO_TYPE_FUNCTION: return bc_types(b, e, IR_TYPE_FUNCTION);
    case VHLO_TYPE_TENSOR: return bc_tensor(b, e, false);
    case VHLO_TYPE_TENSOR_WITH_ENCODING: return bc_tensor(b, e, true);
    case VHLO_TYPE_TOKEN: return ir_type_intern(b->r->m, &(ir_type_data){.kind = IR_TYPE_TOKEN});
    case VHLO_TYPE_TUPLE: return bc_types(b, e, IR_TYPE_TUPLE);
    default: break;
  }
  if (code < VHLO_CODES && vhlo_scalars[code].name) return scalar(b->r, vhlo_scalars[code].name);
  bc_fail_status(b, WEIR_UNIMPLEMENTED, "a VHLO type of code %llu", (unsigned long long)code);
}

void bc_vhlo_type(bc_bytes *b, bc_entry *e) {
  e->weight += 12;
  e->type = type_of(b, e, bc_varint(b));
}
