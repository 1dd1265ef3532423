// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  throw turn > 5 ? Symbol("s") : undefined;
}
