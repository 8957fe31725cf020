/** The first hour of a new user, typed into a terminal: fresh HOME, no key, nothing but what the screen says. */

import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { configFor } from './crash/kills.ts'
import { startProvider } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'
import { noPseudoTerminal, PseudoTerminal, type ScreenOutput } from './support/pseudo-terminal.ts'

const POST = { tool: 'fetch', args: { url: 'https://shop.example.com/orders', method: 'POST', body: 'one lamp' } }
const LAST = { text: '## Execution Summary\nThe lamp could not be ordered.' }

interface Person {
  readonly home: string
  /** Contract: types a command; fails unless it exits with `exit` and shows every one of `sentences`. */
  sees(command: string, exit: number, ...sentences: readonly RegExp[]): Promise<ScreenOutput>
  /** The same in Chinese. */
  seesInChinese(command: string, exit: number, ...sentences: readonly RegExp[]): Promise<ScreenOutput>
  /** The same, with Ctrl-C as soon as `until` is on the screen. */
  interrupts(command: string, until: RegExp, ...sentences: readonly RegExp[]): Promise<ScreenOutput>
}

function newUser(t: TestContext): Person {
  const place = freshFolder(t, 'first-hour')
  const code = join(place, 'code')
  mkdirSync(code)
  const home = join(place, '.tireless')
  const env = { PATH: process.env.PATH, HOME: place, TIRELESS_HOME: home, TERM: 'xterm', COLUMNS: '200' }
  const english = new PseudoTerminal(code, { ...env, LANG: 'en_US.UTF-8' })
  const chinese = new PseudoTerminal(code, { ...env, LANG: 'zh_CN.UTF-8' })
  const check = (command: string, shown: ScreenOutput, exit: number, sentences: readonly RegExp[]): ScreenOutput => {
    assert.equal(shown.exit, exit, `${command}\n${shown.screen}`)
    for (const sentence of sentences) assert.match(shown.screen, sentence, command)
    return shown
  }
  return {
    home,
    sees: async (command, exit, ...sentences) =>
      check(command, await english.type(command, { typed: '\n' }), exit, sentences),
    seesInChinese: async (command, exit, ...sentences) => check(command, await chinese.type(command), exit, sentences),
    interrupts: async (command, until, ...sentences) =>
      check(command, await english.type(command, { until }), 130, sentences),
  }
}

test('the first hour, step by step', { skip: noPseudoTerminal }, async (t) => {
  const me = newUser(t)
  await t.test('init creates a home and says what comes next', async () => {
    await me.sees('tireless init', 0, /offline\/rules \(no key is set/, /next +tireless start/)
    // Another test may use the usual port at the same time.
    appendFileSync(join(me.home, 'tireless.yaml'), '\nserver: { port: 0 }\n')
  })
  await t.test('agent new says back when it runs, in both languages', async () => {
    const sentence = 'every weekday at 8:30 write a short report on the weather'
    await me.sees(
      `tireless agent new '${sentence}' --id weather`,
      0,
      /^Created weather: /m,
      /Monday to Friday at 08:30/,
    )
    await me.seesInChinese(
      "tireless agent new '每天早上八点半写一份天气简报'",
      0,
      /^已创建 写一份天气简报/m,
      /每天 08:30/,
    )
    await me.sees("tireless agent new 'every day at 25:00 write a poem'", 2, /^usage: /m)
    await me.sees('tireless agent show weather', 0, /workspaces\/weather$/m)
  })
  await t.test('run works, and says where and with what result', async () => {
    const task = 'Create notes.md with the text "hello". Then list the files.'
    await me.sees(
      `tireless run '${task}'`,
      0,
      /^Working in \S+\/workspaces\//m,
      /create_file notes\.md: done/,
      /^Wrote \S+\/notes\.md$/m,
    )
    await me.sees("tireless run 'Save what you find to report.md'", 1, /report\.md, but no call of the run wrote it/)
  })
  await t.test('what waits is told with the whole id, and goes on after the answer', async () => {
    await approve(t, me)
  })
  await t.test('status shows the state of things in both languages', async () => {
    await me.sees('tireless status', 0, /^kernel +stopped/m, /daily-report: next run /)
    await me.seesInChinese('tireless status', 0, /写一份天气简报/)
  })
  await t.test('start says where the page is, Ctrl-C stops it, and logs say what happened', async () => {
    await me.interrupts('tireless start', /http:\/\/127\.0\.0\.1:\d+/, /http:\/\/127\.0\.0\.1:\d+/)
    await me.sees('tireless stop', 0, /no kernel is running/)
    await me.sees('tireless logs -n 50', 0, /worker joined/)
  })
})

/** An agent wants to order something; the person finds out what waits, and allows it. */
async function approve(t: TestContext, me: Person): Promise<void> {
  const file = join(me.home, 'tireless.yaml')
  const before = readFileSync(file, 'utf8')
  writeFileSync(file, configFor(await startProvider(t, [{ calls: [POST] }, LAST, LAST, LAST])))
  const parked = await me.sees('tireless agent run weather', 3, /needs your approval/, /shop\.example\.com\/orders/)
  const [, id = assert.fail(parked.screen)] = /tireless approvals allow (\S+)/.exec(parked.screen) ?? []
  await me.sees('tireless status', 0, /1 to (?:approve|allow)/)
  await me.sees('tireless approvals list', 0, new RegExp(id.slice(-8)))
  await me.sees(`tireless approvals allow ${id}`, 0, /allowed/i)
  await me.sees('tireless start --until-idle', 0)
  await me.sees('tireless queue show last', 0, /lamp could not be ordered|failed/)
  writeFileSync(file, before)
}
