/** Times, amounts and texts of the page, in both languages. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  clockTime,
  countdown,
  duration,
  jsonLine,
  money,
  relativeTime,
  timeLeft,
  visibleText,
} from '../../web/src/format.ts'
import { plainLine } from '../../web/src/plain-line.ts'
import { TEXTS } from '../../web/src/texts.ts'

test('Now: a duration has its two largest units', () => {
  const cases: readonly [number, string, string][] = [
    [-5, '0 ms', '0 毫秒'],
    [240, '240 ms', '240 毫秒'],
    [1000, '1.0 s', '1.0 秒'],
    [59_999, '59.9 s', '59.9 秒'],
    [60_000, '1 m 00 s', '1 分 00 秒'],
    [3_605_000, '1 h 00 m', '1 小时 00 分'],
    [90_000_000, '1 d 1 h', '1 天 1 小时'],
  ]
  for (const [ms, en, zh] of cases) assert.deepEqual({ en: duration(ms, 'en'), zh: duration(ms, 'zh') }, { en, zh })
})

test('Now: a countdown rounds up and ends at zero', () => {
  assert.deepEqual(
    [252_000, 251_001, 1, 0, -9000, 3_600_000, 200_000_000].map((ms) => countdown(ms, 'en')),
    ['04:12', '04:12', '00:01', '00:00', '00:00', '1:00:00', '2 d 7 h'],
  )
})

test('Now: the time to the next beat is in words, because 08:00 reads as a time of day', () => {
  const cases: readonly [number, string, string][] = [
    [0, '0 s', '0 秒'],
    [40_000, '40 s', '40 秒'],
    [479_000, '8 min', '8 分钟'],
    [3_599_000, '1 h 00 min', '1 小时 00 分钟'],
    [7_500_000, '2 h 05 min', '2 小时 05 分钟'],
    [90_000_000, '1 d 1 h', '1 天 1 小时'],
  ]
  for (const [ms, en, zh] of cases) assert.deepEqual({ en: timeLeft(ms, 'en'), zh: timeLeft(ms, 'zh') }, { en, zh })
})

test('Now: small amounts of money are not rounded to zero', () => {
  assert.deepEqual(
    [0, 0.0042, 0.83, 5].map((usd) => money(usd, 'en')),
    ['$0.00', '$0.0042', '$0.83', '$5.00'],
  )
})

test('Now: a time on another day has its date', () => {
  const now = new Date(2026, 10, 15, 12, 0, 0).getTime()
  assert.equal(clockTime(now, now, 'en'), '12:00:00')
  assert.match(clockTime(now + 86_400_000, now, 'en'), /16 Nov.*12:00:00/)
})

test('Now: arguments of a tool are one line', () => {
  assert.equal(jsonLine({ a: 'x\ny' }), '{"a":"x\\ny"}')
  assert.equal(jsonLine('x\n  y'), 'x y')
})

test('Now: both languages have every text, each in its own script', () => {
  const flatten = (texts: object): [string, string][] =>
    Object.entries(texts).flatMap(([key, value]): [string, string][] => {
      if (typeof value === 'object') return flatten(value).map(([inner, text]) => [`${key}.${inner}`, text])
      return [[key, typeof value === 'function' ? value('2', 3) : value]]
    })
  const [en, zh] = [flatten(TEXTS.en), flatten(TEXTS.zh)]
  assert.deepEqual(
    zh.map(([key]) => key),
    en.map(([key]) => key),
  )
  for (const [key, text] of zh.filter(([key]) => !key.toLowerCase().includes('language')))
    assert.match(text, /\p{Script=Han}/u, key)
  for (const [key, text] of en.filter(([key]) => !key.toLowerCase().includes('language')))
    assert.doesNotMatch(text, /\p{Script=Han}/u, key)
})

test('Runs: Markdown becomes one line of plain text, tables and lists included', () => {
  const cases: readonly [string, string][] = [
    ['**LX 1234** leaves at __9:05__', 'LX 1234 leaves at 9:05'],
    ['Desks:\n\n| Desk | Who |\n|---|:--:|\n| A1 | Bob |\n| A2 | Eve |', 'Desks: Desk · Who; A1 · Bob; A2 · Eve'],
    ['Desks: | Desk | Who | |---|---| | A1 | Bob |', 'Desks: Desk · Who; A1 · Bob'],
    ['> *soft* and _calm_\n\n---\n- [x] one\n- two', 'soft and calm one two'],
    ['see [the page](https://x.example/a) and ![a plan](p.png)', 'see the page and a plan'],
    ['```sh\nls | wc -l\n```', 'ls | wc -l'],
    ['a * b, 2 ** 3, snake_case_name, 5\\* and ls | wc', 'a * b, 2 ** 3, snake_case_name, 5* and ls | wc'],
    ['', ''],
  ]
  for (const [markdown, plain] of cases) assert.equal(plainLine(markdown), plain)
  assert.ok(plainLine('*_`['.repeat(50_000)).length < 5000)
})

test('Runs: a line of a Markdown text has no marks, and what just happened is not in the future', () => {
  assert.equal(
    plainLine('## Done\n\nI wrote **notes.md** with `a * b`,\n2 ** 3 stays'),
    'Done I wrote notes.md with a * b, 2 ** 3 stays',
  )
  assert.equal(relativeTime(5000, 0, 'en'), 'now')
  assert.equal(relativeTime(60_000, 0, 'en'), 'in 1 minute')
})

test('what hides or reorders text is shown as a code; where it belongs to the spelling, it stays', () => {
  const hidden =
    '\u202e \u200b \u00ad \u3164 \u115f \uffa0 \u2800 \u034f \u17b5 \u180b \ufe0f \u{e0101} \u2028 \u0007 \u{e0041}'
  const shown = visibleText(hidden)
  assert.deepEqual(
    shown.split(' '),
    hidden.split(' ').map((char) => `‹U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`),
  )
  for (const proper of ['👩‍💻 👩🏽‍🚀 ❤️‍🔥 1️⃣ ☎︎', 'می‌خواهم', 'क्‍ष', '葛\u{e0100}', 'a\tb\nc', 'ﬁne ‹›'])
    assert.equal(visibleText(proper), proper)
  assert.equal(visibleText('a\u200db 1\u200d2 x\ufe0f'), 'a‹U+200D›b 1‹U+200D›2 x‹U+FE0F›')
  assert.equal(visibleText(`a${'\u0001'.repeat(200_000)}b\u202e\u202e`), 'a‹U+0001 ×200000›b‹U+202E ×2›')
  assert.equal(visibleText('one\r\ntwo\r'), 'one\ntwo‹U+000D›')
})
