// What the author's code finds besides the language: `console`. Then everything that is built in is made unchangeable, so that no call can
// leave anything in it for the next.
(function (print, fresh) {
  "use strict";
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const { stringify } = JSON;
  const text = String;

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null) return text(value);
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : text(value);
    try {
      return stringify(value, (_, it) => (typeof it === "bigint" ? `${it}n` : it)) ?? text(value);
    } catch {
      return text(value);
    }
  };
  const printer = (stream) => (...values) => {
    let line = "";
    for (let ix = 0; ix < values.length; ix++) line += (ix ? " " : "") + shown(values[ix]);
    print(stream, `${line}\n`.toWellFormed());
  };
  const [out, err] = [printer(1), printer(2)];
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err, trace: err };
  if (!fresh) return;

  // Both keep something from one call to another: what was thrown away, and how errors look.
  for (const name of ["WeakRef", "FinalizationRegistry"]) delete globalThis[name];
  for (const name of ["prepareStackTrace", "stackTraceLimit"]) delete Error[name];

  // What iterators become has prototypes that no name leads to. Not every interpreter has all of it.
  const helpers = () => {
    const made = [
      () => [].values().map((it) => it),
      () => Iterator.from({ next: () => ({ done: true }) }),
      () => Iterator.concat([]),
      () => Iterator.zip([[]]),
      () => Iterator.zipKeyed({ a: [] }),
      () => [].values().drop(0),
      () => [].values().flatMap((it) => [it]),
    ];
    const prototypes = [];
    for (const make of made) {
      try {
        prototypes.push(getPrototypeOf(make()));
      } catch {}
    }
    const { get } = getOwnPropertyDescriptor((function () { return arguments; })(), "callee");
    return [...prototypes, get];
  };

  const found = new Set();
  const waiting = [
    globalThis,
    getPrototypeOf(function* () {}),
    getPrototypeOf(async function () {}),
    getPrototypeOf(async function* () {}),
    getPrototypeOf([][Symbol.iterator]()),
    getPrototypeOf(""[Symbol.iterator]()),
    getPrototypeOf(new Map()[Symbol.iterator]()),
    getPrototypeOf(new Set()[Symbol.iterator]()),
    getPrototypeOf("".matchAll(/x/g)),
    ...helpers(),
    getPrototypeOf(getPrototypeOf((function* () {})())),
    getPrototypeOf(getPrototypeOf((async function* () {})())),
  ];
  const look = (value) => {
    const isThing = (typeof value === "object" && value !== null) || typeof value === "function";
    if (isThing && !found.has(value)) {
      found.add(value);
      waiting.push(value);
    }
  };
  for (const value of [...waiting]) found.add(value);
  while (waiting.length) {
    const thing = waiting.pop();
    look(getPrototypeOf(thing));
    for (const key of ownKeys(thing)) {
      const { value, get, set } = getOwnPropertyDescriptor(thing, key);
      look(value);
      look(get);
      look(set);
    }
  }

  // Objects inherit these names, and code may well assign to such a name of its own object. That has to go on working when the original is
  // unchangeable, which for a plain value it would not.
  const inherited = [Object.prototype, Error.prototype, Function.prototype];
  for (const thing of found) {
    if (typeof thing === "function" && Error.prototype.isPrototypeOf(thing.prototype)) inherited.push(thing.prototype);
  }
  for (const prototype of inherited) {
    for (const key of ownKeys(prototype)) {
      const { value, configurable, writable, enumerable } = getOwnPropertyDescriptor(prototype, key);
      if (!configurable || !writable) continue;
      const replace = function (own) {
        if (found.has(this)) throw new TypeError(`'${text(key)}' is read-only`);
        defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      };
      const original = () => value;
      defineProperty(prototype, key, { get: original, set: replace, enumerable, configurable: false });
      freeze(original);
      freeze(replace);
      freeze(replace.prototype);
    }
  }
  for (const thing of found) freeze(thing);
});
