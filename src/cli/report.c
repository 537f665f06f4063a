/* weir report: a plan as a page of HTML, and as a trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* "p1.mlir" of "dir/p1.mlir" */
static const char *title_of(const char *path) {
  const char *name = cli_display_name(path), *slash = strrchr(name, '/');
  return slash && slash[1] ? slash + 1 : name;
}

static int write_page(const cli_args *args, const weir_result *planned) {
  const char *title = title_of(args->input);
  weir_page_part part = {title, weir_result_data(planned)};
  weir_result *page;
  size_t length;
  weir_status status = weir_page(title, &part, 1, &page);
  if (status != WEIR_OK) cli_print_error(args->input, status, page);
  const char *text = status == WEIR_OK ? weir_result_text(page, &length) : NULL;
  int code = text && cli_write(args->output, text, length) ? CLI_OK : CLI_ERROR;
  weir_result_destroy(page);
  return code;
}

static int write_trace(const cli_args *args, const weir_result *planned) {
  const char *text = weir_result_trace(planned);
  return cli_write(args->trace, text, strlen(text)) ? CLI_OK : CLI_ERROR;
}

static int run(int argc, char **argv) {
  cli_args args;
  weir_result *result;
  if (cli_parse(&cli_report, argc, argv, &args) != CLI_OK) return CLI_USAGE;
  if (args.help) return cli_print_help(&cli_report), CLI_OK;
  if (args.trace && !strcmp(args.trace, args.output))
    return cli_usage_error(&cli_report, "page and trace want files of their own: -o and --trace");
  args.options.data = true;
  args.options.trace = args.trace;
  if (!args.options.tensor_size_threshold_bytes) args.options.minimum = WEIR_MINIMUM_ALWAYS;
  int code = cli_rewrite(&args, &result, NULL, NULL);
  if (!result) return code;
  if (write_page(&args, result) != CLI_OK) code = CLI_ERROR;
  if (args.trace && write_trace(&args, result) != CLI_OK) code = CLI_ERROR;
  weir_result_destroy(result);
  return code;
}

const cli_command cli_report = {
    .name = "report",
    .usage = "report FILE [-o OUT.html] [--trace OUT.json] [--memory-limit BYTES] [OPTIONS]",
    .summary = "a page that shows where the memory goes, before and after",
    .help =
        "Reads StableHLO text from FILE (- is stdin) and writes what plan finds out as one page of "
        "HTML with all\n"
        "that it needs inside: memory over the schedule, the loops, what other limits cost, the "
        "graph. A page is\n"
        "written also of a limit that can't be held, and the exit code is 3 then. --trace: the "
        "same schedule for\n"
        "Perfetto or chrome://tracing.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_SIZES | CLI_OPT_TRACE | CLI_OPT_DEBUG,
    .run = run,
};
