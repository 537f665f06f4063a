/* Types. What we don't know is kept as text; so is the element type or the encoding of a tensor. */
#include "in/parser.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A type that we keep as text. */
static ir_type from_text(in_parser *p, const char *from, const char *to) {
  return ir_type_intern(
      p->m, &(ir_type_data){.kind = IR_TYPE_OTHER, .text = in_verbatim_str(p, from, to)});
}

/* ---- scalars: i32, bf16, index, and the builtin ones that we keep as text (i37, si8, f80, none)
 * ---- */
static bool is_integer_type(const char *s, size_t n) {
  if (n > 1 && (*s == 's' || *s == 'u')) s++, n--;
  if (n < 2 || *s != 'i') return false;
  for (size_t i = 1; i < n; i++)
    if (!is_digit(s[i])) return false;
  return true;
}

static bool is_among(const in_token *t, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (t->length == strlen(names[i]) && !memcmp(t->at, names[i], t->length)) return true;
  return false;
}

static bool is_other_scalar(const in_token *t) {
  static const char *const names[] = {"none", "tf32", "f80", "f128"};
  return is_among(t, names, sizeof names / sizeof *names) || is_integer_type(t->at, t->length);
}

static bool is_composite_word(const in_token *t) {
  static const char *const names[] = {"tensor", "tuple", "complex", "vector", "memref"};
  return is_among(t, names, sizeof names / sizeof *names);
}

bool in_is_type_start(const in_parser *p) {
  if (in_is(p, IN_BANG) || in_is(p, '(')) return true;
  if (!in_is(p, IN_WORD)) return false;
  const in_token *t = &p->token;
  return is_composite_word(t) || ir_dtype_find(t->at, t->length) != IR_DTYPE_NONE ||
         is_other_scalar(t);
}

static ir_type scalar_type(in_parser *p) {
  in_token t = p->token;
  ir_dtype dtype = ir_dtype_find(t.at, t.length);
  if (!dtype && !is_other_scalar(&t)) in_fail_wanted(p, "a type");
  in_next(p);
  return dtype ? ir_attr_scalar(p->m, dtype) : from_text(p, t.at, t.at + t.length);
}

static ir_type complex_type(in_parser *p) {
  const char *from = p->token.at;
  in_next(p);
  in_expect(p, '<', "'<' of a complex type");
  const ir_type_data *part = ir_type_get(p->m, in_type(p));
  ir_dtype dtype = part->kind != IR_TYPE_SCALAR ? IR_DTYPE_NONE
                   : part->dtype == IR_F32      ? IR_C64
                   : part->dtype == IR_F64      ? IR_C128
                                                : IR_DTYPE_NONE;
  in_expect(p, '>', "'>' of a complex type");
  return dtype ? ir_attr_scalar(p->m, dtype) : from_text(p, from, p->last);
}

/* ---- tensors: the dimensions are read from the characters, since `2x3xf32` is no token sequence
 * ---- */
static const char *read_dims(in_parser *p, const char *s, ir_type_data *out_data, int64_t *dims) {
  for (;;) {
    const char *start = s;
    int64_t size = 0;
    if (s < p->end && *s == '?') {
      size = -1, s++;
    } else {
      for (; s < p->end && is_digit(*s); s++)
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, *s - '0', &size))
          in_fail(p, start, "a dimension that does not fit in 64 bits");
    }
    if (s == start) return s;
    if (s >= p->end || *s != 'x') in_fail(p, s, "wanted 'x' behind a dimension");
    if (out_data->rank == IR_MAX_RANK)
      in_fail(p, start, "a tensor of more than %d dimensions", IR_MAX_RANK);
    dims[out_data->rank++] = size;
    s++;
  }
}

static void read_element_type(in_parser *p, ir_type_data *data) {
  const char *from = p->token.at;
  const ir_type_data *element = ir_type_get(p->m, in_type(p));
  if (element->kind == IR_TYPE_SCALAR) data->dtype = element->dtype;
  else data->element_text = in_verbatim_str(p, from, p->last);
}

static ir_type tensor_type(in_parser *p) {
  const char *from = p->token.at;
  int64_t dims[IR_MAX_RANK];
  ir_type_data data = {.kind = IR_TYPE_TENSOR, .dims = dims};
  in_next(p);
  if (!in_is(p, '<')) in_fail_wanted(p, "'<' of a tensor type");
  const char *s = p->next;
  while (s < p->end && (*s == ' ' || *s == '\n')) s++;
  if (s < p->end && *s == '*') return from_text(p, from, in_skip_group(p));
  in_seek(p, read_dims(p, s, &data, dims));
  read_element_type(p, &data);
  if (in_accept(p, ',')) {
    const char *encoding = p->token.at;
    in_attribute(p);
    data.encoding = in_verbatim_str(p, encoding, p->last);
  }
  in_expect(p, '>', "'>' of a tensor type");
  return ir_type_intern(p->m, &data);
}

/* ---- lists ---- */
static void push_type(in_parser *p) {
  ir_type t = in_type(p);
  VEC_PUSH(p->scratch, &p->types, t);
}

/* Good until the next type is pushed. */
static const ir_type *pop_types(in_parser *p, uint32_t count) {
  p->types.count -= count;
  return count ? p->types.at + p->types.count : NULL;
}

static void type_list(in_parser *p, int open, int close, const char *what) { /* (a, b) */
  for (bool more = in_begin_list(p, open, close, what); more; more = in_more(p, close))
    push_type(p);
}

static ir_type tuple_type(in_parser *p) {
  uint32_t first = p->types.count;
  in_next(p);
  type_list(p, '<', '>', "'<' of a tuple type");
  uint32_t n = p->types.count - first;
  ir_type_data data = {.kind = IR_TYPE_TUPLE, .n_types = (int32_t)n, .types = pop_types(p, n)};
  return ir_type_intern(p->m, &data);
}

/* (a, b) -> c */
static ir_type function_type(in_parser *p) {
  uint32_t first = p->types.count;
  type_list(p, '(', ')', "'(' of a type list");
  uint32_t n_inputs = p->types.count - first;
  in_expect(p, IN_ARROW, "'->' of a function type");
  if (in_is(p, '(')) type_list(p, '(', ')', "'(' of a type list");
  else push_type(p);
  uint32_t n_results = p->types.count - first - n_inputs;
  ir_type_data data = {.kind = IR_TYPE_FUNCTION,
                       .n_types = (int32_t)n_inputs,
                       .n_results = (int32_t)n_results,
                       .types = pop_types(p, n_inputs + n_results)};
  return ir_type_intern(p->m, &data);
}

/* ---- dialect types and aliases ---- */
static ir_type extended_type(in_parser *p) {
  in_token t = p->token;
  in_alias *alias =
      memchr(t.at, '.', t.length) ? NULL : in_alias_find(p, '!', t.at + 1, t.length - 1);
  in_next(p);
  if (alias && !in_is(p, '<')) {
    in_alias_read(p, alias, '!');
    return alias->type;
  }
  if (in_is(p, '<')) in_skip_group(p);
  else if (!memchr(t.at, '.', t.length))
    in_fail(p, t.at, "found '%.*s', an alias that is not defined", (int)t.length, t.at);
  size_t length = (size_t)(p->last - t.at);
  if (length == strlen("!stablehlo.token") && !memcmp(t.at, "!stablehlo.token", length))
    return ir_type_intern(p->m, &(ir_type_data){.kind = IR_TYPE_TOKEN});
  return from_text(p, t.at, p->last);
}

static ir_type text_type(in_parser *p) { /* vector<...>, memref<...> */
  const char *from = p->token.at;
  in_next(p);
  if (!in_is(p, '<')) in_fail_wanted(p, "'<' of a type");
  return from_text(p, from, in_skip_group(p));
}

ir_type in_type(in_parser *p) {
  ir_type t;
  in_enter(p);
  if (in_is_word(p, "tensor")) t = tensor_type(p);
  else if (in_is(p, '(')) t = function_type(p);
  else if (in_is(p, IN_BANG)) t = extended_type(p);
  else if (in_is_word(p, "complex")) t = complex_type(p);
  else if (in_is_word(p, "tuple")) t = tuple_type(p);
  else if (in_is(p, IN_WORD) && is_composite_word(&p->token)) t = text_type(p);
  else if (in_is(p, IN_WORD)) t = scalar_type(p);
  else in_fail_wanted(p, "a type");
  in_leave(p);
  return t;
}
