/* Which attributes of an op are properties (inherent to it): the pretty form mixes them with the
 * discardable ones. Those of StableHLO's ops are VHLO's; of other dialects they stand here.
 * Sources: the op definitions of StableHLO, CHLO, func and Shardy. */
#include "in/parser.h"

/* What VHLO does not have, in order. */
static const struct {
  ir_kind kind;
  const char *names[4];
} others[] = {
    {IR_OP_MODULE, {"sym_name", "sym_visibility"}},
    {IR_OP_FUNC, {"no_inline"}},
    {IR_OP_CALL, {"arg_attrs", "no_inline", "res_attrs"}},
    {IR_OP_ARITH_CONSTANT, {"value"}},
    {IR_OP_CHLO_TOP_K, {"is_stable", "k"}},
    {IR_OP_CHLO_CONSTANT, {"value"}},
    {IR_OP_CHLO_CONSTANT_LIKE, {"value"}},
    {IR_OP_CHLO_BROADCAST_COMPARE, {"compare_type", "comparison_direction"}},
    {IR_OP_CHLO_RAGGED_DOT, {"precision_config", "ragged_dot_dimension_numbers"}},
    {IR_OP_CHLO_SCAN, {"dimension", "is_associative", "is_reverse", "scan_dim_size"}},
    {IR_OP_SDY_MESH, {"mesh", "sym_name"}},
    {IR_OP_SDY_SHARDING_CONSTRAINT, {"sharding"}},
    {IR_OP_SDY_MANUAL_COMPUTATION, {"in_shardings", "manual_axes", "out_shardings"}},
};

/* In its place, once. */
static void insert(in_property_names *to, const char *name) {
  uint32_t i = to->count;
  while (i > 0 && strcmp(to->at[i - 1], name) > 0) i--;
  if (i > 0 && !strcmp(to->at[i - 1], name)) return;
  assert(to->count < VHLO_MAX_ATTRIBUTES);
  memmove(to->at + i + 1, to->at + i, (to->count - i) * sizeof *to->at);
  to->at[i] = name;
  to->count++;
}

in_property_names in_properties(ir_kind kind) {
  in_property_names found = {0};
  const char *name = ir_kind_name(kind);
  if (starts_with(name, "stablehlo.") || starts_with(name, "func."))
    for (const vhlo_row *row = NULL; (row = vhlo_next_row(strchr(name, '.') + 1, row));)
      insert(&found, vhlo_stablehlo_name(row));
  if (starts_with(name, "chlo.broadcast_")) insert(&found, "broadcast_dimensions");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    for (int k = 0; others[i].kind == kind && k < 4 && others[i].names[k]; k++)
      insert(&found, others[i].names[k]);
  return found;
}

bool in_has_name(const in_property_names *names, const char *wanted) {
  for (uint32_t i = 0; i < names->count; i++)
    if (!strcmp(names->at[i], wanted)) return true;
  return false;
}

const char *in_sort_attrs(const ir_module *m, ir_named_attr *attrs, uint32_t count) {
  const char *twice = NULL;
  for (uint32_t i = 1; i < count; i++) {
    ir_named_attr a = attrs[i];
    uint32_t j = i;
    for (; j > 0; j--) {
      const ir_named_attr *b = &attrs[j - 1];
      int order = strcmp(ir_text(m, b->name), ir_text(m, a.name));
      if (order == 0) twice = ir_text(m, a.name);
      if (b->property != a.property ? b->property : order <= 0) break;
      attrs[j] = *b;
    }
    attrs[j] = a;
  }
  return twice;
}
