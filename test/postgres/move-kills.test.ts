/** `store move` is killed with -9 at many of its system calls, in both directions, and cut off from the database. */

import assert from 'node:assert/strict'
import { cpSync, readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { hasStrace, MAIN, NODE_FLAGS, run } from '../crash/kills.ts'
import { baseHome } from '../homes/unreadable-home.ts'
import { tireless, tirelessJson } from '../support/command-line.ts'
import { addOddRows, configOf, moveStore, rowsOfHome } from '../support/moved-homes.ts'
import { freshFolder } from '../support/open-app.ts'
import { openPostgres, WITHOUT_POSTGRES } from '../support/postgres.ts'

const IS_FULL = process.env.CRASH_SWEEP === 'full'

/** Each system call, with the first number to try and the distance to the next. */
const KILLS = [
  ['rename', 1, 1],
  ['unlink', 1, 2],
  ['fsync', 1, 1],
  ['write', 5, IS_FULL ? 3 : 23],
  ['writev', 1, IS_FULL ? 3 : 29],
] as const

describe('store move, killed', { skip: WITHOUT_POSTGRES || (!hasStrace && 'strace is missing') }, async () => {
  const server = await openPostgres({ after }, { fsync: 'off' })

  /** Contract: whether the kill came before the end. */
  async function killAt(home: string, to: string, syscall: string, when: number): Promise<boolean> {
    const inject = ['-e', `trace=${syscall}`, '-e', `inject=${syscall}:signal=KILL:when=${when}`]
    const command = [process.execPath, ...NODE_FLAGS, MAIN, 'store', 'move', to, '--home', home]
    const { exit, stderr } = await run('strace', ['-f', '-o', '/dev/null', ...inject, ...command])
    if (exit === 0) return false
    assert.doesNotMatch(stderr, /do this/, `${syscall} ${when}`)
    return true
  }

  const queueOf = async (home: string) => (await tirelessJson<{ items: unknown[] }>(home, 'queue', 'list')).items
  const withoutWorkers = (home: string) => ({ ...rowsOfHome(home), workers: [] })

  async function copyOf(t: TestContext, home: string): Promise<string> {
    const copy = join(freshFolder(t, 'killed'), 'home')
    cpSync(home, copy, { recursive: true })
    return copy
  }

  for (const way of ['into', 'out'] as const)
    test(`E15: killed anywhere on the way ${way}, the home is whole, and the same command completes it`, async (t) => {
      const base = await baseHome(t, 9)
      addOddRows(base)
      const [before, queue] = [withoutWorkers(base), await queueOf(base)]
      const ends = { old: 0, switched: 0 }
      for (const [syscall, first, step] of KILLS)
        for (let when = first; ; when += step) {
          const [home, url] = [await copyOf(t, base), await server.newDatabase()]
          if (way === 'out') await moveStore(home, url)
          const to = way === 'into' ? url : 'sqlite'
          const wasKilled = await killAt(home, to, syscall, when)
          const at = `${syscall} ${when}`
          const hasSwitched = /^store: postgres/m.test(configOf(home)) === (way === 'into')
          if (wasKilled) ends[hasSwitched ? 'switched' : 'old'] += 1
          assert.deepEqual(await queueOf(home), queue, at)
          const again = await moveStore(home, to)
          assert.deepEqual(
            { exit: again.exit, action: again.action },
            { exit: 0, action: hasSwitched ? 'none' : 'moved' },
            at,
          )
          if (way === 'into') assert.equal((await moveStore(home, 'sqlite')).exit, 0, at)
          assert.deepEqual(withoutWorkers(home), before, at)
          assert.deepEqual(
            readdirSync(home).filter((name) => /\.moving|\.draft/.test(name)),
            [],
            at,
          )
          if (!wasKilled) break
        }
      t.diagnostic(JSON.stringify(ends))
      assert.ok(ends.old > 10 && ends.switched > 0, JSON.stringify(ends))
    })

  /** Passes on what it gets until it has passed on so many bytes; then all connections are cut. */
  async function cuttingProxy(t: TestContext, url: string, bytes: number): Promise<string> {
    const { hostname, port } = new URL(url)
    const sockets: Socket[] = []
    let left = bytes
    const proxy = createServer((client) => {
      const upstream = connect(Number(port), hostname)
      sockets.push(client, upstream)
      for (const socket of [client, upstream]) socket.on('error', () => {})
      upstream.pipe(client)
      client.on('data', (data) => {
        left -= data.length
        if (left > 0) upstream.write(data)
        else for (const socket of sockets) socket.destroy()
      })
      client.on('close', () => upstream.destroy())
    }).listen(0, '127.0.0.1')
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    })
    await new Promise((resolve) => proxy.once('listening', resolve))
    return Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href
  }

  for (const bytes of [300, 20_000, 2_000_000, 6_900_000])
    test(`E15: cut off from the database after ${bytes} bytes, the home is as before`, async (t) => {
      const home = await baseHome(t, 9)
      addOddRows(home)
      const [before, url] = [{ config: configOf(home), rows: rowsOfHome(home) }, await server.newDatabase()]
      const { exit, stderr } = await tireless(home, 'store', 'move', await cuttingProxy(t, url, bytes))
      assert.equal(exit, 1)
      assert.match(stderr, /cannot be reached.*the records were not moved/s)
      assert.deepEqual({ config: configOf(home), rows: rowsOfHome(home) }, before)
      assert.equal((await moveStore(home, url)).exit, 0)
    })
})
