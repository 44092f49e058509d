#include "cli/diagnose_inputs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/messages.h"
#include "engine/ranks/compare_ranks.h"

namespace fathom::cli {
namespace {

/// The recordings behind one argument: those that may be ranks of one program are held back until
/// all are known, others are shown at once.
class Argument {
 public:
  /// `only`: there is no other argument. All of them are borrowed.
  Argument(const Inputs& files, const std::string& name, bool only, const DiagnosisRequest& request,
           const UseDiagnosis& use)
      : files_(files),
        name_(name),
        only_(only),
        request_(request),
        use_(use),
        one_program_(!files.files.front().folder.empty()),
        apart_(files.files.size() == 1) {}

  Result<Use> add(const Session& session) {
    const Inputs::File& file = file_of(session);
    Result<Diagnosis> diagnosis = fathom::diagnose(session, request_);
    if (!diagnosis) {
      missing_.push_back(diagnosis.error().message);
      return std::move(diagnosis).error();
    }
    RankDiagnosis one = diagnosis_of_rank(session, std::move(*diagnosis));
    if (!apart_ && !one_program_ && !is_rank(one)) {
      apart_ = true;
      Result<Use> shown = show_held();
      if (!shown || *shown == Use::stop) return shown;
    }
    if (apart_) return show_alone(one, &session, file);
    held_.push_back(std::move(one));
    held_files_.push_back(&file);
    return Use::next;
  }

  [[nodiscard]] bool holds_some() const { return !held_.empty(); }

  /// Shows what was held back.
  Result<Use> finish() {
    if (held_.empty()) return Use::next;
    if (one_program_ || are_ranks_of_one_program(held_)) return show_together();
    return show_held();
  }

 private:
  /// A session is called like its file.
  [[nodiscard]] const Inputs::File& file_of(const Session& session) const {
    const auto called = [](const Inputs::File& file) {
      return file.shown.empty() ? file.path : file.shown;
    };
    return *std::ranges::find(files_.files, session.input(), called);
  }

  Result<Use> show_alone(const RankDiagnosis& one, const Session* session,
                         const Inputs::File& file) const {
    if (request_.rank && one.rank != request_.rank) {
      return Error{ErrorCode::invalid_argument, "--rank " + std::to_string(*request_.rank) +
                                                    " chooses among the ranks of one program; " +
                                                    one.diagnosis.input + " is not of that rank"};
    }
    return use_(one.diagnosis, session, file, files_.several);
  }

  /// They are no ranks of one program after all.
  Result<Use> show_held() {
    const std::vector<RankDiagnosis> held = std::exchange(held_, {});
    for (std::size_t i = 0; i < held.size(); ++i) {
      Result<Use> shown = show_alone(held[i], nullptr, *held_files_[i]);
      if (!shown || *shown == Use::stop) return shown;
    }
    return Use::next;
  }

  Result<Use> show_together() {
    std::size_t at = 0;
    Result<Diagnosis> all = compare_ranks(name_, std::exchange(held_, {}), request_.rank, at);
    if (!all) return std::move(all).error();
    all->ranks->missing = missing_;
    return use_(*all, nullptr, *held_files_[at], !only_);
  }

  const Inputs& files_;
  const std::string& name_;
  bool only_;
  const DiagnosisRequest& request_;
  const UseDiagnosis& use_;
  bool one_program_;  ///< Told by the folder, whatever the recordings say.
  bool apart_;        ///< Each for itself.
  std::vector<RankDiagnosis> held_;
  std::vector<const Inputs::File*> held_files_;
  std::vector<std::string> missing_;
};

/// The inputs of each argument apart, and the programs of a session folder.
std::vector<Inputs> by_argument(const Inputs& inputs) {
  std::vector<Inputs> apart;
  for (const Inputs::File& file : inputs.files) {
    const auto same = [&file](const Inputs::File& other) {
      return other.argument == file.argument && other.program == file.program;
    };
    if (apart.empty() || !same(apart.back().files.front()))
      apart.push_back({.files = {}, .several = inputs.several});
    apart.back().files.push_back(file);
  }
  return apart;
}

}  // namespace

int for_each_diagnosis(const Inputs& inputs, const ReadWish& read, const DiagnosisRequest& request,
                       const UseDiagnosis& use) {
  int code = kFine;
  bool shown = false;
  const UseDiagnosis counted = [&](const Diagnosis& diagnosis, const Session* session,
                                   const Inputs::File& file, bool several) {
    Result<Use> used = use(diagnosis, session, file, several);
    shown = shown || used;
    return used;
  };
  const std::vector<Inputs> arguments = by_argument(inputs);
  for (const Inputs& files : arguments) {
    ReadWish wish = read;
    wish.inputs = {read.inputs[files.files.front().argument]};
    Argument argument(files, wish.inputs.front(), arguments.size() == 1, request, counted);
    bool stopped = false;
    bool refused = false;
    const int read_code =
        for_each_session(files, wish, [&](const Session& session, bool) -> Result<Use> {
          Result<Use> used = argument.add(session);
          stopped = used && *used == Use::stop;
          refused = !used;
          return used;
        });
    if (read_code != kFine) code = read_code;
    // What is wrong with the request is wrong for every input.
    if (stopped || (refused && !shown && !argument.holds_some())) break;
    const Result<Use> finished = argument.finish();
    if (!finished) code = fail(finished.error());
    if (!finished && !shown) break;
    if (finished && *finished == Use::stop) break;
  }
  return code;
}

}  // namespace fathom::cli
