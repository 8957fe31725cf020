// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import type { App } from '../src/app.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { startKernelIn, tireless, tirelessJson } from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

interface AgentRow {
  readonly agent_id: string
  readonly enabled: boolean
  readonly schedule: unknown
  readonly priority: number
  readonly source: string
  readonly last_status: string | null
  readonly next_at: string | null
  readonly prompt: string
}

const listAgents = async (app: App): Promise<readonly AgentRow[]> => (await app.run('agent list', {})).items

const OWNER_YAML = `# the owner's own words
kernel:
  schedule: "0 * * * *" # hourly
  agents:
    # the first
    - agent_id: first
      prompt: Create a.md. # not much
      enabled: true
`

/** Starts at noon UTC, so that every next beat has a known time. */
const clockAtNoon = (): FakeClock => new FakeClock({ now: Date.UTC(2026, 1, 11, 12) })

function makeRepo(t: TestContext): string {
  const folder = freshFolder(t, 'repo')
  execFileSync('git', ['init', '-q', folder])
  mkdirSync(join(folder, 'below'))
  return folder
}

describe('E1: agents managed by command', () => {
  test('E1: an agent created from a sentence is listed at once, with its schedule and its source file', async (t) => {
    const app = await openApp(t, { clock: clockAtNoon(), yaml: `${OWNER_YAML}  timezone: UTC\n` })
    const below = join(makeRepo(t), 'below')
    const created = await app.run('agent new', {
      sentence: 'watch my repo and report every morning',
      here: below,
    })
    assert.equal(created.agent_id, 'watch-repo-report')
    assert.equal(created.schedule, '0 9 * * *')
    assert.equal(created.next_at, '2026-02-12T09:00:00.000Z')
    const text = readFileSync(created.source, 'utf8')
    assert.match(
      text,
      /schedule: 0 9 \* \* \*\nwatch:\n {2}- git: \S+repo-\w+\nworkspace: workspaces\/watch-repo-report\nprompt: \|\n/,
    )
    const items = await listAgents(app)
    assert.deepEqual(
      items.map(({ agent_id, next_at }) => ({ agent_id, next_at })),
      [
        { agent_id: 'first', next_at: '2026-02-11T13:00:00.000Z' },
        { agent_id: 'watch-repo-report', next_at: '2026-02-12T09:00:00.000Z' },
      ],
    )
    const notes: string[] = []
    const again = await app.run('agent new', { sentence: 'watch my repo and report every morning' }, (progress) => {
      if (progress.kind === 'note') notes.push(progress.text)
    })
    assert.equal(again.agent_id, 'watch-repo-report-2')
    assert.match(notes[0] ?? '', /nothing to watch.*: tireless agent edit watch-repo-report-2 --watch PATH$/)
    assert.equal((await app.run('enqueue', { agent: again.agent_id, prompt: 'x' })).duplicate, false)
  })

  test('E1: options override the sentence; a variable in a prompt is not replaced', async (t) => {
    const app = await openApp(t, { clock: clockAtNoon() })
    const watch = freshFolder(t, 'watched')
    const sentence = 'tend ~/inbox every morning and print ${HOME}'
    const created = await app.run('agent new', {
      sentence,
      id: 'mine',
      schedule: 'every 30m',
      model: 'offline/rules',
      watch,
    })
    assert.deepEqual(
      { agent_id: created.agent_id, schedule: created.schedule },
      { agent_id: 'mine', schedule: { every: 1_800_000 } },
    )
    assert.match(created.prompt, /^tend ~\/inbox every morning and print \$\{HOME\}\n/)
    assert.match(readFileSync(created.source, 'utf8'), new RegExp(`watch:\\n {2}- ${watch}\\nmodel: offline/rules\\n`))
  })

  test('E1: invalid input is refused before anything is written', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clockAtNoon(), yaml: OWNER_YAML })
    const assertRefused = async (input: object, code: string, message: RegExp): Promise<void> => {
      await assert.rejects(
        app.run('agent new', { sentence: 'do it', id: 'bad', ...input }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, code)
          assert.match(error.message, message)
          return true
        },
      )
      assert.equal(existsSync(join(home, 'agents', 'bad')), false)
    }
    await assertRefused({ schedule: '99 * * * *' }, 'usage', /minute 99 is not from 0 to 59/)
    await assertRefused(
      { schedule: 'whenever' },
      'usage',
      /the schedule is not understood; got "whenever"; expected words/,
    )
    await assertRefused({ model: 'nobody/x' }, 'model_unknown', /unknown model/)
    await assertRefused({ id: '../bad' }, 'usage', /the agent id is not valid/)
    await assertRefused(
      { id: 'first' },
      'config_invalid',
      /two agents have the same id; got first, which .*tireless\.yaml:6 already uses/,
    )
    assert.deepEqual(
      (await listAgents(app)).map(({ agent_id }) => agent_id),
      ['first'],
    )
    assert.equal(existsSync(join(home, 'agents', 'first')), false)
  })

  test('E1: edit, disable and enable change the file that defines the agent, and keep its comments', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clockAtNoon(), yaml: OWNER_YAML })
    const edited = await app.run('agent edit', {
      id: 'first',
      prompt: 'Create b.md.',
      priority: 7,
      schedule: '@daily',
    })
    assert.deepEqual(
      { prompt: edited.prompt, priority: edited.priority, schedule: edited.schedule },
      { prompt: 'Create b.md.', priority: 7, schedule: '@daily' },
    )
    assert.equal((await app.run('agent disable', { id: 'first' })).next_at, null)
    const text = readFileSync(join(home, 'tireless.yaml'), 'utf8')
    assert.match(text, /^# the owner's own words\n/)
    assert.match(
      text,
      /# the first\n {4}- agent_id: first\n {6}prompt: Create b\.md\. # not much\n {6}enabled: false\n/,
    )
    assert.equal((await app.run('agent enable', { id: 'first' })).enabled, true)
    assert.equal((await app.run('agent edit', { id: 'first', schedule: 'none' })).schedule, null)
    await assert.rejects(app.run('agent edit', { id: 'first' }), /no change given.*edit .*tireless\.yaml/)
    await assert.rejects(
      app.run('agent edit', { id: 'firsr', priority: 1 }),
      /no such agent; got firsr; expected one of first/,
    )
    await assert.rejects(app.run('agent edit', { id: 'first', schedule: '61 * * * *' }), { code: 'usage' })
  })

  test('E5: an agent added while the kernel runs is due at the next beat; a disabled one is not', async (t) => {
    const clock = clockAtNoon()
    const model = scriptedModel(() => ({ calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] }))
    const app = await openApp(t, { clock, model, yaml: `${OWNER_YAML}  timezone: UTC\n` })
    const stop = new AbortController()
    const running = app.context.kernel.run(stop.signal)
    const drained = app.context.drain({ untilIdle: false, until: stop.signal })
    await waitUntil(() => app.context.kernel.nextBeatAt() !== undefined)
    await app.run('agent disable', { id: 'first' })
    await app.run('agent new', { sentence: 'do it', id: 'second', schedule: '*/10 * * * *', yes: true })
    await waitUntil(async () => {
      await clock.advance(60_000)
      return (await app.context.store.recent('default', 'second', 1)).length > 0
    })
    assert.equal((await app.context.store.recent('default', 'first', 1)).length, 0)
    stop.abort()
    await running
    await drained
  })

  test('E1: an edited role.md takes effect while the kernel runs', async (t) => {
    const home = freshFolder(t)
    mkdirSync(join(home, 'agents/r'), { recursive: true })
    writeFileSync(join(home, 'agents/r/agent.yaml'), 'workspace: workspaces/r\n')
    writeFileSync(join(home, 'agents/r/role.md'), 'one')
    const app = await openApp(t, { home, clock: clockAtNoon(), model: offlineModel })
    const stop = new AbortController()
    const running = app.context.kernel.watchConfig(stop.signal)
    writeFileSync(join(home, 'agents/r/role.md'), 'another')
    await waitUntil(() => app.context.agentDirectory.all()[0]?.agent.prompt === 'another')
    stop.abort()
    await running
  })

  test("E1: work for an agent runs in the agent's workspace, unless a workspace is named", async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clockAtNoon(), model: offlineModel })
    await app.run('agent new', { sentence: 'do it', id: 'placed' })
    await app.run('agent edit', { id: 'placed', workspace: 'workspaces/a place' })
    const task = { agent: 'placed', prompt: 'Create a.md with the text "x".' }
    await app.run('enqueue', task)
    await app.run('start', { until_idle: true })
    assert.equal(readFileSync(join(home, 'workspaces/a place/a.md'), 'utf8'), 'x')
    const elsewhere = freshFolder(t, 'elsewhere')
    const result = await app.run('run', { task: 'List the files.', agent: 'placed', workspace: elsewhere })
    assert.equal(result.workspace, realpathSync(elsewhere))
  })

  test('E1, E13: an agent added later uses its own model and tools at once', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, clock: clockAtNoon() })
    await app.run('agent new', { sentence: 'do it', id: 'later', model: 'offline/rules' })
    assert.deepEqual(await app.context.models.fallbackChain({ agent: 'later' }), ['offline/rules'])
    const file = join(home, 'agents/later/agent.yaml')
    writeFileSync(file, `${readFileSync(file, 'utf8')}tools: [list_files]\n`)
    await app.run('agent edit', { id: 'later', priority: 1 })
    const result = await app.run('run', { task: 'Create a.md. List the files.', agent: 'later' })
    assert.match(result.answer ?? '', /create_file a\.md: NOT DONE: the tool `create_file` is not available/)
    assert.match(result.answer ?? '', /list_files \.: done/)
  })

  test("E1: agent new works through the running kernel, relative to the caller's folder", async (t) => {
    const home = freshFolder(t)
    const child = await startKernelIn(t, home)
    const created = await tirelessJson<AgentRow>(
      home,
      'agent',
      'new',
      'report on the commits of this repository every hour',
    )
    assert.equal(created.exit, 0)
    assert.match(readFileSync(created.source, 'utf8'), new RegExp(`git: ${join(import.meta.dirname, '..')}\\n`))
    const { stdout } = await tireless(home, 'agent', 'list')
    assert.match(stdout, /report-commits-repository {2}every hour {2}/)
    assert.equal((await tirelessJson(home, 'agent', 'disable', created.agent_id)).enabled, false)
    assert.equal((await tireless(home, 'agent', 'enable', 'nobody')).exit, 1)
    child.kill('SIGTERM')
  })
})
