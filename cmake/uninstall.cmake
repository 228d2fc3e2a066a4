# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later

# Removes the files listed in install_manifest.txt.
set(manifest ${CMAKE_BINARY_DIR}/install_manifest.txt)
if(NOT EXISTS ${manifest})
  message(FATAL_ERROR "nothing to uninstall: ${manifest} does not exist")
endif()
file(STRINGS ${manifest} files)
foreach(file IN LISTS files)
  message(STATUS "removing $ENV{DESTDIR}${file}")
  file(REMOVE "$ENV{DESTDIR}${file}")
endforeach()
file(REMOVE ${manifest})
