// Walks over everything that can be reached from names and from expressions of the language, and returns the paths to what can still be changed.
function evaluate() {
  const strict = function () { return arguments; };
  const roots = {
    globalThis,
    arrow: () => 0,
    generator: function* () {},
    generated: (function* () {})(),
    async: async function () {},
    asyncGenerator: async function* () {},
    asyncGenerated: (async function* () {})(),
    promise: Promise.resolve(1),
    array: [],
    text: Object("x"),
    number: Object(1),
    whole: Object(1n),
    truth: Object(true),
    symbol: Object(Symbol("x")),
    pattern: /x/,
    matches: "x".matchAll(/x/g),
    values: [1].values(),
    letters: "x"[Symbol.iterator](),
    map: new Map().entries(),
    set: new Set().values(),
    arguments: strict(1),
    error: new TypeError("x"),
    date: new Date(0),
    view: new DataView(new ArrayBuffer(8)),
    typed: new Float64Array(1),
    proxied: new Proxy({}, {}),
    template: ((parts) => parts)`x`,
  };
  const more = {
    mapped: () => [1].values().map((it) => it),
    filtered: () => [1].values().filter((it) => it),
    taken: () => [1].values().take(1),
    flat: () => [1].values().flatMap((it) => [it]),
    wrapped: () => Iterator.from({ next: () => ({ done: true }) }),
    joined: () => Iterator.concat([1]),
    zipped: () => Iterator.zip([[1]]),
    revoked: () => Proxy.revocable({}, {}).revoke,
    disposed: () => new DisposableStack(),
  };
  const made = [];
  for (const [name, make] of Object.entries(more)) {
    try { made.push([(roots[name] = make()), make()]); } catch {}
  }
  const own = new Set([...Object.values(roots), roots]);
  own.delete(globalThis);
  for (const it of [roots.generated, roots.asyncGenerated]) own.add(Object.getPrototypeOf(it));
  // What is another one each time belongs to the call as well.
  for (const [first, second] of made) {
    for (const key of Reflect.ownKeys(first)) if (first[key] !== second[key]) own.add(first[key]);
  }
  const isThing = (it) => (typeof it === "object" && it !== null) || typeof it === "function";
  const seen = new Set();
  const open = [];
  const changeable = [];
  const look = (it, path) => {
    if (!isThing(it) || seen.has(it)) return;
    seen.add(it);
    open.push([it, path]);
  };
  for (const [name, it] of Object.entries(roots)) look(it, name);
  while (open.length) {
    const [it, path] = open.pop();
    // What this call made itself is its own: the roots, and the prototypes of its functions.
    const isOwn = own.has(it) || path.endsWith("(own)");
    if (!isOwn && !Object.isFrozen(it)) changeable.push(path);
    look(Object.getPrototypeOf(it), `${path}.[[Prototype]]`);
    for (const key of Reflect.ownKeys(it)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(it, key);
      const inner = `${path}.${String(key)}`;
      look(value, isOwn && isThing(value) && !builtIn(value) ? `${inner}(own)` : inner);
      look(get, `get ${inner}`);
      look(set, `set ${inner}`);
    }
  }
  return changeable;

  // Own functions have prototypes of their own, arguments have values, and nothing else of the roots is an object.
  function builtIn(value) {
    return typeof value === "function" && /\[native code\]/.test(Function.prototype.toString.call(value));
  }
}
