// fathom::bench: how long does something take, and is it faster than something else? With the
// library fathom::benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fathom {

/// What bench() is to do. With none of `runs`, `seconds` and `resolution` it measures until a
/// difference of 1 % would be decided, or for ten seconds.
struct BenchOptions {
  std::string_view name = "new";        ///< What is measured is called so in results.
  std::string_view base_name = "base";  ///< And what it is measured against.
  std::size_t runs = 0;                 ///< Exactly so many pairs.
  double seconds = 0;                   ///< No pair begins after it.
  double resolution = 0;                ///< The difference that is to be decided: 0.01 for 1 %.
  std::size_t warmup = 1;               ///< Calls of each side before, which count for nothing.
  std::size_t calls = 0;                ///< In a block; 0: as many as the clock needs.
  std::uint64_t seed = 0;               ///< Of the order within pairs; 0: a new one.
  /// Waits for what a call only begins, as a device: before the clock is read. May be null.
  void (*settle)() = nullptr;
};

/// One side. Times are nanoseconds per call. What is not known is NaN: the interval below 6
/// samples, p95 below 59, p99 below 299.
struct BenchSide {
  std::size_t count = 0;
  double median = 0;
  double median_low = 0;  ///< The median's interval at 95 %.
  double median_high = 0;
  double mean = 0;
  double stddev = 0;
  double min = 0;
  double max = 0;
  double p95 = 0;
  double p99 = 0;
  double first_call = 0;  ///< Not counted in anything else.
  std::size_t calls = 0;  ///< In each sample.
};

enum class BenchVerdict : std::uint8_t { none, faster, slower, same, cannot_tell };

namespace detail {

struct BenchData;  // what was measured, in the library

/// Something to call so many times.
struct BenchCall {
  void* object = nullptr;
  void (*run)(void* object, std::size_t calls) = nullptr;
};

}  // namespace detail

/// What was measured. A value: copies share it.
class BenchResult {
 public:
  explicit BenchResult(std::shared_ptr<const detail::BenchData> data);

  /// Of the new side against the base; none where it was measured alone.
  [[nodiscard]] BenchVerdict verdict() const;
  /// Why the result is unknown; else empty.
  [[nodiscard]] std::string reason() const;
  /// New by base, with its interval at 95 %; NaN where there is none.
  [[nodiscard]] double ratio() const;
  [[nodiscard]] double ratio_low() const;
  [[nodiscard]] double ratio_high() const;
  [[nodiscard]] std::size_t pairs() const;
  [[nodiscard]] BenchSide side() const;
  [[nodiscard]] BenchSide base() const;
  /// One screen, as Python's fathom.bench() prints it.
  [[nodiscard]] std::string text() const;
  /// Schema fathom.bench/1, with every sample.
  [[nodiscard]] std::string json() const;
  /// Writes json() into a file; false where it could not.
  [[nodiscard]] bool save(const std::string& path) const;

 private:
  std::shared_ptr<const detail::BenchData> data_;
};

/// Makes the compiler believe that the value is read, so that it is computed.
template <typename T>
inline void keep(const T& value) noexcept {
  asm volatile("" : : "r"(&value) : "memory");
}

namespace detail {

/// `base.run` is null where there is no base.
BenchResult run_bench(const BenchCall& call, const BenchCall& base, const BenchOptions& options);

/// A reference to what is called, of a function the pointer to it.
template <typename Function>
using Callee = std::conditional_t<std::is_function_v<std::remove_reference_t<Function>>,
                                  std::decay_t<Function>, Function&&>;

/// The loop is compiled with what it calls, so that a call costs nothing of ours.
template <typename Function>
BenchCall bench_call(Function& function) {
  BenchCall call;
  call.object = const_cast<void*>(static_cast<const void*>(std::addressof(function)));
  call.run = [](void* object, std::size_t calls) {
    Function& callee = *static_cast<Function*>(object);
    for (std::size_t i = 0; i < calls; ++i) {
      if constexpr (std::is_void_v<decltype(callee())>) {
        callee();
        asm volatile("" : : : "memory");
      } else {
        keep(callee());
      }
    }
  };
  return call;
}

}  // namespace detail

/// Measures calls of `function`, whose result counts as read:
///
///     const auto result = fathom::bench([&] { return sum(values); });
///     std::puts(result.text().c_str());
///
/// An exception of the function leaves bench(), and what was measured is lost. On this thread.
template <typename Function>
BenchResult bench(Function&& function, const BenchOptions& options = {}) {
  detail::Callee<Function> callee = std::forward<Function>(function);
  return detail::run_bench(detail::bench_call(callee), {}, options);
}

/// Against `base`, in blocks of calls that are taken in pairs of random order.
template <typename Function, typename Base>
BenchResult bench_against(Base&& base, Function&& function, const BenchOptions& options = {}) {
  detail::Callee<Function> callee = std::forward<Function>(function);
  detail::Callee<Base> base_callee = std::forward<Base>(base);
  return detail::run_bench(detail::bench_call(callee), detail::bench_call(base_callee), options);
}

}  // namespace fathom
