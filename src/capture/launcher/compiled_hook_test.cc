// What Python has compiled is kept for the next run, and nobody else's files are.
#include "capture/launcher/compiled_hook.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "capture/launcher/hook.h"

namespace fathom::capture {
namespace {

namespace fs = std::filesystem;

class CompiledHook : public testing::Test {
 public:
  CompiledHook() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  ~CompiledHook() override { fs::remove_all(folder_); }
  CompiledHook(const CompiledHook&) = delete;
  CompiledHook& operator=(const CompiledHook&) = delete;

 protected:
  [[nodiscard]] fs::path compiled(const std::string& session) const {
    return folder_ / session / "fathom_recorder/__pycache__/recorder.cpython-311.pyc";
  }
  void compile(const std::string& session) const {
    fs::create_directories(compiled(session).parent_path());
    std::ofstream(compiled(session)) << "code";
  }
  [[nodiscard]] std::string session(const std::string& name) const {
    return (folder_ / name).string();
  }

  static fs::path make_folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_hook_XXXXXX").string();
    return mkdtemp(pattern.data());
  }
  fs::path folder_ = make_folder();
};

TEST_F(CompiledHook, TheNextSessionHasItWithSourcesOfTheSameTime) {
  ASSERT_TRUE(unpack_hook(session("first")));
  compile("first");
  keep_compiled_hook(session("first"));
  ASSERT_TRUE(unpack_hook(session("second")));
  EXPECT_TRUE(fs::exists(compiled("second")));
  EXPECT_EQ(fs::last_write_time(folder_ / "first/sitecustomize.py"),
            fs::last_write_time(folder_ / "second/sitecustomize.py"));
}

TEST_F(CompiledHook, WhatOthersMayWriteIsNotTaken) {
  compile("first");
  keep_compiled_hook(session("first"));
  for (const fs::directory_entry& kept : fs::directory_iterator(folder_ / "cache/fathom"))
    fs::permissions(kept.path(), fs::perms::all);
  ASSERT_TRUE(unpack_hook(session("second")));
  EXPECT_FALSE(fs::exists(compiled("second")));
}

}  // namespace
}  // namespace fathom::capture
