/** The kernel's process from outside: asked to stop during a cycle, killed, and kept from being there twice. */

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { Cycle } from '../../src/domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../src/domain/dispatch.ts'
import { freshFolder, until } from '../apps.ts'
import { begin, ended, json, providerWith, tireless } from '../command-line.ts'
import { configFor } from './kills.ts'

interface Place {
  readonly home: string
  /** There once the agent is at work, and what it waits for. */
  readonly here: string
  readonly go: string
}

/** A kernel with one agent, whose first command takes until it is told to go on. */
async function place(t: TestContext): Promise<Place> {
  const home = freshFolder(t)
  const [here, go] = [join(home, 'here'), join(home, 'go')]
  const provider = await providerWith(t, [
    { calls: [{ tool: 'bash', args: { command: `touch ${here}; until [ -e ${go} ]; do sleep 0.05; done` } }] },
    { calls: [{ tool: 'bash', args: { command: 'echo fine' } }] },
    { text: '## Execution Summary\nfine' },
  ])
  writeFileSync(
    join(home, 'tireless.yaml'),
    `${configFor(provider)}kernel: { schedule: { every: 1s }, agents: [{ agent_id: a, prompt: work }] }\nserver: { port: 0 }\n`,
  )
  return { home, here, go }
}

const listed = async <T>(home: string, ...command: string[]): Promise<readonly T[]> =>
  (await json<{ items: T[] }>(home, ...command, 'list')).items

/** What was under way is taken up by the next start, comes to its end, and is counted by one cycle. */
async function comesToItsEnd({ home, go }: Place): Promise<void> {
  writeFileSync(go, '')
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
      const scene = await place(t)
      const holder = begin(t, scene.home, command)
      await until(() => existsSync(scene.here))
      holder.kill('SIGTERM')
      writeFileSync(scene.go, '')
      assert.equal(await ended(holder), exit)
      const [cycle] = await listed<Cycle>(scene.home, 'cycles')
      assert.deepEqual([cycle?.result?.error, cycle?.ended_at === null], [null, false])
      const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await comesToItsEnd(scene)
    })

  test('case 133: a command that does not end is interrupted at the second signal; its row can be taken up at once', async (t) => {
    const scene = await place(t)
    const holder = begin(t, scene.home, 'start')
    await until(() => existsSync(scene.here))
    holder.kill('SIGTERM')
    holder.kill('SIGINT')
    assert.equal(await ended(holder), 0)
    const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
    assert.equal(dispatch?.status, 'pending')
    assert.ok((await listed<Cycle>(scene.home, 'cycles')).every(({ ended_at }) => ended_at !== null))
    await comesToItsEnd(scene)
  })
})

describe('E14: stop', () => {
  for (const how of [['--timeout', '0.2'], ['--now']])
    test(`stop ${how.join(' ')}: a command that does not end is interrupted; stop returns when the process is gone`, async (t) => {
      const scene = await place(t)
      const holder = begin(t, scene.home, 'start')
      await until(() => existsSync(scene.here))
      const { exit, stdout } = await tireless(scene.home, 'stop', ...how, '--json')
      assert.deepEqual([exit, JSON.parse(stdout)], [0, { stopped: true }])
      assert.ok(!existsSync(`/proc/${holder.pid}/exe`), 'its process is gone')
      const [dispatch] = await listed<Dispatch>(scene.home, 'queue')
      assert.equal(dispatch?.status, 'pending')
      await comesToItsEnd(scene)
    })

  test('stop lets a step end that ends in time', async (t) => {
    const scene = await place(t)
    const holder = begin(t, scene.home, 'start')
    await until(() => existsSync(scene.here))
    const stopped = tireless(scene.home, 'stop')
    writeFileSync(scene.go, '')
    assert.equal((await stopped).exit, 0)
    assert.equal(await ended(holder), 0)
    assert.deepEqual(await listed(scene.home, 'unknowns'), [], 'nothing was interrupted')
    await comesToItsEnd(scene)
  })
})

describe('one kernel per home (case 129)', () => {
  test('case 129: a second start and a second once are refused with 75 while a cycle runs; after kill -9 the next start takes over at once', async (t) => {
    const scene = await place(t)
    const holder = begin(t, scene.home, 'start')
    await until(() => existsSync(scene.here))
    for (const command of ['start', 'once']) assert.equal((await tireless(scene.home, command)).exit, 75, command)
    const before = (await listed<Dispatch>(scene.home, 'queue')).map(({ status }) => status)
    assert.deepEqual(before, ['running'], 'nothing was touched')
    holder.kill('SIGKILL')
    await ended(holder)
    await comesToItsEnd(scene)
  })
})
