/* The ops of MLIR bytecode. Values are numbers in the order of their definitions within a scope, a
 * function or the module, and the regions inside; the values of a region come before those of the
 * regions in it. A value that goes from an op of VHLO to one of another dialect, or back, is cast
 * right before it is used; those that read the file drop the casts. */
#include "out/bytecode.h"

static bool is_vhlo(const ir_module *m, ir_op op) { return bw_vhlo_stem(m, op) != NULL; }

/* Of the op that makes it, or whose region has it as an argument. */
static bool is_vhlo_value(const ir_module *m, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  return is_vhlo(m, d->op ? d->op : ir_block_get(m, d->block)->parent);
}

static uint32_t count_casts(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->n_operands; i++)
    n += is_vhlo_value(m, d->operands[i]) != is_vhlo(m, op);
  return n;
}

/* ---- ops ---- */
static bw_head head_of(bw *w, ir_op op) {
  const char *stem = bw_vhlo_stem(w->m, op), *name = ir_op_name(w->m, op), *dot = strchr(name, '.');
  if (stem) return bw_vhlo_head(w, op, stem);
  if (!dot) bw_fail(w, "an op of no dialect");
  const char *dialect = arena_strdup(w->scratch, name, (size_t)(dot - name));
  return (bw_head){.name = bw_put_of(w, BW_OPS, dialect, false, dot + 1, strlen(dot + 1)),
                   .properties = -1,
                   .attrs = ir_op_get(w->m, op)->n_attrs ? (int64_t)bw_dict_text(w, op) : -1};
}

static void put_cast(bw *w, strbuf *out, ir_op user, ir_value v, uint32_t number) {
  static const char name[] = BC_CAST;
  const char *stem = strchr(name, '.') + 1;
  bw_varint(out, bw_put_of(w, BW_OPS, "builtin", true, stem, strlen(stem)));
  strbuf_putc(out, BC_HAS_RESULTS | BC_HAS_OPERANDS);
  bw_varint(out, bw_location(w, ir_op_get(w->m, user)->location));
  bw_varint(out, 1);
  bw_varint(out, bw_type(w, ir_type_of(w->m, v), is_vhlo(w->m, user)));
  bw_varint(out, 1);
  bw_varint(out, number);
}

/* The numbers of the op's operands, in its own kind of types. */
static uint32_t *operands(bw *w, strbuf *out, ir_op op, uint32_t *next) {
  const ir_op_data *d = ir_op_get(w->m, op);
  uint32_t *numbers = ARENA_ARRAY(w->scratch, uint32_t, d->n_operands + 1);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_value v = d->operands[i];
    numbers[i] = w->values[v];
    CTX_CHECK(w->ctx, numbers[i] < *next); /* defined before it is used */
    if (is_vhlo_value(w->m, v) == is_vhlo(w->m, op)) continue;
    put_cast(w, out, op, v, numbers[i]);
    numbers[i] = (*next)++;
  }
  return numbers;
}

static void put_head(bw *w, strbuf *out, ir_op op) {
  const ir_op_data *d = ir_op_get(w->m, op);
  bw_head head = head_of(w, op);
  bw_varint(out, head.name);
  strbuf_putc(out,
              (char)((head.attrs >= 0 ? BC_HAS_ATTRS : 0) | (d->n_results ? BC_HAS_RESULTS : 0) |
                     (d->n_operands ? BC_HAS_OPERANDS : 0) | (d->n_regions ? BC_HAS_REGIONS : 0) |
                     (head.properties >= 0 ? BC_HAS_PROPERTIES : 0)));
  bw_varint(out, bw_location(w, d->location));
  if (head.attrs >= 0) bw_varint(out, (uint64_t)head.attrs);
  if (head.properties >= 0) bw_varint(out, (uint64_t)head.properties);
}

static void put_regions(bw *w, strbuf *out, ir_op op, uint32_t base);

static void put_op(bw *w, strbuf *out, ir_op op, uint32_t *next, uint32_t end) {
  const ir_op_data *d = ir_op_get(w->m, op);
  w->op = op;
  const uint32_t *numbers = operands(w, out, op, next);
  put_head(w, out, op);
  if (d->n_results) bw_varint(out, d->n_results);
  for (uint32_t i = 0; i < d->n_results; i++) {
    bw_varint(out, bw_type(w, ir_type_of(w->m, d->first_result + i), is_vhlo(w->m, op)));
    w->values[d->first_result + i] = (*next)++;
  }
  if (d->n_operands) bw_varint(out, d->n_operands);
  for (uint32_t i = 0; i < d->n_operands; i++) bw_varint(out, numbers[i]);
  if (d->n_regions) put_regions(w, out, op, end);
}

/* ---- regions ---- */
static void put_arguments(bw *w, strbuf *out, const ir_block_data *b, uint32_t *next) {
  bw_varint(out, b->args.count);
  for (uint32_t i = 0; i < b->args.count; i++) {
    ir_value v = b->args.at[i];
    ir_str location = ir_value_get(w->m, v)->location;
    bw_varint(
        out, (uint64_t)bw_type(w, ir_type_of(w->m, v), is_vhlo(w->m, b->parent)) << 1 | !!location);
    if (location) bw_varint(out, bw_location(w, location));
    w->values[v] = (*next)++;
  }
  strbuf_putc(out, 0); /* no orders of uses */
}

static void put_block(bw *w, strbuf *out, const ir_block_data *b, uint32_t base, bool in_region) {
  uint32_t n_ops = b->ops.count, n_values = b->args.count, next = base;
  for (uint32_t i = 0; i < b->ops.count; i++) {
    uint32_t casts = count_casts(w->m, b->ops.at[i]);
    n_ops += casts, n_values += casts + ir_op_get(w->m, b->ops.at[i])->n_results;
  }
  if (in_region) bw_varint(out, n_values);
  bw_varint(out, (uint64_t)n_ops << 1 | (b->args.count > 0));
  if (b->args.count) put_arguments(w, out, b, &next);
  for (uint32_t i = 0; i < b->ops.count; i++) put_op(w, out, b->ops.at[i], &next, base + n_values);
  CTX_CHECK(w->ctx, next == base + n_values);
}

static void put_each(bw *w, strbuf *out, ir_op op, uint32_t base) {
  const ir_op_data *d = ir_op_get(w->m, op);
  for (uint32_t i = 0; i < d->n_regions; i++) {
    bw_varint(out, d->regions[i] != IR_NONE);
    if (d->regions[i]) put_block(w, out, ir_block_get(w->m, d->regions[i]), base, true);
  }
}

/* Regions that see nothing outside of them number their values from 0, and are a section. */
static void put_regions(bw *w, strbuf *out, ir_op op, uint32_t base) {
  ir_kind kind = ir_kind_of(w->m, op);
  bool isolated = kind == IR_OP_MODULE || kind == IR_OP_FUNC;
  bw_varint(out, (uint64_t)ir_op_get(w->m, op)->n_regions << 1 | isolated);
  if (!isolated) {
    put_each(w, out, op, base);
    return;
  }
  strbuf inside = strbuf_make(w->scratch);
  put_each(w, &inside, op, 0);
  strbuf_putc(out, BC_IR);
  bw_varint(out, inside.length);
  strbuf_add(out, inside.text, inside.length);
}

/* The file's block has the module and no values. */
void bw_ir(bw *w, strbuf *out) {
  uint32_t next = 0;
  bw_varint(out, 1 << 1);
  put_op(w, out, w->m->root, &next, 0);
}
