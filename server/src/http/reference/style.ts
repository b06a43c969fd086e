/** How the reference looks: one style sheet, no fonts or images from elsewhere. */
export const style = `
:root{--ground:#fff;--panel:#f7f8fa;--line:#e4e7ec;--ink:#101828;--soft:#5b6676;--accent:#3d4fe0;--tint:#eef0ff;
--code:#f2f4f7;--dark:#0f1524;--dark-line:#232c42;--dark-ink:#d8deeb;--dark-soft:#8b98b3;
--get:#0a7d4f;--post:#3446c7;--put:#a05a00;--delete:#c0262d;--must:#b42318;
--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--ground:#0b0f19;--panel:#0f1422;--line:#1f2739;--ink:#e8ecf4;--soft:#97a3b8;
--accent:#93a0ff;--tint:#1a2140;--code:#182032;--dark:#111827;--dark-line:#222c40;
--get:#4ade9b;--post:#93a0ff;--put:#f0b45c;--delete:#ff8a8a;--must:#ff9a8f}}
*{box-sizing:border-box}
html{scroll-padding-top:24px;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
display:grid;grid-template-columns:272px minmax(0,1fr)}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,summary:focus-visible,label:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
code,pre{font-family:var(--mono);font-size:.86em}
code{background:var(--code);padding:.12em .36em;border-radius:5px;overflow-wrap:anywhere}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;z-index:9;background:var(--ground);padding:8px}
#menu{position:absolute;opacity:0;pointer-events:none}
aside{position:sticky;top:0;height:100vh;overflow-y:auto;background:var(--panel);border-right:1px solid var(--line);padding:22px 14px 40px;
scrollbar-width:thin;scrollbar-color:var(--line) transparent}
.brand{padding:0 10px 14px;font-weight:700;font-size:17px;letter-spacing:-.01em}
.brand a{color:var(--ink);text-decoration:none;display:flex;align-items:center;gap:9px}
.brand small{font-size:11px;font-weight:600;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:1px 8px;letter-spacing:.02em}
.brand label{display:none}
.mark{width:22px;height:22px;border-radius:7px 7px 7px 2px;background:linear-gradient(135deg,#6a7bff,#3d4fe0 60%,#2a2fa8);position:relative}
.mark:after{content:"";position:absolute;left:6px;top:9px;width:3px;height:3px;border-radius:50%;background:#fff;box-shadow:4px 0 #fff,8px 0 #fff}
nav p{margin:20px 10px 4px;font-size:11.5px;font-weight:700;letter-spacing:.05em;text-transform:uppercase}
nav p a{color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:flex;align-items:center;justify-content:space-between;gap:8px;padding:4.5px 10px;border-radius:7px;color:var(--ink);font-size:13.5px;line-height:1.4}
nav li a:hover{background:var(--tint);text-decoration:none}
nav li span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
nav .method{font-size:9px;padding:0;border:0;background:none;min-width:0}
.method{font:700 11px/1 var(--mono);letter-spacing:.04em;padding:5px 8px;border-radius:6px;color:var(--tone);
background:color-mix(in srgb,var(--tone) 12%,transparent);flex:none}
.get{--tone:var(--get)}.post{--tone:var(--post)}.put{--tone:var(--put)}.delete{--tone:var(--delete)}
main{min-width:0;max-width:1360px;padding:0 44px 80px}
.hero{padding:56px 0 10px}
h1{font-size:40px;line-height:1.15;letter-spacing:-.03em;margin:0}
.hero p{color:var(--soft);font-size:18px;margin:10px 0 0}
.hero .links{display:flex;flex-wrap:wrap;gap:10px;margin-top:22px}
.links a{font-size:14px;font-weight:600;padding:8px 14px;border:1px solid var(--line);border-radius:9px;color:var(--ink);background:var(--panel)}
.links a:first-child{background:#3d4fe0;border-color:#3d4fe0;color:#fff}
.links a:hover{border-color:var(--accent);text-decoration:none}
h2{font-size:28px;line-height:1.25;letter-spacing:-.02em;margin:0}
h3{font-size:20px;line-height:1.3;letter-spacing:-.01em;margin:0}
h2 a,h3 a{color:inherit}
h3 a code{background:none;padding:0;font-size:.92em}
h4,summary{font-size:13px;font-weight:700;letter-spacing:.01em;margin:26px 0 8px}
h4~h4{margin-top:26px}
summary{cursor:pointer;list-style:none;display:flex;align-items:center;gap:8px}
summary::-webkit-details-marker{display:none}
summary:before{content:"";width:6px;height:6px;border:solid var(--soft);border-width:0 1.8px 1.8px 0;transform:rotate(-45deg);transition:transform .12s;margin-left:1px}
details[open]>summary:before{transform:rotate(45deg)}
summary small{font-weight:500;color:var(--soft);font-size:12px}
.chapter{padding:64px 0 0;border-top:1px solid var(--line);margin-top:24px}
.chapter p{color:var(--soft);font-size:16.5px;margin:6px 0 0;max-width:64ch}
.op{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,440px);gap:44px;padding:44px 0}
.op+.op{border-top:1px solid var(--line)}
.about>p{max-width:68ch;margin:10px 0}
.route{display:flex;align-items:center;gap:10px}
.path{background:none;padding:0;font-size:14.5px}.path i{font-style:normal;color:var(--accent)}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:6px 20px;margin:18px 0 0;padding:14px 16px;border:1px solid var(--line);border-radius:12px;background:var(--panel);font-size:13.5px}
.facts dt{color:var(--soft)}.facts dd{margin:0}.facts code{background:none;padding:0}
.note{border-left:3px solid var(--put);padding-left:12px}
table{width:100%;border-collapse:collapse;font-size:13.5px;line-height:1.5}
th{text-align:left;font-size:11.5px;font-weight:600;color:var(--soft);padding:0 12px 6px 0;border-bottom:1px solid var(--line)}
td{vertical-align:top;padding:9px 12px 9px 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
td>code{background:none;padding:0}
.fields{table-layout:fixed}.fields th:first-child{width:46%}
.fields td:first-child>code{font-weight:600}
.fields small{display:block;color:var(--soft);font-size:12px}
.parent{color:var(--soft);font-weight:400}
.d1{padding-left:12px}.d2{padding-left:24px}.d3{padding-left:36px}.d4{padding-left:48px}
em{font-style:normal;font-weight:600}.must{color:var(--must)}.may{font-weight:400}.may:before,.must:before{content:"· ";color:var(--soft);font-weight:400}
.values{display:block;margin-top:3px}.values code{font-size:12px;display:inline-block;margin:2px 0}
.errors td:nth-child(2){color:var(--soft);font-variant-numeric:tabular-nums}
.errors td:first-child code{background:none;padding:0;font-weight:600}
.errors td:first-child{width:42%}
.code{position:sticky;top:24px;align-self:start;max-height:calc(100vh - 48px);overflow-y:auto;scrollbar-width:thin;scrollbar-color:var(--line) transparent}
figure{margin:0 0 16px;background:var(--dark);border:1px solid var(--dark-line);border-radius:12px;overflow:hidden;color:var(--dark-ink)}
figcaption{padding:9px 14px;font-size:12px;font-weight:600;color:var(--dark-soft);border-bottom:1px solid var(--dark-line)}
figcaption b{color:#4ade9b;font-weight:700;margin-left:4px}
pre{margin:0;padding:14px;overflow-x:auto;font-size:12.5px;line-height:1.6;scrollbar-width:thin;scrollbar-color:var(--dark-line) transparent}
.pick{white-space:pre-wrap;overflow-wrap:anywhere;user-select:all;-webkit-user-select:all;cursor:copy}
.k{color:#a5b4fc}.s{color:#86e1b5}.n{color:#f5c07a}
.wide{padding:64px 0 44px;border-top:1px solid var(--line);margin-top:24px}
.catalogue{margin-top:18px}.catalogue td:first-child{width:30%}.where{font-size:12.5px;width:30%}
.event{padding:26px 0}.event .facts{margin-top:12px}
tr:target td{background:var(--tint)}
footer{color:var(--soft);font-size:13px;padding-top:40px;border-top:1px solid var(--line);margin-top:24px}
@media (max-width:1180px){.op{grid-template-columns:minmax(0,1fr);gap:22px}.code{position:static;max-height:none}}
@media (max-width:800px){html{scroll-padding-top:68px}body{display:block}
aside{position:static;height:auto;border:0;padding:0;background:none}
.brand{position:sticky;top:0;z-index:5;display:flex;justify-content:space-between;align-items:center;padding:12px 18px}
aside{display:contents}.brand{background:var(--ground);border-bottom:1px solid var(--line)}
.brand label{display:block;font-size:13px;font-weight:600;color:var(--accent);cursor:pointer;padding:6px 10px;border:1px solid var(--line);border-radius:8px}
nav{display:none;padding:0 10px 18px;background:var(--panel);border-bottom:1px solid var(--line);overflow:hidden}
#menu:checked~aside nav{display:block}
main{padding:0 18px 60px}.hero{padding-top:34px}h1{font-size:32px}.op{padding:34px 0}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:8px}
.fields th:first-child{width:50%}.d1,.d2,.d3,.d4{padding-left:0}
.catalogue,.catalogue tbody,.catalogue tr,.catalogue td{display:block;width:100%!important}.catalogue thead{display:none}
.catalogue td{border:0;padding:2px 0}.catalogue tr{padding:10px 0;border-bottom:1px solid var(--line)}}
@media print{aside,#menu{display:none}body{display:block}.op{display:block}}
`

/** Marks in the contents where the reader has jumped to. */
export function styleOfTargets(ids: string[]): string {
  const marked = ids
    .filter((id) => /^[\w-]+$/.test(id))
    .map((id) => `body:has(#${id}:target) nav a[href="#${id}"]`)
    .join(',')
  return `${marked}{background:var(--tint);color:var(--accent);font-weight:600}`
}
