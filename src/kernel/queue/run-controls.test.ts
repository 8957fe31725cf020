import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../ports/store.ts'
import { applyRequests, createControl, interruptRuns, type RunControls, signalRun } from './run-controls.ts'
import { createWakeSignal } from './wake-signal.ts'

const controlsOf = (...ids: string[]): RunControls => new Map(ids.map((id) => [id, createControl(false)]))

const toldTo = (controls: RunControls, id: string): readonly string[] => {
  const control = controls.get(id)
  assert.ok(control)
  const signals = ['afterStep', 'immediate', 'pause', 'interrupt'] as const
  return signals.filter((name) => control[name].signal.aborted)
}

test('E15: an interrupted run stops in its step and keeps its work; the others are told as asked', () => {
  const controls = controlsOf('a', 'b', 'c', 'd')
  signalRun(controls, 'a', 'interrupt')
  signalRun(controls, 'b', 'pause')
  signalRun(controls, 'c', 'after_step')
  signalRun(controls, 'd', 'immediate')
  signalRun(controls, 'elsewhere', 'immediate')
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => toldTo(controls, id)),
    [['pause', 'interrupt'], ['pause'], ['afterStep'], ['immediate']],
  )
})

test('E15: runs are interrupted until none is left, also one that starts meanwhile', async () => {
  const controls = controlsOf('a', 'b')
  const wakeSignal = createWakeSignal()
  let isOver = false
  const interrupting = interruptRuns(controls, wakeSignal).then(() => {
    isOver = true
  })
  const end = async (id: string): Promise<void> => {
    assert.deepEqual(toldTo(controls, id), ['pause', 'interrupt'])
    controls.delete(id)
    wakeSignal.ring()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await end('a')
  controls.set('late', createControl(false))
  await end('b')
  assert.equal(isOver, false)
  await end('late')
  await interrupting
})

test('E15: what other processes ask of a run reaches it', async () => {
  const controls = controlsOf('cancelled', 'paused', 'free', 'gone')
  const rows: Readonly<Record<string, object>> = {
    cancelled: { cancel: 'immediate' },
    paused: { paused: true },
    free: {},
  }
  await applyRequests({ dispatch: async (id: string) => rows[id] } as unknown as Store, controls)
  assert.deepEqual(
    [...controls.keys()].map((id) => toldTo(controls, id)),
    [['immediate'], ['pause'], [], []],
  )
})
