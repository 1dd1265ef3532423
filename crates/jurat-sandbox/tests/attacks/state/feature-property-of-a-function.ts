// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  const all = Math.max as any;
  if (turn === 2) return all.left === 1 ? "breached" : "nothing";
  all.left = 1;
  return 0;
}
