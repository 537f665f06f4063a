/* The process's kernels.
 *
 * A kernel is found by the text of its call's attribute `body` (src/pipeline/kernels.c): the first
 * time it is read, emitted and compiled by LLVM; it stays as long as the process. Safe to use from
 * several threads.
 */
#ifndef WEIR_CALL_LOADED_H
#define WEIR_CALL_LOADED_H
#include <stddef.h>
#include <stdint.h>

#include "kernel/run.h"
#include "weir/weir.h"

typedef struct loaded_kernel loaded_kernel;

enum { LOADED_MESSAGE = 2200 }; /* room for any message of loaded_get() */

/* INVALID_ARGUMENT: a body of another format, or no such loop; UNIMPLEMENTED: not covered, or no
 * LLVM; NOT_FOUND: a function that the C library lacks. message: room for what went wrong. */
weir_status loaded_get(const char *body, size_t length, char *message, size_t room,
                       const loaded_kernel **out_kernel);

/* Begins to make the kernel on a thread of its own, where it is not there yet: loaded_get() finds
 * it, waits for it, or says what is wrong with it. */
void loaded_prepare(const char *body, size_t length);

uint32_t loaded_buffers(const loaded_kernel *k); /* inputs and results */

/* What kernel_run() is to do with these buffers, inputs first. Returns on how many threads, of at
 * most `threads`: those that the scratch has room for; 0: it is too small. */
int32_t loaded_work(const loaded_kernel *k, void *const *buffers, void *scratch,
                    int64_t scratch_bytes, int64_t threads, kernel_work *out_work);

#endif
