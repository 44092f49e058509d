// Reads the canonical JSON lists of a Signature: "[[512,3],[]]", "[\"float\",\"Scalar\"]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// The elements of a JSON list as texts, strings with their quotes; empty for anything else.
std::vector<std::string_view> json_elements(std::string_view list);

/// The numbers of a flat list of integers; nothing for anything else. "[]" is no numbers.
std::optional<std::vector<std::int64_t>> json_integers(std::string_view list);

/// The content of a JSON string without escapes, or the text itself when it is not quoted.
std::string_view json_unquoted(std::string_view text);

/// Input shapes as torch prints them: "[[512, 3], []]"; a list of tensors has no shape and becomes
/// "[]".
/// "[]" where nothing was recorded.
std::string flat_shapes(std::string_view shapes);

}  // namespace fathom
