QUEUES = {"billing": "finance", "technical": "engineering", "other": "support"}


async def execute(input: dict, context: dict) -> dict:
    """A function node of a workflow. The tool reads the output of the node "classify", and adds data for the following
    nodes to the context."""
    node = context["steps"].get("classify")
    if not node or not node.get("output"):
        raise LookupError('route_ticket runs after a node named "classify"')
    classified = node["output"]
    category = classified["category"] if classified.get("category") in QUEUES else "other"
    repeated = count_ticket(category) >= 3

    context["queue"] = QUEUES[category]
    context["priority"] = "high" if classified.get("urgent") or repeated else "normal"
    return {"queue": context["queue"], "priority": context["priority"], "repeated": repeated}


def count_ticket(category: str) -> int:
    """Count a ticket of the user. The arguments of a memory call can be passed by name, as here."""
    history = memory.get_content(memory_store_name="supportHistory", projections={f"tickets.{category}": 1}) or {}
    count = history.get("tickets", {}).get(category, 0) + 1
    memory.set_content(memory_store_name="supportHistory", content={"tickets": {category: count}})
    return count
