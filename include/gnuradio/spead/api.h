/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_API_H
#define INCLUDED_SPEAD_API_H

#include <gnuradio/attributes.h>

#ifdef gnuradio_spead_EXPORTS
#define SPEAD_API __GR_ATTR_EXPORT
#else
#define SPEAD_API __GR_ATTR_IMPORT
#endif

#endif /* INCLUDED_SPEAD_API_H */
