// Replies may name a time span only when the policy has it.
interface Arguments {
  output: string;
  metadata?: { allowed?: string[] };
}

const SPAN = /\b(today|tomorrow|within \d+ (?:hours|days))\b/gi;

export function evaluate({ output, metadata }: Arguments): { score: number; explanation?: string } {
  const allowed = new Set(metadata?.allowed ?? []);
  const promised = (output.match(SPAN) ?? []).map((it) => it.toLowerCase());
  const wrong = promised.filter((it) => !allowed.has(it));
  return wrong.length === 0 ? { score: 0 } : { score: wrong.length, explanation: `promises ${wrong.join(", ")}` };
}
