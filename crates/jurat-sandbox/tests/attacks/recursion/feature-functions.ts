// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return evaluate({ turn });
}
