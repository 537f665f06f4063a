/* Pretty form: dot, dot_general, convolution. */
#include "in/pretty.h"

/* [HIGHEST, DEFAULT] */
static ir_attr precision(in_parser *p) {
  VEC(ir_attr) items = {0};
  for (bool more = in_begin_list(p, '[', ']', "'[' of the precision"); more;
       more = in_more(p, ']')) {
    ir_attr a = in_enum(p, "precision");
    VEC_PUSH(p->scratch, &items, a);
  }
  return in_array_attr(p, items.at, items.count);
}

/* <lhs_precision_type = f32, ...>: the attribute's text without #stablehlo.dot_algorithm */
static ir_attr algorithm(in_parser *p) {
  if (!in_is(p, '<')) in_fail_wanted(p, "'<' of the algorithm");
  return in_prefixed(p, "#stablehlo.dot_algorithm", "");
}

static void two_operands(in_parser *p, in_op *op) {
  for (int i = 0; i < 2; i++) {
    if (i) in_expect(p, ',', "','");
    in_add_operand(p, op);
  }
}

void in_asm_dot(in_parser *p, in_op *op) {
  two_operands(p, op);
  if (in_accept(p, ',')) {
    in_key(p, "precision");
    in_attr(p, op, "precision_config", precision(p));
  }
  in_dict_and_signature(p, op);
}

/* [0] x [0] */
static void dim_pair(in_parser *p, ir_ints *out_lhs, ir_ints *out_rhs) {
  in_int_list lhs = {0}, rhs = {0};
  in_ints(p, &lhs);
  in_expect_word(p, "x");
  in_ints(p, &rhs);
  *out_lhs = (ir_ints){(int32_t)lhs.count, lhs.at};
  *out_rhs = (ir_ints){(int32_t)rhs.count, rhs.at};
}

/* %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [0], precision = [...], algorithm =
 * <...> */
void in_asm_dot_general(in_parser *p, in_op *op) {
  ir_dot_numbers dims = {0};
  two_operands(p, op);
  while (in_accept(p, ',')) {
    if (!in_is(p, IN_WORD)) in_fail_wanted(p, "a keyword");
    if (in_accept_key(p, "batching_dims")) dim_pair(p, &dims.lhs_batch, &dims.rhs_batch);
    else if (in_accept_key(p, "contracting_dims"))
      dim_pair(p, &dims.lhs_contract, &dims.rhs_contract);
    else if (in_accept_key(p, "precision")) in_attr(p, op, "precision_config", precision(p));
    else if (in_accept_key(p, "algorithm")) in_attr(p, op, "algorithm", algorithm(p));
    else in_fail_wanted(p, "batching_dims, contracting_dims, precision or algorithm");
  }
  in_attr(p, op, "dot_dimension_numbers", ir_dot_dims_attr(p->m, &dims));
  in_dict_and_signature(p, op);
}

/* ---- convolution ---- */
/* [b, 0, 1, f]: words, numbers and '?' in brackets, spelled as MLIR spells them. */
static void dim_labels(in_parser *p, strbuf *b) {
  in_expect(p, '[', "'[' of dimension numbers");
  strbuf_putc(b, '[');
  for (bool first = true; !in_is(p, ']'); first = false) {
    if (!first) in_expect(p, ',', "']' or ','"), strbuf_puts(b, ", ");
    if (!in_is(p, IN_WORD) && !in_is(p, IN_INTEGER) && !in_is(p, '?'))
      in_fail_wanted(p, "a dimension");
    strbuf_add(b, p->token.at, p->token.length);
    in_next(p);
  }
  in_next(p);
  strbuf_putc(b, ']');
}

static ir_attr dimension_numbers(in_parser *p) {
  strbuf b = strbuf_make(p->scratch);
  strbuf_puts(&b, "#stablehlo.conv<");
  dim_labels(p, &b);
  in_expect_word(p, "x");
  strbuf_putc(&b, 'x');
  dim_labels(p, &b);
  in_expect(p, IN_ARROW, "'->'");
  strbuf_puts(&b, "->");
  dim_labels(p, &b);
  strbuf_putc(&b, '>');
  return ir_attr_other(p->m, b.text);
}

/* [[1, 2], [0, 0]] as dense<...> : tensor<Nx2xi64> */
static ir_attr padding(in_parser *p) {
  in_int_list flat = {0};
  const char *at = p->token.at;
  int64_t rows = 0;
  for (bool more = in_begin_list(p, '[', ']', "'[' of the padding"); more; more = in_more(p, ']')) {
    in_ints(p, &flat);
    if (flat.count != 2 * (uint64_t)++rows) in_fail(p, at, "padding that is no list of pairs");
  }
  bool splat = rows > 0;
  for (uint32_t i = 1; i < flat.count; i++) splat = splat && flat.at[i] == flat.at[0];
  ir_type type = ir_tensor(p->m, IR_I64, 2, (int64_t[]){rows, 2});
  return ir_attr_dense(p->m, type, rows ? flat.at : &rows, splat);
}

static ir_attr bools(in_parser *p) {
  in_int_list values = {0};
  for (bool more = in_begin_list(p, '[', ']', "'['"); more; more = in_more(p, ']')) {
    bool yes = in_accept_word(p, "true");
    if (!yes) in_expect_word(p, "false");
    VEC_PUSH(p->scratch, &values, yes);
  }
  return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_BOOLS,
                                           .count = (int32_t)values.count,
                                           .ints = values.count ? values.at : &(int64_t){0}});
}

static void window(in_parser *p, in_op *op) {
  for (bool more = in_begin_list(p, '{', '}', "'{' of the window"); more; more = in_more(p, '}')) {
    if (!in_is(p, IN_WORD)) in_fail_wanted(p, "a keyword");
    if (in_accept_key(p, "stride")) in_attr(p, op, "window_strides", in_i64s(p));
    else if (in_accept_key(p, "pad")) in_attr(p, op, "padding", padding(p));
    else if (in_accept_key(p, "lhs_dilate")) in_attr(p, op, "lhs_dilation", in_i64s(p));
    else if (in_accept_key(p, "rhs_dilate")) in_attr(p, op, "rhs_dilation", in_i64s(p));
    else if (in_accept_key(p, "reverse")) in_attr(p, op, "window_reversal", bools(p));
    else in_fail_wanted(p, "stride, pad, lhs_dilate, rhs_dilate or reverse");
  }
}

/* (%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} {attributes} : signature */
void in_asm_convolution(in_parser *p, in_op *op) {
  in_bracketed_operands(p, op);
  in_key(p, "dim_numbers");
  in_attr(p, op, "dimension_numbers", dimension_numbers(p));
  in_expect(p, ',', "','");
  in_key(p, "window");
  window(p, op);
  in_dict_and_signature(p, op);
}
