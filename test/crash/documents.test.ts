/** An edit that a run was told is in STATE.md is in its file, wherever the process was killed. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Script } from '../../src/testing/provider-server.ts'
import { createHome, tirelessJson } from '../support/command-line.ts'
import { hasStrace, MAIN, NODE_FLAGS, run, sampled } from './kills.ts'

const edit = (section: string) => ({ calls: [{ tool: 'edit_state', args: { section, text: `text of ${section}` } }] })
const SCRIPT: Script = [edit('first'), edit('second'), { text: 'both are written' }]

/**
 * How often each call is made for the seed and two edits. The old file is moved away first, then the new one is linked.
 */
const CALLS = [
  ['fsync', 'kernels/default/.STATE.md.tmp', 3],
  ['/^rename', 'kernels/default/STATE.md', 2],
  ['/^link', 'kernels/default/.STATE.md.tmp', 3],
  ['fsync', 'kernels/default', 3],
] as const
const POINTS = CALLS.flatMap(([syscall, path, times]) =>
  Array.from({ length: times }, (_, i) => ({ syscall, path, point: i + 1 })),
)

describe('killed while STATE.md is written', () => {
  for (const { syscall, path, point } of sampled(POINTS, 3))
    test(`killed at ${syscall} ${point} of ${path}: every acknowledged edit is in the file`, async (t) => {
      if (!hasStrace) return t.skip('strace is missing')
      const home = await createHome(t, SCRIPT)
      const exit = await killedRun(t, home, [
        '-e',
        `inject=${syscall}:signal=KILL:when=${point}`,
        '-P',
        join(home, path),
      ])
      assert.notEqual(exit, 0, 'the process was killed')
      assert.equal((await tirelessJson(home, 'start', '--until-idle')).exit, 0)
      const { items } = await tirelessJson<{ items: { session_id: string }[] }>(home, 'sessions', 'list')
      const { journal } = await tirelessJson<{ journal: JournalRecord[] }>(
        home,
        'sessions',
        'show',
        items[0]?.session_id ?? '',
      )
      const results = journal.filter((record) => record.kind === 'call_settled').map(({ result }) => result.content)
      assert.deepEqual(results, ['edited STATE.md', 'edited STATE.md'])
      const file = join(home, 'kernels/default/STATE.md')
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      for (const section of ['first', 'second']) assert.match(text, new RegExp(`## ${section}\ntext of ${section}`))
    })
})

async function killedRun(t: TestContext, home: string, inject: readonly string[]): Promise<number | null> {
  const strace = ['-f', '-o', '/dev/null', '-e', 'trace=fsync,/^rename,/^link', ...inject]
  const command = [process.execPath, ...NODE_FLAGS, MAIN, 'run', '--behaviour', 'solo', 'edit it', '--home', home]
  const { exit, stderr } = await run('env', ['UV_THREADPOOL_SIZE=1', 'strace', ...strace, ...command])
  t.diagnostic(stderr.slice(0, 200))
  return exit
}
