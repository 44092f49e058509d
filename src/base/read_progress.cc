// Keeps for each thread the ReadProgress that counts the files it opens.
#include "base/read_progress.h"

namespace fathom {
namespace {

ReadProgress*& watched() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of this thread alone
  thread_local ReadProgress* progress = nullptr;
  return progress;
}

}  // namespace

WatchedReading::WatchedReading(ReadProgress& progress) { watched() = &progress; }
WatchedReading::~WatchedReading() { watched() = nullptr; }
ReadProgress* WatchedReading::current() { return watched(); }

}  // namespace fathom
