// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  let last: unknown = null;
  for (let ix = 0; ix < 5_000_000; ix++) last = { last, ix };
  return "breached";
}
