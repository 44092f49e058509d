// Real recordings that tests run over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {

/// Recordings beyond the small ones: FATHOM_DATA, or tests/data/recordings. May not be there.
std::filesystem::path further_data();

/// The recordings of the repository and of others, with those in further folders, sorted.
std::vector<std::string> recordings(const std::vector<std::filesystem::path>& further = {});

/// The same with our own pairs and the traces of PyTorch on the CPU.
std::vector<std::string> all_recordings();
/// The traces in a folder and its folders, sorted.
std::vector<std::string> traces_below(const std::filesystem::path& folder);

/// A name for the test of one recording: letters, digits, underscores.
std::string name_of_recording(const testing::TestParamInfo<std::string>& test);

}  // namespace fathom
