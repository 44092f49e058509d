// An option that one report has and others have not: how it is declared, and what was given for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace fathom {

struct DeviceSpec;

enum class OptionType : std::uint8_t {
  flag,
  choice,   ///< One of some words.
  rate,     ///< A number from 0 on.
  device,   ///< A known device's name, or a file that describes one (engine/device_peaks.h).
  sources,  ///< Where source files are (engine/inputs/source_root.h).
};

/// The text of the source file that a recording names so; nothing where there is none.
using SourceFinder = std::function<std::optional<std::string>(std::string_view file)>;

/// Help, completion, reference, manual page and Python's arguments follow from it. A report that
/// has options computes from a Context and OptionValues.
struct ReportOption {
  std::string_view name;  ///< "torch": --torch, and torch=True in Python.
  OptionType type;
  std::string_view doc;         ///< For --help: what it asks for.
  std::string_view value = {};  ///< What help calls its value: "WHAT". Empty for a flag.
  std::span<const std::string_view> choices = {};  ///< The first is the default.
};

using OptionValue = std::variant<bool, double, std::string, std::shared_ptr<const DeviceSpec>,
                                 std::shared_ptr<const SourceFinder>>;

/// Values by the names of options. What was not given is not there.
class OptionValues {
 public:
  void set(std::string_view name, OptionValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }

  /// False where it was not given.
  [[nodiscard]] bool flag(const ReportOption& option) const {
    const auto* const value = find<bool>(option.name);
    return value != nullptr && *value;
  }
  [[nodiscard]] std::optional<double> number(const ReportOption& option) const {
    const auto* const value = find<double>(option.name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  /// Empty where it was not given.
  [[nodiscard]] std::string_view text(const ReportOption& option) const {
    const auto* const value = find<std::string>(option.name);
    return value == nullptr ? std::string_view() : *value;
  }
  /// Null where it was not given.
  [[nodiscard]] const DeviceSpec* device(const ReportOption& option) const {
    const auto* const value = find<std::shared_ptr<const DeviceSpec>>(option.name);
    return value == nullptr ? nullptr : value->get();
  }
  /// Null where it was not given.
  [[nodiscard]] const SourceFinder* sources(const ReportOption& option) const {
    const auto* const value = find<std::shared_ptr<const SourceFinder>>(option.name);
    return value == nullptr ? nullptr : value->get();
  }

 private:
  template <typename T>
  [[nodiscard]] const T* find(std::string_view name) const {
    const auto at = values_.find(name);
    return at == values_.end() ? nullptr : std::get_if<T>(&at->second);
  }

  std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace fathom
