/** Text of other people on the owner's terminal: control and invisible characters are shown escaped. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/approval-fixtures.ts'
import { createHome, startKernelIn, tireless, tirelessJson } from './support/command-line.ts'
import { fakeTool } from './support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'

/** Clear screen, clipboard, title, conceal, cursor up, one-byte CSI, right-to-left, zero width, tags, fillers. */
const CONTROL_TEXT =
  'a\x1b[2Jb\x1b]52;c;ZXZpbA==\x07c\x1b]0;title\x07d\x1b[8me\x1b[1Af\x9b2Jg\u202egnp\u2066h\u200bi' +
  '\u2060j\u{e0041}k\u3164l\u2800m\u2028n\u2029o\rp\x7fq\x08r'
const CONTROL_CHARACTER = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u3164\u2800]/u
const OWN_COLOURS = new RegExp(`${'\x1b'}\\[(?:0|1|2|22|3[0-9]|39|9[0-7])m`, 'g')

describe('the terminal', () => {
  test('is written to by one file', () => {
    const others = globSync('src/cli/*.ts').filter((file) => file !== join('src', 'cli', 'terminal.ts'))
    const writers = others.filter((file) =>
      /std(?:out|err)\.write\(|styleText|console\./.test(readFileSync(file, 'utf8')),
    )
    assert.ok(others.length > 10)
    assert.deepEqual(writers, [])
  })

  test('every command escapes control and invisible characters, but keeps its own colours', async (t) => {
    const home = freshFolder(t)
    const readTool = fakeTool({ name: 'read', effect: { recovery: 'pure', reach: 'none' }, run: () => CONTROL_TEXT })
    const calls = [
      call('read'),
      call('remember', { key: 'k', text: CONTROL_TEXT }),
      call('edit_state', { section: 's', text: CONTROL_TEXT }),
    ]
    const model = scriptedModel([...calls.map((one) => ({ calls: [one] })), { text: CONTROL_TEXT }])
    const app = await openApp(t, { home, model, tools: [readTool] })
    const { dispatch_id, session_id } = await runTaskIn(app, `Look at ${CONTROL_TEXT}`)
    await app.close()
    process.env.FORCE_COLOR = '1'
    t.after(() => delete process.env.FORCE_COLOR)
    let colourCount = 0
    for (const args of [
      ['trace', 'list'],
      ['trace', 'show', dispatch_id],
      ['trace', 'show', dispatch_id, '--events'],
      ['sessions', 'list'],
      ['sessions', 'show', session_id],
      ['queue', 'list'],
      ['memory', 'list'],
      ['memory', 'search', CONTROL_TEXT],
      ['state', 'show'],
      ['state', 'log'],
      ['logs'],
      ['approvals', 'show', CONTROL_TEXT],
      ['enqueue', '--prompt', 'x', '--agent', CONTROL_TEXT],
      ['replay', dispatch_id],
      [CONTROL_TEXT],
    ]) {
      const { stdout, stderr } = await tireless(home, ...args)
      colourCount += stdout.match(OWN_COLOURS)?.length ?? 0
      const [out, err] = [stdout, stderr].map((text) => text.replaceAll(OWN_COLOURS, ''))
      assert.doesNotMatch(`${out}${err}`, CONTROL_CHARACTER, args.join(' '))
      const asJson = await tireless(home, ...args, '--json')
      assert.doesNotMatch(asJson.stdout + asJson.stderr, CONTROL_CHARACTER, `${args.join(' ')} --json`)
    }
    assert.ok(colourCount > 20)
    const { items } = await tirelessJson<{ items: { text: string }[] }>(home, 'memory', 'list')
    assert.equal(items[0]?.text, CONTROL_TEXT, '--json must return the exact text')
  })

  test('a text with line breaks cannot forge a log line', async (t) => {
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

  test('approvals mark letters that look like others', async (t) => {
    const home = freshFolder(t)
    const sendTool = fakeTool({ name: 'send', effect: { recovery: 'once', reach: 'third_party' } })
    const args = { to: 'bob@аpple.com', cc: 'ann@пример.рф', bcc: 'ｅve@a.com', text: 'Привет\u00a0там 你好' }
    const app = await openApp(t, {
      home,
      model: scriptedModel([{ calls: [call('send', args)] }, { text: 'done' }]),
      tools: [sendTool],
    })
    await runTaskIn(app)
    await app.close()
    const { stdout } = await tireless(home, 'approvals', 'list')
    for (const escaped of [
      'bob@\\u{430}pple.com',
      'ann@пример.рф (xn--e1afmkfd.xn--p1ai)',
      '\\u{ff45}ve@a.com',
      'Привет\\u{a0}там 你好',
    ])
      assert.ok(stdout.includes(escaped), escaped)
  })

  test('U+2028 in a command to a running kernel is kept', async (t) => {
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
