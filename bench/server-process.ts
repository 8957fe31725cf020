/** Processes that a suite measures from outside, and the messages between them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** `profile`: folder for a CPU profile of the process. */
export function startProcess(file: string, order: object, profile?: string): ChildProcess {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const flags = ['--disable-warning=ExperimentalWarning', ...profiling]
  return spawn(process.execPath, [...flags, join(import.meta.dirname, file), JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

/** Contract: the next message of that kind; throws with the output of stderr if the process ends first. */
export async function nextMessage<T extends { readonly kind: string }>(
  child: ChildProcess,
  kind: T['kind'],
): Promise<T> {
  let stderr = ''
  const hear = (text: string): void => {
    stderr += text
  }
  child.stderr?.setEncoding('utf8').on('data', hear)
  const over = new AbortController()
  const { signal } = over
  const gone = once(child, 'exit', { signal }).then(([code, ended]) => {
    throw new Error(`the process ended with ${ended ?? code}\n${stderr}`)
  })
  const [message] = (await Promise.race([once(child, 'message', { signal }), gone]).finally(() => {
    child.stderr?.off('data', hear)
    over.abort()
  })) as [T]
  if (message.kind !== kind) throw new Error(`the process sent ${message.kind} instead of ${kind}`)
  return message
}

/** Contract: sends the request, and gives the answer of that kind. */
export async function askProcess<T extends { readonly kind: string }>(
  child: ChildProcess,
  request: { readonly kind: string },
  kind: T['kind'],
): Promise<T> {
  const answer = nextMessage<T>(child, kind)
  child.send(request)
  return answer
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
