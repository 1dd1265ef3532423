// The scorer `includes` of Inspect: the answer has one of the targets in it, whatever the case.
export function evaluate({ output, reference }) {
  const targets = [reference].flat();
  const said = String(output ?? "").toLowerCase();
  return targets.some((it) => said.includes(String(it).toLowerCase())) ? "C" : "I";
}
