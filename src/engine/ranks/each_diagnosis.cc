// Holds back the diagnoses of what may be ranks of one program until all of them are known.
#include "engine/ranks/each_diagnosis.h"

#include <algorithm>
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
                    const UseDiagnosis& use, const BesideDiagnosis& beside)
      : inputs_(inputs),
        only_(only),
        request_(request),
        use_(use),
        beside_(beside),
        one_program_(are_of_one_session(inputs.files)),
        apart_(inputs.files.size() == 1) {}

  Result<Proceed> add(const SharedSession& session, const Inputs::File& file) {
    Result<Diagnosis> diagnosis =
        or_out_of_memory("analysing " + file.name(), [&] { return diagnose(*session, request_); });
    if (!diagnosis) {
      missing_.push_back(diagnosis.error().message);
      return std::move(diagnosis).error();
    }
    if (beside_.each) beside_.each(*session, file, *diagnosis);
    RankDiagnosis one{.diagnosis = std::move(*diagnosis), .rank = rank_of(*session)};
    if (!apart_ && !one_program_ && !is_rank(one.rank)) {
      apart_ = true;
      Result<Proceed> used = use_held();
      if (!used || *used == Proceed::stop) return used;
    }
    if (apart_) return use_alone(one, session, file);
    if (beside_.keep_diagnosed && is_likelier(one)) {
      likeliest_ = session;
      likeliest_at_ = held_.size();
    }
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
  /// Than the one that is kept so far. Which of two ranks is late does not depend on the others,
  /// but for the part of it that they see.
  [[nodiscard]] bool is_likelier(const RankDiagnosis& one) const {
    if (request_.rank) return one.rank.number == request_.rank;
    if (likeliest_ == nullptr) return true;
    std::size_t at = 0;
    const Result<Diagnosis> worse = compare_ranks({}, {held_[likeliest_at_], one}, {}, at);
    return worse && at == 1;
  }

  Result<Proceed> use_alone(const RankDiagnosis& one, const SharedSession& session,
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
    likeliest_.reset();
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
    if (at != likeliest_at_) likeliest_.reset();
    return use_({*all, std::exchange(likeliest_, nullptr), *held_files_[at], !only_});
  }

  const Inputs& inputs_;
  bool only_;
  const DiagnosisRequest& request_;
  const UseDiagnosis& use_;
  const BesideDiagnosis& beside_;
  bool one_program_;  ///< By the folder, whatever the recordings say.
  bool apart_;        ///< Each for itself.
  std::vector<RankDiagnosis> held_;
  std::vector<const Inputs::File*> held_files_;
  SharedSession likeliest_;       ///< The one that will be diagnosed, as it looks so far.
  std::size_t likeliest_at_ = 0;  ///< Its place in held_.
  std::vector<std::string> missing_;
};

bool of_one_program(const Inputs::File& file, const Inputs::File& other) {
  return other.argument == file.argument && other.recording.program == file.recording.program;
}

/// The inputs of each argument apart, and the programs of a session folder.
std::vector<Inputs> by_argument(const Inputs& inputs) {
  std::vector<Inputs> apart;
  for (const Inputs::File& file : inputs.files) {
    if (apart.empty() || !of_one_program(file, apart.back().files.front()))
      apart.push_back({.arguments = inputs.arguments, .files = {}, .several = inputs.several});
    apart.back().files.push_back(file);
  }
  return apart;
}

}  // namespace

bool may_be_one_program(const Inputs& inputs) {
  return inputs.files.size() > 1 &&
         std::ranges::all_of(inputs.files, [&inputs](const Inputs::File& file) {
           return of_one_program(file, inputs.files.front());
         });
}

void for_each_diagnosis(const Inputs& inputs, const DiagnosisRequest& request,
                        const InputHandlers& handlers, const UseDiagnosis& use,
                        const BesideDiagnosis& beside) {
  bool used_one = false;
  const UseDiagnosis counted = [&](const InputDiagnosis& one) {
    Result<Proceed> used = use(one);
    used_one = used_one || used;
    return used;
  };
  const std::vector<Inputs> arguments = by_argument(inputs);
  for (const Inputs& files : arguments) {
    ArgumentDiagnoses argument(files, arguments.size() == 1, request, counted, beside);
    bool stopped = false;
    bool refused = false;
    for_each_session(files, handlers, [&](const SharedSession& session, const Inputs::File& file) {
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
