/* Dense constants: `dense<LITERAL> : TYPE`. The literal comes first and means nothing without the
 * type, so it is skipped, and read once the type is known.
 *
 * LITERAL: nothing (no elements), one element (a splat), nested lists, or a string of hex digits
 * with the bytes of all elements (or of the one element of a splat). As in MLIR, a constant whose
 * elements are all the same bits is a splat however it was written; numbers go through double;
 * integers may be written as the unsigned number of the same bits; in hex an i1 is a byte each (or,
 * from older printers, a bit each) and an i4 or i2 a byte each.
 */
#include <locale.h>
#include <stdlib.h>

#include "in/parser.h"
#include "ir/floats.h"

typedef struct literal {
  in_parser *p;
  const char *s, *end;
  ir_dtype dtype;
  ir_dtype_class cls;
  size_t bytes; /* of an element */
  int32_t rank;
  const int64_t *dims;
  int64_t count;    /* of elements */
  char *data, *out; /* out: where the next element goes */
} literal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static int hex_value(char c) {
  return is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* ---- numbers ---- */
/* strtod() wants the locale's decimal point and the end of a string. */
static double slow_real(in_parser *p, const char *from, const char *to) {
  const char *point = localeconv()->decimal_point;
  strbuf b = strbuf_make(p->scratch);
  for (const char *s = from; s < to; s++) {
    if (*s == '.') strbuf_puts(&b, point);
    else if (*s != ' ') strbuf_putc(&b, *s);
  }
  return strtod(b.text, NULL);
}

double in_real(in_parser *p, const char *from, const char *to) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  bool negative = *from == '-', fraction = false;
  const char *s = from + negative;
  uint64_t mantissa = 0;
  int exponent = 0, written = 0;
  while (s < to && *s == ' ') s++;
  for (; s < to && (is_digit(*s) || *s == '.'); s++) {
    if (*s == '.') fraction = true;
    else if (mantissa < (uint64_t)1 << 49)
      mantissa = mantissa * 10 + (uint64_t)(*s - '0'), exponent -= fraction;
    else return slow_real(p, from, to);
  }
  if (s < to) {
    bool minus = s[1] == '-';
    for (s += 1 + (minus || s[1] == '+'); s < to && written < 1000; s++)
      written = written * 10 + (*s - '0');
    exponent += minus ? -written : written;
  }
  /* Below 2^53 and with a power of ten that is exact, one rounding: that of the product or
   * quotient. */
  if (mantissa >= (uint64_t)1 << 53 || exponent < -22 || exponent > 22)
    return slow_real(p, from, to);
  double value =
      exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
  return negative ? -value : value;
}

static bool hex_bits(const char *from, const char *to, int width, uint64_t *out_bits) {
  uint64_t bits = 0;
  for (const char *s = from + 2; s < to; s++) {
    if (bits >> 60) return false;
    bits = bits << 4 | (uint64_t)hex_value(*s);
  }
  *out_bits = bits;
  return width == 64 || bits >> width == 0;
}

double in_real_of_hex(in_parser *p, ir_dtype dtype, const char *from, const char *to) {
  uint64_t bits;
  if (!hex_bits(from, to, ir_float_width(dtype), &bits))
    in_fail(p, from, "a bit pattern that does not fit in %s", ir_dtype_name(dtype));
  return ir_float_value(dtype, bits);
}

/* ---- elements ---- */
static void skip_blanks(literal *l) {
  while (l->s < l->end && (*l->s == ' ' || *l->s == '\n' || *l->s == '\t' || *l->s == '\r')) l->s++;
}

static bool accept(literal *l, char c) {
  skip_blanks(l);
  if (l->s >= l->end || *l->s != c) return false;
  l->s++;
  return true;
}

static void expect(literal *l, char c) {
  if (accept(l, c)) return;
  if (l->s >= l->end) in_fail(l->p, l->end, "found the end of the constant, wanted '%c'", c);
  in_fail(l->p, l->s, "found '%c' in a constant, wanted '%c'", *l->s, c);
}

static void put(literal *l, uint64_t bits, size_t bytes) { /* little-endian */
  for (size_t i = 0; i < bytes; i++) *l->out++ = (char)(bits >> (8 * i));
}

/* [*out_from, l->s): -12, 0x7F, 1.5e-3 */
static void number(literal *l, const char **out_from, bool *out_hex, bool *out_real) {
  skip_blanks(l);
  const char *from = l->s;
  if (l->s < l->end && *l->s == '-') l->s++;
  const char *digits = l->s;
  *out_from = from;
  *out_hex = l->end - digits > 2 && digits[0] == '0' && digits[1] == 'x';
  *out_real = false;
  if (*out_hex) {
    for (l->s += 2; l->s < l->end && hex_value(*l->s) >= 0; l->s++) continue;
    if (l->s == digits + 2) in_fail(l->p, from, "'0x' without digits");
    return;
  }
  while (l->s < l->end && is_digit(*l->s)) l->s++;
  if (l->s == digits) in_fail(l->p, from, "wanted a number of type %s", ir_dtype_name(l->dtype));
  if (l->s >= l->end || *l->s != '.') return;
  *out_real = true;
  for (l->s++; l->s < l->end && is_digit(*l->s); l->s++) continue;
  if (l->s >= l->end || (*l->s | 32) != 'e') return;
  const char *exponent = l->s + 1;
  if (exponent < l->end && (*exponent == '-' || *exponent == '+')) exponent++;
  if (exponent >= l->end || !is_digit(*exponent)) in_fail(l->p, l->s, "an exponent without digits");
  for (l->s = exponent; l->s < l->end && is_digit(*l->s); l->s++) continue;
}

static void real(literal *l, ir_dtype dtype) {
  const char *from;
  bool hex, fraction;
  uint64_t bits;
  number(l, &from, &hex, &fraction);
  if (hex) {
    if (*from == '-' || !hex_bits(from, l->s, ir_float_width(dtype), &bits))
      in_fail(l->p, from, "a bit pattern that does not fit in %s", ir_dtype_name(dtype));
  } else {
    if (!fraction)
      in_fail(l->p, from, "an integer where a number of type %s is wanted", ir_dtype_name(dtype));
    bits = ir_float_bits(dtype, in_real(l->p, from, l->s));
  }
  put(l, bits, (size_t)ir_dtype_bytes(dtype));
}

static bool word(literal *l, const char *text) {
  size_t n = strlen(text);
  if ((size_t)(l->end - l->s) < n || memcmp(l->s, text, n)) return false;
  l->s += n;
  return true;
}

static void integer(literal *l) {
  const char *from;
  bool hex, fraction;
  int64_t value;
  skip_blanks(l);
  if (l->cls == IR_CLASS_BOOL) {
    if (word(l, "true")) return put(l, 1, 1);
    if (word(l, "false")) return put(l, 0, 1);
  }
  number(l, &from, &hex, &fraction);
  if (fraction || !in_fit_integer(l->dtype, from, l->s, &value))
    in_fail(l->p, from, "a number that does not fit in %s", ir_dtype_name(l->dtype));
  put(l, l->cls == IR_CLASS_BOOL ? value != 0 : (uint64_t)value, l->bytes);
}

static void element(literal *l) {
  if (l->cls == IR_CLASS_COMPLEX) {
    ir_dtype part = ir_real_dtype(l->dtype);
    expect(l, '(');
    real(l, part);
    expect(l, ',');
    real(l, part);
    expect(l, ')');
  } else if (l->cls == IR_CLASS_FLOAT) {
    real(l, l->dtype);
  } else {
    integer(l);
  }
}

/* ---- shapes of literals ---- */
static void list(literal *l, int32_t level) {
  int64_t n = 0;
  const char *at = l->s;
  expect(l, '[');
  if (level >= l->rank)
    in_fail(l->p, at, "a constant of more than the %d dimensions of its type", l->rank);
  if (!accept(l, ']')) {
    do {
      if (n == l->dims[level])
        in_fail(l->p, l->s, "more than the %lld elements of dimension %d", (long long)n, level);
      if (level == l->rank - 1) element(l);
      else skip_blanks(l), list(l, level + 1);
      n++;
    } while (accept(l, ','));
    expect(l, ']');
  }
  if (n != l->dims[level])
    in_fail(l->p, at, "a list of %lld, wanted the %lld of dimension %d", (long long)n,
            (long long)l->dims[level], level);
}

static void allocate(literal *l, int64_t elements) {
  l->data = l->out = arena_array(l->p->scratch, (size_t)elements + 1, l->bytes);
}

/* i1 is 0 or 1; small integers are extended from their own bits, small floats have no others. */
static void clean_byte(ir_dtype dtype, char *byte) {
  unsigned char x = (unsigned char)*byte;
  switch (dtype) {
    case IR_I1: *byte = x != 0; break;
    case IR_I2: *byte = (char)((int8_t)(x << 6) >> 6); break;
    case IR_I4: *byte = (char)((int8_t)(x << 4) >> 4); break;
    case IR_UI2: *byte = (char)(x & 3); break;
    case IR_UI4:
    case IR_F4E2M1FN: *byte = (char)(x & 15); break;
    case IR_F6E2M3FN:
    case IR_F6E3M2FN: *byte = (char)(x & 63); break;
    default: break;
  }
}

static void unpack_bits(literal *l, const char *packed) {
  CTX_CHECK(l->p->ctx, l->dtype == IR_I1 && l->bytes == 1);
  for (int64_t i = 0; i < l->count; i++) l->data[i] = packed[i / 8] >> (i % 8) & 1;
}

/* "0x..." between quotes; returns whether it is a splat. */
static bool hex_string(literal *l) {
  const char *from = l->s + 1, *quote = memchr(from, '"', (size_t)(l->end - from));
  size_t n = quote ? (size_t)(quote - from) : 0;
  if (n < 2 || n % 2 || from[0] != '0' || from[1] != 'x')
    in_fail(l->p, l->s, "a constant in quotes, wanted 0x and an even number of hex digits");
  size_t bytes = (n - 2) / 2;
  int64_t all;
  bool overflow = __builtin_mul_overflow(l->count, (int64_t)l->bytes, &all);
  bool whole = !overflow && (uint64_t)all == bytes, splat = bytes == l->bytes;
  bool packed = !whole && !splat && l->dtype == IR_I1 &&
                (uint64_t)l->count <= 8 * (uint64_t)bytes &&
                (uint64_t)l->count + 8 > 8 * (uint64_t)bytes;
  if (!whole && !splat && !packed)
    in_fail(l->p, l->s, "a constant of %zu bytes, wanted %lld elements of %zu", bytes,
            (long long)l->count, l->bytes);
  char *data = arena_alloc(l->p->scratch, bytes);
  for (size_t i = 0; i < bytes; i++) {
    int high = hex_value(from[2 + 2 * i]), low = hex_value(from[3 + 2 * i]);
    if (high < 0 || low < 0)
      in_fail(l->p, from + 2 + 2 * i, "a constant in quotes, wanted hex digits");
    data[i] = (char)(high << 4 | low);
  }
  l->data = data;
  l->s = quote + 1;
  if (packed) allocate(l, l->count), unpack_bits(l, data);
  return splat;
}

static bool all_equal(const char *data, int64_t count, size_t bytes) {
  for (int64_t i = 1; i < count; i++)
    if (memcmp(data, data + (size_t)i * bytes, bytes)) return false;
  return count > 0;
}

ir_attr in_dense_of(ir_module *m, ir_type type, char *data, bool splat) {
  CTX_CHECK(m->ctx, ir_is_static_tensor(m, type));
  ir_dtype dtype = ir_type_get(m, type)->dtype;
  size_t bytes = (size_t)ir_dtype_bytes(dtype);
  int64_t count = splat ? 1 : ir_element_count(m, type);
  if (bytes == 1)
    for (int64_t i = 0; i < count; i++) clean_byte(dtype, &data[i]);
  return ir_attr_dense(m, type, data, splat || all_equal(data, count, bytes));
}

static ir_attr read_literal(literal *l, ir_type type) {
  bool splat = false;
  skip_blanks(l);
  const char *from = l->s;
  if (l->s == l->end) {
    if (l->count)
      in_fail(l->p, from, "a constant without elements, wanted %lld", (long long)l->count);
    allocate(l, 0);
  } else if (*l->s == '"') {
    splat = hex_string(l);
  } else if (*l->s == '[') {
    if (l->count > l->end - l->s)
      in_fail(l->p, from, "fewer than the %lld elements of the type", (long long)l->count);
    allocate(l, l->count);
    list(l, 0);
    CTX_CHECK(l->p->ctx, l->out == l->data + (size_t)l->count * l->bytes); /* each element once */
  } else {
    splat = true;
    allocate(l, 1);
    element(l);
  }
  skip_blanks(l);
  if (l->s != l->end) in_fail(l->p, l->s, "found '%c' in a constant, wanted its end", *l->s);
  return in_dense_of(l->p->m, type, l->data, splat);
}

/* The '>' that closes the literal; a constant's own text holds none outside of strings. */
static const char *literal_end(in_parser *p, const char *s) {
  for (; s < p->end && *s != '>'; s++) {
    if (*s != '"') continue;
    const char *quote = memchr(s + 1, '"', (size_t)(p->end - s - 1));
    s = quote ? quote : p->end - 1;
  }
  if (s >= p->end) in_fail(p, p->token.at, "a constant that does not end");
  return s;
}

ir_attr in_dense(in_parser *p) {
  const char *from = p->token.at;
  in_seek(p, p->next);
  if (!in_is(p, '<')) in_fail_wanted(p, "'<' of a constant");
  literal l = {.p = p, .s = p->next};
  l.end = literal_end(p, l.s);
  in_skip_to(p, l.end + 1);
  in_expect(p, ':', "':' and a constant's type");
  ir_type type = p->value_type = in_type(p);
  if (!ir_is_static_tensor(p->m, type)) return in_other(p, from, p->last);
  const ir_type_data *t = ir_type_get(p->m, type);
  l.dtype = t->dtype, l.cls = ir_dtype_class_of(t->dtype);
  l.bytes = (size_t)ir_dtype_bytes(t->dtype);
  l.rank = t->rank, l.dims = t->dims, l.count = ir_element_count(p->m, type);
  return read_literal(&l, type);
}
