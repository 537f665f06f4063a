/* What unit programs share that look at the files of a folder of their own. */
#ifndef WEIR_TEST_FOLDER_TESTING_H
#define WEIR_TEST_FOLDER_TESTING_H
#include <assert.h>
#include <dirent.h>
#include <stdio.h>

/* How many files the folder has; the path of one of them, the last that was met. */
static inline int files_in(const char *folder, char *out_path, size_t room) {
  int n = 0;
  DIR *d = opendir(folder);
  assert(d);
  for (struct dirent *e; (e = readdir(d));)
    if (e->d_name[0] != '.') snprintf(out_path, room, "%s/%s", folder, e->d_name), n++;
  closedir(d);
  return n;
}

#endif
