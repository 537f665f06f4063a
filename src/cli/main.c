/* weir: the command. Finds the subcommand and hands over. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const cli_command *const commands[] = {&cli_opt,    &cli_plan,    &cli_report, &cli_graph,
                                              &cli_reduce, &cli_machine, &cli_doctor};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
  fputs(
      "weir keeps an XLA program's peak memory under a limit.\n\nusage: weir COMMAND "
      "[OPTIONS]\n\ncommands:\n",
      to);
  for (size_t i = 0; i < N_COMMANDS; i++)
    fprintf(to, "  %-7s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\n`weir COMMAND --help` lists the options of a command. Others: --help, --version.\n", to);
}

static int run(const cli_command *command, int argc, char **argv) {
  cli_args args;
  if (command->run) return command->run(argc, argv);
  if (cli_parse(command, argc, argv, &args) != CLI_OK) return CLI_USAGE;
  return args.help ? (cli_print_help(command), CLI_OK) : command->run_read(&args);
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : NULL;
  if (!word) return print_help(stderr), CLI_USAGE;
  if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
    return print_help(stdout), CLI_OK;
  if (!strcmp(word, "--version")) return printf("weir %s\n", weir_version()), CLI_OK;
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (!strcmp(word, commands[i]->name)) return run(commands[i], argc - 2, argv + 2);
  fprintf(stderr, "weir: no command \"%s\"; `weir --help` lists them\n", word);
  return CLI_USAGE;
}
