// A question as the page asks it: the address under which its answer is carried in a file.
#pragma once

#include <string>
#include <string_view>

#include "server/http/target.h"

namespace fathom::server {

/// "api/x?a=1&b=2": options in alphabetical order, those of one name as given, empty ones left out;
/// escaped as encodeURIComponent of browsers does. ui/src/api/urls.ts does the same.
std::string question(std::string_view path, Parameters options = {});

/// The same question about another input, "" for the first; as withInput() of ui/src/api/urls.ts.
std::string about_input(const std::string& question, std::string_view input);

/// A regular expression that matches exactly this text, as the page writes it.
std::string exact_pattern(std::string_view text);

}  // namespace fathom::server
