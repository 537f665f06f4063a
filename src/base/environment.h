/* What the process's environment says, of the variables that weir reads.
 *
 * setenv() moves what getenv() walks on another thread, and weir has threads of its own and runs on
 * XLA's: they read copies. Copies are made when weir is first asked for one, and whenever
 * weir_read_environment() says so. Safe to use from several threads.
 */
#ifndef WEIR_BASE_ENVIRONMENT_H
#define WEIR_BASE_ENVIRONMENT_H

typedef enum environment_variable {
  ENVIRONMENT_CACHE_DIR, /* WEIR_... */
  ENVIRONMENT_DUMP_TO,
  ENVIRONMENT_LLVM,
  ENVIRONMENT_NUM_THREADS,
  ENVIRONMENT_XDG_CACHE_HOME,
  ENVIRONMENT_HOME,
  ENVIRONMENT_VARIABLES
} environment_variable;

/* NULL: it is not set. The text stays as long as the process. */
const char *environment_get(environment_variable v);
/* Copies again; nobody may change the environment meanwhile. Out of memory: old copies stay. */
void environment_read(void);

#endif
