"""Tasks that take turns: gather, as_completed, exceptions among the answers."""

import asyncio

order = []


async def work(name, turns):
    for turn in range(turns):
        order.append(f"{name}{turn}")
        await asyncio.sleep(0)
    if turns == 3:
        raise ValueError(name)
    return name * turns


answers = await asyncio.gather(work("a", 2), work("b", 3), work("c", 1), return_exceptions=True)
done = [await done for done in asyncio.as_completed([work("d", 4), work("e", 4)])]
return {"order": order[:6], "answers": [str(answer) for answer in answers], "done": sorted(done)}
