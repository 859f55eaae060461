# test_cudnn_plans: cuDNN is asked for plans without a GPU. The test needs cuDNN's and CUDA's headers and no nvcc: the code that
# asks has no kernels, so the host compiler takes it. It opens cuDNN at run time, and is skipped where that is not there.
find_path(SPOT_CUDNN_INCLUDE cudnn.h HINTS ENV SPOT_CUDNN_INCLUDE PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_path(SPOT_CUDA_INCLUDE cuda_runtime_api.h PATHS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
if(SPOT_CUDNN_INCLUDE AND SPOT_CUDA_INCLUDE AND NOT SPOT_SANITIZE)
  spot_emulated_sources(SPOT_ASKING ${CMAKE_SOURCE_DIR}/kernels/net/conv_task.cu ${CMAKE_SOURCE_DIR}/kernels/net/conv_cudnn.cu
    ${CMAKE_SOURCE_DIR}/kernels/net/conv_cudnn_graph.cu ${CMAKE_SOURCE_DIR}/kernels/net/cudnn.cu
    ${CMAKE_SOURCE_DIR}/kernels/core/library.cu)
  add_library(asking OBJECT ${SPOT_ASKING} tests/cudnn/no_kernels.cpp)
  target_include_directories(asking PRIVATE include kernels)
  target_include_directories(asking SYSTEM PRIVATE ${SPOT_CUDNN_INCLUDE} ${SPOT_CUDA_INCLUDE})
  target_compile_features(asking PRIVATE cxx_std_20)
  target_compile_options(asking PRIVATE -O2 -Wall -Wextra -Wno-missing-field-initializers -Wno-unknown-pragmas
    $<$<BOOL:${SPOT_WERROR}>:-Werror>)
  spot_test_program(test_cudnn_plans tests/cudnn/test_cudnn_plans.c $<TARGET_OBJECTS:run_tests>)
  target_link_libraries(test_cudnn_plans PRIVATE asking)
  add_test(NAME test_cudnn_plans COMMAND test_cudnn_plans WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  spot_test_properties(test_cudnn_plans ${CMAKE_SOURCE_DIR}/tests/cudnn/test_cudnn_plans.c)
else()
  message(STATUS "no headers of CUDA and cuDNN: test_cudnn_plans is not built")
endif()
