#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Write a table of vrfmctl export to an HDF5 file, with a dataset for each column.  Needs python3-h5py.

vrfmctl --signals MAP --at OFFSET export FILE | to_hdf5.py OUT.h5
"""
import csv
import sys

import h5py

(_, *times), *columns = zip(*csv.reader(sys.stdin))
with h5py.File(sys.argv[1], "w") as file:
    # Seconds since 1970, with nine digits behind the point, as whole nanoseconds.
    file["time_ns"] = [int(time.replace(".", "")) for time in times]
    for name, *values in columns:
        file[name] = [float(value) for value in values]
