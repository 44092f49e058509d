// How an answer about an input lies in the file that it is kept in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// An answer longer than this is not kept.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;

/// The content of the file. `key` says what the answer is about and which build gave it, `question`
/// what was asked.
std::string write_answer(std::string_view key, std::string_view question, std::string_view answer);

/// The answer that `content` holds, as a part of it. None where that is damaged anywhere (each byte
/// is in a sum), or has another key or question.
std::optional<std::string_view> read_answer(std::string_view content, std::string_view key,
                                            std::string_view question);

}  // namespace fathom
