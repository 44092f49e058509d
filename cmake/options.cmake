# How our own code is compiled and linked: fathom_options (an interface every room links) and fathom_portable().

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
  # Without this it takes no file that uses a precompiled header.
  set(cache_settings CCACHE_SLOPPINESS=pch_defines,time_macros)
  # A second checkout finds what the first one compiled.
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND cache_settings "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${cache_settings} "${CCACHE}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# The Python module links the same libraries. Reading costs the same as with -fPIE: 0.214 s of processor time either way
# for 317 MB of JSON, the best of 30 runs each.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

# The oldest processor we run on; what wants more (simdjson, ISA-L, zstd) dispatches at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-march=x86-64-v2>)
endif()
# One section per function lets the linker drop what is never called.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffunction-sections> $<$<COMPILE_LANGUAGE:C,CXX>:-fdata-sections>)
add_link_options(-Wl,--gc-sections -Wl,--as-needed)

if(FATHOM_SANITIZE)
  # Three checks less, which took a quarter of the compiler's time: a null pointer that is followed stops the program anyway,
  # of what vptr looks for, objects used as what they are not, there is next to nothing in values without bases, and the
  # address sanitizer sees who leaves the object whose size object-size knows.
  set(sanitize -fsanitize=${FATHOM_SANITIZE} -fno-sanitize=null,vptr,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  # Not every compiler says by a macro what it checks.
  foreach(kind IN ITEMS address thread)
    if(FATHOM_SANITIZE MATCHES ${kind})
      string(TOUPPER FATHOM_SANITIZE_${kind} macro)
      add_compile_definitions(${macro})
    endif()
  endforeach()
  add_link_options(${sanitize})
  # Each check of undefined behaviour has a record with the name of its file. In a program that can lie anywhere
  # that is a million and a half relocations, 40 ms at each start; the end-to-end tests start thousands.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

if(FATHOM_FUZZ)
  # Inputs a second count. Half of the time went into following the paths of the standard library, into noting what is
  # compared with what (dictionaries name the words of the formats), and into two checks of pointers that the asan build has.
  set(ignored "-fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/not_fuzzed.txt")
  set(fuzzed -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp ${ignored} -fno-sanitize=alignment,pointer-overflow)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${fuzzed}>")
endif()

find_package(Threads REQUIRED)

add_library(fathom_options INTERFACE)
target_compile_features(fathom_options INTERFACE cxx_std_20)
target_include_directories(
  fathom_options INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/include")
target_link_libraries(fathom_options INTERFACE Threads::Threads)
target_compile_options(
  fathom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                           $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
                           $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>)
# Who builds us as a part of theirs may have a compiler that warns of more.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(fathom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
# Designated initialisers name what they set; the rest has its default on purpose.
target_compile_options(fathom_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 believes that "x" + std::string overlaps itself (its bug 105651, fixed in 13).
  target_compile_options(fathom_options INTERFACE -Wno-restrict)
endif()
if(FATHOM_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The instrumentation hides initialisations from gcc, which then warns about correct code; that of threads
  # hides sizes, too.
  target_compile_options(fathom_options INTERFACE -Wno-maybe-uninitialized)
  if(FATHOM_SANITIZE MATCHES "thread")
    target_compile_options(fathom_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endif()
target_compile_definitions(
  fathom_options INTERFACE FATHOM_VERSION="${PROJECT_VERSION}" $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

if(FATHOM_PORTABLE)
  include(glibc)
  # A buffer that overflows ends the program instead of returning to where the overflow says. What it costs is in
  # docs/dependencies.md. tools/check_binary looks.
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong>)
  add_compile_definitions($<$<COMPILE_LANGUAGE:C,CXX>:_FORTIFY_SOURCE=2>)
endif()

# fathom_portable(<target>): link an executable or a library that is loaded so that it needs glibc and nothing else, none
# newer than FATHOM_OLDEST_GLIBC, and so that nothing can be written to or run that need not. tools/check_binary looks.
function(fathom_portable target)
  if(NOT FATHOM_PORTABLE)
    return()
  endif()
  # An identifier of the build would tell in which folder it was made; the version has the commit.
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,relro,-z,now,-z,noexecstack
                                        -Wl,--build-id=none)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -pie)
  endif()
  if(NOT type STREQUAL "EXECUTABLE" AND NOT target MATCHES "^fathom_(core|python)$") # Python's own names are in the interpreter
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  fathom_link_glibc(${target} ${type})
endfunction()
