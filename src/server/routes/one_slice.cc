// Reads the parameter that names a slice.
#include "server/routes/one_slice.h"

namespace fathom::server {

Result<SliceId> slice_of(const Call& call) {
  const Result<std::int64_t> id = call.number("id", -1);
  if (!id) return id.error();
  const std::size_t slices = call.input->session().trace().slices.size();
  if (*id < 0 || static_cast<std::uint64_t>(*id) >= slices)
    return Error{ErrorCode::not_found, "id: the trace has " + std::to_string(slices) + " slices"};
  return SliceId(static_cast<std::size_t>(*id));
}

}  // namespace fathom::server
