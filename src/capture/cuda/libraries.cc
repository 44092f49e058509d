// Records calls of cuBLAS, cuBLASLt and cuDNN through their logging callbacks.
// Functions are found by name; their types are those of cublas_api.h of CUDA 11 to 13, cublasLt.h
// and cudnn_ops.h of cuDNN 8 and 9.
#include "capture/cuda/libraries.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "capture/inside/attempt.h"
#include "capture/inside/never_freed.h"
#include "wire/writer.h"

namespace fathom::cuda {
namespace {

constexpr std::size_t kMostCalls = std::size_t{1} << 15;
constexpr std::size_t kLongest = 1000;

constexpr std::string_view kCublas = "cublas";
constexpr std::string_view kCublasLt = "cublasLt";
constexpr std::string_view kCudnn = "cudnn";

using CublasCallback = void (*)(const char* message);
using CublasLtCallback = void (*)(int level, const char* function, const char* message);
/// Severity and debugging information are not looked at.
using CudnnCallback = void (*)(int severity, void* user, const void* debug, const char* message);

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void ask_cublas(void* library) {
  if (is_set("CUBLAS_LOGINFO_DBG") || is_set("CUBLAS_LOGDEST_DBG")) return;
  const auto known = find<int (*)(CublasCallback*)>(library, "cublasGetLoggerCallback");
  const auto set = find<int (*)(CublasCallback)>(library, "cublasSetLoggerCallback");
  const auto configure = find<int (*)(int on, int to_out, int to_error, const char* file)>(
      library, "cublasLoggerConfigure");
  CublasCallback programs = nullptr;
  if (set == nullptr || configure == nullptr) return;
  if (known != nullptr && known(&programs) == 0 && programs != nullptr) return;
  const auto callback = [](const char* message) {
    LibraryCalls::get().add(kCublas, {}, text_of(message));
  };
  if (set(callback) == 0) configure(1, 0, 0, nullptr);
}

void ask_cublas_lt(void* library) {
  // Those that launch kernels; all others describe what these take.
  constexpr int kTrace = 2;
  if (is_set("CUBLASLT_LOG_LEVEL") || is_set("CUBLASLT_LOG_MASK")) return;
  const auto set = find<int (*)(CublasLtCallback)>(library, "cublasLtLoggerSetCallback");
  const auto mask = find<int (*)(int)>(library, "cublasLtLoggerSetMask");
  if (set == nullptr || mask == nullptr) return;
  const auto callback = [](int /*level*/, const char* function, const char* message) {
    LibraryCalls::get().add(kCublasLt, text_of(function), text_of(message));
  };
  if (set(callback) == 0) mask(kTrace);
}

void ask_cudnn(void* library) {
  constexpr unsigned kInformation = 1U << 3U;
  if (is_set("CUDNN_LOGINFO_DBG") || is_set("CUDNN_LOGLEVEL_DBG")) return;
  const auto known = find<int (*)(unsigned*, void**, CudnnCallback*)>(library, "cudnnGetCallback");
  const auto set = find<int (*)(unsigned, void*, CudnnCallback)>(library, "cudnnSetCallback");
  unsigned mask = 0;
  void* user = nullptr;
  CudnnCallback programs = nullptr;
  if (set == nullptr) return;
  // Without one of the program's there is one of cuDNN's own, and the mask is empty.
  if (known != nullptr && known(&mask, &user, &programs) == 0 && mask != 0) return;
  const auto callback = [](int /*severity*/, void* /*user*/, const void* /*debug*/,
                           const char* message) {
    LibraryCalls::get().add(kCudnn, {}, text_of(message));
  };
  set(kInformation, nullptr, callback);
}

struct Library {
  std::string_view file;
  void (*ask)(void* library);
};
/// Of cuDNN 9, callbacks live in the library that the others are reached through.
constexpr Library kLibraries[] = {
    {"/libcublas.so", ask_cublas}, {"/libcublasLt.so", ask_cublas_lt}, {"/libcudnn.so", ask_cudnn}};

struct Loaded {
  std::uint64_t count = 0;
  std::vector<std::string> paths;
  bool all = true;
};

int note_loaded(dl_phdr_info* info, std::size_t /*size*/, void* into) {
  auto& loaded = *static_cast<Loaded*>(into);
  loaded.count = info->dlpi_adds;
  // Nothing is thrown through the loader, which holds its lock.
  loaded.all = inside::attempt([&] {
    if (info->dlpi_name != nullptr) loaded.paths.emplace_back(info->dlpi_name);
  });
  return loaded.all ? 0 : 1;
}

/// A library that was asked is not asked again.
struct LoggedLibraries {
  std::vector<std::string> paths;
};
std::vector<std::string>& logged() { return inside::never_freed<LoggedLibraries>().paths; }

/// Asks the library there, if it is one of those, and was not asked.
void ask(const std::string& path) {
  for (const Library& library : kLibraries) {
    if (path.find(library.file) == std::string::npos ||
        std::ranges::find(logged(), path) != logged().end())
      continue;
    logged().push_back(path);
    void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    library.ask(handle);
    dlclose(handle);
  }
}

}  // namespace

std::string_view function_in(std::string_view message, std::string_view library) {
  for (std::size_t at = message.find(library); at != std::string_view::npos;
       at = message.find(library, at + 1)) {
    if (at > 0 && is_word(message[at - 1])) continue;
    const auto* const end = std::find_if_not(message.begin() + at, message.end(), is_word);
    if (end != message.end() && *end == '(')
      return message.substr(at, static_cast<std::size_t>(end - message.begin()) - at);
  }
  return {};
}

std::string arguments_in(std::string_view message) {
  std::string text;
  std::size_t at = message.find('\n');
  while (at != std::string_view::npos && text.size() < kLongest) {
    const std::size_t end = message.find('\n', at + 1);
    std::string_view line =
        message.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    at = end;
    if (line.starts_with("i!") || line.starts_with("I!")) line.remove_prefix(2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with("Time:") || line.starts_with("Process")) continue;
    if (!text.empty()) text += ' ';
    text += line;
  }
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

LibraryCalls& LibraryCalls::get() noexcept { return inside::never_freed<LibraryCalls>(); }

void LibraryCalls::look() noexcept {
  inside::attempt([this] {
    Loaded loaded;
    dl_iterate_phdr(note_loaded, &loaded);
    if (loaded.count == loaded_ || !loaded.all) return;
    for (const std::string& path : loaded.paths) ask(path);
    loaded_ = loaded.count;
  });
}

void LibraryCalls::add(std::string_view library, std::string_view function,
                       std::string_view message) noexcept {
  const std::int64_t tid = gettid();
  const std::int64_t time = wire::monotonic_ns();
  const std::lock_guard lock(mutex_);
  try {
    std::string whole = "\n";
    // Where the function is given beside it, all of the message is about what it was given.
    if (!function.empty()) message = whole.append(message);
    if (function.empty()) function = function_in(message, library);
    if (function.empty()) {
      go_on(tid, library, message);
    } else if (calls_.size() < kMostCalls) {
      calls_.push_back({time, tid, library, std::string(function), arguments_in(message)});
    } else {
      ++missed_;
    }
  } catch (...) {  // no memory
    ++missed_;
  }
}

/// A message that goes on with what the one before began.
void LibraryCalls::go_on(std::int64_t tid, std::string_view library, std::string_view message) {
  if (calls_.empty()) return;
  LibraryCall& last = calls_.back();
  if (last.tid != tid || last.library != library || last.arguments.size() >= kLongest) return;
  const std::string more = arguments_in('\n' + std::string(message));
  if (!more.empty()) last.arguments += (last.arguments.empty() ? "" : " ") + more;
}

std::vector<LibraryCall> LibraryCalls::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(calls_, {});
}

std::uint64_t LibraryCalls::take_missed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(missed_, 0);
}

}  // namespace fathom::cuda
