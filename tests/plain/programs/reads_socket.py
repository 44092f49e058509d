"""Reads replies from a socket; who answers takes its time."""
import os
import socket
import time

ours, theirs = socket.socketpair()
if os.fork() == 0:
    for _ in range(20):
        theirs.recv(1)
        time.sleep(0.1)
        theirs.send(b"x")
    os._exit(0)


def ask():
    ours.send(b"?")
    return ours.recv(1)  # the line


for _ in range(20):
    ask()
os.wait()
