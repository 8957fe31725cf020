import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sayInstant } from '../src/cli/views/times.ts'
import { shortId } from '../src/domain/short-id.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'

const NOTE = 'write "hello" to note.txt every weekday at 9:00'

describe('one agent on the command line', () => {
  test('show says when it runs in words, run prints what came of it, delete keeps runs and folder', async (t) => {
    const home = freshFolder(t)
    const created = await tireless(home, 'agent', 'new', NOTE, '--id', 'noter')
    assert.match(created.stdout, /Run it now: tireless agent run noter$/m)
    await tireless(home, 'agent', 'edit', 'noter', '--prompt', 'write "hello" to note.txt')

    const ran = await tireless(home, 'agent', 'run', 'not')
    assert.equal(ran.exit, 0, ran.stderr)
    assert.match(ran.stdout, /note\.txt/)
    assert.equal(readFileSync(join(home, 'workspaces/noter/note.txt'), 'utf8'), 'hello')

    const shown = await tireless(home, 'agent', 'show', 'noter')
    assert.match(shown.stdout, /runs: Monday to Friday at 09:00\nnext: .*09:00, .*09:00, .*09:00\n/)
    assert.match(shown.stdout, /workspace: workspaces\/noter\n/)
    const { runs } = await tirelessJson<{ runs: { dispatch_id: string }[] }>(home, 'agent', 'show', 'noter')
    assert.equal(runs.length, 1)
    assert.ok(shown.stdout.includes(shortId(runs[0]?.dispatch_id ?? '')))

    const asked = await tireless(home, 'agent', 'delete', 'noter')
    assert.equal(asked.exit, 2)
    assert.match(asked.stderr, /confirmation_needed: .*noter.*will be deleted.*agent delete noter --yes/)
    const deleted = await tireless(home, 'agent', 'delete', 'noter', '--yes')
    assert.match(
      deleted.stdout,
      /past runs are kept.*\n.*agents\/\.deleted\/noter\n.*workspaces\/noter\nBring it back:\n {2}mv /,
    )
    assert.ok(existsSync(join(home, 'workspaces/noter/note.txt')))
    assert.ok(existsSync(join(home, 'agents/.deleted/noter/agent.yaml')))
    assert.equal((await tirelessJson<{ items: unknown[] }>(home, 'agent', 'list')).items.length, 0)
    assert.equal((await tireless(home, 'agent', 'show', 'noter')).exit, 1)
    assert.match((await tireless(home, 'queue', 'list')).stdout, /noter +done/)
  })

  test('an agent of tireless.yaml is taken out of that file; its added schedules go with it', async (t) => {
    const yaml =
      'kernel:\n  agents:\n    # first\n    - { agent_id: one, prompt: x }\n    - { agent_id: two, prompt: y }\n'
    const app = await openApp(t, { yaml })
    await app.run('schedule add', { agent: 'one', every: '1h', id: 'hourly' })
    const { kept, schedules_removed } = await app.run('agent delete', { id: 'one', yes: true })
    assert.deepEqual(schedules_removed, ['hourly'])
    assert.equal(readFileSync(kept.file, 'utf8'), '# first\n{ agent_id: one, prompt: x }\n')
    assert.deepEqual(
      (await app.run('agent list', {})).items.map(({ agent_id }) => agent_id),
      ['two'],
    )
  })

  test('a wrong id names the likely agent', async (t) => {
    const yaml = 'kernel:\n  agents:\n    - { agent_id: writer, prompt: x }\n    - { agent_id: reader, prompt: y }\n'
    const app = await openApp(t, { yaml })
    await assert.rejects(app.run('agent show', { id: 'wrter' }), /no such agent; got wrter; expected one of writer;/)
  })
})

test('enqueue takes a task like run does; --prompt stays accepted; none and both are refused', async (t) => {
  const home = freshFolder(t)
  for (const args of [['water the plants'], ['--prompt', 'water the plants']])
    assert.equal((await tirelessJson(home, 'enqueue', ...args)).exit, 0)
  const { items } = await tirelessJson<{ items: { prompt: string }[] }>(home, 'queue', 'list')
  assert.deepEqual(
    items.map(({ prompt }) => prompt),
    ['water the plants', 'water the plants'],
  )
  assert.match((await tireless(home, 'enqueue')).stderr, /the task is missing/)
  assert.match((await tireless(home, 'enqueue', 'a', '--prompt', 'b')).stderr, /the task is given twice/)
})

test('--version prints the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'))
  const { exit, stdout } = await tireless(freshFolder(t), '--version')
  assert.deepEqual({ exit, stdout }, { exit: 0, stdout: `${version}\n` })
})

test('instants are said relative to now, in both languages', () => {
  const now = new Date(2026, 10, 16, 12, 0).getTime()
  const said = (language: 'en' | 'zh', ...at: [number, number, number, number, number]): string =>
    sayInstant(new Date(...at).toISOString(), now, language)
  assert.equal(said('en', 2026, 10, 16, 12, 12), 'in 12 min')
  assert.equal(said('zh', 2026, 10, 16, 11, 48), '12 分钟前')
  assert.equal(said('en', 2026, 10, 15, 9, 0), 'yesterday 09:00')
  assert.equal(said('zh', 2026, 10, 17, 9, 0), '明天 09:00')
  assert.equal(said('en', 2026, 10, 20, 9, 0), 'Fri 09:00')
  assert.equal(said('en', 2026, 0, 5, 9, 0), 'Jan 5 09:00')
  assert.equal(said('en', 2025, 0, 5, 9, 0), '2025-01-05 09:00')
})
