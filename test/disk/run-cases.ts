/** Runs the cases of full-disk-main.ts in a process of their own, and judges them. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { NODE_FLAGS } from '../crash/kills.ts'
import { freshFolder } from '../support/open-app.ts'
import type { CaseResult } from './full-disk-main.ts'
import { type DiskKind, OWN_MOUNTS } from './small-disk.ts'

const MAIN = join(import.meta.dirname, 'full-disk-main.ts')

/** What an error says if part of its work is done. */
const PARTLY_DONE = /stays stored|the change is made and in effect|is stored and in effect/

/** Contract: resolves with the cases; those on a full disk are judged. */
export async function checkCases(t: TestContext, kind: DiskKind, amount: 'all' | 'sample'): Promise<void> {
  const [program = '', ...words] = OWN_MOUNTS
  const main = [process.execPath, ...NODE_FLAGS, MAIN, freshFolder(t, 'small-disk'), kind, amount]
  const { stdout } = await promisify(execFile)(program, [...words, ...main], { maxBuffer: 64 * 1024 * 1024 })
  const all = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as CaseResult]))
  const [roomy, full] = [all.filter((one) => one.free_kb === null), all.filter((one) => one.free_kb !== null)]
  for (const one of roomy) assert.ok(one.said && one.files === 'new' && one.differs.length > 0, JSON.stringify(one))
  assert.deepEqual(
    full.filter((one) => !isTrue(one)),
    [],
  )
  const failed = full.filter(({ said }) => !said).length
  t.diagnostic(`${kind}: ${full.length} writes on a full disk, ${failed} refused, 0 wrong`)
  assert.ok(failed > 0, 'no disk was full')
}

/** Every file is wholly old or wholly new, and what was said is so. */
function isTrue({ said, worked, files, code, message }: CaseResult): boolean {
  if (files === 'wrong' || code === 'internal') return false
  // A document whose file cannot be written is in the store, and its file follows.
  if (said) return worked ?? files === 'new'
  return files === 'old' || PARTLY_DONE.test(message)
}
