/* What holds of the estimate's graph between its stages; asserts ask it. Linear. */
#include "plan/peak_graph.h"

/* The operands, each once. */
static uint32_t count_sources(const plan_node *n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_operands; i++) count += plan_operand_index(n, n->operands[i]) == i;
  return count;
}

static bool is_sound(const plan_graph *g, uint32_t comp, uint32_t id) {
  const plan_node *n = plan_node_get(g, id);
  if (n->comp != comp || n->in_place > n->n_operands || n->shape.bytes < 0) return false;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (plan_node_get(g, n->operands[i])->comp != comp) return false;
  for (uint32_t i = 0; i < n->n_users; i++)
    if (plan_operand_index(plan_node_get(g, n->users[i]), id) == UINT32_MAX) return false;
  for (uint32_t i = 0; i < n->n_comps; i++)
    if (n->comps[i] == comp || n->comps[i] >= g->comps.count) return false;
  return true;
}

bool plan_is_sound(const plan_graph *g) {
  for (uint32_t c = 1; c < g->comps.count; c++) {
    const plan_comp *comp = plan_comp_get(g, c);
    uint32_t n_reads = 0, n_users = 0;
    for (uint32_t i = 0; i < comp->nodes.count; i++) {
      const plan_node *n = plan_node_get(g, comp->nodes.at[i]);
      if (!is_sound(g, c, comp->nodes.at[i])) return false;
      n_reads += count_sources(n);
      n_users += n->n_users;
    }
    if (n_reads != n_users) return false; /* whoever reads a node is its user */
    if (comp->nodes.count && plan_node_get(g, comp->root)->comp != c) return false;
  }
  return true;
}

bool plan_is_in_order(const plan_graph *g) {
  bool *is_done = ARENA_ARRAY(g->arena, bool, g->nodes.count);
  for (uint32_t c = 1; c < g->comps.count; c++) {
    const plan_comp *comp = plan_comp_get(g, c);
    for (uint32_t i = 0; i < comp->nodes.count; i++) {
      const plan_node *n = plan_node_get(g, comp->order[i]);
      if (n->comp != c || is_done[comp->order[i]]) return false;
      for (uint32_t k = 0; k < n->n_operands; k++)
        if (!is_done[n->operands[k]]) return false;
      is_done[comp->order[i]] = true;
    }
  }
  return true;
}
