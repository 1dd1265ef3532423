// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  throw new Error("x".repeat(64 << 20));
}
