// without: memory

export function evaluate({ turn }: { turn: number }): unknown {
  let text = "x";
  while (text.length < 400_000_000) text += text;
  return text.charCodeAt(text.length - 1) === 120 ? "breached" : "nothing";
}
