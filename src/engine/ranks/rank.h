// What a recording says of its place in a distributed program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/inputs/inputs.h"
#include "engine/session.h"

namespace fathom {

struct Rank {
  std::optional<std::int64_t> number;      ///< Unset where the recording names none.
  std::optional<std::int64_t> world_size;  ///< As recorded.
};

Rank rank_of(const Session& session);

/// May this recording be one of several ranks? Its own metadata decide.
bool is_rank(const Rank& rank);

/// Are these different ranks of equally many, and so of one program, as far as they say?
bool are_ranks_of_one_program(std::span<const Rank> ranks);

/// Are these the recordings of one program in one session folder? Then they are its ranks without
/// saying so.
bool are_of_one_session(std::span<const Inputs::File> files);

}  // namespace fathom
