// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (Date.now() < until) { try { Atomics.wait(cell, 0, 0, 50); } catch {} }
  return "breached";
}
