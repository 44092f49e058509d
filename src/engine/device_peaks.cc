// Finds a device's peaks by name, or reads them from a file.
#include "engine/device_peaks.h"

#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include <simdjson.h>

#include "base/out_of_memory.h"
#include "engine/query/nearest.h"

namespace fathom {
namespace {

Error wrong(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

struct RealMember {
  std::string_view key;
  double DeviceSpec::*member;
};
constexpr std::array kReals = std::to_array<RealMember>({
    {"fp64", &DeviceSpec::fp64},
    {"fp64_matrix", &DeviceSpec::fp64_matrix},
    {"fp32", &DeviceSpec::fp32},
    {"fp32_matrix", &DeviceSpec::fp32_matrix},
    {"fp16", &DeviceSpec::fp16},
    {"bf16", &DeviceSpec::bf16},
    {"tf32_matrix", &DeviceSpec::tf32_matrix},
    {"fp16_matrix", &DeviceSpec::fp16_matrix},
    {"bf16_matrix", &DeviceSpec::bf16_matrix},
    {"fp8_matrix", &DeviceSpec::fp8_matrix},
    {"fp4_matrix", &DeviceSpec::fp4_matrix},
    {"int8_matrix", &DeviceSpec::int8_matrix},
    {"bandwidth", &DeviceSpec::bandwidth},
    {"l2_bandwidth", &DeviceSpec::l2_bandwidth},
    {"pcie_bandwidth", &DeviceSpec::pcie_bandwidth},
});

struct TextMember {
  std::string_view key;
  std::string_view DeviceSpec::*member;
};
constexpr std::array kTexts = std::to_array<TextMember>({
    {"name", &DeviceSpec::name},
    {"match", &DeviceSpec::match},
    {"source", &DeviceSpec::source},
});

Result<double> number_of(std::string_view key, const simdjson::dom::element& value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !(number >= 0)) {
    return wrong("'" + std::string(key) + "' is not a number of at least 0");
  }
  return number;
}

Result<void> set_member(std::string_view key, const simdjson::dom::element& value,
                        std::deque<std::string>& texts, DeviceSpec& spec) {
  for (const TextMember& text : kTexts) {
    if (text.key != key) continue;
    std::string_view words;
    if (value.get(words) != simdjson::SUCCESS)
      return wrong("'" + std::string(key) + "' is not a text");
    spec.*text.member = texts.emplace_back(words);
    return {};
  }
  const Result<double> number = number_of(key, value);
  if (!number) return Error(number.error());
  for (const RealMember& real : kReals) {
    if (real.key != key) continue;
    spec.*real.member = *number;
    return {};
  }
  if (key == "memory" || key == "l2") {
    (key == "l2" ? spec.l2 : spec.memory) = static_cast<std::int64_t>(*number);
    return {};
  }
  if (key == "sms") {
    spec.sms = static_cast<std::int32_t>(*number);
    return {};
  }
  return wrong("a device has no '" + std::string(key) + "'");
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

Error unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const DeviceSpec& spec : all_device_specs()) names.push_back(upper(spec.name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view meant = nearest(upper(name), candidates);
  std::string hint = "; devices are called like 'A100 SXM 80GB' or 'MI300X'";
  if (!meant.empty()) hint = "; did you mean '" + std::string(meant) + "'?";
  return wrong("'" + name + "' is neither one known device nor a file" + hint);
}

}  // namespace

Result<DevicePeaks> DevicePeaks::asked(const std::string& name) {
  if (name.empty()) return DevicePeaks();
  return named(name);
}

Result<DevicePeaks> DevicePeaks::named(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(name, error) ? from_file(name) : known(name);
}

Result<DevicePeaks> DevicePeaks::known(const std::string& name) {
  DevicePeaks peaks;
  if (name.empty()) return peaks;
  peaks.chosen_ = device_spec_named(all_device_specs(), name);
  if (peaks.chosen_ == nullptr) return unknown(name);
  return peaks;
}

Result<DevicePeaks> DevicePeaks::from_file(const std::string& path) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.load(path).get(root)) {
    if (error == simdjson::MEMALLOC) throw OutOfMemory(last_refused());
    return wrong(path + " cannot be read as JSON: " + simdjson::error_message(error));
  }
  if (simdjson::dom::array list; root.get(list) == simdjson::SUCCESS) {
    if (list.at(0).get(root) != simdjson::SUCCESS) return wrong(path + " lists no device");
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return wrong(path + " does not describe a device");
  DevicePeaks peaks;
  DeviceSpec& spec = peaks.specs_.emplace_back();
  for (const auto [key, value] : object) {
    const Result<void> set = set_member(key, value, peaks.texts_, spec);
    if (!set) return Error(set.error()).in(path);
  }
  if (spec.name.empty() || spec.bandwidth <= 0 || spec.fp32 <= 0) {
    return wrong(path + ": a device needs at least a name, fp32 and bandwidth");
  }
  peaks.chosen_ = &spec;
  return peaks;
}

}  // namespace fathom
