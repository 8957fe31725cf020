/** Style sheet of an exported run: one column, for light and dark mode, any screen width, and print. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #fff; --ink: #1f2328; --soft: #667080; --line: #e4e1db; --code: #f5f3ef;
  --accent: #3b5bdb; --good: #1a7f4b; --bad: #c0362c; --warn: #9a6700; --good-bg: #e3f4ea; --bad-bg: #fde8e6;
  --warn-bg: #fff3d1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --card: #1b1e24; --ink: #e6e8eb; --soft: #98a1ae; --line: #2c3139; --code: #15181d;
    --accent: #91a7ff; --good: #6cd49a; --bad: #ff8a80; --warn: #f0c04c; --good-bg: #16311f;
    --bad-bg: #3a1a18; --warn-bg: #352a0e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 {
  font-size: 1.55rem; line-height: 1.3; margin: .6rem 0 1.2rem; text-wrap: balance; overflow-wrap: anywhere;
  white-space: pre-wrap; font-weight: 650;
}
h2 { font-size: 1.05rem; margin: 2.4rem 0 .8rem; }
h3 {
  font-size: .72rem; letter-spacing: .07em; text-transform: uppercase; color: var(--soft);
  margin: 1rem 0 .35rem; font-weight: 600;
}
.eyebrow { color: var(--soft); font-size: .85rem; display: flex; gap: .6rem; align-items: center; flex-wrap: wrap; }
.pill {
  border-radius: 99px; padding: .1rem .6rem; font-size: .78rem; font-weight: 600; background: var(--code);
  color: var(--soft); white-space: nowrap;
}
.pill.good { background: var(--good-bg); color: var(--good); }
.pill.bad { background: var(--bad-bg); color: var(--bad); }
.pill.warn { background: var(--warn-bg); color: var(--warn); }
dl.facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .9rem 1.4rem; margin: 0;
  padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .8rem;
}
dl.facts dt { color: var(--soft); font-size: .76rem; }
dl.facts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .8rem; padding: 1rem 1.25rem;
  margin: .8rem 0;
}
.answer { border-left: 4px solid var(--good); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.answer.bad { border-left-color: var(--bad); }
.lane { display: flex; gap: 2px; margin: .8rem 0 0; height: 1.5rem; }
.lane a { flex: 1 1 0; min-width: 3px; border-radius: 3px; background: var(--accent); opacity: .75; }
.lane a:hover, .lane a:focus { opacity: 1; outline: 2px solid var(--accent); }
.lane a.bad { background: var(--bad); }
.lane-ends {
  display: flex; justify-content: space-between; color: var(--soft); font-size: .76rem;
  font-variant-numeric: tabular-nums;
}
.step > header { display: flex; align-items: baseline; gap: .7rem; flex-wrap: wrap; }
.step > header b { font-size: 1.02rem; }
.step > header .time { margin-left: auto; color: var(--soft); font-size: .82rem; font-variant-numeric: tabular-nums; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: 0; }
.note { color: var(--soft); font-size: .9rem; }
.call { border: 1px solid var(--line); border-radius: .6rem; margin: .5rem 0; overflow: hidden; }
.call > header { display: flex; gap: .6rem; align-items: center; padding: .45rem .75rem; }
.call > header code { font-weight: 650; }
.call > header .pill { margin-left: auto; }
pre, code { font: .84rem/1.5 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Noto Sans Mono", monospace; }
pre {
  margin: 0; padding: .6rem .75rem; background: var(--code); white-space: pre-wrap; overflow-wrap: anywhere;
  max-height: 28rem; overflow: auto; unicode-bidi: plaintext; border-radius: .4rem;
}
.call pre { border-radius: 0; border-top: 1px solid var(--line); }
.call pre.args { background: none; color: var(--soft); }
.trouble { color: var(--bad); overflow-wrap: anywhere; margin: .6rem 0 0; }
details { margin-top: .6rem; }
summary { cursor: pointer; color: var(--soft); font-size: .86rem; }
table { border-collapse: collapse; width: 100%; font-size: .82rem; margin-top: .6rem; table-layout: fixed; }
td, th {
  text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere;
}
th { color: var(--soft); font-weight: 600; }
th:nth-child(1), th:nth-child(2) { width: 3.6rem; } th:nth-child(3) { width: 5rem; } th:nth-child(4) { width: 12rem; }
td pre { padding: 0; background: none; max-height: 10rem; font-size: .76rem; }
footer { color: var(--soft); font-size: .8rem; margin-top: 3rem; }
@media (max-width: 40rem) {
  th:nth-child(1), th:nth-child(2) { width: 2.4rem; }
  th:nth-child(4) { width: 7rem; }
  main { padding-top: 1.5rem; }
}
@media print { pre { max-height: none; } .card { break-inside: avoid; } }
`
