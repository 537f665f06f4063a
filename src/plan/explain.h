/* Words about a peak: the table of who holds it, and where in the source an op comes from. */
#ifndef WEIR_PLAN_EXPLAIN_H
#define WEIR_PLAN_EXPLAIN_H
#include "base/strbuf.h"
#include "plan/peak.h"

/* Who holds the peak: bytes, share of all temporaries, shape, op, source line; the largest
 * max_rows of them, then how much the rest is. */
void plan_explain_peak(const ir_module *m, const plan_peak *peak, strbuf *out, int max_rows);

/* "file.py:12" of a location as it stands in an op (without "loc(" and ")"), in all of MLIR's
 * forms: "file.py":12:3, "name"(loc), callsite(callee at caller), fused<...>[locs], fused[locs],
 * ranges ("file.py":12:3 to :15). Of a call site the innermost place in a file that is no
 * installed package is taken, else the innermost. NULL if there is none (unknown, a name alone).
 * Aliases (#loc3) are for the reader to resolve. */
const char *plan_source_line(arena *a, const ir_module *m, ir_str location);

/* "f32[8,4096]"; "tuple" if it is no tensor. In the arena. */
const char *plan_shape_text(arena *a, const ir_module *m, ir_type type);

/* "1.07 GB": powers of 1000, three digits. In the arena. */
const char *plan_bytes_text(arena *a, int64_t bytes);

#endif
