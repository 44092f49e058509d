// Diagnoses each rank in turn, then compares them.
#include "engine/ranks/diagnose_ranks.h"

#include <utility>
#include <vector>

#include "engine/ranks/compare_ranks.h"

namespace fathom {

Result<Diagnosis> diagnose_ranks(const std::string& input, std::span<const Session* const> sessions,
                                 const DiagnosisRequest& request, std::size_t& at) {
  std::vector<RankDiagnosis> ranks;
  ranks.reserve(sessions.size());
  for (const Session* const session : sessions) {
    Result<Diagnosis> one = diagnose(*session, request);
    if (!one) return one;
    ranks.push_back({.diagnosis = std::move(*one), .rank = rank_of(*session)});
  }
  return compare_ranks(input, std::move(ranks), request.rank, at);
}

}  // namespace fathom
