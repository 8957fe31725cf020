/** A home after a week of scripted work: sessions, todos, a queue in every state, files with a history. */

import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { CheckResult, TodoCheck, TodoVerb } from '../../src/domain/todo.ts'
import type { TodoAction } from '../../src/domain/todo-delta.ts'
import { commitOne } from '../../src/ports/store.ts'
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts'
import { call } from './approval-fixtures.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { scriptedWork } from './scripted-work.ts'
import { PAYLOAD } from './talk-page.ts'

const TOOLS = 'work, ask_user, wait, finish'
const YAML = `server: { port: 0 }
kernel:
  agents:
    - { agent_id: writer, prompt: write, enabled: false, workspace: workspaces/reports, tools: [${TOOLS}] }
    - { agent_id: scout, prompt: look, enabled: false, workspace: workspaces/news, tools: [${TOOLS}] }
`

export interface WorkWeek extends HttpApp {
  /** The ids of runs in each state. */
  readonly runs: { readonly failed: string; readonly asking: string; readonly later: string; readonly paused: string }
  /** The session with the todos. */
  readonly planned: string
  /** Contract: a run that applies one verb to a todo of that session. */
  workOn(code: string, verb: TodoVerb): Promise<void>
}

/** The task says what comes of it. */
function answerTo(text: string): ScriptedAnswer {
  if (text.includes('fail')) throw new TirelessError('model_refused', `the provider refused ${PAYLOAD}`)
  if (text.includes('ask me') && !text.includes('Paris'))
    return { calls: [call('ask_user', { question: `Which city? ${PAYLOAD}` })] }
  return { text: `Done. ${PAYLOAD}` }
}

const put = (path: string, text: string) => (root: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** Names and contents that would do something if a page took them for markup. */
function writeHostileFiles(root: string): void {
  for (const name of HOSTILE_NAMES) writeFileSync(join(root, name), PAYLOAD)
  symlinkSync('/etc', join(root, 'away'))
  writeFileSync(join(root, 'data.bin'), Buffer.from([0, 1, 2, 255]))
  writeFileSync(join(root, 'large.txt'), 'x'.repeat(3_000_000))
  writeFileSync(join(root, 'huge.txt'), Buffer.alloc(11_000_000, 'x'))
  writeFileSync(join(root, 'pixel.png'), Buffer.from(PIXEL, 'base64'))
  mkdirSync(join(root, 'many'))
  for (let n = 0; n < 3000; n += 1) writeFileSync(join(root, 'many', `note-${String(n).padStart(4, '0')}.txt`), '')
}

export const HOSTILE_NAMES = [
  '<img src=x onerror="window.hacked=8">.md',
  'page.html',
  'image.svg',
  '\u202efdp.exe',
  '.hidden',
] as const

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const check: TodoCheck = { kind: 'command', run: `grep -q price report.md # ${PAYLOAD}` }

const resultOf = (ok: boolean): CheckResult => ({
  ...{ check, ok, exit: ok ? 0 : 1, observed: ok ? 'exit 0' : `exit 1 ${PAYLOAD}`, output: PAYLOAD },
  ...{ at: '2030-01-01T08:00:00.000Z', digest: 'd' },
})

const added = (title: string, more = {}): TodoAction => ({
  ...{ kind: 'add', by: { kind: 'root', behaviour: 'plan' } },
  todo: { title, type: 'Task', deps: [], assignee: null, parallel: false, skills: [], checks: [], ...more },
})

const changed = (code: string, verb: TodoVerb): TodoAction => {
  const behaviour = verb === 'pass' || verb === 'reject' ? 'check' : 'do'
  return { kind: 'change', by: { kind: 'root', behaviour }, code, verb, reason: `because ${PAYLOAD}` }
}

const system = { kind: 'system' } as const

/** One todo in each column. */
const PLAN: readonly TodoAction[] = [
  added('Collect the prices'),
  added(`Write the report ${PAYLOAD}`, { deps: ['T001'], checks: [check], skills: ['writing'] }),
  added('Check the sums', { checks: [check] }),
  added('Ask the printer'),
  added('Send it to the board', { deps: ['T002', 'T003'] }),
  added('The report can be read', { type: 'Bench' }),
  ...[changed('T001', 'start'), changed('T001', 'done')],
  { kind: 'evidence', by: system, code: 'T001', results: [] },
  changed('T001', 'pass'),
  changed('T002', 'start'),
  { kind: 'baseline', by: system, code: 'T003', results: [resultOf(false)] },
  ...[changed('T003', 'start'), changed('T003', 'done')],
  { kind: 'evidence', by: system, code: 'T003', results: [resultOf(false)] },
  changed('T003', 'reject'),
  ...[changed('T004', 'start'), changed('T004', 'fail')],
]

export async function openWorkWeek(t: TestContext): Promise<WorkWeek> {
  const work = scriptedWork(answerTo)
  const served = await openHttpApp(t, { yaml: YAML, model: work.model, tools: [work.tool] })
  const { app } = served
  await work.run(app, [put('report.md', '# Report\n\nprice: 10\n'), put('drafts/old.md', 'old\n')])
  await work.run(app, [put('report.md', `# Report\n\nprice: 12\n${PAYLOAD}\n`)])
  await work.run(app, [writeHostileFiles], 'scout')
  const enqueue = async (prompt: string, more = {}): Promise<string> =>
    (await app.run('enqueue', { prompt, agent: 'writer', ...more })).dispatch_id
  const failed = await enqueue(`fail ${PAYLOAD}`)
  const asking = await enqueue('ask me for the city', { agent: 'scout' })
  await app.run('start', { until_idle: true })
  const paused = await enqueue('paused work')
  await app.run('queue pause', { id: paused })
  const later = await enqueue(`later ${PAYLOAD}`, { at: '3h', priority: 5 })
  const planned = (await app.run('queue show', { id: later })).session_id
  let ops = 0
  const apply = async (actions: readonly TodoAction[]): Promise<void> => {
    ops += 1
    const op = {
      op: 'todos',
      op_id: `week ${ops}`,
      session_id: planned,
      actions,
      now: app.context.clock.now(),
    } as const
    const [{ refusal }] = await commitOne(app.context.store, [op])
    assert.equal(refusal, null)
  }
  await apply(PLAN)
  return {
    ...{ ...served, runs: { failed, asking, later, paused }, planned },
    workOn: async (code, verb) => {
      await work.run(app, [() => apply([changed(code, verb)])])
    },
  }
}
