/* weir doctor: what is found on this computer. jax is asked, so Python does it: the one beside this
 * command, else the first in PATH. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* bin/python3 of the environment that bin/weir is in; else the name alone. */
static const char *python_beside(char room[PATH_MAX]) {
  ssize_t n = readlink("/proc/self/exe", room, PATH_MAX - 16);
  char *slash = n > 0 ? (room[n] = '\0', strrchr(room, '/')) : NULL;
  if (slash) strcpy(slash + 1, "python3");
  return slash && access(room, X_OK) == 0 ? room : "python3";
}

/* python -m weir, where it has weir. */
#define START                                                                                      \
  "import importlib.util, runpy, sys\n"                                                            \
  "if not importlib.util.find_spec('weir'):\n"                                                     \
  "    sys.exit(f'weir doctor: {sys.executable} has no weir: run it where weir is installed')\n"   \
  "runpy.run_module('weir', run_name='__main__', alter_sys=True)\n"

static int run(int argc, char **argv) {
  char room[PATH_MAX];
  char **words = calloc((size_t)argc + 5, sizeof *words);
  if (!words) return perror("weir doctor"), CLI_ERROR;
  words[0] = (char *)python_beside(room);
  words[1] = "-c";
  words[2] = START;
  words[3] = "doctor";
  for (int i = 0; i < argc; i++) words[4 + i] = argv[i];
  execvp(words[0], words);
  perror("weir doctor: python3");
  free(words);
  return CLI_ERROR;
}

const cli_command cli_doctor = {
    .name = "doctor",
    .usage = "doctor [--json]",
    .summary = "what weir finds here, what of it is doubtful, what to do about it",
    .help = "",
    .options = 0,
    .run = run,
};
