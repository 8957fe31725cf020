/** Undoes the last run, or an undo, and dies at the k-th change of a file or commit: undo-main.ts HOME TARGET K */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createApp } from '../../src/app.ts'
import { scriptedWork } from '../support/scripted-work.ts'

const [home = '', target = '', at = '0'] = process.argv.slice(2)
let changes = 0
let isArmed = false

function count(): void {
  if (!isArmed) return
  changes += 1
  if (changes === Number(at)) process.kill(process.pid, 'SIGKILL')
}

const CALLS = [
  ...(['renameSync', 'unlinkSync', 'rmdirSync', 'mkdirSync', 'symlinkSync', 'chmodSync', 'fchmodSync'] as const),
  ...(['writeSync', 'appendFileSync'] as const),
]
for (const name of CALLS) {
  const original = fs[name] as unknown as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      count()
      return original(...args)
    },
  })
}
syncBuiltinESMExports()

const work = scriptedWork()
const app = await createApp({ home, model: work.model, tools: [work.tool] })
const store = app.service('store')
const commit = store.commit.bind(store)
store.commit = async (batches) => {
  count()
  const done = await commit(batches)
  count()
  return done
}
isArmed = true
await app.run('undo', { target, yes: true })
isArmed = false
process.stdout.write(String(changes))
await app.close()
