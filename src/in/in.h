/* Readers: bytes -> IR. What JAX prints at the hook, in MLIR's generic or pretty form
 * (docs/design/reader.md), and MLIR bytecode (docs/design/bytecode.md). */
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

/* Reads MLIR bytecode of versions 0 to 6 with ops of VHLO, func or text-only dialects: the module
 * that the text reader makes of what stock StableHLO prints of the same bytes. Errors as above,
 * with the message "byte N: ...". */
WEIR_MUST_USE weir_status in_bytecode(ctx *c, const char *bytes, size_t length,
                                      ir_module **out_module);
bool in_is_bytecode(const char *bytes, size_t length); /* by the magic number */
/* "1.13.0": the version of StableHLO that a portable artifact says it is of; NULL: it is none. */
const char *in_artifact_version(const char *bytes, size_t length);

/* Either of them, by the magic number. */
WEIR_MUST_USE weir_status in_program(ctx *c, const char *bytes, size_t length,
                                     ir_module **out_module);

#endif
