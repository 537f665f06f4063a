/* Flops and predicted time: see cost.h. All formulas are here.
 *
 * Time of an op = max(its arithmetic, its memory traffic) + one overhead. Dots run at the GEMM
 * rate of their shape; elementwise arithmetic that fuses costs its transcendental functions and,
 * where the value is materialised, its bytes; fresh memory is charged for being touched the
 * first time. The rates are the machine's (machine/cpu.h). */
#include "plan/cost.h"

#include <math.h>

#include "base/saturate.h"
#include "ir/attrs.h"
#include "ir/calls.h"
#include "ir/convolution.h"
#include "ir/flops.h"
#include "ir/lapack.h"
#include "ir/turned.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "plan/peak.h"

int64_t plan_flops(ir_module *m) {
  ir_op function = ir_main_function(m);
  if (!function) return 0;
  arena *scratch = arena_create(m->ctx);
  int64_t flops = ir_block_flops(scratch, m, ir_body(m, function));
  arena_destroy(scratch);
  return flops;
}

/* ---- time ---- */
typedef struct clock_state {
  ir_module *m;
  arena *scratch;
  const machine *on;
  machine_rates rates;
  int depth;
  bool in_loop;                 /* pages are fresh in the first trip only */
  bool in_while;                /* XLA leaves the order of convolutions' dimensions as it is */
  bool no_traffic;              /* arithmetic alone */
  double runs;                  /* of the block at hand */
  double together_ns, alone_ns; /* of all that XLA gives to several threads: with, and without */
  int32_t cores;
  uint32_t *seen, turn;  /* by value: in the fusion at hand; NULL: nobody asks */
  uint8_t *is_in_memory; /* by op: what is known of it */
} clock_state;

static double block_ns(clock_state *c, ir_block block);

/* Asked once of each op: of one that many read all of them are looked at. */
static bool is_materialised(clock_state *c, ir_op op, const ir_users *users) {
  enum { NOT_ASKED, NO, YES };
  if (c->is_in_memory[op] == NOT_ASKED)
    c->is_in_memory[op] = plan_is_materialised(c->m, op, users) ? YES : NO;
  return c->is_in_memory[op] == YES;
}

/* Moving a value between memory and the cores once. */
static double traffic_ns(const clock_state *c, double bytes, bool fresh) {
  if (bytes <= c->rates.resident_bytes) return bytes / c->rates.cached_bytes;
  double ns = bytes / c->rates.copied_bytes;
  return fresh && !c->in_loop && bytes >= c->rates.fresh_from_bytes
             ? ns + bytes / c->rates.fresh_bytes
             : ns;
}

static double gemm_flops(const clock_state *c, ir_dtype t) {
  return ir_dtype_bytes(t) >= 8 ? c->rates.gemm_f64_flops : c->rates.gemm_f32_flops;
}

/* Reading it is all of a product with a vector. A loop's trips find it in a cache, but each of
 * short rows is a sum of its own. */
static double matrix_ns(const clock_state *c, const ir_gemm *g, double bytes) {
  const machine_rates *r = &c->rates;
  bool is_again = c->in_while || c->in_loop,
       is_near = bytes <= r->resident_bytes && g->batch <= 1 && g->inner >= TUNED_NEAR_TERMS,
       is_in_l3 = bytes > r->resident_bytes && bytes <= (double)c->on->l3_bytes;
  double rate = is_again && is_near    ? r->near_matrix_bytes
                : is_again && is_in_l3 ? r->l3_matrix_bytes
                                       : r->matrix_bytes;
  return bytes / rate;
}

/* A matrix and a vector: reading the matrix is all of it. */
static bool is_thin_product(const clock_state *c, ir_op op) {
  ir_gemm g;
  ir_kind k = ir_kind_of(c->m, op);
  return (k == IR_OP_DOT || k == IR_OP_DOT_GENERAL) && ir_dot_gemm(c->m, op, &g) &&
         (g.rows <= 1 || g.columns <= 1);
}

/* Few terms are no slower: what is made has to be written then, which is counted beside. */
static double dot_ns(clock_state *c, ir_op op) {
  ir_gemm g;
  if (!ir_dot_gemm(c->m, op, &g)) return 0;
  ir_dtype t = ir_type_at(c->m, ir_operand(c->m, op, 0))->dtype;
  double rows = (double)g.rows, columns = (double)g.columns, inner = (double)g.inner,
         thin = fmin(rows, columns), batch = (double)g.batch,
         call_ns = inner > 1 ? c->rates.product_ns : 0; /* else XLA fuses it */
  if (thin <= 1)
    return matrix_ns(c, &g, batch * inner * fmax(rows, columns) * (double)ir_dtype_bytes(t));
  double flops = 2 * batch * rows * columns * inner;
  return flops / gemm_flops(c, t) * (1 + TUNED_HALF_ROWS / thin) +
         (batch > 1 ? batch / c->rates.batched : call_ns);
}

static double bytes_of(const clock_state *c, ir_value v) { return (double)ir_value_bytes(c->m, v); }

/* In a while a library takes no other order than its own: pass/channels_last.c. */
static ir_convolver convolver_of(clock_state *c, ir_op op) {
  ir_conv_numbers n;
  if (!ir_conv_dims(c->scratch, c->m, op, &n)) return c->in_while ? IR_BY_LOOPS : IR_BY_EIGEN;
  ir_convolver by = ir_convolver_of(c->m, op, &n);
  ir_conv_numbers wanted = ir_conv_channels_last(c->scratch, n.input_spatial.count, false);
  bool has_groups = ir_op_int(c->m, op, "feature_group_count", 1) > 1;
  bool is_taken =
      !c->in_while || (by == IR_BY_EIGEN && has_groups) || ir_conv_stands_so(c->m, op, &n, &wanted);
  return is_taken ? by : IR_BY_LOOPS;
}

/* What the library takes for a point, however few its channels are; windows of one point are
 * products. */
static double points_ns(clock_state *c, ir_op op) {
  ir_conv_numbers n;
  const ir_type_data *kernel = ir_type_at(c->m, ir_operand(c->m, op, 1)),
                     *out = ir_type_at(c->m, ir_result(c->m, op, 0));
  if (!ir_conv_dims(c->scratch, c->m, op, &n)) return 0;
  double points = (double)ir_op_int(c->m, op, "feature_group_count", 1), taps = 1;
  for (int32_t d = 0; d < out->rank; d++)
    if (d != n.output_feature) points *= (double)out->dims[d];
  for (int32_t i = 0; i < n.kernel_spatial.count; i++)
    taps *= (double)kernel->dims[n.kernel_spatial.at[i]];
  if (taps <= 1) return 0;
  return points * (1 / c->rates.conv_points + taps / c->rates.conv_taps);
}

static double library_convolution_ns(clock_state *c, ir_op op) {
  bool is_double = ir_type_at(c->m, ir_result(c->m, op, 0))->dtype == IR_F64;
  return (double)ir_op_flops(c->scratch, c->m, op) / c->rates.conv_flops * (is_double ? 2 : 1) +
         points_ns(c, op);
}

/* Loops skip the zeros. */
static double convolution_by_loops_ns(clock_state *c, ir_op op) {
  ir_ints dilation = ir_op_list(c->m, op, "lhs_dilation");
  double flops = (double)ir_op_flops(c->scratch, c->m, op);
  for (int32_t i = 0; i < dilation.count; i++) flops /= (double)dilation.at[i];
  return flops / c->rates.conv_loops_flops;
}

/* As if the faster way were taken in a loop; pass/channels_last.c decides by sizes that were
 * measured, which say the same of few products. */
static double convolution_ns(clock_state *c, ir_op op) {
  if (convolver_of(c, op) == IR_BY_LOOPS) return convolution_by_loops_ns(c, op);
  double ns = library_convolution_ns(c, op);
  return c->in_loop || c->in_while ? fmin(ns, convolution_by_loops_ns(c, op)) : ns;
}

/* Elements of a gather's result to a place. */
static double window_of(const ir_module *m, ir_op op) {
  ir_ints slice = ir_op_list(m, op, "slice_sizes");
  int64_t n = 1;
  for (int32_t d = 0; d < slice.count; d++) n = saturated_product(n, slice.at[d]);
  return n > 0 ? (double)n : 1;
}

static double window_bytes(const ir_module *m, ir_op op) {
  return window_of(m, op) * (double)ir_dtype_bytes(ir_type_at(m, ir_result(m, op, 0))->dtype);
}

/* Long windows are copied as fast as memory is. */
static double gather_ns(const clock_state *c, ir_op op) {
  double n = (double)ir_elements(c->m, ir_result(c->m, op, 0)),
         places = n / window_of(c->m, op) / c->rates.places;
  bool is_long = window_bytes(c->m, op) >= TUNED_LONG_ROW_BYTES;
  return is_long ? places : places + n / c->rates.copied;
}

/* Places of rows, which are added up in vectors. */
static double scatter_ns(const clock_state *c, ir_op op) {
  const ir_op_data *d = ir_op_get(c->m, op);
  double n = (double)ir_elements(c->m, d->operands[d->n_operands - 1]),
         places = (double)ir_elements(c->m, d->operands[d->n_operands / 2]);
  return fmin(n, places) / c->rates.scattered + n / c->rates.copied;
}

static double top_k_ns(const clock_state *c, ir_op op) {
  const ir_type_data *t = ir_type_at(c->m, ir_operand(c->m, op, 0));
  double n = (double)ir_elements(c->m, ir_operand(c->m, op, 0)),
         kept = (double)ir_elements(c->m, ir_result(c->m, op, 0)),
         length = t->rank && t->dims[t->rank - 1] > 0 ? (double)t->dims[t->rank - 1] : 1;
  if (n <= 0 || kept <= 0) return 0;
  double rows = n / length, k = kept / rows;
  return n / c->rates.top_k + rows * machine_heap_ns(&c->rates, k, length);
}

/* Numbers are compared as their bits say, NaN last; integers as they are. */
static double sort_ns(clock_state *c, ir_op op) {
  double steps = (double)ir_op_flops(c->scratch, c->m, op);
  bool plain = !ir_is_float(ir_type_at(c->m, ir_operand(c->m, op, 0))->dtype) &&
               ir_op_get(c->m, op)->n_operands == 1;
  return steps / (plain ? c->rates.sorted_plain : c->rates.sorted);
}

/* Linear algebra by a library: as many steps for each element of the matrix as it is long; of
 * triangular systems for each element of the right side, and for the matrix as for some columns. */
static double library_ns(const clock_state *c, ir_op op) {
  ir_value a = ir_operand(c->m, op, 0);
  const ir_type_data *t = ir_type_at(c->m, a);
  double length = t->rank ? (double)t->dims[t->rank - 1] : 1, matrix = (double)ir_elements(c->m, a),
         steps = matrix * length;
  if (ir_is_lapack(c->m, op, "trsm"))
    steps =
        (double)ir_elements(c->m, ir_operand(c->m, op, 1)) * fmax(length, TUNED_LEAST_EQUATIONS) +
        TUNED_SOLVED * matrix;
  if (ir_is_lapack(c->m, op, "potrf")) steps /= 3;
  return steps / (gemm_flops(c, t->dtype) / 4);
}

/* Exponentials that XLA takes as long for as for one of the op's elements; 0: it is no function. */
static double exponentials_of(const clock_state *c, ir_kind k, bool wide) {
  double alike = ir_kind_flags(k) & IR_FLAG_H ? 1 : 0;
  if (!c->rates.by_function) return alike;
  switch (k) {
#define FUNCTION(op, kernel_f32, kernel_f64, xla_f32, xla_f64)                                     \
  case IR_OP_##op:                                                                                 \
    return wide ? (xla_f64) : (xla_f32);
#include "machine/functions.def"
#undef FUNCTION
    default: return alike;
  }
}

/* n elements of an elementwise op, or of a reduction. */
static double elements_ns(const clock_state *c, ir_op op, double n) {
  const ir_op_data *d = ir_op_get(c->m, op);
  const ir_type_data *t = ir_type_at(c->m, d->first_result);
  bool wide = t->kind == IR_TYPE_TENSOR && ir_dtype_bytes(t->dtype) >= 8;
  bool is_heavy = ir_is_float(t->dtype) || ir_kind_flags(d->kind) & IR_FLAG_H;
  double heavy = is_heavy ? exponentials_of(c, d->kind, wide) : 0;
  return n * (wide ? 2 : 1) * (heavy > 0 ? heavy / c->rates.heavy : 1 / c->rates.simple);
}

/* Of what is read as it lies after a transpose, which is fused: one in another block was a loop of
 * its own, and what it made is read in order. What products and sums read they turn themselves. */
static double turned_ns(const clock_state *c, ir_op op, ir_value v) {
  ir_op by = ir_value_get(c->m, v)->op;
  ir_turn turn;
  if (!ir_is_turned(c->m, by, &turn) || ir_op_get(c->m, by)->block != ir_op_get(c->m, op)->block)
    return 0;
  double bytes = (double)ir_dtype_bytes(ir_type_at(c->m, v)->dtype);
  return (double)ir_elements(c->m, v) *
         machine_apart_ns(c->on, &c->rates, turn.stride * bytes, turn.apart);
}

/* Of all operands, besides what is computed and moved. */
static double turns_ns(const clock_state *c, ir_op op) {
  double ns = 0;
  bool reads = ir_is_elementwise(ir_kind_of(c->m, op)) && !c->no_traffic;
  for (ir_value v, i = 0; reads && (v = ir_operand_at(c->m, op, i)); i++) ns += turned_ns(c, op, v);
  return ns;
}

/* Windows are summed one by one; long ones in tiles, whose sums are summed likewise. */
static double window_sum_ns(const clock_state *c, ir_op op) {
  ir_ints window = ir_op_list(c->m, op, "window_dimensions");
  double points = 1;
  for (int32_t d = 0; d < window.count; d++) points *= (double)window.at[d];
  double made = (double)ir_elements(c->m, ir_result(c->m, op, 0));
  return elements_ns(c, op, made * fmin(points, 1.5 * CPU_SCAN_TILE));
}

static double reduction_ns(const clock_state *c, ir_op op) {
  const ir_op_data *d = ir_op_get(c->m, op);
  double n = (double)ir_elements(c->m, d->operands[0]);
  return d->n_operands > 2 ? n / c->rates.variadic : elements_ns(c, op, n);
}

static double arithmetic_ns(clock_state *c, ir_op op) {
  const ir_module *m = c->m;
  const ir_op_data *d = ir_op_get(m, op);
  switch (d->kind) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL: return dot_ns(c, op);
    case IR_OP_CONVOLUTION: return convolution_ns(c, op);
    case IR_OP_CHOLESKY:
    case IR_OP_TRIANGULAR_SOLVE:
      return (double)ir_op_flops(c->scratch, c->m, op) / (c->rates.gemm_f64_flops / 4);
    case IR_OP_CUSTOM_CALL: return ir_lapack_batch_rank(m, op) < 0 ? 0 : library_ns(c, op);
    case IR_OP_SORT: return sort_ns(c, op);
    case IR_OP_CHLO_TOP_K: return top_k_ns(c, op);
    case IR_OP_FFT: return (double)ir_op_flops(c->scratch, c->m, op) / c->rates.fft_flops;
    case IR_OP_SCATTER: return scatter_ns(c, op);
    case IR_OP_GATHER: return gather_ns(c, op);
    case IR_OP_REDUCE: return reduction_ns(c, op);
    case IR_OP_REDUCE_WINDOW: return window_sum_ns(c, op);
    default: break;
  }
  bool is_counted = d->n_results && ir_kind_flags(d->kind) & (IR_FLAG_E | IR_FLAG_R);
  return is_counted ? elements_ns(c, op, (double)ir_elements(m, d->first_result)) : 0;
}

/* In a while a part of what is carried is read or written where it is; of what an elementwise op
 * makes in the same fusion all is written. */
static bool is_in_place(clock_state *c, ir_op op, const ir_users *users) {
  ir_kind k = ir_kind_of(c->m, op);
  if (!c->in_while || (k != IR_OP_DYNAMIC_SLICE && k != IR_OP_DYNAMIC_UPDATE_SLICE)) return false;
  ir_op by = ir_value_get(c->m, ir_operand(c->m, op, 0))->op;
  return k == IR_OP_DYNAMIC_SLICE || !by || !ir_is_elementwise(ir_kind_of(c->m, by)) ||
         ir_op_get(c->m, by)->block != ir_op_get(c->m, op)->block || is_materialised(c, by, users);
}

static double part_ns(clock_state *c, ir_op op) {
  ir_value part = ir_kind_of(c->m, op) == IR_OP_DYNAMIC_SLICE ? ir_result(c->m, op, 0)
                                                              : ir_operand(c->m, op, 1);
  return 2 * traffic_ns(c, bytes_of(c, part), false);
}

/* Of a table no more is read than the lines that are gathered from. */
static double read_ns(const clock_state *c, ir_op op, uint32_t i) {
  double bytes = bytes_of(c, ir_operand(c->m, op, i)), ns = traffic_ns(c, bytes, false);
  if (i > 0 || ir_kind_of(c->m, op) != IR_OP_GATHER || bytes <= c->rates.resident_bytes) return ns;
  double row = window_bytes(c->m, op),
         places = (double)ir_elements(c->m, ir_result(c->m, op, 0)) / window_of(c->m, op);
  return fmin(ns, places * fmax(row, CPU_LINE_BYTES) / c->rates.copied_bytes);
}

/* Reading what is in memory and writing the result if it goes there. */
static double memory_ns(clock_state *c, ir_op op, const ir_users *users) {
  const ir_op_data *d = ir_op_get(c->m, op);
  double ns = 0;
  if (c->no_traffic || !is_materialised(c, op, users)) return 0;
  if (is_in_place(c, op, users)) return part_ns(c, op);
  for (uint32_t i = 0; i < d->n_results; i++)
    ns += traffic_ns(c, bytes_of(c, d->first_result + i), true);
  bool is_read = is_thin_product(c, op); /* as its arithmetic */
  for (uint32_t i = 0; i < d->n_operands && !is_read; i++) ns += read_ns(c, op, i);
  return ns;
}

/* Once. */
static double block_in_trips_ns(clock_state *c, ir_block block, double trips) {
  double outer = c->runs;
  c->runs *= trips;
  double ns = block_ns(c, block);
  c->runs = outer;
  return ns;
}

static double loop_ns(clock_state *c, ir_op op) {
  int64_t as_kernel = ir_op_int(c->m, op, "kernel_ns", -1);
  if (as_kernel >= 0) return (double)as_kernel;
  double trips = (double)ir_trips_or_one(c->m, op);
  bool outer = c->in_loop;
  c->in_loop = true;
  double ns = block_in_trips_ns(c, ir_body(c->m, op), trips);
  c->in_loop = outer;
  for (uint32_t i = 0; i < ir_op_get(c->m, op)->n_results; i++) /* results fill up slice by slice */
    ns += traffic_ns(c, bytes_of(c, ir_result(c->m, op, i)) / trips, false);
  return trips * (ns + c->rates.trip_ns);
}

/* ---- what XLA gives to several threads ---- */
typedef struct effort { /* of what it fuses into one op, as it counts */
  double flops, functions, bytes;
  int32_t room;
} effort;

enum { MOST_FUSED = 64 };

static bool joins_fusions(ir_kind k) {
  return k == IR_OP_CONSTANT || k == IR_OP_IOTA ||
         ((ir_kind_flags(k) & (IR_FLAG_E | IR_FLAG_M)) && k != IR_OP_SCATTER);
}

/* A product that sums nothing up is one of broadcasts in XLA, which fuses it. */
static bool is_outer_product(const ir_module *m, ir_op op) {
  ir_kind k = ir_kind_of(m, op);
  if (k != IR_OP_DOT && k != IR_OP_DOT_GENERAL) return false;
  int64_t made = ir_elements(m, ir_result(m, op, 0));
  if (made < ir_elements(m, ir_operand(m, op, 0)) || made < ir_elements(m, ir_operand(m, op, 1)))
    return false; /* most, without a look at their dimensions */
  arena *scratch = arena_create(m->ctx);
  ir_gemm g;
  bool is_outer = ir_dot_gemm(m, op, &g) && g.inner == 1;
  arena_destroy(scratch);
  return is_outer;
}

static bool stock_fuses(const ir_module *m, ir_op op) {
  return joins_fusions(ir_kind_of(m, op)) || is_outer_product(m, op);
}

static void add_operands(clock_state *c, ir_op op, const ir_users *users, effort *e);

static void add_op(clock_state *c, ir_op op, const ir_users *users, effort *e) {
  int flags = ir_kind_flags(ir_kind_of(c->m, op));
  const ir_op_data *d = ir_op_get(c->m, op);
  double n = (double)ir_elements(c->m, flags & IR_FLAG_R ? d->operands[0] : d->first_result);
  if (flags & IR_FLAG_H) e->functions += n;
  else if (flags & (IR_FLAG_E | IR_FLAG_R)) e->flops += n;
  add_operands(c, op, users, e);
}

/* Each value once. No more is read of what is sliced than is taken. */
static void add_operands(clock_state *c, ir_op op, const ir_users *users, effort *e) {
  ir_kind k = ir_kind_of(c->m, op);
  bool takes_part = k == IR_OP_DYNAMIC_SLICE || k == IR_OP_GATHER;
  for (ir_value v, i = 0; (v = ir_operand_at(c->m, op, i)); i++) {
    ir_op by = ir_value_get(c->m, v)->op;
    if (c->seen[v] == c->turn) continue;
    c->seen[v] = c->turn;
    bool fuses = by && ir_op_get(c->m, by)->block == ir_op_get(c->m, op)->block &&
                 joins_fusions(ir_kind_of(c->m, by)) && !is_materialised(c, by, users);
    if (fuses && e->room-- > 0) add_op(c, by, users, e);
    else e->bytes += bytes_of(c, takes_part && i == 0 ? ir_result(c->m, op, 0) : v);
  }
}

/* Threads that XLA gives an op to; 1: it stays on one. */
static double threads_of(clock_state *c, ir_op op, const ir_users *users) {
  ir_kind k = ir_kind_of(c->m, op);
  effort e = {.room = MOST_FUSED};
  if (!users || ir_op_get(c->m, op)->n_results != 1 || k == IR_OP_DYNAMIC_UPDATE_SLICE ||
      (!joins_fusions(k) && k != IR_OP_REDUCE) || ir_elements(c->m, ir_result(c->m, op, 0)) <= 1)
    return 1;
  c->turn++;
  add_op(c, op, users, &e);
  e.bytes += bytes_of(c, ir_result(c->m, op, 0));
  bool by_bytes = e.flops <= e.bytes;
  double most = by_bytes ? ceil(sqrt(c->cores)) : c->cores,
         worth = by_bytes ? e.bytes / CPU_SHARED_BYTES
                          : (e.flops + 2 * e.functions + 10 * e.bytes) / CPU_SHARED_COST;
  return fmax(1, fmin(most, floor(2 * worth)));
}

/* The geometric mean of the time by the clock and of the share of all cores' time, in all runs, of
 * what keeps some threads busy for so long: who computes beside it pays for a second thread that
 * saves little. */
static double mean_ns(const clock_state *c, double clock_ns, double threads) {
  return c->runs * clock_ns * sqrt(threads / c->cores);
}

/* Of an op that is launched, besides its work, which takes all cores so long. */
static double launch_ns(clock_state *c, ir_op op, const ir_users *users, double work_ns) {
  double threads = c->seen && c->rates.shared_ns > 0 ? threads_of(c, op, users) : 1;
  if (threads <= 1) return c->rates.op_ns;
  double on_one = work_ns * c->cores;
  c->alone_ns += mean_ns(c, on_one, 1);
  c->together_ns += mean_ns(c, on_one / threads + c->rates.shared_ns, threads);
  return c->rates.op_ns + c->rates.shared_ns;
}

/* Of which one is taken, the one as often as the other: nobody knows. */
static double ways_of(const ir_module *m, ir_op op) {
  uint32_t n = ir_op_get(m, op)->n_regions;
  return ir_is_branching(m, op) && n ? n : 1;
}

static double op_ns(clock_state *c, ir_op op, const ir_users *users) {
  ir_kind k = ir_kind_of(c->m, op);
  ir_op_data d = *ir_op_get(c->m, op);
  if (k == IR_OP_LOOP) return loop_ns(c, op);
  if (k == IR_OP_SDY_MANUAL_COMPUTATION) /* of one device */
    return d.n_regions && d.regions[0] ? block_ns(c, d.regions[0]) : 0;
  if (k == IR_OP_CALL || k == IR_OP_COMPOSITE) {
    ir_block body = ir_callee_body(c->m, op);
    return body && c->depth < 200 ? block_ns(c, body) : 0;
  }
  if (k == IR_OP_WHILE || k == IR_OP_CASE || k == IR_OP_IF) {
    bool outer = c->in_while;
    double ns = 0;
    double trips = (double)ir_trips_or_one(c->m, op);
    c->in_while = true;
    for (uint32_t r = 0; r < d.n_regions; r++)
      ns += d.regions[r] ? block_in_trips_ns(c, d.regions[r], trips) : 0;
    c->in_while = outer;
    return trips * (ns / ways_of(c->m, op) + c->rates.trip_ns);
  }
  bool is_moved = (ir_kind_flags(k) & IR_FLAG_M) && k != IR_OP_GATHER && d.n_results == 1;
  if (k == IR_OP_CONSTANT || (is_moved && !is_materialised(c, op, users))) return 0;
  double arithmetic = arithmetic_ns(c, op), memory = memory_ns(c, op, users),
         work = fmax(arithmetic, memory) + turns_ns(c, op);
  return work + (memory > 0 ? launch_ns(c, op, users, work) : 0);
}

static double block_ns(clock_state *c, ir_block block) {
  arena *a = arena_create(c->m->ctx); /* users are a list by value of the module, for each block */
  ir_users users = ir_users_of_block(a, c->m, block);
  double ns = 0;
  c->depth++;
  for (ir_op op, i = 0; (op = ir_body_op_at(c->m, block, i)); i++) ns += op_ns(c, op, &users);
  c->depth--;
  arena_destroy(a);
  return ns;
}

static clock_state clock_on(arena *scratch, ir_module *m, const machine *on) {
  clock_state c = {.m = m,
                   .scratch = scratch,
                   .on = on,
                   .rates = machine_rates_of(on),
                   .runs = 1,
                   .cores = on->cores,
                   .is_in_memory = ARENA_ARRAY(scratch, uint8_t, m->ops.count)};
  if (c.rates.shared_ns > 0) c.seen = ARENA_ARRAY(scratch, uint32_t, m->values.count);
  return c;
}

static double main_ns(ir_module *m, const machine *on,
                      double (*of_block)(clock_state *, ir_block)) {
  ir_op function = ir_main_function(m);
  if (!function) return 0;
  arena *scratch = arena_create(m->ctx);
  clock_state c = clock_on(scratch, m, on);
  double ns = of_block(&c, ir_body(m, function));
  arena_destroy(scratch);
  return ns;
}

static double arithmetic_of_block(clock_state *c, ir_block block) {
  c->no_traffic = true;
  return block_ns(c, block);
}

static bool is_better_shared(const clock_state *c) {
  return c->together_ns * TUNED_SHARED_GAIN <= c->alone_ns;
}

/* Of what takes so long with several threads. */
static double in_better_way(const clock_state *c, double ns) {
  return is_better_shared(c) ? ns : ns - fmax(c->together_ns - c->alone_ns, 0);
}

static double better_way_ns(clock_state *c, ir_block block) {
  double ns = block_ns(c, block);
  return in_better_way(c, ns);
}

/* 1 or 0. */
static double better_shared(clock_state *c, ir_block block) {
  block_ns(c, block);
  return is_better_shared(c);
}

double plan_time_ns(ir_module *m, const machine *on) { return main_ns(m, on, better_way_ns); }

double plan_pages_ns(int64_t temporary_bytes, const machine *on) {
  machine_rates r = machine_rates_of(on);
  double bytes = (double)temporary_bytes;
  return bytes >= r.fresh_from_bytes ? bytes / r.fresh_bytes : 0;
}

double plan_time_as_it_came_ns(ir_module *m, const machine *on) { return main_ns(m, on, block_ns); }

bool plan_is_shared(ir_module *m, const machine *on) {
  return on->device || !ir_main_function(m) || main_ns(m, on, better_shared) > 0;
}

double plan_loop_time_ns(ir_module *m, ir_op loop, const machine *on) {
  arena *scratch = arena_create(m->ctx);
  clock_state c = clock_on(scratch, m, on);
  double runs = 1;
  for (ir_op up = ir_op_around(m, loop); up; up = ir_op_around(m, up)) {
    ir_kind k = ir_kind_of(m, up);
    runs *= (double)ir_trips_or_one(m, up);
    c.in_loop |= k == IR_OP_LOOP;
    c.in_while |= k == IR_OP_WHILE || k == IR_OP_CASE || k == IR_OP_IF;
  }
  double ns = op_ns(&c, loop, NULL);
  arena_destroy(scratch);
  return runs * in_better_way(&c, ns);
}

double plan_arithmetic_ns(ir_module *m, const machine *on) {
  return main_ns(m, on, arithmetic_of_block);
}

/* ---- the time of a program that is not split ---- */
typedef struct stock {
  clock_state c;
  ir_users users;
  uint32_t *seen, turn; /* by value */
  int32_t room;         /* of the fusion at hand */
} stock;

enum { MOST_READERS = 16 };

/* A reduction of v, or of what elementwise ops make of it. */
static bool is_summed(const ir_module *m, ir_value v, const ir_users *users, int32_t *readers) {
  for (uint32_t i = users->first[v]; i < users->first[v + 1] && (*readers)-- > 0; i++) {
    ir_kind k = ir_kind_of(m, users->ops[i]);
    if (k == IR_OP_REDUCE) return true;
    if (ir_is_elementwise(k) && is_summed(m, ir_result(m, users->ops[i], 0), users, readers))
      return true;
  }
  return false;
}

/* YNN takes reductions with their elementwise operands, and not a gather. That of long rows which
 * stays in the caches costs next to nothing. */
static bool keeps_gather(const ir_module *m, ir_op op, const ir_users *users) {
  int32_t readers = MOST_READERS;
  if (ir_kind_of(m, op) != IR_OP_GATHER || !is_summed(m, ir_result(m, op, 0), users, &readers))
    return false;
  return window_bytes(m, op) < TUNED_LONG_ROW_BYTES ||
         (double)ir_value_bytes(m, ir_result(m, op, 0)) >= CPU_FRESH_FROM_BYTES;
}

bool plan_stock_keeps(const ir_module *m, ir_op op, const ir_users *users) {
  if (keeps_gather(m, op, users)) return true;
  if (ir_op_get(m, op)->n_results != 1 || !stock_fuses(m, op)) return true;
  ir_value v = ir_result(m, op, 0);
  for (uint32_t i = users->first[v]; i < users->first[v + 1]; i++)
    if (ir_kind_of(m, users->ops[i]) != IR_OP_REDUCE && !stock_fuses(m, users->ops[i])) return true;
  return users->first[v] == users->first[v + 1];
}

/* A product of broadcasts is made element by element. */
static double stock_arithmetic_ns(stock *s, ir_op op) {
  const ir_module *m = s->c.m;
  ir_kind k = ir_kind_of(m, op);
  bool is_outer = is_outer_product(m, op);
  if (!is_outer && is_thin_product(&s->c, op)) return 0; /* as fast as a sum reads */
  if (!is_outer && !ir_is_elementwise(k)) return arithmetic_ns(&s->c, op);
  return elements_ns(&s->c, op, (double)ir_elements(m, ir_result(m, op, 0))) + turns_ns(&s->c, op);
}

/* Whether all that reads v, however it is combined on the way, is one sum: *sum. */
static bool is_of_one_sum(const stock *s, ir_value v, ir_op *sum, int32_t *readers) {
  const ir_users *users = &s->users;
  for (uint32_t i = users->first[v]; i < users->first[v + 1]; i++) {
    ir_op op = users->ops[i];
    const ir_op_data *d = ir_op_get(s->c.m, op);
    if ((*readers)-- == 0) return false;
    if (d->kind == IR_OP_REDUCE && d->n_operands == 2 && (!*sum || *sum == op)) *sum = op;
    else if (!ir_is_elementwise(d->kind) || !is_of_one_sum(s, d->first_result, sum, readers))
      return false;
  }
  return users->first[v] < users->first[v + 1];
}

/* YNN makes such a product tile by tile and adds it up: it is never in memory. */
static bool is_summed_product(const stock *s, ir_op op) {
  ir_op sum = 0;
  int32_t readers = MOST_READERS;
  return ir_kind_of(s->c.m, op) == IR_OP_DOT_GENERAL &&
         is_of_one_sum(s, ir_result(s->c.m, op, 0), &sum, &readers);
}

static double fused_ns(stock *s, ir_value v);

/* Of a table no more is read than is gathered. */
static double operand_ns(stock *s, ir_op op, uint32_t i) {
  ir_kind k = ir_kind_of(s->c.m, op);
  double ns = fused_ns(s, ir_operand(s->c.m, op, i));
  if (i > 0 || (k != IR_OP_GATHER && k != IR_OP_DYNAMIC_SLICE)) return ns;
  double most = bytes_of(&s->c, ir_result(s->c.m, op, 0)) / s->c.rates.read_bytes;
  return ns < most ? ns : most;
}

/* What a fusion computes for v, or reads of it: each value once. */
static double fused_ns(stock *s, ir_value v) {
  ir_op op = ir_value_get(s->c.m, v)->op;
  if (s->seen[v] == s->turn) return 0;
  s->seen[v] = s->turn;
  if (op && is_summed_product(s, op)) return 0; /* counted where it is made */
  if (!op || s->room == 0 || plan_stock_keeps(s->c.m, op, &s->users))
    return bytes_of(&s->c, v) / s->c.rates.read_bytes;
  s->room--;
  double ns = stock_arithmetic_ns(s, op);
  for (uint32_t i = 0; i < ir_op_get(s->c.m, op)->n_operands; i++) ns += operand_ns(s, op, i);
  return ns;
}

static double stock_block_ns(clock_state *c, ir_block block, double trips);

static double stock_write_ns(const stock *s, double bytes) {
  const machine_rates *r = &s->c.rates;
  return bytes / (bytes < r->fresh_from_bytes ? r->write_bytes : r->fresh_bytes);
}

/* What is in memory is read there by its other name. */
static bool is_view(const stock *s, ir_op op) {
  if (ir_kind_of(s->c.m, op) != IR_OP_RESHAPE) return false;
  ir_op from = ir_value_get(s->c.m, ir_operand(s->c.m, op, 0))->op;
  return !from || plan_stock_keeps(s->c.m, from, &s->users);
}

static double stock_op_ns(stock *s, ir_op op) {
  ir_op_data d = *ir_op_get(s->c.m, op);
  bool is_made = plan_stock_keeps(s->c.m, op, &s->users) && !is_view(s, op);
  if (d.kind == IR_OP_CUSTOM_CALL)
    return ir_lapack_batch_rank(s->c.m, op) < 0 ? 0 : library_ns(&s->c, op);
  if (!is_made) return 0;
  double ns = stock_arithmetic_ns(s, op) + s->c.rates.op_ns;
  bool has_bodies = d.kind == IR_OP_WHILE || d.kind == IR_OP_CASE || d.kind == IR_OP_IF;
  for (uint32_t r = 0; has_bodies && r < d.n_regions; r++)
    if (d.regions[r])
      ns += stock_block_ns(&s->c, d.regions[r], (double)ir_trips_or_one(s->c.m, op)) /
            ways_of(s->c.m, op);
  s->turn++;
  s->room = MOST_FUSED;
  for (uint32_t i = 0; !has_bodies && i < d.n_operands; i++) ns += operand_ns(s, op, i);
  bool writes = !has_bodies && !is_summed_product(s, op);
  for (uint32_t i = 0; writes && i < d.n_results; i++)
    ns += stock_write_ns(s, bytes_of(&s->c, d.first_result + i));
  return ns;
}

/* Of values of a while's body: the same in every trip. XLA makes such once, before the while. */
static bool *invariants_of(const clock_state *c, ir_block body) {
  const ir_module *m = c->m;
  bool *same = ARENA_ARRAY(c->scratch, bool, m->values.count);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++)
    same[arg] = ir_is_handed_on(m, body, i);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    const ir_op_data *d = ir_op_get(m, op);
    bool all = !d->n_regions && !ir_has_effects(m, op);
    for (uint32_t k = 0; k < d->n_operands && all; k++)
      all = same[d->operands[k]] || ir_value_block(m, d->operands[k]) != body;
    for (uint32_t r = 0; r < d->n_results; r++) same[d->first_result + r] = all;
  }
  return same;
}

/* trips: of the while that it is the body of; else 1. */
static double stock_block_ns(clock_state *c, ir_block block, double trips) {
  stock s = {.c = *c,
             .users = ir_users_of_block(c->scratch, c->m, block),
             .seen = ARENA_ARRAY(c->scratch, uint32_t, c->m->values.count)};
  const bool *same = trips > 1 ? invariants_of(c, block) : NULL;
  double ns = 0;
  for (ir_op op, i = 0; (op = ir_body_op_at(c->m, block, i)); i++) {
    const ir_op_data *d = ir_op_get(c->m, op);
    bool once = same && d->n_results && same[d->first_result];
    ns += stock_op_ns(&s, op) * (once ? 1 : trips);
  }
  return ns;
}

static double stock_main_ns(clock_state *c, ir_block block) { return stock_block_ns(c, block, 1); }

double plan_stock_time_ns(ir_module *m, const machine *on) { return main_ns(m, on, stock_main_ns); }

/* ---- one op on its own ---- */
double plan_making_ns(ir_module *m, ir_op op, const machine *on) {
  arena *scratch = arena_create(m->ctx);
  stock s = {.c = {.m = m, .scratch = scratch, .on = on, .rates = machine_rates_of(on)}};
  ir_kind kind = ir_kind_of(m, op);
  bool is_call = kind == IR_OP_CUSTOM_CALL && ir_op_get(m, op)->n_operands,
       is_moved = (ir_kind_flags(kind) & IR_FLAG_M) && kind != IR_OP_GATHER,
       fuses = ir_kind_flags(kind) & (IR_FLAG_E | IR_FLAG_M);
  double ns = is_call ? library_ns(&s.c, op) : stock_arithmetic_ns(&s, op);
  if (is_moved) ns += (double)ir_elements(m, ir_result(m, op, 0)) / s.c.rates.simple;
  arena_destroy(scratch);
  return fuses ? ns : ns + s.c.rates.op_ns;
}
