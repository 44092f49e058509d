// Reads each shared file when it is first asked for.
#include "engine/inputs/shared_files.h"

#include <utility>

#include "engine/inputs/run_facts.h"
#include "engine/inputs/trace_cache.h"

namespace fathom {
namespace {

Result<SharedFiles::Content> read_content(const std::string& path, const ReadOptions& options) {
  Result<Trace> trace = read_kept_trace(path, options);
  if (!trace) return std::move(trace).error();
  const std::int64_t error = take_clock_error(*trace, file_name(path));
  return SharedFiles::Content{.trace = std::move(*trace), .clock_error_ns = error};
}

}  // namespace

SharedFiles::Read SharedFiles::read(const std::string& path, const ReadOptions& options) {
  const std::lock_guard lock(mutex_);
  Read& read = read_[path];
  if (read == nullptr) read = std::make_shared<const Result<Content>>(read_content(path, options));
  return read;
}

}  // namespace fathom
