// Steps and frames: where one round of the program ends and the next begins.
#pragma once

#include <string_view>

namespace fathom {

/// A step of the program ends here and the next one begins; the first began when the recording did.
/// Call it once at the end of each round of the main loop, on any thread.
///
///     for (auto& batch : loader) { train(batch); fathom::step(); }
///
/// Not beside a fathom::profile, whose step() does the same.
void step() noexcept;

/// The same for a rhythm of its own with a name: "render", "request". Its first call begins the
/// first frame.
void frame(std::string_view name) noexcept;

}  // namespace fathom
