// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  return { get score() { while (Date.now() < until); return "breached"; } };
}
