// Reads another process's memory by process_vm_readv.
#include "sample/memory.h"

#include <algorithm>
#include <array>

#include <sys/uio.h>

namespace fathom::sample {
namespace {

/// The kernel takes 1024 at most; fewer keep the lists on our stack.
constexpr std::size_t kPiecesAtOnce = 128;

/// For these the lists are short: to clear long ones costs more than to read a few pieces.
constexpr std::size_t kFew = 8;

template <std::size_t Most>
std::size_t read_some(pid_t pid, std::span<const Piece> pieces) {
  std::array<iovec, Most> local{};
  std::array<iovec, Most> remote{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {pieces[i].to.data(), pieces[i].to.size()};
    // An address of the other process, as a pointer that is never followed here.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    remote[i] = {reinterpret_cast<void*>(pieces[i].at), pieces[i].to.size()};
  }
  const ssize_t got =
      process_vm_readv(pid, local.data(), pieces.size(), remote.data(), pieces.size(), 0);
  std::size_t left = got < 0 ? 0 : static_cast<std::size_t>(got);
  std::size_t whole = 0;
  while (whole < pieces.size() && left >= pieces[whole].to.size()) {
    left -= pieces[whole].to.size();
    ++whole;
  }
  return got < 0 ? 0 : whole;
}

}  // namespace

std::size_t ProcessMemory::read_pieces(std::span<const Piece> pieces) const {
  std::size_t done = 0;
  while (done < pieces.size()) {
    const std::span<const Piece> some =
        pieces.subspan(done, std::min(kPiecesAtOnce, pieces.size() - done));
    const std::size_t got =
        some.size() <= kFew ? read_some<kFew>(pid_, some) : read_some<kPiecesAtOnce>(pid_, some);
    done += got;
    if (got < some.size()) break;
  }
  return done;
}

}  // namespace fathom::sample
