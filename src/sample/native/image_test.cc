// This program's own file, whole and damaged.
#include "sample/native/image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

namespace fathom::sample::native {
namespace {

std::vector<std::byte> own_file() {
  std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
  const std::streamsize size = file.tellg();
  std::vector<char> text(static_cast<std::size_t>(size));
  file.seekg(0).read(text.data(), size);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

FileReader reader_of(const std::vector<std::byte>& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::byte> to) {
    if (offset > bytes.size() || to.size() > bytes.size() - offset) return false;
    std::memcpy(to.data(), bytes.data() + offset, to.size());
    return true;
  };
}

/// Where main() lies in the file's own address space.
std::uint64_t main_of(const std::vector<std::byte>& bytes) {
  return find_symbol(reader_of(bytes), "main").value_or(0);
}

TEST(Image, TellsFunctionsAndRulesOfThisProgram) {
  const std::vector<std::byte> bytes = own_file();
  const auto image = Image::read(reader_of(bytes), bytes.size());
  ASSERT_NE(image, nullptr);
  const std::uint64_t address = main_of(bytes);
  ASSERT_NE(address, 0U);
  const auto symbol = image->symbol_at(address + 1);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->name, "main");
  EXPECT_EQ(symbol->offset, 1U);
  const Row* const row = image->rules_at(address);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->begin, address);
  EXPECT_FALSE(image->rules_at(1));
  EXPECT_FALSE(image->address_at(bytes.size() + 1'000'000));
}

TEST(Image, UnwindsWithoutTheTableOfSections) {
  std::vector<std::byte> bytes = own_file();
  const std::uint64_t address = main_of(bytes);
  std::memset(bytes.data() + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
  const auto image = Image::read(reader_of(bytes), bytes.size());
  ASSERT_NE(image, nullptr);
  EXPECT_NE(image->rules_at(address), nullptr);
  EXPECT_FALSE(image->symbol_at(address));
}

TEST(Image, IsNoneOfOtherBytes) {
  const std::vector<std::byte> bytes(100, std::byte{0x7f});
  EXPECT_EQ(Image::read(reader_of(bytes), bytes.size()), nullptr);
  const std::vector<std::byte> nothing;
  EXPECT_EQ(Image::read(reader_of(nothing), 0), nullptr);
}

TEST(Image, NeitherEndsNorHangsOnDamage) {
  const std::vector<std::byte> whole = own_file();
  const std::uint64_t address = main_of(whole);
  const auto look = [address](const std::vector<std::byte>& bytes) {
    const auto image = Image::read(reader_of(bytes), bytes.size());
    if (image == nullptr) return;
    for (const std::uint64_t offset : {0U, 1U, 100U, 10'000U}) {
      (void)image->rules_at(address + offset);
      (void)image->address_at(offset);
    }
    (void)image->symbol_at(address);
  };
  // Under the sanitizers a look takes 0.3 s. Bytes of other files are for fuzzing (image_fuzz).
  const bool all = std::getenv("FATHOM_TEST_ALL_SIZES") != nullptr;
  const std::size_t parts = all ? 8 : 3;
  for (std::size_t part = 1; part <= parts; ++part) {
    const std::size_t end = whole.size() / parts * part;
    look(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  // Of the header and the tables of segments and sections, where a number does the most.
  Elf64_Ehdr header{};
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t sections = header.e_shoff;
  std::uint64_t chance = 1;
  std::vector<std::byte> bytes = whole;
  for (int i = 0; i < (all ? 40 : 12); ++i) {
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    const std::size_t into = (chance >> 33U) % 1024;
    const std::size_t at = std::min(i % 2 == 0 ? into : sections + into, whole.size() - 1);
    bytes[at] = static_cast<std::byte>(chance >> 20U);
    look(bytes);
    bytes[at] = whole[at];
  }
}

}  // namespace
}  // namespace fathom::sample::native
