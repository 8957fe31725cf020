/** The conversation through the command line, the socket, HTTP and a signed hook, with a provider that speaks HTTP. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { Script } from '../../src/testing/provider-server.ts'
import { configFor, MAIN, NODE_FLAGS } from '../crash/kills.ts'
import { type CommandOutput, startKernelIn, startProvider, tireless, tirelessJson } from '../support/command-line.ts'
import { FRONT_MARK, writeTalkBehaviours } from '../support/conversations.ts'
import { startHookServer } from '../support/hook-server.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { sendSigned } from '../support/signed-hook.ts'

const route = (args: Readonly<Record<string, string | boolean>>) => ({ calls: [{ tool: 'route', args }] })

/** Later messages come first: the session in front remembers the earlier ones. */
const SCRIPT: Script = {
  conversations: [
    { match: `${FRONT_MARK}\n再见`, turns: [route({ none: true, reply: '再见！' })] },
    { match: `${FRONT_MARK}\ncount`, turns: [route({ new: 'Words', reply: 'I am on it.' })] },
    { match: `${FRONT_MARK}\n`, turns: [route({ none: true, reply: 'Hello!' })] },
    {
      match: 'count',
      turns: [
        { text: 'I write it.', calls: [{ tool: 'create_file', args: { path: 'REPORT.md', content: '3' } }] },
        { text: 'Three words.' },
      ],
    },
  ],
}

async function talkHome(t: TestContext, more = ''): Promise<string> {
  const home = freshFolder(t)
  writeTalkBehaviours(home)
  writeFileSync(join(home, 'tireless.yaml'), configFor(await startProvider(t, SCRIPT)) + more)
  return home
}

/** Runs `chat` with these lines as its input. */
function chatWith(home: string, lines: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandOutput> {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'chat', '--home', home], {
    env: { ...process.env, ...env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  child.stdin.end(`${lines.join('\n')}\n`)
  return new Promise((resolve) => child.once('close', (exit) => resolve({ exit, stdout, stderr })))
}

describe('chat on the command line', () => {
  test('reads lines, answers each, runs verbs by /, and exits 0 at the end of the input', async (t) => {
    const home = await talkHome(t)
    const lines = ['hi', 'count the \\', 'words', '/approvals', '/statsu', '/start', '再见']
    const { exit, stdout, stderr } = await chatWith(home, lines)
    assert.equal(exit, 0, stderr)
    assert.match(stdout, /^Hello!\nI am on it\.\n\nThree words\.\n\n\*\*Files\*\*\n- \[REPORT\.md\]\(\S+\)\n/)
    assert.match(stdout, /再见！\n$/)
    assert.match(stderr, /→ session \w{8}\n· create_file \{"path":"REPORT\.md"/)
    assert.match(stderr, /There is no command \/statsu\. Did you mean \/status\?/)
    assert.match(stderr, /start cannot be used inside the chat; run: tireless start/)
    const { prompt } = JSON.parse((await tireless(home, 'queue', 'list', '--json')).stdout).items.find(
      ({ agent_id, session_id }: { agent_id: string; session_id: string }) =>
        agent_id === 'assistant' && !session_id.startsWith('chat-'),
    )
    assert.equal(prompt, 'count the \nwords')
    const once = await tireless(home, 'chat', 'hi again')
    assert.deepEqual([once.exit, once.stdout], [0, 'Hello!\n'])
  })

  test('without a model: questions about the past by rule, else what is possible, in both languages', async (t) => {
    const home = freshFolder(t)
    const { exit, stdout } = await chatWith(home, [
      'what did you do yesterday?',
      'paint the shed',
      '画一幅画',
      '/quit',
      'x',
    ])
    assert.equal(exit, 0)
    const [past, english, chinese, ...more] = stdout.trimEnd().split('\n')
    assert.match(past ?? '', /yesterday|nothing/i)
    assert.match(english ?? '', /^No model is configured/)
    assert.match(chinese ?? '', /^还没有配置模型/)
    assert.deepEqual(more, [])
    const sent = await tireless(home, 'send', 'paint the shed')
    assert.match(sent.stdout, /^No model is configured/)
  })
})

describe('beside a running kernel', () => {
  test('O1: chat through the socket, POST /chat and /send, and a signed hook reach the same agent', async (t) => {
    const outside = await startHookServer(t)
    const hook = `channels: { webhook: { url: "${outside.url}", secret: of the hook, chat_id: ops } }\n`
    const home = await talkHome(t, `server: { port: 0 }\n${hook}`)
    await startKernelIn(t, home)
    const { exit, stdout } = await chatWith(home, ['hi', 'count the words'])
    assert.equal(exit, 0)
    assert.match(stdout, /^Hello!\nI am on it\.\n\nThree words\./)

    const { page } = await tirelessJson<{ page: string }>(home, 'status')
    const token = readFileSync(join(home, 'token'), 'utf8').trim()
    const post = async (path: string, body: object) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const answer = await fetch(new URL(path, page), { method: 'POST', headers, body: JSON.stringify(body) })
      return (await answer.json()) as Record<string, unknown>
    }
    assert.equal((await post('/api/v1/chat', { text: 'hi', chat: 'http-ann' })).answer, 'Hello!')
    const accepted = await post('/api/v1/send', { text: 'hi', chat: 'http-ann', key: 'k1' })
    assert.deepEqual([accepted.session_id, accepted.duplicate], ['chat-http-ann', false])
    assert.equal((await post('/api/v1/send', { text: 'hi', chat: 'http-ann', key: 'k1' })).duplicate, true)

    await sendSigned(home, 'of the hook', { text: '再见', chat_id: 'ops' }, 'd1')
    const texts = () => outside.received.map(({ body: sent }) => JSON.parse(sent).text)
    await waitUntil(() => texts().includes('再见！'))
    assert.deepEqual(texts().filter((text) => text === '再见！').length, 1)
  })
})
