"""asyncio: twenty tasks that mostly wait, three seconds in all."""

import asyncio
import json


async def ask(number):
    for _ in range(30):
        await asyncio.sleep(0.1)
        json.loads(json.dumps({"number": number}))


async def main():
    await asyncio.gather(*(ask(number) for number in range(20)))


asyncio.run(main())
