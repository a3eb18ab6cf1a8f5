// A plug-in with an entry point for each behavior that index.test.mjs tests.

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

// finds looks up a member of the input's "object". The input's "name" is the name of the member.
export function finds(): i32 {
  const name = text(member(input(), "name"));
  const found = member(text(member(input(), "object")), name === null ? "" : name);
  return output(found === null ? null : quote(found));
}

// throws throws an error, whose position the test checks.
export function throws(): i32 {
  throw new Error('no "such" colour');
}

// reaches reads beyond the end of an array.
export function reaches(): i32 {
  return [1, 2][<i32>number(member(input(), "index"))];
}

// handles recovers from one fault and fails with any other fault.
export function handles(): i32 {
  const reply = get_content("prefs");
  if (reply.fault == Fault.NoUser) return output('"anonymous"');
  return output(reply.value);
}

// writes outputs a text from the input without checking that the text is JSON.
export function writes(): i32 {
  return output(text(member(input(), "output")));
}

// adds adds a key to the context.
export function adds(): i32 {
  setContext(`{"seen":${context()}}`);
  return 0;
}
