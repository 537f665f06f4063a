/* Sums over running statistics (stream.c): each has the statistics' values beside it that it was
 * made with, and is brought to what they are now before a phase that reads them. */
#include "kernel/emit.h"

#include <math.h>

#include "kernel/elementwise.h"

static bool same_terms(const kernel_node *a, const kernel_node *b) {
  return a->n_terms == b->n_terms &&
         !memcmp(a->terms, b->terms, (size_t)a->n_terms * sizeof *a->terms);
}

/* The first reduction with its terms, which has the places of the values that they had. */
static const kernel_node *leader_of(const kernel_nest *n, const kernel_node *x) {
  for (const kernel_node *y = n->nodes; y < x; y++)
    if (y->n_terms && y->pass == x->pass && y->phase == x->phase && same_terms(y, x)) return y;
  return x;
}

static const char *term_at(kernel_emitter *e, const kernel_node *x, int32_t term) {
  ir_dtype dtype = kernel_dtype_of(e, &e->n->nodes[x->terms[term].node]);
  const char *base = kernel_line(e, "getelementptr i8, ptr %%scratch, i64 %lld",
                                 (long long)e->term_offset[x->index * KERNEL_MOST_TERMS + term]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", kernel_memory_type(dtype), base,
                     e->tile.row_local[0]);
}

void kernel_place_terms(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->term_offset = ARENA_ARRAY(e->a, int64_t, (size_t)(n->n_reductions + 1) * KERNEL_MOST_TERMS);
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (!x->n_terms || leader_of(n, x) != x) continue;
    for (int32_t i = 0; i < x->n_terms; i++) {
      e->term_offset[x->index * KERNEL_MOST_TERMS + i] =
          kernel_take(&e->scratch_bytes, n->sizes.chunk * 8);
    }
  }
}

void kernel_clear_terms(kernel_emitter *e) {
  for (const kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) {
    if (!x->n_terms || x->pass != e->pass || leader_of(e->n, x) != x) continue;
    for (int32_t i = 0; i < x->n_terms; i++) {
      ir_dtype dtype = kernel_dtype_of(e, &e->n->nodes[x->terms[i].node]);
      kernel_store_at(e, dtype, false, kernel_number(e, dtype, 1, 0), term_at(e, x, i));
    }
  }
}

static const char *is_infinite(kernel_emitter *e, ir_dtype dtype, const char *x) {
  const char *type = kernel_type(e, dtype, false), *suffix = kernel_suffix(e, dtype, 1);
  kernel_declare(e, arena_printf(e->a, "declare %s @llvm.fabs.%s(%s)", type, suffix, type));
  const char *size = kernel_line(e, "call %s @llvm.fabs.%s(%s %s)", type, suffix, type, x);
  return kernel_line(e, "fcmp oeq %s %s, %s", type, size, kernel_real(e, dtype, (double)INFINITY));
}

const char *kernel_zero_for_infinite(kernel_emitter *e, ir_dtype dtype, const char *x) {
  const char *type = kernel_type(e, dtype, false), *infinite = is_infinite(e, dtype, x);
  return kernel_line(e, "select i1 %s, %s %s, %s %s", infinite, type, kernel_number(e, dtype, 1, 0),
                     type, x);
}

static kernel_grid term_grid(kernel_emitter *e, const kernel_node *x, int32_t term) {
  const kernel_node *t = &e->n->nodes[x->terms[term].node];
  return kernel_value(e, t->value, &t->result);
}

static const char *times_degree(kernel_emitter *e, ir_dtype dtype, const char *x, int32_t degree) {
  return kernel_line(e, "fmul %s %s, %s", kernel_type(e, dtype, false), x,
                     kernel_number(e, dtype, 1, degree));
}

typedef struct scaling {
  const char *ratio;
} scaling;

static void scale_number(kernel_emitter *e, const kernel_node *x, void *user) {
  const scaling *s = user;
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *type = kernel_type(e, dtype, x->is_product), *zero = kernel_number(e, dtype, 1, 0),
             *ratio = s->ratio, *p = kernel_reduction_at(e, x, 0);
  if (x->is_product) {
    zero = kernel_splat(e, dtype, zero);
    ratio = kernel_splat(e, dtype, ratio);
  }
  const char *y = kernel_load_at(e, dtype, x->is_product, p);
  const char *scaled = kernel_line(e, "fmul %s %s, %s", type, y, ratio);
  const char *is_zero = kernel_line(e, "fcmp oeq %s %s, %s", type, y, zero);
  y = kernel_line(e, "select %s %s, %s %s, %s %s", kernel_type(e, IR_I1, x->is_product), is_zero,
                  type, y, type, scaled);
  kernel_store_at(e, dtype, x->is_product, y, p);
}

static void scale_numbers(kernel_emitter *e, const kernel_node *x, scaling *s) {
  if (!x->is_product) {
    kernel_for_points(e, x, false, scale_number, s);
    return;
  }
  int32_t axis = kernel_product_axis(e->n, x);
  for (int64_t i = 0; i < kernel_padded_points(e->n, x); i += e->n->lanes) {
    e->tile.bound[axis] = kernel_int(e, i);
    scale_number(e, x, s);
  }
  e->tile.bound[axis] = NULL;
}

/* What was summed with the old values of the leader's terms, brought to the new ones. */
static void rescale(kernel_emitter *e, const kernel_node *leader) {
  const kernel_nest *n = e->n;
  ir_dtype dtype = kernel_dtype_of(e, leader);
  const char *type = kernel_type(e, dtype, false), *moved = NULL, *changed = NULL;
  const char *now[KERNEL_MOST_TERMS], *at[KERNEL_MOST_TERMS];
  for (int32_t i = 0; i < leader->n_terms; i++) {
    kernel_grid g = term_grid(e, leader, i);
    now[i] = kernel_at(&g, 0, 0);
    at[i] = term_at(e, leader, i);
    const char *old = kernel_load_at(e, dtype, false, at[i]);
    const char *differs = kernel_line(e, "fcmp une %s %s, %s", type, now[i], old);
    const char *by = kernel_line(e, "fsub %s %s, %s", type, now[i], old);
    by = times_degree(e, dtype, by, leader->terms[i].degree);
    changed = changed ? kernel_line(e, "or i1 %s, %s", changed, differs) : differs;
    moved = moved ? kernel_line(e, "fadd %s %s, %s", type, moved, by) : by;
  }
  uint32_t label = e->names++;
  kernel_put(e, "br i1 %s, label %%moved%u, label %%stays%u", changed, label, label);
  strbuf_printf(e->out, "moved%u:\n", label);
  scaling s = {kernel_emit_exp(e, dtype, 1, moved)};
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->n_terms && x->pass == e->pass && x->phase == e->phase && leader_of(n, x) == leader)
      scale_numbers(e, x, &s);
  for (int32_t i = 0; i < leader->n_terms; i++) kernel_store_at(e, dtype, false, now[i], at[i]);
  kernel_put(e, "br label %%stays%u", label);
  strbuf_printf(e->out, "stays%u:\n", label);
  kernel_forget_since(e, label);
}

static bool has_terms(const kernel_emitter *e, const kernel_node *x) {
  return x->n_terms && x->pass == e->pass && x->phase == e->phase && leader_of(e->n, x) == x;
}

void kernel_rescale(kernel_emitter *e) {
  bool any = false;
  for (kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) any |= has_terms(e, x);
  if (!any) return;
  kernel_function f;
  kernel_function_begin(e, &f);
  const char *end = kernel_index(e, e->panel_begin, e->panel_rows, 1);
  kernel_loop l = kernel_each_row_begin(e, e->panel_begin, end);
  for (kernel_node *node = e->n->nodes; node < e->n->nodes + e->n->n_nodes; node++)
    if (has_terms(e, node)) rescale(e, node);
  kernel_each_row_end(e, &l);
  e->tile.memos.count = 0;
  kernel_function_end(e, &f, KERNEL_PANEL, f.caller);
}

/* A finished sum as the program would have it where a term's value is infinite. */
const char *kernel_finish_sum(kernel_emitter *e, const kernel_node *x, int32_t r, const char *y) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *type = kernel_type(e, dtype, false);
  for (int32_t i = 0; i < x->n_terms; i++) {
    kernel_grid g = term_grid(e, x, i);
    const char *t = kernel_at(&g, r, 0), *infinite = is_infinite(e, dtype, t);
    const char *power = kernel_emit_exp(e, dtype, 1, times_degree(e, dtype, t, x->terms[i].degree));
    power = kernel_line(e, "fmul %s %s, %s", type, y, power);
    y = kernel_line(e, "select i1 %s, %s %s, %s %s", infinite, type, power, type, y);
  }
  return y;
}
