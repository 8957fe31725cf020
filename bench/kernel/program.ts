/** The program as people run it, from outside: how soon it is ready, how soon it answers, and what it costs while it has nothing to do. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** From source, or from the package that users install: what is typed before the verb. */
export interface Launcher {
  readonly name: 'source' | 'package'
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
}

const LOOK_AGAIN_MS = 5
const LONGEST_START_MS = 60_000

export interface Started {
  readonly pid: number
  /** From the beginning of the process until `/healthz` is well. */
  readonly readyMs: number
  end(signal: NodeJS.Signals): Promise<void>
}

export async function start(launcher: Launcher, home: string, port: number): Promise<Started> {
  const began = performance.now()
  const { child, complaint } = launch(launcher, ['start', '--home', home])
  const { pid } = child
  while (!(await isWell(port))) {
    if (pid === undefined || child.exitCode !== null || performance.now() - began > LONGEST_START_MS)
      throw new Error(`start (${launcher.name}) is not ready\n${complaint()}`)
    await pause(LOOK_AGAIN_MS)
  }
  const readyMs = performance.now() - began
  return {
    pid: pid ?? 0,
    readyMs,
    async end(signal) {
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

export interface Answered {
  readonly ms: number
  readonly output: { readonly spend: { readonly calls: number }; readonly queue: { readonly done: number } }
}

export async function status(launcher: Launcher, home: string): Promise<Answered> {
  const began = performance.now()
  const { child, said, complaint } = launch(launcher, ['status', '--home', home, '--json'])
  const [code] = await once(child, 'close')
  const ms = performance.now() - began
  if (code !== 0) throw new Error(`status (${launcher.name}) ended with ${code}\n${complaint()}`)
  return { ms, output: JSON.parse(said()) }
}

interface Launched {
  readonly child: ChildProcess
  said(): string
  complaint(): string
}

function launch({ command: [program, ...first], env }: Launcher, args: readonly string[]): Launched {
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const texts = { said: '', complaint: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.complaint += text
  })
  return { child, said: () => texts.said, complaint: () => texts.complaint }
}

function isWell(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.on('error', () => resolve(false))
  })
}

/** What the system knows of a process; null where it does not say so (/proc is Linux's). */
export interface Use {
  readonly rssMb: number
  readonly cpuMs: number
  readonly writes: number
  readonly bytesWritten: number
}

/** Clock ticks a second, as /proc counts them on every Linux there is. */
const TICKS = 100

export function useOf(pid: number): Use | null {
  const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8')
  const field = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1])
  try {
    const [io, stat] = [read('io'), read('stat')]
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    return {
      rssMb: field(read('status'), 'VmRSS') / 1024,
      cpuMs: ((user + system) * 1000) / TICKS,
      writes: field(io, 'syscw'),
      bytesWritten: field(io, 'write_bytes'),
    }
  } catch {
    return null
  }
}

/** Contract: one that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
