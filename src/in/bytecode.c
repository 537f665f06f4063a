/* MLIR bytecode -> IR: numbers, sections and tables; the entry. Attributes and types are read by
 * bytecode_entry.c, VHLO's by bytecode_vhlo.c, ops by bytecode_ir.c. */
#include "in/bytecode.h"

#include <stdio.h>

#include "in/in.h"
#include "in/parser.h"

/* ---- errors ---- */
static _Noreturn void fail(const bc_bytes *b, weir_status status, const char *format,
                           va_list args) {
  char text[512];
  vsnprintf(text, sizeof text, format, args);
  ctx_fail(b->r->ctx, status, "byte %zu: %s", (size_t)(b->at - b->r->begin), text);
}

void bc_fail(const bc_bytes *b, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(b, WEIR_INVALID_ARGUMENT, format, args);
}

void bc_fail_status(const bc_bytes *b, weir_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(b, status, format, args);
}

void bc_enter(const bc_bytes *b) {
  if (++b->r->depth > BC_MAX_DEPTH)
    bc_fail(b, "attributes, types and regions nested more than %d deep", BC_MAX_DEPTH);
}

/* ---- numbers ---- */
const uint8_t *bc_take(bc_bytes *b, uint64_t count) {
  CTX_CHECK(b->r->ctx, b->r->begin <= b->at && b->at <= b->end && b->end <= b->r->end);
  if (count > bc_left(b))
    bc_fail(b, "the file or a section of it ends: %llu bytes wanted, %zu left",
            (unsigned long long)count, bc_left(b));
  const uint8_t *at = b->at;
  b->at += count;
  return at;
}

uint8_t bc_byte(bc_bytes *b) { return *bc_take(b, 1); }

/* The low zeros of the first byte say how many bytes follow it. */
uint64_t bc_varint(bc_bytes *b) {
  uint8_t first = bc_byte(b);
  int more = first ? __builtin_ctz(first) : 8;
  const uint8_t *rest = bc_take(b, (uint64_t)more);
  uint64_t value = 0;
  for (int i = more; i > 0; i--) value = value << 8 | rest[i - 1];
  return more == 8 ? value : value << (7 - more) | first >> (more + 1);
}

int64_t bc_signed_varint(bc_bytes *b) {
  uint64_t value = bc_varint(b);
  return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

uint32_t bc_count(bc_bytes *b, const char *what) {
  uint64_t n = bc_varint(b);
  if (n > bc_left(b) || n > UINT32_MAX / 2)
    bc_fail(b, "%llu %s in %zu bytes", (unsigned long long)n, what, bc_left(b));
  return (uint32_t)n;
}

static uint32_t in_range(const bc_bytes *b, uint64_t index, uint32_t count, const char *what) {
  if (index >= count) bc_fail(b, "%s %llu of %u", what, (unsigned long long)index, count);
  return (uint32_t)index;
}

uint32_t bc_index(bc_bytes *b, uint32_t count, const char *what) {
  return in_range(b, bc_varint(b), count, what);
}

ir_str bc_string(bc_bytes *b) {
  return b->r->strings.at[bc_index(b, b->r->strings.count, "string")];
}

/* ---- sections ---- */
enum { PADDING = 0xCB };

/* Aligned within the file, which begins aligned. */
static void align(bc_bytes *b) {
  uint64_t to = bc_varint(b);
  if (to == 0 || to & (to - 1)) bc_fail(b, "a section aligned to %llu", (unsigned long long)to);
  while ((uint64_t)(b->at - b->r->begin) & (to - 1))
    if (bc_byte(b) != PADDING) bc_fail(b, "padding that is not 0xCB");
}

bc_bytes bc_section(bc_bytes *b, uint8_t *out_id) {
  uint8_t head = bc_byte(b);
  uint64_t length = bc_varint(b);
  *out_id = head & 127;
  if (*out_id >= BC_SECTIONS) bc_fail(b, "a section of kind %d", *out_id);
  if (head & 128) align(b);
  const uint8_t *at = bc_take(b, length);
  return (bc_bytes){b->r, at, at + length};
}

static void read_sections(bc_bytes *b, bc_bytes *sections) {
  while (b->at < b->end) {
    uint8_t id;
    bc_bytes section = bc_section(b, &id);
    if (sections[id].r) bc_fail(b, "two sections of kind %d", id);
    sections[id] = section;
  }
  static const uint8_t needed[] = {BC_STRINGS, BC_DIALECTS, BC_ATTRS, BC_ATTR_OFFSETS, BC_IR};
  for (size_t i = 0; i < sizeof needed; i++)
    if (!sections[needed[i]].r) bc_fail(b, "no section of kind %d", needed[i]);
}

/* ---- tables ---- */
/* Lengths from the last string to the first, then the strings, each with a zero byte. */
static void read_strings(bc_bytes *b) {
  bc *r = b->r;
  uint32_t n = bc_count(b, "strings");
  for (uint32_t i = 0; i < n; i++) VEC_PUSH(r->scratch, &r->strings, IR_NONE);
  const uint8_t *end = b->end;
  for (uint32_t i = n; i > 0; i--) {
    uint64_t length = bc_varint(b);
    if (b->at > end || length == 0 || length > (uint64_t)(end - b->at))
      bc_fail(b, "a string's length");
    end -= length;
    if (end[length - 1]) bc_fail(b, "a string that does not end");
    r->strings.at[i - 1] = ir_intern_text(r->m, (const char *)end, (size_t)length - 1);
  }
  if (end != b->at) bc_fail(b, "bytes between the strings and their lengths");
}

static bool is_text(const bc *r, ir_str s, const char *text) {
  return !strcmp(ir_text(r->m, s), text);
}

/* vhlo.add_v1 is stablehlo.add; func, call and return are func's. */
static void resolve_vhlo(const bc_bytes *b, bc_op_name *op, const char *name) {
  static const struct {
    const char *vhlo, *name;
  } others[] = {{"func", "func.func"}, {"call", "func.call"}};
  const char *tail = strrchr(name, '_');
  size_t stem = tail ? (size_t)(tail - name) : 0;
  if (!stem || tail[1] != 'v' || tail[2] < '1' || tail[2] > '9' || tail[3])
    bc_fail(b, "an op 'vhlo.%s', whose version is not known", name);
  op->is_vhlo = true;
  op->vhlo = vhlo_op_find(name, stem, tail[2] - '0');
  op->is_return = stem == 6 && !memcmp(name, "return", 6);
  op->name = arena_printf(b->r->scratch, "stablehlo.%.*s", (int)stem, name);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strlen(others[i].vhlo) == stem && !memcmp(others[i].vhlo, name, stem))
      op->name = others[i].name;
}

static void check_op_name(const bc_bytes *b, const char *name) {
  for (const char *s = name; *s; s++)
    if (!in_is_suffix_char((unsigned char)*s))
      bc_fail(b, "an op's name with other characters than text allows");
  if (!*name) bc_fail(b, "an op without a name");
}

static void read_op_name(bc_bytes *b, ir_str dialect) {
  bc *r = b->r;
  bc_op_name op = {0};
  uint64_t index = bc_varint(b);
  if (r->version >= BC_PROPERTIES) op.was_registered = index & 1, index >>= 1;
  const char *name = ir_text(r->m, r->strings.at[in_range(b, index, r->strings.count, "string")]);
  if (is_text(r, dialect, "vhlo")) resolve_vhlo(b, &op, name);
  else
    op.name = *name ? arena_printf(r->scratch, "%s.%s", ir_text(r->m, dialect), name)
                    : ir_text(r->m, dialect);
  check_op_name(b, op.name);
  op.kind = ir_kind_find(op.name, strlen(op.name));
  VEC_PUSH(r->scratch, &r->ops, op);
}

static void read_dialects(bc_bytes *b) {
  bc *r = b->r;
  for (uint32_t n = bc_count(b, "dialects"); n > 0; n--) {
    uint64_t index = bc_varint(b);
    bool has_version = r->version >= BC_VERSIONED_DIALECTS && index & 1;
    if (r->version >= BC_VERSIONED_DIALECTS) index >>= 1;
    VEC_PUSH(r->scratch, &r->dialects,
             r->strings.at[in_range(b, index, r->strings.count, "string")]);
    uint8_t id;
    if (has_version && (bc_section(b, &id), id != BC_DIALECT_VERSIONS))
      bc_fail(b, "a section of kind %d, wanted a dialect's version", id);
  }
  if (r->version >= BC_ELIDED_LOCATIONS) bc_varint(b); /* how many names follow */
  while (b->at < b->end) {
    ir_str dialect = r->dialects.at[bc_index(b, r->dialects.count, "dialect")];
    for (uint32_t n = bc_count(b, "op names"); n > 0; n--) read_op_name(b, dialect);
  }
}

/* ---- where attributes and types lie ---- */
static void read_entry(bc_bytes *offsets, bc_bytes *data, ir_str dialect, bc_entry *out) {
  const bc *r = offsets->r;
  uint64_t length = bc_varint(offsets);
  out->is_custom = length & 1;
  out->dialect = is_text(r, dialect, "builtin") ? BC_BUILTIN
                 : is_text(r, dialect, "vhlo")  ? BC_VHLO
                                                : BC_OTHER;
  out->at = bc_take(data, length >> 1);
  out->end = data->at;
}

/* First the attributes by dialect, then the types. */
static void read_entries(bc_bytes *offsets, bc_bytes *data) {
  bc *r = offsets->r;
  uint32_t n_attrs = bc_count(offsets, "attributes"), n_types = bc_count(offsets, "types");
  for (uint32_t i = 0; i < n_attrs; i++) VEC_PUSH(r->scratch, &r->attrs, (bc_entry){0});
  for (uint32_t i = 0; i < n_types; i++) VEC_PUSH(r->scratch, &r->types, (bc_entry){0});
  for (uint32_t done = 0, all = n_attrs + n_types; done < all;) {
    ir_str dialect = r->dialects.at[bc_index(offsets, r->dialects.count, "dialect")];
    for (uint32_t n = bc_count(offsets, "entries"); n > 0; n--, done++) {
      if (done == all) bc_fail(offsets, "more attributes and types than announced");
      read_entry(offsets, data, dialect,
                 done < n_attrs ? &r->attrs.at[done] : &r->types.at[done - n_attrs]);
    }
  }
  if (offsets->at != offsets->end) bc_fail(offsets, "more attributes and types than announced");
}

static void read_properties(bc_bytes *b) {
  bc *r = b->r;
  uint32_t n = bc_count(b, "properties");
  r->properties = b->at, r->properties_end = b->end;
  for (uint32_t i = 0; i < n; i++) {
    VEC_PUSH(r->scratch, &r->property_offsets, (uint64_t)(b->at - r->properties));
    bc_take(b, bc_varint(b));
  }
}

/* ---- the entry ---- */
enum { SPARE_BYTES = 1 << 20, BYTES_PER_BYTE = 256, MAX_LOCATION_BYTES = 1 << 28 };

static void read_header(bc_bytes *b) {
  bc_take(b, 4); /* the magic number */
  b->r->version = bc_varint(b);
  if (b->r->version > BC_NEWEST)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "bytecode of version %llu, wanted %d or older",
                   (unsigned long long)b->r->version, BC_NEWEST);
  while (bc_byte(b)) continue; /* who made it */
}

static void read_module(bc *r) {
  bc_bytes b = {r, r->begin, r->end}, sections[BC_SECTIONS] = {0};
  read_header(&b);
  read_sections(&b, sections);
  read_strings(&sections[BC_STRINGS]);
  if (sections[BC_PROPERTY_TABLE].r) read_properties(&sections[BC_PROPERTY_TABLE]);
  read_dialects(&sections[BC_DIALECTS]);
  read_entries(&sections[BC_ATTR_OFFSETS], &sections[BC_ATTRS]);
  bc_ir(&sections[BC_IR], ir_top(r->m));
  in_adopt_module(r->m);
}

static weir_status read_bytes(void *user) {
  in_job *j = user;
  j->scratch = arena_create(j->ctx);
  j->m = ir_module_create(j->ctx);
  bc *r = ARENA_NEW(j->scratch, bc);
  r->ctx = j->ctx, r->m = j->m, r->scratch = j->scratch;
  r->begin = (const uint8_t *)j->text, r->end = r->begin + j->length;
  r->weight_left = SPARE_BYTES + BYTES_PER_BYTE * (int64_t)j->length;
  r->location_bytes_left =
      r->weight_left < MAX_LOCATION_BYTES ? r->weight_left : MAX_LOCATION_BYTES;
  read_module(r);
  return WEIR_OK;
}

bool in_is_bytecode(const char *bytes, size_t length) {
  return length >= 4 && !memcmp(bytes, BC_MAGIC, 4);
}

const char *in_artifact_version(const char *bytes, size_t length) {
  enum { HEAD = 5, NAME = sizeof BC_PRODUCER - 1 }; /* the magic number, the format's version */
  if (length <= HEAD + NAME || !in_is_bytecode(bytes, length) ||
      memcmp(bytes + HEAD, BC_PRODUCER, NAME) || !memchr(bytes + HEAD, 0, length - HEAD))
    return NULL;
  return bytes + HEAD + NAME;
}

weir_status in_bytecode(ctx *c, const char *bytes, size_t length, ir_module **out_module) {
  return in_read(c, bytes, length, read_bytes, out_module);
}

weir_status in_program(ctx *c, const char *bytes, size_t length, ir_module **out_module) {
  return in_is_bytecode(bytes, length) ? in_bytecode(c, bytes, length, out_module)
                                       : in_stablehlo_text(c, bytes, length, out_module);
}
