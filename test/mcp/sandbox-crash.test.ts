/** kill -9 of the program: neither a sandboxed server nor its processes survive, even before the next start. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { NODE_FLAGS } from '../crash/kills.ts'
import { isAlive } from '../support/mcp-homes.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'

const main = (name: string): string[] => [...NODE_FLAGS, join(import.meta.dirname, `${name}-main.ts`)]

/** Processes with this text in their command line, except this process. */
function processesWith(mark: string): number[] {
  return globSync('/proc/[0-9]*/cmdline')
    .filter((file) => {
      try {
        return readFileSync(file, 'utf8').split('\0').includes(mark)
      } catch {
        return false
      }
    })
    .map((file) => Number(file.split('/')[2]))
    .filter(isAlive)
}

test('kill -9 of the program also ends a sandboxed server and its processes', { skip }, async (t) => {
  const home = freshFolder(t)
  // A duration for `sleep` that no other process uses.
  const mark = `86397.${process.pid}`
  const server = { command: [process.execPath, ...main('hostile-server'), mark], trust: 'trusted' }
  const effects = { evaluate: { recovery: 'pure', reach: 'none' } }
  writeFileSync(join(home, 'tireless.yaml'), stringify({ mcp_servers: { x: { ...server, effects } } }))
  const program = spawn(process.execPath, [...main('sandbox-crash'), home, mark], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => {
    for (const pid of processesWith(mark)) process.kill(pid, 'SIGKILL')
  })
  await once(program.stdout, 'data')
  const before = processesWith(mark).filter((pid) => pid !== program.pid)
  assert.ok(before.length >= 2, `the server and its sleep are running: ${before.join()}`)
  program.kill('SIGKILL')
  await once(program, 'exit')
  await waitUntil(() => processesWith(mark).length === 0)
})
