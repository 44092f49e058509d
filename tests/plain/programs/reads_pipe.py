"""Reads what another program prints."""
import subprocess


def read_all():
    with subprocess.Popen(["sh", "-c", "sleep 2; echo done"], stdout=subprocess.PIPE) as child:
        return child.stdout.read()  # the line


read_all()
