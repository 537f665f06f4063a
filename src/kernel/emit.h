/* A nest as LLVM IR. Emission state and what the files of this stage share.
 *
 * A value at a tile is a grid: `rows` x `vectors` operands of LLVM, one row if it has no row axis,
 * one scalar a row if it has no column axis. Text goes to one of two streams: the tile's body, or
 * the place before the column loop, where everything without columns is put once
 * (kernel_is_row_level()).
 */
#ifndef WEIR_KERNEL_EMIT_H
#define WEIR_KERNEL_EMIT_H
#include "base/strbuf.h"
#include "kernel/nest.h"

enum { KERNEL_MOST_ROWS = 16, KERNEL_MOST_VECTORS = 4, KERNEL_KNOWN_LINES = 1024 };

typedef struct kernel_grid {
  ir_dtype dtype;
  bool is_vector;
  int32_t rows, columns; /* 1, or those of the tile */
  const char *at[KERNEL_MOST_ROWS][KERNEL_MOST_VECTORS];
} kernel_grid;

typedef struct kernel_pack { /* a copy of an input or a value (pack.c), in the scratch */
  ir_value value;
  kernel_axes axes; /* of its first reader */
  ir_dtype dtype;
  bool of_rows;
  int32_t pass; /* the last one that it was made for; -1: none */
  const char *base;
} kernel_pack;

typedef struct kernel_kept { /* a grid that is kept for a panel of rows and a block of columns */
  const kernel_node *node;
  int32_t phase, last_use; /* stored at the end of its phase; last_use: twice the phase, and one
                              more for products, which come after */
  bool is_reused;          /* its place has another grid later */
  const char *base;
} kernel_kept;

typedef struct kernel_table { /* a value as [row of the chunk or column of the block][points] */
  ir_value value;
  kernel_axes axes;
  int32_t axis, pass;
  int64_t points, padded;
  const char *base;
} kernel_table;

typedef struct kernel_memo {
  int32_t node;
  const char *bound[KERNEL_MOST_AXES]; /* indices of the axes that it has */
  kernel_grid grid;
  bool in_row;
  int32_t depth;
} kernel_memo;

typedef struct kernel_known { /* a line that need not be put again */
  const strbuf *stream;
  const char *text, *name;
  uint32_t number; /* of the name */
} kernel_known;

/* What holds for the tile being emitted, and in the loops that are open around it: put aside where
 * something else is made in between (table.c). */
typedef struct kernel_tile {
  bool filling;       /* a table */
  bool in_tile;       /* copies are read, not computed */
  bool in_copy;       /* of computed values: copies of inputs are read */
  strbuf *body, *row; /* the two streams */
  int32_t depth[2];   /* loops open in body, row */
  int32_t rows, vectors;
  const char *row_index[KERNEL_MOST_ROWS], *row_local[KERNEL_MOST_ROWS];
  const char *column, *column_local; /* of the first lane; local: from the block's first */
  const char *mask;                  /* of the lanes that exist; NULL: all */
  const char *group; /* kernel_group_of() rows that are not a whole tile; NULL: whole */
  VEC(kernel_memo) memos;
  const char *bound[KERNEL_MOST_AXES]; /* index of an axis, as an i64; NULL: not bound. Not of rows
                                        and columns */
  bool is_constant[KERNEL_MOST_AXES];  /* bound to a literal */
} kernel_tile;

typedef struct kernel_emitter {
  /* ---- of the module ---- */
  kernel_nest *n;
  arena *a;
  const char *name;            /* of the kernel's function */
  strbuf helpers;              /* functions of its own that it calls */
  VEC(const char *) shared;    /* names of functions that are called from several places */
  VEC(const char *) functions; /* of the C library, by the index they are called by */
  VEC(const char *) declared;
  strbuf buffers; /* names of inputs and results, the same in all functions */
  strbuf places;  /* of places in the scratch */
  const char *small_ints[256];
  uint32_t names;            /* numbers given to values and labels */
  int64_t *reduction_offset; /* of a tile reduction's numbers in the scratch: [point][row] */
  int64_t reduction_bytes;   /* of all of them, at the scratch's beginning */
  int64_t *term_offset; /* of the value that a sum was made with, by reduction and term: [row] */
  int64_t *late_offset; /* of reductions over rows in the shared memory: [slot][point][width] */
  int64_t scratch_bytes, shared_bytes;
  bool *has_helpers;      /* by node */
  uint32_t *seen, sweeps; /* by node: the last sweep that came by */
  uint64_t *visited;      /* by node: for which phases it was looked at what to keep */
  VEC(kernel_pack) packs;
  VEC(kernel_table) tables;

  /* ---- of the function ---- */
  strbuf entry;        /* allocas and what is computed once */
  strbuf *out;         /* where lines go: one of the streams */
  kernel_known *known; /* lines by hash, the last one of each */
  bool finishes;       /* it runs when all rows are done */
  const char *slot;    /* number of the partial results of reductions over rows */
  const char
      *numbers; /* where those of tile reductions are: the scratch, or what another span left */
  strbuf *chunk_pack; /* before the passes of a chunk of rows */

  /* ---- of the pass ---- */
  int32_t pass;
  strbuf *before; /* its blocks */
  VEC(kernel_kept) kept;
  int64_t panel; /* rows of one */

  /* ---- of the block of columns ---- */
  strbuf *pack; /* before its rows */
  const char *block_begin, *block_columns;
  const char *block_main; /* columns in whole tiles */

  /* ---- of the panel ---- */
  const char *panel_begin, *panel_rows; /* counted from the chunk's first */
  int32_t phase;
  bool is_running; /* statistics of this pass are read as they are so far */

  kernel_tile tile;
} kernel_emitter;

/* ---- text ---- */
const char *kernel_name(kernel_emitter *e);       /* a fresh "%v12" */
bool kernel_is_too_long(const kernel_emitter *e); /* nothing more is made for it */
/* `%v12 = <text>` on the current stream; returns the name. What is there already and reads no
 * memory is not put again. */
const char *kernel_line(kernel_emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void kernel_put(kernel_emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines since a number was given are no longer known: what follows is not always run after them. */
void kernel_forget_since(kernel_emitter *e, uint32_t number);
const char *kernel_int(kernel_emitter *e,
                       int64_t value); /* a literal; equal ones are one pointer */
const char *kernel_real(kernel_emitter *e, ir_dtype dtype, double value);
const char *kernel_type(kernel_emitter *e, ir_dtype dtype, bool is_vector); /* "<16 x float>" */
const char *kernel_memory_type(ir_dtype dtype);                             /* "i8" for i1 */
const char *kernel_literal(kernel_emitter *e, ir_op constant);              /* of a splat */
/* The operand as a vector, where it is a scalar. */
const char *kernel_splat(kernel_emitter *e, ir_dtype dtype, const char *scalar);
/* Declares an intrinsic or function once. */
void kernel_declare(kernel_emitter *e, const char *declaration);
/* x + y * factor as i64; zero and one are folded. */
const char *kernel_index(kernel_emitter *e, const char *x, const char *y, int64_t factor);
/* So many elements after p. */
const char *kernel_after(kernel_emitter *e, ir_dtype dtype, const char *p, const char *count);
/* The same, and LLVM is not to look into it: what it does to the addresses of loops takes time that
 * grows fast with the terms of their sums. For what a loop further in adds to. */
const char *kernel_settled(kernel_emitter *e, ir_dtype dtype, const char *p, const char *count);

/* ---- functions (function.c) ---- */
typedef enum kernel_level { KERNEL_CHUNK, KERNEL_BLOCK, KERNEL_PANEL } kernel_level;

typedef struct kernel_function {
  strbuf code, callers_entry;
  strbuf *caller;
} kernel_function;

/* What is put from here to the end is a function of its own, which is called from a place (the
 * stream `caller`) inside of the loops down to `level`: it reads nothing that is computed outside
 * of it but their indices and extents. */
void kernel_function_begin(kernel_emitter *e, kernel_function *f);
void kernel_function_end(kernel_emitter *e, kernel_function *f, kernel_level level, strbuf *caller);
/* Whether there is none of that name yet: a function that several places share. It knows nothing
 * but its arguments. head: "void @name(arguments)". */
bool kernel_function_is_new(kernel_emitter *e, const char *name);
void kernel_function_share(kernel_emitter *e, kernel_function *f, const char *head);
/* Ends one that is called from outside of the module. */
void kernel_function_export(kernel_emitter *e, kernel_function *f, const char *ending, strbuf *out);

/* ---- loops ---- */
typedef struct kernel_loop {
  const char *counter, *index, *step;
  uint32_t label;
  int32_t stream;
} kernel_loop;
kernel_loop kernel_loop_begin(kernel_emitter *e, const char *from, const char *to,
                              const char *step);
void kernel_loop_end(kernel_emitter *e, const kernel_loop *l);
/* As long as what is computed between the first two holds. */
kernel_loop kernel_while_begin(kernel_emitter *e);
void kernel_while_test(kernel_emitter *e, const kernel_loop *l, const char *goes_on);
void kernel_while_end(kernel_emitter *e, const kernel_loop *l);

/* Rows (the next ones from this one of the chunk) that what follows is about; what was made of
 * other rows is forgotten. */
void kernel_set_rows(kernel_emitter *e, const char *local, int32_t rows);
/* The first row, in the chunk, of those that are packed together with a row. */
const char *kernel_group_of(kernel_emitter *e, const char *local);
/* A loop over rows by themselves, outside of all tiles. */
kernel_loop kernel_each_row_begin(kernel_emitter *e, const char *from, const char *to);
void kernel_each_row_end(kernel_emitter *e, const kernel_loop *l);
/* The columns of a block: whole tiles, then vectors of what is left, with e->tile.mask. */
void kernel_for_columns(kernel_emitter *e, void (*emit)(kernel_emitter *, void *), void *user);

/* ---- values ---- */
static inline ir_dtype kernel_dtype_of(const kernel_emitter *e, const kernel_node *x) {
  return ir_type_at(e->n->m, x->value)->dtype;
}
typedef struct kernel_binding { /* what an axis was bound to */
  int32_t axis;
  const char *index;
  bool is_constant;
} kernel_binding;
/* axis < 0: of a dimension of length 1, which needs no index. */
kernel_binding kernel_bind(kernel_emitter *e, int32_t axis, const char *index);
void kernel_unbind(kernel_emitter *e, const kernel_binding *before);
kernel_grid kernel_operand(kernel_emitter *e, const kernel_node *x, uint32_t operand);
kernel_grid kernel_value(kernel_emitter *e, ir_value v, const kernel_axes *axes);
/* As large as values of these axes are. */
kernel_grid kernel_new_grid(const kernel_emitter *e, ir_dtype dtype, uint32_t mask);
/* The elements of g in the shape of *out. */
void kernel_widen_grid(kernel_emitter *e, const kernel_grid *g, kernel_grid *out);
/* The node's grid at the indices bound now need not be made again. */
void kernel_remember(kernel_emitter *e, const kernel_node *x, const kernel_grid *g);
const kernel_grid *kernel_find_memo(const kernel_emitter *e, const kernel_node *x, uint32_t mask);
/* Whether what has these axes is the same for all tiles of a row: no column, and no index of a loop
 * of the body's stream. */
bool kernel_is_row_level(const kernel_emitter *e, uint32_t mask);
/* Whether the axes have indices now, those that need them. */
bool kernel_is_bound(const kernel_emitter *e, uint32_t mask);
/* What x's operands need inside a loop over `axis` and doesn't depend on it: made before the loop.
 */
void kernel_hoist(kernel_emitter *e, const kernel_node *x, int32_t axis);
static inline const char *kernel_at(const kernel_grid *g, int32_t r, int32_t c) {
  return g->at[g->rows > 1 ? r : 0][g->columns > 1 ? c : 0];
}
/* An element of a grid in the width of another. */
const char *kernel_widened(kernel_emitter *e, const kernel_grid *g, int32_t r, int32_t c,
                           bool is_vector);
int32_t kernel_lanes_of(const kernel_emitter *e, const kernel_grid *g); /* of an element of it */
const char *kernel_combine(kernel_emitter *e, ir_kind monoid, ir_dtype dtype, const char *type,
                           int32_t lanes, const char *x, const char *y);
/* The same of x's sum and a term of it. */
const char *kernel_combine_term(kernel_emitter *e, const kernel_node *x, ir_dtype dtype,
                                const char *type, int32_t lanes, const char *sum, const char *term);
const char *kernel_neutral(kernel_emitter *e, ir_kind monoid, ir_dtype dtype);
/* Where an input, or the view of one, begins. */
const char *kernel_input_base(kernel_emitter *e, ir_value v);
/* Of the lanes before the end of the block. */
const char *kernel_tail_mask(kernel_emitter *e, const char *column_local);
/* A place in the scratch of a thread. */
const char *kernel_scratch(kernel_emitter *e, int64_t bytes);
/* So many bytes more: where they begin, in a line of the cache of their own. */
static inline int64_t kernel_take(int64_t *in_out_used, int64_t bytes) {
  int64_t at = *in_out_used;
  *in_out_used += (bytes + 63) / 64 * 64;
  return at;
}
typedef void kernel_point_fn(kernel_emitter *e, const kernel_node *x, void *user);
/* At each index of the axes of x that are inside of the tile; hoists: what does not change there is
 * made before a loop over it. reductions.c */
void kernel_for_points(kernel_emitter *e, const kernel_node *x, bool hoists, kernel_point_fn *fn,
                       void *user);

/* ---- memory.c ---- */
/* Loads and stores of values as they are in memory: bytes for i1. */
const char *kernel_load_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p);
void kernel_store_at(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *x,
                     const char *p);
/* A vector of which only some lanes are there. */
const char *kernel_load_masked(kernel_emitter *e, ir_dtype dtype, const char *p, const char *mask);
/* The same of an input, which nobody writes; stride: between the elements of its lanes. */
const char *kernel_load_fixed(kernel_emitter *e, ir_dtype dtype, bool is_vector, const char *p);
const char *kernel_load_strided(kernel_emitter *e, ir_dtype dtype, const char *first,
                                int64_t stride);
const char *kernel_lane_pointers(kernel_emitter *e, ir_dtype dtype, const char *first,
                                 int64_t stride);
/* From an address a lane, where there are lanes. */
const char *kernel_load_lanes(kernel_emitter *e, ir_dtype dtype, const char *pointers);
/* The literal 0, stride, 2 stride, ... */
const char *kernel_lane_numbers(kernel_emitter *e, ir_dtype dtype, int64_t stride);
/* Of the element at row r and vector c of an array with these dimensions: the first one's, and a
 * constant. */
const char *kernel_address(kernel_emitter *e, ir_dtype dtype, const char *base, const int64_t *dims,
                           const kernel_axes *axes, int32_t r, int32_t c);
int64_t kernel_stride(const int64_t *dims, const kernel_axes *axes, int32_t axis);
/* Places on the stack, with these values; what is there now; other values. */
void kernel_make_slots(kernel_emitter *e, kernel_grid *slots, const kernel_grid *values);
void kernel_load_slots(kernel_emitter *e, const kernel_grid *slots, kernel_grid *out);
void kernel_store_slots(kernel_emitter *e, const kernel_grid *slots, const kernel_grid *g);

/* ---- sums.c ---- */
/* What a tile reduction adds for one tile and the points bound now. */
kernel_grid kernel_contribution(kernel_emitter *e, const kernel_node *x);
/* x's sum inside the tile; likewise from the scratch, over columns and over rows. */
kernel_grid kernel_inner_sum(kernel_emitter *e, const kernel_node *x);
kernel_grid kernel_read_reduction(kernel_emitter *e, const kernel_node *x);
kernel_grid kernel_read_late(kernel_emitter *e, const kernel_node *x);
/* x = other + dot or other - dot: the other one is the sum's first term. */
kernel_grid kernel_add_onto(kernel_emitter *e, const kernel_node *x, const kernel_node *dot,
                            uint32_t other);
/* Where a tile reduction's number is for row r of the tile, at the points bound now. */
const char *kernel_reduction_at(kernel_emitter *e, const kernel_node *x, int32_t r);
/* `at` times as many as there are points, and the number of the one that is bound: points of the
 * axes of the mask that lie in a tile. */
const char *kernel_point_number(kernel_emitter *e, uint32_t mask, const char *at);
/* Partial results of a reduction over rows: one number, a vector or all columns a point. */
int64_t kernel_late_width(const kernel_nest *n, const kernel_node *x);
const char *kernel_late_at(kernel_emitter *e, const kernel_node *x, const char *offset);
const char *kernel_across_lanes(kernel_emitter *e, ir_kind monoid, ir_dtype dtype,
                                const char *vector);

/* ---- strided.c ---- */
kernel_grid kernel_emit_strided(kernel_emitter *e,
                                const kernel_node *x); /* a slice, pad or concatenation */

/* ---- gather.c ---- */
kernel_grid kernel_emit_gather(kernel_emitter *e, const kernel_node *x);

/* ---- repeat.c ---- */
kernel_grid kernel_emit_repeat(kernel_emitter *e, const kernel_node *x);

/* ---- product.c, kept.c, table.c, terms.c ---- */
void kernel_plan_kept(kernel_emitter *e); /* of the pass; sets the panel */
bool kernel_read_kept(kernel_emitter *e, const kernel_node *x, kernel_grid *g);
/* Many where a contraction is summed up in registers, few where grids are read. */
int32_t kernel_rows_of_phase(const kernel_emitter *e);
void kernel_store_kept(kernel_emitter *e); /* of the phase, at the tile's columns */
bool kernel_read_table(kernel_emitter *e, const kernel_node *x, kernel_grid *g);
void kernel_emit_products(kernel_emitter *e); /* of the phase, for the panel and the block */
void kernel_clear_product(kernel_emitter *e, const kernel_node *x);
int64_t kernel_padded_points(const kernel_nest *n,
                             const kernel_node *x); /* but for products: as many */
void kernel_place_terms(kernel_emitter *e);
void kernel_clear_terms(kernel_emitter *e);
/* Before a phase: its sums brought to what the statistics of the phases before are now. */
void kernel_rescale(kernel_emitter *e);
const char *kernel_zero_for_infinite(kernel_emitter *e, ir_dtype dtype, const char *x);
const char *kernel_finish_sum(kernel_emitter *e, const kernel_node *x, int32_t r, const char *y);

/* ---- the whole ---- */
typedef struct kernel_code {
  bool is_too_long; /* given up: what shifts and is read by what shifts is made for each path */
  const char *text;
  size_t length;
  const char *const *functions; /* of the C library, in the order of the table passed in */
  uint32_t n_functions;
  int64_t items;         /* 0 .. items - 1: in any order, on any thread */
  int64_t finishing;     /* then as many of the finishing function, likewise; 0: there is none */
  int64_t scratch_bytes; /* for each thread */
  int64_t shared_bytes;  /* for all of them */
} kernel_code;

/* define void @<name>(ptr buffers, ptr functions, ptr scratch, ptr shared, i64 item), and
 * @<name>_finish alike. buffers: inputs, then results. */
kernel_code kernel_emit(arena *a, kernel_nest *n, const char *name);

#endif
