// The scorer `includes` of Inspect: the answer has one of the targets in it, by default whatever the case.
const IGNORE_CASE = true;
const plain = (text) => (IGNORE_CASE ? String(text ?? "").toLowerCase() : String(text ?? ""));

export function evaluate({ output, reference }) {
  const said = plain(output);
  return [reference].flat().some((it) => said.includes(plain(it))) ? "C" : "I";
}
