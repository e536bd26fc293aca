# Builds a project as a user would, against the staged package, and runs what it declares as tests.
file(REMOVE_RECURSE ${WORK_DIR})
set(ENV{PKG_CONFIG_PATH} ${STAGE}/${LIBDIR}/pkgconfig)
set(ENV{CC} ${CC})
set(ENV{CXX} ${CXX})

if(EXISTS ${SOURCE_DIR}/Makefile)
    find_program(MAKE make)
    find_program(PKG_CONFIG pkg-config)
    if(NOT MAKE OR NOT PKG_CONFIG)
        message("skipped: make or pkg-config is missing")
        return()
    endif()
    file(COPY ${SOURCE_DIR}/Makefile ${SOURCE_DIR}/../program.c DESTINATION ${WORK_DIR})
    # make would take the flags of a make that runs above it.
    unset(ENV{MAKEFLAGS})
    execute_process(COMMAND ${MAKE} check CC=${CC} WORKING_DIRECTORY ${WORK_DIR} COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR} -G Ninja --no-warn-unused-cli
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${STAGE} -DRONDO_SOURCE_DIR=${RONDO_SOURCE_DIR}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR} -j 2 OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR} --output-on-failure --no-tests=error
    COMMAND_ERROR_IS_FATAL ANY)
