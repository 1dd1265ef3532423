// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return new Proxy([], { get: (_, name) => (name === "length" ? 1e300 : 1) });
}
