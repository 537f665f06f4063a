/* Printers: IR -> bytes. */
#ifndef WEIR_OUT_OUT_H
#define WEIR_OUT_OUT_H
#include "base/strbuf.h"
#include "ir/ir.h"

/* Appends the module in MLIR's generic form, with locations, as stock MLIR reads it; same module,
 * same bytes. */
void out_stablehlo_text(const ir_module *m, strbuf *out);

#endif
