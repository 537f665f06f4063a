/* Readers: bytes -> IR. What JAX prints at the hook, in MLIR's generic or pretty form
 * (docs/design/reader.md). */
#ifndef WEIR_IN_IN_H
#define WEIR_IN_IN_H
#include "ir/ir.h"

/* Reads StableHLO text; `text` need not be NUL-terminated. The module (the caller's to destroy) is
 * the same for the pretty and the generic form of a program; it is parsed, not verified. Errors,
 * with the message "LINE:COLUMN: ...": INVALID_ARGUMENT for what is not MLIR, UNIMPLEMENTED for
 * what is but not ours to read (several blocks in a region, dialect resources, an unknown op in
 * pretty form). On an error *out_module is NULL. */
WEIR_MUST_USE weir_status in_stablehlo_text(ctx *c, const char *text, size_t length,
                                            ir_module **out_module);

#endif
