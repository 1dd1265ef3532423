// without: limits
// proof: signal 11|stack overflow

export function evaluate({ turn }: { turn: number }): unknown {
  return Function("return " + "[".repeat(1_000_000))();
}
