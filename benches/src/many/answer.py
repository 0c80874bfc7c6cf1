"""DuckDB as the yardstick: answers the query of a file, again and again over one connection.

    answer.py THREADS QUERY.sql

reads a line per answer from its input: `table` answers into a table in memory and prints the seconds that this took, `write FILE`
answers into a CSV file and prints the seconds. `version` prints the version.
"""

import sys
import time

import duckdb

threads, query = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
connection = duckdb.connect()
connection.execute(f"SET threads = {int(threads)}")
connection.execute("SET enable_progress_bar = false")
# Footers of files that did not change are kept from one query to the next.
connection.execute("SET parquet_metadata_cache = true")
for line in sys.stdin:
    what, _, path = line.strip().partition(" ")
    start = time.perf_counter()
    if what == "table":
        connection.execute("CREATE OR REPLACE TEMP TABLE answer AS " + query)
    elif what == "write":
        quoted = path.replace("'", "''")
        connection.execute(f"COPY ({query}) TO '{quoted}' (FORMAT csv, HEADER true)")
    elif what == "version":
        print(duckdb.__version__, flush=True)
        continue
    print(time.perf_counter() - start, flush=True)
