"""Starts a tool for each piece of work, one after the other: each has ended before anybody looks."""
import subprocess


def checksum(piece):
    return subprocess.run(["cksum"], input=str(piece), capture_output=True, text=True, check=True).stdout  # the line


for number in range(500):
    checksum(number)
