/* scatters: what is scattered and added up is added up in one buffer.
 *
 *   scatter(0, i, u) + scatter(0, j, w) = scatter(scatter(0, i, u), j, w)      both add
 *
 * so that a table that is read at many places (hash grids, embeddings of several tokens) has one
 * gradient in memory, not one for each reading until all are added; and each entry is touched once,
 * not all of the table once more for each reading.
 *
 * Requires: a verified module; behind all that looks for scatters into zeros. Breaks: nothing; the
 * scatters into zeros stay for dce. Sums of floats are rounded in another order; integers are
 * exact. Left alone: 16-bit and 8-bit floats, whose sums would be rounded more often; scatters that
 * somebody else reads, too, in another block, or of several arrays; what is small against the limit
 * or below the threshold. Cost: linear but for the shorter side of each sum, n log n.
 */
#include "pass/build.h"

/* Of a value that this pass made. */
typedef struct made {
  uint32_t uses;  /* 0: it is no scatter */
  uint32_t links; /* scatters from the zeros up to it */
} made;

typedef VEC(made) made_list;

static const made *made_of(const pass_rewrite *r, ir_value v) {
  const made_list *list = r->own;
  CTX_CHECK(r->m->ctx, v >= r->n_values);
  return v - r->n_values < list->count ? &list->at[v - r->n_values] : NULL;
}

static bool adds_up(const pass_rewrite *r, ir_op op) {
  return ir_kind_of(r->m, op) == IR_OP_SCATTER && ir_op_get(r->m, op)->n_operands == 3 &&
         pass_is_static(r->m, op) && !pass_has_foreign_attrs(r->m, op) &&
         ir_reducer_kind(r->m, ir_body(r->m, op)) == IR_OP_ADD;
}

/* Scatters from zeros up to v, in this block, each of which has one reader. 0: v is none. */
static uint32_t links_of(const pass_rewrite *r, ir_value v) {
  for (uint32_t n = 1;; n++) {
    ir_op op = ir_value_get(r->m, v)->op;
    if (!op || ir_op_get(r->m, op)->block != r->b.block) return 0;
    if (v >= r->n_values) {
      const made *is = made_of(r, v);
      return is && is->uses == 1 ? is->links + n - 1 : 0;
    }
    if (r->uses[v] != 1 || !adds_up(r, op)) return 0;
    v = ir_operand(r->m, op, 0);
    if (ir_is_zero(r->m, v)) return n;
  }
}

/* The `links` scatters up to v once more, upon `onto` in place of zeros. */
static ir_value add_onto(pass_rewrite *r, ir_value v, uint32_t links, ir_value onto) {
  ir_op *ops = ARENA_ARRAY(r->p->scratch, ir_op, links);
  for (uint32_t i = links; i-- > 0; v = ir_operand(r->m, ops[i], 0))
    ops[i] = ir_value_get(r->m, v)->op;
  CTX_CHECK(r->m->ctx, ir_is_zero(r->m, v));
  for (uint32_t i = 0; i < links; i++) {
    ir_value operands[] = {onto, ir_operand(r->m, ops[i], 1), ir_operand(r->m, ops[i], 2)};
    ir_type type = ir_type_of(r->m, onto);
    onto = ir_result(r->m, ir_build_again(&r->b, ops[i], operands, &type), 0);
  }
  return onto;
}

static void note_made(pass_rewrite *r, ir_value v, made is) {
  made_list *list = r->own;
  while (list->count <= v - r->n_values) VEC_PUSH(r->p->scratch, list, (made){0});
  list->at[v - r->n_values] = is;
}

static bool may_add(const pass_rewrite *r, ir_op op) {
  if (ir_kind_of(r->m, op) != IR_OP_ADD || !pass_is_static(r->m, op) ||
      pass_has_foreign_attrs(r->m, op))
    return false;
  ir_value sum = ir_result(r->m, op, 0);
  ir_dtype dtype = ir_type_at(r->m, sum)->dtype;
  return (!ir_is_float(dtype) || ir_dtype_bytes(dtype) >= 4) &&
         ir_value_bytes(r->m, sum) > r->small_bytes;
}

static bool replace(pass_rewrite *r, ir_op op) {
  if (!may_add(r, op)) return false;
  ir_value x = ir_operand(r->m, op, 0), y = ir_operand(r->m, op, 1), sum = ir_result(r->m, op, 0);
  uint32_t of_x = links_of(r, x), of_y = of_x ? links_of(r, y) : 0;
  if (!of_y) return false;
  ir_value all = of_y <= of_x ? add_onto(r, y, of_y, x) : add_onto(r, x, of_x, y);
  if (sum < r->n_values) note_made(r, all, (made){r->uses[sum], of_x + of_y});
  return pass_stand_in(r->m, r->map, op, all);
}

static bool begin(pass_rewrite *r) {
  r->own = ARENA_NEW(r->p->scratch, made_list);
  return true;
}

const pass pass_scatters = {"scatters", .begin = begin, .replace = replace};
