/* scatters: what is scattered and added up is added up in one buffer.
 *
 *   scatter(0, i, u) + scatter(0, j, w)    = scatter(scatter(0, i, u), j, w)      both add
 *   scatter(0, i, u) + pad(scatter(0, j, w)) = scatter(scatter(0, i, u), j', w)   padded with zeros
 *
 * so that a table that is read at many places (hash grids, embeddings of several tokens) has one
 * gradient in memory, not one for each reading until all are added; and each entry is touched once,
 * not all of the table once more for each reading. Parts of one array (`tables[k][i]`, `t[a:b][i]`)
 * have padded ones: j' is j, moved by what lies before the part, beside the number of the part.
 * What is beyond the ends of the part is beyond those of the array, too.
 *
 * Requires: a verified module; behind all that looks for scatters into zeros. Breaks: nothing; the
 * scatters into zeros stay for dce. Sums of floats are rounded in another order; integers are
 * exact. Left alone: 16-bit and 8-bit floats, whose sums would be rounded more often; scatters that
 * somebody else reads, too, in another block, or of several arrays; what is small against the limit
 * or below the threshold; padded ones with batches, with windows longer than one along what is
 * padded, or with places of less than 32 bits. Cost: linear but for the shorter side of each sum,
 * n log n.
 */
#include "ir/maps.h"
#include "pass/build.h"
#include "pass/frame.h"

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

/* ---- among the zeros of a pad ---- */
/* An op that makes a value for nobody but one op here. */
static ir_op only_for_one(const pass_rewrite *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  bool is = v < r->n_values && r->uses[v] == 1 && op && ir_op_get(r->m, op)->block == r->b.block &&
            pass_is_static(r->m, op) && !pass_has_foreign_attrs(r->m, op);
  return is ? op : IR_NONE;
}

/* What is padded with zeros to v, f->low of them; v itself where it is not so. */
static ir_value unpadded(const pass_rewrite *r, ir_value v, pass_frame *f) {
  ir_op op = only_for_one(r, v);
  if (!op || ir_kind_of(r->m, op) != IR_OP_PAD || !ir_is_zero(r->m, ir_operand(r->m, op, 1)))
    return v;
  ir_ints low, high;
  if (!ir_pads_around(r->m, op, &low, &high)) return v;
  memcpy(f->low, low.at, sizeof *f->low * (size_t)f->outer.rank);
  memcpy(f->inner, ir_type_at(r->m, ir_operand(r->m, op, 0))->dims,
         sizeof *f->low * (size_t)f->outer.rank);
  return ir_operand(r->m, op, 0);
}

/* What v is but for dimensions of length one, its own ones in order; v itself where it is not so.
 */
static ir_value unmoved(const pass_rewrite *r, ir_value v, pass_frame *f) {
  ir_op op = only_for_one(r, v);
  int32_t to[IR_MAX_RANK];
  if (!op || !ir_is_move(ir_kind_of(r->m, op)) || !ir_moved_dims(r->m, op, to)) return v;
  ir_value x = ir_operand(r->m, op, 0);
  int32_t rank = ir_type_at(r->m, x)->rank;
  if (ir_element_count(r->m, ir_type_of(r->m, x)) != ir_element_count(r->m, ir_type_of(r->m, v)))
    return v;
  for (int32_t d = 0; d < rank; d++)
    if (to[d] == IR_ALONE || (d && to[d] <= to[d - 1])) return v;
  memcpy(f->to, to, sizeof *to * (size_t)rank);
  return x;
}

/* What lies in v, which is v itself where nothing else does. */
static ir_value laid_in(const pass_rewrite *r, ir_value v, pass_frame *out) {
  pass_frame_init(r->m, v, out);
  return unmoved(r, unpadded(r, v, out), out);
}

/* ---- sums ---- */
/* Scatters, one upon the other from zeros on, that are added to something. */
typedef struct summand {
  ir_value last;
  uint32_t links; /* 0: it is none */
  bool is_within; /* padded, or with more dimensions of length one: .. */
  pass_frame in;  /* .. so */
} summand;

static summand summand_of(const pass_rewrite *r, ir_value v) {
  summand s;
  s.last = laid_in(r, v, &s.in);
  s.links = links_of(r, s.last);
  s.is_within = s.last != v;
  v = s.last;
  for (uint32_t i = 0; s.is_within && i < s.links; i++) {
    ir_op op = ir_value_get(r->m, v)->op;
    if (!pass_may_reframe(r->p->scratch, r->m, op, &s.in)) s.links = 0;
    v = ir_operand(r->m, op, 0);
  }
  return s;
}

/* One of its scatters once more, upon this. */
static ir_value upon(pass_rewrite *r, const summand *s, ir_op scatter, ir_value onto) {
  if (s->is_within) return pass_build_reframed(&r->b, r->p->scratch, scatter, &s->in, onto);
  ir_value operands[] = {onto, ir_operand(r->m, scatter, 1), ir_operand(r->m, scatter, 2)};
  ir_type type = ir_type_of(r->m, onto);
  return ir_result(r->m, ir_build_again(&r->b, scatter, operands, &type), 0);
}

/* Its scatters once more, upon `onto` in place of zeros. */
static ir_value add_onto(pass_rewrite *r, const summand *s, ir_value onto) {
  ir_op *ops = ARENA_ARRAY(r->p->scratch, ir_op, s->links);
  ir_value v = s->last;
  for (uint32_t i = s->links; i-- > 0; v = ir_operand(r->m, ops[i], 0))
    ops[i] = ir_value_get(r->m, v)->op;
  CTX_CHECK(r->m->ctx, ir_is_zero(r->m, v));
  for (uint32_t i = 0; i < s->links; i++) onto = upon(r, s, ops[i], onto);
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
  ir_value sum = ir_result(r->m, op, 0);
  summand x = summand_of(r, ir_operand(r->m, op, 0)), y = summand_of(r, ir_operand(r->m, op, 1));
  if (!x.links || !y.links) return false;
  const summand *most = y.links <= x.links ? &x : &y, *least = most == &x ? &y : &x;
  ir_value onto = most->last;
  if (most->is_within) onto = add_onto(r, most, ir_build_zeros(&r->b, ir_type_of(r->m, sum)));
  ir_value all = add_onto(r, least, onto);
  if (sum < r->n_values) note_made(r, all, (made){r->uses[sum], x.links + y.links});
  return pass_stand_in(r->m, r->map, op, all);
}

static bool begin(pass_rewrite *r) {
  r->own = ARENA_NEW(r->p->scratch, made_list);
  return true;
}

const pass pass_scatters = {"scatters", .begin = begin, .replace = replace};
