/* NumPy's .npy files (format 1.0 to 3.0, C or Fortran order, little-endian) as tensors. bf16
 * travels as '<u2' or '|V2', f8, f6, f4 and the 4- and 2-bit integers as one byte an element: what
 * a file's elements are taken for is the caller's to say. */
#ifndef WEIR_REF_NPY_H
#define WEIR_REF_NPY_H
#include "ref/ref.h"

/* Reads a tensor whose elements are those of `want` (shape too). INVALID_ARGUMENT with a message
 * that begins with `path`, NOT_FOUND if it can't be read. */
WEIR_MUST_USE weir_status ref_npy_read(arena *a, const char *path, const ir_type_data *want,
                                       ref_tensor *out);
/* The same from memory; `name` stands in messages. */
WEIR_MUST_USE weir_status ref_npy_parse(arena *a, const char *name, const char *bytes,
                                        size_t length, const ir_type_data *want, ref_tensor *out);
WEIR_MUST_USE weir_status ref_npy_write(ctx *c, const char *path, const ref_tensor *t);

#endif
