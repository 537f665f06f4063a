/* Work items: which rows and columns one has. */
#ifndef WEIR_KERNEL_ITEMS_H
#define WEIR_KERNEL_ITEMS_H
#include "kernel/emit.h"

/* %item -> outer indices, the span of columns, the rows of its span. */
void kernel_decode_item(kernel_emitter *e, int64_t column_spans);
/* %item -> outer indices, all columns: where all rows are done. */
void kernel_decode_finishing_item(kernel_emitter *e);
/* A loop over the chunks of its rows. */
kernel_loop kernel_begin_chunk(kernel_emitter *e);
/* number / by. */
const char *kernel_divided(kernel_emitter *e, const char *number, int64_t by,
                           const char **out_rest);

#endif
