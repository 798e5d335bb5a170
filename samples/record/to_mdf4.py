#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Write a table of vrfmctl export to an MDF4 file, with a channel for each column.  Needs asammdf.

vrfmctl --signals MAP --at OFFSET export FILE | to_mdf4.py OUT.mf4
"""
import csv
import sys

import asammdf
import numpy

(_, *times), *columns = zip(*csv.reader(sys.stdin))
# Seconds since 1970, with nine digits behind the point. A channel has seconds since the first row.
ns = numpy.array([int(time.replace(".", "")) for time in times])
seconds = (ns - ns[:1]) / 1e9
with asammdf.MDF(version="4.10") as file:
    file.append([asammdf.Signal(numpy.array(values, float), seconds, name=name) for name, *values in columns])
    file.save(sys.argv[1], overwrite=True)
