// Lets a program that starts as glibc 2.34 and later have it start on an older one.
//
// Since 2.34 glibc itself calls a program's constructors, by the dynamic section; before, a program
// handed over a function that did. The start file that the program is linked with hands over none.
// So cmake/options.cmake has the linker replace the call (--wrap), and here the function is passed,
// as glibc/csu/elf-init.c had it in each program. A newer glibc calls it, too, in place of its own.
#ifdef FATHOM_OLD_GLIBC

// NOLINTBEGIN(bugprone-reserved-identifier): names of the linker and of glibc

extern "C" {

using Main = int (*)(int, char**, char**);
using Initializer = void (*)(int, char**, char**);

[[gnu::visibility("hidden")]] void _init();
[[gnu::visibility("hidden")]] extern const Initializer __init_array_start[];
[[gnu::visibility("hidden")]] extern const Initializer __init_array_end[];

int __real___libc_start_main(Main program, int argc, char** argv, Initializer initialize,
                             void (*finish)(), void (*finish_loader)(), void* stack_end);

static void run_constructors(int argc, char** argv, char** environment) {
  _init();
  for (const Initializer* next = __init_array_start; next != __init_array_end; ++next) {
    (*next)(argc, argv, environment);
  }
}

/// Called by the start file, with null for `initialize` and `finish`. Destructors are run by the
/// loader.
[[gnu::visibility("hidden")]] int __wrap___libc_start_main(Main program, int argc, char** argv,
                                                           Initializer /*initialize*/,
                                                           void (*finish)(),
                                                           void (*finish_loader)(),
                                                           void* stack_end) {
  return __real___libc_start_main(program, argc, argv, run_constructors, finish, finish_loader,
                                  stack_end);
}
}

// NOLINTEND(bugprone-reserved-identifier)

#endif
