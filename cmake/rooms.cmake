# One static library per room of src/, with the arrows of docs/design.md, section 2.
# tools/check_layers.py checks the same arrows from the #include lines.

# fathom_room(<room> [ALL_CC [FAMILIES <folder>...]] [ROOMS <room>...] [LIBS <library>...]): library fathom_<room> of src/<room>/**/*.cc.
# A room whose folder is missing or has no source yet is an empty library that carries its arrows.
# ALL_CC: each .cc without a header of its own, of the folder itself and of the subfolders FAMILIES, is a thing that
# all.cc must name; what such a thing is made of may lie in another subfolder.
function(fathom_room room)
  cmake_parse_arguments(arg "ALL_CC" "" "FAMILIES;ROOMS;LIBS" ${ARGN})
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}/src/${room}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/src/cli/main\\.cc$|/src/base/glibc_(compat|start)\\.cc$")
  # What runs inside other programs is built on its own: cmake/inside.cmake.
  list(FILTER sources EXCLUDE REGEX "/src/capture/(cuda|inside|memory|nvtx|python)/")
  if(arg_ALL_CC)
    fathom_check_all_cc("${room}" "${folder}" "${arg_FAMILIES}" "${sources}")
  endif()
  set(links fathom_options ${arg_LIBS})
  foreach(other IN LISTS arg_ROOMS)
    list(APPEND links fathom_${other})
  endforeach()
  if(sources)
    add_library(fathom_${room} STATIC ${sources})
    target_link_libraries(fathom_${room} PUBLIC ${links})
    if(room MATCHES "${speaking_rooms}")
      target_compile_options(fathom_${room} PRIVATE $<$<CONFIG:Release>:-O1>)
    elseif(room MATCHES "${judging_rooms}")
      target_compile_options(fathom_${room} PRIVATE $<$<CONFIG:Release>:-O2>)
    endif()
    if(room MATCHES "${busy_rooms}")
      target_compile_options(fathom_${room} PRIVATE -O2)
      fathom_use_precompiled(fathom_${room} busy_rooms)
    else()
      fathom_use_precompiled(fathom_${room} rooms)
    endif()
    if(FATHOM_SANITIZE AND room MATCHES "${careful_rooms}")
      target_compile_options(fathom_${room} PRIVATE -fno-sanitize=alignment,pointer-overflow)
    endif()
    fathom_count_work(${room})
    # The SDK's library holds files of the wire room and a CRC too; a program that links both takes each from one of them.
    list(FILTER sources EXCLUDE REGEX "/src/base/crc32\\.cc$")
    if(NOT room STREQUAL "wire")
      fathom_unity(fathom_${room} 40000 ${sources})
    endif()
  else()
    add_library(fathom_${room} INTERFACE)
    target_link_libraries(fathom_${room} INTERFACE ${links})
  endif()
  set_property(GLOBAL APPEND PROPERTY FATHOM_ROOMS ${room})
endfunction()

# Warns, and fails a test, when a thing of the room is not in its all.cc and so would never be found.
function(fathom_check_all_cc room folder families sources)
  if(NOT EXISTS "${folder}/all.cc")
    if(sources)
      message(STATUS "src/${room} has no all.cc yet: nothing in it will be found")
    endif()
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/all.cc")
  file(READ "${folder}/all.cc" listed)
  string(REGEX REPLACE "//[^\n]*" "" listed "${listed}")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    get_filename_component(parent "${source}" DIRECTORY)
    cmake_path(RELATIVE_PATH parent BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE subfolder)
    if(NOT (subfolder STREQUAL "." OR subfolder IN_LIST families)
       OR name STREQUAL "all"
       OR EXISTS "${parent}/${name}.h")
      continue()
    endif()
    if(NOT listed MATCHES "(^|[^A-Za-z0-9_])${name}(_[a-z]+)?(\\(\\))?[ \n]*[,}]")
      message(
        WARNING
          "${source} is not in src/${room}/all.cc, so nothing would ever find it.\n"
          "Add two lines there: its declaration, and `${name}(),` in the table.\n"
          "(A helper that is no thing of its own has a header beside it: ${name}.h.)")
      # The build goes on, so that one can work on it; the tests do not pass.
      add_test(NAME all_cc/${room}_names_${name} COMMAND "${CMAKE_COMMAND}" -E false)
    endif()
  endforeach()
endfunction()

# What starts programs and what writes for people, and what works on rows and findings, not on events: at -O3 they take
# a quarter more of the compiler's time, and no command was found to be faster for it.
set(speaking_rooms "^(capture|cli|measure|monitor|record|render)$")
set(judging_rooms "^(compare|export|reports|rules|server)$")

# What works on what others have read: there is next to no pointer that is computed with, and two checks of pointers take a
# fifth of the compiler's time.
set(careful_rooms "^(cli|compare|engine|export|measure|monitor|record|render|reports|rules)$")

# Where programs spend their time: a build with sanitizers that optimises nothing else optimises these, which takes clang
# twice as long.
set(busy_rooms "^$")
if(FATHOM_SANITIZE)
  fathom_precompile(rooms fathom_options PIC)
  if(CMAKE_CXX_FLAGS_DEBUG MATCHES "-O0")
    set(busy_rooms "^(base|stats|store|formats|analysis|replay)$")
    fathom_precompile(busy_rooms fathom_options PIC)
    if(TARGET fathom_precompiled_busy_rooms)
      target_compile_options(fathom_precompiled_busy_rooms PRIVATE -O2)
    endif()
  endif()
endif()

# fathom_busy_rooms_first(<target>): of what several files make of one template, std::sort of numbers, the linker takes what
# it sees first. So the busy rooms of a program come before all else, and what is not optimised stays unused: that
# halves the time of what computes.
function(fathom_busy_rooms_first target)
  set(busy "")
  set(seen "")
  get_target_property(next ${target} LINK_LIBRARIES)
  while(next)
    list(POP_FRONT next library)
    if(NOT TARGET "${library}" OR library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${library})
    string(REGEX REPLACE "^fathom_" "" room "${library}")
    if(room MATCHES "${busy_rooms}")
      list(APPEND busy "$<TARGET_FILE:${library}>")
    endif()
    get_target_property(libraries ${library} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(APPEND next ${libraries})
    endif()
  endwhile()
  if(busy)
    target_link_options(${target} PRIVATE LINKER:--whole-archive ${busy} LINKER:--no-whole-archive)
  endif()
endfunction()

fathom_room(base LIBS simdjson isal zstd_static)
# The Python module is loaded by a program that has threads. With this its thread-local variables, all of this room but the
# C++ library's own, lie in each thread's own memory from the start (they are 56 bytes of the 1,664 that glibc spares for
# such libraries): else the loader would allocate them at a thread's first use, and end the program where there is no memory.
# Programs have them there anyway. A sanitizer's headers are precompiled without it, and no module is built with one.
if(NOT FATHOM_SANITIZE)
  target_compile_options(fathom_base PRIVATE -ftls-model=initial-exec)
endif()
if(FATHOM_SANITIZE STREQUAL "thread")
  target_sources(fathom_base PRIVATE "${PROJECT_SOURCE_DIR}/cmake/thread_sanitizer.cc")
endif()
fathom_room(stats ROOMS base)
fathom_room(wire ROOMS base)
fathom_room(capture ROOMS base wire LIBS ${CMAKE_DL_LIBS})
fathom_room(monitor ROOMS base wire LIBS ${CMAKE_DL_LIBS})
fathom_room(sample ROOMS base capture)
fathom_room(store ROOMS base)
fathom_room(formats ALL_CC ROOMS base wire store)
fathom_room(export ROOMS base store formats)
fathom_room(analysis ROOMS base stats store)
fathom_room(replay ROOMS base stats store analysis)
fathom_room(reports ALL_CC ROOMS base stats store analysis replay)
fathom_room(rules ALL_CC FAMILIES communication host input kernels machine memory program recording transfers
            ROOMS base stats store analysis replay)
fathom_room(engine ROOMS base stats wire store formats export analysis replay reports rules)
fathom_room(compare ROOMS base stats store analysis replay engine)
fathom_room(record ROOMS base wire capture monitor sample engine)
fathom_room(measure ROOMS base stats capture monitor engine record LIBS ${CMAKE_DL_LIBS})
fathom_room(render ROOMS base engine compare)
fathom_room(server ALL_CC FAMILIES routes ROOMS base store analysis replay engine compare render LIBS beast)
fathom_room(cli ALL_CC ROOMS base engine compare render server capture record measure sample)

# The hook that Python programs under capture start with is carried inside the binary.
set(hook_folder "${CMAKE_CURRENT_SOURCE_DIR}/python/fathom_hook")
file(GLOB_RECURSE hook_files RELATIVE "${hook_folder}" CONFIGURE_DEPENDS "${hook_folder}/*.py")
list(FILTER hook_files EXCLUDE REGEX "(^|/)(tests?/|test_|[^/]*_test\\.py$)")
set(hook_paths ${hook_files})
list(TRANSFORM hook_paths PREPEND "${hook_folder}/")
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/hook_files.cc"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${hook_folder}" "-DFILES=${hook_files}"
          "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/hook_files.cc" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake" ${hook_paths}
  COMMENT "Embedding the Python hook"
  VERBATIM)
target_sources(fathom_capture PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/hook_files.cc")

# The page is carried inside the binary: what is committed in ui/dist, and until then a plain one.
set(page_folder "${CMAKE_CURRENT_SOURCE_DIR}/ui/dist")
if(NOT EXISTS "${page_folder}/index.html")
  set(page_folder "${CMAKE_CURRENT_SOURCE_DIR}/src/server/plain_page")
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
file(GLOB page_files CONFIGURE_DEPENDS "${page_folder}/*")
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/page_files.cc"
  COMMAND "${Python3_EXECUTABLE}" -I -S "${CMAKE_CURRENT_SOURCE_DIR}/tools/embed_page" "${page_folder}"
          "${CMAKE_CURRENT_BINARY_DIR}/page_files.cc"
  DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tools/embed_page" ${page_files}
  COMMENT "Embedding the page"
  VERBATIM)
target_sources(fathom_server PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/page_files.cc")

# What a page without names may say: the words of the program's own texts.
file(GLOB_RECURSE word_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cc"
     "${CMAKE_CURRENT_SOURCE_DIR}/src/*.h")
list(FILTER word_sources EXCLUDE REGEX "(/src/(capture|cli|measure|monitor|python|record|sample)/|_test\\.cc$)")
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/own_words.cc"
  COMMAND "${Python3_EXECUTABLE}" -I -S "${CMAKE_CURRENT_SOURCE_DIR}/tools/embed_words"
          "${CMAKE_CURRENT_SOURCE_DIR}/src" "${CMAKE_CURRENT_BINARY_DIR}/own_words.cc"
  DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tools/embed_words" ${word_sources}
  COMMENT "Embedding the program's own words"
  VERBATIM)
target_sources(fathom_server PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/own_words.cc")
