/* Printers: IR -> bytes. */
#ifndef WEIR_OUT_OUT_H
#define WEIR_OUT_OUT_H
#include "base/strbuf.h"
#include "ir/ir.h"

/* Appends the module in MLIR's generic form, with locations, as stock MLIR reads it; same module,
 * same bytes. */
void out_stablehlo_text(const ir_module *m, strbuf *out);
/* The same without locations: programs that compute the same by the same ops are the same. */
void out_plain_text(const ir_module *m, strbuf *out);
/* Appends a dictionary as it stands in that text: {a = 1, b}. */
void out_entries_text(const ir_module *m, const ir_named_attr *entries, uint32_t count,
                      strbuf *out);

/* StableHLO 1.N. Older ones can't say where a line of the source ends; newer ones are not known. */
enum { OUT_BYTECODE_OLDEST = 9, OUT_BYTECODE_NEWEST = 20 };
#define OUT_BYTECODE_VERSION "1.13.0" /* what the oldest jax that weir supports reads */
bool out_bytecode_writes(const char *version);
/* Appends the module as MLIR bytecode, a portable artifact of this version ("1.13.0"); same module,
 * same bytes. Errors: INVALID_ARGUMENT (no such version), UNIMPLEMENTED (what the version can't
 * say; the message names the op). */
WEIR_MUST_USE weir_status out_bytecode(const ir_module *m, const char *version, strbuf *out);

#endif
