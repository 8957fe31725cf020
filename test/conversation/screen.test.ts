/** The chat on a terminal, typed by a person: what the screen shows, keys, and what came while the chat was closed. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Script } from '../../src/testing/provider-server.ts'
import { configFor } from '../crash/kills.ts'
import { startKernelIn, startProvider, tirelessJson } from '../support/command-line.ts'
import { FRONT_MARK, writeTalkBehaviours } from '../support/conversations.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { noPseudoTerminal, PseudoTerminal, type ScreenStep } from '../support/pseudo-terminal.ts'

const route = (args: Readonly<Record<string, string | boolean>>) => ({ calls: [{ tool: 'route', args }] })

const SCRIPT: Script = {
  conversations: [
    { match: `${FRONT_MARK}\nsleep`, turns: [route({ new: 'Sleep', reply: 'I will.' })] },
    { match: `${FRONT_MARK}\ncount`, turns: [route({ new: 'Words', reply: 'I am on it.' })] },
    { match: `${FRONT_MARK}\n`, turns: [route({ none: true, reply: 'Hello!' })] },
    { match: 'sleep', turns: [{ calls: [{ tool: 'bash', args: { command: 'sleep 60' } }] }, { text: 'I was woken.' }] },
    {
      match: 'count',
      turns: [
        { text: 'First I write it down.', calls: [{ tool: 'create_file', args: { path: 'REPORT.md', content: '3' } }] },
        { text: 'Three words.' },
      ],
    },
  ],
}

interface Chatting {
  readonly home: string
  chat(steps: readonly ScreenStep[], language?: string): Promise<string>
}

async function openChat(t: TestContext, yaml: string): Promise<Chatting> {
  const home = freshFolder(t)
  writeTalkBehaviours(home)
  writeFileSync(join(home, 'tireless.yaml'), yaml)
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm', COLUMNS: '200' }
  return {
    home,
    async chat(steps, language = 'en_US.UTF-8') {
      const terminal = new PseudoTerminal(home, { ...env, LANG: language })
      const { exit, screen } = await terminal.converse(`tireless chat --home ${home}`, steps)
      assert.equal(exit, 0, screen)
      return screen
    },
  }
}

const ENTER = '\r'
const UP = '\x1b[A'
const CTRL_C = '\x03'

test('O1: alone, a chat streams, continues lines, and Ctrl-C stops the step and not the work', {
  skip: noPseudoTerminal,
}, async (t) => {
  const { chat } = await openChat(t, configFor(await startProvider(t, SCRIPT)))
  const screen = await chat([
    { sees: /Write to your agent; .*\/help.*\n[\s\S]*> /, types: `count the \\${ENTER}words${ENTER}` },
    { sees: /I am on it\.\n\nThree words\.\n[\s\S]*REPORT\.md[\s\S]*> /, types: `sleep for me${ENTER}` },
    { sees: /· bash \{"command":"sleep 60"/, types: CTRL_C },
    { sees: /Stopped this step; the work is kept\. Go on: \/continue/, types: `/continue${ENTER}` },
    { sees: /I was woken\.\n[\s\S]*> /, types: `/quit${ENTER}` },
  ])
  assert.match(screen, /First I write it down\.\n· create_file \{"path":"REPORT\.md"/, 'the text comes before its call')
})

test('O1: beside a kernel, a chat remembers lines, runs verbs, and shows once what came while it was closed', {
  skip: noPseudoTerminal,
}, async (t) => {
  const yaml = `${configFor(await startProvider(t, SCRIPT))}server: { port: 0 }\n`
  const { home, chat } = await openChat(t, yaml)
  await startKernelIn(t, home)
  await tirelessJson(home, 'send', 'count the words')
  const items = async () => (await tirelessJson<{ items: { result: string | null }[] }>(home, 'queue', 'list')).items
  await waitUntil(async () => (await items()).some(({ result }) => result === 'Three words.'))
  const first = await chat([
    { sees: /Since the chat was last open:\n[\s\S]*Three words\.[\s\S]*> /, types: `hi${ENTER}` },
    { sees: /Hello!\n[\s\S]*> /, types: `/statsu${ENTER}` },
    { sees: /Did you mean \/status\?[\s\S]*> /, types: `/queue list${ENTER}` },
    { sees: /Three words\.[\s\S]*> /, types: `${UP}${UP}${UP}${ENTER}` },
    { sees: /Hello!\n[\s\S]*> /, types: CTRL_C },
  ])
  assert.match(first, /I am on it\.[\s\S]*REPORT\.md/)
  assert.match(readFileSync(join(home, 'chat-history'), 'utf8'), /^hi\n\/statsu\n\/queue list\n/)
  const second = await chat(
    [
      { sees: /直接写给你的智能体[\s\S]*> /, types: `${UP}${ENTER}` },
      { sees: /> hi[\s\S]*Hello!\n[\s\S]*> /, types: `/quit${ENTER}` },
    ],
    'zh_CN.UTF-8',
  )
  assert.doesNotMatch(second, /Three words|上次离开对话之后/, 'once')
})

test('O1: without a model the terminal answers from the records and says what is possible, in both languages', {
  skip: noPseudoTerminal,
}, async (t) => {
  const { chat } = await openChat(t, '')
  const screen = await chat(
    [
      { sees: /直接写给你的智能体[\s\S]*> /, types: `今天做了什么${ENTER}` },
      { sees: /什么也没有发生[\s\S]*> /, types: `有几个智能体${ENTER}` },
      { sees: /智能体[\s\S]*> /, types: `paint the shed${ENTER}` },
      { sees: /No model is configured[\s\S]*> /, types: `/help${ENTER}` },
      { sees: /\/todo list[\s\S]*> /, types: `/quit${ENTER}` },
    ],
    'zh_CN.UTF-8',
  )
  assert.match(screen, /命令（不带 \/ 的是写给智能体的消息）/)
})
