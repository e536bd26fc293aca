# What `cmake --install` lays down: libraries, headers, the CMake package, rondo.pc, the commands.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Rondo)

install(TARGETS rondo rondo_static EXPORT RondoTargets)
install(DIRECTORY include/rondo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT RondoTargets NAMESPACE Rondo:: DESTINATION ${package_dir})
configure_package_config_file(cmake/RondoConfig.cmake.in ${PROJECT_BINARY_DIR}/RondoConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RondoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RondoConfig.cmake ${PROJECT_BINARY_DIR}/RondoConfigVersion.cmake
    cmake/RondoKernels.cmake DESTINATION ${package_dir})

# rondo.pc finds the prefix from its own place, so that the installed folder can be moved.
file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/rondo.pc.in ${PROJECT_BINARY_DIR}/rondo.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rondo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(RELATIVE_PATH bin_to_lib /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR})
foreach(program IN ITEMS rondo_command rondo-conform)
    if(TARGET ${program})
        set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
        install(TARGETS ${program})
    endif()
endforeach()
