/* Object code on disk, so that the next process need not compile a kernel again.
 *
 * A folder of files (base/kept.h) named by the hash of what was compiled: IR, LLVM, processor,
 * weir. A file appears whole or not at all, its contents are checked when it is read, and a file
 * that another user could have written is not read. The folder is kept under 64 MB; what was used
 * longest ago goes first. Nothing here fails: without a cache everything is compiled.
 */
#ifndef WEIR_KERNEL_CACHE_H
#define WEIR_KERNEL_CACHE_H
#include "base/arena.h"

typedef struct kernel_cache_key {
  uint64_t words[2];
} kernel_cache_key;

/* Starts with {0}; order matters. */
void kernel_cache_add(kernel_cache_key *key, const char *data, size_t length);

/* The object code in `a`; NULL: there is none. */
const char *kernel_cache_get(arena *a, const kernel_cache_key *key, size_t *out_length);
void kernel_cache_put(arena *a, const kernel_cache_key *key, const char *data, size_t length);

#endif
