# The kernels once more, compiled by the host compiler against the block emulator, as a plugin like the real one; and the
# emulator's own tests. CUDA is not needed.
enable_language(CXX)

# x.cu is compiled as C++ through a file of one line, because CMake would hand x.cu itself to nvcc. The line names x.cu from
# kernels or tests on, so that ccache knows the file again in another checkout.
function(spot_emulated_sources list)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "^${CMAKE_SOURCE_DIR}/(kernels|tests)/" "" path ${file})
    file(CONFIGURE OUTPUT emulated_${name}.cpp CONTENT "#include \"${path}\"\n")
    list(APPEND sources ${CMAKE_BINARY_DIR}/emulated_${name}.cpp)
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
set(SPOT_EMULATED_KERNELS ${SPOT_CUDA_FILES})
list(FILTER SPOT_EMULATED_KERNELS EXCLUDE REGEX "cudnn|cublas|library")   # tests/emulator/*_cu*.cpp stand in
spot_emulated_sources(SPOT_EMULATED ${SPOT_EMULATED_KERNELS})
spot_emulated_sources(SPOT_FAULTS ${CMAKE_SOURCE_DIR}/tests/emulator/planted_faults.cu)
spot_emulated_sources(SPOT_BRANCHES ${CMAKE_SOURCE_DIR}/tests/emulator/planted_branches.cu)

function(spot_emulated target)
  target_include_directories(${target} BEFORE PRIVATE tests/emulator include kernels tests
    ${CMAKE_BINARY_DIR}/generated)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-O2 -march=${SPOT_MARCH} -fno-math-errno -Wall -Wextra
      -Wno-missing-field-initializers -ffp-contract=off>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SPOT_WERROR}>>:-Werror>
    $<$<COMPILE_LANGUAGE:C>:${SPOT_C_FLAGS} -Wno-missing-prototypes>)
endfunction()

# The emulator's header, and those of the standard library in it, take the compiler as long as a small kernel does: they are
# read once for all kernels of a target. Not where a launcher such as ccache compiles, which would keep no object of them.
function(spot_emulated_header target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/tests/emulator/cuda_runtime.h>)
  endif()
endfunction()

set(SPOT_EMULATOR_SOURCES tests/emulator/emulator.cpp tests/emulator/fibre.cpp tests/emulator/runtime.cpp
  tests/emulator/calls.cpp)
# Sanitizers look at kernels. The emulator's own code goes without them, because the scheduler took a quarter of
# test_emulated_scvis' time; the calls that mark red zones (guard.h) stay.
if(SPOT_SANITIZE)
  set_source_files_properties(${SPOT_EMULATOR_SOURCES} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
if(SPOT_SANITIZE MATCHES address)
  set_source_files_properties(${SPOT_EMULATOR_SOURCES} PROPERTIES COMPILE_DEFINITIONS SPOT_EMULATOR_ASAN)
endif()
add_library(emulator OBJECT ${SPOT_EMULATOR_SOURCES})
spot_emulated(emulator)
set_target_properties(emulator PROPERTIES CXX_VISIBILITY_PRESET hidden)

add_library(spotter_emulated MODULE ${SPOT_EMULATED} $<TARGET_OBJECTS:emulator> tests/emulator/conv_cudnn.cpp
  tests/emulator/linear_cublas.cpp tests/emulator/matmul_cublas.cpp kernels/core/status.c kernels/core/arena.c)
spot_emulated(spotter_emulated)
spot_emulated_header(spotter_emulated)
set_target_properties(spotter_emulated PROPERTIES OUTPUT_NAME spotter_cuda LIBRARY_OUTPUT_DIRECTORY emulator
  C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
target_link_libraries(spotter_emulated PRIVATE OpenMP::OpenMP_C)

# The same plugin with kernels whose every access is watched (watch.h). Only the kernels are compiled so; ThreadSanitizer's own
# library is not linked. Not beside other sanitizers, which the compiler does not allow.
function(spot_watched_kernels target)      # kernels...
  add_library(${target} OBJECT ${ARGN})
  spot_emulated(${target})
  target_compile_options(${target} PRIVATE -fsanitize=thread -O1 -g1)
  target_compile_definitions(${target} PRIVATE SPOT_WATCHED_KERNEL)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden)
endfunction()
if(NOT SPOT_SANITIZE)
  spot_watched_kernels(watched_kernels ${SPOT_EMULATED})
  spot_emulated_header(watched_kernels)
  spot_watched_kernels(watched_faults ${SPOT_FAULTS})
  add_library(emulator_watched OBJECT ${SPOT_EMULATOR_SOURCES} tests/emulator/hooks.cpp tests/emulator/race.cpp
    tests/emulator/traffic.cpp)
  spot_emulated(emulator_watched)
  target_compile_definitions(emulator_watched PRIVATE SPOT_EMULATOR_WATCHES)
  set_target_properties(emulator_watched PROPERTIES CXX_VISIBILITY_PRESET hidden)

  add_library(spotter_watched MODULE $<TARGET_OBJECTS:watched_kernels> $<TARGET_OBJECTS:emulator_watched>
    tests/emulator/conv_cudnn.cpp tests/emulator/linear_cublas.cpp tests/emulator/matmul_cublas.cpp kernels/core/status.c
    kernels/core/arena.c)
  spot_emulated(spotter_watched)
  set_target_properties(spotter_watched PROPERTIES OUTPUT_NAME spotter_cuda LIBRARY_OUTPUT_DIRECTORY watched
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(spotter_watched PRIVATE OpenMP::OpenMP_C)
  target_link_options(spotter_watched PRIVATE LINKER:--no-undefined)       # a function that hooks.cpp lacks

  add_executable(test_race tests/emulator/test_race.c $<TARGET_OBJECTS:run_tests> $<TARGET_OBJECTS:watched_faults>
    $<TARGET_OBJECTS:emulator_watched>)
  spot_emulated(test_race)
  target_link_libraries(test_race PRIVATE libspotter PkgConfig::CMOCKA)
  add_test(NAME test_race COMMAND test_race)
  spot_test_properties(test_race ${CMAKE_SOURCE_DIR}/tests/emulator/test_race.c)
endif()

add_executable(test_emulator tests/emulator/test_emulator.c ${SPOT_FAULTS} ${SPOT_BRANCHES}
  $<TARGET_OBJECTS:emulator>)
spot_emulated(test_emulator)
target_link_libraries(test_emulator PRIVATE libspotter PkgConfig::CMOCKA)
add_test(NAME test_emulator COMMAND test_emulator)
spot_test_properties(test_emulator ${CMAKE_SOURCE_DIR}/tests/emulator/test_emulator.c)

# Parity of CPU and CUDA: test_cuda_x by itself runs on a GPU or is skipped; as test_emulated_x it runs on the emulator, and as
# test_race_x under one schedule with every access watched. The default run of tools/test takes the quick ones of these.
set(SPOT_QUICK_RACES test_cuda_net test_cuda_transformer test_cuda_raster test_cuda_plans test_cuda_conv test_cuda_scene
  test_cuda_map)
foreach(file ${SPOT_CUDA_TESTS})
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE test_cuda_ test_emulated_ emulated ${name})
  add_test(NAME ${emulated} COMMAND ${CMAKE_BINARY_DIR}/${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  spot_test_properties(${emulated} ${file})
  set_property(TEST ${emulated} APPEND PROPERTY ENVIRONMENT
    SPOT_PLUGIN_DIR=$<TARGET_FILE_DIR:spotter_emulated> SPOT_EMULATOR=identity SPOT_CUDA_POISON=1)
  if(TARGET spotter_watched)
    string(REPLACE test_cuda_ test_race_ watched ${name})
    add_test(NAME ${watched} COMMAND ${CMAKE_BINARY_DIR}/${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
    spot_test_properties(${watched} ${file})
    set_property(TEST ${watched} APPEND PROPERTY ENVIRONMENT
      SPOT_PLUGIN_DIR=$<TARGET_FILE_DIR:spotter_watched> SPOT_EMULATOR=identity SPOT_WATCHED=1)
    if(NOT name IN_LIST SPOT_QUICK_RACES)
      set_property(TEST ${watched} APPEND PROPERTY LABELS races)
    endif()
  endif()
endforeach()

# Budgets: calls of the runtime by an EC, and the traffic of kernels.
function(spot_budget_test name plugin)
  spot_test_program(${name} tests/emulator/${name}.c $<TARGET_OBJECTS:run_tests>)
  target_include_directories(${name} PRIVATE tests/emulator)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  spot_test_properties(${name} ${CMAKE_SOURCE_DIR}/tests/emulator/${name}.c)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    SPOT_PLUGIN_DIR=$<TARGET_FILE_DIR:${plugin}> SPOT_EMULATOR=identity)
endfunction()
spot_budget_test(test_calls spotter_emulated)
spot_budget_test(test_calls_pictures spotter_emulated)
spot_budget_test(test_calls_discover spotter_emulated)
if(TARGET spotter_watched)
  spot_budget_test(test_traffic spotter_watched)
  spot_budget_test(test_traffic_discover spotter_watched)
endif()
