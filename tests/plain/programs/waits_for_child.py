"""Waits for another program."""
import subprocess


def call():
    subprocess.run(["sleep", "2"], check=True)


call()
