// without: limits
// proof: signal 11|stack overflow

export function evaluate({ turn }: { turn: number }): unknown {
  return evaluate({ turn });
}
