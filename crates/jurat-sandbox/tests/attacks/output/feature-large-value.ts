// without: value
// proof: breached

export function evaluate({ turn }: { turn: number }): unknown {
  return "breached" + "x".repeat(2 << 20);
}
