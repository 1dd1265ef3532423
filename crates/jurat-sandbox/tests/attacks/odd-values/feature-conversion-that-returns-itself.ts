// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  const value: any = { toJSON: () => [value, { toJSON: () => value }] };
  return value;
}
