/* Lines of LLVM IR: names, literals, types, loops. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"

enum { SMALL_INTS = 256, LONGEST_LINE = 4096, MOST_LINES = 20000 };

bool kernel_is_too_long(const kernel_emitter *e) { return e->names > MOST_LINES; }

const char *kernel_name(kernel_emitter *e) { return arena_printf(e->a, "%%v%u", e->names++); }

static size_t format_line(kernel_emitter *e, char *line, const char *format, va_list args) {
  int length = vsnprintf(line, LONGEST_LINE, format, args);
  CTX_CHECK(e->n->m->ctx, length >= 0 && length < LONGEST_LINE);
  return (size_t)length;
}

void kernel_put(kernel_emitter *e, const char *format, ...) {
  char line[LONGEST_LINE];
  va_list args;
  va_start(args, format);
  format_line(e, line, format, args);
  va_end(args);
  strbuf_printf(e->out, "  %s\n", line);
}

static bool reads_memory(const char *line) {
  return starts_with(line, "load") || starts_with(line, "call");
}

static kernel_known *slot_of(kernel_emitter *e, const char *line, size_t length) {
  return &e->known[hash_bytes(HASH_BEGIN, line, length) % KERNEL_KNOWN_LINES];
}

static bool is_known(const kernel_emitter *e, const kernel_known *k, const char *line) {
  return k->name && k->stream == e->out && !strcmp(k->text, line);
}

void kernel_forget_since(kernel_emitter *e, uint32_t number) {
  for (uint32_t i = 0; i < KERNEL_KNOWN_LINES; i++)
    if (e->known[i].number >= number) e->known[i].name = NULL;
}

const char *kernel_line(kernel_emitter *e, const char *format, ...) {
  char line[LONGEST_LINE];
  va_list args;
  va_start(args, format);
  size_t length = format_line(e, line, format, args);
  va_end(args);
  kernel_known *k = slot_of(e, line, length);
  if (is_known(e, k, line)) return k->name;
  uint32_t number = e->names;
  const char *name = kernel_name(e);
  strbuf_printf(e->out, "  %s = %s\n", name, line);
  if (!reads_memory(line))
    *k = (kernel_known){e->out, arena_printf(e->a, "%s", line), name, number};
  return name;
}

/* Equal ones are one pointer as far as indices of unrolled axes go. */
const char *kernel_int(kernel_emitter *e, int64_t value) {
  if (value < 0 || value >= SMALL_INTS) return arena_printf(e->a, "%lld", (long long)value);
  if (!e->small_ints[value]) e->small_ints[value] = arena_printf(e->a, "%lld", (long long)value);
  return e->small_ints[value];
}

const char *kernel_real(kernel_emitter *e, ir_dtype dtype, double value) {
  uint64_t bits;
  double rounded = dtype == IR_F32 ? (double)(float)value : value;
  memcpy(&bits, &rounded, sizeof bits);
  return arena_printf(e->a, "0x%016llX", (unsigned long long)bits);
}

const char *kernel_type(kernel_emitter *e, ir_dtype dtype, bool is_vector) {
  const char *one = kernel_dtype_text(dtype);
  return is_vector ? arena_printf(e->a, "<%d x %s>", e->n->lanes, one) : one;
}

const char *kernel_memory_type(ir_dtype dtype) {
  return dtype == IR_I1 ? "i8" : kernel_dtype_text(dtype);
}

const char *kernel_splat(kernel_emitter *e, ir_dtype dtype, const char *scalar) {
  const char *type = kernel_type(e, dtype, true), *one = kernel_dtype_text(dtype);
  if (scalar[0] != '%') {
    strbuf b = strbuf_make(e->a);
    for (int32_t i = 0; i < e->n->lanes; i++)
      strbuf_printf(&b, "%s%s %s", i ? ", " : "<", one, scalar);
    strbuf_putc(&b, '>');
    return b.text;
  }
  const char *x = kernel_line(e, "insertelement %s poison, %s %s, i64 0", type, one, scalar);
  return kernel_line(e, "shufflevector %s %s, %s poison, <%d x i32> zeroinitializer", type, x, type,
                     e->n->lanes);
}

void kernel_declare(kernel_emitter *e, const char *declaration) {
  for (uint32_t i = 0; i < e->declared.count; i++)
    if (!strcmp(e->declared.at[i], declaration)) return;
  VEC_PUSH(e->a, &e->declared, declaration);
}

static bool is_literal(const char *x) { return x[0] != '%'; }

const char *kernel_index(kernel_emitter *e, const char *x, const char *y, int64_t factor) {
  if (is_literal(y)) {
    int64_t add = atoll(y) * factor;
    if (is_literal(x)) return kernel_int(e, atoll(x) + add);
    return add ? kernel_line(e, "add i64 %s, %lld", x, (long long)add) : x;
  }
  if (factor == 0) return x;
  if (factor != 1) y = kernel_line(e, "mul i64 %s, %lld", y, (long long)factor);
  return !strcmp(x, "0") ? y : kernel_line(e, "add i64 %s, %s", x, y);
}

const char *kernel_after(kernel_emitter *e, ir_dtype dtype, const char *p, const char *count) {
  if (!strcmp(count, "0")) return p;
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", kernel_memory_type(dtype), p, count);
}

const char *kernel_settled(kernel_emitter *e, ir_dtype dtype, const char *p, const char *count) {
  const char *sum = kernel_after(e, dtype, p, count);
  return sum == p ? p : kernel_line(e, "freeze ptr %s", sum);
}

/* ---- loops: the counter is in memory until LLVM makes it a register ---- */
kernel_loop kernel_loop_begin(kernel_emitter *e, const char *from, const char *to,
                              const char *step) {
  kernel_loop l = {.step = step, .label = e->names++, .stream = e->out == e->tile.row};
  l.counter = kernel_name(e);
  strbuf_printf(&e->entry, "  %s = alloca i64\n", l.counter);
  kernel_put(e, "store i64 %s, ptr %s", from, l.counter);
  kernel_put(e, "br label %%head%u", l.label);
  strbuf_printf(e->out, "head%u:\n", l.label);
  l.index = kernel_line(e, "load i64, ptr %s", l.counter);
  const char *more = kernel_line(e, "icmp slt i64 %s, %s", l.index, to);
  kernel_while_test(e, &l, more);
  e->tile.depth[l.stream]++;
  return l;
}

static void forget_deeper(kernel_emitter *e, int32_t stream) {
  uint32_t kept = 0;
  for (const kernel_memo *memo = e->tile.memos.at; memo < VEC_END(e->tile.memos); memo++)
    if (memo->in_row != (bool)stream || memo->depth <= e->tile.depth[stream])
      e->tile.memos.at[kept++] = *memo;
  e->tile.memos.count = kept;
}

kernel_loop kernel_while_begin(kernel_emitter *e) {
  kernel_loop l = {.label = e->names++, .stream = e->out == e->tile.row};
  kernel_put(e, "br label %%head%u", l.label);
  strbuf_printf(e->out, "head%u:\n", l.label);
  e->tile.depth[l.stream]++;
  return l;
}

void kernel_while_test(kernel_emitter *e, const kernel_loop *l, const char *goes_on) {
  kernel_put(e, "br i1 %s, label %%body%u, label %%done%u", goes_on, l->label, l->label);
  strbuf_printf(e->out, "body%u:\n", l->label);
}

void kernel_loop_end(kernel_emitter *e, const kernel_loop *l) {
  const char *next = kernel_line(e, "add i64 %s, %s", l->index, l->step);
  kernel_put(e, "store i64 %s, ptr %s", next, l->counter);
  kernel_while_end(e, l);
}

void kernel_while_end(kernel_emitter *e, const kernel_loop *l) {
  kernel_put(e, "br label %%head%u", l->label);
  strbuf_printf(e->out, "done%u:\n", l->label);
  kernel_forget_since(e, l->label);
  e->tile.depth[l->stream]--;
  forget_deeper(e, l->stream);
}
