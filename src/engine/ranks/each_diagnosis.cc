// Holds back the diagnoses of what may be ranks of one program until all of them are known.
#include "engine/ranks/each_diagnosis.h"

#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "engine/ranks/compare_ranks.h"

namespace fathom {
namespace {

/// The recordings behind one argument: those that may be ranks of one program are held back until
/// all are known, others are passed on at once.
class ArgumentDiagnoses {
 public:
  /// `only`: there is no other argument. All of them are borrowed.
  ArgumentDiagnoses(const Inputs& inputs, bool only, const DiagnosisRequest& request,
                    const UseDiagnosis& use)
      : inputs_(inputs),
        only_(only),
        request_(request),
        use_(use),
        one_program_(are_of_one_session(inputs.files)),
        apart_(inputs.files.size() == 1) {}

  Result<Proceed> add(const Session& session, const Inputs::File& file) {
    Result<Diagnosis> diagnosis =
        or_out_of_memory("analysing " + file.name(), [&] { return diagnose(session, request_); });
    if (!diagnosis) {
      missing_.push_back(diagnosis.error().message);
      return std::move(diagnosis).error();
    }
    RankDiagnosis one{.diagnosis = std::move(*diagnosis), .rank = rank_of(session)};
    if (!apart_ && !one_program_ && !is_rank(one.rank)) {
      apart_ = true;
      Result<Proceed> used = use_held();
      if (!used || *used == Proceed::stop) return used;
    }
    if (apart_) return use_alone(one, &session, file);
    held_.push_back(std::move(one));
    held_files_.push_back(&file);
    return Proceed::next;
  }

  [[nodiscard]] bool holds_some() const { return !held_.empty(); }

  /// Passes on what was held back.
  Result<Proceed> finish() {
    if (held_.empty()) return Proceed::next;
    if (one_program_ || are_ranks_of_one_program(ranks_of(held_))) return use_together();
    return use_held();
  }

 private:
  Result<Proceed> use_alone(const RankDiagnosis& one, const Session* session,
                            const Inputs::File& file) const {
    if (request_.rank && one.rank.number != request_.rank) {
      return Error{ErrorCode::invalid_argument, "--rank " + std::to_string(*request_.rank) +
                                                    " chooses among the ranks of one program; " +
                                                    one.diagnosis.input + " is not of that rank"};
    }
    return use_({one.diagnosis, session, file, inputs_.several});
  }

  /// They are no ranks of one program after all.
  Result<Proceed> use_held() {
    const std::vector<RankDiagnosis> held = std::exchange(held_, {});
    for (std::size_t i = 0; i < held.size(); ++i) {
      Result<Proceed> used = use_alone(held[i], nullptr, *held_files_[i]);
      if (!used || *used == Proceed::stop) return used;
    }
    return Proceed::next;
  }

  Result<Proceed> use_together() {
    const std::string& name = inputs_.arguments[inputs_.files.front().argument];
    std::size_t at = 0;
    Result<Diagnosis> all = compare_ranks(name, std::exchange(held_, {}), request_.rank, at);
    if (!all) return std::move(all).error();
    all->ranks->missing = missing_;
    return use_({*all, nullptr, *held_files_[at], !only_});
  }

  const Inputs& inputs_;
  bool only_;
  const DiagnosisRequest& request_;
  const UseDiagnosis& use_;
  bool one_program_;  ///< By the folder, whatever the recordings say.
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
      return other.argument == file.argument && other.recording.program == file.recording.program;
    };
    if (apart.empty() || !same(apart.back().files.front()))
      apart.push_back({.arguments = inputs.arguments, .files = {}, .several = inputs.several});
    apart.back().files.push_back(file);
  }
  return apart;
}

}  // namespace

void for_each_diagnosis(const Inputs& inputs, const DiagnosisRequest& request,
                        const InputHandlers& handlers, const UseDiagnosis& use) {
  bool used_one = false;
  const UseDiagnosis counted = [&](const InputDiagnosis& one) {
    Result<Proceed> used = use(one);
    used_one = used_one || used;
    return used;
  };
  const std::vector<Inputs> arguments = by_argument(inputs);
  for (const Inputs& files : arguments) {
    ArgumentDiagnoses argument(files, arguments.size() == 1, request, counted);
    bool stopped = false;
    bool refused = false;
    for_each_session(files, handlers, [&](const Session& session, const Inputs::File& file) {
      Result<Proceed> used = argument.add(session, file);
      stopped = used && *used == Proceed::stop;
      refused = !used;
      return used;
    });
    // What is wrong with the request is wrong for every input.
    if (stopped || (refused && !used_one && !argument.holds_some())) break;
    const Result<Proceed> finished = argument.finish();
    if (!finished) handlers.failed(finished.error());
    if (!finished && !used_one) break;
    if (finished && *finished == Proceed::stop) break;
  }
}

}  // namespace fathom
