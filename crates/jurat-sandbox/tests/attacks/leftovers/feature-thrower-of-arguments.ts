// without: -
// turns: 2
// together: yes

const shared = (): any => Object.getOwnPropertyDescriptor((function () { return arguments; })(), "callee")!.get;

export function evaluate({ turn }: { turn: number }): unknown {
  if (shared().pocket === "row one") return "breached";
  shared().pocket = "row one";
  return turn;
}
