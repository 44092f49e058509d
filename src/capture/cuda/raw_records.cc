// Writes and reads records with the texts that they point to.
#include "capture/cuda/raw_records.h"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "capture/cuda/layouts.h"

namespace fathom::cuda {
namespace {

constexpr std::string_view kMagic = "FATHOMRAW1\n";

/// Where records of that kind point to texts.
std::vector<std::size_t> places_of_texts(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return {offsetof(KernelRecord, name)};
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return {offsetof(DeviceRecord, name)};
    case CUPTI_ACTIVITY_KIND_NAME:
      return {offsetof(CUpti_ActivityName, name)};
    case CUPTI_ACTIVITY_KIND_MARKER:
      return {offsetof(MarkerRecord, name), offsetof(MarkerRecord, domain)};
    case CUPTI_ACTIVITY_KIND_JIT:
      return {offsetof(JitRecord, cachePath)};
    default:
      return {};
  }
}

void put(std::string& text, std::size_t number) {
  const auto value = static_cast<std::uint32_t>(number);
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Takes a number off its beginning; false where none is left.
bool take(std::string_view& text, std::uint32_t& number) {
  if (text.size() < sizeof number) return false;
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return true;
}

bool take(std::string_view& text, std::size_t bytes, std::string_view& part) {
  if (text.size() < bytes) return false;
  part = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return true;
}

RawRecord raw_record(std::string_view bytes) {
  RawRecord record;
  record.bytes = bytes.size();
  record.words.resize((bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(record.words.data(), bytes.data(), bytes.size());
  return record;
}

bool take(std::string_view& text, RawRecord& record) {
  std::uint32_t bytes = 0;
  std::uint32_t texts = 0;
  std::string_view part;
  if (!take(text, bytes) || !take(text, texts) || bytes < sizeof(CUpti_Activity) ||
      !take(text, bytes, part))
    return false;
  record = raw_record(part);
  for (std::uint32_t i = 0; i < texts; ++i) {
    std::uint32_t place = 0;
    std::uint32_t length = 0;
    if (!take(text, place) || !take(text, length) || !take(text, length, part) ||
        place + sizeof(char*) > bytes)
      return false;
    record.texts[place] = part;
  }
  return true;
}

}  // namespace

const CUpti_Activity& RawRecord::activity() {
  auto* const begin = reinterpret_cast<std::uint8_t*>(words.data());
  for (const auto& [place, text] : texts) {
    const char* const pointer = text.c_str();
    std::memcpy(begin + place, &pointer, sizeof pointer);
  }
  return *reinterpret_cast<const CUpti_Activity*>(begin);
}

void RawRecords::keep(const CUpti_Activity& record) {
  const std::size_t bytes = record_bytes(record.kind, version_);
  if (bytes == 0 || counts_[record.kind]++ >= kMost) return;
  RawRecord kept = raw_record({reinterpret_cast<const char*>(&record), bytes});
  auto* const begin = reinterpret_cast<std::uint8_t*>(kept.words.data());
  for (const std::size_t place : places_of_texts(record.kind)) {
    const char* text = nullptr;
    if (place + sizeof text > bytes) continue;
    std::memcpy(&text, begin + place, sizeof text);
    std::memset(begin + place, 0, sizeof text);
    if (text != nullptr) kept.texts[place] = text;
  }
  records_.push_back(std::move(kept));
}

std::string RawRecords::text() const {
  std::string text(kMagic);
  put(text, version_);
  put(text, records_.size());
  for (const RawRecord& record : records_) {
    put(text, record.bytes);
    put(text, record.texts.size());
    text.append(reinterpret_cast<const char*>(record.words.data()), record.bytes);
    for (const auto& [place, said] : record.texts) {
      put(text, place);
      put(text, said.size());
      text += said;
    }
  }
  return text;
}

std::optional<RawRecords> RawRecords::of(const std::string& text) {
  std::string_view rest = text;
  std::uint32_t version = 0;
  std::uint32_t count = 0;
  if (!rest.starts_with(kMagic)) return {};
  rest.remove_prefix(kMagic.size());
  if (!take(rest, version) || !take(rest, count)) return {};
  RawRecords all(version);
  for (std::uint32_t i = 0; i < count; ++i)
    if (!take(rest, all.records_.emplace_back())) return {};
  return all;
}

std::string raw_path(std::int32_t pid) {
  const char* const folder = std::getenv("FATHOM_CUDA_RAW");
  if (folder == nullptr || *folder == '\0') return {};
  return std::string(folder) + "/cupti-" + std::to_string(pid) + ".raw";
}

}  // namespace fathom::cuda
