// Finds a recorded device in the table of peaks.
#include "analysis/roofline/device_specs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

namespace fathom {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Runs of letters and digits, in lower case: "NVIDIA A100-SXM4-80GB" is nvidia, a100, sxm4, 80gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : lower(text)) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (part && !inside) words.emplace_back();
    if (part) words.back() += c;
    inside = part;
  }
  return words;
}

bool holds_all(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  });
}

/// How far the recorded memory is from the spec's, as a share of it: makers count in other units
/// than drivers, and drivers keep some for themselves.
double memory_distance(const DeviceSpec& spec, const Device& device) {
  if (device.memory_bytes <= 0 || spec.memory <= 0) return 0;
  return std::abs(static_cast<double>(device.memory_bytes) / static_cast<double>(spec.memory) - 1);
}

/// Devices without a name are taken for that of their size.
const DeviceSpec* find_by_size(std::span<const DeviceSpec> specs, const Device& device) {
  constexpr double kClose = 0.15;
  const DeviceSpec* best = nullptr;
  for (const DeviceSpec& spec : specs) {
    if (device.sms != spec.sms || device.memory_bytes <= 0) continue;
    if (memory_distance(spec, device) > kClose) continue;
    if (best == nullptr || memory_distance(spec, device) < memory_distance(*best, device)) {
      best = &spec;
    }
  }
  return best;
}

}  // namespace

double DeviceSpec::peak(NumberType type, bool matrix) const {
  const auto better = [matrix](double on_matrix, double on_vector) {
    return matrix ? std::max(on_matrix, on_vector) : on_vector;
  };
  switch (type) {
    case NumberType::fp64:
      return better(fp64_matrix, fp64);
    case NumberType::tf32:
      return better(tf32_matrix, fp32);
    case NumberType::fp16:
      return better(fp16_matrix, std::max(fp16, fp32));
    case NumberType::bf16:
      return better(bf16_matrix, std::max(bf16, fp32));
    case NumberType::fp8:
      return better(fp8_matrix, fp32);
    case NumberType::fp4:
      return better(fp4_matrix, fp32);
    case NumberType::int8:
      return better(int8_matrix, fp32);
    case NumberType::fp32:
      return better(fp32_matrix, fp32);
    case NumberType::unknown:
    case NumberType::other:
      break;
  }
  return fp32;  // integer and logical units run about as many operations
}

const DeviceSpec* find_device_spec(std::span<const DeviceSpec> specs, const Device& device) {
  const std::vector<std::string> words = words_of(device.name);
  if (words.empty()) return find_by_size(specs, device);
  // A laptop's chip has another's name, but neither its clocks nor its size.
  const bool portable = std::ranges::any_of(
      words, [](const std::string& word) { return word == "laptop" || word == "design"; });
  if (portable) return nullptr;  // "… Laptop GPU", "… with Max-Q Design"
  const DeviceSpec* best = nullptr;
  std::size_t best_words = 0;
  for (const DeviceSpec& spec : specs) {
    const std::vector<std::string> wanted = words_of(spec.match);
    if (!holds_all(words, wanted)) continue;
    const bool closer = best != nullptr && wanted.size() == best_words &&
                        memory_distance(spec, device) < memory_distance(*best, device);
    if (best == nullptr || wanted.size() > best_words || closer) {
      best = &spec;
      best_words = wanted.size();
    }
  }
  return best;
}

const DeviceSpec* device_spec_named(std::span<const DeviceSpec> specs, std::string_view name) {
  const std::vector<std::string> wanted = words_of(name);
  const DeviceSpec* found = nullptr;
  for (const DeviceSpec& spec : specs) {
    const std::vector<std::string> words = words_of(spec.name);
    if (words == wanted) return &spec;
    if (wanted.empty() || !holds_all(words, wanted)) continue;
    if (found != nullptr) return nullptr;
    found = &spec;
  }
  return found;
}

}  // namespace fathom
