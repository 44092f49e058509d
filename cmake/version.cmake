# fathom_commit.h: the commit that the program was built from, and the oldest glibc that it is for, for `fathom --version`.
# As a script (cmake -D OUT=… -D SOURCE=… [-D GLIBC=…] -P) it writes the header, and only when the commit changed, so that
# nothing is compiled anew without need. Included, it has every build do that.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  find_program(GIT git)
  if(GIT AND EXISTS "${SOURCE}/.git")
    execute_process(
      COMMAND "${GIT}" -C "${SOURCE}" describe --tags --always --dirty
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND commit)
      set(text "#define FATHOM_COMMIT \"${commit}\"\n")
    endif()
  endif()
  if(GLIBC)
    string(APPEND text "#define FATHOM_OLDEST_GLIBC \"${GLIBC}\"\n")
  endif()
  set(before "(none)")
  if(EXISTS "${OUT}")
    file(READ "${OUT}" before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE "${OUT}" "${text}")
  endif()
  return()
endif()

set(fathom_generated "${CMAKE_BINARY_DIR}/generated")
add_custom_target(
  fathom_commit
  COMMAND "${CMAKE_COMMAND}" -D "OUT=${fathom_generated}/fathom_commit.h" -D "SOURCE=${CMAKE_SOURCE_DIR}" -D
          "GLIBC=${FATHOM_OLDEST_GLIBC}" -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${fathom_generated}/fathom_commit.h"
  COMMENT "")
add_dependencies(fathom_cli fathom_commit)
target_include_directories(fathom_cli PRIVATE "${fathom_generated}")
