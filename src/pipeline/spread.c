/* A program that all devices would compute alike, spread over them: its large values sharded.
 *
 * In: a program of several partitions that says nothing of shardings. Which dimension of a large
 * value is sharded is what a loop over slices would take: a factor along which its whole region can
 * be computed in parallel, or summed up. What a region makes gets sdy.sharding_constraints, from
 * which Shardy finds the rest. Arguments and results stay whole on each device.
 * Identity: a constraint computes nothing. Source: Shardy, sharding_constraint.
 */
#include "base/strbuf.h"
#include "ir/shardings.h"
#include "pipeline/pipeline.h"
#include "pipeline/seeds.h"
#include "split/state.h"

static const char AXIS[] = "weir";
enum { WHOLE = -1 };

typedef struct spreading {
  ir_module *m;
  arena *a;
  int64_t devices;
  split_goal goal;
  split_memo known;
  seeds_tried covered; /* by a region whose seed is sharded */
  uint32_t n;          /* of the values that the program came with */
  int32_t *dim;        /* by value: to be sharded along; WHOLE: not */
  ir_value *now;       /* by value: what stands for it */
  VEC(seed) seeds;
  bool any; /* value is to be sharded */
} spreading;

/* ---- which ---- */
static bool says_shardings(const ir_module *m) {
  for (ir_attr a = 1; a < m->attrs.count; a++) {
    const char *text = ir_sharding_text(m, a);
    bool is_rule = text && starts_with(text, "#sdy.op_sharding_rule"); /* of a call: no sharding */
    if (text && !is_rule && starts_with(text, "#sdy.")) return true;
  }
  return false;
}

static void add_seeds(spreading *s, ir_op op) {
  const ir_module *m = s->m;
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; d->kind != IR_OP_CONSTANT && i < d->n_results; i++) {
    ir_value v = d->first_result + i;
    int64_t bytes = ir_is_static_tensor(m, ir_type_of(m, v)) ? ir_value_bytes(m, v) : 0;
    if (bytes > s->goal.threshold_bytes)
      VEC_PUSH(s->a, &s->seeds, (seed){v, d->block, bytes, s->seeds.count});
  }
}

/* All that its members make. */
static void shard_results(spreading *s, const split_region *r, const split_member *x) {
  const ir_op_data *d = ir_op_get(s->m, x->op);
  for (uint32_t i = 0; i < d->n_results && d->kind != IR_OP_CONSTANT; i++) {
    ir_value v = d->first_result + i;
    if (split_is_large(r, v)) seeds_mark_tried(&s->covered, v);
    if (s->dim[v] == WHOLE) s->dim[v] = x->factor.results[i].dim;
  }
}

static void choose_dimension(spreading *s, const seed *x) {
  arena *scratch = arena_create(s->m->ctx);
  split_choice choice;
  if (!seeds_was_tried(&s->covered, x->value) &&
      split_choose(scratch, s->m, x->block, x->value, &s->goal, &s->known, &choice) &&
      choice.region && choice.extent >= s->devices) {
    for (uint32_t i = 0; i < choice.region->members.count; i++)
      shard_results(s, choice.region, &choice.region->members.at[i]);
    s->any = true;
  }
  arena_destroy(scratch);
}

/* ---- how ---- */
static ir_value constrained(spreading *s, ir_block block, ir_value v, int32_t dim) {
  ir_module *m = s->m;
  ir_type type = ir_type_of(m, v);
  if (!ir_is_static_tensor(m, type)) return v;
  strbuf text = strbuf_make(s->a);
  strbuf_printf(&text, "#sdy.sharding<mesh<[\"%s\"=%lld]>, [", AXIS, (long long)s->devices);
  for (int32_t d = 0; d < ir_type_get(m, type)->rank; d++)
    strbuf_printf(&text, d == dim ? "%s{\"%s\"}" : "%s{}", d ? ", " : "", AXIS);
  strbuf_puts(&text, "]>");
  return ir_build_sharding_constraint(m, block, v, text.text);
}

static void rename_operands(spreading *s, ir_op op) {
  ir_op_data *d = ir_op_get(s->m, op);
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_value v = d->operands[i], now = v < s->n ? s->now[v] : v;
    if (ir_value_get(s->m, now)->op != op) d->operands[i] = now;
  }
}

static void rebuild(spreading *s, ir_block block) {
  ir_module *m = s->m;
  ir_ops ops = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    rename_operands(s, op);
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));) rebuild(s, below);
    ir_block_append(m, block, op);
    for (ir_value v, k = 0; (v = ir_result_at(m, op, k)); k++) {
      if (v < s->n && s->dim[v] != WHOLE) s->now[v] = constrained(s, block, v, s->dim[v]);
    }
  }
}

/* Arguments before all that reads them, results before the end. */
static void keep_borders_whole(spreading *s, ir_block main) {
  ir_module *m = s->m;
  ir_ops ops = ir_take_ops(m, main);
  for (ir_value v, i = 0; (v = ir_argument_at(m, main, i)); i++) {
    s->now[v] = constrained(s, main, v, WHOLE);
  }
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    for (uint32_t k = 0; i + 1 == ops.count && k < ir_op_get(m, op)->n_operands; k++) {
      ir_value whole = constrained(s, main, ir_operand(m, op, k), WHOLE);
      ir_op_get(m, op)->operands[k] = whole;
    }
    ir_block_append(m, main, op);
  }
}

bool pipeline_spread(ir_module *m, int64_t threshold_bytes) {
  ir_op function = ir_main_function(m);
  spreading s = {.m = m,
                 .devices = ir_op_int(m, m->root, "mhlo.num_partitions", 1),
                 .goal = {.threshold_bytes = threshold_bytes,
                          .hold_bytes = threshold_bytes,
                          .slice_bytes = threshold_bytes,
                          .cached_bytes = threshold_bytes,
                          .generous_bytes = threshold_bytes,
                          .no_kernels = true},
                 .n = m->values.count};
  if (!function || s.devices <= 1 || says_shardings(m)) return false;
  ir_block main = ir_body(m, function);
  s.a = s.covered.a = arena_create(m->ctx);
  s.dim = ARENA_ARRAY(s.a, int32_t, s.n);
  s.now = ARENA_ARRAY(s.a, ir_value, s.n);
  for (ir_value v = 0; v < s.n; v++) s.dim[v] = WHOLE, s.now[v] = v;
  for (ir_walk w = ir_walk_block(m, main); ir_next(&w);) add_seeds(&s, w.op);
  seeds_sort(s.seeds.at, s.seeds.count, false);
  for (uint32_t i = 0; i < s.seeds.count; i++) choose_dimension(&s, &s.seeds.at[i]);
  split_forget(&s.known);
  if (s.any) {
    keep_borders_whole(&s, main);
    rebuild(&s, main);
  }
  arena_destroy(s.a);
  return s.any;
}
