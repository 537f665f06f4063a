/* Reductions of a nest: over columns, in accumulators while a block runs and as numbers in the
 * scratch between blocks; over rows, in slots of the shared memory, one for each span. Products are
 * in product.c, lists of the k largest in topk.c. */
#ifndef WEIR_KERNEL_REDUCTIONS_H
#define WEIR_KERNEL_REDUCTIONS_H
#include "kernel/emit.h"

typedef struct accumulator { /* of one tile reduction while a block runs: [point][row] vectors */
  const kernel_node *node;
  const char *base;
} accumulator;

typedef struct kernel_pass {
  uint32_t n;
  accumulator *at;
} kernel_pass;

/* Those over columns of the pass and phase, but for products. */
kernel_pass kernel_pass_of(kernel_emitter *e);

/* ---- over columns: around the blocks, around the tiles of some rows, in a tile ---- */
void kernel_clear_numbers(kernel_emitter *e);
void kernel_reductions_begin(kernel_emitter *e, kernel_pass *p);
void kernel_reductions_add(kernel_emitter *e, kernel_pass *p);
void kernel_reductions_fold(kernel_emitter *e, kernel_pass *p);
void kernel_sort_lists(kernel_emitter *e);
/* Where a span of columns leaves its numbers; all of them from there or to there; added to those in
 * the scratch. */
const char *kernel_numbers_of(kernel_emitter *e, const char *item);
void kernel_copy_numbers(kernel_emitter *e, const char *to, const char *from);
void kernel_merge_numbers(kernel_emitter *e, const kernel_pass *p, const char *other);

/* ---- over rows ---- */
void kernel_add_late(kernel_emitter *e, bool with_columns);
void kernel_clear_slots(kernel_emitter *e);
void kernel_merge_slots(kernel_emitter *e); /* those that follow, added to the first */

/* ---- where they are ---- */
void kernel_place_reductions(kernel_emitter *e);
void kernel_place_late(kernel_emitter *e, int64_t slots);

#endif
