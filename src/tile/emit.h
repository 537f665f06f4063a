/* A nest as LLVM IR. Emission state and what the files of this stage share.
 *
 * A value at a tile is a grid: `rows` x `vectors` operands of LLVM, one row if it has no row axis,
 * one scalar a row if it has no column axis. Text goes to one of two streams: the tile's body, or
 * the place before the column loop, where everything without columns is put once (`is_row`).
 */
#ifndef WEIR_TILE_EMIT_H
#define WEIR_TILE_EMIT_H
#include "base/strbuf.h"
#include "tile/nest.h"

enum { TILE_MOST_ROWS = 16, TILE_MOST_VECTORS = 4, TILE_KNOWN_LINES = 1024 };

typedef struct tile_grid {
  ir_dtype dtype;
  bool is_vector;
  int32_t rows, columns; /* 1, or those of the tile */
  const char *at[TILE_MOST_ROWS][TILE_MOST_VECTORS];
} tile_grid;

typedef struct tile_pack { /* a copy of an input or a value (pack.c), in the scratch */
  ir_value value;
  tile_axes axes; /* of its first reader */
  ir_dtype dtype;
  bool of_rows;
  int32_t pass; /* the last one that it was made for; -1: none */
  const char *base;
} tile_pack;

typedef struct tile_kept { /* a grid that is kept for a panel of rows and a block of columns */
  const tile_node *node;
  int32_t phase, last_use; /* stored at the end of its phase; last_use: twice the phase, and one
                              more for products, which come after */
  bool is_reused;          /* its place has another grid later */
  const char *base;
} tile_kept;

typedef struct tile_table { /* a value as [row of the chunk or column of the block][points] */
  ir_value value;
  tile_axes axes;
  int32_t axis, pass;
  int64_t points, padded;
  const char *base;
} tile_table;

typedef struct tile_memo {
  int32_t node;
  const char *bound[TILE_MOST_AXES]; /* indices of the axes that it has */
  tile_grid grid;
  bool in_row;
  int32_t depth;
} tile_memo;

typedef struct tile_known { /* a line that need not be put again */
  const strbuf *stream;
  const char *text, *name;
  uint32_t number; /* of the name */
} tile_known;

typedef struct tile_emitter {
  tile_nest *n;
  arena *a;
  strbuf buffers;     /* names of inputs and results, the same in all functions */
  strbuf places;      /* of places in the scratch */
  strbuf entry;       /* of the function: allocas and what is computed once */
  strbuf *body, *row; /* the two streams */
  strbuf *out;        /* one of them */
  strbuf *pack;       /* before the rows of a block */
  strbuf *chunk_pack; /* before the passes of a chunk of rows */
  int32_t depth[2];   /* loops open in body, row */
  const char *small_ints[256];
  uint32_t names;                    /* numbers given to values and labels */
  tile_known *known;                 /* lines by hash, the last one of each */
  int32_t rows, vectors;             /* of the tile being emitted */
  const char *bound[TILE_MOST_AXES]; /* index of an axis, as an i64; NULL: not bound. Not of rows
                                        and columns */
  bool is_constant[TILE_MOST_AXES];  /* bound to a literal */
  const char *row_index[TILE_MOST_ROWS], *row_local[TILE_MOST_ROWS];
  const char *column, *column_local;       /* of the first lane; local: from the block's first */
  const char *mask;                        /* of the lanes that exist; NULL: all */
  const char *block_begin, *block_columns; /* of the block of columns */
  const char *block_main;                  /* of these in whole tiles */
  const char *group; /* tile_group_of() rows that are not a whole tile; NULL: whole */
  bool in_tile;      /* copies are read, not computed */
  bool in_copy;      /* of computed values: copies of inputs are read */
  int32_t pass, phase;
  int64_t panel;                        /* rows of a panel, */
  const char *panel_begin, *panel_rows; /* counted from the chunk's first */
  bool is_running;                      /* statistics of this pass are read as they are so far */
  bool filling;                         /* a table */
  strbuf *before;                       /* before the blocks of the pass */
  VEC(tile_kept) kept;
  VEC(tile_table) tables;
  int64_t *term_offset;   /* of the value that a sum was made with, by reduction and term: [row] */
  bool finishes;          /* in the function that runs when all rows are done */
  uint32_t *seen, sweeps; /* by node: the last sweep that came by */
  uint64_t *visited;      /* by node: for which phases it was looked at what to keep */
  VEC(tile_memo) memos;
  VEC(tile_pack) packs;
  VEC(const char *) shared;    /* names of functions that are called from several places */
  VEC(const char *) functions; /* of the C library, by the index they are called by */
  VEC(const char *) declared;
  const char *name;  /* of the kernel's function */
  strbuf helpers;    /* functions of its own that it calls */
  bool *has_helpers; /* by node */
  int64_t scratch_bytes;
  const char *slot;     /* number of the partial results of reductions over rows */
  int64_t *late_offset; /* theirs in the shared memory: [slot][point][width] */
  int64_t shared_bytes;
  int64_t *reduction_offset; /* of a tile reduction's numbers in the scratch: [point][row] */
  int64_t reduction_bytes;   /* of all of them, at the scratch's beginning */
  const char *numbers;       /* where these are: the scratch, or what another span left */
} tile_emitter;

/* ---- text ---- */
const char *tile_name(tile_emitter *e); /* a fresh "%v12" */
/* `%v12 = <text>` on the current stream; returns the name. What is there already and reads no
 * memory is not put again. */
const char *tile_line(tile_emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tile_put(tile_emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines since a number was given are no longer known: what follows is not always run after them. */
void tile_forget_since(tile_emitter *e, uint32_t number);
const char *tile_int(tile_emitter *e, int64_t value); /* a literal; equal ones are one pointer */
const char *tile_real(tile_emitter *e, ir_dtype dtype, double value);
const char *tile_type(tile_emitter *e, ir_dtype dtype, bool is_vector); /* "<16 x float>" */
const char *tile_memory_type(ir_dtype dtype);                           /* "i8" for i1 */
const char *tile_literal(tile_emitter *e, ir_op constant);              /* of a splat */
/* The operand as a vector, where it is a scalar. */
const char *tile_splat(tile_emitter *e, ir_dtype dtype, const char *scalar);
/* Declares an intrinsic or function once. */
void tile_declare(tile_emitter *e, const char *declaration);
/* x + y * factor as i64; zero and one are folded. */
const char *tile_index(tile_emitter *e, const char *x, const char *y, int64_t factor);
/* So many elements after p. */
const char *tile_after(tile_emitter *e, ir_dtype dtype, const char *p, const char *count);
/* The same, and LLVM is not to look into it: what it does to the addresses of loops takes time that
 * grows fast with the terms of their sums. For what a loop further in adds to. */
const char *tile_settled(tile_emitter *e, ir_dtype dtype, const char *p, const char *count);

/* ---- functions (function.c) ---- */
typedef enum tile_level { TILE_CHUNK, TILE_BLOCK, TILE_PANEL } tile_level;

typedef struct tile_function {
  strbuf code, callers_entry;
  strbuf *caller;
} tile_function;

/* What is put from here to the end is a function of its own, which is called from a place (the
 * stream `caller`) inside of the loops down to `level`: it reads nothing that is computed outside
 * of it but their indices and extents. */
void tile_function_begin(tile_emitter *e, tile_function *f);
void tile_function_end(tile_emitter *e, tile_function *f, tile_level level, strbuf *caller);
/* Whether there is none of that name yet: a function that several places share. It knows nothing
 * but its arguments. head: "void @name(arguments)". */
bool tile_function_is_new(tile_emitter *e, const char *name);
void tile_function_share(tile_emitter *e, tile_function *f, const char *head);
/* Ends one that is called from outside of the module. */
void tile_function_export(tile_emitter *e, tile_function *f, const char *ending, strbuf *out);

/* ---- loops ---- */
typedef struct tile_loop {
  const char *counter, *index, *step;
  uint32_t label;
  int32_t stream;
} tile_loop;
tile_loop tile_loop_begin(tile_emitter *e, const char *from, const char *to, const char *step);
void tile_loop_end(tile_emitter *e, const tile_loop *l);
/* As long as what is computed between the first two holds. */
tile_loop tile_while_begin(tile_emitter *e);
void tile_while_test(tile_emitter *e, const tile_loop *l, const char *goes_on);
void tile_while_end(tile_emitter *e, const tile_loop *l);

/* Whether there may be rows of a chunk or panel beside groups of so many, columns beside whole
 * tiles; if not, nothing is emitted for them. */
bool tile_has_odd_rows(const tile_emitter *e, int32_t rows);
bool tile_has_odd_columns(const tile_emitter *e);
/* Rows (the next ones from this one of the chunk) and columns that what follows is about; what was
 * made of other rows is forgotten. */
void tile_set_rows(tile_emitter *e, const char *local, int32_t rows);
/* The first row, in the chunk, of those that are packed together with a row. */
const char *tile_group_of(tile_emitter *e, const char *local);
void tile_set_columns(tile_emitter *e, const tile_loop *l);

/* ---- values ---- */
typedef struct tile_binding { /* what an axis was bound to */
  int32_t axis;
  const char *index;
  bool is_constant;
} tile_binding;
/* axis < 0: of a dimension of length 1, which needs no index. */
tile_binding tile_bind(tile_emitter *e, int32_t axis, const char *index);
void tile_unbind(tile_emitter *e, const tile_binding *before);
tile_grid tile_operand(tile_emitter *e, const tile_node *x, uint32_t operand);
tile_grid tile_value(tile_emitter *e, ir_value v, const tile_axes *axes);
/* As large as values of these axes are. */
tile_grid tile_new_grid(const tile_emitter *e, ir_dtype dtype, uint32_t mask);
/* The elements of g in the shape of *out. */
void tile_widen_grid(tile_emitter *e, const tile_grid *g, tile_grid *out);
/* Places on the stack, with these values; what is there now; other values. */
void tile_make_slots(tile_emitter *e, tile_grid *slots, const tile_grid *values);
void tile_load_slots(tile_emitter *e, const tile_grid *slots, tile_grid *out);
void tile_store_slots(tile_emitter *e, const tile_grid *slots, const tile_grid *g);
/* The node's grid at the indices bound now need not be made again. */
void tile_remember(tile_emitter *e, const tile_node *x, const tile_grid *g);
/* Whether what has these axes is the same for all tiles of a row: no column, and no index of a loop
 * of the body's stream. */
bool tile_is_row_level(const tile_emitter *e, uint32_t mask);
/* Whether the axes have indices now, those that need them. */
bool tile_is_bound(const tile_emitter *e, uint32_t mask);
/* What a tile reduction adds for one tile and the points bound now. */
tile_grid tile_contribution(tile_emitter *e, const tile_node *x);
/* What x's operands need inside a loop over `axis` and doesn't depend on it: made before the loop.
 */
void tile_hoist(tile_emitter *e, const tile_node *x, int32_t axis);
static inline const char *tile_at(const tile_grid *g, int32_t r, int32_t c) {
  return g->at[g->rows > 1 ? r : 0][g->columns > 1 ? c : 0];
}
const char *tile_combine(tile_emitter *e, ir_kind monoid, ir_dtype dtype, const char *type,
                         int32_t lanes, const char *x, const char *y);
const char *tile_neutral(tile_emitter *e, ir_kind monoid, ir_dtype dtype);
/* Address of a loop result's or input's element, in elements: sum of strides times indices. */
const char *tile_reduction_at(tile_emitter *e, const tile_node *x, int32_t r);
/* Partial results of a reduction over rows: one number, a vector or all columns a point. */
int64_t tile_late_width(const tile_nest *n, const tile_node *x);
const char *tile_late_at(tile_emitter *e, const tile_node *x, const char *offset);
/* Loads and stores of values as they are in memory: bytes for i1. */
const char *tile_load_at(tile_emitter *e, ir_dtype dtype, bool is_vector, const char *p);
void tile_store_at(tile_emitter *e, ir_dtype dtype, bool is_vector, const char *x, const char *p);
const char *tile_across_lanes(tile_emitter *e, ir_kind monoid, ir_dtype dtype, const char *vector);
const char *tile_lane_pointers(tile_emitter *e, ir_dtype dtype, const char *first, int64_t stride);
/* From an address a lane, where there are lanes. */
const char *tile_load_lanes(tile_emitter *e, ir_dtype dtype, const char *pointers);
/* The literal 0, stride, 2 stride, ... */
const char *tile_lane_numbers(tile_emitter *e, ir_dtype dtype, int64_t stride);
/* Of the element at row r and vector c of an array with these dimensions: the first one's, and a
 * constant. */
const char *tile_address(tile_emitter *e, ir_dtype dtype, const char *base, const int64_t *dims,
                         const tile_axes *axes, int32_t r, int32_t c);
int64_t tile_stride(const int64_t *dims, const tile_axes *axes, int32_t axis);

/* Where an input, or the view of one, begins. */
const char *tile_input_base(tile_emitter *e, ir_value v);
/* A vector of which only some lanes are there. */
const char *tile_load_masked(tile_emitter *e, ir_dtype dtype, const char *p, const char *mask);
/* Of the lanes before the end of the block. */
const char *tile_tail_mask(tile_emitter *e, const char *column_local);
/* A place in the scratch of a thread. */
const char *tile_scratch(tile_emitter *e, int64_t bytes);
typedef void tile_point_fn(tile_emitter *e, const tile_node *x, void *user);
void tile_for_all_points(tile_emitter *e, const tile_node *x, tile_point_fn *fn, void *user);

/* ---- bend.c ---- */
tile_grid tile_emit_bent(tile_emitter *e, const tile_node *x); /* a slice, pad or concatenation */

/* ---- gather.c ---- */
tile_grid tile_emit_gather(tile_emitter *e, const tile_node *x);

/* ---- repeat.c ---- */
tile_grid tile_emit_repeat(tile_emitter *e, const tile_node *x);

/* ---- product.c ---- */
void tile_plan_kept(tile_emitter *e); /* of the pass; sets the panel */
bool tile_read_kept(tile_emitter *e, const tile_node *x, tile_grid *g);
/* Many where a contraction is summed up in registers, few where grids are read. */
int32_t tile_rows_of_phase(const tile_emitter *e);
void tile_store_kept(tile_emitter *e); /* of the phase, at the tile's columns */
bool tile_read_table(tile_emitter *e, const tile_node *x, tile_grid *g);
void tile_emit_products(tile_emitter *e); /* of the phase, for the panel and the block */
void tile_clear_product(tile_emitter *e, const tile_node *x);
int64_t tile_padded_points(const tile_nest *n, const tile_node *x); /* but for products: as many */
void tile_place_terms(tile_emitter *e);
void tile_clear_terms(tile_emitter *e);
/* Before a phase: its sums brought to what the statistics of the phases before are now. */
void tile_rescale(tile_emitter *e);
const char *tile_zero_for_infinite(tile_emitter *e, ir_dtype dtype, const char *x);
const char *tile_finish_sum(tile_emitter *e, const tile_node *x, int32_t r, const char *y);

/* ---- the whole ---- */
typedef struct tile_code {
  const char *text;
  size_t length;
  const char *const *functions; /* of the C library, in the order of the table passed in */
  uint32_t n_functions;
  int64_t items;         /* 0 .. items - 1: in any order, on any thread */
  int64_t finishing;     /* then as many of the finishing function, likewise; 0: there is none */
  int64_t scratch_bytes; /* for each thread */
  int64_t shared_bytes;  /* for all of them */
} tile_code;

/* define void @<name>(ptr buffers, ptr functions, ptr scratch, ptr shared, i64 item), and
 * @<name>_finish alike. buffers: inputs, then results. */
tile_code tile_emit(arena *a, tile_nest *n, const char *name);

#endif
