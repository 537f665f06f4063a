/* weir reduce: the smallest program found of which a command says that it still fails. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

typedef struct checker {
  const cli_args *args;
  char folder[4096], path[4096 + 32]; /* the candidate's file */
  bool broken;                        /* the command can't be run: nothing is tried any more */
} checker;

/* ---- the command ---- */
/* What the command says is of interest only to who debugs it, and never part of our output. */
static int spawn(char **argv, bool is_heard, pid_t *out_child) {
  posix_spawn_file_actions_t files;
  int problem = posix_spawn_file_actions_init(&files);
  if (problem) return problem;
  if (!is_heard) problem = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  if (!problem) problem = posix_spawn_file_actions_adddup2(&files, 2, 1);
  if (!problem) problem = posix_spawn(out_child, "/bin/sh", &files, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  return problem;
}

/* `COMMAND FILE` by the shell; its exit code, 128 + signal; -1 after a message. */
static int run_command(const char *command, const char *path, bool is_heard) {
  size_t n = strlen(command) + sizeof " \"$1\"";
  char *line = malloc(n);
  if (!line) return perror("weir reduce"), -1;
  snprintf(line, n, "%s \"$1\"", command);
  char *argv[] = {"sh", "-c", line, "sh", (char *)path, NULL};
  pid_t child;
  int problem = spawn(argv, is_heard, &child), status = 0;
  if (problem) fprintf(stderr, "weir reduce: /bin/sh: %s\n", strerror(problem));
  while (!problem && waitpid(child, &status, 0) < 0)
    if (errno != EINTR) problem = errno;
  free(line);
  if (problem) return -1;
  assert(WIFEXITED(status) || WIFSIGNALED(status)); /* it is not waited for while it is stopped */
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What is kept is written at once: an interrupted run leaves the best so far. */
static int check(void *user, const char *text, size_t length) {
  checker *c = user;
  if (c->broken) return 0;
  int code = cli_write(c->path, text, length)
                 ? run_command(c->args->check, c->path, c->args->options.debug > 0)
                 : -1;
  c->broken = code < 0;
  if (code != 0) return 0;
  if (c->args->options.debug) fprintf(stderr, "weir: down to %zu bytes\n", length);
  if (strcmp(c->args->output, "-") && !cli_write(c->args->output, text, length)) c->broken = true;
  return 1;
}

/* ---- the command line ---- */
static bool make_folder(checker *c) {
  const char *temporary = getenv("TMPDIR");
  int n = snprintf(c->folder, sizeof c->folder, "%s/weir-reduce-XXXXXX",
                   temporary ? temporary : "/tmp");
  if (n >= (int)sizeof c->folder || !mkdtemp(c->folder))
    return perror("weir reduce: temporary folder"), false;
  snprintf(c->path, sizeof c->path, "%s/candidate.mlir", c->folder);
  return true;
}

/* The program itself does not fail by the command, or the command by its own fault: its last
 * candidate once more, heard. */
static void say_why_not(const checker *c) {
  fprintf(stderr, "weir reduce: %s %s:\n", c->args->check, c->path);
  int code = run_command(c->args->check, c->path, true);
  fprintf(stderr, "weir reduce: exits with %d, not with 0\n", code);
}

static int reduce(checker *c, const char *input, size_t input_length) {
  weir_result *result;
  size_t length;
  weir_status status = weir_reduce(input, input_length, check, c, &result);
  if (status != WEIR_OK && !c->broken) cli_print_error(c->args->input, status, result);
  if (status == WEIR_NOT_FOUND && !c->broken) say_why_not(c);
  const char *text = status == WEIR_OK ? weir_result_text(result, &length) : NULL;
  bool written = text && cli_write(c->args->output, text, length);
  if (written) fprintf(stderr, "weir: %s", weir_result_explain(result));
  weir_result_destroy(result);
  return written && !c->broken ? CLI_OK : CLI_ERROR;
}

static int run(cli_args *args) {
  size_t length;
  if (!args->check) return cli_usage_error(&cli_reduce, "what fails? give --check COMMAND");
  checker c = {.args = args};
  char *input = cli_read(args->input, &length);
  int code = input && make_folder(&c) ? reduce(&c, input, length) : CLI_ERROR;
  if (*c.path) unlink(c.path), rmdir(c.folder);
  free(input);
  return code;
}

const cli_command cli_reduce = {
    .name = "reduce",
    .usage = "reduce FILE --check COMMAND [-o OUT] [OPTIONS]",
    .summary = "make a failing program small",
    .help =
        "Reads StableHLO, text or bytecode, from FILE (- is stdin) and writes the smallest\n"
        "program found that verifies and for which `COMMAND CANDIDATE-FILE`, run by the\n"
        "shell, exits with 0. Drops results, puts constants, arguments and operands in the\n"
        "place of ops, inlines, shortens dimensions. With -o OUT every step is written there,\n"
        "so that it can be interrupted. What COMMAND prints is shown with --debug 1. The file\n"
        "is its last word, so a command of several parts is a script, or one of sh -c. For\n"
        "example, what makes a tool crash with SIGSEGV:\n\n"
        "  weir reduce big.mlir -o small.mlir --check 'sh -c \"tool $0; test $? = 139\"'\n",
    .options = CLI_OPT_OUTPUT | CLI_OPT_CHECK | CLI_OPT_DEBUG,
    .run_read = run,
};
