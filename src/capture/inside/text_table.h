// Texts that live as long as the process, each once.
#pragma once

#include <string_view>

namespace fathom::inside {

/// What the process' texts become when there are too many.
inline constexpr std::string_view kOtherText = "(other)";

/// The text as far as it is kept: to its first null byte, and whole characters of 4096 bytes.
std::string_view shortened(std::string_view text) noexcept;

/// The one copy of this text, followed by a NUL. Takes a lock for a new one only. Never fails:
/// after 64 Ki texts, or 16 MiB of them, new ones are kOtherText; so is one for which there is no
/// memory.
const char* permanent(std::string_view text) noexcept;

/// For fork(): holds the table still, and lets go of it in parent and child.
void lock_texts() noexcept;
void unlock_texts() noexcept;

}  // namespace fathom::inside
