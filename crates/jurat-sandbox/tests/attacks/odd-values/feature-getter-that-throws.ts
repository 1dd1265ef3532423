// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return { get score() { throw { name: { toString: () => { throw 1; } }, message: Symbol("x") }; } };
}
