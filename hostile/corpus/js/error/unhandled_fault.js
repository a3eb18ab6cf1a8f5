// A write that was refused, and that nobody awaited, behind an answer that all went well.
// expect: not_found
memory.set_content("vault", { owned: true });
return "saved";
