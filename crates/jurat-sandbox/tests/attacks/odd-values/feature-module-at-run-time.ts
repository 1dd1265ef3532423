// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  return (new Function("return import('fs')")() as Promise<any>).then((it) => (it.readFileSync ? "breached" : "nothing"));
}
