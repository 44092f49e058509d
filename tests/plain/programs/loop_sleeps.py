"""asyncio: a task sleeps without giving the loop a turn; another one wants to tick."""
import asyncio
import time


async def tick():
    for _ in range(60):
        await asyncio.sleep(0.01)


async def fetch():
    for _ in range(6):
        time.sleep(0.3)  # the line
        await asyncio.sleep(0.02)


async def main():
    await asyncio.gather(tick(), fetch())


asyncio.run(main())
