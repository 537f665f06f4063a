/* How far the loops of running programs are, and the one line on stderr that shows it.
 *
 *   weir: jit_f, loop 1 of 2  [########------------]  42 %, 118 slices/s, ETA 12 s
 *
 * Drawn only while somebody wants it (weir_show_progress), on a terminal, at most five times a
 * second, and only of a loop that takes longer than half a second; removed when the loop ends.
 * State of the process, thread safe.
 */
#ifndef WEIR_CALL_PROGRESS_H
#define WEIR_CALL_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_NONE = -1, PROGRESS_LABEL = 80 };

/* A loop begins: the number to report it by; PROGRESS_NONE (which all else takes, too) where nobody
 * wants to know. run: which execution it is part of. */
int32_t progress_begin(const char *label, size_t length, int64_t run, int64_t total);
/* The number of a loop that has begun. */
int32_t progress_find(const char *label, size_t length, int64_t run);
void progress_at(int32_t number, int64_t done);
void progress_end(int32_t number);
/* Whether Ctrl-C was pressed since it began (interrupt.h). */
bool progress_interrupted(int32_t number);

/* The line for a loop that has run for `seconds`, without line breaks. Returns its length. */
int progress_line(char *out, size_t room, const char *label, int64_t done, int64_t total,
                  double seconds);

#endif
