# commit.cmake - the commit that results name, in generated/commit.h. Included by CMakeLists.txt it adds the rule, which asks
# git in every build and touches the header only when the answer is another; run with cmake -P (SOURCE, OUT, COMMIT) it is the
# rule. A tree without git, such as an archive, names none unless -DSPOT_COMMIT=... does. Changed files add "-dirty".
if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT COMMIT)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE COMMIT
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT COMMIT MATCHES "^[0-9a-f]+(-dirty)?$")
    set(COMMIT "")
  endif()
  file(CONFIGURE OUTPUT ${OUT} CONTENT "#define SPOT_COMMIT \"${COMMIT}\"\n")
  return()
endif()

set(SPOT_COMMIT "" CACHE STRING "the commit that results name; empty: git tells it")
add_custom_target(commit BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/commit.h
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/generated/commit.h "-DCOMMIT=${SPOT_COMMIT}"
    -P ${CMAKE_SOURCE_DIR}/host/base/commit.cmake VERBATIM)
add_dependencies(libspotter commit)
