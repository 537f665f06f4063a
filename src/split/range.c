#include "split/range.h"

#include "base/ints.h"
#include "split/closure.h"
#include "split/held.h"
#include "split/monoid.h"

typedef struct index_range {
  int64_t begin, end;
} index_range;

/* Indices that have some element of the value are between these. */
static index_range indices_on(const ir_module *m, ir_value v, split_pos pos) {
  int64_t last = ir_type_at(m, v)->dims[pos.dim] - 1, unit = pos.unit;
  if (pos.mirrored)
    return (index_range){-floor_div(last - pos.offset, unit),
                         floor_div(pos.offset + unit - 1, unit) + 1};
  return (index_range){floor_div(-pos.offset, unit), floor_div(last - pos.offset, unit) + 1};
}

static void include(index_range *all, const ir_module *m, ir_value v, split_pos pos) {
  if (pos.dim < 0) return;
  index_range here = indices_on(m, v, pos);
  if (all->begin > here.begin) all->begin = here.begin;
  if (all->end < here.end) all->end = here.end;
}

/* In the order in which split/trip.c meets them: what one member puts out, no other does. A sum
 * that nobody puts out is a statistic of this loop: at its end it has to be of all, too. */
static void include_member(split_region *r, const split_member *member, bool *done,
                           index_range *all) {
  const ir_op_data *d = ir_op_get(r->m, member->op);
  bool sums = false;
  if (split_is_partial(r, member)) return;
  for (uint32_t j = 0; j < d->n_results; j++) {
    ir_value v = d->first_result + j;
    bool is_sum = split_makes_sum(&member->factor, j), put_out = split_is_put_out(r, v);
    if (put_out ? done[v] : !is_sum) continue;
    if (!is_sum && member->factor.results[j].dim < 0) continue;
    done[v] = put_out;
    sums |= is_sum;
    include(all, r->m, v, split_core(member->factor.results[j]));
  }
  if (!sums) return;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!member->factor.operands[i].more) /* else another operand says what is counted */
      include(all, r->m, d->operands[i], member->factor.operands[i]);
}

/* What is carried has no middle to begin in. */
static void include_starts(const split_region *r, index_range *all) {
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances); at++) {
    if (!at->traced || !at->factor.carried) continue;
    int64_t begin = indices_on(r->m, at->value, at->pos).begin;
    if (all->begin > begin) all->begin = begin;
  }
}

static bool is_complete(const split_region *r, const split_member *member) {
  split_pos pos = member->factor.operands[0];
  return !pos.mirrored && pos.offset + r->begin * pos.unit == 0 &&
         split_extent(r->m, ir_operand(r->m, member->op, 0), pos) == r->extent;
}

void split_find_range(split_region *r) {
  bool *done = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  index_range all = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < r->members.count; i++)
    include_member(r, &r->members.at[r->by_stage[i]], done, &all);
  if (all.begin >= all.end) return;
  include_starts(r, &all);
  r->begin = all.begin;
  r->extent = all.end - all.begin;
  for (uint32_t i = 0; i < r->members.count; i++)
    if (r->members.at[i].factor.role == SPLIT_REDUCED &&
        split_monoid_needs_all(r->m, r->members.at[i].op) && !is_complete(r, &r->members.at[i]))
      r->failed = true;
}
