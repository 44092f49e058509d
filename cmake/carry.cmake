# Makes a C++ source that holds libraries, so that the one binary carries what it hands to programs:
#   cmake -DLIBRARIES=<file;file> -DSTRIP=<strip> -DFOLDER=<folder> -DOUTPUT=<file.cc> -P carry.cmake
# Stripped copies are left in FOLDER. The source defines what src/capture/system/carried.h declares.
file(MAKE_DIRECTORY "${FOLDER}")
set(bytes "")
set(rows "")
set(number 0)
foreach(library IN LISTS LIBRARIES)
  get_filename_component(name "${library}" NAME)
  set(stripped "${FOLDER}/${name}")
  execute_process(COMMAND "${STRIP}" --strip-unneeded -o "${stripped}" "${library}" COMMAND_ERROR_IS_FATAL ANY)
  # The assembler reads the file; its sum tells ccache of a new one.
  file(SHA256 "${stripped}" sum)
  string(
    APPEND
    bytes
    "// ${sum}
__asm__(
    \".pushsection .rodata.fathom_carried,\\\"a\\\",@progbits\\n\"
    \".hidden fathom_carried_${number}\\n.globl fathom_carried_${number}\\nfathom_carried_${number}:\\n\"
    \".incbin \\\"${stripped}\\\"\\n\"
    \".hidden fathom_carried_${number}_end\\n.globl fathom_carried_${number}_end\\nfathom_carried_${number}_end:\\n\"
    \".byte 0\\n.popsection\\n\");
extern \"C\" const char fathom_carried_${number}[];
extern \"C\" const char fathom_carried_${number}_end[];
[[maybe_unused]] constexpr char kSum${number}[] = \"${sum}\";
")
  string(
    APPEND
    rows
    "      {\"${name}\", {fathom_carried_${number}, static_cast<std::size_t>(fathom_carried_${number}_end - fathom_carried_${number})}},\n"
  )
  math(EXPR number "${number} + 1")
endforeach()
file(
  WRITE "${OUTPUT}.new"
  "// Made by cmake/carry.cmake.
#include \"capture/system/carried.h\"

${bytes}
namespace fathom::capture {

std::span<const CarriedLibrary> carried_libraries() {
  static const CarriedLibrary libraries[] = {
${rows}      {\"\", \"\"}};
  return {libraries, ${number}};
}

}  // namespace fathom::capture
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}")
file(REMOVE "${OUTPUT}.new")
