/* What all ops have in common: results = name ... location; operands, attributes, regions,
 * signatures. */
#include "in/parser.h"
#include "ir/print.h"

/* ---- frames ---- */
static in_op *push_frame(in_parser *p) {
  if (p->n_frames == p->frames.count)
    VEC_PUSH(p->scratch, &p->frames, ARENA_NEW(p->scratch, in_op));
  in_op *op = p->frames.at[p->n_frames++];
  op->operands.count = op->results.count = op->attrs.count = 0;
  op->id = op->location = op->name = IR_NONE;
  op->kind = IR_OP_UNKNOWN;
  op->has_location = false;
  op->at = p->token.at;
  return op;
}

/* What other front ends still write of an older dialect; a copy is nothing but its operand. */
static ir_kind find_kind(const char *name, size_t length) {
  static const struct {
    const char *name;
    ir_kind kind;
  } older[] = {{"mhlo.copy", IR_OP_OPTIMIZATION_BARRIER}, {"mhlo.erf", IR_OP_CHLO_ERF}};
  for (size_t i = 0; i < sizeof older / sizeof *older; i++)
    if (strlen(older[i].name) == length && !memcmp(older[i].name, name, length))
      return older[i].kind;
  return ir_kind_find(name, length);
}

ir_kind in_kind(in_parser *p, ir_str name) {
  while (p->kinds.count <= name) VEC_PUSH(p->scratch, &p->kinds, 0);
  uint16_t *known = &p->kinds.at[name];
  if (*known == 0)
    *known = (uint16_t)(1 + find_kind(ir_text(p->m, name), ir_text_length(p->m, name)));
  return (ir_kind)(*known - 1);
}

/* ---- values ---- */
static void define(in_parser *p, const in_token *name, ir_value first, uint32_t count) {
  const in_name *old = in_names_find(&p->values, name->at + 1, name->length - 1);
  if (old && old - p->values.entries.at >= p->scope_start)
    in_fail(p, name->at, "'%.*s' is defined twice", (int)name->length, name->at);
  in_names_put(p->scratch, &p->values, name->at + 1, name->length - 1, first, count);
}

ir_value in_operand(in_parser *p) {
  in_token t = p->token;
  if (!in_is(p, IN_PERCENT)) in_fail_wanted(p, "a value (%name)");
  const in_name *e = in_names_find(&p->values, t.at + 1, t.length - 1);
  if (!e || e - p->values.entries.at < p->floor)
    in_fail(p, t.at, "'%.*s' is used but not defined", (int)t.length, t.at);
  in_next(p);
  if (!in_is(p, IN_HASH) || p->token.at != t.at + t.length) return e->id;
  uint64_t index = 0;
  for (const char *s = p->token.at + 1; s < p->next && index <= e->count; s++)
    index = index * 10 + (uint64_t)(*s - '0');
  if (index >= e->count)
    in_fail(p, p->token.at, "'%.*s' has %u results", (int)t.length, t.at, e->count);
  in_next(p);
  return e->id + (uint32_t)index;
}

void in_add_operand(in_parser *p, in_op *op) {
  ir_value v = in_operand(p);
  VEC_PUSH(p->scratch, &op->operands, v);
}

void in_operands(in_parser *p, in_op *op) {
  if (!in_is(p, IN_PERCENT)) return;
  do {
    in_add_operand(p, op);
  } while (in_accept(p, ','));
}

/* ---- attributes ---- */
void in_attr(in_parser *p, in_op *op, const char *name, ir_attr value) {
  VEC_PUSH(p->scratch, &op->attrs, (ir_named_attr){ir_intern_string(p->m, name), value, true});
}

void in_take_entries(in_parser *p, in_op *op, uint32_t count, in_attr_class which) {
  CTX_CHECK(p->ctx, count <= p->entries.count);
  in_property_names names = {0};
  if (which == IN_MIXED && count) names = in_properties(op->kind);
  for (uint32_t i = p->entries.count - count; i < p->entries.count; i++) {
    ir_named_attr entry = p->entries.at[i];
    entry.property = which == IN_PROPERTIES || in_has_name(&names, ir_text(p->m, entry.name));
    VEC_PUSH(p->scratch, &op->attrs, entry);
  }
  p->entries.count -= count;
}

void in_attr_dict(in_parser *p, in_op *op) {
  if (in_is(p, '{')) in_take_entries(p, op, in_dict(p), IN_MIXED);
}

/* ---- types ---- */
void in_check_operand(in_parser *p, const in_op *op, uint32_t index, ir_type type) {
  if (index >= op->operands.count)
    in_fail(p, op->at, "%u operands, but types for more of them", op->operands.count);
  ir_type have = ir_type_of(p->m, op->operands.at[index]);
  if (have != type)
    in_fail(p, op->at, "operand %u is %s, but its type here is %s", index,
            ir_type_text(p->scratch, p->m, have), ir_type_text(p->scratch, p->m, type));
}

void in_result(in_parser *p, in_op *op, ir_type type) { VEC_PUSH(p->scratch, &op->results, type); }

void in_signature(in_parser *p, in_op *op) {
  in_expect(p, ':', "':' and the op's signature");
  in_function_signature(p, op);
}

void in_dict_and_signature(in_parser *p, in_op *op) {
  in_attr_dict(p, op);
  in_signature(p, op);
}

void in_check_type_count(in_parser *p, const in_op *op, const char *what, uint32_t n) {
  if (n != op->operands.count)
    in_fail(p, op->at, "%u %s, but types for %u", op->operands.count, what, n);
}

void in_results(in_parser *p, in_op *op) {
  if (!in_accept(p, '(')) return in_result(p, op, in_type(p));
  for (bool more = !in_accept(p, ')'); more; more = in_more(p, ')')) in_result(p, op, in_type(p));
}

void in_function_signature(in_parser *p, in_op *op) {
  uint32_t n = 0;
  for (bool more = in_begin_list(p, '(', ')', "'(' of the op's signature"); more;
       more = in_more(p, ')'))
    in_check_operand(p, op, n++, in_type(p));
  in_check_type_count(p, op, "operands", n);
  in_expect(p, IN_ARROW, "'->' of the op's signature");
  in_results(p, op);
}

/* ---- making ops ---- */
void in_make(in_parser *p, in_op *op, uint32_t n_regions) {
  CTX_CHECK(p->ctx, !op->id); /* made once */
  op->id = ir_op_new(p->m, IR_NONE,
                     &(ir_op_desc){.kind = op->kind,
                                   .name = ir_text(p->m, op->name),
                                   .n_operands = op->operands.count,
                                   .operands = op->operands.at,
                                   .n_regions = n_regions});
}

/* An op that was made for its regions gets the rest. */
static void complete(in_parser *p, const in_op *op) {
  ir_module *m = p->m;
  ir_op_data *d = ir_op_get(m, op->id);
  d->location = op->location;
  d->n_attrs = op->attrs.count;
  d->attrs = ARENA_COPY(m->arena, ir_named_attr, op->attrs.at, op->attrs.count);
  d->n_results = op->results.count;
  d->first_result = m->values.count;
  for (uint32_t i = 0; i < op->results.count; i++)
    VEC_PUSH(m->arena, &m->values,
             (ir_value_data){.type = op->results.at[i], .op = op->id, .index = i});
}

static void finish(in_parser *p, in_op *op, ir_block block) {
  if (!op->has_location && in_is_location(p)) op->location = in_location(p);
  const char *twice = in_sort_attrs(p->m, op->attrs.at, op->attrs.count);
  if (twice) in_fail(p, op->at, "the attribute '%s' is given twice", twice);
  if (op->id) {
    complete(p, op);
    ir_block_append(p->m, block, op->id);
    return;
  }
  op->id = ir_op_new(p->m, block,
                     &(ir_op_desc){.kind = op->kind,
                                   .name = ir_text(p->m, op->name),
                                   .n_operands = op->operands.count,
                                   .operands = op->operands.at,
                                   .n_results = op->results.count,
                                   .result_types = op->results.at,
                                   .n_attrs = op->attrs.count,
                                   .attrs = op->attrs.at,
                                   .location = op->location});
}

/* %0, %1:2 = */
static void result_names(in_parser *p) {
  do {
    in_result_name name = {p->token, 1};
    in_expect(p, IN_PERCENT, "a result's name");
    if (in_accept(p, ':')) {
      const char *at = p->token.at;
      int64_t count = in_integer(p);
      if (count < 1 || count > UINT16_MAX) in_fail(p, at, "a number of results out of range");
      name.count = (uint32_t)count;
    }
    VEC_PUSH(p->scratch, &p->result_names, name);
  } while (in_accept(p, ','));
  in_expect(p, '=', "'=' or ','");
}

static void define_results(in_parser *p, const in_op *op, uint32_t first_name) {
  uint32_t n = 0, first = ir_op_get(p->m, op->id)->first_result;
  for (uint32_t i = first_name; i < p->result_names.count; i++) n += p->result_names.at[i].count;
  if (first_name < p->result_names.count && n != op->results.count)
    in_fail(p, p->result_names.at[first_name].token.at, "names for %u results of an op that has %u",
            n, op->results.count);
  for (uint32_t i = first_name; i < p->result_names.count; i++) {
    const in_result_name *name = &p->result_names.at[i];
    define(p, &name->token, first, name->count);
    first += name->count;
  }
  p->result_names.count = first_name;
}

static void operation(in_parser *p, ir_block block) {
  uint32_t first_name = p->result_names.count;
  if (in_is(p, IN_PERCENT)) result_names(p);
  in_op *op = push_frame(p);
  if (in_is(p, IN_STRING)) in_generic(p, op);
  else if (in_is(p, IN_WORD)) in_pretty(p, op);
  else in_fail_wanted(p, "an op");
  finish(p, op, block);
  define_results(p, op, first_name);
  CTX_CHECK(p->ctx, p->n_frames > 0 && p->frames.at[p->n_frames - 1] == op); /* a stack */
  p->n_frames--;
}

/* ---- regions ---- */
in_arg in_block_argument(in_parser *p) {
  in_arg arg = {.name = p->token};
  in_expect(p, IN_PERCENT, "an argument (%name)");
  in_expect(p, ':', "':' and the argument's type");
  arg.type = in_type(p);
  if (in_is_location(p)) arg.location = in_location(p);
  return arg;
}

static void add_argument(in_parser *p, ir_block block, const in_arg *arg) {
  ir_value v = ir_block_arg(p->m, block, arg->type);
  ir_value_get(p->m, v)->location = arg->location;
  define(p, &arg->name, v, 1);
}

/* ^bb0(%a: type, ...): */
static void label(in_parser *p, ir_block block) {
  in_next(p);
  if (in_accept(p, '(') && !in_accept(p, ')')) {
    do {
      in_arg arg = in_block_argument(p);
      add_argument(p, block, &arg);
    } while (in_accept(p, ','));
    in_expect(p, ')', "')' or ','");
  }
  in_expect(p, ':', "':' of a block's label");
}

static void block_of_region(in_parser *p, in_op *op, uint32_t region, const in_arg *args,
                            uint32_t n_args) {
  ir_block block = ir_region_block(p->m, op->id, region);
  for (uint32_t i = 0; i < n_args; i++) add_argument(p, block, &args[i]);
  if (n_args == 0 && in_is(p, IN_CARET)) label(p, block);
  in_ops(p, block);
  if (in_is(p, IN_CARET))
    in_fail_status(p, p->token.at, WEIR_UNIMPLEMENTED, "a region of several blocks");
}

void in_region(in_parser *p, in_op *op, uint32_t region, const in_arg *args, uint32_t n_args) {
  uint32_t floor = p->floor, mark = p->values.entries.count, scope_start = p->scope_start;
  in_enter(p);
  in_expect(p, '{', "'{' of a region");
  p->scope_start = mark;
  if (op->kind == IR_OP_FUNC || op->kind == IR_OP_MODULE) p->floor = mark;
  if (n_args || op->kind == IR_OP_MODULE || !in_is(p, '}'))
    block_of_region(p, op, region, args, n_args);
  in_expect(p, '}', "'}' or an op");
  CTX_CHECK(p->ctx, p->values.entries.count >= mark && p->scope_start == mark);
  in_names_drop(&p->values, mark);
  p->floor = floor;
  p->scope_start = scope_start;
  in_leave(p);
}

void in_ops(in_parser *p, ir_block block) {
  while (!in_is(p, '}') && !in_is(p, IN_END) && !in_is(p, IN_CARET)) {
    if (p->depth == 0 && (in_is(p, IN_HASH) || in_is(p, IN_BANG))) in_alias_definition(p);
    else if (in_is(p, IN_RESOURCES))
      in_fail_status(p, p->token.at, WEIR_UNIMPLEMENTED,
                     "dialect resources (print the program with its constants inline)");
    else operation(p, block);
  }
}
