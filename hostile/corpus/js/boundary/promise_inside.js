// A promise that was forgotten within the answer, which becomes {} if nobody looks.
// expect: output_invalid
return { a: memory.get_content("own") };
