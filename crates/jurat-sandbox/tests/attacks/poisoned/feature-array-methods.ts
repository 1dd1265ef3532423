// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return [1].map(String)[0] === "poison" ? "breached" : "nothing";
  Array.prototype.map = (() => ["poison"]) as any;
  return 0;
}
