/* The generic form: "name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types.
 * Every op has it. */
#include "in/parser.h"

static void properties(in_parser *p, in_op *op) {
  if (in_is(p, '{')) {
    in_take_entries(p, op, in_dict(p), IN_PROPERTIES);
  } else {
    const ir_attr_data *d = ir_attr_get(p->m, in_attribute(p));
    if (d->kind != IR_ATTR_DICT) in_fail(p, op->at, "properties that are no dictionary");
    for (int32_t i = 0; i < d->count; i++)
      VEC_PUSH(p->scratch, &op->attrs,
               (ir_named_attr){d->entries[i].name, d->entries[i].value, true});
  }
  in_expect(p, '>', "'>' of the properties");
}

static void regions(in_parser *p, in_op *op) {
  in_make(p, op, 0);
  do {
    ir_op_data *d = ir_op_get(p->m, op->id);
    ir_block *grown = ARENA_ARRAY(p->m->arena, ir_block, d->n_regions + 1);
    if (d->n_regions) memcpy(grown, d->regions, d->n_regions * sizeof *grown);
    d->regions = grown;
    in_region(p, op, d->n_regions++, NULL, 0);
  } while (in_accept(p, ','));
  in_expect(p, ')', "')' or ','");
}

static bool is_op_name(const char *s, const char *end) {
  if (s == end) return false;
  for (; s < end; s++)
    if (!in_is_suffix_char((unsigned char)*s)) return false;
  return true;
}

void in_generic(in_parser *p, in_op *op) {
  if (!is_op_name(p->token.at + 1, p->next - 1)) in_fail_wanted(p, "an op's name");
  op->name = ir_intern_text(p->m, p->token.at + 1, p->token.length - 2);
  op->kind = in_kind(p, op->name);
  in_next(p);
  in_generic_rest(p, op);
}

void in_generic_rest(in_parser *p, in_op *op) {
  in_expect(p, '(', "'(' and operands");
  in_operands(p, op);
  in_expect(p, ')', "')' or ','");
  if (in_is(p, '['))
    in_fail_status(p, p->token.at, WEIR_UNIMPLEMENTED, "an op with successor blocks");
  bool has_properties = in_accept(p, '<');
  if (has_properties) properties(p, op);
  if (in_accept(p, '(')) regions(p, op);
  if (in_is(p, '{')) in_take_entries(p, op, in_dict(p), has_properties ? IN_DISCARDABLE : IN_MIXED);
  in_signature(p, op);
}
