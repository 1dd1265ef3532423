// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  const held = [];
  for (let ix = 0; ix < 10; ix++) held.push(new Uint8Array(new SharedArrayBuffer(64 << 20)).fill(1));
  return held.length === 10 ? "breached" : "nothing";
}
