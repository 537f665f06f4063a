/* plan_upper_bound(): what a program could need at worst, without any model of fusion or order.
 * Every value has a buffer, all at once, and a copy; narrow elements are computed in wider ones;
 * ops that XLA expands or calls a library for have their operands once more, and what they expand
 * to. On a device every array takes what the worst of its layouts takes, every op's operands may
 * be laid out anew, and a library's product has its workspace. */
#include "base/saturate.h"
#include "ir/calls.h"
#include "plan/peak_graph.h"

enum {
  COMPUTED_BYTES = 4, /* of an element, at least: bf16, f16, int8 arithmetic is done in 32 bits */
  BLOCK_ARRAYS = 8,   /* of a Cholesky factorisation or a triangular solve, as loops over blocks */
  TOP_K_ARRAYS = 4,   /* values and places, before and behind a sort */
  MATRIX_MULTIPLE = 8,
  NUMBER_ARRAYS = 3,
  EXPANSION_ARRAYS = 12, /* of a special function: steps of it that XLA keeps in memory */
};

typedef struct sum {
  const ir_module *m;
  const device_memory *memory; /* NULL: a CPU's */
  int64_t bytes;
  uint32_t depth;
} sum;

static void add(sum *s, int64_t bytes) { s->bytes = saturated_sum(s->bytes, bytes); }

static void add_block(sum *s, ir_block block);

static void add_callee(sum *s, ir_op op) {
  ir_block body = ir_callee_body(s->m, op);
  if (!body) return;
  if (s->depth >= 200) s->bytes = INT64_MAX;
  else add_block(s, body);
}

/* In elements of at least `element_bytes`. */
static int64_t value_bytes(const sum *s, ir_value v, int64_t element_bytes) {
  const ir_type_data *t = ir_type_at(s->m, v);
  int64_t bytes = ir_value_bytes(s->m, v), own = t->dtype ? ir_dtype_bytes(t->dtype) : 1;
  if (own < element_bytes) own = element_bytes;
  int64_t wide =
      s->memory && t->kind == IR_TYPE_TENSOR
          ? device_most_bytes(s->memory, own, t->rank, t->dims)
          : saturated_product(ir_element_count(s->m, ir_type_of(s->m, v)), element_bytes);
  return wide > bytes ? wide : bytes;
}

/* The value `times` over. */
static void add_value(sum *s, ir_value v, int64_t element_bytes, int64_t times) {
  add(s, saturated_product(value_bytes(s, v, element_bytes), times));
}

/* A buffer that the caller of the program, or of a region, gives or gets. */
static void add_buffer(sum *s, ir_value v) {
  add(s, s->memory ? value_bytes(s, v, 0) : ir_value_bytes(s->m, v));
}

static int64_t widest_element(const ir_module *m, const ir_op_data *d) {
  int64_t widest = COMPUTED_BYTES;
  for (uint32_t i = 0; i < d->n_results; i++) {
    const ir_type_data *t = ir_type_at(m, d->first_result + i);
    if (t->kind == IR_TYPE_TENSOR && ir_dtype_bytes(t->dtype) > widest)
      widest = ir_dtype_bytes(t->dtype);
  }
  return widest;
}

/* How often an op's operands may stand in memory once more: laid out anew, converted, in blocks. */
static int64_t operand_copies(const sum *s, const ir_op_data *d) {
  const ir_module *m = s->m;
  switch (d->kind) {
    case IR_OP_CHOLESKY:
    case IR_OP_TRIANGULAR_SOLVE: return BLOCK_ARRAYS;
    case IR_OP_SELECT_AND_SCATTER:
      return 2 * ir_type_at(m, d->operands[0])->rank + 2; /* coordinates */
    case IR_OP_CONVOLUTION: return 2;
    case IR_OP_CHLO_TOP_K: return TOP_K_ARRAYS;
    case IR_OP_WHILE:
    case IR_OP_CASE:
    case IR_OP_IF:
    case IR_OP_LOOP: return 1;
    default:
      if (s->memory && s->memory->lays_out_anew) return 1;
      return ir_kind_flags(d->kind) & (IR_FLAG_E | IR_FLAG_M) ? 0 : 1;
  }
}

/* What XLA makes no loop of. */
static bool is_light(ir_kind kind) {
  int flags = ir_kind_flags(kind);
  return (flags & IR_FLAG_T) || ((flags & IR_FLAG_E) && !(flags & IR_FLAG_H));
}

/* What it needs beside operands and results: a library's workspace, a loop's, or that of the loops
 * that it may be expanded into. */
static int64_t work_bytes(const device_memory *memory, ir_kind kind) {
  switch (kind) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
    case IR_OP_EINSUM:
    case IR_OP_UNARY_EINSUM:
    case IR_OP_CHOLESKY:
    case IR_OP_TRIANGULAR_SOLVE: return memory->library_bytes + memory->loop_bytes;
    case IR_OP_CONSTANT:
    case IR_OP_IOTA: return 0;
    case IR_OP_SORT: return memory->library_decides ? INT64_MAX : memory->loop_bytes;
    case IR_OP_CONVOLUTION:
    case IR_OP_FFT:
    case IR_OP_CHLO_TOP_K:
    case IR_OP_CUSTOM_CALL: return memory->library_decides ? INT64_MAX : memory->loop_bytes;
    default: return is_light(kind) ? 0 : memory->loop_bytes;
  }
}

/* Matrices of 8 and 16 bits are padded for GPUs' libraries (cublas_pad_for_gemms.cc). */
static int64_t matrix_padding(const sum *s, ir_value v) {
  const ir_type_data *t = ir_type_at(s->m, v);
  int64_t width = t->kind == IR_TYPE_TENSOR && t->dtype ? ir_dtype_bytes(t->dtype) : 0, n = width;
  if (width == 0 || width >= COMPUTED_BYTES) return 0;
  for (int32_t d = 0; d < t->rank; d++) {
    int64_t extent = t->dims[d] > 0 ? t->dims[d] : 1;
    n = saturated_product(n, (extent - 1) / MATRIX_MULTIPLE * MATRIX_MULTIPLE + MATRIX_MULTIPLE);
  }
  return n;
}

/* Parts of products that are added later, and operands that are padded for them
 * (splitk_rewriter.cc): a part has more terms than are added. */
static void add_parts(sum *s, const ir_op_data *d) {
  const ir_type_data *t = ir_type_at(s->m, d->first_result);
  int64_t elements = 1;
  for (int32_t i = 0; i < t->rank; i++)
    elements = saturated_product(elements, t->dims[i] > 0 ? t->dims[i] : 1);
  add(s, plan_most_bytes_of_parts(s->memory, elements));
  for (uint32_t i = 0; i < d->n_operands; i++) add_value(s, d->operands[i], 1, 1);
}

static void add_matrices(sum *s, const ir_op_data *d) {
  bool is_product = d->kind == IR_OP_DOT || d->kind == IR_OP_DOT_GENERAL;
  if (!is_product || !s->memory || !s->memory->library_bytes) return;
  add(s, matrix_padding(s, d->first_result));
  for (uint32_t i = 0; i < d->n_operands; i++) add(s, matrix_padding(s, d->operands[i]));
  if (s->memory->product_byte_cost > 0) add_parts(s, d);
}

/* Where what is left in memory lies apart: single numbers, each with two tables, and random bits as
 * rows of four words, which are padded. */
static void add_apart(sum *s, const ir_op_data *d) {
  if (!s->memory || !s->memory->spacing_bytes) return;
  for (uint32_t i = 0; i < d->n_results; i++)
    if (ir_element_count(s->m, ir_type_of(s->m, d->first_result + i)) == 1)
      add(s, NUMBER_ARRAYS * 2 * s->memory->spacing_bytes);
  if (d->kind == IR_OP_RNG_BIT_GENERATOR && d->n_results == 2)
    add_value(s, d->first_result + 1, COMPUTED_BYTES, s->memory->tile_lanes / PLAN_PHILOX_WORDS);
}

static void add_op(sum *s, ir_op op) {
  const ir_op_data *d = ir_op_get(s->m, op);
  bool expands =
      (ir_kind_flags(d->kind) & IR_FLAG_H) && starts_with(ir_kind_name(d->kind), "chlo.");
  int64_t copies = operand_copies(s, d), element_bytes = widest_element(s->m, d);
  for (uint32_t i = 0; i < d->n_results; i++) /* the value, and a copy of it that XLA may make */
    add_value(s, d->first_result + i, COMPUTED_BYTES, expands ? EXPANSION_ARRAYS : 2);
  for (uint32_t i = 0; i < d->n_operands && copies; i++)
    add_value(s, d->operands[i], element_bytes, copies);
  if (s->memory) add(s, work_bytes(s->memory, d->kind));
  add_matrices(s, d);
  add_apart(s, d);
  if (d->kind == IR_OP_CALL || d->kind == IR_OP_COMPOSITE) add_callee(s, op);
  for (ir_block below, r = 0; (below = ir_next_block(s->m, op, &r));) add_block(s, below);
}

static void add_block(sum *s, ir_block block) {
  const ir_block_data *b = ir_block_get(s->m, block);
  s->depth++;
  for (uint32_t i = 0; i < b->args.count; i++) add_buffer(s, b->args.at[i]);
  for (uint32_t i = 0; i < b->ops.count && s->bytes < INT64_MAX; i++) add_op(s, b->ops.at[i]);
  s->depth--;
}

int64_t plan_upper_bound(const ir_module *m, const device_memory *memory) {
  sum s = {.m = m, .memory = memory};
  ir_op function = ir_main_function(m);
  if (!function) return 0;
  ir_block body = ir_body(m, function);
  add_block(&s, body);
  ir_op end = ir_terminator(m, body);
  uint32_t n_results = ir_op_get(m, end)->n_operands;
  add(&s, DEVICE_POINTER_BYTES * (int64_t)n_results); /* the table of several results */
  for (uint32_t i = 0; i < n_results; i++) add_buffer(&s, ir_operand(m, end, i));
  if (memory) add(&s, memory->align_bytes); /* of that table */
  return s.bytes;
}
