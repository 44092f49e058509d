// Patches _exit() in libc so that records are written before it.
// Code in libc is changed, not the addresses that its callers have: these are in every library of
// the program, in those that it loads later, and in whatever was asked of dlsym().
#include "capture/inside/leave.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inside/recorder.h"

namespace fathom::inside {
namespace {

using Exit = void (*)(int status);
using Jump = std::array<std::uint8_t, 13>;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a signal handler may call _exit
constinit std::uint8_t* libc_exit = nullptr;  // null: it stays as it is
constinit Exit next = nullptr;                // another part of Fathom in this process
constinit bool caught = false;                // in a parent too, whose code forked children have
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

#ifdef __x86_64__
constexpr bool kCanJump = true;
#else
constexpr bool kCanJump = false;
#endif

/// movabs to, %r11; jmp *%r11
constexpr Jump kJump = {0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xFF, 0xE3};
constexpr std::size_t kTarget = 2;  // where its eight bytes stand

Jump jump_to(Exit target) {
  Jump jump = kJump;
  std::memcpy(jump.data() + kTarget, &target, sizeof target);
  return jump;
}

/// Null where the code there is none of our jumps.
Exit target_of(const std::uint8_t* code) {
  Exit target = nullptr;
  std::memcpy(&target, code + kTarget, sizeof target);
  const Jump jump = jump_to(target);
  return std::equal(jump.begin(), jump.end(), code) ? target : nullptr;
}

/// All that libc's does is the system call. Other threads may be here too; the first one ends it.
[[noreturn]] void leave(int status) {
  if (Recorder* const recorder = Recorder::if_made()) recorder->write_all();
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

/// Changes the process' own copy of the page. The kernel writes where the process itself may not;
/// where it does not let us, the page is made writable for that moment.
bool write_code(std::uint8_t* at, const Jump& jump) {
  const int memory = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
  if (memory >= 0) {
    const auto place = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(at));
    const ssize_t written = pwrite(memory, jump.data(), jump.size(), place);
    close(memory);
    if (written == static_cast<ssize_t>(jump.size())) return true;
  }
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uint8_t* const begin = at - reinterpret_cast<std::uintptr_t>(at) % page;
  const auto length = static_cast<std::size_t>(at + jump.size() - begin);
  if (mprotect(begin, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::ranges::copy(jump, at);
  mprotect(begin, length, PROT_READ | PROT_EXEC);
  return true;
}

/// libc goes on calling leave(), so that the library that it is in must stay.
void stay_loaded() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&leave), &here) != 0 && here.dli_fname != nullptr)
    dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

void find_exit() {
  if (!kCanJump) return;
  void* const libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return;
  void* const found = dlsym(libc, "_exit");
  Dl_info info{};
  void* symbol = nullptr;
  if (found == nullptr || dladdr1(found, &info, &symbol, RTLD_DL_SYMENT) == 0) return;
  if (symbol == nullptr || static_cast<const ElfW(Sym)*>(symbol)->st_size < sizeof(Jump)) return;
  libc_exit = static_cast<std::uint8_t*>(found);
  stay_loaded();
}

void catch_exit() {
  if (libc_exit == nullptr || caught) return;
  caught = true;
  // Ours must not come twice: those that came after us call us.
  next = target_of(libc_exit);
  write_code(libc_exit, jump_to(leave));
}

}  // namespace fathom::inside
