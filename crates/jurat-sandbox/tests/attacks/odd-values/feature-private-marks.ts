// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  class Marks extends (function (it: any) { return it; } as any) { #mark = 1; static has(it: any) { return #mark in it; } }
  const seen = Marks.has(Object.prototype);
  try { new (Marks as any)(Object.prototype); } catch {}
  return seen ? "breached" : "nothing";
}
