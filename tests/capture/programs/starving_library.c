// Loaded before others (LD_PRELOAD): allocations of libfathom_python.so fail on demand, those of the
// interpreter never. STARVE_AT names the first that fails, STARVE_ALL says that all later ones do,
// too; how many there were is written to STARVE_REPORT at the end.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* memory, size_t bytes);

static uintptr_t library_begin, library_end;
static long at = -1, all;          // -1: the environment was not asked yet
static unsigned long allocations, failed;

static int look(struct dl_phdr_info* info, size_t size, void* about) {
  (void)size;
  (void)about;
  if (strstr(info->dlpi_name, "libfathom_python.so") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    library_begin = info->dlpi_addr + part->p_vaddr;
    library_end = library_begin + part->p_memsz;
  }
  return 1;
}

static int fails(const void* caller) {
  if (library_end == 0) dl_iterate_phdr(look, NULL);
  if ((uintptr_t)caller < library_begin || (uintptr_t)caller >= library_end) return 0;
  if (at < 0) {
    const char* first = getenv("STARVE_AT");
    at = first == NULL ? 0 : atol(first);
    all = getenv("STARVE_ALL") != NULL;
  }
  const unsigned long number = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  if (at == 0 || number < (unsigned long)at || (!all && number > (unsigned long)at)) return 0;
  __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
  return 1;
}

void* malloc(size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("STARVE_REPORT");
  FILE* file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%lu %lu\n", allocations, failed);
  fclose(file);
}
