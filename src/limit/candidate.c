#include "limit/candidate.h"

#include <string.h>

#include "base/saturate.h"
#include "ir/convolution.h"
#include "limit/result.h"
#include "limit/steps.h"
#include "plan/cost.h"

candidate candidate_as_it_came(const job *j, plan_order order, verdict needs) {
  const weir_summary *s = &j->result->summary;
  return (candidate){.order = order,
                     .needs = needs,
                     .flops = s->flops_before,
                     .time_ns = (double)s->time_before_ns};
}

candidate candidate_of_order(ir_module *m, const split_order *order, verdict needs) {
  return (candidate){.m = m,
                     .order = order->order,
                     .needs = needs,
                     .made = order->made,
                     .flops = order->flops,
                     .time_ns = order->time_ns,
                     .has_shorter = order->has_shorter,
                     .has_whiles = order->has_whiles,
                     .makes_parts = order->makes_parts,
                     .lacks_room = order->lacks_room};
}

bool candidate_has_loops(const candidate *c, bool as_kernels) {
  for (uint32_t i = 0; i < c->made.count; i++)
    if (c->made.at[i].is_kernel == as_kernels) return true;
  return false;
}

static void order_way(const job *j, const candidate *c, machine_way *out) {
  out->by_memory = plan_is_by_memory(c->order);
  out->unhoisted = !plan_hoists(c->order);
  out->unshared = c->m && !plan_is_shared(c->m, &j->machine);
  out->by_ynn = ir_convolves_by_ynn(c->m ? c->m : j->m);
}

void candidate_options(const job *j, const candidate *c,
                       const char *out_options[MACHINE_MOST_OPTIONS + 1]) {
  ir_module *m = c->m ? c->m : j->m;
  machine_way way = {.is_stock = c->is_stock,
                     .in_functions = c->in_functions,
                     .by_loops = c->in_functions && steps_have_small_products(m)};
  if (!c->is_stock) order_way(j, c, &way);
  out_options[0] = NULL;
  if (j->machine.device || !strcmp(j->options.platform, "cpu"))
    machine_xla_options(&j->machine, way, out_options);
}

/* Where XLA is asked, a limit is held by what it says. */
static bool is_unconfirmed(const job *j, const climb *c) {
  return !c->taken.needs.is_xlas && j->options.memory_limit_bytes && j->options.referee &&
         !c->taken.stock_ns && c->outcome != WEIR_UNTOUCHED;
}

weir_status candidate_accept(job *j, const climb *c) {
  const candidate *t = &c->taken;
  weir_result *r = j->result;
  weir_summary *s = &r->summary;
  CTX_CHECK(&j->c, !c->is_refused);
  CTX_CHECK(&j->c, t->needs.peak >= 0);
  r->outcome = c->outcome;
  if (c->outcome != WEIR_UNTOUCHED) candidate_options(j, t, r->compile_options);
  s->peak_after_bytes = t->needs.peak;
  s->after_is_estimate = !t->needs.is_xlas;
  s->is_unconfirmed = is_unconfirmed(j, c);
  s->only_faster = t->stock_ns > 0;
  if (s->only_faster) s->time_before_ns = saturated_int(t->stock_ns);
  s->time_after_ns = saturated_int(t->time_ns);
  s->flops_after = t->flops;
  for (uint32_t i = 0; i < t->made.count; i++) WEIR_TRY(result_add_loop(&j->c, r, &t->made.at[i]));
  return WEIR_OK;
}
