// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return (Promise.resolve(1).then(Number) as any) === "poison" ? "breached" : "nothing";
  Promise.prototype.then = (() => "poison") as any;
  return 0;
}
