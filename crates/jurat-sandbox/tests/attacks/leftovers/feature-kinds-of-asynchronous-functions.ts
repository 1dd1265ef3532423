// without: names
// turns: 2
// together: yes

const shared = (): any => Object.getPrototypeOf(async function* () {}).constructor;

export function evaluate({ turn }: { turn: number }): unknown {
  if (shared().pocket === "row one") return "breached";
  shared().pocket = "row one";
  return turn;
}
