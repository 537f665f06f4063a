/* Axes that are equally long, and that no value has both of, as one. Computations that share a loop
 * and nothing else (two kernel matrices; logits, and the sum of a one-hot mask, as the gradient of
 * log_softmax has it) have two axes of rows, and a nest has one. A sum over features, and features
 * that are summed up (attention over chosen keys), have two of columns. In: axes in place.
 */
#include "kernel/nest.h"

static void rename_in(kernel_axes *axes, int32_t from, int32_t to) {
  for (int32_t i = 0; i < axes->rank; i++)
    if (axes->of[i] == from) axes->of[i] = (int8_t)to;
}

static uint32_t renamed(uint32_t mask, int32_t from, int32_t to) {
  return mask >> from & 1 ? (mask & ~(1u << from)) | 1u << to : mask;
}

static void rename_axis(kernel_nest *n, int32_t from, int32_t to) {
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    for (uint32_t i = 0; i < x->n_operands; i++) rename_in(&x->operands[i], from, to);
    rename_in(&x->result, from, to);
    x->mask = renamed(x->mask, from, to);
    x->reduces = renamed(x->reduces, from, to);
  }
  for (uint32_t j = 0; j < n->n_outputs; j++) rename_in(&n->outputs[j].axes, from, to);
  n->positions = renamed(n->positions, from, to);
  n->strided = renamed(n->strided, from, to);
  n->extent[to] = n->extent[from];
}

static bool meet(const kernel_nest *n, int32_t a, int32_t b) {
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    uint32_t mask = x->mask | x->reduces;
    if (mask >> a & 1 && mask >> b & 1) return true;
  }
  return false;
}

/* b, the larger number, becomes a; the last axis takes b's place. */
static void merge_pair(kernel_nest *n, int32_t a, int32_t b) {
  CTX_CHECK(n->m->ctx, 0 <= a && a < b && b < n->n_axes);
  CTX_CHECK(n->m->ctx, n->extent[a] == n->extent[b] && !meet(n, a, b));
  rename_axis(n, b, a);
  rename_axis(n, --n->n_axes, b);
}

bool kernel_may_merge(const kernel_nest *n, int32_t a, int32_t b) {
  return n->extent[a] == n->extent[b] && !((n->positions | n->strided) & (1u << a | 1u << b)) &&
         !meet(n, a, b);
}

kernel_nest kernel_merged(const kernel_nest *n, int32_t a, int32_t b) {
  kernel_nest copy = *n;
  copy.nodes = ARENA_ARRAY(n->a, kernel_node, n->n_nodes + 1);
  copy.outputs = ARENA_ARRAY(n->a, kernel_output, n->n_outputs + 1);
  memcpy(copy.nodes, n->nodes, n->n_nodes * sizeof *n->nodes);
  memcpy(copy.outputs, n->outputs, n->n_outputs * sizeof *n->outputs);
  merge_pair(&copy, a, b);
  return copy;
}

bool kernel_merge_axes(kernel_nest *n) {
  int32_t before = n->n_axes;
  uint32_t results = 0, others = 0;
  for (uint32_t j = 0; j < n->n_outputs; j++) results |= kernel_axes_mask(&n->outputs[j].axes);
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) others |= x->reduces;
  for (int32_t b = n->n_axes - 1; b > 0; b--)
    for (int32_t a = 0; a < b; a++) {
      uint32_t both = 1u << a | 1u << b;
      if ((results & both) != both || others & both || !kernel_may_merge(n, a, b)) continue;
      merge_pair(n, a, b);
      results = renamed(results & ~(1u << b), n->n_axes, b);
      others = renamed(others, n->n_axes, b);
      break;
    }
  return n->n_axes < before;
}
