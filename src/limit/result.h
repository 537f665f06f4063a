/* What a weir_rewrite() leaves to its caller. Lives outside the context's arenas. */
#ifndef WEIR_LIMIT_RESULT_H
#define WEIR_LIMIT_RESULT_H
#include "base/ctx.h"

enum { RESULT_MOST_OPTIONS = 8 }; /* at least MACHINE_MOST_OPTIONS */

struct weir_result {
  weir_outcome outcome;
  char *text;
  size_t length;
  char message[2048];
  char *explain, *data, *trace;
  const char *compile_options[RESULT_MOST_OPTIONS + 1]; /* static strings, NULL-terminated */
  weir_summary summary;
  weir_loop_info *loops; /* seeds are malloc'ed */
};

weir_result *result_create(void); /* NULL: out of memory */
WEIR_MUST_USE weir_status result_set_text(ctx *c, weir_result *r, const char *text, size_t length);
WEIR_MUST_USE weir_status result_set_explain(ctx *c, weir_result *r, const char *text);
WEIR_MUST_USE weir_status result_set_trace(ctx *c, weir_result *r, const char *text);
WEIR_MUST_USE weir_status result_set_data(ctx *c, weir_result *r, const char *text);
void result_set_error(weir_result *r, const char *message);
/* *out_result becomes what `what` makes of *own, which is the same, in this context, which is gone
 * then; or has the message. */
weir_status result_make(ctx *c, weir_status (*what)(void *user), void *user, weir_result **own,
                        weir_result **out_result);
WEIR_MUST_USE weir_status result_add_loop(ctx *c, weir_result *r, const weir_loop_info *info);

#endif
