/* The pretty form: dispatch, what the formats share, and the formats of ops that are operands,
 * `key = value`s, attributes and types.
 * Source: assemblyFormat in StableHLO's and CHLO's op definitions. */
#include "in/pretty.h"

typedef void asm_fn(in_parser *p, in_op *op);
static asm_fn *const formats[IR_OP_COUNT] = {
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = in_asm_##asm_,
#include "ir/ops.def"
#undef OP
};

/* Within func.func and builtin.module the dialect may be left out: return, call, func, module. */
static ir_str full_name(in_parser *p) {
  static const char *const short_names[][2] = {{"return", "func.return"},
                                               {"call", "func.call"},
                                               {"func", "func.func"},
                                               {"module", "builtin.module"}};
  for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
    if (in_is_word(p, short_names[i][0])) return ir_intern_string(p->m, short_names[i][1]);
  if (!memchr(p->token.at, '.', p->token.length)) in_fail_wanted(p, "an op");
  return in_token_text(p);
}

static _Noreturn void fail_unknown(in_parser *p, const in_op *op) {
  in_fail_status(p, op->at, WEIR_UNIMPLEMENTED,
                 "the pretty form of '%s' is not known; print the program in generic form",
                 ir_text(p->m, op->name));
}

/* Of ops that are kept as they came, from the generic form as from this one; NULL: not known. */
static asm_fn *kept_format(const in_parser *p, ir_str name) {
  static const struct {
    const char *name;
    asm_fn *read;
  } kept[] = {{"ml_program.global", in_asm_global},
              {"ml_program.global_load", in_asm_global_load},
              {"ml_program.global_load_const", in_asm_global_load},
              {"ml_program.global_store", in_asm_global_store}};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (!strcmp(ir_text(p->m, name), kept[i].name)) return kept[i].read;
  return NULL;
}

void in_pretty(in_parser *p, in_op *op) {
  op->name = full_name(p);
  op->kind = in_kind(p, op->name);
  asm_fn *read = op->kind == IR_OP_UNKNOWN ? kept_format(p, op->name) : formats[op->kind];
  if (!read) fail_unknown(p, op);
  in_next(p);
  read(p, op);
}

void in_asm_none(in_parser *p, in_op *op) { fail_unknown(p, op); }

/* ---- pieces ---- */
void in_key(in_parser *p, const char *key) {
  in_expect_word(p, key);
  in_expect(p, '=', "'='");
}

bool in_accept_key(in_parser *p, const char *key) {
  if (!in_is_word(p, key)) return false;
  in_key(p, key);
  return true;
}

void in_ints(in_parser *p, in_int_list *out) {
  for (bool more = in_begin_list(p, '[', ']', "'[' of a list of numbers"); more;
       more = in_more(p, ']')) {
    int64_t value = in_integer(p);
    VEC_PUSH(p->scratch, out, value);
  }
}

ir_attr in_i64s(in_parser *p) {
  in_int_list ints = {0};
  in_ints(p, &ints);
  return ir_attr_i64s(p->m, ints.at, (int32_t)ints.count);
}

ir_attr in_enum(in_parser *p, const char *name) {
  if (!in_is(p, IN_WORD)) in_fail_wanted(p, "a keyword");
  strbuf b = strbuf_make(p->scratch);
  strbuf_printf(&b, "#stablehlo<%s %.*s>", name, (int)p->token.length, p->token.at);
  in_next(p);
  return ir_attr_other(p->m, b.text);
}

ir_attr in_prefixed(in_parser *p, const char *prefix, const char *suffix) {
  const char *from = p->token.at;
  strbuf b = strbuf_make(p->scratch);
  in_skip_group(p);
  strbuf_puts(&b, prefix);
  in_verbatim(p, from, p->last, &b);
  strbuf_puts(&b, suffix);
  return ir_attr_other(p->m, b.text);
}

ir_attr in_array_attr(in_parser *p, const ir_attr *items, uint32_t count) {
  return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_ARRAY,
                                           .count = (int32_t)count,
                                           .items = count ? items : &(ir_attr){0}});
}

void in_same_type(in_parser *p, in_op *op) {
  in_expect(p, ':', "':' and the op's type");
  if (in_is(p, '(')) return in_function_signature(p, op);
  ir_type type = in_type(p);
  for (uint32_t i = 0; i < op->operands.count; i++) in_check_operand(p, op, i, type);
  in_result(p, op, type);
}

/* ---- %a, %b {attributes} : type; or a signature; or, in CHLO, `: type, type -> type` ---- */
static ir_type real_of_complex(in_parser *p, ir_type type) {
  const ir_type_data *t = ir_type_get(p->m, type);
  if (t->kind != IR_TYPE_TENSOR || (t->dtype != IR_C64 && t->dtype != IR_C128)) return type;
  return ir_tensor_with_dtype(p->m, type, ir_real_dtype(t->dtype));
}

void in_asm_elementwise(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the op's type");
  if (in_is(p, '(')) return in_function_signature(p, op);
  ir_type type = in_type(p), operand = op->kind == IR_OP_COMPLEX ? real_of_complex(p, type) : type;
  if (in_is(p, ',') || in_is(p, IN_ARROW)) {
    uint32_t n = 0;
    in_check_operand(p, op, n++, type);
    while (in_accept(p, ',')) in_check_operand(p, op, n++, in_type(p));
    in_check_type_count(p, op, "operands", n);
    in_expect(p, IN_ARROW, "'->' and the result's type");
    return in_results(p, op);
  }
  for (uint32_t i = 0; i < op->operands.count; i++) in_check_operand(p, op, i, operand);
  in_result(p, op, type);
}

void in_asm_select(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the op's types");
  if (in_is(p, '(')) return in_function_signature(p, op);
  in_check_operand(p, op, 0, in_type(p));
  in_expect(p, ',', "','");
  ir_type type = in_type(p);
  for (uint32_t i = 1; i < op->operands.count; i++) in_check_operand(p, op, i, type);
  in_result(p, op, type);
}

void in_bracketed_operands(in_parser *p, in_op *op) {
  in_expect(p, '(', "'(' and operands");
  in_operands(p, op);
  in_expect(p, ')', "')' or ','");
}

void in_operand_types(in_parser *p, in_op *op, const char *what, bool are_results) {
  uint32_t n = 0;
  do {
    ir_type type = in_type(p);
    in_check_operand(p, op, n++, type);
    if (are_results) in_result(p, op, type);
  } while (in_accept(p, ','));
  in_check_type_count(p, op, what, n);
}

void in_asm_terminator(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_attr_dict(p, op);
  if (in_accept(p, ':')) in_operand_types(p, op, "operands", false);
  else in_check_type_count(p, op, "operands", 0);
}

/* ---- %a, key = value, key = value {attributes} : types ---- */
typedef enum value_kind { INT_LIST, INT, BOOL, KEYWORD, STRING } value_kind;
typedef struct key {
  const char *key, *attribute;
  value_kind kind;
  bool optional;
} key;

ir_attr in_quoted(in_parser *p, const char *what) {
  if (!in_is(p, IN_STRING)) in_fail_wanted(p, what);
  ir_str text = in_unescape(p, p->token.at, p->token.length);
  in_next(p);
  return in_string_attr(p, text);
}

static ir_attr key_value(in_parser *p, const key *k) {
  switch (k->kind) {
    case INT_LIST: return in_i64s(p);
    case INT: return ir_attr_int(p->m, in_integer(p), IR_I64);
    case KEYWORD: return in_enum(p, k->attribute);
    case STRING: return in_quoted(p, "a string");
    case BOOL: break;
  }
  return in_attribute(p);
}

/* The comma in front of a key has been read if operands came before it. */
static void keyed(in_parser *p, in_op *op, const key *keys, uint32_t count) {
  bool more = true;
  while (more && in_is(p, IN_PERCENT)) {
    in_add_operand(p, op);
    more = in_accept(p, ',');
  }
  for (uint32_t i = 0; i < count; i++) {
    if (keys[i].optional && !(more && in_is_word(p, keys[i].key))) continue;
    if (!more) in_fail_wanted(p, "','");
    in_key(p, keys[i].key);
    in_attr(p, op, keys[i].attribute, key_value(p, &keys[i]));
    more = i + 1 < count && in_accept(p, ',');
  }
  in_attr_dict(p, op);
}

#define KEYED(name, types, ...)                                                                    \
  void in_asm_##name(in_parser *p, in_op *op) {                                                    \
    static const key keys[] = {__VA_ARGS__};                                                       \
    keyed(p, op, keys, sizeof keys / sizeof *keys);                                                \
    types(p, op);                                                                                  \
  }

KEYED(iota, in_same_type, {"dim", "iota_dimension", INT})
KEYED(dynamic_iota, in_signature, {"dim", "iota_dimension", INT})
KEYED(broadcast, in_signature, {"sizes", "broadcast_sizes", INT_LIST})
KEYED(broadcast_in_dim, in_signature, {"dims", "broadcast_dimensions", INT_LIST})
KEYED(dynamic_broadcast_in_dim, in_signature, {"dims", "broadcast_dimensions", INT_LIST})
KEYED(concatenate, in_signature, {"dim", "dimension", INT})
KEYED(dynamic_slice, in_signature, {"sizes", "slice_sizes", INT_LIST})
KEYED(get_dimension_size, in_signature, {"dim", "dimension", INT})
KEYED(pad, in_signature, {"low", "edge_padding_low", INT_LIST},
      {"high", "edge_padding_high", INT_LIST}, {"interior", "interior_padding", INT_LIST})
KEYED(reverse, in_same_type, {"dims", "dimensions", INT_LIST})
KEYED(transpose, in_signature, {"dims", "permutation", INT_LIST})
KEYED(cholesky, in_same_type, {"lower", "lower", BOOL, true})
KEYED(fft, in_signature, {"type", "fft_type", KEYWORD}, {"length", "fft_length", INT_LIST})
KEYED(rng, in_signature, {"distribution", "rng_distribution", KEYWORD})
KEYED(rng_bit_generator, in_signature, {"algorithm", "rng_algorithm", KEYWORD})
KEYED(einsum, in_signature, {"config", "einsum_config", STRING})

/* chlo.top_k(%a, k = 2) : type -> (type, type) */
void in_asm_top_k(in_parser *p, in_op *op) {
  static const key keys[] = {{"k", "k", INT}, {"is_stable", "is_stable", BOOL, true}};
  in_expect(p, '(', "'('");
  keyed(p, op, keys, 2);
  in_expect(p, ')', "')'");
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the op's types");
  in_check_operand(p, op, 0, in_type(p));
  in_expect(p, IN_ARROW, "'->' and the results' types");
  in_results(p, op);
}
