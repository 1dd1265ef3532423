// without: limits
// proof: signal 11|stack overflow

export function evaluate({ turn }: { turn: number }): unknown {
  let thing: unknown = [];
  for (let ix = 0; ix < 1_000_000; ix++) thing = [thing];
  return JSON.stringify(thing);
}
