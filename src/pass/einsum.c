/* einsum: einsum and unary_einsum -> dot_general, sums, transposes.
 *
 *   einsum(x, y, "abc,cd->dab")  = transpose(dot_general(x, y))
 *   einsum(x, "abc->ca")         = transpose(sum(x over b))
 *
 * An index that only one operand has and that the result lacks is summed before the product; one
 * that an operand has twice is its diagonal, sum(select(i == j, x, 0) over j), as XLA does it.
 * Requires: a verified module. Breaks: nothing. Exact: the same products and sums as XLA's, which
 * knows no einsum and makes dot_general of it, too. A sum's order is XLA's choice either way.
 * Left alone: what is no einsum of letters ("ab,bc->ac": no ellipsis, no blanks), labels that do
 * not fit the shapes, dynamic shapes, operands and results of different element types, floats
 * below 16 bits.
 * Source: StableHLO, EinsumOp; its legalization to dot_general; XLA, client/lib/matrix.cc.
 */
#include "pass/build.h"

typedef struct labels {
  int32_t count;
  char at[IR_MAX_RANK];
} labels;

typedef struct side {
  ir_value x;
  labels l;
} side;

typedef struct equation {
  uint32_t n_sides;
  side sides[2];
  labels out;
} equation;

/* ---- reading ---- */
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int32_t find_label(const labels *l, int32_t from, char label) {
  for (int32_t i = from; i < l->count; i++)
    if (l->at[i] == label) return i;
  return -1;
}
static bool has_label(const labels *l, char label) { return find_label(l, 0, label) >= 0; }

/* The letters in front of what is none. */
static bool read_labels(const char **text, labels *out) {
  for (out->count = 0; is_letter(**text); ++*text) {
    if (out->count == IR_MAX_RANK) return false;
    out->at[out->count++] = **text;
  }
  return true;
}

static bool read_equation(const char *text, equation *e) {
  for (uint32_t i = 0; i < e->n_sides; i++) {
    if (i && *text++ != ',') return false;
    if (!read_labels(&text, &e->sides[i].l)) return false;
  }
  return *text++ == '-' && *text++ == '>' && read_labels(&text, &e->out) && !*text;
}

/* The extent that the sides have for a label; -1: none, or several. */
static int64_t extent_of(const ir_module *m, const equation *e, char label) {
  int64_t extent = -1;
  for (uint32_t i = 0; i < e->n_sides; i++) {
    const ir_type_data *t = ir_type_at(m, e->sides[i].x);
    for (int32_t d = 0; d < e->sides[i].l.count; d++) {
      if (e->sides[i].l.at[d] != label) continue;
      if (extent >= 0 && extent != t->dims[d]) return -1;
      extent = t->dims[d];
    }
  }
  return extent;
}

static bool fits_sides(const ir_module *m, const equation *e, ir_dtype dtype) {
  for (uint32_t i = 0; i < e->n_sides; i++) {
    const ir_type_data *t = ir_type_at(m, e->sides[i].x);
    if (t->rank != e->sides[i].l.count || t->dtype != dtype) return false;
    for (int32_t d = 0; d < t->rank; d++)
      if (extent_of(m, e, e->sides[i].l.at[d]) < 0) return false;
  }
  return true;
}

/* The shapes are what the labels say. */
static bool fits_shapes(const ir_module *m, const equation *e, ir_type result) {
  const ir_type_data *t = ir_type_get(m, result);
  if (t->rank != e->out.count || !fits_sides(m, e, t->dtype)) return false;
  for (int32_t d = 0; d < t->rank; d++)
    if (extent_of(m, e, e->out.at[d]) != t->dims[d] ||
        find_label(&e->out, d + 1, e->out.at[d]) >= 0)
      return false;
  return true;
}

static bool is_summable(ir_dtype dtype) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_INT:
    case IR_CLASS_UINT:
    case IR_CLASS_COMPLEX: return true;
    case IR_CLASS_FLOAT: return ir_is_common_float(dtype);
    default: return false;
  }
}

/* ---- one side ---- */
static void drop_label(labels *l, int32_t at) {
  memmove(&l->at[at], &l->at[at + 1], (size_t)(--l->count - at));
}

static void sum_dim(ir_builder *b, side *s, int32_t dim) {
  s->x = ir_build_sum(b, s->x, (int64_t[]){dim}, 1);
  drop_label(&s->l, dim);
}

/* Dimensions i < j have one label: what lies off their diagonal is 0 in the sum over j. */
static void take_diagonals(ir_builder *b, side *s) {
  for (int32_t i = 0; i < s->l.count; i++)
    for (int32_t j; (j = find_label(&s->l, i + 1, s->l.at[i])) >= 0;) {
      ir_type type = ir_type_of(b->m, s->x);
      s->x = ir_build_select(b, ir_build_is_diagonal(b, type, i, j), s->x, ir_build_zeros(b, type));
      sum_dim(b, s, j);
    }
}

/* Over what nobody else has. */
static void sum_own(ir_builder *b, side *s, const labels *other, const labels *out) {
  for (int32_t i = s->l.count; i-- > 0;)
    if (!has_label(out, s->l.at[i]) && !(other && has_label(other, s->l.at[i]))) sum_dim(b, s, i);
}

/* ---- both ---- */
/* dot_general of the two, the labels of what it makes in out_made->l. */
static void multiply(ir_builder *b, const equation *e, side *out_made) {
  const labels *l = &e->sides[0].l, *r = &e->sides[1].l;
  int64_t lists[4][IR_MAX_RANK];
  int32_t batch = 0, contract = 0;
  labels *made = &out_made->l;
  made->count = 0;
  for (int32_t i = 0; i < l->count; i++) {
    int32_t j = find_label(r, 0, l->at[i]);
    if (j < 0) continue;
    bool stays = has_label(&e->out, l->at[i]);
    int32_t at = stays ? batch++ : contract++;
    lists[stays ? 0 : 2][at] = i;
    lists[stays ? 1 : 3][at] = j;
    if (stays) made->at[made->count++] = l->at[i];
  }
  for (int32_t i = 0; i < l->count; i++)
    if (!has_label(r, l->at[i])) made->at[made->count++] = l->at[i];
  for (int32_t i = 0; i < r->count; i++)
    if (!has_label(l, r->at[i])) made->at[made->count++] = r->at[i];
  ir_dot_numbers n = {.lhs_batch = {batch, lists[0]},
                      .rhs_batch = {batch, lists[1]},
                      .lhs_contract = {contract, lists[2]},
                      .rhs_contract = {contract, lists[3]}};
  ir_dtype dtype = ir_type_at(b->m, e->sides[0].x)->dtype;
  out_made->x = pass_build_dot(b, e->sides[0].x, e->sides[1].x, &n, dtype);
}

static ir_value build(ir_builder *b, equation *e) {
  labels *other[] = {&e->sides[1].l, &e->sides[0].l};
  int64_t permutation[IR_MAX_RANK];
  side made = e->sides[0];
  for (uint32_t i = 0; i < e->n_sides; i++) {
    take_diagonals(b, &e->sides[i]);
    sum_own(b, &e->sides[i], e->n_sides > 1 ? other[i] : NULL, &e->out);
    made = e->sides[i];
  }
  if (e->n_sides > 1) multiply(b, e, &made);
  CTX_CHECK(b->m->ctx, made.l.count == e->out.count);
  for (int32_t i = 0; i < e->out.count; i++) permutation[i] = find_label(&made.l, 0, e->out.at[i]);
  return ir_build_transpose(b, made.x, permutation);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_kind kind = ir_kind_of(f->m, op);
  equation e = {.n_sides = kind == IR_OP_EINSUM ? 2 : 1};
  const char *text = ir_op_string(f->m, op, "einsum_config");
  if ((kind != IR_OP_EINSUM && kind != IR_OP_UNARY_EINSUM) || !text ||
      ir_op_get(f->m, op)->n_operands != e.n_sides || ir_op_get(f->m, op)->n_results != 1 ||
      !pass_is_static(f->m, op) || !read_equation(text, &e))
    return false;
  for (uint32_t i = 0; i < e.n_sides; i++) e.sides[i].x = ir_operand(f->m, op, i);
  ir_value result = ir_result(f->m, op, 0);
  if (!is_summable(ir_type_at(f->m, result)->dtype) ||
      !fits_shapes(f->m, &e, ir_type_of(f->m, result)))
    return false;
  ir_value made = build(&f->b, &e);
  CTX_CHECK(f->m->ctx, ir_type_of(f->m, made) == ir_type_of(f->m, result));
  return pass_stand_in(f->m, f->map, op, made);
}

const pass pass_einsum = {"einsum", .replace = replace};
