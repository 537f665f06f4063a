/* The ops of MLIR bytecode. Values are numbers in the order of their definitions within a scope: a
 * region that sees nothing outside of it, which is a section of its own, and the regions inside.
 * Orders of uses are read and forgotten. Refused: several blocks in a region, successors, values
 * that are used before they are defined, properties of ops that are neither VHLO's nor known. */

#include "in/bytecode.h"
#include "in/parser.h"

typedef struct region_state {
  ir_block block;
  uint32_t next, end; /* the number of the next value, and behind the last */
} region_state;

typedef struct op_state {
  const bc_op_name *name;
  VEC(ir_named_attr) attrs;
  VEC(ir_value) operands;
  VEC(ir_type) results;
  uint32_t n_regions;
  bool isolated;
  ir_str location;
} op_state;

static void block_ops(bc_bytes *b, region_state *s);

/* ---- attributes ---- */
static void weigh(const bc_bytes *b, int64_t weight) {
  CTX_CHECK(b->r->ctx, weight >= 0 && b->r->weight_left >= 0);
  if (weight > b->r->weight_left) bc_fail(b, "attributes that are too long in text");
  b->r->weight_left -= weight;
}

static void attribute_dict(bc_bytes *b, op_state *op) {
  ir_module *m = b->r->m;
  bc_entry *e = bc_read_attr(b);
  const ir_attr_data d = *ir_attr_get(m, e->attr);
  if (e->is_location || d.kind != IR_ATTR_DICT) bc_fail(b, "attributes that are no dictionary");
  weigh(b, e->weight);
  for (int32_t i = 0; i < d.count; i++) VEC_PUSH(b->r->scratch, &op->attrs, d.entries[i]);
}

/* In the table of properties: of known ops the values by name, else a dictionary. Optional ones
 * have a bit that says whether they are there. */
static bool is_optional(ir_kind kind, const char *name) {
  static const struct {
    ir_kind kind;
    in_property_names names;
  } optional[] = {
      {IR_OP_MODULE, {2, {"sym_name", "sym_visibility"}}},
      {IR_OP_FUNC, {4, {"arg_attrs", "no_inline", "res_attrs", "sym_visibility"}}},
      {IR_OP_CALL, {3, {"arg_attrs", "no_inline", "res_attrs"}}},
  };
  for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
    if (optional[i].kind == kind && in_has_name(&optional[i].names, name)) return true;
  return false;
}

static void property(bc_bytes *b, op_state *op, const char *name) {
  ir_str text = ir_intern_string(b->r->m, name);
  bool optional = !op->name->is_vhlo && is_optional(op->name->kind, name);
  bc_bytes before = *b;
  uint64_t index = bc_varint(b);
  if (optional && !(index & 1)) return;
  if (optional) index >>= 1;
  if (index >= b->r->attrs.count) bc_fail(&before, "attribute %llu", (unsigned long long)index);
  bc_entry *e = bc_attr_entry(&before, (uint32_t)index);
  if (e->is_location) bc_fail(&before, "a location as a property");
  weigh(b, e->weight);
  VEC_PUSH(b->r->scratch, &op->attrs, (ir_named_attr){text, e->attr, true});
}

static void properties(bc_bytes *b, op_state *op) {
  bc *r = b->r;
  uint32_t index = bc_index(b, r->property_offsets.count, "properties");
  bc_bytes item = {r, r->properties + r->property_offsets.at[index], r->properties_end};
  uint64_t length = bc_varint(&item);
  CTX_CHECK(r->ctx, length <= bc_left(&item)); /* checked when the table was read */
  item.end = item.at + length;
  bool is_vhlo = op->name->is_vhlo;
  in_property_names names = {0};
  if (!is_vhlo) names = in_properties(op->name->kind);
  for (uint32_t i = 0; is_vhlo && i < op->name->vhlo.count; i++)
    property(&item, op, op->name->vhlo.by_name[i]->name);
  for (uint32_t i = 0; !is_vhlo && i < names.count; i++) property(&item, op, names.at[i]);
  if (!is_vhlo && !names.count)
    bc_fail_status(b, WEIR_UNIMPLEMENTED,
                   "properties of '%.100s'; wanted VHLO, as portable artifacts have it",
                   op->name->name);
  if (item.at != item.end) bc_fail(&item, "more properties of '%.100s' than known", op->name->name);
}

/* Properties of an op that was not registered where the file was made are one dictionary. */
static void unregistered_properties(bc_bytes *b, op_state *op) {
  uint32_t first = op->attrs.count;
  attribute_dict(b, op);
  for (uint32_t i = first; i < op->attrs.count; i++) op->attrs.at[i].property = true;
}

static void as_stablehlo(const bc_bytes *b, op_state *op) {
  const char *error;
  ir_named_attr *out = ARENA_ARRAY(b->r->scratch, ir_named_attr, op->attrs.count + 2);
  uint32_t n = vhlo_convert(b->r->m, b->r->scratch, &op->name->vhlo, op->attrs.at, op->attrs.count,
                            out, &error);
  if (error) bc_fail(b, "'%.100s' of '%.100s' is of the wrong kind", error, op->name->name);
  CTX_CHECK(b->r->ctx, n <= op->attrs.count + 2); /* the room of `out` */
  op->attrs.count = 0;
  for (uint32_t i = 0; i < n; i++) VEC_PUSH(b->r->scratch, &op->attrs, out[i]);
}

/* Before the format had properties they stood among the attributes, and still may. */
static void mark_properties(const bc_bytes *b, op_state *op) {
  in_property_names names = in_properties(op->name->kind);
  for (uint32_t i = 0; i < op->attrs.count; i++)
    op->attrs.at[i].property |= in_has_name(&names, ir_text(b->r->m, op->attrs.at[i].name));
}

static void attributes(bc_bytes *b, op_state *op, uint8_t mask) {
  if (mask & BC_HAS_ATTRS) attribute_dict(b, op);
  if (mask & BC_HAS_PROPERTIES)
    (op->name->was_registered ? properties : unregistered_properties)(b, op);
  if (op->name->is_vhlo) as_stablehlo(b, op);
  else mark_properties(b, op);
  const char *twice = in_sort_attrs(b->r->m, op->attrs.at, op->attrs.count);
  if (twice) bc_fail(b, "the attribute '%.100s' is given twice", twice);
}

/* ---- values ---- */
static void define(const bc_bytes *b, region_state *s, ir_value first, uint32_t count) {
  CTX_CHECK(b->r->ctx, s->next <= s->end && s->end <= b->r->values.count);
  if (count > s->end - s->next) bc_fail(b, "more values than the region announced");
  for (uint32_t i = 0; i < count; i++) b->r->values.at[s->next++] = first + i;
}

static ir_value operand(bc_bytes *b) {
  uint32_t index = bc_index(b, b->r->values.count, "value");
  ir_value v = b->r->values.at[index];
  if (!v) bc_fail_status(b, WEIR_UNIMPLEMENTED, "value %u is used before it is defined", index);
  return v;
}

static void use_list_orders(bc_bytes *b, uint32_t count) {
  uint32_t n = count > 1 ? bc_count(b, "orders of uses") : 1;
  for (; n > 0; n--) {
    if (count > 1) bc_varint(b);
    uint64_t indices = bc_varint(b) >> 1;
    if (indices > bc_left(b)) bc_fail(b, "an order of %llu uses", (unsigned long long)indices);
    for (; indices > 0; indices--) bc_varint(b);
  }
}

/* ---- ops ---- */
static ir_kind kind_in(const bc *r, const op_state *op, ir_block block, const char **out_name) {
  *out_name = op->name->name;
  if (!op->name->is_return) return op->name->kind;
  ir_op parent = ir_block_get(r->m, block)->parent;
  bool function = parent && ir_kind_of(r->m, parent) == IR_OP_FUNC;
  *out_name = function ? "func.return" : "stablehlo.return";
  return function ? IR_OP_FUNC_RETURN : IR_OP_RETURN;
}

static void read_head(bc_bytes *b, op_state *op) {
  op->name = &b->r->ops.at[bc_index(b, b->r->ops.count, "op name")];
  uint8_t mask = bc_byte(b);
  op->location = bc_location(b);
  attributes(b, op, mask);
  for (uint32_t n = mask & BC_HAS_RESULTS ? bc_count(b, "results") : 0; n > 0; n--) {
    ir_type type = bc_type(b, NULL);
    VEC_PUSH(b->r->scratch, &op->results, type);
  }
  for (uint32_t n = mask & BC_HAS_OPERANDS ? bc_count(b, "operands") : 0; n > 0; n--) {
    ir_value v = operand(b);
    VEC_PUSH(b->r->scratch, &op->operands, v);
  }
  if (mask & BC_HAS_SUCCESSORS)
    bc_fail_status(b, WEIR_UNIMPLEMENTED, "an op with successor blocks");
  if (mask & BC_HAS_USE_LIST_ORDERS) use_list_orders(b, op->results.count);
  uint64_t regions = mask & BC_HAS_REGIONS ? bc_varint(b) : 0;
  op->isolated = regions & 1;
  if (regions >> 1 > bc_left(b)) bc_fail(b, "%llu regions", (unsigned long long)(regions >> 1));
  op->n_regions = (uint32_t)(regions >> 1);
}

static ir_op make(bc_bytes *b, const op_state *op, ir_block block) {
  const char *name;
  ir_kind kind = kind_in(b->r, op, block, &name);
  return ir_op_new(b->r->m, block,
                   &(ir_op_desc){.kind = kind,
                                 .name = name,
                                 .n_operands = op->operands.count,
                                 .operands = op->operands.at,
                                 .n_results = op->results.count,
                                 .result_types = op->results.at,
                                 .n_attrs = op->attrs.count,
                                 .attrs = op->attrs.at,
                                 .n_regions = op->n_regions,
                                 .location = op->location});
}

/* ---- regions ---- */
static void block_arguments(bc_bytes *b, region_state *s) {
  bc *r = b->r;
  uint32_t n = bc_count(b, "arguments");
  for (uint32_t i = 0; i < n; i++) {
    uint64_t index = bc_varint(b);
    bool has_location = r->version < BC_ELIDED_LOCATIONS || index & 1;
    if (r->version >= BC_ELIDED_LOCATIONS) index >>= 1;
    ir_value v = ir_block_arg(r->m, s->block, bc_type_entry(b, index)->type);
    if (has_location) {
      ir_str location = bc_location(b);
      ir_value_get(r->m, v)->location = location;
    }
    define(b, s, v, 1);
  }
  if (r->version >= BC_USE_LIST_ORDERS && bc_byte(b)) use_list_orders(b, n);
}

static void region(bc_bytes *b, ir_op op, uint32_t index) {
  bc *r = b->r;
  uint64_t n_blocks = bc_varint(b);
  if (n_blocks == 0) return;
  if (n_blocks > 1) bc_fail_status(b, WEIR_UNIMPLEMENTED, "a region of several blocks");
  uint32_t first = r->values.count, n = bc_count(b, "values");
  for (uint32_t i = 0; i < n; i++) VEC_PUSH(r->scratch, &r->values, IR_NONE);
  region_state s = {ir_region_block(r->m, op, index), first, first + n};
  block_ops(b, &s);
  CTX_CHECK(r->ctx, r->values.count == s.end); /* regions inside took theirs away */
  r->values.count = first;
}

/* Regions that see nothing outside of them number their values from 0, and are a section. */
static void regions(bc_bytes *b, ir_op op, uint32_t count, bool isolated) {
  bc *r = b->r;
  bc_bytes inside = *b;
  bool section = isolated && r->version >= BC_SECTIONS_OF_REGIONS;
  uint8_t id = BC_IR;
  if (section) inside = bc_section(b, &id);
  if (id != BC_IR) bc_fail(b, "a section of kind %d, wanted regions", id);
  __typeof__(r->values) outer = r->values;
  if (isolated) memset(&r->values, 0, sizeof r->values);
  bc_enter(b);
  for (uint32_t i = 0; i < count; i++) region(&inside, op, i);
  CTX_CHECK(r->ctx, r->depth > 0);
  r->depth--;
  if (isolated) r->values = outer;
  if (!section) *b = inside;
  else if (inside.at != inside.end) bc_fail(&inside, "bytes behind a region");
}

/* Between VHLO's and builtin types, which are the same here. */
static bool is_cast(const ir_module *m, const op_state *op) {
  return !strcmp(op->name->name, BC_CAST) && op->operands.count == 1 && op->results.count == 1 &&
         !op->n_regions && ir_type_of(m, op->operands.at[0]) == op->results.at[0];
}

static void operation(bc_bytes *b, region_state *s) {
  op_state op = {0};
  read_head(b, &op);
  if (is_cast(b->r->m, &op)) {
    define(b, s, op.operands.at[0], 1);
    return;
  }
  ir_op made = make(b, &op, s->block);
  if (op.results.count) define(b, s, ir_result(b->r->m, made, 0), op.results.count);
  if (op.n_regions) regions(b, made, op.n_regions, op.isolated);
}

static void block_ops(bc_bytes *b, region_state *s) {
  uint64_t head = bc_varint(b);
  if (head >> 1 > bc_left(b)) bc_fail(b, "%llu ops", (unsigned long long)(head >> 1));
  if (head & 1) block_arguments(b, s);
  for (uint64_t n = head >> 1; n > 0; n--) operation(b, s);
}

/* The file's block has no values. */
void bc_ir(bc_bytes *b, ir_block block) {
  CTX_CHECK(b->r->ctx, b->r->values.count == 0 && b->r->depth == 0);
  region_state s = {block, 0, 0};
  block_ops(b, &s);
  if (b->at != b->end) bc_fail(b, "bytes behind the last op");
}
