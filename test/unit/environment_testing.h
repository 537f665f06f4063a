/* What unit programs share that change the environment. */
#ifndef WEIR_TEST_ENVIRONMENT_TESTING_H
#define WEIR_TEST_ENVIRONMENT_TESTING_H
#include <assert.h>
#include <stdlib.h>

#include "base/environment.h"

/* For weir, too. */
static inline void set_variable(const char *name, const char *value) {
  int failed = setenv(name, value, 1);
  assert(!failed);
  environment_read();
}

#endif
