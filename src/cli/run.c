/* One call of weir_rewrite() for a file, with the message of an error as compilers print it; sizes
 * for people. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *skip_digits(const char *p) {
  while (isdigit((unsigned char)*p)) p++;
  return p;
}

/* "LINE:COLUMN: ..." */
static bool has_position(const char *message) {
  const char *p = skip_digits(message);
  if (p == message || *p != ':') return false;
  const char *q = skip_digits(p + 1);
  return q != p + 1 && *q == ':';
}

static int length_without_end(const char *message) {
  size_t n = strlen(message);
  while (n && message[n - 1] == '\n') n--;
  return (int)n;
}

void cli_print_error(const char *path, weir_status status, const weir_result *result) {
  const char *message = result ? weir_result_message(result) : "out of memory";
  const char *name = cli_display_name(path);
  int n = length_without_end(message);
  if (has_position(message)) fprintf(stderr, "%s:%.*s\n", name, n, message);
  else fprintf(stderr, "%s: %s: %.*s\n", name, weir_status_name(status), n, message);
}

int cli_rewrite_text(const cli_args *args, const char *text, size_t length,
                     weir_result **out_result) {
  weir_result *result;
  *out_result = NULL;
  weir_status status = weir_rewrite(text, length, &args->options, &result);
  assert(status != WEIR_OK || result);
  if (status != WEIR_OK) cli_print_error(args->input, status, result);
  bool kept = status == WEIR_OK || (status == WEIR_RESOURCE_EXHAUSTED && result);
  if (kept) *out_result = result;
  else weir_result_destroy(result);
  return status == WEIR_OK ? CLI_OK : status == WEIR_RESOURCE_EXHAUSTED ? CLI_EXHAUSTED : CLI_ERROR;
}

int cli_rewrite(const cli_args *args, weir_result **out_result, char **out_text,
                size_t *out_length) {
  size_t length;
  *out_result = NULL;
  if (out_text) *out_text = NULL;
  char *text = cli_read(args->input, &length);
  if (!text) return CLI_ERROR;
  int code = cli_rewrite_text(args, text, length, out_result);
  if (*out_result && out_text) *out_text = text, *out_length = length;
  else free(text);
  return code;
}

const char *cli_bytes_text(char room[CLI_BYTES_ROOM], int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double x = (double)bytes;
  int unit = 0;
  assert(bytes >= 0);
  for (; x >= 999.5 && unit < 6; unit++) x /= 1000;
  int digits = unit == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  snprintf(room, CLI_BYTES_ROOM, "%.*f %s", digits, x, units[unit]);
  return room;
}
