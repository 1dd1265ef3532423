// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return Function("return " + "[".repeat(1_000_000))();
}
