/**
 * The servers of the queue suite: PostgreSQL, Redis and Restate, on this machine only, each in a folder of its own.
 * They end with the suite, however that ends. All of them sync what they acknowledge to disk.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres, removeWithProcess } from '../../test/support/postgres.ts'
import { freePort } from '../kernel/program.ts'
import type { Scale } from '../suite.ts'
import { versionOf } from './server-use.ts'

interface BenchServer {
  readonly url: string
  readonly pid: number
}

/** A server with databases for the places of a queue. */
interface QueueServer extends BenchServer {
  newDatabase(): Promise<string>
}

export interface BenchServers {
  readonly postgres: QueueServer
  readonly redis: QueueServer | undefined
  readonly restate: (BenchServer & { readonly admin: string }) | undefined
  readonly versions: Readonly<Record<string, string>>
  readonly settings: Readonly<Record<string, string>>
  end(): Promise<void>
}

interface ServerOptions {
  readonly scale: Scale
  /** For the files of servers. */
  readonly folder: string
  readonly withoutPeers: boolean
}

interface Lifetime {
  after(end: () => Promise<void>): void
}

/**
 * Beside the settings of tests. Checkpoints are rare, so that none falls into the measurement of one subject only;
 * `fsync`, `full_page_writes` and `synchronous_commit` stay on, as they are by default.
 */
const POSTGRES_SETTINGS = {
  ...{ shared_buffers: '1GB', max_connections: '400', max_wal_size: '16GB', checkpoint_timeout: '1h' },
  ...{ wal_buffers: '16MB', effective_cache_size: '4GB', random_page_cost: '1.1' },
}

/** `save ''` and no rewriting: no snapshot falls into the measurement of one subject only. */
const REDIS_SETTINGS = {
  ...{ bind: '127.0.0.1', appendonly: 'yes', appendfsync: 'always', save: '""', 'auto-aof-rewrite-percentage': '0' },
  ...{ 'maxmemory-policy': 'noeviction', 'set-proc-title': 'no', daemonize: 'no' },
}

const RESTATE = join(
  import.meta.dirname,
  `../peers/node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
)

const CONNECT_ATTEMPTS = 600
const LOOK_AGAIN_MS = 50

/** Folders of servers are on a disk, except in smoke runs. As root, other users must be able to enter it. */
function parentOf(scale: Scale, folder: string): string {
  if (scale === 'smoke') return tmpdir()
  return process.getuid?.() === 0 ? '/var/tmp' : folder
}

/** Contract: those of peers are undefined if they are not installed; Debian's Redis is, where that is possible. */
export async function startServers({ scale, folder, withoutPeers }: ServerOptions): Promise<BenchServers> {
  const ends: (() => Promise<void>)[] = []
  const end = async (): Promise<void> => void (await Promise.all(ends.splice(0).map((each) => each())))
  const lifetime: Lifetime = { after: (each) => void ends.push(each) }
  try {
    const parent = parentOf(scale, folder)
    const settings = scale === 'smoke' ? { max_connections: '200' } : POSTGRES_SETTINGS
    const postgres = await startPostgres(lifetime, settings, parent)
    const redis = withoutPeers ? undefined : await startRedis(lifetime, parent, scale !== 'smoke')
    const restate = withoutPeers ? undefined : await startRestate(lifetime, parent)
    const described = { PostgreSQL: { fsync: 'on', synchronous_commit: 'on', ...settings }, Redis: REDIS_SETTINGS }
    return {
      ...{ postgres, redis, restate, end },
      versions: { PostgreSQL: await versionOf(postgres.url), ...(redis ? { Redis: redis.version } : {}) },
      settings: Object.fromEntries(
        Object.entries(described).map(([name, values]) => [
          name,
          Object.entries(values)
            .map(([key, value]) => `${key} ${value}`)
            .join(', '),
        ]),
      ),
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function startPostgres(
  lifetime: Lifetime,
  settings: Readonly<Record<string, string>>,
  parent: string,
): Promise<QueueServer> {
  const server = await openPostgres(lifetime, settings, parent)
  const pid = Number(readFileSync(join(server.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  return { url: server.adminUrl, pid, newDatabase: () => server.newDatabase() }
}

async function startRedis(
  lifetime: Lifetime,
  parent: string,
  mayInstall: boolean,
): Promise<(QueueServer & { readonly version: string }) | undefined> {
  if (mayInstall && findRedis() === undefined) installSystemProgram('redis-server')
  const program = findRedis()
  if (program === undefined) return undefined
  const own = newServerFolder(lifetime, parent, 'redis-')
  const port = await freePort()
  const lines = Object.entries({ ...REDIS_SETTINGS, port, dir: own }).map(([name, value]) => `${name} ${value}\n`)
  const config = join(own, 'redis.conf')
  writeFileSync(config, lines.join(''))
  const pid = await startServer(program, [config], port)
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.replace(/^.*v=(\S+).*$/s, '$1')
  const url = `redis://127.0.0.1:${port}`
  let databases = 0
  return { url, pid, version, newDatabase: async () => `${url}/${databases++}` }
}

/** One node with its default settings: one copy, synced to disk. `admin`: where services are registered. */
async function startRestate(lifetime: Lifetime, parent: string): Promise<BenchServers['restate']> {
  if (!existsSync(RESTATE)) return undefined
  const own = newServerFolder(lifetime, parent, 'restate-')
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()]
  const at = (port: number): string => `127.0.0.1:${port}`
  const env = {
    ...{ RESTATE_BIND_ADDRESS: at(node), RESTATE_ADVERTISED_ADDRESS: `http://${at(node)}/` },
    ...{ RESTATE_INGRESS__BIND_ADDRESS: at(ingress), RESTATE_ADMIN__BIND_ADDRESS: at(admin) },
    ...{ RESTATE_LISTEN_MODE: 'tcp', RESTATE_LOG_FILTER: 'error', RESTATE_DISABLE_TELEMETRY: 'true' },
    ...{ RESTATE_METADATA_CLIENT__ADDRESSES: `["http://${at(node)}/"]`, DO_NOT_TRACK: '1', TMPDIR: own },
  }
  const pid = await startServer(RESTATE, ['--base-dir', own, '--node-name', 'bench'], admin, env)
  return { url: `http://${at(ingress)}`, admin: `http://${at(admin)}`, pid }
}

function newServerFolder(lifetime: Lifetime, parent: string, prefix: string): string {
  const own = mkdtempSync(join(parent, prefix))
  chmodSync(own, 0o700)
  lifetime.after(removeWithProcess(own))
  return own
}

function findRedis(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin']
  const paths = ['redis-server', 'valkey-server'].flatMap((name) => folders.map((folder) => join(folder, name)))
  return paths.find((path) => existsSync(path))
}

function installSystemProgram(name: string): void {
  const script = join(import.meta.dirname, '../../scripts/setup.mjs')
  spawnSync(process.execPath, [script, '--system', name], { stdio: ['inherit', 2, 2] })
}

/** Contract: resolves with the process id when the port answers. */
async function startServer(
  program: string,
  args: readonly string[],
  port: number,
  env: NodeJS.ProcessEnv = {},
): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  child.unref()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-4000)
  })
  for (let attempt = 1; !(await answers(port)); attempt++) {
    if (child.exitCode !== null || attempt === CONNECT_ATTEMPTS)
      throw new Error(`${program} does not answer on port ${port}\n${stderr}`)
    await pause(LOOK_AGAIN_MS)
  }
  return child.pid ?? 0
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
