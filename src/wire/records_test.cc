// The page on the format and the writer in Python describe the records as the records do
// themselves.
#include "wire/records.h"

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "wire/device.h"

namespace fathom::wire {
namespace {

/// Of a field: as docs/wire.md spells it, and as Python's struct does.
struct Spelling {
  std::string type;
  std::string letters;
  std::string more;  ///< Behind the name.
};

template <typename Type>
Spelling spelling() {
  if constexpr (std::same_as<Type, std::string_view>) return {"u32", "I", ""};
  if constexpr (std::same_as<Type, std::int64_t>) return {"i64", "q", ""};
  if constexpr (std::same_as<Type, std::uint64_t>) return {"u64", "Q", ""};
  if constexpr (std::same_as<Type, std::int32_t>) return {"i32", "i", ""};
  if constexpr (std::same_as<Type, std::uint32_t>) return {"u32", "I", ""};
  if constexpr (std::same_as<Type, double>) return {"f64", "d", ""};
  if constexpr (std::same_as<Type, Dimensions>) return {"i32", "iii", "[3]"};
}

struct Description {
  std::string fields;   ///< "i64 time, i32 pid, …".
  std::string letters;  ///< "qi…".
};

template <typename Record>
Description description() {
  Description all;
  const auto add = [&]<typename Field>(const Field& field) {
    const Spelling spelled = spelling<typename Field::Value>();
    if (!all.fields.empty()) all.fields += ", ";
    all.fields += spelled.type + ' ' + std::string(field.name) + spelled.more;
    all.letters += spelled.letters;
  };
  Record::fields([&](auto... field) { (add(field), ...); });
  return all;
}

/// By the kind's number.
std::map<int, Description> descriptions() {
  std::map<int, Description> all;
  const auto add = [&]<typename... Records>(Records...) {
    ((all[static_cast<int>(Records::kKind)] = description<Records>()), ...);
  };
  add(ClockRecord(), ProcessRecord(), ThreadRecord(), SliceRecord(), EndRecord(), CounterRecord(),
      SampleRecord(), FactRecord(), ExitRecord(), DroppedRecord(), FunctionRecord(), Argument(),
      DeviceActivity(), Launch(), Copy(), Wait(), Call(), MemoryOperation(), LineRecord(),
      FrameRecord(), StackRecord(), LineRunRecord(), FunctionPartRecord(), LinePartRecord(),
      FunctionCallsRecord());
  for (const Kind kind : {Kind::begin, Kind::instant})
    all[static_cast<int>(kind)] = description<MomentRecord>();
  return all;
}

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Records, AreAsThePageOnTheFormatHasThem) {
  const std::string page = text_of("/docs/wire.md");
  const std::regex row(R"(\n\| (\d+) \| (\w+) \| ([^\n]*) \|)");
  const std::regex field("`([iuf]\\d\\d \\w+(?:\\[3\\])?)`");
  std::map<int, std::string> found;
  for (std::sregex_iterator at(page.begin(), page.end(), row); at != std::sregex_iterator(); ++at) {
    const std::string cell = (*at)[3];
    std::string fields;
    for (std::sregex_iterator one(cell.begin(), cell.end(), field); one != std::sregex_iterator();
         ++one)
      fields += (fields.empty() ? "" : ", ") + (*one)[1].str();
    found[std::stoi((*at)[1])] = fields;
  }
  EXPECT_EQ(found.size(), kKinds - 1);
  for (const auto& [kind, described] : descriptions())
    EXPECT_EQ(found[kind], described.fields) << "kind " << kind;
}

TEST(Records, AreAsTheWriterInPythonPacksThem) {
  const std::string writer = text_of("/python/fathom_hook/fathom_recorder/wire.py");
  const char* const names[] = {"CLOCK", "PROCESS", "THREAD",  "SLICE",  "BEGIN",
                               "END",   "INSTANT", "COUNTER", "SAMPLE", "FACT",
                               "EXIT",  "DROPPED", "FUNCTION"};
  std::map<int, Description> all = descriptions();
  int kind = static_cast<int>(Kind::clock);
  for (const char* const name : names) {
    const std::string line = std::string(name) + ": \"" + all[kind++].letters + "\",";
    EXPECT_NE(writer.find(line), std::string::npos) << line;
  }
  for (const auto& [name, of] : {std::pair("LINE", Kind::line),
                                 {"LINE_RUN", Kind::line_run},
                                 {"FUNCTION_PART", Kind::function_part},
                                 {"LINE_PART", Kind::line_part},
                                 {"FUNCTION_CALLS", Kind::function_calls}}) {
    const std::string line = std::string(name) + ": \"" + all[static_cast<int>(of)].letters + "\",";
    EXPECT_NE(writer.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace fathom::wire
