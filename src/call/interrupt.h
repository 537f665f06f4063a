/* Ctrl-C while a program of ours runs: Python sees the signal only when XLA comes back, so long
 * loops ask here and give up. State of the process.
 *
 * Our handler of SIGINT counts and calls the one that was there before; it is put in when a loop
 * begins, where somebody else handles SIGINT (Python does). Loops give up only if that ends in
 * KeyboardInterrupt anyway: weir_interrupts() says so.
 */
#ifndef WEIR_CALL_INTERRUPT_H
#define WEIR_CALL_INTERRUPT_H
#include <stdbool.h>
#include <stdint.h>

/* To be kept, and asked about while the loop runs. Cheap. */
uint32_t interrupt_watch(void);
/* Whether Ctrl-C was pressed since. */
bool interrupt_came(uint32_t since);

#endif
