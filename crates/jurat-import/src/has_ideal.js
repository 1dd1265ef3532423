// The answer has one of the ideal answers in it, whatever the case.
const plain = (text) => String(text ?? "").toLowerCase();

export function evaluate({ output, reference }) {
  const said = plain(output);
  return [reference].flat().some((it) => said.includes(plain(it))) ? "C" : "I";
}
