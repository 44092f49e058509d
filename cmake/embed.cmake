# Turns files into a C++ source that holds them, so that the one binary carries what it unpacks:
#   cmake -DFOLDER=<folder> -DFILES=<a;b> -DOUTPUT=<file.cc> -P embed.cmake
# FILES are relative to FOLDER. The source defines what src/capture/launcher/hook.h declares.
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ "${FOLDER}/${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n"
                       bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${bytes}0};\n")
  string(APPEND rows
         "    {\"${file}\", {reinterpret_cast<const char*>(kFile${number}), sizeof kFile${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(
  WRITE "${OUTPUT}.new"
  "// Made by cmake/embed.cmake.
#include \"capture/launcher/hook.h\"

namespace fathom::capture {
namespace {
${arrays}}  // namespace

std::span<const HookFile> hook_files() {
  static const HookFile files[] = {
${rows}    {\"\", \"\"}};
  return {files, ${number}};
}

}  // namespace fathom::capture
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}")
file(REMOVE "${OUTPUT}.new")
