/* weir plan: who holds the peak, before and after, how small the limit may be, and what limits
 * cost. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* The text of the whole plan; NULL after a message. The caller frees it. */
static char *text_of(const cli_args *args, const cli_limits *limits, const char *input,
                     size_t length, const weir_result *result) {
  char *text = NULL;
  size_t n;
  FILE *out = open_memstream(&text, &n);
  if (!out) return perror("weir plan"), NULL;
  fputs(weir_result_explain(result), out);
  int code = args->limits ? cli_put_table(out, args, *limits, input, length, result) : CLI_OK;
  if (fclose(out) == 0 && code == CLI_OK) return text;
  free(text);
  return NULL;
}

/* Without a limit the question is which limits there are. The minimum costs 2 ms at the median and
 * 3 s at most over the programs of test/corpus: little for who asks for a plan. */
static int complete(cli_args *args, cli_limits *out_limits) {
  weir_options *o = &args->options;
  bool is_trial = o->only_passes || o->stop_after, above = o->tensor_size_threshold_bytes;
  if (is_trial && args->limits)
    return cli_usage_error(&cli_plan, "--limits wants all passes: no --pass, no --stop-after");
  if (!o->memory_limit_bytes && !above && !is_trial && !args->limits && !cli_limit_by_device(o))
    args->limits = "auto";
  if (args->limits || !above) o->minimum = WEIR_MINIMUM_ALWAYS;
  return args->limits ? cli_parse_limits(&cli_plan, args->limits, out_limits) : CLI_OK;
}

static int run(cli_args *args) {
  cli_limits limits;
  weir_result *result;
  char *input;
  size_t length;
  if (complete(args, &limits) != CLI_OK) return CLI_USAGE;
  int code = cli_rewrite(args, &result, &input, &length);
  char *text = result ? text_of(args, &limits, input, length, result) : NULL;
  if (result && (!text || !cli_write(args->output, text, strlen(text)))) code = CLI_ERROR;
  weir_result_destroy(result);
  free(input);
  free(text);
  return code;
}

const cli_command cli_plan = {
    .name = "plan",
    .usage = "plan FILE [-o OUT] [--memory-limit BYTES | --tensor-size-threshold BYTES] [OPTIONS]",
    .summary = "explain what opt would do: peak before and after, and who holds it",
    .help =
        "Reads StableHLO, text or bytecode, from FILE (- is stdin) and prints a table of what\n"
        "weir makes of it. Where the limit can't be held the table says what stands in the\n"
        "way, and the exit code is 3. Without a limit: who holds the peak, the smallest limit\n"
        "that can be held, and what the limits between cost in time.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_SIZES | CLI_OPT_DEVICE | CLI_OPT_TABLE | CLI_OPT_PASSES |
               CLI_OPT_DEBUG,
    .run_read = run,
};
