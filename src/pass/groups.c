/* groups: ragged_dot -> dot_general of rows under masks.
 *
 *   ragged_dot(x, w, sizes) = sum over g of (x in the rows of group g, else 0) w[g]       rows free
 *   ragged_dot(x, y, sizes)[g] = (x in the rows of group g, else 0)^T (y, the same)       summed
 *
 * where the rows, a dimension of x, are in groups one after the other, of `sizes` rows each. Behind
 * the last group they are 0.
 * Requires: a verified module. Breaks: nothing. Exact: XLA for GPUs makes the same of it, as JAX
 * does for CPUs, which is what it needs memory for; and so it can be split.
 * Left alone: on machines whose XLA multiplies group by group; sizes that differ by batch, groups
 * of batches, dynamic shapes, integers, shardings.
 * Source: CHLO, RaggedDotOp; XLA, ragged_dot_rewriter.cc.
 */
#include "base/strbuf.h"
#include "pass/build.h"

typedef struct product {
  ir_value sides[2], sizes;
  ir_dot_numbers n;
  int64_t rows,
      group; /* dimensions: of side 0 the rows, of side 1 the groups; -1: rows are summed */
} product;

static bool reads_numbers(pass_rewrite *f, ir_op op, product *p) {
  const char *text = ir_op_string(f->m, op, "ragged_dot_dimension_numbers");
  ir_ints rows, group;
  if (!text || !ir_text_dot_dims(f->p->scratch, text, &p->n) ||
      !ir_text_ints(f->p->scratch, text, "lhs_ragged_dimensions", &rows) ||
      !ir_text_ints(f->p->scratch, text, "rhs_group_dimensions", &group) || rows.count != 1)
    return false;
  p->rows = rows.at[0];
  p->group = group.count == 1 ? group.at[0] : -1;
  return ir_ints_have(p->n.lhs_contract, p->rows)
             ? group.count == 0
             : group.count == 1 && ir_dot_is_free(&p->n, 0, p->rows) &&
                   ir_dot_is_free(&p->n, 1, p->group);
}

static bool are_dims(ir_ints dims, const ir_type_data *t) {
  for (int32_t i = 0; i < dims.count; i++)
    if (dims.at[i] < 0 || dims.at[i] >= t->rank) return false;
  return true;
}

static bool is_product(pass_rewrite *f, ir_op op, product *p) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->kind != IR_OP_CHLO_RAGGED_DOT || d->n_operands != 3 || d->n_results != 1 ||
      !pass_is_static(f->m, op) || pass_has_foreign_attrs(f->m, op))
    return false;
  *p = (product){.sides = {d->operands[0], d->operands[1]}, .sizes = d->operands[2]};
  const ir_type_data *x = ir_type_at(f->m, p->sides[0]), *y = ir_type_at(f->m, p->sides[1]),
                     *sizes = ir_type_at(f->m, p->sizes);
  if (!ir_is_common_float(x->dtype) || x->dtype != y->dtype || !ir_is_integer(sizes->dtype) ||
      sizes->rank != 1 || x->rank >= IR_MAX_RANK || y->rank >= IR_MAX_RANK ||
      !reads_numbers(f, op, p))
    return false;
  return p->rows >= 0 && p->rows < x->rank && p->group < y->rank &&
         p->n.lhs_contract.count == p->n.rhs_contract.count &&
         p->n.lhs_batch.count == p->n.rhs_batch.count && are_dims(p->n.lhs_contract, x) &&
         are_dims(p->n.lhs_batch, x) && are_dims(p->n.rhs_contract, y) &&
         are_dims(p->n.rhs_batch, y) && (p->group < 0 || y->dims[p->group] == sizes->dims[0]);
}

/* Where each group ends: the sum of the sizes up to its own. */
static ir_value build_ends(ir_builder *b, ir_value sizes) {
  const ir_type_data *t = ir_type_at(b->m, sizes);
  ir_type square = ir_tensor(b->m, t->dtype, 2, (int64_t[]){t->dims[0], t->dims[0]});
  ir_value is_up_to =
      ir_build_compare(b, "GE", ir_build_iota(b, square, 0), ir_build_iota(b, square, 1));
  ir_value counted = ir_build_select(
      b, is_up_to, ir_build_broadcast(b, sizes, square, (int64_t[]){1}), ir_build_zeros(b, square));
  return ir_build_sum(b, counted, (int64_t[]){1}, 1);
}

/* x once for each group, in front, with zeros for the rows of others. */
static ir_value build_masked(ir_builder *b, ir_value x, int64_t rows, ir_value sizes,
                             ir_value ends) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK], own[IR_MAX_RANK];
  dims[0] = ir_type_at(m, sizes)->dims[0];
  for (int32_t d = 0; d < t->rank; d++) dims[own[d] = d + 1] = t->dims[d];
  ir_type type = ir_tensor(m, t->dtype, t->rank + 1, dims),
          counts = ir_tensor_with_dtype(m, type, ir_type_at(m, sizes)->dtype);
  ir_value row = ir_build_iota(b, counts, rows + 1),
           begins =
               ir_build_broadcast(b, ir_build_subtract(b, ends, sizes), counts, (int64_t[]){0});
  ir_value is_own = ir_build_binary(
      b, IR_OP_AND, ir_build_compare(b, "LE", begins, row),
      ir_build_compare(b, "LT", row, ir_build_broadcast(b, ends, counts, (int64_t[]){0})));
  return ir_build_select(b, is_own, ir_build_broadcast(b, x, type, own), ir_build_zeros(b, type));
}

/* `first`, if it is none's -1, before the list, whose dimensions are `by` further behind. */
static ir_ints list_of(arena *a, int64_t first, ir_ints list, int64_t by) {
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)list.count + 1);
  int32_t count = 0;
  if (first >= 0) at[count++] = first;
  for (int32_t i = 0; i < list.count; i++) at[count++] = list.at[i] + by;
  return (ir_ints){count, at};
}

/* The groups are a batch where rows are summed, else summed themselves. */
static ir_dot_numbers numbers_of(arena *a, const product *p) {
  bool sums_rows = p->group < 0;
  return (ir_dot_numbers){
      .lhs_batch = list_of(a, sums_rows ? 0 : -1, p->n.lhs_batch, 1),
      .rhs_batch = list_of(a, sums_rows ? 0 : -1, p->n.rhs_batch, sums_rows),
      .lhs_contract = list_of(a, sums_rows ? -1 : 0, p->n.lhs_contract, 1),
      .rhs_contract = list_of(a, p->group, p->n.rhs_contract, sums_rows),
  };
}

/* CHLO has a precision of its own, by the names of StableHLO's; none: another spelling. */
static ir_attr precision_of(pass_rewrite *f, ir_op op) {
  static const char prefix[] = "#chlo<";
  const ir_attr_data *a = ir_op_attr_of(f->m, op, "precision_config", IR_ATTR_ARRAY);
  if (!a || a->count != 2) return IR_NONE;
  ir_attr items[2];
  for (int32_t i = 0; i < 2; i++) {
    const ir_attr_data *item = ir_attr_get(f->m, a->items[i]);
    if (item->kind != IR_ATTR_OTHER || !starts_with(ir_text(f->m, item->text), prefix))
      return IR_NONE;
    strbuf text = strbuf_make(f->p->scratch);
    strbuf_printf(&text, "#stablehlo<%s", ir_text(f->m, item->text) + strlen(prefix));
    items[i] = ir_attr_other(f->m, text.text);
  }
  return ir_attr_new(f->m, &(ir_attr_data){.kind = IR_ATTR_ARRAY, .count = 2, .items = items});
}

static bool replace(pass_rewrite *f, ir_op op) {
  const device *device = f->p->machine->device;
  product p;
  if ((device && device->memory->has_groups) || !is_product(f, op, &p)) return false;
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  ir_attr precision = precision_of(f, op);
  if (!precision && ir_op_attr(f->m, op, "precision_config")) return false;
  ir_value ends = build_ends(&f->b, p.sizes);
  ir_value x = build_masked(&f->b, p.sides[0], p.rows, p.sizes, ends), y = p.sides[1];
  if (p.group < 0) {
    int32_t at = ir_ints_find(p.n.lhs_contract, p.rows);
    y = build_masked(&f->b, y, p.n.rhs_contract.at[at], p.sizes, ends);
  }
  ir_dot_numbers n = numbers_of(f->p->scratch, &p);
  ir_value made = pass_build_dot(&f->b, x, y, &n, ir_type_get(f->m, type)->dtype);
  if (ir_type_of(f->m, made) != type) return false;
  if (precision)
    ir_op_set_attr(f->m, ir_value_get(f->m, made)->op, "precision_config", precision, true);
  return pass_stand_in(f->m, f->map, op, made);
}

const pass pass_groups = {"groups", .replace = replace};
