// Texts that would do something if a page took them for anything but text.

export const HOSTILE = [
  "<script>alert('script')</script>",
  "<img src=x onerror=alert('img')>",
  "\"><svg/onload=alert('svg')>",
  "' onmouseover='alert(1)",
  "</textarea></title></style></script><script>alert('closed')</script>",
  "[click](javascript:alert('link')) ![i](http://evil.example/pixel.png) <javascript:alert(1)>",
  "&lt;script&gt;alert('entity')&lt;/script&gt; &#60;b&#62;",
  "right \u202Eto left\u202C and \u2066isolated\u2069 and \u200Bnothing",
  "nul \u0000 bell \u0007 escape \u001B[31mred\u001B[0m return \r end",
  "<style>body{display:none}</style><link rel=stylesheet href=http://evil.example/x.css>",
  "<iframe src=http://evil.example></iframe><base href=http://evil.example/><meta http-equiv=refresh content=0;url=http://evil.example/>",
  "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= alert(1) %>",
  "\u2028line\u2029paragraph --> ]]> <!-- comment",
  "x".repeat(1_000_000),
];

/** A row for each text, which stands in its id, its question, what is expected, and its group. */
export function hostileRows() {
  return HOSTILE.map((text, ix) => {
    const short = text.slice(0, 200);
    return { id: `${ix} ${short}`, question: text, expected: `${short} expected`, group: short, html: { [short]: [text.slice(0, 5000)] } };
  });
}
