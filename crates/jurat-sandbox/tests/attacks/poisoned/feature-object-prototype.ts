// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return ({} as any).poison === 1 ? "breached" : "nothing";
  (Object.prototype as any).poison = 1;
  return 0;
}
