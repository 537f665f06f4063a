/* Arguments whose memory results may take, named by the module or by the arguments themselves. */
#include "plan/peak_graph.h"

/* Result `output` is made where argument `param` was. What XLA takes for no donation is none: of
 * what there isn't, between different sizes, of an argument or a result that has one. */
static void donate(plan_graph *g, bool *is_given, int64_t param, int64_t output) {
  if (param < 0 || param >= g->n_params || output < 0 || output >= g->n_outputs) return;
  bool is_taken = is_given[param] || g->param_of_output[output] >= 0;
  int64_t bytes = plan_node_get(g, g->outputs[output])->shape.bytes;
  if (is_taken || bytes != plan_node_get(g, plan_argument(g, (uint32_t)param))->shape.bytes) return;
  g->param_of_output[output] = (int32_t)param;
  is_given[param] = true;
}

/* A donor that names no result goes to the first of its size that has none. */
static void give_away(plan_graph *g, bool *is_given, uint32_t param) {
  for (uint32_t i = 0; i < g->n_outputs && !is_given[param]; i++) donate(g, is_given, param, i);
}

/* The attribute `name` of each argument, by argument; IR_NONE where it has none. */
static ir_attr *argument_attrs(plan_graph *g, ir_op function, const char *name) {
  ir_attr *named = ARENA_ARRAY(g->arena, ir_attr, g->n_params + 1);
  for (uint32_t i = 0; i < g->n_params; i++) named[i] = ir_argument_attr(g->m, function, i, name);
  return named;
}

/* How XLA's own modules say it, TensorFlow's among them: one entry of mhlo.input_output_alias.
 * output_index is the place of the result, empty where it is the only one; parameter_index leads
 * into a tuple, which no argument is. */
static void read_module_alias(plan_graph *g, bool *is_given, ir_attr entry) {
  const ir_module *m = g->m;
  ir_attr alias = ir_dict_get(m, entry, "alias"), place = ir_dict_get(m, entry, "output_index"),
          number = ir_dict_get(m, alias, "parameter_number"),
          inner = ir_dict_get(m, alias, "parameter_index");
  if (!place || !number || (inner && ir_attr_get(m, inner)->count)) return;
  const ir_attr_data *output = ir_attr_get(m, place), *param = ir_attr_get(m, number);
  if (output->kind != IR_ATTR_I64S || param->kind != IR_ATTR_INT || output->count > 1) return;
  if (output->count == 1) donate(g, is_given, param->integer, output->ints[0]);
  else if (g->n_outputs == 1) donate(g, is_given, param->integer, 0);
}

static void read_module_aliases(plan_graph *g, bool *is_given) {
  ir_attr attr = ir_op_attr(g->m, g->m->root, "mhlo.input_output_alias");
  const ir_attr_data *list = attr ? ir_attr_get(g->m, attr) : NULL;
  for (int32_t i = 0; list && list->kind == IR_ATTR_ARRAY && i < list->count; i++)
    read_module_alias(g, is_given, list->items[i]);
}

/* As XLA reads them: the module's before the arguments'; what only donates gets what they leave. */
void plan_read_donations(plan_graph *g, ir_op function) {
  bool *is_given = ARENA_ARRAY(g->arena, bool, g->n_params + 1);
  ir_attr *alias = argument_attrs(g, function, "tf.aliasing_output"),
          *donor = argument_attrs(g, function, "jax.buffer_donor");
  g->param_of_output = ARENA_ARRAY(g->arena, int32_t, g->n_outputs);
  for (uint32_t i = 0; i < g->n_outputs; i++) g->param_of_output[i] = -1;
  read_module_aliases(g, is_given);
  for (uint32_t i = 0; i < g->n_params; i++)
    if (alias[i] && ir_attr_get(g->m, alias[i])->kind == IR_ATTR_INT)
      donate(g, is_given, i, ir_attr_get(g->m, alias[i])->integer);
  for (uint32_t i = 0; i < g->n_params; i++)
    if (donor[i] && ir_attr_get(g->m, donor[i])->boolean) give_away(g, is_given, i);
}
