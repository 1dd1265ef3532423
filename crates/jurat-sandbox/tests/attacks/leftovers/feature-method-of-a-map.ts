// without: names
// turns: 2
// together: yes

export function evaluate({ turn }: { turn: number }): unknown {
  if (new Map([["a", 1]]).get("a") !== 1) return "breached";
  Map.prototype.get = () => undefined;
  return turn;
}
