/* Runs a kernel's work items on the calling thread and on helpers. */
#ifndef WEIR_KERNEL_RUN_H
#define WEIR_KERNEL_RUN_H
#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_MOST_BUFFERS = 256 }; /* inputs and results of a kernel */

/* One item. buffers: inputs, then results; functions: addresses of the C library's; scratch:
 * 64-byte aligned, of this thread alone; shared: of all items. */
typedef void kernel_compiled(void *const *buffers, void *const *functions, void *scratch,
                             void *shared, int64_t item);

typedef struct kernel_work {
  kernel_compiled *kernel;
  void *const *buffers, *const *functions;
  char *scratch, *shared;
  int64_t scratch_bytes; /* of each thread */
  int64_t items;
  kernel_compiled *finish; /* NULL: none */
  int64_t finishing;       /* its items, when all others are done */
  bool (*goes_on)(void *user,
                  int64_t item); /* asked before an item; false: no more of them; NULL: all */
  void *user;
} kernel_work;

/* Asks for task(data) to be called once, at any time, on any thread; false: it will not be. */
typedef bool kernel_schedule(void *user, void (*task)(void *data), void *data);

/* Returns when all items are done, true, or when goes_on() did not want more. The calling thread
 * works too, and waits only for helpers that have begun: a pool that is busy with callers like this
 * one can't deadlock. threads: at most, with scratch for each. */
bool kernel_run(const kernel_work *work, int32_t threads, kernel_schedule *schedule, void *user);

#endif
