/* weir machine: what plans and kernels are made for. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int print_help(void) {
  weir_device_info device = {.struct_size = sizeof device};
  cli_print_help(&cli_machine);
  puts("\ndevices:");
  for (int32_t i = 0; weir_device(i, &device); i++)
    printf("  %-10s  %-24s  %6.1f GB  %s\n", device.name, device.kind,
           (double)device.memory_bytes * 1e-9, device.platform);
  return CLI_OK;
}

static int run(int argc, char **argv) {
  const char *name = argc ? argv[0] : NULL;
  if (argc > 1) return cli_usage_error(&cli_machine, "one machine, not %d", argc);
  if (name && (!strcmp(name, "--help") || !strcmp(name, "-h"))) return print_help();
  weir_result *result;
  size_t length;
  weir_status status = weir_machine_describe(name, &result);
  const char *message = result ? weir_result_message(result) : "out of memory";
  int code = status == WEIR_OK ? CLI_OK : cli_usage_error(&cli_machine, "%s", message);
  if (code == CLI_OK) fputs(weir_result_text(result, &length), stdout);
  weir_result_destroy(result);
  return code;
}

const cli_command cli_machine = {
    .name = "machine",
    .usage = "machine [NAME]",
    .summary = "describe this computer, or one by name, as plans are made for it",
    .help =
        "Prints what plans, predictions and kernels are made for: this computer, or the one\n"
        "that NAME describes. NAME is host, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or\n"
        "aarch64, and may be followed by cores=N, l1=SIZE, l2=SIZE, l3=SIZE, clock=GHZ,\n"
        "vectors=, products=, fused= and memory=RATE, with commas between; or a device of\n"
        "the list below. host leaves out what was measured of this computer. The first line\n"
        "is the name in full: given as --machine or WEIR_MACHINE elsewhere it makes the same\n"
        "plans there.\n",
    .options = 0,
    .run = run,
};
