// What a pass of a server that generates text does, as its annotation says.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

/// Prefill reads the tokens of prompts, decode makes one token per sequence.
enum class Pass : std::uint8_t { unknown, prefill, decode, mixed };

/// By the annotations of vLLM (…context_N…generation_M), SGLang and others.
Pass pass_of_annotation(std::string_view name);

}  // namespace fathom
