#include "sample/elf.h"

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

#include "sample/made_memory.h"

namespace fathom::sample {
namespace {

constexpr Address kBase = 0x7f0000000000;
constexpr Address kRuntime = 0x3040;  // in the file
constexpr std::size_t kSize = 0x4000;

template <typename T>
void place(std::vector<std::byte>& image, std::size_t at, const T& value) {
  std::memcpy(image.data() + at, &value, sizeof value);
}

/// Two symbols, "_PyRuntime" and one that is not defined, in tables of either kind of hash.
std::vector<std::byte> made_elf(bool gnu) {
  std::vector<std::byte> image(kSize);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = 0x40;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  header.e_shoff = 0x2000;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 1;
  place(image, 0, header);
  Elf64_Phdr load{.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_vaddr = 0};
  load.p_memsz = 0x3000;
  Elf64_Phdr data{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x3000, .p_vaddr = 0x3000};
  data.p_memsz = 0x1000;
  Elf64_Phdr dynamic{.p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = 0x200, .p_vaddr = 0x200};
  dynamic.p_memsz = 8 * sizeof(Elf64_Dyn);
  place(image, 0x40, std::array{load, data, dynamic});
  const auto entry = [](std::int64_t tag, std::uint64_t value) {
    Elf64_Dyn dyn{};
    dyn.d_tag = tag;
    dyn.d_un.d_ptr = value;
    return dyn;
  };
  place(image, 0x200,
        std::array{entry(DT_SYMTAB, 0x400), entry(DT_STRTAB, 0x500), entry(DT_STRSZ, 0x40),
                   entry(gnu ? DT_GNU_HASH : DT_HASH, 0x600), entry(DT_NULL, 0)});
  Elf64_Sym missing{.st_name = 1, .st_info = 0, .st_other = 0, .st_shndx = SHN_UNDEF};
  Elf64_Sym runtime{.st_name = 8, .st_info = 0, .st_other = 0, .st_shndx = 3, .st_value = kRuntime};
  place(image, 0x400, std::array{Elf64_Sym{}, missing, runtime});
  std::memcpy(image.data() + 0x501, "absent\0_PyRuntime", 18);
  if (gnu) {
    // One bucket, the first symbol in it is 1, one word of filter.
    std::uint32_t hash = 5381;
    for (const char c : std::string_view("_PyRuntime"))
      hash = hash * 33 + static_cast<unsigned char>(c);
    place(image, 0x600, std::array<std::uint32_t, 4>{1, 1, 1, 0});
    place(image, 0x618, std::array<std::uint32_t, 3>{1, 0, hash | 1U});
  } else {
    place(image, 0x600, std::array<std::uint32_t, 6>{1, 3, 2, 0, 0, 1});
  }
  std::memcpy(image.data() + 0x700, "\0.shstrtab\0.PyRuntime\0.symtab\0.strtab", 38);
  Elf64_Shdr none{};
  Elf64_Shdr names{.sh_name = 1, .sh_type = SHT_STRTAB, .sh_flags = 0, .sh_addr = 0};
  names.sh_offset = 0x700;
  names.sh_size = 38;
  Elf64_Shdr section{.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_flags = 0, .sh_addr = kRuntime};
  Elf64_Shdr symbols{.sh_name = 22, .sh_type = SHT_SYMTAB, .sh_flags = 0, .sh_addr = 0};
  symbols.sh_offset = 0x400;
  symbols.sh_size = 3 * sizeof(Elf64_Sym);
  symbols.sh_link = 4;
  Elf64_Shdr strings{.sh_name = 30, .sh_type = SHT_STRTAB, .sh_flags = 0, .sh_addr = 0};
  strings.sh_offset = 0x500;
  strings.sh_size = 0x40;
  place(image, 0x2000, std::array{none, names, section, symbols, strings});
  return image;
}

void load(MadeMemory& memory, const std::vector<std::byte>& image) {
  memory.map(kBase, image.size());
  memory.put_bytes(kBase, image);
}

FileReader reader_of(const std::vector<std::byte>& image) {
  return [&image](std::uint64_t offset, std::span<std::byte> to) {
    if (offset > image.size() || to.size() > image.size() - offset) return false;
    std::memcpy(to.data(), image.data() + offset, to.size());
    return true;
  };
}

TEST(Elf, ALoadedSymbolIsFoundByEitherHash) {
  for (const bool gnu : {true, false}) {
    MadeMemory memory;
    load(memory, made_elf(gnu));
    const auto elf = LoadedElf::at(memory, kBase);
    ASSERT_TRUE(elf);
    EXPECT_EQ(elf->bias(), kBase);
    EXPECT_EQ(elf->find("_PyRuntime"), kBase + kRuntime);
    EXPECT_FALSE(elf->find("_PyRuntimeX"));
    EXPECT_FALSE(elf->find("_PyRun"));
    EXPECT_FALSE(elf->find("absent"));
    ASSERT_EQ(elf->writable().size(), 1U);
    EXPECT_EQ(elf->writable()[0].begin, kBase + 0x3000);
  }
}

TEST(Elf, InAFileSectionsAndSymbolsHaveNames) {
  const std::vector<std::byte> image = made_elf(true);
  EXPECT_EQ(find_section(reader_of(image), ".PyRuntime"), kRuntime);
  EXPECT_FALSE(find_section(reader_of(image), ".PyRun"));
  EXPECT_EQ(find_symbol(reader_of(image), "_PyRuntime"), kRuntime);
  EXPECT_FALSE(find_symbol(reader_of(image), "absent"));
}

TEST(Elf, OtherMachinesFilesAndTextsAreNone) {
  std::vector<std::byte> image = made_elf(true);
  image[EI_CLASS] = std::byte{ELFCLASS32};
  MadeMemory memory;
  load(memory, image);
  EXPECT_FALSE(LoadedElf::at(memory, kBase));
  EXPECT_FALSE(find_section(reader_of(image), ".PyRuntime"));
  EXPECT_FALSE(LoadedElf::at(memory, 0));
  EXPECT_FALSE(find_section(reader_of({}), ".PyRuntime"));
}

/// What is damaged is read to its end, and what is found lies anywhere; nothing else is promised.
TEST(Elf, DamageCostsTimeOnly) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> image = made_elf(round % 2 == 0);
    constexpr std::array<std::size_t, 6> kTables = {0, 0x40, 0x200, 0x400, 0x600, 0x2000};
    for (int hit = 0; hit < 8; ++hit) {
      const std::size_t at = kTables[random() % kTables.size()] + random() % 0x140;
      image[at] = static_cast<std::byte>(random() % 4 == 0 ? 0xff : random());
    }
    if (round % 5 == 0) image.resize(random() % image.size() + 1);
    MadeMemory memory;
    load(memory, image);
    const auto elf = LoadedElf::at(memory, kBase);
    if (elf) (void)elf->find("_PyRuntime");
    (void)find_section(reader_of(image), ".PyRuntime");
    (void)find_symbol(reader_of(image), "_PyRuntime");
    ASSERT_LT(memory.reads(), 20000U);
  }
}

}  // namespace
}  // namespace fathom::sample
