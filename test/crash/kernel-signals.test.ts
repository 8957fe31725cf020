/** The kernel's process from outside: asked to stop during a cycle, killed, and kept from being there twice. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import { startTireless, tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { type AtWork, agentAtWork, listed } from './agent-at-work.ts'

const BEATING = { schedule: { every: '1s' } }

/** What was under way is taken up by the next start, comes to its end, and is counted by one cycle. */
async function comesToItsEnd({ home, goOn }: AtWork): Promise<void> {
  goOn()
  const [first] = await listed<Dispatch>(home, 'queue')
  assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
  const after = (await listed<Dispatch>(home, 'queue')).find(({ dispatch_id }) => dispatch_id === first?.dispatch_id)
  assert.deepEqual([after?.status, after?.result?.includes('fine')], ['done', true])
  await tireless(home, 'once')
  const told = (await listed<Cycle>(home, 'cycles')).flatMap(({ result }) => result?.agents ?? [])
  assert.equal(
    told.filter(({ dispatch_id, status }) => dispatch_id === first?.dispatch_id && isTerminal(status)).length,
    1,
  )
}

describe('SIGTERM during a cycle (case 133)', () => {
  for (const [command, exit] of [
    ['start', 0],
    ['once', 3],
  ] as const)
    test(`case 133: ${command}: the step in flight is finished, the cycle is on record, exit ${exit}, and the rest goes on later`, async (t) => {
      const scene = await agentAtWork(t, BEATING)
      const holder = startTireless(t, scene.home, command)
      await scene.hasBegun()
      holder.kill('SIGTERM')
      scene.goOn()
      assert.equal(await waitForExit(holder), exit)
      const [cycle] = await listed<Cycle>(scene.home, 'cycles')
      assert.deepEqual([cycle?.result?.error, cycle?.ended_at === null], [null, false])
      const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await comesToItsEnd(scene)
    })

  test('case 133: a command that does not end is interrupted at the second signal; its row can be taken up at once', async (t) => {
    const scene = await agentAtWork(t, BEATING)
    const holder = startTireless(t, scene.home, 'start')
    await scene.hasBegun()
    holder.kill('SIGTERM')
    holder.kill('SIGINT')
    assert.equal(await waitForExit(holder), 0)
    const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
    assert.equal(dispatch?.status, 'pending')
    assert.ok((await listed<Cycle>(scene.home, 'cycles')).every(({ ended_at }) => ended_at !== null))
    await comesToItsEnd(scene)
  })
})

/** What running steps were given to end, as the log tells it, in milliseconds. */
async function deadlines(home: string): Promise<readonly unknown[]> {
  const { items } = await tirelessJson<{ items: { event: string; within_ms?: number }[] }>(home, 'logs')
  return items.filter(({ event }) => event === 'asked to stop').map(({ within_ms }) => within_ms)
}

describe('E14: stop', () => {
  for (const [timeout, ...how] of [[0.2, '--timeout', '0.2'], [0, '--now'], [0.3]] as const)
    test(`${['stop', ...how].join(' ')}: a command that does not end is interrupted; stop returns when the process is gone`, async (t) => {
      const scene = await agentAtWork(t, { ...BEATING, stop_timeout: 0.3 })
      const holder = startTireless(t, scene.home, 'start')
      await scene.hasBegun()
      const { exit, stdout } = await tireless(scene.home, 'stop', ...how, '--json')
      assert.deepEqual([exit, JSON.parse(stdout)], [0, { stopped: true, timeout }])
      assert.deepEqual(await deadlines(scene.home), [timeout * 1000])
      assert.ok(!existsSync(`/proc/${holder.pid}/exe`), 'its process is gone')
      const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await comesToItsEnd(scene)
    })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`one ${signal}: a command that does not end is interrupted at the deadline of stop, kernel.stop_timeout`, async (t) => {
      const scene = await agentAtWork(t, { ...BEATING, stop_timeout: 0.3 })
      const holder = startTireless(t, scene.home, 'start')
      await scene.hasBegun()
      holder.kill(signal)
      assert.equal(await waitForExit(holder), 0)
      assert.deepEqual(await deadlines(scene.home), [300])
      await comesToItsEnd(scene)
    })

  test('stop lets a step end that ends in time', async (t) => {
    const scene = await agentAtWork(t, BEATING)
    const holder = startTireless(t, scene.home, 'start')
    await scene.hasBegun()
    const stopped = tireless(scene.home, 'stop')
    scene.goOn()
    assert.equal((await stopped).exit, 0)
    assert.equal(await waitForExit(holder), 0)
    assert.deepEqual(await listed(scene.home, 'unknowns'), [], 'nothing was interrupted')
    await comesToItsEnd(scene)
  })
})

describe('one kernel per home (case 129)', () => {
  test('case 129: a second start and a second once are refused with 75 while a cycle runs; after kill -9 the next start takes over at once', async (t) => {
    const scene = await agentAtWork(t, BEATING)
    const holder = startTireless(t, scene.home, 'start')
    await scene.hasBegun()
    for (const command of ['start', 'once']) assert.equal((await tireless(scene.home, command)).exit, 75, command)
    const before = (await listed<Dispatch>(scene.home, 'queue')).map(({ status }) => status)
    assert.deepEqual(before, ['running'], 'nothing was touched')
    holder.kill('SIGKILL')
    await waitForExit(holder)
    await comesToItsEnd(scene)
  })
})
