// without: names
// turns: 2

export function evaluate({ turn }: { turn: number }): unknown {
  if (turn === 2) return ((function* () {})() as any).poison === 1 ? "breached" : "nothing";
  Object.getPrototypeOf(function* () {}).prototype.poison = 1;
  return 0;
}
