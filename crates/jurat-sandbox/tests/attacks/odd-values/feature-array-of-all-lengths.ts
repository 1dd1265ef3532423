// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return new Array(2 ** 32 - 1);
}
