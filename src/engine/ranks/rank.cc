// Decides which recordings are ranks of one program: by what they say, or by their session folder.
#include "engine/ranks/rank.h"

#include <algorithm>
#include <set>

namespace fathom {

Rank rank_of(const Session& session) {
  Rank rank;
  const std::optional<Distributed>& said = session.trace().distributed;
  if (said && said->rank != kAbsent) rank.number = said->rank;
  if (said && said->world_size != kAbsent) rank.world_size = said->world_size;
  return rank;
}

bool is_rank(const Rank& rank) {
  return rank.number.has_value() && rank.world_size.value_or(2) > 1;
}

bool are_ranks_of_one_program(std::span<const Rank> ranks) {
  std::set<std::int64_t> numbers;
  for (const Rank& rank : ranks) {
    if (!is_rank(rank) || rank.world_size != ranks.front().world_size) return false;
    numbers.insert(*rank.number);
  }
  return numbers.size() > 1;
}

bool are_of_one_session(std::span<const Inputs::File> files) {
  return std::ranges::all_of(files, [&](const Inputs::File& file) {
    const RunRecording& first = files.front().recording;
    return file.of_session() && file.recording.folder == first.folder &&
           file.recording.program == first.program;
  });
}

}  // namespace fathom
