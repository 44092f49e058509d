"""Computes in a library that one function calls."""
import json
import time
from json.scanner import py_make_scanner

TEXT = json.dumps([{"name": str(each), "values": list(range(20))} for each in range(100)])


def decode():
    decoder = json.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = py_make_scanner(decoder)
    decoder.decode(TEXT)  # the line


while time.process_time() < 1.5:
    decode()
