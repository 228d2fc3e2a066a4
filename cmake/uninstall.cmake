# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later

# Removes what `cmake --build build --target install` has written, file by file.
set(manifest ${CMAKE_BINARY_DIR}/install_manifest.txt)
if(NOT EXISTS ${manifest})
  message(FATAL_ERROR "nothing to uninstall: there is no ${manifest}")
endif()
file(STRINGS ${manifest} files)
foreach(file IN LISTS files)
  message(STATUS "removing $ENV{DESTDIR}${file}")
  file(REMOVE "$ENV{DESTDIR}${file}")
endforeach()
file(REMOVE ${manifest})
