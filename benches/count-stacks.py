# What the benchmark of stacks compares with: DuckDB counts an archive's samples per stack and joins the frames.
#
#     count-stacks.py frames|names|folded ARCHIVE
#
# Prints the seconds that the query took inside of this process, and the rows of its result.
import sys
import time

import duckdb

# All three begin with the samples of each stack and take the stacks apart.
COUNTED = """
    with counted as (
        select process, stack, count(*) as samples, sum(weight) as cpu
        from read_parquet('{archive}/cpu_samples.parquet') group by all),
    called as (
        select stack, unnest(frames) as frame, generate_subscripts(frames, 1) as depth
        from read_parquet('{archive}/stacks.parquet'))
"""
QUERIES = {
    # The time in each frame, with its module and address.
    "frames": COUNTED.replace(", generate_subscripts(frames, 1) as depth", "")
    + """
    select frame, module, rva, sum(samples), sum(cpu)
    from counted join called using (stack) join read_parquet('{archive}/frames.parquet') using (frame)
    group by all""",
    # The time in each function.
    "names": COUNTED.replace(", generate_subscripts(frames, 1) as depth", "")
    + """
    select coalesce(symbols.module, modules.name), coalesce(symbols.function, printf('%x', rva)), sum(samples), sum(cpu)
    from counted join called using (stack) join read_parquet('{archive}/frames.parquet') as frames using (frame)
    left join read_parquet('{archive}/modules.parquet') as modules on modules.module = frames.module
    left join read_parquet('{archive}/symbols.parquet') as symbols on symbols.frame = called.frame
    group by all""",
    # A line per process and stack with its names from the outermost on: what scripts draw flame graphs from.
    "folded": COUNTED
    + """,
    named as (
        select frame, depth, coalesce(symbols.module || '!' || function, 'unresolved') as name
        from read_parquet('{archive}/frames.parquet') left join read_parquet('{archive}/symbols.parquet') as symbols using (frame)),
    lines as (
        select stack, string_agg(name, ';' order by called.depth desc, named.depth desc) as line
        from called join named using (frame) group by stack)
    select process, line, sum(samples), sum(cpu) from counted join lines using (stack) group by all""",
}


def main():
    kind, archive = sys.argv[1:]
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    query = QUERIES[kind].format(archive=archive.replace("'", "''"))
    start = time.perf_counter()
    rows = connection.execute(query).fetchall()
    print(time.perf_counter() - start, len(rows))


main()
