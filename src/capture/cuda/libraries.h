// Calls of cuBLAS, cuBLASLt and cuDNN, as these libraries log them when asked to
// log.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cuda {

/// One call, as it began.
struct LibraryCall {
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC.
  std::int64_t tid = 0;
  std::string_view library;  ///< "cublas", "cublasLt", "cudnn".
  std::string name;          ///< "cublasSgemm_v2".
  std::string arguments;     ///< As the library writes them, in one line; shortened.
};

/// The function that a message of that library is about; empty where it goes on with what the one
/// before began.
std::string_view function_in(std::string_view message, std::string_view library);
/// The lines after the first, without what every message says: time, process and thread.
std::string arguments_in(std::string_view message);

/// The one of the process, get(), is never destroyed: the libraries go on calling. Thread-safe.
class LibraryCalls {
 public:
  static LibraryCalls& get() noexcept;

  /// Asks the libraries that were loaded since the last time, unless the program has them log
  /// already. Takes the loader's lock.
  void look() noexcept;
  /// Since the last time.
  std::vector<LibraryCall> take();
  /// Calls for which there was no room, since the last time.
  std::uint64_t take_missed();

  void add(std::string_view library, std::string_view function, std::string_view message) noexcept;

 private:
  void go_on(std::int64_t tid, std::string_view library, std::string_view message);

  std::uint64_t loaded_ = 0;  // objects that the loader had loaded at the last look
  std::mutex mutex_;
  std::vector<LibraryCall> calls_;
  std::uint64_t missed_ = 0;
};

}  // namespace fathom::cuda
