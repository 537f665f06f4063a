/* Attributes: builtin ones are decoded, dialect attributes and the rest are kept as text. */
#include "in/parser.h"

ir_attr in_other(in_parser *p, const char *from, const char *to) {
  return ir_attr_new(p->m,
                     &(ir_attr_data){.kind = IR_ATTR_OTHER, .text = in_verbatim_str(p, from, to)});
}

/* ---- numbers ---- */
/* What 64 bits of two's complement mean in `width` bits; false if they don't fit. MLIR takes 255 as
 * an i8, too: it is -1. */
static bool fit_integer(ir_dtype dtype, bool negative, uint64_t magnitude, int64_t *out_value) {
  int width = ir_dtype_bits(dtype);
  bool is_unsigned = ir_dtype_class_of(dtype) == IR_CLASS_UINT;
  if (negative && (is_unsigned ? magnitude > 0 : magnitude > (uint64_t)1 << (width - 1)))
    return false;
  if (!negative && width < 64 && magnitude >> width) return false;
  uint64_t bits = negative ? 0 - magnitude : magnitude;
  if (!is_unsigned && width < 64 && bits >> (width - 1) & 1) bits |= ~(uint64_t)0 << width;
  *out_value = (int64_t)bits;
  return true;
}

bool in_fit_integer(ir_dtype dtype, const char *from, const char *to, int64_t *out_value) {
  bool negative = *from == '-', hex;
  const char *s = from + negative;
  uint64_t magnitude = 0;
  while (s < to && *s == ' ') s++;
  hex = to - s > 2 && s[1] == 'x';
  for (s += hex ? 2 : 0; s < to; s++) {
    uint64_t digit = *s <= '9' ? (uint64_t)(*s - '0') : (uint64_t)((*s | 32) - 'a' + 10);
    if (__builtin_mul_overflow(magnitude, hex ? 16 : 10, &magnitude) ||
        __builtin_add_overflow(magnitude, digit, &magnitude))
      return false;
  }
  return fit_integer(dtype, negative, magnitude, out_value);
}

static ir_attr integer_attr(in_parser *p, const char *from, const char *to, ir_type type) {
  ir_dtype dtype = ir_type_get(p->m, type)->dtype;
  ir_attr_data data = {.kind = IR_ATTR_INT, .type = type};
  if (!in_fit_integer(dtype, from, to, &data.integer))
    in_fail(p, from, "an integer that does not fit in %s", ir_dtype_name(dtype));
  if (dtype == IR_I1) return ir_attr_bool(p->m, data.integer != 0);
  return ir_attr_new(p->m, &data);
}

static ir_attr real_attr(in_parser *p, const char *from, const char *to, bool hex, ir_type type) {
  ir_dtype dtype = ir_type_get(p->m, type)->dtype;
  ir_attr_data data = {.kind = IR_ATTR_FLOAT, .type = type, .text = in_verbatim_str(p, from, to)};
  data.real = hex ? in_real_of_hex(p, dtype, from, to) : in_real(p, from, to);
  return ir_attr_new(p->m, &data);
}

/* -5, 5 : i8, 1.0 : f32, 0x7FC0 : bf16 */
static ir_attr number(in_parser *p) {
  const char *from = p->token.at;
  in_accept(p, '-');
  bool real = in_is(p, IN_FLOAT), hex = p->token.length > 2 && p->token.at[1] == 'x';
  if (!real && !in_is(p, IN_INTEGER)) in_fail_wanted(p, "a number");
  in_next(p);
  const char *to = p->last;
  ir_type type = in_accept(p, ':') ? in_type(p) : ir_attr_scalar(p->m, real ? IR_F64 : IR_I64);
  const ir_type_data *t = ir_type_get(p->m, type);
  ir_dtype_class cls = t->kind == IR_TYPE_SCALAR ? ir_dtype_class_of(t->dtype) : IR_CLASS_NONE;
  if (cls == IR_CLASS_NONE || cls == IR_CLASS_COMPLEX) return in_other(p, from, p->last);
  if (cls == IR_CLASS_FLOAT) {
    if (!real && (!hex || *from == '-'))
      in_fail(p, from, "an integer where a number of type %s is wanted", ir_dtype_name(t->dtype));
    return real_attr(p, from, to, !real, type);
  }
  if (real)
    in_fail(p, from, "a number with a fraction where an integer of type %s is wanted",
            ir_dtype_name(t->dtype));
  return integer_attr(p, from, to, type);
}

/* ---- array<i64: 1, 2>, array<i1: true>; other element types are kept as text ---- */
static ir_attr dense_array(in_parser *p) {
  const char *from = p->token.at;
  in_next(p);
  if (!in_is(p, '<')) in_fail_wanted(p, "'<' of an array");
  const char *end = in_skip_balanced(p, p->token.at);
  in_next(p);
  bool bools = in_is_word(p, "i1");
  if (!bools && !in_is_word(p, "i64")) {
    in_skip_to(p, end);
    return in_other(p, from, end);
  }
  in_next(p);
  VEC(int64_t) ints = {0};
  VEC_PUSH(p->scratch, &ints, 0);
  ints.count = 0;
  if (!in_is(p, '>')) {
    in_expect(p, ':', "':' or '>' of an array");
    do {
      bool word = bools && in_is(p, IN_WORD);
      int64_t value = word ? in_is_word(p, "true") : 0;
      if (word && !value && !in_is_word(p, "false")) in_fail_wanted(p, "true or false");
      if (word) in_next(p);
      else value = in_integer(p);
      VEC_PUSH(p->scratch, &ints, value);
    } while (in_accept(p, ','));
  }
  in_expect(p, '>', "'>' of an array");
  return ir_attr_new(p->m, &(ir_attr_data){.kind = bools ? IR_ATTR_BOOLS : IR_ATTR_I64S,
                                           .count = (int32_t)ints.count,
                                           .ints = ints.at});
}

/* ---- containers ---- */
static ir_attr array(in_parser *p) {
  uint32_t first = p->items.count;
  in_next(p);
  for (bool more = !in_accept(p, ']'); more; more = in_more(p, ']')) {
    ir_attr item = in_attribute(p);
    VEC_PUSH(p->scratch, &p->items, item);
  }
  uint32_t n = p->items.count - first;
  p->items.count = first;
  return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_ARRAY,
                                           .count = (int32_t)n,
                                           .items = n ? p->items.at + first : &(ir_attr){0}});
}

static ir_named_attr dict_entry(in_parser *p) {
  ir_named_attr entry = {0};
  if (in_is(p, IN_STRING)) entry.name = in_unescape(p, p->token.at, p->token.length);
  else if (in_is(p, IN_WORD)) entry.name = in_token_text(p);
  else in_fail_wanted(p, "an attribute's name");
  in_next(p);
  entry.value = in_accept(p, '=') ? in_attribute(p)
                                  : ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_UNIT});
  return entry;
}

/* Puts the newest entry in its place among those above `first`. */
static void sort_newest(in_parser *p, uint32_t first, const char *at) {
  uint32_t i = p->entries.count - 1;
  ir_named_attr entry = p->entries.at[i];
  for (; i > first; i--) {
    int order = strcmp(ir_text(p->m, p->entries.at[i - 1].name), ir_text(p->m, entry.name));
    if (order == 0)
      in_fail(p, at, "the attribute '%s' stands twice in a dictionary", ir_text(p->m, entry.name));
    if (order < 0) break;
    p->entries.at[i] = p->entries.at[i - 1];
  }
  p->entries.at[i] = entry;
}

uint32_t in_dict(in_parser *p) {
  uint32_t first = p->entries.count;
  for (bool more = in_begin_list(p, '{', '}', "'{' of a dictionary"); more;
       more = in_more(p, '}')) {
    const char *at = p->token.at;
    ir_named_attr entry = dict_entry(p);
    VEC_PUSH(p->scratch, &p->entries, entry);
    sort_newest(p, first, at);
  }
  CTX_CHECK(p->ctx, p->entries.count >= first); /* values took theirs away */
  return p->entries.count - first;
}

ir_attr in_dict_attr(in_parser *p) {
  uint32_t n = in_dict(p);
  p->entries.count -= n;
  return ir_attr_new(
      p->m, &(ir_attr_data){.kind = IR_ATTR_DICT,
                            .count = (int32_t)n,
                            .entries = n ? p->entries.at + p->entries.count : &(ir_named_attr){0}});
}

/* ---- strings and symbols ---- */
static ir_attr string(in_parser *p) {
  const char *from = p->token.at;
  ir_str text = in_unescape(p, p->token.at, p->token.length);
  in_next(p);
  if (in_accept(p, ':')) {
    in_type(p);
    return in_other(p, from, p->last);
  }
  return in_string_attr(p, text);
}

static ir_attr symbol(in_parser *p) {
  const char *from = p->token.at;
  ir_str name = in_symbol(p);
  if (!in_is(p, IN_COLON_COLON))
    return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_SYMBOL, .text = name});
  while (in_accept(p, IN_COLON_COLON)) in_symbol(p);
  return in_other(p, from, p->last);
}

/* ---- kept as text ---- */
/* An optional `: type` belongs to the attribute. */
static ir_attr rest_as_text(in_parser *p, const char *from) {
  if (in_accept(p, ':')) p->value_type = in_type(p);
  return in_other(p, from, p->last);
}

static ir_attr extended(in_parser *p) {
  in_token t = p->token;
  bool dotted = memchr(t.at, '.', t.length) != NULL;
  in_next(p);
  if (in_is(p, '<')) {
    in_skip_group(p);
    return rest_as_text(p, t.at);
  }
  if (dotted) return rest_as_text(p, t.at);
  in_alias *alias = in_alias_find(p, '#', t.at + 1, t.length - 1);
  if (!alias) in_fail(p, t.at, "found '%.*s', an alias that is not defined", (int)t.length, t.at);
  in_alias_read(p, alias, '#');
  if (alias->attr) return alias->attr;
  strbuf b = strbuf_make(p->scratch); /* a location as an attribute */
  strbuf_printf(&b, "loc(%s)", ir_text(p->m, alias->text));
  return ir_attr_other(p->m, b.text);
}

/* dense_resource<...>, sparse<...>, affine_map<...>, strided<...>, loc(...), distinct[0]<...> */
static ir_attr word_as_text(in_parser *p) {
  const char *from = p->token.at;
  if (in_is_word(p, "dense_resource"))
    in_fail_status(p, from, WEIR_UNIMPLEMENTED,
                   "a constant whose value lies in a dialect resource (print the program with its "
                   "constants inline)");
  in_next(p);
  if (!in_is(p, '<') && !in_is(p, '(') && !in_is(p, '['))
    in_seek(p, from), in_fail_wanted(p, "an attribute");
  in_skip_group(p);
  if (in_is(p, '<')) in_skip_group(p);
  return rest_as_text(p, from);
}

static ir_attr word(in_parser *p) {
  if (in_accept_word(p, "true")) return ir_attr_bool(p->m, true);
  if (in_accept_word(p, "false")) return ir_attr_bool(p->m, false);
  if (in_accept_word(p, "unit")) return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_UNIT});
  if (in_is_word(p, "dense")) return in_dense(p);
  if (in_is_word(p, "array")) return dense_array(p);
  if (in_is_type_start(p)) {
    ir_type type = in_type(p);
    return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type});
  }
  return word_as_text(p);
}

ir_attr in_attribute(in_parser *p) {
  ir_attr a;
  in_enter(p);
  switch (p->token.kind) {
    case '[': a = array(p); break;
    case '{': a = in_dict_attr(p); break;
    case '-':
    case IN_INTEGER:
    case IN_FLOAT: a = number(p); break;
    case IN_STRING: a = string(p); break;
    case IN_AT: a = symbol(p); break;
    case IN_HASH: a = extended(p); break;
    case IN_WORD: a = word(p); break;
    case '(':
    case IN_BANG:
      a = ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = in_type(p)});
      break;
    default: in_fail_wanted(p, "an attribute");
  }
  in_leave(p);
  return a;
}
