/** Measures the program from outside: time to start, time to answer, and resource use. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** How the program is launched: from source, or from the package that users install. */
export interface Launcher {
  readonly name: 'source' | 'package'
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
}

const LOOK_AGAIN_MS = 5
const LONGEST_START_MS = 60_000

interface Started {
  readonly pid: number
  /** From the process start until `/healthz` returns 200. */
  readonly readyMs: number
  end(signal: NodeJS.Signals): Promise<void>
}

export async function start(launcher: Launcher, home: string, port: number): Promise<Started> {
  const began = performance.now()
  const { child, stderr } = launch(launcher, ['start', '--home', home])
  const { pid } = child
  while (!(await isHealthy(port))) {
    if (pid === undefined || child.exitCode !== null || performance.now() - began > LONGEST_START_MS)
      throw new Error(`start (${launcher.name}) did not become ready\n${stderr()}`)
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

interface Answered {
  readonly ms: number
  readonly output: { readonly spend: { readonly calls: number }; readonly queue: { readonly done: number } }
}

export async function status(launcher: Launcher, home: string): Promise<Answered> {
  const began = performance.now()
  const { child, stdout, stderr } = launch(launcher, ['status', '--home', home, '--json'])
  const [code] = await once(child, 'close')
  const ms = performance.now() - began
  if (code !== 0) throw new Error(`status (${launcher.name}) ended with ${code}\n${stderr()}`)
  return { ms, output: JSON.parse(stdout()) }
}

interface Launched {
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
}

function launch({ command: [program, ...first], env }: Launcher, args: readonly string[]): Launched {
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const texts = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text
  })
  return { child, stdout: () => texts.stdout, stderr: () => texts.stderr }
}

function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    request.on('error', () => resolve(false))
  })
}

/** Resource use of a process, from /proc; only on Linux. */
export interface Use {
  readonly rssMb: number
  readonly cpuMs: number
  readonly writes: number
  readonly bytesWritten: number
}

/** Clock ticks per second in /proc; 100 on every Linux. */
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

/** Contract: a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
