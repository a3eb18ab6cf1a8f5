// A plug-in with an entry for each behaviour that index.test.mjs tests.

import {
  Fault, Walk, context, get_content, input, isNull, isTrue, member, number, output, quote, setContext, text,
} from "../index";
export { toolrun_abi_1 } from "../index";

// reads returns the results of the readers for the member "json".
export function reads(): i32 {
  const json = text(member(input(), "json"));
  const string = text(json);
  const n = number(json);
  const walk = new Walk(json);
  const steps: string[] = [];
  while (walk.next()) steps.push(quote(walk.name + "=" + walk.value));
  return output(`{"text":${string === null ? "null" : quote(string)},"number":${isNaN(n) ? "null" : n.toString()},` +
    `"null":${isNull(json)},"true":${isTrue(json)},"steps":[${steps.join(",")}]}`);
}

// finds returns the raw member "name" of "object", which are both members of the input.
export function finds(): i32 {
  const name = text(member(input(), "name"));
  const found = member(text(member(input(), "object")), name === null ? "" : name);
  return output(found === null ? null : quote(found));
}

// throws fails with a position.
export function throws(): i32 {
  throw new Error('no "such" colour');
}

// reaches reads beyond the end of an array.
export function reaches(): i32 {
  return [1, 2][<i32>number(member(input(), "index"))];
}

// handles handles one fault, and fails with any other.
export function handles(): i32 {
  const reply = get_content("prefs");
  if (reply.fault == Fault.NoUser) return output('"anonymous"');
  return output(reply.value);
}

// writes outputs a text of the input, whether it is valid JSON or not.
export function writes(): i32 {
  return output(text(member(input(), "output")));
}

// adds adds a key to the context.
export function adds(): i32 {
  setContext(`{"seen":${context()}}`);
  return 0;
}
