// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  const all = Symbol.for("left") as any;
  if (turn === 2) return Object.getPrototypeOf(all).left === 1 ? "breached" : "nothing";
  Object.getPrototypeOf(all).left = 1;
  return 0;
}
