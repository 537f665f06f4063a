/* Pretty form of what has regions: module, func, reduce, while; and Shardy's ops. */
#include "in/pretty.h"

typedef VEC(in_arg) arg_list;

static void attributes_keyword(in_parser *p, in_op *op) {
  if (in_accept_word(p, "attributes")) in_attr_dict(p, op);
}

/* module @name attributes {...} {...} */
void in_asm_module(in_parser *p, in_op *op) {
  if (in_is(p, IN_AT)) in_attr(p, op, "sym_name", in_string_attr(p, in_symbol(p)));
  attributes_keyword(p, op);
  in_make(p, op, 1);
  in_region(p, op, 0, NULL, 0);
}

/* ---- func.func public @f(%a: type {...} loc(...)) -> (type {...}) attributes {...} {...} ---- */
typedef struct function {
  arg_list args;
  VEC(ir_attr) arg_attrs, result_attrs;
  VEC(ir_type) types; /* inputs, then results */
  bool any_arg_attrs, any_result_attrs;
} function;

/* A bare result type has no attributes: a '{' behind it is the body's. */
static ir_attr optional_dict(in_parser *p, bool may_be, bool *any) {
  if (!may_be || !in_is(p, '{'))
    return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_DICT, .entries = &(ir_named_attr){0}});
  ir_attr dict = in_dict_attr(p);
  *any = *any || ir_attr_get(p->m, dict)->count > 0;
  return dict;
}

static void parameter(in_parser *p, function *f) {
  in_arg arg = {.name = p->token};
  if (in_accept(p, IN_PERCENT)) in_expect(p, ':', "':' and the argument's type");
  else arg.name.length = 0; /* a declaration */
  arg.type = in_type(p);
  ir_attr attrs = optional_dict(p, true, &f->any_arg_attrs);
  if (in_is_location(p)) arg.location = in_location(p);
  VEC_PUSH(p->scratch, &f->args, arg);
  VEC_PUSH(p->scratch, &f->arg_attrs, attrs);
  VEC_PUSH(p->scratch, &f->types, arg.type);
}

static void function_result(in_parser *p, function *f, bool may_have_attrs) {
  ir_type type = in_type(p);
  VEC_PUSH(p->scratch, &f->types, type);
  ir_attr attrs = optional_dict(p, may_have_attrs, &f->any_result_attrs);
  VEC_PUSH(p->scratch, &f->result_attrs, attrs);
}

static void function_type(in_parser *p, function *f) {
  for (bool more = in_begin_list(p, '(', ')', "'(' and the function's arguments"); more;
       more = in_more(p, ')'))
    parameter(p, f);
  if (!in_accept(p, IN_ARROW)) return;
  if (!in_accept(p, '(')) {
    function_result(p, f, false);
    return;
  }
  for (bool more = !in_accept(p, ')'); more; more = in_more(p, ')')) function_result(p, f, true);
}

static void function_attributes(in_parser *p, in_op *op, const function *f) {
  ir_type type = ir_type_intern(p->m, &(ir_type_data){.kind = IR_TYPE_FUNCTION,
                                                      .n_types = (int32_t)f->args.count,
                                                      .n_results = (int32_t)f->result_attrs.count,
                                                      .types = f->types.at});
  in_attr(p, op, "function_type",
          ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type}));
  if (f->any_arg_attrs)
    in_attr(p, op, "arg_attrs", in_array_attr(p, f->arg_attrs.at, f->arg_attrs.count));
  if (f->any_result_attrs)
    in_attr(p, op, "res_attrs", in_array_attr(p, f->result_attrs.at, f->result_attrs.count));
}

static void visibility(in_parser *p, in_op *op) {
  if (!in_is_word(p, "public") && !in_is_word(p, "private") && !in_is_word(p, "nested")) return;
  in_attr(p, op, "sym_visibility", in_string_attr(p, in_token_text(p)));
  in_next(p);
}

void in_asm_func(in_parser *p, in_op *op) {
  function f = {0};
  visibility(p, op);
  in_attr(p, op, "sym_name", in_string_attr(p, in_symbol(p)));
  function_type(p, &f);
  function_attributes(p, op, &f);
  attributes_keyword(p, op);
  in_make(p, op, 1);
  if (!in_is(p, '{')) return;
  for (uint32_t i = 0; i < f.args.count; i++)
    if (f.args.at[i].name.length == 0)
      in_fail(p, f.args.at[i].name.at, "an argument without a name in a function with a body");
  in_region(p, op, 0, f.args.at, f.args.count);
}

/* ---- ml_program ---- */
/* private mutable @name(value) : type */
void in_asm_global(in_parser *p, in_op *op) {
  visibility(p, op);
  if (in_accept_word(p, "mutable"))
    in_attr(p, op, "is_mutable", ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_UNIT}));
  in_attr(p, op, "sym_name", in_string_attr(p, in_symbol(p)));
  if (in_accept(p, '(')) {
    in_attr(p, op, "value", in_attribute(p));
    in_expect(p, ')', "')' behind the initial value");
  }
  in_expect(p, ':', "':' and the type");
  in_attr(p, op, "type", in_attribute(p));
  in_attr_dict(p, op);
}

static void global_name(in_parser *p, in_op *op) {
  if (!in_is(p, IN_AT)) in_fail_wanted(p, "the name of a global");
  in_attr(p, op, "global", in_attribute(p));
}

/* @name : type */
void in_asm_global_load(in_parser *p, in_op *op) {
  global_name(p, op);
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the type");
  in_result(p, op, in_type(p));
}

/* @name = %a : type */
void in_asm_global_store(in_parser *p, in_op *op) {
  global_name(p, op);
  in_expect(p, '=', "'=' and the value");
  in_add_operand(p, op);
  in_attr_dict(p, op);
  in_expect(p, ':', "':' and the type");
  in_check_operand(p, op, 0, in_type(p));
}

/* ---- stablehlo.reduce(%a init: %z), (%b init: %y) ... ---- */
static void reduce_operands(in_parser *p, in_op *op) {
  VEC(ir_value) inits = {0};
  do {
    in_expect(p, '(', "'(' and an operand");
    in_add_operand(p, op);
    in_expect_word(p, "init");
    in_expect(p, ':', "':'");
    ir_value v = in_operand(p);
    VEC_PUSH(p->scratch, &inits, v);
    in_expect(p, ')', "')'");
  } while (in_accept(p, ','));
  for (uint32_t i = 0; i < inits.count; i++) VEC_PUSH(p->scratch, &op->operands, inits.at[i]);
}

static void reduce_dimensions(in_parser *p, in_op *op) {
  in_expect_word(p, "across");
  in_key(p, "dimensions");
  in_attr(p, op, "dimensions", in_i64s(p));
  in_dict_and_signature(p, op);
}

static ir_kind reducer(in_parser *p) {
  ir_kind kind = in_is(p, IN_WORD) ? ir_kind_find(p->token.at, p->token.length) : IR_OP_UNKNOWN;
  if (!ir_is_monoid(kind)) in_fail_wanted(p, "a commutative StableHLO op of two operands");
  in_next(p);
  return kind;
}

/* The region that `applies` stands for. All of it has the reduce's location. */
static void applied_region(in_parser *p, in_op *op, ir_kind kind) {
  if (op->operands.count == 0) in_fail(p, op->at, "a reduction of nothing");
  ir_type_data element = *ir_type_at(p->m, op->operands.at[0]);
  element.rank = 0, element.encoding = IR_NONE;
  if (element.kind != IR_TYPE_TENSOR) in_fail(p, op->at, "a reduction of what is no tensor");
  ir_type type = ir_type_intern(p->m, &element);
  in_make(p, op, 1);
  ir_block block = ir_region_block(p->m, op->id, 0);
  ir_value args[2] = {ir_block_arg(p->m, block, type), ir_block_arg(p->m, block, type)};
  for (int i = 0; i < 2; i++) ir_value_get(p->m, args[i])->location = op->location;
  ir_builder b = {p->m, block, op->location};
  ir_value result = ir_build(&b, kind, 2, args, type, 0, NULL);
  ir_build_return(&b, IR_OP_RETURN, &result, 1);
}

/* reducer(%a: type, %b: type) (%c: type, %d: type) {...}: all the lefts, then all the rights. */
static void reducer_region(in_parser *p, in_op *op) {
  arg_list args = {0}, rights = {0};
  in_expect_word(p, "reducer");
  while (in_accept(p, '(')) {
    in_arg arg = in_block_argument(p);
    VEC_PUSH(p->scratch, &args, arg);
    in_expect(p, ',', "','");
    arg = in_block_argument(p);
    VEC_PUSH(p->scratch, &rights, arg);
    in_expect(p, ')', "')'");
  }
  for (uint32_t i = 0; i < rights.count; i++) VEC_PUSH(p->scratch, &args, rights.at[i]);
  in_make(p, op, 1);
  in_region(p, op, 0, args.at, args.count);
}

void in_asm_reduce(in_parser *p, in_op *op) {
  reduce_operands(p, op);
  if (in_accept_word(p, "applies")) {
    ir_kind kind = reducer(p);
    reduce_dimensions(p, op);
    if (in_is_location(p)) op->location = in_location(p), op->has_location = true;
    applied_region(p, op, kind);
  } else {
    reduce_dimensions(p, op);
    reducer_region(p, op);
  }
}

/* ---- stablehlo.while(%x = %0, ...) : type, ... attributes {...} cond {...} do {...} ---- */
void in_asm_while(in_parser *p, in_op *op) {
  arg_list args = {0};
  for (bool more = in_begin_list(p, '(', ')', "'('"); more; more = in_more(p, ')')) {
    in_arg arg = {.name = p->token};
    in_expect(p, IN_PERCENT, "a loop variable (%name)");
    in_expect(p, '=', "'=' and its initial value");
    ir_value v = in_operand(p);
    arg.type = ir_type_of(p->m, v);
    VEC_PUSH(p->scratch, &op->operands, v);
    VEC_PUSH(p->scratch, &args, arg);
  }
  if (args.count) {
    in_expect(p, ':', "':' and the loop variables' types");
    in_operand_types(p, op, "loop variables", true);
  }
  attributes_keyword(p, op);
  in_make(p, op, 2);
  in_expect_word(p, "cond");
  in_region(p, op, 0, args.at, args.count);
  in_expect_word(p, "do");
  in_region(p, op, 1, args.at, args.count);
}

/* ---- Shardy: the attributes stand without their names ---- */
static ir_attr prefixed(in_parser *p, const char *prefix, const char *suffix, char open) {
  if (!in_is(p, open)) in_fail_wanted(p, "an attribute of Shardy");
  return in_prefixed(p, prefix, suffix);
}

/* @mesh = <["x"=2]> {attributes} */
void in_asm_sdy_mesh(in_parser *p, in_op *op) {
  in_attr(p, op, "sym_name", in_string_attr(p, in_symbol(p)));
  in_expect(p, '=', "'='");
  in_attr(p, op, "mesh", prefixed(p, "#sdy.mesh", "", '<'));
  in_attr_dict(p, op);
}

/* %a <@mesh, [{"x"}, {}]> {attributes} : type */
void in_asm_sdy_constraint(in_parser *p, in_op *op) {
  in_operands(p, op);
  in_attr(p, op, "sharding", prefixed(p, "#sdy.sharding", "", '<'));
  in_attr_dict(p, op);
  in_same_type(p, op);
}

/* (%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%x: type) {...} : signature */
void in_asm_sdy_manual(in_parser *p, in_op *op) {
  arg_list args = {0};
  in_bracketed_operands(p, op);
  in_key(p, "in_shardings");
  in_attr(p, op, "in_shardings", prefixed(p, "#sdy.sharding_per_value<", ">", '['));
  in_key(p, "out_shardings");
  in_attr(p, op, "out_shardings", prefixed(p, "#sdy.sharding_per_value<", ">", '['));
  in_key(p, "manual_axes");
  in_attr(p, op, "manual_axes", prefixed(p, "#sdy<manual_axes", ">", '{'));
  for (bool more = in_begin_list(p, '(', ')', "'(' and the region's arguments"); more;
       more = in_more(p, ')')) {
    in_arg arg = in_block_argument(p);
    VEC_PUSH(p->scratch, &args, arg);
  }
  in_make(p, op, 1);
  in_region(p, op, 0, args.at, args.count);
  in_dict_and_signature(p, op);
}
