/** From a message to its reply: router, plan, do, check, adjust, with the shipped behaviours, over a real provider. */

import assert from 'node:assert/strict'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { ProviderServer } from '../../src/testing/provider-server.ts'
import { configFor } from '../crash/kills.ts'
import { startKernelIn, startProvider, tirelessJson } from '../support/command-line.ts'
import { git } from '../support/git-repository.ts'
import { freshFolder } from '../support/open-app.ts'
import { noPseudoTerminal, PseudoTerminal } from '../support/pseudo-terminal.ts'
import { makeInbox, TASK, WORD_COUNTER_MOVES, wordCounterScript, writeAssistant } from '../support/word-counter.ts'

interface Place {
  readonly home: string
  /** A git repository with an inbox; the assistant works in it. */
  readonly workspace: string
  readonly provider: ProviderServer
}

async function createPlace(t: TestContext): Promise<Place> {
  const home = freshFolder(t)
  const workspace = realpathSync(makeInbox(freshFolder(t, 'ws')))
  writeAssistant(home, workspace)
  const provider = await startProvider(t, wordCounterScript())
  writeFileSync(join(home, 'tireless.yaml'), `${configFor(provider)}server: { port: 0 }\n`)
  return { home, workspace, provider }
}

const REPLY = [
  /^I will count them\.\n/,
  /\nREPORT\.md holds the number of words\.\n\n/,
  /- T001 write count\.sh, which counts the words of the inbox: proved by a check\n/,
  /- T002 write REPORT\.md: proved by a check\n/,
  /- T003 explain the number in NOTES\.md: asserted, not proved\n/,
]

/** Contract: the work went through all behaviours, and left what it says. */
async function checkWork({ home, workspace }: Place, reply: string): Promise<void> {
  for (const part of REPLY) assert.match(reply, part)
  // Files of the file tools and of commands.
  const files = ['NOTES.md', 'REPORT.md', 'count.sh']
  const links = files.map((name) => `- [${name}](${join(workspace, name)})`)
  assert.ok(reply.trimEnd().endsWith(`**Files**\n${links.join('\n')}`), reply)
  assert.equal(readFileSync(join(workspace, 'REPORT.md'), 'utf8'), 'words: 5\n')
  const changed = git(workspace, 'status', '--porcelain').trim().split('\n')
  assert.deepEqual(
    changed,
    files.map((name) => `?? ${name}`),
  )
  const { items } = await tirelessJson<{ items: { session_id: string }[] }>(home, 'sessions', 'list')
  const { session_id } = items.find((one) => !one.session_id.startsWith('chat-')) ?? assert.fail('no session')
  const { journal } = await tirelessJson<{ journal: { kind: string; behaviour?: string }[] }>(
    ...([home, 'sessions', 'show', session_id] as const),
  )
  const behaviours = journal.flatMap(({ behaviour }) => behaviour ?? [])
  assert.deepEqual(behaviours, ['plan', ...WORD_COUNTER_MOVES])
  const { items: todos } = await tirelessJson<{ items: { code: string; status: string; proof: string }[] }>(
    ...([home, 'todo', 'list', '--session', session_id] as const),
  )
  assert.deepEqual(
    todos.map(({ code, status, proof }) => `${code} ${status} ${proof}`),
    ['T001 DONE proved', 'T002 DONE proved', 'T003 DONE asserted'],
  )
}

describe('O1–O5: "count the words" is routed, planned, done, checked, adjusted and answered', () => {
  test('typed into the terminal chat', { skip: noPseudoTerminal }, async (t) => {
    const place = await createPlace(t)
    const env = { PATH: process.env.PATH, HOME: freshFolder(t, 'person'), LANG: 'en_US.UTF-8', TERM: 'xterm' }
    const terminal = new PseudoTerminal(place.workspace, { ...env, COLUMNS: '200', TIRELESS_HOME: place.home })
    const { exit, screen } = await terminal.type('tireless chat', {
      ...{ typed: `${TASK}\n`, until: /count\.sh\]\(\S+\)\n/, key: '\x04' },
    })
    assert.equal(exit, 0, screen)
    assert.match(screen, /→ session \w+/)
    const reply = screen.slice(screen.lastIndexOf('I will count them.'))
    await checkWork(place, reply.slice(0, reply.lastIndexOf(')') + 1))
  })

  test('sent over HTTP to a running kernel', async (t) => {
    const place = await createPlace(t)
    await startKernelIn(t, place.home)
    const { page } = await tirelessJson<{ page: string }>(place.home, 'status')
    const token = readFileSync(join(place.home, 'token'), 'utf8').trim()
    const answered = await fetch(new URL('/api/v1/chat', page), {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: TASK }),
    })
    const { answer } = (await answered.json()) as { answer: string }
    await checkWork(place, answer)
    assert.ok(place.provider.requests.every(({ body }) => body.model === 'test'))
  })
})
