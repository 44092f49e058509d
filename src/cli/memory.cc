// glibc's allocator keeps little back; operator new is like the standard one, but what it throws
// knows the request. What nothing can catch ends with the same message, from memory that is there
// from the start.
#include "cli/memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <typeinfo>

#include <cxxabi.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory_use.h"
#include "base/out_of_memory.h"
#include "cli/command.h"

namespace fathom::cli {
namespace {

/// Large blocks lie in huge pages. Not where addresses are limited: each takes up to 2 MiB more.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): operator new has no context.
constinit bool huge_pages = true;

/// Blocks of this size go back to the system when they are freed. Left to itself, glibc raises the
/// limit to 32 MiB as it goes, and the working arrays of one analysis stay beside those of the
/// next.
constexpr int kMappedBytes = 1 << 20;

/// What glibc reserves for each thread's arena, touched or not.
constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;

/// Of a limit on address space, arenas reserve no more than this part.
constexpr std::uint64_t kPartForArenas = 16;

/// What the main thread may need of its stack; 140 KiB were seen.
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

/// The main thread's stack takes address space while it grows, and where none is left the kernel
/// ends the program. So it is taken before anything else is.
[[gnu::noinline]] void take_stack() {
  std::array<volatile char, kStackBytes> stack{};
  stack.front() = stack.back();
}

/// What a handler of signals may need of a stack: the kernel puts all registers there.
constexpr std::size_t kHandlerBytes = std::size_t{32} << 10;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
alignas(16) std::array<char, kHandlerBytes> handler_stack;

void write_line(const OutOfMemory& error) noexcept {
  std::array<char, 512> line{};
  constexpr std::string_view kWho = "fathom: ";
  kWho.copy(line.data(), kWho.size());
  const std::span<char> room = std::span(line).subspan(kWho.size());
  std::size_t size = kWho.size() + out_of_memory_text_in(room.first(room.size() - 1), error).size();
  line[size++] = '\n';
  for (std::size_t at = 0; at < size;) {
    const ssize_t written = write(STDERR_FILENO, &line[at], size - at);
    if (written > 0) at += static_cast<std::size_t>(written);
    if (written < 0 && errno != EINTR) return;
  }
}

[[noreturn]] void give_up(std::size_t requested) noexcept {
  write_line(OutOfMemory(requested));
  _exit(kUnreadable);
}

extern "C" {
static void give_up_stack(int /*signal*/) { give_up(kStackBytes); }
}

/// take_stack(), with the message in place of the kernel's end. Only here a fault means that.
void take_stack_or_say() noexcept {
  const stack_t own{.ss_sp = handler_stack.data(), .ss_flags = 0, .ss_size = kHandlerBytes};
  stack_t stack_before{};
  sigaltstack(&own, &stack_before);
  struct sigaction action {};
  action.sa_handler = give_up_stack;
  action.sa_flags = SA_ONSTACK;
  struct sigaction before {};
  sigaction(SIGSEGV, &action, &before);
  take_stack();
  sigaction(SIGSEGV, &before, nullptr);
  sigaltstack(&stack_before, nullptr);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::terminate_handler terminate_before = nullptr;

/// Without room for an exception there is none here.
[[noreturn]] void end_without_catch() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const bool memory = type == nullptr
                          ? last_refused() != 0
                          : *type == typeid(OutOfMemory) || *type == typeid(std::bad_alloc);
  if (memory) give_up(last_refused());
  terminate_before();
  std::abort();
}

/// Before the initialisers of all other files: they allocate, too.
[[gnu::constructor(101)]] void set_up_end() {
  terminate_before = std::set_terminate(end_without_catch);
}

}  // namespace

bool say_out_of_memory(const std::bad_alloc& error) noexcept {
  const auto* const known = dynamic_cast<const OutOfMemory*>(&error);
  const OutOfMemory failure = known == nullptr ? OutOfMemory(0) : *known;
  const MetLimit met = met_limit(failure.use(), failure.requested(), resource_limits(), 1);
  if (met.own) write_line(failure);
  return met.own;
}

void set_up_memory() {
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  const MemoryLimits limits = resource_limits();
  const std::uint64_t limit = std::min(limits.address_space, limits.data);
  if (limit == MemoryLimits::kNone) return;
  huge_pages = false;
  take_stack_or_say();
  constexpr std::uint64_t kMostArenas = 1 << 10;
  const std::uint64_t arenas = limit / kPartForArenas / kArenaBytes;
  mallopt(M_ARENA_MAX, static_cast<int>(std::clamp<std::uint64_t>(arenas, 1, kMostArenas)));
}

}  // namespace fathom::cli

// Sanitizers have their own, which find more.
#if !defined(FATHOM_SANITIZE_ADDRESS) && !defined(FATHOM_SANITIZE_THREAD)

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// The arrays of an analysis are written once from end to end: each small page of them would be a
/// fault of its own, which costs more than what is written to it. Null where there is no room to
/// lie on the border of a huge page: that takes up to 2 MiB of addresses more.
void* in_huge_pages(std::size_t bytes) {
  void* const memory = std::aligned_alloc(kHugePage, bytes);
  // Without huge pages it is memory all the same.
  if (memory != nullptr) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

[[noreturn]] void refuse(std::size_t bytes) {
  fathom::note_refused(bytes);
  throw fathom::OutOfMemory(bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = bytes < kHugePage || !fathom::cli::huge_pages ? nullptr : in_huge_pages(bytes);
  if (memory == nullptr) memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) refuse(bytes);
  return memory;
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) refuse(bytes);
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

#endif
