import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { REQUIRED_NODE } from '../src/adapters/system/machine.ts'
import { doctor } from '../src/commands/doctor.ts'
import { validateAndRun } from '../src/commands/lib/validate-and-run.ts'
import type { UnknownOutcome } from '../src/domain/unknown-outcome.ts'
import { commitOne } from '../src/ports/store.ts'
import {
  createHome,
  startKernelIn,
  startTireless,
  tireless,
  tirelessJson,
  waitForExit,
} from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'
import { WITHOUT_SANDBOX } from './support/sandbox-available.ts'

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly found: string
  readonly remedy: string | null
}

const CHECKS = [
  ...['node', 'sqlite', 'privacy', 'configuration', 'disk', 'file system', 'git', 'bash', 'sandbox', 'limits'],
  ...['durability', 'acknowledged work', 'database', 'stored rows', 'snapshots', 'schedules'],
  ...['model', 'notices', 'documents'],
  ...['dead work', 'unfinished undos', 'unknown outcomes', 'needs you', 'orphaned work', 'leftovers'],
]

async function doctorIn(
  home: string,
  ...args: string[]
): Promise<{ exit: number | null; findings: Check[]; checks: Check[] }> {
  const { exit, ok, checks } = await tirelessJson<{ ok: boolean; checks: Check[] }>(home, 'doctor', ...args)
  const found = checks.filter((check) => !check.ok)
  assert.equal(ok, found.length === 0)
  assert.equal(exit, ok ? 0 : 1)
  for (const { name, found: what, remedy } of found) assert.ok(what !== '' && remedy, `${name} has a remedy`)
  // On a machine without a sandbox, the sandbox check always fails.
  const findings = found.filter(({ name }) => name !== 'sandbox' || WITHOUT_SANDBOX === false)
  return { exit: findings.length === 0 ? 0 : exit, findings, checks }
}

const namesOf = (checks: readonly Check[]): string[] => checks.map(({ name }) => name)

describe('doctor', () => {
  test('a healthy home passes every check with exit 0; unused settings are only reported', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), 'channels: { slack: {} }\n')
    const { exit, checks } = await doctorIn(home)
    assert.deepEqual({ exit, names: namesOf(checks) }, { exit: 0, names: CHECKS })
    assert.match(checks.find(({ name }) => name === 'configuration')?.found ?? '', /not supported yet: channels.slack/)
    const printed = await tireless(home, 'doctor')
    assert.match(printed.stdout, /ok {2}database: intact/)
  })

  test('files that other users can read are found, and --fix makes them private', async (t) => {
    const home = freshFolder(t)
    await tirelessJson(home, 'status')
    chmodSync(home, 0o755)
    chmodSync(join(home, 'tireless.db'), 0o644)
    writeFileSync(join(home, 'token'), 'x', { mode: 0o644 })
    const { findings } = await doctorIn(home)
    // Opening the database makes it private, so only the others are found.
    assert.deepEqual(namesOf(findings), ['privacy'])
    assert.match(findings[0]?.found ?? '', /0755, should be 0700.*token \(0644, should be 0600\)/)
    assert.match(findings[0]?.remedy ?? '', /doctor --fix/)
    assert.equal((await doctorIn(home, '--fix')).exit, 0)
    assert.deepEqual(
      { home: statSync(home).mode & 0o777, token: statSync(join(home, 'token')).mode & 0o777 },
      { home: 0o700, token: 0o600 },
    )
    assert.equal((await doctorIn(home)).exit, 0)
  })

  test('a bad configuration, a damaged database and an interrupted restore are findings, not crashes', async (t) => {
    const home = freshFolder(t)
    writeFileSync(join(home, 'tireless.yaml'), 'kernel: { max_concurent: 5 }\n')
    const misconfigured = await doctorIn(home)
    assert.deepEqual(namesOf(misconfigured.findings), ['configuration'])
    assert.match(
      JSON.stringify(misconfigured.findings),
      /tireless\.yaml:1:.*max_concurent.*rename it to max_concurrent/,
    )

    writeFileSync(join(home, 'tireless.yaml'), '')
    writeFileSync(join(home, 'tireless.db'), 'this is no database\n'.repeat(500))
    const damaged = await doctorIn(home, '--fix')
    assert.deepEqual(namesOf(damaged.findings), ['home'])
    assert.match(damaged.findings[0]?.remedy ?? '', /restore a backup/)
    assert.match(readFileSync(join(home, 'tireless.db'), 'utf8'), /^this is no database/)

    const halfRestored = freshFolder(t)
    writeFileSync(join(halfRestored, 'restore.note'), '{}')
    const halfway = await doctorIn(halfRestored)
    assert.match(halfway.findings[0]?.remedy ?? '', /tireless restore DIR/)
  })

  test('damage inside the database is found', async (t) => {
    const home = freshFolder(t)
    for (let i = 0; i < 3; i += 1) await tirelessJson(home, 'enqueue', '--prompt', 'x'.repeat(20_000))
    await tirelessJson(home, 'status')
    const file = join(home, 'tireless.db')
    const bytes = readFileSync(file)
    bytes.fill(0xff, bytes.length - 8192, bytes.length - 4096)
    writeFileSync(file, bytes)
    const { findings } = await doctorIn(home)
    assert.ok(namesOf(findings).includes('database'), JSON.stringify(findings))
  })

  test('a missing model key is found without a request to the provider', async (t) => {
    const home = freshFolder(t)
    const provider = 'type: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key_env: NO_SUCH_KEY'
    writeFileSync(join(home, 'tireless.yaml'), `models: { default: cloud/m, providers: { cloud: { ${provider} } } }\n`)
    const { findings } = await doctorIn(home)
    assert.deepEqual(namesOf(findings), ['model'])
    assert.match(findings[0]?.found ?? '', /NO_SUCH_KEY/)
  })

  test('dead work, open unknown outcomes and orphaned calls are found; --fix removes only the calls', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    const { store } = app.context
    const dispatch = {
      ...{
        kernel_id: 'default',
        agent_id: 'default',
        prompt: 'p',
        priority: 0,
        metadata: {},
        source: 't',
        workspace: home,
      },
      ...{ dispatch_id: 'd', session_id: 's' },
    }
    await commitOne(store, [{ op: 'enqueue', dispatches: [dispatch], now: 1 }])
    for (let i = 0; i < 3; i += 1) {
      const [{ epoch }] = await commitOne(store, [{ op: 'join', name: 'w', now: 1, lease_until: 2, alone: true }])
      await commitOne(store, [{ op: 'claim', epoch, limit: 1, now: 1 }])
      await commitOne(store, [{ op: 'recover', now: 9 }])
    }
    const unknown: UnknownOutcome = {
      ...{ id: 'u', session_id: 's', dispatch_id: 'd', tool: 'order', args: {}, started_at: 'then', output_so_far: '' },
      ...{ reach: 'third_party' as const, status: 'open' as const, resolution: null },
    }
    await commitOne(store, [{ op: 'unknown', unknown }])
    await app.close()
    mkdirSync(join(home, 'calls', 's_1_0-0123'))
    const { findings } = await doctorIn(home)
    assert.deepEqual(namesOf(findings), ['dead work', 'unknown outcomes', 'leftovers'])
    assert.deepEqual(namesOf((await doctorIn(home, '--fix')).findings), ['dead work', 'unknown outcomes'])
    assert.deepEqual(readdirSync(join(home, 'calls')), [])
  })

  test('work interrupted by a kill is reported as orphaned; --fix keeps the folder of its call', async (t) => {
    const home = await createHome(t, [
      { calls: [{ tool: 'bash', args: { command: 'echo on > it.txt; sleep 600' } }] },
      { text: 'after all' },
    ])
    const child = startTireless(t, home, 'run', '--behaviour', 'solo', 'long', '--json')
    const callFolders = () => (existsSync(join(home, 'calls')) ? readdirSync(join(home, 'calls')) : [])
    await waitUntil(() => callFolders().length === 1 && existsSync(join(home, 'calls', callFolders()[0] ?? '', 'pid')))
    child.kill('SIGKILL')
    await waitForExit(child)
    const { findings } = await doctorIn(home, '--fix')
    assert.deepEqual(namesOf(findings), ['orphaned work'])
    assert.match(findings[0]?.remedy ?? '', /tireless start/)
    assert.equal(callFolders().length, 1)
    assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
    assert.equal((await doctorIn(home)).exit, 0)
    assert.deepEqual(callFolders(), [])
  })

  test('while start runs, doctor asks it, and its running work is not orphaned', async (t) => {
    const home = await createHome(t, [{ calls: [{ tool: 'bash', args: { command: 'sleep 600' } }] }, { text: 'x' }])
    await startKernelIn(t, home)
    const { dispatch_id } = await tirelessJson<{ dispatch_id: string }>(home, 'enqueue', '--prompt', 'long')
    await waitUntil(async () => (await tirelessJson(home, 'queue', 'show', dispatch_id)).status === 'running')
    await waitUntil(() => readdirSync(join(home, 'calls')).length === 1)
    const { exit, checks } = await doctorIn(home, '--fix')
    assert.deepEqual({ exit, names: namesOf(checks) }, { exit: 0, names: CHECKS })
    assert.equal(readdirSync(join(home, 'calls')).length, 1)
    assert.equal((await tirelessJson(home, 'queue', 'show', dispatch_id)).status, 'running')
  })

  test('a nearly full disk, a network file system, an old Node and missing programs are found', async (t) => {
    const { context } = await openApp(t)
    const machine = {
      ...context.machine,
      node: { got: '22.1.0', needed: REQUIRED_NODE, ok: false },
      programAt: () => undefined,
      disk: async () => ({ freeBytes: 199 * 1024 * 1024, network: 'NFS' }),
    }
    const report = (await validateAndRun(doctor as never, { ...context, machine }, {}, () => {})) as { checks: Check[] }
    assert.deepEqual(namesOf(report.checks.filter(({ ok }) => !ok)), ['node', 'disk', 'file system', 'git', 'bash'])
  })

  test('the required Node version is the one in package.json', () => {
    const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
    assert.equal(engines.node, `>=${REQUIRED_NODE}`)
  })
})
