"""asyncio: twenty tasks that mostly wait."""
import asyncio


async def ask():
    for _ in range(20):
        await asyncio.sleep(0.1)


async def main():
    await asyncio.gather(*(ask() for _ in range(20)))


asyncio.run(main())
