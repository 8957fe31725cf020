/** Runs the command line in child processes. */

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ProviderServer, type Script, startProviderServer } from '../../src/testing/provider-server.ts'
import { configFor, MAIN, NODE_FLAGS, run } from '../crash/kills.ts'
import type { CommandRequest } from './command-line-main.ts'
import { endBeforeRemoving, freshFolder, waitUntil } from './open-app.ts'

export interface CommandOutput {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

const WORKER = join(import.meta.dirname, 'command-line-main.ts')
const idleWorkers: ChildProcess[] = []

/** Runs a command in a reused worker process, because starting Node takes longer than most commands. */
export const tireless = (home: string, ...args: string[]): Promise<CommandOutput> =>
  tirelessWith(process.env, home, ...args)

/** The same, with other environment variables. */
export async function tirelessWith(env: NodeJS.ProcessEnv, home: string, ...args: string[]): Promise<CommandOutput> {
  const child =
    idleWorkers.pop() ?? fork(WORKER, { execArgv: NODE_FLAGS, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.ref()
  child.channel?.ref()
  child.send({ args: [...args, '--home', home], env } satisfies CommandRequest)
  const output = await new Promise<CommandOutput>((resolve, reject) => {
    child.once('message', (message) => resolve(message as CommandOutput))
    child.once('exit', (code, signal) => reject(new Error(`the command-line process exited with ${signal ?? code}`)))
  })
  child.removeAllListeners('exit')
  child.unref()
  child.channel?.unref()
  idleWorkers.push(child)
  return output
}

/** Runs a command in a new process. Contract: resolves when that process has exited by itself. */
export const spawnTireless = (home: string, ...args: string[]): Promise<CommandOutput> =>
  run(process.execPath, [...NODE_FLAGS, MAIN, ...args, '--home', home])

export async function tirelessJson<T = Record<string, unknown>>(
  home: string,
  ...args: string[]
): Promise<T & { readonly exit: number | null }> {
  const { exit, stdout } = await tireless(home, ...args, '--json')
  return { ...JSON.parse(stdout), exit }
}

export function startTireless(
  t: TestContext,
  home: string,
  ...args: string[]
): ChildProcess & { readonly output: () => string; readonly errors: () => string } {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args, '--home', home], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = async (): Promise<void> => {
    if (child.kill('SIGKILL')) await waitForExit(child)
  }
  // A home that still has a process cannot be removed; a home of another kind has no such hook.
  endBeforeRemoving(home, end)
  t.after(end)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  return Object.assign(child, { output: () => stdout, errors: () => stderr })
}

export const waitForExit = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode)
    else child.once('close', resolve)
  })

/** Runs `start`. Contract: the kernel answers on its socket when it resolves. */
export async function startKernelIn(t: TestContext, home: string): Promise<ChildProcess> {
  const child = startTireless(t, home, 'start')
  child.once('exit', (code) => {
    if (code !== null && code !== 0) throw new Error(`start ended with ${code}`)
  })
  await waitUntil(() => existsSync(join(home, 'socket')))
  await waitUntil(
    async () => (await tirelessJson<{ kernel: { state: string } }>(home, 'status')).kernel.state === 'running',
  )
  return child
}

export async function startProvider(t: TestContext, script: Script): Promise<ProviderServer> {
  const provider = await startProviderServer({ script })
  t.after(() => provider.close())
  return provider
}

export async function createHome(t: TestContext, script: Script): Promise<string> {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), configFor(await startProvider(t, script)))
  return home
}
