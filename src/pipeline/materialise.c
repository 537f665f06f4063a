#include "pipeline/materialise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/ints.h"
#include "ir/attrs.h"
#include "ir/flops.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "pass/pass.h"
#include "plan/cost.h"

#define MOST_ELEMENTS 1e15

enum { MOST_SOURCES = 16, ROUNDS = 2, MOST_TRIALS = 3 };

/* One place of a fusion that reads a value: whatever is read there at the same index is one read.
 */
typedef struct source {
  ir_op by;
  double elements; /* that it reads */
} source;

typedef struct sources {
  uint32_t count;
  double elements;  /* of all, also of those beyond MOST_SOURCES */
  bool is_repeated; /* on the way to one of them, by a broadcast */
  source *at;
} sources;

typedef struct repeats {
  ir_module *m;
  arena *a, *scratch; /* for the module, for the block at hand */
  const machine *on;
  machine_rates rates;
  ir_users users;   /* of that block */
  bool *fuses;      /* by op: into all that read its result */
  bool *is_kept;    /* by value: it does, but is to be written */
  double *making;   /* by value: ns of an element, of what is in memory */
  sources *read_by; /* by value, of what fuses in that block */
  double runs;      /* of that block */
  double saved_ns;
} repeats;

static double elements_of(const repeats *r, ir_value v) { return (double)ir_elements(r->m, v); }

/* ---- how often an element is read ---- */
/* Elements of a broadcast's result in a row that are one of its operand: XLA makes that once. */
static double repeated_in_a_row(ir_module *m, ir_op op) {
  ir_ints dims = ir_op_list(m, op, "broadcast_dimensions");
  const ir_type_data *from = ir_type_at(m, ir_operand(m, op, 0)),
                     *to = ir_type_at(m, ir_result(m, op, 0));
  double n = 1;
  for (int32_t d = to->rank; d-- > 0;) {
    int32_t of = ir_ints_find(dims, d);
    if (of >= 0 && from->dims[of] == to->dims[d] && to->dims[d] != 1) break;
    n *= (double)to->dims[d];
  }
  return n;
}

/* Of operand v, where so many elements of the op's result are made. A single number is read before
 * all. */
static double elements_read(const repeats *r, ir_op op, ir_value v, double made) {
  if (elements_of(r, v) <= 1) return 1;
  double share = elements_of(r, v) / fmax(elements_of(r, ir_result(r->m, op, 0)), 1);
  switch (ir_kind_of(r->m, op)) {
    case IR_OP_REDUCE:
    case IR_OP_CONCATENATE: return made * share;
    case IR_OP_PAD: return made * fmin(share, 1);
    case IR_OP_GATHER: return v == ir_operand(r->m, op, 0) ? made : made * fmin(share, 1);
    case IR_OP_BROADCAST_IN_DIM: return made / fmax(repeated_in_a_row(r->m, op), 1);
    default: return made;
  }
}

static void add_source(sources *s, ir_op by, double elements) {
  assert(by && elements >= 0);
  for (uint32_t i = 0; i < s->count; i++)
    if (s->at[i].by == by) return;
  if (s->count < MOST_SOURCES) s->at[s->count++] = (source){by, elements};
  s->elements = fmin(s->elements + elements, MOST_ELEMENTS);
}

static void add_all(sources *s, const sources *more) {
  double beyond = more->elements;
  for (uint32_t i = 0; i < more->count; i++) {
    add_source(s, more->at[i].by, more->at[i].elements);
    beyond -= more->at[i].elements;
  }
  s->elements = fmin(s->elements + fmax(beyond, 0), MOST_ELEMENTS);
}

static bool reads_its_own_index(const repeats *r, ir_op op, ir_value v) {
  return ir_is_elementwise(ir_kind_of(r->m, op)) &&
         elements_of(r, v) == elements_of(r, ir_result(r->m, op, 0));
}

static bool is_in_memory(const repeats *r, ir_op op) {
  return !r->fuses[op] || r->is_kept[ir_result(r->m, op, 0)];
}

static void add_reads_by(const repeats *r, ir_op user, ir_value v, sources *out) {
  if (!ir_op_get(r->m, user)->n_results) return;
  ir_value result = ir_result(r->m, user, 0);
  const sources *s = &r->read_by[result];
  out->is_repeated |= ir_kind_of(r->m, user) == IR_OP_BROADCAST_IN_DIM ||
                      (!is_in_memory(r, user) && s->is_repeated);
  if (is_in_memory(r, user))
    add_source(out, user, elements_read(r, user, v, elements_of(r, result)));
  else if (!reads_its_own_index(r, user, v))
    add_source(out, user, elements_read(r, user, v, s->elements));
  else add_all(out, s);
}

static sources sources_of(const repeats *r, ir_value v) {
  source at[MOST_SOURCES];
  sources s = {.at = at};
  for (ir_op user, i = 0; (user = ir_user_at(&r->users, v, i)); i++) add_reads_by(r, user, v, &s);
  s.at = ARENA_ARRAY(r->scratch, source, s.count);
  if (s.count) memcpy(s.at, at, s.count * sizeof *at);
  return s;
}

/* ---- what an element costs ---- */
static double element_bytes(const repeats *r, ir_value v) {
  return (double)ir_value_bytes(r->m, v) / fmax(elements_of(r, v), 1);
}

/* Where it was a moment ago, at another index. */
static double reread_ns(const repeats *r, ir_value v) {
  return element_bytes(r, v) / r->rates.cached_bytes;
}

static double written_and_read_ns(const repeats *r, ir_value v) {
  bool is_near = (double)ir_value_bytes(r->m, v) <= r->rates.resident_bytes;
  double write = is_near ? r->rates.cached_bytes : r->rates.write_bytes,
         read = is_near ? r->rates.cached_bytes : r->rates.read_bytes;
  return element_bytes(r, v) * (1 / write + 1 / read);
}

/* A place is a number that is counted up; what comes from several is chosen for each element. */
static double own_ns(const repeats *r, ir_op op) {
  ir_kind k = ir_kind_of(r->m, op);
  bool is_chosen = k == IR_OP_CONCATENATE || k == IR_OP_PAD || k == IR_OP_GATHER;
  if (!ir_is_elementwise(k) && !is_chosen) return 0;
  return plan_making_ns(r->m, op, r->on) / fmax(elements_of(r, ir_result(r->m, op, 0)), 1);
}

static bool is_made_anew(const repeats *r, ir_value v, ir_block block) {
  ir_op by = ir_value_get(r->m, v)->op;
  return by && ir_op_get(r->m, by)->block == block && !is_in_memory(r, by);
}

/* Operands come first. */
static double making_ns(const repeats *r, ir_op op) {
  double ns = own_ns(r, op);
  for (ir_value v, i = 0; (v = ir_operand_at(r->m, op, i)); i++) {
    bool is_made = is_made_anew(r, v, ir_op_get(r->m, op)->block);
    ns += elements_read(r, op, v, 1) * (is_made ? r->making[v] : reread_ns(r, v));
  }
  return fmin(ns, MOST_ELEMENTS);
}

/* 0: it is not worth being written. */
static double saved_ns(const repeats *r, ir_value v) {
  double n = elements_of(r, v), reads = r->read_by[v].elements, making = r->making[v],
         again = reads * making,
         kept = n * (making + written_and_read_ns(r, v)) + reads * reread_ns(r, v) + r->rates.op_ns;
  return again > TUNED_AGAIN * kept ? again - kept : 0;
}

/* ---- which ---- */
static bool fuses(const repeats *r, ir_op op) {
  return ir_op_get(r->m, op)->n_results == 1 && pass_is_static(r->m, op) &&
         ir_kind_of(r->m, op) != IR_OP_DYNAMIC_UPDATE_SLICE && plan_may_fuse(r->m, op, &r->users);
}

static void note_making(repeats *r, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(r->m, block, i)); i++)
    if (r->fuses[op]) r->making[ir_result(r->m, op, 0)] = making_ns(r, op);
}

/* What is dear and repeated. */
static bool is_kept_by_xla(const repeats *r, ir_op op) {
  return r->read_by[ir_result(r->m, op, 0)].is_repeated && !plan_is_light(r->m, op);
}

/* Readers come before what they read; what only moves elements is as cheap as its operand. Returns
 * what is saved. */
static double decide(repeats *r, ir_block block) {
  const ir_block_data *b = ir_block_get(r->m, block);
  double all_ns = 0;
  for (uint32_t k = b->ops.count; k-- > 0;) {
    ir_op op = b->ops.at[k];
    if (!r->fuses[op]) continue;
    ir_value v = ir_result(r->m, op, 0);
    r->read_by[v] = sources_of(r, v);
    r->fuses[op] = !is_kept_by_xla(r, op);
    double ns = r->fuses[op] && ir_is_elementwise(ir_kind_of(r->m, op)) ? saved_ns(r, v) : 0;
    r->is_kept[v] = ns > 0;
    all_ns += ns;
  }
  return all_ns;
}

/* What a value is made of may be written, too, which the first round does not know yet. */
static void find_in(repeats *r, ir_block block) {
  double ns = 0;
  r->scratch = arena_create(r->m->ctx); /* lists by value of the module, for each block */
  r->users = ir_users_of_block(r->scratch, r->m, block);
  for (ir_op op, i = 0; (op = ir_op_at(r->m, block, i)); i++) r->fuses[op] = fuses(r, op);
  for (int round = 0; round < ROUNDS; round++) {
    note_making(r, block);
    ns = decide(r, block);
  }
  r->saved_ns += r->runs * ns;
  arena_destroy(r->scratch);
}

/* Blocks that XLA runs op by op: the function's, and those of whiles and branches below. */
static void find_below(repeats *r, ir_block block) {
  find_in(r, block);
  for (ir_op op, i = 0; (op = ir_op_at(r->m, block, i)); i++) {
    ir_kind k = ir_kind_of(r->m, op);
    bool has_ops = k == IR_OP_WHILE || k == IR_OP_CASE || k == IR_OP_IF;
    double outer = r->runs;
    r->runs *= k == IR_OP_WHILE ? (double)ir_trips_or_one(r->m, op) : 1;
    for (ir_block below, j = 0; has_ops && (below = ir_next_block(r->m, op, &j));)
      find_below(r, below);
    r->runs = outer;
  }
}

/* ---- writing ---- */
/* A trial: values up to so many bytes. */
typedef struct writer {
  const repeats *r;
  ir_module *m; /* that of the repeats, or a clone */
  int64_t most_bytes;
  ir_map *written; /* what is read instead */
  int32_t count;
} writer;

static bool is_to_be_written(const writer *w, ir_op op) {
  if (ir_op_get(w->m, op)->n_results != 1) return false;
  ir_value v = ir_result(w->m, op, 0);
  return w->r->is_kept[v] && ir_value_bytes(w->m, v) <= w->most_bytes;
}

static void write_in(writer *w, ir_block block) {
  ir_builder b = {w->m, block, IR_NONE};
  ir_ops old = ir_take_ops(w->m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    ir_rename_operands(w->m, op, w->written);
    ir_block_append(w->m, block, op);
    for (ir_block below, j = 0; (below = ir_next_block(w->m, op, &j));) write_in(w, below);
    if (!is_to_be_written(w, op)) continue;
    ir_value v = ir_result(w->m, op, 0);
    ir_map_set(w->written, v, ir_build_kept(&b, v));
    w->count++;
  }
}

static int32_t write_values(const repeats *r, ir_module *m, int64_t most_bytes) {
  writer w = {.r = r, .m = m, .most_bytes = most_bytes, .written = ir_map_new(r->a, m)};
  write_in(&w, ir_body(m, ir_main_function(m)));
  return w.count;
}

static bool holds(const repeats *r, int64_t most_bytes, materialise_room *room) {
  ir_module *trial = ir_module_clone(r->m);
  int32_t count = write_values(r, trial, most_bytes);
  arena *scratch = arena_create(trial->ctx);
  room->peak_bytes = plan_peak_of(scratch, trial, room->order, NULL).total_bytes;
  arena_destroy(scratch);
  ir_module_destroy(trial);
  ctx_log(r->m->ctx, 3, "%d values written that would be made again: estimated peak %lld", count,
          (long long)room->peak_bytes);
  return room->peak_bytes <= room->limit_bytes;
}

/* Of what is to be written, up to so many bytes; 0: nothing is. */
static int64_t largest_bytes(const repeats *r, int64_t most_bytes) {
  int64_t largest = 0;
  for (ir_value v = 0; v < r->m->values.count; v++) {
    int64_t bytes = r->is_kept[v] ? ir_value_bytes(r->m, v) : 0;
    if (bytes <= most_bytes) largest = max64(largest, bytes);
  }
  return largest;
}

/* The largest size of values that hold the limit together; 0: none does. */
static int64_t most_bytes_within(const repeats *r, materialise_room *room) {
  int64_t most = largest_bytes(r, INT64_MAX);
  for (int i = 0; most && room->limit_bytes && !holds(r, most, room); i++)
    most = i + 1 < MOST_TRIALS ? largest_bytes(r, most / 8) : 0;
  return most;
}

int32_t materialise_repeated(ir_module *m, const machine *on, materialise_room *in_out) {
  ir_op main = ir_main_function(m);
  assert(in_out->limit_bytes >= 0);
  if (!main) return 0;
  arena *a = arena_create(m->ctx);
  repeats r = {.m = m,
               .a = a,
               .on = on,
               .rates = machine_rates_of(on),
               .fuses = ARENA_ARRAY(a, bool, m->ops.count),
               .is_kept = ARENA_ARRAY(a, bool, m->values.count),
               .making = ARENA_ARRAY(a, double, m->values.count),
               .read_by = ARENA_ARRAY(a, sources, m->values.count),
               .runs = 1};
  find_below(&r, ir_body(m, main));
  int64_t most = r.saved_ns >= in_out->least_ns ? most_bytes_within(&r, in_out) : 0;
  int32_t count = most ? write_values(&r, m, most) : 0;
  in_out->saved_ns = r.saved_ns;
  arena_destroy(a);
  return count;
}
