/**
 * What many runs leave behind: after retention, a home is as large as before. `BOUNDED_RUNS=1000` makes a thousand runs
 * (`npm test`: 80).
 */

import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { calling, finishing, LEAD_TOOLS, spawning, WAIT_FOR_AGENTS } from '../support/agent-family.ts'
import { fakeBehaviour } from '../support/fake-tools.ts'
import { openKernelApp, runOnce } from '../support/kernels.ts'

const DAY = 86_400_000
const RUNS = Number(process.env.BOUNDED_RUNS ?? 80)
const ROUNDS = 4
/** Of the database: the audit is kept. */
const MOST_GROWTH = 1.3

/** A run writes a file, and its sub-agent another one, which is merged. */
function answer({ messages }: ModelRequest, turn: number): ScriptedAnswer {
  const task = messages.flatMap((message) => ('text' in message ? [message.text] : [])).join(' ')
  const name = /for (\d+)/.exec(task)?.[1] ?? ''
  const write = calling('create_file', {
    path: `${task.startsWith('lead') ? 'own' : 'part'}-${name}.md`,
    content: name,
  })
  const lead = [write, spawning(`write the part for ${name}`), WAIT_FOR_AGENTS]
  return (task.startsWith('lead') ? lead : [write])[turn] ?? finishing('done')
}

/** How many files are in each folder of the home. The versions of STATE.md are kept on purpose: one per cycle. */
function countFiles(home: string): Record<string, number> {
  const folders = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return Object.fromEntries(
    folders.map(({ name }) => {
      const entries = readdirSync(join(home, name), { recursive: true, withFileTypes: true })
      return [name, entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('kernels')).length]
    }),
  )
}

const databaseBytes = (home: string): number =>
  readdirSync(home)
    .filter((name) => name.includes('.db'))
    .reduce((sum, name) => sum + statSync(join(home, name)).size, 0)

test(`E6, case 142: ${RUNS} runs with sub-agents and undos leave a home that does not grow`, async (t) => {
  const { app, home, clock } = await openKernelApp(t, {
    agents: [],
    config: { retention: { days: 1 } },
    options: { model: scriptedModel(answer), behaviours: [fakeBehaviour({ name: 'lead', tools: LEAD_TOOLS })] },
  })
  const left: { readonly files: Record<string, number>; readonly bytes: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let n = 0; n < RUNS / ROUNDS; n += 1) {
      const { status } = await app.run('run', { task: `lead the work for ${round * RUNS + n}`, behaviour: 'lead' })
      assert.equal(status, 'done')
    }
    await app.run('undo', { target: 'last', yes: true })
    await clock.advance(2 * DAY)
    await runOnce(app)
    // Results stay until their owner removes them.
    for (const { name } of (await app.run('workspace list', { limit: 1000 })).items)
      await app.run('workspace remove', { workspace: name, now: true, yes: true })
    left.push({ files: countFiles(home), bytes: databaseBytes(home) })
  }
  assert.equal((await app.run('queue list', {})).items.length, 0)
  const [first, ...later] = left
  for (const { files, bytes } of later) {
    assert.deepEqual(files, first?.files)
    assert.ok(bytes > 0 && bytes < (first?.bytes ?? 0) * MOST_GROWTH, `${first?.bytes} bytes became ${bytes}`)
  }
})
