import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../../src/app.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import type { Effect } from '../../src/domain/effect.ts'
import type { UnknownOutcome } from '../../src/domain/unknown-outcome.ts'
import { startProviderServer } from '../../src/testing/provider-server.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, openApp, waitUntil } from '../support/open-app.ts'
import { configFor, MAIN, NODE_FLAGS, run } from './kills.ts'
import { actOnceModel, actTool, effectsIn, type KillPoint } from './recovery-tools.ts'

interface RecoveredApp {
  readonly app: App
  readonly log: string
  readonly model: ScriptedModel
  dispatch(): Promise<Omit<Dispatch, 'token' | 'crashes'>>
  unknowns(): Promise<UnknownOutcome[]>
}

/** A home with a run whose process was killed inside the tool. */
async function killedHome(t: TestContext, effect: Effect, killPoint: KillPoint, probe?: 'honest' | 'unclear') {
  const home = freshFolder(t)
  const log = join(home, 'acted.log')
  const args = [home, log, JSON.stringify(effect), killPoint, ...(probe ? [probe] : [])]
  const died = await run(process.execPath, [...NODE_FLAGS, join(import.meta.dirname, 'recovery-main.ts'), ...args])
  assert.equal(died.exit, null, `the process was not killed: ${died.stderr}`)
  return { home, log }
}

/** Reopens the home with a tool that does not kill, and runs it until idle. */
async function reopenAfterKill(
  t: TestContext,
  effect: Effect,
  killPoint: KillPoint,
  probe?: 'honest' | 'unclear',
): Promise<RecoveredApp> {
  const { home, log } = await killedHome(t, effect, killPoint, probe)
  const model = actOnceModel()
  const app = await openApp(t, { home, tools: [actTool(log, effect, 'never', probe)], model })
  await app.run('start', { until_idle: true })
  return {
    app,
    log,
    model,
    dispatch: async () => (await app.run('queue list', {})).items[0] ?? assert.fail('the queue is empty'),
    unknowns: async () => (await app.run('unknowns list', {})).items,
  }
}

async function withApp(
  t: TestContext,
  home: string,
  log: string,
  effect: Effect,
  work: (app: App) => Promise<void>,
): Promise<void> {
  const app = await openApp(t, { home, tools: [actTool(log, effect, 'never')], model: actOnceModel() })
  await work(app)
  await app.close()
}

describe('a call that kill -9 interrupts (case 93)', () => {
  for (const recovery of ['pure', 'idempotent'] as const)
    test(`${recovery}: runs again under the same key; no unknown outcome, no second answer`, async (t) => {
      const scene = await reopenAfterKill(t, { recovery, reach: 'third_party' }, 'after')
      const runs = effectsIn(scene.log)
      assert.deepEqual({ runCount: runs.length, distinctRuns: new Set(runs).size }, { runCount: 2, distinctRuns: 1 })
      assert.equal((await scene.dispatch()).result, 'finished')
      assert.deepEqual(await scene.unknowns(), [])
      assert.equal(scene.model.requests.length, 1, 'only the second turn was requested')
    })

  for (const [recovery, probe] of [['idempotent'], ['reconcilable', 'honest']] as const)
    test(`I10: ${recovery}: a stopping program neither runs nor probes the call; the next one does`, async (t) => {
      const effect: Effect = { recovery, reach: 'third_party' }
      const { home, log } = await killedHome(t, effect, 'before', probe)
      const [drain, abort] = [new AbortController(), new AbortController()]
      const stopping = {
        name: 'stopping',
        on_before_act() {
          drain.abort()
          abort.abort()
        },
      }
      const tools = [actTool(log, effect, 'never', probe)]
      const signals = { drain: drain.signal, abort: abort.signal }
      const app = await openApp(t, { home, tools, model: actOnceModel(), hooks: [stopping], signals })
      const dispatch = async (by: App) => (await by.run('queue list', {})).items[0]
      await app.run('start', { until_idle: true })
      assert.deepEqual(
        { status: (await dispatch(app))?.status, effects: effectsIn(log) },
        { status: 'pending', effects: [] },
      )
      await app.close()
      const next = await openApp(t, { home, tools, model: actOnceModel() })
      await next.run('start', { until_idle: true })
      assert.deepEqual(
        { result: (await dispatch(next))?.result, effectCount: effectsIn(log).length },
        { result: 'finished', effectCount: 1 },
      )
    })

  test('reconcilable: the probe says that it happened, and the call does not run again', async (t) => {
    const scene = await reopenAfterKill(t, { recovery: 'reconcilable', reach: 'third_party' }, 'after', 'honest')
    assert.equal(effectsIn(scene.log).length, 1)
    assert.equal((await scene.dispatch()).status, 'done')
    assert.deepEqual(await scene.unknowns(), [])
    assert.match(JSON.stringify(scene.model.requests[0]?.messages.at(-1)), /it is so/)
  })

  test('reconcilable: the probe says that it did not happen, and the call runs', async (t) => {
    const scene = await reopenAfterKill(t, { recovery: 'reconcilable', reach: 'third_party' }, 'before', 'honest')
    assert.equal(effectsIn(scene.log).length, 1)
    assert.equal((await scene.dispatch()).status, 'done')
    assert.deepEqual(await scene.unknowns(), [])
  })

  for (const killPoint of ['before', 'after'] as const)
    test(`once, in the workspace, killed ${killPoint} the effect: the model is told, no second run`, async (t) => {
      const scene = await reopenAfterKill(t, { recovery: 'once', reach: 'workspace' }, killPoint)
      assert.equal(effectsIn(scene.log).length, killPoint === 'after' ? 1 : 0)
      assert.equal((await scene.dispatch()).status, 'done')
      assert.deepEqual(
        (await scene.unknowns()).map(({ status, tool }) => ({ status, tool })),
        [{ status: 'told_model', tool: 'act' }],
      )
      assert.match(
        JSON.stringify(scene.model.requests[0]?.messages.at(-1)),
        /\[unknown\].*It is unknown whether it took effect/,
      )
    })

  test('once, third party: waits for the owner; nothing else happens meanwhile', async (t) => {
    const scene = await reopenAfterKill(t, { recovery: 'once', reach: 'third_party' }, 'after')
    const { status, wait } = await scene.dispatch()
    assert.deepEqual({ status, kind: wait?.kind }, { status: 'waiting', kind: 'unknown' })
    const [unknown] = await scene.unknowns()
    assert.deepEqual(
      { status: unknown?.status, reach: unknown?.reach, tool: unknown?.tool },
      { status: 'open', reach: 'third_party', tool: 'act' },
    )
    assert.equal(effectsIn(scene.log).length, 1)
    assert.equal(scene.model.requests.length, 0)
    assert.equal((await scene.app.run('status', {})).unknowns, 1)
  })

  const resolutions = [
    ['happened', 'after', 1, 'done'],
    ['not', 'before', 1, 'done'],
  ] as const
  for (const [as, killPoint, runs, end] of resolutions)
    test(`unknowns resolve --as ${as}: the run continues`, async (t) => {
      const scene = await reopenAfterKill(t, { recovery: 'once', reach: 'third_party' }, killPoint)
      const [unknown] = await scene.unknowns()
      await scene.app.run('unknowns resolve', { id: unknown?.id ?? '', as })
      await scene.app.run('start', { until_idle: true })
      assert.deepEqual(
        { status: (await scene.dispatch()).status, effectCount: effectsIn(scene.log).length },
        { status: end, effectCount: runs },
      )
      assert.equal((await scene.unknowns())[0]?.status, 'resolved')
      await assert.rejects(scene.app.run('unknowns resolve', { id: unknown?.id ?? '', as }), { code: 'conflict' })
    })

  test('a resolution counts for one attempt: killed again after --as not, the call is unknown again', async (t) => {
    const outside: Effect = { recovery: 'once', reach: 'third_party' }
    const home = freshFolder(t)
    const log = join(home, 'acted.log')
    const dying = [...NODE_FLAGS, join(import.meta.dirname, 'recovery-main.ts'), home, log, JSON.stringify(outside)]
    assert.equal((await run(process.execPath, [...dying, 'before'])).exit, null)
    await withApp(t, home, log, outside, async (app) => {
      await app.run('start', { until_idle: true })
      const { items } = await app.run('unknowns list', {})
      await app.run('unknowns resolve', { id: items[0]?.id ?? '', as: 'not' })
    })
    // The new attempt has its effect and is killed before it can record it.
    assert.equal((await run(process.execPath, [...dying, 'after', 'resume'])).exit, null)
    await withApp(t, home, log, outside, async (app) => {
      await app.run('start', { until_idle: true })
      const { items } = await app.run('unknowns list', {})
      assert.deepEqual(
        items.map(({ status }) => status),
        ['resolved', 'open'],
      )
      assert.equal(effectsIn(log).length, 1)
    })
  })

  test('a tool that is no longer offered does not run; the model gets the output of its call', async (t) => {
    const home = freshFolder(t)
    const provider = await startProviderServer({
      script: [{ calls: [{ tool: 'bash', args: { command: 'echo begun; touch here; sleep 600' } }] }, { text: 'x' }],
    })
    t.after(() => provider.close())
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    const args = ['run', '--behaviour', 'solo', 'go', '--home', home, '--workspace', `${home}-work`]
    const victim = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args])
    t.after(() => rmSync(`${home}-work`, { recursive: true, force: true }))
    await waitUntil(() => existsSync(join(`${home}-work`, 'here')))
    victim.kill('SIGKILL')
    await new Promise((resolve) => victim.once('close', resolve))
    const model = scriptedModel([{ text: 'unused' }, { text: 'understood' }])
    // Without bubblewrap in the PATH no command runs.
    const { PATH } = process.env
    t.after(() => Object.assign(process.env, { PATH }))
    process.env.PATH = '/nowhere'
    const app = await openApp(t, { home, model, yaml: 'sandbox: auto' })
    await app.run('start', { until_idle: true })
    const { items } = await app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ status, tool }) => ({ status, tool })),
      [{ status: 'told_model', tool: 'bash' }],
    )
    assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /begun/)
  })

  test('unknowns resolve --as recheck: the probe decides; if it is still unclear, the run waits again', async (t) => {
    const scene = await reopenAfterKill(t, { recovery: 'reconcilable', reach: 'third_party' }, 'after', 'unclear')
    const [unknown] = await scene.unknowns()
    assert.equal(unknown?.status, 'open')
    await scene.app.run('unknowns resolve', { id: unknown?.id, as: 'recheck' })
    await scene.app.run('start', { until_idle: true })
    assert.deepEqual(
      { dispatch: (await scene.dispatch()).status, unknown: (await scene.unknowns())[0]?.status },
      { dispatch: 'waiting', unknown: 'open' },
    )
    assert.equal(effectsIn(scene.log).length, 1)
  })

  test('resolving an unknown outcome that the model has seen sends it an observation', async (t) => {
    const scene = await reopenAfterKill(t, { recovery: 'once', reach: 'workspace' }, 'after')
    const [unknown] = await scene.unknowns()
    await scene.app.run('unknowns resolve', { id: unknown?.id ?? '', as: 'happened' })
    const { session_id } = await scene.dispatch()
    const { unread } = await scene.app.run('sessions show', { id: session_id })
    assert.deepEqual(
      unread.map((observation) => observation.type === 'system_event' && observation.name),
      ['unknown_resolved'],
    )
  })
})

describe('an orphaned command (case 93)', () => {
  test('a restart kills the command first; the model gets its output and the changed paths', async (t) => {
    const home = freshFolder(t)
    const workspace = freshFolder(t, 'work')
    const command = 'echo started; touch made.txt; echo $$ > pid.txt; sleep 600; echo never > late.txt'
    const provider = await startProviderServer({
      script: [{ calls: [{ tool: 'bash', args: { command } }] }, { text: 'seen' }],
    })
    t.after(() => provider.close())
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    const args = ['run', '--behaviour', 'solo', 'go', '--home', home, '--workspace', workspace]
    const victim = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args])
    const pidFile = join(workspace, 'pid.txt')
    await waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    const pid = Number(readFileSync(pidFile, 'utf8'))
    victim.kill('SIGKILL')
    await new Promise((resolve) => victim.once('close', resolve))
    assert.ok(isAlive(pid), 'the command outlives the program')

    const model = scriptedModel([{ text: 'unused' }, { text: 'seen' }])
    let aliveAtRequest: boolean | undefined
    const watching = {
      ...model,
      call: (...given: Parameters<typeof model.call>) => {
        aliveAtRequest = isAlive(pid)
        return model.call(...given)
      },
    }
    const app = await openApp(t, { home, model: watching })
    await app.run('start', { until_idle: true })
    assert.equal(aliveAtRequest, false)
    const lastMessage = JSON.stringify(model.requests[0]?.messages.at(-1))
    assert.match(lastMessage, /started/)
    assert.match(lastMessage, /made\.txt/)
    assert.equal(existsSync(join(workspace, 'late.txt')), false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
