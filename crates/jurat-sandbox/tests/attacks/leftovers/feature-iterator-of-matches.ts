// without: names
// turns: 2
// together: yes

const shared = (): any => Object.getPrototypeOf("x".matchAll(/x/g));

export function evaluate({ turn }: { turn: number }): unknown {
  if (shared().pocket === "row one") return "breached";
  shared().pocket = "row one";
  return turn;
}
