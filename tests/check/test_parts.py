# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The parts of the check as tests of pytest, with kernels as fixtures.  tools/check selects them by name."""
import traceback

import command
import ktap
import parts
import plugin
import pytest
import static
from rig import cache


@pytest.fixture
def log(pytestconfig, part):
    """Return the log file of PART, which is empty."""
    file = pytestconfig.option.logs / f"{part.name}.log"
    file.write_text("", encoding="utf-8")
    return file


@pytest.fixture
def kernel_folders(pytestconfig, part):
    """Return {kernel: its folder in the cache} for the kernels of PART."""
    folders = {name: plugin.prepared(pytestconfig.option.logs, name) for name in part.kernels}
    missing = [name for name, folder in folders.items() if not folder]
    if missing:
        pytest.fail(f"no kernel {' '.join(missing)}", pytrace=False)
    return folders


def run(part, log):
    """Run PART, with its output in LOG; return its results."""
    try:
        results = part.run(log)
    except command.Stopped:
        pytest.fail("interrupted", pytrace=False)
    except (cache.RigError, OSError) as error:
        results = ktap.Results(failed=[str(error)])
    except Exception as error:		# pylint: disable=broad-except  # a bug of the check itself must fail the part
        static.write(log, traceback.format_exc())
        results = ktap.Results(failed=[f"{type(error).__name__}: {error}"])
    return ktap.judge_skips(part.name, results)


@pytest.mark.parametrize("part", [pytest.param(part, id=part.name) for part in parts.everything()])
def test_part(pytestconfig, part, log, kernel_folders, record_property):
    memory = pytestconfig.memory
    results, left = memory.recalled(part, kernel_folders)
    if left:
        fresh = run(left, log)
        memory.note(left, kernel_folders, fresh, parts.read(log))
        results.add(fresh)
    for kind, cases in vars(results).items():
        record_property(kind, cases)
    record_property("before", not left)
    if results.failed:
        pytest.fail("\n".join(results.failed), pytrace=False)
    if results.skipped and not results.passed:
        pytest.skip("\n".join(results.skipped))
