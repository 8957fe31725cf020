/** What others wrote, on the owner's terminal: shown, never obeyed, never hidden. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/approval-fixtures.ts'
import { createHome, startKernelIn, tireless, tirelessJson } from './support/command-line.ts'
import { fakeTool } from './support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

/** Clears the screen, fills the clipboard, sets a title, conceals, moves up, by one character instead of two, turned around, of no width, tags, fillers. */
const SLY =
  'a\x1b[2Jb\x1b]52;c;ZXZpbA==\x07c\x1b]0;title\x07d\x1b[8me\x1b[1Af\x9b2Jg\u202egnp\u2066h\u200bi\u2060j\u{e0041}k\u3164l\u2800m\u2028n\u2029o\rp\x7fq\x08r'
const OBEYED = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u3164\u2800]/u
const OWN_COLOURS = new RegExp(`${'\x1b'}\\[(?:0|1|2|22|3[0-9]|39|9[0-7])m`, 'g')

describe('the terminal', () => {
  test('has one writer', () => {
    const others = globSync('src/cli/*.ts').filter((file) => file !== join('src', 'cli', 'terminal.ts'))
    const writing = others.filter((file) =>
      /std(?:out|err)\.write\(|styleText|console\./.test(readFileSync(file, 'utf8')),
    )
    assert.ok(others.length > 10)
    assert.deepEqual(writing, [])
  })

  test('shows what would move the cursor, fill the clipboard, turn the writing or hide, in everything that it prints; our own colours stay', async (t) => {
    const home = freshFolder(t)
    const told = fakeTool({ name: 'read', effect: { recovery: 'pure', reach: 'none' }, run: () => SLY })
    const calls = [
      call('read'),
      call('remember', { key: 'k', text: SLY }),
      call('edit_state', { section: 's', text: SLY }),
    ]
    const model = scriptedModel([...calls.map((one) => ({ calls: [one] })), { text: SLY }])
    const app = await openApp(t, { home, model, tools: [told] })
    const { dispatch_id, session_id } = await runTaskIn(app, `Look at ${SLY}`)
    await app.close()
    process.env.FORCE_COLOR = '1'
    t.after(() => delete process.env.FORCE_COLOR)
    let coloured = 0
    for (const words of [
      ['trace', 'list'],
      ['trace', 'show', dispatch_id],
      ['trace', 'show', dispatch_id, '--events'],
      ['sessions', 'list'],
      ['sessions', 'show', session_id],
      ['queue', 'list'],
      ['memory', 'list'],
      ['memory', 'search', SLY],
      ['state', 'show'],
      ['state', 'log'],
      ['logs'],
      ['approvals', 'show', SLY],
      ['enqueue', '--prompt', 'x', '--agent', SLY],
      ['replay', dispatch_id],
      [SLY],
    ]) {
      const { stdout, stderr } = await tireless(home, ...words)
      coloured += stdout.match(OWN_COLOURS)?.length ?? 0
      const [out, err] = [stdout, stderr].map((text) => text.replaceAll(OWN_COLOURS, ''))
      assert.doesNotMatch(`${out}${err}`, OBEYED, words.join(' '))
      const asJson = await tireless(home, ...words, '--json')
      assert.doesNotMatch(asJson.stdout + asJson.stderr, OBEYED, `${words.join(' ')} --json`)
    }
    assert.ok(coloured > 20)
    const { items } = await tirelessJson<{ items: { text: string }[] }>(home, 'memory', 'list')
    assert.equal(items[0]?.text, SLY, 'a program gets exactly what was said')
  })

  test('a line of the log is one line: nobody forges another', async (t) => {
    const home = freshFolder(t)
    const forged = 'no such\n2030-01-01T00:00:00.000Z error everything is lost'
    const model = scriptedModel(() => {
      throw new Error(forged)
    })
    const app = await openApp(t, { home, model })
    await runTaskIn(app, forged).catch(() => {})
    await app.close()
    const { stdout } = await tireless(home, 'logs')
    assert.ok(stdout.includes('everything is lost'))
    assert.doesNotMatch(stdout, /^2030-01-01/m)
  })

  test('who decides sees letters that pass for others', async (t) => {
    const home = freshFolder(t)
    const send = fakeTool({ name: 'send', effect: { recovery: 'once', reach: 'third_party' } })
    const args = { to: 'bob@аpple.com', cc: 'ann@пример.рф', bcc: 'ｅve@a.com', text: 'Привет\u00a0там 你好' }
    const app = await openApp(t, {
      home,
      model: scriptedModel([{ calls: [call('send', args)] }, { text: 'done' }]),
      tools: [send],
    })
    await runTaskIn(app)
    await app.close()
    const { stdout } = await tireless(home, 'approvals', 'list')
    for (const shown of [
      'bob@\\u{430}pple.com',
      'ann@пример.рф (xn--e1afmkfd.xn--p1ai)',
      '\\u{ff45}ve@a.com',
      'Привет\\u{a0}там 你好',
    ])
      assert.ok(stdout.includes(shown), shown)
  })

  test('U+2028 in a command beside a running kernel is a character like any other', async (t) => {
    const home = await createHome(t, [])
    await startKernelIn(t, home)
    const { exit, dispatch_id } = await tirelessJson<{ dispatch_id: string }>(
      home,
      'enqueue',
      '--prompt',
      'a\u2028b\u2029c\u0085d',
      '--at',
      '2099-01-01T00:00:00Z',
    )
    assert.equal(exit, 0)
    const { items } = await tirelessJson<{ items: { dispatch_id: string; prompt: string }[] }>(home, 'queue', 'list')
    assert.equal(items.find((one) => one.dispatch_id === dispatch_id)?.prompt, 'a\u2028b\u2029c\u0085d')
  })
})
