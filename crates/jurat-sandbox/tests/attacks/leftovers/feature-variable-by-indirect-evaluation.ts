// without: names
// turns: 2
// together: yes

export function evaluate({ turn }: { turn: number }): unknown {
  const everywhere = (0, eval)("typeof pocket");
  if (everywhere === "string") return "breached";
  (0, eval)("var pocket = 'row one'");
  return turn;
}
