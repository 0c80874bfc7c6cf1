# Prints one JSON list per record of an .etl, in the order of the file: the values that dissect.etl finds in it.
import json
import sys

from dissect.etl import ETL


def plain(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("latin-1")
    return None


for record in ETL(open(sys.argv[1], "rb")):
    values = []
    try:
        struct = record.event._struct
        for name, value in (struct.__values__ if struct else {}).items():
            text = plain(value)
            if text is not None:
                values.append([name, text])
    except Exception:
        values = []
    print(json.dumps(values))
