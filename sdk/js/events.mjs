// Server-sent events (HTML Living Standard, section 9.2.6). The service ends lines with LF. A proxy
// can convert this to CRLF.

/** Yields the events of a byte stream as {name, data}. Leaving the loop early closes the stream. */
export async function* events(body) {
  const reader = body.getReader(); // streams are not iterable in every browser
  try {
    let name = '';
    let data = [];
    for await (const line of lines(reader)) {
      if (line === '') {
        if (data.length > 0) { // events without data are ignored
          yield { name, data: data.join('\n') };
        }
        name = '';
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
      if (field === 'event') {
        name = value ?? '';
      } else if (field === 'data') {
        data.push(value ?? '');
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // the error of the stream has already been thrown
  }
}

async function* lines(reader) {
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return; // an unterminated line is ignored
    }
    const parts = decoder.decode(value, { stream: true }).split('\n');
    parts[0] = rest + parts[0];
    rest = parts.pop();
    for (const line of parts) {
      yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  }
}
