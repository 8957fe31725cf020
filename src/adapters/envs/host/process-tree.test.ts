/** Which processes belong to a call, tested on made-up process tables. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { systemClock } from '../../system/clock.ts'
import { type ProcessRow, procTable, psTable } from './process-table.ts'
import { findMembers, hasNamespaceEnded, type ProcessTree, signalTargets } from './process-tree.ts'

const SELF = { pid: 10, session: 9 }
const SHELL = { pid: 100, start: 50 }

function row(pid: number, more: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, parent: 1, group: pid, session: pid, start: 60, zombie: false, ...more }
}

const shell = row(100, { parent: 10, start: 50 })
const init = row(1, { parent: 0, start: 0 })
const self = row(10, { session: 9, start: 1 })

function members(
  rows: readonly ProcessRow[],
  tree: Partial<ProcessTree> = {},
  marked: readonly number[] = [],
): number[] {
  const rowsWithMarks = rows.map((one) => ({ ...one, marked: marked.includes(one.pid) }))
  return findMembers(rowsWithMarks, { shell: SHELL, wasOurChild: false, ...tree }, SELF)
    .map((one) => one.pid)
    .sort((a, b) => a - b)
}

describe('members of a call', () => {
  test('are the shell, its session and all descendants, in any session or group', () => {
    const rows = [
      init,
      self,
      shell,
      row(101, { parent: 100, group: 100, session: 100 }),
      row(102, { parent: 101 }),
      row(103, { parent: 102, group: 102, session: 102 }),
      row(104, { parent: 1, group: 104, session: 100 }),
      row(200),
    ]
    assert.deepEqual(members(rows), [100, 101, 102, 103, 104])
  })

  test('are found by their mark when shell and parents are gone, with all processes of sessions they lead', () => {
    const rows = [init, self, row(300), row(301, { session: 300 }), row(200)]
    assert.deepEqual(members(rows, {}, [300]), [300, 301])
    assert.deepEqual(members(rows, { shell: undefined }, [300]), [300, 301])
  })

  test('do not include a process that reuses the pid of the shell, nor its session', () => {
    const stranger = row(100, { start: 51 })
    const rows = [init, self, stranger, row(101, { parent: 100, session: 100 }), row(102, { session: 100 })]
    assert.deepEqual(members(rows), [])
    assert.deepEqual(members(rows, { wasOurChild: true }), [])
  })

  test('include the session of a dead shell only if it was our child or a marked process is in it', () => {
    const rows = [init, self, row(101, { session: 100 }), row(102, { session: 100 })]
    assert.deepEqual(members(rows), [])
    assert.deepEqual(members(rows, { wasOurChild: true }), [101, 102])
    assert.deepEqual(members(rows, {}, [102]), [101, 102])
  })

  test('never include this process, its session, init, or processes older than the shell', () => {
    const rows = [
      init,
      shell,
      row(10, { parent: 100, session: 9 }),
      row(11, { parent: 10, session: 9 }),
      row(90, { parent: 100, start: 49 }),
    ]
    assert.deepEqual(members(rows, {}, [1, 10, 11, 90]), [100])
  })

  test('do not include the session of a daemon that started a marked process for the call', () => {
    const daemon = row(80, { start: 2 })
    const rows = [init, self, daemon, row(400, { parent: 80, session: 80 }), row(401, { parent: 80, session: 80 })]
    assert.deepEqual(members(rows, {}, [400]), [400])
  })

  test('do not include zombies, but a zombie proves its session', () => {
    const rows = [init, self, row(100, { start: 50, zombie: true }), row(101, { session: 100 })]
    assert.deepEqual(members(rows), [101])
  })
})

test('signals go to whole groups that contain only members, never to our own group or to all processes', () => {
  const ours = [
    row(101, { group: 100 }),
    row(102, { group: 100 }),
    row(103, { group: 80 }),
    row(104, { group: 0 }),
    row(105, { group: 1 }),
  ]
  const others = [row(80), row(106, { group: 0 }), row(107, { group: 100, zombie: true })]
  assert.deepEqual(signalTargets([...ours, ...others], ours), [-100, 103, 104, 105])
})

test('a namespace counts as ended only if its init is gone or a zombie, whatever /proc shows', async () => {
  const clock = { ...systemClock, sleep: async () => {} }
  const seen = (found: ProcessRow | undefined) => ({ ...procTable, row: () => found })
  const isEmpty = (pid: number, found: ProcessRow | undefined) => hasNamespaceEnded(pid, seen(found), clock)
  assert.equal(await isEmpty(process.pid, row(process.pid)), false)
  assert.equal(await isEmpty(process.pid, undefined), false)
  assert.equal(await isEmpty(process.pid, row(process.pid, { zombie: true })), true)
  const { pid } = spawnSync('true')
  assert.equal(await isEmpty(pid, undefined), true)
})

describe('a row', () => {
  test('of /proc is parsed with any process name', () => {
    const line = `7 (a) b (c) S 3 5 6 0 -1 4194560 ${'0 '.repeat(12)}777 0 0`
    assert.deepEqual(procTable.parse(line), { pid: 7, parent: 3, group: 5, session: 6, start: 777, zombie: false })
    assert.equal(procTable.parse(line.replace(' S ', ' Z '))?.zombie, true)
    for (const torn of ['', '7', '7 (a', '7 (a) S 3 5']) assert.equal(procTable.parse(torn), undefined)
  })

  test('of ps is parsed, and a later start gives a higher number', () => {
    const line = ' 7  3  5 Ss  Tue Nov  4 02:13:20 2025'
    const parsed = psTable.parse(line)
    assert.deepEqual(parsed, { pid: 7, parent: 3, group: 5, session: 5, start: 20251104021320, zombie: false })
    assert.ok((psTable.parse(line.replace('2025', '2026'))?.start ?? 0) > (parsed?.start ?? 0))
    for (const torn of ['', '7 3 5', '7 3 5 S Tue', '7 3 5 S Tue Xxx 4 02:13:20 2025'])
      assert.equal(psTable.parse(torn), undefined)
  })
})
