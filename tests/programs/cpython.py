# SPDX-License-Identifier: Apache-2.0
"""CPython's own regression suite: every test says under agent.ini what it says outside.

FULL=1 runs every file of the suite; otherwise those that lean most on the system.
Where a verdict differs, cpython_differences.txt says which boundary is the reason, and
what it says has to be so: any other difference that stays when both worlds are asked
again fails, so does a line of the table whose test agrees, and a file that does not
come to its end in CPYTHON_SECONDS (1500). CPYTHON_CACHE names a folder for verdicts outside.
"""
import os

import regrtest
from same import ordinary, program_test
from sboxtest import Skip

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cpython_differences.txt")
FULL = os.environ.get("FULL") == "1"
TRIES = 3
# Together a few minutes on a quiet machine.
QUICK = {
    "files": "test_os test_posix test_pathlib test_shutil test_tempfile test_fileio test_glob test_stat test_mmap "
             "test_largefile test_zipapp test_doctest",
    "processes": "test_pty test_openpty test_fork1 test_wait3 test_wait4 test_threadsignals test_resource test_fcntl",
    "waiting": "test_select test_poll test_epoll test_selectors test_time test_thread",
    "network": "test_httplib test_httpservers test_socketserver test_smtplib test_urllib2_localnet test_telnetlib "
               "test_asyncore test_wsgiref",
    "accounts": "test_pwd test_grp test_getpass test_site test_sysconfig test_platform test_locale",
    "data": "test_sqlite3 test_dbm test_dbm_gnu test_dbm_ndbm test_shelve test_zoneinfo test_uuid",
}


def cases():
    return regrtest.files() if FULL and regrtest.version() else sorted(QUICK)


def outside_of(t, name, cache):
    found = cache.get(name)
    if found is None:
        with ordinary(t):
            found, _ = regrtest.verdicts(t, name, inside=False)
        cache.put(name, found)
    return found


def compare(t, name, cache, table):
    """What the table does not say: differences without a line, lines without a difference.

    Only what every try says counts: a timing test that a busy machine fails, it seldom
    fails every time.
    """
    left = None
    for attempt in range(TRIES):
        outside = outside_of(t, name, cache if attempt == 0 else regrtest.Cache(None))
        inside, _ = regrtest.verdicts(t, name, inside=True)
        rows = regrtest.unlike(outside, inside)
        wrong = table.unexplained(rows) | table.untrue(name, rows, {*outside, *inside})
        left = wrong if left is None else left & wrong
        if not left:
            break
    return left, len(inside) - 1, rows


@program_test(cases=cases(), timeout=2 * TRIES * regrtest.FILE_SECONDS + 60)
def suite(t, case):
    if not regrtest.version():
        raise Skip("libpython3.11-testsuite is not installed")
    cache, table = regrtest.Cache(os.environ.get("CPYTHON_CACHE")), regrtest.Differences(TABLE)
    left, count = set(), 0
    for name in QUICK.get(case, case).split():
        wrong, tests, rows = compare(t, name, cache, table)
        left |= wrong
        count += tests
        for row in rows:
            t.note("%s: %s -> %s" % row)
    t.note(f"{count} tests")
    t.equal(sorted(left), [], "verdicts that differ without a line in the table, and lines without a difference")
