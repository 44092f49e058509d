// The header of ELF files, whole, cut off, and of other files.
#include "capture/system/loader.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace fathom::capture {
namespace {

class Loader : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "loaderXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& bytes) const {
    std::string path = folder_ + "/program";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string folder_;
};

/// A header, one segment that names a loader, and the name.
std::string program_for(const std::string& loader, unsigned char bits = ELFCLASS64) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = bits;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr other{};
  other.p_type = PT_LOAD;
  Elf64_Phdr names{};
  names.p_type = PT_INTERP;
  names.p_offset = sizeof header + sizeof other + sizeof names;
  names.p_filesz = loader.size() + 1;
  const auto bytes = [](const auto& part) {
    return std::string(reinterpret_cast<const char*>(&part), sizeof part);
  };
  return bytes(header) + bytes(other) + bytes(names) + loader + '\0';
}

TEST_F(Loader, IsTheOneThatTheHeaderNames) {
  const std::string musl = loader_of(file(program_for("/lib/ld-musl-x86_64.so.1")));
  EXPECT_EQ(musl, "/lib/ld-musl-x86_64.so.1");
  EXPECT_TRUE(is_of_musl(musl));
  const std::string glibc = loader_of(file(program_for("/lib64/ld-linux-x86-64.so.2")));
  EXPECT_EQ(glibc, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_FALSE(is_of_musl(glibc));
}

TEST_F(Loader, OfThisProgramIsThere) {
  const std::string loader = loader_of("/proc/self/exe");
  EXPECT_TRUE(std::filesystem::exists(loader)) << loader;
  EXPECT_FALSE(is_of_musl(loader));
}

TEST_F(Loader, ThereIsNoneOfWhatIsNoProgram) {
  EXPECT_EQ(loader_of(folder_ + "/nothing"), "");
  EXPECT_EQ(loader_of(folder_), "");
  EXPECT_EQ(loader_of(file("")), "");
  EXPECT_EQ(loader_of(file("#!/bin/sh\necho of a script that is longer than a header is\n")), "");
  EXPECT_EQ(loader_of(file(program_for("/lib/ld-musl-i386.so.1", ELFCLASS32))), "");
  EXPECT_FALSE(is_of_musl(""));
}

TEST_F(Loader, ACutOffFileHasNone) {
  const std::string whole = program_for("/lib/ld-musl-x86_64.so.1");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(loader_of(file(whole.substr(0, size))), "") << size;
  }
}

}  // namespace
}  // namespace fathom::capture
