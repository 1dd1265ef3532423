// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return JSON.stringify(1) === "poison" ? "breached" : "nothing";
  JSON.stringify = (() => "poison") as any;
  return 0;
}
