"""contextvars: values that follow a task, tokens, copied contexts."""

import asyncio
from contextvars import ContextVar, copy_context

user = ContextVar("user", default="nobody")


async def work(name):
    token = user.set(name)
    await asyncio.sleep(0)
    inner = await asyncio.create_task(show())
    user.reset(token)
    return [inner, user.get()]


async def show():
    return user.get()


async def main():
    user.set("root")
    both = await asyncio.gather(work("ann"), work("bob"))
    context = copy_context()
    changed = context.run(lambda: user.set("other") and user.get())
    return [both, changed, user.get(), context[user], user in context, len([v for v in context if v.name == "user"])]
