"""Reads Parquet with DuckDB and prints each row as a JSON object, in the order of the files, times in microseconds.

Usage: read_parquet.py GLOB, or read_parquet.py --schema FILE
"""

import json
import sys

import duckdb


def rows(pattern):
    table = f"read_parquet('{pattern}', hive_partitioning = true, hive_types_autocast = false)"
    described = duckdb.sql(f"describe select * from {table}").fetchall()
    columns = []
    for name, kind, *_ in described:
        is_time = kind.startswith("TIMESTAMP")
        columns.append(f'epoch_us("{name}") as "{name}"' if is_time else f'"{name}"')
    found = duckdb.sql(f"select {', '.join(columns)} from {table}")
    names = found.columns
    for row in found.fetchall():
        print(json.dumps(dict(zip(names, row))))


def schema(file):
    metadata = duckdb.sql(f"select key, value from parquet_kv_metadata('{file}')").fetchall()
    kinds = duckdb.sql(f"describe select * from read_parquet('{file}', hive_partitioning = false)").fetchall()
    docs = {bytes(key).decode(): bytes(value).decode() for key, value in metadata}
    print(json.dumps({"docs": docs, "kinds": {name: kind for name, kind, *_ in kinds}}))


if sys.argv[1] == "--schema":
    schema(sys.argv[2])
else:
    rows(sys.argv[1])
