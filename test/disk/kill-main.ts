/**
 * Runs a command and dies at the k-th change of a file, in the middle of a write: kill-main.ts HOME COMMAND K. If it is
 * not killed, it prints the number of changes.
 */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createApp } from '../../src/app.ts'
import { COMMANDS } from './commands.ts'

const [home = '', title = '', at = '0'] = process.argv.slice(2)
let changes = 0
let isArmed = false

function dieHere(before: () => void = () => {}): void {
  if (!isArmed) return
  changes += 1
  if (changes !== Number(at)) return
  before()
  process.kill(process.pid, 'SIGKILL')
}

const { writeSync } = fs
Object.assign(fs, {
  writeSync(handle: number, bytes: Uint8Array, from: number, length: number, position: number | null) {
    dieHere(() => writeSync(handle, bytes, from, Math.floor(length / 2), position))
    return writeSync(handle, bytes, from, length, position)
  },
})
for (const name of ['renameSync', 'linkSync', 'rmSync', 'mkdirSync', 'fchmodSync', 'fsyncSync'] as const) {
  const original = fs[name] as unknown as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      dieHere()
      return original(...args)
    },
  })
}
syncBuiltinESMExports()

const command = COMMANDS.find((one) => one.title === title)
if (!command) throw new Error(`no command ${title}`)
const app = await createApp({ home })
isArmed = true
await app.runByName(command.name, command.input)
isArmed = false
process.stdout.write(String(changes))
await app.close()
