// The scorer `match` of Inspect: by default the answer ends with one of the targets, without regard to case, and to spaces and
// punctuation around both.
const LOCATION = "end";
const IGNORE_CASE = true;
const AROUND = /^[\s!-/:-@[-`{-~]+|[\s!-/:-@[-`{-~]+$/g;
const plain = (text) => {
  const said = String(text ?? "").trim();
  return (IGNORE_CASE ? said.toLowerCase() : said).replace(AROUND, "");
};
const COMPARED = {
  begin: (said, target) => said.startsWith(target),
  end: (said, target) => said.endsWith(target),
  any: (said, target) => said.includes(target),
  exact: (said, target) => said === target,
};

export function evaluate({ output, reference }) {
  const said = plain(output);
  return [reference].flat().some((it) => COMPARED[LOCATION](said, plain(it))) ? "C" : "I";
}
