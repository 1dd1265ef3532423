// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return new Proxy([1, 2, 3], {
    get: (_, name) => (name === "length" ? { valueOf: () => NaN } : "breach"),
  });
}
