// Writes answers through the compressor and remembers where they lie.
#include "server/page_file/archive.h"

#include <utility>

#include "base/json_writer.h"

namespace fathom::server {

Archive::Archive() : gzip_(gzip_sink(packed_)) {}
Archive::~Archive() = default;

/// Of an answer, in the index.
constexpr std::size_t kPackedPlace = 16;

std::size_t Archive::packed() const { return packed_.text.size() + kPackedPlace * places_.size(); }

void Archive::write(std::string_view bytes) {
  if (!gzip_->write(bytes)) failed_ = true;
  size_ += bytes.size();
}

void Archive::add(const std::string& question, std::string_view answer, unsigned status) {
  const auto [at, added] = places_.try_emplace(question, Place{size_, answer.size(), status});
  if (added) write(answer);
}

Result<std::string> Archive::finish(const std::vector<std::string>& left_out) {
  const std::uint64_t begin = size_;
  std::string index;
  JsonWriter json(index, kJsonCompact);
  json.object().key("answers").object();
  for (const auto& [question, place] : places_) {
    json.key(question).array().integer(place.at).integer(place.bytes);
    if (place.status != 200) json.integer(place.status);
    json.end();
  }
  json.end().key("left_out").texts(left_out).end();
  for (unsigned shift = 0; shift < 64; shift += 8) index += static_cast<char>(begin >> shift);
  write(index);
  if (failed_ || !gzip_->finish()) return Error{ErrorCode::internal, "compressing failed"};
  return std::move(packed_.text);
}

}  // namespace fathom::server
