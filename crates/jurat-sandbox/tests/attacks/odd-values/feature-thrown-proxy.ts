// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  throw new Proxy(function () {}, { get: () => { throw new Proxy({}, {}); }, getPrototypeOf: () => null });
}
