/* Products of which what is summed over is in parts, as Triton's are on GPUs where few cores would
 * be busy otherwise: the parts are a batch of products, which are added up behind it. Where the
 * parts are not equally long, or no multiple of 16 bytes, both operands are padded, in arrays of
 * their own. A library's products have a workspace instead, and the card decides which of the two
 * they are: peak.c takes what is larger.
 *
 * In: the graph before it is fused, 16-bit matrices as cuBLAS wants them: what makes an operand may
 * be computed where it is padded, and what reads a result where its parts are added. Source: XLA's
 * splitk_rewriter.cc, and how it counts. */
#include "base/ints.h"
#include "base/saturate.h"
#include "plan/peak_graph.h"

enum { MOST_PARTS = 2048, TILE = 128, ALIGNED_BYTES = 16, WIDEST_BYTES = 8 };

static const double COST_OF_MULTIPLICATION = 200;

typedef struct long_product {
  int64_t batch, rows, columns, terms;
  int64_t left_bytes, right_bytes, bytes; /* of an element of the operands, the result */
  int64_t summed_bytes;                   /* of one that parts are added in */
} long_product;

/* In no unit: of the products, or of reading and writing what they need, and of adding the parts.
 */
static double cost_of(const device_memory *memory, const long_product *p, int64_t parts) {
  double rows = (double)min64(p->rows, TILE), columns = (double)min64(p->columns, TILE),
         batch = (double)p->batch * (double)parts,
         tiles = batch * (double)ceil_div(p->rows, TILE) * (double)ceil_div(p->columns, TILE),
         at_once = memory->cores * (TILE * TILE / (rows * columns)),
         waves = tiles > at_once ? tiles / at_once : 1,
         each = rows * columns * (double)ceil_div(p->terms, parts),
         computing = COST_OF_MULTIPLICATION * each * waves;
  double result = (double)p->rows * (double)p->columns,
         read = (double)p->batch * (double)p->terms *
                ((double)p->rows * (double)p->left_bytes +
                 (double)p->columns * (double)p->right_bytes),
         width = (double)(parts > 1 ? p->summed_bytes : p->bytes),
         moving = memory->product_byte_cost * (read + batch * result * width),
         product = computing > moving ? computing : moving;
  if (parts == 1) return product;
  double summed = batch * result * (double)p->summed_bytes,
         written = (double)p->batch * result * (double)p->bytes;
  return product + memory->sum_cost + memory->sum_byte_cost * (summed + written);
}

/* In how many parts XLA:GPU makes it: 1, 2, 4, ... */
static int64_t parts_of(const device_memory *memory, const long_product *p) {
  int64_t found = 1;
  if (memory->product_byte_cost == 0 || p->batch < 1 || p->rows < 1 || p->columns < 1 ||
      p->terms < 1)
    return 1;
  double least = cost_of(memory, p, 1);
  for (int64_t parts = 2; parts <= MOST_PARTS; parts *= 2) {
    double cost = cost_of(memory, p, parts);
    if (cost < least) least = cost, found = parts;
  }
  return found;
}

/* Where all cores are busy twice as many parts are computed no sooner. */
int64_t plan_most_bytes_of_parts(const device_memory *memory, int64_t elements) {
  int64_t busy = 2 * (int64_t)memory->cores * TILE * TILE,
          most = saturated_product(elements, MOST_PARTS);
  return WIDEST_BYTES * min64(busy, most);
}

/* How many terms it has then, with those that are added as zeros. */
static int64_t padded_terms(const long_product *p, int64_t parts) {
  int64_t narrow = min64(p->left_bytes, p->right_bytes),
          multiple = parts * (narrow < ALIGNED_BYTES ? ALIGNED_BYTES / narrow : 1);
  return saturated_product(ceil_div(p->terms, multiple), multiple);
}

/* ---- in the graph ---- */
/* Of operand `side`: the dimension that is summed over. A vector stands either way, or has no
 * other. */
static int32_t summed_dim(const plan_graph *g, const plan_node *dot, int32_t side) {
  const plan_shape *s = &plan_node_get(g, dot->operands[side])->shape;
  if (s->rank < dot->shape.rank) return s->rank - 1;
  bool is_turned = dot->stands & PLAN_DOT_FOLDED & PLAN_DOT_SIDE(side);
  int32_t d = s->rank - 1 - (side ^ is_turned), other = 2 * s->rank - 3 - d;
  bool is_vector = dot->shape.dims[dot->shape.rank - 2 + side] == 1;
  return is_vector && s->dims[d] == 1 ? other : d;
}

static int64_t width_of(const plan_shape *s) { return s->bytes / s->elements; }

static bool may_be_parted(const plan_graph *g, const plan_node *n) {
  bool is = n->kind == IR_OP_DOT_GENERAL && (n->flags & PLAN_FLAG_LIVE) && n->op &&
            n->shape.rank >= 2 && n->shape.rank < IR_MAX_RANK && n->shape.elements > 0 &&
            ir_is_float(n->shape.dtype) && !ir_op_attr(g->m, n->op, "algorithm");
  for (int32_t i = 0; i < 2 && is; i++) {
    const plan_shape *x = &plan_node_get(g, n->operands[i])->shape;
    bool is_vector = x->rank == n->shape.rank - 1 && n->shape.dims[x->rank - 1 + i] == 1;
    is = (x->rank == n->shape.rank || is_vector) && x->elements > 0;
  }
  return is;
}

static long_product product_of(const plan_graph *g, const plan_node *n) {
  const plan_shape *s = &n->shape, *x = &plan_node_get(g, n->operands[0])->shape,
                   *y = &plan_node_get(g, n->operands[1])->shape;
  long_product p = {.rows = s->dims[s->rank - 2],
                    .columns = s->dims[s->rank - 1],
                    .terms = x->dims[summed_dim(g, n, 0)],
                    .left_bytes = width_of(x),
                    .right_bytes = width_of(y),
                    .bytes = ir_dtype_bytes(s->dtype)};
  p.batch = s->elements / (p.rows * p.columns);
  p.summed_bytes = p.bytes < 4 ? 4 : p.bytes;
  return p;
}

static void pad_operand(plan_graph *g, uint32_t dot, int32_t side, int64_t terms) {
  int32_t d = summed_dim(g, plan_node_get(g, dot), side);
  uint32_t id = plan_node_get(g, dot)->operands[side];
  const plan_shape *s = &plan_node_get(g, id)->shape;
  int64_t *dims = ARENA_COPY(g->arena, int64_t, s->dims, s->rank);
  if (dims[d] == terms) return; /* the other side's */
  dims[d] = terms;
  plan_node made = {.kind = IR_OP_PAD, .n_operands = 1, .operands = &id};
  made.shape = plan_shape_make(g->arena, s->dtype, s->rank, dims);
  uint32_t now = plan_node_beside(g, dot, made);
  plan_node *n = plan_node_get(g, dot);
  bool is_same = n->operands[1 - side] == id && summed_dim(g, n, 1 - side) == d;
  n->operands[side] = now;
  if (is_same) n->operands[1 - side] = now;
  plan_put_between(g, id, now, dot); /* the other side may read it as a whole */
}

/* The product is a batch of as many, which no library makes, and who read it reads their sum. */
static void add_parts(plan_graph *g, uint32_t dot, int64_t parts) {
  static const int64_t first = 0;
  plan_shape shape = plan_node_get(g, dot)->shape;
  int64_t *dims = ARENA_ARRAY(g->arena, int64_t, shape.rank + 1);
  dims[0] = parts;
  memcpy(dims + 1, shape.dims, (size_t)shape.rank * sizeof *dims);
  plan_node sum = {.kind = IR_OP_REDUCE, .shape = shape, .ints = &first, .n_ints = 1};
  plan_put_behind(g, dot, sum);
  ir_dtype summed = ir_dtype_bytes(shape.dtype) < 4 ? IR_F32 : shape.dtype;
  plan_node_get(g, dot)->shape = plan_shape_make(g->arena, summed, shape.rank + 1, dims);
  plan_node_get(g, dot)->kind = PLAN_OPAQUE;
}

void plan_part_products(plan_graph *g) {
  uint32_t count = g->nodes.count;
  for (uint32_t id = 1; id < count && g->memory->product_byte_cost > 0; id++) {
    if (!may_be_parted(g, plan_node_get(g, id))) continue;
    long_product p = product_of(g, plan_node_get(g, id));
    int64_t parts = parts_of(g->memory, &p), terms = padded_terms(&p, parts);
    if (parts == 1) continue;
    for (int32_t side = 0; side < 2 && terms != p.terms; side++) pad_operand(g, id, side, terms);
    add_parts(g, id, parts);
    g->is_in_parts = true;
  }
}
