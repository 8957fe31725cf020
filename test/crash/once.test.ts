/** `once` after a process that was killed or stopped: it takes up what is left, again and again, and says what it leaves itself (E19, E14). */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import { spawnTireless, startTireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'
import { agentAtWork, listed } from './agent-at-work.ts'
import { openScene, type Scene, writeHome } from './cycle-tools.ts'
import { NODE_FLAGS, run } from './kills.ts'
import { runsIn } from './recovery-tools.ts'

const MAIN = join(import.meta.dirname, 'cycle-main.ts')

interface Left {
  readonly agent_id: string
  readonly status: string
}
type Once = NonNullable<Cycle['result']> & { readonly left: readonly Left[]; readonly exit: number | null }

describe('once after kill -9 (E19)', { concurrency: 2 }, () => {
  for (const point of [
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
  ])
    test(`E19: killed ${point}: once brings it to its end, and counts it once; the next once begins anew`, async (t) => {
      const home = freshFolder(t)
      writeHome(home, { planner: { mode: 'static' } })
      const scene: Scene = { home, log: join(home, 'acted.log'), effect: { recovery: 'once', reach: 'workspace' } }
      const died = await run(process.execPath, [...NODE_FLAGS, MAIN, JSON.stringify(scene), point, 'once'])
      assert.equal(died.exit, null, `it did not die at ${point}: ${died.stderr}`)
      const app = await openScene(scene)
      t.after(() => app.close())
      const queue = async () => ((await app.run('queue list', { limit: 100 })) as { items: Dispatch[] }).items
      const before = await queue()
      assert.ok([0, 2].includes(before.length), 'of a plan, all or none is in the queue (C6)')
      await app.run('once', {})
      const after = await queue()
      assert.deepEqual(
        after.filter(({ status }) => !isTerminal(status)).map(({ agent_id, status }) => `${agent_id} ${status}`),
        [],
      )
      await app.run('once', {})
      const effects = runsIn(scene.log)
      assert.equal(new Set(effects).size, effects.length, 'an effect happened twice')
      const { items: cycles } = (await app.run('cycles list', {})) as { items: Cycle[] }
      for (const { dispatch_id } of before) {
        const told = cycles.flatMap(({ result }) => result?.agents ?? [])
        const ends = told.filter((one) => one.dispatch_id === dispatch_id && isTerminal(one.status))
        assert.equal(ends.length, 1, `${dispatch_id} was told ${ends.length} times`)
      }
      await app.close()
    })
})

describe('once after a signal (E14, E19)', () => {
  test('E14: stopped in the middle, it exits with 3, is no success, and says what is left and how to go on; the next once does', async (t) => {
    const { home, hasBegun, goOn } = await agentAtWork(t)
    const holder = startTireless(t, home, 'once', '--json')
    let told = ''
    holder.stderr?.setEncoding('utf8').on('data', (text) => (told += text))
    await hasBegun()
    holder.kill('SIGTERM')
    goOn()
    assert.equal(await waitForExit(holder), 3)
    const said = JSON.parse(holder.output()) as Once
    assert.deepEqual(
      [said.status, said.left.map(({ agent_id, status }) => [agent_id, status])],
      ['partial_success', [['a', 'pending']]],
    )
    assert.match(told, /a \([^)]*\) is not finished\. Continue it: tireless once, or tireless start/)
    const [left] = await listed<Dispatch>(home, 'queue')
    const next = await tirelessJson<Once>(home, 'once')
    assert.deepEqual(
      [next.exit, next.status, next.dispatched, next.idle_reason],
      [0, 'success', 0, 'finished earlier work of a'],
    )
    assert.deepEqual(
      next.agents.map(({ dispatch_id, status }) => [dispatch_id, status]),
      [[left?.dispatch_id, 'done']],
    )
  })

  for (const [command, signal] of [
    ['start', 'SIGKILL'],
    ['once', 'SIGKILL'],
    ['start', 'SIGTERM'],
  ] as const)
    test(`E19: what a ${command} leaves at ${signal} is done by the next once, and by no start in between`, async (t) => {
      const { home, hasBegun, goOn } = await agentAtWork(t)
      const holder = startTireless(t, home, command)
      await hasBegun()
      holder.kill(signal)
      goOn()
      await waitForExit(holder)
      const [left] = await listed<Dispatch>(home, 'queue')
      assert.ok(left && !isTerminal(left.status))
      const next = await tirelessJson<Once>(home, 'once')
      assert.deepEqual(
        [next.exit, next.agents.map(({ dispatch_id, status }) => [dispatch_id, status])],
        [0, [[left.dispatch_id, 'done']]],
      )
      const again = await spawnTireless(home, 'once', '--json')
      assert.equal((JSON.parse(again.stdout) as Once).dispatched, 1, again.stderr)
    })
})
