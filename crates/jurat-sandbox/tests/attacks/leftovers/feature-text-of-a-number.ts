// without: names
// turns: 2
// together: yes

export function evaluate({ turn }: { turn: number }): unknown {
  if (`${(12).toFixed(1)}` === "row one") return "breached";
  Number.prototype.toFixed = () => "row one";
  return turn;
}
