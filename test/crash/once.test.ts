/**
 * `once` after a process that was killed or stopped: it resumes the unfinished work and reports what it leaves
 * unfinished itself (E19, E14).
 */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import { spawnTireless, startTireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { homeWithBusyAgent, listItems } from './busy-agent.ts'
import { type CycleSetup, openCycleApp, writeHome } from './cycle-tools.ts'
import { NODE_FLAGS, run, sampled } from './kills.ts'
import { effectsIn } from './recovery-tools.ts'

const MAIN = join(import.meta.dirname, 'cycle-main.ts')

const POINTS = [
  'after cycle_begin',
  'after enqueue cycle',
  'after claim',
  'before model agent',
  'after model agent',
  'before effect',
  'after effect',
  'before settle',
  'after settle',
  'before cycle_end',
]

interface UnfinishedDispatch {
  readonly agent_id: string
  readonly status: string
}
type Once = NonNullable<Cycle['result']> & {
  readonly left: readonly UnfinishedDispatch[]
  readonly exit: number | null
}

describe('once after kill -9 (E19)', { concurrency: 2 }, () => {
  for (const point of sampled(POINTS, 3))
    test(`E19: killed ${point}: once ends the work and counts it once; the next once starts new work`, async (t) => {
      const home = freshFolder(t)
      writeHome(home, { planner: { mode: 'static' } })
      const scene: CycleSetup = { home, log: join(home, 'acted.log'), effect: { recovery: 'once', reach: 'workspace' } }
      const died = await run(process.execPath, [...NODE_FLAGS, MAIN, JSON.stringify(scene), point, 'once'])
      assert.equal(died.exit, null, `the process was not killed at ${point}: ${died.stderr}`)
      const app = await openCycleApp(scene)
      t.after(() => app.close())
      const queue = async () => (await app.run('queue list', { limit: 100 })).items
      const before = await queue()
      assert.ok([0, 2].includes(before.length), 'the queue has all dispatches of a plan or none')
      await app.run('once', {})
      const after = await queue()
      assert.deepEqual(
        after.filter(({ status }) => !isTerminal(status)).map(({ agent_id, status }) => `${agent_id} ${status}`),
        [],
      )
      await app.run('once', {})
      const effects = effectsIn(scene.log)
      assert.equal(new Set(effects).size, effects.length, 'an effect happened twice')
      const { items: cycles } = await app.run('cycles list', {})
      for (const { dispatch_id } of before) {
        const reported = cycles.flatMap(({ result }) => result?.agents ?? [])
        const ends = reported.filter((one) => one.dispatch_id === dispatch_id && isTerminal(one.status))
        assert.equal(ends.length, 1, `${dispatch_id} was reported ${ends.length} times`)
      }
      await app.close()
    })
})

describe('once after a signal (E14, E19)', () => {
  test('E14: a stopped once exits with 3 and lists unfinished work; the next once ends it', async (t) => {
    const { home, waitUntilBusy, finishCommand } = await homeWithBusyAgent(t)
    const holder = startTireless(t, home, 'once', '--json')
    let reported = ''
    holder.stderr?.setEncoding('utf8').on('data', (text) => (reported += text))
    await waitUntilBusy()
    holder.kill('SIGTERM')
    finishCommand()
    assert.equal(await waitForExit(holder), 3)
    const output = JSON.parse(holder.output()) as Once
    assert.deepEqual(
      { status: output.status, left: output.left.map(({ agent_id, status }) => [agent_id, status]) },
      { status: 'partial_success', left: [['a', 'pending']] },
    )
    assert.match(reported, /a \([^)]*\) is not finished\. Continue it: tireless once, or tireless start/)
    const [left] = await listItems<Dispatch>(home, 'queue')
    const next = await tirelessJson<Once>(home, 'once')
    assert.deepEqual(
      { exit: next.exit, status: next.status, dispatched: next.dispatched, idle_reason: next.idle_reason },
      { exit: 0, status: 'success', dispatched: 0, idle_reason: 'finished earlier work of a' },
    )
    assert.deepEqual(
      next.agents.map(({ dispatch_id, status }) => ({ dispatch_id, status })),
      [{ dispatch_id: left?.dispatch_id, status: 'done' }],
    )
  })

  for (const [command, signal] of [
    ['start', 'SIGKILL'],
    ['once', 'SIGKILL'],
    ['start', 'SIGTERM'],
  ] as const)
    test(`E19: the next once finishes what a ${command} leaves at ${signal}, without a start in between`, async (t) => {
      const { home, waitUntilBusy, finishCommand } = await homeWithBusyAgent(t)
      const holder = startTireless(t, home, command)
      await waitUntilBusy()
      holder.kill(signal)
      finishCommand()
      await waitForExit(holder)
      const [left] = await listItems<Dispatch>(home, 'queue')
      assert.ok(left && !isTerminal(left.status))
      const next = await tirelessJson<Once>(home, 'once')
      assert.deepEqual(
        { exit: next.exit, agents: next.agents.map(({ dispatch_id, status }) => [dispatch_id, status]) },
        { exit: 0, agents: [[left.dispatch_id, 'done']] },
      )
      const again = await spawnTireless(home, 'once', '--json')
      assert.equal((JSON.parse(again.stdout) as Once).dispatched, 1, again.stderr)
    })
})
