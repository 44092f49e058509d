// A header with the lengths and the sum, then key, question and answer behind each other.
#include "engine/inputs/kept_answer.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "base/block_sum.h"

namespace fathom {
namespace {

struct Header {
  std::array<char, 8> magic = {'F', 'T', 'M', 'a', 'n', 's', 'w', '1'};
  std::uint64_t sum = 0;  ///< Over all that follows the header, and its lengths.
  std::uint64_t key = 0;  ///< Lengths in bytes.
  std::uint64_t question = 0;
  std::uint64_t answer = 0;
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) == 40);

std::uint64_t sum_of(const Header& header, std::string_view body) {
  const std::array<std::uint64_t, 4> all = {block_sum(body.data(), body.size()), header.key,
                                            header.question, header.answer};
  return block_sum(all.data(), sizeof all);
}

}  // namespace

std::string write_answer(std::string_view key, std::string_view question, std::string_view answer) {
  Header header{.key = key.size(), .question = question.size(), .answer = answer.size()};
  std::string content(sizeof header, '\0');
  content.append(key).append(question).append(answer);
  header.sum = sum_of(header, std::string_view(content).substr(sizeof header));
  std::memcpy(content.data(), &header, sizeof header);
  return content;
}

std::optional<std::string_view> read_answer(std::string_view content, std::string_view key,
                                            std::string_view question) {
  Header header;
  if (content.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, content.data(), sizeof header);
  const std::string_view body = content.substr(sizeof header);
  const bool asked = header.magic == Header().magic && header.key == key.size() &&
                     header.question == question.size();
  // The lengths of key and question are those of what is in memory: their sum is small.
  if (!asked || body.size() < key.size() + question.size() ||
      header.answer != body.size() - key.size() - question.size() ||
      header.sum != sum_of(header, body)) {
    return std::nullopt;
  }
  if (body.substr(0, key.size()) != key || body.substr(key.size(), question.size()) != question)
    return std::nullopt;
  return body.substr(key.size() + question.size());
}

}  // namespace fathom
