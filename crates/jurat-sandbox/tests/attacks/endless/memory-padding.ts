// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  const held = [];
  for (let ix = 0; ix < 12; ix++) held.push("x".padStart(60_000_000, String(ix)));
  return held.every((it) => it.length === 60_000_000) ? "breached" : "nothing";
}
