/** Signals to the kernel's process: stopped during a cycle, killed, and refused a second start. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import { startTireless, tireless, tirelessJson, waitForExit } from '../support/command-line.ts'
import { type BusyAgent, homeWithBusyAgent, listItems } from './busy-agent.ts'

const EVERY_SECOND = { schedule: { every: '1s' } }

/** The next start resumes the unfinished dispatch and ends it, and exactly one cycle counts it. */
async function assertResumedOnce({ home, finishCommand }: BusyAgent): Promise<void> {
  finishCommand()
  const [first] = await listItems<Dispatch>(home, 'queue')
  assert.equal((await tireless(home, 'start', '--until-idle')).exit, 0)
  const after = (await listItems<Dispatch>(home, 'queue')).find(({ dispatch_id }) => dispatch_id === first?.dispatch_id)
  assert.deepEqual(
    { status: after?.status, saysFine: after?.result?.includes('fine') },
    { status: 'done', saysFine: true },
  )
  await tireless(home, 'once')
  const reported = (await listItems<Cycle>(home, 'cycles')).flatMap(({ result }) => result?.agents ?? [])
  assert.equal(
    reported.filter(({ dispatch_id, status }) => dispatch_id === first?.dispatch_id && isTerminal(status)).length,
    1,
  )
}

describe('SIGTERM during a cycle (case 133)', () => {
  for (const [command, exit] of [
    ['start', 0],
    ['once', 3],
  ] as const)
    test(`case 133: ${command}: finishes its step, records the cycle, exits with ${exit}`, async (t) => {
      const scene = await homeWithBusyAgent(t, EVERY_SECOND)
      const holder = startTireless(t, scene.home, command)
      await scene.waitUntilBusy()
      holder.kill('SIGTERM')
      scene.finishCommand()
      assert.equal(await waitForExit(holder), exit)
      const [cycle] = await listItems<Cycle>(scene.home, 'cycles')
      assert.deepEqual(
        { error: cycle?.result?.error, isOpen: cycle?.ended_at === null },
        { error: null, isOpen: false },
      )
      const [dispatch] = await listItems<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await assertResumedOnce(scene)
    })

  test('case 133: a second signal interrupts a hanging command; its dispatch resumes', async (t) => {
    const scene = await homeWithBusyAgent(t, EVERY_SECOND)
    const holder = startTireless(t, scene.home, 'start')
    await scene.waitUntilBusy()
    holder.kill('SIGTERM')
    holder.kill('SIGINT')
    assert.equal(await waitForExit(holder), 0)
    const [dispatch] = await listItems<Dispatch>(scene.home, 'queue')
    assert.equal(dispatch?.status, 'pending')
    assert.ok((await listItems<Cycle>(scene.home, 'cycles')).every(({ ended_at }) => ended_at !== null))
    await assertResumedOnce(scene)
  })
})

/** The milliseconds that running steps got to end, from the log. */
async function loggedDeadlines(home: string): Promise<readonly unknown[]> {
  const { items } = await tirelessJson<{ items: { event: string; within_ms?: number }[] }>(home, 'logs')
  return items.filter(({ event }) => event === 'asked to stop').map(({ within_ms }) => within_ms)
}

describe('E14: stop', () => {
  for (const [timeout, ...how] of [[0.2, '--timeout', '0.2'], [0, '--now'], [0.3]] as const)
    test(`${['stop', ...how].join(' ')}: interrupts a hanging command and returns after the exit`, async (t) => {
      const scene = await homeWithBusyAgent(t, { ...EVERY_SECOND, stop_timeout: 0.3 })
      const holder = startTireless(t, scene.home, 'start')
      await scene.waitUntilBusy()
      const { exit, stdout } = await tireless(scene.home, 'stop', ...how, '--json')
      assert.deepEqual({ exit, output: JSON.parse(stdout) }, { exit: 0, output: { stopped: true, timeout } })
      assert.deepEqual(await loggedDeadlines(scene.home), [timeout * 1000])
      assert.ok(!existsSync(`/proc/${holder.pid}/exe`), 'the process has exited')
      const [dispatch] = await listItems<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await assertResumedOnce(scene)
    })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`one ${signal}: a hanging command is interrupted after kernel.stop_timeout`, async (t) => {
      const scene = await homeWithBusyAgent(t, { ...EVERY_SECOND, stop_timeout: 0.3 })
      const holder = startTireless(t, scene.home, 'start')
      await scene.waitUntilBusy()
      holder.kill(signal)
      assert.equal(await waitForExit(holder), 0)
      assert.deepEqual(await loggedDeadlines(scene.home), [300])
      await assertResumedOnce(scene)
    })

  test('stop lets a step end that ends in time', async (t) => {
    const scene = await homeWithBusyAgent(t, EVERY_SECOND)
    const holder = startTireless(t, scene.home, 'start')
    await scene.waitUntilBusy()
    const stopped = tireless(scene.home, 'stop')
    scene.finishCommand()
    assert.equal((await stopped).exit, 0)
    assert.equal(await waitForExit(holder), 0)
    assert.deepEqual(await listItems(scene.home, 'unknowns'), [], 'nothing was interrupted')
    await assertResumedOnce(scene)
  })
})

describe('one kernel per home (case 129)', () => {
  test('case 129: a second start or once exits with 75; after kill -9 the next start takes over', async (t) => {
    const scene = await homeWithBusyAgent(t, EVERY_SECOND)
    const holder = startTireless(t, scene.home, 'start')
    await scene.waitUntilBusy()
    for (const command of ['start', 'once']) assert.equal((await tireless(scene.home, command)).exit, 75, command)
    const before = (await listItems<Dispatch>(scene.home, 'queue')).map(({ status }) => status)
    assert.deepEqual(before, ['running'], 'nothing was changed')
    holder.kill('SIGKILL')
    await waitForExit(holder)
    await assertResumedOnce(scene)
  })
})
