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
import { acting, actOnce, type Death, runsIn } from './recovery-tools.ts'

interface Scene {
  readonly app: App
  readonly log: string
  readonly model: ScriptedModel
  dispatch(): Promise<Dispatch>
  unknowns(): Promise<UnknownOutcome[]>
}

/** The home of a run whose process died inside the tool. */
async function killed(t: TestContext, effect: Effect, death: Death, probe?: 'honest' | 'unclear') {
  const home = freshFolder(t)
  const log = join(home, 'acted.log')
  const args = [home, log, JSON.stringify(effect), death, ...(probe ? [probe] : [])]
  const died = await run(process.execPath, [...NODE_FLAGS, join(import.meta.dirname, 'recovery-main.ts'), ...args])
  assert.equal(died.exit, null, `it did not die: ${died.stderr}`)
  return { home, log }
}

/** Opened again with the same tool in good health. */
async function afterDeath(t: TestContext, effect: Effect, death: Death, probe?: 'honest' | 'unclear'): Promise<Scene> {
  const { home, log } = await killed(t, effect, death, probe)
  const model = actOnce()
  const app = await openApp(t, { home, tools: [acting(log, effect, 'never', probe)], model })
  await app.run('start', { until_idle: true })
  return {
    app,
    log,
    model,
    dispatch: async () => ((await app.run('queue list', {})) as { items: Dispatch[] }).items[0] as Dispatch,
    unknowns: async () => ((await app.run('unknowns list', {})) as { items: UnknownOutcome[] }).items,
  }
}

async function inApp(
  t: TestContext,
  home: string,
  log: string,
  effect: Effect,
  work: (app: App) => Promise<void>,
): Promise<void> {
  const app = await openApp(t, { home, tools: [acting(log, effect, 'never')], model: actOnce() })
  await work(app)
  await app.close()
}

describe('a call that a kill -9 cut short (case 93)', () => {
  for (const recovery of ['pure', 'idempotent'] as const)
    test(`${recovery}: run again, under the same key; nothing is unknown; the answer is not bought again`, async (t) => {
      const scene = await afterDeath(t, { recovery, reach: 'third_party' }, 'after')
      const runs = runsIn(scene.log)
      assert.deepEqual([runs.length, new Set(runs).size], [2, 1])
      assert.equal((await scene.dispatch()).result, 'finished')
      assert.deepEqual(await scene.unknowns(), [])
      assert.equal(scene.model.requests.length, 1, 'only the second turn was asked for')
    })

  for (const [recovery, probe] of [['idempotent'], ['reconcilable', 'honest']] as const)
    test(`I10: ${recovery}: not run, nor asked about, by a program that is stopping; the next one does`, async (t) => {
      const effect: Effect = { recovery, reach: 'third_party' }
      const { home, log } = await killed(t, effect, 'before', probe)
      const [drain, abort] = [new AbortController(), new AbortController()]
      const stopping = {
        name: 'stopping',
        on_before_act() {
          drain.abort()
          abort.abort()
        },
      }
      const tools = [acting(log, effect, 'never', probe)]
      const signals = { drain: drain.signal, abort: abort.signal }
      const app = await openApp(t, { home, tools, model: actOnce(), hooks: [stopping], signals })
      const dispatch = async (by: App) => ((await by.run('queue list', {})) as { items: Dispatch[] }).items[0]
      await app.run('start', { until_idle: true })
      assert.deepEqual([(await dispatch(app))?.status, runsIn(log)], ['pending', []])
      await app.close()
      const next = await openApp(t, { home, tools, model: actOnce() })
      await next.run('start', { until_idle: true })
      assert.deepEqual([(await dispatch(next))?.result, runsIn(log).length], ['finished', 1])
    })

  test('reconcilable: it happened: the world says so, and it is not run again', async (t) => {
    const scene = await afterDeath(t, { recovery: 'reconcilable', reach: 'third_party' }, 'after', 'honest')
    assert.equal(runsIn(scene.log).length, 1)
    assert.deepEqual([(await scene.dispatch()).status, (await scene.unknowns()).length], ['done', 0])
    assert.match(JSON.stringify(scene.model.requests[0]?.messages.at(-1)), /it is so/)
  })

  test('reconcilable: it did not happen: it is run', async (t) => {
    const scene = await afterDeath(t, { recovery: 'reconcilable', reach: 'third_party' }, 'before', 'honest')
    assert.equal(runsIn(scene.log).length, 1)
    assert.deepEqual([(await scene.dispatch()).status, (await scene.unknowns()).length], ['done', 0])
  })

  for (const death of ['before', 'after'] as const)
    test(`once, in the workspace, killed ${death} the effect: told to the model, never run again by itself`, async (t) => {
      const scene = await afterDeath(t, { recovery: 'once', reach: 'workspace' }, death)
      assert.equal(runsIn(scene.log).length, death === 'after' ? 1 : 0)
      assert.equal((await scene.dispatch()).status, 'done')
      assert.deepEqual(
        (await scene.unknowns()).map(({ status, tool }) => [status, tool]),
        [['told_model', 'act']],
      )
      assert.match(
        JSON.stringify(scene.model.requests[0]?.messages.at(-1)),
        /\[unknown\].*It is unknown whether it took effect/,
      )
    })

  test('once, outside: waits for a human; nothing else happens meanwhile', async (t) => {
    const scene = await afterDeath(t, { recovery: 'once', reach: 'third_party' }, 'after')
    const { status, wait } = await scene.dispatch()
    assert.deepEqual([status, wait?.kind], ['waiting', 'unknown'])
    const [unknown] = await scene.unknowns()
    assert.deepEqual([unknown?.status, unknown?.reach, unknown?.tool], ['open', 'third_party', 'act'])
    assert.deepEqual([runsIn(scene.log).length, scene.model.requests.length], [1, 0])
    assert.equal(((await scene.app.run('status', {})) as { unknowns: number }).unknowns, 1)
  })

  const words = [
    ['happened', 'after', 1, 'done'],
    ['not', 'before', 1, 'done'],
  ] as const
  for (const [as, death, runs, end] of words)
    test(`unknowns resolve --as ${as}: the run goes on by itself`, async (t) => {
      const scene = await afterDeath(t, { recovery: 'once', reach: 'third_party' }, death)
      const [unknown] = await scene.unknowns()
      await scene.app.run('unknowns resolve', { id: unknown?.id, as })
      await scene.app.run('start', { until_idle: true })
      assert.deepEqual([(await scene.dispatch()).status, runsIn(scene.log).length], [end, runs])
      assert.equal((await scene.unknowns())[0]?.status, 'resolved')
      await assert.rejects(scene.app.run('unknowns resolve', { id: unknown?.id, as }), { code: 'conflict' })
    })

  test('a word is good for one attempt: killed again after --as not, it is unknown again and not run by itself', async (t) => {
    const outside: Effect = { recovery: 'once', reach: 'third_party' }
    const home = freshFolder(t)
    const log = join(home, 'acted.log')
    const dying = [...NODE_FLAGS, join(import.meta.dirname, 'recovery-main.ts'), home, log, JSON.stringify(outside)]
    assert.equal((await run(process.execPath, [...dying, 'before'])).exit, null)
    await inApp(t, home, log, outside, async (app) => {
      await app.run('start', { until_idle: true })
      const { items } = (await app.run('unknowns list', {})) as { items: UnknownOutcome[] }
      await app.run('unknowns resolve', { id: items[0]?.id, as: 'not' })
    })
    // The new attempt has its effect, and dies before it can say so.
    assert.equal((await run(process.execPath, [...dying, 'after', 'resume'])).exit, null)
    await inApp(t, home, log, outside, async (app) => {
      await app.run('start', { until_idle: true })
      const { items } = (await app.run('unknowns list', {})) as { items: UnknownOutcome[] }
      assert.deepEqual(
        items.map(({ status }) => status),
        ['resolved', 'open'],
      )
      assert.equal(runsIn(log).length, 1)
    })
  })

  test('a tool that is not offered any more is not run, but what is left of its call is still told', async (t) => {
    const home = freshFolder(t)
    const provider = await startProviderServer({
      script: [{ calls: [{ tool: 'bash', args: { command: 'echo begun; touch here; sleep 600' } }] }, { text: 'x' }],
    })
    t.after(() => provider.close())
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    const victim = spawn(process.execPath, [
      ...NODE_FLAGS,
      MAIN,
      'run',
      'go',
      '--home',
      home,
      '--workspace',
      `${home}-work`,
    ])
    t.after(() => rmSync(`${home}-work`, { recursive: true, force: true }))
    await waitUntil(() => existsSync(join(`${home}-work`, 'here')))
    victim.kill('SIGKILL')
    await new Promise((resolve) => victim.once('close', resolve))
    const model = scriptedModel([{ text: 'unused' }, { text: 'understood' }])
    // Where no bubblewrap is found, no command is run.
    const { PATH } = process.env
    t.after(() => Object.assign(process.env, { PATH }))
    process.env.PATH = '/nowhere'
    const app = await openApp(t, { home, model, yaml: 'sandbox: auto' })
    await app.run('start', { until_idle: true })
    const { items } = (await app.run('unknowns list', {})) as { items: UnknownOutcome[] }
    assert.deepEqual(
      items.map(({ status, tool }) => [status, tool]),
      [['told_model', 'bash']],
    )
    assert.match(JSON.stringify(model.requests[0]?.messages.at(-1)), /begun/)
  })

  test('unknowns resolve --as recheck: the probe decides; still unclear, it waits again', async (t) => {
    const scene = await afterDeath(t, { recovery: 'reconcilable', reach: 'third_party' }, 'after', 'unclear')
    const [unknown] = await scene.unknowns()
    assert.equal(unknown?.status, 'open')
    await scene.app.run('unknowns resolve', { id: unknown?.id, as: 'recheck' })
    await scene.app.run('start', { until_idle: true })
    assert.deepEqual([(await scene.dispatch()).status, (await scene.unknowns())[0]?.status], ['waiting', 'open'])
    assert.equal(runsIn(scene.log).length, 1)
  })

  test('resolving what the model was told of already is told to it as an observation', async (t) => {
    const scene = await afterDeath(t, { recovery: 'once', reach: 'workspace' }, 'after')
    const [unknown] = await scene.unknowns()
    await scene.app.run('unknowns resolve', { id: unknown?.id, as: 'happened' })
    const { session_id } = await scene.dispatch()
    const { unread } = (await scene.app.run('sessions show', { id: session_id })) as { unread: { name?: string }[] }
    assert.deepEqual(
      unread.map(({ name }) => name),
      ['unknown_resolved'],
    )
  })
})

describe('an orphaned command (case 93)', () => {
  test('is killed at recovery before the model is told; the model hears the output so far and the changed paths', async (t) => {
    const home = freshFolder(t)
    const workspace = freshFolder(t, 'work')
    const command = 'echo started; touch made.txt; echo $$ > pid.txt; sleep 600; echo never > late.txt'
    const provider = await startProviderServer({
      script: [{ calls: [{ tool: 'bash', args: { command } }] }, { text: 'seen' }],
    })
    t.after(() => provider.close())
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    const victim = spawn(process.execPath, [...NODE_FLAGS, MAIN, 'run', 'go', '--home', home, '--workspace', workspace])
    const pidFile = join(workspace, 'pid.txt')
    await waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    const pid = Number(readFileSync(pidFile, 'utf8'))
    victim.kill('SIGKILL')
    await new Promise((resolve) => victim.once('close', resolve))
    assert.ok(isAlive(pid), 'the command outlives the program')

    const model = scriptedModel([{ text: 'unused' }, { text: 'seen' }])
    let aliveWhenTold: boolean | undefined
    const watching = {
      ...model,
      call: (...given: Parameters<typeof model.call>) => {
        aliveWhenTold = isAlive(pid)
        return model.call(...given)
      },
    }
    const app = await openApp(t, { home, model: watching })
    await app.run('start', { until_idle: true })
    assert.equal(aliveWhenTold, false)
    const told = JSON.stringify(model.requests[0]?.messages.at(-1))
    assert.match(told, /started/)
    assert.match(told, /made\.txt/)
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
