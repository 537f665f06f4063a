/* LLVM, opened at run time: text of its IR in, a function in memory out.
 *
 * Nothing here needs LLVM to build. The library is looked for once (WEIR_LLVM, then the usual names
 * from new to old, at least 15: opaque pointers), and the few functions of its C API that are used
 * have had the same signatures since. Thread safe. State of the process, not of a context: the
 * library's handle, its JIT and the code, which stays as long as the process.
 */
#ifndef WEIR_KERNEL_LLVM_H
#define WEIR_KERNEL_LLVM_H
#include "base/arena.h"
#include "machine/machine.h"

/* A build with AddressSanitizer has LLVM put its checks into kernels, too: in functions with this
 * attribute each load and store. */
#ifdef __SANITIZE_ADDRESS__
#define KERNEL_CHECKED " sanitize_address"
#else
#define KERNEL_CHECKED ""
#endif

/* NULL if there is an LLVM to compile with, else why not. */
const char *kernel_llvm_missing(void);

/* Compiles a module for a machine of this level, which is one that machine_runs() here, or takes it
 * from the cache on disk, and returns the address of its function `name`, which no module before
 * had. The module is linked against nothing but the C library. UNIMPLEMENTED: no LLVM; INTERNAL:
 * LLVM refuses the text, with its message. */
WEIR_MUST_USE weir_status kernel_llvm_compile(arena *a, machine_level level, const char *text,
                                              size_t length, const char *name, void **out_function);

/* Another function of a module that was compiled. */
WEIR_MUST_USE weir_status kernel_llvm_find(ctx *c, const char *name, void **out_function);

#endif
