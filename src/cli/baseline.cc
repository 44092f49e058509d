// fathom baseline: keeps what runs of a program were like in a small file, for fathom check.
#include "compare/baseline.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include "base/folder.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/compared_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "cli/utc.h"
#include "render/baseline_text.h"

namespace fathom::cli {
namespace {

struct BaselineArguments {
  InputArguments read;  ///< What is to be done, and with which files.
  Request request;
  OutputArguments output;
  bool accept = false;
};

Error usage(const std::string& message) {
  return {ErrorCode::invalid_argument, "baseline: " + message};
}

/// The file is there as it was, or as it is to be: never half.
Result<void> replace_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new-" + std::to_string(getpid());
  Result<Output> file = Output::open(draft);
  if (!file) {
    const std::string& message = file.error().message;  // names the draft
    return Error{file.error().code, path + message.substr(message.rfind(": "))};
  }
  Result<void> written = file->write(text);
  if (written) written = file->finish();
  std::error_code error;
  if (written) std::filesystem::rename(draft, path, error);
  if (written && !error) return {};
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  if (!written) return written;
  return Error{ErrorCode::io, path + ": " + error.message()};
}

/// The baseline in a file, which may be missing, but must not be anything else.
Result<std::optional<SavedBaseline>> previous(const std::string& path) {
  Result<std::optional<SavedBaseline>> found = baseline_in(path);
  std::error_code error;
  if (found && !*found && std::filesystem::exists(path, error))
    return usage(path + " is there and no baseline; choose another name");
  return found;
}

Result<NamedBaseline> named(const std::string& path) {
  Result<std::optional<SavedBaseline>> found = baseline_in(path);
  if (!found) return std::move(found).error();
  std::error_code error;
  if (!*found) {
    const bool there = std::filesystem::exists(path, error);
    return Error{ErrorCode::not_found,
                 path + (there ? ": there is no baseline in it" : ": there is no such file")};
  }
  return NamedBaseline{.path = path,
                       .bytes = static_cast<std::size_t>(std::filesystem::file_size(path, error)),
                       .baseline = std::move(**found)};
}

int save(const BaselineArguments& args, const std::vector<std::string>& words) {
  if (words.size() < 2)
    return fail(usage("save takes a FILE and the recordings of one or more runs"));
  const std::string& path = words.front();
  Result<std::optional<SavedBaseline>> before = previous(path);
  if (!before) return fail(before.error());
  int code = kFine;
  std::optional<Runs> runs =
      runs_behind(args.read, args.request, {words.begin() + 1, words.end()}, code);
  if (!runs) return code;
  SavedBaseline baseline;
  baseline.last = {.saved = utc_now(), .runs = std::move(*runs)};
  if (*before && !args.accept) baseline.accepted = (*before)->accepted_one();
  const Result<std::string> text = baseline_text(baseline);
  if (!text) return fail(Error(text.error()).in(path));
  // What is shown is what the file has: rows that do not fit are added up in it.
  Result<SavedBaseline> kept = parse_baseline(*text);
  if (!kept) return fail(std::move(kept).error().in(path));
  const Result<void> written = replace_file(path, *text);
  if (!written) return fail(written.error());
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const NamedBaseline saved{.path = path, .bytes = text->size(), .baseline = std::move(*kept)};
    const Result<void> shown = args.output.json
                                   ? writer.raw(*text)
                                   : writer.text(render_baseline_text(saved, writer.style()));
    return shown ? kFine : fail(shown.error());
  });
}

int show(const BaselineArguments& args, const std::vector<std::string>& words) {
  if (words.size() != 1) return fail(usage("show takes one FILE"));
  const Result<NamedBaseline> found = named(words.front());
  if (!found) return fail(found.error());
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    if (!args.output.json) {
      const Result<void> shown = writer.text(render_baseline_text(*found, writer.style()));
      return shown ? kFine : fail(shown.error());
    }
    const Result<std::string> text = baseline_text(found->baseline);
    if (!text) return fail(text.error());
    const Result<void> shown = writer.raw(*text);
    return shown ? kFine : fail(shown.error());
  });
}

/// The files named, and those of folders that are named.
std::vector<std::string> files_of(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words.empty() ? std::vector<std::string>{"."} : words) {
    std::error_code error;
    if (!std::filesystem::is_directory(word, error)) {
      files.push_back(word);
      continue;
    }
    std::vector<std::string> names = names_in(word);
    std::ranges::sort(names);
    for (const std::string& name : names)
      files.push_back(word == "." ? name : (std::filesystem::path(word) / name).string());
  }
  return files;
}

int list(const BaselineArguments& args, const std::vector<std::string>& words) {
  std::vector<NamedBaseline> all;
  int code = kFine;
  for (const std::string& file : files_of(words)) {
    Result<NamedBaseline> found = named(file);
    const bool asked = std::ranges::find(words, file) != words.end();
    if (found) {
      all.push_back(std::move(*found));
    } else if (asked || found.error().code != ErrorCode::not_found) {
      code = fail(found.error());
    }
  }
  if (all.empty() && code == kFine)
    code = fail({ErrorCode::not_found, "baseline: there is none; fathom baseline save makes one"});
  if (all.empty()) return code;
  const int written = write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> shown = args.output.json
                                   ? writer.json([&](std::string_view indent) {
                                       return render_baseline_list_json(all, indent);
                                     })
                                   : writer.text(render_baseline_list(all, writer.style()));
    return shown ? kFine : fail(shown.error());
  });
  return written == kFine ? code : written;
}

int run_baseline(const BaselineArguments& args) {
  const ThreadPool pool(args.read.threads);
  const std::string& what = args.read.inputs.front();
  const std::vector<std::string> words(args.read.inputs.begin() + 1, args.read.inputs.end());
  if (what != "save" && args.accept) return fail(usage("--accept belongs to save"));
  if (what == "save") return save(args, words);
  if (what == "show") return show(args, words);
  if (what == "list") return list(args, words);
  return fail(usage("'" + what + "' is none of save, list, show"));
}

}  // namespace

Command baseline() {
  Command command;
  command.name = "baseline";
  command.group = "Diagnosis";
  command.title = "Keep what runs were like, in a small file, for later checks";
  command.operand = "save|list|show …";
  command.doc =
      "save FILE RUN… writes step times, counts, rows and conditions of one or more runs to a file "
      "below 200 kB, to keep beside the source. list [FOLDER|FILE…] names the baselines of "
      "folders, and show FILE says what is in one. fathom check --against FILE checks against "
      "it. Each save replaces the last snapshot in the file; only save --accept replaces the "
      "accepted one, too. Checks are against both, so that losses that are small each time do "
      "not add up. docs/check.md has the format.";
  command.examples = {"fathom baseline save perf/resnet.baseline.json runs/main",
                      "fathom baseline save --accept perf/resnet.baseline.json runs/main",
                      "fathom baseline list perf",
                      "fathom baseline show perf/resnet.baseline.json"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<BaselineArguments>();
    options.operands("save|list|show", args->read.inputs, 1);
    options.flag("--accept", args->accept,
                 "With save: what is saved is accepted, however much slower it is");
    declare_selection(options, args->request.steps, args->request.device, args->request.window);
    options.group("Output");
    options.flag("--json", args->output.json,
                 "JSON: the file itself, schema fathom.baseline/2; of list fathom.baselines/1");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run_baseline(*args); };
  };
  return command;
}

}  // namespace fathom::cli
