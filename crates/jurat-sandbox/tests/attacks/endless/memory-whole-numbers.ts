// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  const held = [];
  for (let ix = 0; ix < 4000; ix++) held.push((1n << 1_000_000n) + BigInt(ix));
  return held.length === 4000 ? "breached" : "nothing";
}
