/* weir plan: who holds the peak, before and after. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int run(int argc, char **argv) {
  cli_args args;
  weir_result *result;
  if (cli_parse(&cli_plan, argc, argv, &args) != CLI_OK) return CLI_USAGE;
  if (args.help) return cli_print_help(&cli_plan), CLI_OK;
  if (!args.options.memory_limit_bytes && !args.options.tensor_size_threshold_bytes)
    return cli_usage_error(&cli_plan,
                           "plan for what? give --memory-limit or --tensor-size-threshold");
  int code = cli_rewrite(&args, &result, NULL, NULL);
  const char *text = result ? weir_result_explain(result) : NULL;
  if (text && !cli_write(args.output, text, strlen(text))) code = CLI_ERROR;
  weir_result_destroy(result);
  return code;
}

const cli_command cli_plan = {
    .name = "plan",
    .usage = "plan FILE [-o OUT] --memory-limit BYTES | --tensor-size-threshold BYTES [OPTIONS]",
    .summary = "explain what opt would do: peak before and after, and who holds it",
    .help =
        "Reads StableHLO text from FILE (- is stdin) and prints a table of what weir makes of it. "
        "Where the limit\n"
        "can't be held the table says what stands in the way, and the exit code is 3.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_SIZES | CLI_OPT_PASSES | CLI_OPT_DEBUG,
    .run = run,
};
