"""asyncio: a task computes for long; another one wants to tick."""
import asyncio
import time


def compress():
    total = 0
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        for each in range(5000):
            total += each  # the line
    return total


async def tick():
    for _ in range(40):
        await asyncio.sleep(0.01)


async def handle():
    for _ in range(5):
        compress()
        await asyncio.sleep(0.05)


async def main():
    await asyncio.gather(tick(), handle())


asyncio.run(main())
