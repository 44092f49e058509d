// What compressed bytes are read back as, for the tests of byte sources.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/byte_source.h"

namespace fathom {

/// A text that compresses neither well nor badly.
inline std::string numbers(int count) {
  std::string text;
  for (long i = 0; i < count; ++i) text += std::to_string(i * i % 1000003) + ',';
  return text;
}

struct ReadBack {
  std::string text;
  std::string damage;
  std::string compression;
};

/// Reads `bytes` to their end, `block` bytes at a time. Throws what cannot be read.
inline ReadBack read_back(const std::string& bytes, std::size_t block = 1000) {
  const auto source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) throw std::runtime_error(source.error().message);
  ReadBack result;
  std::vector<std::byte> buffer(block);
  for (;;) {
    const Result<std::size_t> got = (*source)->read(buffer);
    if (!got) throw std::runtime_error(got.error().message);
    result.text.append(reinterpret_cast<const char*>(buffer.data()), *got);
    if (*got < block) break;
  }
  result.damage = (*source)->damage();
  result.compression = (*source)->compression();
  return result;
}

}  // namespace fathom
