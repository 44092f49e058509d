// Conditions of a machine, as manifests of session folders and results of benches write them.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// "250 W, 300 W", of the GPUs of a JSON array that have a power limit; each limit once.
std::string power_limits(std::string_view gpus);

/// Of a JSON array with the loads of 1, 5 and 15 minutes: "5.1 on 2 cores", and where that is at
/// most half of the cores, that it is. Two loads are never equal, and only a high one makes times
/// long. "" where one of the two is not known.
std::string load_condition(std::string_view load, std::string_view cores);

}  // namespace fathom
