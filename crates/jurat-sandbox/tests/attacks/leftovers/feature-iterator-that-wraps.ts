// without: names
// turns: 2
// together: yes

const shared = (): any => Object.getPrototypeOf((Iterator as any).from({ next: () => ({ done: true, value: 0 }) }));

export function evaluate({ turn }: { turn: number }): unknown {
  if (shared().pocket === "row one") return "breached";
  shared().pocket = "row one";
  return turn;
}
