"""What runs around a tool inside the sandbox: the host's half of the conversation is package python of the host.

A tool never imports this package. It sees what the package makes: ``memory``, ``context``, ``input`` and the rest of
what ``world.py`` puts into a tool's globals.
"""
