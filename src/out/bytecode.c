/* IR -> MLIR bytecode, a portable artifact: numbers, lists, sections; the entry. Attributes and
 * types are bytecode_entry.c's, attributes of VHLO's ops bytecode_vhlo.c's, ops bytecode_ir.c's. */
#include "out/bytecode.h"

#include <stdio.h>
#include <stdlib.h>

#include "out/out.h"

void bw_fail(const bw *w, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ir_str location = w->op ? ir_op_get(w->m, w->op)->location : IR_NONE;
  ctx_fail(w->ctx, WEIR_UNIMPLEMENTED, "bytecode of '%.100s'%s%.300s: %s",
           w->op ? ir_op_name(w->m, w->op) : "builtin.module", location ? " at " : "",
           ir_text(w->m, location), text);
}

/* ---- numbers ---- */
/* The low zeros of the first byte say how many bytes follow it. */
void bw_varint(strbuf *out, uint64_t value) {
  int n = 1;
  while (n < 9 && value >> (7 * n)) n++;
  if (n == 9) strbuf_putc(out, 0);
  uint64_t bits = n == 9 ? value : value << n | (uint64_t)1 << (n - 1);
  for (int i = 0; i < (n == 9 ? 8 : n); i++) strbuf_putc(out, (char)(bits >> (8 * i)));
}

void bw_signed_varint(strbuf *out, int64_t value) {
  bw_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* ---- lists ---- */
/* An item's string is the list it belongs to, and its bytes. */
uint32_t bw_put(bw *w, bw_list list, const char *bytes, size_t length) {
  strbuf key = strbuf_make(w->scratch);
  strbuf_reserve(&key, length + 1);
  strbuf_putc(&key, (char)list);
  strbuf_add(&key, bytes, length);
  ir_str id = ir_intern_text(w->keys, key.text, key.length);
  while (w->numbers.count <= id) VEC_PUSH(w->scratch, &w->numbers, 0);
  if (!w->numbers.at[id]) {
    VEC_PUSH(w->scratch, &w->lists[list], id);
    w->numbers.at[id] = w->lists[list].count;
  }
  return w->numbers.at[id] - 1;
}

typedef struct item {
  uint32_t dialect;
  bool flag;
  const char *bytes;
  size_t length;
} item;

enum { ITEM_HEAD = 1 + sizeof(uint32_t) + 1 }; /* the list, the dialect's number, the flag */

uint32_t bw_put_of(bw *w, bw_list list, const char *dialect, bool flag, const char *bytes,
                   size_t length) {
  uint32_t number = bw_put(w, BW_DIALECTS, dialect, strlen(dialect));
  strbuf b = strbuf_make(w->scratch);
  strbuf_reserve(&b, length + ITEM_HEAD);
  strbuf_add(&b, (const char *)&number, sizeof number);
  strbuf_putc(&b, flag);
  strbuf_add(&b, bytes, length);
  return bw_put(w, list, b.text, b.length);
}

static item plain_item(const bw *w, bw_list list, uint32_t i) {
  CTX_CHECK(w->ctx, i < w->lists[list].count);
  ir_str id = w->lists[list].at[i];
  return (item){.bytes = ir_text(w->keys, id) + 1, .length = ir_text_length(w->keys, id) - 1};
}

static item item_of(const bw *w, bw_list list, uint32_t i) {
  item it = plain_item(w, list, i);
  CTX_CHECK(w->ctx, it.length >= ITEM_HEAD - 1);
  memcpy(&it.dialect, it.bytes, sizeof it.dialect);
  it.flag = it.bytes[sizeof it.dialect];
  it.bytes += ITEM_HEAD - 1;
  it.length -= ITEM_HEAD - 1;
  return it;
}

/* ---- sections ---- */
static void section(strbuf *out, uint8_t id, const strbuf *bytes) {
  strbuf_putc(out, (char)id);
  bw_varint(out, bytes->length);
  strbuf_add(out, bytes->length ? bytes->text : "", bytes->length);
}

/* Lengths from the last string to the first, then the strings, each with a zero byte. */
static strbuf strings(const bw *w) {
  strbuf b = strbuf_make(w->scratch);
  uint32_t n = w->lists[BW_STRINGS].count;
  bw_varint(&b, n);
  for (uint32_t i = n; i > 0; i--) bw_varint(&b, plain_item(w, BW_STRINGS, i - 1).length + 1);
  for (uint32_t i = 0; i < n; i++) {
    item it = plain_item(w, BW_STRINGS, i);
    strbuf_add(&b, it.bytes, it.length + 1);
  }
  return b;
}

/* A list in runs of one dialect: the dialect, how many, and of each a number with its flag. */
static void runs(bw *w, bw_list list, uint64_t (*number)(bw *w, const item *it), strbuf *out) {
  for (uint32_t i = 0, end; i < w->lists[list].count; i = end) {
    item first = item_of(w, list, i);
    for (end = i; end < w->lists[list].count; end++)
      if (item_of(w, list, end).dialect != first.dialect) break;
    bw_varint(out, first.dialect);
    bw_varint(out, end - i);
    for (uint32_t k = i; k < end; k++) {
      item it = item_of(w, list, k);
      bw_varint(out, number(w, &it) << 1 | it.flag);
    }
  }
}

static uint64_t name_of(bw *w, const item *it) { return bw_string(w, it->bytes, it->length); }
static uint64_t length_of(bw *w, const item *it) {
  (void)w;
  return it->length;
}

static strbuf dialects(bw *w) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, w->lists[BW_DIALECTS].count);
  for (uint32_t i = 0; i < w->lists[BW_DIALECTS].count; i++) {
    item it = plain_item(w, BW_DIALECTS, i);
    bw_varint(&b, (uint64_t)bw_string(w, it.bytes, it.length) << 1); /* without a version */
  }
  bw_varint(&b, w->lists[BW_OPS].count);
  runs(w, BW_OPS, name_of, &b);
  return b;
}

static strbuf offsets(bw *w) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, w->lists[BW_ATTRS].count);
  bw_varint(&b, w->lists[BW_TYPES].count);
  runs(w, BW_ATTRS, length_of, &b);
  runs(w, BW_TYPES, length_of, &b);
  return b;
}

static strbuf entries(const bw *w) {
  strbuf b = strbuf_make(w->scratch);
  for (bw_list list = BW_ATTRS; list <= BW_TYPES; list++)
    for (uint32_t i = 0; i < w->lists[list].count; i++) {
      item it = item_of(w, list, i);
      strbuf_add(&b, it.bytes, it.length);
    }
  return b;
}

static strbuf properties(const bw *w) {
  strbuf b = strbuf_make(w->scratch);
  bw_varint(&b, w->lists[BW_PROPERTIES].count);
  for (uint32_t i = 0; i < w->lists[BW_PROPERTIES].count; i++) {
    item it = plain_item(w, BW_PROPERTIES, i);
    bw_varint(&b, it.length);
    strbuf_add(&b, it.bytes, it.length);
  }
  return b;
}

/* The strings come last: the other sections name some. */
static void write_file(bw *w, strbuf *out) {
  strbuf ir = strbuf_make(w->scratch);
  bw_ir(w, &ir);
  CTX_CHECK(w->ctx, w->minor >= OUT_BYTECODE_OLDEST && w->minor <= OUT_BYTECODE_NEWEST);
  strbuf_printf(out, BC_MAGIC "%c" BC_PRODUCER "1.%d.0", BC_NEWEST << 1 | 1, w->minor);
  strbuf_putc(out, 0);
  strbuf parts[] = {dialects(w), entries(w), offsets(w), ir, properties(w), strings(w)};
  static const uint8_t ids[] = {BC_DIALECTS, BC_ATTRS,          BC_ATTR_OFFSETS,
                                BC_IR,       BC_PROPERTY_TABLE, BC_STRINGS};
  _Static_assert(sizeof ids == sizeof parts / sizeof *parts, "a number for each section");
  for (size_t i = 0; i < sizeof ids; i++) section(out, ids[i], &parts[i]);
}

/* ---- the entry ---- */
/* "1.13", "1.13.0": StableHLO 1.minor; -1: none that can be written. */
static int minor_of(const char *version) {
  char *end;
  if (!starts_with(version, "1.") || version[2] < '0' || version[2] > '9') return -1;
  long minor = strtol(version + 2, &end, 10);
  if (*end == '.') end += 1 + strspn(end + 1, "0123456789");
  return *end || minor < OUT_BYTECODE_OLDEST || minor > OUT_BYTECODE_NEWEST ? -1 : (int)minor;
}

bool out_bytecode_writes(const char *version) { return minor_of(version) >= 0; }

typedef struct job {
  const ir_module *m;
  int minor;
  strbuf *out;
  arena *scratch;
  ir_module *keys;
} job;

static uint32_t *marks(arena *scratch, uint32_t count) {
  return ARENA_ARRAY(scratch, uint32_t, (size_t)count + 1);
}

static weir_status write_module(void *user) {
  job *j = user;
  const ir_module *m = j->m;
  arena *a = j->scratch = arena_create(m->ctx);
  j->keys = ir_module_create(m->ctx);
  bw *w = ARENA_NEW(a, bw);
  *w = (bw){.ctx = m->ctx,
            .m = m,
            .scratch = a,
            .minor = j->minor,
            .keys = j->keys,
            .types = {marks(a, m->types.count), marks(a, m->types.count)},
            .attrs = marks(a, m->attrs.count),
            .locations = marks(a, m->strs.count),
            .values = marks(a, m->values.count)};
  write_file(w, j->out);
  return WEIR_OK;
}

weir_status out_bytecode(const ir_module *m, const char *version, strbuf *out) {
  job j = {.m = m, .minor = minor_of(version), .out = out};
  if (j.minor < 0)
    return ctx_error(
        m->ctx, WEIR_INVALID_ARGUMENT,
        "\"%.40s\" is no version of StableHLO that bytecode is written for: 1.%d to 1.%d", version,
        OUT_BYTECODE_OLDEST, OUT_BYTECODE_NEWEST);
  weir_status status = ctx_try(m->ctx, write_module, &j);
  arena_destroy(j.scratch);
  ir_module_destroy(j.keys);
  return status;
}
