/* What holds of every nest that is covered. */
#include "kernel/roles.h"

static void check_roles(const kernel_nest *n) {
  ctx *c = n->m->ctx;
  CTX_CHECK(c, n->n_axes >= 2 && n->n_axes <= KERNEL_MOST_AXES);
  CTX_CHECK(c, n->row >= 0 && n->row < n->n_axes && n->column >= 0 && n->column < n->n_axes);
  CTX_CHECK(c, n->row != n->column);
  CTX_CHECK(c, !((n->positions | n->strided) & kernel_tile_axes(n)));
  for (int32_t a = 0; a < n->n_axes; a++) {
    CTX_CHECK(c, n->extent[a] >= 0 && n->extent[a] != 1);
    CTX_CHECK(c, (n->role[a] == KERNEL_ROW) == (a == n->row));
    CTX_CHECK(c, (n->role[a] == KERNEL_COLUMN) == (a == n->column));
    CTX_CHECK(c, n->role[a] != KERNEL_OUTER || !((n->positions | n->strided) >> a & 1));
  }
}

/* Statistics that a running sum is brought to are without columns, and run in its pass. */
static void check_terms(const kernel_nest *n, const kernel_node *x) {
  ctx *c = n->m->ctx;
  for (int32_t i = 0; i < x->n_terms; i++) {
    const kernel_node *t = &n->nodes[x->terms[i].node];
    CTX_CHECK(c, t < x && t->is_boundary && !(t->mask >> n->column & 1));
    CTX_CHECK(c, t->level > x->pass && t->ready <= x->phase);
  }
}

/* A reduction is over columns, with a pass that runs it, or over rows, or inside of the tile. */
static void check_node(const kernel_nest *n, const kernel_node *x) {
  ctx *c = n->m->ctx;
  uint32_t row = 1u << n->row, column = 1u << n->column;
  CTX_CHECK(c, kernel_node_of(n, x->value) == x && kernel_axes_mask(&x->result) == x->mask);
  CTX_CHECK(c, !(x->mask & x->reduces));
  CTX_CHECK(c, (x->mask | x->reduces) < 1u << n->n_axes);
  CTX_CHECK(c, x->index < n->n_reductions && x->late < n->n_late);
  CTX_CHECK(c, (x->late >= 0) == !!(x->reduces & row));
  CTX_CHECK(c, (x->index >= 0) == ((x->reduces & (row | column)) == column));
  CTX_CHECK(c, x->index < 0 || x->pass < n->n_passes);
  CTX_CHECK(c, x->level >= 0 && x->level <= n->n_passes);
  CTX_CHECK(c,
            x->n_terms >= 0 && x->n_terms <= KERNEL_MOST_TERMS && (!x->n_terms || x->index >= 0));
  CTX_CHECK(c, !(x->after && x->mask & row));
  CTX_CHECK(c, !(x->is_rowless && x->mask & row));
  CTX_CHECK(c, x->phase >= 0 && x->step >= 0 && x->ready >= 0);
  CTX_CHECK(c, !x->is_product || (x->kind == IR_OP_DOT_GENERAL && (x->index >= 0 || x->late >= 0)));
  CTX_CHECK(c, x->packed != KERNEL_PACKED_ROWS || (x->mask & (row | column)) == row);
  CTX_CHECK(c, x->packed != KERNEL_PACKED_COLUMNS || (x->mask & column && x->is_rowless));
  check_terms(n, x);
  for (uint32_t i = 0; i < x->n_operands; i++) { /* in program order */
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    CTX_CHECK(c, !from || from < x);
    CTX_CHECK(c, !from || from->level <= x->level || from->n_terms);
  }
}

/* Inner axes are in no result, outer ones in all. */
static void check_output(const kernel_nest *n, const kernel_output *o) {
  ctx *c = n->m->ctx;
  CTX_CHECK(c, o->node >= 0 && (uint32_t)o->node < n->n_nodes);
  CTX_CHECK(c, o->level <= n->n_passes && o->phase >= 0);
  CTX_CHECK(c, n->nodes[o->node].value == o->value && n->nodes[o->node].level <= o->level);
  for (int32_t a = 0; a < n->n_axes; a++) {
    bool has = n->nodes[o->node].mask >> a & 1;
    CTX_CHECK(c, n->role[a] != KERNEL_INNER || !has);
    CTX_CHECK(c, n->role[a] != KERNEL_OUTER || has);
  }
}

void kernel_check_nest(const kernel_nest *n) {
  const kernel_sizes *s = &n->sizes;
  ctx *c = n->m->ctx;
  check_roles(n);
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) check_node(n, x);
  for (uint32_t j = 0; j < n->n_outputs; j++) check_output(n, &n->outputs[j]);
  CTX_CHECK(c, n->lanes >= 1);
  CTX_CHECK(c, s->rows >= 1 && s->vectors >= 1);
  CTX_CHECK(c, s->block >= 1 && s->chunk >= 1);
  CTX_CHECK(c, s->spans >= 1 && s->column_spans >= 1);
}
