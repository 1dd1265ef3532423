// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  return "x" in new Proxy({}, { has: () => { while (Date.now() < until); return true; } }) ? "breached" : "nothing";
}
