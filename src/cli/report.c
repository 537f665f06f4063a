/* weir report: a plan as a page of HTML, and as a trace. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* "p1.mlir" of "dir/p1.mlir" */
static const char *title_of(const char *path) {
  const char *name = cli_display_name(path), *slash = strrchr(name, '/');
  return slash && slash[1] ? slash + 1 : name;
}

typedef struct report {
  cli_args args;
  int count; /* of plans: one, or one a device */
  weir_page_part parts[CLI_MOST_DEVICES];
  weir_result *plans[CLI_MOST_DEVICES];
} report;

static int write_page(const report *r) {
  const cli_args *args = &r->args;
  weir_result *page;
  size_t length;
  weir_status status = weir_page(title_of(args->input), r->parts, (size_t)r->count, &page);
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

static int check(const cli_args *args) {
  if (args->trace && !strcmp(args->trace, args->output))
    return cli_usage_error(&cli_report, "page and trace want files of their own: -o and --trace");
  if (args->trace && args->devices.count > 1)
    return cli_usage_error(&cli_report, "--trace is of one device");
  if (args->options.machine && args->devices.count)
    return cli_usage_error(&cli_report, "--machine and --device: one of them");
  return CLI_OK;
}

/* One plan: for the device, or where that is NULL for the machine of the options. */
static int add_plan(report *r, const char *device, const char *text, size_t length) {
  cli_args args = r->args;
  weir_options *o = &args.options;
  if (device) o->machine = device;
  if (!o->memory_limit_bytes && !o->tensor_size_threshold_bytes) cli_limit_by_device(o);
  weir_result *planned;
  int code = cli_rewrite_text(&args, text, length, &planned);
  if (!planned) return code;
  assert(r->count < CLI_MOST_DEVICES);
  const char *title = device ? device : title_of(args.input);
  r->parts[r->count] = (weir_page_part){title, weir_result_data(planned)};
  r->plans[r->count++] = planned;
  return code;
}

/* Exhausted if one device does not hold its limit; an error ends it. */
static int add_plans(report *r, const char *text, size_t length) {
  const cli_devices *devices = &r->args.devices;
  if (!devices->count) return add_plan(r, NULL, text, length);
  int code = CLI_OK;
  for (int i = 0; i < devices->count && code != CLI_ERROR; i++) {
    int one = add_plan(r, devices->at[i].name, text, length);
    if (one != CLI_OK) code = one;
  }
  return code;
}

static int write_all(report *r) {
  size_t length;
  char *text = cli_read(r->args.input, &length);
  if (!text) return CLI_ERROR;
  int code = add_plans(r, text, length);
  bool is_whole = r->count && code != CLI_ERROR;
  if (is_whole && write_page(r) != CLI_OK) code = CLI_ERROR;
  if (is_whole && r->args.trace && write_trace(&r->args, r->plans[0]) != CLI_OK) code = CLI_ERROR;
  for (int i = 0; i < r->count; i++) weir_result_destroy(r->plans[i]);
  free(text);
  return code;
}

static int run(cli_args *args) {
  report r = {.args = *args};
  weir_options *o = &r.args.options;
  if (check(&r.args) != CLI_OK) return CLI_USAGE;
  o->data = true;
  o->trace = r.args.trace;
  if (!o->tensor_size_threshold_bytes) o->minimum = WEIR_MINIMUM_ALWAYS;
  return write_all(&r);
}

const cli_command cli_report = {
    .name = "report",
    .usage = "report FILE [-o OUT.html] [--trace OUT.json] [--memory-limit BYTES] [OPTIONS]",
    .summary = "a page that shows where the memory goes, before and after",
    .help =
        "Reads StableHLO, text or bytecode, from FILE (- is stdin) and writes what plan finds\n"
        "out as one page of HTML with all that it needs inside: memory over the schedule, the\n"
        "loops, what other limits cost, the graph. A page is written also of a limit that\n"
        "can't be held, and the exit code is 3 then. --trace: the same schedule for Perfetto\n"
        "or chrome://tracing. Several devices are side by side on one page; without a limit\n"
        "each has nine tenths of its memory.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_SIZES | CLI_OPT_DEVICES | CLI_OPT_TRACE | CLI_OPT_DEBUG,
    .run_read = run,
};
