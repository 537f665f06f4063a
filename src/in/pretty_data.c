/* Pretty form: constants, comparison, slices, tuples, calls. */
#include <stdio.h>

#include "in/pretty.h"

/* The value, and its type. */
static void typed_value(in_parser *p, in_op *op, bool is_tensor) {
  p->value_type = IR_NONE;
  const char *at = p->token.at;
  ir_attr value = in_attribute(p);
  const ir_attr_data *d = ir_attr_get(p->m, value);
  bool is_text = d->kind == IR_ATTR_OTHER;
  ir_type type = is_text                   ? p->value_type
                 : d->kind == IR_ATTR_BOOL ? ir_attr_scalar(p->m, IR_I1)
                                           : d->type;
  if (!type || (is_tensor && !is_text && d->kind != IR_ATTR_DENSE))
    in_fail(p, at, is_tensor ? "a constant without a tensor type" : "a constant without a type");
  in_attr(p, op, "value", value);
  in_result(p, op, type);
}

/* stablehlo.constant dense<...> : type; older printers: stablehlo.constant() <{value = ...}> : ()
 * -> type */
void in_asm_constant(in_parser *p, in_op *op) {
  if (in_is(p, '(')) {
    in_generic_rest(p, op);
    return;
  }
  in_attr_dict(p, op);
  typed_value(p, op, true);
}

/* dense<1> : tensor<2xi64>, 3 : index, true */
void in_asm_arith_constant(in_parser *p, in_op *op) {
  in_attr_dict(p, op);
  typed_value(p, op, false);
}

/* LT, %a, %b, FLOAT */
void in_asm_compare(in_parser *p, in_op *op) {
  in_attr(p, op, "comparison_direction", in_enum(p, "comparison_direction"));
  for (int i = 0; i < 2; i++) {
    in_expect(p, ',', "','");
    in_add_operand(p, op);
  }
  if (in_accept(p, ',')) in_attr(p, op, "compare_type", in_enum(p, "comparison_type"));
  in_dict_and_signature(p, op);
}

/* %a [start:limit:stride, ...] */
void in_asm_slice(in_parser *p, in_op *op) {
  in_int_list start = {0}, limit = {0}, stride = {0};
  in_operands(p, op);
  for (bool more = in_begin_list(p, '[', ']', "'[' of the slice's ranges"); more;
       more = in_more(p, ']')) {
    int64_t n = in_integer(p);
    VEC_PUSH(p->scratch, &start, n);
    in_expect(p, ':', "':'");
    n = in_integer(p);
    VEC_PUSH(p->scratch, &limit, n);
    n = in_accept(p, ':') ? in_integer(p) : 1;
    VEC_PUSH(p->scratch, &stride, n);
  }
  in_attr(p, op, "start_indices", ir_attr_i64s(p->m, start.at, (int32_t)start.count));
  in_attr(p, op, "limit_indices", ir_attr_i64s(p->m, limit.at, (int32_t)limit.count));
  in_attr(p, op, "strides", ir_attr_i64s(p->m, stride.at, (int32_t)stride.count));
  in_dict_and_signature(p, op);
}

/* %a, format = e5m10 */
void in_asm_reduce_precision(in_parser *p, in_op *op) {
  int exponent, mantissa, length = -1;
  char format[16] = {0};
  in_add_operand(p, op);
  in_expect(p, ',', "','");
  in_key(p, "format");
  if (in_is(p, IN_WORD) && p->token.length < sizeof format)
    memcpy(format, p->token.at, p->token.length);
  if (sscanf(format, "e%4dm%4d%n", &exponent, &mantissa, &length) < 2 ||
      length != (int)strlen(format))
    in_fail_wanted(p, "a format such as e5m10");
  in_next(p);
  in_attr(p, op, "exponent_bits", ir_attr_int(p->m, exponent, IR_I32));
  in_attr(p, op, "mantissa_bits", ir_attr_int(p->m, mantissa, IR_I32));
  in_attr_dict(p, op);
  in_same_type(p, op);
}

/* %a, %b : tuple<type, type> */
void in_asm_tuple(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the tuple's type");
  const char *at = p->token.at;
  ir_type type = in_type(p);
  const ir_type_data *t = ir_type_get(p->m, type);
  if (t->kind != IR_TYPE_TUPLE || (uint32_t)t->n_types != op->operands.count)
    in_fail(p, at, "wanted a tuple of %u members", op->operands.count);
  for (uint32_t i = 0; i < op->operands.count; i++) in_check_operand(p, op, i, t->types[i]);
  in_result(p, op, type);
}

/* %a[0] : (type) -> type */
void in_asm_get_tuple_element(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_expect(p, '[', "'['");
  in_attr(p, op, "index", ir_attr_int(p->m, in_integer(p), IR_I32));
  in_expect(p, ']', "']'");
  in_dict_and_signature(p, op);
}

/* {attributes} %a, %b : type, type; without operands: () */
void in_asm_barrier(in_parser *p, in_op *op) {
  in_attr_dict(p, op);
  if (in_accept(p, '(')) {
    in_expect(p, ')', "')'");
    return;
  }
  in_operands(p, op);
  in_expect(p, ':', "':' and the operands' types");
  in_operand_types(p, op, "operands", true);
}

/* ---- calls ---- */
/* @f(%a) {attributes} : signature */
void in_asm_call(in_parser *p, in_op *op) {
  if (!in_is(p, IN_AT)) in_fail_wanted(p, "the name of a function");
  in_attr(p, op, "callee", in_attribute(p));
  in_bracketed_operands(p, op);
  in_dict_and_signature(p, op);
}

void in_asm_custom_call(in_parser *p, in_op *op) {
  ir_str target = in_symbol(p);
  in_attr(p, op, "call_target_name", in_string_attr(p, target));
  in_bracketed_operands(p, op);
  in_dict_and_signature(p, op);
}

/* "name" %a, %b {attributes} : signature */
void in_asm_composite(in_parser *p, in_op *op) {
  in_attr(p, op, "name", in_quoted(p, "the composite's name"));
  in_operands(p, op);
  in_dict_and_signature(p, op);
}
