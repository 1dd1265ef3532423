// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  const kept: unknown[] = [];
  for (let ix = 0; ix < 40; ix++) kept.push(new Uint8Array(8 << 20));
  return kept.length === 40 ? "breached" : "nothing";
}
