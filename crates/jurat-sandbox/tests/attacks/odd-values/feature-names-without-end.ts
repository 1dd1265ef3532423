// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return new Proxy({}, {
    ownKeys: () => Array.from({ length: 200_000 }, (_, ix) => `k${ix}`),
    getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
    get: (_, name) => (name === "toJSON" ? undefined : "x"),
  });
}
