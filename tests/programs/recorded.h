// What capture files hold, as plain lists, and programs that write some.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wire/reader.h"

namespace fathom::test {

struct RecordedSlice {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
  std::string category;
  std::int64_t value = -1;
  std::map<std::string, std::string> arguments;
  [[nodiscard]] std::int64_t end() const { return start + duration; }
};
struct RecordedSample {
  std::int64_t time = 0;
  std::string counter;
  std::string unit;
  double value = 0;
};

/// The records of one or several capture files, in the order of the files.
struct Recorded {
  std::vector<RecordedSlice> slices;
  std::vector<RecordedSlice> begun;     ///< `begin` records; `ends` are counted.
  std::vector<RecordedSlice> instants;  ///< start is their time.
  std::vector<RecordedSlice> devices;   ///< What devices did.
  std::vector<RecordedSlice> calls;     ///< Of libraries.
  std::vector<RecordedSample> samples;
  std::map<std::int64_t, std::string> threads;  ///< By tid.
  std::map<std::string, std::string> facts;
  std::vector<std::string> roles;  ///< Of processes.
  std::uint64_t ends = 0;
  std::uint64_t dropped = 0;
  std::uint64_t damaged_bytes = 0;
  std::string damage;          ///< Whatever is wrong with the files; empty: nothing.
  std::int64_t last_time = 0;  ///< Of slices' ends and instants.

  [[nodiscard]] std::vector<RecordedSlice> named(const std::string& name) const;
};

/// A new empty folder that goes when the object does.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Paths of the capture files in it, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::string path_;
};

Recorded read_file(const std::string& path);
/// Of all capture files in the folder.
Recorded read_folder(const Folder& folder);

using Environment = std::map<std::string, std::string>;

/// Starts a program of the build tree with these arguments; FATHOM_SESSION is what `environment`
/// says, or unset. Its process id.
int start_program(const std::string& name, const std::vector<std::string>& arguments,
                  const Environment& environment);
/// Its status as of waitpid().
int wait_for(int pid);

}  // namespace fathom::test
