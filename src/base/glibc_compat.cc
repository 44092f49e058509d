// What newer versions of glibc have and version 2.28 has not, for programs and libraries that must
// start there.
//
// Linked statically, libstdc++ and libgcc ask for what the glibc had that they were built with;
// ours does through its headers. Each is here by means of what 2.28 has. Hidden: what else runs in
// the process keeps glibc's own. The linker refuses what is in neither (tools/glibc_stubs).
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// libgcc of gcc 12 and later finds the unwind tables of a frame through _dl_find_object, which
// glibc has since 2.35 only. Here it is by means of dl_iterate_phdr, as libgcc itself did before:
// slower, and called only while an exception is in flight.
#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35 and later: the headers of the machine that builds

namespace {

struct Search {
  std::uintptr_t pc;
  dl_find_object* found;
};

/// Called for each loaded object; returns 1, which ends the walk, at the one that holds the pc.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* unwind_tables = nullptr;
  bool inside = false;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) unwind_tables = &segment;
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (search.pc < begin || search.pc - begin >= segment.p_memsz) continue;
    inside = true;
    search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
    search.found->dlfo_map_end = reinterpret_cast<void*>(begin + segment.p_memsz);
  }
  if (!inside || unwind_tables == nullptr) return inside ? -1 : 0;
  search.found->dlfo_flags = 0;
  search.found->dlfo_link_map = nullptr;  // libgcc does not look at it
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + unwind_tables->p_vaddr);
  return 1;
}

}  // namespace

/// As glibc 2.35 documents it: 0 and the object that holds `pc`, or -1. Hidden, so that shared
/// libraries of the process keep glibc's own.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that libgcc asks for
extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* pc,
                                                             dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(pc), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

#endif

#ifdef FATHOM_OLD_GLIBC

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
/// The longest wait by the clock of the day, so that one that is set back prolongs a wait by no
/// more.
constexpr std::int64_t kLongestWait = kNanosecondsPerSecond;

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * kNanosecondsPerSecond + time.tv_nsec;
}

std::int64_t now(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

/// When, by the clock of the day, to look again whether `deadline` of `clock` has come.
timespec by_clock_of_day(clockid_t clock, const timespec& deadline) noexcept {
  std::int64_t left = kLongestWait;
  // A deadline beyond what 64 bits of nanoseconds hold is a long way off.
  if (deadline.tv_sec < INT64_MAX / kNanosecondsPerSecond) {
    const std::int64_t until = nanoseconds(deadline) - now(clock);
    left = until < 0 ? 0 : until < kLongestWait ? until : kLongestWait;
  }
  const std::int64_t at = now(CLOCK_REALTIME) + left;
  return {at / kNanosecondsPerSecond, at % kNanosecondsPerSecond};
}

bool has_come(clockid_t clock, const timespec& deadline) noexcept {
  return deadline.tv_sec < INT64_MAX / kNanosecondsPerSecond && now(clock) >= nanoseconds(deadline);
}

bool is_valid(clockid_t clock, const timespec& deadline) noexcept {
  return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && deadline.tv_nsec >= 0 &&
         deadline.tv_nsec < kNanosecondsPerSecond;
}

/// Of struct stat as this processor's glibc has it: the first argument of __xstat.
#ifdef __x86_64__
constexpr int kStatVersion = 1;
#else
constexpr int kStatVersion = 0;
#endif

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): glibc's names

extern "C" {

#pragma GCC visibility push(hidden)

/// 2.32: whether the process has one thread for certain. "Not for certain" holds always; libstdc++
/// then counts references atomically.
char __libc_single_threaded = 0;

/// 2.30. As pthread_cond_timedwait, by a clock of choice. May return 0 without a signal, as waits
/// may.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  if (!is_valid(clock, *deadline)) return EINVAL;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, deadline);
  const timespec until = by_clock_of_day(clock, *deadline);
  const int result = pthread_cond_timedwait(condition, mutex, &until);
  return result == ETIMEDOUT && !has_come(clock, *deadline) ? 0 : result;
}

/// 2.30. As sem_timedwait, by a clock of choice.
int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  if (!is_valid(clock, *deadline)) {
    errno = EINVAL;
    return -1;
  }
  while (clock != CLOCK_REALTIME) {
    const timespec until = by_clock_of_day(clock, *deadline);
    if (sem_timedwait(semaphore, &until) == 0) return 0;
    if (errno != ETIMEDOUT || has_come(clock, *deadline)) return -1;
  }
  return sem_timedwait(semaphore, deadline);
}

/// 2.30.
// Before 2.34 every program had its own pthread_atfork, of libpthread_nonshared.a. The loader
// of 2.28 and 2.29 takes a name from no other library than the one it was linked with, and that of
// libc has this one alone.
extern void* __dso_handle __attribute__((visibility("hidden")));
int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept
    __attribute__((visibility("default")));
int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  return __register_atfork(prepare, parent, child, __dso_handle);
}

pid_t gettid() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// 2.36. Ends the program where the kernel has no random numbers, as glibc does.
unsigned arc4random() noexcept {
  unsigned number = 0;
  std::size_t filled = 0;
  while (filled < sizeof number) {
    const ssize_t got =
        getrandom(reinterpret_cast<char*>(&number) + filled, sizeof number - filled, 0);
    if (got < 0 && errno != EINTR) __builtin_trap();
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return number;
}

// 2.33 made functions of what were macros: before, programs called these, with the version of
// struct stat.
int __xstat(int, const char*, struct stat*) noexcept __attribute__((visibility("default")));
int __fxstat(int, int, struct stat*) noexcept __attribute__((visibility("default")));
int __lxstat(int, const char*, struct stat*) noexcept __attribute__((visibility("default")));
int __fxstatat(int, int, const char*, struct stat*, int) noexcept
    __attribute__((visibility("default")));

int stat(const char* path, struct stat* out) noexcept { return __xstat(kStatVersion, path, out); }
int fstat(int file, struct stat* out) noexcept { return __fxstat(kStatVersion, file, out); }
int lstat(const char* path, struct stat* out) noexcept { return __lxstat(kStatVersion, path, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
  return __fxstatat(kStatVersion, folder, path, out, flags);
}

// struct stat64 is struct stat on 64-bit processors.
static_assert(sizeof(struct stat64) == sizeof(struct stat));
int stat64(const char* path, struct stat64* out) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(out));
}
int fstat64(int file, struct stat64* out) noexcept {
  return fstat(file, reinterpret_cast<struct stat*>(out));
}
int lstat64(const char* path, struct stat64* out) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(out));
}
int fstatat64(int folder, const char* path, struct stat64* out, int flags) noexcept {
  return fstatat(folder, path, reinterpret_cast<struct stat*>(out), flags);
}

#pragma GCC visibility pop
}

// NOLINTEND(bugprone-reserved-identifier)

#endif
