/* weir opt: program in, program out. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

/* The rewritten text; the input, to the byte, where nothing was rewritten. */
static bool write_program(const cli_args *args, const weir_result *result, const char *input,
                          size_t input_length) {
  size_t length;
  const char *text = weir_result_text(result, &length);
  return text ? cli_write(args->output, text, length)
              : cli_write(args->output, input, input_length);
}

static void print_compile_options(const weir_result *result) {
  for (const char *const *o = weir_result_compile_options(result); *o; o++)
    fprintf(stderr, "weir: compile with %s\n", *o);
}

static int run(cli_args *args) {
  weir_result *result;
  char *input;
  size_t length;
  const weir_options *o = &args->options;
  if (!o->memory_limit_bytes && !o->tensor_size_threshold_bytes && !o->only_passes &&
      !o->stop_after && !o->tile && !args->form)
    return cli_usage_error(&cli_opt,
                           "nothing to do: give --memory-limit, "
                           "--tensor-size-threshold, --tile, --pass or --emit");
  int code = cli_rewrite(args, &result, &input, &length);
  if (code == CLI_OK && !write_program(args, result, input, length)) code = CLI_ERROR;
  if (code == CLI_OK) print_compile_options(result);
  weir_result_destroy(result);
  free(input);
  return code;
}

const cli_command cli_opt = {
    .name = "opt",
    .usage = "opt FILE [-o OUT] --memory-limit BYTES | --tensor-size-threshold BYTES [OPTIONS]",
    .summary = "rewrite a StableHLO program",
    .help =
        "Reads StableHLO, text or bytecode, from FILE (- is stdin), rewrites it so that it\n"
        "keeps to the limit, and writes text, or bytecode with --emit. Text that keeps to the\n"
        "limit anyway comes out byte for byte as it went in, unless --tile allows kernels and\n"
        "one would be faster; --tile alone does that without a limit, and --emit alone only\n"
        "converts. Options that XLA has to compile the program with are named on stderr.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_EMIT | CLI_OPT_SIZES | CLI_OPT_DEVICE | CLI_OPT_PASSES |
               CLI_OPT_DEBUG,
    .run_read = run,
};
