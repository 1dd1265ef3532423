// without: names
// turns: 2
// together: yes

export function evaluate({ turn }: { turn: number }): unknown {
  const whole = new Function("return this")() as any;
  if (whole.pocket === "row one") return "breached";
  whole.pocket = "row one";
  return turn;
}
