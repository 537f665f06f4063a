/* Arguments of the subcommands: one table of options, filled into a cli_args. `--name VALUE` and
 * `--name=VALUE` are the same; `--` ends the options. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef enum value_kind {
  BYTES,
  COUNT,
  TEXT,
  LEVEL,
  PLATFORM,
  TILE,
  FORM,
  MACHINE,
  DEVICE,
  DEVICES
} value_kind;

static const char *const platforms[] = {"cpu", "cuda", "rocm", "tpu"};

static const struct option {
  const char *name, *short_name;
  unsigned group;
  value_kind kind;
  size_t offset; /* in cli_args */
  const char *value, *help;
} options[] = {
#define AT(field) offsetof(cli_args, field)
    {"--output", "-o", CLI_OPT_OUTPUT, TEXT, AT(output), "OUT",
     "where the output goes (default: -, stdout)"},
    {"--emit", NULL, CLI_OPT_EMIT, FORM, AT(form), "FORM",
     "text (default) or bytecode, a portable artifact"},
    {"--target", NULL, CLI_OPT_EMIT, TEXT, AT(target), "VERSION",
     "of StableHLO, for bytecode: 1.9.0 to 1.20.0 (default: the input's, or 1.13.0)"},
    {"--memory-limit", NULL, CLI_OPT_SIZES, BYTES, AT(options.memory_limit_bytes), "BYTES",
     "arguments + results + temporaries, per device: 1000000, 512MiB, 1.5GB"},
    {"--tensor-size-threshold", NULL, CLI_OPT_SIZES, BYTES, AT(options.tensor_size_threshold_bytes),
     "BYTES", "split every tensor above this size"},
    {"--tensor-split-size", NULL, CLI_OPT_SIZES, BYTES, AT(options.tensor_split_size_bytes),
     "BYTES", "largest slice of a split tensor (default: the threshold)"},
    {"--search-ops", NULL, CLI_OPT_SIZES, COUNT, AT(options.search_ops), "N",
     "ops that the search for a way may look at (default: 30M, for large programs more)"},
    {"--platform", NULL, CLI_OPT_SIZES, PLATFORM, AT(options.platform), "NAME",
     "cpu (default), cuda, rocm or tpu"},
    {"--tile", NULL, CLI_OPT_SIZES, TILE, AT(options.tile), "MODE",
     "off (default), auto or on: loops as kernels of weir's own, on cpu"},
    {"--machine", NULL, CLI_OPT_SIZES, MACHINE, AT(options.machine), "NAME",
     "what it will run on: host (default), x86-64-v3, x86-64-v4,cores=8,l2=1MiB,l3=32MiB"},
    {"--device", NULL, CLI_OPT_DEVICE, DEVICE, AT(options.machine), "NAME",
     "a GPU or TPU that it will run on: h100, v5e; `weir machine --help` lists them"},
    {"--device", NULL, CLI_OPT_DEVICES, DEVICES, AT(devices), "A,B",
     "GPUs or TPUs, side by side: h100,v5e; `weir machine --help` lists them"},
    {"--pass", NULL, CLI_OPT_PASSES, TEXT, AT(options.only_passes), "A,B", "run these passes only"},
    {"--skip", NULL, CLI_OPT_PASSES, TEXT, AT(options.skip_passes), "A,B",
     "run all passes but these"},
    {"--dump-after", NULL, CLI_OPT_PASSES, TEXT, AT(options.dump_after), "PASS",
     "print the program to stderr after this pass, or after \"all\""},
    {"--stop-after", NULL, CLI_OPT_PASSES, TEXT, AT(options.stop_after), "PASS",
     "the output is the program as this pass leaves it"},
    {"--limits", NULL, CLI_OPT_TABLE, TEXT, AT(limits), "A,B",
     "a table: what each of these limits costs; \"auto\": from the minimum to the peak"},
    {"--trace", NULL, CLI_OPT_TRACE, TEXT, AT(trace), "OUT.json",
     "where the schedule goes, in Chrome's trace event format"},
    {"--check", NULL, CLI_OPT_CHECK, TEXT, AT(check), "COMMAND",
     "exits with 0 if the program in the file that is its last argument still fails"},
    {"--debug", NULL, CLI_OPT_DEBUG, LEVEL, AT(options.debug), "N",
     "0 silent (default) to 5 everything, on stderr"},
#undef AT
};
enum { N_OPTIONS = sizeof options / sizeof *options };

int cli_usage_error(const cli_command *command, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "weir %s: ", command->name);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\nusage: weir %s; `weir %s --help` tells more\n", command->usage, command->name);
  va_end(args);
  return CLI_USAGE;
}

/* In the order in which they run. */
static void print_passes(void) {
  static const char *phase = "";
  puts("\npasses, in order (~: rounds in another way); a phase ends with simplify:");
#define PASS(id, name, of, exact, use, doc)                                                        \
  if (strcmp(phase, #of)) printf("  %s\n", phase = #of);                                           \
  printf("    %-15s %s %s\n", name, (exact) ? " " : "~", doc);
#define SETTING(id, name, doc) printf("    %-17s %s\n", name, doc);
#include "pass/passes.def"
}

void cli_print_help(const cli_command *command) {
  printf("usage: weir %s\n\n%s", command->usage, command->help);
  if (command->options) puts("\noptions:");
  for (size_t i = 0; i < N_OPTIONS; i++) {
    if (!(options[i].group & command->options)) continue;
    char left[64];
    snprintf(left, sizeof left, "%s%s%s %s", options[i].short_name ? options[i].short_name : "",
             options[i].short_name ? ", " : "", options[i].name, options[i].value);
    printf("  %-32s %s\n", left, options[i].help);
  }
  if (command->options & CLI_OPT_PASSES) print_passes();
}

/* The option that `word` names; *out_value is what stands after its `=`, NULL if nothing does. */
static const struct option *find_option(const cli_command *command, const char *word,
                                        const char **out_value) {
  size_t n = strcspn(word, "=");
  *out_value = word[n] ? word + n + 1 : NULL;
  for (size_t i = 0; i < N_OPTIONS; i++) {
    const struct option *o = &options[i];
    bool is_long = strlen(o->name) == n && !memcmp(o->name, word, n);
    bool is_short = o->short_name && !strcmp(o->short_name, word);
    if ((is_long || is_short) && o->group & command->options) return o;
  }
  return NULL;
}

static bool is_platform(const char *word) {
  for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
    if (!strcmp(platforms[i], word)) return true;
  return false;
}

/* Nothing that bytes alone are said in: "100M", not "100MB", "100Mi". */
static bool is_count(const char *word) { return !strpbrk(word, "bBi"); }

/* weir_tile_mode; -1: none of them. */
static int kernel_mode(const char *word) {
  static const char *const modes[] = {"off", "auto", "on"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(modes[i], word)) return i;
  return -1;
}

/* Prints what is wrong with it. */
static int check_machine(const cli_command *command, const char *name) {
  weir_result *result;
  weir_status status = weir_machine_describe(name, &result);
  const char *why = result ? weir_result_message(result) : "out of memory";
  int code = status == WEIR_OK ? CLI_OK : cli_usage_error(command, "--machine: %s", why);
  weir_result_destroy(result);
  return code;
}

/* False: no device has this name. */
static bool find_device(const char *name, weir_device_info *out_device) {
  *out_device = (weir_device_info){.struct_size = sizeof *out_device};
  for (int32_t i = 0; weir_device(i, out_device); i++)
    if (!strcmp(out_device->name, name)) return true;
  return false;
}

/* Prints what is wrong with it. */
static int check_device(const cli_command *command, const char *name) {
  weir_device_info found;
  char known[512] = "";
  if (find_device(name, &found)) return CLI_OK;
  for (int32_t i = 0; weir_device(i, &found); i++)
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
             found.name);
  return cli_usage_error(command, "--device: \"%s\" is none that is known: %s", name, known);
}

bool cli_limit_by_device(weir_options *options) {
  weir_device_info device;
  if (!options->machine || !find_device(options->machine, &device)) return false;
  options->memory_limit_bytes = device.memory_bytes / 10 * 9;
  return true;
}

/* Names with commas between, each once. */
static int parse_devices(const cli_command *command, const char *list, cli_devices *out) {
  char name[32];
  for (const char *at = list;; at++) {
    size_t n = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    if (check_device(command, name) != CLI_OK) return CLI_USAGE;
    for (int i = 0; i < out->count; i++)
      if (!strcmp(out->at[i].name, name))
        return cli_usage_error(command, "--device: %s is there twice", name);
    if (out->count == CLI_MOST_DEVICES)
      return cli_usage_error(command, "--device: at most %d", CLI_MOST_DEVICES);
    find_device(name, &out->at[out->count++]);
    if (!*(at += n)) return CLI_OK;
  }
}

static int set_option(const cli_command *command, const struct option *o, const char *value,
                      cli_args *args) {
  void *field = (char *)args + o->offset;
  char *end;
  switch (o->kind) {
    case TEXT: *(const char **)field = value; return CLI_OK;
    case BYTES:
      if (weir_parse_bytes(value, field) == WEIR_OK) return CLI_OK;
      return cli_usage_error(
          command, "%s: \"%s\" is no size; sizes look like 1000000, 512MiB, 1.5GB", o->name, value);
    case COUNT:
      if (is_count(value) && weir_parse_bytes(value, field) == WEIR_OK) return CLI_OK;
      return cli_usage_error(command, "%s: \"%s\" is no count; counts look like 30000000, 100M",
                             o->name, value);
    case LEVEL:
      *(int *)field = (int)strtol(value, &end, 10);
      if (*value >= '0' && *value <= '5' && !*end && end == value + 1) return CLI_OK;
      return cli_usage_error(command, "%s: \"%s\" is no level; levels are 0 to 5", o->name, value);
    case TILE:
      *(int *)field = kernel_mode(value);
      if (*(int *)field >= 0) return CLI_OK;
      return cli_usage_error(command, "%s: \"%s\" is no mode; there are off, auto and on", o->name,
                             value);
    case FORM:
      *(const char **)field = value;
      if (!strcmp(value, "text") || !strcmp(value, "bytecode")) return CLI_OK;
      return cli_usage_error(command, "%s: \"%s\" is no form; there are text and bytecode", o->name,
                             value);
    case MACHINE:
    case DEVICE:
      if (*(const char **)field)
        return cli_usage_error(command, "--machine and --device: one of them");
      *(const char **)field = value;
      return o->kind == DEVICE ? check_device(command, value) : check_machine(command, value);
    case DEVICES: return parse_devices(command, value, field);
    case PLATFORM:
      *(const char **)field = value;
      if (is_platform(value)) return CLI_OK;
      return cli_usage_error(command, "%s: \"%s\" is none of cpu, cuda, rocm, tpu", o->name, value);
  }
  return CLI_USAGE;
}

static int take_input(const cli_command *command, const char *word, cli_args *args) {
  if (args->input) return cli_usage_error(command, "two input files: %s and %s", args->input, word);
  args->input = word;
  return CLI_OK;
}

static int settle_form(const cli_command *command, cli_args *args) {
  bool bytecode = args->form && !strcmp(args->form, "bytecode");
  if (args->target && !bytecode)
    return cli_usage_error(command, "--target is of bytecode: --emit bytecode");
  if (bytecode) args->options.bytecode = args->target ? args->target : "";
  return CLI_OK;
}

int cli_parse(const cli_command *command, int argc, char **argv, cli_args *out_args) {
  *out_args = (cli_args){.output = "-", .options = WEIR_OPTIONS_INIT};
  bool seen[N_OPTIONS] = {false}, only_files = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i], *value;
    bool is_file = only_files || word[0] != '-' || !word[1];
    if (is_file && take_input(command, word, out_args) != CLI_OK) return CLI_USAGE;
    if (!is_file && !strcmp(word, "--")) only_files = is_file = true;
    if (is_file) continue;
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) return out_args->help = true, CLI_OK;
    const struct option *o = find_option(command, word, &value);
    if (!o) return cli_usage_error(command, "no option %.*s", (int)strcspn(word, "="), word);
    if (!value && i + 1 < argc) value = argv[++i];
    if (!value) return cli_usage_error(command, "%s wants a value", o->name);
    if (seen[o - options]) return cli_usage_error(command, "%s is given twice", o->name);
    seen[o - options] = true;
    if (set_option(command, o, value, out_args) != CLI_OK) return CLI_USAGE;
  }
  return out_args->input ? settle_form(command, out_args)
                         : cli_usage_error(command, "no input file (- is stdin)");
}
