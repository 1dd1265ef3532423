// without: deadline

export function evaluate({ turn }: { turn: number }): unknown {
  const end = Date.now() + 3000;
  const again = (): Promise<string> => (Date.now() < end ? Promise.resolve().then(again) : Promise.resolve("breached"));
  return again();
}
