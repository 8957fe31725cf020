/** Three PostgreSQL nodes with streaming replication under Patroni, which keeps its state in etcd, on this machine. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chmodSync, chownSync, globSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { stringify } from 'yaml'
import { childrenOf, killProcesses, removeWithProcess, SERVER_USER } from '../support/postgres.ts'

export type Replication = 'synchronous' | 'asynchronous'

export interface ClusterNode {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly folder: string
}

/** What Patroni says of a node. */
interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Seconds. Short, so that a drill takes minutes; Patroni 4 takes 20 where `ttl` is less. */
const TIMES = { ttl: 10, loop_wait: 1, retry_timeout: 4 }
const SETTINGS = { max_connections: 60, shared_buffers: '64MB', wal_log_hints: 'on' }
const POLL_MS = 100
const HEALTH_LIMIT_MS = 120_000
const LOG_LINES = 25

export class PatroniCluster {
  readonly password = randomBytes(12).toString('hex')
  readonly nodes: readonly ClusterNode[]
  readonly #folder: string
  readonly #replication: Replication
  readonly #etcdPort: number
  readonly #supervisors = new Map<string, ChildProcess>()

  private constructor(folder: string, replication: Replication, firstPort: number) {
    this.#folder = folder
    this.#replication = replication
    this.#etcdPort = firstPort
    this.nodes = [1, 2, 3].map((i) => ({
      name: `node${i}`,
      port: firstPort + 10 * i,
      restPort: firstPort + 10 * i + 1,
      folder: join(folder, `node${i}`),
    }))
  }

  /** Contract: all three nodes run; the caller calls `close`, and a kill of this process ends them too. */
  static async start(replication: Replication): Promise<{ cluster: PatroniCluster; close: () => Promise<void> }> {
    const folder = mkdtempSync(join(tmpdir(), 'failover-'))
    const close = removeWithProcess(folder)
    const cluster = new PatroniCluster(folder, replication, randomInt(150, 310) * 100)
    try {
      cluster.#startEtcd()
      for (const node of cluster.nodes) cluster.startNode(node)
      await cluster.whenHealthy(3)
      return { cluster, close }
    } catch (error) {
      const logs = cluster.logs()
      await close()
      throw new Error(`${error}\n${logs}`)
    }
  }

  /** Contract: the node that Patroni calls the primary, if one answers. */
  async leader(): Promise<ClusterNode | undefined> {
    const answers = await Promise.all(this.nodes.map(async (node) => ({ node, ok: await isPrimary(node) })))
    return answers.find(({ ok }) => ok)?.node
  }

  /** Contract: there are a primary and a standby that could take over; at least `running` nodes run. */
  async whenHealthy(running: number): Promise<void> {
    const standby = this.#replication === 'synchronous' ? 'sync_standby' : 'replica'
    for (let waited = 0; waited < HEALTH_LIMIT_MS; waited += POLL_MS) {
      const members = (await this.#members()).filter(({ state }) => /running|streaming/.test(state))
      const roles = members.map(({ role }) => role)
      if (members.length >= running && roles.includes('leader') && roles.includes(standby)) return
      await setTimeout(POLL_MS)
    }
    throw new Error(`the cluster did not recover; Patroni reports ${JSON.stringify(await this.#members())}`)
  }

  /**
   * Stops what the primary sends to its standbys, waits, and kills the node: PostgreSQL and Patroni. What it
   * acknowledges in between is on no standby.
   */
  async killNode(node: ClusterNode, silentMs: number): Promise<void> {
    const server = serverPidOf(node)
    for (const pid of childrenOf(server).filter(isSender)) process.kill(pid, 'SIGSTOP')
    await setTimeout(silentMs)
    const supervisor = this.#supervisors.get(node.name)
    await killProcesses([supervisor?.pid ?? 0, server, ...childrenOf(server)])
  }

  startNode(node: ClusterNode): void {
    mkdirSync(node.folder, { recursive: true })
    this.#own(node.folder)
    const file = join(this.#folder, `${node.name}.yml`)
    writeFileSync(file, stringify(this.#configOf(node)))
    this.#supervisors.set(node.name, this.#run('patroni', [file], node.name))
  }

  #startEtcd(): void {
    const [client, peer] = [this.#etcdPort, this.#etcdPort + 1].map((port) => `http://127.0.0.1:${port}`)
    const addresses = [`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`]
    const peers = [`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`]
    const data = join(this.#folder, 'etcd')
    mkdirSync(data)
    this.#own(data)
    this.#own(this.#folder)
    this.#run('etcd', ['--data-dir', data, ...addresses, ...peers, `--initial-cluster=default=${peer}`], 'etcd')
  }

  #run(program: string, args: readonly string[], name: string): ChildProcess {
    const log = openSync(join(this.#folder, `${name}.log`), 'a')
    // etcd 3.4 starts on 64-bit ARM only with this variable.
    const env = { PATH: process.env.PATH, LC_ALL: 'C', ETCD_UNSUPPORTED_ARCH: 'arm64' }
    const child = spawn(program, args, { ...SERVER_USER, cwd: this.#folder, env, stdio: ['ignore', log, log] })
    child.unref()
    return child
  }

  #own(folder: string): void {
    chmodSync(folder, 0o700)
    if (SERVER_USER.uid !== undefined && SERVER_USER.gid !== undefined)
      chownSync(folder, SERVER_USER.uid, SERVER_USER.gid)
  }

  #configOf(node: ClusterNode): object {
    const isSynchronous = this.#replication === 'synchronous'
    const password = this.password
    const address = `127.0.0.1:${node.port}`
    return {
      scope: 'drill',
      name: node.name,
      restapi: { listen: `127.0.0.1:${node.restPort}`, connect_address: `127.0.0.1:${node.restPort}` },
      etcd3: { host: `127.0.0.1:${this.#etcdPort}` },
      bootstrap: {
        dcs: {
          ...TIMES,
          synchronous_mode: isSynchronous,
          synchronous_mode_strict: isSynchronous,
          postgresql: { use_pg_rewind: true, parameters: SETTINGS },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: join(node.folder, 'data'),
        bin_dir: postgresPrograms(),
        pgpass: join(node.folder, 'pgpass'),
        parameters: { unix_socket_directories: node.folder },
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
        authentication: {
          superuser: { username: 'postgres', password },
          replication: { username: 'replicator', password },
        },
      },
    }
  }

  async #members(): Promise<readonly Member[]> {
    for (const { restPort } of this.nodes) {
      try {
        const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2000) })
        return ((await answer.json()) as { members?: Member[] }).members ?? []
      } catch {
        // This node is down; ask the next.
      }
    }
    return []
  }

  /** Contract: the last lines of each node. */
  logs(): string {
    const tailOf = ({ name }: ClusterNode): string =>
      readFileSync(join(this.#folder, `${name}.log`), 'utf8')
        .split('\n')
        .slice(-LOG_LINES)
        .join('\n')
    return this.nodes.map((node) => `${node.name}:\n${tailOf(node)}`).join('\n')
  }
}

async function isPrimary({ restPort }: ClusterNode): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${restPort}/primary`, { signal: AbortSignal.timeout(2000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

const serverPidOf = ({ folder }: ClusterNode): number =>
  Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10)

const isSender = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walsender')

function postgresPrograms(): string {
  const [folder] = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
  if (folder === undefined)
    throw new Error('no PostgreSQL; expected one in /usr/lib/postgresql; do this: apt-get install postgresql')
  return folder
}
