/** A real pgbouncer that shares the connections of a test's PostgreSQL per transaction. */

import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type PostgresServer, SERVER_USER } from './postgres.ts'

const folders = ['/usr/sbin', ...(process.env.PATH ?? '').split(delimiter)]
const program = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
export const WITHOUT_POOLER = program === undefined && 'no pgbouncer on this machine: install the package pgbouncer'

const CONNECT_ATTEMPTS = 100

/** Contract: turns the URL of a database into one through the pooler, which has `connections` to each database. */
export async function openPooler(server: PostgresServer, connections = 2): Promise<(url: string) => string> {
  if (program === undefined) throw new Error(String(WITHOUT_POOLER))
  const { hostname, port, password } = new URL(server.adminUrl)
  const own = randomInt(15_000, 32_000)
  const inFolder = (name: string) => join(server.folder, name)
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    default_pool_size: connections,
    auth_type: 'scram-sha-256',
    auth_file: inFolder('pooler-users'),
    logfile: inFolder('pooler-log'),
    pidfile: inFolder('pooler.pid'),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
  const config = inFolder('pooler.ini')
  writeFileSync(config, `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\n${lines.join('')}`)
  writeFileSync(settings.auth_file, `"tireless" "${password}"\n"postgres" "${password}"\n`)
  await promisify(execFile)(program, ['--daemon', '--quiet', config], { ...SERVER_USER, cwd: server.folder })
  const through = (url: string) => Object.assign(new URL(url), { port: String(own) }).href
  await waitUntilConnected(through(server.adminUrl))
  return through
}

/** The daemon listens a moment after the program that started it has ended. */
async function waitUntilConnected(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client(url)
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (attempt === CONNECT_ATTEMPTS) throw error
      await setTimeout(50)
    }
  }
}
