// without: -

export function evaluate({ turn }: { turn: number }): unknown {
  const buffer = new ArrayBuffer(64, { maxByteLength: 1 << 20 } as any) as any;
  const view = new Uint8Array(buffer);
  const order = Array.from(view).sort(() => { buffer.resize?.(0); return -1; });
  view.sort(() => { buffer.resize?.(8); return 1; });
  return [order.length, view.length, structured(buffer)];
  function structured(it: any) { try { return it.transfer?.(1)?.byteLength ?? null; } catch { return null; } }
}
