// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return { ["\ud800"]: "\udfff", "\u0000": "\u0000" };
}
