/* plan_peak_of(): the stages in order, and what counts. */
#include "plan/peak.h"

#include "base/saturate.h"
#include "ir/fold.h"
#include "plan/peak_graph.h"

static void count_arguments(const plan_graph *g, plan_peak *out) {
  for (uint32_t i = 0; i < g->n_params; i++)
    out->argument_bytes =
        saturated_sum(out->argument_bytes, plan_node_get(g, plan_argument(g, i))->shape.bytes);
}

/* Several results come as a tuple, with a table of pointers. */
static void count_outputs(const plan_graph *g, plan_peak *out) {
  int64_t table = 8 * (int64_t)g->n_outputs;
  bool is_padded = g->memory && g->memory->tile_lanes;
  if (g->n_outputs != 1)
    out->output_bytes = is_padded ? device_least_bytes(g->memory, 1, 1, &table) : table;
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    int64_t bytes = plan_node_get(g, g->outputs[i])->shape.bytes;
    out->output_bytes = saturated_sum(out->output_bytes, bytes);
    if (g->param_of_output[i] >= 0) out->alias_bytes = saturated_sum(out->alias_bytes, bytes);
  }
}

/* All that no order changes but in whether it hoists. */
static plan_graph *unordered(arena *scratch, const ir_module *m, plan_order order,
                             const device_memory *memory) {
  plan_graph *g = plan_lower(scratch, m, order, memory);
  if (!g) return NULL;
  assert(plan_is_sound(g));
  if (plan_has_libraries(g)) plan_merge_products(g);
  else plan_sort_for_top_k(g);
  plan_lay_out(g);
  if (memory) plan_take_epilogues(g);
  if (memory && memory->library_bytes) {
    plan_turn_captures(g);
    plan_pad_products(g);
    plan_part_products(g);
    plan_split_products(g);
  }
  if (memory && memory->copies_for_loops) plan_copy_invariants(g);
  if (memory && memory->spacing_bytes) {
    plan_count_coefficients(g);
    plan_count_small(g);
  }
  assert(plan_is_sound(g));
  plan_fuse(g);
  assert(plan_is_sound(g));
  if (memory && memory->joins_results) plan_join_results(g);
  if (memory) plan_on_device(g);
  plan_insert_copies(g);
  if (memory && memory->library_bytes) plan_fuse_copies(g);
  assert(plan_is_sound(g));
  return g;
}

static void put_in_order(plan_graph *g, plan_order order) {
  if (plan_has_libraries(g)) plan_schedule_gpu(g);
  else plan_schedule(g, order);
  assert(plan_is_in_order(g));
  g->m->ctx->looked_at += g->nodes.count;
}

plan_graph *plan_planned(arena *scratch, const ir_module *m, plan_order order,
                         const device_memory *memory) {
  plan_graph *g = unordered(scratch, m, order, memory);
  if (g) put_in_order(g, order);
  return g;
}

plan_peak plan_peak_of(arena *scratch, const ir_module *m, plan_order order,
                       const device_memory *memory) {
  return plan_peak_under(scratch, m, order, memory, INT64_MAX);
}

/* Of the graph in that order; NULL: nothing. */
static plan_peak peak_in(plan_graph *g, plan_order order, int64_t limit_bytes) {
  plan_peak peak = {0};
  if (!g) return peak;
  const ir_module *m = g->m;
  put_in_order(g, order);
  count_arguments(g, &peak);
  count_outputs(g, &peak);
  CTX_CHECK(m->ctx, peak.alias_bytes <= peak.output_bytes); /* donated bytes are results' */
  int64_t held = plan_held_bytes(&peak);
  plan_assign(g, limit_bytes == INT64_MAX ? limit_bytes : limit_bytes - held, &peak);
  CTX_CHECK(m->ctx, peak.temp_bytes >= 0);
  peak.total_bytes = saturated_sum(held, peak.temp_bytes);
  return peak;
}

/* Devices' XLA tries several orders and takes the best (DefaultMemoryScheduler); *out_order: which.
 * Where one holds the limit the others are not tried. *out_in_parts: products are in parts. */
static plan_peak best_of(arena *scratch, const ir_module *m, const device_memory *memory,
                         int64_t limit_bytes, plan_order *in_out_order, bool *out_in_parts) {
  bool hoists = plan_hoists(*in_out_order) && !memory->keeps_invariants;
  plan_order deep = hoists ? PLAN_ORDER_MEMORY : PLAN_ORDER_MEMORY_UNHOISTED,
             broad = hoists ? PLAN_ORDER_PROGRAM : PLAN_ORDER_PROGRAM_UNHOISTED;
  plan_graph *g = unordered(scratch, m, deep, memory);
  plan_peak peak = peak_in(g, deep, limit_bytes), other;
  *in_out_order = deep;
  *out_in_parts = g && g->is_in_parts;
  bool is_held = limit_bytes != INT64_MAX && peak.total_bytes <= limit_bytes;
  if (is_held || memory->library_bytes) return peak;
  other = peak_in(g, broad, limit_bytes);
  if (other.total_bytes >= peak.total_bytes) return peak;
  *in_out_order = broad;
  return other;
}

/* A program holds its limit on a GPU if it does so with Triton's products, of which some are in
 * parts, and with a library's, which have workspaces: what is larger counts. *out_memory: of which.
 */
static plan_peak larger_of(arena *scratch, const ir_module *m, const device_memory *memory,
                           int64_t limit_bytes, plan_order *in_out_order,
                           device_memory *out_memory) {
  plan_order order = *in_out_order;
  bool is_in_parts;
  *out_memory = *memory;
  plan_peak peak = best_of(scratch, m, memory, limit_bytes, in_out_order, &is_in_parts), other;
  bool is_over = limit_bytes != INT64_MAX && peak.total_bytes > limit_bytes;
  if (!is_in_parts || is_over) return peak;
  out_memory->product_byte_cost = 0; /* none in parts */
  other = best_of(scratch, m, out_memory, limit_bytes, &order, &is_in_parts);
  if (other.total_bytes > peak.total_bytes) {
    *in_out_order = order;
    return other;
  }
  *out_memory = *memory;
  return peak;
}

plan_peak plan_peak_under(arena *scratch, const ir_module *m, plan_order order,
                          const device_memory *memory, int64_t limit_bytes) {
  device_memory way;
  if (memory) return larger_of(scratch, m, memory, limit_bytes, &order, &way);
  return peak_in(unordered(scratch, m, order, NULL), order, limit_bytes);
}

plan_timeline plan_timeline_of(arena *scratch, const ir_module *m, plan_order order,
                               const device_memory *memory) {
  plan_timeline line = {0};
  device_memory way;
  if (memory) {
    larger_of(scratch, m, memory, INT64_MAX, &order, &way);
    memory = &way;
  }
  plan_graph *g = plan_planned(scratch, m, order, memory);
  if (!g) return line;
  plan_peak *peak = &line.peak;
  count_arguments(g, peak);
  count_outputs(g, peak);
  plan_assign_spans(g, &line);
  peak->total_bytes = saturated_sum(plan_held_bytes(peak), peak->temp_bytes);
  return line;
}

/* ---- one op on its own, for who has no estimate at hand ---- */
enum { MOST_MOVES = 16 };

/* XLA multiplies by the inverse of a constant, and of what is repeated. */
static bool is_times_inverse(const ir_module *m, ir_op op) {
  ir_value by = ir_operand(m, op, 1);
  ir_op repeats = ir_maker(m, by, IR_OP_BROADCAST_IN_DIM);
  if (!ir_is_float(ir_type_at(m, by)->dtype)) return false;
  return ir_splat_element(m, by, MOST_MOVES) ||
         (repeats && ir_type_at(m, ir_operand(m, repeats, 0))->rank > 0);
}

bool plan_is_light(const ir_module *m, ir_op op) {
  ir_kind k = ir_kind_of(m, op);
  int flags = ir_kind_flags(k);
  if (k == IR_OP_CONSTANT || k == IR_OP_IOTA) return true;
  if (k == IR_OP_DIVIDE) return is_times_inverse(m, op);
  if (flags & IR_FLAG_H) return false;
  return (flags & (IR_FLAG_E | IR_FLAG_M)) && k != IR_OP_SQRT && k != IR_OP_RSQRT &&
         k != IR_OP_POWER && k != IR_OP_GATHER;
}

static bool takes_in(ir_kind k, int flags) {
  if (k == IR_OP_SCATTER || k == IR_OP_TORCH_INDEX_SELECT) return false;
  return (flags & (IR_FLAG_E | IR_FLAG_M)) != 0;
}

/* A reduction over more than 32 elements reads its operand from memory: XLA makes a tree of
 * windows of it. */
static bool is_small_reduce(const ir_module *m, ir_op op) {
  int32_t count;
  const int64_t *dims = ir_op_ints((ir_module *)m, op, "dimensions", &count);
  for (int32_t i = 0; i < count; i++)
    if (ir_type_at(m, ir_operand(m, op, 0))->dims[dims[i]] > 32) return false;
  return count >= 0;
}

bool plan_may_fuse(const ir_module *m, ir_op op, const ir_users *users) {
  ir_kind kind = ir_kind_of(m, op);
  int flags = ir_kind_flags(kind);
  if (kind == IR_OP_CONSTANT || kind == IR_OP_IOTA) flags |= IR_FLAG_M;
  if (ir_op_get(m, op)->n_results != 1 || !takes_in(kind, flags)) return false;
  ir_value v = ir_result(m, op, 0);
  for (ir_op user, i = 0; (user = ir_user_at(users, v, i)); i++) {
    ir_kind k = ir_kind_of(m, user);
    if (k == IR_OP_REDUCE ? !is_small_reduce(m, user) : !takes_in(k, ir_kind_flags(k)))
      return false;
  }
  return users->first[v] < users->first[v + 1];
}

bool plan_is_materialised(const ir_module *m, ir_op op, const ir_users *users) {
  if (!plan_may_fuse(m, op, users)) return true;
  return ir_user_at(users, ir_result(m, op, 0), 1) && !plan_is_light(m, op);
}
