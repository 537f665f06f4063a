/* by-rows: Cholesky factors and triangular solves of matrices that lie row by row.
 *
 *   A = L L^T, A column by column     becomes     A = U^T U, A row by row     lapack_?potrf_ffi
 *   A X = B, A lower                  becomes     A^T X = B, A upper          lapack_?trsm_ffi
 *   A X = B, A = C^T column by column becomes     the same, C row by row
 *
 * LAPACK reads and writes matrices column by column, XLA's products and loops row by row: a factor
 * that a solve and a product read would be there twice. A matrix row by row is its transpose column
 * by column, so the call is told of the other triangle, and solves are transposed once more. A
 * call's layouts say how its operands lie; right-hand sides stay as they were.
 *
 * Requires: a module of whiles. Breaks nothing. Exact up to the library's order of sums. Left
 * alone: programs with another routine that has its matrices column by column (a solve that reads
 * what it left had no copy), conjugate transposes of complex matrices, other platforms, several
 * devices. Cost: none. Numbers: docs/design/gaussian-process.md. Source: LAPACK's users' guide.
 */
#include "ir/attrs.h"
#include "ir/lapack.h"
#include "pass/pass.h"

typedef struct by_rows {
  pass_ctx *p;
  ir_module *m;
} by_rows;

static bool is_one(const ir_module *m, ir_op op) {
  return (ir_is_lapack(m, op, "potrf") || ir_is_lapack(m, op, "trsm")) &&
         ir_lapack_batch_rank(m, op) >= 0;
}

static bool is_other(const ir_module *m, ir_op op) {
  bool is = false;
  if (ir_kind_of(m, op) != IR_OP_CUSTOM_CALL || is_one(m, op)) return false;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    is |= ir_is_by_columns(m, op, "operand_layouts", i);
  for (uint32_t j = 0; j < ir_op_get(m, op)->n_results; j++)
    is |= ir_is_by_columns(m, op, "result_layouts", j);
  return is;
}

/* ---- the call's configuration ---- */

/* Of the matrix that lies the other way round. */
static int64_t other_letter(const char *key, int64_t letter) {
  if (!strcmp(key, "uplo")) return letter == 'L' ? 'U' : 'L';
  return strcmp(key, "trans_x") ? letter : letter == 'N' ? 'T' : 'N';
}

static ir_attr other_config(by_rows *f, ir_attr config) {
  ir_module *m = f->m;
  ir_attr_data d = *ir_attr_get(m, config);
  ir_named_attr *entries = ARENA_COPY(f->p->scratch, ir_named_attr, d.entries, (size_t)d.count);
  for (int32_t i = 0; i < d.count; i++) {
    ir_attr_data entry = *ir_attr_get(m, entries[i].value);
    if (entry.kind != IR_ATTR_INT) continue;
    entry.integer = other_letter(ir_text(m, entries[i].name), entry.integer);
    entries[i].value = ir_attr_new(m, &entry);
  }
  d.entries = entries;
  return ir_attr_new(m, &d);
}

/* The list of layouts with the first one row by row. */
static ir_attr other_layouts(by_rows *f, ir_attr layouts) {
  ir_module *m = f->m;
  ir_attr_data list = *ir_attr_get(m, layouts);
  ir_attr *items = ARENA_COPY(f->p->scratch, ir_attr, list.items, (size_t)list.count);
  ir_attr_data first = *ir_attr_get(m, items[0]);
  int64_t order[IR_MAX_RANK], rank = ir_element_count(m, first.type);
  for (int64_t i = 0; i < rank; i++) order[i] = rank - 1 - i;
  items[0] = ir_attr_dense(m, first.type, order, false);
  list.items = items;
  return ir_attr_new(m, &list);
}

static const char *config_name(const ir_module *m, ir_op op) {
  return ir_op_attr(m, op, "mhlo.backend_config") ? "mhlo.backend_config" : "backend_config";
}

static bool is_complex(const ir_module *m, ir_op op) {
  return ir_is_complex(ir_type_at(m, ir_operand(m, op, 0))->dtype);
}

static bool is_known(const ir_module *m, ir_op op) {
  int64_t uplo = ir_ffi_config_int(m, op, "uplo", 0), trans = 'N';
  if (ir_is_lapack(m, op, "trsm")) trans = ir_ffi_config_int(m, op, "trans_x", 0);
  return (uplo == 'L' || uplo == 'U') &&
         (trans == 'N' || trans == 'T' || (trans == 'C' && !is_complex(m, op))) &&
         ir_is_by_columns(m, op, "operand_layouts", 0) &&
         ir_is_by_columns(m, op, "result_layouts", 0);
}

/* The value of which v is the transpose, matrix by matrix; IR_NONE: it is none. Row by row that one
 * lies as v does column by column. */
static ir_value untransposed(by_rows *f, ir_value v) {
  ir_op op = ir_maker(f->m, v, IR_OP_TRANSPOSE);
  if (!op) return IR_NONE;
  ir_ints from = ir_op_list(f->m, op, "permutation");
  for (int32_t d = 0; d < from.count; d++)
    if (from.at[d] != (d < from.count - 2 ? d : 2 * from.count - 3 - d)) return IR_NONE;
  return ir_operand(f->m, op, 0);
}

static void turn(by_rows *f, ir_op op) {
  ir_module *m = f->m;
  if (ir_kind_of(m, op) != IR_OP_CUSTOM_CALL || !is_one(m, op) || !is_known(m, op)) return;
  const char *config = config_name(m, op);
  ir_value as_it_lies =
      ir_is_lapack(m, op, "trsm") ? untransposed(f, ir_operand(m, op, 0)) : IR_NONE;
  if (as_it_lies) ir_op_get(f->m, op)->operands[0] = as_it_lies;
  else ir_op_set_attr(f->m, op, config, other_config(f, ir_op_attr(m, op, config)), false);
  ir_op_set_attr(f->m, op, "operand_layouts",
                 other_layouts(f, ir_op_attr(m, op, "operand_layouts")), true);
  if (ir_is_lapack(m, op, "potrf"))
    ir_op_set_attr(f->m, op, "result_layouts",
                   other_layouts(f, ir_op_attr(m, op, "result_layouts")), true);
  f->p->changed = true;
}

static weir_status run(pass_ctx *p, ir_module *m) {
  by_rows f = {p, m};
  bool one_device = ir_op_int(m, m->root, "mhlo.num_partitions", 1) == 1;
  if (strcmp(p->options->platform, "cpu") || !one_device ||
      ir_any(ir_walk_block(m, ir_top(m)), is_other))
    return WEIR_OK;
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) turn(&f, w.op);
  return WEIR_OK;
}

const pass pass_by_rows = {"by-rows", run};
