/* weir graph: the program before and after, as a picture. Writes the dot language; for a file name
 * that ends with .svg, .pdf or .png Graphviz's `dot` draws it. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

/* "svg" of "plan.svg"; NULL: the dot language itself is wanted. */
static const char *drawn_format(const char *path) {
  static const char *const formats[] = {"svg", "pdf", "png"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
    if (!strcmp(dot + 1, formats[i])) return formats[i];
  return NULL;
}

/* ---- Graphviz ---- */
enum { NOT_STARTED = 127 }; /* so a child may exit in place of an error of posix_spawn (POSIX) */

static bool run_dot(const char *format, const char *from, const char *to) {
  char type[16];
  snprintf(type, sizeof type, "-T%s", format);
  char *argv[] = {"dot", type, "-o", (char *)to, (char *)from, NULL};
  pid_t child;
  int problem = posix_spawnp(&child, "dot", NULL, NULL, argv, environ), status = 0;
  while (!problem && waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  if (!problem && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (!problem && WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED) problem = ENOENT;
  if (problem == ENOENT)
    fprintf(stderr,
            "weir graph: drawing needs Graphviz's command dot (Debian package graphviz); "
            "without, write a .dot file\n");
  else if (problem) fprintf(stderr, "weir graph: dot: %s\n", strerror(problem));
  else fprintf(stderr, "weir graph: dot failed\n");
  return false;
}

static bool write_drawn(const char *path, const char *format, const char *text, size_t length) {
  const char *folder = getenv("TMPDIR");
  char temporary[4096];
  int n = snprintf(temporary, sizeof temporary, "%s/weir-graph-XXXXXX", folder ? folder : "/tmp");
  int fd = n < (int)sizeof temporary ? mkstemp(temporary) : -1;
  if (fd < 0) return perror("weir graph: temporary file"), false;
  close(fd);
  bool ok = cli_write(temporary, text, length) && run_dot(format, temporary, path);
  unlink(temporary);
  return ok;
}

static bool write_graph(const cli_args *args, const weir_result *graph) {
  size_t length;
  const char *text = weir_result_text(graph, &length);
  const char *format = drawn_format(args->output);
  return format ? write_drawn(args->output, format, text, length)
                : cli_write(args->output, text, length);
}

/* ---- before and after ---- */
static void set_title(char *to, size_t room, const char *when, int64_t peak_bytes) {
  char bytes[CLI_BYTES_ROOM];
  snprintf(to, room, "%s: peak %s", when, cli_bytes_text(bytes, peak_bytes));
}

/* Draws the input and, where it was rewritten, what became of it. */
static int draw(const cli_args *args, const char *input, size_t length,
                const weir_result *rewritten) {
  const weir_options *o = &args->options;
  weir_summary s = {.struct_size = sizeof s};
  char before[64], after[64];
  weir_program programs[2] = {{before, input, length}, {.title = after}};
  weir_result *graph;
  if (rewritten) {
    weir_result_summary(rewritten, &s);
    bool changed =
        weir_result_outcome(rewritten) == WEIR_REWRITTEN || o->only_passes || o->stop_after;
    if (changed) programs[1].text = weir_result_text(rewritten, &programs[1].length);
  }
  set_title(before, sizeof before, "before", s.peak_before_bytes);
  set_title(after, sizeof after, "after", s.peak_after_bytes);
  if (!rewritten) snprintf(before, sizeof before, "%s", "program");
  int64_t large = o->memory_limit_bytes ? o->memory_limit_bytes : o->tensor_size_threshold_bytes;
  weir_status status = weir_graph(programs, programs[1].text ? 2 : 1, large, &graph);
  if (status != WEIR_OK) cli_print_error(args->input, status, graph);
  int code = status == WEIR_OK && write_graph(args, graph) ? CLI_OK : CLI_ERROR;
  weir_result_destroy(graph);
  return code;
}

static int run(cli_args *args) {
  weir_result *rewritten = NULL;
  char *input = NULL;
  size_t length = 0;
  bool is_plain = !args->options.memory_limit_bytes && !args->options.tensor_size_threshold_bytes;
  int code = is_plain ? (input = cli_read(args->input, &length)) ? CLI_OK : CLI_ERROR
                      : cli_rewrite(args, &rewritten, &input, &length);
  if (input) {
    int drawn = draw(args, input, length, rewritten);
    if (code == CLI_OK) code = drawn;
  }
  weir_result_destroy(rewritten);
  free(input);
  return code;
}

const cli_command cli_graph = {
    .name = "graph",
    .usage = "graph FILE [-o OUT] [--memory-limit BYTES | --tensor-size-threshold BYTES] [OPTIONS]",
    .summary = "draw a program, before and after",
    .help =
        "Reads StableHLO, text or bytecode, from FILE (- is stdin) and writes its graph, and\n"
        "beside it the graph of what opt makes of it, in Graphviz's dot language; drawn, if\n"
        "OUT ends with .svg, .pdf or .png and Graphviz is installed. Loops are boxes. Tensors\n"
        "as large as the limit are red, those above an eighth of it orange, above a 64th\n"
        "yellow.\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_SIZES | CLI_OPT_DEVICE | CLI_OPT_PASSES | CLI_OPT_DEBUG,
    .run_read = run,
};
