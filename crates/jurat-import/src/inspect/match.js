// The scorer `match` of Inspect with its default, `location="end"`: the answer ends with one of the targets, without regard to case,
// and to spaces and punctuation around both.
const AROUND = /^[\s!-/:-@[-`{-~]+|[\s!-/:-@[-`{-~]+$/g;
const plain = (text) => String(text ?? "").trim().toLowerCase().replace(AROUND, "");

export function evaluate({ output, reference }) {
  const said = plain(output);
  return [reference].flat().some((it) => said.endsWith(plain(it))) ? "C" : "I";
}
