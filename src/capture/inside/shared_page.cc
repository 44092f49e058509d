// Opens the memory that the parts of Fathom in one process share.
#include "capture/inside/shared_page.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace fathom::inside {
namespace {

/// Its name in this process. The number in front is of what a SharedPage looks like.
struct PageName {
  PageName() { std::snprintf(text, sizeof text, "fathom.board1.%d", getpid()); }
  char text[32];
};

}  // namespace

void SharedPage::turn(std::int64_t time) noexcept {
  const std::uint64_t count = count_.load(std::memory_order_relaxed);
  if (count == kMost) return;
  times_[count] = time;
  count_.store(count + 1, std::memory_order_release);
}

bool SharedPage::open_at(std::int64_t time) const noexcept {
  const std::int64_t* const end = times_ + count_.load(std::memory_order_acquire);
  return (std::upper_bound(times_, end, time) - times_) % 2 == 1;
}

SharedPage* make_shared_page(bool shown) noexcept {
  const int file = shown ? memfd_create(PageName().text, MFD_CLOEXEC) : -1;
  if (shown && (file < 0 || ftruncate(file, sizeof(SharedPage)) != 0)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  void* const memory = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE,
                            shown ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
  if (shown) close(file);
  // All zeros, which is a page that was never opened.
  return memory == MAP_FAILED ? nullptr : static_cast<SharedPage*>(memory);
}

std::vector<const SharedPage*> shared_pages() {
  constexpr int kHex = 16;
  std::vector<const SharedPage*> found;
  const std::string name = std::string("/memfd:") + PageName().text + ' ';
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    if (line.find(name) == std::string::npos) continue;
    std::uintptr_t address = 0;
    std::from_chars(line.data(), line.data() + line.size(), address, kHex);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the list has it
    found.push_back(reinterpret_cast<const SharedPage*>(address));
  }
  return found;
}

}  // namespace fathom::inside
