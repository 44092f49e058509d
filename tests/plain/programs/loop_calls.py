"""asyncio: a task calls another program and waits for it without giving the loop a turn."""
import asyncio
import subprocess


async def tick():
    for _ in range(40):
        await asyncio.sleep(0.01)


async def convert():
    for _ in range(5):
        subprocess.run(["sleep", "0.4"], check=True)  # the line
        await asyncio.sleep(0.02)


async def main():
    await asyncio.gather(tick(), convert())


asyncio.run(main())
