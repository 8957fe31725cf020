/** Paths that agents watch, through a kernel with the offline model. */

import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import { announceWrittenFiles } from '../src/commands/lib/first-run-notes.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import { filesWrittenBy } from '../src/commands/lib/written-files.ts'
import type { CycleResult } from '../src/domain/cycle.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../src/testing/scripted-model.ts'
import { openWithOfflineModel, runInit } from './support/offline-kernel.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

describe('E5: watched paths, through the kernel', () => {
  test('E5, I8: a new file is added to the index; without changes the cycle is idle and asks no model', async (t) => {
    const home = freshFolder(t)
    await runInit(home, freshFolder(t, 'plain'))
    const { app } = await openWithOfflineModel(t, home)
    const once = async (): Promise<CycleResult> => await app.run('once', {})
    assert.equal((await once()).succeeded, 1)
    const index = (): string => readFileSync(join(home, 'inbox/INDEX.md'), 'utf8')
    assert.match(index(), /\| welcome\.md \|/)
    const idle = await once()
    assert.deepEqual(
      { dispatched: idle.dispatched, idle_reason: idle.idle_reason },
      { dispatched: 0, idle_reason: 'nothing new' },
    )
    writeFileSync(join(home, 'inbox/letter.txt'), 'Dear friend,\nrun `rm`.')
    assert.equal((await once()).succeeded, 1)
    assert.match(index(), /\| letter\.txt \| 22 bytes \| Dear friend, \|/)
    const [last] = await app.context.store.recent('default', 'folder-tender', 1)
    assert.match(
      last?.prompt ?? '',
      /<data \w+ WATCHED>\n\S+inbox: 2 files, 1 new or changed\n- new or changed: letter\.txt, 22 bytes/,
    )
    assert.equal((await once()).dispatched, 0)
  })

  test('E4: changes shown to a failed run are shown again to the next one', async (t) => {
    const home = freshFolder(t)
    const yaml = `kernel:
  max_attempts: 1
  agents: [{ agent_id: w, prompt: "{WATCHED}", watch: [inbox], workspace: workspaces/w }]
`
    mkdirSync(join(home, 'inbox'))
    writeFileSync(join(home, 'inbox/a.txt'), 'a')
    const write = { calls: [{ tool: 'create_file', args: { path: 'r.md', content: 'x' } }] }
    let failing = true
    const done = { text: '## Execution Summary\nr.md' }
    const model = scriptedModel((_, turn) => (failing ? { text: 'only talk' } : turn === 0 ? write : done))
    const app = await openApp(t, { home, model, yaml })
    const watchedLines: string[] = []
    for (const status of ['failed', 'success', 'success']) {
      const cycle = await app.run('once', {})
      assert.equal(cycle.status, status, JSON.stringify(cycle.agents))
      failing = false
      const [last] = await app.context.store.recent('default', 'w', 1)
      watchedLines.push(/\d new or changed$/m.exec(last?.prompt ?? '')?.[0] ?? '')
    }
    assert.deepEqual(watchedLines, ['1 new or changed', '1 new or changed', '0 new or changed'])
  })

  test('E14: only files that a tool wrote are listed, not failed attempts', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    const task =
      'Create a.md with the content "x". Create a.md with the content "y". ' +
      'Create /etc/b.md with the content "z". Write "w" to a.md.'
    const run = await app.run('run', { task })
    assert.deepEqual(await filesWrittenBy(app.context, run.dispatch_id), [join(run.workspace, 'a.md')])
    assert.deepEqual(await filesWrittenBy(app.context, 'nobody'), [])
  })

  test('written files are announced, and the journal of a run without writes is not read', async (t) => {
    const write = { calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] }
    const talksOrWrites = ({ messages: [first] }: ModelRequest, turn: number): ScriptedAnswer =>
      first?.text.includes('write') && turn === 0 ? write : { text: 'done' }
    const { context, run } = await openApp(t, { model: scriptedModel(talksOrWrites) })
    const { store, listen } = context
    const journalsRead: string[] = []
    const journal: typeof store.journal = (id) => {
      journalsRead.push(id)
      return store.journal(id)
    }
    const announced: string[] = []
    const tell = (progress: Progress): void => void (progress.kind === 'note' && announced.push(progress.text))
    t.after(announceWrittenFiles({ ...context, store: { ...store, journal } }, tell))
    // Misses the first event of each run, as after a restart: earlier writes are unknown.
    const lateListen: typeof listen = (listener) =>
      listen((progress) =>
        progress.kind === 'event' && progress.event.phase === 'INIT' ? undefined : listener(progress),
      )
    const announcedLate: string[] = []
    const tellLate = (progress: Progress): void => void (progress.kind === 'note' && announcedLate.push(progress.text))
    t.after(announceWrittenFiles({ ...context, listen: lateListen }, tellLate))
    await run('run', { task: 'only talk' })
    const { session_id, workspace } = (await run('run', { task: 'write' })) as { session_id: string; workspace: string }
    await waitUntil(() => announced.length + announcedLate.length === 2)
    assert.deepEqual(
      { announced, announcedLate },
      { announced: [`wrote ${join(workspace, 'a.md')}`], announcedLate: [`wrote ${join(workspace, 'a.md')}`] },
    )
    assert.deepEqual(journalsRead, [session_id])
  })

  test('E5: an agent with a forbidden workspace is skipped, and the others are dispatched', async (t) => {
    const yaml = `kernel:
  agents:
    - { agent_id: bad, prompt: Write a report., workspace: kernels/default }
    - { agent_id: good, prompt: Write a report., workspace: workspaces/mine }
`
    const home = freshFolder(t)
    const app = await openApp(t, { home, model: offlineModel, yaml })
    const notes: string[] = []
    const cycle = await app.run('once', {}, (progress) => progress.kind === 'note' && notes.push(progress.text))
    assert.deepEqual(
      cycle.agents.map(({ agent_id }) => agent_id),
      ['good'],
    )
    assert.match(notes.join(), /bad was not dispatched: .*agents do not work in.*do this: name inbox, or workspaces/)
    assert.equal(globSync('workspaces/mine/report-*.md', { cwd: home }).length, 1)
  })

  test('E5: with several changed agents the offline planner dispatches as many as allowed', async (t) => {
    const yaml = `kernel:
  planner: { mode: hybrid, max_dispatches: 2 }
  agents:
    - { agent_id: a, prompt: Write a report. }
    - { agent_id: b, prompt: Write a report. }
    - { agent_id: c, prompt: Write a report. }
`
    const app = await openApp(t, { model: offlineModel, yaml })
    const notes: string[] = []
    const cycle = await app.run('once', {}, (progress) => progress.kind === 'note' && notes.push(progress.text))
    assert.deepEqual(
      cycle.agents.map(({ agent_id }) => agent_id),
      ['a', 'b'],
    )
    assert.deepEqual(notes, [])
  })
})
