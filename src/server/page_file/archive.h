// Archive: the answers that a page in a file carries, one behind another, compressed as they come.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/memory_sink.h"
#include "base/result.h"

namespace fathom::server {

/// Uncompressed: the bytes of each answer; then an index in JSON, {"answers": {question: [at,
/// bytes]}, "left_out": [sentence]}, with the status as a third number where it is not 200; then
/// where the index begins, in eight bytes, little-endian. ui/src/api/answers.ts reads it.
class Archive {
 public:
  Archive();
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// The first answer to a question counts.
  void add(const std::string& question, std::string_view answer, unsigned status = 200);
  [[nodiscard]] bool has(const std::string& question) const { return places_.contains(question); }
  [[nodiscard]] std::size_t answers() const { return places_.size(); }
  /// About how many bytes it has, compressed: what the compressor still holds is not in it.
  [[nodiscard]] std::size_t packed() const;
  /// All of it, as gzip. Call once. Error: internal.
  Result<std::string> finish(const std::vector<std::string>& left_out);

 private:
  struct Place {
    std::size_t at = 0;
    std::size_t bytes = 0;
    unsigned status = 200;
  };

  void write(std::string_view bytes);

  MemorySink packed_;
  std::unique_ptr<ByteSink> gzip_;
  std::map<std::string, Place> places_;
  std::size_t size_ = 0;
  bool failed_ = false;
};

}  // namespace fathom::server
