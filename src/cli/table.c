/* The table of `weir plan --limits`: what each limit makes of a program and what it costs. A row is
 * what `weir opt` would do under that limit, by weir's estimates. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { AUTOMATIC_ROWS = 6 };

/* ---- which limits ---- */
static bool parse_one(const char *word, size_t length, int64_t *out_bytes) {
  char copy[64];
  if (length >= sizeof copy) return false;
  memcpy(copy, word, length);
  copy[length] = 0;
  return weir_parse_bytes(copy, out_bytes) == WEIR_OK;
}

int cli_parse_limits(const cli_command *command, const char *list, cli_limits *out_limits) {
  *out_limits = (cli_limits){.automatic = !strcmp(list, "auto")};
  for (const char *word = list; !out_limits->automatic; word += strcspn(word, ",") + 1) {
    size_t n = strcspn(word, ",");
    if (out_limits->count == CLI_MOST_LIMITS)
      return cli_usage_error(command, "--limits: more than %d", CLI_MOST_LIMITS);
    if (!parse_one(word, n, &out_limits->at[out_limits->count++]))
      return cli_usage_error(command, "--limits: \"%.*s\" is no size; as in 100MB,200MB", (int)n,
                             word);
    if (!word[n]) break;
  }
  return CLI_OK;
}

/* Up to the next number of two digits. */
static int64_t rounded_up(double bytes) {
  double unit = pow(10, floor(log10(bytes)) - 1);
  return (int64_t)(ceil(bytes / unit) * unit);
}

/* From the smallest that can be held to the one that asks for nothing, in equal ratios; that one
 * alone, where the smallest was not looked for. */
static void choose_limits(const weir_summary *s, cli_limits *limits) {
  int64_t least = s->minimum_bytes ? s->minimum_bytes : s->peak_before_bytes;
  double low = (double)least, ratio = (double)s->peak_before_bytes / low;
  limits->count = 0;
  for (int i = 0; i < AUTOMATIC_ROWS && least > 0; i++) {
    int64_t limit = i == 0 ? least : rounded_up(low * pow(ratio, i / 5.0));
    if (i == AUTOMATIC_ROWS - 1) limit = s->peak_before_bytes;
    bool is_new = !limits->count || limit > limits->at[limits->count - 1];
    if (is_new && limit <= s->peak_before_bytes) limits->at[limits->count++] = limit;
  }
  assert(limits->count <= AUTOMATIC_ROWS);
}

/* ---- rows ---- */
static void put_count(FILE *out, int width, int64_t count) {
  if (count) fprintf(out, " %*lld", width, (long long)count);
  else fprintf(out, " %*s", width, "-");
}

static int64_t most_trips(const weir_result *result) {
  weir_loop_info loop = {.struct_size = sizeof loop};
  int64_t most = 0;
  for (int32_t i = 0; weir_result_loop(result, i, &loop); i++)
    if (loop.trips > most) most = loop.trips;
  return most;
}

static void put_row(FILE *out, const weir_result *result) {
  char room[CLI_BYTES_ROOM];
  weir_summary s = {.struct_size = sizeof s};
  weir_result_summary(result, &s);
  fprintf(out, " %12s", cli_bytes_text(room, s.peak_after_bytes));
  put_count(out, 6, s.loops);
  put_count(out, 8, most_trips(result));
  fprintf(out, " %10.3g", (double)s.flops_after);
  if (s.time_before_ns > 0)
    fprintf(out, " %7.2f", (double)s.time_after_ns / (double)s.time_before_ns);
  fputs("\n", out);
}

static int put_limit(FILE *out, const cli_args *args, int64_t limit, const char *input,
                     size_t length) {
  char room[CLI_BYTES_ROOM];
  weir_result *result;
  weir_options options = args->options;
  options.memory_limit_bytes = limit;
  options.minimum = WEIR_MINIMUM_NEVER;
  fprintf(out, "%12s", cli_bytes_text(room, limit));
  weir_status status = weir_rewrite(input, length, &options, &result);
  if (status == WEIR_OK) put_row(out, result);
  else if (status == WEIR_RESOURCE_EXHAUSTED && result) fprintf(out, " %12s\n", "refused");
  else cli_print_error(args->input, status, result);
  bool good = status == WEIR_OK || (status == WEIR_RESOURCE_EXHAUSTED && result);
  weir_result_destroy(result);
  return good ? CLI_OK : CLI_ERROR;
}

int cli_put_table(FILE *out, const cli_args *args, cli_limits limits, const char *input,
                  size_t length, const weir_result *planned) {
  weir_summary s = {.struct_size = sizeof s};
  weir_result_summary(planned, &s);
  if (limits.automatic) choose_limits(&s, &limits);
  fprintf(out,
          "\nunder other limits, estimated (time 1.00: the program without a limit):\n"
          "%12s %12s %6s %8s %10s %7s\n",
          "limit", "peak", "loops", "slices", "flops", "time");
  int code = CLI_OK;
  assert(0 <= limits.count && limits.count <= CLI_MOST_LIMITS);
  for (int i = 0; i < limits.count && code == CLI_OK; i++)
    code = put_limit(out, args, limits.at[i], input, length);
  return code;
}
