// Expands directories and patterns, and says what was probably meant when there is no such file.
#include "engine/inputs/inputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <glob.h>

#include "base/folder.h"
#include "base/out_of_memory.h"
#include "engine/inputs/run_folder.h"
#include "engine/query/nearest.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digit runs compare as numbers, everything else as bytes.
bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto run = [](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view left = run(a, i);
    const std::string_view right = run(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

std::vector<std::string> regular_files(const fs::path& directory, std::error_code& error) {
  std::vector<std::string> files;
  for (const std::string& name : names_in(directory, error)) {
    std::error_code ignored;
    const fs::path path = directory / name;
    if (!name.starts_with('.') && fs::is_regular_file(path, ignored)) files.push_back(path);
  }
  return files;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  if (result == GLOB_NOSPACE) throw OutOfMemory(0);
  if (result == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  std::erase_if(files, [](const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
  });
  return files;
}

Error not_there(const std::string& argument) {
  std::string message = "there is no such file";
  const fs::path path(argument);
  std::error_code error;
  const std::vector<std::string> siblings =
      regular_files(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
  std::vector<std::string> names;
  names.reserve(siblings.size());
  for (const std::string& sibling : siblings)
    names.push_back(fs::path(sibling).filename().string());
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const std::string wanted = path.filename().string();
  // An extension that both have is no sign that they are the same file.
  const std::size_t stem =
      wanted.find('.', 1) == std::string::npos ? wanted.size() : wanted.find('.', 1);
  const std::string_view meant = nearest(wanted, choices, std::max<std::size_t>(1, stem / 3));
  if (!meant.empty())
    message += "; did you mean " + (path.parent_path() / std::string(meant)).string() + "?";
  return {ErrorCode::not_found, argument + ": " + message};
}

Error nothing_inside(const std::string& directory) {
  bool folders = false;
  for (const std::string& name : names_in(directory)) {
    std::error_code ignored;
    folders = folders || fs::is_directory(fs::path(directory) / name, ignored);
  }
  std::string message = directory + ": there is no file in this directory";
  if (folders) {
    message += "; folders inside it are not searched: write '" +
               (fs::path(directory) / "*" / "*").string() + "' for their files";
  }
  return {ErrorCode::not_found, message};
}

void append(Inputs& inputs, std::vector<std::string> paths, bool found) {
  std::ranges::sort(paths, natural_less);
  for (std::string& path : paths) inputs.files.push_back({std::move(path), found});
  inputs.several = true;
}

void append(Inputs& inputs, Inputs session) {
  std::ranges::move(session.files, std::back_inserter(inputs.files));
  inputs.several = inputs.several || session.several;
}

Result<void> expand(const std::string& argument, Inputs& inputs) {
  std::error_code error;
  if (argument.empty())
    return Error{ErrorCode::invalid_argument, "an INPUT is empty; is a shell variable not set?"};
  if (argument == "-") {
    inputs.files.push_back({argument, false});
    return {};
  }
  const fs::file_status status = fs::status(argument, error);
  if (fs::is_directory(status)) {
    if (std::optional<Result<Inputs>> session = expand_session(argument)) {
      if (!*session) return std::move(*session).error();
      append(inputs, std::move(**session));
      return {};
    }
    std::vector<std::string> files = regular_files(argument, error);
    if (error) return Error{ErrorCode::io, argument + ": " + error.message()};
    if (files.empty()) return nothing_inside(argument);
    append(inputs, std::move(files), true);
    return {};
  }
  if (fs::exists(status)) {
    inputs.files.push_back({argument, false});
    return {};
  }
  if (argument.find_first_of("*?[") == std::string::npos) return not_there(argument);
  std::vector<std::string> files = matches(argument);
  if (files.empty())
    return Error{ErrorCode::not_found, argument + ": no file matches this pattern"};
  append(inputs, std::move(files), true);
  return {};
}

}  // namespace

std::optional<Result<Inputs>> expand_session(const std::string& path) {
  std::optional<std::vector<RunRecording>> recordings = find_recordings(path);
  if (!recordings) return std::nullopt;
  if (recordings->empty()) {
    return Error{ErrorCode::not_found,
                 path +
                     ": this session holds no recording; manifest.json says in not_recorded "
                     "what could not be recorded, and why"};
  }
  Inputs inputs;
  inputs.arguments = {path};
  inputs.several = recordings->size() > 1;
  for (RunRecording& recording : *recordings) {
    std::string base = recording.base;
    inputs.files.push_back({.path = std::move(base),
                            .shown = inputs.several ? std::string() : path,
                            .recording = std::move(recording)});
  }
  return inputs;
}

Result<Inputs> expand_inputs(std::span<const std::string> arguments) {
  Inputs inputs;
  inputs.arguments.assign(arguments.begin(), arguments.end());
  for (const std::string& argument : arguments) {
    const std::size_t before = inputs.files.size();
    Result<void> expanded = expand(argument, inputs);
    if (!expanded) return std::move(expanded).error();
    for (std::size_t i = before; i < inputs.files.size(); ++i)
      inputs.files[i].argument = static_cast<std::size_t>(&argument - arguments.data());
  }
  inputs.several = inputs.several || arguments.size() > 1;
  return inputs;
}

}  // namespace fathom
