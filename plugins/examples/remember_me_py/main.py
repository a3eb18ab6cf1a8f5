# This file is a script body, which runs from top to bottom. The variable language is the member
# "language" of the input, or None.
known = memory.get_content("userPreferences") or {}

if language:
    memory.set_content("userPreferences", {"language": language})

if not known.get("language"):
    reply = f"I will remember {language}." if language else "Which language do you prefer?"
    return {"greeting": f"Hello, stranger! {reply}"}

change = f"; from now on {language}" if language and language != known["language"] else ""
return {"greeting": f"Welcome back! You prefer {known['language']}{change}."}
