/* Lines of LLVM IR: names, literals, types, loops. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "tile/elementwise.h"
#include "tile/emit.h"

enum { SMALL_INTS = 256, LONGEST_LINE = 4096 };

const char *tile_name(tile_emitter *e) { return arena_printf(e->a, "%%v%u", e->names++); }

static size_t format_line(tile_emitter *e, char *line, const char *format, va_list args) {
  int length = vsnprintf(line, LONGEST_LINE, format, args);
  CTX_CHECK(e->n->m->ctx, length >= 0 && length < LONGEST_LINE);
  return (size_t)length;
}

void tile_put(tile_emitter *e, const char *format, ...) {
  char line[LONGEST_LINE];
  va_list args;
  va_start(args, format);
  format_line(e, line, format, args);
  va_end(args);
  strbuf_printf(e->out, "  %s\n", line);
}

static bool reads_memory(const char *line) {
  return !strncmp(line, "load", 4) || !strncmp(line, "call", 4);
}

static tile_known *slot_of(tile_emitter *e, const char *line, size_t length) {
  return &e->known[hash_bytes(HASH_BEGIN, line, length) % TILE_KNOWN_LINES];
}

static bool is_known(const tile_emitter *e, const tile_known *k, const char *line) {
  return k->name && k->stream == e->out && !strcmp(k->text, line);
}

void tile_forget_since(tile_emitter *e, uint32_t number) {
  for (uint32_t i = 0; i < TILE_KNOWN_LINES; i++)
    if (e->known[i].number >= number) e->known[i].name = NULL;
}

const char *tile_line(tile_emitter *e, const char *format, ...) {
  char line[LONGEST_LINE];
  va_list args;
  va_start(args, format);
  size_t length = format_line(e, line, format, args);
  va_end(args);
  tile_known *k = slot_of(e, line, length);
  if (is_known(e, k, line)) return k->name;
  uint32_t number = e->names;
  const char *name = tile_name(e);
  strbuf_printf(e->out, "  %s = %s\n", name, line);
  if (!reads_memory(line)) *k = (tile_known){e->out, arena_printf(e->a, "%s", line), name, number};
  return name;
}

/* Equal ones are one pointer as far as indices of unrolled axes go. */
const char *tile_int(tile_emitter *e, int64_t value) {
  if (value < 0 || value >= SMALL_INTS) return arena_printf(e->a, "%lld", (long long)value);
  if (!e->small_ints[value]) e->small_ints[value] = arena_printf(e->a, "%lld", (long long)value);
  return e->small_ints[value];
}

const char *tile_real(tile_emitter *e, ir_dtype dtype, double value) {
  uint64_t bits;
  double rounded = dtype == IR_F32 ? (double)(float)value : value;
  memcpy(&bits, &rounded, sizeof bits);
  return arena_printf(e->a, "0x%016llX", (unsigned long long)bits);
}

const char *tile_type(tile_emitter *e, ir_dtype dtype, bool is_vector) {
  const char *one = tile_dtype_text(dtype);
  return is_vector ? arena_printf(e->a, "<%d x %s>", e->n->lanes, one) : one;
}

const char *tile_memory_type(ir_dtype dtype) {
  return dtype == IR_I1 ? "i8" : tile_dtype_text(dtype);
}

const char *tile_splat(tile_emitter *e, ir_dtype dtype, const char *scalar) {
  const char *type = tile_type(e, dtype, true), *one = tile_dtype_text(dtype);
  if (scalar[0] != '%') {
    strbuf b = strbuf_make(e->a);
    for (int32_t i = 0; i < e->n->lanes; i++)
      strbuf_printf(&b, "%s%s %s", i ? ", " : "<", one, scalar);
    strbuf_putc(&b, '>');
    return b.text;
  }
  const char *x = tile_line(e, "insertelement %s poison, %s %s, i64 0", type, one, scalar);
  return tile_line(e, "shufflevector %s %s, %s poison, <%d x i32> zeroinitializer", type, x, type,
                   e->n->lanes);
}

void tile_declare(tile_emitter *e, const char *declaration) {
  for (uint32_t i = 0; i < e->declared.count; i++)
    if (!strcmp(e->declared.at[i], declaration)) return;
  VEC_PUSH(e->a, &e->declared, declaration);
}

static bool is_literal(const char *x) { return x[0] != '%'; }

const char *tile_index(tile_emitter *e, const char *x, const char *y, int64_t factor) {
  if (is_literal(y)) {
    int64_t add = atoll(y) * factor;
    if (is_literal(x)) return tile_int(e, atoll(x) + add);
    return add ? tile_line(e, "add i64 %s, %lld", x, (long long)add) : x;
  }
  if (factor == 0) return x;
  if (factor != 1) y = tile_line(e, "mul i64 %s, %lld", y, (long long)factor);
  return !strcmp(x, "0") ? y : tile_line(e, "add i64 %s, %s", x, y);
}

const char *tile_after(tile_emitter *e, ir_dtype dtype, const char *p, const char *count) {
  if (!strcmp(count, "0")) return p;
  return tile_line(e, "getelementptr %s, ptr %s, i64 %s", tile_memory_type(dtype), p, count);
}

const char *tile_settled(tile_emitter *e, ir_dtype dtype, const char *p, const char *count) {
  const char *sum = tile_after(e, dtype, p, count);
  return sum == p ? p : tile_line(e, "freeze ptr %s", sum);
}

/* ---- loops: the counter is in memory until LLVM makes it a register ---- */
tile_loop tile_loop_begin(tile_emitter *e, const char *from, const char *to, const char *step) {
  tile_loop l = {.step = step, .label = e->names++, .stream = e->out == e->row};
  l.counter = tile_name(e);
  strbuf_printf(&e->entry, "  %s = alloca i64\n", l.counter);
  tile_put(e, "store i64 %s, ptr %s", from, l.counter);
  tile_put(e, "br label %%head%u", l.label);
  strbuf_printf(e->out, "head%u:\n", l.label);
  l.index = tile_line(e, "load i64, ptr %s", l.counter);
  const char *more = tile_line(e, "icmp slt i64 %s, %s", l.index, to);
  tile_put(e, "br i1 %s, label %%body%u, label %%done%u", more, l.label, l.label);
  strbuf_printf(e->out, "body%u:\n", l.label);
  e->depth[l.stream]++;
  return l;
}

static void forget_deeper(tile_emitter *e, int32_t stream) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < e->memos.count; i++) {
    const tile_memo *memo = &e->memos.at[i];
    if (memo->in_row != (bool)stream || memo->depth <= e->depth[stream])
      e->memos.at[kept++] = *memo;
  }
  e->memos.count = kept;
}

tile_loop tile_while_begin(tile_emitter *e) {
  tile_loop l = {.label = e->names++, .stream = e->out == e->row};
  tile_put(e, "br label %%head%u", l.label);
  strbuf_printf(e->out, "head%u:\n", l.label);
  e->depth[l.stream]++;
  return l;
}

void tile_while_test(tile_emitter *e, const tile_loop *l, const char *goes_on) {
  tile_put(e, "br i1 %s, label %%body%u, label %%done%u", goes_on, l->label, l->label);
  strbuf_printf(e->out, "body%u:\n", l->label);
}

void tile_loop_end(tile_emitter *e, const tile_loop *l) {
  const char *next = tile_line(e, "add i64 %s, %s", l->index, l->step);
  tile_put(e, "store i64 %s, ptr %s", next, l->counter);
  tile_while_end(e, l);
}

void tile_while_end(tile_emitter *e, const tile_loop *l) {
  tile_put(e, "br label %%head%u", l->label);
  strbuf_printf(e->out, "done%u:\n", l->label);
  tile_forget_since(e, l->label);
  e->depth[l->stream]--;
  forget_deeper(e, l->stream);
}
