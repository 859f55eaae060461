# default_forest.cmake - the forest that Spotter is built with, as a C array. Included by CMakeLists.txt it adds the rule; run
# with cmake -P (FOREST, OUT) it is the rule. Without the file the array is empty, and verdicts need a forest of the user's.
if(CMAKE_SCRIPT_MODE_FILE)
  set(bytes "")
  if(FOREST)
    file(READ "${FOREST}" hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  endif()
  file(WRITE ${OUT} "/* made by host/background/verdict/default_forest.cmake */\n"
    "#include \"background/verdict/verdict_rows.h\"\n"
    "const unsigned char spot_default_forest[] = { ${bytes} 0 };\n"
    "const size_t spot_default_forest_size = sizeof spot_default_forest - 1;\n")
  return()
endif()

# FOREST is empty without the file, so that the command differs and runs again where the file comes or goes.
file(GLOB SPOT_FOREST CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host/background/verdict/default_forest.safetensors)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/default_forest.c
  COMMAND ${CMAKE_COMMAND} "-DFOREST=${SPOT_FOREST}" -DOUT=${CMAKE_BINARY_DIR}/default_forest.c
    -P ${CMAKE_SOURCE_DIR}/host/background/verdict/default_forest.cmake
  DEPENDS ${SPOT_FOREST} ${CMAKE_SOURCE_DIR}/host/background/verdict/default_forest.cmake VERBATIM)
target_sources(libspotter PRIVATE ${CMAKE_BINARY_DIR}/default_forest.c)
