memory.set_content("orders", {"item": item})
