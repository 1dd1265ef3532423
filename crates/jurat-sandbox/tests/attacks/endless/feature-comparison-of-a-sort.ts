// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  [...Array(5000).keys()].sort(() => { while (Date.now() < until); return 1; });
  return "breached";
}
