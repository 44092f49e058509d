// The name holds the process' number: a forked child has its parent's mappings too.
#include "capture/inside/board.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace fathom::inside {
namespace {

/// Its name in this process. The number in front is of what a Board looks like.
struct BoardName {
  BoardName() { std::snprintf(text, sizeof text, "fathom.board1.%d", getpid()); }
  char text[32];
};

}  // namespace

void Board::turn(std::int64_t time) noexcept {
  const std::uint64_t count = count_.load(std::memory_order_relaxed);
  if (count == kMost) return;
  times_[count] = time;
  count_.store(count + 1, std::memory_order_release);
}

bool Board::open_at(std::int64_t time) const noexcept {
  const std::int64_t* const end = times_ + count_.load(std::memory_order_acquire);
  return (std::upper_bound(times_, end, time) - times_) % 2 == 1;
}

Board* make_board(bool shown) noexcept {
  const int file = shown ? memfd_create(BoardName().text, MFD_CLOEXEC) : -1;
  if (shown && (file < 0 || ftruncate(file, sizeof(Board)) != 0)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                            shown ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
  if (shown) close(file);
  // All zeros, which is a board that was never opened.
  return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
}

std::vector<const Board*> boards() {
  constexpr int kHex = 16;
  std::vector<const Board*> found;
  const std::string name = std::string("/memfd:") + BoardName().text + ' ';
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    if (line.find(name) == std::string::npos) continue;
    std::uintptr_t address = 0;
    std::from_chars(line.data(), line.data() + line.size(), address, kHex);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the list has it
    found.push_back(reinterpret_cast<const Board*>(address));
  }
  return found;
}

}  // namespace fathom::inside
