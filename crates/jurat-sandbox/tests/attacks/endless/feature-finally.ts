// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const until = Date.now() + 2000;
  try { throw 1; } finally { for (;;) if (Date.now() > until) break; return "breached"; }
}
